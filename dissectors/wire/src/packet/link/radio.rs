//! What capture tools write before an 802.11 frame: radiotap (radiotap.org),
//! the header of the Prism II driver, and AVS.

use super::super::bytes::{Span, be32, malformed, unknown};
use super::super::{Inner, Skip, Stop};
use super::wlan::{self, Pad};
use crate::problem::{Layer, Problem};

const FCS: usize = 4;

/// Bits of radiotap's first presence word, and of its field Flags.
const TSFT_PRESENT: u32 = 1;
const FLAGS_PRESENT: u32 = 1 << 1;
const MORE_WORDS: u32 = 1 << 31;
const FCS_AT_END: u8 = 0x10;
const DATA_PAD: u8 = 0x20;
const BAD_FCS: u8 = 0x40;

/// Reads radiotap: fields stand in the order of their bits, each at a multiple
/// of its size. Of all of them only Flags says something about the frame's layout.
pub(super) fn radiotap(record: Span<'_>) -> Result<Inner<'_>, Stop> {
    const HEADER: usize = 8;
    let what = "radiotap header";
    let &[version, _, low, high, p0, p1, p2, p3] = record.header::<HEADER>(Layer::Link, what)?;
    if version != 0 {
        return Err(unknown(Layer::Link, record.offset, "version 0 of radiotap").into());
    }
    let length = usize::from(u16::from_le_bytes([low, high]));
    let header = whole(record, HEADER, length, what)?;
    let frame = record.after(length);
    let flags = match flags_at(u32::from_le_bytes([p0, p1, p2, p3]), header) {
        None => 0,
        Some(at) => match header.get(at) {
            Some(flags) => *flags,
            None => {
                let what = "radiotap length without its fields";
                return Err(malformed(Layer::Link, record.offset, at + 1, length, what).into());
            }
        },
    };
    if flags & BAD_FCS != 0 {
        return Err(Stop::Skip(Skip::BadFcs));
    }
    let end = if flags & FCS_AT_END != 0 { FCS } else { 0 };
    let pad = if flags & DATA_PAD != 0 { Pad::Words } else { Pad::None };
    wlan::data(frame.first(frame.length.saturating_sub(end)), pad)
}

/// Where Flags stands: behind the presence words and the time stamp of 8 bytes.
fn flags_at(present: u32, header: &[u8]) -> Option<usize> {
    if present & FLAGS_PRESENT == 0 {
        return None;
    }
    let more_words = header
        .get(4..)
        .unwrap_or_default()
        .as_chunks::<4>()
        .0
        .iter()
        .take_while(|word| u32::from_le_bytes(**word) & MORE_WORDS != 0)
        .count();
    let fields = 4 + 4 * (more_words + 1);
    let has_time = present & TSFT_PRESENT != 0;
    Some(if has_time { fields.next_multiple_of(8) + 8 } else { fields })
}

/// Reads the header of the Prism II driver. It has one size, whatever its
/// length field says; some drivers write AVS under the same link type.
pub(super) fn prism(record: Span<'_>) -> Result<Inner<'_>, Stop> {
    const HEADER: usize = 144;
    if be32::<0, 4>(record.header::<4>(Layer::Link, "Prism header")?) & !0xfff == AVS_MAGIC {
        return avs(record);
    }
    record.header::<HEADER>(Layer::Link, "Prism header")?;
    wlan::data(record.after(HEADER), Pad::None)
}

/// The version stands in the low bits.
const AVS_MAGIC: u32 = 0x8021_1000;

/// Reads the AVS header, which gives its own length.
pub(super) fn avs(record: Span<'_>) -> Result<Inner<'_>, Stop> {
    const FIRST: usize = 8;
    let what = "AVS header";
    let header = record.header::<FIRST>(Layer::Link, what)?;
    if be32::<0, FIRST>(header) & !0xfff != AVS_MAGIC {
        return Err(unknown(Layer::Link, record.offset, "magic number of AVS").into());
    }
    let length = usize::try_from(be32::<4, FIRST>(header)).unwrap_or(usize::MAX);
    whole(record, FIRST, length, what)?;
    wlan::data(record.after(length), Pad::None)
}

/// The header of a stated `length`, which is at least `least`.
fn whole<'a>(
    record: Span<'a>,
    least: usize,
    length: usize,
    what: &'static str,
) -> Result<&'a [u8], Problem> {
    if length < least {
        return Err(malformed(Layer::Link, record.offset, least, length, what));
    }
    let missing = || record.extent().short(Layer::Link, record.offset, length, what);
    record.bytes.get(..length).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{outcome, span};
    use super::super::wlan::tests::frame;
    use super::super::{IEEE802_11_AVS, IEEE802_11_PRISM, IEEE802_11_RADIOTAP, Inner, network};

    fn after(header: &[u8]) -> Vec<u8> {
        [header, &frame(0x88, 1, &[0; 2])].concat()
    }

    #[test]
    fn radiotap_with_and_without_fields() {
        let plain = [0, 0, 8, 0, 0, 0, 0, 0];
        let flags = [0, 0, 9, 0, 2, 0, 0, 0, 0];
        let time = [0, 0, 17, 0, 3, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 0];
        let words = [0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 0];
        for header in [&plain[..], &flags, &time, &words] {
            assert_eq!(outcome(IEEE802_11_RADIOTAP, &after(header)), "ip");
        }
        for header in [&flags[..], &time, &words] {
            let mut bad = header.to_vec();
            *bad.last_mut().unwrap() = super::BAD_FCS;
            assert_eq!(outcome(IEEE802_11_RADIOTAP, &after(&bad)), "frame check sequence is bad");
        }
    }

    #[test]
    fn radiotap_lengths_that_lie() {
        let read = |header: &[u8]| outcome(IEEE802_11_RADIOTAP, &after(header));
        assert_eq!(read(&[1, 0, 8, 0, 0, 0, 0, 0]), "unknown link");
        assert_eq!(read(&[0, 0, 7, 0, 0, 0, 0, 0]), "malformed link");
        assert_eq!(read(&[0, 0, 0, 9, 0, 0, 0, 0]), "malformed link");
        assert_eq!(read(&[0, 0, 8, 0, 2, 0, 0, 0]), "malformed link");
        assert_eq!(read(&[0, 0, 8, 0, 3, 0, 0, 0x80]), "malformed link");
    }

    #[test]
    fn the_end_and_the_padding_that_flags_announce() {
        let read = |flags: u8, header: &[u8]| {
            let record = [&[0, 0, 9, 0, 2, 0, 0, 0, flags], header, &[0x45; 24]].concat();
            match network(IEEE802_11_RADIOTAP, span(&record)) {
                Ok(Inner::Ip(ip)) => (ip.bytes.len(), ip.length),
                _ => panic!("no IP"),
            }
        };
        assert_eq!(read(0, &frame(0x88, 1, &[0; 2])), (24, 24));
        assert_eq!(read(super::FCS_AT_END, &frame(0x88, 1, &[0; 2])), (20, 20));
        assert_eq!(read(super::DATA_PAD, &frame(0x88, 1, &[0; 4])), (24, 24));
    }

    #[test]
    fn prism_is_144_bytes_and_avs_says_how_many() {
        let mut prism = [0; 144];
        prism[0] = 0x44;
        assert_eq!(outcome(IEEE802_11_PRISM, &after(&prism)), "ip");
        let mut avs = [0; 64];
        avs[..8].copy_from_slice(&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64]);
        assert_eq!(outcome(IEEE802_11_PRISM, &after(&avs)), "ip");
        assert_eq!(outcome(IEEE802_11_AVS, &after(&avs)), "ip");
        avs[0] = 0x81;
        assert_eq!(outcome(IEEE802_11_AVS, &after(&avs)), "unknown link");
        assert_eq!(outcome(IEEE802_11_AVS, &[0x80, 0x21, 0x10, 1, 0, 0, 0, 7]), "malformed link");
        assert_eq!(outcome(IEEE802_11_AVS, &[0x80, 0x21, 0x10, 1, 255, 0, 0, 7]), "malformed link");
    }
}
