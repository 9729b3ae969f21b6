//! Records out of capture files: pcap, pcapng and snoop, plain or compressed; and
//! lines out of traces (`text`).
//!
//! [`Capture`] lends one record after the other in time order. A compressed
//! file is read ahead by a thread (`prefetch`), records borrow from its blocks without being
//! copied (`stream`, `pcap`, `pcapng`, `snoop`), and only a file with several
//! interfaces has records held back to be put in order (`order`). [`CaptureSet`]
//! reads several files as one.

mod clock;
mod compression;
mod facts;
mod format;
mod order;
mod pcap;
mod pcapng;
mod prefetch;
mod seek;
mod set;
mod snoop;
mod stream;
mod text;

#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::compression::Compression;
pub use self::facts::{Facts, File};
pub use self::format::Format;
pub use self::order::Order;
pub use self::pcap::Variant;
pub use self::seek::{Description, Start};
pub use self::set::CaptureSet;
pub use self::text::TextLine;

use self::format::Parser;
use self::order::{Held, Window};
use self::prefetch::Blocks;
use self::stream::{Fault, Place, Stream};
use crate::error::{Error, Result};

/// libpcap's MAXIMUM_SNAPLEN: what no capture exceeds, and so the sign of a damaged length.
const MAX_CAPTURED: u32 = 262_144;

/// The path that stands for it.
const STANDARD_INPUT: &str = "-";

/// How far apart the writers of capture files let interfaces drift.
const SEVERAL_INTERFACES_WINDOW_NS: i64 = 2_000_000_000;

/// One interface of the capture: the only one of a pcap file, or an Interface Description Block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The section that declares it, from 0.
    pub section: u32,
    /// Its number within that section, from 0.
    pub number: u32,
    /// LINKTYPE_ value.
    pub link_type: u16,
    pub name: Option<String>,
    pub description: Option<String>,
    /// Most bytes kept of a packet; 0 for no limit.
    pub snap_length: u32,
    /// Of its timestamps, such as "10^-9 s" or "2^-10 s".
    pub time_unit: String,
    /// Records read so far.
    pub packets: u64,
}

/// One captured packet.
#[derive(Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its number in file order, from 1.
    pub frame: u64,
    /// Of the record or block in the (decompressed) file, in bytes.
    pub offset: u64,
    /// Since 1970-01-01 00:00:00 UTC, in nanoseconds.
    pub time_ns: i64,
    /// Index into [`Capture::interfaces`].
    pub interface: u32,
    /// LINKTYPE_ value of that interface.
    pub link_type: u16,
    /// Name of that interface, when the file tells it.
    pub interface_name: Option<&'a str>,
    /// Bytes on the wire, of which `data` may be fewer.
    pub wire_length: u32,
    pub data: &'a [u8],
    pub comments: Comments,
}

/// Of a record. Nearly all have none: then this is one word, which is all that is moved with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Comments(
    #[expect(clippy::box_collection, reason = "one word instead of three")]
    Option<Box<Vec<String>>>,
);

impl Comments {
    fn push(&mut self, comment: String) {
        self.0.get_or_insert_default().push(comment);
    }
}

impl FromIterator<String> for Comments {
    fn from_iter<T: IntoIterator<Item = String>>(comments: T) -> Self {
        let comments: Vec<String> = comments.into_iter().collect();
        Comments((!comments.is_empty()).then(|| Box::new(comments)))
    }
}

impl Deref for Comments {
    type Target = [String];

    fn deref(&self) -> &[String] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

/// What a record says beside the bytes of its packet.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    pub number: u64,
    pub offset: u64,
    pub time_ns: i64,
    pub link_type: u16,
    pub interface_name: Option<&'a str>,
    pub wire_length: u32,
    pub captured_length: u32,
    pub comments: &'a [String],
}

impl Record<'_> {
    pub fn frame(&self) -> Frame<'_> {
        Frame {
            number: self.frame,
            offset: self.offset,
            time_ns: self.time_ns,
            link_type: self.link_type,
            interface_name: self.interface_name,
            wire_length: self.wire_length,
            captured_length: u32::try_from(self.data.len()).unwrap_or(u32::MAX),
            comments: &self.comments,
        }
    }
}

