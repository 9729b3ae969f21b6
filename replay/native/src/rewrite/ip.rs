//! An IP packet where it stands (RFC 791, RFC 8200): its addresses, then what it carries.

use std::ops::Range;

use pathscope_wire::checksum::PseudoHeader;
use pathscope_wire::packet::{Outer, outer};
use pathscope_wire::problem::{Kind, Problem};

use super::change::Change;
use super::job::Job;
use super::outcome::{Note, Reason};
use super::settle::{Settling, Zero};
use super::{Rewriter, extension};

pub(super) mod protocol {
    pub const ICMP: u8 = 1;
    pub const IPV4: u8 = 4;
    pub const TCP: u8 = 6;
    pub const UDP: u8 = 17;
    pub const IPV6: u8 = 41;
    pub const GRE: u8 = 47;
    pub const ESP: u8 = 50;
    pub const AUTHENTICATION: u8 = 51;
    pub const ICMPV6: u8 = 58;
    pub const NOTHING: u8 = 59;
    pub const SCTP: u8 = 132;
}

/// Of IPv4's header checksum in the header.
pub(super) const HEADER_CHECKSUM: usize = 10;
/// IPv6's header without extension headers.
pub(super) const V6_HEADER: usize = 40;

/// A transport packet inside the IP packet that it came in.
pub(super) struct Segment {
    pub over: Range<usize>,
    pub pseudo: PseudoHeader,
    /// What the new addresses change in the sum of the pseudo-header.
    pub addresses: Change,
    /// Whether all of it is here, and the addresses its checksum knows are those of the header.
    pub whole: bool,
}

impl Segment {
    /// The checksum at `at` of the segment, over `length` bytes of it and the pseudo-header.
    pub fn settling(&self, at: usize, length: usize, change: Change, zero: Zero) -> Settling {
        let start = self.over.start;
        Settling {
            at: start + at,
            over: start..start + length.min(self.over.len()),
            pseudo: Some(self.pseudo),
            change: change.and(self.addresses),
            whole: self.whole,
            zero,
        }
    }
}

impl Rewriter {
    /// Rewrites the IP packet that fills `packet`, and what is in it.
    pub(super) fn packet(&self, packet: &mut [u8], job: &mut Job) -> Result<(), Reason> {
        let found = read(packet)?;
        let [source, destination] = self.addresses_of(packet, 0, job);
        let both = source.and(destination);
        if is_v4(packet) {
            header_checksum(packet, both, job);
        }
        if found.fragment.is_some_and(|piece| piece.offset > 0) {
            return Ok(());
        }
        let mapped = if both.is_none() { found } else { read(packet)? };
        let routed = extension::is_source_routed(packet, &found);
        let pseudo = PseudoHeader {
            source: mapped.source,
            destination: mapped.destination,
            protocol: found.protocol,
        };
        let whole = found.fragment.is_none() && !routed;
        let addresses = if routed { source } else { both };
        let segment = Segment { over: found.upper..found.end, pseudo, addresses, whole };
        if !both.is_none() && extension::is_authenticated(packet, &found) {
            job.note(Note::AuthenticationHeaderBroken);
        }
        self.upper(packet, &found, segment, job)
    }

    fn upper(
        &self,
        packet: &mut [u8],
        found: &Outer,
        segment: Segment,
        job: &mut Job,
    ) -> Result<(), Reason> {
        let is_fragment = found.fragment.is_some();
        match found.protocol {
            protocol::TCP => self.tcp(packet, segment, job),
            protocol::UDP => self.udp(packet, segment, job)?,
            protocol::SCTP => {
                let mut change = Change::default();
                self.sctp(packet, segment.over, is_fragment, &mut change, job)?;
            }
            protocol::ICMP if is_v4(packet) => self.icmp(packet, segment, job),
            protocol::ICMPV6 if !is_v4(packet) => self.icmpv6(packet, segment, job),
            protocol::IPV4 | protocol::IPV6 if !is_fragment && job.descend() => {
                // What cannot be read inside is sent as it was.
                let inside = packet.get_mut(segment.over).unwrap_or_default();
                match self.packet(inside, job) {
                    Err(Reason::SctpFragment) => return Err(Reason::SctpFragment),
                    Err(_) => job.note(Note::TransportMalformed),
                    Ok(()) => {}
                }
            }
            protocol::IPV4 | protocol::IPV6 | protocol::GRE => {
                job.note_if(self.rules.maps_anything(), Note::TunnelLeft);
            }
            // Their sums, where they have any, know no addresses.
            protocol::ESP | protocol::NOTHING => {}
            _ => job.note_if(!segment.addresses.is_none(), Note::OtherProtocol),
        }
        Ok(())
    }

    /// Maps source and destination of the IP header at `at`.
    pub(super) fn addresses_of(&self, packet: &mut [u8], at: usize, job: &mut Job) -> [Change; 2] {
        let mut changes = [Change::default(); 2];
        let [source, destination] = &mut changes;
        let v4 = packet.get(at).is_some_and(|first| first >> 4 == 4);
        let mapped = if v4 {
            self.rules.write_address::<4>(packet, at + 12, source)
                | self.rules.write_address::<4>(packet, at + 16, destination)
        } else {
            self.rules.write_address::<16>(packet, at + 8, source)
                | self.rules.write_address::<16>(packet, at + 24, destination)
        };
        job.note_if(mapped, Note::Mapped);
        changes
    }
}

/// Settles the checksum of the IPv4 header, into which `change` was written.
pub(super) fn header_checksum(packet: &mut [u8], change: Change, job: &mut Job) {
    let over = 0..header_length(packet);
    let (pseudo, whole, zero) = (None, true, Zero::Sum);
    Settling { at: HEADER_CHECKSUM, over, pseudo, change, whole, zero }.settle(packet, job);
}

/// By IPv4's own field.
pub(super) fn header_length(packet: &[u8]) -> usize {
    packet.first().map_or(0, |first| 4 * usize::from(first & 15))
}

pub(super) fn is_v4(packet: &[u8]) -> bool {
    packet.first().is_some_and(|first| first >> 4 == 4)
}

/// The headers of a packet that is all there.
pub(super) fn read(packet: &[u8]) -> Result<Outer, Reason> {
    outer(packet, 0).map_err(|problem| malformed(&problem))
}

pub(super) fn malformed(problem: &Problem) -> Reason {
    if problem.kind == Kind::Truncated { Reason::HeadersTruncated } else { Reason::Malformed }
}

/// Fills in a length of zero, as segmentation offload leaves it.
pub(super) fn fill_length(packet: &mut [u8], job: &mut Job) {
    let (at, header) = if is_v4(packet) { (2, 0) } else { (4, V6_HEADER) };
    // A jumbogram's length is in an option (RFC 2675).
    let in_option = !is_v4(packet) && packet.get(6) == Some(&extension::HOP_BY_HOP);
    let empty = packet.get(at..at + 2) == Some(&[0, 0]) && !in_option;
    let length = u16::try_from(packet.len().saturating_sub(header)).unwrap_or(0);
    let mut change = Change::default();
    if empty && length > 0 && change.write(packet, at, &length.to_be_bytes()) {
        job.note(Note::LengthFilled);
        if is_v4(packet) {
            // What was wrong is not looked for yet.
            header_checksum(packet, change, &mut Job::new(true));
        }
    }
}
