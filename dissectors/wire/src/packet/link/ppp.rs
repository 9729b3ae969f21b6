//! PPP (RFC 1661), bare, in HDLC-like framing (RFC 1662) or over Ethernet
//! (RFC 2516), and Cisco's HDLC, which shares serial lines with it.

use super::super::bytes::{Span, be16, malformed, unknown};
use super::super::{Inner, Skip, Stop};
use super::{ether, mpls};
use crate::problem::Layer;

/// All-Stations address and Unnumbered Information control (RFC 1662 section 3.1).
const ADDRESS_AND_CONTROL: [u8; 2] = [0xff, 0x03];
/// Addresses of Cisco's HDLC (RFC 1547 section 4.3.1).
const CISCO_UNICAST: u8 = 0x0f;
const CISCO_MULTICAST: u8 = 0x8f;

const IPV4: u16 = 0x0021;
const IPV6: u16 = 0x0057;
/// RFC 1968.
const ENCRYPTED: u16 = 0x0053;
const MPLS: u16 = 0x0281;
const MPLS_MULTICAST: u16 = 0x0283;

/// A frame of a serial line: PPP or Cisco's HDLC, told apart by the address.
pub(super) fn serial(frame: Span<'_>) -> Result<Inner<'_>, Stop> {
    match frame.bytes.first() {
        Some(&(CISCO_UNICAST | CISCO_MULTICAST)) => {
            let header = frame.header::<4>(Layer::Link, "Cisco HDLC header")?;
            ether::by_ether_type(be16::<2, 4>(header), frame.after(4))
        }
        _ => framed(frame),
    }
}

/// PPP whose address and control fields may have been left out.
pub(super) fn framed(frame: Span<'_>) -> Result<Inner<'_>, Stop> {
    let framed = frame.bytes.starts_with(&ADDRESS_AND_CONTROL);
    bare(if framed { frame.after(ADDRESS_AND_CONTROL.len()) } else { frame })
}

/// PPP behind a byte that says whether the host sent or received it.
pub(super) fn with_direction(record: Span<'_>) -> Result<Inner<'_>, Stop> {
    framed(record.after(1))
}

/// PPP from the protocol field on.
fn bare(frame: Span<'_>) -> Result<Inner<'_>, Stop> {
    let first = frame.header::<1>(Layer::Link, "PPP protocol")?;
    // Only the last byte of a protocol number is odd, so that a number below
    // 256 can go without its first (RFC 1661 sections 2 and 6.5).
    let (protocol, payload) = match first {
        [odd] if odd % 2 == 1 => (u16::from(*odd), frame.after(1)),
        _ => (be16::<0, 2>(frame.header::<2>(Layer::Link, "PPP protocol")?), frame.after(2)),
    };
    match protocol {
        IPV4 | IPV6 => Ok(Inner::Ip(payload)),
        MPLS | MPLS_MULTICAST => mpls::read(payload),
        ENCRYPTED => Err(Stop::Skip(Skip::Encrypted)),
        _ => Err(Stop::Skip(Skip::NotIp)),
    }
}

/// The session stage of PPPoE (RFC 2516 section 4).
pub(super) fn over_ethernet(payload: Span<'_>) -> Result<Inner<'_>, Stop> {
    const HEADER: usize = 6;
    const VERSION_AND_TYPE: u8 = 0x11;
    const SESSION_DATA: u8 = 0;
    let header = payload.header::<HEADER>(Layer::Link, "PPPoE header")?;
    let [version_and_type, code, ..] = *header;
    if version_and_type != VERSION_AND_TYPE {
        let what = "version 1 and type 1 of PPPoE";
        return Err(unknown(Layer::Link, payload.offset, what).into());
    }
    if code != SESSION_DATA {
        return Err(Stop::Skip(Skip::NotIp));
    }
    let length = usize::from(be16::<4, HEADER>(header));
    let frame = payload.after(HEADER);
    if length > frame.length {
        let what = "PPPoE length beyond its frame";
        return Err(malformed(Layer::Link, payload.offset, length, frame.length, what).into());
    }
    bare(frame.first(length))
}

#[cfg(test)]
mod tests {
    use super::super::tests::outcome;
    use super::super::{C_HDLC, PPP, PPP_HDLC, PPP_WITH_DIR};
    use crate::packet::build::ethernet;

    #[test]
    fn with_and_without_framing_and_compression() {
        for header in [
            &[0xff, 3, 0, 0x21][..],
            &[0xff, 3, 0x21],
            &[0, 0x57],
            &[0x57],
            &[0xff, 3, 0x02, 0x81, 0, 1, 1, 64],
        ] {
            assert_eq!(outcome(PPP, header), "ip");
            assert_eq!(outcome(PPP_HDLC, header), "ip");
        }
        assert_eq!(outcome(PPP, &[0xff, 3, 0xc0, 0x21]), "not IP");
        assert_eq!(outcome(PPP, &[0xff, 3, 0, 0x53]), "encrypted");
    }

    #[test]
    fn a_byte_for_the_direction() {
        for direction in [0, 1] {
            assert_eq!(outcome(PPP_WITH_DIR, &[direction, 0xff, 3, 0, 0x21]), "ip");
            assert_eq!(outcome(PPP_WITH_DIR, &[direction, 0, 0x57]), "ip");
            assert_eq!(outcome(PPP_WITH_DIR, &[direction, 0xff, 3, 0xc0, 0x21]), "not IP");
        }
    }

    #[test]
    fn cisco_names_its_payload_by_ether_type() {
        for link_type in [C_HDLC, PPP_HDLC] {
            assert_eq!(outcome(link_type, &[0x0f, 0, 8, 0]), "ip");
            assert_eq!(outcome(link_type, &[0x8f, 0, 0x86, 0xdd]), "ip");
            assert_eq!(outcome(link_type, &[0x8f, 0, 0x80, 0x35]), "not IP");
        }
    }

    #[test]
    fn sessions_over_ethernet() {
        let pppoe = |header: &[u8]| outcome(1, &ethernet(0x8864, header));
        assert_eq!(pppoe(&[0x11, 0, 0, 7, 0, 42, 0, 0x21]), "ip");
        assert_eq!(pppoe(&[0x11, 0, 0, 7, 0, 42, 0, 0x57]), "ip");
        assert_eq!(pppoe(&[0x11, 0, 0, 7, 0, 43, 0, 0x21]), "malformed link");
        assert_eq!(pppoe(&[0x11, 0, 0, 7, 0, 0, 0, 0x21]), "malformed link");
        assert_eq!(pppoe(&[0x21, 0, 0, 7, 0, 42, 0, 0x21]), "unknown link");
        assert_eq!(pppoe(&[0x11, 0xa7, 0, 7, 0, 42, 0, 0x21]), "not IP");
        assert_eq!(outcome(1, &ethernet(0x8863, &[0x11, 9, 0, 0, 0, 0])), "not IP");
    }
}
