//! Records in time order. A file holds the packets of several interfaces in the
//! order their buffers were written, which is not the order they were seen in;
//! read so, a handover between paths would be an artefact. Records are therefore
//! held until no earlier one is to be expected, within a window of time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Comments;
use super::stream::Place;

/// A jump back further than this is the clock being set, not a delayed record.
const CLOCK_STEP_NS: i64 = 60_000_000_000;

const MAX_RECORDS: usize = 65_536;

/// Runs of records in time order that are kept apart: what one interface
/// contributes is mostly such a run, and two are the usual number of interfaces.
const RUNS: usize = 4;

/// How far the order of the file is from the order of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Records given out although their time lies before that of an earlier one.
    pub late: u64,
    /// Jumps back of more than 60 s and more than the window. The record that
    /// makes one is not late: the times after it are not compared with those before.
    pub clock_steps: u64,
    /// Records given out after one that stands later in the file.
    pub reordered: u64,
    /// Of the records counted in `late`, the largest distance to the latest time before.
    pub largest_lateness_ns: i64,
}

impl Order {
    /// Adds what was found in another file.
    pub(super) fn add(&mut self, other: &Order) {
        self.late += other.late;
        self.clock_steps += other.clock_steps;
        self.reordered += other.reordered;
        self.largest_lateness_ns = self.largest_lateness_ns.max(other.largest_lateness_ns);
    }
}

/// A record held back. In the order records are to be given out: no two have
/// the same frame, so that what follows it is never compared.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Held {
    /// Clock steps before it.
    pub step: u64,
    pub time_ns: i64,
    pub frame: u64,
    pub offset: u64,
    pub interface: u32,
    pub wire_length: u32,
    pub place: Place,
    pub comments: Comments,
}

/// Records held back until their time has come.
#[derive(Default)]
pub(super) struct Window {
    /// Merging a few runs is much cheaper than a heap of all records.
    runs: [VecDeque<Held>; RUNS],
    /// Records that continue none of the runs.
    strays: BinaryHeap<Reverse<Held>>,
    count: usize,
    window_ns: i64,
    /// The latest times since the last clock step: of records that came, of those given out.
    newest_ns: Option<i64>,
    delivered_ns: Option<i64>,
    /// The last frame in file order that was given out.
    delivered_frame: u64,
    finishing: bool,
    order: Order,
}

