//! Addresses, ports and MACs of the trace, and what they become.
//!
//! A mapping is one step: what it gives is not mapped again, so two addresses may change places.

use std::net::IpAddr;

use pathscope_wire::address::Address;
use serde::Deserialize;

use super::change::Change;
use super::options::{Direction, Error};

/// As the orders have it, in text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mapping {
    /// An address to an address, or a prefix to a prefix of the same length; the longest counts.
    pub addresses: Vec<(String, String)>,
    /// Of TCP, UDP and SCTP, at both ends.
    pub ports: Vec<(u16, u16)>,
    pub macs: Macs,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Macs {
    Pairs(Vec<(String, String)>),
    Ends(Ends),
}

/// Source and destination of everything that goes one way.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ends {
    pub to_server: Option<(String, String)>,
    pub to_client: Option<(String, String)>,
}

impl Default for Macs {
    fn default() -> Self {
        Macs::Pairs(Vec::new())
    }
}

pub(super) type Mac = [u8; 6];

/// A mapping, ready for use.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// The longest prefix first.
    addresses: Vec<Rule>,
    /// In order of what is mapped.
    ports: Vec<(u16, u16)>,
    macs: Vec<(Mac, Mac)>,
    to_server: Option<(Mac, Mac)>,
    to_client: Option<(Mac, Mac)>,
}

/// One prefix to another. IPv4 is held as in [`Address`], and its prefix is longer by 96 bits.
#[derive(Clone, Copy, Debug)]
struct Rule {
    v4: bool,
    mask: u128,
    from: u128,
    to: u128,
}

impl Rules {
    pub fn new(mapping: &Mapping) -> Result<Self, Error> {
        let mut rules = Rules::default();
        for (from, to) in &mapping.addresses {
            rules.addresses.push(rule(from, to)?);
        }
        rules.addresses.sort_by_key(|rule| std::cmp::Reverse(rule.mask));
        rules.ports = mapping.ports.clone();
        rules.ports.sort_unstable();
        match &mapping.macs {
            Macs::Pairs(pairs) => {
                for (from, to) in pairs {
                    rules.macs.push((mac(from)?, mac(to)?));
                }
            }
            Macs::Ends(ends) => {
                rules.to_server = ends.to_server.as_ref().map(both).transpose()?;
                rules.to_client = ends.to_client.as_ref().map(both).transpose()?;
            }
        }
        rules.unique()?;
        Ok(rules)
    }

    /// Of two rules for the same, one would never count.
    fn unique(&self) -> Result<(), Error> {
        let twice = |text: String| Err(Error::Twice { text });
        for (at, one) in self.addresses.iter().enumerate() {
            let same =
                |other: &Rule| (other.v4, other.mask, other.from) == (one.v4, one.mask, one.from);
            if self.addresses.iter().skip(at.saturating_add(1)).any(same) {
                return twice(one.show());
            }
        }
        let mut neighbours = self.ports.iter().zip(self.ports.iter().skip(1));
        if let Some((one, _)) = neighbours.find(|(one, two)| one.0 == two.0) {
            return twice(format!("port {}", one.0));
        }
        for (at, one) in self.macs.iter().enumerate() {
            if self.macs.iter().skip(at.saturating_add(1)).any(|other| other.0 == one.0) {
                return twice(format!("MAC {:02x?}", one.0));
            }
        }
        Ok(())
    }

    pub fn maps_addresses(&self) -> bool {
        !self.addresses.is_empty()
    }

    pub fn maps_anything(&self) -> bool {
        self.maps_addresses() || self.maps_ports()
    }

    pub fn maps_ports(&self) -> bool {
        !self.ports.is_empty()
    }

    /// What an address becomes; none where it stays. "This packet's source" (RFC 5061) stays.
    pub fn address(&self, address: Address) -> Option<Address> {
        if self.addresses.is_empty() || address.is_wildcard() {
            return None;
        }
        let bits = address.bits();
        let matches = |rule: &&Rule| rule.v4 == address.is_v4() && bits & rule.mask == rule.from;
        let rule = self.addresses.iter().find(matches)?;
        let mapped = Address::v6((rule.to | (bits & !rule.mask)).to_be_bytes());
        (mapped != address).then_some(mapped)
    }

