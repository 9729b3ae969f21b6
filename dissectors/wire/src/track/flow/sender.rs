//! What one end of a TCP connection sent: which sequence numbers are
//! outstanding, whether a segment is new, late or sent again and why, what an
//! ACK acknowledges (RFC 9293, RFC 5681, RFC 2018, RFC 2883, RFC 6298, RFC 8985).

use std::collections::VecDeque;

use super::budget::Budget;
use super::moments::Moments;
use crate::ledger::{FlowDirectionRow, TcpRetransmissionRow};
use crate::sctp::{Tsn, Unwrap};
use crate::tcp::Sack;
use crate::track::Moment;

/// Duplicate ACKs that start a fast retransmission (RFC 5681 section 3.2).
const FAST_RETRANSMIT: u32 = 3;
/// The least RTO in use; RFC 6298 has 1 s, but Linux and others this.
const LEAST_RTO_NS: i64 = 200_000_000;
/// Without any RTT, a segment that is late by less was overtaken on the way.
const LATENESS_NS: i64 = 3_000_000;
/// A step of sequence numbers beyond any window: the capture lost the connection, or they are forged.
const BEYOND_WINDOWS: u64 = 1 << 30;
/// Acknowledged segments remembered, so that one sent again in vain still finds its first.
const HISTORY: usize = 8;
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Fast,
    Timeout,
    Probe,
    Unknown,
}

impl Cause {
    fn name(self) -> &'static str {
        match self {
            Cause::Fast => "fast",
            Cause::Timeout => "timeout",
            Cause::Probe => "probe",
            Cause::Unknown => "unknown",
        }
    }
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

/// Payload bytes of one segment.
#[derive(Default)]
pub struct SentBytes {
    pub new_bytes: u64,
    pub retransmitted_bytes: u64,
}

/// The ACK of the peer.
pub struct Acknowledgement<'a> {
    pub number: u32,
    pub sack: Option<Sack<'a>>,
    /// TSecr.
    pub echo: Option<u32>,
    /// Without payload, SYN and FIN.
    pub bare: bool,
    pub same_window: bool,
    pub time_ns: i64,
}

