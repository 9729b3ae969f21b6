//! The file as one run of bytes: a piece of it can be looked at whole, wherever
//! the borders of the blocks it was read in fall.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use super::prefetch::{Block, Blocks};

/// Where a file goes wrong, and how.
#[derive(Debug)]
pub(super) struct Fault {
    pub offset: u64,
    pub expected: String,
    pub found: String,
}

impl Fault {
    #[cold]
    pub fn new(offset: u64, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Fault { offset, expected: expected.into(), found: found.into() }
    }
}

/// Bytes that are kept in memory together, and how many records in them are held.
#[derive(Default)]
struct Piece {
    /// Counts up in the order of the file.
    number: u64,
    bytes: Vec<u8>,
    held: usize,
}

/// Where a held record's bytes are.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    piece: u64,
    data: (usize, usize),
}

/// Bytes are lent from the current block without copying; only what spans
/// blocks is put together in `carry`, which therefore stays as small as the
/// largest record. Pieces with held records are set aside until those are released.
pub(super) struct Stream {
    blocks: Blocks,
    block_size: usize,
    block: Piece,
    filled: usize,
    position: usize,
    /// Holds what comes before `position` in the file, from `carried` on.
    carry: Piece,
    carried: usize,
    offset: u64,
    /// How the file ended, once its last block is here.
    end: Option<io::Result<()>>,
    pieces: u64,
    /// Ordered by number.
    aside: VecDeque<Piece>,
    aside_bytes: usize,
    /// Blocks that were set aside, to be used again.
    spare: Vec<Vec<u8>>,
}

/// Most bytes set aside before held records have to go.
pub(super) const MAX_ASIDE: usize = 64 << 20;

impl Stream {
    pub fn new(blocks: Blocks, block_size: usize) -> Self {
        Stream {
            blocks,
            block_size,
            block: Piece { bytes: vec![0; block_size], ..Piece::default() },
            filled: 0,
            position: 0,
            carry: Piece::default(),
            carried: 0,
            offset: 0,
            end: None,
            pieces: 0,
            aside: VecDeque::new(),
            aside_bytes: 0,
            spare: Vec::new(),
        }
    }

    /// Of the next byte, from the start of the (decompressed) file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The coming bytes in one piece: at least `wanted`, fewer only when the file ends before.
    #[inline]
    pub fn peek(&mut self, wanted: usize) -> &[u8] {
        if self.is_carrying() || self.filled - self.position < wanted {
            self.assemble(wanted);
        }
        self.view()
    }

    /// The next `length` bytes, which a `peek` has shown, and goes past them.
    #[inline]
    pub fn take(&mut self, length: usize) -> &[u8] {
        let (piece, start) = self.pass(length);
        piece.bytes.get(start..start + length).unwrap_or_default()
    }

    /// Goes past the next `length` bytes and holds the `data` among them until they are released.
    pub fn hold(&mut self, length: usize, data: Range<usize>) -> Place {
        let (piece, start) = self.pass(length);
        piece.held += 1;
        Place { piece: piece.number, data: (start + data.start, start + data.end) }
    }

    /// The bytes of a held record.
    pub fn held(&self, place: &Place) -> &[u8] {
        let piece = if place.piece == self.block.number {
            Some(&self.block)
        } else if place.piece == self.carry.number {
            Some(&self.carry)
        } else {
            self.find_aside(place.piece).and_then(|index| self.aside.get(index))
        };
        piece.and_then(|piece| piece.bytes.get(place.data.0..place.data.1)).unwrap_or_default()
    }

    /// To be called once for what `hold` returned.
    pub fn release(&mut self, place: &Place) {
        if place.piece == self.block.number {
            self.block.held -= 1;
        } else if place.piece == self.carry.number {
            self.carry.held -= 1;
        } else if let Some(index) = self.find_aside(place.piece) {
            self.release_aside(index);
        }
    }

    fn release_aside(&mut self, index: usize) {
        let Some(piece) = self.aside.get_mut(index) else { return };
        piece.held -= 1;
        if piece.held > 0 {
            return;
        }
        let Some(piece) = self.aside.remove(index) else { return };
        self.aside_bytes -= piece.bytes.capacity();
        if piece.bytes.len() == self.block_size {
            self.spare.push(piece.bytes);
        }
    }

    /// Whether held records take so much memory that some have to be released.
    pub fn is_crowded(&self) -> bool {
        self.aside_bytes > MAX_ASIDE
    }

