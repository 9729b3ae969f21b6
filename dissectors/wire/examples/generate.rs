//! Writes a large, valid SCTP capture for `bench/`, the same bytes every time.
//!
//! Four associations of two paths each, seen at the sending host: DATA in
//! packets of one or two chunks, a SACK for every second packet (RFC 9260,
//! section 6.2), gap blocks where a packet was lost and a retransmission on the
//! other path after the third report, HEARTBEATs with their ACKs on the idle
//! path, and a move to the other path every half minute.
//!
//! As pcapng, each path has an interface of its own.
//!
//!     cargo run --release --package pathscope-wire --example generate -- --packets 2750000 --output big.pcap

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Frames leave the sender this far apart, all associations together; with the
/// SACKs this makes about 9000 packets a second.
const SEND_EVERY_NS: u64 = 160_000;
const HEARTBEAT_EVERY_NS: u64 = 1_000_000_000;
const MOVE_EVERY_NS: u64 = 30_000_000_000;
const ROUND_TRIP_NS: [u64; 2] = [6_000_000, 45_000_000];
/// One packet in this many is lost on its way.
const LOSS: u64 = 400;
const EPOCH_NS: u64 = 1_750_000_000_000_000_000;

/// SplitMix64: small, and the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// The user data of one packet: its TSNs, streams and lengths, kept for a retransmission.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Message {
    tsn: u32,
    stream: u16,
    sequence: u16,
    length: usize,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Handshake {
        step: u8,
    },
    Send,
    /// A packet reached the receiver and the SACK it causes, if any, is back.
    Arrive {
        path: usize,
        messages: Vec<Message>,
    },
    Retransmit {
        path: usize,
        messages: Vec<Message>,
    },
    Heartbeat,
    HeartbeatAck {
        path: usize,
        sent_ns: u64,
    },
}

/// When, in which order of making, for which association, what.
type Scheduled = Reverse<(u64, u64, usize, Event)>;

struct Association {
    v6: bool,
    number: u8,
    client_tag: u32,
    server_tag: u32,
    next_tsn: u32,
    sequences: [u16; 4],
    /// The receiver's side: all up to here, and single TSNs beyond it.
    cumulative_tsn: u32,
    beyond: BTreeSet<u32>,
    packets_since_sack: u32,
}

impl Association {
    fn new(number: u8, random: &mut Random) -> Self {
        // Low enough never to wrap around, so that plain order is TSN order here.
        let initial_tsn = random.below(1 << 30) as u32 + 1;
        Association {
            v6: number == 3,
            number,
            client_tag: random.below(u64::from(u32::MAX)) as u32 + 1,
            server_tag: random.below(u64::from(u32::MAX)) as u32 + 1,
            next_tsn: initial_tsn,
            sequences: [0; 4],
            cumulative_tsn: initial_tsn - 1,
            beyond: BTreeSet::new(),
            packets_since_sack: 0,
        }
    }

    fn active_path(&self, elapsed_ns: u64) -> usize {
        // Associations move at different instants.
        ((elapsed_ns + u64::from(self.number) * MOVE_EVERY_NS / 4) / MOVE_EVERY_NS % 2) as usize
    }

    /// One full-sized message, or two small ones bundled.
    fn messages(&mut self, random: &mut Random) -> Vec<Message> {
        let full = if self.v6 { 1432 } else { 1452 };
        let lengths = match random.below(100) {
            0..74 => vec![full],
            74..80 => vec![60 + random.below(1200) as usize],
            _ => vec![60 + random.below(600) as usize, 60 + random.below(600) as usize],
        };
        lengths.into_iter().map(|length| self.message(length, random)).collect()
    }

    fn message(&mut self, length: usize, random: &mut Random) -> Message {
        let stream = random.below(4) as u16;
        let sequence = &mut self.sequences[usize::from(stream)];
        let message = Message { tsn: self.next_tsn, stream, sequence: *sequence, length };
        *sequence = sequence.wrapping_add(1);
        self.next_tsn += 1;
        message
    }

