//! RE-CONFIG: stream reset and added streams (RFC 6525 sections 3.1 and 4).

use super::chunk::RE_CONFIG;
use super::param::{
    ADD_INCOMING_STREAMS, ADD_OUTGOING_STREAMS, INCOMING_SSN_RESET, OUTGOING_SSN_RESET,
    RECONFIG_RESPONSE, SSN_TSN_RESET,
};
use super::{Chunk, Param, Params};
use crate::packet::bytes::{be16, be32};

/// What one parameter of a RE-CONFIG chunk asks for or answers. `request` is
/// always the Re-configuration Request Sequence Number that joins the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reconfig<'a> {
    OutgoingReset {
        request: u32,
        /// The request of the peer this one answers, as RFC 6525 section 4.1 has it.
        response: u32,
        /// Sender's Last Assigned TSN.
        last_tsn: u32,
        streams: Streams<'a>,
    },
    IncomingReset {
        request: u32,
        streams: Streams<'a>,
    },
    SsnTsnReset {
        request: u32,
    },
    AddOutgoing {
        request: u32,
        new_streams: u16,
    },
    AddIncoming {
        request: u32,
        new_streams: u16,
    },
    Response {
        request: u32,
        result: u32,
        /// Sender's and Receiver's Next TSN, in answer to an SSN/TSN reset only.
        next_tsns: Option<(u32, u32)>,
    },
}

/// Stream numbers; an empty list stands for all streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams<'a>(&'a [u8]);

impl<'a> Streams<'a> {
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u16> + use<'a> {
        self.0.as_chunks::<2>().0.iter().map(|stream| u16::from_be_bytes(*stream))
    }
}

/// The result codes of RFC 6525 section 4.4.
pub fn result_name(result: u32) -> &'static str {
    match result {
        0 => "Success - Nothing to do",
        1 => "Success - Performed",
        2 => "Denied",
        3 => "Error - Wrong SSN",
        4 => "Error - Request already in progress",
        5 => "Error - Bad Sequence Number",
        6 => "In progress",
        _ => "unknown",
    }
}

impl<'a> Chunk<'a> {
    /// The parameters of a RE-CONFIG chunk; none in other chunks.
    pub fn re_config(&self) -> Params<'a> {
        self.params(if self.kind == RE_CONFIG { 0 } else { self.value_length() })
    }
}

impl<'a> Param<'a> {
    /// What a parameter of a RE-CONFIG chunk says; None when it is of another
    /// type, too short, or cut by the capture.
    pub fn reconfig(&self) -> Option<Reconfig<'a>> {
        if self.truncated {
            return None;
        }
        let (number, rest) = self.value.split_first_chunk::<4>()?;
        let request = be32::<0, 4>(number);
        Some(match self.kind {
            OUTGOING_SSN_RESET => {
                let (fields, streams) = rest.split_first_chunk::<8>()?;
                Reconfig::OutgoingReset {
                    request,
                    response: be32::<0, 8>(fields),
                    last_tsn: be32::<4, 8>(fields),
                    streams: Streams(streams),
                }
            }
            INCOMING_SSN_RESET => Reconfig::IncomingReset { request, streams: Streams(rest) },
            SSN_TSN_RESET => Reconfig::SsnTsnReset { request },
            ADD_OUTGOING_STREAMS => {
                Reconfig::AddOutgoing { request, new_streams: be16::<0, 2>(rest.first_chunk()?) }
            }
            ADD_INCOMING_STREAMS => {
                Reconfig::AddIncoming { request, new_streams: be16::<0, 2>(rest.first_chunk()?) }
            }
            RECONFIG_RESPONSE => {
                let (result, rest) = rest.split_first_chunk::<4>()?;
                let next_tsns =
                    rest.first_chunk::<8>().map(|next| (be32::<0, 8>(next), be32::<4, 8>(next)));
                Reconfig::Response { request, result: be32::<0, 4>(result), next_tsns }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sctp::build::{chunk, first, first_of, packet, param};

    fn read(kind: u16, value: &[u8]) -> Option<Reconfig<'_>> {
        let length = u16::try_from(value.len() + 4).unwrap();
        Param { offset: 0, kind, length, value, truncated: false }.reconfig()
    }

    #[test]
    fn every_parameter() {
        let value = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 4, 0, 5];
        let Some(Reconfig::OutgoingReset { request: 1, response: 2, last_tsn: 3, streams }) =
            read(OUTGOING_SSN_RESET, &value)
        else {
            panic!()
        };
        assert_eq!(streams.iter().collect::<Vec<_>>(), [4, 5]);
        let Some(Reconfig::IncomingReset { request: 1, streams }) =
            read(INCOMING_SSN_RESET, &value[..4])
        else {
            panic!()
        };
        assert_eq!(streams.iter().len(), 0);
        let reset = Reconfig::SsnTsnReset { request: 1 };
        assert_eq!(read(SSN_TSN_RESET, &value[..4]), Some(reset));
        let added = [0, 0, 0, 1, 0, 6, 0, 0];
        let outgoing = Reconfig::AddOutgoing { request: 1, new_streams: 6 };
        assert_eq!(read(ADD_OUTGOING_STREAMS, &added), Some(outgoing));
        let incoming = Reconfig::AddIncoming { request: 1, new_streams: 6 };
        assert_eq!(read(ADD_INCOMING_STREAMS, &added), Some(incoming));
    }

    #[test]
    fn responses_with_and_without_tsns() {
        let value = [0, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8];
        let plain = Reconfig::Response { request: 1, result: 6, next_tsns: None };
        assert_eq!(read(RECONFIG_RESPONSE, &value[..8]), Some(plain));
        let reset = Reconfig::Response { request: 1, result: 6, next_tsns: Some((7, 8)) };
        assert_eq!(read(RECONFIG_RESPONSE, &value), Some(reset));
        assert_eq!((result_name(6), result_name(7)), ("In progress", "unknown"));
    }

    #[test]
    fn what_is_too_short_says_nothing() {
        assert_eq!(read(OUTGOING_SSN_RESET, &[0; 11]), None);
        assert_eq!(read(ADD_OUTGOING_STREAMS, &[0; 5]), None);
        assert_eq!(read(SSN_TSN_RESET, &[0; 3]), None);
        let bytes = packet(&[chunk(RE_CONFIG, 0, &param(INCOMING_SSN_RESET, &[0; 10]))]);
        let params = |bytes, wire| first_of(bytes, wire).re_config().flatten().collect::<Vec<_>>();
        assert!(params(&bytes, bytes.len())[0].reconfig().is_some());
        assert!(params(&bytes[..26], bytes.len())[0].reconfig().is_none());
        let other = packet(&[chunk(3, 0, &param(INCOMING_SSN_RESET, &[0; 10]))]);
        assert_eq!(first(&other).re_config().count(), 0);
    }
}
