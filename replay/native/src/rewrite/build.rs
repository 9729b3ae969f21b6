//! Packets for tests, written out field by field, with checksums summed the slow way; and a
//! judge of checksums that shares nothing with what is tested but RFC 1071's sum.

use pathscope_wire::checksum::{Checksum, PseudoHeader, fold, sum};
use pathscope_wire::packet::outermost;
use pathscope_wire::sctp;

pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const ICMP: u8 = 1;
pub(super) const ICMPV6: u8 = 58;
pub(super) const SCTP: u8 = 132;

fn v6_address(last: u8) -> [u8; 16] {
    [0xfd, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]
}

/// 10.0.1.1 to 10.0.1.2, or fd00:1::1 to fd00:1::2, around `payload`.
pub(super) fn ip(v6: bool, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = if v6 {
        let [high, low] = u16::try_from(payload.len()).unwrap().to_be_bytes();
        let addresses = [v6_address(1), v6_address(2)].concat();
        [&[0x60, 0, 0, 0, high, low, protocol, 64][..], &addresses].concat()
    } else {
        let [high, low] = u16::try_from(payload.len() + 20).unwrap().to_be_bytes();
        vec![0x45, 0, high, low, 0, 7, 0x40, 0, 64, protocol, 0, 0, 10, 0, 1, 1, 10, 0, 1, 2]
    };
    if !v6 {
        right_header(&mut bytes);
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// Makes the header checksum of an IPv4 packet without options right.
pub(super) fn right_header(packet: &mut [u8]) {
    packet[10..12].fill(0);
    let field = !(fold(sum(&packet[..20])) as u16);
    packet[10..12].copy_from_slice(&field.to_be_bytes());
}

/// An IP packet whose payload has its checksum, over it and the pseudo-header, at `at`.
fn summed(v6: bool, protocol: u8, mut payload: Vec<u8>, at: usize) -> Vec<u8> {
    let packet = ip(v6, protocol, &payload);
    let (addresses, extra) = if v6 { (&packet[8..40], 0) } else { (&packet[12..20], 0_u64) };
    let pseudo = if protocol == ICMP {
        0
    } else {
        sum(addresses) + u64::from(protocol) + payload.len() as u64 + extra
    };
    let mut field = !(fold(pseudo + sum(&payload)) as u16);
    if protocol == UDP && field == 0 {
        field = 0xffff;
    }
    payload[at..at + 2].copy_from_slice(&field.to_be_bytes());
    ip(v6, protocol, &payload)
}

/// From port 5000 to 6000, sequence number 1000, with options padded to four bytes.
pub(super) fn tcp(v6: bool, flags: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut options = options.to_vec();
    options.resize(options.len().next_multiple_of(4), 0);
    let offset = ((20 + options.len()) / 4) << 4;
    let mut bytes = vec![0x13, 0x88, 0x17, 0x70, 0, 0, 3, 232, 0, 0, 0, 9, offset as u8, flags];
    bytes.extend([1, 0, 0, 0, 0, 0]);
    bytes.extend(options);
    bytes.extend_from_slice(payload);
    summed(v6, TCP, bytes, 16)
}

pub(super) fn udp(v6: bool, ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + payload.len()).unwrap();
    let mut bytes: Vec<u8> =
        [ports[0], ports[1], length, 0].iter().flat_map(|field| field.to_be_bytes()).collect();
    bytes.extend_from_slice(payload);
    summed(v6, UDP, bytes, 6)
}

pub(super) fn icmp(v6: bool, kind: u8, code: u8, rest: [u8; 4], body: &[u8]) -> Vec<u8> {
    let bytes = [&[kind, code, 0, 0][..], &rest, body].concat();
    summed(v6, if v6 { ICMPV6 } else { ICMP }, bytes, 2)
}

/// A chunk, a parameter or a cause.
pub(super) fn tlv(kind: [u8; 2], value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(value.len() + 4).unwrap();
    let mut bytes = [kind, length.to_be_bytes()].concat();
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// An SCTP packet from port 5000 to 6000.
pub(super) fn sctp(chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0x13, 0x88, 0x17, 0x70, 1, 2, 3, 4, 0, 0, 0, 0];
    bytes.extend(chunks.concat());
    let checksum = crc_fast::crc32_iscsi(&bytes);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

pub(super) fn data(bytes: usize) -> Vec<u8> {
    tlv([0, 3], &[&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0][..], &vec![7; bytes]].concat())
}

/// INIT with these parameters.
pub(super) fn init(parameters: &[Vec<u8>]) -> Vec<u8> {
    tlv(
        [1, 0],
        &[&[0, 0, 0, 9, 0, 1, 0, 0, 0, 5, 0, 5, 0, 0, 0, 1][..], &parameters.concat()].concat(),
    )
}

pub(super) fn ethernet(packet: &[u8]) -> Vec<u8> {
    let ether_type = if packet[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] };
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..], &ether_type, packet].concat()
}

