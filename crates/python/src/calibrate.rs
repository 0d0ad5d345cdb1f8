//! How much noise, how small a loss or how many releases a target allows.

use counterpoint::Release;
use counterpoint::ask::{CalibrateError, Search, Unknown};
use counterpoint_wire::{decimal, name_of};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::bracket::Answer;
use crate::errors::{self, invalid};
use crate::mechanism::{self, UNKNOWNS, Unknowns, with_unknowns};
use crate::plan::{adjacency, delta, epsilon, group};
use crate::run::How;
use crate::value::whole;

/// A value that meets the target, and what it costs.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Calibration {
    found: counterpoint::ask::Calibration,
    unknown: Unknown,
    described: Vec<counterpoint_wire::Release>,
}

#[pymethods]
impl Calibration {
    /// What was found.
    #[getter]
    fn value(&self) -> f64 {
        self.found.value
    }

    /// What was to be found: "sigma", "scale", "epsilon" or "count".
    #[getter]
    fn unknown(&self) -> &'static str {
        name_of(self.unknown)
    }

    /// The epsilon that the plan costs at the target's delta.
    #[getter]
    fn cost(&self, py: Python<'_>) -> PyResult<Py<Answer>> {
        Answer::wrap(py, &self.found.cost)
    }

    /// The nearest number found that provably does not meet the target and what it costs, or None.
    #[getter]
    fn failing(&self, py: Python<'_>) -> PyResult<Option<(f64, Py<Answer>)>> {
        let failing = self.found.failing.as_ref();
        failing.map(|(value, cost)| Ok((*value, Answer::wrap(py, cost)?))).transpose()
    }

    /// The next number on the unsafe side and what it costs, or None at the end of the range.
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

    /// What a notebook shows.
    fn _repr_html_(&self) -> String {
        let cost = decimal::up(self.found.cost.bracket.upper, 6);
        format!("<b>{} = {}</b>; epsilon {cost} at most", name_of(self.unknown), self.found.value)
    }

    fn __repr__(&self) -> String {
        let (name, cost) = (name_of(self.unknown), self.found.cost.bracket.upper);
        format!("Calibration({name}={:?}, epsilon={cost:?})", self.found.value)
    }
}

/// What is to be found: what is said to be, or what is unknown of the mechanisms.
fn sought(given: Option<&str>, unknowns: &Unknowns) -> PyResult<Unknown> {
    let names = || UNKNOWNS.map(name_of).join(", ");
    let given = match given {
        None => None,
        Some(name) => {
            let found = UNKNOWNS.into_iter().find(|known| name_of(*known) == name);
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
            let (other, legal) = (name_of(*other), "one kind of number to be found");
            let sought = name_of(sought);
            Err(invalid(format!(
                "mechanisms[{index}]: {other} is UNKNOWN, and {sought} is to be found; legal: {legal}"
            )))
        }
    }
}

/// The value that meets (epsilon, delta) with the least noise, the largest epsilon or count.
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
        // Those of which it is unknown; if there are none, all that have it.
        None => unknowns.iter().map(|(index, _)| *index).collect(),
    };
    if let Some((index, _)) = unknowns.iter().find(|(index, _)| !within(&varying, *index)) {
        let name = name_of(unknown);
        let legal = "that it varies, or a number";
        return Err(invalid(format!("mechanisms[{index}]: {name} is UNKNOWN; legal: {legal}")));
    }
    if let Some(index) = described.iter().position(|one| one.parts().count() > 1) {
        let legal = "mechanisms that stand alone";
        return Err(invalid(format!(
            "mechanisms[{index}]: several are made together; legal: {legal}"
        )));
    }
    let list: Vec<Release> = described.iter().map(counterpoint_wire::Release::alone).collect();
    let (adjacency, group) = (self::adjacency(adjacency)?, self::group(group)?);
    let how = How::new(tolerance, None, progress)?;
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

/// Whether a release varies: all do that can if none is named.
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
