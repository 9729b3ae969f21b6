//! Follows associations (and, in [`flow`], TCP and UDP flows) through a capture:
//! which association a packet belongs to, which end sent it, and what its chunks
//! mean there.
//!
//! A packet finds its association by verification tag and ports, as its
//! receiver does (RFC 9260 section 8.5), so neither a new address nor a NAT in
//! between breaks an association apart. Addresses only help where the tag is
//! not known yet: at INIT, and in captures that start in the middle.
//!
//! What is open and what is listed is bounded ([`Limits`]), so that a flood of
//! INITs costs no more memory than its first ones; what is left out is counted.

pub mod association;
pub mod control;
pub mod duplicate;
pub mod flow;
mod listing;
mod moments;
mod open;
pub mod path;
pub mod sender;
pub mod signal;

use hashbrown::HashMap;

use crate::address::Address;
use crate::icmp::Quoted;
use crate::ledger::{AssociationRow, Ledger};
use crate::packet::Packet;
use crate::sctp::{Checksum, Chunk, CommonHeader, Verdict, chunk};
use association::{Association, Outcome};
use duplicate::Duplicates;
pub use listing::{Census, Limits};
use open::{Entry, Open};
use path::Place;

/// Most tags that lead to one association: two, and those of INIT ACKs that were not taken up.
const KEYS: usize = 64;

/// One end of an association: A sent INIT, or was seen first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    A = 0,
    B = 1,
}

impl End {
    pub fn other(self) -> End {
        match self {
            End::A => End::B,
            End::B => End::A,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            End::A => "a",
            End::B => "b",
        }
    }
}

/// A point in the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub time_ns: i64,
    pub frame: u64,
}

/// A packet as the capture shows it.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    pub moment: Moment,
    /// Length of the record on the wire, link header included.
    pub wire_bytes: u32,
    pub interface: Option<&'a str>,
    pub packet: &'a Packet<'a>,
    pub header: CommonHeader,
    pub verdict: Verdict,
}

/// What a receiver tells its associations apart by.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    tag: u32,
    source_port: u16,
    destination_port: u16,
}

#[derive(Clone, Copy)]
struct Route {
    /// Where the association is kept.
    slot: usize,
    sender: End,
}

/// What the tracker says of a packet.
pub enum Located {
    /// Where the association is kept, for [`Tracker::chunk`], and what the packet is there.
    At(usize, Place),
    /// A copy of an earlier frame, of an association if it has one: counted, and otherwise left out.
    Copy(Option<(u32, End)>),
    /// A packet with a wrong checksum, from a sender whose checksums are right: damaged on the
    /// way, and discarded by its receiver (RFC 9260 section 6.8). Counted, and otherwise left out.
    Damaged(Option<(u32, End)>),
    /// The association has too many paths for this packet to be placed.
    Nowhere,
}

pub struct Tracker {
    /// What has closed; an open association has a ledger of its own.
    pub ledger: Ledger,
    open: Open,
    routes: HashMap<Key, Route>,
    duplicates: Duplicates,
    /// Sources and destinations that have shown a right checksum, and on how many ways of open
    /// associations. Without that, a wrong one may only mean that the capture was taken before
    /// the network card filled it in.
    proven: HashMap<(Address, Address), u32>,
    bin_ns: i64,
    limits: Limits,
    census: Census,
    packets: u64,
}

impl Tracker {
    pub fn new(bin_ns: i64, limits: Limits) -> Self {
        Tracker {
            ledger: Ledger::with_room(limits.rows),
            open: Open::default(),
            routes: HashMap::new(),
            duplicates: Duplicates::default(),
            proven: HashMap::new(),
            bin_ns,
            limits,
            census: Census::default(),
            packets: 0,
        }
    }

    /// Finds or opens the packet's association and counts the packet there.
    pub fn packet(&mut self, seen: &Seen<'_>, first: Option<&Chunk<'_>>) -> Located {
        self.packets += 1;
        while let Some(slot) = self.open.lingered(seen.moment.time_ns) {
            self.close(slot);
        }
        if self.duplicates.is_copy(seen.packet, seen.verdict.crc32c, seen.moment.time_ns) {
            let route = self.known(seen, first);
            return Located::Copy(self.left_out(route, |row| row.duplicate_frames += 1));
        }
        let ends = (seen.packet.source, seen.packet.destination);
        if matches!(seen.verdict.checksum, Checksum::Bad { .. }) && self.proven.contains_key(&ends)
        {
            return self.damaged(seen, first);
        }
        let route = match first {
            Some(first) if first.kind == chunk::INIT => self.of_init(seen, first),
            _ => self.known(seen, first).unwrap_or_else(|| self.adopt(seen, first)),
        };
        self.settle_tags(seen, first, route);
        let Some(entry) = self.open.get_mut(route.slot) else {
            return Located::Nowhere; // routes to forgotten associations are removed with them
        };
        entry.touched = self.packets;
        entry.heard[route.sender as usize] = true;
        let Entry { association, ledger, .. } = entry;
        let place = association.packet(route.sender, seen, first, ledger);
        if seen.verdict.checksum == Checksum::Valid
            && let Some(place) = &place
            && association.prove(place)
        {
            *self.proven.entry(ends).or_insert(0) += 1;
        }
        count(seen, route.sender, association.row(ledger));
        match place {
            Some(place) => Located::At(route.slot, place),
            None => Located::Nowhere,
        }
    }

