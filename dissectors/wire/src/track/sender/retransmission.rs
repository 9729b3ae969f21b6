//! Chunks sent again: which transmission, and why.

use super::{Sender, row_number};
use crate::ledger::{Ledger, RetransmissionRow, TimeoutRow};
use crate::sctp::data::Data;
use crate::track::Moment;
use crate::track::oddity::{kind, note};
use crate::track::path::{Path, Place};
use crate::track::rto::Model;

/// Miss indications that start a fast retransmission (RFC 9260 section 7.2.4).
const FAST_RETRANSMIT: u32 = 3;
/// A chunk sent this shortly before an expiry shows may belong to the burst that the expiry set
/// off, the interfaces' clocks being read one after the other: the next expiry explains it better.
const SAME_BURST_NS: i64 = 1_000_000;
/// Without any RTT sample, a retransmission sooner than this is not put down to T3-rtx.
const LEAST_TIMEOUT_NS: i64 = 10_000_000;
/// One expiry may come earlier than another of the same RTO by this part of it: senders' ticks.
const EARLIER: i64 = 8;

/// SACKs that must have followed the one that was not heeded.
const UNHEEDED_SACKS: u32 = 2;

impl Sender {
    pub(super) fn retransmitted(
        &mut self,
        index: usize,
        data: &Data<'_>,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> u32 {
        let cause = self.cause_of(index, data, at, paths, ledger);
        if cause == "fast" {
            // Fast Recovery lasts until all that was outstanding at its begin is acknowledged.
            let losses = self.losses.get_or_insert_default();
            losses.recovery_exit = losses.recovery_exit.or(self.highest);
        }
        let end = self.end as usize;
        // RFC 9260 section 7.2.4, 4: a fast retransmission of the path's first outstanding
        // chunk restarts T3-rtx.
        let mut before = self.sent.iter().take(index).skip(self.settled);
        let restarts =
            cause == "fast" && !before.any(|sent| !sent.is_acked() && sent.last_path == at.path);
        self.note_unheeded(index, at, paths, ledger);
        let sent = &mut self.sent[index];
        sent.count = sent.count.saturating_add(1);
        paths[sent.first_path as usize].ways[end].rto().spoil(sent.tsn);
        if !sent.is_acked() {
            paths[sent.last_path as usize].ways[end].leave_flight(sent.bytes);
            let way = &mut paths[at.path as usize].ways[end];
            if restarts || way.flight_chunks == 0 || !way.t3.is_running() {
                way.t3.start(at.moment);
            }
            way.flight_chunks += 1;
            way.flight_bytes += u64::from(sent.bytes);
        }
        let row = ledger.keep(RetransmissionRow {
            association: at.association,
            sender: self.end.name(),
            tsn: data.tsn,
            user_bytes: data.user_length,
            first_ns: Some(sent.first.time_ns),
            first_frame: Some(sent.first.frame),
            first_path: Some(sent.first_path),
            previous_ns: Some(sent.last_ns),
            previous_path: Some(sent.last_path),
            time_ns: at.moment.time_ns,
            frame: at.moment.frame,
            path: at.path,
            transmission: sent.count,
            cause,
            miss_indications: sent.miss_indications,
            ..Default::default()
        });
        sent.row = row_number(row);
        sent.last_ns = at.moment.time_ns;
        sent.last_path = at.path;
        sent.miss_indications = 0;
        sent.count
    }

    /// A chunk that SACKs acknowledged comes again on another path: where the capture saw these
    /// SACKs, the sender did not. One may be lost; several in a row have a path that swallows them.
    fn note_unheeded(&self, index: usize, at: &Place, paths: &[Path], ledger: &mut Ledger) {
        let Some((path, ordinal)) = self.sent.get(index).and_then(|sent| sent.answered) else {
            return;
        };
        let receiver = self.end.other();
        let Some(answering) = paths.get(path as usize) else { return };
        let since = answering.ways[receiver as usize].sacks.wrapping_sub(ordinal);
        if path != at.path && since >= UNHEEDED_SACKS {
            note(kind::UNHEEDED_SACK, receiver, Some(path), at.moment, ledger);
        }
    }

