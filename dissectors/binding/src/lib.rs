//! `pathscope.dissectors._core`: the pass over a capture, seen from Python.
//! What it returns is Arrow (PyCapsule interface) and plain dicts; what it means
//! is said in `pathscope_wire::ledger`.

mod error;
mod explain;
mod index;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use error::{CaptureError, FilterError, to_python};
use pathscope_wire::container::{Facts, Options as CaptureOptions};
use pathscope_wire::ledger::{Ledger, Streamed};
use pathscope_wire::pass::{Options, Pass as WirePass, Summary};
use pathscope_wire::track::flow::Census;
use pathscope_wire::track::{self, Limits};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::{PyRecordBatch, PySchema};

/// One streaming pass over one capture, be it of several files.
#[pyclass(module = "pathscope.dissectors._core")]
struct Pass {
    // None once finished. A mutex, because Python may call from several threads.
    pass: Mutex<Option<WirePass>>,
}

impl Pass {
    fn with<T>(&self, work: impl FnOnce(&mut WirePass) -> PyResult<T>) -> PyResult<T> {
        let mut guard = self.pass.lock().unwrap_or_else(PoisonError::into_inner);
        let pass =
            guard.as_mut().ok_or_else(|| PyRuntimeError::new_err("this pass has been finished"))?;
        work(pass)
    }
}

#[pymethods]
impl Pass {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    #[pyo3(signature = (paths, *, bin_ns=100_000_000, udp_ports=None, reorder_window_ns=None, filter=None, stream=None, flows=false, flow_capacity=None, association_capacity=None, index_block_bytes=None, two_threads=None, hosts=None))]
    fn new(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        bin_ns: i64,
        udp_ports: Option<Vec<u16>>,
        reorder_window_ns: Option<i64>,
        filter: Option<&str>,
        stream: Option<&str>,
        flows: bool,
        flow_capacity: Option<usize>,
        association_capacity: Option<usize>,
        index_block_bytes: Option<u64>,
        two_threads: Option<bool>,
        hosts: Option<Vec<Vec<u32>>>,
    ) -> PyResult<Self> {
        if bin_ns <= 0 {
            return Err(PyValueError::new_err("bin_ns must be positive"));
        }
        let unknown = |table| PyKeyError::new_err(format!("no streamed table is called {table}"));
        let stream = stream.map(|table| Streamed::of(table).ok_or_else(|| unknown(table)));
        let stream = stream.transpose()?;
        let defaults = Options::default();
        let options = Options {
            bin_ns,
            udp_ports: udp_ports.unwrap_or(defaults.udp_ports),
            capture: CaptureOptions {
                reorder_window_ns: reorder_window_ns.or(defaults.capture.reorder_window_ns),
                ..defaults.capture
            },
            filter: filter.map(pathscope_filter::compile).transpose().map_err(to_python)?,
            // Of most streamed tables the rows are all that is wanted.
            flows: stream.as_ref().and_then(Streamed::is_of_flows).unwrap_or(flows),
            stream,
            flow_capacity: flow_capacity.unwrap_or(defaults.flow_capacity),
            limits: Limits {
                open: association_capacity.unwrap_or(defaults.limits.open),
                ..defaults.limits
            },
            index_block_bytes,
            two_threads,
            hosts: hosts.unwrap_or_default(),
        };
        // Opening reads the header: on a pipe, another thread of this process may be writing it.
        let pass = py.detach(|| WirePass::open(&paths, options)).map_err(to_python)?;
        Ok(Pass { pass: Mutex::new(Some(pass)) })
    }

    /// Reads up to `records` records; False at the end of the capture.
    fn step(&self, py: Python<'_>, records: usize) -> PyResult<bool> {
        py.detach(|| self.with(|pass| pass.step(records).map_err(to_python)))
    }

    /// Rows of the streamed table made since the last call.
    fn take_rows(&self) -> PyResult<PyRecordBatch> {
        self.with(|pass| Ok(PyRecordBatch::new(streamed(pass)?.take())))
    }

    /// The index's packets of blocks that were closed since the last call, a batch a block.
    fn take_index(&self) -> PyResult<Vec<PyRecordBatch>> {
        self.with(|pass| {
            let index = pass.index();
            let index = index.ok_or_else(|| PyRuntimeError::new_err("this pass makes no index"))?;
            Ok(index.take().into_iter().map(PyRecordBatch::new).collect())
        })
    }

    /// The time of frame 1, from the first step on; None before, and when there is no frame.
    fn first_frame_ns(&self) -> PyResult<Option<i64>> {
        self.with(|pass| Ok(pass.progress().first_ns))
    }

    fn rows_waiting(&self) -> PyResult<usize> {
        self.with(|pass| Ok(streamed(pass)?.len()))
    }

    /// Bytes of the file read so far, and its length if it has one.
    fn progress(&self) -> PyResult<(u64, Option<u64>)> {
        self.with(|pass| {
            let progress = pass.progress();
            Ok((progress.bytes_read, progress.file_length))
        })
    }

    /// Ends the pass: a dict of the tables and of what is known about the capture.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let pass = self
            .pass
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .ok_or_else(|| PyRuntimeError::new_err("this pass has been finished"))?;
        let (capture, mut summary, batches) = py.detach(|| {
            let (capture, mut summary) = pass.finish();
            let batches = summary.ledger.take_batches();
            (capture.facts(), summary, batches)
        });
        let tables = PyDict::new(py);
        for (name, batch) in batches {
            tables.set_item(name, PyRecordBatch::new(batch).into_pyobject(py)?)?;
        }
        let result = PyDict::new(py);
        result.set_item("tables", tables)?;
        result.set_item("capture", facts(py, &capture, &summary)?)?;
        if let Some(tables) = summary.index.take() {
            result.set_item("index", index::tables(py, tables)?)?;
        }
        Ok(result)
    }
}

