//! What SACK, SHUTDOWN and FORWARD-TSN say of the chunks that were sent.

use super::{HISTORY, Sender};
use crate::ledger::{Ledger, StallRow};
use crate::sctp::forward::ForwardTsn;
use crate::sctp::sack::Sack;
use crate::sctp::tsn::Unwrap;
use crate::track::path::{Path, Place};

/// A stop of the cumulative TSN that is worth a row.
const STALL_NS: i64 = 100_000_000;

/// Whether an acknowledgement came by the cumulative TSN or by a gap block.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Cumulative,
    Gap,
}

impl Sender {
    /// A SACK or NR-SACK from the peer. Returns whether its gap blocks overlap or are out of order.
    pub fn sack(
        &mut self,
        sack: &Sack<'_>,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> bool {
        let unwrap = self.unwrap.get_or_insert_with(|| Unwrap::new(sack.cumulative_tsn));
        let cumulative = unwrap.near(sack.cumulative_tsn);
        self.freshest.clear();
        self.acked_packets = 0;
        let before = self.cumulative;
        let mut newest = self.advance(cumulative, at, paths, ledger);
        let base = self.cumulative.unwrap_or(cumulative);
        let mut disorder = false;
        // A SACK that was overtaken by a newer one counts its blocks from an older base.
        disorder |= self.gaps(cumulative, base, sack.gaps(), &mut newest, at, paths, ledger);
        disorder |= self.gaps(cumulative, base, sack.nr_gaps(), &mut newest, at, paths, ledger);
        let reported = || sack.gaps().chain(sack.nr_gaps()).map(|(_, end)| end).max();
        if self.losses.as_ref().is_some_and(|losses| losses.recovery_exit.is_some())
            && self.cumulative > before
            && let Some(end) = reported()
        {
            newest = newest.max(Some(cumulative.saturating_add(u64::from(end))));
        }
        if let Some(newest) = newest {
            self.indicate_missing(newest);
        }
        self.take_rtt(at, paths, ledger);
        for tsn in sack.duplicates() {
            self.reported_twice(tsn, ledger);
        }
        disorder
    }

    /// Packets whose new DATA the last SACK acknowledged.
    pub fn acked_packets(&self) -> u32 {
        self.acked_packets
    }