    /// Takes a packet at the receiver; true when it answers with a SACK at once.
    fn receive(&mut self, messages: &[Message]) -> bool {
        self.beyond.extend(messages.iter().map(|m| m.tsn).filter(|&tsn| tsn > self.cumulative_tsn));
        let had_gap = self.beyond.first().is_some_and(|&tsn| tsn != self.cumulative_tsn + 1);
        while self.beyond.remove(&(self.cumulative_tsn + 1)) {
            self.cumulative_tsn += 1;
        }
        self.packets_since_sack += 1;
        let answers = had_gap || self.packets_since_sack >= 2;
        if answers {
            self.packets_since_sack = 0;
        }
        answers
    }

    fn sack(&self) -> Vec<u8> {
        let mut gaps: Vec<(u16, u16)> = Vec::new();
        for &tsn in &self.beyond {
            let offset = (tsn - self.cumulative_tsn) as u16;
            match gaps.last_mut() {
                Some((_, end)) if *end + 1 == offset => *end = offset,
                _ => gaps.push((offset, offset)),
            }
        }
        let mut value = Vec::with_capacity(12 + 4 * gaps.len());
        value.extend(self.cumulative_tsn.to_be_bytes());
        value.extend(131_072_u32.to_be_bytes());
        value.extend((gaps.len() as u16).to_be_bytes());
        value.extend([0, 0]);
        for (start, end) in gaps {
            value.extend(start.to_be_bytes());
            value.extend(end.to_be_bytes());
        }
        chunk(3, 0, &value)
    }

    /// INIT and INIT ACK differ in whose tag, addresses and cookie they carry.
    fn init(&self, kind: u8) -> Vec<u8> {
        let (tag, from_client) =
            if kind == 1 { (self.client_tag, true) } else { (self.server_tag, false) };
        let mut value = Vec::new();
        value.extend(tag.to_be_bytes());
        value.extend(131_072_u32.to_be_bytes());
        value.extend([0, 4, 0, 4]);
        // The server's initial TSN goes unused: it sends no DATA.
        value.extend((if from_client { self.next_tsn } else { 1 }).to_be_bytes());
        for path in 0..2 {
            let (client, server) = self.addresses(path);
            let address = if from_client { client } else { server };
            value.extend(parameter(if self.v6 { 6 } else { 5 }, &address));
        }
        if kind == 2 {
            value.extend(parameter(7, &[0x5a; 64]));
        }
        chunk(kind, 0, &value)
    }

    /// The two ends of a path: 10.ASSOCIATION.PATH.1 and .2, or 2001:db8:ASSOCIATION:PATH::1 and ::2.
    fn addresses(&self, path: usize) -> (Vec<u8>, Vec<u8>) {
        let end = |host: u8| {
            if self.v6 {
                let mut address = vec![0x20, 0x01, 0x0d, 0xb8, 0, self.number, 0, path as u8];
                address.extend([0, 0, 0, 0, 0, 0, 0, host]);
                address
            } else {
                vec![10, self.number, path as u8, host]
            }
        };
        (end(1), end(2))
    }
}

fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn chunk(kind: u8, flags: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind, flags];
    bytes.extend((value.len() as u16 + 4).to_be_bytes());
    bytes.extend(value);
    padded(bytes)
}

fn parameter(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_be_bytes().to_vec();
    bytes.extend((value.len() as u16 + 4).to_be_bytes());
    bytes.extend(value);
    padded(bytes)
}

fn data(messages: &[Message], user_bytes: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1500);
    for message in messages {
        // B and E bits: every message is whole in its chunk.
        bytes.extend([0, 3]);
        bytes.extend((message.length as u16 + 16).to_be_bytes());
        bytes.extend(message.tsn.to_be_bytes());
        bytes.extend(message.stream.to_be_bytes());
        bytes.extend(message.sequence.to_be_bytes());
        bytes.extend([0, 0, 0, 0]);
        bytes.extend(&user_bytes[..message.length]);
        bytes = padded(bytes);
    }
    bytes
}

/// How the frames are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    /// Classic pcap, with microseconds.
    Pcap,
    /// pcapng, with an interface for each path, and nanoseconds.
    Pcapng,
}

/// A capture file of Ethernet frames.
struct Capture<W> {
    container: Container,
    out: W,
    packets: u64,
    frame: Vec<u8>,
}

