//! When each frame is due, in nanoseconds of replay time.
//!
//! Every deadline is counted from the beginning of the replay (or of its loop), never from the
//! frame before: so rounding does not add up.

use crate::orders::Pace;

const NS_PER_S: f64 = 1e9;

/// The deadlines of one replay.
#[derive(Clone, Debug)]
pub struct Pacer {
    pace: Pace,
    loop_gap_ns: i64,
    /// When this loop began.
    loop_ns: i64,
    /// Frames of all loops so far, and their bits.
    frames: u64,
    bits: u64,
    last_ns: i64,
    disordered: u64,
}

impl Pacer {
    pub fn new(pace: Pace, loop_gap_ns: i64) -> Self {
        let (loop_ns, frames, bits, last_ns, disordered) = (0, 0, 0, 0, 0);
        Pacer { pace, loop_gap_ns, loop_ns, frames, bits, last_ns, disordered }
    }

    /// The deadline of the next frame, captured `at_ns` after the beginning of the window, which
    /// has `bytes` to send. Deadlines never decrease.
    pub fn due_ns(&mut self, at_ns: i64, bytes: usize) -> i64 {
        let since_loop_ns = match self.pace {
            Pace::Original { speed } => scaled(at_ns, speed),
            // Exact beyond any length of a replay: a float has 53 bits, which is 104 days of ns.
            Pace::Pps { pps } => (self.frames as f64 / pps * NS_PER_S).round() as i64,
            Pace::Rate { bps } => (self.bits as f64 / bps * NS_PER_S).round() as i64,
            Pace::Top {} => 0,
        };
        let due_ns = self.loop_ns.saturating_add(since_loop_ns);
        self.frames = self.frames.saturating_add(1);
        self.bits = self.bits.saturating_add((bytes as u64).saturating_mul(8));
        // A clock that was set back while capturing; what follows goes out in the file's order.
        self.disordered += u64::from(due_ns < self.last_ns);
        self.last_ns = self.last_ns.max(due_ns);
        self.last_ns
    }

    /// The trace begins again; its last frame was captured `span_ns` after the window began.
    pub fn next_loop(&mut self, span_ns: i64) {
        let loop_ns = match self.pace {
            Pace::Original { speed } => {
                self.loop_ns.saturating_add(scaled(span_ns, speed)).max(self.last_ns)
            }
            // Frames are counted on over the loops; only the gaps come in between.
            Pace::Pps { .. } | Pace::Rate { .. } | Pace::Top {} => self.loop_ns,
        };
        self.loop_ns = loop_ns.saturating_add(self.loop_gap_ns);
    }

    /// Frames captured before the one in front of them, which are due together with that.
    pub fn disordered(&self) -> u64 {
        self.disordered
    }
}

fn scaled(ns: i64, speed: f64) -> i64 {
    if speed == 1.0 { ns } else { (ns as f64 / speed).round() as i64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dues(pace: Pace, gap_ns: i64, frames: &[(i64, usize)], loops: usize) -> Vec<i64> {
        let mut pacer = Pacer::new(pace, gap_ns);
        let mut dues = Vec::new();
        for number in 0..loops {
            if number > 0 {
                pacer.next_loop(frames.iter().map(|(at_ns, _)| *at_ns).max().unwrap_or(0));
            }
            dues.extend(frames.iter().map(|&(at_ns, bytes)| pacer.due_ns(at_ns, bytes)));
        }
        dues
    }

    #[test]
    fn original_times_and_loops() {
        let frames = [(5, 100), (1_000_000, 100), (4_000_000, 100)];
        let once = dues(Pace::Original { speed: 1.0 }, 0, &frames, 1);
        assert_eq!(once, [5, 1_000_000, 4_000_000]);
        let twice = dues(Pace::Original { speed: 2.0 }, 7, &frames, 2);
        assert_eq!(twice, [3, 500_000, 2_000_000, 2_000_010, 2_500_007, 4_000_007]);
    }

    #[test]
    fn a_clock_set_back_keeps_the_order() {
        let mut pacer = Pacer::new(Pace::Original { speed: 1.0 }, 0);
        let dues = [10, 4, 12].map(|at_ns| pacer.due_ns(at_ns, 60));
        assert_eq!(dues, [10, 10, 12]);
        assert_eq!(pacer.disordered(), 1);
    }

    #[test]
    fn counted_paces() {
        let frames = [(0, 125), (900, 250), (901, 125)];
        let pps = dues(Pace::Pps { pps: 1000.0 }, 0, &frames, 2);
        assert_eq!(pps, [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000]);
        let rate = dues(Pace::Rate { bps: 1e6 }, 500, &frames, 2);
        assert_eq!(rate, [0, 1_000_000, 3_000_000, 4_000_500, 5_000_500, 7_000_500]);
        assert_eq!(dues(Pace::Top {}, 0, &frames, 2), [0; 6]);
    }

    #[test]
    fn a_third_of_a_second_does_not_add_up_to_drift() {
        let mut pacer = Pacer::new(Pace::Pps { pps: 3.0 }, 0);
        let last = (0..=3_000_000).map(|_| pacer.due_ns(0, 60)).last();
        assert_eq!(last, Some(1_000_000_000_000_000));
    }

    fn any_pace() -> impl Strategy<Value = Pace> {
        prop_oneof![
            (1e-3..1e3).prop_map(|speed| Pace::Original { speed }),
            (1e-2..1e7).prop_map(|pps| Pace::Pps { pps }),
            (1.0..1e11).prop_map(|bps| Pace::Rate { bps }),
            Just(Pace::Top {}),
        ]
    }

    proptest! {
        #[test]
        fn deadlines_never_decrease(
            pace in any_pace(),
            frames in prop::collection::vec((any::<i64>(), 0_usize..70_000), 1..50),
            gap_ns in 0..i64::MAX,
            loops in 1_usize..4,
        ) {
            let dues = dues(pace, gap_ns, &frames, loops);
            prop_assert!(dues.iter().all(|&due_ns| due_ns >= 0));
            prop_assert!(dues.is_sorted());
        }

        #[test]
        fn original_gaps_are_those_of_the_trace_at_every_speed(
            mut times in prop::collection::vec(0..86_400_000_000_000_i64, 2..50),
            speed in 0.1..10.0,
        ) {
            times.sort_unstable();
            let frames: Vec<_> = times.iter().map(|&at_ns| (at_ns, 60)).collect();
            let dues = dues(Pace::Original { speed }, 0, &frames, 1);
            for (due_ns, at_ns) in dues.iter().zip(&times) {
                prop_assert!((*due_ns as f64 * speed - *at_ns as f64).abs() <= speed);
            }
        }

        #[test]
        fn a_rate_is_kept_over_any_frames(
            sizes in prop::collection::vec(60_usize..65_536, 2..200),
            bps in 1e3..1e10,
        ) {
            let frames: Vec<_> = sizes.iter().map(|&bytes| (0, bytes)).collect();
            let dues = dues(Pace::Rate { bps }, 0, &frames, 1);
            let before: usize = sizes[..sizes.len() - 1].iter().sum();
            let asked_ns = before as f64 * 8e9 / bps;
            prop_assert!((*dues.last().unwrap() as f64 - asked_ns).abs() <= 1.0);
        }
    }
}
