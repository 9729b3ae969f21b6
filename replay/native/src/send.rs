//! The thread that sends: waits for deadlines, hands frames over, and notes what became of them.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;

use crate::batch::{Batch, Planned};
use crate::clock;
use crate::log::{Outcome, Row};
use crate::orders::{Late, LatePolicy, Orders, Pace};
use crate::outlet::{Handed, MOST_FRAMES, Outlets};
use crate::tally::{RouteSent, Sent, count};

/// Rows handed over to the log at once.
const ROWS: usize = 1024;

/// How long rows wait for others before they are handed over: what is lost of a log at most.
const ROWS_NS: i64 = 100_000_000;

/// Between two offers to a queue that is full, at top speed: a frame of 1500 bytes takes 12 us to
/// leave at 1 Gbit/s.
const FULL: Duration = Duration::from_micros(10);

/// What the thread was told.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    late: Late,
    spin_ns: i64,
    /// No frame has a deadline, and none is given up.
    top_speed: bool,
}

impl Rules {
    pub fn of(orders: &Orders) -> Self {
        let top_speed = matches!(orders.pace, Pace::Top {});
        Rules { late: orders.late, spin_ns: orders.spin_ns, top_speed }
    }
}

/// The way of batches through the thread, and of rows out of it.
pub struct Ends {
    pub ready: Receiver<Batch>,
    /// Batches that have been sent, to be filled again.
    pub spent: mpsc::Sender<Batch>,
    pub rows: mpsc::Sender<Vec<Row>>,
    pub stop: Arc<AtomicBool>,
}

pub struct Sending {
    rules: Rules,
    base_ns: i64,
    outlets: Outlets,
    ends: Ends,
    rows: Vec<Row>,
    rows_since_ns: i64,
    sent: Sent,
}

impl Sending {
    /// `sockets` are those of the outlets; `base_ns` is when replay time is 0.
    pub fn new(rules: Rules, base_ns: i64, sockets: Vec<i32>, ends: Ends) -> Self {
        let routes = vec![RouteSent::default(); sockets.len()];
        Sending {
            rules,
            base_ns,
            outlets: Outlets::new(sockets),
            ends,
            rows: Vec::with_capacity(ROWS),
            rows_since_ns: i64::MIN,
            sent: Sent { routes, ..Sent::default() },
        }
    }

    /// Sends everything, in order, until there is no more or it is stopped.
    pub fn run(mut self) -> Sent {
        clock::sleep_precisely();
        while let Some(batch) = self.next() {
            if let Err(errno) = self.batch(&batch) {
                self.sent.failure = Some(format!("no time from CLOCK_MONOTONIC: {errno}"));
                break;
            }
            if self.is_stopped() {
                self.sent.stopped = true;
                break;
            }
            // Nobody may be left who fills it.
            let _ = self.ends.spent.send(batch);
        }
        self.hand_over_rows();
        self.sent
    }

