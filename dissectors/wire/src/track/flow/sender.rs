//! What one end of a TCP connection sent: which sequence numbers are
//! outstanding, whether a segment is new, late or sent again and why, what an
//! ACK acknowledges (RFC 9293).

mod ack;
mod cause;

use std::collections::VecDeque;

pub use self::ack::Acknowledgement;
use self::cause::Cause;
use super::budget::Budget;
use crate::ledger::{FlowDirectionRow, TcpRetransmissionRow};
use crate::sctp::{Tsn, Unwrap};
use crate::track::Moment;
use crate::track::moments::Moments;

/// A step of sequence numbers beyond any window: the capture lost the connection, or they are forged.
const BEYOND_WINDOWS: u64 = 1 << 30;
/// SACKed stretches, retransmissions awaiting a DSACK, and timestamps awaiting their echo.
const REMEMBERED: usize = 64;

/// Sequence numbers sent together, as last sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    end: u64,
    first: Moment,
    last_ns: i64,
    timestamp: Option<u32>,
    /// Transmissions seen.
    count: u32,
}

/// A retransmission whose DSACK may still come.
#[derive(Clone, Copy, Debug)]
struct Again {
    start: u64,
    end: u64,
    /// Index of its row, if it has one.
    row: Option<usize>,
}

/// One segment, as its sender sends it.
pub struct Sending {
    pub sequence: u32,
    /// Bytes of payload.
    pub length: u32,
    pub syn: bool,
    /// A SYN that was sent before.
    pub syn_again: bool,
    pub fin: bool,
    /// TSval.
    pub timestamp: Option<u32>,
    /// The peer's window was closed when this was sent.
    pub into_zero_window: bool,
    pub round_trip_ns: Option<i64>,
    pub moment: Moment,
}

/// What one segment was.
#[derive(Default)]
pub struct Outcome {
    /// Of its payload.
    pub new_bytes: u64,
    pub retransmitted_bytes: u64,
    /// In a word; none where it takes no sequence numbers.
    pub sent_as: Option<&'static str>,
}

const NEW: &str = "new";
const OUT_OF_ORDER: &str = "out-of-order";
const KEEP_ALIVE: &str = "keep-alive";
const WINDOW_PROBE: &str = "window-probe";

/// A segment that asks for an answer rather than sends something.
struct Probe {
    name: &'static str,
    carries_new: bool,
}

#[derive(Default)]
pub struct Sender {
    line: Option<Unwrap>,
    /// After the highest number sent.
    next: u64,
    /// Everything below is acknowledged, or forgotten.
    floor: u64,
    /// In order, disjoint, all at or above `floor`.
    sent: VecDeque<Sent>,
    history: VecDeque<Sent>,
    /// SACKed stretches above `floor`, in order, disjoint.
    sacked: Vec<(u64, u64)>,
    again: VecDeque<Again>,
    /// TSvals and when each was first sent.
    timestamps: VecDeque<(u32, i64)>,
    /// Numbers below were outstanding when a loss was first repaired, and by what.
    recovery: Option<(u64, Cause)>,
    fin: Option<u64>,
    duplicate_acks: u32,
    /// Last ACK of the peer.
    heard_ns: Option<i64>,
    pub rtt: Moments,
    pub timestamp_rtt: Moments,
}

/// What the walk over the outstanding segments found of one segment. In sequence numbers.
#[derive(Default)]
struct Walk {
    fresh: u64,
    late: u64,
    repeated: u64,
    /// Category of the last number, which is FIN's if there is one.
    last: Last,
    /// The first outstanding segment that it repeats, as it was before.
    before: Option<Sent>,
    /// The segment whose arrival showed the gap that it fills.
    overtaker: Option<Sent>,
}

#[derive(Clone, Copy, Default)]
enum Last {
    #[default]
    Repeated,
    Fresh,
    Late,
}

impl Sender {
    /// Segments held in memory.
    pub fn remembered(&self) -> usize {
        self.sent.len()
    }

    /// Sequence numbers outstanding.
    pub fn flight(&self) -> u64 {
        self.next.saturating_sub(self.floor)
    }