    pub fn port(&self, port: u16) -> Option<u16> {
        let at = self.ports.binary_search_by_key(&port, |pair| pair.0).ok()?;
        self.ports.get(at).map(|pair| pair.1).filter(|&mapped| mapped != port)
    }

    /// Source and destination MAC of a frame that had these.
    pub fn macs(&self, direction: Direction, source: Mac, destination: Mac) -> (Mac, Mac) {
        let asked = match direction {
            Direction::ToServer => self.to_server,
            Direction::ToClient => self.to_client,
        };
        let one = |mac| self.macs.iter().find(|pair| pair.0 == mac).map_or(mac, |pair| pair.1);
        asked.unwrap_or_else(|| (one(source), one(destination)))
    }

    /// Maps the address of `SIZE` bytes at `at` where it stands; says whether that changed it.
    pub fn write_address<const SIZE: usize>(
        &self,
        bytes: &mut [u8],
        at: usize,
        change: &mut Change,
    ) -> bool {
        if self.addresses.is_empty() {
            return false;
        }
        let found = at.checked_add(SIZE).and_then(|end| bytes.get(at..end));
        // An IPv4-mapped address in a place for IPv6 is no address of IPv4.
        let found =
            found.and_then(Address::from_bytes).filter(|found| found.is_v4() == (SIZE == 4));
        let mapped = found.and_then(|found| self.address(found));
        match mapped.map(Address::ip) {
            Some(IpAddr::V4(mapped)) => change.write(bytes, at, &mapped.octets()),
            Some(IpAddr::V6(mapped)) => change.write(bytes, at, &mapped.octets()),
            None => false,
        }
    }

    /// As [`Rules::write_address`], for a port.
    pub fn write_port(&self, bytes: &mut [u8], at: usize, change: &mut Change) -> bool {
        if self.ports.is_empty() {
            return false;
        }
        let port = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>());
        let mapped = port.and_then(|port| self.port(u16::from_be_bytes(*port)));
        mapped.is_some_and(|mapped| change.write(bytes, at, &mapped.to_be_bytes()))
    }
}

impl Rule {
    fn show(&self) -> String {
        let length = self.mask.count_ones().saturating_sub(if self.v4 { 96 } else { 0 });
        format!("{}/{length}", Address::v6(self.from.to_be_bytes()))
    }
}

fn rule(from: &str, to: &str) -> Result<Rule, Error> {
    let ((source, length), (target, target_length)) = (prefix(from)?, prefix(to)?);
    let both = || (from.to_owned(), to.to_owned());
    if source.is_ipv4() != target.is_ipv4() {
        let (from, to) = both();
        return Err(Error::Family { from, to });
    }
    if length != target_length {
        let (from, to) = both();
        return Err(Error::PrefixLength { from, to });
    }
    let v4 = source.is_ipv4();
    let hosts = (if v4 { 32 } else { 128_u32 }).saturating_sub(length);
    let mask = u128::MAX.checked_shl(hosts).unwrap_or(0);
    for (text, address) in [(from, source), (to, target)] {
        if bits(address) & !mask != 0 {
            return Err(Error::HostBits { text: text.to_owned() });
        }
    }
    Ok(Rule { v4, mask, from: bits(source), to: bits(target) })
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => Address::v4(address.octets()),
        IpAddr::V6(address) => Address::v6(address.octets()),
    }
    .bits()
}

/// An address and the length of its prefix, in bits of its own family.
fn prefix(text: &str) -> Result<(IpAddr, u32), Error> {
    let wrong = || Error::Text { text: text.to_owned(), expected: "an address or a prefix" };
    let (address, length) = text.split_once('/').map_or((text, None), |(a, l)| (a, Some(l)));
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let whole = if address.is_ipv4() { 32 } else { 128 };
    let length = length.map_or(Ok(whole), |length| length.parse().map_err(|_| wrong()))?;
    if length > whole { Err(wrong()) } else { Ok((address, length)) }
}

fn both((source, destination): &(String, String)) -> Result<(Mac, Mac), Error> {
    Ok((mac(source)?, mac(destination)?))
}

