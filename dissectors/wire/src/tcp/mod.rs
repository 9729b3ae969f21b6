//! TCP segments (RFC 9293 section 3.1): the header, its options, the payload.
//!
//! Nothing here allocates or copies. Offsets in a [`Problem`] count from the
//! start of the TCP header; add the packet's own offset with [`Problem::at`].

#[cfg(test)]
pub(crate) mod build;
pub mod mptcp;
pub mod option;

pub use self::mptcp::Mptcp;
pub use self::option::{Opt, Options, Sack};

use crate::packet::bytes::{Extent, be16, be32, clamp, malformed};
use crate::problem::{Layer, Problem};

/// Bytes of the header without options.
pub const HEADER: usize = 20;

/// Bytes of a header with as many options as there can be.
pub const MOST_HEADER: usize = 60;

pub const FIN: u8 = 0x01;
pub const SYN: u8 = 0x02;
pub const RST: u8 = 0x04;
pub const PSH: u8 = 0x08;
pub const ACK: u8 = 0x10;
pub const URG: u8 = 0x20;
pub const ECE: u8 = 0x40;
pub const CWR: u8 = 0x80;

/// A letter for every flag, from the lowest bit; the last is AE of Accurate ECN, once NS (RFC 3540).
pub const FLAG_LETTERS: &str = "FSRPAUECN";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub source_port: u16,
    pub destination_port: u16,
    pub sequence: u32,
    /// Means something only with [`ACK`].
    pub acknowledgement: u32,
    pub flags: u8,
    /// The four bits before the flags, of which Accurate ECN took the lowest.
    pub reserved: u8,
    /// As on the wire, not yet scaled (RFC 7323 section 2).
    pub window: u16,
    pub checksum: u16,
    pub urgent: u16,
}

impl Header {
    /// Whether all of `flags` are set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }
}

/// One TCP segment.
#[derive(Clone, Debug)]
pub struct Segment<'a> {
    pub header: Header,
    /// Bytes of it, options included.
    pub header_length: u8,
    pub options: Options<'a>,
    /// As far as captured.
    pub payload: &'a [u8],
    /// Bytes of payload on the wire.
    pub payload_length: u32,
}

/// Reads a segment that had `wire_length` bytes on the wire. It is an error
/// when the 20 bytes of header are not all there, or the data offset lies.
pub fn parse(bytes: &[u8], wire_length: u32) -> Result<Segment<'_>, Problem> {
    let wire = (wire_length as usize).max(bytes.len());
    let Some(fields) = bytes.first_chunk::<HEADER>() else {
        let extent = Extent { captured: bytes.len(), wire };
        return Err(extent.short(Layer::Tcp, 0, HEADER, "TCP header"));
    };
    let header_length = (fields[12] >> 4) * 4;
    let data_offset = usize::from(header_length);
    if data_offset < HEADER || data_offset > wire {
        let what = "data offset of at least 20, within its IP packet";
        return Err(malformed(Layer::Tcp, 12, data_offset, wire, what));
    }
    let header = Header {
        source_port: be16::<0, HEADER>(fields),
        destination_port: be16::<2, HEADER>(fields),
        sequence: be32::<4, HEADER>(fields),
        acknowledgement: be32::<8, HEADER>(fields),
        flags: fields[13],
        reserved: fields[12] & 0x0f,
        window: be16::<14, HEADER>(fields),
        checksum: be16::<16, HEADER>(fields),
        urgent: be16::<18, HEADER>(fields),
    };
    let end = data_offset.min(bytes.len());
    let options = Options::new(bytes.get(HEADER..end).unwrap_or_default(), data_offset - HEADER);
    Ok(Segment {
        header,
        header_length,
        options,
        payload: bytes.get(data_offset..).unwrap_or_default(),
        payload_length: clamp(wire - data_offset),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::problem::Kind;

    #[test]
    fn header_options_and_payload() {
        let bytes = build::segment(7, 9, SYN | ACK, 512, &[1, 1, 1, 0], b"hello");
        let segment = parse(&bytes, bytes.len() as u32).unwrap();
        assert_eq!((segment.header.source_port, segment.header.destination_port), (1001, 2002));
        assert_eq!((segment.header.sequence, segment.header.acknowledgement), (7, 9));
        assert_eq!((segment.header.window, segment.header.checksum), (512, 0xabcd));
        assert!(segment.header.has(SYN | ACK) && !segment.header.has(SYN | FIN));
        assert_eq!((segment.payload, segment.payload_length), (&b"hello"[..], 5));
        assert_eq!(segment.options.count(), 0);
    }

    #[test]
    fn cut_and_lying_headers() {
        let bytes = build::segment(7, 9, ACK, 512, &[1; 8], b"hello");
        let kind = |bytes: &[u8], wire| parse(bytes, wire).map(|_| ()).unwrap_err().kind;
        assert_eq!(kind(&bytes[..19], 33), Kind::Truncated);
        assert_eq!(kind(&bytes[..19], 19), Kind::Malformed);
        let cut = parse(&bytes[..24], 33).unwrap();
        assert_eq!((cut.payload, cut.payload_length), (&[][..], 5));
        let last = cut.options.last().unwrap().unwrap_err();
        assert_eq!((last.kind, last.offset), (Kind::Truncated, 24));
        for data_offset in [0x40, 0xf0] {
            let mut bytes = bytes.clone();
            bytes[12] = data_offset;
            assert_eq!(kind(&bytes, 33), Kind::Malformed);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..90),
            data_offset in 5_u8..16,
            wire in 0_u32..120,
        ) {
            if let Some(byte) = bytes.get_mut(12) {
                *byte = data_offset << 4;
            }
            if let Ok(segment) = parse(&bytes, wire) {
                prop_assert!(segment.payload.len() <= segment.payload_length as usize);
                let items = segment.options.count();
                prop_assert!(items <= 41, "{items}");
            }
        }
    }
}
