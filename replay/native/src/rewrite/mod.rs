//! What becomes of a captured frame before it is sent: an Ethernet frame, with the addresses, ports
//! and MACs that were asked for, and with every checksum right.
//!
//! Every module knows one header, and changes it where it stands; what it writes under a checksum is
//! kept as a [`change::Change`], so that wrong checksums can be repaired or stay as wrong as they were.

#[cfg(test)]
mod build;
mod change;
mod extension;
mod fragments;
mod frames;
mod icmp;
mod ip;
mod job;
mod link;
mod mapping;
mod mptcp;
mod options;
mod outcome;
mod sctp;
mod segments;
mod settle;
#[cfg(test)]
mod tests;
mod tlv;
mod transport;

use std::net::IpAddr;

use pathscope_wire::packet::{Outer, Stop, outermost};

pub use self::frames::Frames;
pub use self::mapping::{Ends, Macs, Mapping};
pub use self::options::{AboveMtu, Direction, Error, Options, Truncated};
pub use self::outcome::{Done, Note, Notes, Reason};

use self::fragments::Identities;
use self::job::Job;
use self::mapping::Rules;

/// The longest record that the formats of captures have room for.
const MOST_BYTES: usize = 262_144;
/// The longest IP packet whose header can say so.
const MOST_LENGTH: usize = 65_535;

/// A record of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// A LINKTYPE value.
    pub link_type: u16,
    pub data: &'a [u8],
    /// Before the capture cut it.
    pub wire_length: u32,
}

/// Makes frames to send of captured ones.
pub struct Rewriter {
    options: Options,
    rules: Rules,
    identities: Identities,
    /// A frame that is to be split.
    whole: Vec<u8>,
}

impl Rewriter {
    pub fn new(options: Options) -> Result<Self, Error> {
        let rules = Rules::new(&options.mapping)?;
        Ok(Rewriter { options, rules, identities: Identities::default(), whole: Vec::new() })
    }

    /// Source and destination of the outermost IP packet, as captured.
    pub fn addresses(link_type: u16, data: &[u8]) -> Option<(IpAddr, IpAddr)> {
        // The addresses are there however little else is.
        let found = outermost(link_type, data, u32::MAX).ok()?;
        Some((found.source.ip(), found.destination.ip()))
    }

    /// Writes the frames to send of one captured frame after those in `out`, each an Ethernet frame
    /// whose IP packet is no larger than `mtu` bytes. With a reason `out` is as it was.
    pub fn rewrite(
        &mut self,
        record: Captured<'_>,
        direction: Direction,
        mtu: u32,
        out: &mut Frames,
    ) -> Result<Done, Reason> {
        let mark = out.mark();
        let frames = out.len();
        let notes = self.frames(record, direction, mtu, out).inspect_err(|_| out.back_to(mark))?;
        let frames = u32::try_from(out.len().saturating_sub(frames)).unwrap_or(u32::MAX);
        Ok(Done { frames, notes })
    }

    fn frames(
        &mut self,
        record: Captured<'_>,
        direction: Direction,
        mtu: u32,
        out: &mut Frames,
    ) -> Result<Notes, Reason> {
        let found = find(&record)?;
        let is_cut = found.end > record.data.len();
        if is_cut && self.options.truncated == Truncated::Refuse {
            return Err(Reason::Truncated);
        }
        // A sum over bytes that are not here cannot be told from a wrong one.
        let mut job = Job::new(self.options.keep_bad_checksums && !is_cut);
        job.note_if(is_cut, Note::Padded);
        let place = Place::of(&record, &found, mtu);
        if place.packet <= place.room {
            self.lay(&record, &found, direction, out.tail(), &mut job);
            let rest = record.data.get(found.end..).unwrap_or_default();
            let fits = rest.len() <= place.room - place.packet;
            if fits && link::is_ethernet(record.link_type) {
                // Mostly what fills a frame up to Ethernet's 60 bytes.
                out.tail().extend_from_slice(rest);
            }
            job.note_if(!fits, Note::TrailerCut);
            self.packet(place.packet_in(out.open()), &mut job)?;
            out.close();
            return Ok(job.notes);
        }
        if self.options.above_mtu == AboveMtu::Refuse {
            return Err(Reason::AboveMtu);
        }
        let mut whole = std::mem::take(&mut self.whole);
        whole.clear();
        self.lay(&record, &found, direction, &mut whole, &mut job);
        let split = self.split(&place, &mut whole, out, &mut job);
        self.whole = whole;
        split.map(|()| job.notes)
    }

