//! The Internet checksum of TCP and UDP (RFC 9293 section 3.1, RFC 768; RFC 1071),
//! over the segment and a pseudo-header of the IP addresses.

use crate::address::Address;
use crate::packet::bytes::clamp;

/// What a checksum field turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    Valid,
    /// UDP's field is zero: the sender made no checksum (RFC 768; over IPv6, RFC 6935).
    Absent,
    /// The sum of the pseudo-header alone: captured before the interface finished the sum.
    Partial,
    Bad,
    /// The capture cut the segment.
    NotCheckable,
}

impl Checksum {
    pub fn name(self) -> &'static str {
        match self {
            Checksum::Valid => "valid",
            Checksum::Absent => "zero",
            Checksum::Partial => "partial",
            Checksum::Bad => "bad",
            Checksum::NotCheckable => "unchecked",
        }
    }
}

/// What a segment is summed with.
#[derive(Clone, Copy)]
pub struct PseudoHeader {
    pub source: Address,
    pub destination: Address,
    /// IP's number of the protocol.
    pub protocol: u8,
}

impl PseudoHeader {
    /// What the pseudo-header adds to the sum of a segment of `length` bytes.
    /// IPv4-mapped or not makes no difference: the sum does not see words of all ones.
    pub fn sum(&self, length: usize) -> u64 {
        let halves = |address: Address| {
            let bits = address.bits();
            // Truncation is the point: the address in two halves.
            fold((bits >> 64) as u64).saturating_add(fold(bits as u64))
        };
        halves(self.source)
            .saturating_add(halves(self.destination))
            .saturating_add(u64::from(self.protocol))
            .saturating_add(fold(u64::from(clamp(length))))
    }

    /// Checks `bytes`, of which there were `wire_length` on the wire; `field` is the checksum
    /// that they hold.
    pub fn verify(&self, bytes: &[u8], wire_length: u32, field: u16) -> Checksum {
        if (bytes.len() as u64) < u64::from(wire_length) {
            return Checksum::NotCheckable;
        }
        let header = fold(self.sum(bytes.len()));
        // The field is part of the sum, which is all ones when it is right.
        if fold(header.saturating_add(sum(bytes))) == 0xffff {
            Checksum::Valid
        } else if u64::from(field) == header {
            Checksum::Partial
        } else {
            Checksum::Bad
        }
    }
}

/// The words of `bytes`, added up without carrying: [`fold`] does that.
pub fn sum(bytes: &[u8]) -> u64 {
    let (words, odd) = bytes.as_chunks::<2>();
    let whole: u64 = words.iter().map(|&word| u64::from(u16::from_be_bytes(word))).sum();
    // An odd byte is padded with zero at its right.
    whole.saturating_add(odd.first().map_or(0, |&byte| u64::from(byte) << 8))
}

/// Into 16 bits, adding what is carried out of them.
pub fn fold(mut sum: u64) -> u64 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Summed by hand: 0a00 + 0001 + 0a00 + 0002 + 0011 + 000c = 1420, which is the
    /// pseudo-header; and 0035 + 14e9 + 000c + 0102 + 0304 = 1930 is the datagram.
    fn header() -> PseudoHeader {
        let [source, destination] = [1, 2].map(|last| Address::v4([10, 0, 0, last]));
        PseudoHeader { source, destination, protocol: 17 }
    }

    fn datagram(field: u16) -> Vec<u8> {
        let [high, low] = field.to_be_bytes();
        vec![0, 53, 0x14, 0xe9, 0, 12, high, low, 1, 2, 3, 4]
    }

    #[test]
    fn valid_partial_and_bad() {
        let verdict = |field| header().verify(&datagram(field), 12, field);
        assert_eq!(verdict(!(0x1420 + 0x1930)), Checksum::Valid);
        assert_eq!(verdict(0x1420), Checksum::Partial);
        assert_eq!(verdict(0), Checksum::Bad);
        assert_eq!(header().verify(&datagram(7), 13, 7), Checksum::NotCheckable);
    }

    #[test]
    fn an_odd_byte_counts_as_the_high_one() {
        let mut bytes = datagram(0);
        bytes.push(0x50);
        let right = !(0x1420 + 1 + 0x1930 + 0x5000_u16);
        bytes[6..8].copy_from_slice(&right.to_be_bytes());
        assert_eq!(header().verify(&bytes, 13, right), Checksum::Valid);
    }

    #[test]
    fn ipv6_sums_all_of_its_addresses() {
        let v6 = |last| Address::v6([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
        let header = PseudoHeader { source: v6(1), destination: v6(2), protocol: 17 };
        // 2 * (2001 + 0db8) + 1 + 2 + 0011 + 000c = 5b92
        let field = !(0x5b92 + 0x1930_u16);
        assert_eq!(header.verify(&datagram(field), 12, field), Checksum::Valid);
    }
}
