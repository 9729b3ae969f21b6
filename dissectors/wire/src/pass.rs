//! The one streaming pass over a capture: records in, ledger out.
//!
//! Every record is counted once: read = dissected + partial + skipped by reason.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::container::{CaptureSet, Options as CaptureOptions};
use crate::error::{Error, Result};
use crate::index::{self, Indexer};
use crate::ledger::{Ledger, Streamed};
use crate::ns2::{Hosts, Trace};
use crate::packet::{Decoder, DecoderOptions};
use crate::track::flow::{Census, FLOWS};
use crate::track::{self, Limits};
use front::{Front, Turn, Untold};
use relay::{Delivery, Relay};
use work::Work;

mod batch;
mod flow;
mod front;
mod relay;
mod work;

/// Says whether a packet takes part: link type, captured bytes, length on the wire.
pub type Filter = Box<dyn FnMut(u16, &[u8], u32) -> Result<bool> + Send>;

pub struct Options {
    /// Width of the interval table's bins.
    pub bin_ns: i64,
    /// UDP ports that carry SCTP (RFC 6951).
    pub udp_ports: Vec<u16>,
    pub capture: CaptureOptions,
    pub filter: Option<Filter>,
    /// The streamed table to make rows of.
    pub stream: Option<Streamed>,
    /// Whether to follow TCP and UDP flows and to read ICMP errors.
    pub flows: bool,
    /// Flows remembered at a time.
    pub flow_capacity: usize,
    /// What associations may cost.
    pub limits: Limits,
    /// Bytes of the file to a block of the offset index that is made on the way, if one is.
    pub index_block_bytes: Option<u64>,
    /// Whether to read in one thread and to track in another. `None` is where there are two
    /// processors, and not of a pipe or a small file. Never with an index or a streamed table but
    /// that of sightings.
    pub two_threads: Option<bool>,
    /// Nodes of a simulator's trace that are interfaces of one host each.
    pub hosts: Hosts,
}

/// Bytes of a capture below which one thread is through before a second one has paid for itself,
/// above all where many captures are read side by side.
const LEAST_FOR_TWO_THREADS: u64 = 4 << 20;

impl Default for Options {
    fn default() -> Self {
        Options {
            bin_ns: 100_000_000,
            udp_ports: DecoderOptions::default().udp_ports,
            capture: CaptureOptions::default(),
            filter: None,
            stream: None,
            flows: false,
            flow_capacity: FLOWS,
            limits: Limits::default(),
            index_block_bytes: None,
            two_threads: None,
            hosts: Hosts::new(),
        }
    }
}

/// Conservation: `read` is the sum of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    pub read: u64,
    /// All of the frame that is read was there: every chunk of SCTP, the headers of TCP, UDP and ICMP.
    pub dissected: u64,
    /// Something in the frame could not be read; the rest was.
    pub partial: u64,
    /// Nothing above IP was read, by reason.
    pub skipped: BTreeMap<String, u64>,
}

pub struct Pass {
    reading: Reading,
    work: Work,
    with_flows: bool,
    of_several: bool,
    /// What a thread has read and is being tracked.
    delivery: Option<Delivery>,
    damage: Vec<Error>,
    done: bool,
    progress: Progress,
}

/// Where the reading half is.
enum Reading {
    Here(Box<Front>),
    /// To be given a thread with the first step.
    Ahead(Box<Front>),
    Elsewhere(Relay),
    /// While it moves, and after a panic on the way.
    Nowhere,
}

/// How far reading has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Of the files on disk, somewhat ahead of the records tracked.
    pub bytes_read: u64,
    /// `None` for a pipe or another reader without a length.
    pub file_length: Option<u64>,
    /// The time of frame 1.
    pub first_ns: Option<i64>,
}

/// A finished pass.
pub struct Summary {
    pub ledger: Ledger,
    pub frames: Frames,
    pub sctp_packets: u64,
    pub first_ns: Option<i64>,
    pub last_ns: Option<i64>,
    /// Associations seen, forgotten and not listed.
    pub associations: track::Census,
    /// Flows seen, forgotten and not listed; None where they were not followed.
    pub flows: Option<Census>,
    /// Problems by layer and kind; complete, while the table is bounded.
    pub problems: BTreeMap<String, u64>,
    /// Fragments dropped because too many datagrams were incomplete at a time.
    pub dropped_fragments: u64,
    /// Of each file that went wrong before its end.
    pub damage: Vec<Error>,
    /// The offset index, if one was asked for.
    pub index: Option<index::Tables>,
    /// Of a simulator's trace.
    pub simulated: Option<Simulated>,
}

