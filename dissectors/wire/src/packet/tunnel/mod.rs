//! Tunnels in IP: IP itself (RFC 2003, RFC 2473, RFC 4213), GRE, VXLAN, Geneve, GTP-U.

mod geneve;
mod gre;
mod gtp;
mod vxlan;

use etherparse::{IpNumber, ip_number};

pub(crate) use geneve::PORT as GENEVE_PORT;
pub(crate) use gtp::PORT as GTP_PORT;
pub(crate) use vxlan::PORT as VXLAN_PORT;

use super::bytes::Span;
use super::{Inner, Skip, Stop};
use crate::problem::Layer;

/// What one tunnel header led to.
pub(super) struct Tunnelled<'a> {
    pub inner: Inner<'a>,
    /// Tells tunnels between the same two addresses apart; 0 where there is but one.
    pub id: u32,
}

/// Reads the header of one kind of tunnel.
pub(super) type Read = for<'a> fn(Span<'a>) -> Result<Tunnelled<'a>, Stop>;

pub(super) fn by_protocol(protocol: IpNumber) -> Option<Read> {
    match protocol {
        ip_number::IPV4 | ip_number::IPV6 => {
            Some(|packet| Ok(Tunnelled { inner: Inner::Ip(packet), id: 0 }))
        }
        ip_number::GRE => Some(gre::read),
        _ => None,
    }
}

/// By UDP destination; source ports are chosen freely in all of them.
pub(super) fn by_port(destination: u16) -> Option<Read> {
    match destination {
        gtp::PORT => Some(gtp::read),
        vxlan::PORT => Some(vxlan::read),
        geneve::PORT => Some(geneve::read),
        _ => None,
    }
}

/// The header at the start of a UDP datagram. Any client may be given the
/// tunnel's port, so what cannot be the header is another protocol, not damage.
fn header<'a, const N: usize>(
    datagram: Span<'a>,
    what: &'static str,
    is_one: impl FnOnce(&[u8; N]) -> bool,
) -> Result<&'a [u8; N], Stop> {
    if datagram.length < N {
        return Err(Stop::Skip(Skip::NotSctp));
    }
    let header = datagram.header::<N>(Layer::Tunnel, what)?;
    if is_one(header) { Ok(header) } else { Err(Stop::Skip(Skip::NotSctp)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a tunnel header with 40 bytes behind it ends, and the tunnel's number.
    pub(super) fn outcome(read: Read, header: &[u8]) -> (String, u32) {
        let bytes = [header, &[0x45; 40]].concat();
        match read(Span { bytes: &bytes, offset: 0, length: bytes.len() }) {
            Ok(Tunnelled { inner: Inner::Ip(span), id }) => {
                assert_eq!(span.offset, header.len());
                ("ip".to_string(), id)
            }
            Ok(Tunnelled { inner: Inner::Ethernet(span), id }) => {
                assert_eq!(span.offset, header.len());
                ("ethernet".to_string(), id)
            }
            Err(Stop::Skip(skip)) => (skip.name().to_string(), 0),
            Err(Stop::Problem(problem)) => {
                assert_eq!(problem.layer, Layer::Tunnel);
                (problem.kind.name().to_string(), 0)
            }
        }
    }

    #[test]
    fn short_headers_are_another_protocol_or_truncated() {
        for port in [gtp::PORT, vxlan::PORT, geneve::PORT] {
            let read = by_port(port).unwrap();
            let kept = |length| match read(Span { bytes: &[0x30], offset: 0, length }) {
                Err(Stop::Skip(skip)) => skip.name(),
                Err(Stop::Problem(problem)) => problem.kind.name(),
                Ok(_) => "read",
            };
            assert_eq!((kept(7), kept(8)), ("not SCTP", "truncated"));
        }
        assert!(by_port(53).is_none());
        assert!(by_protocol(ip_number::TCP).is_none());
    }
}
