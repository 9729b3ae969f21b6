//! ICMP (RFC 792) and ICMPv6 (RFC 4443) where they stand: the packets that errors quote, and the
//! addresses of redirects and neighbour discovery (RFC 4861).

use std::ops::Range;

use pathscope_wire::packet::{Outer, outer};

use super::Rewriter;
use super::change::Change;
use super::ip::{HEADER_CHECKSUM, Segment, protocol};
use super::job::Job;
use super::outcome::Note;
use super::settle::{Settling, Zero};
use super::transport::{TCP_CHECKSUM, UDP_CHECKSUM, UDP_HEADER};

const CHECKSUM: usize = 2;
const HEADER: usize = 8;
const REDIRECT: u8 = 5;
/// Unreachable, source quench, redirect, time exceeded, parameter problem.
const ERRORS: [u8; 5] = [3, 4, REDIRECT, 11, 12];
/// Unreachable, too big, time exceeded, parameter problem.
const V6_ERRORS: [u8; 4] = [1, 2, 3, 4];
const NEIGHBOUR_SOLICITATION: u8 = 135;
const NEIGHBOUR_ADVERTISEMENT: u8 = 136;
const V6_REDIRECT: u8 = 137;

impl Rewriter {
    pub(super) fn icmp(&self, packet: &mut [u8], segment: Segment, job: &mut Job) {
        let (start, end) = (segment.over.start, segment.over.end);
        let Some(&kind) = packet.get(start) else { return job.note(Note::TransportMalformed) };
        let mut change = Change::default();
        if kind == REDIRECT {
            // The gateway to use.
            let mapped = self.rules.write_address::<4>(packet, start + 4, &mut change);
            job.note_if(mapped, Note::Mapped);
        }
        if ERRORS.contains(&kind) {
            self.quote(packet, start + HEADER..end, &mut change, job);
        }
        // The only one of these sums that knows no addresses.
        let (over, pseudo, whole) = (segment.over, None, segment.whole);
        let at = start + CHECKSUM;
        Settling { at, over, pseudo, change, whole, zero: Zero::Sum }.settle(packet, job);
    }

    pub(super) fn icmpv6(&self, packet: &mut [u8], segment: Segment, job: &mut Job) {
        let (start, end) = (segment.over.start, segment.over.end);
        let Some(&kind) = packet.get(start) else { return job.note(Note::TransportMalformed) };
        let mut change = Change::default();
        let places: &[usize] = match kind {
            NEIGHBOUR_SOLICITATION | NEIGHBOUR_ADVERTISEMENT => &[HEADER],
            V6_REDIRECT => &[HEADER, HEADER + 16],
            _ => &[],
        };
        for place in places {
            let mapped = self.rules.write_address::<16>(packet, start + place, &mut change);
            job.note_if(mapped, Note::Mapped);
        }
        if V6_ERRORS.contains(&kind) {
            self.quote(packet, start + HEADER..end, &mut change, job);
        }
        let length = segment.over.len();
        segment.settling(CHECKSUM, length, change, Zero::Sum).settle(packet, job);
    }

    /// Maps what is quoted in `over`, as the packet that it is of was mapped.
    fn quote(&self, packet: &mut [u8], over: Range<usize>, change: &mut Change, job: &mut Job) {
        if !self.rules.maps_anything() {
            return;
        }
        let quoted = packet.get(over.clone()).unwrap_or_default();
        // An error quotes the beginning of a packet, so there was always more of it.
        let Ok(found) = outer(quoted, u32::MAX) else { return };
        let at = over.start;
        let v4 = found.source.is_v4();
        let [source, destination] = self.addresses_of(packet, at, job);
        let addresses = source.and(destination);
        *change = change.and(addresses);
        if v4 {
            follow(packet, at + HEADER_CHECKSUM..over.end, addresses, false, change);
        }
        if found.fragment.is_none_or(|piece| piece.offset == 0) {
            self.quoted_transport(packet, &found, over, addresses, change, job);
        }
    }

    /// The ports and the checksum of the transport header that `found` in `over` has.
    fn quoted_transport(
        &self,
        packet: &mut [u8],
        found: &Outer,
        over: Range<usize>,
        addresses: Change,
        change: &mut Change,
        job: &mut Job,
    ) {
        let upper = over.start + found.upper;
        let end = over.end.min(over.start + found.end);
        // Ports are not read beyond the quote.
        let Some(quote) = packet.get_mut(..end) else { return };
        let ports = quote.get(upper..).and_then(|header| header.first_chunk::<4>()).copied();
        let Some([a, b, c, d]) = ports else { return };
        let mut written = Change::default();
        match found.protocol {
            protocol::TCP => {
                self.ports(quote, upper, &mut written, job);
                let sum = addresses.and(written);
                follow(quote, upper + TCP_CHECKSUM..end, sum, false, change);
            }
            protocol::UDP => {
                self.ports(quote, upper, &mut written, job);
                let ports = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
                if ports.iter().any(|port| self.options.udp_ports.contains(port)) {
                    let inner = self.ports(quote, upper + UDP_HEADER, &mut written, job);
                    job.note_if(inner, Note::QuotedChecksumLeft);
                }
                let sum = addresses.and(written);
                follow(quote, upper + UDP_CHECKSUM..end, sum, true, change);
            }
            protocol::SCTP => {
                let mapped = self.ports(quote, upper, &mut written, job);
                job.note_if(mapped, Note::QuotedChecksumLeft);
            }
            _ => {}
        }
        *change = change.and(written);
    }
}

/// Changes the checksum at the start of `field` by `sum`, and notes that in `change`: the quote
/// was taken somewhere on the way, so whether it is right cannot be asked.
fn follow(
    packet: &mut [u8],
    field: Range<usize>,
    sum: Change,
    zero_is_none: bool,
    change: &mut Change,
) {
    let at = field.start;
    let Some(old) = packet.get(field).and_then(|rest| rest.first_chunk::<2>()) else { return };
    let old = u16::from_be_bytes(*old);
    if zero_is_none && old == 0 {
        return;
    }
    let new = match sum.applied(old) {
        0 if zero_is_none => 0xffff,
        new => new,
    };
    if new != old {
        change.write(packet, at, &new.to_be_bytes());
    }
}
