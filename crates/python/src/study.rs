//! The beginning of a study, from a data file's header.

use pyo3::prelude::*;

use crate::errors::invalid;

/// A study file to be completed, and warnings.
#[pyfunction]
#[pyo3(signature = (path, codebook = None))]
pub(crate) fn study_new(
    py: Python<'_>,
    path: &str,
    codebook: Option<&str>,
) -> PyResult<(String, Vec<String>)> {
    let begun = py.detach(|| counterpoint_wire::new_study(path, codebook));
    let begun = begun.map_err(|error| invalid(error.to_string()))?;
    Ok((begun.text, begun.warnings))
}