    #[cfg(test)]
    pub fn bytes_aside(&self) -> usize {
        self.aside_bytes
    }

    fn find_aside(&self, number: u64) -> Option<usize> {
        self.aside.binary_search_by_key(&number, |piece| piece.number).ok()
    }

    #[inline]
    fn is_carrying(&self) -> bool {
        self.carried < self.carry.bytes.len()
    }

    #[inline]
    fn pass(&mut self, length: usize) -> (&mut Piece, usize) {
        self.offset += length as u64;
        let (piece, position) = if self.is_carrying() {
            (&mut self.carry, &mut self.carried)
        } else {
            (&mut self.block, &mut self.position)
        };
        let start = *position;
        *position += length;
        (piece, start)
    }

    #[inline]
    fn view(&self) -> &[u8] {
        let view = if self.is_carrying() {
            self.carry.bytes.get(self.carried..)
        } else {
            self.block.bytes.get(self.position..self.filled)
        };
        view.unwrap_or_default()
    }

    #[cold]
    fn assemble(&mut self, wanted: usize) {
        if !self.is_carrying() {
            self.renew_carry();
        }
        loop {
            let rest = self.block.bytes.get(self.position..self.filled).unwrap_or_default();
            let carried = self.carry.bytes.len() - self.carried;
            if carried == 0 && rest.len() >= wanted {
                return;
            }
            let more = rest.len().min(wanted.saturating_sub(carried));
            self.carry.bytes.extend_from_slice(rest.get(..more).unwrap_or_default());
            self.position += more;
            if carried + more >= wanted || !self.next_block() {
                return;
            }
        }
    }

    fn renew_carry(&mut self) {
        self.carried = 0;
        let number = self.next_number();
        let mut spent = std::mem::replace(&mut self.carry, Piece { number, ..Piece::default() });
        if spent.held > 0 {
            self.set_aside(spent);
        } else {
            spent.bytes.clear();
            self.carry.bytes = spent.bytes;
        }
    }

    /// False at the end of the file.
    fn next_block(&mut self) -> bool {
        if self.end.is_some() {
            return false;
        }
        let number = self.next_number();
        let spent = std::mem::replace(&mut self.block, Piece { number, ..Piece::default() });
        let empty = if spent.held > 0 {
            self.set_aside(spent);
            self.spare.pop().unwrap_or_else(|| vec![0; self.block_size])
        } else {
            spent.bytes
        };
        let Block { bytes, filled, end } = self.blocks.next(empty);
        (self.block.bytes, self.filled, self.position, self.end) = (bytes, filled, 0, end);
        true
    }

    fn set_aside(&mut self, piece: Piece) {
        // Capacity, as the carry may once have held something larger.
        self.aside_bytes += piece.bytes.capacity();
        self.aside.push_back(piece);
    }

    fn next_number(&mut self) -> u64 {
        self.pieces += 1;
        self.pieces
    }

    /// The error that ended the file early, if one did and its end has been reached.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.end.take_if(|end| end.is_err()).and_then(Result::err)
    }

    /// To be asked when a `peek` showed nothing: a proper end, or the error that cut the file here?
    pub fn finish(&self) -> Result<(), Fault> {
        match &self.end {
            Some(Err(error)) => Err(self.broken(error)),
            _ => Ok(()),
        }
    }

    /// What to say when a `peek` showed less than `expected`.
    pub fn cut(&self, expected: String) -> Fault {
        if let Some(Err(error)) = &self.end {
            return self.broken(error);
        }
        let found = format!("{} bytes, then end of file", self.view().len());
        Fault::new(self.offset, expected, found)
    }

    fn broken(&self, error: &io::Error) -> Fault {
        let offset = self.offset.saturating_add(self.view().len() as u64);
        Fault::new(offset, "more of the file", error.to_string())
    }
}

/// The two byte orders of a capture file, which its header chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    #[inline]
    pub fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let field = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            ByteOrder::Little => u16::from_le_bytes(field),
            ByteOrder::Big => u16::from_be_bytes(field),
        })
    }

    #[inline]
    pub fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let field = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            ByteOrder::Little => u32::from_le_bytes(field),
            ByteOrder::Big => u32::from_be_bytes(field),
        })
    }

    /// An option value of exactly eight bytes.
    pub fn u64(self, bytes: &[u8]) -> Option<u64> {
        let field = bytes.try_into().ok()?;
        Some(match self {
            ByteOrder::Little => u64::from_le_bytes(field),
            ByteOrder::Big => u64::from_be_bytes(field),
        })
    }
}
