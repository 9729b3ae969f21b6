//! The Ethernet header in front of an IP packet: the captured one, or one that is made.

use super::mapping::{Mac, Rules};
use super::options::Direction;

const ETHERNET: u16 = 1;
pub(super) const HEADER: usize = 14;
const TAG: usize = 4;
const MAC: usize = 6;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN: u16 = 0x8100;
const PROVIDER_VLAN: u16 = 0x88a8;
const OLD_PROVIDER_VLAN: u16 = 0x9100;

/// The ends of links that had no Ethernet: locally administered.
const CLIENT: Mac = [2, 0, 0, 0, 0, 0x0a];
const SERVER: Mac = [2, 0, 0, 0, 0, 0x0b];

pub(super) fn is_ethernet(link_type: u16) -> bool {
    link_type == ETHERNET
}

/// The header that a packet of either version of IP gets when its link had another.
pub(super) fn made(rules: &Rules, direction: Direction, v6: bool) -> [u8; HEADER] {
    let (source, destination) = match direction {
        Direction::ToServer => (CLIENT, SERVER),
        Direction::ToClient => (SERVER, CLIENT),
    };
    let (source, destination) = rules.macs(direction, source, destination);
    let [high, low] = (if v6 { IPV6 } else { IPV4 }).to_be_bytes();
    let [a, b, c, d, e, f] = destination;
    let [g, h, i, j, k, l] = source;
    [a, b, c, d, e, f, g, h, i, j, k, l, high, low]
}

/// Maps the MACs of a captured frame; says whether that changed them.
pub(super) fn map(rules: &Rules, direction: Direction, frame: &mut [u8]) -> bool {
    let Some((destination, rest)) = frame.split_first_chunk_mut::<MAC>() else { return false };
    let Some(source) = rest.first_chunk_mut::<MAC>() else { return false };
    let mapped = rules.macs(direction, *source, *destination);
    let changed = mapped != (*source, *destination);
    (*source, *destination) = mapped;
    changed
}

/// Bytes of the link header that a device's MTU leaves room for beside the IP packet: Ethernet's,
/// and one 802.1Q tag.
pub(super) fn free_of_mtu(header: &[u8]) -> usize {
    if ether_type(header, HEADER - 2) == Some(VLAN) { HEADER + TAG } else { HEADER }
}

/// Whether any number of packets may follow the header: it has tags at most, and no length.
pub(super) fn repeats(header: &[u8]) -> bool {
    let mut at = HEADER - 2;
    while matches!(ether_type(header, at), Some(VLAN | PROVIDER_VLAN | OLD_PROVIDER_VLAN)) {
        at += TAG;
    }
    at + 2 == header.len() && matches!(ether_type(header, at), Some(IPV4 | IPV6))
}

fn ether_type(header: &[u8], at: usize) -> Option<u16> {
    header.get(at..).and_then(|rest| rest.first_chunk()).map(|bytes| u16::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(rest: &[u8]) -> Vec<u8> {
        [&[0; 12], rest].concat()
    }

    #[test]
    fn a_made_header_tells_the_ends_apart() {
        let there = made(&Rules::default(), Direction::ToServer, false);
        assert_eq!(there, [2, 0, 0, 0, 0, 11, 2, 0, 0, 0, 0, 10, 8, 0]);
        let back = made(&Rules::default(), Direction::ToClient, true);
        assert_eq!(back, [2, 0, 0, 0, 0, 10, 2, 0, 0, 0, 0, 11, 0x86, 0xdd]);
    }

    #[test]
    fn tags_repeat_and_lengths_do_not() {
        assert!(repeats(&header(&[8, 0])));
        assert!(repeats(&header(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 5, 0x86, 0xdd])));
        assert!(!repeats(&header(&[0, 48, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0])));
        assert!(!repeats(&header(&[0x88, 0x64, 0x11, 0, 0, 0, 0, 40, 0, 0x21])));
        assert!(!repeats(&header(&[0x81, 0, 0, 5])));
        assert!(!repeats(&[0; 5]));
    }

    #[test]
    fn the_mtu_leaves_room_for_one_tag() {
        assert_eq!(free_of_mtu(&header(&[8, 0])), 14);
        assert_eq!(free_of_mtu(&header(&[0x81, 0, 0, 5, 8, 0])), 18);
        assert_eq!(free_of_mtu(&header(&[0x88, 0xa8, 0, 5, 8, 0])), 14);
    }
}
