//! Chunks that set up, keep and end an association and have few fields: INIT and
//! INIT ACK (RFC 9260 sections 3.3.2, 3.3.3), COOKIE ECHO (3.3.11), HEARTBEAT
//! (3.3.5, 3.3.6), SHUTDOWN (3.3.8), ECNE and CWR (appendix A of RFC 4960).

use super::chunk::{COOKIE_ECHO, CWR, ECNE, HEARTBEAT, HEARTBEAT_ACK, INIT, INIT_ACK, SHUTDOWN};
use super::{Chunk, Params, param};
use crate::packet::bytes::{be16, be32};
use crate::problem::Problem;

const INIT_FIELDS: usize = 16;

/// INIT or INIT ACK.
#[derive(Clone, Debug)]
pub struct Init<'a> {
    /// Initiate Tag: the verification tag of every packet to its sender.
    pub tag: u32,
    /// Advertised receiver window credit, in bytes.
    pub a_rwnd: u32,
    pub outbound_streams: u16,
    pub inbound_streams: u16,
    pub initial_tsn: u32,
    pub params: Params<'a>,
}

impl<'a> Chunk<'a> {
    /// The fields of an INIT or INIT ACK chunk.
    pub fn init(&self) -> Result<Init<'a>, Problem> {
        self.require(&[INIT, INIT_ACK], "INIT or INIT ACK")?;
        let (fields, _) = self.fixed::<INIT_FIELDS>("fields of INIT")?;
        Ok(Init {
            tag: be32::<0, INIT_FIELDS>(fields),
            a_rwnd: be32::<4, INIT_FIELDS>(fields),
            outbound_streams: be16::<8, INIT_FIELDS>(fields),
            inbound_streams: be16::<10, INIT_FIELDS>(fields),
            initial_tsn: be32::<12, INIT_FIELDS>(fields),
            params: self.params(INIT_FIELDS as u32),
        })
    }

    /// The State Cookie of a COOKIE ECHO, as far as captured; empty in other chunks.
    pub fn cookie(&self) -> &'a [u8] {
        if self.kind == COOKIE_ECHO { self.value } else { &[] }
    }

    /// The Sender-Specific Heartbeat Info of a HEARTBEAT or HEARTBEAT ACK, which
    /// is what joins the two. It errs unless all of it was captured.
    pub fn heartbeat_info(&self) -> Result<&'a [u8], Problem> {
        self.require(&[HEARTBEAT, HEARTBEAT_ACK], "HEARTBEAT or HEARTBEAT ACK")?;
        for param in self.params(0) {
            let param = param?;
            if param.kind == param::HEARTBEAT_INFO {
                if param.truncated {
                    let needed = param.offset.saturating_add(u32::from(param.length));
                    return Err(self.short(needed as usize, "whole Heartbeat Info"));
                }
                return Ok(param.value);
            }
        }
        // As much as there is, and it would have to hold one parameter more.
        Err(self.short(self.value_length() as usize + 4, "Heartbeat Info"))
    }

    /// The Cumulative TSN Ack of a SHUTDOWN.
    pub fn shutdown(&self) -> Result<u32, Problem> {
        self.require(&[SHUTDOWN], "SHUTDOWN")?;
        Ok(be32::<0, 4>(self.fixed("Cumulative TSN Ack")?.0))
    }

    /// The Lowest TSN of an ECNE or CWR.
    pub fn ecn_tsn(&self) -> Result<u32, Problem> {
        self.require(&[ECNE, CWR], "ECNE or CWR")?;
        Ok(be32::<0, 4>(self.fixed("Lowest TSN")?.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;
    use crate::problem::Kind;
    use crate::sctp::build::{chunk, first, first_of, packet, param};

    const INIT_VALUE: [u8; 16] = [1, 2, 3, 4, 0, 1, 0, 0, 0, 10, 0, 20, 0xff, 0xff, 0xff, 0xff];

    #[test]
    fn init_and_its_parameters() {
        let v6 = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        let value = [
            &INIT_VALUE[..],
            &param(param::IPV4_ADDRESS, &[10, 0, 0, 1]),
            &param(param::IPV6_ADDRESS, &v6),
            &param(param::SUPPORTED_EXTENSIONS, &[0x80, 0xc1, 0xc0]),
            &param(param::FORWARD_TSN_SUPPORTED, &[]),
        ]
        .concat();
        for kind in [INIT, INIT_ACK] {
            let bytes = packet(&[chunk(kind, 0, &value)]);
            let init = first(&bytes).init().unwrap();
            assert_eq!((init.tag, init.a_rwnd, init.initial_tsn), (0x0102_0304, 65_536, u32::MAX));
            assert_eq!((init.outbound_streams, init.inbound_streams), (10, 20));
            let params: Vec<_> = init.params.map(Result::unwrap).collect();
            let shape: Vec<_> = params.iter().map(|p| (p.offset, p.kind, p.length)).collect();
            assert_eq!(shape, [(16, 5, 8), (24, 6, 20), (44, 0x8008, 7), (52, 0xc000, 4)]);
            assert_eq!(params[0].address(), Some(Address::v4([10, 0, 0, 1])));
            assert_eq!(params[1].address(), Some(Address::v6(v6)));
            assert_eq!((params[2].address(), params[2].value), (None, &[0x80, 0xc1, 0xc0][..]));
        }
    }

    #[test]
    fn a_bad_parameter_ends_the_list_and_says_where() {
        let value = [&INIT_VALUE[..], &param(param::PADDING, &[0; 4]), &[0, 5, 0, 2]].concat();
        let bytes = packet(&[chunk(INIT, 0, &value)]);
        let params: Vec<_> = first(&bytes).init().unwrap().params.collect();
        assert_eq!(params.len(), 2);
        let problem = params[1].clone().unwrap_err();
        assert_eq!((problem.kind, problem.offset, problem.needed), (Kind::Malformed, 40, 4));
        let params: Vec<_> = first_of(&bytes[..38], bytes.len()).init().unwrap().params.collect();
        assert!(params[0].as_ref().is_ok_and(|param| param.truncated && param.value == [0; 2]));
        assert_eq!(params[1].clone().unwrap_err().kind, Kind::Truncated);
    }

    #[test]
    fn heartbeat_info_is_whole_or_an_error() {
        let info = param(param::HEARTBEAT_INFO, &[1, 2, 3, 4, 5, 6]);
        for kind in [HEARTBEAT, HEARTBEAT_ACK] {
            let bytes = packet(&[chunk(kind, 0, &info)]);
            assert_eq!(first(&bytes).heartbeat_info(), Ok(&[1, 2, 3, 4, 5, 6][..]));
            let cut = first_of(&bytes[..22], bytes.len()).heartbeat_info().unwrap_err();
            assert_eq!(cut.kind, Kind::Truncated);
        }
        // Behind another parameter: 8 bytes of it, 10 of Heartbeat Info, of which 4 were kept.
        let bytes =
            packet(&[chunk(HEARTBEAT, 0, &[param(param::PADDING, &[0; 4]), info].concat())]);
        let cut = first_of(&bytes[..28], bytes.len()).heartbeat_info().unwrap_err();
        assert_eq!((cut.offset, cut.needed, cut.available), (16, 18, 12));
        for without in [vec![], param(param::PADDING, &[0; 4])] {
            let bytes = packet(&[chunk(HEARTBEAT, 0, &without)]);
            assert_eq!(first(&bytes).heartbeat_info().unwrap_err().kind, Kind::Malformed);
        }
    }

    #[test]
    fn chunks_of_one_field() {
        let bytes = packet(&[chunk(SHUTDOWN, 0, &[0, 0, 1, 2])]);
        assert_eq!(first(&bytes).shutdown(), Ok(258));
        assert_eq!(first(&bytes).ecn_tsn().unwrap_err().kind, Kind::Unknown);
        for kind in [ECNE, CWR] {
            let bytes = packet(&[chunk(kind, 0, &[0, 0, 1, 3])]);
            assert_eq!(first(&bytes).ecn_tsn(), Ok(259));
        }
        let bytes = packet(&[chunk(SHUTDOWN, 0, &[0, 0, 1])]);
        assert_eq!(first(&bytes).shutdown().unwrap_err().kind, Kind::Malformed);
        let bytes = packet(&[chunk(COOKIE_ECHO, 0, b"cookie")]);
        assert_eq!(first(&bytes).cookie(), b"cookie");
        let bytes = packet(&[chunk(SHUTDOWN, 0, b"cookie")]);
        assert_eq!(first(&bytes).cookie(), b"");
    }
}