fn streamed(pass: &mut WirePass) -> PyResult<&mut Streamed> {
    pass.streamed().ok_or_else(|| PyRuntimeError::new_err("this pass streams no table"))
}

/// The facts of a capture that are not a table.
fn facts<'py>(py: Python<'py>, capture: &Facts, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let frames = PyDict::new(py);
    frames.set_item("read", summary.frames.read)?;
    frames.set_item("dissected", summary.frames.dissected)?;
    frames.set_item("partial", summary.frames.partial)?;
    frames.set_item("skipped", &summary.frames.skipped)?;
    let files = capture
        .files
        .iter()
        .map(|file| {
            let dict = PyDict::new(py);
            dict.set_item("path", &file.name)?;
            dict.set_item("first_frame", file.first_frame)?;
            dict.set_item("frames", file.frames)?;
            Ok(dict)
        })
        .collect::<PyResult<Vec<_>>>()?;
    let order = capture.order;
    let interfaces = capture
        .interfaces
        .iter()
        .map(|interface| {
            let dict = PyDict::new(py);
            dict.set_item("section", interface.section)?;
            dict.set_item("number", interface.number)?;
            dict.set_item("name", &interface.name)?;
            dict.set_item("description", &interface.description)?;
            dict.set_item("link_type", interface.link_type)?;
            dict.set_item("snap_length", interface.snap_length)?;
            dict.set_item("time_unit", &interface.time_unit)?;
            dict.set_item("packets", interface.packets)?;
            Ok(dict)
        })
        .collect::<PyResult<Vec<_>>>()?;
    let facts = PyDict::new(py);
    facts.set_item("files", files)?;
    facts.set_item("format", capture.format())?;
    facts.set_item("compression", capture.compression())?;
    facts.set_item("frames", frames)?;
    facts.set_item("sctp_packets", summary.sctp_packets)?;
    facts.set_item("first_frame_ns", capture.first_ns)?;
    facts.set_item("start_ns", summary.first_ns)?;
    facts.set_item("end_ns", summary.last_ns)?;
    facts.set_item("interfaces", interfaces)?;
    facts.set_item("comments", &capture.comments)?;
    facts.set_item("dropped_by_capture", capture.dropped)?;
    facts.set_item("late_frames", order.late)?;
    facts.set_item("reordered_frames", order.reordered)?;
    facts.set_item("largest_lateness_ns", order.largest_lateness_ns)?;
    facts.set_item("clock_steps", order.clock_steps)?;
    facts.set_item("problems", &summary.problems)?;
    facts.set_item("dropped_fragments", summary.dropped_fragments)?;
    facts.set_item("associations", association_facts(py, &summary.associations)?)?;
    if let Some(census) = &summary.flows {
        facts.set_item("flows", flow_facts(py, census)?)?;
    }
    if let Some(simulated) = &summary.simulated {
        let dict = PyDict::new(py);
        dict.set_item("unlisted_transits", simulated.unlisted_transits)?;
        dict.set_item("unsent", simulated.unsent)?;
        facts.set_item("simulated", dict)?;
    }
    facts.set_item("unlisted", summary.ledger.unlisted())?;
    let damage: Vec<String> = summary.damage.iter().map(ToString::to_string).collect();
    facts.set_item("damage", (!damage.is_empty()).then(|| damage.join("; ")))?;
    Ok(facts)
}

/// What became of the associations, their table being bounded.
fn association_facts<'py>(py: Python<'py>, census: &track::Census) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("seen", census.seen)?;
    facts.set_item("evicted", census.evicted)?;
    facts.set_item("unlisted", census.unlisted)?;
    Ok(facts)
}

/// What became of the TCP and UDP flows, their tables being bounded.
fn flow_facts<'py>(py: Python<'py>, census: &Census) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("seen", census.flows)?;
    facts.set_item("evicted", census.evicted)?;
    facts.set_item("unlisted", census.unlisted)?;
    facts.set_item("unlisted_intervals", census.unlisted_intervals)?;
    facts.set_item("unlisted_retransmissions", census.unlisted_retransmissions)?;
    facts.set_item("unlisted_icmp", census.unlisted_icmp)?;
    Ok(facts)
}

/// The schemas of the ledger's tables, with the meaning of each column.
#[pyfunction]
fn schemas(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let schemas = PyDict::new(py);
    for (name, batch) in Ledger::default().take_batches() {
        schemas.set_item(name, PySchema::new(batch.schema()).into_pyobject(py)?)?;
    }
    Ok(schemas)
}

/// The schemas of the streamed tables.
#[pyfunction]
fn streamed_schemas(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let schemas = PyDict::new(py);
    for table in Streamed::all() {
        schemas.set_item(table.table(), PySchema::new(table.schema()).into_pyobject(py)?)?;
    }
    Ok(schemas)
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("build_profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
    module.add("CaptureError", module.py().get_type::<CaptureError>())?;
    module.add("FilterError", module.py().get_type::<FilterError>())?;
    module.add_class::<Pass>()?;
    module.add_function(wrap_pyfunction!(schemas, module)?)?;
    module.add_function(wrap_pyfunction!(streamed_schemas, module)?)?;
    module.add_function(wrap_pyfunction!(explain::explain, module)?)?;
    module.add_function(wrap_pyfunction!(index::index_schemas, module)?)?;
    module.add_function(wrap_pyfunction!(index::read_indexed, module)?)?;
    Ok(())
}
