//! Chunk parameters (RFC 9260 section 3.2.1): types and the walk over them.

use super::tlv::Tlvs;
use crate::address::Address;
use crate::packet::bytes::be16;
use crate::problem::Problem;

pub const HEARTBEAT_INFO: u16 = 1;
pub const IPV4_ADDRESS: u16 = 5;
pub const IPV6_ADDRESS: u16 = 6;
pub const STATE_COOKIE: u16 = 7;
pub const UNRECOGNIZED_PARAMETER: u16 = 8;
pub const COOKIE_PRESERVATIVE: u16 = 9;
pub const HOST_NAME_ADDRESS: u16 = 11;
pub const SUPPORTED_ADDRESS_TYPES: u16 = 12;
/// RFC 6525, as the next five.
pub const OUTGOING_SSN_RESET: u16 = 13;
pub const INCOMING_SSN_RESET: u16 = 14;
pub const SSN_TSN_RESET: u16 = 15;
pub const RECONFIG_RESPONSE: u16 = 16;
pub const ADD_OUTGOING_STREAMS: u16 = 17;
pub const ADD_INCOMING_STREAMS: u16 = 18;
/// RFC 9260 reserves it; RFC 4960 appendix A.
pub const ECN_CAPABLE: u16 = 0x8000;
/// RFC 9653.
pub const ZERO_CHECKSUM_ACCEPTABLE: u16 = 0x8001;
/// RFC 4895, as the next two.
pub const RANDOM: u16 = 0x8002;
pub const CHUNK_LIST: u16 = 0x8003;
pub const REQUESTED_HMAC_ALGORITHM: u16 = 0x8004;
/// RFC 4820.
pub const PADDING: u16 = 0x8005;
/// RFC 5061.
pub const SUPPORTED_EXTENSIONS: u16 = 0x8008;
/// RFC 3758.
pub const FORWARD_TSN_SUPPORTED: u16 = 0xc000;
/// RFC 5061, as all that follow.
pub const ADD_IP_ADDRESS: u16 = 0xc001;
pub const DELETE_IP_ADDRESS: u16 = 0xc002;
pub const ERROR_CAUSE_INDICATION: u16 = 0xc003;
pub const SET_PRIMARY_ADDRESS: u16 = 0xc004;
pub const SUCCESS_INDICATION: u16 = 0xc005;
pub const ADAPTATION_LAYER_INDICATION: u16 = 0xc006;

/// The RFC's name of a parameter type; "unknown" if IANA lists none.
pub fn name(kind: u16) -> &'static str {
    match kind {
        HEARTBEAT_INFO => "Heartbeat Info",
        IPV4_ADDRESS => "IPv4 Address",
        IPV6_ADDRESS => "IPv6 Address",
        STATE_COOKIE => "State Cookie",
        UNRECOGNIZED_PARAMETER => "Unrecognized Parameter",
        COOKIE_PRESERVATIVE => "Cookie Preservative",
        HOST_NAME_ADDRESS => "Host Name Address",
        SUPPORTED_ADDRESS_TYPES => "Supported Address Types",
        OUTGOING_SSN_RESET => "Outgoing SSN Reset Request",
        INCOMING_SSN_RESET => "Incoming SSN Reset Request",
        SSN_TSN_RESET => "SSN/TSN Reset Request",
        RECONFIG_RESPONSE => "Re-configuration Response",
        ADD_OUTGOING_STREAMS => "Add Outgoing Streams Request",
        ADD_INCOMING_STREAMS => "Add Incoming Streams Request",
        ECN_CAPABLE => "ECN Capable",
        ZERO_CHECKSUM_ACCEPTABLE => "Zero Checksum Acceptable",
        RANDOM => "Random",
        CHUNK_LIST => "Chunk List",
        REQUESTED_HMAC_ALGORITHM => "Requested HMAC Algorithm",
        PADDING => "Padding",
        SUPPORTED_EXTENSIONS => "Supported Extensions",
        FORWARD_TSN_SUPPORTED => "Forward-TSN-Supported",
        ADD_IP_ADDRESS => "Add IP Address",
        DELETE_IP_ADDRESS => "Delete IP Address",
        ERROR_CAUSE_INDICATION => "Error Cause Indication",
        SET_PRIMARY_ADDRESS => "Set Primary Address",
        SUCCESS_INDICATION => "Success Indication",
        ADAPTATION_LAYER_INDICATION => "Adaptation Layer Indication",
        _ => "unknown",
    }
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param<'a> {
    /// Of the parameter's header in the chunk's value.
    pub offset: u32,
    pub kind: u16,
    /// As on the wire: with the 4 bytes of header, without padding.
    pub length: u16,
    /// After the header, as far as captured.
    pub value: &'a [u8],
    /// The capture kept less than `length`.
    pub truncated: bool,
}

impl Param<'_> {
    pub fn name(&self) -> &'static str {
        name(self.kind)
    }

    /// The address of an IPv4 or IPv6 Address parameter of the right length.
    pub fn address(&self) -> Option<Address> {
        match (self.kind, self.value.len()) {
            (IPV4_ADDRESS, 4) | (IPV6_ADDRESS, 16) => Address::from_bytes(self.value),
            _ => None,
        }
    }
}

/// Parameters in order. As with chunks, an `Err` is the last item, and a
/// parameter that the capture cut is given before it.
#[derive(Clone, Debug)]
pub struct Params<'a>(pub(super) Tlvs<'a>);

impl<'a> Iterator for Params<'a> {
    type Item = Result<Param<'a>, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let tlv = self.0.next()?;
        Some(tlv.map(|tlv| Param {
            offset: tlv.offset,
            kind: be16::<0, 2>(&tlv.kind),
            length: tlv.length,
            value: tlv.value,
            truncated: tlv.truncated,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_the_name_of_its_rfc() {
        let named = (0..=u16::MAX).filter(|kind| name(*kind) != "unknown").count();
        assert_eq!(named, 28);
        assert_eq!(name(SET_PRIMARY_ADDRESS), "Set Primary Address");
    }

    #[test]
    fn an_address_needs_its_own_length() {
        let param = |kind, value| Param { offset: 0, kind, length: 0, value, truncated: false };
        assert_eq!(param(IPV4_ADDRESS, &[1; 4]).address(), Some(Address::v4([1; 4])));
        assert_eq!(param(IPV6_ADDRESS, &[1; 16]).address(), Some(Address::v6([1; 16])));
        assert_eq!(param(IPV4_ADDRESS, &[1; 16]).address(), None);
        assert_eq!(param(IPV6_ADDRESS, &[1; 15]).address(), None);
        assert_eq!(param(STATE_COOKIE, &[1; 4]).address(), None);
    }
}
