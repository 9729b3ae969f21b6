//! Round-trip times of one path, sender and kind, in little memory.

use sketches_ddsketch::{Config, DDSketch};

use super::End;
use super::moments::Moments;
use crate::ledger::{Ledger, RttRow};

/// Stated relative error of the quantiles.
const SKETCH_ERROR: f64 = 0.01;
/// Buckets a sketch may hold: at 1 % these cover eight orders of magnitude.
const SKETCH_BUCKETS: u32 = 1024;
/// Most memory of a sketch.
const SKETCH_BYTES: usize = SKETCH_BUCKETS as usize * size_of::<u64>();
/// Samples kept as they are.
const FEW: usize = 64;

/// Round-trip times: exact moments, and quantiles from a sketch.
#[derive(Default)]
pub struct Rtt {
    moments: Moments,
    samples: Samples,
}

/// Samples for the quantiles: as they are, while a sketch would take more memory.
enum Samples {
    Few(Vec<u64>),
    Many(Box<DDSketch>),
    /// There is no room for a sketch.
    Unlisted,
}

impl Default for Samples {
    fn default() -> Self {
        Samples::Few(Vec::new())
    }
}

impl Rtt {
    pub fn min_ns(&self) -> Option<u64> {
        self.moments.min()
    }

    /// SRTT of RFC 9260 section 6.3.1.
    pub fn smoothed_ns(&self) -> Option<i64> {
        self.moments.smoothed()
    }

    pub fn sample(&mut self, rtt_ns: u64, ledger: &mut Ledger) {
        self.moments.add(rtt_ns);
        match &mut self.samples {
            Samples::Few(samples) if samples.len() < FEW => samples.push(rtt_ns),
            Samples::Few(samples) if ledger.remember(SKETCH_BYTES) => {
                let mut sketch = sketch(samples);
                sketch.add(rtt_ns as f64);
                self.samples = Samples::Many(Box::new(sketch));
            }
            Samples::Few(_) => {
                ledger.refuse::<RttRow>();
                self.samples = Samples::Unlisted;
            }
            Samples::Many(sketch) => sketch.add(rtt_ns as f64),
            Samples::Unlisted => {}
        }
    }

    /// None without a sample, and where there was no room for them.
    pub fn row(
        &self,
        association: u32,
        path: u32,
        sender: End,
        kind: &'static str,
    ) -> Option<RttRow> {
        let few;
        let sketch = match &self.samples {
            Samples::Few(samples) => {
                few = sketch(samples);
                &few
            }
            Samples::Many(sketch) => sketch,
            Samples::Unlisted => return None,
        };
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

fn sketch(samples: &[u64]) -> DDSketch {
    let mut sketch = DDSketch::new(Config::new(SKETCH_ERROR, SKETCH_BUCKETS, 1.0));
    samples.iter().for_each(|&sample| sketch.add(sample as f64));
    sketch
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_within_the_stated_error(mut samples in proptest::collection::vec(1_000u64..10_000_000_000, 1..400)) {
            let mut rtt = Rtt::default();
            let mut ledger = Ledger::default();
            for &sample in &samples {
                rtt.sample(sample, &mut ledger);
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
    #[test]
    fn without_room_for_a_sketch_there_is_no_row() {
        let mut ledger = Ledger::with_room(SKETCH_BYTES - 1);
        let mut rtt = Rtt::default();
        for n in 1..=FEW as u64 {
            rtt.sample(n, &mut ledger);
        }
        assert_eq!(rtt.row(0, 0, End::A, "sack").unwrap().count, FEW as u64);
        for n in 0..10 {
            rtt.sample(n, &mut ledger);
        }
        assert_eq!(rtt.row(0, 0, End::A, "sack"), None);
        assert_eq!(ledger.unlisted()["rtt"], 1);
    }
}
