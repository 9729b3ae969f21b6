//! Compressed captures: gzip (RFC 1952, any number of members) and Zstandard
//! (RFC 8878, any number of frames), told by their first bytes.

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::prefetch::Reader;

/// How the file is compressed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Zstd,
}

const MAGIC_LENGTH: usize = 4;
const INPUT_BUFFER: usize = 128 << 10;

/// A reader of the decompressed bytes, and the number of bytes read of the
/// file itself so far, which the reader keeps counting.
pub(super) fn open(mut reader: Reader) -> io::Result<(Reader, Compression, Arc<AtomicU64>)> {
    let mut start = Vec::with_capacity(MAGIC_LENGTH);
    reader.by_ref().take(MAGIC_LENGTH as u64).read_to_end(&mut start)?;
    let compression = match start.as_slice() {
        [0x1f, 0x8b, ..] => Compression::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Compression::Zstd,
        _ => Compression::None,
    };
    let count = Arc::new(AtomicU64::new(0));
    let whole = Cursor::new(start).chain(reader);
    let counted = Counted { reader: whole, count: Arc::clone(&count) };
    let reader: Reader = match compression {
        Compression::None => Box::new(counted),
        Compression::Gzip => {
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(INPUT_BUFFER, counted)))
        }
        Compression::Zstd => Box::new(Zstd::new(counted)),
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

/// Decodes frame after frame, passing over skippable ones.
struct Zstd<R> {
    source: BufReader<R>,
    decoder: FrameDecoder,
    in_frame: bool,
    /// Told once everything decoded before it has been read.
    error: Option<FrameDecoderError>,
}

impl<R: Read> Zstd<R> {
    fn new(source: R) -> Self {
        let source = BufReader::with_capacity(INPUT_BUFFER, source);
        Zstd { source, decoder: FrameDecoder::new(), in_frame: false, error: None }
    }

    fn decode_block(&mut self) {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        if let Err(error) = self.decoder.decode_blocks(&mut self.source, one) {
            self.error = Some(error);
            // The decoder keeps a window of good bytes until its frame ends. An empty last block
            // (and a checksum, not looked at) ends it, so that those bytes are not lost.
            let ending: &[u8] = &[1, 0, 0, 0, 0, 0, 0];
            if let Err(error) = self.decoder.decode_blocks(ending, BlockDecodingStrategy::All) {
                self.error = Some(error);
                self.in_frame = false;
            }
        }
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.in_frame = false;
        if let Some(error) = self.error.take() {
            return Err(damaged(error));
        }
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(told), Some(counted)) if told != counted => Err(io::Error::new(
                ErrorKind::InvalidData,
                format!("zstd: checksum {counted:#010x} where the frame says {told:#010x}"),
            )),
            _ => Ok(()),
        }
    }

    fn start_frame(&mut self) -> io::Result<()> {
        match self.decoder.reset(&mut self.source) {
            Ok(()) => {
                self.in_frame = true;
                Ok(())
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let length = u64::from(length);
                let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
                if skipped == length { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
            }
            Err(error) => Err(damaged(error)),
        }
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.in_frame && self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.in_frame && !self.decoder.is_finished() {
                self.decode_block();
            } else if self.in_frame || self.error.is_some() {
                self.end_frame()?;
            } else if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            } else {
                self.start_frame()?;
            }
        }
    }
}

fn damaged(error: FrameDecoderError) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("zstd: {error}"))
}