/// What the tables of a simulator's trace do not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Simulated {
    /// Packets beyond the table of transits.
    pub unlisted_transits: u64,
    /// Packets whose sending is not in the trace.
    pub unsent: u64,
}

impl Pass {
    /// Over files that are one capture; see [`CaptureSet::open`].
    ///
    /// # Errors
    /// As there. [`Error::Usage`] when an index is asked for and the capture is not one plain file.
    pub fn open(paths: &[PathBuf], options: Options) -> Result<Pass> {
        let capture = CaptureSet::open(paths, &options.capture)?;
        if options.index_block_bytes.is_some() {
            capture.may_be_indexed()?;
        }
        let mut capture = capture;
        if options.filter.is_some() && capture.trace().is_some() {
            let refusal = "a filter looks at bytes, and a simulator's trace has none";
            return Err(Error::Usage(refusal.into()));
        }
        Ok(Self::over(capture, options))
    }

    pub fn over(capture: impl Into<CaptureSet>, options: Options) -> Pass {
        let mut options = options;
        let capture = capture.into();
        let file_length = capture.file_length();
        // Rows and indexes tell of bytes that are not handed over; a pipe may keep a thread waiting.
        let needs_bytes = options.stream.as_ref().is_some_and(Streamed::needs_bytes);
        let may_thread = !needs_bytes && options.index_block_bytes.is_none();
        let is_worth_it = file_length.is_some_and(|bytes| bytes >= LEAST_FOR_TWO_THREADS);
        let by_itself = || is_worth_it && has_two_processors();
        let threaded = may_thread && options.two_threads.unwrap_or_else(by_itself);
        let (with_flows, of_several) = (options.flows, matches!(capture, CaptureSet::Several(_)));
        let udp_ports = std::mem::take(&mut options.udp_ports);
        let front = Box::new(Front {
            capture,
            decoder: Decoder::new(DecoderOptions { udp_ports, flows: with_flows }),
            filter: options.filter.take(),
            with_digests: matches!(options.stream, Some(Streamed::Sightings(_))),
            turn: 0,
            trace: Box::new(Trace::new(std::mem::take(&mut options.hosts), with_flows)),
            untold: Untold::default(),
        });
        Pass {
            reading: if threaded { Reading::Ahead(front) } else { Reading::Here(front) },
            work: Work::new(options),
            with_flows,
            of_several,
            delivery: None,
            damage: Vec::new(),
            done: false,
            progress: Progress { file_length, ..Progress::default() },
        }
    }

    pub fn progress(&self) -> Progress {
        match &self.reading {
            Reading::Here(front) => Progress {
                bytes_read: front.capture.bytes_read(),
                first_ns: front.capture.first_ns(),
                ..self.progress
            },
            _ => self.progress,
        }
    }

    /// Reads up to `records` records; false when the capture is at its end.
    /// Damage in a file ends its records, but not what was read before them.
    pub fn step(&mut self, records: usize) -> Result<bool> {
        self.set_out();
        let mut left = records;
        while left > 0 && !self.done {
            let turn = match &mut self.reading {
                Reading::Here(front) => {
                    left -= 1;
                    Some(front.next(&mut self.work))
                }
                Reading::Elsewhere(relay) => {
                    if self.delivery.is_none() {
                        self.delivery = relay.next();
                    }
                    if self.delivery.is_none() {
                        self.come_back();
                    }
                    let (told, turn) = self.replay(left);
                    left -= told;
                    turn
                }
                Reading::Ahead(_) | Reading::Nowhere => return Ok(false),
            };
            match turn.transpose()? {
                Some(Turn::End) => {
                    self.done = true;
                    self.work.tracker.close_all();
                }
                Some(Turn::Damage(damage)) => self.damaged(damage),
                Some(Turn::Frame) | None => {}
            }
        }
        Ok(!self.done)
    }

