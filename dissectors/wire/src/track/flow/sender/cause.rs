//! Why a segment was sent again, and whether one that comes late was only
//! overtaken (RFC 5681, RFC 6298, RFC 8985).

use super::{Sender, Sending, Sent};
use crate::sctp::Tsn;

/// Duplicate ACKs that start a fast retransmission (RFC 5681 section 3.2).
const FAST_RETRANSMIT: u32 = 3;
/// The least RTO in use; RFC 6298 has 1 s, but Linux and others this.
const LEAST_RTO_NS: i64 = 200_000_000;
/// Without any RTT, a segment that is late by less was overtaken on the way.
const LATENESS_NS: i64 = 3_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Fast,
    Timeout,
    Probe,
    Unknown,
}

impl Cause {
    pub fn name(self) -> &'static str {
        match self {
            Cause::Fast => "fast",
            Cause::Timeout => "timeout",
            Cause::Probe => "probe",
            Cause::Unknown => "unknown",
        }
    }
}

impl Sender {
    /// A gap that is filled: by a segment that was overtaken on the way, or by one sent again
    /// whose first transmission the capture has not. The sender's timestamps tell, where they
    /// differ; else the time that the gap was open.
    pub(super) fn was_overtaken(
        &self,
        start: u64,
        overtaker: Option<Sent>,
        sending: &Sending,
    ) -> bool {
        let Some(overtaker) = overtaker else { return false };
        match (sending.timestamp, overtaker.timestamp) {
            (Some(now), Some(then)) if now != then => Tsn(now).before(Tsn(then)),
            _ => {
                let asked = start == self.floor && self.duplicate_acks >= FAST_RETRANSMIT;
                let open_ns = sending.moment.time_ns.saturating_sub(overtaker.first.time_ns);
                !asked && open_ns < sending.round_trip_ns.unwrap_or(LATENESS_NS).max(LATENESS_NS)
            }
        }
    }

    pub(super) fn cause(
        &mut self,
        start: u64,
        end: u64,
        before: Option<Sent>,
        sending: &Sending,
    ) -> Cause {
        let now_ns = sending.moment.time_ns;
        let rto_ns = sending.round_trip_ns.unwrap_or(0).max(LEAST_RTO_NS);
        let waited_ns = before.map(|sent| now_ns.saturating_sub(sent.last_ns));
        let quiet_ns = self.heard_ns.map_or(i64::MAX, |heard| now_ns.saturating_sub(heard));
        // Timers and their readings are not exact to the last part.
        let expired = waited_ns.is_some_and(|waited| waited >= rto_ns / 10 * 9);
        let silent = quiet_ns >= rto_ns / 10 * 9;
        let twice = before.is_some_and(|sent| sent.count > 1);
        let asked = self.sacked.last().is_some_and(|&(_, sacked)| sacked > end)
            || (start == self.floor && self.duplicate_acks >= FAST_RETRANSMIT);
        let recovery = self.recovery.filter(|&(point, _)| start < point).map(|(_, cause)| cause);
        let cause = match recovery {
            Some(Cause::Timeout) => Cause::Timeout,
            _ if asked && !(expired && (twice || silent)) => Cause::Fast,
            Some(Cause::Fast) if !(expired && (twice || silent)) => Cause::Fast,
            _ if expired => Cause::Timeout,
            _ if end == self.next && probed(waited_ns, sending.round_trip_ns) => Cause::Probe,
            _ => Cause::Unknown,
        };
        if matches!(cause, Cause::Fast | Cause::Timeout) && recovery != Some(cause) {
            self.recovery = Some((self.next, cause));
        }
        cause
    }
}

/// A tail loss probe comes after about two round trips (RFC 8985 section 7.2).
fn probed(waited_ns: Option<i64>, round_trip_ns: Option<i64>) -> bool {
    match (waited_ns, round_trip_ns) {
        (Some(waited), Some(round_trip)) => waited >= round_trip.saturating_add(round_trip / 2),
        _ => false,
    }
}
