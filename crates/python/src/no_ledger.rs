//! The class that raises in place of the ledger if the package is built without databases.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::errors;

/// Durable budgets, which this build lacks.
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
