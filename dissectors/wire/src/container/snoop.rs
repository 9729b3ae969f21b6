//! The snoop format (RFC 1761) with Ethernet datalinks. All its integers are big-endian.

use super::seek::Description;
use super::stream::{ByteOrder, Fault, Stream};
use super::{Comments, Found, Interface, MAX_CAPTURED};

pub(super) const MAGIC: [u8; 8] = *b"snoop\0\0\0";

const FILE_HEADER: usize = 16;
pub(super) const HEADER: Description =
    Description { section: 0, offset: 0, length: FILE_HEADER as u32 };
const RECORD_HEADER: usize = 24;

/// Far more than writers pad a record with.
const MAX_PADDING: u32 = 4096;

const BIG: ByteOrder = ByteOrder::Big;

pub(super) struct Snoop {
    /// Of the last record: packets dropped since the capture began.
    dropped: Option<u32>,
}

impl Snoop {
    /// Reads the file header, whose magic has been seen, and with it the one interface.
    pub fn open(stream: &mut Stream, interfaces: &mut Vec<Interface>) -> Result<Self, Fault> {
        let view = stream.peek(FILE_HEADER);
        let (Some(version), Some(datalink)) = (BIG.u32(view, 8), BIG.u32(view, 12)) else {
            return Err(stream.cut(format!("a snoop file header of {FILE_HEADER} bytes")));
        };
        if version != 2 {
            return Err(Fault::new(8, "snoop version 2", format!("version {version}")));
        }
        // IEEE 802.3 and Ethernet, whose frames LINKTYPE_ETHERNET does not tell apart.
        if !matches!(datalink, 0 | 4) {
            let found = format!("datalink type {datalink}");
            return Err(Fault::new(12, "a snoop datalink type of Ethernet (0 or 4)", found));
        }
        interfaces.push(Interface {
            section: 0,
            number: 0,
            link_type: 1,
            name: None,
            description: None,
            snap_length: 0,
            time_unit: "10^-6 s".into(),
            packets: 0,
        });
        stream.take(FILE_HEADER);
        Ok(Snoop { dropped: None })
    }

    pub fn dropped(&self) -> Option<u64> {
        self.dropped.map(u64::from)
    }

    /// The next record, or `None` at the end of the file.
    pub fn find(&mut self, stream: &mut Stream) -> Result<Option<Found>, Fault> {
        let view = stream.peek(RECORD_HEADER);
        if view.is_empty() {
            return stream.finish().map(|()| None);
        }
        let field = |number: usize| BIG.u32(view, 4 * number);
        let (
            Some(wire_length),
            Some(captured),
            Some(length),
            Some(dropped),
            Some(seconds),
            Some(micros),
        ) = (field(0), field(1), field(2), field(3), field(4), field(5))
        else {
            return Err(stream.cut(format!("a record header of {RECORD_HEADER} bytes")));
        };
        let offset = stream.offset();
        if captured > MAX_CAPTURED {
            return Err(Fault::new(offset, super::captured_limit(), captured.to_string()));
        }
        let least = captured + RECORD_HEADER as u32;
        let most = least + MAX_PADDING;
        if length < least || length > most {
            let expected = format!("a record length of {least} to {most} bytes");
            return Err(Fault::new(offset, expected, length.to_string()));
        }
        let length = length as usize;
        if stream.peek(length).len() < length {
            return Err(stream.cut(format!("a record of {length} bytes")));
        }
        self.dropped = Some(dropped);
        Ok(Some(Found {
            // Two unsigned 32-bit fields: their sum stays far below what 64 bits hold.
            time_ns: i64::from(seconds) * 1_000_000_000 + i64::from(micros) * 1000,
            interface: 0,
            wire_length,
            length,
            data: RECORD_HEADER..least as usize,
            comments: Comments::default(),
        }))
    }
}
