//! The way from the first IP packet of a record to its transport: through fragments,
//! tunnels and UDP, as often as they are nested, up to a fixed depth.

use std::hash::{DefaultHasher, Hash, Hasher};

use etherparse::ip_number;

use super::bytes::{Span, clamp, malformed};
use super::fragment::{Key, Pool};
use super::ip::{Fragment, Header, Ip, Upper};
use super::trace::{Passed, Step};
use super::tunnel::Tunnelled;
use super::{
    Datagram, DecoderOptions, Found, Inner, Packet, Skip, Source, Stop, ip, link, tunnel, udp,
};
use crate::problem::Layer;
use crate::sctp::COMMON_HEADER;

/// Tunnels, and frames inside frames, around one packet.
pub(super) const MOST_TUNNELS: usize = 8;
/// Each of the packets inside each other may have come in fragments.
pub(super) const MOST_DATAGRAMS: usize = MOST_TUNNELS + 1;

/// The state of one walk.
pub(super) struct Walk<'d, const TRACED: bool> {
    options: &'d DecoderOptions,
    pool: &'d mut Pool,
    time_ns: i64,
    depth: usize,
    /// The tunnels entered so far, as the pool tells them apart.
    tunnel: u64,
    /// Whether what is being read lies in a datagram put together.
    reassembled: bool,
    /// The record that is read.
    here: &'d Source,
    /// The records that what is being read was put together from.
    sources: &'d mut Vec<Source>,
    /// Every header that is passed, where it is to be told.
    steps: Option<&'d mut Vec<Step>>,
}

impl<'d, const TRACED: bool> Walk<'d, TRACED> {
    pub fn new(
        options: &'d DecoderOptions,
        pool: &'d mut Pool,
        time_ns: i64,
        here: &'d Source,
        sources: &'d mut Vec<Source>,
        steps: Option<&'d mut Vec<Step>>,
    ) -> Self {
        let (depth, tunnel, reassembled) = (0, 0, false);
        Walk { options, pool, time_ns, depth, tunnel, reassembled, here, sources, steps }
    }

    /// `buffers` take the datagrams that are put together on the way.
    ///
    /// Most packets are in no fragments and no tunnel. Their way is compiled into
    /// one function that writes what it found where the caller wants it; the rest
    /// is out of line.
    #[inline(always)]
    pub fn inner<'a>(&mut self, inner: Inner<'a>, buffers: &'a mut [Vec<u8>]) -> Found<'a> {
        match inner {
            Inner::Ip(packet) => self.packet(packet, buffers),
            Inner::Ethernet(frame) => self.frame(frame, buffers).unwrap_or_else(Found::from),
        }
    }

