//! What stands between an IP header and the transport header: IPv6's extension headers
//! (RFC 8200 section 4), IPv4's options.

use pathscope_wire::packet::Outer;

use super::ip::{V6_HEADER, header_length, is_v4, protocol};

pub(super) const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
pub(super) const FRAGMENT: u8 = 44;
/// RFC 791 section 3.1: loose and strict source and record route.
const SOURCE_ROUTES: [u8; 2] = [131, 137];
pub(super) const END_OF_LIST: u8 = 0;
pub(super) const NO_OPERATION: u8 = 1;

/// One extension header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extension {
    pub kind: u8,
    pub at: usize,
    /// The header after it.
    pub end: usize,
    /// Where the number of this header stands.
    pub named_at: usize,
}

/// The extension headers of the IPv6 packet up to its upper layer.
pub(super) fn extensions<'a>(
    packet: &'a [u8],
    found: &Outer,
) -> impl Iterator<Item = Extension> + 'a {
    let upper = found.upper;
    let mut named_at = 6;
    let mut at = if is_v4(packet) { upper } else { V6_HEADER };
    std::iter::from_fn(move || {
        let kind = *packet.get(named_at).filter(|_| at < upper)?;
        let length = usize::from(*packet.get(at + 1)?);
        let size = match kind {
            FRAGMENT => 8,
            protocol::AUTHENTICATION => 4 * (length + 2),
            _ => 8 * (length + 1),
        };
        let one = Extension { kind, at, end: at + size, named_at };
        (named_at, at) = (at, at + size);
        Some(one)
    })
}

/// Where IPv6 puts a fragment header (RFC 8200 section 4.5): behind what every node on the way
/// reads. Also where the number of what follows stands.
pub(super) fn unfragmentable(packet: &[u8], found: &Outer) -> (usize, usize) {
    extensions(packet, found)
        .filter(|one| matches!(one.kind, HOP_BY_HOP | ROUTING))
        .last()
        .map_or((V6_HEADER, 6), |one| (one.end, one.at))
}

/// Whether the packet is larger than IPv6's length can say, and has an option instead (RFC 2675).
pub(super) fn is_jumbogram(packet: &[u8], found: &Outer) -> bool {
    let no_length = packet.get(4..6) == Some(&[0, 0]);
    no_length && extensions(packet, found).any(|one| one.kind == HOP_BY_HOP)
}

/// Whether the destination in the header is only the next of several: the checksums above
/// IP know the last.
pub(super) fn is_source_routed(packet: &[u8], found: &Outer) -> bool {
    if !is_v4(packet) {
        let left = |one: Extension| packet.get(one.at + 3).is_some_and(|&left| left > 0);
        return extensions(packet, found).any(|one| one.kind == ROUTING && left(one));
    }
    let mut options = packet.get(20..header_length(packet)).unwrap_or_default();
    loop {
        match *options {
            [NO_OPERATION, ref rest @ ..] => options = rest,
            [kind, length, pointer, ..] if SOURCE_ROUTES.contains(&kind) => {
                return pointer <= length;
            }
            [END_OF_LIST, ..] | [] | [_] | [_, 0 | 1, ..] => return false,
            [_, length, ..] => options = options.get(usize::from(length)..).unwrap_or_default(),
        }
    }
}

/// Whether an authentication header signs the IP header's addresses (RFC 4302).
pub(super) fn is_authenticated(packet: &[u8], found: &Outer) -> bool {
    if is_v4(packet) {
        packet.get(9) == Some(&protocol::AUTHENTICATION)
    } else {
        extensions(packet, found).any(|one| one.kind == protocol::AUTHENTICATION)
    }
}

#[cfg(test)]
mod tests {
    use pathscope_wire::packet::outer;

    use super::super::build::{ip, tcp, udp};
    use super::*;

    fn found(packet: &[u8]) -> Outer {
        outer(packet, 0).unwrap()
    }

    #[test]
    fn every_header_up_to_the_transport() {
        let headers = [
            &[43, 0, 0, 0, 0, 0, 0, 0][..],
            &[51, 1, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[17, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2],
        ];
        let datagram = &udp(true, [1, 2], &[])[40..];
        let packet = ip(true, HOP_BY_HOP, &[&headers.concat(), datagram].concat());
        let outer = found(&packet);
        let walked: Vec<_> = extensions(&packet, &outer).map(|one| (one.kind, one.at)).collect();
        assert_eq!(walked, [(HOP_BY_HOP, 40), (ROUTING, 48), (51, 64)]);
        assert_eq!(extensions(&packet, &outer).last().map(|one| one.end), Some(outer.upper));
        assert_eq!(unfragmentable(&packet, &outer), (64, 48));
        assert!(is_source_routed(&packet, &outer) && is_authenticated(&packet, &outer));
        let plain = udp(true, [1, 2], &[]);
        assert_eq!(extensions(&plain, &found(&plain)).count(), 0);
        assert_eq!(unfragmentable(&plain, &found(&plain)), (40, 6));
    }

    #[test]
    fn source_routes_of_ipv4() {
        let routed = |options: [u8; 8]| {
            let mut packet = tcp(false, 0x10, &[], &[]);
            packet[0] = 0x47;
            packet.splice(20..20, options);
            packet[3] = 48;
            is_source_routed(&packet, &found(&packet))
        };
        assert!(routed([1, 131, 7, 4, 10, 0, 0, 9]));
        // The last address is in the header already.
        assert!(!routed([1, 131, 7, 8, 10, 0, 0, 9]));
        assert!(!routed([7, 7, 4, 0, 0, 0, 0, 0]));
        assert!(!routed([0, 131, 7, 4, 10, 0, 0, 9]));
        assert!(!routed([130, 0, 131, 7, 4, 10, 0, 0]));
    }

    #[test]
    fn a_jumbogram_has_no_length() {
        let option = [17, 0, 0xc2, 4, 0, 1, 0, 0];
        let mut packet = ip(true, HOP_BY_HOP, &[&option[..], &[0; 8]].concat());
        assert!(!is_jumbogram(&packet, &found(&packet)));
        packet[4..6].fill(0);
        assert!(is_jumbogram(&packet, &found(&packet)));
    }
}
