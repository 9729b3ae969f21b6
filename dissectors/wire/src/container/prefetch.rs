//! Reading ahead: a thread reads (and decompresses) the file into blocks while
//! the parser works on earlier ones. Blocks are handed over whole and come back
//! empty, so memory is bounded by a few blocks and steady state allocates nothing.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Large enough that a hand-over costs nothing beside the decompression.
const AHEAD: usize = 1 << 20;

/// Small enough to be still in the processor's own cache when it is dissected.
const HERE: usize = 128 << 10;

/// Blocks filled and waiting for the parser, at most.
const READY: usize = 3;

/// Blocks the thread makes: those ready and the one being filled. The parser brings its own.
const BLOCKS: usize = READY + 1;

pub(super) type Reader = Box<dyn Read + Send>;

/// Some bytes of the file, and how it ended if it ended after them.
pub(super) struct Block {
    /// Of full size always, so that reusing it needs no clearing; the first `filled` bytes count.
    pub bytes: Vec<u8>,
    pub filled: usize,
    pub end: Option<io::Result<()>>,
}

/// Where blocks come from: the calling thread, or one that reads ahead.
pub(super) enum Blocks {
    Here(Reader),
    Ahead(Thread),
}

impl Blocks {
    /// The size that blocks should have.
    pub fn size(ahead: bool) -> usize {
        if ahead { AHEAD } else { HERE }
    }

    pub fn new(reader: Reader, block_size: usize, ahead: bool) -> io::Result<Self> {
        Ok(if ahead {
            Blocks::Ahead(Thread::start(reader, block_size)?)
        } else {
            Blocks::Here(reader)
        })
    }

    /// The next block. `spent` is the block before, taken back for reuse.
    pub fn next(&mut self, spent: Vec<u8>) -> Block {
        match self {
            Blocks::Here(reader) => fill(reader, spent),
            Blocks::Ahead(thread) => thread.next(spent),
        }
    }
}

/// Fills the block to its last byte unless the file ends before.
fn fill(reader: &mut Reader, mut bytes: Vec<u8>) -> Block {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => return Block { bytes, filled, end: Some(Ok(())) },
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Block { bytes, filled, end: Some(Err(error)) },
        }
    }
    Block { bytes, filled, end: None }
}

/// The reading thread. Dropping it waits for a read under way, which only a pipe makes long.
pub(super) struct Thread {
    /// `None` only while dropping: hanging up both channels is what ends the thread.
    channels: Option<(Receiver<Block>, Sender<Vec<u8>>)>,
    handle: Option<JoinHandle<()>>,
}

impl Thread {
    fn start(reader: Reader, block_size: usize) -> io::Result<Self> {
        let (ready, blocks) = sync_channel(READY);
        let (give_back, spent) = channel();
        let handle = thread::Builder::new()
            .name("capture reader".into())
            .spawn(move || read_ahead(reader, block_size, &ready, &spent))?;
        Ok(Thread { channels: Some((blocks, give_back)), handle: Some(handle) })
    }

    fn next(&mut self, spent: Vec<u8>) -> Block {
        let block = self.channels.as_ref().and_then(|(blocks, give_back)| {
            // The thread no longer listens once it has read the whole file: the block is then freed.
            drop(give_back.send(spent));
            blocks.recv().ok()
        });
        block.unwrap_or_else(|| Block {
            bytes: Vec::new(),
            filled: 0,
            end: Some(Err(io::Error::other("the reading thread stopped before the end"))),
        })
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.channels = None;
        if let Some(handle) = self.handle.take() {
            // A panic in the thread has already been told as the stream's end.
            drop(handle.join());
        }
    }
}

fn read_ahead(
    mut reader: Reader,
    block_size: usize,
    ready: &SyncSender<Block>,
    spent: &Receiver<Vec<u8>>,
) {
    let mut made = 0;
    loop {
        let empty = match spent.try_recv() {
            Ok(bytes) => bytes,
            Err(TryRecvError::Disconnected) => return,
            // Blocks are made one by one, so that a small file costs a small buffer.
            Err(TryRecvError::Empty) if made < BLOCKS => {
                made += 1;
                vec![0; block_size]
            }
            Err(TryRecvError::Empty) => match spent.recv() {
                Ok(bytes) => bytes,
                Err(_) => return,
            },
        };
        let block = fill(&mut reader, empty);
        let last = block.end.is_some();
        if ready.send(block).is_err() || last {
            return;
        }
    }
}
