//! What one end of an association sent: which TSNs are outstanding, which
//! transmission of a chunk this is, what a SACK acknowledges.

use std::collections::VecDeque;

use super::path::{Path, Place};
use super::{End, Moment};
use crate::ledger::{Ledger, RetransmissionRow, RunRow, StallRow, TimeoutRow};
use crate::sctp::data::Data;
use crate::sctp::sack::Sack;
use crate::sctp::tsn::Unwrap;

/// Acknowledged chunks remembered, so that a retransmission that comes too late still finds its first.
const HISTORY: usize = 512;
/// Most chunks remembered per sender; beyond it the oldest is forgotten.
const REMEMBERED: usize = 1 << 16;
/// Moves whose recovery is watched at a time. Concurrent multipath transfer makes one a packet.
const WATCHED_RUNS: usize = 1024;
/// A stop of the cumulative TSN that is worth a row.
const STALL_NS: i64 = 100_000_000;
/// Miss indications that start a fast retransmission (RFC 9260 section 7.2.4).
const FAST_RETRANSMIT: u32 = 3;
/// A chunk sent this shortly before an expiry shows may belong to the burst that the expiry set
/// off, the interfaces' clocks being read one after the other: the next expiry explains it better.
const SAME_BURST_NS: i64 = 1_000_000;
/// Without any RTT sample, a retransmission sooner than this is not put down to T3-rtx.
const LEAST_TIMEOUT_NS: i64 = 10_000_000;

/// One chunk as last sent.
#[derive(Clone, Debug)]
struct Sent {
    tsn: u64,
    first: Moment,
    last_ns: i64,
    first_path: u32,
    last_path: u32,
    /// None for a late first sight on another path than the run's.
    run: Option<usize>,
    bytes: u32,
    /// Transmissions seen.
    count: u32,
    miss_indications: u32,
    acked: bool,
    /// FORWARD-TSN passed it: it will be covered by SACKs without having arrived.
    abandoned: bool,
    /// Row of the latest retransmission.
    row: Option<usize>,
}

/// Whether an acknowledgement came by the cumulative TSN or by a gap block.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Cumulative,
    Gap,
}

pub struct Sender {
    end: End,
    unwrap: Option<Unwrap>,
    /// In TSN order; the first `settled` are at or below the cumulative TSN.
    sent: VecDeque<Sent>,
    settled: usize,
    cumulative: Option<u64>,
    highest: Option<u64>,
    run: Option<usize>,
    watched: Vec<(usize, u64)>,
    /// Last advance of the cumulative TSN.
    advanced: Option<Moment>,
    /// Since when something has been waiting for an advance.
    waiting: Option<Moment>,
    /// Newest acknowledged chunk per path in the SACK at hand; kept to be reused.
    freshest: Vec<(u32, i64)>,
    /// An outstanding chunk was forgotten because too many were.
    has_forgotten: bool,
}

impl Sender {
    pub fn new(end: End) -> Self {
        Sender {
            end,
            unwrap: None,
            sent: VecDeque::new(),
            settled: 0,
            cumulative: None,
            highest: None,
            run: None,
            watched: Vec::new(),
            advanced: None,
            waiting: None,
            freshest: Vec::new(),
            has_forgotten: false,
        }
    }

    /// INIT or INIT ACK says which TSN comes first.
    pub fn starts_at(&mut self, initial_tsn: u32) {
        if self.highest.is_none() {
            let unwrap = Unwrap::new(initial_tsn);
            self.cumulative = Some(unwrap.near(initial_tsn).saturating_sub(1));
            self.unwrap = Some(unwrap);
        }
    }

    /// Chunks held in memory.
    #[cfg(test)]
    pub fn remembered(&self) -> usize {
        self.sent.len()
    }

    /// Whether a cumulative TSN from the peer could answer what this end sent.
    pub fn could_be_acknowledged_by(&self, cumulative_tsn: u32) -> bool {
        match (&self.unwrap, self.highest) {
            (Some(unwrap), Some(highest)) => {
                let tsn = unwrap.near(cumulative_tsn);
                tsn <= highest && highest - tsn <= HISTORY as u64
            }
            _ => false,
        }
    }

