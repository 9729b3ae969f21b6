//! The .xz file format, version 1.2: any number of streams and the padding between them.
//!
//! The crate decodes LZMA2 and the filters before it; streams, blocks and the index are read here,
//! because its own reader remembers every block until the index tells them again, and a file of
//! tiny blocks is made of little else. Here a hash stands for them, as in liblzma.

mod block;

use std::hash::{DefaultHasher, Hasher};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use crc_fast::CrcAlgorithm::Crc32IsoHdlc;

use self::block::{Block, Check, damaged, number};
use super::INPUT_BUFFER;

const MAGIC: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];
const FOOTER_MAGIC: [u8; 2] = *b"YZ";

pub(super) struct Xz<R> {
    source: BufReader<R>,
    state: State,
    check: Check,
    blocks: Sizes,
    /// Told once everything decoded before it has been read.
    error: Option<io::Error>,
}

enum State {
    /// Before the first stream, or after one.
    Outside {
        any: bool,
    },
    /// In a stream, where a block or the index comes.
    Inside,
    Block(Box<Block>),
    Ended,
}

/// Of the blocks of a stream: how many, and what their sizes hash to.
#[derive(Default)]
struct Sizes {
    count: u64,
    hasher: DefaultHasher,
}

impl Sizes {
    fn add(&mut self, unpadded: u64, uncompressed: u64) {
        self.count += 1;
        self.hasher.write_u64(unpadded);
        self.hasher.write_u64(uncompressed);
    }

    fn told(&self) -> (u64, u64) {
        (self.count, self.hasher.finish())
    }
}

impl<R: Read> Xz<R> {
    pub fn new(source: R) -> Self {
        Xz {
            source: BufReader::with_capacity(INPUT_BUFFER, source),
            state: State::Outside { any: false },
            check: Check::None,
            blocks: Sizes::default(),
            error: None,
        }
    }

    /// Bytes decoded into `buffer`; also when the block then goes wrong, which `error` tells.
    fn step(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Outside { any } => {
                let any = *any;
                self.start_stream(any)?;
            }
            State::Inside => self.start_block()?,
            State::Block(block) => match block.decode(&mut self.source, buffer) {
                (given, Ok(false)) => return Ok(given),
                (given, Ok(true)) => {
                    match block.finish(&mut self.source) {
                        Ok((unpadded, uncompressed)) => {
                            self.blocks.add(unpadded, uncompressed);
                            self.state = State::Inside;
                        }
                        Err(error) => self.error = Some(error),
                    }
                    return Ok(given);
                }
                (given, Err(error)) => {
                    self.error = Some(error);
                    return Ok(given);
                }
            },
            State::Ended => {}
        }
        Ok(0)
    }

    fn start_stream(&mut self, any: bool) -> io::Result<()> {
        // Padding between and after streams (section 2.2).
        while any && self.source.fill_buf()?.first() == Some(&0) {
            if self.array::<4>()? != [0; 4] {
                return Err(damaged("padding between streams that is not zero"));
            }
        }
        if any && self.source.fill_buf()?.is_empty() {
            self.state = State::Ended;
            return Ok(());
        }
        if self.array()? != MAGIC {
            return Err(damaged("another magic number where a stream begins"));
        }
        let flags: [u8; 2] = self.array()?;
        self.checked(&flags, "stream header")?;
        self.check = Check::of(flags)?;
        self.blocks = Sizes::default();
        self.state = State::Inside;
        Ok(())
    }

    fn start_block(&mut self) -> io::Result<()> {
        let [size] = self.array()?;
        if size == 0 {
            return self.end_stream();
        }
        // Size byte and CRC32 counted (section 3.1.1).
        let mut header = vec![size; 4 * usize::from(size)];
        self.source.read_exact(header.get_mut(1..).unwrap_or_default())?;
        self.checked(&header, "block header")?;
        self.state = State::Block(Box::new(Block::new(&header, self.check)?));
        Ok(())
    }

    /// The index (section 4) and the footer (section 2.1.2), which must tell what was read.
    fn end_stream(&mut self) -> io::Result<()> {
        let mut index = Recorded { source: &mut self.source, crc: new_crc(), length: 0 };
        index.crc.update(&[0]);
        index.length += 1;
        let (mut told, records) = (Sizes::default(), number(&mut index)?);
        while told.count < records && told.count < self.blocks.count {
            told.add(number(&mut index)?, number(&mut index)?);
        }
        if records != self.blocks.count || told.told() != self.blocks.told() {
            return Err(damaged("an index of other blocks"));
        }
        while !index.length.is_multiple_of(4) {
            let mut padding = [0];
            index.read_exact(&mut padding)?;
            if padding != [0] {
                return Err(damaged("padding of the index that is not zero"));
            }
        }
        // Of 32 bits in a wider type: nothing is cut off.
        let (crc, length) = (index.crc.finalize() as u32, index.length);
        if u32::from_le_bytes(self.array()?) != crc {
            return Err(damaged("another CRC32 of the index"));
        }
        let crc: [u8; 4] = self.array()?;
        let fields: [u8; 6] = self.array()?;
        let [s0, s1, s2, s3, flags @ ..] = fields;
        if u32::from_le_bytes(crc) != crc32(&fields) || self.array()? != FOOTER_MAGIC {
            return Err(damaged("another CRC32 or magic number of the footer"));
        }
        let stated = 4 * (u64::from(u32::from_le_bytes([s0, s1, s2, s3])) + 1);
        if stated != length + 4 || Check::of(flags)? != self.check {
            return Err(damaged("a footer of another stream"));
        }
        self.state = State::Outside { any: true };
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.source.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads the CRC32 that follows `fields`.
    fn checked(&mut self, fields: &[u8], what: &str) -> io::Result<()> {
        if u32::from_le_bytes(self.array()?) == crc32(fields) {
            return Ok(());
        }
        Err(damaged(&format!("another CRC32 of the {what}")))
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    crc_fast::checksum(Crc32IsoHdlc, bytes) as u32
}

fn new_crc() -> crc_fast::Digest {
    crc_fast::Digest::new(Crc32IsoHdlc)
}

/// Counts and sums up what is read of the index.
struct Recorded<'s, R> {
    source: &'s mut R,
    crc: crc_fast::Digest,
    length: u64,
}

impl<R: Read> Read for Recorded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.crc.update(buffer.get(..read).unwrap_or_default());
        self.length += read as u64;
        Ok(read)
    }
}

impl<R: Read> Read for Xz<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !(buffer.is_empty() || matches!(self.state, State::Ended)) {
            let error = match self.error.take() {
                Some(error) => error,
                None => match self.step(buffer) {
                    Ok(0) => continue,
                    Ok(given) => return Ok(given),
                    Err(error) => error,
                },
            };
            // Nothing is decoded after it.
            self.state = State::Ended;
            let what = match error.kind() {
                ErrorKind::UnexpectedEof => "the file ends in a stream".into(),
                _ => error.to_string(),
            };
            return Err(io::Error::new(error.kind(), format!("xz: {what}")));
        }
        Ok(0)
    }
}
