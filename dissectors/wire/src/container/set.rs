//! Several files as one capture: a rotated file, or what ran at the same time on
//! several interfaces. Records come merged by time. A file is opened when its
//! first record is due, so that memory holds only files that overlap in time.

use std::path::PathBuf;

use super::order::Held;
use super::{Capture, Description, Facts, Interface, Options, Record};
use crate::error::{Error, Result};

/// Where the numbers of a file's frames go on when those of an earlier file are
/// not all known yet: at a multiple of this, which is more than a file has frames.
pub(super) const FRAMES_APART: u64 = 10_000_000_000;

/// Records of a file looked at for its end; few enough to be held of every file that overlaps.
const READ_ON: u64 = 8192;

/// One capture file, or several that are read as one.
pub enum CaptureSet {
    One(Box<Capture>),
    Several(Box<Several>),
}

/// Files in the order of their first records.
pub struct Several {
    options: Options,
    /// Not yet due, the next one last.
    waiting: Vec<Waiting>,
    reading: Vec<Reading>,
    /// Which file of `reading` has given out the last record.
    lent: Option<usize>,
    /// Told before any further record.
    damage: Vec<Error>,
    /// Of files that were opened; what `reading` will say at its end is not in yet.
    facts: Facts,
    /// The highest number given to a frame, or reserved.
    last_frame: u64,
    /// Of the first file's first record.
    first_ns: Option<i64>,
    /// Of files that have been read.
    bytes_read: u64,
    length: u64,
}

struct Waiting {
    path: PathBuf,
    /// Its place among the files that were named.
    number: usize,
    /// Of its first record; `None`, which comes first, if it has none.
    time_ns: Option<i64>,
}

struct Reading {
    capture: Capture,
    number: usize,
    head: Held,
    /// Before the number of its first frame.
    frames_before: u64,
    /// From its interfaces to those of the set.
    interfaces: Vec<u32>,
}

impl CaptureSet {
    /// Opens files as one capture and finds out which begins first.
    ///
    /// # Errors
    /// As [`Capture::open`] for each file. [`Error::Usage`] when there is none, or when one of
    /// several is a pipe, which cannot be opened again when it is due.
    pub fn open(paths: &[PathBuf], options: &Options) -> Result<CaptureSet> {
        match paths {
            [] => Err(Error::Usage("no capture is named".into())),
            [path] => Ok(Capture::open(path, options)?.into()),
            paths => Ok(CaptureSet::Several(Box::new(Several::open(paths, options)?))),
        }
    }

