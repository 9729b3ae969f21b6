//! A ladder diagram in text: time in milliseconds, sender, flags, then fields.
//!
//! ```text
//!    0  a S   seq=99 mss=1460 scale=7 sackok
//!   10  b SA  seq=499 ack=100
//!   20  a A   seq=100 ack=500 len=400 ts=7/0
//!   30  b A   seq=500 ack=100 sack=500-900
//! ```
//!
//! Every packet has a fresh IPv4 identification; `id=` gives another one.

use crate::address::Address;
use crate::ledger::{FlowDirectionRow, FlowRow, Ledger};
use crate::packet::Datagram;
use crate::tcp;
use crate::tcp::build::option;
use crate::track::Moment;
use crate::track::flow::{Flows, Followed, Sight};

pub const MS: i64 = 1_000_000;

/// Three segments in 20 ms; a goes on with 100, b with 500.
pub const HANDSHAKE: &str = "
    0   a S   seq=99 mss=1460 scale=7 sackok
    10  b SA  seq=499 ack=100 mss=1400 scale=2 sackok
    20  a A   seq=100 ack=500";

pub struct Scene {
    pub flows: Flows,
    pub ledger: Ledger,
    /// Of every packet.
    pub followed: Vec<Followed>,
    frame: u64,
}

impl Scene {
    pub fn new(capacity: usize) -> Self {
        Scene {
            flows: Flows::new(100 * MS, capacity),
            ledger: Ledger::default(),
            followed: Vec::new(),
            frame: 0,
        }
    }

    pub fn play(&mut self, ladder: &str) {
        for line in ladder.lines().filter(|line| !line.trim().is_empty()) {
            self.line(line);
        }
    }

    fn line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [time, sender, flags, fields @ ..] = &words[..] else { panic!("{line}") };
        let text = |name: &str| {
            fields.iter().find_map(|field| field.strip_prefix(name)?.strip_prefix('='))
        };
        let number = |name: &str| text(name).map(|text| text.parse::<u32>().unwrap());
        let flags = flags.chars().fold(0, |flags, flag| {
            flags
                | match flag {
                    'S' => tcp::SYN,
                    'A' => tcp::ACK,
                    'F' => tcp::FIN,
                    'R' => tcp::RST,
                    _ => panic!("no flag is called {flag}"),
                }
        });
        let mut options = Vec::new();
        if let Some(mss) = number("mss") {
            options.extend(option(2, &(mss as u16).to_be_bytes()));
        }
        if let Some(shift) = number("scale") {
            options.extend(option(3, &[shift as u8]));
        }
        if fields.contains(&"sackok") {
            options.extend(option(4, &[]));
        }
        let pairs = |text: &str, between: char| {
            text.split(',')
                .flat_map(|pair| {
                    let (left, right) = pair.split_once(between).unwrap();
                    [left, right].map(|number| number.parse::<u32>().unwrap().to_be_bytes())
                })
                .collect::<Vec<_>>()
                .concat()
        };
        if let Some(blocks) = text("sack") {
            options.extend(option(5, &pairs(blocks, '-')));
        }
        if let Some(timestamps) = text("ts") {
            options.extend(option(8, &pairs(timestamps, '/')));
        }
        if let Some(hex) = text("mptcp") {
            let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            let value: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
            options.extend(option(30, &value));
        }
        let payload = vec![7; number("len").unwrap_or(0) as usize];
        let mut bytes = tcp::build::segment(
            number("seq").unwrap_or(0),
            number("ack").unwrap_or(0),
            flags,
            number("win").unwrap_or(512) as u16,
            &options,
            &payload,
        );
        let port = number("port").unwrap_or(1001) as u16;
        let from_a = *sender == "a";
        let ports = if from_a { [port, 2002] } else { [2002, port] };
        bytes[..4].copy_from_slice(&ports.map(u16::to_be_bytes).concat());
        let time_ns = (time.parse::<f64>().unwrap() * 1e6).round() as i64;
        let id = number("id").unwrap_or(self.frame as u32 + 1000);
        self.send(time_ns, from_a, id as u16, &bytes);
    }

    fn send(&mut self, time_ns: i64, from_a: bool, id: u16, bytes: &[u8]) {
        self.frame += 1;
        let (a, b) = (Address::v4([10, 0, 0, 1]), Address::v4([10, 0, 0, 2]));
        let (source, destination) = if from_a { (a, b) } else { (b, a) };
        let length = bytes.len() as u32;
        let datagram = Datagram { source, destination, ip_id: Some(id), bytes, offset: 34, length };
        let moment = Moment { time_ns, frame: self.frame };
        let sight = Sight::of(&datagram, moment, length + 34, None);
        let segment = tcp::parse(bytes, length).unwrap();
        let followed = self.flows.tcp(&sight, &segment, &mut self.ledger);
        assert_eq!(followed.problem, None);
        self.followed.push(followed);
    }

    pub fn finish(mut self) -> Ledger {
        self.flows.finish(&mut self.ledger);
        self.ledger
    }
}

/// The ledger after [`HANDSHAKE`] and the ladder, whose first packet is frame 4.
pub fn established(ladder: &str) -> Ledger {
    play(&format!("{HANDSHAKE}\n{ladder}"))
}

pub fn play(ladder: &str) -> Ledger {
    let mut scene = Scene::new(100);
    scene.play(ladder);
    scene.finish()
}

/// The only flow.
pub fn flow(ledger: &Ledger) -> &FlowRow {
    assert_eq!(ledger.of_flows().flows.len(), 1);
    &ledger.of_flows().flows[0]
}

/// What `sender` sent in the first flow.
pub fn way<'l>(ledger: &'l Ledger, sender: &str) -> &'l FlowDirectionRow {
    ledger
        .of_flows()
        .flow_directions
        .iter()
        .find(|row| row.sender == sender && row.flow == 0)
        .unwrap()
}
