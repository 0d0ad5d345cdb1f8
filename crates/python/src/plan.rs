//! Plans and the questions about them.

use counterpoint::ask::{AskError, Options, PrecisePlan};
use counterpoint::quantity::{Bits, Floor, GroupSize, Prior, Rate};
use counterpoint::region::Assumptions;
use counterpoint::theorem::eta::Eta;
use counterpoint::theorem::{Bound as Named, Comparison, Theorem};
use counterpoint::{Adjacency, Delta, Epsilon};
use counterpoint_wire::{Format, PlanError, Question, adjacency_from_name, adjacency_name};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use std::path::Path;
use std::sync::Arc;

use crate::arrays::{Ends, checked, ends};
use crate::bracket::Answer;
use crate::errors::{invalid, out_of_range, wrong_type};
use crate::losses::Losses;
use crate::mechanism::{self, releases};
use crate::readings::Readings;
use crate::region::Region;
use crate::run::RunOptions;
use crate::value::{fraction, number, whole};

/// Releases about the same data, prepared for questions. Made by :class:`counterpoint.Plan`.
#[pyclass(frozen, subclass, module = "counterpoint._native")]
pub(crate) struct Plan {
    pub(crate) described: Arc<counterpoint_wire::Plan>,
    pub(crate) ready: Arc<counterpoint::Plan>,
}

impl Plan {
    /// Prepares a plan, in the background if it is large.
    fn make(
        py: Python<'_>,
        large: bool,
        describe: impl FnOnce() -> Result<counterpoint_wire::Plan, PlanError> + Send + 'static,
    ) -> PyResult<Self> {
        let make = move || {
            let described = describe()?;
            let ready = described.prepare()?;
            Ok(Self { described: Arc::new(described), ready: Arc::new(ready) })
        };
        let made = if large { RunOptions::in_background(py, make)? } else { make() };
        made.map_err(|error: PlanError| invalid(error.to_string()))
    }
}

impl Plan {
    /// Prepares a plan that Rust code described.
    pub(crate) fn of(py: Python<'_>, mut described: counterpoint_wire::Plan) -> PyResult<Self> {
        described.question = None;
        Self::make(py, described.releases.len() > LARGE, move || Ok(described))
    }
}

impl Plan {
    /// The plan with its numbers exactly as given.
    fn precise_plan(&self) -> PyResult<PrecisePlan> {
        let exact = self.described.precise_plan().map_err(|error| invalid(error.to_string()))?;
        let legal = "bits is for (epsilon, delta) guarantees alone; legal: no bits here";
        exact.ok_or_else(|| invalid(legal))
    }
}

fn bits(given: &Bound<'_, PyAny>) -> PyResult<Bits> {
    Bits::new(whole("bits", given)?).map_err(out_of_range("bits"))
}

/// Plans of more releases and texts of more bytes are prepared in the background.
const LARGE: usize = 10_000;

