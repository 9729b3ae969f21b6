//! GTP-U, the user plane of UMTS, LTE and 5G core networks (3GPP TS 29.281
//! section 5): a G-PDU carries one packet of a subscriber.

use super::super::bytes::{Span, be16, be32, malformed};
use super::super::{Inner, Skip, Stop};
use super::{Tunnelled, header};
use crate::problem::{Layer, Problem};

pub(crate) const PORT: u16 = 2152;
const HEADER: usize = 8;
/// Version 1, protocol type GTP; spare bit left out.
const VERSION_AND_TYPE: u8 = 0xf0;
const GTP_VERSION_1: u8 = 0x30;
/// The flags E, S and PN: any of them brings all three optional fields.
const OPTIONAL: u8 = 0x07;
const EXTENDED: u8 = 0x04;
/// Sequence number, N-PDU number, type of the first extension header.
const OPTIONAL_FIELDS: usize = 4;
const G_PDU: u8 = 255;

pub(super) fn read(datagram: Span<'_>) -> Result<Tunnelled<'_>, Stop> {
    let header = header::<HEADER>(datagram, "GTP-U header", |header| {
        header[0] & VERSION_AND_TYPE == GTP_VERSION_1
    })?;
    let [flags, message, ..] = *header;
    if message != G_PDU {
        return Err(Stop::Skip(Skip::NotSctp));
    }
    let length = usize::from(be16::<2, HEADER>(header));
    let rest = datagram.after(HEADER);
    if length > rest.length {
        let what = "GTP-U length beyond its datagram";
        return Err(malformed(Layer::Tunnel, datagram.offset, length, rest.length, what).into());
    }
    let mut rest = rest.first(length);
    if flags & OPTIONAL != 0 {
        let what = "GTP-U optional fields";
        let &[.., next] = rest.header::<OPTIONAL_FIELDS>(Layer::Tunnel, what)?;
        rest = rest.after(OPTIONAL_FIELDS);
        if flags & EXTENDED != 0 {
            rest = skip_extensions(rest, next)?;
        }
    }
    let inner = match rest.bytes.first().map(|first| first >> 4) {
        // What is missing is told as IP's.
        Some(4 | 6) | None => Inner::Ip(rest),
        // PPP of UMTS, Ethernet of 5G: the header does not say which.
        _ => return Err(Stop::Skip(Skip::NotIp)),
    };
    Ok(Tunnelled { inner, id: be32::<4, HEADER>(header) })
}

/// Steps over extension headers (section 5.2.1): a length in words, contents,
/// and the type of the next one, 0 when there is none.
fn skip_extensions(mut rest: Span<'_>, mut next: u8) -> Result<Span<'_>, Problem> {
    while next != 0 {
        let what = "GTP-U extension header";
        let &[words] = rest.header::<1>(Layer::Tunnel, what)?;
        let size = 4 * usize::from(words);
        let last = size.checked_sub(1).ok_or_else(|| {
            malformed(Layer::Tunnel, rest.offset, 4, 0, "GTP-U extension header of length 0")
        })?;
        let missing = || rest.extent().short(Layer::Tunnel, rest.offset, size, what);
        next = *rest.bytes.get(last).ok_or_else(missing)?;
        rest = rest.after(size);
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::super::tests::outcome;

    fn read(header: &[u8]) -> (String, u32) {
        outcome(super::read, header)
    }

    #[test]
    fn user_packets_with_every_optional_field() {
        assert_eq!(read(&[0x30, 255, 0, 40, 0, 0, 1, 2]), ("ip".to_string(), 0x102));
        let sequence = [0x32, 255, 0, 44, 0, 0, 1, 2, 0, 9, 0, 0xff];
        assert_eq!(read(&sequence).0, "ip");
        let extended = [
            &[0x34, 255, 0, 56, 0, 0, 1, 2, 0, 9, 0, 0x85][..],
            &[1, 0x10, 0, 0xc0],
            &[2, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(read(&extended.concat()).0, "ip");
    }

    #[test]
    fn what_is_not_a_user_packet() {
        assert_eq!(read(&[0x32, 1, 0, 4, 0, 0, 0, 0, 0, 9, 0, 0]).0, "not SCTP");
        assert_eq!(read(&[0x48, 255, 0, 40, 0, 0, 1, 2]).0, "not SCTP");
        assert_eq!(read(&[0x34, 255, 0, 40, 0, 0, 1, 2, 0, 0, 0, 0, 2]).0, "not IP");
    }

    #[test]
    fn lengths_that_lie() {
        assert_eq!(read(&[0x30, 255, 0, 41, 0, 0, 1, 2]).0, "malformed");
        assert_eq!(read(&[0x32, 255, 0, 3, 0, 0, 1, 2]).0, "malformed");
        assert_eq!(read(&[0x34, 255, 0, 44, 0, 0, 1, 2, 0, 0, 0, 9, 0]).0, "malformed");
        assert_eq!(read(&[0x34, 255, 0, 44, 0, 0, 1, 2, 0, 0, 0, 9, 11]).0, "malformed");
    }
}
