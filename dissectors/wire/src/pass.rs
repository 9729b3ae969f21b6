//! The one streaming pass over a capture: records in, ledger out.
//!
//! Every record is counted once: read = dissected + partial + skipped by reason.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::container::{CaptureSet, Options as CaptureOptions, Record};
use crate::error::{Error, Result};
use crate::ledger::{CommentRow, Ledger, PROBLEM_ROWS, ProblemRow, Streamed};
use crate::packet::{Decoder, DecoderOptions, Found, Packet};
use crate::problem::{Kind, Layer, Problem};
use crate::rows::chunk_row;
use crate::sctp::{self, verify};
use crate::track::flow::{Census, FLOWS, Flows};
use crate::track::{Located, Moment, Seen, Tracker};
use flow::{icmp, sight, tcp, udp};

mod flow;

/// Says whether a packet takes part: link type, captured bytes, length on the wire.
pub type Filter = Box<dyn FnMut(u16, &[u8], u32) -> Result<bool> + Send>;

pub struct Options {
    /// Width of the interval table's bins.
    pub bin_ns: i64,
    /// UDP ports that carry SCTP (RFC 6951).
    pub udp_ports: Vec<u16>,
    pub capture: CaptureOptions,
    pub filter: Option<Filter>,
    /// The streamed table to make rows of.
    pub stream: Option<Streamed>,
    /// Whether to follow TCP and UDP flows and to read ICMP errors.
    pub flows: bool,
    /// Flows remembered at a time.
    pub flow_capacity: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            bin_ns: 100_000_000,
            udp_ports: DecoderOptions::default().udp_ports,
            capture: CaptureOptions::default(),
            filter: None,
            stream: None,
            flows: false,
            flow_capacity: FLOWS,
        }
    }
}

/// Conservation: `read` is the sum of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    pub read: u64,
    /// All of the frame that is read was there: every chunk of SCTP, the headers of TCP, UDP and ICMP.
    pub dissected: u64,
    /// Something in the frame could not be read; the rest was.
    pub partial: u64,
    /// Nothing above IP was read, by reason.
    pub skipped: BTreeMap<String, u64>,
}

pub struct Pass {
    capture: CaptureSet,
    work: Work,
    filter: Option<Filter>,
    damage: Vec<Error>,
    done: bool,
}

/// What the pass fills; apart from the capture that it borrows records from.
struct Work {
    decoder: Decoder,
    tracker: Tracker,
    flows: Flows,
    with_flows: bool,
    frames: Frames,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    sctp_packets: u64,
    problems: BTreeMap<String, u64>,
    streamed: Option<Streamed>,
}

/// A finished pass.
pub struct Summary {
    pub ledger: Ledger,
    pub frames: Frames,
    pub sctp_packets: u64,
    pub first_ns: Option<i64>,
    pub last_ns: Option<i64>,
    /// Flows seen, forgotten and not listed; None where they were not followed.
    pub flows: Option<Census>,
    /// Problems by layer and kind; complete, while the table is bounded.
    pub problems: BTreeMap<String, u64>,
    /// Fragments dropped because too many datagrams were incomplete at a time.
    pub dropped_fragments: u64,
    /// Of each file that went wrong before its end.
    pub damage: Vec<Error>,
}

impl Pass {
    /// Over files that are one capture; see [`CaptureSet::open`].
    pub fn open(paths: &[PathBuf], options: Options) -> Result<Pass> {
        let capture = CaptureSet::open(paths, &options.capture)?;
        Ok(Self::over(capture, options))
    }

    pub fn over(capture: impl Into<CaptureSet>, options: Options) -> Pass {
        Pass {
            capture: capture.into(),
            work: Work {
                decoder: Decoder::new(DecoderOptions {
                    udp_ports: options.udp_ports,
                    flows: options.flows,
                }),
                tracker: Tracker::new(options.bin_ns),
                flows: Flows::new(options.bin_ns, options.flow_capacity),
                with_flows: options.flows,
                frames: Frames::default(),
                first_ns: None,
                last_ns: None,
                sctp_packets: 0,
                problems: BTreeMap::new(),
                streamed: options.stream,
            },
            filter: options.filter,
            damage: Vec::new(),
            done: false,
        }
    }

