//! What is carried along through one frame's rewriting.

use super::outcome::{Note, Notes};

/// Packets inside packets that are followed.
const MOST_DEPTH: u8 = 8;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Job {
    pub notes: Notes,
    /// Checksums that were wrong stay as wrong as they were.
    pub keep_bad: bool,
    depth: u8,
}

impl Job {
    pub fn new(keep_bad: bool) -> Self {
        Job { keep_bad, ..Job::default() }
    }

    pub fn note(&mut self, note: Note) {
        self.notes.add(note);
    }

    pub fn note_if(&mut self, is_so: bool, note: Note) {
        if is_so {
            self.notes.add(note);
        }
    }

    /// One packet deeper; false where that is too deep.
    pub fn descend(&mut self) -> bool {
        self.depth += 1;
        self.depth < MOST_DEPTH
    }
}
