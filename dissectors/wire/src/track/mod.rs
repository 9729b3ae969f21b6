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

mod acknowledging;
pub mod association;
mod authentication;
mod checksum;
pub mod control;
pub mod duplicate;
pub mod flow;
mod listing;
mod message;
mod moments;
pub(crate) mod oddity;
mod open;
pub mod path;
mod route;
mod rto;
mod rtt;
pub mod sender;
pub mod signal;
pub mod standing;
mod t3;
mod window;

use hashbrown::HashMap;

use crate::address::Address;
use crate::icmp::Quoted;
use crate::ledger::Ledger;
use crate::packet::Packet;
use crate::sctp::{Checksum, Chunk, Chunks, CommonHeader, Verdict, chunk, must_have_checksum};
use association::Outcome;
use duplicate::Duplicates;
pub use listing::{Census, Limits};
use oddity::{OVERSIZED_BYTES, kind};
use open::{Entry, Open};
use path::Place;
use route::{Key, Route, sender_by_address};

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

    pub fn of(name: &str) -> Option<End> {
        End::BOTH.into_iter().find(|end| end.name() == name)
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
    pub source: Address,
    pub destination: Address,
    /// Identification; IPv4 only.
    pub ip_id: Option<u16>,
    /// Source and destination port when encapsulated.
    pub udp: Option<(u16, u16)>,
    /// Bytes of SCTP on the wire.
    pub length: u32,
    pub header: CommonHeader,
    pub verdict: Verdict,
    /// INIT or COOKIE ECHO is in it, as far as that is looked for ([`must_have_checksum`]).
    pub sets_up: bool,
}

impl<'a> Seen<'a> {
    /// A packet that was found in a record of `wire_bytes`.
    pub fn of(
        packet: &Packet<'_>,
        (header, verdict): (CommonHeader, Verdict),
        chunks: Chunks<'_>,
        moment: Moment,
        wire_bytes: u32,
        interface: Option<&'a str>,
    ) -> Self {
        Seen {
            moment,
            wire_bytes,
            interface,
            source: packet.source,
            destination: packet.destination,
            ip_id: packet.ip_id,
            udp: packet.udp,
            length: packet.sctp_length,
            header,
            verdict,
            sets_up: verdict.checksum == Checksum::ZeroOnWire && must_have_checksum(chunks),
        }
    }
}

impl Seen<'_> {
    /// Whether a simulator's trace tells of the packet: without tags, windows, streams asked for
    /// and first TSNs, so that what stands in their place means nothing.
    pub fn is_simulated(&self) -> bool {
        self.verdict.checksum == Checksum::Simulated
    }
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
    /// Slight associations listed.
    slight: usize,
    packets: u64,
}

impl Tracker {
    pub fn new(bin_ns: i64, limits: Limits) -> Self {
        Tracker {
            ledger: Ledger::with_room(limits.room_bytes),
            open: Open::default(),
            routes: HashMap::new(),
            duplicates: Duplicates::default(),
            proven: HashMap::new(),
            bin_ns,
            limits,
            census: Census::default(),
            slight: 0,
            packets: 0,
        }
    }

    /// Finds or opens the packet's association and counts the packet there.
    pub fn packet(&mut self, seen: &Seen<'_>, first: Option<&Chunk<'_>>) -> Located {
        self.packets += 1;
        while let Some(slot) = self.open.lingered(seen.moment.time_ns) {
            self.close(slot);
        }
        if self.duplicates.is_copy(seen) {
            let route = self.known(seen, first);
            return Located::Copy(self.left_out(route, seen, kind::DUPLICATE_FRAME));
        }
        let ends = (seen.source, seen.destination);
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
        count(seen, route.sender, place.as_ref().map(|place| place.path), ledger);
        match place {
            Some(place) => Located::At(route.slot, place),
            None => Located::Nowhere,
        }
    }

    /// Counts a packet that takes no part in its association.
    fn left_out(
        &mut self,
        route: Option<Route>,
        seen: &Seen<'_>,
        why: &'static str,
    ) -> Option<(u32, End)> {
        let route = route?;
        let Entry { association, ledger, .. } = self.open.get_mut(route.slot)?;
        let row = association.row(ledger);
        match why {
            kind::DUPLICATE_FRAME => row.duplicate_frames += 1,
            _ => row.damaged_packets += 1,
        }
        oddity::note(why, route.sender, None, seen.moment, ledger);
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
        Located::Damaged(self.left_out(route, seen, kind::DAMAGED_PACKET))
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
        self.ledger.take_messages(ledger);
        if outcome.ended {
            self.open.ended(slot, seen.moment.time_ns);
        }
        if chunk.kind == chunk::COOKIE_ACK {
            self.end_restarted(slot);
        }
        outcome
    }

    /// The association that a packet quoted by an ICMP error belongs to, the end that sent it,
    /// and its verification tag. Tag and ports name it, also inside UDP.
    pub fn quoted(&self, quoted: &Quoted) -> Option<(u32, End, u32)> {
        let inside = quoted.in_udp.map(|sctp| Key {
            tag: sctp.verification_tag,
            source_port: sctp.source_port,
            destination_port: sctp.destination_port,
        });
        let plain = || {
            let (source_port, destination_port) = quoted.ports?;
            Some(Key { tag: quoted.verification_tag?, source_port, destination_port })
        };
        let key = inside.or_else(plain)?;
        let route = self.routes.get(&key)?;
        let association = self.open.get(route.slot)?.association.number;
        Some((association, route.sender, key.tag))
    }
}

fn count(seen: &Seen<'_>, sender: End, path: Option<u32>, ledger: &mut Ledger) {
    checksum::count(seen, sender, path, ledger);
    if seen.length > OVERSIZED_BYTES {
        oddity::note(kind::OVERSIZED_PACKET, sender, path, seen.moment, ledger);
    }
    let Some(row) = ledger.associations.first_mut() else { return };
    if let Some((source, destination)) = seen.udp {
        let (a, b) = match sender {
            End::A => (source, destination),
            End::B => (destination, source),
        };
        row.a_udp_port = Some(a);
        row.b_udp_port = Some(b);
    }
}

#[cfg(test)]
mod tests;
