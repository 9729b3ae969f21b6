//! Some frames as the tracking half needs them, without the bytes that only the
//! reading half looks at: of user data nothing, so that little has to cross from
//! one processor to the other.

use super::front::{Listener, Nothing, Transport};
use crate::address::Address;
use crate::container::Frame;
use crate::digest::Digests;
use crate::packet::bytes::clamp;
use crate::packet::{Datagram, Source};
use crate::problem::Problem;
use crate::sctp::{Chunk, CommonHeader, Verdict, chunk, data};
use crate::track::flow::Sight;
use crate::track::{Moment, Seen};
use crate::{tcp, udp};

/// Frames in a batch, and bytes after which it is full before that: it is to stay in a cache.
const FRAMES: usize = if cfg!(test) { 4 } else { 1024 };
const BYTES: usize = 256 << 10;

/// Names of interfaces looked at for one that is already there; a capture alternates between few.
const NAMES: usize = 8;

/// One table a kind of thing; those of a frame are the next ones of each when its turn comes.
#[derive(Default)]
pub struct Batch {
    frames: Vec<KeptFrame>,
    packets: Vec<KeptPacket>,
    chunks: Vec<KeptChunk>,
    datagrams: Vec<KeptDatagram>,
    /// One a packet and datagram, where somebody asks for them.
    digests: Vec<Digests>,
    nothings: Vec<Nothing>,
    problems: Vec<Problem>,
    comments: Vec<String>,
    names: Vec<String>,
    bytes: Vec<u8>,
    told: Told,
}

/// How many of each have been told again.
#[derive(Default)]
struct Told {
    frames: usize,
    packets: usize,
    chunks: usize,
    datagrams: usize,
    digests: usize,
    nothings: usize,
    problems: usize,
    comments: usize,
}

struct KeptFrame {
    number: u64,
    offset: u64,
    time_ns: i64,
    wire_length: u32,
    captured_length: u32,
    comments: u32,
    link_type: u16,
    /// Its place in `names` and one more; 0 for none.
    name: u16,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Sctp,
    Flow,
    Nothing,
}

struct KeptPacket {
    source: Address,
    destination: Address,
    header: CommonHeader,
    verdict: Verdict,
    length: u32,
    offset: u32,
    chunks: u32,
    ip_id: Option<u16>,
    udp: Option<(u16, u16)>,
    sets_up: bool,
    /// After its chunks.
    has_problem: bool,
}

struct KeptChunk {
    offset: u32,
    /// Of its value in `bytes`.
    start: u32,
    kept: u16,
    length: u16,
    kind: u8,
    flags: u8,
    truncated: bool,
}

struct KeptDatagram {
    source: Address,
    destination: Address,
    ip_id: Option<u16>,
    transport: Transport,
    is_cut: bool,
    offset: u32,
    length: u32,
    crc32c: u32,
    /// In `bytes`.
    start: u32,
    kept: u32,
}

impl Batch {
    pub fn is_full(&self) -> bool {
        let lists = self.chunks.len() * size_of::<KeptChunk>() + self.bytes.len();
        self.frames.len() >= FRAMES || lists >= BYTES
    }

    /// Whether every frame has been told again.
    pub fn is_told(&self) -> bool {
        self.told.frames == self.frames.len()
    }

    pub fn clear(&mut self) {
        self.frames.clear();
        self.packets.clear();
        self.chunks.clear();
        self.datagrams.clear();
        self.digests.clear();
        self.nothings.clear();
        self.problems.clear();
        self.comments.clear();
        self.names.clear();
        // One large chunk must not make every batch large for ever.
        self.chunks.shrink_to(BYTES / size_of::<KeptChunk>());
        self.bytes.clear();
        self.bytes.shrink_to(2 * BYTES);
        self.told = Told::default();
    }

    #[inline]
    fn push(&mut self, frame: &Frame<'_>, what: What) {
        self.comments.extend(frame.comments.iter().cloned());
        let name = frame.interface_name.map_or(0, |name| self.name(name));
        self.frames.push(KeptFrame {
            number: frame.number,
            offset: frame.offset,
            time_ns: frame.time_ns,
            wire_length: frame.wire_length,
            captured_length: frame.captured_length,
            comments: clamp(frame.comments.len()),
            link_type: frame.link_type,
            name,
            what,
        });
    }

