//! UDP (RFC 768): its ports, and what it carries.

use super::bytes::{Span, be16};
use super::ip::Upper;
use crate::problem::{Layer, Problem};
use crate::udp::{HEADER, length};

fn header<'a>(upper: &Upper<'a>) -> Result<&'a [u8; HEADER], Problem> {
    upper.span().header(Layer::Udp, "UDP header")
}

/// Source and destination.
pub(super) fn ports(upper: &Upper<'_>) -> Result<(u16, u16), Problem> {
    let header = header(upper)?;
    Ok((be16::<0, HEADER>(header), be16::<2, HEADER>(header)))
}

/// What the datagram carries, by its own length.
pub(super) fn payload<'a>(upper: &Upper<'a>) -> Result<Span<'a>, Problem> {
    let field = be16::<4, HEADER>(header(upper)?);
    let length = length(field, upper.length).map_err(|problem| problem.at(upper.offset))?;
    Ok(upper.span().first(length).after(HEADER))
}

#[cfg(test)]
mod tests {
    use etherparse::ip_number;

    use super::*;
    use crate::packet::build::udp;
    use crate::problem::Kind;

    fn upper(bytes: &[u8], length: usize) -> Upper<'_> {
        Upper { protocol: ip_number::UDP, bytes, offset: 34, length }
    }

    #[test]
    fn ports_and_the_length_of_udp() {
        let datagram = [udp(9899, 1234, &[5; 12]), vec![0; 4]].concat();
        assert_eq!(ports(&upper(&datagram, 24)), Ok((9899, 1234)));
        let found = payload(&upper(&datagram, 24)).unwrap();
        assert_eq!((found.bytes, found.offset, found.length), (&[5; 12][..], 42, 12));
        let mut jumbogram = udp(1234, 9899, &[5; 12]);
        jumbogram[4..6].fill(0);
        assert_eq!(payload(&upper(&jumbogram, 70_000)).unwrap().length, 69_992);
    }

    #[test]
    fn lengths_that_lie() {
        let kind =
            |bytes: &[u8], length| payload(&upper(bytes, length)).map(|_| ()).unwrap_err().kind;
        let datagram = udp(9899, 1234, &[5; 12]);
        assert_eq!(kind(&datagram[..7], 20), Kind::Truncated);
        assert_eq!(kind(&datagram[..7], 7), Kind::Malformed);
        assert_eq!(kind(&datagram, 19), Kind::Malformed);
        assert_eq!(payload(&upper(&datagram[..15], 20)).unwrap().length, 12);
        let mut below_header = datagram;
        below_header[5] = 7;
        assert_eq!(kind(&below_header, 20), Kind::Malformed);
    }
}
