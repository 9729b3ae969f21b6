//! A ladder diagram in text. Time in milliseconds, a on the left, b on the right:
//!
//! ```text
//!    0  a1 -> b1  DATA 5-6 bytes=400 + DATA 7
//!   50  a1 <- b1  SACK 5 gaps=2-2 dups=5
//!   60  a1 -> b1  ABORT T / vtag=20 id=7
//! ```
//!
//! `a1` is 10.0.1.1, `b2` is 10.0.2.2, `n3` (a translator) 192.0.2.3, `x0` the wildcard. A packet carries the tag
//! that its receiver announced last, and a fresh IPv4 identification; words after `/` override
//! (`damaged`: the checksum is wrong; `zero`: there is none). What a chunk may say is in [`Spec`].

use super::super::{End, Limits, Moment, Seen, Tracker};
use super::spec::Spec;
use crate::address::Address;
use crate::ledger::Ledger;
use crate::packet::Packet;
use crate::sctp::build::packet;
use crate::sctp::{self, verify};
use crate::track::Located;

pub(super) const fn ms(time: i64) -> i64 {
    time * 1_000_000
}

/// Four packets in 30 ms. Both ends begin with TSN 1; a has tag 10, b has tag 20.
pub(super) const HANDSHAKE: &str = "
     0  a1 -> b1  INIT tag=10
    10  a1 <- b1  INIT-ACK tag=20
    20  a1 -> b1  COOKIE-ECHO
    30  a1 <- b1  COOKIE-ACK";

/// The ledger of a capture that nothing is wrong with.
pub(super) fn play(ladder: &str) -> Ledger {
    let mut scene = Scene::new();
    scene.play(ladder);
    assert_eq!(scene.problems, [""; 0]);
    scene.finish()
}

/// As [`play`], after [`HANDSHAKE`]: the ladder's first packet is frame 5.
pub(super) fn established(ladder: &str) -> Ledger {
    play(&format!("{HANDSHAKE}\n{ladder}"))
}

pub(super) fn address(name: &str) -> Address {
    let (kind, number) = name.split_at(1);
    let number = number.parse().unwrap();
    match kind {
        "a" => Address::v4([10, 0, number, 1]),
        "b" => Address::v4([10, 0, number, 2]),
        "n" => Address::v4([192, 0, 2, number]),
        "x" => Address::v4([0; 4]),
        _ => panic!("no address is called {name}"),
    }
}

/// A packet's envelope.
#[derive(Clone, Copy)]
pub(super) struct Envelope {
    pub time_ns: i64,
    pub sender: End,
    pub source: Address,
    pub destination: Address,
    pub tag: u32,
    pub ip_id: Option<u16>,
}

#[derive(Clone, Copy)]
enum Checksum {
    Right,
    Wrong,
    Zero,
}

/// A tracker and what it was shown.
pub(super) struct Scene {
    pub tracker: Tracker,
    pub problems: Vec<&'static str>,
    /// What is wrong with the next packet's checksum.
    checksum: Checksum,
    pub frame: u64,
    /// Of a and b.
    pub ports: [u16; 2],
    tags: [u32; 2],
}

impl Scene {
    pub fn new() -> Self {
        Self::within(Limits::default())
    }

    pub fn within(limits: Limits) -> Self {
        Scene {
            tracker: Tracker::new(ms(100), limits),
            problems: Vec::new(),
            checksum: Checksum::Right,
            frame: 0,
            ports: [1001, 2002],
            tags: [10, 20],
        }
    }

    pub fn play(&mut self, ladder: &str) {
        for line in ladder.lines().filter(|line| !line.trim().is_empty()) {
            self.line(line);
        }
    }

