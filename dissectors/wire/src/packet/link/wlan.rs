//! Data frames of IEEE 802.11 (IEEE 802.11-2020 section 9.3.2.1): MAC header,
//! LLC/SNAP, payload. Everything else a WLAN carries is not IP.

use super::super::bytes::{Span, unknown};
use super::super::{Inner, Skip, Stop};
use super::ether;
use crate::problem::Layer;

/// How the radio header's writer padded the MAC header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pad {
    None,
    /// To a multiple of four bytes.
    Words,
}

/// Frame Control to Sequence Control.
const HEADER: usize = 24;
const ADDRESS_4: usize = 6;
const QOS_CONTROL: usize = 2;
const HT_CONTROL: usize = 4;

/// First byte of Frame Control: version, type, subtype.
const VERSION: u8 = 0x03;
const TYPE: u8 = 0x0c;
const DATA: u8 = 0x08;
/// Bits of the subtypes of data frames (section 9.2.4.1.3).
const WITHOUT_DATA: u8 = 0x40;
const QOS: u8 = 0x80;
/// Second byte of Frame Control.
const TO_AND_FROM_DS: u8 = 0x03;
const MORE_FRAGMENTS: u8 = 0x04;
const PROTECTED: u8 = 0x40;
const HT_CONTROL_PRESENT: u8 = 0x80;
/// Low bits of Sequence Control.
const FRAGMENT_NUMBER: u8 = 0x0f;
/// First byte of QoS Control.
const A_MSDU: u8 = 0x80;

/// Reads a frame without its FCS.
pub(super) fn data(frame: Span<'_>, pad: Pad) -> Result<Inner<'_>, Stop> {
    let &[kind, flags] = frame.header::<2>(Layer::Link, "802.11 frame control")?;
    if kind & VERSION != 0 {
        return Err(unknown(Layer::Link, frame.offset, "protocol version 0 of 802.11").into());
    }
    if kind & TYPE != DATA || kind & WITHOUT_DATA != 0 {
        return Err(Stop::Skip(Skip::NotIp));
    }
    let header = frame.header::<HEADER>(Layer::Link, "802.11 data header")?;
    let mut size = HEADER;
    if flags & TO_AND_FROM_DS == TO_AND_FROM_DS {
        frame.after(size).header::<ADDRESS_4>(Layer::Link, "802.11 fourth address")?;
        size += ADDRESS_4;
    }
    let mut aggregated = false;
    if kind & QOS != 0 {
        let &[qos, _] = frame.after(size).header::<QOS_CONTROL>(Layer::Link, "QoS control")?;
        aggregated = qos & A_MSDU != 0;
        size += QOS_CONTROL;
        if flags & HT_CONTROL_PRESENT != 0 {
            frame.after(size).header::<HT_CONTROL>(Layer::Link, "HT control")?;
            size += HT_CONTROL;
        }
    }
    if pad == Pad::Words {
        size = size.next_multiple_of(4);
    }
    let [.., sequence, _] = header;
    // In the order in which a receiver would have to undo them.
    if flags & PROTECTED != 0 {
        Err(Stop::Skip(Skip::Encrypted))
    } else if flags & MORE_FRAGMENTS != 0 || sequence & FRAGMENT_NUMBER != 0 {
        Err(Stop::Skip(Skip::WlanFragment))
    } else if aggregated {
        Err(Stop::Skip(Skip::AggregatedMsdu))
    } else {
        let (ether_type, payload) = ether::snap(frame.after(size))?;
        ether::by_ether_type(ether_type, payload)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    use super::super::IEEE802_11;
    use super::super::tests::outcome;

    const SNAP: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];

    /// `after` is what follows Sequence Control; then come LLC and SNAP.
    pub(crate) fn frame(kind: u8, flags: u8, after: &[u8]) -> Vec<u8> {
        let mut header = [2; 24];
        header[..2].copy_from_slice(&[kind, flags]);
        header[22..].copy_from_slice(&[0x30, 7]);
        [&header, after, &SNAP].concat()
    }

    fn read(kind: u8, flags: u8, after: &[u8]) -> String {
        outcome(IEEE802_11, &frame(kind, flags, after))
    }

    #[test]
    fn every_layout_of_the_header() {
        assert_eq!(read(0x08, 0, &[]), "ip");
        assert_eq!(read(0x08, 1, &[]), "ip");
        assert_eq!(read(0x08, 2, &[]), "ip");
        assert_eq!(read(0x08, 3, &[4; 6]), "ip");
        assert_eq!(read(0x88, 1, &[0; 2]), "ip");
        assert_eq!(read(0x88, 3, &[0; 8]), "ip");
        assert_eq!(read(0x88, 0x81, &[0; 6]), "ip");
        assert_eq!(read(0x88, 0x83, &[0; 12]), "ip");
        // Order in a frame without QoS is no HT control.
        assert_eq!(read(0x08, 0x81, &[]), "ip");
        assert_eq!(read(0x18, 2, &[]), "ip");
    }

    #[test]
    fn what_is_missing_is_within_the_frame() {
        // Four addresses by the flags, and room for hardly more than three.
        let short = &frame(0xa8, 3, &[])[..26];
        let span = Span { bytes: short, offset: 0, length: short.len() };
        let Err(Stop::Problem(problem)) = data(span, Pad::None) else { panic!() };
        assert_eq!((problem.offset, problem.needed, problem.available), (24, 6, 2));
    }

    #[test]
    fn what_holds_no_readable_ip_is_skipped_by_reason() {
        assert_eq!(read(0x80, 0, &[]), "not IP");
        assert_eq!(read(0xd4, 0, &[]), "not IP");
        assert_eq!(read(0x48, 1, &[]), "not IP");
        assert_eq!(read(0xc8, 1, &[0; 2]), "not IP");
        assert_eq!(read(0x88, 0x41, &[0; 2]), "encrypted");
        assert_eq!(read(0x08, 0x05, &[]), "802.11 fragment");
        assert_eq!(read(0x88, 0x01, &[0x80, 0]), "802.11 A-MSDU");
        assert_eq!(read(0x09, 0x01, &[]), "unknown link");
        let mut last_fragment = frame(0x08, 1, &[]);
        last_fragment[22] = 0x31;
        assert_eq!(outcome(IEEE802_11, &last_fragment), "802.11 fragment");
        let mut eapol = frame(0x08, 1, &[]);
        eapol[30..].copy_from_slice(&[0x88, 0x8e]);
        assert_eq!(outcome(IEEE802_11, &eapol), "not IP");
    }
}
