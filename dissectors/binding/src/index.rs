//! The offset index, seen from Python: its tables, and reading through it.

use std::path::PathBuf;

use pathscope_wire::container::{Description, Start};
use pathscope_wire::index::{self, Tables};
use pathscope_wire::ledger::{ChunkRow, index_schemas as schemas};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::{PyRecordBatch, PySchema};

use crate::error::to_python;

/// A dict of the tables of a finished index, and of the packets that were not taken before.
pub fn tables(py: Python<'_>, tables: Tables) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    let packets: Vec<_> = tables.packets.into_iter().map(PyRecordBatch::new).collect();
    result.set_item("index_packets", packets)?;
    result.set_item("index_blocks", PyRecordBatch::new(tables.blocks))?;
    result.set_item("index_association_blocks", PyRecordBatch::new(tables.associations))?;
    result.set_item("index_descriptions", PyRecordBatch::new(tables.descriptions))?;
    Ok(result)
}

/// Where to start reading; descriptions are section, offset and length.
pub fn start(offset: u64, frame: u64, descriptions: Vec<(u32, u64, u32)>) -> Start {
    let descriptions: Vec<_> = descriptions
        .into_iter()
        .map(|(section, offset, length)| Description { section, offset, length })
        .collect();
    Start::new(offset, frame, &descriptions)
}

/// The schemas of the offset index's tables.
#[pyfunction]
pub fn index_schemas(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    for (name, schema) in schemas() {
        found.set_item(name, PySchema::new(schema).into_pyobject(py)?)?;
    }
    Ok(found)
}

/// The chunk rows of packets that an index lists, read from a block that begins with record
/// `frame` at `offset`; and how many bytes of the capture that took. `descriptions` are section,
/// offset and length.
#[pyfunction]
#[pyo3(signature = (path, *, offset, frame, descriptions, packets, udp_ports))]
pub fn read_indexed(
    py: Python<'_>,
    path: PathBuf,
    offset: u64,
    frame: u64,
    descriptions: Vec<(u32, u64, u32)>,
    packets: PyRecordBatch,
    udp_ports: Vec<u16>,
) -> PyResult<(PyRecordBatch, u64)> {
    let start = start(offset, frame, descriptions);
    let packets = packets.into_inner();
    let read = py
        .detach(|| {
            let read = index::read(&path, &start, &packets, udp_ports)?;
            Ok((ChunkRow::batch(&read.chunks), read.bytes))
        })
        .map_err(to_python)?;
    Ok((PyRecordBatch::new(read.0), read.1))
}
