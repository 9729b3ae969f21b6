//! ASCONF and ASCONF-ACK: addresses that come and go (RFC 5061 sections 4.1, 4.2).

use super::chunk::{ASCONF, ASCONF_ACK};
use super::param::{
    ADD_IP_ADDRESS, DELETE_IP_ADDRESS, ERROR_CAUSE_INDICATION, IPV4_ADDRESS, IPV6_ADDRESS,
    SET_PRIMARY_ADDRESS,
};
use super::tlv::Tlvs;
use super::{Causes, Chunk, Param, Params};
use crate::address::Address;
use crate::packet::bytes::be32;
use crate::problem::Problem;

/// The Sequence Number both chunks begin with.
const SERIAL: usize = 4;
/// The correlation ID a parameter's value begins with.
const CORRELATION: usize = 4;

/// A request to change the addresses of an association.
#[derive(Clone, Debug)]
pub struct Asconf<'a> {
    /// Sequence Number.
    pub serial: u32,
    /// The Address Parameter: an address that names the association. None when
    /// the sender left it out, which the RFC does not allow.
    pub address: Option<Address>,
    pub requests: Requests<'a>,
}

/// One ASCONF parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsconfRequest {
    /// Parameter type: add, delete, set primary.
    pub kind: u16,
    /// ASCONF-Request Correlation ID: joins request and response.
    pub correlation: u32,
    /// None when the parameter holds none, as when it is of another type.
    pub address: Option<Address>,
}

/// The peer's answer.
#[derive(Clone, Debug)]
pub struct AsconfAck<'a> {
    pub serial: u32,
    /// Requests without a response have succeeded, unless an earlier one failed
    /// for good (RFC 5061 section 5.1).
    pub responses: Responses<'a>,
}

/// One ASCONF response parameter.
#[derive(Clone, Debug)]
pub struct AsconfResponse<'a> {
    /// Parameter type: Success Indication or Error Cause Indication.
    pub kind: u16,
    pub correlation: u32,
    /// Code of the first error cause, None with success.
    pub cause: Option<u16>,
    /// All error causes.
    pub causes: Causes<'a>,
}

/// Requests in order. As with parameters, an `Err` is the last item.
#[derive(Clone, Debug)]
pub struct Requests<'a>(Params<'a>);

/// Responses in order. As with parameters, an `Err` is the last item.
#[derive(Clone, Debug)]
pub struct Responses<'a>(Params<'a>);

impl Iterator for Requests<'_> {
    type Item = Result<AsconfRequest, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let request = self.0.next()?.and_then(|param| {
            let (correlation, inner) = correlated(&self.0, &param)?;
            let mut address = None;
            if matches!(param.kind, ADD_IP_ADDRESS | DELETE_IP_ADDRESS | SET_PRIMARY_ADDRESS) {
                address = Params(inner).next().transpose()?.and_then(|inner| inner.address());
            }
            Ok(AsconfRequest { kind: param.kind, correlation, address })
        });
        Some(request.inspect_err(|_| self.0.0.end()))
    }
}

impl<'a> Iterator for Responses<'a> {
    type Item = Result<AsconfResponse<'a>, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let response = self.0.next()?.and_then(|param| {
            let (correlation, mut inner) = correlated(&self.0, &param)?;
            if param.kind != ERROR_CAUSE_INDICATION {
                inner.end();
            }
            let causes = Causes(inner);
            let cause = causes.clone().next().transpose()?.map(|cause| cause.code);
            Ok(AsconfResponse { kind: param.kind, correlation, cause, causes })
        });
        Some(response.inspect_err(|_| self.0.0.end()))
    }
}

/// The correlation ID a parameter's value begins with, and the elements after it.
fn correlated<'a>(params: &Params<'a>, param: &Param<'a>) -> Result<(u32, Tlvs<'a>), Problem> {
    let inner = params.0.inside(param.offset, param.length, param.value, CORRELATION as u32);
    match param.value.first_chunk::<CORRELATION>() {
        Some(correlation) => Ok((be32::<0, CORRELATION>(correlation), inner)),
        None => Err(inner.short(CORRELATION, "correlation ID")),
    }
}

