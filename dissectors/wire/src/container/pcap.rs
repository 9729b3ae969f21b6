//! The pcap format: draft-ietf-opsawg-pcap, sections 4 (file header) and 5 (packet
//! record); its variants as libpcap (`sf-pcap.c`) and Wireshark read them.

use super::seek::Description;
use super::stream::{ByteOrder, Fault, Stream};
use super::{Comments, Found, Interface, MAX_CAPTURED};

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// Whose records these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    Standard,
    /// Of A. Kuznetsov's patched libpcap: interface index, protocol and packet type after the lengths.
    Modified,
    /// IXIA lcap: the size of all records after the file header.
    Ixia,
}

/// What a magic tells: variant, whether fractions are nanoseconds.
const MAGICS: [(u32, Variant, bool); 5] = [
    (0xa1b2_c3d4, Variant::Standard, false),
    (0xa1b2_3c4d, Variant::Standard, true),
    (0xa1b2_cd34, Variant::Modified, false),
    (0x1c00_01ac, Variant::Ixia, false),
    (0x1c00_01ab, Variant::Ixia, false),
];

/// Which length of a record comes first: no field tells, the version has to.
#[derive(Clone, Copy)]
enum Lengths {
    CapturedFirst,
    /// Version 2.3 was written both ways: no more can be captured than there was.
    SmallerIsCaptured,
    CapturedLast,
}

/// What the file header says about all records.
pub(super) struct Pcap {
    pub order: ByteOrder,
    pub variant: Variant,
    pub nanosecond: bool,
    pub version: (u16, u16),
    pub header: Description,
    fraction_ns: i64,
    record_header: usize,
    lengths: Lengths,
}

/// Byte order, variant and unit of the magic that the file starts with, if it is one of pcap.
fn magic(start: &[u8]) -> Option<(ByteOrder, Variant, bool)> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find_map(|order| {
        let told = order.u32(start, 0)?;
        let (_, variant, nanosecond) = MAGICS.iter().find(|(magic, ..)| *magic == told)?;
        Some((order, *variant, *nanosecond))
    })
}

impl Pcap {
    /// Reads the file header, and with it the one interface; `None` when the magic is another.
    pub fn open(
        stream: &mut Stream,
        interfaces: &mut Vec<Interface>,
    ) -> Result<Option<Self>, Fault> {
        let Some((order, variant, nanosecond)) = magic(stream.peek(4)) else { return Ok(None) };
        let length = FILE_HEADER + if variant == Variant::Ixia { 4 } else { 0 };
        let view = stream.peek(length);
        let (Some(major), Some(minor), Some(snap_length), Some(network), true) = (
            order.u16(view, 4),
            order.u16(view, 6),
            order.u32(view, 16),
            order.u32(view, 20),
            view.len() >= length,
        ) else {
            return Err(stream.cut(format!("a pcap file header of {length} bytes")));
        };
        let lengths = match (major, minor) {
            (2, 0..3) => Lengths::CapturedLast,
            (2, 3) => Lengths::SmallerIsCaptured,
            (2, 4..) => Lengths::CapturedFirst,
            _ => {
                let found = format!("version {major}.{minor}");
                return Err(Fault::new(4, "pcap version 2.4", found));
            }
        };
        interfaces.push(Interface {
            section: 0,
            number: 0,
            // The upper half tells of frame check sequences. Truncation to the lower is the point.
            link_type: (network & 0xffff) as u16,
            name: None,
            description: None,
            snap_length,
            time_unit: if nanosecond { "10^-9 s" } else { "10^-6 s" }.into(),
            packets: 0,
        });
        stream.take(length);
        Ok(Some(Pcap {
            order,
            variant,
            nanosecond,
            version: (major, minor),
            // 24 or 28.
            header: Description { section: 0, offset: 0, length: length as u32 },
            fraction_ns: if nanosecond { 1 } else { 1000 },
            record_header: RECORD_HEADER + if variant == Variant::Modified { 8 } else { 0 },
            lengths,
        }))
    }

    /// The next record, or `None` at the end of the file.
    #[inline]
    pub fn find(&self, stream: &mut Stream) -> Result<Option<Found>, Fault> {
        let (order, start) = (self.order, self.record_header);
        let view = stream.peek(start);
        let (Some(seconds), Some(fraction), Some(first), Some(second), true) = (
            order.u32(view, 0),
            order.u32(view, 4),
            order.u32(view, 8),
            order.u32(view, 12),
            view.len() >= start,
        ) else {
            return self.no_header(stream);
        };
        let (captured, wire_length) = match self.lengths {
            Lengths::CapturedFirst => (first, second),
            Lengths::SmallerIsCaptured => (first.min(second), first.max(second)),
            Lengths::CapturedLast => (second, first),
        };
        if captured > MAX_CAPTURED {
            let found = captured.to_string();
            return Err(Fault::new(stream.offset(), super::captured_limit(), found));
        }
        let length = start + captured as usize;
        if stream.peek(length).len() < length {
            return Err(stream.cut(format!("a record of {length} bytes")));
        }
        // Two unsigned 32-bit fields: their sum stays far below what 64 bits hold.
        let time_ns = i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * self.fraction_ns;
        let (data, comments) = (start..length, Comments::default());
        Ok(Some(Found { time_ns, interface: 0, wire_length, length, data, comments }))
    }

    #[cold]
    fn no_header(&self, stream: &mut Stream) -> Result<Option<Found>, Fault> {
        if stream.peek(1).is_empty() {
            return stream.finish().map(|()| None);
        }
        Err(stream.cut(format!("a record header of {} bytes", self.record_header)))
    }
}
