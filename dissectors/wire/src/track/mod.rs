//! Follows associations (and, in [`flow`], TCP and UDP flows) through a capture:
//! which association a packet belongs to, which end sent it, and what its chunks
//! mean there.
//!
//! A packet finds its association by verification tag and ports, as its
//! receiver does (RFC 9260 section 8.5), so neither a new address nor a NAT in
//! between breaks an association apart. Addresses only help where the tag is
//! not known yet: at INIT, and in captures that start in the middle.

pub mod association;
mod authentication;
mod checksum;
pub mod control;
pub mod duplicate;
pub mod flow;
mod message;
mod moments;
pub mod path;
pub mod sender;
pub mod signal;

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};

use crate::address::Address;
use crate::icmp::Quoted;
use crate::ledger::Ledger;
use crate::packet::Packet;
use crate::sctp::{Checksum, Chunk, CommonHeader, Verdict, chunk};
use association::{Association, Outcome};
use duplicate::Duplicates;
use path::Place;

/// How long an ended association's tags stay known: late packets still find it (RFC 9260 section 8.5.1).
const LINGER_NS: i64 = 60_000_000_000;
/// Open associations with the same ports that an unknown tag is compared with.
const CANDIDATES: usize = 64;
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
    association: usize,
    sender: End,
}

/// What the tracker says of a packet.
pub enum Located {
    At(usize, Place),
    /// A copy of an earlier frame: counted, and otherwise left out.
    Copy(Option<(usize, End)>),
    /// A packet with a wrong checksum, from a sender whose checksums are right: damaged on the
    /// way, and discarded by its receiver (RFC 9260 section 6.8). Counted, and otherwise left out.
    Damaged(Option<(usize, End)>),
    /// The association has too many paths for this packet to be placed.
    Nowhere,
}

pub struct Tracker {
    pub ledger: Ledger,
    associations: Vec<Option<Box<Association>>>,
    routes: HashMap<Key, Route>,
    by_ports: HashMap<(u16, u16), VecDeque<usize>>,
    ended: VecDeque<(i64, usize)>,
    duplicates: Duplicates,
    /// Sources and destinations that have shown a right checksum. Without that, a wrong one may
    /// only mean that the capture was taken before the network card filled it in.
    proven: HashSet<(Address, Address)>,
    bin_ns: i64,
}

impl Tracker {
    pub fn new(bin_ns: i64) -> Self {
        Tracker {
            ledger: Ledger::default(),
            associations: Vec::new(),
            routes: HashMap::new(),
            by_ports: HashMap::new(),
            ended: VecDeque::new(),
            duplicates: Duplicates::default(),
            proven: HashSet::new(),
            bin_ns,
        }
    }

    /// Finds or opens the packet's association and counts the packet there.
    pub fn packet(&mut self, seen: &Seen<'_>, first: Option<&Chunk<'_>>) -> Located {
        self.forget_ended(seen.moment.time_ns);
        if self.duplicates.is_copy(seen.packet, seen.verdict.crc32c, seen.moment.time_ns) {
            let route = self.known(seen, first);
            if let Some(route) = route {
                self.ledger.associations[route.association].duplicate_frames += 1;
            }
            return Located::Copy(route.map(|route| (route.association, route.sender)));
        }
        let ends = (seen.packet.source, seen.packet.destination);
        if matches!(seen.verdict.checksum, Checksum::Bad { .. }) && self.proven.contains(&ends) {
            return self.damaged(seen, first);
        }
        let route = match first {
            Some(first) if first.kind == chunk::INIT => self.of_init(seen, first),
            _ => self.known(seen, first).unwrap_or_else(|| self.adopt(seen, first)),
        };
        self.settle_tags(seen, first, route);
        let Some(association) = self.associations[route.association].as_mut() else {
            return Located::Nowhere; // routes to forgotten associations are removed with them
        };
        let place = association.packet(route.sender, seen, first, &mut self.ledger);
        if seen.verdict.checksum == Checksum::Valid
            && let Some(place) = &place
            && association.prove(place)
        {
            self.proven.insert(ends);
        }
        self.count(seen, route);
        match place {
            Some(place) => Located::At(route.association, place),
            None => Located::Nowhere,
        }
    }

