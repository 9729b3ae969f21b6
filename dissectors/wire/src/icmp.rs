//! ICMP (RFC 792, RFC 1191) and ICMPv6 (RFC 4443): the errors, and the packet that
//! each of them quotes. Offsets count from the ICMP header.

use etherparse::ip_number;

use crate::address::Address;
use crate::packet::bytes::{Extent, be16, be32};
use crate::packet::quote;
use crate::problem::{Layer, Problem};

/// Bytes before the quoted packet.
pub const HEADER: usize = 8;
/// Bytes before what a UDP datagram carries.
const UDP_HEADER: usize = 8;

/// One ICMP or ICMPv6 message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    pub v6: bool,
    pub kind: u8,
    pub code: u8,
    /// The 32 bits after the checksum: what they mean depends on the kind.
    rest: [u8; 4],
    /// After the header, as far as captured.
    body: &'a [u8],
    body_length: usize,
}

/// The quoted packet, as far as the error quotes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoted {
    pub source: Address,
    pub destination: Address,
    pub protocol: u8,
    /// Source and destination port of SCTP, TCP and UDP.
    pub ports: Option<(u16, u16)>,
    /// Of SCTP.
    pub verification_tag: Option<u32>,
    /// What SCTP's header would be if the quoted UDP datagram carries it (RFC 6951).
    pub in_udp: Option<Encapsulated>,
}

/// The start of an SCTP header inside UDP. Whether it is one only a known association tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encapsulated {
    pub source_port: u16,
    pub destination_port: u16,
    pub verification_tag: u32,
}

/// Reads a message that had `wire_length` bytes on the wire. It is an error
/// when its 8 bytes of header are not all there.
pub fn parse(v6: bool, bytes: &[u8], wire_length: u32) -> Result<Message<'_>, Problem> {
    let wire = (wire_length as usize).max(bytes.len());
    let Some((header, body)) = bytes.split_first_chunk::<HEADER>() else {
        let extent = Extent { captured: bytes.len(), wire };
        return Err(extent.short(Layer::Icmp, 0, HEADER, "ICMP header"));
    };
    let [kind, code, _, _, rest @ ..] = *header;
    Ok(Message { v6, kind, code, rest, body, body_length: wire - HEADER })
}