/// What an ACK turned out to say.
#[derive(Default)]
pub struct Acknowledged {
    pub bytes: u64,
    pub rtt_ns: Option<u64>,
    pub duplicate: bool,
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
    ) -> SentBytes {
        let sequence = sending.sequence.wrapping_add(u32::from(sending.syn));
        self.begin(sequence);
        let Some(line) = self.line else { return SentBytes::default() };
        let start = line.near(sequence);
        self.note_timestamp(sending);
        let units = u64::from(sending.length) + u64::from(sending.fin);
        if sending.syn_again && units == 0 {
            self.repeated_syn(sending, row, rows, budget);
            return SentBytes::default();
        }
        if self.is_probe(start, sending, row) || units == 0 {
            return SentBytes::default();
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
        self.judge(start, end, walk, sending, row, rows, budget)
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
    fn is_probe(&mut self, start: u64, sending: &Sending, row: &mut FlowDirectionRow) -> bool {
        if sending.length > 1 || sending.fin || sending.syn {
            return false;
        }
        let behind = start.saturating_add(1) == self.next;
        if sending.into_zero_window && (behind || (start == self.next && sending.length == 1)) {
            row.window_probes += 1;
            return behind;
        }
        if behind && self.floor == self.next {
            row.keep_alives += 1;
            return true;
        }
        false
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
    ) -> SentBytes {
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
        let mut bytes = SentBytes { new_bytes: fresh, retransmitted_bytes: repeated };
        if overtaken {
            bytes.new_bytes += late;
            row.out_of_order_packets += 1;
            row.out_of_order_bytes += late;
        } else {
            bytes.retransmitted_bytes += late;
            if late > 0 {
                self.mark_repeated(start, end);
            }
        }
        row.new_bytes += bytes.new_bytes;
        if again {
            let cause = self.cause(start, end, before, sending);
            let entry = TcpRetransmissionRow {
                bytes: u32::try_from(bytes.retransmitted_bytes).unwrap_or(u32::MAX),
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
        bytes
    }

    /// A gap that is filled: by a segment that was overtaken on the way, or by one sent again
    /// whose first transmission the capture has not. The sender's timestamps tell, where they
    /// differ; else the time that the gap was open.
    fn was_overtaken(&self, start: u64, overtaker: Option<Sent>, sending: &Sending) -> bool {
        let Some(overtaker) = overtaker else { return false };
        match (sending.timestamp, overtaker.timestamp) {
            (Some(now), Some(then)) if now != then => Tsn(now).before(Tsn(then)),
            _ => {
                let asked = start == self.floor && self.duplicate_acks >= FAST_RETRANSMIT;
                let open_ns = sending.moment.time_ns.saturating_sub(overtaker.first.time_ns);
                !asked && open_ns < sending.round_trip_ns.unwrap_or(LATENESS_NS).max(LATENESS_NS)
            }
        }
    }

    /// The first transmission of these numbers is not in the capture: they give no RTT.
    fn mark_repeated(&mut self, start: u64, end: u64) {
        let from = self.sent.partition_point(|sent| sent.end <= start);
        for sent in self.sent.range_mut(from..).take_while(|sent| sent.start < end) {
            sent.count = sent.count.max(2);
        }
    }

    fn cause(&mut self, start: u64, end: u64, before: Option<Sent>, sending: &Sending) -> Cause {
        let now_ns = sending.moment.time_ns;
        let rto_ns = sending.round_trip_ns.unwrap_or(0).max(LEAST_RTO_NS);
        let waited_ns = before.map(|sent| now_ns.saturating_sub(sent.last_ns));
        let quiet_ns = self.heard_ns.map_or(i64::MAX, |heard| now_ns.saturating_sub(heard));
        // Timers and their readings are not exact to the last part.
        let expired = waited_ns.is_some_and(|waited| waited >= rto_ns / 10 * 9);
        let silent = quiet_ns >= rto_ns / 10 * 9;
        let twice = before.is_some_and(|sent| sent.count > 1);
        let asked = self.sacked.last().is_some_and(|&(_, sacked)| sacked > end)
            || (start == self.floor && self.duplicate_acks >= FAST_RETRANSMIT);
        let recovery = self.recovery.filter(|&(point, _)| start < point).map(|(_, cause)| cause);
        let cause = match recovery {
            Some(Cause::Timeout) => Cause::Timeout,
            _ if asked && !(expired && (twice || silent)) => Cause::Fast,
            Some(Cause::Fast) if !(expired && (twice || silent)) => Cause::Fast,
            _ if expired => Cause::Timeout,
            _ if end == self.next && probed(waited_ns, sending.round_trip_ns) => Cause::Probe,
            _ => Cause::Unknown,
        };
        if matches!(cause, Cause::Fast | Cause::Timeout) && recovery != Some(cause) {
            self.recovery = Some((self.next, cause));
        }
        cause
    }

    fn repeated_syn(
        &mut self,
        sending: &Sending,
        row: &mut FlowDirectionRow,
        rows: &mut Vec<TcpRetransmissionRow>,
        budget: &mut Budget,
    ) {
        let entry = entry(row, sending, Cause::Timeout);
        self.retransmitted(entry, Cause::Timeout, row, rows, budget);
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

    /// Counts the peer's ACK in the sender's `row`.
    pub fn acknowledged(
        &mut self,
        ack: &Acknowledgement<'_>,
        row: &mut FlowDirectionRow,
        rows: &mut [TcpRetransmissionRow],
    ) -> Acknowledged {
        self.begin(ack.number);
        let Some(line) = self.line else { return Acknowledged::default() };
        let number = line.near(ack.number);
        if number > self.next {
            if number - self.next > BEYOND_WINDOWS {
                return Acknowledged::default();
            }
            // The capture has not all that arrived.
            self.advance(number, ack.number, 0);
        }
        self.heard_ns = Some(ack.time_ns);
        let mut found = Acknowledged::default();
        if number > self.floor {
            self.rise(number, ack, row, &mut found);
        } else if number == self.floor && ack.bare && self.floor < self.next {
            let reports = ack.sack.is_some_and(|sack| !only_dsack(sack, ack.number));
            if reports || (ack.sack.is_none() && ack.same_window) {
                self.duplicate_acks = self.duplicate_acks.saturating_add(1);
                found.duplicate = true;
            }
        }
        if let Some(sack) = ack.sack {
            self.selective(&line, sack, number, row, rows);
        }
        found
    }

    /// The cumulative acknowledgement rises to `number`.
    fn rise(
        &mut self,
        number: u64,
        ack: &Acknowledgement<'_>,
        row: &mut FlowDirectionRow,
        found: &mut Acknowledged,
    ) {
        let mut seen = 0;
        let mut newest: Option<i64> = None;
        let mut repeated = false;
        while let Some(front) = self.sent.front_mut()
            && front.start < number
        {
            if front.end > number {
                seen += number - front.start;
                front.start = number;
                break;
            }
            let Some(sent) = self.sent.pop_front() else { break };
            seen += sent.end - sent.start;
            repeated |= sent.count > 1;
            // What was SACKed before arrived before.
            if !self.is_sacked(&sent) {
                newest = Some(sent.first.time_ns);
            }
            if self.history.len() >= HISTORY {
                self.history.pop_front();
            }
            self.history.push_back(sent);
        }
        let units = number - self.floor;
        let fin = self.fin.is_some_and(|fin| self.floor < fin && fin <= number);
        found.bytes = units.saturating_sub(u64::from(fin));
        row.acked_bytes += found.bytes;
        row.unseen_bytes += units.saturating_sub(seen);
        // Karn's rule: an ACK that covers a repeated segment may be for either transmission.
        if let Some(first_ns) = newest.filter(|_| !repeated) {
            found.rtt_ns = self.rtt.sample(ack.time_ns.saturating_sub(first_ns));
        }
        self.echoed(ack);
        self.floor = number;
        self.duplicate_acks = 0;
        self.sacked.retain_mut(|stretch| {
            stretch.0 = stretch.0.max(number);
            stretch.0 < stretch.1
        });
        self.recovery = self.recovery.filter(|&(point, _)| number < point);
    }

    fn is_sacked(&self, sent: &Sent) -> bool {
        let index = self.sacked.partition_point(|&(_, end)| end <= sent.start);
        self.sacked.get(index).is_some_and(|&(start, _)| start <= sent.start)
    }

    /// RTT by the timestamps option: of ACKs of new data only (RFC 7323 section 4.1).
    fn echoed(&mut self, ack: &Acknowledgement<'_>) {
        let Some(echo) = ack.echo else { return };
        while let Some(&(value, sent_ns)) = self.timestamps.front()
            && !Tsn(echo).before(Tsn(value))
        {
            self.timestamps.pop_front();
            if value == echo {
                self.timestamp_rtt.sample(ack.time_ns.saturating_sub(sent_ns));
            }
        }
    }

    fn selective(
        &mut self,
        line: &Unwrap,
        sack: Sack<'_>,
        number: u64,
        row: &mut FlowDirectionRow,
        rows: &mut [TcpRetransmissionRow],
    ) {
        let place = |(left, right): (u32, u32)| (line.near(left), line.near(right));
        let second = sack.blocks().nth(1).map(place);
        for (index, (left, right)) in sack.blocks().map(place).enumerate() {
            if left >= right {
                continue;
            }
            let inside = second.is_some_and(|(from, to)| from <= left && right <= to);
            if index == 0 && (right <= number || inside) {
                self.arrived_twice(left, right, row, rows);
            } else if right <= self.next && left >= self.floor {
                self.insert_sacked(left, right);
            }
        }
    }

    /// RFC 2883: the receiver has these numbers twice, so one transmission was in vain.
    fn arrived_twice(
        &mut self,
        left: u64,
        right: u64,
        row: &mut FlowDirectionRow,
        rows: &mut [TcpRetransmissionRow],
    ) {
        let overlaps = |again: &Again| again.start < right && left < again.end;
        let Some(index) = self.again.iter().position(overlaps) else { return };
        let Some(again) = self.again.remove(index) else { return };
        row.spurious_retransmissions += 1;
        if let Some(row) = again.row.and_then(|index| rows.get_mut(index)) {
            row.spurious = true;
        }
    }

    fn insert_sacked(&mut self, left: u64, right: u64) {
        let from = self.sacked.partition_point(|&(_, end)| end < left);
        let to = self.sacked.partition_point(|&(start, _)| start <= right);
        let joined = self.sacked.get(from..to).unwrap_or_default();
        let (left, right) = joined
            .iter()
            .fold((left, right), |(left, right), &(start, end)| (left.min(start), right.max(end)));
        if from == to && self.sacked.len() >= REMEMBERED {
            return;
        }
        self.sacked.splice(from..to, [(left, right)]);
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

/// A tail loss probe comes after about two round trips (RFC 8985 section 7.2).
fn probed(waited_ns: Option<i64>, round_trip_ns: Option<i64>) -> bool {
    match (waited_ns, round_trip_ns) {
        (Some(waited), Some(round_trip)) => waited >= round_trip.saturating_add(round_trip / 2),
        _ => false,
    }
}

/// Whether a SACK option reports nothing but a duplicate.
fn only_dsack(sack: Sack<'_>, number: u32) -> bool {
    let mut blocks = sack.blocks();
    match (blocks.next(), blocks.next()) {
        (Some((_, right)), None) => !Tsn(number).before(Tsn(right)),
        _ => false,
    }
}