    fn line(&mut self, line: &str) {
        let (rung, overrides) = line.split_once('/').unwrap_or((line, ""));
        let mut words = rung.split_whitespace();
        let mut word = || words.next().unwrap_or_else(|| panic!("a word is missing in {line}"));
        let time_ms: f64 = word().parse().unwrap();
        let (left, arrow, right) = (address(word()), word(), address(word()));
        let (sender, source, destination) = match arrow {
            "->" => (End::A, left, right),
            "<-" => (End::B, right, left),
            _ => panic!("no arrow in {line}"),
        };
        let words: Vec<&str> = words.collect();
        let specs: Vec<Spec<'_>> = words.split(|word| *word == "+").map(Spec).collect();
        for spec in &specs {
            if spec.name().starts_with("INIT") {
                self.tags[sender as usize] =
                    spec.number("tag").unwrap_or(self.tags[sender as usize]);
            }
        }
        let is_init = specs.iter().any(|spec| spec.name() == "INIT");
        let mut envelope = Envelope {
            time_ns: (time_ms * 1e6).round() as i64,
            sender,
            source,
            destination,
            tag: if is_init { 0 } else { self.tags[sender.other() as usize] },
            ip_id: Some(self.frame as u16 + 1000),
        };
        self.checksum = Checksum::Right;
        for word in overrides.split_whitespace() {
            match word.split_once('=') {
                None if word == "damaged" => self.checksum = Checksum::Wrong,
                None if word == "zero" => self.checksum = Checksum::Zero,
                Some(("vtag", tag)) => envelope.tag = tag.parse().unwrap(),
                Some(("id", "none")) => envelope.ip_id = None,
                Some(("id", id)) => envelope.ip_id = Some(id.parse().unwrap()),
                _ => panic!("no override is called {word}"),
            }
        }
        let tags = self.tags;
        let chunks: Vec<_> =
            specs.iter().flat_map(|spec| spec.chunks(tags[sender as usize])).collect();
        self.send(envelope, &chunks);
    }

    /// Shows the tracker one packet; gives the transmission numbers of its DATA.
    pub fn send(&mut self, envelope: Envelope, chunks: &[Vec<u8>]) -> Vec<u32> {
        let (from, to) = (envelope.sender as usize, envelope.sender.other() as usize);
        let mut bytes = packet(chunks);
        bytes[..2].copy_from_slice(&self.ports[from].to_be_bytes());
        bytes[2..4].copy_from_slice(&self.ports[to].to_be_bytes());
        bytes[4..8].copy_from_slice(&envelope.tag.to_be_bytes());
        bytes[8..12].fill(0);
        let checksum = match self.checksum {
            Checksum::Right => crc_fast::crc32_iscsi(&bytes),
            Checksum::Wrong => crc_fast::crc32_iscsi(&bytes) ^ 1,
            Checksum::Zero => 0,
        };
        bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
        self.frame += 1;
        let length = bytes.len() as u32;
        let packet = Packet {
            source: envelope.source,
            destination: envelope.destination,
            ip_id: envelope.ip_id,
            hop_limit: 64,
            ecn: 0,
            udp: None,
            sctp: &bytes,
            sctp_offset: 34,
            sctp_length: length,
            reassembled: false,
        };
        let (header, chunks) = sctp::parse(&bytes, length).unwrap();
        let head = (header, verify(&bytes, &header, length));
        let moment = Moment { time_ns: envelope.time_ns, frame: self.frame };
        let seen = Seen::of(&packet, head, chunks.clone(), moment, length + 34, None);
        let first = chunks.clone().next().and_then(Result::ok);
        let Located::At(slot, place) = self.tracker.packet(&seen, first.as_ref()) else {
            return Vec::new();
        };
        let mut transmissions = Vec::new();
        for chunk in chunks.flatten() {
            let outcome = self.tracker.chunk(slot, &place, &seen, &chunk);
            transmissions.extend(outcome.transmission);
            self.problems.extend(outcome.problem.map(|problem| problem.what));
        }
        transmissions
    }

    /// What the first association has written so far.
    pub fn own(&self) -> &Ledger {
        &self.tracker.open.get(0).unwrap().ledger
    }

    pub fn finish(self) -> Ledger {
        self.tracker.finish().0
    }

    /// User bytes that `end` has outstanding on a path of the first association.
    pub fn flight_bytes(&self, end: End, path: usize) -> u64 {
        let association = &self.tracker.open.get(0).unwrap().association;
        association.paths[path].ways[end as usize].flight_bytes
    }
}
