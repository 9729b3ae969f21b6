//! Zstandard (RFC 8878): any number of frames.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::INPUT_BUFFER;

/// Decodes frame after frame, passing over skippable ones.
pub(super) struct Zstd<R> {
    source: BufReader<R>,
    decoder: FrameDecoder,
    in_frame: bool,
    /// Told once everything decoded before it has been read.
    error: Option<FrameDecoderError>,
}

impl<R: Read> Zstd<R> {
    pub fn new(source: R) -> Self {
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
