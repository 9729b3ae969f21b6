//! TCP (RFC 9293) and UDP (RFC 768) where they stand.

use super::change::Change;
use super::ip::Segment;
use super::job::Job;
use super::outcome::{Note, Reason};
use super::settle::Zero;
use super::{Rewriter, mptcp};

pub(super) const TCP_HEADER: usize = 20;
pub(super) const TCP_CHECKSUM: usize = 16;
pub(super) const UDP_HEADER: usize = 8;
pub(super) const UDP_CHECKSUM: usize = 6;
/// Geneve, GTP-U and VXLAN: RFC 8926, 3GPP TS 29.281, RFC 7348.
const TUNNELS: [u16; 3] = [6081, 2152, 4789];

impl Rewriter {
    pub(super) fn tcp(&self, packet: &mut [u8], segment: Segment, job: &mut Job) {
        let (start, length) = (segment.over.start, segment.over.len());
        let Some(header) = tcp_header_length(packet.get(segment.over.clone()).unwrap_or_default())
        else {
            return job.note(Note::TransportMalformed);
        };
        let mut change = Change::default();
        self.ports(packet, start, &mut change, job);
        let options = start + TCP_HEADER..start + header;
        mptcp::add_addresses(&self.rules, packet, options, &mut change, job);
        segment.settling(TCP_CHECKSUM, length, change, Zero::Sum).settle(packet, job);
    }

    pub(super) fn udp(
        &self,
        packet: &mut [u8],
        segment: Segment,
        job: &mut Job,
    ) -> Result<(), Reason> {
        let start = segment.over.start;
        let datagram = packet.get(segment.over.clone()).unwrap_or_default();
        let Some((header, length)) = datagram.first_chunk::<UDP_HEADER>().and_then(|header| {
            udp_length(header, datagram.len(), segment.whole).map(|length| (*header, length))
        }) else {
            job.note(Note::TransportMalformed);
            return Ok(());
        };
        let [a, b, c, d, ..] = header;
        let ports = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
        let mut change = Change::default();
        self.ports(packet, start, &mut change, job);
        if ports.iter().any(|port| self.options.udp_ports.contains(port)) {
            let inside = start + UDP_HEADER..start + length;
            self.sctp(packet, inside, !segment.whole, &mut change, job)?;
        } else if TUNNELS.contains(&ports[1]) {
            job.note_if(self.rules.maps_anything(), Note::TunnelLeft);
        }
        let zero = if segment.pseudo.source.is_v4() { Zero::Absent } else { Zero::Missing };
        segment.settling(UDP_CHECKSUM, length, change, zero).settle(packet, job);
        Ok(())
    }

    /// Maps the two ports that the header at `at` begins with; says whether that changed them.
    pub(super) fn ports(
        &self,
        packet: &mut [u8],
        at: usize,
        change: &mut Change,
        job: &mut Job,
    ) -> bool {
        let source = self.rules.write_port(packet, at, change);
        let mapped = self.rules.write_port(packet, at + 2, change) | source;
        job.note_if(mapped, Note::Mapped);
        mapped
    }
}

/// Bytes of header of a TCP segment; none where they are not all there.
pub(super) fn tcp_header_length(segment: &[u8]) -> Option<usize> {
    let length = 4 * usize::from(segment.get(12)? >> 4);
    (TCP_HEADER..=segment.len()).contains(&length).then_some(length)
}

/// Bytes of a datagram of which `available` are here; none where the field lies. The first of its
/// fragments holds less than the field says.
fn udp_length(header: &[u8; UDP_HEADER], available: usize, whole: bool) -> Option<usize> {
    let [_, _, _, _, high, low, ..] = *header;
    match usize::from(u16::from_be_bytes([high, low])) {
        // A jumbogram (RFC 2675 section 4): the IP length is the only one.
        0 if available > usize::from(u16::MAX) => Some(available),
        length if length < UDP_HEADER => None,
        length if length <= available => Some(length),
        _ if whole => None,
        _ => Some(available),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_udp_length_is_within_its_packet() {
        let header = |length: u16| {
            let [high, low] = length.to_be_bytes();
            [0, 1, 0, 2, high, low, 0, 0]
        };
        assert_eq!(udp_length(&header(12), 16, true), Some(12));
        assert_eq!(udp_length(&header(17), 16, true), None);
        assert_eq!(udp_length(&header(17), 16, false), Some(16));
        assert_eq!(udp_length(&header(7), 16, false), None);
        assert_eq!(udp_length(&header(0), 16, true), None);
        assert_eq!(udp_length(&header(0), 70_000, true), Some(70_000));
    }

    #[test]
    fn a_tcp_header_is_within_its_segment() {
        let mut segment = [0; 24];
        for (words, expected) in [(4, None), (5, Some(20)), (6, Some(24)), (7, None)] {
            segment[12] = words << 4;
            assert_eq!(tcp_header_length(&segment), expected);
        }
        assert_eq!(tcp_header_length(&segment[..12]), None);
    }
}
