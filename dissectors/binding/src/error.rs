//! The one conversion of errors to Python exceptions.

use pathscope_wire::error::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    pathscope,
    CaptureError,
    PyException,
    "A capture that cannot be read; the message names file, offset, what was expected and what was found."
);
create_exception!(
    pathscope,
    FilterError,
    PyException,
    "A capture filter that libpcap does not take."
);

pub fn to_python(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Io { .. } | Error::NotACapture { .. } | Error::Damaged { .. } => {
            CaptureError::new_err(message)
        }
        Error::Filter(_) => FilterError::new_err(message),
        Error::Usage(_) => PyValueError::new_err(message),
    }
}
