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
