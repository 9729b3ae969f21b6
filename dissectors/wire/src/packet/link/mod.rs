//! Link layers: from a captured record to the IP packet or Ethernet frame in it.
//!
//! Link types are the LINKTYPE values of pcap and pcapng files
//! (draft-ietf-opsawg-pcaplinktype).

mod ether;
mod mpls;
mod ppp;
mod radio;
mod wlan;

pub(super) use self::ether::{by_ether_type, ethernet};
use super::bytes::{Span, be16, be32};
use super::{Inner, Skip, Stop};
use crate::problem::Layer;

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const PPP: u16 = 9;
/// DLT_RAW has two values on different systems, and both are found in files.
const DLT_RAW: u16 = 12;
const DLT_RAW_OPENBSD: u16 = 14;
const PPP_HDLC: u16 = 50;
const RAW: u16 = 101;
const C_HDLC: u16 = 104;
const IEEE802_11: u16 = 105;
const LOOP: u16 = 108;
const LINUX_SLL: u16 = 113;
const IEEE802_11_PRISM: u16 = 119;
const IEEE802_11_RADIOTAP: u16 = 127;
const IEEE802_11_AVS: u16 = 163;
/// As OMNeT++/INET records PPP.
const PPP_WITH_DIR: u16 = 204;
const IPV4: u16 = 228;
const IPV6: u16 = 229;
const LINUX_SLL2: u16 = 276;

const AF_INET: u32 = 2;
/// Linux, NetBSD and OpenBSD, FreeBSD, macOS.
const AF_INET6: [u32; 4] = [10, 24, 28, 30];

/// Walks the link header of a record.
#[inline]
pub(super) fn network(link_type: u16, record: Span<'_>) -> Result<Inner<'_>, Stop> {
    match link_type {
        ETHERNET => ethernet(record),
        LINUX_SLL => {
            let header = record.header::<16>(Layer::Link, "Linux cooked header")?;
            by_ether_type(be16::<14, 16>(header), record.after(16))
        }
        LINUX_SLL2 => {
            let header = record.header::<20>(Layer::Link, "Linux cooked header, version 2")?;
            by_ether_type(be16::<0, 20>(header), record.after(20))
        }
        NULL | LOOP => by_address_family(record),
        RAW | DLT_RAW | DLT_RAW_OPENBSD | IPV4 | IPV6 => Ok(Inner::Ip(record)),
        PPP => ppp::framed(record),
        PPP_WITH_DIR => ppp::with_direction(record),
        PPP_HDLC | C_HDLC => ppp::serial(record),
        IEEE802_11 => wlan::data(record, wlan::Pad::None),
        IEEE802_11_RADIOTAP => radio::radiotap(record),
        IEEE802_11_PRISM => radio::prism(record),
        IEEE802_11_AVS => radio::avs(record),
        _ => Err(Stop::Skip(Skip::UnknownLinkType)),
    }
}

/// NULL writes the family in the byte order of the capturing host, LOOP in
/// network order; no family is a valid one in the other order, so one reader
/// serves both.
fn by_address_family(record: Span<'_>) -> Result<Inner<'_>, Stop> {
    let family = be32::<0, 4>(record.header::<4>(Layer::Link, "address family")?);
    let is_ip = [family, family.swap_bytes()]
        .iter()
        .any(|family| *family == AF_INET || AF_INET6.contains(family));
    if is_ip { Ok(Inner::Ip(record.after(4))) } else { Err(Stop::Skip(Skip::NotIp)) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::packet::build::ethernet;
    use crate::problem::Kind;

    pub(crate) fn span(bytes: &[u8]) -> Span<'_> {
        Span { bytes, offset: 0, length: bytes.len() }
    }

    /// How a link header ends: `ip` or `ethernet` right behind it, a skip's
    /// name, or a problem's kind and layer.
    pub(crate) fn outcome(link_type: u16, header: &[u8]) -> String {
        let record = [header, &[0x45; 40]].concat();
        match network(link_type, span(&record)) {
            Ok(inner) => {
                let (name, span) = match inner {
                    Inner::Ip(span) => ("ip", span),
                    Inner::Ethernet(span) => ("ethernet", span),
                };
                assert_eq!(span.offset, header.len());
                name.to_string()
            }
            Err(Stop::Skip(skip)) => skip.name().to_string(),
            Err(Stop::Problem(problem)) => {
                format!("{} {}", problem.kind.name(), problem.layer.name())
            }
        }
    }

    #[test]
    fn every_plain_link_type_finds_ip() {
        assert_eq!(outcome(ETHERNET, &ethernet(0x0800, &[])), "ip");
        assert_eq!(outcome(LINUX_SLL, &[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0]), "ip");
        let sll2 = [0x86, 0xdd, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0];
        assert_eq!(outcome(LINUX_SLL2, &sll2), "ip");
        // Linux cooked captures carry tags as well.
        let sll = [0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0x81, 0, 0, 5, 8, 0];
        assert_eq!(outcome(LINUX_SLL, &sll), "ip");
        for raw in [RAW, DLT_RAW, DLT_RAW_OPENBSD, IPV4, IPV6] {
            assert_eq!(outcome(raw, &[]), "ip");
        }
        for family in [2, 10, 24, 28, 30_u32] {
            assert_eq!(outcome(NULL, &family.to_le_bytes()), "ip");
            assert_eq!(outcome(NULL, &family.to_be_bytes()), "ip");
            assert_eq!(outcome(LOOP, &family.to_be_bytes()), "ip");
        }
        assert_eq!(outcome(NULL, &[7, 0, 0, 0]), "not IP");
        assert_eq!(outcome(147, &[0; 60]), "link type not supported");
    }

    #[test]
    fn a_short_header_is_truncated_or_malformed() {
        let kind = |link_type, kept: usize, length: usize| {
            let record = ethernet(0x8100, &[0, 5, 8, 0]);
            match network(link_type, Span { bytes: &record[..kept], offset: 0, length }) {
                Err(Stop::Problem(problem)) => (problem.kind, problem.layer),
                _ => panic!("no problem"),
            }
        };
        for link_type in [ETHERNET, LINUX_SLL, NULL] {
            assert_eq!(kind(link_type, 3, 60), (Kind::Truncated, Layer::Link));
            assert_eq!(kind(link_type, 3, 3), (Kind::Malformed, Layer::Link));
        }
        assert_eq!(kind(ETHERNET, 17, 60), (Kind::Truncated, Layer::Link));
        assert_eq!(kind(ETHERNET, 17, 17), (Kind::Malformed, Layer::Link));
    }
}