    /// Counts one segment in the sender's `row`.
    pub fn send(
        &mut self,
        sending: &Sending,
        row: &mut FlowDirectionRow,
        rows: &mut Vec<TcpRetransmissionRow>,
        budget: &mut Budget,
    ) -> Outcome {
        let sequence = sending.sequence.wrapping_add(u32::from(sending.syn));
        self.begin(sequence);
        let Some(line) = self.line else { return Outcome::default() };
        let start = line.near(sequence);
        self.note_timestamp(sending);
        let units = u64::from(sending.length) + u64::from(sending.fin);
        if sending.syn_again && units == 0 {
            return self.repeated_syn(sending, row, rows, budget);
        }
        let probe = self.probe(start, sending, row);
        if units == 0 || probe.as_ref().is_some_and(|probe| !probe.carries_new) {
            let syn = sending.syn.then_some(NEW);
            let sent_as = probe.map(|probe| probe.name).or(syn);
            return Outcome { sent_as, ..Outcome::default() };
        }
        if start.abs_diff(self.next) > BEYOND_WINDOWS {
            self.resume_at(start);
        }
        let end = start.saturating_add(units);
        if sending.fin {
            self.fin = Some(end);
        }
        let walk = self.walk(start, end, sending);
        self.advance(end, sequence, units);
        self.forget(budget);
        let outcome = self.judge(start, end, walk, sending, row, rows, budget);
        Outcome { sent_as: probe.map(|probe| probe.name).or(outcome.sent_as), ..outcome }
    }

    /// The first number seen, sent or acknowledged, is where the capture begins.
    fn begin(&mut self, sequence: u32) {
        if self.line.is_none() {
            let line = Unwrap::new(sequence);
            (self.next, self.floor) = (line.highest(), line.highest());
            self.line = Some(line);
        }
    }

    fn resume_at(&mut self, start: u64) {
        self.sent.clear();
        self.sacked.clear();
        (self.next, self.floor, self.recovery) = (start, start, None);
    }

    fn advance(&mut self, end: u64, sequence: u32, units: u64) {
        if end > self.next {
            self.next = end;
            if let Some(line) = &mut self.line {
                // The low 32 bits are the wire's number; `units` is at most 2^16 but for offloads.
                line.extend(sequence.wrapping_add(units as u32));
            }
        }
    }

    fn note_timestamp(&mut self, sending: &Sending) {
        let Some(value) = sending.timestamp else { return };
        let is_later = |&(last, _): &(u32, i64)| Tsn(last).before(Tsn(value));
        // When too many await their echo the new one is left out: the old ones' come first.
        if self.timestamps.len() < REMEMBERED && self.timestamps.back().is_none_or(is_later) {
            self.timestamps.push_back((value, sending.moment.time_ns));
        }
    }

    /// Keep-alives and window probes: counted, and otherwise left out, unless a probe carries a new byte.
    fn probe(
        &mut self,
        start: u64,
        sending: &Sending,
        row: &mut FlowDirectionRow,
    ) -> Option<Probe> {
        if sending.length > 1 || sending.fin || sending.syn {
            return None;
        }
        let behind = start.saturating_add(1) == self.next;
        if sending.into_zero_window && (behind || (start == self.next && sending.length == 1)) {
            row.window_probes += 1;
            return Some(Probe { name: WINDOW_PROBE, carries_new: !behind });
        }
        if behind && self.floor == self.next {
            row.keep_alives += 1;
            return Some(Probe { name: KEEP_ALIVE, carries_new: false });
        }
        None
    }

    /// Finds out which of the numbers are new, late or repeated, and remembers them as sent now.
    fn walk(&mut self, start: u64, end: u64, sending: &Sending) -> Walk {
        let now = sending.moment;
        let mut walk =
            Walk { repeated: end.min(self.floor).saturating_sub(start), ..Walk::default() };
        if walk.repeated > 0 {
            walk.before =
                self.history.iter_mut().find(|old| old.end > start && old.start < end).map(|old| {
                    let before = *old;
                    (old.count, old.last_ns) = (old.count + 1, now.time_ns);
                    before
                });
        }
        let mut at = start.max(self.floor);
        let mut index = self.sent.partition_point(|sent| sent.end <= at);
        while at < end {
            let until = match self.sent.get_mut(index) {
                Some(sent) if sent.start <= at => {
                    walk.before = walk.before.or(Some(*sent));
                    sent.count = sent.count.saturating_add(1);
                    sent.last_ns = now.time_ns;
                    let until = sent.end.min(end);
                    walk.repeated += until - at;
                    walk.last = Last::Repeated;
                    until
                }
                following => {
                    let overtaker = following.map(|sent| *sent);
                    let mut until = overtaker.map_or(end, |sent| sent.start.min(end));
                    if at < self.next {
                        until = until.min(self.next);
                        walk.late += until - at;
                        walk.last = Last::Late;
                        walk.overtaker = walk.overtaker.or(overtaker);
                    } else {
                        walk.fresh += until - at;
                        walk.last = Last::Fresh;
                    }
                    let (first, last_ns) = (now, now.time_ns);
                    let timestamp = sending.timestamp;
                    let sent = Sent { start: at, end: until, first, last_ns, timestamp, count: 1 };
                    self.sent.insert(index, sent);
                    until
                }
            };
            at = until;
            index += 1;
        }
        walk
    }

