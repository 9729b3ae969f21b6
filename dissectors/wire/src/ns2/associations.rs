//! Which association an SCTP packet of a trace belongs to, and what its chunks
//! are. A trace has no tags and no address lists, and one word for all chunks of
//! the handshake; what went before tells them apart.
//!
//! Nodes are one host when the user says so ([`Hosts`]), else when packets between
//! nodes not seen before take up where an association with the same ports and flow
//! number stands.

use std::collections::VecDeque;

use hashbrown::HashMap;

use super::chunks::Made;
use super::line::{ChunkFields, Line, Socket};
use super::received::Received;
use crate::sctp::chunk;

/// Most associations followed; of further ones, and of their further paths, only transits, hops
/// and links are kept. A new path looks at all of them.
const ASSOCIATIONS: usize = 1 << 12;
/// Most HEARTBEATs remembered of an end until it answers them.
const HEARTBEATS: usize = 1024;
/// How far ahead of what was sent the TSN of a further path may be.
const NEAR: u32 = 1 << 16;

/// Nodes that are interfaces of one host each.
pub type Hosts = Vec<Vec<u32>>;

/// An association and the end of it that a packet is from: 0 sent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub association: usize,
    pub sender: usize,
}

#[derive(Default)]
struct End {
    nodes: Vec<u32>,
    port: u16,
    flow: Option<i64>,
    highest_tsn: Option<u32>,
    received: Received,
    /// The kind of the handshake's chunk that it received last.
    heard: Option<u8>,
    /// HEARTBEATs received and not answered: from, to, and the packet's number.
    heartbeats: VecDeque<(u32, u32, u64)>,
}

#[derive(Default)]
struct Association {
    ends: [End; 2],
    /// INIT was seen, so that other associations between its ports would show theirs.
    from_its_start: bool,
}

#[derive(Default)]
pub struct Associations {
    hosts: Hosts,
    all: Vec<Association>,
    by_sockets: HashMap<(Socket, Socket), Place>,
}

impl Associations {
    pub fn new(hosts: Hosts) -> Self {
        Associations { hosts, ..Associations::default() }
    }

