//! What was counted: every frame of the trace, and every frame that was to be sent.

use std::collections::BTreeMap;

use serde::Serialize;

/// How often something happened, by its name.
pub type Counts = BTreeMap<&'static str, u64>;

/// What the reading side found. Frames read = planned + filtered + outside the window + not sent,
/// where a frame that is split counts as one.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plan {
    pub frames: Read,
    /// In the order of the outlets.
    pub routes: Vec<RoutePlan>,
    /// What was done to frames on the way.
    pub rewriting: Counts,
    /// In what frames are not all that a host would have sent.
    pub warnings: Counts,
    /// Loops begun.
    pub loops: u32,
    /// Frames captured before the one in front of them in the file: due together with it.
    pub disordered: u64,
    /// Of the trace's first frame, since 1970.
    pub first_frame_ns: Option<i64>,
    /// The last deadline.
    pub duration_ns: Option<i64>,
    /// Why reading ended before the end of the trace.
    pub damage: Option<String>,
}

/// Frames of the trace, in all loops.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Read {
    pub read: u64,
    pub planned: u64,
    pub filtered: u64,
    pub outside_window: u64,
    /// By the reason.
    pub not_sent: Counts,
}

/// What is to go out of one outlet.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RoutePlan {
    pub path: String,
    pub direction: &'static str,
    pub frames: u64,
    pub bytes: u64,
    pub first_due_ns: Option<i64>,
    pub last_due_ns: Option<i64>,
    pub largest_frame: usize,
}

impl RoutePlan {
    pub fn count(&mut self, due_ns: i64, bytes: usize) {
        self.frames += 1;
        self.bytes += bytes as u64;
        self.first_due_ns = self.first_due_ns.or(Some(due_ns));
        self.last_due_ns = Some(due_ns);
        self.largest_frame = self.largest_frame.max(bytes);
    }
}

/// What the sending side did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sent {
    /// In the order of the outlets.
    pub routes: Vec<RouteSent>,
    /// Refusals of a queue after which a frame was offered again, at top speed.
    pub waits: u64,
    /// Times that nothing was ready when the thread that sends asked for more.
    pub starved: u64,
    /// It ended because it was told to, not because all was sent.
    pub stopped: bool,
    /// Why it ended, when it is neither.
    pub failure: Option<String>,
}

/// What went out of one outlet. `sent`, `enobufs`, `dropped` and `errors` are all frames.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RouteSent {
    pub sent: u64,
    pub bytes: u64,
    /// Refused by the queue of the interface or of the socket.
    pub enobufs: u64,
    /// Left out because they were late.
    pub dropped: u64,
    /// Refused for another reason, by the name of the error.
    pub errors: Counts,
    /// Of those sent: later than the limit after their deadline. Nothing is late at top speed.
    pub late: u64,
    pub lateness_max_ns: Option<i64>,
}

/// Counts one more.
pub fn count(counts: &mut Counts, name: &'static str) {
    *counts.entry(name).or_default() += 1;
}