fn mac(text: &str) -> Result<Mac, Error> {
    let byte = |part: &str| (part.len() == 2).then(|| u8::from_str_radix(part, 16).ok()).flatten();
    let bytes: Option<Vec<u8>> = text.split([':', '-']).map(byte).collect();
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| Error::Text { text: text.to_owned(), expected: "a MAC of six bytes" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(json: &str) -> Result<Rules, Error> {
        Rules::new(&serde_json::from_str(json).unwrap())
    }

    fn address(text: &str) -> Address {
        Address::v6(bits(text.parse().unwrap()).to_be_bytes())
    }

    #[test]
    fn the_longest_prefix_counts_and_nothing_is_mapped_twice() {
        let rules = rules(
            r#"{"addresses": [["10.0.0.0/8", "11.0.0.0/8"], ["10.0.1.2", "10.0.1.3"],
                ["10.0.1.3", "10.0.1.2"], ["2001:db8::/32", "fd00::/32"]]}"#,
        )
        .unwrap();
        let mapped = |text| rules.address(address(text)).map(|found| found.to_string());
        assert_eq!(mapped("10.0.1.2").unwrap(), "10.0.1.3");
        assert_eq!(mapped("10.0.1.3").unwrap(), "10.0.1.2");
        assert_eq!(mapped("10.7.8.9").unwrap(), "11.7.8.9");
        assert_eq!(mapped("2001:db8::7").unwrap(), "fd00::7");
        assert_eq!((mapped("12.0.0.1"), mapped("0.0.0.0")), (None, None));
    }

    #[test]
    fn a_prefix_of_ipv6_is_none_of_ipv4() {
        let rules = rules(r#"{"addresses": [["::/8", "100::/8"]]}"#).unwrap();
        assert_eq!(rules.address(address("10.0.0.1")), None);
        assert_eq!(rules.address(address("::7")).unwrap().to_string(), "100::7");
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        let error = |addresses: &str| {
            rules(&format!(r#"{{"addresses": [{addresses}]}}"#)).unwrap_err().to_string()
        };
        assert_eq!(
            error(r#"["10.0.2.1", "fd00::1"]"#),
            "mapping: 10.0.2.1 to fd00::1: not of the same family"
        );
        assert_eq!(
            error(r#"["10.0.2.0/24", "10.0.0.0/16"]"#),
            "mapping: 10.0.2.0/24 to 10.0.0.0/16: prefixes of different lengths"
        );
        assert_eq!(
            error(r#"["10.0.2.1/24", "10.0.3.0/24"]"#),
            "mapping: 10.0.2.1/24: bits are set after the prefix"
        );
        assert_eq!(
            error(r#"["10.0.2.0/33", "10.0.3.0/33"]"#),
            "mapping: \"10.0.2.0/33\" is not an address or a prefix"
        );
        assert_eq!(
            error(r#"["10.0.2.0", "10.0.3.0"], ["10.0.2.0/32", "10.0.4.0"]"#),
            "mapping: 10.0.2.0/32 is mapped twice"
        );
        assert!(rules(r#"{"ports": [[1, 2], [1, 3]]}"#).is_err());
        assert!(rules(r#"{"macs": [["1:2", "3:4"]]}"#).is_err());
    }

    #[test]
    fn macs_by_pair_or_by_direction() {
        let one = rules(r#"{"macs": [["02:00:00:00:00:01", "02-00-00-00-00-09"]]}"#).unwrap();
        let mac = |last| [2, 0, 0, 0, 0, last];
        assert_eq!(one.macs(Direction::ToServer, mac(1), mac(2)), (mac(9), mac(2)));
        let ends = rules(r#"{"macs": {"to_client": ["02:00:00:00:00:03", "02:00:00:00:00:04"]}}"#);
        let ends = ends.unwrap();
        assert_eq!(ends.macs(Direction::ToClient, mac(1), mac(2)), (mac(3), mac(4)));
        assert_eq!(ends.macs(Direction::ToServer, mac(1), mac(2)), (mac(1), mac(2)));
    }

    #[test]
    fn ports_are_written_where_they_stand() {
        let rules = rules(r#"{"ports": [[5000, 6000], [6000, 5000]]}"#).unwrap();
        let mut bytes = [0x13, 0x88, 0x17, 0x70, 9];
        let mut change = Change::default();
        assert!(rules.write_port(&mut bytes, 0, &mut change));
        assert!(rules.write_port(&mut bytes, 2, &mut change));
        assert!(!rules.write_port(&mut bytes, 4, &mut change));
        assert_eq!(bytes, [0x17, 0x70, 0x13, 0x88, 9]);
        assert!(rules.maps_ports() && !rules.maps_addresses());
    }
}
