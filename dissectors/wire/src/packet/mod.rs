//! From a captured record to the transport packet in it: link layer, IPv4 and IPv6
//! (RFC 791, RFC 8200), fragments, tunnels, and UDP encapsulation of SCTP (RFC 6951).
//!
//! Of packets inside packets the innermost counts: its addresses are the path's.

#[cfg(test)]
pub(crate) mod build;
pub(crate) mod bytes;
mod fragment;
mod ip;
mod link;
mod outer;
pub mod trace;
mod tunnel;
mod udp;
mod walk;

use self::bytes::Span;
use self::fragment::Pool;
pub use self::outer::{Outer, outer, outermost};
use self::trace::{Passed, Step};
pub(crate) use self::tunnel::{GENEVE_PORT, GTP_PORT, VXLAN_PORT};
use self::walk::Walk;
use crate::address::Address;
use crate::problem::Problem;

/// The port IANA assigns to `sctp-tunneling`.
pub const SCTP_TUNNELING: u16 = 9899;

/// One SCTP packet and what carried it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    pub source: Address,
    pub destination: Address,
    /// Identification; IPv4 only.
    pub ip_id: Option<u16>,
    /// Time to live in IPv4.
    pub hop_limit: u8,
    /// The two bits of RFC 3168.
    pub ecn: u8,
    /// Source and destination port when encapsulated.
    pub udp: Option<(u16, u16)>,
    /// From the common header on, as far as captured, at least 12 bytes;
    /// without the link's padding.
    pub sctp: &'a [u8],
    /// Of `sctp[0]` in the captured record; 0 when reassembled.
    pub sctp_offset: u32,
    /// Bytes of SCTP by the IP or UDP header; more than `sctp.len()` when the
    /// capture kept fewer.
    pub sctp_length: u32,
    /// Put together from several records, of which this was the last to arrive.
    pub reassembled: bool,
}

/// One TCP, UDP or ICMP packet and what carried it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    pub source: Address,
    pub destination: Address,
    /// Identification; IPv4 only.
    pub ip_id: Option<u16>,
    /// From the transport header on, as far as captured; without the link's padding.
    pub bytes: &'a [u8],
    /// Of `bytes[0]` in the captured record; 0 when reassembled.
    pub offset: u32,
    /// Bytes by the IP header; more than `bytes.len()` when the capture kept fewer.
    pub length: u32,
}

/// Why a record holds nothing to dissect, though nothing is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skip {
    NotIp,
    /// IP with another protocol inside, where only SCTP is looked for.
    NotSctp,
    /// IP with a protocol inside that is not read.
    OtherProtocol,
    /// Waits for the rest of its datagram.
    FragmentHeld,
    UnknownLinkType,
    /// By the link, so that nothing above it can be read.
    Encrypted,
    /// A piece of a WLAN frame; the link's own fragments are not put together.
    WlanFragment,
    /// Several packets in one WLAN frame.
    AggregatedMsdu,
    /// The receiver of a WLAN frame discards it, too.
    BadFcs,
    TunnelsTooDeep,
}

impl Skip {
    pub fn name(self) -> &'static str {
        match self {
            Skip::NotIp => "not IP",
            Skip::NotSctp => "not SCTP",
            Skip::OtherProtocol => "another protocol",
            Skip::FragmentHeld => "fragment kept for reassembly",
            Skip::UnknownLinkType => "link type not supported",
            Skip::Encrypted => "encrypted",
            Skip::WlanFragment => "802.11 fragment",
            Skip::AggregatedMsdu => "802.11 A-MSDU",
            Skip::BadFcs => "frame check sequence is bad",
            Skip::TunnelsTooDeep => "tunnels nested too deep",
        }
    }
}