impl Window {
    pub fn order(&self) -> &Order {
        &self.order
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Counts a record that is given out at once, nothing being held.
    #[inline]
    pub fn pass(&mut self, time_ns: i64, frame: u64) {
        self.see(time_ns, 0);
        self.delivered_frame = frame;
        self.delivered_ns = self.newest_ns;
    }

    /// Counts what the time of a record that comes says about order.
    #[inline]
    fn see(&mut self, time_ns: i64, window_ns: i64) {
        match self.newest_ns {
            Some(newest) if time_ns < newest => self.see_backward(time_ns, newest, window_ns),
            _ => self.newest_ns = Some(time_ns),
        }
    }

    fn see_backward(&mut self, time_ns: i64, newest_ns: i64, window_ns: i64) {
        if newest_ns.saturating_sub(time_ns) > window_ns.max(CLOCK_STEP_NS) {
            self.order.clock_steps += 1;
            self.newest_ns = Some(time_ns);
            self.delivered_ns = None;
            return;
        }
        if let Some(delivered) = self.delivered_ns.filter(|&delivered| time_ns < delivered) {
            self.order.late += 1;
            let lateness = delivered.saturating_sub(time_ns);
            self.order.largest_lateness_ns = self.order.largest_lateness_ns.max(lateness);
        }
    }

    /// Holds the record until its time has come.
    pub fn push(&mut self, mut record: Held, window_ns: i64) {
        self.see(record.time_ns, window_ns);
        self.window_ns = window_ns;
        record.step = self.order.clock_steps;
        self.count += 1;
        let mut runs = self.runs.iter_mut();
        match runs.find(|run| run.back().is_none_or(|last| *last < record)) {
            Some(run) => run.push_back(record),
            None => self.strays.push(Reverse(record)),
        }
    }

    /// From here on everything held may go: no record follows.
    pub fn finish(&mut self) {
        self.finishing = true;
    }

    /// The earliest record held, if nothing earlier is to be waited for, or if memory is short.
    #[inline]
    pub fn pop(&mut self, crowded: bool) -> Option<Held> {
        if self.is_empty() { None } else { self.pop_due(crowded) }
    }

    fn pop_due(&mut self, crowded: bool) -> Option<Held> {
        let fronts = self.runs.iter().enumerate();
        let run = fronts.filter_map(|(run, held)| Some((held.front()?, run))).min();
        let stray = self.strays.peek().map(|Reverse(record)| record);
        let (first, run) = match (run, stray) {
            (Some((first, _)), Some(stray)) if stray < first => (stray, None),
            (Some((first, run)), _) => (first, Some(run)),
            (None, stray) => (stray?, None),
        };
        if !crowded && !self.is_due(first) {
            return None;
        }
        let record = match run {
            Some(run) => self.runs.get_mut(run)?.pop_front()?,
            None => self.strays.pop()?.0,
        };
        self.count -= 1;
        if record.step == self.order.clock_steps {
            self.delivered_ns = self.delivered_ns.max(Some(record.time_ns));
        }
        if record.frame < self.delivered_frame {
            self.order.reordered += 1;
        } else {
            self.delivered_frame = record.frame;
        }
        Some(record)
    }

    fn is_due(&self, record: &Held) -> bool {
        let time_ns = record.time_ns;
        self.finishing
            || record.step < self.order.clock_steps
            || self.delivered_ns.is_some_and(|delivered| time_ns <= delivered)
            || self.newest_ns.is_some_and(|newest| newest.saturating_sub(time_ns) >= self.window_ns)
            || self.count > MAX_RECORDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn record(frame: u64, time_ns: i64) -> Held {
        let (step, offset, interface, wire_length, place) = (0, 0, 0, 0, Place::default());
        let comments = Comments::default();
        Held { step, time_ns, frame, offset, interface, wire_length, place, comments }
    }

    fn pop_all(window: &mut Window) -> Vec<u64> {
        std::iter::from_fn(|| window.pop(false)).map(|record| record.frame).collect()
    }

    #[test]
    fn a_clock_set_back_flushes_what_is_held() {
        let mut window = Window::default();
        window.push(record(1, 100 * SECOND), 2 * SECOND);
        window.push(record(2, 99 * SECOND), 2 * SECOND);
        assert_eq!(pop_all(&mut window), []);
        window.push(record(3, 10 * SECOND), 2 * SECOND);
        assert_eq!(pop_all(&mut window), [2, 1]);
        window.push(record(4, 12 * SECOND), 2 * SECOND);
        assert_eq!(pop_all(&mut window), [3]);
        let order = Order { clock_steps: 1, reordered: 1, ..Order::default() };
        assert_eq!(*window.order(), order);
    }

    #[test]
    fn a_jump_within_the_window_is_no_clock_step() {
        let mut window = Window::default();
        window.push(record(1, 100 * SECOND), 200 * SECOND);
        window.push(record(2, 10 * SECOND), 200 * SECOND);
        window.finish();
        assert_eq!(pop_all(&mut window), [2, 1]);
        assert_eq!(window.order().clock_steps, 0);
    }

    #[test]
    fn without_a_window_lateness_is_only_counted() {
        let mut window = Window::default();
        for (time, frame) in [5, 3, 4, 6, -100, -99].into_iter().zip(1..) {
            window.pass(time * SECOND, frame);
        }
        let order = window.order();
        assert_eq!((order.late, order.largest_lateness_ns), (2, 2 * SECOND));
        assert_eq!((order.clock_steps, order.reordered), (1, 0));
    }

    #[test]
    fn no_more_is_held_than_the_limits_allow() {
        let mut window = Window::default();
        for frame in 0..100_000 {
            window.push(record(frame, frame as i64), SECOND);
            while window.pop(false).is_some() {}
            assert!(window.count <= MAX_RECORDS);
        }
        assert_eq!(window.order().late, 0);
        assert!(window.pop(true).is_some());
    }

    #[test]
    fn times_at_the_ends_of_the_range_are_harmless() {
        let mut window = Window::default();
        for (time, frame) in [i64::MAX, i64::MIN, 0, i64::MIN, i64::MAX].into_iter().zip(1..) {
            window.push(record(frame, time), i64::MAX);
        }
        window.finish();
        assert_eq!(pop_all(&mut window).len(), 5);
    }
}
