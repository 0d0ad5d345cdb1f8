//! Calibration: the noise, the epsilon or the number of releases that a target allows.

use counterpoint::Release;
use counterpoint::ask::{CalibrateError, Search, Unknown};
use counterpoint_wire::{decimal, unknown_field_name};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::bracket::Answer;
use crate::errors::{self, invalid};
use crate::mechanism::{self, UNKNOWNS, Unknowns, with_unknowns};
use crate::plan::{adjacency, delta, epsilon, group};
use crate::run::RunOptions;
use crate::value::whole;

/// A number that meets a target, with its certified cost. Made by :func:`counterpoint.calibrate`.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Calibration {
    found: counterpoint::ask::Calibration,
    unknown: Unknown,
    described: Vec<counterpoint_wire::Release>,
}

#[pymethods]
impl Calibration {
    /// The number found.
    #[getter]
    fn value(&self) -> f64 {
        self.found.value
    }

    /// The name of the number: "sigma", "scale", "epsilon" or "count".
    #[getter]
    fn unknown(&self) -> &'static str {
        unknown_field_name(self.unknown)
    }

    /// The plan's epsilon at the target's delta.
    #[getter]
    fn cost(&self, py: Python<'_>) -> PyResult<Py<Answer>> {
        Answer::wrap(py, &self.found.cost)
    }

    /// The nearest number found that provably misses the target, with its cost, or None.
    #[getter]
    fn failing(&self, py: Python<'_>) -> PyResult<Option<(f64, Py<Answer>)>> {
        let failing = self.found.failing.as_ref();
        failing.map(|(value, cost)| Ok((*value, Answer::wrap(py, cost)?))).transpose()
    }

    /// The next number on the unsafe side, with its cost, or None at the end of the range.
    #[getter]
    fn beyond(&self, py: Python<'_>) -> PyResult<Option<(f64, Py<Answer>)>> {
        let beyond = self.found.beyond.as_ref();
        beyond.map(|(value, cost)| Ok((*value, Answer::wrap(py, cost)?))).transpose()
    }

    /// The mechanisms with the value filled in.
    #[getter]
    fn mechanisms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        mechanism::wrap_all(py, &self.described)
    }

    fn __float__(&self) -> f64 {
        self.found.value
    }

    /// Shows the number and its cost in a notebook.
    fn _repr_html_(&self) -> String {
        let cost = decimal::up(self.found.cost.bracket.upper, 6);
        format!(
            "<b>{} = {}</b>; epsilon {cost} at most",
            unknown_field_name(self.unknown),
            self.found.value
        )
    }

    fn __repr__(&self) -> String {
        let (name, cost) = (unknown_field_name(self.unknown), self.found.cost.bracket.upper);
        format!("Calibration({name}={:?}, epsilon={cost:?})", self.found.value)
    }
}

/// The unknown to find: the given one, or that of the mechanisms.
fn sought(given: Option<&str>, unknowns: &Unknowns) -> PyResult<Unknown> {
    let names = || UNKNOWNS.map(unknown_field_name).join(", ");
    let given = match given {
        None => None,
        Some(name) => {
            let found = UNKNOWNS.into_iter().find(|known| unknown_field_name(*known) == name);
            let legal = || invalid(format!("unknown is {name:?}; legal: {}", names()));
            Some(found.ok_or_else(legal)?)
        }
    };
    let Some(sought) = given.or(unknowns.first().map(|(_, unknown)| *unknown)) else {
        let legal = format!("one of {}, or UNKNOWN in the place of a number", names());
        return Err(invalid(format!("unknown is missing; legal: {legal}")));
    };
    match unknowns.iter().find(|(_, unknown)| *unknown != sought) {
        None => Ok(sought),
        Some((index, other)) => {
            let (other, legal) = (unknown_field_name(*other), "one kind of number to be found");
            let sought = unknown_field_name(sought);
            Err(invalid(format!(
                "mechanisms[{index}]: {other} is UNKNOWN, and {sought} is to be found; legal: {legal}"
            )))
        }
    }
}

/// Finds the number that meets (epsilon, delta) with the least noise, or the largest epsilon or count.
#[pyfunction]
#[pyo3(signature = (mechanisms, unknown = None, *, epsilon, delta, varying = None, adjacency = None, group = None, tolerance = None, progress = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn calibrate(
    py: Python<'_>,
    mechanisms: &Bound<'_, PyAny>,
    unknown: Option<&str>,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    varying: Option<Vec<Bound<'_, PyAny>>>,
    adjacency: Option<&Bound<'_, PyAny>>,
    group: Option<&Bound<'_, PyAny>>,
    tolerance: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Calibration> {
    let (described, unknowns) = with_unknowns("mechanisms", mechanisms)?;
    let unknown = sought(unknown, &unknowns)?;
    let (epsilon, delta) = (self::epsilon("epsilon", epsilon)?, self::delta("delta", delta)?);
    let varying = match varying {
        Some(given) => places(given, described.len())?,
        // The mechanisms whose number is unknown; an empty list stands for all that have such a number.
        None => unknowns.iter().map(|(index, _)| *index).collect(),
    };
    if let Some((index, _)) = unknowns.iter().find(|(index, _)| !within(&varying, *index)) {
        let name = unknown_field_name(unknown);
        let legal = "that it varies, or a number";
        return Err(invalid(format!("mechanisms[{index}]: {name} is UNKNOWN; legal: {legal}")));
    }
    if let Some(index) = described.iter().position(|one| one.parts().count() > 1) {
        let legal = "mechanisms that stand alone";
        return Err(invalid(format!(
            "mechanisms[{index}]: several are made together; legal: {legal}"
        )));
    }
    let list: Vec<Release> =
        described.iter().map(counterpoint_wire::Release::without_bundle).collect();
    let (adjacency, group) = (self::adjacency(adjacency)?, self::group(group)?);
    let how = RunOptions::new(tolerance, None, progress)?;
    let ask = move |options: &counterpoint::Options<'_>| {
        let search = Search { releases: &list, varying: &varying, unknown, adjacency, group };
        counterpoint::ask::calibrate(&search, epsilon, delta, options)
    };
    let found = how.run_as(py, ask, |error: CalibrateError| errors::calibrate(error))?;
    let described = described.into_iter().zip(&found.releases);
    let described = described.map(|(mut release, found)| {
        (release.mechanism, release.count) = (found.mechanism.clone(), found.count);
        release
    });
    Ok(Calibration { unknown, described: described.collect(), found })
}

/// True if a release varies. If none is named, all that can vary do.
fn within(varying: &[usize], index: usize) -> bool {
    varying.is_empty() || varying.contains(&index)
}

fn places(given: Vec<Bound<'_, PyAny>>, length: usize) -> PyResult<Vec<usize>> {
    let one = |item: Bound<'_, PyAny>| {
        let place = whole("varying", &item)?;
        let legal = format!("varying is {place}; legal: indices below {length}");
        let place = usize::try_from(place).ok().filter(|place| *place < length);
        place.ok_or_else(|| invalid(legal))
    };
    given.into_iter().map(one).collect()
}
