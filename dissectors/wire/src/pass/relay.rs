//! A thread for the reading half of a pass. Batches of what it finds are handed
//! over whole and come back empty, so memory is bounded by a few of them; their
//! order is that of the records, so nothing depends on how the threads run.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};

use super::batch::Batch;
use super::front::{Front, Turn};
use crate::error::Result;

/// Batches filled and waiting, at most; all of them fit into a processor's second cache.
const READY: usize = 3;

/// What a thread has read.
pub struct Delivery {
    pub batch: Batch,
    /// What came after the last frame of the batch, if that is why it ends there.
    pub then: Option<Result<Turn>>,
    /// Bytes of the files read so far.
    pub bytes_read: u64,
    /// The time of frame 1.
    pub first_ns: Option<i64>,
}

/// The thread. Dropping it, or asking for what it has, waits for the batch under way.
pub struct Relay {
    deliveries: Receiver<Delivery>,
    /// `None` when no more is wanted: hanging up is what ends the thread.
    spent: Option<Sender<Batch>>,
    thread: Option<JoinHandle<Option<Box<Front>>>>,
}

impl Relay {
    /// # Errors
    /// The reading half back, when the system has no thread to give.
    pub fn start(front: Box<Front>) -> std::result::Result<Relay, Box<Front>> {
        let (deliver, deliveries) = sync_channel(READY);
        let (spent, empties) = channel();
        // Handed over once the thread is there: it would be lost with one that is not.
        let (hand, handed) = channel();
        let run = move || handed.recv().ok().map(|front| read(front, &deliver, &empties));
        match thread::Builder::new().name("capture reader".into()).spawn(run) {
            Ok(thread) => match hand.send(front) {
                Ok(()) => Ok(Relay { deliveries, spent: Some(spent), thread: Some(thread) }),
                Err(back) => Err(back.0),
            },
            Err(_) => Err(front),
        }
    }

    /// What was read next; None when all of it is here.
    pub fn next(&mut self) -> Option<Delivery> {
        self.deliveries.recv().ok()
    }

    /// Gives a batch back to be filled again.
    pub fn give_back(&self, mut batch: Batch) {
        batch.clear();
        if let Some(spent) = &self.spent {
            // A thread that has read all of the capture needs none: it is then freed.
            drop(spent.send(batch));
        }
    }

    /// Has the thread end after the batch that it is filling.
    pub fn stop(&mut self) {
        self.spent = None;
    }

    /// The reading half, once `next` has said None.
    ///
    /// # Panics
    /// Where the thread has: with its panic.
    pub fn join(mut self) -> Box<Front> {
        self.stop();
        let joined = self.thread.take().map_or(Ok(None), JoinHandle::join);
        let front = joined.unwrap_or_else(|panic| resume_unwind(panic));
        front.expect("`start` hands a reading half to every thread that it keeps")
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // Also a thread that waits for room to deliver ends then.
            while self.deliveries.recv().is_ok() {}
            drop(thread.join());
        }
    }
}

fn read(
    mut front: Box<Front>,
    deliver: &SyncSender<Delivery>,
    empties: &Receiver<Batch>,
) -> Box<Front> {
    let mut made = 0;
    loop {
        let mut batch = match empties.try_recv() {
            Ok(batch) => batch,
            Err(TryRecvError::Disconnected) => return front,
            // They are made one by one: a small file costs one. Beside those ready, one is being
            // filled and one being read.
            Err(TryRecvError::Empty) if made < READY + 2 => {
                made += 1;
                Batch::default()
            }
            Err(TryRecvError::Empty) => match empties.recv() {
                Ok(batch) => batch,
                Err(_) => return front,
            },
        };
        let then = fill(&mut front, &mut batch);
        let last = matches!(then, Some(Ok(Turn::End) | Err(_)));
        let (bytes_read, first_ns) = (front.capture.bytes_read(), front.capture.first_ns());
        if deliver.send(Delivery { batch, then, bytes_read, first_ns }).is_err() || last {
            return front;
        }
    }
}

fn fill(front: &mut Front, batch: &mut Batch) -> Option<Result<Turn>> {
    while !batch.is_full() {
        match front.next(batch) {
            Ok(Turn::Frame) => {}
            other => return Some(other),
        }
    }
    None
}