    /// Counts a packet that takes no part in its association.
    fn left_out(
        &mut self,
        route: Option<Route>,
        count: impl FnOnce(&mut AssociationRow),
    ) -> Option<(u32, End)> {
        let route = route?;
        let Entry { association, ledger, .. } = self.open.get_mut(route.slot)?;
        count(association.row(ledger));
        Some((association.number, route.sender))
    }

    /// Counts a damaged packet where its tag, or else its addresses, may still say it belongs.
    fn damaged(&mut self, seen: &Seen<'_>, first: Option<&Chunk<'_>>) -> Located {
        let by_address = || {
            self.open_with_ports(seen).find_map(|(slot, entry)| {
                let sender = sender_by_address(&entry.association, seen)?;
                Some(Route { slot, sender })
            })
        };
        let route = self.known(seen, first).or_else(by_address);
        Located::Damaged(self.left_out(route, |row| row.damaged_packets += 1))
    }

    /// One chunk of a packet placed by [`Tracker::packet`].
    pub fn chunk(
        &mut self,
        slot: usize,
        place: &Place,
        seen: &Seen<'_>,
        chunk: &Chunk<'_>,
    ) -> Outcome {
        let Some(Entry { association, ledger, .. }) = self.open.get_mut(slot) else {
            return Outcome::default();
        };
        let outcome = association.chunk(chunk, place, seen, ledger);
        if outcome.ended {
            self.open.ended(slot, seen.moment.time_ns);
        }
        if chunk.kind == chunk::COOKIE_ACK {
            self.end_restarted(slot);
        }
        outcome
    }

    /// The association that a packet quoted by an ICMP error belongs to, and the end that sent it.
    pub fn quoted(&self, quoted: &Quoted) -> Option<(u32, End)> {
        let (source_port, destination_port) = quoted.ports?;
        let tag = quoted.verification_tag?;
        let route = self.routes.get(&Key { tag, source_port, destination_port })?;
        Some((self.open.get(route.slot)?.association.number, route.sender))
    }

    /// The association that the packet's tag and ports name.
    fn known(&self, seen: &Seen<'_>, first: Option<&Chunk<'_>>) -> Option<Route> {
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
            entry.association.has_address(receiver, seen.packet.source)
                && !entry.association.has_address(route.sender, seen.packet.source)
        });
        if reversed { Route { sender: receiver, ..route } } else { route }
    }

    /// INIT: a repetition, a collision with the peer's own INIT, or a new association.
    fn of_init(&mut self, seen: &Seen<'_>, first: &Chunk<'_>) -> Route {
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
    fn adopt(&mut self, seen: &Seen<'_>, first: Option<&Chunk<'_>>) -> Route {
        let found = self.open_with_ports(seen).find_map(|(slot, entry)| {
            let sender = sender_by_address(&entry.association, seen)
                .or_else(|| sender_by_tsn(&entry.association, seen, first))?;
            entry.tag(sender.other()).is_none().then_some(Route { slot, sender })
        });
        found.unwrap_or_else(|| self.open(seen))
    }

    /// Open associations between the packet's two ports, newest first.
    fn open_with_ports(&self, seen: &Seen<'_>) -> impl Iterator<Item = (usize, &Entry)> {
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
    fn settle_tags(&mut self, seen: &Seen<'_>, first: Option<&Chunk<'_>>, route: Route) {
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
    fn end_restarted(&mut self, new: usize) {
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

fn count(seen: &Seen<'_>, sender: End, row: &mut AssociationRow) {
    match seen.verdict.checksum {
        Checksum::Valid => {}
        Checksum::ZeroOnWire => row.zero_checksums += 1,
        Checksum::Adler32 => row.adler32_checksums += 1,
        Checksum::Bad { .. } => row.bad_checksums += 1,
        Checksum::NotCheckable => row.truncated_packets += 1,
    }
    if let Some((source, destination)) = seen.packet.udp {
        let (a, b) = match sender {
            End::A => (source, destination),
            End::B => (destination, source),
        };
        row.a_udp_port = Some(a);
        row.b_udp_port = Some(b);
    }
}

/// Which end sent a packet, by ports and at least one known address.
fn sender_by_address(association: &Association, seen: &Seen<'_>) -> Option<End> {
    let ports = [seen.header.source_port, seen.header.destination_port];
    End::BOTH.into_iter().find(|&sender| {
        let receiver = sender.other();
        ports == [association.ports[sender as usize], association.ports[receiver as usize]]
            && (association.has_address(sender, seen.packet.source)
                || association.has_address(receiver, seen.packet.destination))
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

#[cfg(test)]
mod tests;
