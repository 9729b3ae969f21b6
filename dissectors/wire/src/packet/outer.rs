//! An IP packet by its own headers, whatever it carries: for those who send packets again and
//! not only read them.

use super::bytes::{Span, clamp};
use super::trace::Piece;
use super::walk::MOST_TUNNELS;
use super::{Inner, Skip, Stop, ip, link};
use crate::address::Address;
use crate::problem::Problem;

/// Where the headers of an IP packet are. Offsets count from the start of what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outer {
    pub source: Address,
    pub destination: Address,
    /// Of the IP header.
    pub offset: usize,
    /// Of what follows the IP header and its extension headers.
    pub upper: usize,
    /// IP's number of what follows.
    pub protocol: u8,
    /// Where the packet ended on the wire: beyond the bytes where the capture cut them.
    pub end: usize,
    pub fragment: Option<Piece>,
}

/// The outermost IP packet of a record with this LINKTYPE value, which had `wire_length` bytes
/// before the capture cut it.
pub fn outermost(link_type: u16, record: &[u8], wire_length: u32) -> Result<Outer, Stop> {
    let mut inner = link::network(link_type, whole(record, wire_length))?;
    for _ in 0..=MOST_TUNNELS {
        match inner {
            Inner::Ip(packet) => return Ok(read(packet)?),
            Inner::Ethernet(frame) => inner = link::ethernet(frame)?,
        }
    }
    Err(Stop::Skip(Skip::TunnelsTooDeep))
}

/// The IP packet at the start of `packet`, of which there were `wire_length` bytes.
pub fn outer(packet: &[u8], wire_length: u32) -> Result<Outer, Problem> {
    read(whole(packet, wire_length))
}

fn whole(bytes: &[u8], wire_length: u32) -> Span<'_> {
    let length = bytes.len().max(usize::try_from(wire_length).unwrap_or(usize::MAX));
    Span { bytes, offset: 0, length }
}

fn read(packet: Span<'_>) -> Result<Outer, Problem> {
    let ip = ip::read(packet)?;
    Ok(Outer {
        source: ip.header.source,
        destination: ip.header.destination,
        offset: packet.offset,
        upper: ip.upper.offset,
        protocol: ip.upper.protocol.0,
        end: ip.upper.offset.saturating_add(ip.upper.length),
        fragment: ip.fragment.map(|fragment| Piece {
            id: fragment.id,
            offset: clamp(fragment.offset),
            more: fragment.more,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::build::{ethernet, fragment, ipv4, ipv6};
    use crate::problem::Kind;

    #[test]
    fn the_outermost_packet_counts() {
        let frame = ethernet(0x8100, &[&[0, 5, 8, 0][..], &ipv4(4, &ipv4(132, &[9; 12]))].concat());
        let padded = [&frame[..], &[0; 6]].concat();
        let found = outermost(1, &padded, 0).unwrap();
        assert_eq!((found.offset, found.upper, found.end), (18, 38, frame.len()));
        assert_eq!((found.protocol, found.fragment), (4, None));
        assert_eq!(found.source, Address::v4([10, 0, 0, 1]));
    }

    #[test]
    fn the_end_is_that_on_the_wire() {
        let packet = ipv6(44, &fragment(17, 9, 1448, true, &[1; 16]));
        let found = outer(&packet[..50], 64).unwrap();
        assert_eq!((found.upper, found.end, found.protocol), (48, 64, 17));
        assert_eq!(found.fragment, Some(Piece { id: 9, offset: 1448, more: true }));
        assert_eq!(outer(&packet[..45], 64).unwrap_err().kind, Kind::Truncated);
        assert_eq!(outer(&packet[..50], 50).unwrap_err().kind, Kind::Malformed);
    }

    #[test]
    fn what_is_not_ip_says_so() {
        let arp = ethernet(0x0806, &[0; 28]);
        assert_eq!(outermost(1, &arp, 42), Err(Stop::Skip(Skip::NotIp)));
        assert_eq!(outermost(147, &arp, 42), Err(Stop::Skip(Skip::UnknownLinkType)));
    }
}
