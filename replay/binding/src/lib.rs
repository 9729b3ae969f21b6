//! `pathscope.replay._native`: sending and rewriting, seen from Python.

mod error;
mod fingerprints;
mod rewrite;
mod sender;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("build_profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
    module.add_class::<sender::Sender>()?;
    module.add_class::<fingerprints::Fingerprints>()?;
    module.add_function(wrap_pyfunction!(sender::plan, module)?)?;
    module.add_function(wrap_pyfunction!(sender::log_schema, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprints::fingerprints, module)?)?;
    module.add_function(wrap_pyfunction!(rewrite::rewrite, module)?)?;
    Ok(())
}