/// How a capture is to be read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How long a record may be held back to be put in time order, in nanoseconds; 0 keeps file
    /// order. `None` is 2 s from the moment the file has more than one interface, and 0 before.
    pub reorder_window_ns: Option<i64>,
    /// Whether to read in a thread of its own. `None` is where there is something to decompress:
    /// plain bytes are dissected faster by the processor that copied them into its cache.
    pub prefetch: Option<bool>,
}

/// The next record in the stream, which still has to be taken: `length` bytes
/// of which `data` are the packet.
struct Found {
    time_ns: i64,
    interface: u32,
    wire_length: u32,
    length: usize,
    data: Range<usize>,
    comments: Comments,
}

/// An open capture file.
pub struct Capture {
    name: String,
    stream: Stream,
    parser: Parser,
    compression: Compression,
    bytes_read: Arc<AtomicU64>,
    file_length: Option<u64>,
    options: Options,
    interfaces: Vec<Interface>,
    frames: u64,
    /// Of the first record in the file.
    first_ns: Option<i64>,
    window: Window,
    /// Of the record given out last, if the window had held it.
    lent: Option<Place>,
    /// Nothing more is read from the stream; the fault that ended it is yet to be told.
    ended: bool,
    fault: Option<Fault>,
}

impl Capture {
    /// Opens a file, or standard input as `-`, and checks its header.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read, [`Error::NotACapture`] when it is not a capture
    /// of a known format and version.
    pub fn open(path: &Path, options: &Options) -> Result<Capture> {
        if path == Path::new(STANDARD_INPUT) {
            return Self::from_reader("standard input", Box::new(io::stdin()), options);
        }
        let name = path.display().to_string();
        let open = || -> io::Result<(fs::File, Option<u64>)> {
            let file = fs::File::open(path)?;
            let metadata = file.metadata()?;
            let length = metadata.is_file().then_some(metadata.len());
            Ok((file, length))
        };
        let (file, length) = open().map_err(|source| Error::Io { path: name.clone(), source })?;
        let mut capture = Self::with_block_size(&name, Box::new(file), options, None)?;
        capture.file_length = length;
        Ok(capture)
    }

    /// Reads a capture from elsewhere than a file; `name` stands for the path in errors.
    ///
    /// # Errors
    /// As [`Capture::open`].
    pub fn from_reader(
        name: &str,
        reader: Box<dyn Read + Send>,
        options: &Options,
    ) -> Result<Capture> {
        Self::with_block_size(name, reader, options, None)
    }

    /// As [`Capture::from_reader`], read in blocks of `block_size` bytes: with small ones, what
    /// spans blocks can be tested on small files.
    ///
    /// # Errors
    /// As [`Capture::open`].
    pub fn with_block_size(
        name: &str,
        reader: Box<dyn Read + Send>,
        options: &Options,
        block_size: Option<usize>,
    ) -> Result<Capture> {
        let io_error = |source| Error::Io { path: name.into(), source };
        let (reader, compression, bytes_read) = compression::open(reader).map_err(io_error)?;
        let ahead = options.prefetch.unwrap_or(compression != Compression::None);
        let block_size = block_size.unwrap_or_else(|| Blocks::size(ahead));
        let blocks = Blocks::new(reader, block_size, ahead).map_err(io_error)?;
        let mut stream = Stream::new(blocks, block_size);
        let mut interfaces = Vec::new();
        let parser = match Parser::open(&mut stream, &mut interfaces) {
            Ok(opened) => opened,
            Err(fault) => {
                // A file that cannot be read is not yet a file of the wrong kind.
                if let (Compression::None, Some(source)) = (compression, stream.take_error()) {
                    return Err(io_error(source));
                }
                let Fault { offset, expected, found } = fault;
                return Err(Error::NotACapture { path: name.into(), offset, expected, found });
            }
        };
        Ok(Capture {
            name: name.into(),
            stream,
            parser,
            compression,
            bytes_read,
            file_length: None,
            options: options.clone(),
            interfaces,
            frames: 0,
            first_ns: None,
            window: Window::default(),
            lent: None,
            ended: false,
            fault: None,
        })
    }

