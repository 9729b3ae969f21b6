//! One network address, IPv4 or IPv6, in sixteen bytes.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IP address, or a simulator's node. IPv4 is held IPv4-mapped (`::ffff:a.b.c.d`), which never
/// appears on the wire as a source or destination, so that comparing and
/// hashing an address is comparing and hashing one integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Address(u128);

/// What stands before the number of a simulated node.
const NODES: u128 = 0xfffe;

impl Address {
    pub const UNSPECIFIED: Address = Address(0);

    pub fn v4(octets: [u8; 4]) -> Self {
        Address(0xffff_0000_0000 | u128::from(u32::from_be_bytes(octets)))
    }

    pub fn v6(octets: [u8; 16]) -> Self {
        Address(u128::from_be_bytes(octets))
    }

    /// The address of an IPv4 or IPv6 Address parameter, by the length of its value.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes.len() {
            4 => bytes.try_into().ok().map(Self::v4),
            16 => bytes.try_into().ok().map(Self::v6),
            _ => None,
        }
    }

    /// A node of a simulated network, which has a number instead of an address. It is held as
    /// `::fffe:0:0` and the number: a block that RFC 4291 reserves, so no address on the wire either.
    pub fn node(number: u32) -> Self {
        Address(NODES << 32 | u128::from(number))
    }

    fn as_node(self) -> Option<u32> {
        // Truncation is the point: the low 32 bits are the number.
        (self.0 >> 32 == NODES).then_some(self.0 as u32)
    }

    pub fn is_v4(self) -> bool {
        self.0 >> 32 == 0xffff
    }

    /// 0.0.0.0 or `::`, which RFC 5061 uses for "the source address of this packet".
    pub fn is_wildcard(self) -> bool {
        self.0 == 0 || self.0 == 0xffff_0000_0000
    }

    pub fn bits(self) -> u128 {
        self.0
    }

    pub fn ip(self) -> IpAddr {
        if self.is_v4() {
            // Truncation is the point: the low 32 bits are the IPv4 address.
            IpAddr::V4(Ipv4Addr::from((self.0 & 0xffff_ffff) as u32))
        } else {
            IpAddr::V6(Ipv6Addr::from(self.0))
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.as_node() {
            return write!(f, "n{number}");
        }
        self.ip().fmt(f)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_itself_in_its_own_family() {
        assert_eq!(Address::v4([10, 0, 1, 2]).to_string(), "10.0.1.2");
        let v6 = Address::from_bytes(&[0x20, 1, 0xd, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(v6.unwrap().to_string(), "2001:db8:1::1");
        assert_eq!(Address::from_bytes(&[1, 2, 3]), None);
    }

    #[test]
    fn a_simulated_node_has_a_number() {
        assert_eq!(Address::node(12).to_string(), "n12");
        assert_eq!(Address::node(u32::MAX).to_string(), "n4294967295");
        assert_ne!(Address::node(1), Address::v4([0, 0, 0, 1]));
        assert!(!Address::node(0).is_v4() && !Address::node(0).is_wildcard());
    }

    #[test]
    fn wildcards_of_both_families() {
        assert!(Address::v4([0; 4]).is_wildcard());
        assert!(Address::v6([0; 16]).is_wildcard());
        assert!(!Address::v4([0, 0, 0, 1]).is_wildcard());
    }
}