    /// Of a packet that its source sends. `None` beyond the limit.
    pub fn place(&mut self, line: &Line<'_>, chunks: &[ChunkFields]) -> Option<Place> {
        let sockets = (line.source, line.destination);
        if let Some(place) = self.by_sockets.get(&sockets) {
            return Some(*place);
        }
        if self.all.len() >= ASSOCIATIONS {
            return None;
        }
        let further = self.further_path(line, chunks);
        let place = further.unwrap_or_else(|| self.open(line, chunks));
        let ends = &mut self.all.get_mut(place.association)?.ends;
        for (end, node) in
            [(place.sender, line.source.node), (1 - place.sender, line.destination.node)]
        {
            let nodes = &mut ends.get_mut(end)?.nodes;
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        self.by_sockets.insert(sockets, place);
        let back = Place { sender: 1 - place.sender, ..place };
        self.by_sockets.insert((sockets.1, sockets.0), back);
        Some(place)
    }

    fn open(&mut self, line: &Line<'_>, chunks: &[ChunkFields]) -> Place {
        let end = |socket: Socket| End { port: socket.port, ..End::default() };
        let from_its_start = chunks.first().is_some_and(|first| first.letter == b'I');
        self.all
            .push(Association { ends: [end(line.source), end(line.destination)], from_its_start });
        Place { association: self.all.len() - 1, sender: 0 }
    }

    /// The association that has a path between these nodes, though no packet has gone there yet.
    fn further_path(&self, line: &Line<'_>, chunks: &[ChunkFields]) -> Option<Place> {
        let places = (0..self.all.len())
            .flat_map(|association| [0, 1].map(|sender| Place { association, sender }));
        let fits = |place: &Place| self.fits(*place, line, chunks);
        let mut fitting: Vec<Place> = places.filter(fits).collect();
        // Of two ends that could have sent a HEARTBEAT, the one with the nearer numbers.
        fitting.sort_by_key(|place| self.distance(*place, line));
        let first = fitting.first()?;
        let others = fitting.iter().any(|place| place.association != first.association);
        (!others).then_some(*first)
    }

    fn fits(&self, place: Place, line: &Line<'_>, chunks: &[ChunkFields]) -> bool {
        let Some((association, from, to)) = self.ends(place) else { return false };
        if (from.port, to.port) != (line.source.port, line.destination.port) {
            return false;
        }
        let (source, destination) = (line.source.node, line.destination.node);
        let is_of = |end: &End, node: u32| {
            end.nodes.contains(&node)
                || self
                    .host(node)
                    .is_some_and(|host| end.nodes.iter().any(|one| host.contains(one)))
        };
        let known = (is_of(from, source), is_of(to, destination));
        if known == (true, true) {
            return true;
        }
        // A node of a host that was told is not one of another host.
        if [source, destination].iter().any(|node| self.host(*node).is_some()) {
            return false;
        }
        if from.flow.is_some_and(|flow| flow != line.flow) {
            return false;
        }
        let goes_on = chunks.iter().any(|chunk| match (chunk.letter, chunk.tsn) {
            (b'D', Some(tsn)) => follows(from.highest_tsn, tsn),
            (b'S', Some(tsn)) => to.highest_tsn.is_some_and(|highest| tsn <= highest),
            (b'H' | b'B', _) => association.from_its_start,
            _ => false,
        });
        let sets_up = chunks.iter().any(|chunk| chunk.letter == b'I');
        // INIT to another address of the peer, before it answered.
        let is_init_again = sets_up && known.0 && from.heard.is_none() && to.heard.is_none();
        let one_is_known = known.0 || known.1;
        (goes_on && (one_is_known || association.from_its_start)) || is_init_again
    }

    fn distance(&self, place: Place, line: &Line<'_>) -> u64 {
        let Some((_, from, to)) = self.ends(place) else { return u64::MAX };
        let nearest = |end: &End, node: u32| {
            end.nodes.iter().map(|one| u64::from(one.abs_diff(node))).min().unwrap_or(u64::MAX >> 1)
        };
        nearest(from, line.source.node).saturating_add(nearest(to, line.destination.node))
    }

    fn ends(&self, place: Place) -> Option<(&Association, &End, &End)> {
        let association = self.all.get(place.association)?;
        let [a, b] = &association.ends;
        let (from, to) = if place.sender == 0 { (a, b) } else { (b, a) };
        Some((association, from, to))
    }

    fn host(&self, node: u32) -> Option<&Vec<u32>> {
        self.hosts.iter().find(|host| host.contains(&node))
    }

    /// The chunks of a packet that its source sends now.
    pub fn sent(&mut self, place: Place, line: &Line<'_>, chunks: &[ChunkFields]) -> Vec<Made> {
        let Some(end) = self.end(place.association, place.sender) else { return Vec::new() };
        end.flow = Some(line.flow);
        chunks.iter().map(|chunk| end.make(place, line, chunk)).collect()
    }

    /// A packet arrives; it was made of these chunks.
    pub fn arrived(&mut self, place: Place, line: &Line<'_>, made: &[Made]) {
        let Some(end) = self.end(place.association, 1 - place.sender) else { return };
        for one in made {
            match one {
                Made::Data { tsn, .. } => end.received.data(*tsn),
                Made::Setup { kind, .. } => end.heard = Some(*kind),
                Made::ForwardTsn { cumulative } => end.received.skip_to(*cumulative),
                Made::Heartbeat { packet } if end.heartbeats.len() < HEARTBEATS => {
                    let (from, to) = (line.source.node, line.destination.node);
                    end.heartbeats.push_back((from, to, *packet));
                }
                _ => {}
            }
        }
    }

    fn end(&mut self, association: usize, end: usize) -> Option<&mut End> {
        self.all.get_mut(association)?.ends.get_mut(end)
    }
}

/// Whether a sender that has come to `highest` may send this TSN next.
fn follows(highest: Option<u32>, tsn: u32) -> bool {
    let highest = highest.unwrap_or(0);
    tsn <= highest.saturating_add(NEAR) && tsn.saturating_add(NEAR) >= highest
}

/// The verification tag of packets to an end: made up, as the trace has none. Never 0.
pub fn tag(place: Place, end: usize) -> u32 {
    u32::try_from(2 * place.association + end + 1).unwrap_or(u32::MAX)
}

impl End {
    fn make(&mut self, place: Place, line: &Line<'_>, chunk: &ChunkFields) -> Made {
        match (chunk.letter, chunk.tsn) {
            (b'D', Some(tsn)) => {
                self.highest_tsn = self.highest_tsn.max(Some(tsn));
                Made::Data { tsn, stream: chunk.stream, sequence: chunk.sequence }
            }
            (b'S', Some(cumulative)) => {
                let (blocks, duplicates) = self.received.sack(cumulative);
                Made::Sack { cumulative, blocks, duplicates }
            }
            (b'I', _) => Made::Setup { kind: self.setup(), tag: tag(place, place.sender) },
            (b'H', _) => Made::Heartbeat { packet: line.packet },
            (b'B', _) => Made::HeartbeatAck { packet: self.answered(line) },
            (b'R', Some(cumulative)) => Made::ForwardTsn { cumulative },
            _ => Made::Other { kind: chunk::PAD },
        }
    }

    /// Which chunk of the handshake this end sends, by what it received last.
    fn setup(&self) -> u8 {
        match self.heard {
            Some(chunk::INIT) => chunk::INIT_ACK,
            Some(chunk::INIT_ACK) => chunk::COOKIE_ECHO,
            Some(chunk::COOKIE_ECHO) => chunk::COOKIE_ACK,
            _ => chunk::INIT,
        }
    }

    /// The HEARTBEAT that this HEARTBEAT ACK answers: the earliest that came the same way.
    fn answered(&mut self, line: &Line<'_>) -> u64 {
        let way = (line.destination.node, line.source.node);
        let found = self.heartbeats.iter().position(|(from, to, _)| (*from, *to) == way);
        let heartbeat = found.and_then(|index| self.heartbeats.remove(index));
        heartbeat.map_or(u64::MAX, |(_, _, packet)| packet)
    }
}