    #[inline(never)]
    fn frame<'a>(
        &mut self,
        frame: Span<'a>,
        buffers: &'a mut [Vec<u8>],
    ) -> Result<Found<'a>, Stop> {
        self.descend()?;
        let inner = link::ethernet(frame)?;
        self.note(|| Step::between(Passed::Ethernet, frame, inner.offset()));
        Ok(self.inner(inner, buffers))
    }

    #[inline(always)]
    pub fn note(&mut self, step: impl FnOnce() -> Step) {
        if TRACED && let Some(steps) = &mut self.steps {
            steps.push(step());
        }
    }

    fn descend(&mut self) -> Result<(), Stop> {
        if self.depth == MOST_TUNNELS {
            return Err(Stop::Skip(Skip::TunnelsTooDeep));
        }
        self.depth += 1;
        Ok(())
    }

    #[inline(always)]
    fn packet<'a>(&mut self, packet: Span<'a>, buffers: &'a mut [Vec<u8>]) -> Found<'a> {
        let read = ip::read(packet);
        if let Ok(ip) = &read {
            self.note(|| Step::ip(packet, ip));
        }
        match read {
            Ok(Ip { header, upper, fragment: None }) => self.transport(&header, upper, buffers),
            Ok(Ip { header, upper, fragment: Some(fragment) }) => {
                self.reassemble(&header, upper, fragment, buffers).unwrap_or_else(Found::from)
            }
            Err(problem) => Found::Problem(problem),
        }
    }

    #[inline(never)]
    fn reassemble<'a>(
        &mut self,
        header: &Header,
        upper: Upper<'_>,
        fragment: Fragment,
        buffers: &'a mut [Vec<u8>],
    ) -> Result<Found<'a>, Stop> {
        // Only what may lead to a packet that is read is worth the memory.
        let wanted = match upper.protocol {
            ip_number::SCTP | ip_number::UDP | ip_number::AUTH | ip_number::IPV6_DEST_OPTIONS => {
                true
            }
            ip_number::TCP | ip_number::ICMP | ip_number::IPV6_ICMP => self.options.flows,
            other => tunnel::by_protocol(other).is_some(),
        };
        if !wanted {
            return Err(Stop::Skip(self.options.unwanted()));
        }
        let key = Key {
            source: header.source,
            destination: header.destination,
            id: fragment.id,
            tunnel: self.tunnel,
            protocol: header.id.map(|_| upper.protocol.0),
        };
        if !self.reassembled {
            self.sources.clear();
            self.sources.push(*self.here);
        }
        let added = self.pool.add(key, fragment, upper, self.time_ns, self.sources)?;
        let Some((protocol, whole)) = added else {
            return Err(Stop::Skip(Skip::FragmentHeld));
        };
        let Some((buffer, buffers)) = buffers.split_first_mut() else {
            return Err(Stop::Skip(Skip::TunnelsTooDeep));
        };
        *buffer = whole;
        let bytes = buffer.as_slice();
        if TRACED && let Some(steps) = &mut self.steps {
            self.sources.sort_unstable();
            let frames = self.sources.iter().map(|source| source.frame).collect();
            let passed = Passed::Reassembled { frames };
            steps.push(Step { passed, bytes: bytes.to_vec(), offset: 0 });
        }
        let (upper, nested) =
            ip::skip_extensions(Upper { protocol, bytes, offset: 0, length: bytes.len() })?;
        if nested.is_some() {
            let what = "fragment inside a fragment";
            return Err(malformed(Layer::Ip, upper.offset, 0, 0, what).into());
        }
        self.reassembled = true;
        Ok(self.transport(header, upper, buffers))
    }

    #[inline(always)]
    fn transport<'a>(
        &mut self,
        header: &Header,
        upper: Upper<'a>,
        buffers: &'a mut [Vec<u8>],
    ) -> Found<'a> {
        match upper.protocol {
            ip_number::SCTP => self.sctp(header, None, upper.span()),
            _ => self.carrier(header, upper, buffers).unwrap_or_else(Found::from),
        }
    }

    /// UDP, tunnels, and what is read in flows.
    #[inline(never)]
    fn carrier<'a>(
        &mut self,
        header: &Header,
        upper: Upper<'a>,
        buffers: &'a mut [Vec<u8>],
    ) -> Result<Found<'a>, Stop> {
        if upper.protocol != ip_number::UDP {
            let protocol = upper.protocol;
            return match tunnel::by_protocol(protocol) {
                Some(read) => {
                    let tunnelled = read(upper.span())?;
                    self.enter(header, u16::from(protocol.0), upper.span(), tunnelled, buffers)
                }
                None => Ok(self.flow(header, upper)),
            };
        }
        let (source, destination) = udp::ports(&upper)?;
        let sctp_ports = &self.options.udp_ports;
        if sctp_ports.contains(&source) || sctp_ports.contains(&destination) {
            let sctp = udp::payload(&upper)?;
            self.note(|| Step::between(Passed::Udp, upper.span(), sctp.offset));
            return Ok(self.sctp(header, Some((source, destination)), sctp));
        }
        match tunnel::by_port(destination) {
            Some(read) => {
                let payload = udp::payload(&upper)?;
                match read(payload) {
                    Ok(tunnelled) => {
                        self.note(|| Step::between(Passed::Udp, upper.span(), payload.offset));
                        self.enter(header, destination, payload, tunnelled, buffers)
                    }
                    // A datagram like any other, to a client that was given the tunnel's port.
                    Err(Stop::Skip(_)) => Ok(self.flow(header, upper)),
                    Err(damage) => Err(damage),
                }
            }
            None => Ok(self.flow(header, upper)),
        }
    }

    /// TCP, ICMP, and UDP that carries nothing that is read.
    fn flow<'a>(&self, header: &Header, upper: Upper<'a>) -> Found<'a> {
        let found = match upper.protocol {
            ip_number::TCP => Found::Tcp,
            ip_number::UDP => Found::Udp,
            ip_number::ICMP | ip_number::IPV6_ICMP => Found::Icmp,
            _ => return Found::Skip(self.options.unwanted()),
        };
        if !self.options.flows {
            return Found::Skip(self.options.unwanted());
        }
        found(Datagram {
            source: header.source,
            destination: header.destination,
            ip_id: header.id,
            bytes: upper.bytes,
            offset: if self.reassembled { 0 } else { clamp(upper.offset) },
            length: clamp(upper.length),
        })
    }

    /// `kind` is the protocol or UDP port that the tunnel goes by.
    fn enter<'a>(
        &mut self,
        header: &Header,
        kind: u16,
        payload: Span<'a>,
        tunnelled: Tunnelled<'a>,
        buffers: &'a mut [Vec<u8>],
    ) -> Result<Found<'a>, Stop> {
        self.descend()?;
        self.note(|| Step::between(Passed::Tunnel(kind), payload, tunnelled.inner.offset()));
        // Not UDP's source port: it may differ between the fragments of an inner packet.
        let mut hasher = DefaultHasher::new();
        (self.tunnel, header.source, header.destination, kind, tunnelled.id).hash(&mut hasher);
        self.tunnel = hasher.finish();
        Ok(self.inner(tunnelled.inner, buffers))
    }

    #[inline(always)]
    fn sctp<'a>(&self, header: &Header, udp: Option<(u16, u16)>, sctp: Span<'a>) -> Found<'a> {
        if let Err(short) = sctp.header::<COMMON_HEADER>(Layer::Sctp, "SCTP common header") {
            return Found::Problem(short);
        }
        Found::Sctp(Packet {
            source: header.source,
            destination: header.destination,
            ip_id: header.id,
            hop_limit: header.hop_limit,
            ecn: header.ecn,
            udp,
            sctp: sctp.bytes,
            sctp_offset: if self.reassembled { 0 } else { clamp(sctp.offset) },
            sctp_length: clamp(sctp.length),
            reassembled: self.reassembled,
        })
    }
}
