//! The ledger: what happened in a capture, in a few typed tables. This module
//! is the one definition of their names, types, units (the suffix of a column's
//! name) and meaning; Arrow schemas, Python frames and the documentation are
//! made from it.
//!
//! `sender` is the end that sent the thing in question: `a` is the end that
//! sent INIT or was seen first, `b` the other. `frame` counts from 1 in the
//! order of the file. Times are nanoseconds of the capture's own clock since
//! 1970. A path's number counts within its association.

mod association;
mod capture;
mod column;
mod delivery;
mod flow;
mod measurement;
mod packet;
mod streamed;

use std::collections::HashMap;

use arrow_array::RecordBatch;
use arrow_schema::Field;

pub use association::{AddressRow, AsconfRow, AssociationRow, ControlRow, PathRow};
pub use capture::{CommentRow, PROBLEM_ROWS, ProblemRow};
pub use delivery::{RetransmissionRow, RunRow, StallRow, TimeoutRow};
pub use flow::{FlowDirectionRow, FlowIntervalRow, FlowRow, IcmpRow, TcpRetransmissionRow};
pub use measurement::{HeartbeatRow, IntervalRow, RttRow, SilenceRow};
pub use packet::{DatagramRow, FrameRow, SegmentRow};
pub use streamed::{ChunkRow, Streamed};

/// All tables of one pass that are kept; [`Streamed`] has the others.
#[derive(Default)]
pub struct Ledger {
    pub associations: Vec<AssociationRow>,
    pub addresses: Vec<AddressRow>,
    pub paths: Vec<PathRow>,
    pub runs: Vec<RunRow>,
    pub retransmissions: Vec<RetransmissionRow>,
    pub timeouts: Vec<TimeoutRow>,
    pub stalls: Vec<StallRow>,
    pub heartbeats: Vec<HeartbeatRow>,
    pub asconf: Vec<AsconfRow>,
    pub control: Vec<ControlRow>,
    pub intervals: Vec<IntervalRow>,
    pub rtt: Vec<RttRow>,
    pub silences: Vec<SilenceRow>,
    pub flows: Vec<FlowRow>,
    pub flow_directions: Vec<FlowDirectionRow>,
    pub flow_intervals: Vec<FlowIntervalRow>,
    pub tcp_retransmissions: Vec<TcpRetransmissionRow>,
    pub icmp: Vec<IcmpRow>,
    pub comments: Vec<CommentRow>,
    pub problems: Vec<ProblemRow>,
}

impl Ledger {
    /// Every table that is kept, by name.
    pub fn batches(&self) -> Vec<(&'static str, RecordBatch)> {
        vec![
            (AssociationRow::TABLE, AssociationRow::batch(&self.associations)),
            (AddressRow::TABLE, AddressRow::batch(&self.addresses)),
            (PathRow::TABLE, PathRow::batch(&self.paths)),
            (RunRow::TABLE, RunRow::batch(&self.runs)),
            (RetransmissionRow::TABLE, RetransmissionRow::batch(&self.retransmissions)),
            (TimeoutRow::TABLE, TimeoutRow::batch(&self.timeouts)),
            (StallRow::TABLE, StallRow::batch(&self.stalls)),
            (HeartbeatRow::TABLE, HeartbeatRow::batch(&self.heartbeats)),
            (AsconfRow::TABLE, AsconfRow::batch(&self.asconf)),
            (ControlRow::TABLE, ControlRow::batch(&self.control)),
            (IntervalRow::TABLE, IntervalRow::batch(&self.intervals)),
            (RttRow::TABLE, RttRow::batch(&self.rtt)),
            (SilenceRow::TABLE, SilenceRow::batch(&self.silences)),
            (FlowRow::TABLE, FlowRow::batch(&self.flows)),
            (FlowDirectionRow::TABLE, FlowDirectionRow::batch(&self.flow_directions)),
            (FlowIntervalRow::TABLE, FlowIntervalRow::batch(&self.flow_intervals)),
            (TcpRetransmissionRow::TABLE, TcpRetransmissionRow::batch(&self.tcp_retransmissions)),
            (IcmpRow::TABLE, IcmpRow::batch(&self.icmp)),
            (CommentRow::TABLE, CommentRow::batch(&self.comments)),
            (ProblemRow::TABLE, ProblemRow::batch(&self.problems)),
        ]
    }
}

fn sentence(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

fn describe(field: Field, lines: &[&str]) -> Field {
    field.with_metadata(HashMap::from([("description".to_string(), sentence(lines))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_becomes_columns_with_their_meaning() {
        let rows = [
            HeartbeatRow { sender: "a", ack_ns: Some(7), ..Default::default() },
            HeartbeatRow { sender: "b", ..Default::default() },
        ];
        let batch = HeartbeatRow::batch(&rows);
        assert_eq!(batch.num_rows(), 2);
        let ack = batch.column_by_name("ack_ns").unwrap();
        assert_eq!(ack.null_count(), 1);
        let schema = batch.schema();
        let field = schema.field_with_name("sender").unwrap();
        assert!(!field.is_nullable());
        assert_eq!(field.metadata()["description"], "Sender of the HEARTBEAT.");
    }

    #[test]
    fn every_table_is_listed_once_and_named() {
        let ledger = Ledger::default();
        let mut names: Vec<_> = ledger.batches().into_iter().map(|(name, _)| name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.contains(&"stalls"));
    }
}
