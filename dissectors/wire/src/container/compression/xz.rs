//! The .xz file format, version 1.2: any number of streams and the padding between them.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use lzma_rust2::{Action, Status, XzStream};

use super::INPUT_BUFFER;

/// Twice what `xz -9` asks of a reader: a file that wants more of it is refused.
const MAX_MEMORY_KIB: u32 = 128 << 10;

pub(super) struct Xz<R> {
    source: BufReader<R>,
    /// The crate's decoder between buffers rather than its reader, which gives
    /// nothing of a whole buffer in which the file goes wrong.
    stream: XzStream,
    /// Told once everything decoded before it has been read.
    error: Option<io::Error>,
    ended: bool,
}

impl<R: Read> Xz<R> {
    pub fn new(source: R) -> Self {
        Xz {
            source: BufReader::with_capacity(INPUT_BUFFER, source),
            stream: XzStream::new_mem_limit(true, MAX_MEMORY_KIB),
            error: None,
            ended: false,
        }
    }

    /// Bytes taken and given by one step of the decoder, which also a failing one counts.
    fn step(&mut self, buffer: &mut [u8]) -> io::Result<(usize, usize)> {
        let input = self.source.fill_buf()?;
        let action = if input.is_empty() { Action::Finish } else { Action::Run };
        let (taken, given) = (self.stream.total_in(), self.stream.total_out());
        match self.stream.process(input, buffer, action) {
            Ok(result) => self.ended = result.status == Status::StreamEnd,
            Err(error) => self.error = Some(error),
        }
        let taken = (self.stream.total_in() - taken) as usize;
        let given = (self.stream.total_out() - given) as usize;
        self.source.consume(taken);
        Ok((taken, given))
    }
}

impl<R: Read> Read for Xz<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !(self.ended || buffer.is_empty()) {
            if let Some(error) = self.error.take() {
                return Err(io::Error::new(error.kind(), format!("xz: {error}")));
            }
            let (taken, given) = self.step(buffer)?;
            if given > 0 {
                return Ok(given);
            }
            if taken == 0 && !self.ended && self.error.is_none() {
                return Err(io::Error::new(ErrorKind::InvalidData, "xz: nothing left to decode"));
            }
        }
        Ok(0)
    }
}