    /// A batch has fewer frames than 16 bits can count, and so fewer names.
    fn name(&mut self, name: &str) -> u16 {
        let known = self.names.iter().rev().take(NAMES).position(|known| known == name);
        let index = match known {
            Some(back) => self.names.len() - 1 - back,
            None => {
                self.names.push(name.to_string());
                self.names.len() - 1
            }
        };
        u16::try_from(index + 1).unwrap_or(0)
    }

    /// Where bytes that are kept begin. A batch is full long before that passes 32 bits.
    #[inline]
    fn keep(&mut self, bytes: &[u8]) -> u32 {
        let start = clamp(self.bytes.len());
        self.bytes.extend_from_slice(bytes);
        start
    }

    /// Tells of up to `most` frames that were not told before; returns of how many.
    #[inline]
    pub fn replay(&mut self, most: usize, to: &mut impl Listener) -> usize {
        let Batch { frames, names, bytes, told, .. } = self;
        let before = told.frames;
        let frames = frames.iter().skip(before).take(most);
        for kept in frames {
            told.frames += 1;
            let name = usize::from(kept.name).checked_sub(1).and_then(|index| names.get(index));
            let frame = Frame {
                number: kept.number,
                offset: kept.offset,
                time_ns: kept.time_ns,
                link_type: kept.link_type,
                interface_name: name.map(String::as_str),
                wire_length: kept.wire_length,
                captured_length: kept.captured_length,
                comments: next(&self.comments, &mut told.comments, kept.comments),
            };
            if !matches!(kept.what, What::Nothing) {
                for digests in next(&self.digests, &mut told.digests, 1) {
                    to.digests(*digests);
                }
            }
            match kept.what {
                What::Sctp => {
                    for packet in next(&self.packets, &mut told.packets, 1) {
                        let problem = u32::from(packet.has_problem);
                        let chunks = KeptChunks {
                            chunks: next(&self.chunks, &mut told.chunks, packet.chunks).iter(),
                            problem: next(&self.problems, &mut told.problems, problem).first(),
                            bytes,
                        };
                        to.sctp(&frame, &packet.seen(&frame), packet.offset, chunks);
                    }
                }
                What::Flow => {
                    for kept in next(&self.datagrams, &mut told.datagrams, 1) {
                        let datagram = kept.datagram(bytes);
                        to.flow(&frame, kept.transport, &kept.sight(&frame, &datagram));
                    }
                }
                What::Nothing => {
                    for nothing in next(&self.nothings, &mut told.nothings, 1) {
                        to.nothing(&frame, nothing.clone());
                    }
                }
            }
        }
        told.frames - before
    }
}

/// The next `count` things of a list, of which `told` have been told.
#[inline]
fn next<'a, T>(list: &'a [T], told: &mut usize, count: u32) -> &'a [T] {
    let start = *told;
    *told = start.saturating_add(count as usize);
    list.get(start..*told).unwrap_or_default()
}

impl KeptPacket {
    #[inline]
    fn seen<'a>(&self, frame: &Frame<'a>) -> Seen<'a> {
        Seen {
            moment: Moment { time_ns: frame.time_ns, frame: frame.number },
            wire_bytes: frame.wire_length,
            interface: frame.interface_name,
            source: self.source,
            destination: self.destination,
            ip_id: self.ip_id,
            udp: self.udp,
            length: self.length,
            header: self.header,
            verdict: self.verdict,
            sets_up: self.sets_up,
        }
    }
}

impl KeptDatagram {
    fn datagram<'a>(&self, bytes: &'a [u8]) -> Datagram<'a> {
        Datagram {
            source: self.source,
            destination: self.destination,
            ip_id: self.ip_id,
            bytes: part(bytes, self.start, self.kept as usize),
            offset: self.offset,
            length: self.length,
        }
    }

    fn sight<'a>(&self, frame: &Frame<'a>, datagram: &'a Datagram<'a>) -> Sight<'a> {
        Sight {
            moment: Moment { time_ns: frame.time_ns, frame: frame.number },
            wire_bytes: frame.wire_length,
            interface: frame.interface_name,
            datagram,
            crc32c: self.crc32c,
            is_cut: self.is_cut,
        }
    }
}

