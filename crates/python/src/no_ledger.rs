//! In place of the ledger, where the package is built without databases: it says so.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors;

/// Budgets that survive crashes: not in this build.
#[pyclass(frozen, subclass, module = "counterpoint._native")]
pub(crate) struct Ledger;

#[pymethods]
impl Ledger {
    #[new]
    #[pyo3(signature = (*_given, **_named))]
    fn new(_given: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Err(errors::no_ledger())
    }
}
