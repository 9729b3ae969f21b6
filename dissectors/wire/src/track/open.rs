//! The open associations: where each is kept, how it is found by ports, and
//! which one makes room for another.
//!
//! Slots are used again, and every index here holds one entry an association,
//! so that memory is bounded by the number of associations open at a time.
//! Nothing here is touched for a packet of a known association.

use std::collections::BTreeSet;

use super::End;
use super::association::Association;
use crate::ledger::Ledger;

/// How long an ended association's tags stay known: late packets still find it (RFC 9260 section 8.5.1).
const LINGER_NS: i64 = 60_000_000_000;
/// Open associations with the same ports that an unknown tag is compared with.
const CANDIDATES: usize = 64;

pub(super) struct Entry {
    pub association: Association,
    /// Its own rows, until it closes.
    pub ledger: Ledger,
    /// Number of its last packet, which no clock can turn back.
    pub touched: u64,
    /// By end: whether it was seen sending.
    pub heard: [bool; 2],
    ended_ns: Option<i64>,
    /// Its place in the order of leaving, which may be older than what is so.
    standing: Standing,
}

/// Whether something would be lost, and since which packet it is idle: the least leaves first.
type Standing = (bool, u64);

impl Entry {
    pub fn new(association: Association, ledger: Ledger, touched: u64) -> Self {
        Entry {
            association,
            ledger,
            touched,
            heard: [false; 2],
            ended_ns: None,
            standing: (false, touched),
        }
    }

    /// The tag in packets to `end`, once one was seen.
    pub fn tag(&self, end: End) -> Option<u32> {
        let row = self.ledger.associations.first()?;
        match end {
            End::A => row.a_tag,
            End::B => row.b_tag,
        }
    }

    /// Both ends were seen sending.
    pub fn was_answered(&self) -> bool {
        self.heard == [true; 2]
    }

    fn stands(&self) -> Standing {
        (self.was_answered() && !self.association.ended, self.touched)
    }

    fn ports(&self) -> (u16, u16) {
        ordered(self.association.ports)
    }
}

#[derive(Default)]
pub(super) struct Open {
    slots: Vec<Option<Box<Entry>>>,
    free: Vec<usize>,
    /// Ports, association number, slot.
    by_ports: BTreeSet<((u16, u16), u32, usize)>,
    /// Standing, slot.
    leaving: BTreeSet<(Standing, usize)>,
    /// End, slot.
    ended: BTreeSet<(i64, usize)>,
}

impl Open {
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub fn get(&self, slot: usize) -> Option<&Entry> {
        self.slots.get(slot)?.as_deref()
    }

    pub fn get_mut(&mut self, slot: usize) -> Option<&mut Entry> {
        self.slots.get_mut(slot)?.as_deref_mut()
    }

    /// Slots in order of the associations' first sight.
    pub fn in_order(&self) -> Vec<usize> {
        let entries = self.slots.iter().enumerate();
        let mut found: Vec<_> = entries
            .filter_map(|(slot, entry)| Some((entry.as_ref()?.association.number, slot)))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, slot)| slot).collect()
    }

    /// Entries in each index.
    #[cfg(test)]
    pub fn indexed(&self) -> [usize; 3] {
        [self.by_ports.len(), self.leaving.len(), self.ended.len()]
    }

    pub fn insert(&mut self, entry: Entry) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.by_ports.insert((entry.ports(), entry.association.number, slot));
        self.leaving.insert((entry.standing, slot));
        self.slots[slot] = Some(Box::new(entry));
        slot
    }

    pub fn remove(&mut self, slot: usize) -> Option<Entry> {
        let entry = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot);
        self.by_ports.remove(&(entry.ports(), entry.association.number, slot));
        self.leaving.remove(&(entry.standing, slot));
        if let Some(ended_ns) = entry.ended_ns {
            self.ended.remove(&(ended_ns, slot));
        }
        Some(*entry)
    }

    /// The newest associations between two ports, and older than number `before`; newest first.
    pub fn between(&self, ports: [u16; 2], before: u32) -> impl Iterator<Item = (usize, &Entry)> {
        let ports = ordered(ports);
        self.by_ports
            .range((ports, 0, 0)..(ports, before, 0))
            .rev()
            .take(CANDIDATES)
            .filter_map(|&(_, _, slot)| Some((slot, self.get(slot)?)))
    }

    /// Notes that an association ended: it lingers for a while.
    pub fn ended(&mut self, slot: usize, ended_ns: i64) {
        let Some(entry) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return };
        if entry.ended_ns.is_none() {
            entry.ended_ns = Some(ended_ns);
            self.ended.insert((ended_ns, slot));
            restand(&mut self.leaving, entry, slot);
        }
    }

    /// An association that ended long enough ago to be forgotten.
    pub fn lingered(&self, now_ns: i64) -> Option<usize> {
        let &(ended_ns, slot) = self.ended.first()?;
        (now_ns.saturating_sub(ended_ns) >= LINGER_NS).then_some(slot)
    }

    /// The association that makes room: the one idle longest, of those that ended or never had an
    /// answer as long as there are any.
    pub fn idlest(&mut self) -> Option<usize> {
        loop {
            let &(standing, slot) = self.leaving.first()?;
            let entry = self.slots.get_mut(slot)?.as_mut()?;
            if entry.stands() == standing {
                return Some(slot);
            }
            // It had a packet since it was put here. Each packet costs one such move at most.
            restand(&mut self.leaving, entry, slot);
        }
    }
}

fn restand(leaving: &mut BTreeSet<(Standing, usize)>, entry: &mut Entry, slot: usize) {
    leaving.remove(&(entry.standing, slot));
    entry.standing = entry.stands();
    leaving.insert((entry.standing, slot));
}

fn ordered(ports: [u16; 2]) -> (u16, u16) {
    (ports[0].min(ports[1]), ports[0].max(ports[1]))
}