    /// One DATA or I-DATA chunk. Returns the transmission number: 1 for the
    /// first sight, 2 for the first retransmission; 0 for a retransmission of
    /// something older than is remembered.
    pub fn data(
        &mut self,
        data: &Data<'_>,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> u32 {
        let tsn = self.unwrap.get_or_insert_with(|| Unwrap::new(data.tsn)).extend(data.tsn);
        let transmission = match self.position(tsn) {
            Ok(index) => self.retransmitted(index, data, at, paths, ledger),
            Err(_) if self.is_before_memory(tsn) => {
                self.old_retransmission(data, at, ledger);
                0
            }
            Err(index) => {
                self.first_sight(index, tsn, data, at, paths, ledger);
                1
            }
        };
        let way = &mut paths[at.path as usize].ways[self.end as usize];
        way.last_data = Some(at.moment);
        let flight_bytes = way.flight_bytes;
        let bin = way.bin(at, ledger);
        bin.data_chunks += 1;
        bin.flight_max_bytes = bin.flight_max_bytes.max(flight_bytes);
        if transmission == 1 {
            bin.new_chunks += 1;
            bin.new_bytes += u64::from(data.user_length);
        } else {
            bin.retransmitted_chunks += 1;
            bin.retransmitted_bytes += u64::from(data.user_length);
        }
        transmission
    }

    /// Where a TSN is (Ok) or would be (Err) in `sent`. TSNs are dense as a rule, so the first guess hits.
    fn position(&self, tsn: u64) -> Result<usize, usize> {
        let Some(front) = self.sent.front() else { return Err(0) };
        if let Some(guess) = tsn.checked_sub(front.tsn).and_then(|d| usize::try_from(d).ok()) {
            match self.sent.get(guess) {
                Some(sent) if sent.tsn == tsn => return Ok(guess),
                None if self.sent.back().is_some_and(|back| back.tsn < tsn) => {
                    return Err(self.sent.len());
                }
                _ => {}
            }
        }
        self.sent.binary_search_by_key(&tsn, |sent| sent.tsn)
    }

    /// A TSN that is not remembered and cannot be new: acknowledged long ago, forgotten,
    /// or older than the first one of a capture that starts in the middle.
    fn is_before_memory(&self, tsn: u64) -> bool {
        let before_first = self.sent.front().is_some_and(|front| tsn < front.tsn);
        match self.cumulative {
            Some(cumulative) => tsn <= cumulative || (self.has_forgotten && before_first),
            None => before_first,
        }
    }

    fn first_sight(
        &mut self,
        index: usize,
        tsn: u64,
        data: &Data<'_>,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) {
        let late = self.highest.is_some_and(|highest| tsn < highest);
        let run = self.run_of(late, data, at, paths, ledger);
        if late {
            paths[at.path as usize].ways[self.end as usize].bin(at, ledger).late_chunks += 1;
        }
        let way = &mut paths[at.path as usize].ways[self.end as usize];
        if way.flight_chunks == 0 || way.t3_started.is_none() {
            way.t3_started = Some(at.moment);
        }
        way.flight_chunks += 1;
        way.flight_bytes += u64::from(data.user_length);
        self.waiting.get_or_insert(at.moment);
        self.highest = Some(self.highest.map_or(tsn, |highest| highest.max(tsn)));
        let sent = Sent {
            tsn,
            first: at.moment,
            last_ns: at.moment.time_ns,
            first_path: at.path,
            last_path: at.path,
            run,
            bytes: data.user_length,
            count: 1,
            miss_indications: 0,
            acked: false,
            abandoned: false,
            row: None,
        };
        self.sent.insert(index, sent);
        if self.sent.len() > REMEMBERED
            && let Some(oldest) = self.sent.pop_front()
        {
            self.settled = self.settled.saturating_sub(1);
            if !oldest.acked {
                self.has_forgotten = true;
                paths[oldest.last_path as usize].ways[self.end as usize].leave_flight(oldest.bytes);
            }
        }
    }