impl<W: Write> Capture<W> {
    fn new(container: Container, mut out: W) -> io::Result<Self> {
        let words: &[u32] = match container {
            Container::Pcap => &[0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, 1],
            Container::Pcapng => &[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28],
        };
        for word in words {
            out.write_all(&word.to_le_bytes())?;
        }
        if container == Container::Pcapng {
            for name in [b"wlan", b"cell"] {
                // Ethernet; the name; 10^-9 s; the end of the options.
                for word in [1, 40, 1, 262_144, 2 | 4 << 16, u32::from_le_bytes(*name)] {
                    out.write_all(&word.to_le_bytes())?;
                }
                for word in [9 | 1 << 16, 9, 0, 40_u32] {
                    out.write_all(&word.to_le_bytes())?;
                }
            }
        }
        Ok(Capture { container, out, packets: 0, frame: Vec::new() })
    }

    fn write(
        &mut self,
        elapsed_ns: u64,
        association: &Association,
        path: usize,
        from_client: bool,
        chunks: &[u8],
    ) -> io::Result<()> {
        let (client, server) = association.addresses(path);
        let (source, destination) = if from_client { (client, server) } else { (server, client) };
        let ports = [40_000 + u16::from(association.number), 5000];
        let (source_port, destination_port) =
            if from_client { (ports[0], ports[1]) } else { (ports[1], ports[0]) };
        // RFC 9260, section 8.5.1: the tag of an INIT's packet is 0.
        let tag = match chunks[0] {
            1 => 0,
            _ if from_client => association.server_tag,
            _ => association.client_tag,
        };

        let frame = &mut self.frame;
        frame.clear();
        frame.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
        let length = chunks.len() as u16 + 12;
        if association.v6 {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            frame.extend(length.to_be_bytes());
            frame.extend([132, 64]);
        } else {
            frame.extend([8, 0, 0x45, 0x02]);
            frame.extend((length + 20).to_be_bytes());
            frame.extend((self.packets as u16).to_be_bytes());
            frame.extend([0x40, 0, 64, 132, 0, 0]);
        }
        frame.extend(&source);
        frame.extend(&destination);
        if !association.v6 {
            let checksum = internet_checksum(&frame[14..34]);
            frame[24..26].copy_from_slice(&checksum.to_be_bytes());
        }
        let sctp = frame.len();
        frame.extend(source_port.to_be_bytes());
        frame.extend(destination_port.to_be_bytes());
        frame.extend(tag.to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(chunks);
        let crc = crc_fast::crc32_iscsi(&frame[sctp..]);
        frame[sctp + 8..sctp + 12].copy_from_slice(&crc.to_le_bytes());

        self.packets += 1;
        let time_ns = EPOCH_NS + elapsed_ns;
        let length = self.frame.len() as u32;
        match self.container {
            Container::Pcap => {
                let seconds = (time_ns / 1_000_000_000) as u32;
                let microseconds = (time_ns % 1_000_000_000 / 1000) as u32;
                self.words(&[seconds, microseconds, length, length])?;
                self.out.write_all(&self.frame)
            }
            Container::Pcapng => {
                let block = length.next_multiple_of(4) + 32;
                let (high, low) = ((time_ns >> 32) as u32, time_ns as u32);
                self.words(&[6, block, path as u32, high, low, length, length])?;
                self.out.write_all(&self.frame)?;
                self.out.write_all(&[0; 3][..(length.next_multiple_of(4) - length) as usize])?;
                self.words(&[block])
            }
        }
    }

    fn words(&mut self, words: &[u32]) -> io::Result<()> {
        words.iter().try_for_each(|word| self.out.write_all(&word.to_le_bytes()))
    }
}

fn internet_checksum(header: &[u8]) -> u16 {
    let words = header.chunks_exact(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

struct Simulation<W> {
    capture: Capture<W>,
    random: Random,
    associations: Vec<Association>,
    events: BinaryHeap<Scheduled>,
    made: u64,
    user_bytes: Vec<u8>,
}

impl<W: Write> Simulation<W> {
    fn new(container: Container, out: W) -> io::Result<Self> {
        let mut random = Random(2026);
        let associations: Vec<_> = (0..4).map(|n| Association::new(n, &mut random)).collect();
        let user_bytes = (0..1452).map(|_| random.below(256) as u8).collect();
        let capture = Capture::new(container, out)?;
        let events = BinaryHeap::new();
        let mut this = Simulation { capture, random, associations, events, made: 0, user_bytes };
        for number in 0..this.associations.len() {
            this.schedule(number as u64 * 1_000_000, number, Event::Handshake { step: 0 });
        }
        Ok(this)
    }

    fn schedule(&mut self, time_ns: u64, number: usize, event: Event) {
        self.made += 1;
        self.events.push(Reverse((time_ns, self.made, number, event)));
    }

    fn run(mut self, packets: u64) -> io::Result<W> {
        while self.capture.packets < packets {
            let Some(Reverse((now, _, number, event))) = self.events.pop() else { break };
            self.happen(now, number, event)?;
        }
        Ok(self.capture.out)
    }

    fn happen(&mut self, now: u64, number: usize, event: Event) -> io::Result<()> {
        let association = &mut self.associations[number];
        let path = association.active_path(now);
        match event {
            Event::Handshake { step } => {
                let path = 0;
                let chunks = match step {
                    0 | 1 => association.init(step + 1),
                    2 => chunk(10, 0, &[0x5a; 64]),
                    _ => chunk(11, 0, &[]),
                };
                self.capture.write(now, association, path, step % 2 == 0, &chunks)?;
                if step < 3 {
                    let wait = if step % 2 == 0 { ROUND_TRIP_NS[path] } else { 20_000 };
                    self.schedule(now + wait, number, Event::Handshake { step: step + 1 });
                } else {
                    self.schedule(now + 100_000, number, Event::Send);
                    self.schedule(now + HEARTBEAT_EVERY_NS, number, Event::Heartbeat);
                }
            }
            Event::Send => {
                let messages = association.messages(&mut self.random);
                let chunks = data(&messages, &self.user_bytes);
                self.capture.write(now, association, path, true, &chunks)?;
                let back = now + ROUND_TRIP_NS[path] + self.random.below(400_000);
                let gap = SEND_EVERY_NS * self.associations.len() as u64;
                if self.random.below(LOSS) == 0 {
                    // Three more packets must report the gap (RFC 9260, section 7.2.4).
                    let event = Event::Retransmit { path: 1 - path, messages };
                    self.schedule(back + 3 * gap, number, event);
                } else {
                    self.schedule(back, number, Event::Arrive { path, messages });
                }
                let jitter = self.random.below(gap / 4);
                self.schedule(now + gap - gap / 8 + jitter, number, Event::Send);
            }
            Event::Arrive { path, messages } => {
                if association.receive(&messages) {
                    self.capture.write(now, association, path, false, &association.sack())?;
                }
            }
            Event::Retransmit { path, messages } => {
                let chunks = data(&messages, &self.user_bytes);
                self.capture.write(now, association, path, true, &chunks)?;
                self.schedule(now + ROUND_TRIP_NS[path], number, Event::Arrive { path, messages });
            }
            Event::Heartbeat => {
                let idle = 1 - path;
                let chunks = chunk(4, 0, &parameter(1, &now.to_be_bytes()));
                self.capture.write(now, association, idle, true, &chunks)?;
                let back = now + ROUND_TRIP_NS[idle];
                self.schedule(back, number, Event::HeartbeatAck { path: idle, sent_ns: now });
                self.schedule(now + HEARTBEAT_EVERY_NS, number, Event::Heartbeat);
            }
            Event::HeartbeatAck { path, sent_ns } => {
                let chunks = chunk(5, 0, &parameter(1, &sent_ns.to_be_bytes()));
                self.capture.write(now, association, path, false, &chunks)?;
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "usage: generate --packets N --output FILE.pcap|FILE.pcapng";
    let (mut packets, mut output) = (None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(usage)?;
        match name.as_str() {
            "--packets" => packets = Some(value.parse::<u64>()?),
            "--output" => output = Some(value),
            _ => return Err(usage.into()),
        }
    }
    let output = output.ok_or(usage)?;
    let container = if output.contains(".pcapng") { Container::Pcapng } else { Container::Pcap };
    let file = BufWriter::with_capacity(1 << 20, File::create(&output)?);
    Simulation::new(container, file)?.run(packets.ok_or(usage)?)?.flush()?;
    Ok(())
}
