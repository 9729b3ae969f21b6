//! SCTP in UDP (RFC 6951).

use etherparse::ip_number;

use super::bytes::{be16, malformed};
use super::ip::Upper;
use crate::problem::{Layer, Problem};

const HEADER: usize = 8;

pub(super) struct Tunnelled<'a> {
    /// Source and destination.
    pub ports: (u16, u16),
    pub upper: Upper<'a>,
}

/// What is in a UDP datagram that has one of `ports` at either end.
pub(super) fn tunnelled<'a>(
    upper: Upper<'a>,
    ports: &[u16],
) -> Result<Option<Tunnelled<'a>>, Problem> {
    let Some(header) = upper.bytes.first_chunk::<HEADER>() else {
        return Err(upper.extent().short(Layer::Udp, upper.offset, HEADER, "UDP header"));
    };
    let (source, destination) = (be16::<0, HEADER>(header), be16::<2, HEADER>(header));
    if !ports.contains(&source) && !ports.contains(&destination) {
        return Ok(None);
    }
    let length = match usize::from(be16::<4, HEADER>(header)) {
        // A jumbogram (RFC 2675): the IP length is the only one.
        0 => upper.length,
        length if (HEADER..=upper.length).contains(&length) => length,
        length => {
            let what = "UDP length of at least 8, within its IP packet";
            return Err(malformed(Layer::Udp, upper.offset, length, upper.length, what));
        }
    };
    let bytes = upper.bytes.get(..length).unwrap_or(upper.bytes);
    let datagram = Upper { bytes, length, ..upper };
    let upper = datagram.after(HEADER, ip_number::SCTP);
    Ok(Some(Tunnelled { ports: (source, destination), upper }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::build::udp;
    use crate::problem::Kind;

    fn read(bytes: &[u8], length: usize) -> Result<Option<Tunnelled<'_>>, Problem> {
        tunnelled(Upper { protocol: ip_number::UDP, bytes, offset: 34, length }, &[9899])
    }

    #[test]
    fn either_port_and_the_length_of_udp() {
        let datagram = [udp(9899, 1234, &[5; 12]), vec![0; 4]].concat();
        let found = read(&datagram, 24).unwrap().unwrap();
        assert_eq!(found.ports, (9899, 1234));
        assert_eq!((found.upper.bytes, found.upper.offset), (&[5; 12][..], 42));
        assert!(read(&udp(1234, 9899, &[5; 12]), 20).unwrap().is_some());
        assert!(read(&udp(1234, 9898, &[5; 12]), 20).unwrap().is_none());
        let mut jumbogram = udp(1234, 9899, &[5; 12]);
        jumbogram[4..6].fill(0);
        assert_eq!(read(&jumbogram, 20).unwrap().unwrap().upper.length, 12);
    }

    #[test]
    fn lengths_that_lie() {
        let kind = |bytes: &[u8], length| read(bytes, length).map(|_| ()).unwrap_err().kind;
        let datagram = udp(9899, 1234, &[5; 12]);
        assert_eq!(kind(&datagram[..7], 20), Kind::Truncated);
        assert_eq!(kind(&datagram[..7], 7), Kind::Malformed);
        assert_eq!(kind(&datagram, 19), Kind::Malformed);
        assert_eq!(read(&datagram[..15], 20).unwrap().unwrap().upper.length, 12);
        let mut below_header = datagram;
        below_header[5] = 7;
        assert_eq!(kind(&below_header, 20), Kind::Malformed);
    }
}
