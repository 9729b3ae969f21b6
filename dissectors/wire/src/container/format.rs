//! Which format a file has, by its first bytes.

use std::slice;

use super::pcap::{Pcap, Variant};
use super::pcapng::{self, Pcapng};
use super::seek::Description;
use super::snoop::{self, Snoop};
use super::stream::{ByteOrder, Fault, Stream};
use super::text::Text;
use super::{Found, Interface};

/// Of a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Pcap {
        variant: Variant,
        nanosecond: bool,
        big_endian: bool,
        version: (u16, u16),
    },
    Pcapng,
    Snoop,
    /// A trace of ns-2, which is text.
    Ns2Trace,
}

impl Format {
    /// "pcap (nanosecond, big-endian)", "pcapng".
    pub fn name(&self) -> String {
        let Format::Pcap { variant, nanosecond, big_endian, version } = self else {
            return match self {
                Format::Snoop => "snoop",
                Format::Ns2Trace => "ns-2 trace",
                _ => "pcapng",
            }
            .into();
        };
        let variant = match variant {
            Variant::Standard => "",
            Variant::Modified => "modified, ",
            Variant::Ixia => "IXIA lcap, ",
        };
        // What follows 2.4 differs in nothing.
        let version =
            if version.1 < 4 { format!(" {}.{}", version.0, version.1) } else { "".into() };
        let unit = if *nanosecond { "nanosecond" } else { "microsecond" };
        let order = if *big_endian { "big-endian" } else { "little-endian" };
        format!("pcap{version} ({variant}{unit}, {order})")
    }
}

/// What reads the records of a format.
pub(super) enum Parser {
    Pcap(Pcap),
    Pcapng(Box<Pcapng>),
    Snoop(Snoop),
    Text(Text),
}

/// Other files whose first bytes people take for a capture's, or that hold one.
const NOT_READ: [(&[u8], &str); 7] = [
    (&[0xa1, 0xb2, 0x34, 0xcd], "an old modified pcap file (magic 0xa1b234cd)"),
    (&[0xcd, 0x34, 0xb2, 0xa1], "an old modified pcap file (magic 0xa1b234cd)"),
    (&[0xa1, 0x2b, 0x3c, 0x4d], "a Navtel pcap file (magic 0xa12b3c4d)"),
    (&[0x4d, 0x3c, 0x2b, 0xa1], "a Navtel pcap file (magic 0xa12b3c4d)"),
    (b"\x02\x21\x4c\x18", "a file in LZ4's legacy format"),
    (b"BZh", "a bzip2-compressed file"),
    (b"PK\x03\x04", "a zip archive"),
];

impl Parser {
    /// Reads the header of the file.
    pub fn open(stream: &mut Stream, interfaces: &mut Vec<Interface>) -> Result<Self, Fault> {
        const SHOWN: usize = 16;
        let start = stream.peek(SHOWN);
        let start = start.get(..SHOWN).unwrap_or(start).to_vec();
        if start.starts_with(&pcapng::MAGIC) {
            return Pcapng::open(stream).map(|pcapng| Parser::Pcapng(Box::new(pcapng)));
        }
        if start.starts_with(&snoop::MAGIC) {
            return Snoop::open(stream, interfaces).map(Parser::Snoop);
        }
        if let Some(pcap) = Pcap::open(stream, interfaces)? {
            return Ok(Parser::Pcap(pcap));
        }
        if Text::is_trace(stream) {
            return Ok(Parser::Text(Text));
        }
        let found = match NOT_READ.iter().find(|(magic, _)| start.starts_with(magic)) {
            Some((_, name)) => (*name).into(),
            None if start.is_empty() => "an empty file".into(),
            None => format!("\"{}\"", start.escape_ascii()),
        };
        // A stream that broke before its first bytes says so itself.
        if start.len() < SHOWN {
            stream.finish()?;
        }
        Err(Fault::new(0, "a pcap, pcapng or snoop header, or a line of an ns-2 trace", found))
    }

    /// The next record, or `None` at the end of the file.
    #[inline]
    pub fn find(
        &mut self,
        stream: &mut Stream,
        interfaces: &mut Vec<Interface>,
    ) -> Result<Option<Found>, Fault> {
        match self {
            Parser::Pcap(pcap) => pcap.find(stream),
            Parser::Pcapng(pcapng) => pcapng.find(stream, interfaces),
            Parser::Snoop(snoop) => snoop.find(stream),
            // It has lines: [`super::Capture::line`].
            Parser::Text(_) => Ok(None),
        }
    }

    pub fn format(&self) -> Format {
        match self {
            Parser::Pcap(pcap) => Format::Pcap {
                variant: pcap.variant,
                nanosecond: pcap.nanosecond,
                big_endian: pcap.order == ByteOrder::Big,
                version: pcap.version,
            },
            Parser::Pcapng(_) => Format::Pcapng,
            Parser::Snoop(_) => Format::Snoop,
            Parser::Text(_) => Format::Ns2Trace,
        }
    }

    /// Comments of the sections so far.
    pub fn comments(&self) -> &[String] {
        match self {
            Parser::Pcapng(pcapng) => &pcapng.comments,
            Parser::Pcap(_) | Parser::Snoop(_) | Parser::Text(_) => &[],
        }
    }

    /// What has to be read before any record, so far; see [`Description`].
    pub fn descriptions(&self) -> &[Description] {
        match self {
            Parser::Pcap(pcap) => slice::from_ref(&pcap.header),
            Parser::Pcapng(pcapng) => pcapng.descriptions.all(),
            Parser::Snoop(_) => slice::from_ref(&snoop::HEADER),
            Parser::Text(_) => &[],
        }
    }

    /// Packets that the capturing host lost so far, if the file tells.
    pub fn dropped(&self) -> Option<u64> {
        match self {
            Parser::Pcap(_) | Parser::Text(_) => None,
            Parser::Pcapng(pcapng) => pcapng.dropped(),
            Parser::Snoop(snoop) => snoop.dropped(),
        }
    }
}
