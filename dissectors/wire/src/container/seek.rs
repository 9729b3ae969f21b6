//! Starting to read in the middle of a file, at a record whose place is known. What stands
//! before it and is needed to read it (the file header, or a section's header and interfaces) is
//! put in front of it, so that the parsers see a whole capture that begins there.

use std::fs;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use super::{Capture, Options};
use crate::error::{Error, Result};
use crate::packet::bytes::clamp;

/// Small, because what is read beyond the last record that is wanted is read for nothing.
const BLOCK_SIZE: usize = 64 << 10;

/// A part of the file that says how to read the records after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// Counts pcapng's sections, from 0.
    pub section: u32,
    pub offset: u64,
    /// In bytes.
    pub length: u32,
}

/// The descriptions met in a pcapng file so far.
#[derive(Default)]
pub(super) struct Descriptions {
    sections: u32,
    /// The current section's header, until its first interface makes it worth noting: a section
    /// without any holds no packets. So there are at most twice as many as interfaces.
    header: Option<Description>,
    all: Vec<Description>,
}

impl Descriptions {
    pub fn section(&mut self, offset: u64, length: usize) {
        self.header = Some(Description { section: self.sections, offset, length: clamp(length) });
        self.sections = self.sections.saturating_add(1);
    }

    pub fn interface(&mut self, offset: u64, length: usize) {
        self.all.extend(self.header.take());
        let section = self.sections.saturating_sub(1);
        self.all.push(Description { section, offset, length: clamp(length) });
    }

    pub fn all(&self) -> &[Description] {
        &self.all
    }
}

/// Where to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Of a record.
    pub offset: u64,
    /// That record's number.
    pub frame: u64,
    /// Of the record's section, in the order of the file.
    pub descriptions: Vec<Description>,
}

impl Start {
    /// A start that takes what it needs of all descriptions before the record.
    pub fn new(offset: u64, frame: u64, all: &[Description]) -> Start {
        let before = || all.iter().filter(|one| one.offset < offset);
        let section = before().map(|one| one.section).max();
        let descriptions = before().filter(|one| Some(one.section) == section).copied().collect();
        Start { offset, frame, descriptions }
    }
}

impl Capture {
    /// The time of frame 1, as soon as a record has been given out.
    pub fn first_ns(&self) -> Option<i64> {
        self.first_ns
    }

    /// What has to be read before the records, so far.
    pub fn descriptions(&self) -> &[Description] {
        self.parser.descriptions()
    }

    /// Opens a plain capture file at one of its records. Records come in the order of the file and
    /// have their numbers and times; their offsets and interface numbers are not those of the file.
    ///
    /// The one exception: a pcapng Simple Packet Block, which has no time, gets that of the packet
    /// before it, and there is none.
    ///
    /// # Errors
    /// As [`Capture::open`].
    pub fn open_at(path: &Path, start: &Start) -> Result<Capture> {
        let name = path.display().to_string();
        let reader =
            begin(path, start).map_err(|source| Error::Io { path: name.clone(), source })?;
        let options = Options { reorder_window_ns: Some(0), prefetch: Some(false) };
        let mut capture =
            Self::with_block_size(&name, Box::new(reader), &options, Some(BLOCK_SIZE))?;
        capture.frames = start.frame.saturating_sub(1);
        Ok(capture)
    }
}

fn begin(path: &Path, start: &Start) -> io::Result<impl Read + Send + use<>> {
    let mut file = fs::File::open(path)?;
    let mut head = Vec::new();
    for one in &start.descriptions {
        file.seek(SeekFrom::Start(one.offset))?;
        file.by_ref().take(u64::from(one.length)).read_to_end(&mut head)?;
    }
    file.seek(SeekFrom::Start(start.offset))?;
    Ok(Cursor::new(head).chain(file))
}
