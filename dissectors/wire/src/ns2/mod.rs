//! Traces of the simulator ns-2: text, a line an event of a packet on a link.
//!
//! A trace tells of every packet everywhere. For the trackers one host's view is
//! taken out of it, as a capture there would show it: of each association and flow
//! what the end that sent first sends, and what arrives there. Everything else goes
//! into the tables of [`crate::ledger`] that only a simulator can fill: transits,
//! hops and links. Frames are lines.

mod associations;
mod chunks;
mod line;
mod network;
mod received;
mod segments;
mod tagged;

use hashbrown::HashMap;

pub use self::associations::Hosts;
use self::associations::{Associations, tag};
use self::chunks::{IP_HEADER, Made};
use self::line::{ChunkFields, Event, Line, Protocol, Read};
use self::network::{Network, Step};
use self::segments::Segments;
use crate::address::Address;
use crate::container::{Frame, TextLine};
use crate::ledger::Simulation;
use crate::packet::{Datagram, Skip};
use crate::problem::Problem;
use crate::sctp::{Checksum, Chunk, CommonHeader, Verdict};
use crate::track::flow::Sight;
use crate::track::{Moment, Seen};

/// What a line gave the trackers.
pub enum Told {
    /// An SCTP packet: [`Trace::sctp`].
    Sctp,
    /// A TCP or UDP packet: [`Trace::datagram`].
    Flow(Protocol),
    /// An event inside the network, or at the other end.
    Inside,
    /// A line that is of no packet that is followed, by what it is of.
    Other(&'static str),
    Problem(Problem),
}

pub use self::line::Protocol as Transport;

/// Chunks of a packet that are believed: of the largest packet, 64 KB, all DATA of a byte.
const MOST_CHUNKS: usize = 4096;

/// Lines of one packet and event: SCTP has one for each chunk.
#[derive(Default)]
struct Group {
    key: Option<(u64, i64, u32)>,
    chunks: Vec<ChunkFields>,
}

/// A packet on its way that its receiver's tracker wants to hear of, or that its receiver answers.
struct Kept {
    place: associations::Place,
    made: Vec<Made>,
}

#[derive(Default)]
pub struct Trace {
    network: Network,
    associations: Associations,
    segments: Segments,
    flows: bool,
    /// SCTP packets between sending and arrival, by number.
    kept: HashMap<u64, Kept>,
    group: Group,
    packet: chunks::Packet,
    header: Option<CommonHeader>,
    bytes: Vec<u8>,
    length: u32,
    ends: (Address, Address),
    number: u64,
    span_ns: Option<(i64, i64)>,
    /// Of the last line.
    time_ns: i64,
    wire_bytes: u32,
}

/// What a trace says beside its packets.
#[derive(Default)]
pub struct Account {
    pub tables: Simulation,
    /// Packets that the table of transits did not take.
    pub unlisted_transits: u64,
    /// Packets whose sending the trace does not have.
    pub unsent: u64,
}

impl Trace {
    /// `hosts` says which nodes are interfaces of one host, as far as the user knows; `flows`,
    /// whether TCP and UDP are followed.
    pub fn new(hosts: Hosts, flows: bool) -> Self {
        Trace { associations: Associations::new(hosts), flows, ..Trace::default() }
    }

    /// Reads a line.
    pub fn take(&mut self, text: &TextLine<'_>) -> Told {
        let line = match line::read(text.bytes) {
            Ok(Read::Packet(line)) => line,
            Ok(Read::Other(what)) => return Told::Other(what),
            Err(problem) => return Told::Problem(problem),
        };
        let (first_ns, last_ns) = self.span_ns.unwrap_or((line.time_ns, line.time_ns));
        self.span_ns = Some((first_ns.min(line.time_ns), last_ns.max(line.time_ns)));
        (self.time_ns, self.wire_bytes) = (line.time_ns, line.bytes);
        match line.chunk {
            Some(chunk) => self.chunk(&line, chunk, text.number),
            None => {
                self.group.chunks.clear();
                self.event(&line, text.number)
            }
        }
    }

    /// One chunk's line; the last one of its packet tells of the packet.
    fn chunk(&mut self, line: &Line<'_>, chunk: ChunkFields, number: u64) -> Told {
        let key = Some((line.packet, line.time_ns, line.from));
        if self.group.key != key || line.event == Event::Passed {
            self.group.chunks.clear();
            self.group.key = key;
        }
        self.group.chunks.push(chunk);
        let of = usize::try_from(chunk.of).unwrap_or(usize::MAX).min(MOST_CHUNKS);
        if self.group.chunks.len() < of {
            return Told::Inside;
        }
        self.group.key = None;
        self.event(line, number)
    }

