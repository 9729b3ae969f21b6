//! One row of the streamed table of sightings.

use etherparse::ip_number;

use crate::digest::Digests;
use crate::ledger::SightingRow;
use crate::track::Seen;
use crate::track::flow::{Followed, Sight};
use crate::track::standing::{Kind, Standing};

/// A packet of SCTP; `data` are its first TSN and its least transmission. None of a packet
/// that belongs to no association, or that was damaged on the way: it is another one than was sent.
pub fn sighting_of_sctp(
    seen: &Seen<'_>,
    standing: &Standing,
    digests: &Digests,
    data: Option<(u32, Option<u32>)>,
) -> Option<SightingRow> {
    if !matches!(standing.kind, Kind::Placed | Kind::Copy) {
        return None;
    }
    Some(SightingRow {
        protocol: ip_number::SCTP.0,
        association: Some(standing.association?),
        sender: standing.sender?.name(),
        path: standing.path,
        frame: seen.moment.frame,
        time_ns: seen.moment.time_ns,
        wire_bytes: seen.wire_bytes,
        tsn: data.map(|(tsn, _)| tsn),
        transmission: data.and_then(|(_, transmission)| transmission),
        duplicate_frame: standing.kind == Kind::Copy,
        truncated: digests.is_cut,
        digest: digests.whole,
        head_digest: digests.head,
        ..SightingRow::default()
    })
}

/// A packet of TCP or UDP; none of one that is not followed.
pub fn sighting_of_flow(
    protocol: u8,
    sight: &Sight<'_>,
    followed: &Followed,
    digests: &Digests,
) -> Option<SightingRow> {
    let (flow, sender) = followed.place?;
    Some(SightingRow {
        protocol,
        flow: Some(flow),
        sender: sender.name(),
        frame: sight.moment.frame,
        time_ns: sight.moment.time_ns,
        wire_bytes: sight.wire_bytes,
        duplicate_frame: followed.copy,
        truncated: digests.is_cut,
        digest: digests.whole,
        head_digest: digests.head,
        ..SightingRow::default()
    })
}