impl<'a> Chunk<'a> {
    /// The fields of an ASCONF chunk.
    pub fn asconf(&self) -> Result<Asconf<'a>, Problem> {
        self.require(&[ASCONF], "ASCONF")?;
        let serial = be32::<0, SERIAL>(self.fixed("Sequence Number")?.0);
        let mut params = self.params(SERIAL as u32);
        let mut rest = params.clone();
        let first = params.next().transpose()?;
        let address = first.and_then(|param| param.address());
        if first.is_some_and(|param| matches!(param.kind, IPV4_ADDRESS | IPV6_ADDRESS)) {
            rest = params;
        }
        Ok(Asconf { serial, address, requests: Requests(rest) })
    }

    /// The fields of an ASCONF-ACK chunk.
    pub fn asconf_ack(&self) -> Result<AsconfAck<'a>, Problem> {
        self.require(&[ASCONF_ACK], "ASCONF-ACK")?;
        let serial = be32::<0, SERIAL>(self.fixed("Sequence Number")?.0);
        Ok(AsconfAck { serial, responses: Responses(self.params(SERIAL as u32)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Kind, Layer};
    use crate::sctp::build::{chunk, first, first_of, packet, param};
    use crate::sctp::cause::{DELETE_LAST_ADDRESS, name};
    use crate::sctp::param::{ADAPTATION_LAYER_INDICATION, SUCCESS_INDICATION};

    fn v4(last: u8) -> Vec<u8> {
        param(IPV4_ADDRESS, &[10, 0, 0, last])
    }

    fn request(kind: u16, correlation: u8, inner: &[u8]) -> Vec<u8> {
        param(kind, &[&[0, 0, 0, correlation], inner].concat())
    }

    fn asconf(params: &[Vec<u8>]) -> Vec<u8> {
        packet(&[chunk(ASCONF, 0, &[vec![0, 0, 1, 0], params.concat()].concat())])
    }

    #[test]
    fn requests_with_their_addresses() {
        let v6 = param(IPV6_ADDRESS, &[3; 16]);
        let bytes = asconf(&[
            v4(1),
            request(ADD_IP_ADDRESS, 1, &v6),
            request(DELETE_IP_ADDRESS, 2, &v4(0)),
            request(SET_PRIMARY_ADDRESS, 3, &v4(4)),
            request(ADAPTATION_LAYER_INDICATION, 4, &[]),
        ]);
        let asconf = first(&bytes).asconf().unwrap();
        assert_eq!((asconf.serial, asconf.address), (256, Some(Address::v4([10, 0, 0, 1]))));
        let requests: Vec<_> = asconf.requests.map(Result::unwrap).collect();
        let expected = [
            (ADD_IP_ADDRESS, 1, Some(Address::v6([3; 16]))),
            (DELETE_IP_ADDRESS, 2, Some(Address::v4([10, 0, 0, 0]))),
            (SET_PRIMARY_ADDRESS, 3, Some(Address::v4([10, 0, 0, 4]))),
            (ADAPTATION_LAYER_INDICATION, 4, None),
        ]
        .map(|(kind, correlation, address)| AsconfRequest { kind, correlation, address });
        assert_eq!(requests, expected);
    }

    #[test]
    fn without_the_address_parameter_the_requests_remain() {
        let bytes = asconf(&[request(ADD_IP_ADDRESS, 1, &v4(2))]);
        let asconf = first(&bytes).asconf().unwrap();
        assert_eq!(asconf.address, None);
        assert_eq!(asconf.requests.flatten().count(), 1);
    }

    #[test]
    fn a_bad_request_ends_the_list() {
        let good = request(ADD_IP_ADDRESS, 1, &v4(2));
        for bad in [param(ADD_IP_ADDRESS, &[0, 0]), request(ADD_IP_ADDRESS, 2, &[0, 5, 0, 3])] {
            let bytes = asconf(&[v4(1), bad, good.clone()]);
            let requests: Vec<_> = first(&bytes).asconf().unwrap().requests.collect();
            assert_eq!(requests.len(), 1);
            let problem = requests[0].clone().unwrap_err();
            assert_eq!((problem.kind, problem.layer), (Kind::Malformed, Layer::Parameter));
            assert!((32..40).contains(&problem.offset));
        }
        let bytes = asconf(&[v4(1), good]);
        let cut = first_of(&bytes[..38], bytes.len()).asconf().unwrap();
        let requests: Vec<_> = cut.requests.collect();
        assert_eq!((requests.len(), requests[0].clone().unwrap_err().kind), (1, Kind::Truncated));
    }

    #[test]
    fn responses_of_both_kinds() {
        let cause = param(DELETE_LAST_ADDRESS, &request(DELETE_IP_ADDRESS, 8, &v4(2)));
        let responses = [
            request(SUCCESS_INDICATION, 7, &[]),
            request(ERROR_CAUSE_INDICATION, 8, &cause),
            request(ERROR_CAUSE_INDICATION, 9, &[]),
        ];
        let value = [vec![0, 0, 1, 0], responses.concat()].concat();
        let bytes = packet(&[chunk(ASCONF_ACK, 0, &value)]);
        let ack = first(&bytes).asconf_ack().unwrap();
        assert_eq!(ack.serial, 256);
        let responses: Vec<_> = ack.responses.map(Result::unwrap).collect();
        let causes: Vec<_> = responses.iter().map(|r| (r.correlation, r.cause)).collect();
        assert_eq!(causes, [(7, None), (8, Some(DELETE_LAST_ADDRESS)), (9, None)]);
        let all: Vec<_> =
            responses[1].causes.clone().map(|cause| name(cause.unwrap().code)).collect();
        assert_eq!(all, ["Request to Delete Last Remaining IP Address"]);
    }
}
