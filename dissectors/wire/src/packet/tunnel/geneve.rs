//! Geneve (RFC 8926 section 3.4). Its options say nothing about what follows.

use super::super::bytes::{Span, be16, be32, malformed};
use super::super::{Stop, link};
use super::{Tunnelled, header};
use crate::problem::Layer;

pub(crate) const PORT: u16 = 6081;
const HEADER: usize = 8;
/// Two bits of version, six of the options' length in words.
const VERSION: u8 = 0xc0;
const OPTIONS: u8 = 0x3f;

pub(super) fn read(datagram: Span<'_>) -> Result<Tunnelled<'_>, Stop> {
    let header = header::<HEADER>(datagram, "Geneve header", |header| {
        header[0] & VERSION == 0 && header[7] == 0
    })?;
    let size = HEADER + 4 * usize::from(header[0] & OPTIONS);
    if size > datagram.length {
        let what = "Geneve options beyond the datagram";
        return Err(malformed(Layer::Tunnel, datagram.offset, size, datagram.length, what).into());
    }
    let id = be32::<4, HEADER>(header) >> 8;
    let inner = link::by_ether_type(be16::<2, HEADER>(header), datagram.after(size))?;
    Ok(Tunnelled { inner, id })
}

#[cfg(test)]
mod tests {
    use super::super::tests::outcome;

    #[test]
    fn options_are_stepped_over() {
        let read = |header: &[u8]| outcome(super::read, header);
        assert_eq!(read(&[0, 0, 0x65, 0x58, 0, 0, 7, 0]), ("ethernet".to_string(), 7));
        assert_eq!(read(&[1, 0, 8, 0, 0, 0, 7, 0, 9, 9, 9, 9]), ("ip".to_string(), 7));
        assert_eq!(read(&[11, 0, 8, 0, 0, 0, 7, 0]).0, "malformed");
        assert_eq!(read(&[0x40, 0, 8, 0, 0, 0, 7, 0]).0, "not SCTP");
        assert_eq!(read(&[0, 0, 8, 6, 0, 0, 7, 0]).0, "not IP");
    }
}
