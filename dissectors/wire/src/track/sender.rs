//! What one end of an association sent: which TSNs are outstanding, which
//! transmission of a chunk this is, what a SACK acknowledges.

mod acknowledgement;
mod blocking;
mod retransmission;

use std::collections::VecDeque;

use super::path::{Path, Place};
use super::{End, Moment};
use crate::ledger::{Ledger, RunRow};
use crate::sctp::data::Data;
use crate::sctp::tsn::Unwrap;
use blocking::Blocking;

/// Acknowledged chunks remembered, so that a retransmission that comes too late still finds its first.
const HISTORY: usize = 512;
/// Most chunks remembered per sender; beyond it the oldest is forgotten.
const REMEMBERED: usize = 1 << 16;
/// Chunks that every sender may remember; for more it takes room.
const FIRST_CHUNKS: usize = 4;
/// Moves whose recovery is watched at a time. Concurrent multipath transfer makes one a packet.
const WATCHED_RUNS: usize = 1024;

/// One chunk as last sent.
#[derive(Clone, Debug)]
struct Sent {
    tsn: u64,
    first: Moment,
    last_ns: i64,
    first_path: u32,
    last_path: u32,
    /// None for a late first sight on another path than the run's.
    run: Option<u32>,
    bytes: u32,
    /// Transmissions seen.
    count: u32,
    miss_indications: u32,
    acked: Option<Moment>,
    /// Path of the SACK that acknowledged it, and how many SACKs its sender had sent there.
    answered: Option<(u32, u32)>,
    /// FORWARD-TSN passed it: it will be covered by SACKs without having arrived.
    abandoned: bool,
    /// Row of the latest retransmission.
    row: Option<u32>,
    ppid: Option<u32>,
    stream: u16,
    unordered: bool,
    beginning: bool,
    ending: bool,
}

impl Sent {
    fn is_acked(&self) -> bool {
        self.acked.is_some()
    }
}

/// A row's number in half the memory. The room for rows ends long before the numbers do.
fn row_number(row: Option<usize>) -> Option<u32> {
    row.and_then(|row| u32::try_from(row).ok())
}

/// Where new DATA goes at present.
#[derive(Clone, Copy)]
struct Run {
    path: u32,
    /// None when the table has no room for it.
    row: Option<usize>,
}

/// What is remembered where chunks were lost or came out of order.
#[derive(Default)]
struct Losses {
    /// Chunks up to here may have been seen out of order.
    untidy_to: Option<u64>,
    blocking: Blocking,
    /// In Fast Recovery (RFC 9260 section 7.2.4): the TSN whose acknowledgement ends it.
    recovery_exit: Option<u64>,
    /// Least time from the start of T3-rtx to its expiry, on any path.
    least_expiry_ns: Option<i64>,
}

impl Losses {
    /// The cumulative TSN has moved.
    fn settle(&mut self, cumulative: u64) {
        self.untidy_to = self.untidy_to.filter(|highest| *highest > cumulative);
        self.recovery_exit = self.recovery_exit.filter(|exit| *exit > cumulative);
    }
}

pub struct Sender {
    end: End,
    unwrap: Option<Unwrap>,
    /// In TSN order; the first `settled` are at or below the cumulative TSN.
    sent: VecDeque<Sent>,
    settled: usize,
    cumulative: Option<u64>,
    highest: Option<u64>,
    run: Option<Run>,
    watched: Vec<(usize, u64)>,
    /// Last advance of the cumulative TSN.
    advanced: Option<Moment>,
    /// Since when something has been waiting for an advance.
    waiting: Option<Moment>,
    /// Newest acknowledged chunk per path in the SACK at hand; kept to be reused.
    freshest: Vec<(u32, i64)>,
    /// Chunks that `sent` may hold.
    most: usize,
    /// An outstanding chunk was forgotten because too many were.
    has_forgotten: bool,
    /// Acknowledged chunks that the cumulative TSN has not reached.
    gap_acked: usize,
    /// Made at the first sign of loss: most associations, above all those of a flood, have none.
    losses: Option<Box<Losses>>,
    /// Packets whose new DATA the SACK at hand acknowledges, and the last of them.
    acked_packets: u32,
    acked_frame: u64,
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
            most: FIRST_CHUNKS,
            has_forgotten: false,
            gap_acked: 0,
            losses: None,
            acked_packets: 0,
            acked_frame: 0,
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