impl Message<'_> {
    /// Whether the message is an error, which quotes a packet.
    pub fn is_error(&self) -> bool {
        match self.v6 {
            false => matches!(self.kind, 3 | 4 | 5 | 11 | 12),
            // RFC 4443 section 2.1: the high bit tells information from errors.
            true => matches!(self.kind, 1..=4),
        }
    }

    /// Next hop's MTU in bytes (RFC 1191 section 4; RFC 4443 section 3.2).
    pub fn mtu(&self) -> Option<u32> {
        match (self.v6, self.kind, self.code) {
            (false, 3, 4) => {
                // 0 is from a router older than RFC 1191.
                Some(u32::from(be16::<2, 4>(&self.rest))).filter(|&mtu| mtu > 0)
            }
            (true, 2, _) => Some(be32::<0, 4>(&self.rest)),
            _ => None,
        }
    }

    /// What the error says, in the RFCs' words.
    pub fn name(&self) -> &'static str {
        match (self.v6, self.kind, self.code) {
            (false, 3, 0) => "net unreachable",
            (false, 3, 1) => "host unreachable",
            (false, 3, 2) => "protocol unreachable",
            (false, 3, 3) | (true, 1, 4) => "port unreachable",
            (false, 3, 4) => "fragmentation needed and DF set",
            (false, 3, 5) => "source route failed",
            (false, 3, 9 | 10 | 13) | (true, 1, 1) => "communication administratively prohibited",
            (true, 1, 0) => "no route to destination",
            (true, 1, 2) => "beyond scope of source address",
            (true, 1, 3) => "address unreachable",
            (true, 1, 5) => "source address failed ingress/egress policy",
            (true, 1, 6) => "reject route to destination",
            (false, 3, _) | (true, 1, _) => "destination unreachable",
            (true, 2, _) => "packet too big",
            (false, 4, _) => "source quench",
            (false, 5, _) => "redirect",
            (false, 11, 1) | (true, 3, 1) => "fragment reassembly time exceeded",
            (false, 11, _) | (true, 3, _) => "time to live exceeded in transit",
            (false, 12, _) | (true, 4, _) => "parameter problem",
            _ => "unknown",
        }
    }

    /// The packet that an error quotes; an error where its IP header is not all there.
    pub fn quoted(&self) -> Result<Quoted, Problem> {
        if self.body.is_empty() {
            let extent = Extent { captured: 0, wire: self.body_length };
            return Err(extent.short(Layer::Icmp, HEADER, 20, "quoted packet"));
        }
        let quote = quote(self.body, 0).map_err(|problem| problem.at(HEADER))?;
        let has_ports = [ip_number::SCTP, ip_number::TCP, ip_number::UDP]
            .iter()
            .any(|protocol| protocol.0 == quote.protocol);
        let ports = quote.bytes.first_chunk::<4>().filter(|_| has_ports);
        let tag = quote.bytes.first_chunk::<8>().filter(|_| quote.protocol == ip_number::SCTP.0);
        let carried = quote.bytes.get(UDP_HEADER..).and_then(|bytes| bytes.first_chunk::<8>());
        Ok(Quoted {
            source: quote.source,
            destination: quote.destination,
            protocol: quote.protocol,
            ports: ports.map(|bytes| (be16::<0, 4>(bytes), be16::<2, 4>(bytes))),
            verification_tag: tag.map(be32::<4, 8>),
            in_udp: carried.filter(|_| quote.protocol == ip_number::UDP.0).map(|bytes| {
                Encapsulated {
                    source_port: be16::<0, 8>(bytes),
                    destination_port: be16::<2, 8>(bytes),
                    verification_tag: be32::<4, 8>(bytes),
                }
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::build::{ipv4, ipv6, udp};
    use crate::problem::Kind;
    use crate::sctp::build::{chunk, packet};

    fn error(kind: u8, code: u8, rest: [u8; 4], quoted: &[u8]) -> Vec<u8> {
        [&[kind, code, 0, 0], &rest[..], quoted].concat()
    }

    #[test]
    fn an_error_names_the_sctp_packet_it_quotes() {
        let whole = ipv4(132, &packet(&[chunk(0, 3, &[7; 100])]));
        // RFC 792: the IP header and 8 bytes.
        let bytes = error(3, 4, [0, 0, 5, 220], &whole[..28]);
        let message = parse(false, &bytes, bytes.len() as u32).unwrap();
        assert!(message.is_error());
        assert_eq!(
            (message.mtu(), message.name()),
            (Some(1500), "fragmentation needed and DF set")
        );
        let quoted = message.quoted().unwrap();
        assert_eq!(quoted.source, Address::v4([10, 0, 0, 1]));
        assert_eq!((quoted.protocol, quoted.ports), (132, Some((1001, 2002))));
        assert_eq!(quoted.verification_tag, Some(0x0102_0304));
    }

    #[test]
    fn sctp_inside_udp_takes_a_longer_quote() {
        let sctp = packet(&[chunk(0, 3, &[7; 100])]);
        let whole = ipv4(17, &udp(9899, 9900, &sctp));
        let carried = |length: usize| {
            let bytes = error(3, 1, [0; 4], &whole[..length]);
            parse(false, &bytes, bytes.len() as u32).unwrap().quoted().unwrap().in_udp
        };
        let ports = |found: Encapsulated| (found.source_port, found.destination_port);
        assert_eq!(carried(35), None);
        let found = carried(36).unwrap();
        assert_eq!((ports(found), found.verification_tag), ((1001, 2002), 0x0102_0304));
    }

    #[test]
    fn packet_too_big_of_ipv6() {
        let bytes = error(2, 0, [0, 0, 5, 0], &ipv6(6, &[0, 80, 1, 2, 9, 9, 9, 9]));
        let message = parse(true, &bytes, bytes.len() as u32).unwrap();
        assert_eq!((message.mtu(), message.name()), (Some(1280), "packet too big"));
        let quoted = message.quoted().unwrap();
        assert_eq!((quoted.ports, quoted.verification_tag), (Some((80, 258)), None));
    }

    #[test]
    fn what_is_missing_is_said() {
        assert_eq!(parse(false, &[3, 3, 0], 8).unwrap_err().kind, Kind::Truncated);
        let empty = error(3, 3, [0; 4], &[]);
        let kind = |wire| parse(false, &empty, wire).unwrap().quoted().unwrap_err().kind;
        assert_eq!((kind(8), kind(36)), (Kind::Malformed, Kind::Truncated));
        let echo = parse(false, &[8, 0, 0, 0, 0, 0, 0, 0], 8).unwrap();
        assert_eq!((echo.is_error(), echo.name(), echo.mtu()), (false, "unknown", None));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..90),
            v6 in any::<bool>(),
            wire in 0_u32..120,
        ) {
            if let Ok(message) = parse(v6, &bytes, wire) {
                let _ = (message.quoted(), message.mtu(), message.name());
            }
        }
    }
}
