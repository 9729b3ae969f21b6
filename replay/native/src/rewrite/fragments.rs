//! An IP packet larger than the MTU, into fragments (RFC 791 section 3.2, RFC 8200 section 4.5).

use pathscope_wire::packet::{Outer, trace::Piece};

use super::change::Change;
use super::extension::{self, END_OF_LIST, FRAGMENT, NO_OPERATION};
use super::frames::Frames;
use super::ip::{V6_HEADER, header_checksum, header_length, is_v4};
use super::job::Job;
use super::outcome::{Note, Notes, Reason};
use super::segments::put;

const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;
/// Fragments are placed in units of so many bytes.
const UNIT: usize = 8;
const V6_FRAGMENT_HEADER: usize = 8;

/// Identifications for packets that had none.
#[derive(Debug, Default)]
pub(super) struct Identities(u32);

impl Identities {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(1);
        self.0
    }
}

/// Writes the pieces of the IP packet behind the link header that `frame` begins with.
pub(super) fn fragments(
    frame: (&[u8], &[u8]),
    found: &Outer,
    room: usize,
    identities: &mut Identities,
    out: &mut Frames,
    notes: &mut Notes,
) -> Result<(), Reason> {
    let (link, packet) = frame;
    let plan = Plan::new(packet, found, identities, notes).ok_or(Reason::NotSplittable)?;
    let payload = packet.get(plan.payload_at..found.end).unwrap_or_default();
    let most = room.checked_sub(plan.head.len()).map_or(0, |left| left / UNIT * UNIT);
    if most == 0 {
        return Err(Reason::NotSplittable);
    }
    let mut at = 0;
    for piece in payload.chunks(most) {
        let tail = out.tail();
        for part in [link, &plan.head, piece] {
            tail.extend_from_slice(part);
        }
        let made = out.open().get_mut(link.len()..).unwrap_or_default();
        let more = plan.more || at + piece.len() < payload.len();
        plan.place(made, at, more).ok_or(Reason::NotSplittable)?;
        out.close();
        at += piece.len();
    }
    notes.add(Note::Fragmented);
    Ok(())
}

/// What all pieces have in common.
struct Plan {
    /// The headers in front of each piece.
    head: Vec<u8>,
    /// Of what is cut, in the packet.
    payload_at: usize,
    /// What was cut was a fragment already: where it was, and whether others follow it.
    before: usize,
    more: bool,
}

impl Plan {
    fn new(
        packet: &[u8],
        found: &Outer,
        identities: &mut Identities,
        notes: &mut Notes,
    ) -> Option<Plan> {
        let (before, more) =
            found.fragment.map_or((0, false), |Piece { offset, more, .. }| (offset as usize, more));
        let (head, payload_at) = if is_v4(packet) {
            let size = header_length(packet);
            let mut head = packet.get(..size)?.to_vec();
            let field = u16::from_be_bytes(*head.get(6..)?.first_chunk()?);
            if field & DONT_FRAGMENT != 0 {
                notes.add(Note::DontFragmentCleared);
                put(&mut head, 6, field & !DONT_FRAGMENT)?;
                if head.get(4..6)? == [0, 0] {
                    // RFC 6864 section 4.1: the field of what is never fragmented says nothing.
                    put(&mut head, 4, (identities.next() % 0xffff) as u16 + 1)?;
                }
            }
            (head, size)
        } else {
            v6_head(packet, found, identities)?
        };
        Some(Plan { head, payload_at, before, more })
    }

    /// Makes the copied headers those of the piece that was `at` bytes into what is cut.
    fn place(&self, packet: &mut [u8], at: usize, more: bool) -> Option<()> {
        let units =
            u16::try_from((self.before + at) / UNIT).ok().filter(|units| *units < 1 << 13)?;
        let length = packet.len();
        if is_v4(packet) {
            put(packet, 2, u16::try_from(length).ok()?)?;
            put(packet, 6, units | if more { MORE_FRAGMENTS } else { 0 })?;
            if self.before + at > 0 {
                first_fragments_options(packet.get_mut(20..self.head.len())?);
            }
            header_checksum(packet, Change::default(), &mut Job::new(false));
        } else {
            put(packet, 4, u16::try_from(length - V6_HEADER).ok()?)?;
            let at = self.head.len() - V6_FRAGMENT_HEADER;
            put(packet, at + 2, units << 3 | u16::from(more))?;
        }
        Some(())
    }
}

/// IPv6's headers up to and with a fragment header: its own, or one that is put in.
fn v6_head(packet: &[u8], found: &Outer, identities: &mut Identities) -> Option<(Vec<u8>, usize)> {
    if extension::is_jumbogram(packet, found) {
        return None;
    }
    if let Some(own) = extension::extensions(packet, found)
        .find(|one| one.kind == FRAGMENT && found.fragment.is_some())
    {
        return Some((packet.get(..own.end)?.to_vec(), own.end));
    }
    let (end, named_at) = extension::unfragmentable(packet, found);
    let mut head = packet.get(..end)?.to_vec();
    let next = std::mem::replace(head.get_mut(named_at)?, FRAGMENT);
    head.extend([next, 0, 0, 0]);
    head.extend(identities.next().to_be_bytes());
    Some((head, end))
}

/// Blanks IPv4's options that only a first fragment has: those without the copied flag.
fn first_fragments_options(options: &mut [u8]) {
    let mut at = 0;
    while let Some(&[kind, length]) = options.get(at..).and_then(|rest| rest.first_chunk()) {
        let length = match kind {
            END_OF_LIST => return,
            NO_OPERATION => 1,
            _ if length < 2 => return,
            _ => usize::from(length),
        };
        let end = (at + length).min(options.len());
        if kind & 0x80 == 0 {
            options.get_mut(at..end).unwrap_or_default().fill(NO_OPERATION);
        }
        at = end;
    }
}
