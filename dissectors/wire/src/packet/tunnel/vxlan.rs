//! VXLAN (RFC 7348 section 5).

use super::super::bytes::{Span, be32};
use super::super::{Inner, Stop};
use super::{Tunnelled, header};

pub(crate) const PORT: u16 = 4789;
const HEADER: usize = 8;
/// The VNI is valid, as it has to be.
const I: u8 = 0x08;

pub(super) fn read(datagram: Span<'_>) -> Result<Tunnelled<'_>, Stop> {
    // The last byte is reserved; of the others, group policies use some.
    let header =
        header::<HEADER>(datagram, "VXLAN header", |header| header[0] & I != 0 && header[7] == 0)?;
    let id = be32::<4, HEADER>(header) >> 8;
    Ok(Tunnelled { inner: Inner::Ethernet(datagram.after(HEADER)), id })
}

#[cfg(test)]
mod tests {
    use super::super::tests::outcome;

    #[test]
    fn the_network_identifier_makes_the_tunnel() {
        let read = |header: &[u8]| outcome(super::read, header);
        assert_eq!(read(&[8, 0, 0, 0, 0, 1, 2, 0]), ("ethernet".to_string(), 0x102));
        assert_eq!(read(&[0x88, 0, 0, 5, 0, 1, 2, 0]), ("ethernet".to_string(), 0x102));
        assert_eq!(read(&[0, 0, 0, 0, 0, 1, 2, 0]).0, "not SCTP");
        assert_eq!(read(&[8, 0, 0, 0, 0, 1, 2, 3]).0, "not SCTP");
    }
}
