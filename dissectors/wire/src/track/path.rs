//! One path of an association, and what one sender did on it.

use super::rto::{Model, Rto};
use super::rtt::Rtt;
use super::t3::T3;
use super::{End, Moment};
use crate::address::Address;
use crate::ledger::{IntervalRow, Ledger, SilenceRow};

/// A stretch without packets that is worth a row.
const SILENCE_NS: i64 = 500_000_000;
/// A packet this far before the open bin is a clock step, not lateness: it opens a bin of its own.
const CLOCK_STEP_NS: i64 = 60_000_000_000;

pub struct Path {
    pub a: Address,
    pub b: Address,
    /// Row in the ledger's path table.
    pub row: usize,
    /// By sender.
    pub ways: [Way; 2],
}

impl Path {
    pub fn new(a: Address, b: Address, row: usize) -> Self {
        Path { a, b, row, ways: Default::default() }
    }
}

/// One sender's packets on one path.
#[derive(Default)]
pub struct Way {
    pub last: Option<Moment>,
    pub last_data: Option<Moment>,
    /// DATA last sent here and not yet acknowledged.
    pub flight_chunks: u64,
    pub flight_bytes: u64,
    /// Of those acknowledged, the ones that the cumulative TSN has not reached.
    pub gap_acked_chunks: u64,
    pub t3: T3,
    /// Last inferred expiry of T3-rtx.
    pub t3_expired_ns: Option<i64>,
    /// Expiries since the path last delivered something.
    pub consecutive_timeouts: u32,
    pub sack_rtt: Rtt,
    pub heartbeat_rtt: Rtt,
    /// Of a way that sent DATA or was answered a HEARTBEAT.
    rto: Option<Box<Rto>>,
    /// SACKs that the sender sent here.
    pub sacks: u32,
    /// ASCONF DELETE asks for one of the path's addresses: what is sent again elsewhere waits for no timer.
    pub withdrawn: bool,
    /// Has shown a right checksum.
    pub proven: bool,
    bin: Option<usize>,
    /// The open bin where the table has no room for it: what it counts is not kept.
    unlisted_bin: Option<Box<IntervalRow>>,
}

impl Way {
    /// Least RTT seen on the path, by DATA or HEARTBEAT.
    pub fn rtt_min_ns(&self) -> Option<u64> {
        [self.sack_rtt.min_ns(), self.heartbeat_rtt.min_ns()].into_iter().flatten().min()
    }

    /// Counts a packet: silence before it, and its bin.
    pub fn packet(&mut self, at: &Place, first_chunk: &'static str, ledger: &mut Ledger) {
        if let Some(last) = self.last
            && at.moment.time_ns.saturating_sub(last.time_ns) >= SILENCE_NS
        {
            ledger.keep(SilenceRow {
                association: at.association,
                path: at.path,
                sender: at.sender.name(),
                start_ns: last.time_ns,
                start_frame: last.frame,
                end_ns: at.moment.time_ns,
                end_frame: at.moment.frame,
                first_chunk,
            });
        }
        self.last = Some(at.moment);
        let bin = self.bin(at, ledger);
        let time_ns = at.moment.time_ns;
        bin.first_ns = Some(bin.first_ns.map_or(time_ns, |first_ns| first_ns.min(time_ns)));
        bin.last_ns = Some(bin.last_ns.map_or(time_ns, |last_ns| last_ns.max(time_ns)));
        bin.packets += 1;
        bin.wire_bytes += u64::from(at.wire_bytes);
    }

    /// The row of the time bin that `at` falls in, opened when it is new.
    pub fn bin<'l>(&'l mut self, at: &Place, ledger: &'l mut Ledger) -> &'l mut IntervalRow {
        let time_ns = at.moment.time_ns;
        if let Some(index) = self.bin
            // Nearly every call ends here, without a division.
            && (0..at.bin_ns).contains(&time_ns.saturating_sub(ledger.intervals[index].start_ns))
        {
            return &mut ledger.intervals[index];
        }
        let start_ns = time_ns.saturating_sub(time_ns.rem_euclid(at.bin_ns));
        let open_ns = match self.bin {
            Some(index) => Some(ledger.intervals[index].start_ns),
            None => self.unlisted_bin.as_ref().map(|row| row.start_ns),
        };
        // A packet that is a little late counts in the bin open at its arrival.
        let is_open =
            |open_ns: i64| start_ns <= open_ns && open_ns.saturating_sub(start_ns) < CLOCK_STEP_NS;
        if !open_ns.is_some_and(is_open) {
            let row = self.interval(at, start_ns);
            self.bin = ledger.keep(row.clone());
            self.unlisted_bin = self.bin.is_none().then(|| Box::new(row));
        }
        match self.bin {
            Some(index) => &mut ledger.intervals[index],
            None => self.unlisted_bin.get_or_insert_default(),
        }
    }

    pub fn rto(&mut self) -> &mut Rto {
        self.rto.get_or_insert_default()
    }

    pub fn rto_model(&self) -> Option<Model> {
        self.rto.as_ref().and_then(|rto| rto.model())
    }

    /// A round trip that counts for the RTO (RFC 9260 section 6.3.1); `at` is its end.
    pub fn rto_sample(&mut self, rtt_ns: u64, at: &Place, ledger: &mut Ledger) {
        self.rto().sample(rtt_ns);
        let model = self.rto_model();
        set_model(self.bin(at, ledger), model);
    }

    fn interval(&self, at: &Place, start_ns: i64) -> IntervalRow {
        let mut row = IntervalRow {
            association: at.association,
            path: at.path,
            sender: at.sender.name(),
            start_ns,
            ..Default::default()
        };
        set_model(&mut row, self.rto_model());
        row
    }

    pub fn leave_flight(&mut self, bytes: u32) {
        self.flight_chunks = self.flight_chunks.saturating_sub(1);
        self.flight_bytes = self.flight_bytes.saturating_sub(u64::from(bytes));
    }
}

fn set_model(row: &mut IntervalRow, model: Option<Model>) {
    row.srtt_ns = model.map(Model::srtt_ns);
    row.rttvar_ns = model.map(Model::rttvar_ns);
    row.rto_model_ns = model.map(Model::rto_ns);
}

/// Where and when something happens, and what the ledger needs to say so.
#[derive(Clone, Copy)]
pub struct Place {
    pub association: u32,
    pub path: u32,
    pub sender: End,
    pub moment: Moment,
    pub wire_bytes: u32,
    pub bin_ns: i64,
}