    fn event(&mut self, line: &Line<'_>, number: u64) -> Told {
        let has_data =
            line.has_data() || self.group.chunks.iter().any(|chunk| chunk.letter == b'D');
        let Some(step) = self.network.take(line, has_data, number) else { return Told::Inside };
        let Some(protocol) = line.protocol() else {
            return if step == Step::Sent {
                Told::Other("another packet type")
            } else {
                Told::Inside
            };
        };
        match (protocol, step) {
            (_, Step::Between) => {
                if line.event == Event::Dropped && line.layer.is_none() {
                    self.kept.remove(&line.packet);
                }
                Told::Inside
            }
            (Protocol::Sctp, Step::Sent) => self.sctp_sent(line),
            (Protocol::Sctp, Step::Arrived) => self.sctp_arrived(line),
            (protocol, step) => self.flow(protocol, step, line),
        }
    }

    fn sctp_sent(&mut self, line: &Line<'_>) -> Told {
        let chunks = &self.group.chunks;
        let Some(place) = self.associations.place(line, chunks) else {
            return Told::Other("more associations than are followed");
        };
        let made = self.associations.sent(place, line, chunks);
        let told = place.sender == 0;
        if told {
            self.show(place, line, &made);
        }
        self.kept.insert(line.packet, Kept { place, made });
        if told { Told::Sctp } else { Told::Inside }
    }

    fn sctp_arrived(&mut self, line: &Line<'_>) -> Told {
        let Some(Kept { place, made }) = self.kept.remove(&line.packet) else {
            return Told::Inside;
        };
        self.associations.arrived(place, line, &made);
        if place.sender == 0 {
            return Told::Inside;
        }
        self.show(place, line, &made);
        Told::Sctp
    }

    fn show(&mut self, place: associations::Place, line: &Line<'_>, made: &[Made]) {
        self.packet.write(made, line.bytes);
        let is_init = made
            .iter()
            .any(|one| matches!(one, Made::Setup { kind: crate::sctp::chunk::INIT, .. }));
        self.header = Some(CommonHeader {
            source_port: line.source.port,
            destination_port: line.destination.port,
            verification_tag: if is_init { 0 } else { tag(place, 1 - place.sender) },
            checksum: 0,
        });
        self.of(line);
        self.length = line.bytes.saturating_sub(IP_HEADER);
    }

    fn flow(&mut self, protocol: Protocol, step: Step, line: &Line<'_>) -> Told {
        let Some(place) = self.segments.place(protocol, line) else {
            return Told::Other("more flows than are followed");
        };
        let is_seen = match step {
            Step::Sent => place.sender == 0,
            Step::Arrived => place.sender == 1,
            Step::Between => false,
        };
        if !is_seen {
            return Told::Inside;
        }
        if !self.flows {
            return Told::Other(Skip::NotSctp.name());
        }
        self.length = self.segments.write(protocol, place, line, &mut self.bytes);
        self.of(line);
        Told::Flow(protocol)
    }

    fn of(&mut self, line: &Line<'_>) {
        self.ends = (Address::node(line.source.node), Address::node(line.destination.node));
        self.number = line.packet;
    }

    /// The line as a frame.
    pub fn frame<'a>(&self, text: &TextLine<'_>) -> Frame<'a> {
        Frame {
            number: text.number,
            offset: text.offset,
            time_ns: self.time_ns,
            link_type: 0,
            interface_name: None,
            wire_length: self.wire_bytes,
            captured_length: 0,
            comments: &[],
        }
    }

    /// The least and the greatest time of a packet's line.
    pub fn span_ns(&self) -> Option<(i64, i64)> {
        self.span_ns
    }

    /// The SCTP packet that was told last.
    pub fn sctp<'a>(
        &'a self,
        frame: &Frame<'a>,
    ) -> Option<(Seen<'a>, impl Iterator<Item = Result<Chunk<'a>, Problem>> + Clone)> {
        let seen = Seen {
            moment: Moment { time_ns: frame.time_ns, frame: frame.number },
            wire_bytes: frame.wire_length,
            interface: None,
            source: self.ends.0,
            destination: self.ends.1,
            ip_id: None,
            udp: None,
            length: self.length,
            header: self.header?,
            verdict: Verdict { checksum: Checksum::Simulated, crc32c: self.fingerprint() },
            sets_up: false,
        };
        Some((seen, self.packet.chunks()))
    }

    /// The TCP or UDP packet that was told last.
    pub fn datagram(&self) -> Datagram<'_> {
        Datagram {
            source: self.ends.0,
            destination: self.ends.1,
            ip_id: None,
            bytes: &self.bytes,
            offset: 0,
            length: self.length,
        }
    }

    pub fn sight<'a>(&self, frame: &Frame<'a>, datagram: &'a Datagram<'a>) -> Sight<'a> {
        Sight {
            moment: Moment { time_ns: frame.time_ns, frame: frame.number },
            wire_bytes: frame.wire_length,
            interface: None,
            datagram,
            crc32c: self.fingerprint(),
            is_cut: false,
        }
    }

    /// A simulated packet is never a copy of another: its number stands for its bytes.
    fn fingerprint(&self) -> u32 {
        (self.number & u64::from(u32::MAX)) as u32
    }

    /// What the trace says beside its packets.
    pub fn account(self) -> Account {
        Account {
            unlisted_transits: self.network.unlisted,
            unsent: self.network.unsent,
            tables: self.network.tables,
        }
    }
}

#[cfg(test)]
mod tests;
