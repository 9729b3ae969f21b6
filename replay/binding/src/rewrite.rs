//! What would be sent, as a file.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use pathscope_replay::batch::Batch;
use pathscope_replay::file::Writer;
use pathscope_replay::source::Source;
use pyo3::prelude::*;

use crate::error::to_python;
use crate::sender::{dict, read};

/// Writes the frames that these orders would send of the capture `in_path` to the pcap file
/// `out_path`, which is replaced; `None` is the trace of the orders. Times are those that the frames
/// are due at, from the trace's first frame on. Returns what `plan` does.
#[pyfunction]
pub fn rewrite<'py>(
    py: Python<'py>,
    orders_json: &str,
    in_path: Option<PathBuf>,
    out_path: PathBuf,
) -> PyResult<Bound<'py, PyAny>> {
    let (mut orders, filter) = read(orders_json)?;
    if let Some(path) = in_path {
        orders.trace = vec![path];
    }
    let from_ns = orders.from_ns.unwrap_or(0);
    let mut source = py.detach(|| Source::open(orders, filter)).map_err(to_python)?;
    let mut writer = Writer::new(BufWriter::new(File::create(out_path)?))?;
    let (mut batch, never) = (Batch::default(), AtomicBool::new(false));
    loop {
        batch.clear();
        let more = py.detach(|| source.fill(&mut batch, &never)).map_err(to_python)?;
        let base_ns = source.plan().first_frame_ns.unwrap_or(0).saturating_add(from_ns);
        py.detach(|| writer.write(&batch, base_ns))?;
        if !more {
            break;
        }
        py.check_signals()?;
    }
    writer.finish()?;
    dict(py, source.plan())
}
