//! One path of an association, and what one sender did on it.

use sketches_ddsketch::{Config, DDSketch};

use super::moments::Moments;
use super::{End, Moment};
use crate::address::Address;
use crate::ledger::{IntervalRow, Ledger, RttRow, SilenceRow};

/// A stretch without packets that is worth a row.
const SILENCE_NS: i64 = 500_000_000;
/// A packet this far before the open bin is a clock step, not lateness: it opens a bin of its own.
const CLOCK_STEP_NS: i64 = 60_000_000_000;
/// Stated relative error of the quantiles.
const SKETCH_ERROR: f64 = 0.01;
/// Buckets a sketch may hold: at 1 % these cover eight orders of magnitude.
const SKETCH_BUCKETS: u32 = 1024;

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
    /// When T3-rtx of this path was last started, as far as the capture shows.
    pub t3_started: Option<Moment>,
    /// Last inferred expiry of T3-rtx.
    pub t3_expired_ns: Option<i64>,
    /// Expiries since the path last delivered something.
    pub consecutive_timeouts: u32,
    pub sack_rtt: Rtt,
    pub heartbeat_rtt: Rtt,
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
            self.bin = ledger.keep(interval(at, start_ns));
            self.unlisted_bin = self.bin.is_none().then(|| Box::new(interval(at, start_ns)));
        }
        match self.bin {
            Some(index) => &mut ledger.intervals[index],
            None => self.unlisted_bin.get_or_insert_default(),
        }
    }

    pub fn leave_flight(&mut self, bytes: u32) {
        self.flight_chunks = self.flight_chunks.saturating_sub(1);
        self.flight_bytes = self.flight_bytes.saturating_sub(u64::from(bytes));
    }
}

fn interval(at: &Place, start_ns: i64) -> IntervalRow {
    IntervalRow {
        association: at.association,
        path: at.path,
        sender: at.sender.name(),
        start_ns,
        ..Default::default()
    }
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

/// Round-trip times: exact moments, and quantiles from a sketch.
#[derive(Default)]
pub struct Rtt {
    moments: Moments,
    sketch: Option<Box<DDSketch>>,
}

impl Rtt {
    pub fn min_ns(&self) -> Option<u64> {
        self.moments.min()
    }

    /// SRTT of RFC 9260 section 6.3.1.
    pub fn smoothed_ns(&self) -> Option<i64> {
        self.moments.smoothed()
    }

    pub fn sample(&mut self, rtt_ns: u64) {
        self.moments.add(rtt_ns);
        self.sketch
            .get_or_insert_with(|| {
                Box::new(DDSketch::new(Config::new(SKETCH_ERROR, SKETCH_BUCKETS, 1.0)))
            })
            .add(rtt_ns as f64);
    }

    pub fn row(
        &self,
        association: u32,
        path: u32,
        sender: End,
        kind: &'static str,
    ) -> Option<RttRow> {
        let sketch = self.sketch.as_ref()?;
        let (min_ns, max_ns) = (self.moments.min()?, self.moments.max()?);
        let (mean_ns, sd_ns) = self.moments.exact();
        let quantile = |q: f64| match sketch.quantile(q) {
            Ok(Some(value)) => value.clamp(min_ns as f64, max_ns as f64),
            // An empty sketch has no quantile; this one holds at least one sample.
            _ => mean_ns,
        };
        Some(RttRow {
            association,
            path,
            sender: sender.name(),
            kind,
            count: self.moments.count,
            mean_ns,
            sd_ns,
            min_ns,
            p50_ns: quantile(0.5),
            p95_ns: quantile(0.95),
            p99_ns: quantile(0.99),
            max_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_within_the_stated_error(mut samples in proptest::collection::vec(1_000u64..10_000_000_000, 1..400)) {
            let mut rtt = Rtt::default();
            for &sample in &samples {
                rtt.sample(sample);
            }
            let row = rtt.row(0, 0, End::A, "sack").unwrap();
            samples.sort_unstable();
            let rank = (0.95 * (samples.len() - 1) as f64).floor() as usize;
            let exact = samples[rank] as f64;
            prop_assert!((row.p95_ns - exact).abs() <= exact * (SKETCH_ERROR + 1e-9), "{} against {exact}", row.p95_ns);
            prop_assert_eq!(row.min_ns, samples[0]);
            prop_assert_eq!(row.max_ns, *samples.last().unwrap());
            let mean = samples.iter().sum::<u64>() as f64 / samples.len() as f64;
            prop_assert!((row.mean_ns - mean).abs() <= mean * 1e-9);
        }
    }
}
