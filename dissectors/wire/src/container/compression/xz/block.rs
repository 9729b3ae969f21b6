//! A block of an .xz stream (section 3): header, compressed data, padding, check.

use std::io::{self, BufRead, ErrorKind, Read};

use crc_fast::{CrcAlgorithm, Digest};
use lzma_rust2::{Action, FilterConfig, FilterType, Lzma2Stream, Status};
use sha2::{Digest as _, Sha256};

/// Twice what `xz -9` asks of a reader: a file that wants more of it is refused.
const MAX_MEMORY_KIB: u32 = 128 << 10;

/// What a stream checks its blocks with (section 2.1.1.2).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    None,
    Crc32,
    Crc64,
    Sha256,
}

impl Check {
    /// By the flags of a stream's header or footer.
    pub fn of(flags: [u8; 2]) -> io::Result<Self> {
        match flags {
            [0, 0x00] => Ok(Check::None),
            [0, 0x01] => Ok(Check::Crc32),
            [0, 0x04] => Ok(Check::Crc64),
            [0, 0x0a] => Ok(Check::Sha256),
            _ => Err(unknown("a check of another kind")),
        }
    }

    fn size(self) -> usize {
        match self {
            Check::None => 0,
            Check::Crc32 => 4,
            Check::Crc64 => 8,
            Check::Sha256 => 32,
        }
    }
}

/// The sum that a check makes of what is decoded.
enum Sum {
    None,
    Crc(Digest),
    Sha(Sha256),
}

impl Sum {
    fn new(check: Check) -> Self {
        match check {
            Check::None => Sum::None,
            Check::Crc32 => Sum::Crc(Digest::new(CrcAlgorithm::Crc32IsoHdlc)),
            Check::Crc64 => Sum::Crc(Digest::new(CrcAlgorithm::Crc64Xz)),
            Check::Sha256 => Sum::Sha(Sha256::new()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Sum::None => {}
            Sum::Crc(crc) => crc.update(bytes),
            Sum::Sha(sha) => sha.update(bytes),
        }
    }

    /// Whether the block tells the same.
    fn is(&self, told: &[u8]) -> bool {
        match self {
            Sum::None => told.is_empty(),
            // Little-endian, of 4 or 8 bytes.
            Sum::Crc(crc) => crc.finalize().to_le_bytes().starts_with(told),
            Sum::Sha(sha) => sha.clone().finalize().as_slice() == told,
        }
    }
}

pub(super) struct Block {
    lzma: Lzma2Stream,
    sum: Sum,
    check: Check,
    /// Of the header, with its size byte and CRC32.
    header: u64,
    /// Compressed and uncompressed, where the header tells them.
    told: [Option<u64>; 2],
}

impl Block {
    /// By its header from the size byte on, without the CRC32, which has been checked.
    pub fn new(header: &[u8], check: Check) -> io::Result<Self> {
        const RESERVED: u8 = 0x3c;
        let mut fields = header.get(1..).unwrap_or_default();
        let [flags] = array(&mut fields)?;
        if flags & RESERVED != 0 {
            return Err(unknown("a block with flags of another version"));
        }
        let mut told = [None; 2];
        for (size, flag) in told.iter_mut().zip([0x40, 0x80]) {
            if flags & flag != 0 {
                *size = Some(number(&mut fields)?);
            }
        }
        let mut filters = Vec::new();
        for _ in 0..flags & 3 {
            filters.push(filter(&mut fields)?);
        }
        let mut lzma = Lzma2Stream::new_mem_limit(dictionary(&mut fields)?, MAX_MEMORY_KIB);
        lzma.set_filters(&filters)?;
        if fields.iter().any(|byte| *byte != 0) {
            return Err(unknown("a block header with more fields"));
        }
        let header = header.len() as u64 + 4;
        Ok(Block { lzma, sum: Sum::new(check), check, header, told })
    }

