//! Theorems about single guarantees and about noise, as the JSON objects that the program prints.

use counterpoint::quantity::Count;
use counterpoint::theorem::lattice;
use counterpoint::{Guarantee, Sensitivity};
use counterpoint_studies::NoiseRules;
use counterpoint_wire::GuaranteeConversion;
use pyo3::prelude::*;

use crate::errors::{self, invalid, out_of_range};
use crate::plan::{delta, epsilon};
use crate::run::RunOptions;
use crate::value::{number, whole};

fn guarantee(e: &Bound<'_, PyAny>, d: &Bound<'_, PyAny>) -> PyResult<Guarantee> {
    Ok(Guarantee { epsilon: epsilon("epsilon", e)?, delta: delta("delta", d)? })
}

fn count(given: &Bound<'_, PyAny>) -> PyResult<Count> {
    Count::new(whole("count", given)?).map_err(out_of_range("count"))
}

/// The object that `convert --json` prints.
#[pyfunction]
#[pyo3(signature = (from_epsilon, from_delta, to_epsilon = None, to_delta = None))]
pub(crate) fn convert(
    from_epsilon: &Bound<'_, PyAny>,
    from_delta: &Bound<'_, PyAny>,
    to_epsilon: Option<&Bound<'_, PyAny>>,
    to_delta: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let from = guarantee(from_epsilon, from_delta)?;
    let to_epsilon = to_epsilon.map(|given| epsilon("to_epsilon", given)).transpose()?;
    let to_delta = to_delta.map(|given| delta("to_delta", given)).transpose()?;
    let converted = GuaranteeConversion::new(from, to_epsilon, to_delta).map_err(errors::ask)?;
    converted.json().map_err(|error| invalid(error.to_string()))
}

/// The object that `noise --json` prints.
#[pyfunction]
#[pyo3(signature = (epsilon, delta, count, sensitivity))]
pub(crate) fn noise_rules(
    py: Python<'_>,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    count: &Bound<'_, PyAny>,
    sensitivity: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let (target, count) = (guarantee(epsilon, delta)?, self::count(count)?);
    let sensitivity = Sensitivity::new(number("sensitivity", sensitivity)?)
        .map_err(out_of_range("sensitivity"))?;
    let rules = RunOptions::in_background(py, move || NoiseRules::new(target, count, sensitivity))?;
    rules.json().map_err(|error| invalid(error.to_string()))
}

/// An epsilon with the lower and the upper bound on its delta.
type Pair = (f64, f64, f64);

/// The pairs of KOV Theorem III.3.
#[pyfunction]
#[pyo3(signature = (epsilon, delta, count))]
pub(crate) fn pairs(
    py: Python<'_>,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    count: &Bound<'_, PyAny>,
) -> PyResult<Vec<Pair>> {
    const MOST: u64 = 20_000;
    let (each, count) = (guarantee(epsilon, delta)?, self::count(count)?);
    if count.get() > MOST {
        return Err(invalid(format!("count is {}; legal: at most {MOST}", count.get())));
    }
    let ends =
        |pair: lattice::CompositionGuarantee| (pair.epsilon, pair.delta.lower, pair.delta.upper);
    RunOptions::in_background(py, move || lattice::guarantees(each, count).map(ends).collect())
}
