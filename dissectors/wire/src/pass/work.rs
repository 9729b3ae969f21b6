//! The tracking half of a pass: what the packets of a capture mean together.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::flow::FlowReader;
use super::front::{Listener, Nothing, Transport, Untold};
use super::{Frames, Options};
use crate::container::Frame;
use crate::digest::Digests;
use crate::error::Error;
use crate::index::Indexer;
use crate::ledger::{CommentRow, PROBLEM_ROWS, ProblemRow, Streamed};
use crate::packet::Source;
use crate::problem::{Kind, Layer, Problem};
use crate::rows::{chunk_row, frame_row, sighting_of_sctp};
use crate::sctp::{Chunk, chunk};
use crate::track::flow::{Flows, Sight};
use crate::track::standing::Standing;
use crate::track::{Located, Moment, Seen, Tracker};

/// What the pass fills.
pub struct Work {
    pub tracker: Tracker,
    pub flows: Flows,
    pub frames: Frames,
    pub first_ns: Option<i64>,
    pub last_ns: Option<i64>,
    pub sctp_packets: u64,
    pub problems: BTreeMap<String, u64>,
    pub streamed: Option<Streamed>,
    pub index: Option<Indexer>,
    /// Of the packet that comes next, where somebody asks for them.
    pub digests: Option<Digests>,
}

/// How much of a frame was read.
pub(super) enum Whole {
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

impl Work {
    pub fn new(options: Options) -> Self {
        let mut tracker = Tracker::new(options.bin_ns, options.limits);
        if let Some(Streamed::Messages(_)) = options.stream {
            tracker.ledger.messages = Some(Vec::new());
        }
        Work {
            tracker,
            flows: Flows::new(options.bin_ns, options.flow_capacity),
            frames: Frames::default(),
            first_ns: None,
            last_ns: None,
            sctp_packets: 0,
            problems: BTreeMap::new(),
            streamed: options.stream,
            index: options.index_block_bytes.map(Indexer::new),
            digests: None,
        }
    }

    /// A row of its own for a file that goes wrong; of several files it says which.
    pub fn damaged(&mut self, damage: &Error, of_several: bool) {
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

    fn note(&mut self, frame: &Frame<'_>) {
        self.frames.read += 1;
        let time_ns = frame.time_ns;
        self.first_ns = Some(self.first_ns.map_or(time_ns, |first_ns| first_ns.min(time_ns)));
        self.last_ns = Some(self.last_ns.map_or(time_ns, |last_ns| last_ns.max(time_ns)));
    }

    /// Lines of a trace beside those of packets that were told, and the time that all took.
    pub fn count_untold(&mut self, untold: &Untold, span_ns: Option<(i64, i64)>) {
        self.frames.read += untold.inside;
        self.frames.dissected += untold.inside;
        for (what, lines) in &untold.others {
            self.frames.read += lines;
            *self.frames.skipped.entry((*what).to_string()).or_insert(0) += lines;
        }
        if let Some((first_ns, last_ns)) = span_ns {
            (self.first_ns, self.last_ns) = (Some(first_ns), Some(last_ns));
        }
    }

    fn keep_comments(&mut self, frame: &Frame<'_>) {
        for comment in frame.comments {
            self.tracker.ledger.keep_comment(CommentRow {
                frame: frame.number,
                time_ns: frame.time_ns,
                interface: frame.interface_name.map(str::to_string),
                text: comment.clone(),
            });
        }
    }

    fn skip(&mut self, reason: &str) {
        match self.frames.skipped.get_mut(reason) {
            Some(count) => *count += 1,
            None => {
                self.frames.skipped.insert(reason.to_string(), 1);
            }
        }
    }

    fn count(&mut self, frame: &Frame<'_>, protocol: Option<&'static str>, whole: Whole) {
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
            rows.push(frame_row(frame, protocol, outcome, reason.map(Cow::into_owned)));
        }
    }

