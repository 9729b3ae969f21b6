//! The pcap format: draft-ietf-opsawg-pcap, sections 4 (file header) and 5 (packet record).

use pcap_parser::pcap::{parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};

use super::stream::{ByteOrder, Fault, Stream};
use super::{Found, Interface, MAX_CAPTURED};

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// The magics of both time units, each as its own byte order and the other one see it.
pub(super) const MAGICS: [[u8; 4]; 4] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
];

/// What the file header says about all records.
pub(super) struct Pcap {
    pub order: ByteOrder,
    pub nanosecond: bool,
    pub version: (u16, u16),
    fraction_ns: i64,
}

impl Pcap {
    /// Reads the file header, whose magic has been seen, and with it the one interface.
    pub fn open(stream: &mut Stream, interfaces: &mut Vec<Interface>) -> Result<Self, Fault> {
        let Ok((_, header)) = parse_pcap_header(stream.peek(FILE_HEADER)) else {
            return Err(stream.cut(format!("a pcap file header of {FILE_HEADER} bytes")));
        };
        let version = (header.version_major, header.version_minor);
        // Before 2.4 the two lengths of a record stand in either order, which no field tells.
        if version.0 != 2 || version.1 < 4 {
            let found = format!("version {}.{}", version.0, version.1);
            return Err(Fault::new(4, "pcap version 2.4", found));
        }
        let nanosecond = header.is_nanosecond_precision();
        interfaces.push(Interface {
            section: 0,
            number: 0,
            // The upper half tells of frame check sequences. Truncation to the lower is the point.
            link_type: (header.network.0 & 0xffff) as u16,
            name: None,
            description: None,
            snap_length: header.snaplen,
            time_unit: if nanosecond { "10^-9 s" } else { "10^-6 s" }.into(),
            packets: 0,
        });
        stream.take(FILE_HEADER);
        Ok(Pcap {
            order: if header.is_bigendian() { ByteOrder::Big } else { ByteOrder::Little },
            nanosecond,
            version,
            fraction_ns: if nanosecond { 1 } else { 1000 },
        })
    }

    /// The next record, or `None` at the end of the file.
    #[inline]
    pub fn find(&self, stream: &mut Stream) -> Result<Option<Found>, Fault> {
        let view = stream.peek(RECORD_HEADER);
        let Some(captured) = self.order.u32(view, 8) else { return Self::no_header(stream) };
        if captured > MAX_CAPTURED || view.len() < RECORD_HEADER {
            return Self::no_record(stream, captured);
        }
        let length = RECORD_HEADER + captured as usize;
        let view = stream.peek(length);
        let parsed = match self.order {
            ByteOrder::Little => parse_pcap_frame(view),
            ByteOrder::Big => parse_pcap_frame_be(view),
        };
        let Ok((_, record)) = parsed else {
            return Err(stream.cut(format!("a record of {length} bytes")));
        };
        // Two unsigned 32-bit fields: their sum stays far below what 64 bits hold.
        let time_ns =
            i64::from(record.ts_sec) * 1_000_000_000 + i64::from(record.ts_usec) * self.fraction_ns;
        Ok(Some(Found {
            time_ns,
            interface: 0,
            wire_length: record.origlen,
            length,
            data: RECORD_HEADER..length,
            comments: Vec::new(),
        }))
    }

    #[cold]
    fn no_header(stream: &mut Stream) -> Result<Option<Found>, Fault> {
        if stream.peek(1).is_empty() {
            return stream.finish().map(|()| None);
        }
        Err(stream.cut(format!("a record header of {RECORD_HEADER} bytes")))
    }

    #[cold]
    fn no_record(stream: &mut Stream, captured: u32) -> Result<Option<Found>, Fault> {
        if captured <= MAX_CAPTURED {
            return Self::no_header(stream);
        }
        Err(Fault::new(stream.offset(), super::captured_limit(), captured.to_string()))
    }
}
