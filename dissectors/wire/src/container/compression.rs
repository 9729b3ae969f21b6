//! Compressed captures, told by their first bytes: gzip (RFC 1952, any number of
//! members), Zstandard, xz and LZ4 in its frame format.

mod gzip;
mod lz4;
mod xz;
mod zstd;

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::gzip::Gzip;
use self::lz4::Lz4;
use self::xz::Xz;
use self::zstd::Zstd;
use super::prefetch::Reader;

/// How the file is compressed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Zstd,
    Xz,
    Lz4,
}

impl Compression {
    /// "gzip"; `None` for a plain file.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Compression::None => None,
            Compression::Gzip => Some("gzip"),
            Compression::Zstd => Some("zstd"),
            Compression::Xz => Some("xz"),
            Compression::Lz4 => Some("lz4"),
        }
    }

    fn of(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // LZ4 has the same skippable frames, but writers put them first in Zstandard files only.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0] => Compression::Xz,
            [0x04, 0x22, 0x4d, 0x18, ..] => Compression::Lz4,
            _ => Compression::None,
        }
    }
}

const MAGIC_LENGTH: usize = 6;
const INPUT_BUFFER: usize = 128 << 10;

/// A reader of the decompressed bytes, and the number of bytes read of the
/// file itself so far, which the reader keeps counting.
pub(super) fn open(mut reader: Reader) -> io::Result<(Reader, Compression, Arc<AtomicU64>)> {
    let mut start = Vec::with_capacity(MAGIC_LENGTH);
    reader.by_ref().take(MAGIC_LENGTH as u64).read_to_end(&mut start)?;
    let compression = Compression::of(&start);
    let count = Arc::new(AtomicU64::new(0));
    let whole = Cursor::new(start).chain(reader);
    let counted = Counted { reader: whole, count: Arc::clone(&count) };
    let reader: Reader = match compression {
        Compression::None => Box::new(counted),
        Compression::Gzip => Box::new(Gzip::new(counted)),
        Compression::Zstd => Box::new(Zstd::new(counted)),
        Compression::Xz => Box::new(Xz::new(counted)),
        Compression::Lz4 => Box::new(Lz4::new(counted)),
    };
    Ok((reader, compression, count))
}

struct Counted<R> {
    reader: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
