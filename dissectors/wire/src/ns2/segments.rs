//! TCP and UDP packets of a trace, in the form that the flow tracker reads.
//!
//! ns-2's one-way TCP (Agent/TCP and its sinks) counts packets, not bytes: packet
//! 0 sets up (40 bytes; without `syn_` it carries data), and an `ack` names the
//! last packet received in order. Here packet n stands for the bytes that it
//! would have in a connection whose segments are all as large as the largest seen.
//! FullTcp counts bytes; it is told by TCP flags, which need `show_tcphdr_`.

use hashbrown::HashMap;

use super::line::{Line, Protocol, Socket, TCP_HEADERS};

const TCP_HEADER: u8 = 20;
const UDP_HEADER: u32 = 8;
const SYN: u8 = 2;
const ACK: u8 = 0x10;

/// Most flows followed; of further ones only transits, hops and links are kept.
const FLOWS: usize = 1 << 16;

/// A flow, and the end of it that a packet is from: 0 sent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub flow: usize,
    pub sender: usize,
}

#[derive(Default)]
struct Flow {
    /// User data of the largest packet.
    segment_bytes: u32,
    /// Packet 0 carried none.
    begins_with_syn: bool,
    counts_bytes: bool,
}

#[derive(Default)]
pub struct Segments {
    flows: Vec<Flow>,
    by_sockets: HashMap<(Protocol, Socket, Socket), Place>,
}

impl Segments {
    /// Of a packet that its source sends. `None` beyond the limit.
    pub fn place(&mut self, protocol: Protocol, line: &Line<'_>) -> Option<Place> {
        let key = (protocol, line.source, line.destination);
        if let Some(place) = self.by_sockets.get(&key) {
            return Some(*place);
        }
        if self.flows.len() >= FLOWS {
            return None;
        }
        let place = Place { flow: self.flows.len(), sender: 0 };
        self.flows.push(Flow::default());
        self.by_sockets.insert(key, place);
        let back = (protocol, line.destination, line.source);
        self.by_sockets.insert(back, Place { sender: 1, ..place });
        Some(place)
    }

    /// Writes the packet's transport header, and says how many bytes it and its payload had.
    pub fn write(
        &mut self,
        protocol: Protocol,
        place: Place,
        line: &Line<'_>,
        to: &mut Vec<u8>,
    ) -> u32 {
        to.clear();
        to.extend_from_slice(&line.source.port.to_be_bytes());
        to.extend_from_slice(&line.destination.port.to_be_bytes());
        if protocol == Protocol::Udp {
            let length = line.bytes.max(UDP_HEADER);
            to.extend_from_slice(&u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
            to.extend_from_slice(&[0; 2]);
            return u32::from(u16::try_from(length).unwrap_or(u16::MAX));
        }
        let Some(flow) = self.flows.get_mut(place.flow) else { return 0 };
        let (sequence, acknowledgement, flags, payload) = flow.header(line);
        to.extend_from_slice(&sequence.to_be_bytes());
        to.extend_from_slice(&acknowledgement.to_be_bytes());
        to.extend_from_slice(&[TCP_HEADER << 2, flags]);
        to.extend_from_slice(&u16::MAX.to_be_bytes());
        to.extend_from_slice(&[0; 4]);
        u32::from(TCP_HEADER) + payload
    }
}

impl Flow {
    fn header(&mut self, line: &Line<'_>) -> (u32, u32, u8, u32) {
        if let Some(tcp) = line.tcp.filter(|tcp| tcp.flags != 0 || self.counts_bytes) {
            self.counts_bytes = true;
            let payload = line.bytes.saturating_sub(tcp.header_bytes);
            return (wrap(line.number), wrap(tcp.acknowledgement), tcp.flags & 0x3f, payload);
        }
        if line.name == b"ack" {
            let flags = if self.begins_with_syn && line.number == 0 { SYN | ACK } else { ACK };
            let sequence = u32::from(self.begins_with_syn && line.number > 0);
            return (sequence, self.first_byte(line.number + 1), flags, 0);
        }
        let payload = line.bytes.saturating_sub(TCP_HEADERS);
        if line.number == 0 && payload == 0 {
            self.begins_with_syn = true;
            return (0, 0, SYN, 0);
        }
        self.segment_bytes = self.segment_bytes.max(payload);
        (self.first_byte(line.number), u32::from(self.begins_with_syn), ACK, payload)
    }

    /// Sequence number of the first byte of packet `number`.
    fn first_byte(&self, number: i64) -> u32 {
        let before = if self.begins_with_syn { number.saturating_sub(1) } else { number };
        let bytes = before.max(0).saturating_mul(i64::from(self.segment_bytes));
        wrap(bytes.saturating_add(i64::from(self.begins_with_syn)))
    }
}

/// Sequence numbers are counted in 32 bits (RFC 9293 section 3.4).
fn wrap(number: i64) -> u32 {
    (number & 0xffff_ffff) as u32
}

#[cfg(test)]
mod tests {
    use super::super::line::{Read, read};
    use super::*;

    const FIN: u8 = 1;

    fn written(segments: &mut Segments, line: &str) -> (u32, u32, u8, u32) {
        let Ok(Read::Packet(line)) = read(line.as_bytes()) else { panic!("{line}") };
        let protocol = line.protocol().unwrap();
        let place = segments.place(protocol, &line).unwrap();
        let mut bytes = Vec::new();
        let length = segments.write(protocol, place, &line, &mut bytes);
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        (word(4), word(8), bytes[13], length)
    }

    #[test]
    fn packets_of_one_way_tcp_become_bytes() {
        let mut segments = Segments::default();
        let mut line = |line| written(&mut segments, line);
        assert_eq!(line("+ 10 2 0 tcp 40 ------- 0 2.0 12.0 0 0"), (0, 0, SYN, 20));
        assert_eq!(line("+ 11 12 1 ack 40 ------- 0 12.0 2.0 0 1"), (0, 1, SYN | ACK, 20));
        assert_eq!(line("+ 12 2 0 tcp 1040 ------- 0 2.0 12.0 1 2"), (1, 1, ACK, 1020));
        assert_eq!(line("+ 12 2 0 tcp 1040 ------- 0 2.0 12.0 2 3"), (1001, 1, ACK, 1020));
        assert_eq!(line("+ 13 12 1 ack 40 ------- 0 12.0 2.0 2 4"), (1, 2001, ACK, 20));
    }

    #[test]
    fn without_syn_the_first_packet_has_data() {
        let mut segments = Segments::default();
        let mut line = |line| written(&mut segments, line);
        assert_eq!(line("+ 10 2 0 tcp 1040 ------- 0 2.0 12.0 0 0"), (0, 0, ACK, 1020));
        assert_eq!(line("+ 11 12 1 ack 40 ------- 0 12.0 2.0 0 1"), (0, 1000, ACK, 20));
    }

    #[test]
    fn full_tcp_has_its_own_numbers() {
        let mut segments = Segments::default();
        let mut line = |line| written(&mut segments, line);
        assert_eq!(line("+ 1 0 1 tcp 40 ------- 0 0.0 1.0 0 0 0 0x2 40 0"), (0, 0, SYN, 20));
        assert_eq!(line("+ 2 0 1 tcp 1040 ------- 0 0.0 1.0 1 2 1 0x10 40 0"), (1, 1, ACK, 1020));
        assert_eq!(
            line("+ 3 0 1 ack 40 ------- 0 0.0 1.0 1001 3 1 0x11 40 0"),
            (1001, 1, FIN | ACK, 20)
        );
    }
}
