//! Ethernet and everything else that names its payload by EtherType.
//!
//! IEEE 802.1Q and 802.1ad tags and the service tag of provider backbones
//! (802.1ah) are walked; IEEE 802.2 LLC only as SNAP (RFC 1042).

use super::super::bytes::{Span, be16};
use super::super::{Inner, Skip, Stop};
use super::{mpls, ppp};
use crate::problem::Layer;

pub(super) const IPV4: u16 = 0x0800;
pub(super) const IPV6: u16 = 0x86dd;
pub(super) const VLAN: u16 = 0x8100;
const PROVIDER_VLAN: u16 = 0x88a8;
/// What QinQ was before 802.1ad.
const OLD_PROVIDER_VLAN: u16 = 0x9100;
const BACKBONE_SERVICE: u16 = 0x88e7;
pub(super) const MPLS: u16 = 0x8847;
/// RFC 5332: since then both are used for both.
const MPLS_MULTICAST: u16 = 0x8848;
const PPPOE_SESSION: u16 = 0x8864;
/// "Transparent Ethernet Bridging": GRE and Geneve name an Ethernet frame so.
const ETHERNET_BRIDGED: u16 = 0x6558;
/// Up to here the field is a length (or a Linux pseudo-protocol) and LLC follows.
const LARGEST_LLC_LENGTH: u16 = 1500;
const MOST_TAGS: usize = 4;

/// Reads an Ethernet header (IEEE 802.3 section 3.2).
#[inline]
pub(in super::super) fn ethernet(frame: Span<'_>) -> Result<Inner<'_>, Stop> {
    let header = frame.header::<14>(Layer::Link, "Ethernet header")?;
    match be16::<12, 14>(header) {
        // Most frames, without the call.
        IPV4 | IPV6 => Ok(Inner::Ip(frame.after(14))),
        ether_type => by_ether_type(ether_type, frame.after(14)),
    }
}

/// What `payload` holds by the EtherType before it.
pub(in super::super) fn by_ether_type(
    mut ether_type: u16,
    mut payload: Span<'_>,
) -> Result<Inner<'_>, Stop> {
    for _ in 0..=MOST_TAGS {
        match ether_type {
            IPV4 | IPV6 => return Ok(Inner::Ip(payload)),
            VLAN | PROVIDER_VLAN | OLD_PROVIDER_VLAN => {
                // Two bytes of tag, then the EtherType of what is tagged.
                let tag = payload.header::<4>(Layer::Link, "VLAN tag")?;
                ether_type = be16::<2, 4>(tag);
                payload = payload.after(4);
            }
            MPLS | MPLS_MULTICAST => return mpls::read(payload),
            PPPOE_SESSION => return ppp::over_ethernet(payload),
            BACKBONE_SERVICE => {
                payload.header::<4>(Layer::Link, "802.1ah service tag")?;
                return Ok(Inner::Ethernet(payload.after(4)));
            }
            ETHERNET_BRIDGED => return Ok(Inner::Ethernet(payload)),
            ..=LARGEST_LLC_LENGTH => (ether_type, payload) = snap(payload)?,
            _ => break,
        }
    }
    Err(Stop::Skip(Skip::NotIp))
}

/// The EtherType and payload of an LLC/SNAP header (RFC 1042).
pub(super) fn snap(llc: Span<'_>) -> Result<(u16, Span<'_>), Stop> {
    const SIZE: usize = 8;
    // A frame of another LLC protocol may well be shorter than SNAP's header.
    if llc.length < SIZE || llc.bytes.first().is_some_and(|dsap| *dsap != 0xaa) {
        return Err(Stop::Skip(Skip::NotIp));
    }
    match llc.header::<SIZE>(Layer::Link, "LLC and SNAP header")? {
        header @ [0xaa, 0xaa, 0x03, 0, 0, 0, _, _] => {
            match be16::<6, SIZE>(header) {
                // SNAP in SNAP: no EtherType is this small.
                ..=LARGEST_LLC_LENGTH => Err(Stop::Skip(Skip::NotIp)),
                ether_type => Ok((ether_type, llc.after(SIZE))),
            }
        }
        _ => Err(Stop::Skip(Skip::NotIp)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::outcome;
    use crate::packet::build::ethernet;

    fn frame(ether_type: u16, payload: &[u8]) -> String {
        outcome(super::super::ETHERNET, &ethernet(ether_type, payload))
    }

    #[test]
    fn both_versions_of_ip() {
        assert_eq!(frame(0x0800, &[]), "ip");
        assert_eq!(frame(0x86dd, &[]), "ip");
        assert_eq!(frame(0x0806, &[0; 28]), "not IP");
    }

    #[test]
    fn tags_are_walked_up_to_four() {
        let c = [0, 5, 0x81, 0];
        let s = [0x20, 9, 0x88, 0xa8];
        let last = [0, 5, 8, 0];
        assert_eq!(frame(0x8100, &last), "ip");
        assert_eq!(frame(0x88a8, &[c, last].concat()), "ip");
        assert_eq!(frame(0x9100, &[s, c, c, last].concat()), "ip");
        assert_eq!(frame(0x9100, &[s, c, c, c, last].concat()), "not IP");
    }

    #[test]
    fn llc_is_ip_only_as_snap() {
        let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
        assert_eq!(frame(48, &snap), "ip");
        assert_eq!(frame(48, &[0xaa, 0xaa, 3, 0, 0, 0, 0x81, 0, 0, 5, 8, 0]), "ip");
        let spanning_tree = [0x42, 0x42, 3, 0, 0, 0, 0, 0];
        assert_eq!(frame(38, &spanning_tree), "not IP");
        let other_organisation = [0xaa, 0xaa, 3, 0, 0, 0x0c, 8, 0];
        assert_eq!(frame(48, &other_organisation), "not IP");
        assert_eq!(frame(48, &[0xaa, 0xaa, 3, 0, 0, 0, 0, 48]), "not IP");
        assert_eq!(frame(1501, &snap), "not IP");
    }

    #[test]
    fn a_frame_in_a_frame_is_left_to_the_caller() {
        assert_eq!(frame(0x88e7, &[0, 0, 0, 7]), "ethernet");
        assert_eq!(frame(0x6558, &[]), "ethernet");
    }
}
