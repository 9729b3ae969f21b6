//! A replay that runs: a thread that reads ahead, a thread that sends, and the way to them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::log::Row;
use crate::orders::Orders;
use crate::send::{Ends, Rules, Sending};
use crate::source::Source;
use crate::tally::{Plan, Sent};
use pathscope_wire::pass::Filter;

/// Batches read ahead of the one that is being sent.
const AHEAD: usize = 8;

/// For rows of the log, at a time: an instant after it always exists.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// What reading has come to, for whoever waits for it.
#[derive(Default)]
struct Reading {
    progress: Mutex<Progress>,
    news: Condvar,
}

#[derive(Default)]
struct Progress {
    /// As much is read ahead as may be, or all.
    is_ready: bool,
    plan: Plan,
    /// What ended reading, when neither the trace nor damage in it did.
    error: Option<Error>,
}

/// Rows of the log, as far as there are any.
pub enum Taken {
    Rows(Vec<Row>),
    /// All has been sent and taken.
    End,
}

pub struct Sender {
    rules: Rules,
    sockets: Vec<i32>,
    reading: Arc<Reading>,
    stop: Arc<AtomicBool>,
    /// Until it starts.
    idle: Mutex<Option<Ends>>,
    sending: Mutex<Option<JoinHandle<Sent>>>,
    rows: Mutex<Receiver<Vec<Row>>>,
}

impl Sender {
    /// Opens the trace and begins to read. `sockets` are bound AF_PACKET sockets in the order of
    /// the outlets; they have to stay open until [`Sender::finish`].
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn new(orders: Orders, filter: Option<Filter>, sockets: Vec<i32>) -> Result<Sender> {
        if sockets.len() != orders.outlets.len() {
            let (outlets, sockets) = (orders.outlets.len(), sockets.len());
            return Err(Error::usage(format!("{outlets} outlets, but {sockets} sockets")));
        }
        let rules = Rules::of(&orders);
        let source = Source::open(orders, filter)?;
        let (ready_in, ready) = mpsc::sync_channel(AHEAD);
        let (spent, spent_out) = mpsc::channel();
        let (rows_in, rows) = mpsc::channel();
        let (reading, stop) = (Arc::new(Reading::default()), Arc::new(AtomicBool::new(false)));
        let ahead = Ahead {
            ready: ready_in,
            spent: spent_out,
            reading: reading.clone(),
            stop: stop.clone(),
        };
        thread::spawn(move || ahead.run(source));
        let ends = Ends { ready, spent, rows: rows_in, stop: stop.clone() };
        Ok(Sender {
            rules,
            sockets,
            reading,
            stop,
            idle: Mutex::new(Some(ends)),
            sending: Mutex::new(None),
            rows: Mutex::new(rows),
        })
    }

    /// Waits until as much is read ahead as may be, or all of the trace; whether it is.
    ///
    /// # Errors
    /// What went wrong in reading before anything could be sent, or that nothing is to be sent.
    pub fn is_ready(&self, timeout: Duration) -> Result<bool> {
        let progress = locked(&self.reading.progress);
        let waited =
            self.reading.news.wait_timeout_while(progress, timeout, |progress| !progress.is_ready);
        let (mut progress, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if progress.is_ready && progress.plan.frames.planned == 0 {
            return Err(progress.error.take().unwrap_or_else(|| nothing(&progress.plan)));
        }
        Ok(progress.is_ready)
    }

    /// Starts sending: replay time 0 is `base_ns` of CLOCK_MONOTONIC.
    ///
    /// # Errors
    /// When it was started before.
    pub fn start(&self, base_ns: i64) -> Result<()> {
        let ends = locked(&self.idle).take();
        let ends = ends.ok_or_else(|| Error::usage("this sender has been started"))?;
        let (rules, sockets) = (self.rules, self.sockets.clone());
        // What a system call takes cannot be moved between threads, so it is made in its own.
        let work = move || Sending::new(rules, base_ns, sockets, ends).run();
        *locked(&self.sending) = Some(thread::spawn(work));
        Ok(())
    }

    /// The rows of frames sent until `timeout` has passed or the end has come: many at a time,
    /// since whoever takes them needs the processor that frames are sent with.
    pub fn take(&self, timeout: Duration) -> Taken {
        let waiting = locked(&self.rows);
        let until = Instant::now() + timeout.min(LONGEST_WAIT);
        let mut rows: Vec<Row> = Vec::new();
        loop {
            match waiting.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(more) => rows.extend(more),
                Err(RecvTimeoutError::Disconnected) if rows.is_empty() => return Taken::End,
                Err(_) => return Taken::Rows(rows),
            }
        }
    }

    /// Has sending end before the next frame, or before the first. What was sent can still be taken.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the end of sending; what was planned and what was done.
    ///
    /// # Errors
    /// When it was never started, or is finished.
    pub fn finish(&self) -> Result<(Plan, Sent)> {
        let sending = locked(&self.sending).take();
        let sending = sending.ok_or_else(|| Error::usage("this sender is not running"))?;
        let sent = sending
            .join()
            .map_err(|_| Error::usage("the thread that sends ended in the middle"))?;
        // Reading ends at the latest when nobody takes what it reads.
        self.stop.store(true, Ordering::Relaxed);
        let mut progress = locked(&self.reading.progress);
        let mut plan = progress.plan.clone();
        plan.damage = plan.damage.or(progress.error.take().map(|error| error.to_string()));
        Ok((plan, sent))
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The thread that reads.
struct Ahead {
    ready: SyncSender<Batch>,
    spent: Receiver<Batch>,
    reading: Arc<Reading>,
    stop: Arc<AtomicBool>,
}

impl Ahead {
    fn run(self, mut source: Source) {
        let error = self.read(&mut source).err();
        let mut progress = locked(&self.reading.progress);
        progress.plan = source.plan().clone();
        progress.error = error;
        progress.is_ready = true;
        self.reading.news.notify_all();
    }

    fn read(&self, source: &mut Source) -> Result<()> {
        let mut more = true;
        while more && !self.stop.load(Ordering::Relaxed) {
            let mut batch = self.spent.try_recv().unwrap_or_default();
            batch.clear();
            more = source.fill(&mut batch, &self.stop)?;
            locked(&self.reading.progress).plan = source.plan().clone();
            if !batch.is_empty() && !self.pass_on(batch) {
                break;
            }
        }
        Ok(())
    }

    /// Waits for room; false when nobody sends any more.
    fn pass_on(&self, batch: Batch) -> bool {
        match self.ready.try_send(batch) {
            Ok(()) => true,
            Err(TrySendError::Disconnected(_)) => false,
            Err(TrySendError::Full(batch)) => {
                locked(&self.reading.progress).is_ready = true;
                self.reading.news.notify_all();
                self.ready.send(batch).is_ok()
            }
        }
    }
}

fn nothing(plan: &Plan) -> Error {
    let frames = &plan.frames;
    let mut reasons: Vec<String> =
        frames.not_sent.iter().map(|(reason, count)| format!("{reason}: {count}")).collect();
    for (reason, count) in
        [("outside the window", frames.outside_window), ("by the filter", frames.filtered)]
    {
        if count > 0 {
            reasons.push(format!("{reason}: {count}"));
        }
    }
    reasons.extend(plan.damage.clone());
    let why = if reasons.is_empty() { "it has no frames".into() } else { reasons.join(", ") };
    Error::usage(format!("of this trace nothing is sent: {why}"))
}

/// What a thread that panicked left behind is as good as it was.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
