//! The tables of what was measured on an association's paths.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::column::{Cell, tables};
use super::{describe, sentence};

tables! {
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
        /// SRTT of the sender of these packets on this path at the end of the bin, as the capture sees its round trips (RFC 9260 section 6.3.1: DATA sent once, one chunk a round trip, and HEARTBEATs); absent before the first.
        srtt_ns: Option<u64>,
        /// RTTVAR likewise.
        rttvar_ns: Option<u64>,
        /// SRTT + 4 RTTVAR: the RTO before RTO.Min and RTO.Max clamp it and expiries double it.
        rto_model_ns: Option<u64>,
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

    /// One kind of oddity in the packets of one end: how often, and when first and last.
    oddities: OddityRow {
        /// Association number.
        association: u32,
        /// Sender of the packets.
        sender: &'static str,
        /// duplicate-frame, damaged-packet, bad-checksum, zero-checksum, uncovered-zero-checksum (RFC 9653 does not allow it), adler32-checksum, truncated-packet, oversized-packet (above 9216 bytes of SCTP), clock-step (more than 60 s before the packet before), disordered-gap-blocks (they overlap or do not rise), or unheeded-sack (what it acknowledged was sent again on another path, after at least two more SACKs on the same path).
        kind: &'static str,
        /// Path of the first: for unheeded-sack that of the SACK. Absent for a packet that is left out of the association's numbers.
        path: Option<u32>,
        /// How often: packets, SACKs with such blocks, chunks sent again in vain.
        count: u64,
        /// The first.
        first_ns: i64,
        /// The first; for unheeded-sack the chunk that was sent again.
        first_frame: u64,
        /// The last.
        last_ns: i64,
        /// The last.
        last_frame: u64,
    }
}
