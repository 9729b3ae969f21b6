//! The tables of how an association's DATA fared: on which path, sent again when and why, held up for how long.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::column::{Cell, tables};
use super::{describe, sentence};

tables! {
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
        /// The start before armed_ns, where that one was the work of a gap block: some senders restart the timer for the cumulative TSN alone.
        earliest_armed_ns: Option<i64>,
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
        /// SRTT + 4 RTTVAR of the path (RFC 9260 section 6.3.1) as the capture sees its round trips: the RTO before RTO.Min and RTO.Max clamp it and expiries double it. Absent without a round trip: the RTO was RTO.Initial then.
        rto_model_ns: Option<u64>,
        /// Expiries since the last such round trip: each doubled the RTO (section 6.3.3, E2).
        doublings: u32,
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
}
