//! Generic Routing Encapsulation (RFC 2784) with key and sequence number (RFC 2890).

use super::super::bytes::{Span, be16, be32, unknown};
use super::super::{Stop, link};
use super::Tunnelled;
use crate::problem::Layer;

const HEADER: usize = 4;
const CHECKSUM_PRESENT: u16 = 0x8000;
/// Source routes of RFC 1701, which nobody used and RFC 2784 dropped.
const ROUTING_PRESENT: u16 = 0x4000;
const KEY_PRESENT: u16 = 0x2000;
const SEQUENCE_PRESENT: u16 = 0x1000;
/// Version 1 is PPTP's (RFC 2637).
const VERSION: u16 = 0x0007;
/// Checksum and reserved bits, key, sequence number: each takes as much.
const OPTION: usize = 4;

pub(super) fn read(packet: Span<'_>) -> Result<Tunnelled<'_>, Stop> {
    let header = packet.header::<HEADER>(Layer::Tunnel, "GRE header")?;
    let flags = be16::<0, HEADER>(header);
    if flags & VERSION != 0 {
        return Err(unknown(Layer::Tunnel, packet.offset, "version 0 of GRE").into());
    }
    if flags & ROUTING_PRESENT != 0 {
        return Err(unknown(Layer::Tunnel, packet.offset, "GRE without source routes").into());
    }
    let mut rest = packet.after(HEADER);
    let mut option = |present: u16| match flags & present {
        0 => Ok(0),
        _ => {
            let value = be32::<0, OPTION>(rest.header::<OPTION>(Layer::Tunnel, "GRE option")?);
            rest = rest.after(OPTION);
            Ok::<u32, Stop>(value)
        }
    };
    option(CHECKSUM_PRESENT)?;
    let id = option(KEY_PRESENT)?;
    option(SEQUENCE_PRESENT)?;
    Ok(Tunnelled { inner: link::by_ether_type(be16::<2, HEADER>(header), rest)?, id })
}

#[cfg(test)]
mod tests {
    use super::super::tests::outcome;

    fn read(header: &[u8]) -> (String, u32) {
        outcome(super::read, header)
    }

    #[test]
    fn every_option_and_payload() {
        assert_eq!(read(&[0, 0, 8, 0]), ("ip".to_string(), 0));
        assert_eq!(read(&[0x20, 0, 0x86, 0xdd, 0, 0, 0, 9]), ("ip".to_string(), 9));
        let all = [0xb0, 0, 8, 0, 1, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1];
        assert_eq!(read(&all), ("ip".to_string(), 9));
        assert_eq!(read(&[0x10, 0, 0x65, 0x58, 0, 0, 0, 1]), ("ethernet".to_string(), 0));
        assert_eq!(read(&[0, 0, 0x88, 0x47, 0, 0, 1, 64]), ("ip".to_string(), 0));
        assert_eq!(read(&[0, 0, 0, 0]), ("not IP".to_string(), 0));
    }

    #[test]
    fn other_versions_are_unknown() {
        assert_eq!(read(&[0x30, 1, 0x88, 0x0b]), ("unknown".to_string(), 0));
        assert_eq!(read(&[0x40, 0, 8, 0]), ("unknown".to_string(), 0));
    }
}