    /// Why a chunk is sent again. An expiry of T3-rtx marks everything
    /// outstanding on its path, so one expiry explains later retransmissions of
    /// chunks sent before it.
    fn cause_of(
        &mut self,
        index: usize,
        data: &Data<'_>,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> &'static str {
        let sent = &self.sent[index];
        let way = &mut paths[sent.last_path as usize].ways[self.end as usize];
        let age_at_expiry_ns =
            way.t3_expired_ns.map(|expired| expired.saturating_sub(sent.last_ns));
        if age_at_expiry_ns.is_some_and(|age_ns| age_ns > SAME_BURST_NS) {
            return "t3";
        }
        if sent.count == 1 && sent.miss_indications >= FAST_RETRANSMIT {
            return "fast";
        }
        if sent.is_acked() || way.withdrawn {
            return "unknown";
        }
        let losses = self.losses.get_or_insert_default();
        let model = way.rto_model();
        let least_ns = least_rto_ns(model, losses.least_expiry_ns);
        let since = |start: Moment| at.moment.time_ns.saturating_sub(start.time_ns);
        // What a gap block did is in doubt: where it leaves too short a wait, it did nothing.
        let doubted = way.t3.started().filter(|start| since(*start) >= least_ns);
        let started = doubted.or(way.t3.earliest()).or(way.t3.started());
        let earliest = doubted.and(way.t3.earliest());
        let elapsed_ns = started.map(since);
        let waited_ns = at.moment.time_ns.saturating_sub(sent.last_ns);
        if elapsed_ns.unwrap_or(waited_ns) < least_ns {
            return if age_at_expiry_ns.is_some_and(|age_ns| age_ns >= 0) {
                "t3"
            } else {
                "unknown"
            };
        }
        if earliest.is_none() {
            losses.least_expiry_ns =
                [losses.least_expiry_ns, elapsed_ns].into_iter().flatten().min();
        }
        // An expiry ends Fast Recovery, for all that was outstanding is to be sent again.
        losses.recovery_exit = None;
        way.t3_expired_ns = Some(at.moment.time_ns);
        way.t3.stop();
        let doublings = way.rto().doublings;
        way.rto().doublings = doublings.saturating_add(1);
        way.consecutive_timeouts = way.consecutive_timeouts.saturating_add(1);
        ledger.keep(TimeoutRow {
            association: at.association,
            sender: self.end.name(),
            path: sent.last_path,
            armed_ns: started.map(|m| m.time_ns),
            armed_frame: started.map(|m| m.frame),
            earliest_armed_ns: earliest.map(|m| m.time_ns),
            time_ns: at.moment.time_ns,
            frame: at.moment.frame,
            tsn: data.tsn,
            retransmission_path: at.path,
            elapsed_ns,
            rto_model_ns: model.map(Model::rto_ns),
            doublings,
            consecutive: way.consecutive_timeouts,
        });
        "t3"
    }

    pub(super) fn old_retransmission(&mut self, data: &Data<'_>, at: &Place, ledger: &mut Ledger) {
        ledger.keep(RetransmissionRow {
            association: at.association,
            sender: self.end.name(),
            tsn: data.tsn,
            user_bytes: data.user_length,
            time_ns: at.moment.time_ns,
            frame: at.moment.frame,
            path: at.path,
            cause: "unknown",
            ..Default::default()
        });
    }
}

/// The RTO is never below SRTT (RFC 9260 section 6.3.1) unless RTO.Max holds it down, which the
/// expiries before would show: a shorter wait was no expiry.
fn least_rto_ns(model: Option<Model>, least_expiry_ns: Option<i64>) -> i64 {
    let srtt_ns = model.and_then(|model| i64::try_from(model.srtt_ns()).ok());
    let held_ns = least_expiry_ns.map(|least_ns| least_ns - least_ns / EARLIER);
    srtt_ns.map_or(LEAST_TIMEOUT_NS, |srtt_ns| held_ns.map_or(srtt_ns, |ns| srtt_ns.min(ns)))
}
