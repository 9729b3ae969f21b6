//! What holds for the ledger of any capture, whatever its bytes are.

use std::collections::HashSet;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use pathscope_wire::container::CaptureSet;
use pathscope_wire::pass::Summary;

/// Columns of nanoseconds that are no times: a difference of two, and the start of a bin.
const NO_TIMES: [&str; 5] = ["rtt_ns", "elapsed_ns", "queueing_ns", "link_ns", "processing_ns"];
/// Tables without a time: sums.
const SUMS: [&str; 2] = ["hops", "links"];
const BINNED: [&str; 2] = ["intervals", "flow_intervals"];

/// # Panics
/// Where a frame is not accounted for, a number refers to no row, or a time is not one of the
/// capture's.
pub fn check(capture: &CaptureSet, summary: &mut Summary, streamed: Option<RecordBatch>) {
    let frames = &summary.frames;
    let skipped: u64 = frames.skipped.values().sum();
    assert_eq!(frames.read, frames.dissected + frames.partial + skipped, "{frames:?}");
    let of_files: u64 = capture.facts().files.iter().map(|file| file.frames).sum();
    assert!(frames.read <= of_files);
    assert!(summary.sctp_packets <= frames.read);
    // A problem makes a frame partial, or is why it was skipped.
    let told: u64 = summary.problems.values().sum();
    assert!(told >= frames.partial, "{frames:?} {:?}", summary.problems);
    moderate(summary);
    let known = Known::of(summary);
    for (table, batch) in summary.ledger.take_batches() {
        known.check(table, &batch);
    }
    if let Some(batch) = streamed {
        known.check("streamed", &batch);
    }
}

/// No path carries more than the association it is part of, and what a bin counts adds up.
fn moderate(summary: &Summary) {
    let packets: u64 = summary.ledger.associations.iter().map(|row| row.packets).sum();
    let in_bins: u64 = summary.ledger.intervals.iter().map(|row| row.packets).sum();
    assert!(in_bins <= packets, "{in_bins} packets in bins of {packets}");
    assert!(packets <= summary.sctp_packets);
    for row in &summary.ledger.intervals {
        assert_eq!(row.data_chunks, row.new_chunks + row.retransmitted_chunks);
        assert!(row.late_chunks <= row.new_chunks);
        assert!(row.rtt_min_ns <= row.rtt_max_ns);
        assert_eq!(row.rtt_min_ns.is_some(), row.rtt_count > 0);
    }
}

/// What rows may refer to.
struct Known {
    associations: HashSet<u64>,
    paths: HashSet<(u64, u64)>,
    flows: HashSet<u64>,
    /// Frames that were read: at most the highest is known.
    frames: u64,
    times: Option<(i64, i64)>,
}

impl Known {
    fn of(summary: &Summary) -> Self {
        let ledger = &summary.ledger;
        let pair =
            |row: &pathscope_wire::ledger::PathRow| (row.association.into(), row.path.into());
        Known {
            associations: ledger.associations.iter().map(|row| row.association.into()).collect(),
            paths: ledger.paths.iter().map(pair).collect(),
            flows: ledger.of_flows().flows.iter().map(|row| row.flow.into()).collect(),
            frames: summary.frames.read,
            times: summary.first_ns.zip(summary.last_ns),
        }
    }

    fn check(&self, table: &str, batch: &RecordBatch) {
        if batch.num_rows() == 0 {
            return;
        }
        let associations = numbers(batch, "association");
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let name = field.name().as_str();
            let is = |what: &str| name == what || name.ends_with(&format!("_{what}"));
            if let Some(times) = column.as_primitive_opt::<Int64Type>() {
                let is_time =
                    name.ends_with("_ns") && !NO_TIMES.contains(&name) && !SUMS.contains(&table);
                if is_time && !(BINNED.contains(&table) && name == "start_ns") {
                    times.iter().flatten().for_each(|time| self.time(table, name, time));
                }
                continue;
            }
            for (row, number) in numbers(batch, name).into_iter().enumerate() {
                let Some(number) = number else { continue };
                let association = associations.get(row).copied().flatten();
                let refers = match (name, association) {
                    ("association" | "restart_of", _) if table != "flows" => {
                        self.associations.contains(&number)
                    }
                    ("flow" | "restart_of", _) => self.flows.contains(&number),
                    (_, Some(association)) if is("path") => {
                        self.paths.contains(&(association, number))
                    }
                    _ if is("frame") => number <= self.frames,
                    _ => true,
                };
                assert!(refers, "{table}.{name} of row {row} refers to no row: {number}");
            }
        }
    }

    fn time(&self, table: &str, name: &str, time_ns: i64) {
        let within = self.times.is_some_and(|(first, last)| (first..=last).contains(&time_ns));
        assert!(within, "{table}.{name}: {time_ns} is not within {:?}", self.times);
    }
}

/// A column of unsigned integers; empty where the column is none.
fn numbers(batch: &RecordBatch, name: &str) -> Vec<Option<u64>> {
    let Some(column) = batch.column_by_name(name) else { return Vec::new() };
    if let Some(column) = column.as_primitive_opt::<UInt32Type>() {
        return column.iter().map(|number| number.map(u64::from)).collect();
    }
    match column.as_primitive_opt::<UInt64Type>() {
        Some(column) => column.iter().collect(),
        None => Vec::new(),
    }
}
