//! UDP (RFC 768), and the two headers that senders of measurements and media put
//! behind it: RTP (RFC 3550 section 5.1) and D-ITG's.
//!
//! Neither header has a mark of its own: whether a flow carries it is only known
//! after several packets (`track::flow::stream`). Offsets count from the UDP header.

use crate::packet::bytes::{Extent, be16, be32, clamp, malformed};
use crate::problem::{Layer, Problem};

pub const HEADER: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    pub source_port: u16,
    pub destination_port: u16,
    /// As on the wire: header included, 0 in a jumbogram.
    pub length: u16,
    pub checksum: u16,
    /// As far as captured.
    pub payload: &'a [u8],
    /// Bytes of payload on the wire.
    pub payload_length: u32,
}

/// Reads a datagram that had `wire_length` bytes in its IP packet. It is an error when the
/// header is not all there, or its length lies.
pub fn parse(bytes: &[u8], wire_length: u32) -> Result<Datagram<'_>, Problem> {
    let wire = (wire_length as usize).max(bytes.len());
    let Some(header) = bytes.first_chunk::<HEADER>() else {
        let extent = Extent { captured: bytes.len(), wire };
        return Err(extent.short(Layer::Udp, 0, HEADER, "UDP header"));
    };
    let field = be16::<4, HEADER>(header);
    let length = length(field, wire)?;
    Ok(Datagram {
        source_port: be16::<0, HEADER>(header),
        destination_port: be16::<2, HEADER>(header),
        length: field,
        checksum: be16::<6, HEADER>(header),
        payload: bytes.get(HEADER..length.min(bytes.len())).unwrap_or_default(),
        payload_length: clamp(length - HEADER),
    })
}

/// The length of a datagram, header included, that has `field` for it and `wire` bytes in its IP
/// packet.
pub(crate) fn length(field: u16, wire: usize) -> Result<usize, Problem> {
    match usize::from(field) {
        // A jumbogram (RFC 2675 section 4): the IP length is the only one.
        0 if wire > usize::from(u16::MAX) => Ok(wire),
        length if (HEADER..=wire).contains(&length) => Ok(length),
        length => {
            let what = "UDP length of at least 8, within its IP packet";
            Err(malformed(Layer::Udp, 0, length, wire, what))
        }
    }
}

/// The fixed header of RTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtp {
    pub marker: bool,
    pub payload_type: u8,
    pub sequence: u16,
    /// In units of the payload type's clock.
    pub timestamp: u32,
    pub ssrc: u32,
}

impl Rtp {
    pub const HEADER: usize = 12;

    /// What the header would say if this were RTP; none where it cannot be.
    pub fn read(payload: &[u8]) -> Option<Rtp> {
        let fields = payload.first_chunk::<{ Self::HEADER }>()?;
        let [first, second, ..] = *fields;
        let payload_type = second & 0x7f;
        // Version 2; and RTCP's packet types 200 to 204 look like these (RFC 5761 section 4).
        (first >> 6 == 2 && !(72..=76).contains(&payload_type)).then(|| Rtp {
            marker: second & 0x80 != 0,
            payload_type,
            sequence: be16::<2, 12>(fields),
            timestamp: be32::<4, 12>(fields),
            ssrc: be32::<8, 12>(fields),
        })
    }

    /// Clock rate of a static payload type (RFC 3551 section 6).
    pub fn clock_hz(payload_type: u8) -> Option<u32> {
        match payload_type {
            0 | 3..=5 | 7..=9 | 12 | 13 | 15 | 18 => Some(8_000),
            6 => Some(16_000),
            10 | 11 => Some(44_100),
            14 | 25 | 26 | 28 | 31..=34 => Some(90_000),
            16 => Some(11_025),
            17 => Some(22_050),
            _ => None,
        }
    }
}

/// The header of a D-ITG 2.8 packet: flow, number, sending time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ditg {
    pub flow_id: u32,
    pub sequence: u32,
    /// By the sender's clock, since 1970.
    pub sent_ns: i64,
}

impl Ditg {
    pub const HEADER: usize = 16;

    /// What the header would say if this were D-ITG; none where it cannot be.
    pub fn read(payload: &[u8]) -> Option<Ditg> {
        let fields = payload.first_chunk::<{ Self::HEADER }>()?;
        let (seconds, microseconds) = (be32::<8, 16>(fields), be32::<12, 16>(fields));
        (microseconds < 1_000_000).then(|| Ditg {
            flow_id: be32::<0, 16>(fields),
            sequence: be32::<4, 16>(fields),
            sent_ns: i64::from(seconds) * 1_000_000_000 + i64::from(microseconds) * 1_000,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::build::udp;
    use crate::problem::Kind;

    #[test]
    fn the_length_of_udp_cuts_what_follows() {
        let bytes = [udp(5, 6, b"abc"), vec![0; 4]].concat();
        let datagram = parse(&bytes, 15).unwrap();
        assert_eq!((datagram.source_port, datagram.destination_port), (5, 6));
        assert_eq!((datagram.payload, datagram.payload_length), (&b"abc"[..], 3));
        let cut = parse(&bytes[..9], 11).unwrap();
        assert_eq!((cut.payload, cut.payload_length), (&b"a"[..], 3));
    }

    #[test]
    fn lengths_that_lie() {
        let kind = |bytes: &[u8], wire| parse(bytes, wire).map(|_| ()).unwrap_err().kind;
        assert_eq!(kind(&[0; 7], 20), Kind::Truncated);
        assert_eq!(kind(&[0; 7], 7), Kind::Malformed);
        assert_eq!(kind(&udp(1, 2, &[0; 9])[..10], 10), Kind::Malformed);
        assert_eq!(kind(&[0, 1, 0, 2, 0, 7, 0, 0], 8), Kind::Malformed);
    }

    #[test]
    fn no_length_is_that_of_a_jumbogram() {
        let parsed = |wire| parse(&[0, 1, 0, 2, 0, 0, 0, 0], wire);
        assert_eq!(parsed(65_536).unwrap().payload_length, 65_528);
        assert_eq!(parsed(65_535).unwrap_err().kind, Kind::Malformed);
    }

    #[test]
    fn rtp_is_version_2_and_not_rtcp() {
        let bytes = [0x80, 0x88, 0, 7, 0, 0, 0, 160, 1, 2, 3, 4, 9];
        let expected =
            Rtp { marker: true, payload_type: 8, sequence: 7, timestamp: 160, ssrc: 0x0102_0304 };
        assert_eq!(Rtp::read(&bytes), Some(expected));
        assert_eq!(Rtp::clock_hz(8), Some(8_000));
        let [mut old, mut rtcp] = [bytes; 2];
        old[0] = 0x40;
        rtcp[1] = 200;
        assert_eq!(
            (Rtp::read(&old), Rtp::read(&rtcp), Rtp::read(&bytes[..11])),
            (None, None, None)
        );
    }

    #[test]
    fn ditg_has_microseconds() {
        let mut bytes = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4];
        let expected = Ditg { flow_id: 1, sequence: 2, sent_ns: 3_000_004_000 };
        assert_eq!(Ditg::read(&bytes), Some(expected));
        bytes[12] = 1;
        assert_eq!(Ditg::read(&bytes), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), wire in 0_u32..60) {
            if let Ok(datagram) = parse(&bytes, wire) {
                prop_assert!(datagram.payload.len() <= datagram.payload_length as usize);
            }
            let _ = (Rtp::read(&bytes), Ditg::read(&bytes));
        }
    }
}
