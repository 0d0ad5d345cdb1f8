//! How much noise, how small a loss or how many releases a target allows.

use counterpoint::Release;
use counterpoint::ask::{CalibrateError, Search, Unknown};
use counterpoint_wire::name_of;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::bracket::Answer;
use crate::errors::{self, invalid};
use crate::mechanism::{self, releases};
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

    fn __repr__(&self) -> String {
        let (name, cost) = (name_of(self.unknown), self.found.cost.bracket.upper);
        format!("Calibration({name}={:?}, epsilon={cost:?})", self.found.value)
    }
}

const UNKNOWNS: [Unknown; 4] = [Unknown::Sigma, Unknown::Scale, Unknown::Epsilon, Unknown::Count];

/// The value that meets (epsilon, delta) with the least noise, the largest epsilon or count.
#[pyfunction]
#[pyo3(signature = (mechanisms, unknown, *, epsilon, delta, varying = None, adjacency = None, group = None, tolerance = None, progress = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn calibrate(
    py: Python<'_>,
    mechanisms: &Bound<'_, PyAny>,
    unknown: &str,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    varying: Option<Vec<Bound<'_, PyAny>>>,
    adjacency: Option<&Bound<'_, PyAny>>,
    group: Option<&Bound<'_, PyAny>>,
    tolerance: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Calibration> {
    let unknown =
        UNKNOWNS.into_iter().find(|known| name_of(*known) == unknown).ok_or_else(|| {
            let legal = UNKNOWNS.map(name_of).join(", ");
            invalid(format!("unknown is {unknown:?}; legal: {legal}"))
        })?;
    let described = releases("mechanisms", mechanisms)?;
    let (epsilon, delta) = (self::epsilon("epsilon", epsilon)?, self::delta("delta", delta)?);
    let varying = places(varying.unwrap_or_default(), described.len())?;
    let list: Vec<Release> = described.iter().map(Release::from).collect();
    let (adjacency, group) = (self::adjacency(adjacency)?, self::group(group)?);
    let how = How::new(tolerance, None, progress)?;
    let ask = move |options: &counterpoint::Options<'_>| {
        let search = Search { releases: &list, varying: &varying, unknown, adjacency, group };
        counterpoint::ask::calibrate(&search, epsilon, delta, options)
    };
    let found = how.run_as(py, ask, |error: CalibrateError| errors::calibrate(error))?;
    let described = described.into_iter().zip(&found.releases);
    let described = described.map(|(was, is)| counterpoint_wire::Release {
        mechanism: is.mechanism.clone(),
        count: is.count,
        ..was
    });
    Ok(Calibration { unknown, described: described.collect(), found })
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
