//! The one streaming pass over a capture: records in, ledger out.
//!
//! Every record is counted once: read = dissected + partial + skipped by reason.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::container::{CaptureSet, Options as CaptureOptions, Record};
use crate::error::{Error, Result};
use crate::index::{self, Indexer};
use crate::ledger::{CommentRow, Ledger, PROBLEM_ROWS, ProblemRow, Streamed};
use crate::packet::{Decoder, DecoderOptions, Found, Packet, Source};
use crate::problem::{Kind, Layer, Problem};
use crate::rows::{chunk_row, frame_row};
use crate::sctp::{self, verify};
use crate::track::flow::{Census, FLOWS, Flows};
use crate::track::standing::Standing;
use crate::track::{self, Limits, Located, Moment, Seen, Tracker};
use flow::{FlowReader, sight};

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
    /// What associations may cost.
    pub limits: Limits,
    /// Bytes of the file to a block of the offset index that is made on the way, if one is.
    pub index_block_bytes: Option<u64>,
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
            limits: Limits::default(),
            index_block_bytes: None,
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
    index: Option<Indexer>,
}

/// A finished pass.
pub struct Summary {
    pub ledger: Ledger,
    pub frames: Frames,
    pub sctp_packets: u64,
    pub first_ns: Option<i64>,
    pub last_ns: Option<i64>,
    /// Associations seen, forgotten and not listed.
    pub associations: track::Census,
    /// Flows seen, forgotten and not listed; None where they were not followed.
    pub flows: Option<Census>,
    /// Problems by layer and kind; complete, while the table is bounded.
    pub problems: BTreeMap<String, u64>,
    /// Fragments dropped because too many datagrams were incomplete at a time.
    pub dropped_fragments: u64,
    /// Of each file that went wrong before its end.
    pub damage: Vec<Error>,
    /// The offset index, if one was asked for.
    pub index: Option<index::Tables>,
}

impl Pass {
    /// Over files that are one capture; see [`CaptureSet::open`].
    ///
    /// # Errors
    /// As there. [`Error::Usage`] when an index is asked for and the capture is not one plain file.
    pub fn open(paths: &[PathBuf], options: Options) -> Result<Pass> {
        let capture = CaptureSet::open(paths, &options.capture)?;
        if options.index_block_bytes.is_some() {
            capture.may_be_indexed()?;
        }
        Ok(Self::over(capture, options))
    }

    pub fn over(capture: impl Into<CaptureSet>, options: Options) -> Pass {
        let mut tracker = Tracker::new(options.bin_ns, options.limits);
        if let Some(Streamed::Messages(_)) = options.stream {
            tracker.ledger.messages = Some(Vec::new());
        }
        Pass {
            capture: capture.into(),
            work: Work {
                decoder: Decoder::new(DecoderOptions {
                    udp_ports: options.udp_ports,
                    flows: options.flows,
                }),
                tracker,
                flows: Flows::new(options.bin_ns, options.flow_capacity),
                with_flows: options.flows,
                frames: Frames::default(),
                first_ns: None,
                last_ns: None,
                sctp_packets: 0,
                problems: BTreeMap::new(),
                streamed: options.stream,
                index: options.index_block_bytes.map(Indexer::new),
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
                        let excluded = Whole::No("excluded by the filter".into());
                        self.work.count(&record, None, excluded);
                        continue;
                    }
                    self.work.record(&record);
                }
                Ok(None) => {
                    self.done = true;
                    self.work.tracker.close_all();
                }
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
        let Work { streamed, tracker, .. } = &mut self.work;
        if let Some(Streamed::Messages(rows)) = streamed
            && let Some(made) = &mut tracker.ledger.messages
        {
            rows.append(made);
        }
        streamed.as_mut()
    }

    /// The index that was asked for, for its packets so far.
    pub fn index(&mut self) -> Option<&mut Indexer> {
        self.work.index.as_mut()
    }

