//! The tables of the offset index: where in the file packets are, and what the pass made of them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::column::{Cell, tables};
use super::{describe, sentence};

tables! {
    /// One record that is needed to make rows of SCTP packets again, in the order of time: a packet, or a piece of one.
    index_packets: IndexPacketRow {
        /// Block that it belongs to.
        block: u32,
        /// Frame number.
        frame: u64,
        /// Time of the record.
        time_ns: i64,
        /// What the pass made of the packet: placed (on a path), copy (of an earlier frame), damaged (on the way), nowhere (more paths than an association is given); or piece (a fragment of the packet in part_of).
        standing: &'static str,
        /// Association number.
        association: Option<u32>,
        /// Sender: a or b.
        sender: Option<&'static str>,
        /// Path number.
        path: Option<u32>,
        /// Transmission number of each DATA chunk, comma list; absent when each is 1.
        transmissions: Option<String>,
        /// Of a piece: the frame that completed its packet.
        part_of: Option<u64>,
    }

    /// One stretch of the file, about 1 MiB: where to start reading for the packets that are listed under its number.
    index_blocks: IndexBlockRow {
        /// Block number, from 0 in the order of time.
        block: u32,
        /// Offset in the file of the first record that any of its packets came in.
        offset: u64,
        /// Frame number of that record.
        frame: u64,
        /// Earliest packet.
        least_ns: i64,
        /// Latest packet.
        greatest_ns: i64,
        /// SCTP packets.
        packets: u64,
    }

    /// One association that has packets in a block.
    index_association_blocks: IndexAssociationBlockRow {
        /// Association number.
        association: u32,
        /// Block number.
        block: u32,
    }

    /// One part of the file that says how to read the records after it: a file header, or a pcapng section header or interface.
    index_descriptions: IndexDescriptionRow {
        /// Section of a pcapng file, from 0.
        section: u32,
        /// Offset in the file.
        offset: u64,
        /// Its bytes.
        length: u32,
    }
}
