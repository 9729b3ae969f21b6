//! gzip (RFC 1952): any number of members.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::{Decompress, FlushDecompress, Status};

use super::INPUT_BUFFER;

/// The largest window of deflate (RFC 1951), as a power of two.
const WINDOW_BITS: u8 = 15;

/// Decodes between buffers rather than with the crate's reader, which gives nothing of a whole
/// buffer in which the file goes wrong.
pub(super) struct Gzip<R> {
    source: BufReader<R>,
    /// `None` between members.
    member: Option<Decompress>,
    /// Told once everything decoded before it has been read.
    error: Option<io::Error>,
}

impl<R: Read> Gzip<R> {
    pub fn new(source: R) -> Self {
        let source = BufReader::with_capacity(INPUT_BUFFER, source);
        Gzip { source, member: Some(Decompress::new_gzip(WINDOW_BITS)), error: None }
    }

    /// Bytes decoded into `buffer`; also when the member then goes wrong, which `error` tells.
    fn step(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let input = self.source.fill_buf()?;
        let member = self.member.get_or_insert_with(|| Decompress::new_gzip(WINDOW_BITS));
        let (taken, given) = (member.total_in(), member.total_out());
        let result = member.decompress(input, buffer, FlushDecompress::None);
        let taken = (member.total_in() - taken) as usize;
        let given = (member.total_out() - given) as usize;
        match result {
            Ok(Status::StreamEnd) => self.member = None,
            Ok(_) if taken == 0 && given == 0 => {
                self.error = Some(ErrorKind::UnexpectedEof.into());
            }
            Ok(_) => {}
            // The decoder's own words depend on how much it was given at a time.
            Err(_) => {
                let what = "damaged data, or not what their checksum tells";
                self.error = Some(io::Error::new(ErrorKind::InvalidData, what));
            }
        }
        self.source.consume(taken);
        Ok(given)
    }
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if let Some(error) = self.error.take() {
                return Err(io::Error::new(error.kind(), format!("gzip: {error}")));
            }
            if self.member.is_none() && self.source.fill_buf()?.is_empty() {
                break;
            }
            match self.step(buffer)? {
                0 => {}
                given => return Ok(given),
            }
        }
        Ok(0)
    }
}
