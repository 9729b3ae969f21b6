//! SCTP packets as the trace tells of them, in the form that the tracker reads:
//! what a trace does not say (tags, windows, streams asked for) is not in it.

use crate::problem::Problem;
use crate::sctp::{Chunk, chunk};

/// Bytes of an IP header and of SCTP's common header, as ns-2 counts them in a packet's size.
pub const IP_HEADER: u32 = 20;
const COMMON_HEADER: u32 = 12;
/// Of a DATA chunk (RFC 9260 section 3.3.1).
const DATA_HEADER: u32 = 16;
const CHUNK_HEADER: usize = 4;
/// DATA with both ends of its message: the trace tells of no fragments.
const WHOLE_MESSAGE: u8 = 0b11;
const HEARTBEAT_INFO: u16 = 1;

/// One chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    Data {
        tsn: u32,
        stream: u16,
        sequence: u16,
    },
    Sack {
        cumulative: u32,
        blocks: Vec<(u16, u16)>,
        duplicates: Vec<u32>,
    },
    /// INIT, INIT ACK, COOKIE ECHO or COOKIE ACK; of the first two with the sender's tag.
    Setup {
        kind: u8,
        tag: u32,
    },
    /// The number of the packet with the HEARTBEAT stands for its information.
    Heartbeat {
        packet: u64,
    },
    HeartbeatAck {
        packet: u64,
    },
    ForwardTsn {
        cumulative: u32,
    },
    /// A chunk of which the trace only says that it is there.
    Other {
        kind: u8,
    },
}

/// The chunks of one packet.
#[derive(Default)]
pub struct Packet {
    chunks: Vec<Part>,
    bytes: Vec<u8>,
}

struct Part {
    kind: u8,
    flags: u8,
    length: u16,
    start: usize,
    end: usize,
}

impl Packet {
    /// Writes chunks out; the packet had `wire_bytes`, IP header included.
    pub fn write(&mut self, made: &[Made], wire_bytes: u32) {
        self.chunks.clear();
        self.bytes.clear();
        for one in made {
            self.chunk(one);
        }
        // What the other chunks leave belongs to the DATA chunks, in equal shares.
        let room = wire_bytes.saturating_sub(IP_HEADER + COMMON_HEADER);
        let is_data = |part: &&Part| part.kind == chunk::DATA;
        let others: u32 = self
            .chunks
            .iter()
            .filter(|part| !is_data(part))
            .map(|part| u32::from(part.length))
            .sum();
        let count = u32::try_from(self.chunks.iter().filter(is_data).count()).unwrap_or(u32::MAX);
        let Some(share) = room.saturating_sub(others).checked_div(count) else { return };
        let length = u16::try_from(share.max(DATA_HEADER)).unwrap_or(u16::MAX);
        for part in self.chunks.iter_mut().filter(|part| part.kind == chunk::DATA) {
            part.length = length;
        }
    }

    fn chunk(&mut self, made: &Made) {
        let start = self.bytes.len();
        let (kind, flags) = match made {
            Made::Data { tsn, stream, sequence } => {
                self.put(&tsn.to_be_bytes());
                self.put(&stream.to_be_bytes());
                self.put(&sequence.to_be_bytes());
                self.put(&[0; 4]);
                (chunk::DATA, WHOLE_MESSAGE)
            }
            Made::Sack { cumulative, blocks, duplicates } => {
                self.put(&cumulative.to_be_bytes());
                self.put(&[0; 4]);
                for count in [blocks.len(), duplicates.len()] {
                    self.put(&u16::try_from(count).unwrap_or(u16::MAX).to_be_bytes());
                }
                for (start, end) in blocks {
                    self.put(&start.to_be_bytes());
                    self.put(&end.to_be_bytes());
                }
                for tsn in duplicates {
                    self.put(&tsn.to_be_bytes());
                }
                (chunk::SACK, 0)
            }
            Made::Setup { kind, tag } => {
                if matches!(*kind, chunk::INIT | chunk::INIT_ACK) {
                    self.put(&tag.to_be_bytes());
                    self.put(&[0; 12]);
                }
                (*kind, 0)
            }
            Made::Heartbeat { packet } | Made::HeartbeatAck { packet } => {
                self.put(&HEARTBEAT_INFO.to_be_bytes());
                self.put(&12_u16.to_be_bytes());
                self.put(&packet.to_be_bytes());
                let is_ack = matches!(made, Made::HeartbeatAck { .. });
                (if is_ack { chunk::HEARTBEAT_ACK } else { chunk::HEARTBEAT }, 0)
            }
            Made::ForwardTsn { cumulative } => {
                self.put(&cumulative.to_be_bytes());
                (chunk::FORWARD_TSN, 0)
            }
            Made::Other { kind } => (*kind, 0),
        };
        let end = self.bytes.len();
        let length = u16::try_from(end - start + CHUNK_HEADER).unwrap_or(u16::MAX);
        self.chunks.push(Part { kind, flags, length, start, end });
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn chunks(&self) -> impl Iterator<Item = Result<Chunk<'_>, Problem>> + Clone {
        self.chunks.iter().map(|part| {
            Ok(Chunk {
                offset: 0,
                kind: part.kind,
                flags: part.flags,
                length: part.length,
                value: self.bytes.get(part.start..part.end).unwrap_or_default(),
                truncated: part.kind == chunk::DATA,
            })
        })
    }
}