    /// Writes the link header and the packet, as long as it was on the wire.
    fn lay(
        &self,
        record: &Captured<'_>,
        found: &Outer,
        direction: Direction,
        into: &mut Vec<u8>,
        job: &mut Job,
    ) {
        let start = into.len();
        let packet = record.data.get(found.offset..).unwrap_or_default();
        let packet = packet.get(..found.end - found.offset).unwrap_or(packet);
        if link::is_ethernet(record.link_type) {
            into.extend_from_slice(record.data.get(..found.offset).unwrap_or_default());
            let frame = into.get_mut(start..).unwrap_or_default();
            job.note_if(link::map(&self.rules, direction, frame), Note::Mapped);
        } else {
            into.extend(link::made(&self.rules, direction, !found.source.is_v4()));
            job.note(Note::LinkHeaderMade);
        }
        let at = into.len();
        into.extend_from_slice(packet);
        into.resize(at + (found.end - found.offset), 0);
        ip::fill_length(into.get_mut(at..).unwrap_or_default(), job);
    }

    /// Makes frames that fit the MTU of one that does not.
    fn split(
        &mut self,
        place: &Place,
        whole: &mut [u8],
        out: &mut Frames,
        job: &mut Job,
    ) -> Result<(), Reason> {
        let (link, packet) = whole.split_at_mut_checked(place.link).ok_or(Reason::Malformed)?;
        if !link::repeats(link) {
            return Err(Reason::NotSplittable);
        }
        let found = ip::read(packet)?;
        if let Some(cut) = segments::cut(packet, &found, place.room) {
            return self.segments((link, packet), &cut, out, &mut job.notes);
        }
        self.packet(packet, job)?;
        let frame = (&*link, &*packet);
        fragments::fragments(frame, &found, place.room, &mut self.identities, out, &mut job.notes)
    }
}

/// How a packet lies in its frame. All in bytes.
struct Place {
    /// In front of it.
    link: usize,
    packet: usize,
    /// For it.
    room: usize,
}

impl Place {
    fn of(record: &Captured<'_>, found: &Outer, mtu: u32) -> Place {
        let room = usize::try_from(mtu).unwrap_or(usize::MAX).min(MOST_LENGTH);
        let packet = found.end - found.offset;
        if !link::is_ethernet(record.link_type) {
            return Place { link: link::HEADER, packet, room };
        }
        let header = record.data.get(..found.offset).unwrap_or_default();
        // Labels and the like are of the MTU.
        let beside = found.offset.saturating_sub(link::free_of_mtu(header));
        Place { link: found.offset, packet, room: room.saturating_sub(beside) }
    }

    fn packet_in<'a>(&self, frame: &'a mut [u8]) -> &'a mut [u8] {
        frame.get_mut(self.link..self.link + self.packet).unwrap_or_default()
    }
}

fn find(record: &Captured<'_>) -> Result<Outer, Reason> {
    let found = outermost(record.link_type, record.data, record.wire_length);
    let found = found.map_err(|stop| match stop {
        Stop::Skip(skip) => Reason::Link(skip),
        Stop::Problem(problem) => ip::malformed(&problem),
    })?;
    if found.end > MOST_BYTES { Err(Reason::TooLong) } else { Ok(found) }
}
