//! The ledger: what happened in a capture, in a few typed tables. This module
//! is the one definition of their names, types, units (the suffix of a column's
//! name) and meaning; Arrow schemas, Python frames and the documentation are
//! made from it.
//!
//! `sender` is the end that sent the thing in question: `a` is the end that
//! sent INIT or was seen first, `b` the other. `frame` counts from 1 in the
//! order of the file. Times are nanoseconds of the capture's own clock since
//! 1970. A path's number counts within its association.

mod column;
mod flow;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use crate::address::Address;
use column::{Cell, tables};
pub use flow::{FlowDirectionRow, FlowIntervalRow, FlowRow, IcmpRow, TcpRetransmissionRow};

tables! {
    /// One SCTP association (RFC 9260). A restart begins a new row.
    associations: AssociationRow {
        /// Number of the association, from 0 in order of first sight.
        association: u32,
        /// SCTP port of end a.
        a_port: u16,
        /// SCTP port of end b.
        b_port: u16,
        /// Verification tag in packets to a (the Initiate Tag a chose); absent while a was sent nothing.
        a_tag: Option<u32>,
        /// Verification tag in packets to b; absent while b was sent nothing.
        b_tag: Option<u32>,
        /// First packet.
        start_ns: i64,
        /// First packet.
        start_frame: u64,
        /// Last packet.
        end_ns: i64,
        /// Last packet.
        end_frame: u64,
        /// Whether INIT, INIT ACK, COOKIE ECHO and COOKIE ACK are all in the capture.
        seen_handshake: bool,
        /// First INIT.
        init_ns: Option<i64>,
        /// First COOKIE ACK.
        established_ns: Option<i64>,
        /// First COOKIE ACK.
        established_frame: Option<u64>,
        /// How it ended: shutdown, abort, restart, no-answer (INIT never answered), or open (the capture ended first).
        end: &'static str,
        /// The association that this one restarted (RFC 9260 section 5.2.4), if any.
        restart_of: Option<u32>,
        /// Outbound streams that a asked for in INIT or INIT ACK.
        a_outbound_streams: Option<u16>,
        /// Most inbound streams that a allows.
        a_inbound_streams: Option<u16>,
        /// Outbound streams that b asked for.
        b_outbound_streams: Option<u16>,
        /// Most inbound streams that b allows.
        b_inbound_streams: Option<u16>,
        /// Receiver window that a advertised in INIT or INIT ACK.
        a_initial_rwnd_bytes: Option<u32>,
        /// Receiver window that b advertised in INIT or INIT ACK.
        b_initial_rwnd_bytes: Option<u32>,
        /// First TSN that a said it would use.
        a_initial_tsn: Option<u32>,
        /// First TSN that b said it would use.
        b_initial_tsn: Option<u32>,
        /// Parameters and chunk types beyond the base protocol that a announced, comma list.
        a_extensions: String,
        /// Parameters and chunk types beyond the base protocol that b announced, comma list.
        b_extensions: String,
        /// UDP port that a used, when encapsulated (RFC 6951).
        a_udp_port: Option<u16>,
        /// UDP port that b used, when encapsulated (RFC 6951).
        b_udp_port: Option<u16>,
        /// SCTP packets, duplicated frames and damaged packets left out.
        packets: u64,
        /// Frames whose SCTP packet repeats that of a recent frame, checksum field aside (the capture's copies, not the sender's).
        duplicate_frames: u64,
        /// Of packets, those with a wrong checksum from a sender and on a path that have not shown a right one.
        bad_checksums: u64,
        /// Packets with a wrong checksum after right ones: damaged on the way and discarded by their receiver, so in no other number.
        damaged_packets: u64,
        /// Packets whose checksum field is zero (offload, or RFC 9653).
        zero_checksums: u64,
        /// Packets with the Adler-32 of RFC 2960.
        adler32_checksums: u64,
        /// Packets cut by the capture's snap length.
        truncated_packets: u64,
    }

    /// An address entering (and leaving) an association.
    addresses: AddressRow {
        /// Association number.
        association: u32,
        /// Whose address: a or b.
        endpoint: &'static str,
        /// The address.
        address: Address,
        /// How it became known: init, init-ack, asconf-add, or packet (seen as source or destination).
        source: &'static str,
        /// When it became known.
        first_ns: i64,
        /// When it became known.
        first_frame: u64,
        /// When ASCONF DELETE of it was acknowledged.
        left_ns: Option<i64>,
        /// When ASCONF DELETE of it was acknowledged.
        left_frame: Option<u64>,
    }

    /// A pair of addresses that carried packets of an association.
    paths: PathRow {
        /// Association number.
        association: u32,
        /// Path number within the association, from 0 in order of first sight.
        path: u32,
        /// Address of end a.
        a_address: Address,
        /// Address of end b.
        b_address: Address,
        /// pcapng name of the interface of the path's first packet.
        interface: Option<String>,
        /// First packet on the path.
        first_ns: i64,
        /// First packet on the path.
        first_frame: u64,
        /// Last packet on the path.
        last_ns: i64,
        /// Last packet on the path.
        last_frame: u64,
    }

    /// Consecutive new DATA of one sender on one path: the primary timeline.
    runs: RunRow {
        /// Association number.
        association: u32,
        /// Sender of the DATA.
        sender: &'static str,
        /// Path of the run.
        path: u32,
        /// First new DATA chunk.
        first_ns: i64,
        /// First new DATA chunk.
        first_frame: u64,
        /// First new DATA chunk.
        first_tsn: u32,
        /// Last first sight of a DATA chunk on the path, late ones included.
        last_ns: i64,
        /// Last first sight of a DATA chunk on the path, late ones included.
        last_frame: u64,
        /// Highest TSN of the run.
        last_tsn: u32,
        /// New DATA chunks.
        chunks: u64,
        /// User bytes of the new DATA chunks.
        user_bytes: u64,
        /// First SACK that acknowledged a chunk of the run.
        first_ack_ns: Option<i64>,
        /// First SACK that acknowledged a chunk of the run.
        first_ack_frame: Option<u64>,
        /// Sending of the last chunk that was sent once, on this path, and acknowledged: the path itself delivered it.
        last_ok_ns: Option<i64>,
        /// Frame of that chunk.
        last_ok_frame: Option<u64>,
        /// TSN of that chunk.
        last_ok_tsn: Option<u32>,
        /// The SACK that acknowledged that chunk.
        last_sack_ns: Option<i64>,
        /// The SACK that acknowledged that chunk.
        last_sack_frame: Option<u64>,
        /// Last packet received from the peer on the previous run's path when this run began.
        previous_heard_ns: Option<i64>,
        /// Last packet received from the peer on the previous run's path when this run began.
        previous_heard_frame: Option<u64>,
        /// Last DATA (new or not) sent on the previous run's path when this run began.
        previous_data_ns: Option<i64>,
        /// Last DATA (new or not) sent on the previous run's path when this run began.
        previous_data_frame: Option<u64>,
        /// Highest TSN outstanding when this run began.
        outstanding_tsn: Option<u32>,
        /// Chunks outstanding when this run began.
        outstanding_chunks: u64,
        /// First SACK whose cumulative TSN reached outstanding_tsn: all that was outstanding is delivered.
        recovered_ns: Option<i64>,
        /// That SACK.
        recovered_frame: Option<u64>,
        /// Advance of the cumulative TSN before this run began.
        gap_start_ns: Option<i64>,
        /// Advance of the cumulative TSN before this run began.
        gap_start_frame: Option<u64>,
        /// First advance of the cumulative TSN after this run began.
        gap_end_ns: Option<i64>,
        /// First advance of the cumulative TSN after this run began.
        gap_end_frame: Option<u64>,
    }

    /// One retransmitted DATA or I-DATA chunk.
    retransmissions: RetransmissionRow {
        /// Association number.
        association: u32,
        /// Sender of the DATA.
        sender: &'static str,
        /// The chunk's TSN.
        tsn: u32,
        /// User bytes.
        user_bytes: u32,
        /// First transmission in the capture; absent when it is before the capture or no longer remembered.
        first_ns: Option<i64>,
        /// First transmission.
        first_frame: Option<u64>,
        /// Path of the first transmission.
        first_path: Option<u32>,
        /// The transmission before this one.
        previous_ns: Option<i64>,
        /// Path of the transmission before this one.
        previous_path: Option<u32>,
        /// This retransmission.
        time_ns: i64,
        /// This retransmission.
        frame: u64,
        /// Path of this retransmission.
        path: u32,
        /// 2 for the first retransmission, 3 for the second, ...; 0 when the earlier ones are not known.
        transmission: u32,
        /// What made the sender do it: t3 (T3-rtx expired), fast (three miss indications, RFC 9260 section 7.2.4), or unknown.
        cause: &'static str,
        /// SACKs since the previous transmission that reported the chunk missing.
        miss_indications: u32,
        /// Evidence that the earlier transmission had arrived: duplicate-tsn (the receiver reported it twice) or early-ack (acknowledged sooner than the path's least RTT).
        spurious: Option<&'static str>,
        /// The SACK that acknowledged the chunk after this retransmission.
        ack_ns: Option<i64>,
        /// That SACK.
        ack_frame: Option<u64>,
    }

    /// One expiry of T3-rtx, inferred from the retransmission it caused.
    timeouts: TimeoutRow {
        /// Association number.
        association: u32,
        /// Sender whose timer expired.
        sender: &'static str,
        /// Path whose timer expired.
        path: u32,
        /// When the timer was last started: DATA sent with none outstanding on the path, or the earliest outstanding TSN acknowledged.
        armed_ns: Option<i64>,
        /// The packet that started it.
        armed_frame: Option<u64>,
        /// First retransmission that the expiry caused.
        time_ns: i64,
        /// First retransmission that the expiry caused.
        frame: u64,
        /// TSN of that retransmission.
        tsn: u32,
        /// Path that retransmission was sent on.
        retransmission_path: u32,
        /// time_ns - armed_ns: the RTO in force plus the sender's timer granularity.
        elapsed_ns: Option<i64>,
        /// 1 for the first expiry since the path last delivered something, 2 for the second in a row, ...
        consecutive: u32,
    }

    /// One stop of the cumulative TSN for 100 ms or more while DATA were outstanding.
    stalls: StallRow {
        /// Association number.
        association: u32,
        /// Sender of the DATA.
        sender: &'static str,
        /// Last advance of the cumulative TSN before, or first sending after all was acknowledged.
        start_ns: i64,
        /// That frame.
        start_frame: u64,
        /// Next advance.
        end_ns: i64,
        /// That frame.
        end_frame: u64,
        /// Cumulative TSN before.
        tsn_before: u32,
        /// Cumulative TSN after.
        tsn_after: u32,
    }

    /// One HEARTBEAT with its HEARTBEAT ACK, or none.
    heartbeats: HeartbeatRow {
        /// Association number.
        association: u32,
        /// Sender of the HEARTBEAT.
        sender: &'static str,
        /// Path of the HEARTBEAT.
        path: u32,
        /// The HEARTBEAT.
        time_ns: i64,
        /// The HEARTBEAT.
        frame: u64,
        /// Its HEARTBEAT ACK (same Heartbeat Info).
        ack_ns: Option<i64>,
        /// Its HEARTBEAT ACK.
        ack_frame: Option<u64>,
        /// Path of the HEARTBEAT ACK.
        ack_path: Option<u32>,
        /// ack_ns - time_ns.
        rtt_ns: Option<i64>,
    }

    /// One request parameter of an ASCONF chunk (RFC 5061) with its outcome.
    asconf: AsconfRow {
        /// Association number.
        association: u32,
        /// Sender of the ASCONF.
        sender: &'static str,
        /// Path of the first ASCONF.
        path: u32,
        /// ASCONF serial number.
        serial: u32,
        /// What is asked: add, set-primary, delete, or the parameter's type.
        request: String,
        /// The address in question (a wildcard is replaced by the packet's source; in delete it stands, for all but that source).
        address: Option<Address>,
        /// ASCONF-Request Correlation ID.
        correlation: u32,
        /// First ASCONF with this serial number.
        time_ns: i64,
        /// First ASCONF with this serial number.
        frame: u64,
        /// How often the ASCONF was sent.
        transmissions: u32,
        /// ASCONF-ACK.
        ack_ns: Option<i64>,
        /// ASCONF-ACK.
        ack_frame: Option<u64>,
        /// success, error, or pending.
        outcome: &'static str,
        /// Error cause code in the ASCONF-ACK.
        cause: Option<u16>,
        /// Error cause in words.
        cause_name: Option<&'static str>,
    }

    /// One chunk that steers an association: INIT, INIT ACK, COOKIE ECHO, COOKIE ACK, ABORT, ERROR, SHUTDOWN*, ECNE, CWR, RE-CONFIG, FORWARD-TSN, I-FORWARD-TSN.
    control: ControlRow {
        /// Association number.
        association: u32,
        /// Sender of the chunk.
        sender: &'static str,
        /// Path of the packet.
        path: u32,
        /// Time of the packet.
        time_ns: i64,
        /// Frame of the packet.
        frame: u64,
        /// Chunk type, by its RFC name.
        chunk: &'static str,
        /// Error cause codes, or parameter types of RE-CONFIG, comma list.
        codes: String,
        /// What it says, in words.
        detail: String,
    }

    /// Counters of one path, direction and time bin. Only bins in which something happened have a row.
    intervals: IntervalRow {
        /// Association number.
        association: u32,
        /// Path number.
        path: u32,
        /// Sender of the counted packets.
        sender: &'static str,
        /// Start of the bin.
        start_ns: i64,
        /// First packet in the bin; absent when only acknowledgements for the path came in it.
        first_ns: Option<i64>,
        /// Last packet in the bin.
        last_ns: Option<i64>,
        /// SCTP packets.
        packets: u64,
        /// Bytes on the wire: the packets' record lengths, link header included.
        wire_bytes: u64,
        /// DATA and I-DATA chunks.
        data_chunks: u64,
        /// DATA and I-DATA chunks sent for the first time.
        new_chunks: u64,
        /// User bytes sent for the first time.
        new_bytes: u64,
        /// Of new_chunks, those below the highest TSN seen: overtaken, or retransmissions whose first transmission is not in the capture.
        late_chunks: u64,
        /// Retransmitted chunks.
        retransmitted_chunks: u64,
        /// Retransmitted user bytes.
        retransmitted_bytes: u64,
        /// User bytes last sent on this path that a SACK in this bin acknowledged first (cumulatively or in a gap block).
        acked_bytes: u64,
        /// Chunks acknowledged likewise.
        acked_chunks: u64,
        /// RTT samples of SACKs in this bin for this path.
        rtt_count: u64,
        /// Sum of those samples.
        rtt_sum_ns: u64,
        /// Least of those samples.
        rtt_min_ns: Option<u64>,
        /// Greatest of those samples.
        rtt_max_ns: Option<u64>,
        /// Most user bytes outstanding on this path.
        flight_max_bytes: u64,
        /// Least receiver window that the sender of these packets advertised.
        a_rwnd_min_bytes: Option<u32>,
    }

    /// Round-trip times of one path, sender and kind, over the whole capture. Quantiles are within 1 % of a sample at that rank (DDSketch).
    rtt: RttRow {
        /// Association number.
        association: u32,
        /// Path of the DATA or HEARTBEAT.
        path: u32,
        /// Sender of the DATA or HEARTBEAT.
        sender: &'static str,
        /// sack (DATA sent once, Karn's rule) or heartbeat.
        kind: &'static str,
        /// Samples.
        count: u64,
        /// Mean.
        mean_ns: f64,
        /// Standard deviation (n - 1); 0 for one sample.
        sd_ns: f64,
        /// Least sample, exact.
        min_ns: u64,
        /// Median.
        p50_ns: f64,
        /// 95th percentile.
        p95_ns: f64,
        /// 99th percentile.
        p99_ns: f64,
        /// Greatest sample, exact.
        max_ns: u64,
    }

    /// One stretch of 0.5 s or more without a packet on a path in one direction, and what ended it.
    silences: SilenceRow {
        /// Association number.
        association: u32,
        /// Path number.
        path: u32,
        /// Sender who was silent.
        sender: &'static str,
        /// Last packet before.
        start_ns: i64,
        /// Last packet before.
        start_frame: u64,
        /// First packet after.
        end_ns: i64,
        /// First packet after.
        end_frame: u64,
        /// Type of the first chunk of the packet that ended it, by its RFC name.
        first_chunk: &'static str,
    }

    /// A comment that the capture carries on a packet (pcapng opt_comment).
    comments: CommentRow {
        /// Frame of the packet.
        frame: u64,
        /// Time of the packet.
        time_ns: i64,
        /// Interface name.
        interface: Option<String>,
        /// The comment.
        text: String,
    }

    /// What could not be read, packet by packet; the first 10,000 (all are counted).
    problems: ProblemRow {
        /// Frame; 0 when the file itself is at fault.
        frame: u64,
        /// Time of the packet.
        time_ns: Option<i64>,
        /// file, record, link, ip, udp, tcp, option, icmp, tunnel, sctp, chunk, parameter or association.
        layer: &'static str,
        /// unknown, malformed or truncated.
        kind: &'static str,
        /// Where, in bytes from the start of the captured packet (of the file for the layer file).
        offset: u64,
        /// Bytes needed from there.
        needed: u64,
        /// Bytes available from there.
        available: u64,
        /// What was expected or found.
        what: String,
    }

    /// Every chunk of every SCTP packet with every field the tables above are made from. Streamed, not kept.
    chunks: ChunkRow {
        /// Frame number in the file.
        frame: u64,
        /// Time of the packet.
        time_ns: i64,
        /// Interface name.
        interface: Option<String>,
        /// IP source address.
        source: Address,
        /// IP destination address.
        destination: Address,
        /// SCTP source port.
        source_port: u16,
        /// SCTP destination port.
        destination_port: u16,
        /// Verification tag.
        verification_tag: u32,
        /// Verdict on the checksum: valid, zero, adler32, bad, or unchecked (packet cut by the capture).
        checksum: &'static str,
        /// Association number.
        association: Option<u32>,
        /// Sender: a or b.
        sender: Option<&'static str>,
        /// Path number.
        path: Option<u32>,
        /// Number of the chunk in its packet, from 0.
        index: u16,
        /// Offset of the chunk in the SCTP packet.
        offset: u32,
        /// Chunk type.
        chunk_type: u8,
        /// Chunk type, by its RFC name.
        chunk_name: &'static str,
        /// Chunk flags.
        flags: u8,
        /// Chunk length as on the wire (header included, padding not).
        length: u16,
        /// Whether the capture cut the chunk.
        truncated: bool,
        /// TSN of DATA, I-DATA, ECNE and CWR.
        tsn: Option<u32>,
        /// Stream identifier.
        stream: Option<u16>,
        /// Stream sequence number, or message identifier of I-DATA.
        sequence: Option<u32>,
        /// Payload protocol identifier.
        ppid: Option<u32>,
        /// Fragment sequence number of I-DATA.
        fragment_sequence: Option<u32>,
        /// User bytes of DATA and I-DATA.
        user_bytes: Option<u32>,
        /// 1 for the first sight of a TSN, 2 for its first retransmission, ...; 0 when the earlier ones are not known; absent for copies of a frame.
        transmission: Option<u32>,
        /// Whether the SCTP packet repeats that of a recent frame, checksum field aside.
        duplicate_frame: bool,
        /// Cumulative TSN of SACK, NR-SACK, SHUTDOWN and FORWARD-TSN.
        cumulative_tsn: Option<u32>,
        /// Advertised receiver window.
        a_rwnd: Option<u32>,
        /// Gap blocks as on the wire: 2-3,5-5.
        gaps: Option<String>,
        /// Duplicate TSNs, comma list.
        duplicates: Option<String>,
        /// Initiate Tag.
        initiate_tag: Option<u32>,
        /// Initial TSN.
        initial_tsn: Option<u32>,
        /// Outbound streams asked for.
        outbound_streams: Option<u16>,
        /// Most inbound streams.
        inbound_streams: Option<u16>,
        /// Addresses in IPv4 and IPv6 Address parameters in wire order, those inside ASCONF requests too, separated by semicolons.
        addresses: Option<String>,
        /// ASCONF serial number.
        serial: Option<u32>,
        /// Error cause codes, comma list.
        causes: Option<String>,
        /// Parameter types in wire order, comma list, nested ones left out.
        parameters: Option<String>,
    }
}

/// Most rows that [`Ledger::problems`] keeps; the counts go on.
pub const PROBLEM_ROWS: usize = 10_000;

/// All tables of one pass. The chunk table is not among them: it is streamed.
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
    /// Every table but the streamed one, by name.
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