    /// The next record in time order, or `None` at the end of the last file.
    ///
    /// # Errors
    /// [`Error::Damaged`] once for each file that goes wrong; then the records of the others go on.
    /// [`Error::Io`] and [`Error::NotACapture`] when a file is no longer what it was.
    // Not an Iterator, like `Capture`.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record<'_>>> {
        match self {
            CaptureSet::One(capture) => capture.next(),
            CaptureSet::Several(several) => Ok(several.next()?.map(|(_, record)| record)),
        }
    }

    /// Like [`CaptureSet::next`], with the place of the record's file among those that were named.
    ///
    /// # Errors
    /// As [`CaptureSet::next`].
    pub fn next_from(&mut self) -> Result<Option<(usize, Record<'_>)>> {
        match self {
            CaptureSet::One(capture) => Ok(capture.next()?.map(|record| (0, record))),
            CaptureSet::Several(several) => several.next(),
        }
    }

    /// The one file that is a simulator's trace, if this is one.
    pub fn trace(&mut self) -> Option<&mut Capture> {
        match self {
            CaptureSet::One(capture) if capture.is_trace() => Some(capture),
            _ => None,
        }
    }

    pub fn facts(&self) -> Facts {
        match self {
            CaptureSet::One(capture) => Facts::of(capture),
            CaptureSet::Several(several) => several.facts(),
        }
    }

    /// The time of frame 1, as soon as a record has been given out.
    pub fn first_ns(&self) -> Option<i64> {
        match self {
            CaptureSet::One(capture) => capture.first_ns(),
            CaptureSet::Several(several) => several.first_ns,
        }
    }

    /// What has to be read before the records, so far; of several files nothing.
    pub fn descriptions(&self) -> &[Description] {
        match self {
            CaptureSet::One(capture) => capture.descriptions(),
            CaptureSet::Several(_) => &[],
        }
    }

    /// Whether places in the file can be gone to later.
    ///
    /// # Errors
    /// [`Error::Usage`] when they cannot: several files, compressed ones, and pipes.
    pub fn may_be_indexed(&self) -> Result<()> {
        let refuse = |name: &str, found: &str| {
            let needed = "an offset index takes one plain file";
            Err(Error::Usage(format!("{name}: {needed}, and this is {found}")))
        };
        match self {
            CaptureSet::Several(_) => refuse("merged captures", "several"),
            CaptureSet::One(capture) => match capture.compression().name() {
                Some(how) => refuse(&capture.name, &format!("compressed with {how}")),
                None if capture.file_length().is_none() => refuse(&capture.name, "a stream"),
                None if capture.is_trace() => refuse(&capture.name, "a simulator's trace"),
                None => Ok(()),
            },
        }
    }

    /// Bytes read of the files on disk so far, somewhat ahead of the records given out.
    pub fn bytes_read(&self) -> u64 {
        match self {
            CaptureSet::One(capture) => capture.bytes_read(),
            CaptureSet::Several(several) => {
                let reading = several.reading.iter().map(|one| one.capture.bytes_read());
                several.bytes_read + reading.sum::<u64>()
            }
        }
    }

    /// Bytes of the files on disk; `None` for a pipe or another reader without a length.
    pub fn file_length(&self) -> Option<u64> {
        match self {
            CaptureSet::One(capture) => capture.file_length(),
            CaptureSet::Several(several) => Some(several.length),
        }
    }
}

impl From<Capture> for CaptureSet {
    fn from(capture: Capture) -> Self {
        CaptureSet::One(Box::new(capture))
    }
}

impl Several {
    fn open(paths: &[PathBuf], options: &Options) -> Result<Self> {
        let mut length = 0_u64;
        let mut waiting = Vec::with_capacity(paths.len());
        for (number, path) in paths.iter().enumerate() {
            let mut capture = Capture::open(path, options)?;
            if capture.is_trace() {
                let what = "a simulator's trace is read alone";
                return Err(Error::Usage(format!("{}: {what}", capture.name)));
            }
            let Some(file_length) = capture.file_length() else {
                let what = "one of several captures is opened twice, which only files allow";
                return Err(Error::Usage(format!("{}: {what}", capture.name)));
            };
            length = length.saturating_add(file_length);
            // Damage is told when it is met again.
            let time_ns = capture.next().ok().flatten().map(|first| first.time_ns);
            waiting.push(Waiting { path: path.clone(), number, time_ns });
        }
        // Files without a record, and those that begin together, stay in the order they were named.
        waiting.sort_by_key(|file| file.time_ns);
        waiting.reverse();
        Ok(Several {
            options: options.clone(),
            waiting,
            reading: Vec::new(),
            lent: None,
            damage: Vec::new(),
            facts: Facts::default(),
            last_frame: 0,
            first_ns: None,
            bytes_read: 0,
            length,
        })
    }

    fn next(&mut self) -> Result<Option<(usize, Record<'_>)>> {
        if let Some(index) = self.lent.take() {
            self.advance(index)?;
        }
        while let Some(file) = self.waiting.pop_if(|file| is_due(file, &self.reading)) {
            self.start(&file)?;
        }
        if let Some(damage) = self.damage.pop() {
            return Err(damage);
        }
        let heads = self.reading.iter().enumerate();
        let Some((index, _)) = heads.min_by_key(|(_, one)| one.head.time_ns) else {
            return Ok(None);
        };
        Ok(self.lend(index))
    }

    fn lend(&mut self, index: usize) -> Option<(usize, Record<'_>)> {
        let one = self.reading.get_mut(index)?;
        self.lent = Some(index);
        let known = one.interfaces.len();
        for interface in one.capture.interfaces.iter().skip(known) {
            one.interfaces.push(join(&mut self.facts.interfaces, interface));
        }
        let mut record = one.capture.lend(std::mem::take(&mut one.head));
        record.frame += one.frames_before;
        if let Some(&interface) = one.interfaces.get(record.interface as usize) {
            record.interface = interface;
        }
        if let Some(interface) = self.facts.interfaces.get_mut(record.interface as usize) {
            interface.packets += 1;
        }
        Some((one.number, record))
    }

