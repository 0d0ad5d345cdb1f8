//! Study files begun from a data file's header.

use pyo3::prelude::*;

use crate::errors::invalid;

/// Writes a study file to be completed; also returns warnings.
#[pyfunction]
#[pyo3(signature = (path, codebook = None))]
pub(crate) fn study_new(
    py: Python<'_>,
    path: &str,
    codebook: Option<&str>,
) -> PyResult<(String, Vec<String>)> {
    let begun = py.detach(|| counterpoint_studies::draft_study_of_files(path, codebook));
    let begun = begun.map_err(|error| invalid(error.to_string()))?;
    Ok((begun.text, begun.warnings))
}