    /// The tables. Call it after `step` has said false, or earlier for what there is so far.
    pub fn finish(self) -> (CaptureSet, Summary) {
        let mut work = self.work;
        let flows = work.flows.finish(&mut work.tracker.ledger);
        let (ledger, associations) = work.tracker.finish();
        let summary = Summary {
            flows: work.with_flows.then_some(flows),
            dropped_fragments: work.decoder.dropped_fragments(),
            associations,
            ledger,
            frames: work.frames,
            sctp_packets: work.sctp_packets,
            first_ns: work.first_ns,
            last_ns: work.last_ns,
            problems: work.problems,
            damage: self.damage,
            index: work.index.map(|index| index.finish(self.capture.descriptions())),
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

    fn count(&mut self, record: &Record<'_>, protocol: Option<&'static str>, whole: Whole) {
        let (outcome, reason) = match whole {
            Whole::Yes => {
                self.frames.dissected += 1;
                ("dissected", None)
            }
            Whole::Partly => {
                self.frames.partial += 1;
                ("partial", None)
            }
            Whole::No(reason) => {
                self.skip(&reason);
                ("skipped", Some(reason))
            }
        };
        if let Some(Streamed::Frames(rows)) = &mut self.streamed {
            rows.push(frame_row(record, protocol, outcome, reason.map(Cow::into_owned)));
        }
    }

    fn record(&mut self, record: &Record<'_>) {
        self.note(record);
        for comment in &record.comments {
            self.tracker.ledger.keep_comment(CommentRow {
                frame: record.frame,
                time_ns: record.time_ns,
                interface: record.interface_name.map(str::to_string),
                text: comment.clone(),
            });
        }
        let moment = Moment { time_ns: record.time_ns, frame: record.frame };
        // The decoder is taken apart from the rest because the packet may lie in its fragment pool.
        let Work { decoder, tracker, flows, problems, streamed, index, .. } = self;
        let source = Source {
            turn: self.frames.read,
            frame: record.frame,
            offset: record.offset,
            time_ns: record.time_ns,
        };
        if index.is_some() {
            decoder.at(source);
        }
        let found =
            decoder.decode(record.link_type, record.time_ns, record.data, record.wire_length);
        let (protocol, whole) = match found {
            Found::Sctp(packet) => {
                self.sctp_packets += 1;
                let reassembled = packet.reassembled;
                let mut reader = Reader { tracker, problems, streamed, index, moment, source };
                let whole = reader.packet(&packet, record);
                if reassembled && let Some(index) = &mut self.index {
                    index.pieces(self.decoder.sources());
                }
                (Some("sctp"), whole)
            }
            Found::Tcp(datagram) => {
                let mut reader = FlowReader { flows, tracker, problems, streamed };
                (Some("tcp"), reader.tcp(&sight(&datagram, record)))
            }
            Found::Udp(datagram) => {
                let mut reader = FlowReader { flows, tracker, problems, streamed };
                (Some("udp"), reader.udp(&sight(&datagram, record)))
            }
            Found::Icmp(datagram) => {
                let mut reader = FlowReader { flows, tracker, problems, streamed };
                (Some("icmp"), reader.icmp(&sight(&datagram, record)))
            }
            Found::Skip(skip) => (None, Whole::No(skip.name().into())),
            Found::Problem(problem) => {
                report(tracker, problems, &problem, moment);
                (None, Whole::No(reason(&problem).into()))
            }
        };
        self.count(record, protocol, whole);
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
    /// Why.
    No(Cow<'static, str>),
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
    index: &'w mut Option<Indexer>,
    moment: Moment,
    source: Source,
}

impl Reader<'_> {
    fn packet(&mut self, packet: &Packet<'_>, record: &Record<'_>) -> Whole {
        let (header, chunks) = match sctp::parse(packet.sctp, packet.sctp_length) {
            Ok(parsed) => parsed,
            Err(problem) => {
                let problem = problem.at(packet.sctp_offset as usize);
                report(self.tracker, self.problems, &problem, self.moment);
                return Whole::No(reason(&problem).into());
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
        let standing = Standing::of(&located);
        let mut transmissions = Vec::new();
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
            if let Located::At(slot, place) = &located {
                let outcome = self.tracker.chunk(*slot, place, &seen, &chunk);
                transmission = outcome.transmission;
                if let Some(problem) = outcome.problem {
                    self.problem(&problem, packet);
                    whole = Whole::Partly;
                }
            }
            if let Some(Streamed::Chunks(rows)) = self.streamed {
                rows.push(chunk_row(&seen, &standing, &chunk, index, transmission));
            }
            if self.index.is_some() {
                transmissions.extend(transmission);
            }
        }
        if let Some(index) = self.index {
            index.packet(self.source, &standing, &transmissions);
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