    /// Counts a damaged packet where its tag, or else its addresses, may still say it belongs.
    fn damaged(&mut self, seen: &Seen<'_>, first: Option<&Chunk<'_>>) -> Located {
        let by_address = || {
            self.open_with_ports(seen).into_iter().find_map(|(index, association)| {
                let sender = sender_by_address(association, seen)?;
                Some(Route { association: index, sender })
            })
        };
        let route = self.known(seen, first).or_else(by_address);
        if let Some(route) = route {
            self.ledger.associations[route.association].damaged_packets += 1;
        }
        Located::Damaged(route.map(|route| (route.association, route.sender)))
    }

    /// One chunk of a packet placed by [`Tracker::packet`].
    pub fn chunk(
        &mut self,
        association: usize,
        place: &Place,
        seen: &Seen<'_>,
        chunk: &Chunk<'_>,
    ) -> Outcome {
        let Some(state) = self.associations[association].as_mut() else {
            return Outcome::default();
        };
        let outcome = state.chunk(chunk, place, seen, &mut self.ledger);
        if outcome.ended {
            self.ended.push_back((seen.moment.time_ns, association));
        }
        if chunk.kind == chunk::COOKIE_ACK {
            self.end_restarted(association);
        }
        outcome
    }

    /// The association that a packet quoted by an ICMP error belongs to, and the end that sent it.
    pub fn quoted(&self, quoted: &Quoted) -> Option<(u32, End)> {
        let (source_port, destination_port) = quoted.ports?;
        let tag = quoted.verification_tag?;
        let route = self.routes.get(&Key { tag, source_port, destination_port })?;
        u32::try_from(route.association).ok().map(|association| (association, route.sender))
    }

    /// Nothing more comes: completes what is said of the associations that are still followed.
    pub fn close(&mut self) {
        for mut association in self.associations.iter_mut().filter_map(Option::take) {
            association.finish(&mut self.ledger);
        }
    }

    pub fn finish(mut self) -> Ledger {
        self.close();
        self.ledger
    }

    fn count(&mut self, seen: &Seen<'_>, route: Route) {
        let row = &mut self.ledger.associations[route.association];
        checksum::count(seen, route.sender, row);
        if let Some((source, destination)) = seen.packet.udp {
            let (a, b) = match route.sender {
                End::A => (source, destination),
                End::B => (destination, source),
            };
            row.a_udp_port = Some(a);
            row.b_udp_port = Some(b);
        }
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
        let reversed = self.associations[route.association].as_deref().is_some_and(|state| {
            state.has_address(receiver, seen.packet.source)
                && !state.has_address(route.sender, seen.packet.source)
        });
        if reversed { Route { sender: receiver, ..route } } else { route }
    }

    /// INIT: a repetition, a collision with the peer's own INIT, or a new association.
    fn of_init(&mut self, seen: &Seen<'_>, first: &Chunk<'_>) -> Route {
        if let Some(route) = self.known(seen, Some(first))
            && self.associations[route.association].as_ref().is_some_and(|a| !a.ended)
        {
            return route;
        }
        let collided = self.open_with_ports(seen).into_iter().find_map(|(index, association)| {
            let sender = sender_by_address(association, seen)?;
            let row = &self.ledger.associations[index];
            (sender == End::B && association.is_being_set_up() && row.b_tag.is_none())
                .then_some(Route { association: index, sender })
        });
        collided.unwrap_or_else(|| self.open(seen))
    }

    /// A packet whose tag is not known: the other half of an association seen
    /// from its middle, or a new one.
    fn adopt(&mut self, seen: &Seen<'_>, first: Option<&Chunk<'_>>) -> Route {
        let found = self.open_with_ports(seen).into_iter().find_map(|(index, association)| {
            let row = &self.ledger.associations[index];
            let tag_is_open = |sender: End| match sender {
                End::A => row.b_tag.is_none(),
                End::B => row.a_tag.is_none(),
            };
            let sender = sender_by_address(association, seen)
                .or_else(|| sender_by_tsn(association, seen, first))?;
            tag_is_open(sender).then_some(Route { association: index, sender })
        });
        found.unwrap_or_else(|| self.open(seen))
    }