    /// Says what the segment was, in the rows.
    #[expect(clippy::too_many_arguments, reason = "one private call, whose parts live in one flow")]
    fn judge(
        &mut self,
        start: u64,
        end: u64,
        walk: Walk,
        sending: &Sending,
        row: &mut FlowDirectionRow,
        rows: &mut Vec<TcpRetransmissionRow>,
        budget: &mut Budget,
    ) -> Outcome {
        let Walk { mut fresh, mut late, mut repeated, last, before, overtaker } = walk;
        let overtaken = late > 0 && self.was_overtaken(start, overtaker, sending);
        let again = repeated > 0 || (late > 0 && !overtaken);
        if sending.fin {
            match last {
                Last::Fresh => fresh -= 1,
                Last::Late => late -= 1,
                Last::Repeated => repeated -= 1,
            }
        }
        let mut outcome =
            Outcome { new_bytes: fresh, retransmitted_bytes: repeated, sent_as: Some(NEW) };
        if overtaken {
            outcome.sent_as = Some(OUT_OF_ORDER);
            outcome.new_bytes += late;
            row.out_of_order_packets += 1;
            row.out_of_order_bytes += late;
        } else {
            outcome.retransmitted_bytes += late;
            if late > 0 {
                self.mark_repeated(start, end);
            }
        }
        row.new_bytes += outcome.new_bytes;
        if again {
            let cause = self.cause(start, end, before, sending);
            outcome.sent_as = Some(cause.name());
            let entry = TcpRetransmissionRow {
                bytes: u32::try_from(outcome.retransmitted_bytes).unwrap_or(u32::MAX),
                first_frame: before.map(|sent| sent.first.frame),
                first_ns: before.map(|sent| sent.first.time_ns),
                previous_ns: before.map(|sent| sent.last_ns),
                transmission: before.map_or(0, |sent| sent.count.saturating_add(1)),
                acknowledged: end <= self.floor,
                ..entry(row, sending, cause)
            };
            let row = self.retransmitted(entry, cause, row, rows, budget);
            if self.again.len() >= REMEMBERED {
                self.again.pop_front();
            }
            self.again.push_back(Again { start, end, row });
        }
        outcome
    }

    /// The first transmission of these numbers is not in the capture: they give no RTT.
    fn mark_repeated(&mut self, start: u64, end: u64) {
        let from = self.sent.partition_point(|sent| sent.end <= start);
        for sent in self.sent.range_mut(from..).take_while(|sent| sent.start < end) {
            sent.count = sent.count.max(2);
        }
    }

    fn repeated_syn(
        &mut self,
        sending: &Sending,
        row: &mut FlowDirectionRow,
        rows: &mut Vec<TcpRetransmissionRow>,
        budget: &mut Budget,
    ) -> Outcome {
        let entry = entry(row, sending, Cause::Timeout);
        self.retransmitted(entry, Cause::Timeout, row, rows, budget);
        Outcome { sent_as: Some(Cause::Timeout.name()), ..Outcome::default() }
    }

    /// Counts a retransmission; returns the index of its row.
    fn retransmitted(
        &mut self,
        entry: TcpRetransmissionRow,
        cause: Cause,
        row: &mut FlowDirectionRow,
        rows: &mut Vec<TcpRetransmissionRow>,
        budget: &mut Budget,
    ) -> Option<usize> {
        row.retransmitted_packets += 1;
        row.retransmitted_bytes += u64::from(entry.bytes);
        match cause {
            Cause::Fast => row.fast_retransmissions += 1,
            Cause::Timeout => row.timeout_retransmissions += 1,
            Cause::Probe => row.probe_retransmissions += 1,
            Cause::Unknown => row.unknown_retransmissions += 1,
        }
        budget.retransmission().then(|| {
            rows.push(entry);
            rows.len() - 1
        })
    }

    /// Forgets the oldest segments when too many are outstanding.
    fn forget(&mut self, budget: &Budget) {
        let most = budget.segments();
        while self.sent.len() > most {
            let Some(oldest) = self.sent.pop_front() else { return };
            self.floor = self.floor.max(oldest.end);
        }
    }
}

fn entry(row: &FlowDirectionRow, sending: &Sending, cause: Cause) -> TcpRetransmissionRow {
    TcpRetransmissionRow {
        flow: row.flow,
        sender: row.sender,
        frame: sending.moment.frame,
        time_ns: sending.moment.time_ns,
        sequence: sending.sequence,
        cause: cause.name(),
        ..TcpRetransmissionRow::default()
    }
}