    fn set_out(&mut self) {
        self.reading = match std::mem::replace(&mut self.reading, Reading::Nowhere) {
            Reading::Ahead(front) => match Relay::start(front) {
                Ok(relay) => Reading::Elsewhere(relay),
                Err(front) => Reading::Here(front),
            },
            other => other,
        };
    }

    /// Tracks up to `most` frames that a thread has read: how many, and what came after the batch.
    fn replay(&mut self, most: usize) -> (usize, Option<Result<Turn>>) {
        let Some(delivery) = &mut self.delivery else { return (0, None) };
        let told = delivery.batch.replay(most, &mut self.work);
        let Delivery { bytes_read, first_ns, .. } = *delivery;
        self.progress = Progress { bytes_read, first_ns, ..self.progress };
        let Some(delivery) = self.delivery.take_if(|delivery| delivery.batch.is_told()) else {
            return (told, None);
        };
        if let Reading::Elsewhere(relay) = &self.reading {
            relay.give_back(delivery.batch);
        }
        (told, delivery.then)
    }

    /// Ends the thread, if there is one, and tracks all that it has read: the capture counts that.
    fn come_back(&mut self) {
        while let Reading::Elsewhere(relay) = &mut self.reading {
            relay.stop();
            if self.delivery.is_none() {
                self.delivery = relay.next();
            }
            if self.delivery.is_none() {
                break;
            }
            if let (_, Some(Ok(Turn::Damage(damage)) | Err(damage))) = self.replay(usize::MAX) {
                self.damaged(damage);
            }
        }
        self.reading = match std::mem::replace(&mut self.reading, Reading::Nowhere) {
            Reading::Elsewhere(relay) => Reading::Here(relay.join()),
            other => other,
        };
    }

    fn damaged(&mut self, damage: Error) {
        self.work.damaged(&damage, self.of_several);
        self.damage.push(damage);
    }

    /// The streamed table that was asked for, with its rows since they were last taken.
    pub fn streamed(&mut self) -> Option<&mut Streamed> {
        let Work { streamed, tracker, .. } = &mut self.work;
        if let Some(Streamed::Messages(rows)) = streamed
            && let Some(made) = &mut tracker.ledger.messages
        {
            rows.append(made);
        }
        streamed.as_mut()
    }

    /// The index that was asked for, for its packets so far.
    pub fn index(&mut self) -> Option<&mut Indexer> {
        self.work.index.as_mut()
    }

    /// The tables. Call it after `step` has said false, or earlier for what there is so far.
    ///
    /// # Panics
    /// After a step that has panicked.
    pub fn finish(mut self) -> (CaptureSet, Summary) {
        self.come_back();
        let mut front = match self.reading {
            Reading::Here(front) | Reading::Ahead(front) => *front,
            Reading::Elsewhere(_) | Reading::Nowhere => {
                panic!("a pass that panicked has no result")
            }
        };
        let mut work = self.work;
        work.count_untold(&front.untold, front.trace.span_ns());
        let flows = work.flows.finish(&mut work.tracker.ledger);
        let (mut ledger, associations) = work.tracker.finish();
        let simulated = simulation(&mut front.capture, *front.trace, &mut ledger);
        let summary = Summary {
            flows: self.with_flows.then_some(flows),
            dropped_fragments: front.decoder.dropped_fragments(),
            associations,
            ledger,
            frames: work.frames,
            sctp_packets: work.sctp_packets,
            first_ns: work.first_ns,
            last_ns: work.last_ns,
            problems: work.problems,
            damage: self.damage,
            index: work.index.map(|index| index.finish(front.capture.descriptions())),
            simulated,
        };
        (front.capture, summary)
    }
}

/// The tables that only a trace fills, and what it does not say of associations: their tags.
fn simulation(capture: &mut CaptureSet, trace: Trace, ledger: &mut Ledger) -> Option<Simulated> {
    capture.trace()?;
    for row in &mut ledger.associations {
        (row.a_tag, row.b_tag) = (None, None);
    }
    let account = trace.account();
    ledger.simulation = Some(Box::new(account.tables));
    let (unlisted_transits, unsent) = (account.unlisted_transits, account.unsent);
    Some(Simulated { unlisted_transits, unsent })
}

fn has_two_processors() -> bool {
    std::thread::available_parallelism().is_ok_and(|number| number.get() > 1)
}

#[cfg(test)]
mod tests;
