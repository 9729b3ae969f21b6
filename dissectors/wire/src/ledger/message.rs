//! The tables of user messages: one by one (streamed), and added up by stream.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::column::{Cell, tables};
use super::{describe, sentence};

tables! {
    /// User messages of one payload protocol in one stream of one sender. Limits: 65,536 rows a sender, 64 protocols a stream; what is beyond is added up in rows without a number.
    streams: StreamRow {
        /// Association number.
        association: u32,
        /// Sender of the messages.
        sender: &'static str,
        /// Stream identifier; absent in the one row for all streams beyond the limit.
        stream: Option<u16>,
        /// Payload protocol identifier; absent where it was not seen (I-DATA states it in a message's first fragment only) and beyond the limit.
        ppid: Option<u32>,
        /// Its name by IANA's registry, or unknown; "not seen" and "other" (beyond the limit) where the number is absent.
        ppid_name: &'static str,
        /// Messages: complete + abandoned + partial + open.
        messages: u64,
        /// Of them, those to be delivered in order (U bit not set).
        ordered: u64,
        /// Messages in several fragments, as far as seen.
        fragmented: u64,
        /// Messages whose fragments are all in the capture.
        complete: u64,
        /// Messages that the sender gave up (FORWARD-TSN, I-FORWARD-TSN) before all fragments were seen.
        abandoned: u64,
        /// Messages of which the capture lacks fragments that cannot come any more.
        partial: u64,
        /// Messages whose other fragments could still have come when the capture ended.
        open: u64,
        /// Fragments: DATA and I-DATA chunks, each once.
        chunks: u64,
        /// User bytes of these chunks.
        user_bytes: u64,
        /// User bytes of the largest complete message.
        largest_message_bytes: Option<u64>,
        /// First fragment of the first message.
        first_ns: i64,
        /// First fragment of the first message.
        first_frame: u64,
        /// Last first sight of a fragment.
        last_ns: i64,
        /// Last first sight of a fragment.
        last_frame: u64,
    }

    /// One user message, put together from its DATA (consecutive TSNs) or I-DATA chunks (RFC 8260), each counted at its first sight. In the order in which they became complete or were given up. Streamed, not kept.
    messages: MessageRow {
        /// Association number.
        association: u32,
        /// Sender of the message.
        sender: &'static str,
        /// Stream identifier.
        stream: u16,
        /// Whether it is to be delivered in order (U bit not set).
        ordered: bool,
        /// Stream sequence number, which means nothing in unordered DATA; message identifier of I-DATA.
        sequence: u32,
        /// Whether it came in I-DATA.
        interleaved: bool,
        /// Payload protocol identifier; absent where I-DATA's first fragment was not seen.
        ppid: Option<u32>,
        /// Its name by IANA's registry; unknown, or "not seen".
        ppid_name: &'static str,
        /// Fragments seen.
        fragments: u32,
        /// User bytes of these fragments.
        user_bytes: u64,
        /// TSN of the first of these fragments in the message's order.
        first_tsn: u32,
        /// TSN of the last one.
        last_tsn: u32,
        /// First sight of the fragment seen first.
        first_ns: i64,
        /// First sight of the fragment seen first.
        first_frame: u64,
        /// First sight of the fragment seen last.
        last_ns: i64,
        /// First sight of the fragment seen last.
        last_frame: u64,
        /// Path numbers of these fragments, comma list.
        paths: String,
        /// complete; abandoned (by FORWARD-TSN or I-FORWARD-TSN before all fragments were seen); partial (fragments that cannot come any more are not in the capture; where nothing tells that two stretches belong together, each has a row); open (the rest could still have come).
        outcome: &'static str,
    }
}
