//! The ledger: what happened in a capture, in a few typed tables. This module
//! is the one definition of their names, types, units (the suffix of a column's
//! name) and meaning; Arrow schemas, Python frames and the documentation are
//! made from it.
//!
//! `sender` is the end that sent the thing in question: `a` is the end that
//! sent INIT or was seen first, `b` the other. `frame` counts from 1 in the
//! order of the file. Times are nanoseconds of the capture's own clock since
//! 1970. A path's number counts within its association. The tables of associations
//! are in the order of associations; one association's rows are in the order they
//! were made in, which is that of time.

mod association;
mod capture;
mod column;
mod delivery;
mod flow;
mod index;
mod measurement;
mod message;
mod packet;
mod receiver;
mod room;
mod simulation;
mod streamed;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, SchemaRef};

pub use association::{
    AddressRow, AsconfRow, AssociationRow, AuthenticationRow, ControlRow, PathRow,
};
pub use capture::{CommentRow, PROBLEM_ROWS, ProblemRow};
pub use delivery::{RetransmissionRow, RunRow, StallRow, TimeoutRow};
pub use flow::{
    FlowDirectionRow, FlowIntervalRow, FlowRow, FlowTables, IcmpRow, TcpRetransmissionRow,
};
pub use index::{IndexAssociationBlockRow, IndexBlockRow, IndexDescriptionRow, IndexPacketRow};
pub use measurement::{HeartbeatRow, IntervalRow, OddityRow, RttRow, SilenceRow};
pub use message::{MessageRow, StreamRow};
pub use packet::{DatagramRow, FrameRow, SegmentRow, SightingRow};
pub use receiver::{AcknowledgementRow, BlockingRow, LonePacketRow, ZeroWindowRow};
pub(crate) use room::push;
pub use room::{Bounded, ROOM_BYTES, Room};
pub use simulation::{HopRow, LinkRow, RouteRow, Simulation, TransitRow};
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
    pub authentication: Vec<AuthenticationRow>,
    pub streams: Vec<StreamRow>,
    pub intervals: Vec<IntervalRow>,
    pub rtt: Vec<RttRow>,
    pub silences: Vec<SilenceRow>,
    pub blocking: Vec<BlockingRow>,
    pub zero_windows: Vec<ZeroWindowRow>,
    pub acknowledgements: Vec<AcknowledgementRow>,
    pub lone_packets: Vec<LonePacketRow>,
    pub oddities: Vec<OddityRow>,
    pub comments: Vec<CommentRow>,
    pub problems: Vec<ProblemRow>,
    /// Boxed, these two, as every open association has a ledger, and none of either.
    flow_tables: Option<Box<FlowTables>>,
    pub simulation: Option<Box<Simulation>>,
    /// Rows of the streamed table of messages, until they are taken; None when nobody asked.
    pub messages: Option<Vec<MessageRow>>,
    /// Shared by the ledgers of a pass.
    room: Arc<Room>,
    row_bytes: usize,
    state_bytes: usize,
    comment_bytes: usize,
    unlisted_comments: u64,
}

impl Ledger {
    /// The tables of flows.
    pub fn of_flows(&self) -> &FlowTables {
        static NONE: FlowTables = FlowTables::new();
        self.flow_tables.as_deref().unwrap_or(&NONE)
    }

    pub fn of_flows_mut(&mut self) -> &mut FlowTables {
        self.flow_tables.get_or_insert_default()
    }

    /// Every table that is kept, by name. Its rows go as its columns come, so that memory does not
    /// hold all of both.
    pub fn take_batches(&mut self) -> Vec<(&'static str, RecordBatch)> {
        let mut flows = self.flow_tables.take().unwrap_or_default();
        let mut simulation = self.simulation.take().unwrap_or_default();
        vec![
            (AssociationRow::TABLE, taken(&mut self.associations, AssociationRow::batch)),
            (AddressRow::TABLE, taken(&mut self.addresses, AddressRow::batch)),
            (PathRow::TABLE, taken(&mut self.paths, PathRow::batch)),
            (RunRow::TABLE, taken(&mut self.runs, RunRow::batch)),
            (RetransmissionRow::TABLE, taken(&mut self.retransmissions, RetransmissionRow::batch)),
            (TimeoutRow::TABLE, taken(&mut self.timeouts, TimeoutRow::batch)),
            (StallRow::TABLE, taken(&mut self.stalls, StallRow::batch)),
            (HeartbeatRow::TABLE, taken(&mut self.heartbeats, HeartbeatRow::batch)),
            (AsconfRow::TABLE, taken(&mut self.asconf, AsconfRow::batch)),
            (ControlRow::TABLE, taken(&mut self.control, ControlRow::batch)),
            (AuthenticationRow::TABLE, taken(&mut self.authentication, AuthenticationRow::batch)),
            (StreamRow::TABLE, taken(&mut self.streams, StreamRow::batch)),
            (IntervalRow::TABLE, taken(&mut self.intervals, IntervalRow::batch)),
            (RttRow::TABLE, taken(&mut self.rtt, RttRow::batch)),
            (SilenceRow::TABLE, taken(&mut self.silences, SilenceRow::batch)),
            (BlockingRow::TABLE, taken(&mut self.blocking, BlockingRow::batch)),
            (ZeroWindowRow::TABLE, taken(&mut self.zero_windows, ZeroWindowRow::batch)),
            (
                AcknowledgementRow::TABLE,
                taken(&mut self.acknowledgements, AcknowledgementRow::batch),
            ),
            (LonePacketRow::TABLE, taken(&mut self.lone_packets, LonePacketRow::batch)),
            (OddityRow::TABLE, taken(&mut self.oddities, OddityRow::batch)),
            (FlowRow::TABLE, taken(&mut flows.flows, FlowRow::batch)),
            (FlowDirectionRow::TABLE, taken(&mut flows.flow_directions, FlowDirectionRow::batch)),
            (FlowIntervalRow::TABLE, taken(&mut flows.flow_intervals, FlowIntervalRow::batch)),
            (
                TcpRetransmissionRow::TABLE,
                taken(&mut flows.tcp_retransmissions, TcpRetransmissionRow::batch),
            ),
            (IcmpRow::TABLE, taken(&mut flows.icmp, IcmpRow::batch)),
            (RouteRow::TABLE, taken(&mut simulation.routes, RouteRow::batch)),
            (TransitRow::TABLE, taken(&mut simulation.transits, TransitRow::batch)),
            (HopRow::TABLE, taken(&mut simulation.hops, HopRow::batch)),
            (LinkRow::TABLE, taken(&mut simulation.links, LinkRow::batch)),
            (CommentRow::TABLE, taken(&mut self.comments, CommentRow::batch)),
            (ProblemRow::TABLE, taken(&mut self.problems, ProblemRow::batch)),
        ]
    }
}

fn taken<R>(rows: &mut Vec<R>, batch: impl Fn(&[R]) -> RecordBatch) -> RecordBatch {
    batch(&std::mem::take(rows))
}

/// The tables of the offset index, by name.
pub fn index_schemas() -> Vec<(&'static str, SchemaRef)> {
    vec![
        (IndexPacketRow::TABLE, IndexPacketRow::schema()),
        (IndexBlockRow::TABLE, IndexBlockRow::schema()),
        (IndexAssociationBlockRow::TABLE, IndexAssociationBlockRow::schema()),
        (IndexDescriptionRow::TABLE, IndexDescriptionRow::schema()),
    ]
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
        let mut ledger = Ledger::default();
        let mut names: Vec<_> = ledger.take_batches().into_iter().map(|(name, _)| name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.contains(&"stalls"));
    }
}
