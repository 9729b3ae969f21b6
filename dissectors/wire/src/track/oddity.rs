//! What is odd about an association's packets: how often, and where it was seen first and last.

use super::{End, Moment};
use crate::ledger::{Ledger, OddityRow};

/// Larger than any Ethernet frame: the capturing host put it together, or had not cut it yet.
pub const OVERSIZED_BYTES: u32 = 9216;
/// A packet so far before the one that came before it is the clock being set, not lateness.
pub const CLOCK_STEP_NS: i64 = 60_000_000_000;

/// What a packet or chunk can be that it should not.
pub mod kind {
    pub const DUPLICATE_FRAME: &str = "duplicate-frame";
    pub const DAMAGED_PACKET: &str = "damaged-packet";
    pub const BAD_CHECKSUM: &str = "bad-checksum";
    pub const ZERO_CHECKSUM: &str = "zero-checksum";
    pub const UNCOVERED_ZERO_CHECKSUM: &str = "uncovered-zero-checksum";
    pub const ADLER32_CHECKSUM: &str = "adler32-checksum";
    pub const TRUNCATED_PACKET: &str = "truncated-packet";
    pub const OVERSIZED_PACKET: &str = "oversized-packet";
    pub const CLOCK_STEP: &str = "clock-step";
    pub const DISORDERED_GAP_BLOCKS: &str = "disordered-gap-blocks";
    pub const UNHEEDED_SACK: &str = "unheeded-sack";
}

/// Counts one in the association's own ledger, which has few kinds of two ends. `path` is None for
/// a packet that takes no part in its association.
pub fn note(kind: &'static str, sender: End, path: Option<u32>, at: Moment, ledger: &mut Ledger) {
    let sender = sender.name();
    if let Some(row) =
        ledger.oddities.iter_mut().find(|row| row.kind == kind && row.sender == sender)
    {
        row.count = row.count.saturating_add(1);
        row.last_ns = at.time_ns;
        row.last_frame = at.frame;
        return;
    }
    let Some(association) = ledger.associations.first().map(|row| row.association) else { return };
    ledger.keep(OddityRow {
        association,
        sender,
        kind,
        path,
        count: 1,
        first_ns: at.time_ns,
        first_frame: at.frame,
        last_ns: at.time_ns,
        last_frame: at.frame,
    });
}
