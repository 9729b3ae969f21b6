//! One frame, explained: a tree of plain dicts.

use std::path::PathBuf;

use pathscope_wire::container::Options;
use pathscope_wire::explain::{Node, Value, explain as wire_explain};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::to_python;
use crate::index;

/// Offset, frame number and descriptions of a record that reading can start at.
type Start = (u64, u64, Vec<(u32, u64, u32)>);

/// The layers of a frame, its bytes, and those of the datagram that it completed, if it did.
#[pyfunction]
#[pyo3(signature = (path, frame, *, udp_ports, reorder_window_ns=None, start=None))]
pub fn explain<'py>(
    py: Python<'py>,
    path: PathBuf,
    frame: u64,
    udp_ports: Vec<u16>,
    reorder_window_ns: Option<i64>,
    start: Option<Start>,
) -> PyResult<Bound<'py, PyDict>> {
    let start =
        start.map(|(offset, frame, descriptions)| index::start(offset, frame, descriptions));
    let options = Options { reorder_window_ns, ..Options::default() };
    let explained = py
        .detach(|| wire_explain(&path, frame, start.as_ref(), &options, &udp_ports))
        .map_err(to_python)?;
    let result = PyDict::new(py);
    let layers = explained.layers.iter().map(|layer| node(py, layer));
    result.set_item("layers", layers.collect::<PyResult<Vec<_>>>()?)?;
    result.set_item("data", PyBytes::new(py, &explained.data))?;
    let reassembled = explained.reassembled.as_deref().map(|bytes| PyBytes::new(py, bytes));
    result.set_item("reassembled", reassembled)?;
    Ok(result)
}

/// Keys that say nothing are left out. The tree is a few levels deep, so that this can call itself.
fn node<'py>(py: Python<'py>, from: &Node) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &from.name)?;
    match &from.value {
        Value::None => {}
        Value::Number(number) => dict.set_item("value", number)?,
        Value::Text(text) => dict.set_item("value", text)?,
    }
    if let Some(meaning) = &from.meaning {
        dict.set_item("meaning", meaning)?;
    }
    if let Some((offset, length)) = from.extent {
        dict.set_item("offset", offset)?;
        dict.set_item("length", length)?;
    }
    if !from.fields.is_empty() {
        let fields = from.fields.iter().map(|field| node(py, field));
        dict.set_item("fields", fields.collect::<PyResult<Vec<_>>>()?)?;
    }
    Ok(dict)
}