    pub fn capture(&self) -> &CaptureSet {
        &self.capture
    }

    /// Reads up to `records` records; false when the capture is at its end.
    /// Damage in a file ends its records, but not what was read before them.
    pub fn step(&mut self, records: usize) -> Result<bool> {
        for _ in 0..records {
            if self.done {
                return Ok(false);
            }
            match self.capture.next() {
                Ok(Some(record)) => {
                    if let Some(filter) = &mut self.filter
                        && !filter(record.link_type, record.data, record.wire_length)?
                    {
                        self.work.note(&record);
                        self.work.skip("excluded by the filter");
                        continue;
                    }
                    self.work.record(&record);
                }
                Ok(None) => self.done = true,
                Err(damage @ Error::Damaged { .. }) => {
                    let of_several = matches!(self.capture, CaptureSet::Several(_));
                    self.work.damaged(&damage, of_several);
                    self.damage.push(damage);
                }
                Err(other) => return Err(other),
            }
        }
        Ok(!self.done)
    }

    /// The streamed table that was asked for, with its rows since they were last taken.
    pub fn streamed(&mut self) -> Option<&mut Streamed> {
        self.work.streamed.as_mut()
    }

    /// The tables. Call it after `step` has said false, or earlier for what there is so far.
    pub fn finish(self) -> (CaptureSet, Summary) {
        let mut work = self.work;
        let flows = work.flows.finish(&mut work.tracker.ledger);
        let summary = Summary {
            flows: work.with_flows.then_some(flows),
            dropped_fragments: work.decoder.dropped_fragments(),
            ledger: work.tracker.finish(),
            frames: work.frames,
            sctp_packets: work.sctp_packets,
            first_ns: work.first_ns,
            last_ns: work.last_ns,
            problems: work.problems,
            damage: self.damage,
        };
        (self.capture, summary)
    }
}

impl Work {
    fn note(&mut self, record: &Record<'_>) {
        self.frames.read += 1;
        let time_ns = record.time_ns;
        self.first_ns = Some(self.first_ns.map_or(time_ns, |first_ns| first_ns.min(time_ns)));
        self.last_ns = Some(self.last_ns.map_or(time_ns, |last_ns| last_ns.max(time_ns)));
    }

    fn skip(&mut self, reason: &str) {
        match self.frames.skipped.get_mut(reason) {
            Some(count) => *count += 1,
            None => {
                self.frames.skipped.insert(reason.to_string(), 1);
            }
        }
    }

    fn count(&mut self, whole: Whole) {
        match whole {
            Whole::Yes => self.frames.dissected += 1,
            Whole::Partly => self.frames.partial += 1,
            Whole::No(reason) => self.skip(&reason),
        }
    }

    fn record(&mut self, record: &Record<'_>) {
        self.note(record);
        for comment in &record.comments {
            self.tracker.ledger.comments.push(CommentRow {
                frame: record.frame,
                time_ns: record.time_ns,
                interface: record.interface_name.map(str::to_string),
                text: comment.clone(),
            });
        }
        let moment = Moment { time_ns: record.time_ns, frame: record.frame };
        // The decoder is taken apart from the rest because the packet may lie in its fragment pool.
        let Work { decoder, tracker, flows, problems, streamed, .. } = self;
        let found =
            decoder.decode(record.link_type, record.time_ns, record.data, record.wire_length);
        match found {
            Found::Sctp(packet) => {
                let mut reader = Reader { tracker, problems, streamed, moment };
                let whole = reader.packet(&packet, record);
                self.sctp_packets += 1;
                self.count(whole);
            }
            Found::Tcp(datagram) => {
                let whole = tcp(flows, tracker, problems, &sight(&datagram, record));
                self.count(whole);
            }
            Found::Udp(datagram) => {
                let whole = udp(flows, tracker, problems, &sight(&datagram, record));
                self.count(whole);
            }
            Found::Icmp(datagram) => {
                let whole = icmp(flows, tracker, problems, &sight(&datagram, record));
                self.count(whole);
            }
            Found::Skip(skip) => self.skip(skip.name()),
            Found::Problem(problem) => {
                let reason = reason(&problem);
                report(tracker, problems, &problem, moment);
                self.skip(&reason);
            }
        }
    }

