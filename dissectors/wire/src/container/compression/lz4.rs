//! The LZ4 frame format, version 1.6: any number of frames, skippable ones passed over.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use lz4_flex::frame::{Error, FrameDecoder};

use super::INPUT_BUFFER;

pub(super) struct Lz4<R: Read> {
    /// One a frame, as it does not expect blocks of another size in a later one.
    /// `None` only while the next one is made.
    decoder: Option<FrameDecoder<Source<R>>>,
}

/// Remembers that its end has been met, which the decoder takes for that of a frame, and keeps
/// what was looked at ahead of the decoder.
struct Source<R> {
    ahead: Vec<u8>,
    reader: BufReader<R>,
    ended: bool,
}

/// The largest block of the format: 4 MiB.
const MAX_BLOCK: u32 = 4 << 20;
/// The bit of a block's size that tells that it is not compressed.
const NOT_COMPRESSED: u32 = 1 << 31;

impl<R: Read> Source<R> {
    fn new(source: R) -> Self {
        let reader = BufReader::with_capacity(INPUT_BUFFER, source);
        Source { ahead: Vec::new(), reader, ended: false }
    }

    /// Whether the size of a block comes next. What the decoder gives of an empty block is as
    /// little as at the end of a frame. But there the file ends, too, or the magic of another frame
    /// follows, which is larger than any block.
    fn is_at_block(&mut self) -> io::Result<bool> {
        self.reader.by_ref().take(4).read_to_end(&mut self.ahead)?;
        let size = self.ahead.first_chunk().map(|size| u32::from_le_bytes(*size));
        Ok(size.is_some_and(|size| size & !NOT_COMPRESSED <= MAX_BLOCK))
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.ahead.is_empty() && !buffer.is_empty() {
            let read = self.ahead.as_slice().read(buffer)?;
            self.ahead.drain(..read);
            return Ok(read);
        }
        let read = self.reader.read(buffer)?;
        self.ended |= read == 0 && !buffer.is_empty();
        Ok(read)
    }
}

impl<R: Read> Lz4<R> {
    pub fn new(source: R) -> Self {
        Lz4 { decoder: Some(FrameDecoder::new(Source::new(source))) }
    }

    /// False at the end of the file.
    fn next_frame(&mut self, skipped: u64) -> io::Result<bool> {
        let Some(mut decoder) = self.decoder.take() else { return Ok(false) };
        let source = decoder.get_mut();
        if io::copy(&mut source.by_ref().take(skipped), &mut io::sink())? < skipped || source.ended
        {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let more = !(source.ahead.is_empty() && source.reader.fill_buf()?.is_empty());
        if !more && is_in_frame(&mut decoder) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.decoder = Some(FrameDecoder::new(decoder.into_inner()));
        Ok(more)
    }
}

/// Whether a decoder at the end of the file waits for a block, after an empty one: it does not say,
/// but outside a frame it takes zeros for a wrong magic, and inside for the mark that ends it.
fn is_in_frame<R: Read>(decoder: &mut FrameDecoder<Source<R>>) -> bool {
    const MAGIC_AND_DESCRIPTOR: usize = 7;
    decoder.get_mut().ahead = vec![0; MAGIC_AND_DESCRIPTOR];
    let error = decoder.read(&mut [0]).err();
    !matches!(error.as_ref().and_then(of_frame), Some(Error::WrongMagicNumber))
}

impl<R: Read> Read for Lz4<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = self.decoder.as_mut().filter(|_| !buffer.is_empty()) {
            let skipped = match decoder.read(buffer) {
                Ok(0) => match decoder.get_mut().is_at_block() {
                    Ok(true) => continue,
                    Ok(false) => 0,
                    Err(error) => return Err(damaged(&error)),
                },
                Ok(read) => return Ok(read),
                Err(error) => match skippable(&error) {
                    Some(length) => length,
                    None => return Err(damaged(&error)),
                },
            };
            if !self.next_frame(skipped).map_err(|error| damaged(&error))? {
                break;
            }
        }
        Ok(0)
    }
}

/// The length of what the decoder, having read its header, refuses as a skippable frame.
fn skippable(error: &io::Error) -> Option<u64> {
    match of_frame(error)? {
        Error::SkippableFrame(length) => Some(u64::from(*length)),
        _ => None,
    }
}

fn of_frame(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

fn damaged(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("lz4: {error}"))
}