/// What a record turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    Sctp(Packet<'a>),
    Tcp(Datagram<'a>),
    Udp(Datagram<'a>),
    Icmp(Datagram<'a>),
    Skip(Skip),
    Problem(Problem),
}

#[derive(Clone, Debug)]
pub struct DecoderOptions {
    /// UDP ports, at either end, behind which SCTP is expected.
    pub udp_ports: Vec<u16>,
    /// Whether TCP, UDP and ICMP are given too.
    pub flows: bool,
}

impl Default for DecoderOptions {
    fn default() -> Self {
        DecoderOptions { udp_ports: vec![SCTP_TUNNELING], flows: false }
    }
}

impl DecoderOptions {
    /// The reason to leave out a packet that no one asked for.
    fn unwanted(&self) -> Skip {
        if self.flows { Skip::OtherProtocol } else { Skip::NotSctp }
    }
}

/// Finds the transport packet in each record of one capture.
pub struct Decoder {
    options: DecoderOptions,
    pool: Pool,
    /// Datagrams put together from the last record's fragments, the outermost
    /// first, lent to the caller until the next record.
    reassembled: [Vec<u8>; walk::MOST_DATAGRAMS],
    here: Source,
    sources: Vec<Source>,
}

/// Which record of the capture something came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Counts the records as they are decoded, which may not be the order of the file.
    pub turn: u64,
    pub frame: u64,
    /// In the file.
    pub offset: u64,
    pub time_ns: i64,
}

/// What a header leads to, on the way to IP.
enum Inner<'a> {
    Ip(Span<'a>),
    /// A whole frame inside another packet.
    Ethernet(Span<'a>),
}

impl Inner<'_> {
    fn offset(&self) -> usize {
        match self {
            Inner::Ip(span) | Inner::Ethernet(span) => span.offset,
        }
    }
}

/// What ends the way up before a transport protocol is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    Skip(Skip),
    Problem(Problem),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Stop::Problem(problem)
    }
}

impl From<Stop> for Found<'_> {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Skip(skip) => Found::Skip(skip),
            Stop::Problem(problem) => Found::Problem(problem),
        }
    }
}

impl Decoder {
    pub fn new(options: DecoderOptions) -> Self {
        Decoder {
            options,
            pool: Pool::default(),
            reassembled: Default::default(),
            here: Source::default(),
            sources: Vec::new(),
        }
    }

    /// Fragments that were kept for reassembly and then given up: the rest did not
    /// come within 60 s, the pool (1024 datagrams, 8 MiB) was full, or it overlapped.
    pub fn dropped_fragments(&self) -> u64 {
        self.pool.dropped()
    }

    /// Says which record is decoded next. Only [`Decoder::sources`] needs to know.
    pub fn at(&mut self, record: Source) {
        self.here = record;
    }

    /// The records that the packet found last was put together from, in no order; meaningless
    /// when it was not reassembled.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Decodes one record. `link_type` is a LINKTYPE value, `time_ns` the capture
    /// time (it only ages fragments), `wire_length` the record's length before
    /// the capture cut it.
    ///
    /// Offsets in a `Problem` count from the start of `record`, or from the start
    /// of the IP payload where a reassembled datagram is at fault.
    pub fn decode<'a>(
        &'a mut self,
        link_type: u16,
        time_ns: i64,
        record: &'a [u8],
        wire_length: u32,
    ) -> Found<'a> {
        self.follow::<false>(link_type, time_ns, record, wire_length, None)
    }

    /// Compiled twice, so that a trace costs those nothing who want none.
    #[inline(always)]
    fn follow<'a, const TRACED: bool>(
        &'a mut self,
        link_type: u16,
        time_ns: i64,
        record: &'a [u8],
        wire_length: u32,
        steps: Option<&mut Vec<Step>>,
    ) -> Found<'a> {
        // A record longer than it was on the wire is the wire length's mistake.
        let length = record.len().max(usize::try_from(wire_length).unwrap_or(usize::MAX));
        let Decoder { options, pool, reassembled, here, sources } = self;
        let mut walk = Walk::<TRACED>::new(options, pool, time_ns, here, sources, steps);
        let record = Span { bytes: record, offset: 0, length };
        match link::network(link_type, record) {
            Ok(inner) => {
                walk.note(|| Step::between(Passed::Link(link_type), record, inner.offset()));
                walk.inner(inner, reassembled)
            }
            Err(stop) => stop.into(),
        }
    }
}

/// The packet that an ICMP error quotes, as far as it quotes it.
pub(crate) struct Quote<'a> {
    pub source: Address,
    pub destination: Address,
    pub protocol: u8,
    /// From the transport header on; empty in all but the first fragment.
    pub bytes: &'a [u8],
}

/// Reads the IP packet at `at`, which may end anywhere after its IP header.
pub(crate) fn quote(bytes: &[u8], at: usize) -> Result<Quote<'_>, Problem> {
    // An error quotes the beginning of a packet, so there was always more of it on the wire.
    let whole = Span { bytes, offset: 0, length: u32::MAX as usize };
    let ip = ip::read(whole.after(at))?;
    let later = ip.fragment.is_some_and(|fragment| fragment.offset > 0);
    Ok(Quote {
        source: ip.header.source,
        destination: ip.header.destination,
        protocol: ip.upper.protocol.0,
        bytes: if later { &[] } else { ip.upper.bytes },
    })
}

#[cfg(test)]
mod tests;