    /// Moves the cumulative TSN; returns the highest TSN that this newly acknowledged.
    fn advance(
        &mut self,
        cumulative: u64,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> Option<u64> {
        let before = self.cumulative;
        if before.is_some_and(|before| cumulative <= before) {
            return None;
        }
        self.cumulative = Some(cumulative);
        let untidy = self.losses.as_ref().is_some_and(|losses| losses.untidy_to.is_some());
        let in_order = self.gap_acked == 0 && !untidy;
        let mut newest = None;
        while self.sent.get(self.settled).is_some_and(|sent| sent.tsn <= cumulative) {
            if self.acknowledge(self.settled, By::Cumulative, at, paths, ledger) {
                newest = Some(self.sent[self.settled].tsn);
            } else {
                self.gap_acked = self.gap_acked.saturating_sub(1);
                let path = self.sent[self.settled].last_path as usize;
                let way = &mut paths[path].ways[self.end as usize];
                way.gap_acked_chunks = way.gap_acked_chunks.saturating_sub(1);
            }
            let sent = &self.sent[self.settled];
            if !in_order && let Some(acked) = sent.acked {
                let blocking = &mut self.losses.get_or_insert_default().blocking;
                blocking.pass(sent, acked, (at.association, self.end), ledger);
            }
            self.settled += 1;
        }
        if let Some(losses) = &mut self.losses {
            losses.settle(cumulative);
        }
        while self.settled > HISTORY {
            self.sent.pop_front();
            self.settled -= 1;
        }
        self.end_stall(before, cumulative, at, ledger);
        self.advanced = Some(at.moment);
        self.waiting = (self.sent.len() > self.settled).then_some(at.moment);
        self.watched.retain(|&(run, target)| {
            let row = &mut ledger.runs[run];
            row.gap_end_ns.get_or_insert(at.moment.time_ns);
            row.gap_end_frame.get_or_insert(at.moment.frame);
            if row.outstanding_tsn.is_some() && cumulative >= target {
                row.recovered_ns = Some(at.moment.time_ns);
                row.recovered_frame = Some(at.moment.frame);
            }
            row.outstanding_tsn.is_some() && cumulative < target
        });
        newest
    }

    fn end_stall(&self, before: Option<u64>, cumulative: u64, at: &Place, ledger: &mut Ledger) {
        if let (Some(start), Some(before)) = (self.waiting, before)
            && at.moment.time_ns.saturating_sub(start.time_ns) >= STALL_NS
        {
            ledger.keep(StallRow {
                association: at.association,
                sender: self.end.name(),
                start_ns: start.time_ns,
                start_frame: start.frame,
                end_ns: at.moment.time_ns,
                end_frame: at.moment.frame,
                tsn_before: before as u32,
                tsn_after: cumulative as u32,
            });
        }
    }

    /// Acknowledges what lies in the blocks. Blocks must rise; others are left
    /// out, so that a hostile SACK costs no more than one walk over `sent`.
    #[expect(
        clippy::too_many_arguments,
        reason = "one SACK's context, split so that each part is readable"
    )]
    fn gaps(
        &mut self,
        cumulative: u64,
        base: u64,
        blocks: impl Iterator<Item = (u16, u16)>,
        newest: &mut Option<u64>,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> bool {
        let mut disorder = false;
        let mut end_before = 0;
        let mut index = self.settled;
        for (start, end) in blocks {
            if start <= end_before || end < start {
                disorder = true;
                continue;
            }
            end_before = end;
            let (first, last) = (cumulative + u64::from(start), cumulative + u64::from(end));
            if last <= base {
                continue;
            }
            index = index.max(self.position(first).unwrap_or_else(|index| index));
            while let Some(sent) = self.sent.get(index).filter(|sent| sent.tsn <= last) {
                let tsn = sent.tsn;
                // Until a gap closes, every SACK repeats the blocks of the one before.
                if !sent.is_acked() && self.acknowledge(index, By::Gap, at, paths, ledger) {
                    *newest = Some(newest.map_or(tsn, |newest| newest.max(tsn)));
                }
                index += 1;
            }
        }
        disorder
    }

    /// Marks one chunk acknowledged; false when it already was.
    fn acknowledge(
        &mut self,
        index: usize,
        by: By,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) -> bool {
        let blocker_path = self.sent.get(self.settled).map(|sent| sent.last_path);
        let sent = &mut self.sent[index];
        if sent.is_acked() {
            return false;
        }
        sent.acked = Some(at.moment);
        sent.answered = Some((at.path, paths[at.path as usize].ways[at.sender as usize].sacks));
        let way = &mut paths[sent.last_path as usize].ways[self.end as usize];
        way.leave_flight(sent.bytes);
        way.consecutive_timeouts = 0;
        // T3-rtx restarts when the path's earliest outstanding TSN is acknowledged
        // (RFC 9260 section 6.3.2, R3). A gap block leaves the blocker of the
        // cumulative TSN outstanding, so on that one's path the timer runs on.
        if by == By::Cumulative {
            way.t3.start(at.moment);
        } else {
            self.gap_acked += 1;
            way.gap_acked_chunks += 1;
            if blocker_path != Some(sent.last_path) {
                way.t3.start_in_doubt(at.moment);
            }
        }
        if sent.abandoned {
            return true;
        }
        if sent.count == 1 && sent.first.frame != self.acked_frame {
            self.acked_frame = sent.first.frame;
            self.acked_packets += 1;
        }
        let rtt_min_ns = way.rtt_min_ns();
        let delivery = Place { path: sent.last_path, sender: self.end, ..*at };
        let waited_ns = at.moment.time_ns.saturating_sub(sent.last_ns);
        if way.rto().acknowledged(sent.tsn)
            && let Ok(rtt_ns) = u64::try_from(waited_ns)
        {
            way.rto_sample(rtt_ns, &delivery, ledger);
        }
        let bin = way.bin(&delivery, ledger);
        bin.acked_chunks += 1;
        bin.acked_bytes += u64::from(sent.bytes);
        if let Some(run) = sent.run.and_then(|run| ledger.runs.get_mut(run as usize)) {
            run.first_ack_ns.get_or_insert(at.moment.time_ns);
            run.first_ack_frame.get_or_insert(at.moment.frame);
            let newer = run.last_ok_ns.is_none_or(|last_ns| sent.first.time_ns >= last_ns);
            if sent.count == 1 && newer {
                run.last_ok_ns = Some(sent.first.time_ns);
                run.last_ok_frame = Some(sent.first.frame);
                run.last_ok_tsn = Some(sent.tsn as u32);
                run.last_sack_ns = Some(at.moment.time_ns);
                run.last_sack_frame = Some(at.moment.frame);
            }
        }
        if sent.count == 1 {
            match self.freshest.iter_mut().find(|(path, _)| *path == sent.last_path) {
                Some((_, sent_ns)) => *sent_ns = (*sent_ns).max(sent.last_ns),
                None => self.freshest.push((sent.last_path, sent.last_ns)),
            }
        }
        if let Some(row) = sent.row.and_then(|row| ledger.retransmissions.get_mut(row as usize)) {
            row.ack_ns = Some(at.moment.time_ns);
            row.ack_frame = Some(at.moment.frame);
            if rtt_min_ns.is_some_and(|min_ns| waited_ns < min_ns as i64) {
                row.spurious = Some("early-ack");
            }
        }
        true
    }

    /// RFC 9260 section 7.2.4: only TSNs below the highest newly acknowledged one are reported
    /// missing; in Fast Recovery, by a SACK that moves the cumulative TSN, all below its last block.
    fn indicate_missing(&mut self, newest: u64) {
        for sent in self.sent.iter_mut().skip(self.settled) {
            if sent.tsn >= newest {
                break;
            }
            if !sent.is_acked() {
                sent.miss_indications = sent.miss_indications.saturating_add(1);
            }
        }
    }

    /// Karn's rule: chunks sent once only. One sample a SACK and path, of the
    /// chunk sent last, so that a delayed SACK does not count its delay for
    /// every chunk it covers.
    fn take_rtt(&mut self, at: &Place, paths: &mut [Path], ledger: &mut Ledger) {
        for &(path, sent_ns) in &self.freshest {
            let Ok(rtt_ns) = u64::try_from(at.moment.time_ns.saturating_sub(sent_ns)) else {
                continue; // the capture's clock went back: no sample
            };
            let way = &mut paths[path as usize].ways[self.end as usize];
            way.sack_rtt.sample(rtt_ns, ledger);
            let bin = way.bin(&Place { path, sender: self.end, ..*at }, ledger);
            bin.rtt_count += 1;
            bin.rtt_sum_ns = bin.rtt_sum_ns.saturating_add(rtt_ns);
            bin.rtt_min_ns = Some(bin.rtt_min_ns.map_or(rtt_ns, |min| min.min(rtt_ns)));
            bin.rtt_max_ns = Some(bin.rtt_max_ns.map_or(rtt_ns, |max| max.max(rtt_ns)));
        }
    }

    fn reported_twice(&mut self, tsn: u32, ledger: &mut Ledger) {
        let Some(unwrap) = &self.unwrap else { return };
        let found = self.position(unwrap.near(tsn)).ok().and_then(|index| self.sent[index].row);
        if let Some(row) = found.and_then(|row| ledger.retransmissions.get_mut(row as usize)) {
            row.spurious = Some("duplicate-tsn");
        }
    }

    /// SHUTDOWN carries a cumulative TSN and nothing else of a SACK.
    pub fn acknowledged_to(
        &mut self,
        cumulative_tsn: u32,
        at: &Place,
        paths: &mut [Path],
        ledger: &mut Ledger,
    ) {
        let unwrap = self.unwrap.get_or_insert_with(|| Unwrap::new(cumulative_tsn));
        let cumulative = unwrap.near(cumulative_tsn);
        self.freshest.clear();
        self.advance(cumulative, at, paths, ledger);
        self.take_rtt(at, paths, ledger);
    }

    /// FORWARD-TSN (RFC 3758): what it passes has been given up.
    pub fn forward_tsn(&mut self, forward: &ForwardTsn<'_>, at: &Place, ledger: &mut Ledger) {
        let Some(unwrap) = &self.unwrap else { return };
        let passed = unwrap.near(forward.new_cumulative_tsn);
        if self.cumulative.is_none_or(|cumulative| passed > cumulative) {
            let losses = self.losses.get_or_insert_default();
            for skipped in forward.skipped().filter(|skipped| !skipped.unordered) {
                losses.blocking.given_up(skipped.stream, passed, at.moment, ledger);
            }
            losses.untidy_to = losses.untidy_to.max(self.highest);
        }
        for sent in self.sent.iter_mut().skip(self.settled) {
            if sent.tsn > passed {
                break;
            }
            sent.abandoned = true;
        }
    }
}
