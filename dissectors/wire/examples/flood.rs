//! Writes a capture that is made to fill memory, the same bytes every time.
//!
//!     cargo run --release --package pathscope-wire --example flood -- init --packets 10000000 --output flood.pcap
//!
//! | kind | what is in it |
//! |---|---|
//! | init | INITs from ever new addresses, never answered |
//! | tags | DATA with ever new verification tags |
//! | refused | INITs from ever new addresses, each answered with ABORT |
//! | clock | one association whose packets are a second apart |
//! | moves | one association whose DATA change the path with every packet |
//! | cookies | one association whose packets are full of COOKIE ACKs |

use std::fs::File;
use std::io::{self, BufWriter, Write};

const USAGE: &str = "usage: flood init|tags|refused|clock|moves|cookies --packets N --output FILE";

/// RFC 9260 section 3.2: types of the chunks used here.
const DATA: u8 = 0;
const INIT: u8 = 1;
const ABORT: u8 = 6;
const COOKIE_ACK: u8 = 11;

const SERVER: [u8; 4] = [10, 0, 0, 1];
const PORTS: [u16; 2] = [40_000, 5000];
const MICROSECOND: u64 = 1;
const SECOND: u64 = 1_000_000;
/// COOKIE ACKs in one packet of `cookies`.
const COOKIES: usize = 350;

fn chunk(kind: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind, 3];
    bytes.extend((value.len() as u16 + 4).to_be_bytes());
    bytes.extend(value);
    bytes
}

fn init(tag: u32) -> Vec<u8> {
    chunk(INIT, &[tag, 65_536, 10 << 16 | 10, 1].map(u32::to_be_bytes).concat())
}

fn data(tsn: u32) -> Vec<u8> {
    chunk(DATA, &[tsn, 0, 0, 0].map(u32::to_be_bytes).concat())
}

/// A client's address and tag: a new one for every number below 2^24.
fn client(number: u64) -> ([u8; 4], u32) {
    let [_, a, b, c] = (number as u32).to_be_bytes();
    ([11, a, b, c], (number as u32).wrapping_mul(0x9e37_79b1) | 1)
}

/// A classic pcap file of raw IPv4, with microseconds.
struct Capture<W> {
    out: W,
    elapsed_us: u64,
    step_us: u64,
    id: u16,
}

impl<W: Write> Capture<W> {
    fn new(mut out: W, step_us: u64) -> io::Result<Self> {
        for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 101] {
            out.write_all(&word.to_le_bytes())?;
        }
        Ok(Capture { out, elapsed_us: 0, step_us, id: 0 })
    }

    fn packet(
        &mut self,
        ends: [[u8; 4]; 2],
        ports: [u16; 2],
        tag: u32,
        chunks: &[u8],
    ) -> io::Result<()> {
        let mut sctp: Vec<u8> = ports.map(u16::to_be_bytes).concat();
        sctp.extend(tag.to_be_bytes());
        sctp.extend([0; 4]);
        sctp.extend(chunks);
        let checksum = crc_fast::crc32_iscsi(&sctp);
        sctp[8..12].copy_from_slice(&checksum.to_le_bytes());

        let length = 20 + sctp.len() as u32;
        let [seconds, rest] = [self.elapsed_us / SECOND, self.elapsed_us % SECOND];
        for word in [1_750_000_000 + seconds as u32, rest as u32, length, length] {
            self.out.write_all(&word.to_le_bytes())?;
        }
        self.elapsed_us += self.step_us;
        self.id = self.id.wrapping_add(1);
        self.out.write_all(&[0x45, 0])?;
        self.out.write_all(&[length as u16, self.id, 0x4000].map(u16::to_be_bytes).concat())?;
        self.out.write_all(&[64, 132, 0, 0])?;
        self.out.write_all(&ends.concat())?;
        self.out.write_all(&sctp)
    }
}

fn flood<W: Write>(kind: &str, packets: u64, out: W) -> Result<W, Box<dyn std::error::Error>> {
    let step_us = if kind == "clock" { SECOND } else { MICROSECOND };
    let mut capture = Capture::new(out, step_us)?;
    let back = [PORTS[1], PORTS[0]];
    let cookies = chunk(COOKIE_ACK, &[]).repeat(COOKIES);
    for number in 0..packets {
        let (address, tag) = client(number);
        let here = client(0).0;
        match kind {
            "init" => capture.packet([address, SERVER], PORTS, 0, &init(tag))?,
            "tags" => capture.packet([address, SERVER], PORTS, tag, &data(1))?,
            "refused" => {
                let (address, tag) = client(number / 2);
                match number % 2 {
                    0 => capture.packet([address, SERVER], PORTS, 0, &init(tag))?,
                    _ => capture.packet([SERVER, address], back, tag, &chunk(ABORT, &[]))?,
                }
            }
            "clock" => capture.packet([here, SERVER], PORTS, 1, &data(number as u32))?,
            "moves" => {
                let path = [10, 0, 0, 2 + (number % 2) as u8];
                capture.packet([path, SERVER], PORTS, 1, &data(number as u32))?;
            }
            "cookies" => capture.packet([here, SERVER], PORTS, 1, &cookies)?,
            _ => return Err(USAGE.into()),
        }
    }
    Ok(capture.out)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().ok_or(USAGE)?;
    let (mut packets, mut output) = (None, None);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match name.as_str() {
            "--packets" => packets = Some(value.parse::<u64>()?),
            "--output" => output = Some(value),
            _ => return Err(USAGE.into()),
        }
    }
    let file = BufWriter::with_capacity(1 << 20, File::create(output.ok_or(USAGE)?)?);
    flood(&kind, packets.ok_or(USAGE)?, file)?.flush()?;
    Ok(())
}
