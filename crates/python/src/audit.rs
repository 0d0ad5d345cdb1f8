//! Audits of attacks.

use counterpoint::audit::{Attack, Tally};
use counterpoint::quantity::Confidence;
use pyo3::prelude::*;
use std::sync::Arc;

use crate::errors::{invalid, out_of_range, wrong_type};
use crate::plan::{Plan, delta};
use crate::run::RunOptions;
use crate::value::{number, whole};

/// The lower bound on epsilon that attacks prove. Made by :func:`counterpoint.audit`.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Audit {
    inner: counterpoint::audit::Audit,
}

#[pymethods]
impl Audit {
    /// The lower bound on epsilon, which holds with the confidence.
    #[getter]
    fn epsilon(&self) -> f64 {
        self.inner.epsilon
    }

    /// The delta at which epsilon is bounded.
    #[getter]
    fn delta(&self) -> f64 {
        self.inner.delta.get()
    }

    /// The probability with which the bound holds, over the trials.
    #[getter]
    fn confidence(&self) -> f64 {
        self.inner.confidence.get()
    }

    /// For each attack the upper confidence bounds on its false-alarm and its miss rate.
    #[getter]
    fn rates(&self) -> Vec<(f64, f64)> {
        self.inner.rates.iter().map(|point| (point.false_alarm(), point.miss())).collect()
    }

    /// True if the attacks refute the claim that the attacked mechanism is the plan.
    ///
    /// Parameters
    /// ----------
    /// plan
    ///     The plan that is claimed.
    /// progress
    ///     A function that receives the fraction done. If it returns False, the computation stops.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True if the claim is refuted with the audit's confidence.
    #[pyo3(signature = (plan, *, progress = None))]
    fn refutes(
        &self,
        py: Python<'_>,
        plan: PyRef<'_, Plan>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let (audit, plan) = (self.inner.clone(), Arc::clone(&plan.ready));
        let how = RunOptions::new(None, None, progress)?;
        Ok(how.run(py, move |options| audit.refutes(&plan, options))?.refuted)
    }

    fn __float__(&self) -> f64 {
        self.inner.epsilon
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().inner == self.inner)
    }

    fn __repr__(&self) -> String {
        let counterpoint::audit::Audit { epsilon, delta, confidence, .. } = &self.inner;
        let (delta, confidence) = (delta.get(), confidence.get());
        format!("Audit(epsilon={epsilon:?}, delta={delta:?}, confidence={confidence:?})")
    }
}

/// Bounds epsilon from below by the outcomes of attacks, which must be fixed before the trials.
///
/// Parameters
/// ----------
/// attacks
///     For each attack ((false alarms, trials), (misses, trials)).
/// delta
///     The delta at which epsilon is bounded; 0 if None.
/// confidence
///     The probability with which the bound holds; 0.95 if None.
///
/// Returns
/// -------
/// Audit
///     The lower bound.
///
/// Raises
/// ------
/// counterpoint.InvalidArgumentError
///     There is no attack, or an argument is outside its range.
#[pyfunction]
#[pyo3(signature = (attacks, *, delta = None, confidence = None))]
pub(crate) fn audit(
    py: Python<'_>,
    attacks: &Bound<'_, PyAny>,
    delta: Option<&Bound<'_, PyAny>>,
    confidence: Option<&Bound<'_, PyAny>>,
) -> PyResult<Audit> {
    let legal = "a list of attacks ((false alarms, trials), (misses, trials))";
    let items = attacks.try_iter().map_err(|_| wrong_type("attacks", attacks, legal))?;
    let list = items.enumerate().map(|(index, item)| attack(index, &item?));
    let list = list.collect::<PyResult<Vec<_>>>()?;
    if list.is_empty() {
        return Err(invalid(format!("attacks is empty; legal: {legal}")));
    }
    let delta = match delta {
        Some(given) => self::delta("delta", given)?,
        None => counterpoint::Delta::new(0.0).map_err(out_of_range("delta"))?,
    };
    let confidence = confidence.map_or(Ok(0.95), |given| number("confidence", given))?;
    let confidence = Confidence::new(confidence).map_err(out_of_range("confidence"))?;
    let judge = move || counterpoint::audit::audit(&list, delta, confidence);
    Ok(Audit { inner: RunOptions::in_background(py, judge)? })
}

fn attack(index: usize, given: &Bound<'_, PyAny>) -> PyResult<Attack> {
    let legal = "((false alarms, trials), (misses, trials))";
    let place = format!("attacks[{index}]");
    type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);
    let (alarms, misses): (Pair<'_>, Pair<'_>) =
        given.extract().map_err(|_| wrong_type(&place, given, legal))?;
    let tally = |what: &str, (count, trials): &Pair<'_>| {
        let what = format!("{place}: {what}");
        let tally = Tally::new(whole(&what, count)?, whole(&what, trials)?);
        tally.map_err(|error| out_of_range(&format!("{place}: {}", error.quantity))(error))
    };
    Ok(Attack { false_alarms: tally("false alarms", &alarms)?, misses: tally("misses", &misses)? })
}