    fn start(&mut self, file: &Waiting) -> Result<()> {
        let capture = Capture::open(&file.path, &self.options)?;
        let mut all_counted = true;
        for one in &mut self.reading {
            all_counted &= one.capture.read_on();
            self.last_frame = self.last_frame.max(one.frames_before + one.capture.frames);
        }
        if !all_counted {
            self.last_frame = self.last_frame.next_multiple_of(FRAMES_APART);
        }
        let frames_before = self.last_frame;
        let (head, interfaces) = (Held::default(), Vec::new());
        let number = file.number;
        self.reading.push(Reading { capture, number, head, frames_before, interfaces });
        self.advance(self.reading.len() - 1)
    }

    /// Finds the next record of a file, or lets go of the file at its end.
    fn advance(&mut self, index: usize) -> Result<()> {
        let Some(one) = self.reading.get_mut(index) else { return Ok(()) };
        let pulled = one.capture.pull();
        self.last_frame = self.last_frame.max(one.frames_before + one.capture.frames);
        self.first_ns = self.first_ns.or(one.capture.first_ns);
        match pulled {
            Ok(Some(held)) => {
                one.head = held;
                return Ok(());
            }
            Ok(None) => {}
            Err(damage @ Error::Damaged { .. }) => self.damage.push(damage),
            Err(other) => return Err(other),
        }
        let one = self.reading.remove(index);
        self.bytes_read += one.capture.bytes_read();
        self.facts.add(one.facts());
        Ok(())
    }

    fn facts(&self) -> Facts {
        let mut facts = self.facts.clone();
        for one in &self.reading {
            facts.add(one.facts());
        }
        facts.files.sort_by_key(|file| file.first_frame);
        facts.first_ns = self.first_ns;
        facts
    }
}

/// Whether the file has to be opened before a record of those being read may be given out.
fn is_due(file: &Waiting, reading: &[Reading]) -> bool {
    reading.iter().all(|one| file.time_ns.is_none_or(|first| first < one.head.time_ns))
}

/// The index of the interface among those of the set, which it may have to join.
fn join(interfaces: &mut Vec<Interface>, interface: &Interface) -> u32 {
    let same =
        |one: &Interface| (&one.name, one.link_type) == (&interface.name, interface.link_type);
    let index = interfaces.iter().position(same).unwrap_or_else(|| {
        interfaces.push(Interface { packets: 0, ..interface.clone() });
        interfaces.len() - 1
    });
    u32::try_from(index).unwrap_or(u32::MAX)
}

impl Reading {
    fn facts(&self) -> Facts {
        let mut facts = Facts::of(&self.capture);
        for file in &mut facts.files {
            file.first_frame += self.frames_before;
        }
        facts
    }
}

impl Capture {
    /// Holds some more records, so that a file which ends a little after the next of its rotation
    /// begins is known to its last frame by then. Whether this one is.
    fn read_on(&mut self) -> bool {
        let window_ns = self.window_ns();
        let enough = self.frames + READ_ON;
        while !(self.ended || self.frames == enough || self.stream.is_crowded()) {
            if let Some(found) = self.find() {
                self.window.push(found.hold(&mut self.stream, self.frames), window_ns);
            }
        }
        self.ended
    }

    /// The next record like [`Capture::next`], but held: to be lent later, before the next pull.
    fn pull(&mut self) -> Result<Option<Held>> {
        if let Some(place) = self.lent.take() {
            self.stream.release(&place);
        }
        loop {
            if let Some(held) = self.window.pop(self.stream.is_crowded()) {
                return Ok(Some(held));
            }
            match self.find() {
                Some(found) => {
                    let window_ns = self.window_ns();
                    self.window.push(found.hold(&mut self.stream, self.frames), window_ns);
                }
                None if self.window.is_empty() => return self.end().map(|_| None),
                None => self.window.finish(),
            }
        }
    }
}
