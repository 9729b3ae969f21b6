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
//! (`damaged`: the checksum is wrong).

use super::super::{End, Limits, Moment, Seen, Tracker};
use crate::address::Address;
use crate::ledger::Ledger;
use crate::packet::Packet;
use crate::sctp::build::{chunk, packet, param};
use crate::sctp::chunk::*;
use crate::sctp::{self, param, verify};
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

/// A tracker and what it was shown.
pub(super) struct Scene {
    pub tracker: Tracker,
    pub problems: Vec<&'static str>,
    /// Whether the next packet's checksum is wrong.
    damaged: bool,
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
            damaged: false,
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
        self.damaged = false;
        for word in overrides.split_whitespace() {
            match word.split_once('=') {
                None if word == "damaged" => self.damaged = true,
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
        let checksum = crc_fast::crc32_iscsi(&bytes) ^ u32::from(self.damaged);
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
        let seen = Seen {
            moment: Moment { time_ns: envelope.time_ns, frame: self.frame },
            wire_bytes: length + 34,
            interface: None,
            packet: &packet,
            header,
            verdict: verify(&bytes, &header, length),
        };
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

pub(super) fn data(tsn: u32, bytes: usize) -> Vec<u8> {
    chunk(DATA, 3, &[&tsn.to_be_bytes()[..], &[0; 8], &vec![0; bytes]].concat())
}

/// With a window of 64 KiB.
pub(super) fn sack(cumulative_tsn: u32, gaps: &[(u16, u16)], duplicates: &[u32]) -> Vec<u8> {
    sack_with_window(cumulative_tsn, 65_536, gaps, duplicates)
}

fn sack_with_window(
    cumulative_tsn: u32,
    a_rwnd: u32,
    gaps: &[(u16, u16)],
    duplicates: &[u32],
) -> Vec<u8> {
    let counts = [gaps.len() as u16, duplicates.len() as u16];
    let mut value = [cumulative_tsn, a_rwnd].map(u32::to_be_bytes).concat();
    value.extend(counts.map(u16::to_be_bytes).concat());
    value.extend(gaps.iter().flat_map(|&(start, end)| [start, end]).flat_map(u16::to_be_bytes));
    value.extend(duplicates.iter().flat_map(|tsn| tsn.to_be_bytes()));
    chunk(SACK, 0, &value)
}

/// RFC 8260 section 2.1.
fn i_data(tsn: u32, bytes: usize) -> Vec<u8> {
    chunk(I_DATA, 3, &[&tsn.to_be_bytes()[..], &[0; 12], &vec![0; bytes]].concat())
}

/// draft-natarajan-tsvwg-sctp-nrsack section 4: `kept` are the blocks never reneged on.
fn nr_sack(cumulative_tsn: u32, gaps: &[(u16, u16)], kept: &[(u16, u16)]) -> Vec<u8> {
    let mut value = [cumulative_tsn, 65_536].map(u32::to_be_bytes).concat();
    value.extend([gaps.len() as u16, kept.len() as u16, 0, 0].map(u16::to_be_bytes).concat());
    let blocks = gaps.iter().chain(kept).flat_map(|&(start, end)| [start, end]);
    value.extend(blocks.flat_map(u16::to_be_bytes));
    chunk(NR_SACK, 0, &value)
}

fn address_param(address: Address) -> Vec<u8> {
    param(param::IPV4_ADDRESS, &(address.bits() as u32).to_be_bytes())
}

/// The words of one chunk: its name, its subject, and `key=value`.
struct Spec<'a>(&'a [&'a str]);

impl<'a> Spec<'a> {
    fn name(&self) -> &'a str {
        self.0[0]
    }

    fn subject(&self) -> u32 {
        self.0[1].parse().unwrap()
    }

    fn flag(&self) -> u8 {
        u8::from(self.0.contains(&"T"))
    }

    fn all(&self, key: &str) -> Vec<&'a str> {
        let pairs = self.0.iter().filter_map(|word| word.split_once('='));
        pairs.filter(|(name, _)| *name == key).flat_map(|(_, value)| value.split(',')).collect()
    }

    fn numbers(&self, key: &str) -> Vec<u32> {
        self.all(key).iter().map(|value| value.parse().unwrap()).collect()
    }

    fn number(&self, key: &str) -> Option<u32> {
        self.numbers(key).first().copied()
    }

    fn chunks(&self, own_tag: u32) -> Vec<Vec<u8>> {
        let plain = |kind| chunk(kind, 0, &[]);
        vec![match self.name() {
            "DATA" | "I-DATA" => return self.data(),
            "SACK" | "NR-SACK" => self.sack(),
            "INIT" => chunk(INIT, 0, &self.init(own_tag)),
            "INIT-ACK" => chunk(INIT_ACK, 0, &self.init(own_tag)),
            "COOKIE-ECHO" => chunk(COOKIE_ECHO, 0, &[1; 8]),
            "COOKIE-ACK" => plain(COOKIE_ACK),
            "HEARTBEAT" => chunk(HEARTBEAT, 0, &self.info()),
            "HEARTBEAT-ACK" => chunk(HEARTBEAT_ACK, 0, &self.info()),
            "ASCONF" => chunk(ASCONF, 0, &self.asconf()),
            "ASCONF-ACK" => chunk(ASCONF_ACK, 0, &self.asconf_ack()),
            "FORWARD-TSN" => chunk(FORWARD_TSN, 0, &self.subject().to_be_bytes()),
            "SHUTDOWN" => chunk(SHUTDOWN, 0, &self.subject().to_be_bytes()),
            "SHUTDOWN-ACK" => plain(SHUTDOWN_ACK),
            "SHUTDOWN-COMPLETE" => chunk(SHUTDOWN_COMPLETE, self.flag(), &[]),
            "ABORT" => chunk(ABORT, self.flag(), &[]),
            name => panic!("no chunk is called {name}"),
        }]
    }

    fn data(&self) -> Vec<Vec<u8>> {
        let bytes = self.number("bytes").unwrap_or(100) as usize;
        let (first, last) = self.0[1].split_once('-').unwrap_or((self.0[1], self.0[1]));
        let tsns = first.parse().unwrap()..=last.parse().unwrap();
        let build = if self.name() == "DATA" { data } else { i_data };
        tsns.map(|tsn: u32| build(tsn, bytes)).collect()
    }

    fn blocks(&self, key: &str) -> Vec<(u16, u16)> {
        let block = |text: &str| {
            let (start, end) = text.split_once('-').unwrap();
            (start.parse().unwrap(), end.parse().unwrap())
        };
        self.all(key).into_iter().map(block).collect()
    }

    fn sack(&self) -> Vec<u8> {
        let (gaps, duplicates) = (self.blocks("gaps"), self.numbers("dups"));
        match self.name() {
            "SACK" => {
                let a_rwnd = self.number("rwnd").unwrap_or(65_536);
                sack_with_window(self.subject(), a_rwnd, &gaps, &duplicates)
            }
            _ => nr_sack(self.subject(), &gaps, &self.blocks("kept")),
        }
    }

    fn init(&self, tag: u32) -> Vec<u8> {
        let tsn = self.number("tsn").unwrap_or(1);
        let mut value = [tag, 65_536, 10 << 16 | 10, tsn].map(u32::to_be_bytes).concat();
        let addresses = self.all("addresses");
        value.extend(addresses.into_iter().flat_map(|name| address_param(address(name))));
        value
    }

    fn info(&self) -> Vec<u8> {
        param(param::HEARTBEAT_INFO, &self.subject().to_be_bytes())
    }

    /// Correlation IDs count from 1 in the order of the words.
    fn asconf(&self) -> Vec<u8> {
        let mut value = [&self.subject().to_be_bytes()[..], &address_param(address("a1"))].concat();
        for (word, correlation) in self.0[2..].iter().zip(1_u32..) {
            let (request, name) = word.split_once('=').unwrap();
            let kind = match request {
                "add" => param::ADD_IP_ADDRESS,
                "delete" => param::DELETE_IP_ADDRESS,
                "primary" => param::SET_PRIMARY_ADDRESS,
                _ => panic!("no request is called {request}"),
            };
            let inner = [&correlation.to_be_bytes()[..], &address_param(address(name))].concat();
            value.extend(param(kind, &inner));
        }
        value
    }

    /// `ok=1` answers correlation ID 1 with success, `error=2:160` ID 2 with cause 160.
    fn asconf_ack(&self) -> Vec<u8> {
        let mut value = self.subject().to_be_bytes().to_vec();
        for word in &self.0[2..] {
            match word.split_once('=').unwrap() {
                ("ok", correlation) => {
                    let correlation: u32 = correlation.parse().unwrap();
                    value.extend(param(param::SUCCESS_INDICATION, &correlation.to_be_bytes()));
                }
                ("error", pair) => {
                    let (correlation, code) = pair.split_once(':').unwrap();
                    let correlation: u32 = correlation.parse().unwrap();
                    let cause = param(code.parse().unwrap(), &[]);
                    let inner = [&correlation.to_be_bytes()[..], &cause].concat();
                    value.extend(param(param::ERROR_CAUSE_INDICATION, &inner));
                }
                (response, _) => panic!("no response is called {response}"),
            }
        }
        value
    }
}
