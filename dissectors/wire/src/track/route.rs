//! Which association a packet belongs to: by tag, else by addresses, else a new one.

use super::association::Association;
use super::open::Entry;
use super::{End, Seen, Tracker};
use crate::sctp::{Chunk, chunk};

/// Most tags that lead to one association: two, and those of INIT ACKs that were not taken up.
pub(super) const KEYS: usize = 64;

/// What a receiver tells its associations apart by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub tag: u32,
    pub source_port: u16,
    pub destination_port: u16,
}

#[derive(Clone, Copy)]
pub(super) struct Route {
    /// Where the association is kept.
    pub slot: usize,
    pub sender: End,
}

impl Tracker {
    /// The association that the packet's tag and ports name.
    pub(super) fn known(&self, seen: &Seen<'_>, first: Option<&Chunk<'_>>) -> Option<Route> {
        let header = &seen.header;
        let reflected = first.is_some_and(|first| {
            matches!(first.kind, chunk::ABORT | chunk::SHUTDOWN_COMPLETE) && first.flags & 1 != 0
        });
        if reflected {
            // T bit: the tag is the one that packets to the sender carry (RFC 9260 section 8.5.1).
            let key = Key {
                tag: header.verification_tag,
                source_port: header.destination_port,
                destination_port: header.source_port,
            };
            if let Some(route) = self.routes.get(&key) {
                return Some(Route { sender: route.sender.other(), ..*route });
            }
        }
        let tag = match first {
            Some(first) if first.kind == chunk::INIT => {
                // A repeated INIT: packets to its sender carry its Initiate Tag.
                let key = Key {
                    tag: first.init().ok()?.tag,
                    source_port: header.destination_port,
                    destination_port: header.source_port,
                };
                let route = self.routes.get(&key)?;
                return Some(Route { sender: route.sender.other(), ..*route });
            }
            _ => header.verification_tag,
        };
        let key =
            Key { tag, source_port: header.source_port, destination_port: header.destination_port };
        self.routes.get(&key).map(|route| self.turned_round(*route, seen))
    }

    /// With one port number and one tag at both ends (captures that were made or edited by hand
    /// have them) only the addresses tell who sent a packet.
    fn turned_round(&self, route: Route, seen: &Seen<'_>) -> Route {
        if seen.header.source_port != seen.header.destination_port {
            return route;
        }
        let receiver = route.sender.other();
        let reversed = self.open.get(route.slot).is_some_and(|entry| {
            entry.association.has_address(receiver, seen.source)
                && !entry.association.has_address(route.sender, seen.source)
        });
        if reversed { Route { sender: receiver, ..route } } else { route }
    }

    /// INIT: a repetition, a collision with the peer's own INIT, or a new association.
    pub(super) fn of_init(&mut self, seen: &Seen<'_>, first: &Chunk<'_>) -> Route {
        if let Some(route) = self.known(seen, Some(first))
            && self.open.get(route.slot).is_some_and(|entry| !entry.association.ended)
        {
            return route;
        }
        let collided = self.open_with_ports(seen).find_map(|(slot, entry)| {
            let sender = sender_by_address(&entry.association, seen)?;
            let waits = entry.association.is_being_set_up() && entry.tag(End::B).is_none();
            (sender == End::B && waits).then_some(Route { slot, sender })
        });
        collided.unwrap_or_else(|| self.open(seen))
    }

    /// A packet whose tag is not known: the other half of an association seen
    /// from its middle, or a new one.
    pub(super) fn adopt(&mut self, seen: &Seen<'_>, first: Option<&Chunk<'_>>) -> Route {
        let found = self.open_with_ports(seen).find_map(|(slot, entry)| {
            let sender = sender_by_address(&entry.association, seen)
                .or_else(|| sender_by_tsn(&entry.association, seen, first))?;
            entry.tag(sender.other()).is_none().then_some(Route { slot, sender })
        });
        found.unwrap_or_else(|| self.open(seen))
    }

    /// Open associations between the packet's two ports, newest first.
    pub(super) fn open_with_ports(&self, seen: &Seen<'_>) -> impl Iterator<Item = (usize, &Entry)> {
        let ports = [seen.header.source_port, seen.header.destination_port];
        self.open.between(ports, u32::MAX).filter(|(_, entry)| !entry.association.ended)
    }

    fn open(&mut self, seen: &Seen<'_>) -> Route {
        while self.open.len() >= self.limits.open.max(1)
            && let Some(slot) = self.open.idlest()
        {
            self.evict(slot);
        }
        // Beyond four thousand million associations the numbers say no more than "later".
        let number = self.census.seen.min(u64::from(u32::MAX) - 1) as u32;
        self.census.seen += 1;
        let ports = [seen.header.source_port, seen.header.destination_port];
        let mut ledger = self.ledger.beside();
        let association = Association::new(number, ports, self.bin_ns, seen, &mut ledger);
        let slot = self.open.insert(Entry::new(association, ledger, self.packets));
        Route { slot, sender: End::A }
    }

