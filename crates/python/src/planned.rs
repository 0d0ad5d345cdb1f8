//! PlannedStudy studies: from requested errors to mechanisms and a certified plan.

use counterpoint_planner::{PlanningError, SumBound};
use counterpoint_studies::{locate_study_error, read_study, study_from_table, warning_text};
use counterpoint_wire::Format;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::path::Path;

use crate::bracket::{Answer, Bracket};
use crate::errors::{self, invalid, wrong_type};
use crate::mechanism::wrap_all;
use crate::plan::Plan;
use crate::run::RunOptions;
use crate::value;

/// A planned study.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct PlannedStudy {
    inner: counterpoint_studies::PlannedStudy,
}

/// A statistic: name, mechanisms, noise, error, requested error, confidence, true if pinned, epsilon alone, sampling
/// error and warning.
type Statistic<'py> = (
    String,
    Bound<'py, PyTuple>,
    Option<&'static str>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    bool,
    f64,
    Option<f64>,
    Option<String>,
);

#[pymethods]
impl PlannedStudy {
    /// The epsilon of all releases together at the study's delta.
    #[getter]
    fn epsilon(&self, py: Python<'_>) -> PyResult<Py<Answer>> {
        Answer::wrap(py, &self.inner.planned.cost)
    }

    /// The study's delta.
    #[getter]
    fn delta(&self) -> f64 {
        self.inner.planned.delta.get()
    }

    /// The delta at which the plan itself is composed: larger than the study's where the data are a secret sample.
    #[getter]
    fn delta_within(&self) -> f64 {
        self.inner.planned.delta_within.get()
    }

    /// The factor by which all requested errors are multiplied, or None.
    #[getter]
    fn factor(&self) -> Option<Bracket> {
        self.inner.planned.factor.map(Bracket::from)
    }

    /// The weighted sum of errors, or None.
    #[getter]
    fn sum(&self) -> Option<f64> {
        self.inner.planned.sum.map(|sum| sum.relative)
    }

    /// The same sum with errors in the units of each statistic, or None.
    #[getter]
    fn sum_in_units(&self) -> Option<f64> {
        self.inner.planned.sum.map(|sum| sum.in_units)
    }

    /// The factor, sum or epsilon if the planner chose all noise; None unless a statistic prescribes its noise.
    #[getter]
    fn free_choice(&self) -> Option<f64> {
        self.inner.planned.free_choice
    }

    /// The proved lower bound on the sum, "any" or "these" noise, and the reason why nothing is proved; or None.
    #[getter]
    fn least(&self) -> Option<(Option<f64>, Option<&'static str>, Option<&'static str>)> {
        Some(match self.inner.planned.sum_bound? {
            SumBound::Proved { sum, any_noise: true } => (Some(sum), Some("any"), None),
            SumBound::Proved { sum, any_noise: false } => (Some(sum), Some("these"), None),
            SumBound::Unknown { reason } => (None, None, Some(reason)),
            _ => (None, None, None),
        })
    }

    /// The statistics, in order, as tuples.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Vec<Statistic<'py>>> {
        let mut releases = self.inner.plan().releases.into_iter();
        let of = |line: &counterpoint_planner::StatisticPlan| {
            let own: Vec<_> = match line.releases.is_empty() {
                true => Vec::new(),
                false => releases.next().into_iter().collect(),
            };
            let (runs, mechanisms) = (line.answer.as_ref(), wrap_all(py, &own)?);
            Ok((
                line.name.clone(),
                mechanisms,
                runs.map(|runs| runs.noise.name()),
                // A public number has no error.
                runs.map_or(line.releases.is_empty().then_some(0.0), |runs| Some(runs.error))
                    .filter(|error| error.is_finite()),
                runs.and_then(|runs| runs.wanted),
                runs.map(|runs| runs.confidence),
                runs.is_some_and(|runs| runs.pinned),
                line.epsilon,
                runs.and_then(|runs| runs.sampling_error),
                self.inner.planned.warning(line).map(warning_text),
            ))
        };
        self.inner.planned.statistics.iter().map(of).collect()
    }

    /// The charges of other theorems for the same study: name, epsilon and factor.
    fn others(&self) -> Vec<(&'static str, Option<f64>, Option<f64>)> {
        let others = self.inner.planned.other_theorems.iter();
        others.map(|other| (other.theorem, other.epsilon, other.factor)).collect()
    }

    /// All releases, as a plan.
    fn plan(&self, py: Python<'_>) -> PyResult<Plan> {
        Plan::of(py, self.inner.plan())
    }

    /// The object that `counterpoint plan --json` prints.
    fn to_json(&self) -> PyResult<String> {
        self.inner.json().map_err(|error| invalid(error.to_string()))
    }
}

/// Plans a study: a dict, or the text of a study file.
#[pyfunction]
#[pyo3(signature = (study, path = None, *, prove = false, progress = None))]
pub(crate) fn plan_study(
    py: Python<'_>,
    study: &Bound<'_, PyAny>,
    path: Option<&str>,
    prove: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PlannedStudy> {
    let study = if let Ok(fields) = study.cast::<PyDict>() {
        study_from_table(value::table(fields)?)
    } else if let Ok(text) = study.cast::<PyBytes>() {
        let text = text.as_bytes();
        read_study(text, Format::detect(path.map(Path::new), text))
    } else {
        return Err(wrong_type("study", study, "a dict, or a study file's text"));
    };
    let study = study.map_err(|error| invalid(error.to_string()))?;
    let how = RunOptions::new(None, None, progress)?;
    let names = study.clone();
    let ask = move |options: &counterpoint::Options<'_>| {
        let mut planned = counterpoint_planner::plan(&study, options)?;
        if prove {
            planned.sum_bound = counterpoint_planner::bound_sum(&study, &planned, options)?;
        }
        Ok(counterpoint_studies::PlannedStudy::new(&study, planned))
    };
    let raise = |error: PlanningError| match &error {
        PlanningError::Study(at) => invalid(locate_study_error(&names, at).to_string()),
        _ => errors::planning(error),
    };
    Ok(PlannedStudy { inner: how.run_as(py, ask, raise)? })
}