    /// The next record in time order, or `None` at the end of the file.
    ///
    /// # Errors
    /// [`Error::Damaged`] once, where the file goes wrong, after all good records before that
    /// place; then `None`.
    // Not an Iterator: the record borrows from the capture, so that nothing is copied.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record<'_>>> {
        if let Parser::Text(_) = self.parser {
            return Err(self.no_packets());
        }
        if let Some(place) = self.lent.take() {
            self.stream.release(&place);
        }
        loop {
            if let Some(held) = self.window.pop(self.stream.is_crowded()) {
                return Ok(Some(self.lend(held)));
            }
            let Some(found) = self.find() else {
                if self.window.is_empty() {
                    return self.end();
                }
                self.window.finish();
                continue;
            };
            let window_ns = self.window_ns();
            if window_ns == 0 && self.window.is_empty() {
                self.window.pass(found.time_ns, self.frames);
                return Ok(Some(found.take(&mut self.stream, &self.interfaces, self.frames)));
            }
            self.window.push(found.hold(&mut self.stream, self.frames), window_ns);
        }
    }

    /// All interfaces declared so far, those of earlier sections first.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    pub fn format(&self) -> Format {
        self.parser.format()
    }

    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// How far the order of the records so far was from that of time.
    pub fn order(&self) -> &Order {
        self.window.order()
    }

    /// Bytes read of the file on disk so far, somewhat ahead of the records given out.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Bytes of the file on disk; `None` for a pipe or another reader without a length.
    pub fn file_length(&self) -> Option<u64> {
        self.file_length
    }

    /// Comments of the sections so far.
    pub fn comments(&self) -> &[String] {
        self.parser.comments()
    }

    /// Packets lost while capturing, by the Interface Statistics Blocks so far: the sum over
    /// interfaces of `isb_ifdrop`, or `isb_osdrop` where only that is told. By the cumulative drops
    /// of a snoop file. `None` where nothing is told.
    pub fn dropped(&self) -> Option<u64> {
        self.parser.dropped()
    }

    #[inline]
    fn window_ns(&self) -> i64 {
        match self.options.reorder_window_ns {
            Some(window_ns) => window_ns.max(0),
            None if self.interfaces.len() > 1 => SEVERAL_INTERFACES_WINDOW_NS,
            None => 0,
        }
    }

    #[inline]
    fn find(&mut self) -> Option<Found> {
        if self.ended {
            return None;
        }
        let found =
            self.parser.find(&mut self.stream, &mut self.interfaces).unwrap_or_else(|fault| {
                self.fault = Some(fault);
                None
            });
        match &found {
            Some(found) => {
                self.frames += 1;
                if self.frames == 1 {
                    self.first_ns = Some(found.time_ns);
                }
                if let Some(interface) = self.interfaces.get_mut(found.interface as usize) {
                    interface.packets += 1;
                }
            }
            None => self.ended = true,
        }
        found
    }

    fn lend(&mut self, held: Held) -> Record<'_> {
        let place = self.lent.insert(held.place);
        let interface = self.interfaces.get(held.interface as usize);
        Record {
            frame: held.frame,
            offset: held.offset,
            time_ns: held.time_ns,
            interface: held.interface,
            link_type: interface.map_or(0, |interface| interface.link_type),
            interface_name: interface.and_then(|interface| interface.name.as_deref()),
            wire_length: held.wire_length,
            data: self.stream.held(place),
            comments: held.comments,
        }
    }

    #[cold]
    fn end(&mut self) -> Result<Option<Record<'_>>> {
        match self.fault.take() {
            Some(Fault { offset, expected, found }) => {
                Err(Error::Damaged { path: self.name.clone(), offset, expected, found })
            }
            None => Ok(None),
        }
    }
}

impl Found {
    #[inline]
    fn take<'a>(
        self,
        stream: &'a mut Stream,
        interfaces: &'a [Interface],
        frame: u64,
    ) -> Record<'a> {
        let interface = interfaces.get(self.interface as usize);
        Record {
            frame,
            offset: stream.offset(),
            time_ns: self.time_ns,
            interface: self.interface,
            link_type: interface.map_or(0, |interface| interface.link_type),
            interface_name: interface.and_then(|interface| interface.name.as_deref()),
            wire_length: self.wire_length,
            data: stream.take(self.length).get(self.data).unwrap_or_default(),
            comments: self.comments,
        }
    }

    fn hold(self, stream: &mut Stream, frame: u64) -> Held {
        Held {
            step: 0,
            time_ns: self.time_ns,
            frame,
            offset: stream.offset(),
            interface: self.interface,
            wire_length: self.wire_length,
            place: stream.hold(self.length, self.data),
            comments: self.comments,
        }
    }
}

fn captured_limit() -> String {
    format!("a captured length of at most {MAX_CAPTURED} bytes")
}