    /// Open associations between the packet's two ports, newest first.
    fn open_with_ports(&self, seen: &Seen<'_>) -> Vec<(usize, &Association)> {
        let ports = (seen.header.source_port, seen.header.destination_port);
        let Some(indexes) = self.by_ports.get(&ordered(ports)) else { return Vec::new() };
        indexes
            .iter()
            .rev()
            .take(CANDIDATES)
            .filter_map(|&index| Some((index, self.associations[index].as_deref()?)))
            .filter(|(_, association)| !association.ended)
            .collect()
    }

    fn open(&mut self, seen: &Seen<'_>) -> Route {
        let index = self.associations.len();
        let ports = [seen.header.source_port, seen.header.destination_port];
        let association =
            Association::new(index as u32, ports, self.bin_ns, seen, &mut self.ledger);
        self.associations.push(Some(Box::new(association)));
        self.by_ports.entry(ordered((ports[0], ports[1]))).or_default().push_back(index);
        Route { association: index, sender: End::A }
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
            self.learn_tag(route.association, route.sender, tag);
        }
        let reflected = first.is_some_and(|first| {
            matches!(first.kind, chunk::ABORT | chunk::SHUTDOWN_COMPLETE) && first.flags & 1 != 0
        });
        let carried = seen.header.verification_tag;
        let is_init = first.is_some_and(|first| first.kind == chunk::INIT);
        if !is_init && !reflected {
            self.learn_tag(route.association, receiver, carried);
        }
    }

    fn learn_tag(&mut self, index: usize, end: End, tag: u32) {
        let Some(association) = self.associations[index].as_deref_mut() else { return };
        let row = &mut self.ledger.associations[index];
        let slot = match end {
            End::A => &mut row.a_tag,
            End::B => &mut row.b_tag,
        };
        if *slot == Some(tag) {
            return;
        }
        *slot = Some(tag);
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
        self.routes.insert(key, Route { association: index, sender });
    }

    /// A new association came up between ends that have an open one: that one was restarted.
    fn end_restarted(&mut self, new: usize) {
        let Some(association) = self.associations[new].as_deref() else { return };
        let ports = (association.ports[0], association.ports[1]);
        let Some(indexes) = self.by_ports.get(&ordered(ports)) else { return };
        let old = indexes.iter().rev().take(CANDIDATES).copied().find(|&old| {
            old < new
                && self.associations[old].as_deref().is_some_and(|old| {
                    !old.ended && old.was_answered() && same_ends(old, association)
                })
        });
        if let Some(old) = old {
            // After SHUTDOWN ACK there is nothing to restart (RFC 9260 section 9.2): the end was lost.
            if self.ledger.associations[old].end == "open" {
                self.ledger.associations[old].end = "restart";
                self.ledger.associations[new].restart_of = Some(old as u32);
            }
            if let Some(state) = self.associations[old].as_mut() {
                state.ended = true;
                self.ended.push_back((state.last_ns, old));
            }
        }
    }

    /// Frees what has ended long enough ago, its routes included.
    fn forget_ended(&mut self, now_ns: i64) {
        while let Some(&(ended_ns, index)) = self.ended.front() {
            if now_ns.saturating_sub(ended_ns) < LINGER_NS {
                break;
            }
            self.ended.pop_front();
            let Some(mut association) = self.associations[index].take() else { continue };
            association.finish(&mut self.ledger);
            for key in &association.keys {
                if self.routes.get(key).is_some_and(|route| route.association == index) {
                    self.routes.remove(key);
                }
            }
            let ports = ordered((association.ports[0], association.ports[1]));
            if let Some(indexes) = self.by_ports.get_mut(&ports)
                && let Some(place) = indexes.iter().position(|&other| other == index)
            {
                // Associations end roughly in the order they began: this is near the front.
                indexes.remove(place);
            }
        }
    }
}

fn ordered(ports: (u16, u16)) -> (u16, u16) {
    (ports.0.min(ports.1), ports.0.max(ports.1))
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