    fn next(&mut self) -> Option<Batch> {
        match self.ends.ready.try_recv() {
            Ok(batch) => Some(batch),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                let batch = self.ends.ready.recv().ok();
                // At the end there is nothing to wait for.
                self.sent.starved += u64::from(batch.is_some());
                batch
            }
        }
    }

    fn batch(&mut self, batch: &Batch) -> Result<(), Errno> {
        let slices = batch.slices();
        let mut rest = (batch.planned(), slices.as_slice());
        while let Some(first) = rest.0.first() {
            let now_ns = self.wait(first.due_ns)?;
            if self.is_stopped() {
                break;
            }
            let frames = match self.late(first, now_ns) {
                true => self.drop_late(first),
                false => {
                    let run = self.run_of(rest.0, now_ns);
                    let frames = rest.1.get(..run).unwrap_or_default();
                    let planned = rest.0.get(..run).unwrap_or_default();
                    self.hand_over(planned, frames, now_ns)
                }
            };
            let (planned, slices) = rest;
            rest = (
                planned.get(frames..).unwrap_or_default(),
                slices.get(frames..).unwrap_or_default(),
            );
        }
        Ok(())
    }

    /// Waits for a deadline; returns the time since the base.
    fn wait(&mut self, due_ns: i64) -> Result<i64, Errno> {
        let deadline_ns = self.base_ns.saturating_add(due_ns);
        let now_ns = clock::monotonic_ns()?;
        let slack_ns = deadline_ns.saturating_sub(now_ns);
        if slack_ns > self.rules.spin_ns && now_ns.saturating_sub(self.rows_since_ns) > ROWS_NS {
            self.hand_over_rows();
        }
        let now_ns = match slack_ns {
            ..=0 => now_ns,
            _ => {
                let stop = &self.ends.stop;
                clock::wait_until(deadline_ns, self.rules.spin_ns, || stop.load(Ordering::Relaxed))?
            }
        };
        Ok(now_ns.saturating_sub(self.base_ns))
    }

    /// Whether the frame is not sent, being late.
    fn late(&self, planned: &Planned, now_ns: i64) -> bool {
        let Late { policy, limit_ns } = self.rules.late;
        policy == LatePolicy::Drop
            && !self.rules.top_speed
            && now_ns.saturating_sub(planned.due_ns) > limit_ns
    }

    fn drop_late(&mut self, planned: &Planned) -> usize {
        if let Some(route) = self.sent.routes.get_mut(usize::from(planned.route)) {
            route.dropped += 1;
        }
        self.note(planned, None, Outcome::DroppedAsLate);
        1
    }

    /// How many frames go out together: those that are due, too, and take the same way.
    fn run_of(&self, planned: &[Planned], now_ns: i64) -> usize {
        let Some(first) = planned.first() else { return 0 };
        let together = |one: &&Planned| {
            self.outlets.is_same(one.route, first.route)
                && one.due_ns <= now_ns
                && !self.late(one, now_ns)
        };
        1 + planned.iter().skip(1).take(MOST_FRAMES - 1).take_while(together).count()
    }

    /// Offers frames once; returns how many of them are done with.
    fn hand_over(
        &mut self,
        planned: &[Planned],
        frames: &[[IoSlice<'_>; 1]],
        now_ns: i64,
    ) -> usize {
        let Some(first) = planned.first() else { return 0 };
        match self.outlets.send(first.route, frames) {
            Handed::Taken(taken) => {
                for one in planned.iter().take(taken) {
                    self.count_sent(one, now_ns);
                    self.note(one, Some(now_ns), Outcome::Sent);
                }
                taken
            }
            Handed::Full if self.rules.top_speed => {
                self.sent.waits += 1;
                thread::sleep(FULL);
                0
            }
            Handed::Full => {
                if let Some(route) = self.sent.routes.get_mut(usize::from(first.route)) {
                    route.enobufs += 1;
                }
                self.note(first, None, Outcome::Enobufs);
                1
            }
            Handed::Refused(errno) => {
                if let Some(route) = self.sent.routes.get_mut(usize::from(first.route)) {
                    count(&mut route.errors, name(errno));
                }
                self.note(first, None, Outcome::Error);
                1
            }
        }
    }

    fn count_sent(&mut self, planned: &Planned, now_ns: i64) {
        let Some(route) = self.sent.routes.get_mut(usize::from(planned.route)) else { return };
        route.sent += 1;
        route.bytes += u64::from(planned.bytes);
        if !self.rules.top_speed {
            let lateness_ns = now_ns.saturating_sub(planned.due_ns);
            route.late += u64::from(lateness_ns > self.rules.late.limit_ns);
            route.lateness_max_ns = route.lateness_max_ns.max(Some(lateness_ns));
        }
    }

    fn note(&mut self, planned: &Planned, sent_ns: Option<i64>, outcome: Outcome) {
        self.rows.push(Row { planned: planned.clone(), sent_ns, outcome });
        if self.rows.len() >= ROWS {
            self.hand_over_rows();
        }
    }

    fn hand_over_rows(&mut self) {
        self.rows_since_ns = clock::monotonic_ns().unwrap_or(self.rows_since_ns);
        if !self.rows.is_empty() {
            let rows = std::mem::replace(&mut self.rows, Vec::with_capacity(ROWS));
            // Sending goes on when nobody wants the log.
            let _ = self.ends.rows.send(rows);
        }
    }

    fn is_stopped(&self) -> bool {
        self.ends.stop.load(Ordering::Relaxed)
    }
}

/// "ENETDOWN" rather than a number.
fn name(errno: Errno) -> &'static str {
    match errno {
        Errno::ENETDOWN => "ENETDOWN",
        Errno::ENXIO => "ENXIO",
        Errno::EMSGSIZE => "EMSGSIZE",
        Errno::ENODEV => "ENODEV",
        Errno::EBADF => "EBADF",
        Errno::EPERM => "EPERM",
        Errno::EINVAL => "EINVAL",
        Errno::ENOMEM => "ENOMEM",
        other => other.desc(),
    }
}
