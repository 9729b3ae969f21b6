//! The fingerprints of a capture's frames, batch by batch.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pathscope_replay::fingerprint::Sightings;
use pathscope_replay::log::sightings_batch;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use crate::error::{arrow, to_python};

/// Rows of a batch.
const ROWS: usize = 65_536;

/// An iterator of record batches.
#[pyclass(module = "pathscope.replay._native", frozen)]
pub struct Fingerprints {
    sightings: Mutex<Sightings>,
}

#[pymethods]
impl Fingerprints {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyRecordBatch>> {
        let rows = py.detach(|| {
            let mut sightings = self.sightings.lock().unwrap_or_else(PoisonError::into_inner);
            sightings.take(ROWS)
        });
        let rows = rows.map_err(to_python)?;
        if rows.is_empty() {
            return Ok(None);
        }
        Ok(Some(PyRecordBatch::new(sightings_batch(&rows).map_err(arrow)?)))
    }
}

/// The frames of a capture file in time order: number, time, interface, length and fingerprint.
#[pyfunction]
pub fn fingerprints(py: Python<'_>, path: PathBuf) -> PyResult<Fingerprints> {
    let sightings = py.detach(|| Sightings::open(&path)).map_err(to_python)?;
    Ok(Fingerprints { sightings: Mutex::new(sightings) })
}
