//! Frames that are ready to be sent, a few thousand at a time: so the thread that sends neither
//! reads a file nor asks for memory.

use std::io::IoSlice;
use std::ops::Range;

use crate::fingerprint;

/// Frames after which a batch is full.
pub const FULL_FRAMES: usize = 4096;

/// Bytes after which it is: frames may be as long as 64 KiB.
pub const FULL_BYTES: usize = 4 << 20;

/// One frame to be sent.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Its number in the trace, from 1.
    pub frame: u64,
    /// The loop over the trace, from 0.
    pub loop_number: u32,
    /// The number of its outlet.
    pub route: u16,
    /// Since the beginning of the replay.
    pub due_ns: i64,
    pub fingerprint: u64,
    /// Its length: the frames stand one after the other.
    pub bytes: u32,
}

#[derive(Debug, Default)]
pub struct Batch {
    planned: Vec<Planned>,
    bytes: Vec<u8>,
}

/// Where a frame comes from and where and when it goes.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub frame: u64,
    pub loop_number: u32,
    pub route: u16,
    pub due_ns: i64,
}

impl Batch {
    /// Adds a frame; one longer than 4 GiB cannot be.
    pub fn push(&mut self, place: Place, frame: &[u8]) {
        let Place { frame: number, loop_number, route, due_ns } = place;
        let Ok(bytes) = u32::try_from(frame.len()) else { return };
        self.bytes.extend_from_slice(frame);
        let fingerprint = fingerprint::of(frame);
        self.planned.push(Planned {
            frame: number,
            loop_number,
            route,
            due_ns,
            fingerprint,
            bytes,
        });
    }

    pub fn is_full(&self) -> bool {
        self.planned.len() >= FULL_FRAMES || self.bytes.len() >= FULL_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.planned.clear();
        self.bytes.clear();
    }

    pub fn planned(&self) -> &[Planned] {
        &self.planned
    }

    /// The bytes of each frame, as system calls take them.
    pub fn slices(&self) -> Vec<[IoSlice<'_>; 1]> {
        self.frames().map(|frame| [IoSlice::new(frame)]).collect()
    }

    /// The bytes of each frame.
    pub fn frames(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.planned.iter().map(move |planned| {
            let range = Range { start, end: start + planned.bytes as usize };
            start = range.end;
            self.bytes.get(range).unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_as_they_were() {
        let mut batch = Batch::default();
        let frames: [&[u8]; 3] = [b"one", b"", b"three"];
        for (number, frame) in (1..).zip(frames) {
            batch.push(Place { frame: number, loop_number: 0, route: 0, due_ns: 5 }, frame);
        }
        assert!(batch.frames().eq(frames));
        assert_eq!(batch.planned()[2].fingerprint, fingerprint::of(b"three"));
        batch.clear();
        assert!(batch.is_empty());
    }

    #[test]
    fn long_frames_fill_it_sooner() {
        let mut batch = Batch::default();
        let place = Place { frame: 1, loop_number: 0, route: 0, due_ns: 0 };
        while !batch.is_full() {
            batch.push(place, &[0; 65_536]);
        }
        assert_eq!(batch.planned().len(), FULL_BYTES / 65_536);
    }
}
