//! The log of a replay: a row for every frame that was to be sent, in the order of sending.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{
    ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, UInt8Array, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::batch::Planned;
use crate::fingerprint::Sighting;

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    Sent = 0,
    /// A queue of this machine had no room: no loss on the link.
    Enobufs = 1,
    DroppedAsLate = 2,
    Error = 3,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub planned: Planned,
    /// Since the beginning of the replay, just before the system call; `None` when not handed over.
    pub sent_ns: Option<i64>,
    pub outcome: Outcome,
}

/// The columns of the log.
pub fn schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        Arc::new(Schema::new(vec![
            field("frame", DataType::UInt64, "Number of the frame in the trace, from 1"),
            field("loop", DataType::UInt32, "Number of the loop over the trace, from 0"),
            field("route", DataType::UInt16, "Index into the routes of the log's header"),
            field("due_ns", DataType::Int64, "Deadline, since the base"),
            field(
                "sent_ns",
                DataType::Int64,
                "Just before the system call, since the base; absent when not handed over",
            )
            .with_nullable(true),
            field("bytes", DataType::UInt32, "Length of the frame from the Ethernet header on"),
            field("fingerprint", DataType::UInt64, "CRC-64/NVMe of the bytes sent"),
            field(
                "outcome",
                DataType::UInt8,
                "0 sent, 1 refused by a queue of this machine, 2 dropped as late, 3 error",
            ),
        ]))
    });
    SCHEMA.clone()
}

/// Rows as Arrow.
///
/// # Errors
/// None: the columns are of the schema's types and of one length.
pub fn batch(rows: &[Row]) -> Result<RecordBatch, ArrowError> {
    let planned = || rows.iter().map(|row| &row.planned);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(planned().map(|one| one.frame).collect::<UInt64Array>()),
        Arc::new(planned().map(|one| one.loop_number).collect::<UInt32Array>()),
        Arc::new(planned().map(|one| one.route).collect::<UInt16Array>()),
        Arc::new(planned().map(|one| one.due_ns).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|row| row.sent_ns).collect::<Int64Array>()),
        Arc::new(planned().map(|one| one.bytes).collect::<UInt32Array>()),
        Arc::new(planned().map(|one| one.fingerprint).collect::<UInt64Array>()),
        Arc::new(rows.iter().map(|row| row.outcome as u8).collect::<UInt8Array>()),
    ];
    with_length(schema(), columns, rows.len())
}

/// The columns of a capture's fingerprints.
pub fn sightings_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        Arc::new(Schema::new(vec![
            field("frame", DataType::UInt64, "Number of the frame in the file, from 1"),
            field("time_ns", DataType::Int64, "Since 1970-01-01 00:00:00 UTC"),
            field("interface", DataType::UInt32, "By the order of declaration in the file, from 0"),
            field("bytes", DataType::UInt32, "Length on the wire"),
            field("fingerprint", DataType::UInt64, "CRC-64/NVMe of the bytes captured"),
        ]))
    });
    SCHEMA.clone()
}

/// Fingerprints as Arrow.
///
/// # Errors
/// None, as [`batch`].
pub fn sightings_batch(rows: &[Sighting]) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(rows.iter().map(|row| row.frame).collect::<UInt64Array>()),
        Arc::new(rows.iter().map(|row| row.time_ns).collect::<Int64Array>()),
        Arc::new(rows.iter().map(|row| row.interface).collect::<UInt32Array>()),
        Arc::new(rows.iter().map(|row| row.bytes).collect::<UInt32Array>()),
        Arc::new(rows.iter().map(|row| row.fingerprint).collect::<UInt64Array>()),
    ];
    with_length(sightings_schema(), columns, rows.len())
}

fn with_length(
    schema: SchemaRef,
    columns: Vec<ArrayRef>,
    rows: usize,
) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, columns, &options)
}

fn field(name: &str, data_type: DataType, description: &str) -> Field {
    let metadata = HashMap::from([("description".to_string(), description.to_string())]);
    Field::new(name, data_type, false).with_metadata(metadata)
}
