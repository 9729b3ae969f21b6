//! The tables of the capture itself.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::column::{Cell, tables};
use super::{describe, sentence};

tables! {
    /// A comment that the capture carries on a packet (pcapng opt_comment); the first 64 MiB.
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
}

/// Most rows that [`super::Ledger::problems`] keeps; the counts go on.
pub const PROBLEM_ROWS: usize = 10_000;
