//! One row of the streamed table of frames.

use crate::container::Record;
use crate::ledger::FrameRow;

/// `reason` is why the frame was skipped.
pub fn frame_row(
    record: &Record<'_>,
    protocol: Option<&'static str>,
    outcome: &'static str,
    reason: Option<String>,
) -> FrameRow {
    FrameRow {
        frame: record.frame,
        time_ns: record.time_ns,
        interface: record.interface_name.map(str::to_string),
        link_type: record.link_type,
        wire_bytes: record.wire_length,
        captured_bytes: u32::try_from(record.data.len()).unwrap_or(u32::MAX),
        protocol,
        outcome,
        reason,
    }
}