    /// A row of its own for a file that goes wrong; of several files it says which.
    fn damaged(&mut self, damage: &Error, of_several: bool) {
        let Error::Damaged { path, offset, expected, found } = damage else { return };
        let file = if of_several { format!("{path}: ") } else { String::new() };
        self.tracker.ledger.problems.push(ProblemRow {
            frame: 0,
            time_ns: None,
            layer: "file",
            kind: "malformed",
            offset: *offset,
            what: format!("{file}expected {expected}, found {found}"),
            ..Default::default()
        });
    }
}

enum Whole {
    Yes,
    Partly,
    No(String),
}

const BEYOND_THE_PATHS: Problem = Problem {
    kind: Kind::Unknown,
    layer: Layer::Association,
    offset: 0,
    needed: 0,
    available: 0,
    what: "more paths than an association is given",
};

/// Reads one SCTP packet into the tracker.
struct Reader<'w> {
    tracker: &'w mut Tracker,
    problems: &'w mut BTreeMap<String, u64>,
    streamed: &'w mut Option<Streamed>,
    moment: Moment,
}

impl Reader<'_> {
    fn packet(&mut self, packet: &Packet<'_>, record: &Record<'_>) -> Whole {
        let (header, chunks) = match sctp::parse(packet.sctp, packet.sctp_length) {
            Ok(parsed) => parsed,
            Err(problem) => {
                let problem = problem.at(packet.sctp_offset as usize);
                report(self.tracker, self.problems, &problem, self.moment);
                return Whole::No(reason(&problem));
            }
        };
        let seen = Seen {
            moment: self.moment,
            wire_bytes: record.wire_length,
            interface: record.interface_name,
            packet,
            header,
            verdict: verify(packet.sctp, &header, packet.sctp_length),
        };
        let first = chunks.clone().next().and_then(|first| first.ok());
        let located = self.tracker.packet(&seen, first.as_ref());
        let mut whole = Whole::Yes;
        if matches!(located, Located::Nowhere) {
            self.problem(&BEYOND_THE_PATHS, packet);
            whole = Whole::Partly;
        }
        for (index, chunk) in chunks.enumerate() {
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(problem) => {
                    self.problem(&problem, packet);
                    whole = Whole::Partly;
                    break;
                }
            };
            let mut transmission = None;
            if let Located::At(association, place) = &located {
                let outcome = self.tracker.chunk(*association, place, &seen, &chunk);
                transmission = outcome.transmission;
                if let Some(problem) = outcome.problem {
                    self.problem(&problem, packet);
                    whole = Whole::Partly;
                }
            }
            if let Some(Streamed::Chunks(rows)) = self.streamed {
                rows.push(chunk_row(&seen, &located, &chunk, index, transmission));
            }
        }
        whole
    }

    fn problem(&mut self, problem: &Problem, packet: &Packet<'_>) {
        let problem = problem.clone().at(packet.sctp_offset as usize);
        report(self.tracker, self.problems, &problem, self.moment);
    }
}

fn reason(problem: &Problem) -> String {
    format!("{} {}", problem.kind.name(), problem.layer.name())
}

fn report(
    tracker: &mut Tracker,
    counts: &mut BTreeMap<String, u64>,
    problem: &Problem,
    moment: Moment,
) {
    *counts.entry(reason(problem)).or_insert(0) += 1;
    let rows = &mut tracker.ledger.problems;
    if rows.len() < PROBLEM_ROWS {
        rows.push(ProblemRow {
            frame: moment.frame,
            time_ns: Some(moment.time_ns),
            layer: problem.layer.name(),
            kind: problem.kind.name(),
            offset: u64::from(problem.offset),
            needed: u64::from(problem.needed),
            available: u64::from(problem.available),
            what: problem.what.to_string(),
        });
    }
}

#[cfg(test)]
mod tests;
