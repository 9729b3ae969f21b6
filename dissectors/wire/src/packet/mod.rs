//! From a captured record to the transport packet in it: link layer, IPv4 and IPv6
//! (RFC 791, RFC 8200), fragments, and UDP encapsulation of SCTP (RFC 6951).

#[cfg(test)]
pub(crate) mod build;
pub(crate) mod bytes;
mod fragment;
mod ip;
mod link;
mod udp;

use etherparse::ip_number;

use self::bytes::clamp;
use self::fragment::{Key, Pool};
use self::ip::{Fragment, Header, Upper};
use self::link::Network;
use crate::address::Address;
use crate::problem::{Layer, Problem};
use crate::sctp::COMMON_HEADER;

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
}

impl Skip {
    pub fn name(self) -> &'static str {
        match self {
            Skip::NotIp => "not IP",
            Skip::NotSctp => "not SCTP",
            Skip::OtherProtocol => "another protocol",
            Skip::FragmentHeld => "fragment kept for reassembly",
            Skip::UnknownLinkType => "link type not supported",
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

impl Found<'_> {
    /// As this was found in a datagram put together from several records.
    fn reassembled(self) -> Self {
        match self {
            Found::Sctp(packet) => {
                Found::Sctp(Packet { sctp_offset: 0, reassembled: true, ..packet })
            }
            Found::Tcp(datagram) => Found::Tcp(Datagram { offset: 0, ..datagram }),
            Found::Udp(datagram) => Found::Udp(Datagram { offset: 0, ..datagram }),
            Found::Icmp(datagram) => Found::Icmp(Datagram { offset: 0, ..datagram }),
            other => other,
        }
    }
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
        DecoderOptions { udp_ports: vec![SCTP_TUNNELING], flows: true }
    }
}

impl DecoderOptions {
    /// The reason to leave out a packet that no one asked for.
    fn unwanted(&self) -> Stop {
        Stop::Skip(if self.flows { Skip::OtherProtocol } else { Skip::NotSctp })
    }
}

/// Finds the transport packet in each record of one capture.
pub struct Decoder {
    options: DecoderOptions,
    pool: Pool,
    /// The last datagram put together, lent to the caller until the next record.
    reassembled: Vec<u8>,
}

/// What ends the way up before a transport protocol is reached.
enum Stop {
    Skip(Skip),
    Problem(Problem),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Stop::Problem(problem)
    }
}

impl Decoder {
    pub fn new(options: DecoderOptions) -> Self {
        Decoder { options, pool: Pool::default(), reassembled: Vec::new() }
    }

    /// Fragments that were kept for reassembly and then given up: the rest did not
    /// come within 60 s, the pool (1024 datagrams, 8 MiB) was full, or it overlapped.
    pub fn dropped_fragments(&self) -> u64 {
        self.pool.dropped()
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
        match self.find(link_type, time_ns, record, wire_length) {
            Ok(found) => found,
            Err(Stop::Skip(skip)) => Found::Skip(skip),
            Err(Stop::Problem(problem)) => Found::Problem(problem),
        }
    }

    fn find<'a>(
        &'a mut self,
        link_type: u16,
        time_ns: i64,
        record: &'a [u8],
        wire_length: u32,
    ) -> Result<Found<'a>, Stop> {
        // A record longer than it was on the wire is the wire length's mistake.
        let wire = record.len().max(usize::try_from(wire_length).unwrap_or(usize::MAX));
        let at = match link::network(link_type, record, wire)? {
            Network::Ip(at) => at,
            Network::NotIp => return Err(Stop::Skip(Skip::NotIp)),
            Network::UnknownLinkType => return Err(Stop::Skip(Skip::UnknownLinkType)),
        };
        let ip = ip::read(record, at, wire)?;
        match ip.fragment {
            None => transport(&self.options, ip.header, ip.upper),
            Some(fragment) => self.reassemble(ip.header, ip.upper, fragment, time_ns),
        }
    }

    fn reassemble(
        &mut self,
        header: Header,
        upper: Upper<'_>,
        fragment: Fragment,
        time_ns: i64,
    ) -> Result<Found<'_>, Stop> {
        // Only what may lead to a packet that is read is worth the memory.
        let wanted = match upper.protocol {
            ip_number::SCTP | ip_number::UDP | ip_number::AUTH | ip_number::IPV6_DEST_OPTIONS => {
                true
            }
            ip_number::TCP | ip_number::ICMP | ip_number::IPV6_ICMP => self.options.flows,
            _ => false,
        };
        if !wanted {
            return Err(self.options.unwanted());
        }
        let key = Key {
            source: header.source,
            destination: header.destination,
            id: fragment.id,
            protocol: header.id.map(|_| upper.protocol.0),
        };
        let Some((protocol, whole)) = self.pool.add(key, fragment, upper, time_ns)? else {
            return Err(Stop::Skip(Skip::FragmentHeld));
        };
        self.reassembled = whole;
        let bytes = self.reassembled.as_slice();
        let (upper, nested) =
            ip::skip_extensions(Upper { protocol, bytes, offset: 0, length: bytes.len() })?;
        if nested.is_some() {
            let what = "fragment inside a fragment";
            return Err(bytes::malformed(Layer::Ip, upper.offset, 0, 0, what).into());
        }
        Ok(transport(&self.options, header, upper)?.reassembled())
    }
}

