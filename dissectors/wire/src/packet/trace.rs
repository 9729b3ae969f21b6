//! The way that the decoder takes through a record, header by header, for people to see.

use super::bytes::{Span, clamp};
use super::ip::Ip;
use super::{Decoder, Found};

/// One header on the way to the transport packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub passed: Passed,
    /// The header, as far as captured.
    pub bytes: Vec<u8>,
    /// Of its first byte: in the record, or in the datagram that was put together last.
    pub offset: u32,
}

/// What was passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Everything before the network layer of a record with this LINKTYPE value.
    Link(u16),
    /// A frame's header inside a tunnel.
    Ethernet,
    /// An IP header with its extension headers.
    Ip {
        /// Of what follows.
        protocol: u8,
        fragment: Option<Piece>,
    },
    /// Fragments came together. The bytes are the datagram's payload; offsets count from its start
    /// from here on.
    Reassembled {
        /// The frames they came in, in the order they came.
        frames: Vec<u64>,
    },
    /// UDP around SCTP or a tunnel.
    Udp,
    /// A tunnel's header, by the IP protocol or UDP port that it goes by, and what of the packet
    /// inside may stand before its network layer.
    Tunnel(u16),
}

/// The fields that make an IP packet a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub id: u32,
    /// Of its payload in the datagram's, in bytes.
    pub offset: u32,
    pub more: bool,
}

impl Step {
    /// The header between the start of `whole` and the start of what is inside at `inner`.
    pub(super) fn between(passed: Passed, whole: Span<'_>, inner: usize) -> Step {
        let size = inner.saturating_sub(whole.offset);
        let bytes = whole.bytes.get(..size).unwrap_or(whole.bytes).to_vec();
        Step { passed, bytes, offset: clamp(whole.offset) }
    }

    pub(super) fn ip(packet: Span<'_>, ip: &Ip<'_>) -> Step {
        let fragment = ip.fragment.map(|fragment| Piece {
            id: fragment.id,
            offset: clamp(fragment.offset),
            more: fragment.more,
        });
        let protocol = ip.upper.protocol.0;
        Step::between(Passed::Ip { protocol, fragment }, packet, ip.upper.offset)
    }
}

impl Decoder {
    /// Decodes like [`Decoder::decode`], and notes every header that was passed in `steps`.
    pub fn trace<'a>(
        &'a mut self,
        link_type: u16,
        time_ns: i64,
        record: &'a [u8],
        wire_length: u32,
        steps: &mut Vec<Step>,
    ) -> Found<'a> {
        self.follow::<true>(link_type, time_ns, record, wire_length, Some(steps))
    }
}