    #[inline]
    fn packet<'p>(
        &mut self,
        source: Source,
        seen: &Seen<'_>,
        offset: u32,
        chunks: impl Iterator<Item = Result<Chunk<'p>, Problem>> + Clone,
    ) -> Whole {
        let first = chunks.clone().next().and_then(Result::ok);
        let located = self.tracker.packet(seen, first.as_ref());
        let standing = Standing::of(&located);
        let mut transmissions = Vec::new();
        let digests = self.digests.take();
        let mut data = None;
        let mut whole = Whole::Yes;
        if matches!(located, Located::Nowhere) {
            self.problem(BEYOND_THE_PATHS, offset, seen.moment);
            whole = Whole::Partly;
        }
        for (index, chunk) in chunks.enumerate() {
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(problem) => {
                    self.problem(problem, offset, seen.moment);
                    whole = Whole::Partly;
                    break;
                }
            };
            let mut transmission = None;
            if let Located::At(slot, place) = &located {
                let outcome = self.tracker.chunk(*slot, place, seen, &chunk);
                transmission = outcome.transmission;
                if let Some(problem) = outcome.problem {
                    self.problem(problem, offset, seen.moment);
                    whole = Whole::Partly;
                }
            }
            if digests.is_some() {
                data = sent_least(data, &chunk, transmission);
            }
            if let Some(Streamed::Chunks(rows)) = &mut self.streamed {
                rows.push(chunk_row(seen, &standing, &chunk, index, transmission));
            }
            if self.index.is_some() {
                transmissions.extend(transmission);
            }
        }
        if let (Some(digests), Some(Streamed::Sightings(rows))) = (digests, &mut self.streamed) {
            rows.extend(sighting_of_sctp(seen, &standing, &digests, data));
        }
        if let Some(index) = &mut self.index {
            index.packet(source, &standing, &transmissions);
        }
        whole
    }

    #[cold]
    fn problem(&mut self, problem: Problem, offset: u32, moment: Moment) {
        let problem = problem.at(offset as usize);
        let Moment { time_ns, frame } = moment;
        report(&mut self.tracker, &mut self.problems, &problem, frame, Some(time_ns));
    }
}

/// First TSN of a packet, and the transmission of that of its chunks that was sent the least often,
/// with one more chunk. 0, of a chunk whose earlier transmissions are not known, is the last to count.
fn sent_least(
    so_far: Option<(u32, Option<u32>)>,
    chunk: &Chunk<'_>,
    transmission: Option<u32>,
) -> Option<(u32, Option<u32>)> {
    if !matches!(chunk.kind, chunk::DATA | chunk::I_DATA) {
        return so_far;
    }
    let Ok(data) = chunk.data() else { return so_far };
    let (tsn, least) = so_far.unwrap_or((data.tsn, None));
    let known = [least, transmission].into_iter().flatten();
    Some((tsn, known.min_by_key(|count| count.wrapping_sub(1))))
}

impl Listener for Work {
    fn digests(&mut self, digests: Digests) {
        self.digests = Some(digests);
    }

    #[inline]
    fn sctp<'p>(
        &mut self,
        frame: &Frame<'_>,
        seen: &Seen<'_>,
        offset: u32,
        chunks: impl Iterator<Item = Result<Chunk<'p>, Problem>> + Clone,
    ) {
        self.note(frame);
        self.keep_comments(frame);
        self.sctp_packets += 1;
        let source = Source {
            turn: self.frames.read,
            frame: frame.number,
            offset: frame.offset,
            time_ns: frame.time_ns,
        };
        let whole = self.packet(source, seen, offset, chunks);
        self.count(frame, Some("sctp"), whole);
    }

    fn pieces(&mut self, sources: &[Source]) {
        if let Some(index) = &mut self.index {
            index.pieces(sources);
        }
    }

    fn flow(&mut self, frame: &Frame<'_>, transport: Transport, sight: &Sight<'_>) {
        self.note(frame);
        self.keep_comments(frame);
        let digests = self.digests.take();
        let Work { tracker, flows, problems, streamed, .. } = self;
        let mut reader = FlowReader { flows, tracker, problems, streamed, digests };
        let (protocol, whole) = match transport {
            Transport::Tcp => ("tcp", reader.tcp(sight)),
            Transport::Udp => ("udp", reader.udp(sight)),
            Transport::Icmp => ("icmp", reader.icmp(sight)),
        };
        self.count(frame, Some(protocol), whole);
    }

    fn nothing(&mut self, frame: &Frame<'_>, nothing: Nothing) {
        let time_ns = if let Nothing::Unreadable(_) = nothing {
            self.frames.read += 1;
            None
        } else {
            self.note(frame);
            Some(frame.time_ns)
        };
        let why = match nothing {
            Nothing::Excluded => "excluded by the filter".into(),
            Nothing::Skip(skip) => {
                self.keep_comments(frame);
                skip.name().into()
            }
            Nothing::Problem(problem) | Nothing::Unreadable(problem) => {
                self.keep_comments(frame);
                report(&mut self.tracker, &mut self.problems, &problem, frame.number, time_ns);
                reason(&problem).into()
            }
        };
        self.count(frame, None, Whole::No(why));
    }
}

pub(super) fn reason(problem: &Problem) -> String {
    format!("{} {}", problem.kind.name(), problem.layer.name())
}

pub(super) fn report(
    tracker: &mut Tracker,
    counts: &mut BTreeMap<String, u64>,
    problem: &Problem,
    frame: u64,
    time_ns: Option<i64>,
) {
    *counts.entry(reason(problem)).or_insert(0) += 1;
    let rows = &mut tracker.ledger.problems;
    if rows.len() < PROBLEM_ROWS {
        rows.push(ProblemRow {
            frame,
            time_ns,
            layer: problem.layer.name(),
            kind: problem.kind.name(),
            offset: u64::from(problem.offset),
            needed: u64::from(problem.needed),
            available: u64::from(problem.available),
            what: problem.what.to_string(),
        });
    }
}