fn transport<'a>(
    options: &DecoderOptions,
    header: Header,
    upper: Upper<'a>,
) -> Result<Found<'a>, Stop> {
    let datagram = Datagram {
        source: header.source,
        destination: header.destination,
        ip_id: header.id,
        bytes: upper.bytes,
        offset: clamp(upper.offset),
        length: clamp(upper.length),
    };
    let (udp, upper) = match upper.protocol {
        ip_number::SCTP => (None, upper),
        ip_number::UDP => match udp::tunnelled(upper, &options.udp_ports)? {
            Some(tunnelled) => (Some(tunnelled.ports), tunnelled.upper),
            None if options.flows => return Ok(Found::Udp(datagram)),
            None => return Err(options.unwanted()),
        },
        ip_number::TCP if options.flows => return Ok(Found::Tcp(datagram)),
        ip_number::ICMP | ip_number::IPV6_ICMP if options.flows => {
            return Ok(Found::Icmp(datagram));
        }
        _ => return Err(options.unwanted()),
    };
    if upper.bytes.len() < COMMON_HEADER {
        let what = "SCTP common header";
        return Err(upper.extent().short(Layer::Sctp, upper.offset, COMMON_HEADER, what).into());
    }
    Ok(Found::Sctp(Packet {
        source: header.source,
        destination: header.destination,
        ip_id: header.id,
        hop_limit: header.hop_limit,
        ecn: header.ecn,
        udp,
        sctp: upper.bytes,
        sctp_offset: clamp(upper.offset),
        sctp_length: clamp(upper.length),
        reassembled: false,
    }))
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
    let ip = ip::read(bytes, at, u32::MAX as usize)?;
    let later = ip.fragment.is_some_and(|fragment| fragment.offset > 0);
    Ok(Quote {
        source: ip.header.source,
        destination: ip.header.destination,
        protocol: ip.upper.protocol.0,
        bytes: if later { &[] } else { ip.upper.bytes },
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::build::{ethernet, fragment, ipv4, ipv4_fragment, ipv6, udp};
    use super::*;
    use crate::problem::Kind;
    use crate::sctp::build::{chunk, packet};

    const ETHERNET: u16 = 1;
    const RAW: u16 = 101;
    const SCTP: u8 = 132;
    const UDP: u8 = 17;

    fn decoder() -> Decoder {
        Decoder::new(DecoderOptions::default())
    }

    fn decode<'a>(decoder: &'a mut Decoder, link_type: u16, record: &'a [u8]) -> Found<'a> {
        decoder.decode(link_type, 0, record, clamp(record.len()))
    }

    fn sctp() -> Vec<u8> {
        packet(&[chunk(0, 3, &[7; 100])])
    }

    #[test]
    fn sctp_over_ethernet_and_ipv4() {
        let sctp = sctp();
        let mut record = ethernet(0x0800, &ipv4(SCTP, &sctp));
        record.extend([0; 6]);
        let expected = Packet {
            source: Address::v4([10, 0, 0, 1]),
            destination: Address::v4([10, 0, 0, 2]),
            ip_id: Some(7),
            hop_limit: 64,
            ecn: 2,
            udp: None,
            sctp: &sctp,
            sctp_offset: 34,
            sctp_length: 116,
            reassembled: false,
        };
        assert_eq!(decode(&mut decoder(), ETHERNET, &record), Found::Sctp(expected));
    }

    #[test]
    fn sctp_in_udp_over_ipv6() {
        let sctp = sctp();
        let record = ipv6(UDP, &udp(9899, 40_000, &sctp));
        let mut decoder = decoder();
        let Found::Sctp(found) = decode(&mut decoder, RAW, &record) else { panic!() };
        assert_eq!(
            (found.udp, found.sctp, found.sctp_offset),
            (Some((9899, 40_000)), &sctp[..], 48)
        );
        assert_eq!(found.ip_id, None);
        let mut deaf = Decoder::new(DecoderOptions { udp_ports: vec![], flows: false });
        assert_eq!(decode(&mut deaf, RAW, &record), Found::Skip(Skip::NotSctp));
        let mut deaf = Decoder::new(DecoderOptions { udp_ports: vec![], flows: true });
        let Found::Udp(found) = decode(&mut deaf, RAW, &record) else { panic!() };
        assert_eq!((found.offset, found.length as usize), (40, found.bytes.len()));
    }

    #[test]
    fn what_is_not_sctp_is_skipped_by_reason() {
        let options = DecoderOptions { flows: false, ..DecoderOptions::default() };
        let mut decoder = Decoder::new(options);
        let mut skip = |link_type, record: &[u8]| match decode(&mut decoder, link_type, record) {
            Found::Skip(skip) => skip.name(),
            other => panic!("{other:?}"),
        };
        assert_eq!(skip(ETHERNET, &ethernet(0x0806, &[0; 28])), "not IP");
        assert_eq!(skip(RAW, &ipv4(6, &[0; 20])), "not SCTP");
        assert_eq!(skip(RAW, &ipv6(59, &[])), "not SCTP");
        assert_eq!(skip(RAW, &ipv4_fragment(6, 1, 0, true, &[0; 16])), "not SCTP");
        assert_eq!(skip(147, &[0; 60]), "link type not supported");
        let held = ipv4_fragment(SCTP, 1, 0, true, &[0; 16]);
        assert_eq!(skip(RAW, &held), "fragment kept for reassembly");
    }

    #[test]
    fn flows_are_given_whole_or_put_together() {
        let mut decoder = decoder();
        let record = ethernet(0x0800, &ipv4(6, &[7; 32]));
        let Found::Tcp(found) = decode(&mut decoder, ETHERNET, &record) else { panic!() };
        assert_eq!((found.bytes, found.offset, found.length), (&[7; 32][..], 34, 32));
        let record = ipv6(58, &[1; 8]);
        assert!(matches!(decode(&mut decoder, RAW, &record), Found::Icmp(_)));
        assert_eq!(decode(&mut decoder, RAW, &ipv4(89, &[0; 8])), Found::Skip(Skip::OtherProtocol));
        let last = ipv4_fragment(6, 1, 16, false, &[7; 16]);
        assert_eq!(decode(&mut decoder, RAW, &last), Found::Skip(Skip::FragmentHeld));
        let first = ipv4_fragment(6, 1, 0, true, &[7; 16]);
        let Found::Tcp(found) = decode(&mut decoder, RAW, &first) else { panic!() };
        assert_eq!((found.bytes, found.offset), (&[7; 32][..], 0));
    }

    #[test]
    fn a_cut_packet_is_given_as_far_as_it_goes() {
        let record = ipv4(SCTP, &sctp());
        let mut decoder = decoder();
        let Found::Sctp(cut) = decoder.decode(RAW, 0, &record[..60], 136) else { panic!() };
        assert_eq!((cut.sctp.len(), cut.sctp_length), (40, 116));
        let mut kind = |record: &[u8], wire| match decoder.decode(RAW, 0, record, wire) {
            Found::Problem(problem) => (problem.kind, problem.layer, problem.offset),
            other => panic!("{other:?}"),
        };
        assert_eq!(kind(&record[..31], 136), (Kind::Truncated, Layer::Sctp, 20));
        assert_eq!(kind(&ipv4(SCTP, &[0; 11]), 31), (Kind::Malformed, Layer::Sctp, 20));
        assert_eq!(kind(&record[..60], 60), (Kind::Malformed, Layer::Ip, 0));
    }

    #[test]
    fn fragments_of_both_families_come_together_backwards() {
        let sctp = sctp();
        let inner = udp(9899, 9899, &sctp);
        let mut decoder = decoder();
        let v4 = |offset: usize, end: usize| {
            ipv4_fragment(UDP, 3, offset as u16, end < inner.len(), &inner[offset..end])
        };
        let v6 = |offset: usize, end: usize| {
            let piece = &inner[offset..end];
            ipv6(44, &fragment(UDP, 3, offset as u16, end < inner.len(), piece))
        };
        let ranges = [(104, inner.len()), (48, 104), (0, 48)];
        for records in
            [ranges.map(|(start, end)| v4(start, end)), ranges.map(|(start, end)| v6(start, end))]
        {
            let [last, middle, first] = &records;
            assert_eq!(decode(&mut decoder, RAW, last), Found::Skip(Skip::FragmentHeld));
            assert_eq!(decode(&mut decoder, RAW, middle), Found::Skip(Skip::FragmentHeld));
            let Found::Sctp(whole) = decode(&mut decoder, RAW, first) else { panic!() };
            assert_eq!((whole.sctp, whole.sctp_offset, whole.sctp_length), (&sctp[..], 0, 116));
            assert_eq!((whole.udp, whole.reassembled), (Some((9899, 9899)), true));
        }
        assert_eq!(decoder.dropped_fragments(), 0);
    }

    #[test]
    fn options_behind_a_fragment_header_are_walked_once_whole() {
        let sctp = sctp();
        let inner = [&[SCTP, 0, 1, 4, 0, 0, 0, 0], &sctp[..]].concat();
        let mut decoder = decoder();
        let first = ipv6(44, &fragment(60, 3, 0, true, &inner[..16]));
        let last = ipv6(44, &fragment(60, 3, 16, false, &inner[16..]));
        assert_eq!(decode(&mut decoder, RAW, &first), Found::Skip(Skip::FragmentHeld));
        let Found::Sctp(whole) = decode(&mut decoder, RAW, &last) else { panic!() };
        assert_eq!(whole.sctp, sctp);
    }

    #[test]
    fn a_fragment_inside_a_fragment_is_malformed() {
        let inner = fragment(SCTP, 4, 8, true, &[0; 8]);
        let options = [&[44, 0, 1, 4, 0, 0, 0, 0], &inner[..]].concat();
        let mut decoder = decoder();
        let first = ipv6(44, &fragment(60, 3, 0, true, &options[..16]));
        let last = ipv6(44, &fragment(60, 3, 16, false, &options[16..]));
        assert_eq!(decode(&mut decoder, RAW, &first), Found::Skip(Skip::FragmentHeld));
        let Found::Problem(nested) = decode(&mut decoder, RAW, &last) else { panic!() };
        assert_eq!((nested.kind, nested.layer, nested.offset), (Kind::Malformed, Layer::Ip, 16));
    }

    proptest! {
        #[test]
        fn any_record_is_one_of_the_three(
            link_type in prop::sample::select(vec![0_u16, 1, 12, 101, 108, 113, 229, 276, 999]),
            records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 1..5),
            wire in 0_u32..200,
        ) {
            let mut decoder = decoder();
            for record in &records {
                check(decoder.decode(link_type, 0, record, wire), record);
            }
        }

        #[test]
        fn any_damage_to_a_good_record_is_survived(
            which in 0_usize..5,
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            kept in any::<prop::sample::Index>(),
        ) {
            let sctp = sctp();
            let mut record = match which {
                0 => ethernet(0x0800, &ipv4(SCTP, &sctp)),
                1 => ethernet(0x86dd, &ipv6(SCTP, &sctp)),
                2 => ethernet(0x0800, &ipv4(UDP, &udp(9899, 9899, &sctp))),
                3 => {
                    let options = [SCTP, 0, 1, 4, 0, 0, 0, 0];
                    ethernet(0x86dd, &ipv6(0, &[&options, &sctp[..]].concat()))
                }
                _ => ethernet(0x86dd, &ipv6(44, &fragment(SCTP, 1, 0, false, &sctp))),
            };
            let wire = clamp(record.len());
            for (at, byte) in damage {
                let at = at.index(record.len());
                record[at] = byte;
            }
            record.truncate(kept.index(record.len()) + 1);
            check(decoder().decode(ETHERNET, 0, &record, wire), &record);
        }
    }

    fn check(found: Found<'_>, record: &[u8]) {
        if let Found::Sctp(packet) = found {
            assert!(packet.sctp.len() >= COMMON_HEADER);
            assert!(packet.sctp_length as usize >= packet.sctp.len());
            if !packet.reassembled {
                let at = packet.sctp_offset as usize;
                assert_eq!(&record[at..at + packet.sctp.len()], packet.sctp);
            }
        }
    }
}
