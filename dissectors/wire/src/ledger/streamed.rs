//! The tables with a row for every thing of a kind in the capture: streamed, not kept.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::column::{Cell, tables};
use super::message::MessageRow;
use super::packet::{DatagramRow, FrameRow, SegmentRow, SightingRow};
use super::{describe, sentence};
use crate::address::Address;

tables! {
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
        /// Association number; of one that is not listed no other table has rows.
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

/// Rows of the one streamed table that was asked for, made since they were last taken.
#[derive(Debug)]
pub enum Streamed {
    Chunks(Vec<ChunkRow>),
    Messages(Vec<MessageRow>),
    Segments(Vec<SegmentRow>),
    Datagrams(Vec<DatagramRow>),
    Frames(Vec<FrameRow>),
    Sightings(Vec<SightingRow>),
}

impl Streamed {
    /// Every streamed table, empty.
    pub fn all() -> Vec<Streamed> {
        vec![
            Streamed::Chunks(Vec::new()),
            Streamed::Messages(Vec::new()),
            Streamed::Segments(Vec::new()),
            Streamed::Datagrams(Vec::new()),
            Streamed::Frames(Vec::new()),
            Streamed::Sightings(Vec::new()),
        ]
    }

    pub fn of(table: &str) -> Option<Streamed> {
        Self::all().into_iter().find(|streamed| streamed.table() == table)
    }

    pub fn table(&self) -> &'static str {
        match self {
            Streamed::Chunks(_) => ChunkRow::TABLE,
            Streamed::Messages(_) => MessageRow::TABLE,
            Streamed::Segments(_) => SegmentRow::TABLE,
            Streamed::Datagrams(_) => DatagramRow::TABLE,
            Streamed::Frames(_) => FrameRow::TABLE,
            Streamed::Sightings(_) => SightingRow::TABLE,
        }
    }

    /// Whether flows need to be followed for the rows: those of TCP and UDP, and of every frame.
    /// None where the rows are of all that is followed.
    pub fn is_of_flows(&self) -> Option<bool> {
        match self {
            Streamed::Chunks(_) | Streamed::Messages(_) => Some(false),
            Streamed::Segments(_) | Streamed::Datagrams(_) | Streamed::Frames(_) => Some(true),
            Streamed::Sightings(_) => None,
        }
    }

    /// Whether the rows tell of bytes that a thread that reads ahead does not hand over.
    pub(crate) fn needs_bytes(&self) -> bool {
        !matches!(self, Streamed::Sightings(_))
    }

    pub fn schema(&self) -> SchemaRef {
        match self {
            Streamed::Chunks(_) => ChunkRow::schema(),
            Streamed::Messages(_) => MessageRow::schema(),
            Streamed::Segments(_) => SegmentRow::schema(),
            Streamed::Datagrams(_) => DatagramRow::schema(),
            Streamed::Frames(_) => FrameRow::schema(),
            Streamed::Sightings(_) => SightingRow::schema(),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Streamed::Chunks(rows) => rows.len(),
            Streamed::Messages(rows) => rows.len(),
            Streamed::Segments(rows) => rows.len(),
            Streamed::Datagrams(rows) => rows.len(),
            Streamed::Frames(rows) => rows.len(),
            Streamed::Sightings(rows) => rows.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn take(&mut self) -> RecordBatch {
        match self {
            Streamed::Chunks(rows) => ChunkRow::batch(&std::mem::take(rows)),
            Streamed::Messages(rows) => MessageRow::batch(&std::mem::take(rows)),
            Streamed::Segments(rows) => SegmentRow::batch(&std::mem::take(rows)),
            Streamed::Datagrams(rows) => DatagramRow::batch(&std::mem::take(rows)),
            Streamed::Frames(rows) => FrameRow::batch(&std::mem::take(rows)),
            Streamed::Sightings(rows) => SightingRow::batch(&std::mem::take(rows)),
        }
    }
}
