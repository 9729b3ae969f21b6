//! Link layers: where the IP header starts in a captured record.
//!
//! Link types are the LINKTYPE values of pcap and pcapng files
//! (draft-ietf-opsawg-pcaplinktype). IEEE 802.1Q and 802.1ad tags are walked,
//! IEEE 802.2 LLC only as SNAP (RFC 1042).

use super::bytes::{Extent, be16, be32};
use crate::problem::{Layer, Problem};

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
/// DLT_RAW has two values on different systems, and both are found in files.
const DLT_RAW: u16 = 12;
const DLT_RAW_OPENBSD: u16 = 14;
const RAW: u16 = 101;
const LOOP: u16 = 108;
const LINUX_SLL: u16 = 113;
const IPV4: u16 = 228;
const IPV6: u16 = 229;
const LINUX_SLL2: u16 = 276;

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// Up to here the field is a length (or a Linux pseudo-protocol) and LLC follows.
const LARGEST_LLC_LENGTH: u16 = 1500;
const MOST_TAGS: usize = 4;

const AF_INET: u32 = 2;
/// Linux, NetBSD and OpenBSD, FreeBSD, macOS.
const AF_INET6: [u32; 4] = [10, 24, 28, 30];

pub(super) enum Network {
    /// An IP header starts at this offset, if the record reaches that far.
    Ip(usize),
    NotIp,
    UnknownLinkType,
}

/// Walks the link header of `record`, which had `wire` bytes on the wire.
pub(super) fn network(link_type: u16, record: &[u8], wire: usize) -> Result<Network, Problem> {
    match link_type {
        ETHERNET => by_ether_type(record, wire, 12, 14),
        LINUX_SLL => by_ether_type(record, wire, 14, 16),
        LINUX_SLL2 => by_ether_type(record, wire, 0, 20),
        NULL | LOOP => by_address_family(record, wire),
        RAW | DLT_RAW | DLT_RAW_OPENBSD | IPV4 | IPV6 => Ok(Network::Ip(0)),
        _ => Ok(Network::UnknownLinkType),
    }
}

/// `field` is where the EtherType stands, `payload` where its payload starts.
fn by_ether_type(
    record: &[u8],
    wire: usize,
    mut field: usize,
    mut payload: usize,
) -> Result<Network, Problem> {
    for _ in 0..=MOST_TAGS {
        match be16::<0, 2>(fixed(record, wire, field)?) {
            ETHERTYPE_IPV4 | ETHERTYPE_IPV6 => return Ok(Network::Ip(payload)),
            0x8100 | 0x88a8 | 0x9100 => {
                // Two bytes of tag, then the EtherType of what is tagged.
                field = payload + 2;
                payload += 4;
            }
            ..=LARGEST_LLC_LENGTH => return Ok(snap(record, payload)),
            _ => return Ok(Network::NotIp),
        }
    }
    Ok(Network::NotIp)
}

fn snap(record: &[u8], at: usize) -> Network {
    match record.get(at..).and_then(|llc| llc.first_chunk::<8>()) {
        Some(llc @ [0xaa, 0xaa, 0x03, 0, 0, 0, _, _])
            if matches!(be16::<6, 8>(llc), ETHERTYPE_IPV4 | ETHERTYPE_IPV6) =>
        {
            Network::Ip(at + 8)
        }
        _ => Network::NotIp,
    }
}

/// NULL writes the family in the byte order of the capturing host, LOOP in
/// network order; no family is a valid one in the other order, so one reader
/// serves both.
fn by_address_family(record: &[u8], wire: usize) -> Result<Network, Problem> {
    let family = be32::<0, 4>(fixed(record, wire, 0)?);
    let is_ip = [family, family.swap_bytes()]
        .iter()
        .any(|family| *family == AF_INET || AF_INET6.contains(family));
    Ok(if is_ip { Network::Ip(4) } else { Network::NotIp })
}

