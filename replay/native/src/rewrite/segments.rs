//! A TCP segment larger than the MTU, into those that segmentation offload makes of it.

use std::ops::Range;

use pathscope_wire::packet::Outer;

use super::Rewriter;
use super::extension;
use super::frames::Frames;
use super::ip::{is_v4, protocol};
use super::job::Job;
use super::outcome::{Note, Notes, Reason};
use super::transport::tcp_header_length;

/// RFC 9293 section 3.1, RFC 3168.
mod flag {
    pub const FIN: u8 = 0x01;
    pub const SYN: u8 = 0x02;
    pub const RST: u8 = 0x04;
    pub const PSH: u8 = 0x08;
    pub const URG: u8 = 0x20;
    pub const CWR: u8 = 0x80;
}

const SEQUENCE: usize = 4;
const FLAGS: usize = 13;
/// With less in each, the many are the headers' and not the data's.
const LEAST_PIECE: usize = 8;

/// How a segment is cut.
pub(super) struct Cut {
    /// The TCP header in the IP packet.
    tcp: usize,
    /// What is carried.
    payload: Range<usize>,
    /// Bytes of it in each piece.
    piece: usize,
}

/// How the IP packet is cut so that `room` holds each piece; none where it is no segment that an
/// interface would cut.
pub(super) fn cut(packet: &[u8], found: &Outer, room: usize) -> Option<Cut> {
    if found.protocol != protocol::TCP || found.fragment.is_some() {
        return None;
    }
    if !is_v4(packet) && extension::is_jumbogram(packet, found) {
        return None;
    }
    let segment = packet.get(found.upper..found.end)?;
    let header = tcp_header_length(segment)?;
    let start = found.upper + header;
    let piece = room.checked_sub(start).filter(|&piece| piece >= LEAST_PIECE)?;
    let whole = segment.get(FLAGS)? & (flag::SYN | flag::RST | flag::URG) != 0;
    (!whole).then_some(Cut { tcp: found.upper, payload: start..found.end, piece })
}

impl Rewriter {
    /// Writes the pieces of the IP packet behind the link header that `frame` begins with.
    pub(super) fn segments(
        &self,
        frame: (&[u8], &[u8]),
        cut: &Cut,
        out: &mut Frames,
        notes: &mut Notes,
    ) -> Result<(), Reason> {
        let (link, packet) = frame;
        let headers = packet.get(..cut.payload.start).unwrap_or_default();
        let payload = packet.get(cut.payload.clone()).unwrap_or_default();
        let last = payload.len().div_ceil(cut.piece).saturating_sub(1);
        for (number, piece) in payload.chunks(cut.piece).enumerate() {
            let tail = out.tail();
            for part in [link, headers, piece] {
                tail.extend_from_slice(part);
            }
            let made = out.open().get_mut(link.len()..).unwrap_or_default();
            number_piece(made, cut, number, number == last).ok_or(Reason::NotSplittable)?;
            // Its sums were never on the wire, so nothing in them is to be kept.
            let mut job = Job::new(false);
            self.packet(made, &mut job)?;
            job.notes.iter().filter(|note| *note != Note::ChecksumRepaired).for_each(|note| {
                notes.add(note);
            });
            out.close();
        }
        notes.add(Note::Segmented);
        Ok(())
    }
}

/// Makes the copied headers those of piece `number`; none where a field has no room for its value.
fn number_piece(packet: &mut [u8], cut: &Cut, number: usize, is_last: bool) -> Option<()> {
    let first = number == 0;
    let length = packet.len();
    if is_v4(packet) {
        put(packet, 2, u16::try_from(length).ok()?)?;
        let id = u16::from_be_bytes(*packet.get(4..)?.first_chunk()?);
        // As the interface counts: modulo 2^16.
        put(packet, 4, id.wrapping_add((number % 0x1_0000) as u16))?;
    } else {
        put(packet, 4, u16::try_from(length.checked_sub(super::ip::V6_HEADER)?).ok()?)?;
    }
    let tcp = packet.get_mut(cut.tcp..)?;
    let sequence = tcp.get_mut(SEQUENCE..)?.first_chunk_mut::<4>()?;
    let before = u32::try_from(number.checked_mul(cut.piece)?).ok()?;
    *sequence = u32::from_be_bytes(*sequence).wrapping_add(before).to_be_bytes();
    let flags = tcp.get_mut(FLAGS)?;
    if !is_last {
        *flags &= !(flag::FIN | flag::PSH);
    }
    if !first {
        *flags &= !flag::CWR;
    }
    Some(())
}

pub(super) fn put(packet: &mut [u8], at: usize, value: u16) -> Option<()> {
    *packet.get_mut(at..)?.first_chunk_mut()? = value.to_be_bytes();
    Some(())
}
