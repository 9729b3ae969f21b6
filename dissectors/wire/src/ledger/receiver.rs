//! The tables of what receivers did with DATA: what had to wait for order, when they acknowledged, when they closed the window.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::column::{Cell, tables};
use super::{describe, sentence};

tables! {
    /// Head-of-line blocking of one payload protocol in one stream: ordered messages that had arrived and waited for an earlier one of their stream; and how it would have been with all TSNs in one stream. A row where any message would have waited. Where some of a message was given up, its wait ends with that.
    blocking: BlockingRow {
        /// Association number.
        association: u32,
        /// Sender of the messages.
        sender: &'static str,
        /// Stream identifier.
        stream: u16,
        /// Payload protocol identifier; absent where I-DATA's first fragment, which states it, was not seen, or acknowledged before anything was missing.
        ppid: Option<u32>,
        /// How arrivals are told: sack (by the SACK that covers a chunk first, cumulatively or in a gap block: what the sender knows) or data (by the DATA in the capture: what the receiver knows in a capture taken there).
        seen_by: &'static str,
        /// Messages that waited.
        waited: u64,
        /// Sum of their waits, from the arrival of a message's last missing fragment to that of all before it in the stream.
        wait_sum_ns: u64,
        /// Longest wait.
        wait_max_ns: u64,
        /// TSN that the message of the longest wait waited for last.
        longest_tsn: Option<u32>,
        /// Begin of the longest wait: arrival of the message.
        longest_start_ns: Option<i64>,
        /// That SACK or DATA.
        longest_start_frame: Option<u64>,
        /// End of the longest wait: arrival of longest_tsn.
        longest_end_ns: Option<i64>,
        /// That SACK or DATA.
        longest_end_frame: Option<u64>,
        /// Messages that would have waited with all TSNs in one stream.
        single_waited: u64,
        /// Sum of those waits: until every earlier TSN had arrived.
        single_wait_sum_ns: u64,
        /// Longest of those waits.
        single_wait_max_ns: u64,
    }

    /// One time that a receiver's window was closed: a SACK with a window of 0 bytes, until one with more.
    zero_windows: ZeroWindowRow {
        /// Association number.
        association: u32,
        /// The receiver: sender of the SACKs.
        sender: &'static str,
        /// First SACK with a window of 0.
        start_ns: i64,
        /// That frame.
        start_frame: u64,
        /// Last SACK with a window of 0.
        last_ns: i64,
        /// That frame.
        last_frame: u64,
        /// First SACK with more; absent when none came.
        end_ns: Option<i64>,
        /// That frame.
        end_frame: Option<u64>,
        /// SACKs with a window of 0.
        sacks: u64,
        /// Window probes in that time: DATA chunks, new or not, sent with nothing else outstanding (RFC 9260 section 6.1, A).
        probes: u64,
        /// First window probe.
        first_probe_frame: Option<u64>,
    }

    /// How one end acknowledged DATA.
    acknowledgements: AcknowledgementRow {
        /// Association number.
        association: u32,
        /// The receiver: sender of the SACKs.
        sender: &'static str,
        /// Packets with DATA that it was sent.
        data_packets: u64,
        /// SACKs it sent.
        sacks: u64,
        /// Of them, those without gap blocks that acknowledge one packet of new DATA.
        sacks_of_one: u64,
        /// Likewise two packets.
        sacks_of_two: u64,
        /// Likewise more.
        sacks_of_more: u64,
        /// SACKs with gap blocks.
        sacks_with_gaps: u64,
        /// Packets with DATA that came alone: listed in lone_packets up to its limit.
        lone_packets: u64,
    }

    /// One packet of new DATA that came alone: its SACK acknowledges no other, nothing was missing, nothing had been sent after it, it did not ask for a SACK at once (I bit), and no DATA took the SACK along. Limit: 1,024 rows an end.
    lone_packets: LonePacketRow {
        /// Association number.
        association: u32,
        /// The receiver: sender of the SACK.
        sender: &'static str,
        /// Path of the DATA.
        path: u32,
        /// The packet with DATA.
        time_ns: i64,
        /// That frame.
        frame: u64,
        /// Its SACK.
        sack_ns: i64,
        /// That frame.
        sack_frame: u64,
        /// sack_ns - time_ns: the delay of the SACK in a capture taken at the receiver, with the way there and back at the sender.
        delay_ns: i64,
    }
}
