//! One row of the streamed table of frames.

use crate::container::Frame;
use crate::ledger::FrameRow;

/// `reason` is why the frame was skipped.
pub fn frame_row(
    frame: &Frame<'_>,
    protocol: Option<&'static str>,
    outcome: &'static str,
    reason: Option<String>,
) -> FrameRow {
    FrameRow {
        frame: frame.number,
        time_ns: frame.time_ns,
        interface: frame.interface_name.map(str::to_string),
        link_type: frame.link_type,
        wire_bytes: frame.wire_length,
        captured_bytes: frame.captured_length,
        protocol,
        outcome,
        reason,
    }
}