    /// The run that a new chunk belongs to; opens one when the path changed.
    fn run_of(
        &mut self,
        late: bool,
        data: &Data<'_>,
        at: &Place,
        paths: &[Path],
        ledger: &mut Ledger,
    ) -> Option<usize> {
        let current = self.run.filter(|&run| ledger.runs[run].path == at.path);
        // A TSN below the highest was overtaken, or its first transmission was lost before
        // the tap and this is a retransmission: no sign that new DATA moved.
        if late && current.is_none() && self.run.is_some() {
            return None;
        }
        let run = current.unwrap_or_else(|| self.open_run(data, at, paths, ledger));
        let row = &mut ledger.runs[run];
        row.last_ns = at.moment.time_ns;
        row.last_frame = at.moment.frame;
        if !late {
            row.last_tsn = data.tsn;
        }
        row.chunks += 1;
        row.user_bytes += u64::from(data.user_length);
        Some(run)
    }

    fn open_run(
        &mut self,
        data: &Data<'_>,
        at: &Place,
        paths: &[Path],
        ledger: &mut Ledger,
    ) -> usize {
        let mut row = RunRow {
            association: at.association,
            sender: self.end.name(),
            path: at.path,
            first_ns: at.moment.time_ns,
            first_frame: at.moment.frame,
            first_tsn: data.tsn,
            last_tsn: data.tsn,
            gap_start_ns: self.advanced.map(|m| m.time_ns),
            gap_start_frame: self.advanced.map(|m| m.frame),
            outstanding_chunks: paths
                .iter()
                .map(|path| path.ways[self.end as usize].flight_chunks)
                .sum(),
            ..Default::default()
        };
        if let Some(previous) = self.run {
            let ways = &paths[ledger.runs[previous].path as usize].ways;
            let heard = ways[self.end.other() as usize].last;
            let data = ways[self.end as usize].last_data;
            row.previous_heard_ns = heard.map(|m| m.time_ns);
            row.previous_heard_frame = heard.map(|m| m.frame);
            row.previous_data_ns = data.map(|m| m.time_ns);
            row.previous_data_frame = data.map(|m| m.frame);
        }
        let run = ledger.runs.len();
        // What must be acknowledged before the move has cost nothing more.
        let is_out = |highest: &u64| self.cumulative.is_none_or(|cumulative| *highest > cumulative);
        let target = self.highest.filter(is_out);
        row.outstanding_tsn = target.map(|tsn| tsn as u32);
        ledger.runs.push(row);
        if self.watched.len() < WATCHED_RUNS {
            self.watched.push((run, target.unwrap_or(0)));
        }
        self.run = Some(run);
        run
    }

    fn retransmitted(
        &mut self,
        index: usize,
        data: &Data<'_>,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> u32 {
        let cause = self.cause_of(index, data, at, paths, ledger);
        let end = self.end as usize;
        // RFC 9260 section 7.2.4, 4: a fast retransmission of the path's first outstanding
        // chunk restarts T3-rtx.
        let mut before = self.sent.iter().take(index).skip(self.settled);
        let restarts =
            cause == "fast" && !before.any(|sent| !sent.acked && sent.last_path == at.path);
        let sent = &mut self.sent[index];
        sent.count = sent.count.saturating_add(1);
        if !sent.acked {
            paths[sent.last_path as usize].ways[end].leave_flight(sent.bytes);
            let way = &mut paths[at.path as usize].ways[end];
            if restarts || way.flight_chunks == 0 || way.t3_started.is_none() {
                way.t3_started = Some(at.moment);
            }
            way.flight_chunks += 1;
            way.flight_bytes += u64::from(sent.bytes);
        }
        sent.row = Some(ledger.retransmissions.len());
        ledger.retransmissions.push(RetransmissionRow {
            association: at.association,
            sender: self.end.name(),
            tsn: data.tsn,
            user_bytes: data.user_length,
            first_ns: Some(sent.first.time_ns),
            first_frame: Some(sent.first.frame),
            first_path: Some(sent.first_path),
            previous_ns: Some(sent.last_ns),
            previous_path: Some(sent.last_path),
            time_ns: at.moment.time_ns,
            frame: at.moment.frame,
            path: at.path,
            transmission: sent.count,
            cause,
            miss_indications: sent.miss_indications,
            ..Default::default()
        });
        sent.last_ns = at.moment.time_ns;
        sent.last_path = at.path;
        sent.miss_indications = 0;
        sent.count
    }