/// Reads a delta.
pub(crate) fn delta(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Delta> {
    Delta::new(number(argument, given)?).map_err(out_of_range(argument))
}

/// Reads an epsilon.
pub(crate) fn epsilon(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Epsilon> {
    Epsilon::new(number(argument, given)?).map_err(out_of_range(argument))
}

pub(crate) fn adjacency(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Adjacency>> {
    let Some(given) = given else { return Ok(None) };
    let legal = "\"add-remove\" or \"replace\"";
    let name: String = given.extract().map_err(|_| wrong_type("adjacency", given, legal))?;
    let found = adjacency_from_name(&name);
    found.map(Some).ok_or_else(|| invalid(format!("adjacency is {name:?}; legal: {legal}")))
}

pub(crate) fn group(given: Option<&Bound<'_, PyAny>>) -> PyResult<GroupSize> {
    match given {
        None => Ok(GroupSize::ONE),
        Some(given) => GroupSize::new(whole("group", given)?).map_err(out_of_range("group")),
    }
}

#[pymethods]
impl Plan {
    #[new]
    #[pyo3(signature = (mechanisms, *, adjacency = None, group = None))]
    fn new(
        py: Python<'_>,
        mechanisms: &Bound<'_, PyAny>,
        adjacency: Option<&Bound<'_, PyAny>>,
        group: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if let (Ok(plan), None, None) = (mechanisms.cast::<Self>(), adjacency, group) {
            let Self { described, ready } = plan.get();
            return Ok(Self { described: Arc::clone(described), ready: Arc::clone(ready) });
        }
        let releases = releases("mechanisms", mechanisms)?;
        if releases.is_empty() {
            return Err(invalid("mechanisms is empty; legal: 1 to 10^7 mechanisms"));
        }
        let mut described = counterpoint_wire::Plan::from(releases);
        described.adjacency = self::adjacency(adjacency)?;
        described.group = self::group(group)?;
        let large = described.releases.len() > LARGE;
        Self::make(py, large, move || Ok(described))
    }

    /// Reads a plan from TOML or JSON text. A question in the text is ignored.
    ///
    /// Parameters
    /// ----------
    /// text
    ///     The text of a plan file.
    /// path
    ///     The file's path, whose ending tells the format.
    /// exact
    ///     Keeps the numbers of guarantees exactly as written.
    ///
    /// Returns
    /// -------
    /// Plan
    ///     The plan.
    ///
    /// Raises
    /// ------
    /// counterpoint.InvalidArgumentError
    ///     The text is no legal plan.
    #[staticmethod]
    #[pyo3(signature = (text, path = None, *, exact = false))]
    fn parse(py: Python<'_>, text: &[u8], path: Option<&str>, exact: bool) -> PyResult<Self> {
        let format = Format::detect(path.map(Path::new), text);
        let text = text.to_vec();
        Self::make(py, text.len() > LARGE, move || {
            let parse = match exact {
                true => counterpoint_wire::Plan::parse_exactly,
                false => counterpoint_wire::Plan::parse,
            };
            let mut described = parse(&text, format)?;
            (described.question, described.exact_question) = (None, None);
            Ok(described)
        })
    }

    /// Writes the plan as the text of a plan file.
    ///
    /// Parameters
    /// ----------
    /// format
    ///     "toml" or "json".
    /// delta
    ///     The delta at which the file asks for epsilon.
    /// epsilon
    ///     The epsilon at which the file asks for delta, in place of ``delta``.
    ///
    /// Returns
    /// -------
    /// str
    ///     The text.
    ///
    /// Raises
    /// ------
    /// counterpoint.InvalidArgumentError
    ///     The format is unknown, or both delta and epsilon are given.
    #[pyo3(signature = (format, *, delta = None, epsilon = None))]
    fn text(
        &self,
        py: Python<'_>,
        format: &str,
        delta: Option<&Bound<'_, PyAny>>,
        epsilon: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let mut described = counterpoint_wire::Plan::clone(&self.described);
        described.question = match (delta, epsilon) {
            (None, None) => None,
            (Some(given), None) => Some(Question::EpsilonAt(self::delta("delta", given)?)),
            (None, Some(given)) => Some(Question::DeltaAt(self::epsilon("epsilon", given)?)),
            (Some(_), Some(_)) => {
                return Err(invalid("delta and epsilon are both given; legal: one of them"));
            }
        };
        let write = match format {
            "toml" => counterpoint_wire::Plan::to_toml,
            "json" => counterpoint_wire::Plan::to_json,
            _ => return Err(invalid(format!("format is {format:?}; legal: \"toml\" or \"json\""))),
        };
        let text = match described.releases.len() > LARGE {
            true => RunOptions::in_background(py, move || write(&described))?,
            false => write(&described),
        };
        text.map_err(|error| invalid(error.to_string()))
    }

    /// The mechanisms, in order.
    #[getter]
    fn mechanisms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        mechanism::wrap_all(py, &self.described.releases)
    }

    /// The neighbouring relation: "add-remove", "replace", or None.
    #[getter]
    fn adjacency(&self) -> Option<&'static str> {
        self.described.adjacency.map(adjacency_name)
    }

    /// The number of people who are protected together.
    #[getter]
    fn group(&self) -> u64 {
        self.described.group.get()
    }

    /// The conditions to check before relying on an answer.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.described.warnings()
    }

    #[pyo3(signature = (delta, *, tolerance = None, route = None, progress = None))]
    fn epsilon(
        &self,
        py: Python<'_>,
        delta: &Bound<'_, PyAny>,
        tolerance: Option<&Bound<'_, PyAny>>,
        route: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<Answer>> {
        let (delta, how) =
            (self::delta("delta", delta)?, RunOptions::new(tolerance, route, progress)?);
        let plan = Arc::clone(&self.ready);
        Answer::wrap(py, &how.run_quickly(py, move |options| plan.epsilon(delta, options))?)
    }

    #[pyo3(signature = (epsilon, *, tolerance = None, route = None, progress = None))]
    fn delta(
        &self,
        py: Python<'_>,
        epsilon: &Bound<'_, PyAny>,
        tolerance: Option<&Bound<'_, PyAny>>,
        route: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<Answer>> {
        let epsilon = self::epsilon("epsilon", epsilon)?;
        let how = RunOptions::new(tolerance, route, progress)?;
        let plan = Arc::clone(&self.ready);
        Answer::wrap(py, &how.run_quickly(py, move |options| plan.delta(epsilon, options))?)
    }

    /// The epsilon at a delta in arbitrary precision: lower end, upper end, theorem.
    #[pyo3(name = "_epsilon_to_bits", signature = (delta, bits, progress = None))]
    fn epsilon_to_bits(
        &self,
        py: Python<'_>,
        delta: &Bound<'_, PyAny>,
        bits: &Bound<'_, PyAny>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, String, &'static str)> {
        let (at, bits, plan) = (fraction("delta", delta)?, self::bits(bits)?, self.precise_plan()?);
        let how = RunOptions::new(None, None, progress)?;
        let found = how.run(py, move |options| plan.epsilon(&at, bits, options.watch))?;
        Ok((found.lower, found.upper, found.theorem.name()))
    }

    /// The delta at an epsilon in arbitrary precision: lower end, upper end, theorem.
    #[pyo3(name = "_delta_to_bits", signature = (epsilon, bits, progress = None))]
    fn delta_to_bits(
        &self,
        py: Python<'_>,
        epsilon: &Bound<'_, PyAny>,
        bits: &Bound<'_, PyAny>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, String, &'static str)> {
        let (at, bits, plan) =
            (fraction("epsilon", epsilon)?, self::bits(bits)?, self.precise_plan()?);
        let how = RunOptions::new(None, None, progress)?;
        let found = how.run(py, move |options| plan.delta(&at, bits, options.watch))?;
        Ok((found.lower, found.upper, found.theorem.name()))
    }

    /// The ends of epsilon at each of many deltas, packed.
    #[pyo3(name = "_epsilons", signature = (deltas, tolerance = None, route = None, progress = None))]
    fn epsilons<'py>(
        &self,
        py: Python<'py>,
        deltas: &[u8],
        tolerance: Option<&Bound<'_, PyAny>>,
        route: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Ends<'py>> {
        let deltas = checked("delta", deltas, Delta::new)?;
        let how = RunOptions::new(tolerance, route, progress)?;
        let plan = Arc::clone(&self.ready);
        ends(py, &how.run(py, move |options| plan.epsilons(&deltas, options))?)
    }

    /// The ends of delta at each of many epsilons, packed.
    #[pyo3(name = "_deltas", signature = (epsilons, tolerance = None, route = None, progress = None))]
    fn deltas<'py>(
        &self,
        py: Python<'py>,
        epsilons: &[u8],
        tolerance: Option<&Bound<'_, PyAny>>,
        route: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Ends<'py>> {
        let epsilons = checked("epsilon", epsilons, Epsilon::new)?;
        let how = RunOptions::new(tolerance, route, progress)?;
        let plan = Arc::clone(&self.ready);
        ends(py, &how.run(py, move |options| plan.deltas(&epsilons, options))?)
    }

    /// The certified optimum, and by name the charge of each other theorem, or the reason why it has none.
    #[pyo3(signature = (*, delta = None, epsilon = None, eta = None, tolerance = None, progress = None))]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        delta: Option<&Bound<'_, PyAny>>,
        epsilon: Option<&Bound<'_, PyAny>>,
        eta: Option<&Bound<'_, PyAny>>,
        tolerance: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Py<Answer>, Bound<'py, PyDict>)> {
        let how = RunOptions::new(tolerance, None, progress)?;
        let plan = Arc::clone(&self.ready);
        let eta = eta.map(|given| Eta::new(number("eta", given)?).map_err(out_of_range("eta")));
        let eta = eta.transpose()?;
        let comparison = match (delta, epsilon) {
            (Some(given), None) => {
                let delta = self::delta("delta", given)?;
                how.run(py, move |options| by_name(&plan, delta, eta, options))?
            }
            (None, Some(_)) if eta.is_some() => {
                return Err(invalid("eta is given with epsilon; legal: with delta"));
            }
            (None, Some(given)) => {
                let epsilon = self::epsilon("epsilon", given)?;
                how.run(py, move |options| {
                    let mut comparison = plan.compare_delta(epsilon, options)?;
                    let value = SIMPLE.delta(&plan, epsilon);
                    comparison.others.push(Named { theorem: SIMPLE, value });
                    Ok(comparison)
                })?
            }
            _ => {
                return Err(invalid("compare needs a question; legal: delta or epsilon, not both"));
            }
        };
        Ok((Answer::wrap(py, &comparison.optimal)?, others(py, &comparison)?))
    }

    /// The region of error rates of all tests for one person's data.
    #[pyo3(signature = (false_alarms, *, tolerance = None, progress = None))]
    fn region(
        &self,
        py: Python<'_>,
        false_alarms: &[u8],
        tolerance: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Region> {
        let rates = checked("false_alarms", false_alarms, Rate::new)?;
        let how = RunOptions::new(tolerance, None, progress)?;
        let plan = Arc::clone(&self.ready);
        Ok(Region { inner: how.run(py, move |options| plan.region(&rates, options))? })
    }

    /// The success of attacks on the plan, and mu of Gaussian privacy with its regret.
    #[pyo3(signature = (*, prior = None, chance = None, floor = None, tolerance = None, progress = None))]
    fn readings(
        &self,
        py: Python<'_>,
        prior: Option<&Bound<'_, PyAny>>,
        chance: Option<&Bound<'_, PyAny>>,
        floor: Option<&Bound<'_, PyAny>>,
        tolerance: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Readings> {
        let given = |argument, given: Option<&Bound<'_, PyAny>>| {
            let value = given.map(|given| number(argument, given)).transpose()?;
            value.map(|value| Prior::new(value).map_err(out_of_range(argument))).transpose()
        };
        let floor = floor.map(|given| number("floor", given)).transpose()?;
        let floor = floor.map(|value| Floor::new(value).map_err(out_of_range("floor")));
        let usual = Assumptions::default();
        let assumptions = Assumptions {
            prior: given("prior", prior)?.unwrap_or(usual.prior),
            chance: given("chance", chance)?.unwrap_or(usual.chance),
            floor: floor.transpose()?.unwrap_or(usual.floor),
        };
        let how = RunOptions::new(tolerance, None, progress)?;
        let plan = Arc::clone(&self.ready);
        Ok(Readings { inner: how.run(py, move |options| plan.readings(assumptions, options))? })
    }

    /// The privacy losses in each direction that differs, on each part of the data.
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let plan = Arc::clone(&self.ready);
        let list = RunOptions::default().run(py, move |_| Losses::all(&plan))?;
        PyList::new(py, list.into_iter().map(|one| Py::new(py, one)).collect::<PyResult<Vec<_>>>()?)
    }

    fn __len__(&self) -> usize {
        self.described.releases.len()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().described == self.described)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.text(py, "json", None, None)?.hash(&mut hasher);
        Ok(hasher.finish())
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyType>, String))> {
        let restore = slf.py().import("counterpoint.plan")?.getattr("_restore")?;
        Ok((restore, (slf.get_type(), slf.get().text(slf.py(), "json", None, None)?)))
    }
}

const SIMPLE: Theorem = Theorem::KovSimplified;

/// Compares the optimum at a delta with all named theorems, and with the approximation if an eta is given.
fn by_name(
    plan: &counterpoint::Plan,
    delta: Delta,
    eta: Option<Eta>,
    options: &Options<'_>,
) -> Result<Comparison, AskError> {
    let mut comparison = plan.compare(delta, options)?;
    comparison.others.push(Named { theorem: SIMPLE, value: SIMPLE.epsilon(plan, delta) });
    if let Some(eta) = eta {
        comparison.others.push(Named::approximation(plan, delta, eta, options.watch)?);
    }
    Ok(comparison)
}

fn others<'py>(py: Python<'py>, comparison: &Comparison) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for bound in &comparison.others {
        match &bound.value {
            Ok(value) => dict.set_item(bound.theorem.name(), value)?,
            Err(reason) => dict.set_item(bound.theorem.name(), reason.to_string())?,
        }
    }
    Ok(dict)
}