    /// Bytes decoded into `buffer`, and whether the compressed data ends with them.
    pub fn decode(
        &mut self,
        source: &mut impl BufRead,
        buffer: &mut [u8],
    ) -> (usize, io::Result<bool>) {
        let input = match source.fill_buf() {
            Ok(input) => input,
            Err(error) => return (0, Err(error)),
        };
        let action = if input.is_empty() { Action::Finish } else { Action::Run };
        let (taken, given) = (self.lzma.total_in(), self.lzma.total_out());
        // Counted from outside, as an error does not say what was decoded before it.
        let result = self.lzma.process(input, buffer, action);
        let taken = (self.lzma.total_in() - taken) as usize;
        let given = (self.lzma.total_out() - given) as usize;
        source.consume(taken);
        self.sum.update(buffer.get(..given).unwrap_or_default());
        let ended = match result {
            Ok(result) => Ok(result.status == Status::StreamEnd),
            Err(error) => Err(error),
        };
        match ended {
            Ok(false) if taken == 0 && given == 0 => (0, Err(ErrorKind::UnexpectedEof.into())),
            ended => (given, ended),
        }
    }

    /// Reads what follows the compressed data. Returns the sizes that the index has to tell:
    /// of header, data and check, and of what was decoded.
    pub fn finish(&self, source: &mut impl Read) -> io::Result<(u64, u64)> {
        let (compressed, uncompressed) = (self.lzma.total_in(), self.lzma.total_out());
        let [told_compressed, told_uncompressed] = self.told;
        if told_compressed.is_some_and(|told| told != compressed)
            || told_uncompressed.is_some_and(|told| told != uncompressed)
        {
            return Err(damaged("a block of another size than its header tells"));
        }
        // At most 3 and at most 32 bytes.
        let padding = (compressed.next_multiple_of(4) - compressed) as usize;
        let mut rest = vec![0; padding + self.check.size()];
        source.read_exact(&mut rest)?;
        let (padding, check) = rest.split_at(padding);
        if padding.iter().any(|byte| *byte != 0) {
            return Err(damaged("padding of a block that is not zero"));
        }
        if !self.sum.is(check) {
            return Err(damaged("another check of a block"));
        }
        Ok((self.header + compressed + check.len() as u64, uncompressed))
    }
}

/// A filter before LZMA2 (section 5.3): Delta, or the branch conversion of a processor.
fn filter(fields: &mut &[u8]) -> io::Result<FilterConfig> {
    let (kind, size) = (number(fields)?, number(fields)?);
    let filter_type =
        FilterType::try_from(kind).map_err(|()| unknown("a filter of another kind"))?;
    let property = match (filter_type, size) {
        (FilterType::Delta, 1) => array::<1>(fields).map(|[less_one]| u32::from(less_one) + 1)?,
        (FilterType::Delta | FilterType::Lzma2, _) => return Err(damaged("a filter out of place")),
        (_, 0) => 0,
        (_, 4) => u32::from_le_bytes(array(fields)?),
        _ => return Err(damaged("a filter with properties of another size")),
    };
    Ok(FilterConfig { filter_type, property })
}

/// The dictionary size of LZMA2 (section 5.3.1), which comes last.
fn dictionary(fields: &mut &[u8]) -> io::Result<u32> {
    const LZMA2: u64 = 0x21;
    let (kind, size, [bits]) = (number(fields)?, number(fields)?, array(fields)?);
    match bits {
        _ if kind != LZMA2 || size != 1 => Err(damaged("a last filter that is not LZMA2")),
        0..40 => Ok((2 | u32::from(bits & 1)) << (bits / 2 + 11)),
        40 => Ok(u32::MAX),
        _ => Err(damaged("a dictionary size beyond 4 GiB")),
    }
}

fn array<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A number of seven bits a byte, the lowest first (section 1.2).
pub(super) fn number(source: &mut impl Read) -> io::Result<u64> {
    const MOST_BYTES: u32 = 9;
    let mut number = 0;
    for place in 0..MOST_BYTES {
        let [byte] = array(source)?;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            // The last byte is zero in no number but 0.
            let is_shortest = byte != 0 || place == 0;
            return if is_shortest {
                Ok(number)
            } else {
                Err(damaged("a number of too many bytes"))
            };
        }
    }
    Err(damaged("a number of too many bytes"))
}

/// What a file must not say, as "found" goes on.
pub(super) fn damaged(found: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, found)
}

fn unknown(found: &str) -> io::Error {
    io::Error::new(ErrorKind::Unsupported, found)
}
