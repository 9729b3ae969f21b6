//! Error causes of ABORT, ERROR and ASCONF-ACK (RFC 9260 section 3.3.10, RFC 5061
//! section 4.3, RFC 4895 section 5).

use super::chunk::{ABORT, ERROR};
use super::tlv::{HEADER, Tlvs};
use super::{Chunk, Params};
use crate::packet::bytes::be16;
use crate::problem::{Layer, Problem};

pub const INVALID_STREAM_IDENTIFIER: u16 = 1;
pub const MISSING_MANDATORY_PARAMETER: u16 = 2;
pub const STALE_COOKIE: u16 = 3;
pub const OUT_OF_RESOURCE: u16 = 4;
pub const UNRESOLVABLE_ADDRESS: u16 = 5;
pub const UNRECOGNIZED_CHUNK_TYPE: u16 = 6;
pub const INVALID_MANDATORY_PARAMETER: u16 = 7;
pub const UNRECOGNIZED_PARAMETERS: u16 = 8;
pub const NO_USER_DATA: u16 = 9;
pub const COOKIE_WHILE_SHUTTING_DOWN: u16 = 10;
pub const RESTART_WITH_NEW_ADDRESSES: u16 = 11;
pub const USER_INITIATED_ABORT: u16 = 12;
pub const PROTOCOL_VIOLATION: u16 = 13;
/// RFC 5061, as the next four.
pub const DELETE_LAST_ADDRESS: u16 = 0x00a0;
pub const RESOURCE_SHORTAGE: u16 = 0x00a1;
pub const DELETE_SOURCE_ADDRESS: u16 = 0x00a2;
pub const ILLEGAL_ASCONF_ACK: u16 = 0x00a3;
pub const NO_AUTHORIZATION: u16 = 0x00a4;
/// RFC 4895.
pub const UNSUPPORTED_HMAC: u16 = 0x0105;

/// The RFC's name of a cause code; "unknown" if IANA lists none.
pub fn name(code: u16) -> &'static str {
    match code {
        INVALID_STREAM_IDENTIFIER => "Invalid Stream Identifier",
        MISSING_MANDATORY_PARAMETER => "Missing Mandatory Parameter",
        STALE_COOKIE => "Stale Cookie",
        OUT_OF_RESOURCE => "Out of Resource",
        UNRESOLVABLE_ADDRESS => "Unresolvable Address",
        UNRECOGNIZED_CHUNK_TYPE => "Unrecognized Chunk Type",
        INVALID_MANDATORY_PARAMETER => "Invalid Mandatory Parameter",
        UNRECOGNIZED_PARAMETERS => "Unrecognized Parameters",
        NO_USER_DATA => "No User Data",
        COOKIE_WHILE_SHUTTING_DOWN => "Cookie Received While Shutting Down",
        RESTART_WITH_NEW_ADDRESSES => "Restart of an Association with New Addresses",
        USER_INITIATED_ABORT => "User-Initiated Abort",
        PROTOCOL_VIOLATION => "Protocol Violation",
        DELETE_LAST_ADDRESS => "Request to Delete Last Remaining IP Address",
        RESOURCE_SHORTAGE => "Operation Refused Due to Resource Shortage",
        DELETE_SOURCE_ADDRESS => "Request to Delete Source IP Address",
        ILLEGAL_ASCONF_ACK => "Association Aborted Due to Illegal ASCONF-ACK",
        NO_AUTHORIZATION => "Request Refused - No Authorization",
        UNSUPPORTED_HMAC => "Unsupported HMAC Identifier",
        _ => "unknown",
    }
}

/// One error cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause<'a> {
    pub code: u16,
    /// As on the wire: with the 4 bytes of header, without padding.
    pub length: u16,
    /// After the header, as far as captured.
    pub value: &'a [u8],
    /// The capture kept less than `length`.
    pub truncated: bool,
    /// Of the value, in the SCTP packet.
    base: u32,
}