    /// Learns tags: from INIT and INIT ACK the sender's own, from any other
    /// packet the receiver's.
    pub(super) fn settle_tags(&mut self, seen: &Seen<'_>, first: Option<&Chunk<'_>>, route: Route) {
        let receiver = route.sender.other();
        let own = first
            .filter(|first| matches!(first.kind, chunk::INIT | chunk::INIT_ACK))
            .and_then(|first| first.init().ok())
            .map(|init| init.tag);
        if let Some(tag) = own {
            self.learn_tag(route.slot, route.sender, tag);
        }
        let reflected = first.is_some_and(|first| {
            matches!(first.kind, chunk::ABORT | chunk::SHUTDOWN_COMPLETE) && first.flags & 1 != 0
        });
        let carried = seen.header.verification_tag;
        let is_init = first.is_some_and(|first| first.kind == chunk::INIT);
        if !is_init && !reflected {
            self.learn_tag(route.slot, receiver, carried);
        }
    }

    fn learn_tag(&mut self, slot: usize, end: End, tag: u32) {
        let Some(Entry { association, ledger, .. }) = self.open.get_mut(slot) else { return };
        let row = association.row(ledger);
        let known = match end {
            End::A => &mut row.a_tag,
            End::B => &mut row.b_tag,
        };
        if *known == Some(tag) {
            return;
        }
        *known = Some(tag);
        let sender = end.other();
        let key = Key {
            tag,
            source_port: association.ports[sender as usize],
            destination_port: association.ports[end as usize],
        };
        if !association.keys.contains(&key) {
            if association.keys.len() >= KEYS {
                return;
            }
            association.keys.push(key);
        }
        self.routes.insert(key, Route { slot, sender });
    }

    /// A new association came up between ends that have an open one: that one was restarted.
    pub(super) fn end_restarted(&mut self, new: usize) {
        let Some(entry) = self.open.get(new) else { return };
        let association = &entry.association;
        let number = association.number;
        let old = self.open.between(association.ports, number).find(|(_, old)| {
            let old = &old.association;
            !old.ended && old.was_answered() && same_ends(old, association)
        });
        let Some((old, _)) = old else { return };
        let Some(Entry { association, ledger, .. }) = self.open.get_mut(old) else { return };
        let (number, last_ns) = (association.number, association.last_ns);
        association.ended = true;
        let row = association.row(ledger);
        // After SHUTDOWN ACK there is nothing to restart (RFC 9260 section 9.2): the end was lost.
        let restarted = row.end == "open";
        if restarted {
            row.end = "restart";
        }
        self.open.ended(old, last_ns);
        if restarted && let Some(Entry { association, ledger, .. }) = self.open.get_mut(new) {
            association.row(ledger).restart_of = Some(number);
        }
    }
}

/// Which end sent a packet, by ports and at least one known address.
pub(super) fn sender_by_address(association: &Association, seen: &Seen<'_>) -> Option<End> {
    let ports = [seen.header.source_port, seen.header.destination_port];
    End::BOTH.into_iter().find(|&sender| {
        let receiver = sender.other();
        ports == [association.ports[sender as usize], association.ports[receiver as usize]]
            && (association.has_address(sender, seen.source)
                || association.has_address(receiver, seen.destination))
    })
}

/// Which end sent a SACK, by what it acknowledges: joins the halves of an
/// association whose two directions use different addresses.
fn sender_by_tsn(
    association: &Association,
    seen: &Seen<'_>,
    first: Option<&Chunk<'_>>,
) -> Option<End> {
    let sack = first.filter(|first| first.kind == chunk::SACK)?.sack().ok()?;
    let ports = [seen.header.source_port, seen.header.destination_port];
    End::BOTH.into_iter().find(|&sender| {
        let receiver = sender.other();
        ports == [association.ports[sender as usize], association.ports[receiver as usize]]
            && association.senders[receiver as usize].could_be_acknowledged_by(sack.cumulative_tsn)
    })
}

/// Whether two associations are between the same ends: the same ports, and a
/// common address on each side, in either orientation.
fn same_ends(one: &Association, other: &Association) -> bool {
    let common = |end: End, other_end: End| {
        one.ports[end as usize] == other.ports[other_end as usize]
            && one.addresses_of(end).any(|address| other.has_address(other_end, address))
    };
    (common(End::A, End::A) && common(End::B, End::B))
        || (common(End::A, End::B) && common(End::B, End::A))
}