/// The chunks of one packet, and what is wrong after them.
#[derive(Clone)]
struct KeptChunks<'b> {
    chunks: std::slice::Iter<'b, KeptChunk>,
    problem: Option<&'b Problem>,
    bytes: &'b [u8],
}

impl<'b> Iterator for KeptChunks<'b> {
    type Item = Result<Chunk<'b>, Problem>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let Some(kept) = self.chunks.next() else {
            return self.problem.take().map(|problem| Err(problem.clone()));
        };
        Some(Ok(Chunk {
            offset: kept.offset,
            kind: kept.kind,
            flags: kept.flags,
            length: kept.length,
            value: part(self.bytes, kept.start, usize::from(kept.kept)),
            truncated: kept.truncated,
        }))
    }
}

#[inline]
fn part(bytes: &[u8], start: u32, length: usize) -> &[u8] {
    let start = start as usize;
    bytes.get(start..start.saturating_add(length)).unwrap_or_default()
}

impl Listener for Batch {
    fn digests(&mut self, digests: Digests) {
        self.digests.push(digests);
    }

    #[inline]
    fn sctp<'p>(
        &mut self,
        frame: &Frame<'_>,
        seen: &Seen<'_>,
        offset: u32,
        chunks: impl Iterator<Item = Result<Chunk<'p>, Problem>> + Clone,
    ) {
        self.push(frame, What::Sctp);
        let (before, mut has_problem) = (self.chunks.len(), false);
        for chunk in chunks {
            match chunk {
                Ok(chunk) => {
                    let needed = needed(&chunk);
                    let start = self.keep(needed);
                    self.chunks.push(KeptChunk {
                        offset: chunk.offset,
                        start,
                        // A chunk's length is a field of 16 bits.
                        kept: u16::try_from(needed.len()).unwrap_or(u16::MAX),
                        length: chunk.length,
                        kind: chunk.kind,
                        flags: chunk.flags,
                        truncated: chunk.truncated,
                    });
                }
                Err(problem) => {
                    self.problems.push(problem);
                    has_problem = true;
                    break;
                }
            }
        }
        self.packets.push(KeptPacket {
            source: seen.source,
            destination: seen.destination,
            header: seen.header,
            verdict: seen.verdict,
            length: seen.length,
            offset,
            chunks: clamp(self.chunks.len() - before),
            ip_id: seen.ip_id,
            udp: seen.udp,
            sets_up: seen.sets_up,
            has_problem,
        });
    }

    /// Only an index asks for them, and it is made where the capture is read.
    fn pieces(&mut self, _: &[Source]) {}

    fn flow(&mut self, frame: &Frame<'_>, transport: Transport, sight: &Sight<'_>) {
        self.push(frame, What::Flow);
        let datagram = sight.datagram;
        let most = match transport {
            Transport::Tcp => tcp::MOST_HEADER,
            Transport::Udp => udp::HEADER + udp::Ditg::HEADER.max(udp::Rtp::HEADER),
            Transport::Icmp => usize::MAX,
        };
        let needed = datagram.bytes.get(..most).unwrap_or(datagram.bytes);
        let start = self.keep(needed);
        self.datagrams.push(KeptDatagram {
            source: datagram.source,
            destination: datagram.destination,
            ip_id: datagram.ip_id,
            transport,
            is_cut: sight.is_cut,
            offset: datagram.offset,
            length: datagram.length,
            crc32c: sight.crc32c,
            start,
            kept: clamp(needed.len()),
        });
    }

    fn nothing(&mut self, frame: &Frame<'_>, nothing: Nothing) {
        self.push(frame, What::Nothing);
        self.nothings.push(nothing);
    }
}

/// What of a chunk's value is looked at: all but user data.
#[inline]
fn needed<'p>(chunk: &Chunk<'p>) -> &'p [u8] {
    match chunk.kind {
        chunk::DATA | chunk::I_DATA => chunk.value.get(..data::MOST_FIELDS).unwrap_or(chunk.value),
        _ => chunk.value,
    }
}
