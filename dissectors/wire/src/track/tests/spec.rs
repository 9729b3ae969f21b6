//! The chunks of a ladder, from words.

use super::script::address;
use crate::address::Address;
use crate::sctp::build::{chunk, param};
use crate::sctp::chunk::*;
use crate::sctp::param;

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

fn two_bytes(number: u32) -> [u8; 2] {
    (number as u16).to_be_bytes()
}

/// The words of one chunk: its name, its subject, and `key=value`.
pub(super) struct Spec<'a>(pub &'a [&'a str]);

impl<'a> Spec<'a> {
    pub fn name(&self) -> &'a str {
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

    pub fn number(&self, key: &str) -> Option<u32> {
        self.numbers(key).first().copied()
    }

    pub fn chunks(&self, own_tag: u32) -> Vec<Vec<u8>> {
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
            "I-FORWARD-TSN" => chunk(I_FORWARD_TSN, 0, &self.forward_tsn()),
            "AUTH" => chunk(AUTH, 0, &self.auth()),
            "SHUTDOWN" => chunk(SHUTDOWN, 0, &self.subject().to_be_bytes()),
            "SHUTDOWN-ACK" => plain(SHUTDOWN_ACK),
            "SHUTDOWN-COMPLETE" => chunk(SHUTDOWN_COMPLETE, self.flag(), &[]),
            "ABORT" => chunk(ABORT, self.flag(), &[]),
            name => panic!("no chunk is called {name}"),
        }]
    }

    /// `DATA 5-7 stream=1 ssn=2 ppid=46`; a message in each chunk, or a fragment with `B`, `M`
    /// or `E`; unordered with `U`. I-DATA has `mid` and `fsn` (from there on, chunk by chunk).
    fn data(&self) -> Vec<Vec<u8>> {
        let bytes = self.number("bytes").unwrap_or(100) as usize;
        let (first, last) = self.0[1].split_once('-').unwrap_or((self.0[1], self.0[1]));
        let tsns = first.parse().unwrap()..=last.parse().unwrap();
        let user = vec![0; bytes];
        tsns.zip(0..).map(|(tsn, index)| self.fragment(tsn, index, &user)).collect()
    }

    fn fragment(&self, tsn: u32, index: u32, user: &[u8]) -> Vec<u8> {
        let has = |word| self.0.contains(&word);
        let unordered = u8::from(has("U")) * FLAG_UNORDERED;
        let place = match (has("B"), has("M"), has("E")) {
            (true, false, false) => FLAG_BEGINNING,
            (false, true, false) => 0,
            (false, false, true) => FLAG_ENDING,
            _ => FLAG_BEGINNING | FLAG_ENDING,
        };
        let field = |key| self.number(key).unwrap_or(0);
        let stream = (field("stream") as u16).to_be_bytes();
        let ppid = field("ppid").to_be_bytes();
        let (kind, fields) = if self.name() == "DATA" {
            let ssn = (field("ssn") as u16).to_be_bytes();
            (DATA, [&tsn.to_be_bytes()[..], &stream, &ssn, &ppid].concat())
        } else {
            let fsn = field("fsn").wrapping_add(index).to_be_bytes();
            let last = if place & FLAG_BEGINNING != 0 { ppid } else { fsn };
            let mid = field("mid").to_be_bytes();
            (I_DATA, [&tsn.to_be_bytes()[..], &stream, &[0; 2], &mid, &last].concat())
        };
        chunk(kind, place | unordered, &[&fields, user].concat())
    }

    /// `I-FORWARD-TSN 9 skip=1:7,2u:0`: up to message 7 of stream 1, up to 0 of the unordered ones of 2.
    fn forward_tsn(&self) -> Vec<u8> {
        let mut value = self.subject().to_be_bytes().to_vec();
        for entry in self.all("skip") {
            let (stream, message) = entry.split_once(':').unwrap();
            let unordered = stream.ends_with('u');
            let stream: u16 = stream.trim_end_matches('u').parse().unwrap();
            let message: u32 = message.parse().unwrap();
            value.extend(stream.to_be_bytes());
            value.extend(u16::from(unordered).to_be_bytes());
            value.extend(message.to_be_bytes());
        }
        value
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
        if let Some(length) = self.number("random") {
            value.extend(param(param::RANDOM, &vec![7; length as usize]));
        }
        let hmacs: Vec<u8> = self.numbers("hmacs").into_iter().flat_map(two_bytes).collect();
        let wanted: Vec<u8> = self.numbers("chunks").into_iter().map(|kind| kind as u8).collect();
        for (kind, list) in [(param::REQUESTED_HMAC_ALGORITHM, hmacs), (param::CHUNK_LIST, wanted)]
        {
            if !list.is_empty() {
                value.extend(param(kind, &list));
            }
        }
        if let Some(method) = self.number("edmid") {
            value.extend(param(param::ZERO_CHECKSUM_ACCEPTABLE, &method.to_be_bytes()));
        }
        if self.0.contains(&"forward") {
            value.extend(param(param::FORWARD_TSN_SUPPORTED, &[]));
        }
        value
    }

    /// `AUTH key=1 hmac=3`.
    fn auth(&self) -> Vec<u8> {
        let field = |key| two_bytes(self.number(key).unwrap_or(0));
        [&field("key")[..], &field("hmac"), &[9; 20]].concat()
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
