//! The sender and the plan, seen from Python.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pathscope_replay::batch::Batch;
use pathscope_replay::log;
use pathscope_replay::orders::Orders;
use pathscope_replay::sender::{self, Taken};
use pathscope_replay::source::Source;
use pathscope_wire::pass::Filter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::{PyRecordBatch, PySchema};
use serde::Serialize;

use crate::error::{arrow, to_python};

/// Between two looks at signals.
const PATIENCE: Duration = Duration::from_millis(100);

/// Sends the frames of a trace at their times.
#[pyclass(module = "pathscope.replay._native", frozen)]
pub struct Sender {
    sender: sender::Sender,
}

#[pymethods]
impl Sender {
    /// Opens the trace and reads ahead.
    #[new]
    fn new(py: Python<'_>, orders_json: &str, fds: Vec<i32>) -> PyResult<Self> {
        let (orders, filter) = read(orders_json)?;
        let sender = py.detach(|| sender::Sender::new(orders, filter, fds)).map_err(to_python)?;
        while !py.detach(|| sender.is_ready(PATIENCE)).map_err(to_python)? {
            py.check_signals()?;
        }
        Ok(Sender { sender })
    }

    /// Starts sending: replay time 0 is this instant of CLOCK_MONOTONIC.
    fn start(&self, base_monotonic_ns: i64) -> PyResult<()> {
        self.sender.start(base_monotonic_ns).map_err(to_python)
    }

    /// Rows of the log of the next so many seconds, or up to the end; None after it.
    fn take(&self, py: Python<'_>, timeout: f64) -> PyResult<Option<PyRecordBatch>> {
        let timeout = Duration::try_from_secs_f64(timeout)
            .map_err(|error| PyValueError::new_err(format!("timeout: {error}")))?;
        match py.detach(|| self.sender.take(timeout)) {
            Taken::End => Ok(None),
            Taken::Rows(rows) => {
                let batch = py.detach(|| log::batch(&rows)).map_err(arrow)?;
                Ok(Some(PyRecordBatch::new(batch)))
            }
        }
    }

    /// Has sending end before the next frame.
    fn stop(&self) {
        self.sender.stop();
    }

    /// Waits for the end: a dict of what was planned and what was done.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (plan, sent) = py.detach(|| self.sender.finish()).map_err(to_python)?;
        let result = PyDict::new(py);
        result.set_item("plan", dict(py, &plan)?)?;
        result.set_item("sent", dict(py, &sent)?)?;
        Ok(result)
    }
}

/// What a sender would do with these orders: the same reading, routing, rewriting and pacing.
#[pyfunction]
pub fn plan<'py>(py: Python<'py>, orders_json: &str) -> PyResult<Bound<'py, PyAny>> {
    let (orders, filter) = read(orders_json)?;
    let mut source = py.detach(|| Source::open(orders, filter)).map_err(to_python)?;
    let (mut batch, never) = (Batch::default(), AtomicBool::new(false));
    loop {
        batch.clear();
        if !py.detach(|| source.fill(&mut batch, &never)).map_err(to_python)? {
            break;
        }
        py.check_signals()?;
    }
    dict(py, source.plan())
}

/// The schema of the log's rows, with the meaning of each column.
#[pyfunction]
pub fn log_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(PySchema::new(log::schema()).into_pyobject(py)?.into_any())
}

pub fn read(orders_json: &str) -> PyResult<(Orders, Option<Filter>)> {
    let orders = Orders::parse(orders_json).map_err(to_python)?;
    let filter = orders.filter.as_deref().map(pathscope_filter::compile).transpose();
    Ok((orders, filter.map_err(|error| to_python(error.into()))?))
}

/// Python's own reading of JSON makes the same of it as this file would, in more lines.
pub fn dict<'py>(py: Python<'py>, facts: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_string(facts).map_err(arrow)?;
    py.import("json")?.call_method1("loads", (json,))
}