fn fixed<const N: usize>(record: &[u8], wire: usize, at: usize) -> Result<&[u8; N], Problem> {
    let rest = record.get(at..).unwrap_or_default();
    rest.first_chunk().ok_or_else(|| {
        Extent { captured: rest.len(), wire: wire.saturating_sub(at) }.short(
            Layer::Link,
            at,
            N,
            "link header",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::build::{ethernet, ipv4};
    use crate::problem::Kind;

    /// Where IP starts, None for anything else.
    fn at(link_type: u16, header: &[u8]) -> Option<usize> {
        let record = [header, &[0x45; 20]].concat();
        match network(link_type, &record, record.len()) {
            Ok(Network::Ip(at)) => {
                assert_eq!(at, header.len());
                Some(at)
            }
            _ => None,
        }
    }

    #[test]
    fn every_link_type_finds_ip() {
        assert_eq!(at(ETHERNET, &ethernet(0x0800, &[])), Some(14));
        assert_eq!(at(ETHERNET, &ethernet(0x86dd, &[])), Some(14));
        assert_eq!(at(LINUX_SLL, &[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0]), Some(16));
        let sll2 = [0x86, 0xdd, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0];
        assert_eq!(at(LINUX_SLL2, &sll2), Some(20));
        for raw in [RAW, DLT_RAW, DLT_RAW_OPENBSD, IPV4, IPV6] {
            assert_eq!(at(raw, &[]), Some(0));
        }
        for family in [2, 10, 24, 28, 30_u32] {
            assert_eq!(at(NULL, &family.to_le_bytes()), Some(4));
            assert_eq!(at(NULL, &family.to_be_bytes()), Some(4));
            assert_eq!(at(LOOP, &family.to_be_bytes()), Some(4));
        }
        assert_eq!(at(NULL, &[7, 0, 0, 0]), None);
        assert!(matches!(network(147, &[0; 60], 60), Ok(Network::UnknownLinkType)));
    }

    #[test]
    fn tags_are_walked_up_to_four() {
        let tagged = |tags: &[[u8; 4]]| {
            let frame = ethernet(0, &[]);
            [&frame[..12], tags.as_flattened(), &[8, 0]].concat()
        };
        let c = [0x81, 0, 0, 5];
        let s = [0x88, 0xa8, 0x20, 9];
        let q = [0x91, 0, 0, 1];
        assert_eq!(at(ETHERNET, &tagged(&[c])), Some(18));
        assert_eq!(at(ETHERNET, &tagged(&[s, c])), Some(22));
        assert_eq!(at(ETHERNET, &tagged(&[q, s, c, c])), Some(30));
        assert_eq!(at(ETHERNET, &tagged(&[q, s, c, c, c])), None);
        // Linux cooked captures carry tags as well.
        let sll = [0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0x81, 0, 0, 5, 8, 0];
        assert_eq!(at(LINUX_SLL, &sll), Some(20));
    }

    #[test]
    fn llc_is_ip_only_as_snap() {
        let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
        assert_eq!(at(ETHERNET, &ethernet(48, &snap)), Some(22));
        let spanning_tree = [0x42, 0x42, 3, 0, 0, 0, 0, 0];
        assert_eq!(at(ETHERNET, &ethernet(38, &spanning_tree)), None);
        let other_organisation = [0xaa, 0xaa, 3, 0, 0, 0x0c, 8, 0];
        assert_eq!(at(ETHERNET, &ethernet(48, &other_organisation)), None);
        assert_eq!(at(ETHERNET, &ethernet(0x0806, &[])), None);
        assert_eq!(at(ETHERNET, &ethernet(1501, &snap)), None);
    }

    #[test]
    fn a_short_header_is_truncated_or_malformed() {
        let frame = ethernet(0x8100, &ipv4(132, &[]));
        let kind = |kept: usize, wire: usize| {
            network(ETHERNET, &frame[..kept], wire).map(|_| ()).map_err(|problem| problem.kind)
        };
        assert_eq!(kind(13, 60), Err(Kind::Truncated));
        assert_eq!(kind(13, 13), Err(Kind::Malformed));
        assert_eq!(kind(17, 60), Err(Kind::Truncated));
        assert_eq!(kind(17, 17), Err(Kind::Malformed));
        assert_eq!(network(NULL, &[2], 1).map(|_| ()).unwrap_err().layer, Layer::Link);
    }
}