/// What of an Ethernet frame's checksums is wrong, as far as it is here to be checked.
pub(super) fn wrong(frame: &[u8], sctp_ports: &[u16]) -> Option<&'static str> {
    let found = outermost(1, frame, 0).ok()?;
    let header = frame.get(found.offset..)?;
    if header[0] >> 4 == 4 && fold(sum(&header[..4 * usize::from(header[0] & 15)])) != 0xffff {
        return Some("IPv4");
    }
    if found.fragment.is_some() {
        return None;
    }
    let upper = frame.get(found.upper..found.end)?;
    let (source, destination, protocol) = (found.source, found.destination, found.protocol);
    let pseudo = PseudoHeader { source, destination, protocol };
    let right = |bytes: &[u8]| pseudo.verify(bytes, bytes.len() as u32, 0) == Checksum::Valid;
    match protocol {
        TCP => (!right(upper)).then_some("TCP"),
        ICMPV6 if !source.is_v4() => (!right(upper)).then_some("ICMPv6"),
        ICMP if source.is_v4() => (fold(sum(upper)) != 0xffff).then_some("ICMP"),
        SCTP => (!crc_is_right(upper)).then_some("SCTP"),
        UDP => {
            let [a, b, c, d, e, f, g, h] = *upper.first_chunk()?;
            let datagram = upper.get(..usize::from(u16::from_be_bytes([e, f])))?;
            if [g, h] != [0, 0] && !right(datagram) || [g, h] == [0, 0] && !source.is_v4() {
                return Some("UDP");
            }
            let ports = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
            let inside = ports.iter().any(|port| sctp_ports.contains(port));
            (inside && !crc_is_right(&datagram[8..])).then_some("SCTP in UDP")
        }
        _ => None,
    }
}

fn crc_is_right(packet: &[u8]) -> bool {
    match sctp::parse(packet, packet.len() as u32) {
        Ok((header, _)) => {
            let verdict = sctp::verify(packet, &header, packet.len() as u32);
            verdict.checksum == sctp::Checksum::Valid
        }
        // No header, no checksum.
        Err(_) => true,
    }
}

#[test]
fn what_is_built_is_right() {
    for v6 in [false, true] {
        let odd = [1, 2, 3];
        let packets = [
            tcp(v6, 0x18, &[1], &odd),
            udp(v6, [7, 8], &odd),
            udp(v6, [7, 9899], &sctp(&[data(5)])),
            icmp(v6, 8, 0, [0; 4], &odd),
            ip(v6, SCTP, &sctp(&[data(5)])),
        ];
        for packet in packets {
            let mut frame = ethernet(&packet);
            assert_eq!(wrong(&frame, &[9899]), None);
            let last = frame.len() - 1;
            frame[last] ^= 1;
            assert!(wrong(&frame, &[9899]).is_some());
        }
    }
}
