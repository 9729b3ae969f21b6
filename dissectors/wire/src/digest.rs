//! What makes a packet the same packet at another place of its way: a digest that
//! leaves out what a NAT on the way rewrites, which is addresses, ports and the
//! checksums over them (RFC 3022).

use crc_fast::{CrcAlgorithm, Digest};
use etherparse::{IpNumber, ip_number};

use crate::tcp;

/// Bytes of the transport packet in the digest of its head: with Ethernet and IPv4 it is the same
/// in a capture that keeps 68 bytes of a frame, once the usual snap length.
const HEAD: usize = 32;

/// Of TCP without its options.
const TCP_HEADER: usize = tcp::HEADER;

/// The digests of one packet. They say what is probably the same, and hold no secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    /// Of all that was captured of it.
    pub whole: u64,
    /// Of its length and first bytes: what a capture that cuts packets has, too.
    pub head: u64,
    /// The capture kept less than all of the packet.
    pub is_cut: bool,
}

impl Digests {
    /// Of a packet from its transport header on, which had `length` bytes on the wire.
    pub fn of(protocol: IpNumber, bytes: &[u8], length: u32) -> Digests {
        let is_cut = (bytes.len() as u64) < u64::from(length);
        // Middleboxes change the options of SYN: what is left in is the header before them.
        let bytes =
            if is_syn(protocol, bytes) { bytes.get(..TCP_HEADER).unwrap_or(bytes) } else { bytes };
        let (head, rest) = bytes.split_at_checked(HEAD).unwrap_or((bytes, &[]));
        let mut own = [0; HEAD];
        for (at, (own, byte)) in own.iter_mut().zip(head).enumerate() {
            if !is_rewritten(protocol, at) {
                *own = *byte;
            }
        }
        let mut digest = Digest::new(CrcAlgorithm::Crc64Nvme);
        digest.update(&[protocol.0]);
        digest.update(&length.to_be_bytes());
        digest.update(own.get(..head.len()).unwrap_or(&own));
        let head = digest.finalize();
        digest.update(rest);
        Digests { whole: digest.finalize(), head, is_cut }
    }
}

/// Whether the byte belongs to a port or a checksum.
fn is_rewritten(protocol: IpNumber, at: usize) -> bool {
    match protocol {
        ip_number::SCTP => matches!(at, 0..4 | 8..12),
        ip_number::TCP => matches!(at, 0..4 | 16..18),
        _ => matches!(at, 0..4 | 6..8),
    }
}

fn is_syn(protocol: IpNumber, bytes: &[u8]) -> bool {
    protocol == ip_number::TCP && bytes.get(13).is_some_and(|flags| flags & tcp::SYN != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(protocol: IpNumber, bytes: &[u8]) -> Digests {
        Digests::of(protocol, bytes, u32::try_from(bytes.len()).unwrap())
    }

    #[test]
    fn ports_and_checksums_do_not_count_and_all_else_does() {
        let rewritten = [
            (ip_number::SCTP, vec![0..4, 8..12]),
            (ip_number::TCP, vec![0..4, 16..18]),
            (ip_number::UDP, vec![0..4, 6..8]),
        ];
        for (protocol, ranges) in rewritten {
            let bytes: Vec<u8> = (100..180).collect();
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= 0x40;
                let same = ranges.iter().any(|range| range.contains(&at));
                assert_eq!(of(protocol, &bytes).whole == of(protocol, &other).whole, same);
                let same = same || at >= HEAD;
                assert_eq!(of(protocol, &bytes).head == of(protocol, &other).head, same);
            }
        }
    }

    #[test]
    fn the_head_is_the_same_in_a_packet_that_was_cut() {
        let bytes: Vec<u8> = (0..90).collect();
        let cut = Digests::of(ip_number::SCTP, &bytes[..34], 90);
        let whole = of(ip_number::SCTP, &bytes);
        assert_eq!((cut.head, cut.is_cut), (whole.head, true));
        assert_ne!(cut.whole, whole.whole);
        assert!(!whole.is_cut);
    }

    #[test]
    fn two_protocols_two_lengths() {
        let bytes = [0; 40];
        assert_ne!(of(ip_number::SCTP, &bytes), of(ip_number::UDP, &bytes));
        assert_ne!(of(ip_number::UDP, &bytes), of(ip_number::UDP, &bytes[..36]));
    }

    #[test]
    fn options_of_syn_do_not_count() {
        let mut bytes = vec![0; 24];
        bytes[13] = tcp::SYN;
        let mut clamped = bytes.clone();
        clamped[22] = 9;
        assert_eq!(of(ip_number::TCP, &bytes), of(ip_number::TCP, &clamped));
        bytes[13] = 0;
        clamped[13] = 0;
        assert_ne!(of(ip_number::TCP, &bytes), of(ip_number::TCP, &clamped));
    }
}
