//! MPTCP connections: which subflows belong together, and which data sequence
//! numbers travel on more than one of them (RFC 8684).

use std::collections::VecDeque;

use hashbrown::HashMap;

use super::Flow;
use crate::sctp::Unwrap;
use crate::tcp::mptcp::{Mapping, first_data_sequence, token};
use crate::tcp::{ACK, Header, Mptcp, SYN};
use crate::track::End;

/// Connections remembered at a time; the oldest is forgotten beyond it.
const CONNECTIONS: usize = 1 << 14;
/// Mapped stretches remembered in one direction of a connection.
const MAPPED: usize = 512;

/// Data sequence numbers that one end mapped on a subflow.
#[derive(Clone, Copy)]
struct Mapped {
    start: u64,
    end: u64,
    flow: u32,
}

/// What one end of a connection mapped.
#[derive(Default)]
struct Sequence {
    line: Option<Unwrap>,
    /// In order, disjoint.
    mapped: VecDeque<Mapped>,
    /// Everything below is forgotten.
    floor: u64,
}

#[derive(Default)]
struct Connection {
    tokens: Vec<u32>,
    /// By the end of the subflow that opened the connection.
    sequences: [Sequence; 2],
}

#[derive(Default)]
pub struct Connections {
    next: u32,
    /// In order of first sight, forgotten in that order.
    order: VecDeque<u32>,
    known: HashMap<u32, Connection>,
    /// A token's connection, and the end that owns the key.
    by_token: HashMap<u32, (u32, End)>,
}

impl Connections {
    /// One MPTCP option of a segment that `sender` sent.
    pub fn option(&mut self, flow: &mut Flow, sender: End, header: &Header, option: &Mptcp<'_>) {
        match *option {
            Mptcp::Capable { version, sender_key, receiver_key, data_length, .. } => {
                self.capable(flow, sender, header, version, [sender_key, receiver_key]);
                // Data that comes with the keys is mapped by them (RFC 8684 section 3.1).
                if let (Some(key), Some(length)) = (sender_key, data_length) {
                    let data_sequence = first_data_sequence(version, key);
                    self.map(flow, sender, &Mapping { data_sequence, subflow_sequence: 1, length });
                }
            }
            Mptcp::Join { backup, address_id, token } => {
                if header.has(SYN) {
                    flow.row.backup |= backup;
                    flow.ways[sender as usize].row.address_id = address_id;
                }
                if let Some(token) = token.filter(|_| header.has(SYN) && !header.has(ACK)) {
                    self.join(flow, sender, token);
                }
            }
            Mptcp::Priority { backup, .. } => flow.row.backup = backup,
            Mptcp::Dss(dss) => {
                if let Some(mapping) = dss.mapping {
                    self.map(flow, sender, &mapping);
                }
            }
            _ => {}
        }
    }

    /// The keys that the answer and the third segment carry; those of a SYN say nothing until
    /// the other end agrees.
    fn capable(
        &mut self,
        flow: &mut Flow,
        sender: End,
        header: &Header,
        version: u8,
        [sender_key, receiver_key]: [Option<u64>; 2],
    ) {
        if !header.has(ACK) {
            return;
        }
        flow.row.mptcp_version = Some(version);
        flow.row.subflow = Some("capable");
        flow.row.connection_end = Some(End::A.name());
        for (key, end) in [(sender_key, sender), (receiver_key, sender.other())] {
            let Some(token) = key.map(|key| token(version, key)) else { continue };
            let number = match (flow.row.connection, self.by_token.get(&token)) {
                (Some(number), _) => number,
                // Its other subflows were seen before.
                (None, Some(&(number, _))) => number,
                (None, None) => self.open(),
            };
            flow.row.connection = Some(number);
            self.learn(token, number, end);
        }
    }

    /// A SYN carries the token of its receiver.
    fn join(&mut self, flow: &mut Flow, sender: End, token: u32) {
        let (number, owner) = match self.by_token.get(&token) {
            Some(&known) => known,
            None => {
                // The connection's first subflow is not in the capture.
                let number = self.open();
                self.learn(token, number, sender.other());
                (number, sender.other())
            }
        };
        // A join goes to the owner of its token, whichever end of the connection that is.
        flow.row.subflow = Some("join");
        flow.row.connection = Some(number);
        flow.row.connection_end = Some(owner.other().name());
    }

    fn open(&mut self) -> u32 {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        if self.order.len() >= CONNECTIONS
            && let Some(old) = self.order.pop_front()
            && let Some(old) = self.known.remove(&old)
        {
            for token in old.tokens {
                self.by_token.remove(&token);
            }
        }
        self.order.push_back(number);
        self.known.insert(number, Connection::default());
        number
    }

    fn learn(&mut self, token: u32, number: u32, end: End) {
        let Some(connection) = self.known.get_mut(&number) else { return };
        // Two keys, and the tokens of joins seen before them.
        if connection.tokens.len() < 4 && self.by_token.insert(token, (number, end)).is_none() {
            connection.tokens.push(token);
        }
    }

    fn map(&mut self, flow: &mut Flow, sender: End, mapping: &Mapping) {
        let Some(connection) = flow.row.connection.and_then(|n| self.known.get_mut(&n)) else {
            return;
        };
        let turned = flow.row.connection_end == Some(End::B.name());
        let end = if turned { sender.other() } else { sender };
        let found = connection.sequences[end as usize].map(mapping, flow.row.flow);
        let row = &mut flow.ways[sender as usize].row;
        row.mapped_bytes += found.new;
        row.reinjected_bytes += found.reinjected;
    }
}

/// Data sequence numbers of one mapping.
#[derive(Default)]
struct Found {
    new: u64,
    reinjected: u64,
}

impl Sequence {
    fn map(&mut self, mapping: &Mapping, flow: u32) -> Found {
        // The low 32 bits are enough, and all that some options carry.
        let wire = mapping.data_sequence as u32;
        let length = u32::from(mapping.length);
        let line = self.line.get_or_insert_with(|| Unwrap::new(wire));
        let start = line.near(wire);
        let end = start + u64::from(length);
        line.extend(wire.wrapping_add(length));
        let mut found = Found::default();
        let mut at = start.max(self.floor);
        let mut index = self.mapped.partition_point(|mapped| mapped.end <= at);
        while at < end {
            let until = match self.mapped.get(index) {
                Some(mapped) if mapped.start <= at => {
                    let until = mapped.end.min(end);
                    // The same numbers on the same subflow are its own retransmission.
                    if mapped.flow != flow {
                        found.reinjected += until - at;
                    }
                    until
                }
                following => {
                    let until = following.map_or(end, |mapped| mapped.start.min(end));
                    found.new += until - at;
                    self.mapped.insert(index, Mapped { start: at, end: until, flow });
                    until
                }
            };
            at = until;
            index += 1;
        }
        while self.mapped.len() > MAPPED {
            if let Some(oldest) = self.mapped.pop_front() {
                self.floor = oldest.end;
            }
        }
        found
    }
}
