//! What becomes of a frame between the capture and the wire.

use std::net::IpAddr;

use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mapping {
    pub addresses: Vec<(String, String)>,
    pub ports: Vec<(u16, u16)>,
    pub macs: serde_json::Value,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum AboveMtu {
    #[default]
    Refuse,
    Split,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Truncated {
    #[default]
    Refuse,
    Pad,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub mapping: Mapping,
    pub keep_bad_checksums: bool,
    pub above_mtu: AboveMtu,
    pub truncated: Truncated,
    pub udp_ports: Vec<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    ToServer,
    ToClient,
}

#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    pub link_type: u16,
    pub data: &'a [u8],
    pub wire_length: u32,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Truncated,
    AboveMtu,
}

impl Reason {
    pub fn name(self) -> &'static str {
        match self {
            Reason::Truncated => "truncated",
            Reason::AboveMtu => "above the MTU",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Note {}

impl Note {
    pub fn name(self) -> &'static str {
        match self {}
    }

    pub fn is_warning(self) -> bool {
        match self {}
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Notes;

impl Notes {
    pub fn iter(self) -> impl Iterator<Item = Note> {
        std::iter::empty()
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    pub notes: Notes,
}

#[derive(Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    lengths: Vec<usize>,
}

impl Frames {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.lengths.iter().filter_map(move |length| {
            let frame = self.bytes.get(start..start + length);
            start += length;
            frame
        })
    }
}

pub struct Rewriter {
    truncated: Truncated,
}

impl Rewriter {
    pub fn new(options: Options) -> Result<Self, Error> {
        Ok(Rewriter { truncated: options.truncated })
    }

    pub fn addresses(link_type: u16, data: &[u8]) -> Option<(IpAddr, IpAddr)> {
        if link_type != 1 {
            return None;
        }
        let packet = etherparse::SlicedPacket::from_ethernet(data).ok()?;
        match packet.net? {
            etherparse::NetSlice::Ipv4(ip) => {
                Some((ip.header().source_addr().into(), ip.header().destination_addr().into()))
            }
            etherparse::NetSlice::Ipv6(ip) => {
                Some((ip.header().source_addr().into(), ip.header().destination_addr().into()))
            }
            etherparse::NetSlice::Arp(_) => None,
        }
    }

    pub fn rewrite(
        &mut self,
        record: Captured<'_>,
        _: Direction,
        mtu: u32,
        out: &mut Frames,
    ) -> Result<Done, Reason> {
        let whole = usize::try_from(record.wire_length).unwrap_or(usize::MAX);
        if whole > record.data.len() && self.truncated == Truncated::Refuse {
            return Err(Reason::Truncated);
        }
        if whole > mtu as usize + 18 {
            return Err(Reason::AboveMtu);
        }
        out.bytes.extend_from_slice(record.data);
        out.lengths.push(record.data.len());
        Ok(Done::default())
    }
}