    /// Why a chunk is sent again. An expiry of T3-rtx marks everything
    /// outstanding on its path, so one expiry explains later retransmissions of
    /// chunks sent before it.
    fn cause_of(
        &mut self,
        index: usize,
        data: &Data<'_>,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> &'static str {
        let sent = &self.sent[index];
        let way = &mut paths[sent.last_path as usize].ways[self.end as usize];
        let age_at_expiry_ns =
            way.t3_expired_ns.map(|expired| expired.saturating_sub(sent.last_ns));
        if age_at_expiry_ns.is_some_and(|age_ns| age_ns > SAME_BURST_NS) {
            return "t3";
        }
        if sent.count == 1 && sent.miss_indications >= FAST_RETRANSMIT {
            return "fast";
        }
        if sent.acked {
            return "unknown";
        }
        // RTO is never below SRTT (RFC 9260 section 6.3.1), so a shorter wait was no expiry.
        let least_ns = way.sack_rtt.smoothed_ns().map_or(LEAST_TIMEOUT_NS, |srtt| srtt as i64);
        let started = way.t3_started;
        let elapsed_ns = started.map(|m| at.moment.time_ns.saturating_sub(m.time_ns));
        let waited_ns = at.moment.time_ns.saturating_sub(sent.last_ns);
        if elapsed_ns.unwrap_or(waited_ns) < least_ns {
            return if age_at_expiry_ns.is_some_and(|age_ns| age_ns >= 0) {
                "t3"
            } else {
                "unknown"
            };
        }
        way.t3_expired_ns = Some(at.moment.time_ns);
        way.t3_started = None;
        way.consecutive_timeouts = way.consecutive_timeouts.saturating_add(1);
        ledger.timeouts.push(TimeoutRow {
            association: at.association,
            sender: self.end.name(),
            path: sent.last_path,
            armed_ns: started.map(|m| m.time_ns),
            armed_frame: started.map(|m| m.frame),
            time_ns: at.moment.time_ns,
            frame: at.moment.frame,
            tsn: data.tsn,
            retransmission_path: at.path,
            elapsed_ns,
            consecutive: way.consecutive_timeouts,
        });
        "t3"
    }

    fn old_retransmission(&mut self, data: &Data<'_>, at: &Place, ledger: &mut Ledger) {
        ledger.retransmissions.push(RetransmissionRow {
            association: at.association,
            sender: self.end.name(),
            tsn: data.tsn,
            user_bytes: data.user_length,
            time_ns: at.moment.time_ns,
            frame: at.moment.frame,
            path: at.path,
            cause: "unknown",
            ..Default::default()
        });
    }

    /// A SACK or NR-SACK from the peer. Returns whether its gap blocks overlap or are out of order.
    pub fn sack(
        &mut self,
        sack: &Sack<'_>,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> bool {
        let unwrap = self.unwrap.get_or_insert_with(|| Unwrap::new(sack.cumulative_tsn));
        let cumulative = unwrap.near(sack.cumulative_tsn);
        self.freshest.clear();
        let mut newest = self.advance(cumulative, at, paths, ledger);
        let base = self.cumulative.unwrap_or(cumulative);
        let mut disorder = false;
        // A SACK that was overtaken by a newer one counts its blocks from an older base.
        disorder |= self.gaps(cumulative, base, sack.gaps(), &mut newest, at, paths, ledger);
        disorder |= self.gaps(cumulative, base, sack.nr_gaps(), &mut newest, at, paths, ledger);
        if let Some(newest) = newest {
            self.indicate_missing(newest);
        }
        self.take_rtt(at, paths, ledger);
        for tsn in sack.duplicates() {
            self.reported_twice(tsn, ledger);
        }
        disorder
    }

    /// Moves the cumulative TSN; returns the highest TSN that this newly acknowledged.
    fn advance(
        &mut self,
        cumulative: u64,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> Option<u64> {
        let before = self.cumulative;
        if before.is_some_and(|before| cumulative <= before) {
            return None;
        }
        self.cumulative = Some(cumulative);
        let mut newest = None;
        while self.sent.get(self.settled).is_some_and(|sent| sent.tsn <= cumulative) {
            if self.acknowledge(self.settled, By::Cumulative, at, paths, ledger) {
                newest = Some(self.sent[self.settled].tsn);
            }
            self.settled += 1;
        }
        while self.settled > HISTORY {
            self.sent.pop_front();
            self.settled -= 1;
        }
        self.end_stall(before, cumulative, at, ledger);
        self.advanced = Some(at.moment);
        self.waiting = (self.sent.len() > self.settled).then_some(at.moment);
        self.watched.retain(|&(run, target)| {
            let row = &mut ledger.runs[run];
            row.gap_end_ns.get_or_insert(at.moment.time_ns);
            row.gap_end_frame.get_or_insert(at.moment.frame);
            if row.outstanding_tsn.is_some() && cumulative >= target {
                row.recovered_ns = Some(at.moment.time_ns);
                row.recovered_frame = Some(at.moment.frame);
            }
            row.outstanding_tsn.is_some() && cumulative < target
        });
        newest
    }

    fn end_stall(&self, before: Option<u64>, cumulative: u64, at: &Place, ledger: &mut Ledger) {
        if let (Some(start), Some(before)) = (self.waiting, before)
            && at.moment.time_ns.saturating_sub(start.time_ns) >= STALL_NS
        {
            ledger.stalls.push(StallRow {
                association: at.association,
                sender: self.end.name(),
                start_ns: start.time_ns,
                start_frame: start.frame,
                end_ns: at.moment.time_ns,
                end_frame: at.moment.frame,
                tsn_before: before as u32,
                tsn_after: cumulative as u32,
            });
        }
    }

    /// Acknowledges what lies in the blocks. Blocks must rise; others are left
    /// out, so that a hostile SACK costs no more than one walk over `sent`.
    #[expect(
        clippy::too_many_arguments,
        reason = "one SACK's context, split so that each part is readable"
    )]
    fn gaps(
        &mut self,
        cumulative: u64,
        base: u64,
        blocks: impl Iterator<Item = (u16, u16)>,
        newest: &mut Option<u64>,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> bool {
        let mut disorder = false;
        let mut end_before = 0;
        let mut index = self.settled;
        for (start, end) in blocks {
            if start <= end_before || end < start {
                disorder = true;
                continue;
            }
            end_before = end;
            let (first, last) = (cumulative + u64::from(start), cumulative + u64::from(end));
            if last <= base {
                continue;
            }
            index = index.max(self.position(first).unwrap_or_else(|index| index));
            while let Some(sent) = self.sent.get(index).filter(|sent| sent.tsn <= last) {
                let tsn = sent.tsn;
                // Until a gap closes, every SACK repeats the blocks of the one before.
                if !sent.acked && self.acknowledge(index, By::Gap, at, paths, ledger) {
                    *newest = Some(newest.map_or(tsn, |newest| newest.max(tsn)));
                }
                index += 1;
            }
        }
        disorder
    }

    /// Marks one chunk acknowledged; false when it already was.
    fn acknowledge(
        &mut self,
        index: usize,
        by: By,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> bool {
        let blocker_path = self.sent.get(self.settled).map(|sent| sent.last_path);
        let sent = &mut self.sent[index];
        if sent.acked {
            return false;
        }
        sent.acked = true;
        let way = &mut paths[sent.last_path as usize].ways[self.end as usize];
        way.leave_flight(sent.bytes);
        way.consecutive_timeouts = 0;
        // T3-rtx restarts when the path's earliest outstanding TSN is acknowledged
        // (RFC 9260 section 6.3.2, R3). A gap block leaves the blocker of the
        // cumulative TSN outstanding, so on that one's path the timer runs on.
        if by == By::Cumulative || blocker_path != Some(sent.last_path) {
            way.t3_started = Some(at.moment);
        }
        if sent.abandoned {
            return true;
        }
        let rtt_min_ns = way.rtt_min_ns();
        let delivery = Place { path: sent.last_path, sender: self.end, ..*at };
        let bin = way.bin(&delivery, ledger);
        bin.acked_chunks += 1;
        bin.acked_bytes += u64::from(sent.bytes);
        if let Some(run) = sent.run.and_then(|run| ledger.runs.get_mut(run)) {
            run.first_ack_ns.get_or_insert(at.moment.time_ns);
            run.first_ack_frame.get_or_insert(at.moment.frame);
            let newer = run.last_ok_ns.is_none_or(|last_ns| sent.first.time_ns >= last_ns);
            if sent.count == 1 && newer {
                run.last_ok_ns = Some(sent.first.time_ns);
                run.last_ok_frame = Some(sent.first.frame);
                run.last_ok_tsn = Some(sent.tsn as u32);
                run.last_sack_ns = Some(at.moment.time_ns);
                run.last_sack_frame = Some(at.moment.frame);
            }
        }
        if sent.count == 1 {
            match self.freshest.iter_mut().find(|(path, _)| *path == sent.last_path) {
                Some((_, sent_ns)) => *sent_ns = (*sent_ns).max(sent.last_ns),
                None => self.freshest.push((sent.last_path, sent.last_ns)),
            }
        }
        if let Some(row) = sent.row.and_then(|row| ledger.retransmissions.get_mut(row)) {
            row.ack_ns = Some(at.moment.time_ns);
            row.ack_frame = Some(at.moment.frame);
            let waited_ns = at.moment.time_ns.saturating_sub(sent.last_ns);
            if rtt_min_ns.is_some_and(|min_ns| waited_ns < min_ns as i64) {
                row.spurious = Some("early-ack");
            }
        }
        true
    }

    /// RFC 9260 section 7.2.4: only TSNs below the highest newly acknowledged one are reported missing.
    fn indicate_missing(&mut self, newest: u64) {
        for sent in self.sent.iter_mut().skip(self.settled) {
            if sent.tsn >= newest {
                break;
            }
            if !sent.acked {
                sent.miss_indications = sent.miss_indications.saturating_add(1);
            }
        }
    }

    /// Karn's rule: chunks sent once only. One sample a SACK and path, of the
    /// chunk sent last, so that a delayed SACK does not count its delay for
    /// every chunk it covers.
    fn take_rtt(&mut self, at: &Place, paths: &mut [Path], ledger: &mut Ledger) {
        for &(path, sent_ns) in &self.freshest {
            let Ok(rtt_ns) = u64::try_from(at.moment.time_ns.saturating_sub(sent_ns)) else {
                continue; // the capture's clock went back: no sample
            };
            let way = &mut paths[path as usize].ways[self.end as usize];
            way.sack_rtt.sample(rtt_ns);
            let bin = way.bin(&Place { path, sender: self.end, ..*at }, ledger);
            bin.rtt_count += 1;
            bin.rtt_sum_ns = bin.rtt_sum_ns.saturating_add(rtt_ns);
            bin.rtt_min_ns = Some(bin.rtt_min_ns.map_or(rtt_ns, |min| min.min(rtt_ns)));
            bin.rtt_max_ns = Some(bin.rtt_max_ns.map_or(rtt_ns, |max| max.max(rtt_ns)));
        }
    }

    fn reported_twice(&mut self, tsn: u32, ledger: &mut Ledger) {
        let Some(unwrap) = &self.unwrap else { return };
        let found = self.position(unwrap.near(tsn)).ok().and_then(|index| self.sent[index].row);
        if let Some(row) = found.and_then(|row| ledger.retransmissions.get_mut(row)) {
            row.spurious = Some("duplicate-tsn");
        }
    }

    /// SHUTDOWN carries a cumulative TSN and nothing else of a SACK.
    pub fn acknowledged_to(
        &mut self,
        cumulative_tsn: u32,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) {
        let unwrap = self.unwrap.get_or_insert_with(|| Unwrap::new(cumulative_tsn));
        let cumulative = unwrap.near(cumulative_tsn);
        self.freshest.clear();
        self.advance(cumulative, at, paths, ledger);
        self.take_rtt(at, paths, ledger);
    }

    /// FORWARD-TSN (RFC 3758): what it passes has been given up.
    pub fn forward_tsn(&mut self, new_cumulative_tsn: u32) {
        let Some(unwrap) = &self.unwrap else { return };
        let passed = unwrap.near(new_cumulative_tsn);
        for sent in self.sent.iter_mut().skip(self.settled) {
            if sent.tsn > passed {
                break;
            }
            sent.abandoned = true;
        }
    }
}