    /// All that was sent is acknowledged cumulatively, as far as the capture shows.
    pub fn is_idle(&self) -> bool {
        self.sent.len() == self.settled
    }

    /// One chunk is outstanding, and no more.
    pub fn has_one_out(&self) -> bool {
        self.sent.len() == self.settled + 1
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

    /// Whether a TSN cannot come as a new one any more.
    pub fn is_past(&self, tsn: u32) -> bool {
        self.unwrap.as_ref().is_some_and(|unwrap| self.is_before_memory(unwrap.near(tsn)))
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
            self.losses.get_or_insert_default().untidy_to = self.highest;
            paths[at.path as usize].ways[self.end as usize].bin(at, ledger).late_chunks += 1;
        }
        let way = &mut paths[at.path as usize].ways[self.end as usize];
        if !late {
            way.rto().sent(tsn);
        }
        if !way.t3.is_running() || way.flight_chunks + way.gap_acked_chunks == 0 {
            way.t3.start(at.moment);
        } else if way.flight_chunks == 0 {
            way.t3.start_in_doubt(at.moment);
        }
        way.withdrawn = false;
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
            run: row_number(run),
            bytes: data.user_length,
            count: 1,
            miss_indications: 0,
            acked: None,
            answered: None,
            abandoned: false,
            row: None,
            ppid: data.ppid,
            stream: data.stream,
            unordered: data.unordered,
            beginning: data.beginning,
            ending: data.ending,
        };
        self.sent.insert(index, sent);
        if self.sent.len() > self.most
            && !self.may_remember_more(ledger)
            && let Some(oldest) = self.sent.pop_front()
        {
            let was_settled = self.settled > 0;
            self.settled = self.settled.saturating_sub(1);
            paths[oldest.first_path as usize].ways[self.end as usize].rto().spoil(oldest.tsn);
            let way = &mut paths[oldest.last_path as usize].ways[self.end as usize];
            if !oldest.is_acked() {
                self.has_forgotten = true;
                way.leave_flight(oldest.bytes);
            } else if !was_settled {
                self.gap_acked = self.gap_acked.saturating_sub(1);
                way.gap_acked_chunks = way.gap_acked_chunks.saturating_sub(1);
            }
        }
    }

    /// Asks for room for as many chunks again.
    fn may_remember_more(&mut self, ledger: &mut Ledger) -> bool {
        let granted =
            self.most < REMEMBERED && ledger.remember(self.most.saturating_mul(size_of::<Sent>()));
        if granted {
            self.most *= 2;
        }
        granted
    }

    /// The row of the run that a new chunk belongs to; a run begins when the path changes.
    fn run_of(
        &mut self,
        late: bool,
        data: &Data<'_>,
        at: &Place,
        paths: &[Path],
        ledger: &mut Ledger,
    ) -> Option<usize> {
        let current = self.run.filter(|run| run.path == at.path);
        // A TSN below the highest was overtaken, or its first transmission was lost before
        // the tap and this is a retransmission: no sign that new DATA moved.
        if late && current.is_none() && self.run.is_some() {
            return None;
        }
        let run = current.unwrap_or_else(|| self.open_run(data, at, paths, ledger)).row?;
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
    ) -> Run {
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
            let ways = &paths[previous.path as usize].ways;
            let heard = ways[self.end.other() as usize].last;
            let data = ways[self.end as usize].last_data;
            row.previous_heard_ns = heard.map(|m| m.time_ns);
            row.previous_heard_frame = heard.map(|m| m.frame);
            row.previous_data_ns = data.map(|m| m.time_ns);
            row.previous_data_frame = data.map(|m| m.frame);
        }
        // What must be acknowledged before the move has cost nothing more.
        let is_out = |highest: &u64| self.cumulative.is_none_or(|cumulative| *highest > cumulative);
        let target = self.highest.filter(is_out);
        row.outstanding_tsn = target.map(|tsn| tsn as u32);
        let run = Run { path: at.path, row: ledger.keep(row) };
        if let Some(row) = run.row
            && self.watched.len() < WATCHED_RUNS
        {
            self.watched.push((row, target.unwrap_or(0)));
        }
        self.run = Some(run);
        run
    }
}
