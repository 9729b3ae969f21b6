//! The reading half of a pass: records out of files, packets out of records,
//! chunks and checksums of packets. What it finds it tells a [`Listener`], in the
//! order of the records: the tracking half at once, or a [`super::batch::Batch`]
//! on its way to another thread.

use std::collections::BTreeMap;

use super::Filter;
use crate::container::{Capture, CaptureSet, Frame};
use crate::digest::Digests;
use crate::error::{Error, Result};
use crate::ns2::{Told, Trace, Transport as Simulated};
use crate::packet::{Decoder, Found, Packet, Skip, Source};
use crate::problem::Problem;
use crate::sctp::{self, Chunk, verify};
use crate::track::flow::Sight;
use crate::track::{Moment, Seen};
use etherparse::{IpNumber, ip_number};

/// Why a frame has no packet that is read.
#[derive(Clone)]
pub enum Nothing {
    /// By the filter.
    Excluded,
    Skip(Skip),
    Problem(Problem),
    /// A line of a trace that cannot be read, so that its time is not known either.
    Unreadable(Problem),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Udp,
    Icmp,
}

impl Transport {
    fn protocol(self) -> IpNumber {
        match self {
            Transport::Tcp => ip_number::TCP,
            Transport::Udp => ip_number::UDP,
            Transport::Icmp => ip_number::ICMP,
        }
    }
}

/// Takes what is found, every frame once.
pub trait Listener {
    /// The digests of the packet or datagram that is told next, where somebody asks for them.
    fn digests(&mut self, digests: Digests);

    /// An SCTP packet that begins `offset` bytes into its frame.
    fn sctp<'p>(
        &mut self,
        frame: &Frame<'_>,
        seen: &Seen<'_>,
        offset: u32,
        chunks: impl Iterator<Item = std::result::Result<Chunk<'p>, Problem>> + Clone,
    );

    /// The records that the packet told last was put together from.
    fn pieces(&mut self, sources: &[Source]);

    fn flow(&mut self, frame: &Frame<'_>, transport: Transport, sight: &Sight<'_>);

    fn nothing(&mut self, frame: &Frame<'_>, nothing: Nothing);
}

/// How reading goes on.
pub enum Turn {
    Frame,
    /// Damage in a file ends its records, but not what was read before them.
    Damage(Error),
    End,
}

pub struct Front {
    pub capture: CaptureSet,
    pub decoder: Decoder,
    pub filter: Option<Filter>,
    pub with_digests: bool,
    /// Records so far.
    pub turn: u64,
    /// What reads the lines of a simulator's trace.
    pub trace: Box<Trace>,
    /// Lines of a trace of which no packet is told.
    pub untold: Untold,
}

#[derive(Default)]
pub struct Untold {
    /// Of events inside the network, or at its other end.
    pub inside: u64,
    /// By what they are of.
    pub others: BTreeMap<&'static str, u64>,
}

impl Front {
    /// Reads one record.
    ///
    /// # Errors
    /// What is no [`Turn::Damage`]: a file that is no longer there, a filter that fails.
    #[inline]
    pub fn next(&mut self, to: &mut impl Listener) -> Result<Turn> {
        if let Some(capture) = self.capture.trace() {
            return simulated(capture, &mut self.trace, &mut self.untold, to);
        }
        let record = match self.capture.next() {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(Turn::End),
            Err(damage @ Error::Damaged { .. }) => return Ok(Turn::Damage(damage)),
            Err(other) => return Err(other),
        };
        self.turn += 1;
        let frame = record.frame();
        if let Some(filter) = &mut self.filter
            && !filter(record.link_type, record.data, record.wire_length)?
        {
            to.nothing(&frame, Nothing::Excluded);
            return Ok(Turn::Frame);
        }
        self.decoder.at(Source {
            turn: self.turn,
            frame: frame.number,
            offset: frame.offset,
            time_ns: frame.time_ns,
        });
        let found =
            self.decoder.decode(record.link_type, record.time_ns, record.data, record.wire_length);
        // By reference: a packet is large, and moving it costs as much as finding it.
        let (transport, datagram) = match &found {
            Found::Sctp(packet) => {
                tell(packet, &frame, self.with_digests, to);
                if packet.reassembled {
                    to.pieces(self.decoder.sources());
                }
                return Ok(Turn::Frame);
            }
            Found::Tcp(datagram) => (Transport::Tcp, datagram),
            Found::Udp(datagram) => (Transport::Udp, datagram),
            Found::Icmp(datagram) => (Transport::Icmp, datagram),
            Found::Skip(skip) => {
                to.nothing(&frame, Nothing::Skip(*skip));
                return Ok(Turn::Frame);
            }
            Found::Problem(problem) => {
                to.nothing(&frame, Nothing::Problem(problem.clone()));
                return Ok(Turn::Frame);
            }
        };
        let sight = Sight::of(datagram, moment(&frame), frame.wire_length, frame.interface_name);
        if self.with_digests {
            to.digests(Digests::of(transport.protocol(), datagram.bytes, datagram.length));
        }
        to.flow(&frame, transport, &sight);
        Ok(Turn::Frame)
    }
}

/// Reads lines of a trace up to one that a packet is told of.
fn simulated(
    capture: &mut Capture,
    trace: &mut Trace,
    untold: &mut Untold,
    to: &mut impl Listener,
) -> Result<Turn> {
    loop {
        let line = match capture.line() {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(Turn::End),
            Err(damage @ Error::Damaged { .. }) => return Ok(Turn::Damage(damage)),
            Err(other) => return Err(other),
        };
        let told = trace.take(&line);
        let frame = trace.frame(&line);
        match told {
            Told::Inside => untold.inside += 1,
            Told::Other(what) => *untold.others.entry(what).or_insert(0) += 1,
            Told::Sctp => {
                let Some((seen, chunks)) = trace.sctp(&frame) else { continue };
                to.sctp(&frame, &seen, 0, chunks);
                return Ok(Turn::Frame);
            }
            Told::Flow(protocol) => {
                let datagram = trace.datagram();
                let sight = trace.sight(&frame, &datagram);
                let transport =
                    if protocol == Simulated::Tcp { Transport::Tcp } else { Transport::Udp };
                to.flow(&frame, transport, &sight);
                return Ok(Turn::Frame);
            }
            Told::Problem(problem) => {
                to.nothing(&frame, Nothing::Unreadable(problem));
                return Ok(Turn::Frame);
            }
        }
    }
}

fn moment(frame: &Frame<'_>) -> Moment {
    Moment { time_ns: frame.time_ns, frame: frame.number }
}

#[inline(always)]
fn tell(packet: &Packet<'_>, frame: &Frame<'_>, with_digests: bool, to: &mut impl Listener) {
    match sctp::parse(packet.sctp, packet.sctp_length) {
        Ok((header, chunks)) => {
            let head = (header, verify(packet.sctp, &header, packet.sctp_length));
            let (moment, wire_bytes) = (moment(frame), frame.wire_length);
            let interface = frame.interface_name;
            let seen = Seen::of(packet, head, chunks.clone(), moment, wire_bytes, interface);
            if with_digests {
                to.digests(Digests::of(ip_number::SCTP, packet.sctp, packet.sctp_length));
            }
            to.sctp(frame, &seen, packet.sctp_offset, chunks);
        }
        Err(problem) => {
            let problem = problem.at(packet.sctp_offset as usize);
            to.nothing(frame, Nothing::Problem(problem));
        }
    }
}
