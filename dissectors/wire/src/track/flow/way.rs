//! One direction of a flow: its packets, and their time bins.

use super::Sight;
use super::budget::Budget;
use crate::ledger::{FlowDirectionRow, FlowIntervalRow};
use crate::track::End;
use crate::track::moments::Moments;

/// A packet this far before the open bin is a clock step, not lateness: it opens a bin of its own.
const CLOCK_STEP_NS: i64 = 60_000_000_000;

pub struct Way {
    pub row: FlowDirectionRow,
    last_ns: Option<i64>,
    gaps: Moments,
    /// Index of the open bin.
    bin: Option<usize>,
}

impl Way {
    pub fn new(flow: u32, sender: End) -> Self {
        let row = FlowDirectionRow { flow, sender: sender.name(), ..Default::default() };
        Way { row, last_ns: None, gaps: Moments::default(), bin: None }
    }

    pub fn packet(&mut self, sight: &Sight<'_>, payload_bytes: u32) {
        self.row.packets += 1;
        self.row.wire_bytes += u64::from(sight.wire_bytes);
        self.row.payload_bytes += u64::from(payload_bytes);
        let time_ns = sight.moment.time_ns;
        if self.last_ns.is_none() {
            self.row.start_ns = time_ns;
        }
        self.row.end_ns = time_ns;
        if let Some(last_ns) = self.last_ns.replace(time_ns) {
            self.gaps.sample(time_ns.saturating_sub(last_ns));
        }
    }

    /// The row of the time bin that `time_ns` falls in, opened when it is new; none when the
    /// capture has more of them than are kept.
    pub fn bin<'i>(
        &mut self,
        intervals: &'i mut Vec<FlowIntervalRow>,
        time_ns: i64,
        bin_ns: i64,
        budget: &mut Budget,
    ) -> Option<&'i mut FlowIntervalRow> {
        let start_ns = time_ns.saturating_sub(time_ns.rem_euclid(bin_ns));
        let open = self.bin.filter(|&index| {
            intervals.get(index).is_some_and(|open| {
                // A packet that is a little late counts in the bin open at its arrival.
                start_ns <= open.start_ns && open.start_ns.saturating_sub(start_ns) < CLOCK_STEP_NS
            })
        });
        let index = match open {
            Some(index) => index,
            None if budget.interval() => {
                if intervals.is_empty() {
                    // Most flows of a scan have one packet, and a Vec begins with room for four.
                    intervals.reserve_exact(1);
                }
                intervals.push(FlowIntervalRow {
                    flow: self.row.flow,
                    sender: self.row.sender,
                    start_ns,
                    ..Default::default()
                });
                intervals.len() - 1
            }
            None => return None,
        };
        self.bin = Some(index);
        intervals.get_mut(index)
    }

    /// The bin that the direction's last packet was counted in.
    pub fn open_bin<'i>(
        &self,
        intervals: &'i mut [FlowIntervalRow],
    ) -> Option<&'i mut FlowIntervalRow> {
        intervals.get_mut(self.bin?)
    }

    /// The direction's row, if it had a packet.
    pub fn finish(mut self) -> Option<FlowDirectionRow> {
        self.row.gap_mean_ns = self.gaps.mean();
        self.row.gap_sd_ns = self.gaps.sd();
        (self.row.packets > 0).then_some(self.row)
    }
}
