//! When T3-rtx of one path was started, as far as the capture shows (RFC 9260 section 6.3.2).

use super::Moment;

/// A running timer.
///
/// R3 restarts it when the path's earliest outstanding chunk is acknowledged. Some senders take only
/// the cumulative TSN for that, not a gap block; what a gap block did is therefore in doubt.
#[derive(Clone, Copy, Default)]
pub struct T3 {
    started: Option<Moment>,
    /// The start before those in doubt.
    certain: Option<Moment>,
}

impl T3 {
    pub fn start(&mut self, at: Moment) {
        *self = T3 { started: Some(at), certain: None };
    }

    /// Starts it by the RFC's words, though not every sender may have done so.
    pub fn start_in_doubt(&mut self, at: Moment) {
        *self = T3 { started: Some(at), certain: self.certain.or(self.started) };
    }

    pub fn stop(&mut self) {
        *self = T3::default();
    }

    pub fn is_running(&self) -> bool {
        self.started.is_some()
    }

    /// By the RFC's words.
    pub fn started(&self) -> Option<Moment> {
        self.started
    }

    /// The earliest that it may have been started last, where that is in doubt.
    pub fn earliest(&self) -> Option<Moment> {
        self.certain
    }
}