impl<'a> Cause<'a> {
    pub fn name(&self) -> &'static str {
        name(self.code)
    }

    /// Offset of the value in the SCTP packet.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// The parameters that the cause is about: those not recognized, or addresses (RFC 9260
    /// sections 3.3.10.5, 3.3.10.8 and 3.3.10.11). None in causes that hold no parameters.
    pub fn params(&self) -> Params<'a> {
        let holds = matches!(
            self.code,
            UNRESOLVABLE_ADDRESS | UNRECOGNIZED_PARAMETERS | RESTART_WITH_NEW_ADDRESSES
        );
        let wire = u32::from(self.length).saturating_sub(HEADER);
        let start = if holds { 0 } else { wire };
        Params(Tlvs::new(Layer::Parameter, self.value, wire, self.base, start))
    }
}

/// Causes in order. As with chunks, an `Err` is the last item, and a cause that
/// the capture cut is given before it.
#[derive(Clone, Debug)]
pub struct Causes<'a>(pub(super) Tlvs<'a>);

impl<'a> Iterator for Causes<'a> {
    type Item = Result<Cause<'a>, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let tlv = self.0.next()?;
        let base = self.0.base_of_value();
        Some(tlv.map(|tlv| Cause {
            code: be16::<0, 2>(&tlv.kind),
            length: tlv.length,
            value: tlv.value,
            truncated: tlv.truncated,
            base: base.saturating_add(tlv.offset),
        }))
    }
}

impl<'a> Chunk<'a> {
    /// The error causes of an ABORT or ERROR; none in other chunks.
    pub fn causes(&self) -> Causes<'a> {
        let start = if matches!(self.kind, ABORT | ERROR) { 0 } else { self.value_length() };
        Causes(self.tlvs(Layer::Parameter, start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Kind;
    use crate::sctp::build::{chunk, first, packet, param};
    use crate::sctp::param::IPV4_ADDRESS;

    #[test]
    fn causes_about_parameters_hold_them() {
        let held = [param(IPV4_ADDRESS, &[10, 0, 0, 1]), param(0x7777, &[1])].concat();
        let causes = [param(UNRECOGNIZED_PARAMETERS, &held), param(OUT_OF_RESOURCE, &held)];
        let bytes = packet(&[chunk(ERROR, 0, &causes.concat())]);
        let causes: Vec<_> = first(&bytes).causes().map(Result::unwrap).collect();
        let kinds: Vec<_> = causes[0].params().map(|param| param.unwrap().kind).collect();
        assert_eq!((kinds, causes[0].base()), (vec![IPV4_ADDRESS, 0x7777], 20));
        assert_eq!((causes[1].params().count(), causes[1].base()), (0, 40));
    }

    #[test]
    fn causes_of_abort_and_error() {
        let value = [
            param(USER_INITIATED_ABORT, b"bye"),
            param(PROTOCOL_VIOLATION, &[]),
            param(UNSUPPORTED_HMAC, &[0, 9]),
        ]
        .concat();
        for kind in [ABORT, ERROR] {
            let bytes = packet(&[chunk(kind, 0, &value)]);
            let causes: Vec<_> = first(&bytes).causes().map(Result::unwrap).collect();
            let names: Vec<_> = causes.iter().map(Cause::name).collect();
            let expected =
                ["User-Initiated Abort", "Protocol Violation", "Unsupported HMAC Identifier"];
            assert_eq!(names, expected);
            assert_eq!((causes[0].length, causes[0].value), (7, &b"bye"[..]));
        }
        let other = packet(&[chunk(7, 0, &value)]);
        assert_eq!(first(&other).causes().count(), 0);
    }

    #[test]
    fn a_bad_length_ends_the_list() {
        let bytes = packet(&[chunk(ABORT, 0, &[0, 12, 0, 9])]);
        let causes: Vec<_> = first(&bytes).causes().collect();
        assert_eq!(causes.len(), 1);
        assert_eq!(causes[0].clone().unwrap_err().kind, Kind::Malformed);
    }

    #[test]
    fn every_code_has_the_name_of_its_rfc() {
        let named = (0..=u16::MAX).filter(|code| name(*code) != "unknown").count();
        assert_eq!(named, 19);
    }
}
