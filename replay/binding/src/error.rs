//! The one conversion of errors to Python exceptions: those of the dissectors, where they fit.

use pathscope_replay::error::Error;
use pathscope_wire::error::Error as TraceError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::import_exception!(pathscope.dissectors._core, CaptureError);
pyo3::import_exception!(pathscope.dissectors._core, FilterError);

pub fn to_python(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Trace(TraceError::Filter(_)) => FilterError::new_err(message),
        Error::Trace(TraceError::Usage(_)) => PyValueError::new_err(message),
        Error::Trace(_) => CaptureError::new_err(message),
        Error::Orders(_) | Error::Rewrite(_) | Error::Usage(_) => PyValueError::new_err(message),
    }
}

/// A batch that its own schema refuses: a bug, not an input.
pub fn arrow(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
