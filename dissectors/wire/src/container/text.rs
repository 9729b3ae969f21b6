//! Lines of a text file, for the traces of simulators.

use memchr::memchr;

use super::Capture;
use super::format::Parser;
use super::stream::{Fault, Stream};
use crate::error::{Error, Result};

/// Far more than any line of a trace has.
const MAX_LINE: usize = 64 << 10;
/// Enough of a file to tell a trace by its first lines.
const START: usize = 4 << 10;

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLine<'a> {
    /// From 1.
    pub number: u64,
    /// Of its first byte in the (decompressed) file.
    pub offset: u64,
    /// Without what ends it.
    pub bytes: &'a [u8],
}

/// First lines that are looked at: others, such as movements, may stand before the first packet's.
const LINES: usize = 32;
/// Bytes looked at beyond what holds no newline.
const AHEAD: usize = 256;

/// Whether a line is an event of a packet, by its first two columns: `+ 0.5`, `r -t 0.5`.
fn is_event(line: &[u8]) -> bool {
    let [event, b' ', rest @ ..] = line else { return false };
    let rest = rest.strip_prefix(b"-t ").unwrap_or(rest);
    b"+-rdhsf".contains(event) && rest.first().is_some_and(u8::is_ascii_digit)
}

pub(super) struct Text;

impl Text {
    pub fn is_trace(stream: &mut Stream) -> bool {
        let start = stream.peek(START);
        let start = start.get(..START).unwrap_or(start);
        start.split(|byte| *byte == b'\n').take(LINES).any(is_event)
    }

    /// Bytes of the next line with its newline, or `None` at the end of the file.
    pub fn find(&mut self, stream: &mut Stream) -> std::result::Result<Option<usize>, Fault> {
        let mut searched = 0;
        let mut wanted = 1;
        loop {
            let view = stream.peek(wanted);
            let new = view.get(searched..).unwrap_or_default();
            let end = memchr(b'\n', new).map(|end| searched + end);
            let length = end.unwrap_or(view.len());
            if length > MAX_LINE {
                let expected = format!("a line of at most {MAX_LINE} bytes");
                return Err(Fault::new(stream.offset(), expected, "a longer one"));
            }
            if let Some(end) = end {
                return Ok(Some(end + 1));
            }
            if length == 0 {
                return stream.finish().map(|()| None);
            }
            if length < wanted {
                return Err(stream.cut("a line that ends with a newline".into()));
            }
            searched = length;
            wanted = length + AHEAD;
        }
    }
}

impl Capture {
    /// Whether the file is a simulator's trace: lines instead of records.
    pub fn is_trace(&self) -> bool {
        matches!(self.parser, Parser::Text(_))
    }

    /// The next line of a trace, or `None` at its end.
    ///
    /// # Errors
    /// [`Error::Damaged`] once, where the file goes wrong: it ends within a line, or is no text.
    pub fn line(&mut self) -> Result<Option<TextLine<'_>>> {
        let (Parser::Text(text), false) = (&mut self.parser, self.ended) else { return Ok(None) };
        match text.find(&mut self.stream) {
            Ok(Some(length)) => {
                self.frames += 1;
                let offset = self.stream.offset();
                let bytes = content(self.stream.take(length));
                Ok(Some(TextLine { number: self.frames, offset, bytes }))
            }
            Ok(None) => {
                self.ended = true;
                Ok(None)
            }
            Err(Fault { offset, expected, found }) => {
                self.ended = true;
                Err(Error::Damaged { path: self.name.clone(), offset, expected, found })
            }
        }
    }

    #[cold]
    pub(super) fn no_packets(&self) -> Error {
        Error::Usage(format!("{}: a simulator's trace holds no bytes of packets", self.name))
    }
}

/// A line without what ends it, on whatever system it was written.
fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
