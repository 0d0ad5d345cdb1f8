//! Privacy losses.

use counterpoint::ask::{AskError, PrivacyLoss};
use counterpoint::loss::Direction;
use counterpoint::quantity::Level;
use pyo3::prelude::*;
use std::sync::Arc;

use crate::arrays::{Ends, doubles, ends};
use crate::bracket::Bracket;
use crate::errors::out_of_range;
use crate::run::RunOptions;
use crate::value::number;

/// The privacy losses in one direction, on one part of the data.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Losses {
    plan: Arc<counterpoint::Plan>,
    index: usize,
    direction: &'static str,
    part: Option<String>,
    leak: Bracket,
    mean: Bracket,
    variance: Bracket,
    atoms: Option<Vec<(Bracket, Bracket)>>,
}

impl Losses {
    pub(crate) fn all(plan: &Arc<counterpoint::Plan>) -> Result<Vec<Self>, AskError> {
        let one = |(index, loss): (usize, PrivacyLoss<'_>)| Self {
            plan: plan.clone(),
            index,
            direction: match loss.direction() {
                Direction::Remove => "remove",
                Direction::Add => "add",
            },
            part: loss.part().map(str::to_owned),
            leak: loss.leak().into(),
            mean: loss.mean().into(),
            variance: loss.variance().into(),
            atoms: loss.atoms().map(|atoms| {
                atoms.iter().map(|atom| (atom.loss.into(), atom.mass.into())).collect()
            }),
        };
        Ok(plan.losses()?.into_iter().enumerate().map(one).collect())
    }

    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        how: &RunOptions,
        ask: impl FnOnce(&PrivacyLoss<'_>, &counterpoint::Options<'_>) -> Result<T, AskError>
        + Send
        + 'static,
    ) -> PyResult<T> {
        let (plan, index) = (Arc::clone(&self.plan), self.index);
        how.run(py, move |options| {
            let all = plan.losses()?;
            ask(all.get(index).ok_or(AskError::NoDistribution)?, options)
        })
    }
}

#[pymethods]
impl Losses {
    /// The direction: "remove" compares data with the person to data without, "add" the reverse.
    #[getter]
    fn direction(&self) -> &'static str {
        self.direction
    }

    /// The part of the data, or None.
    #[getter]
    fn part(&self) -> Option<&str> {
        self.part.as_deref()
    }

    /// The probability that the loss is infinite.
    #[getter]
    fn leak(&self) -> Bracket {
        self.leak
    }

    /// The mean, given that the loss is finite.
    #[getter]
    fn mean(&self) -> Bracket {
        self.mean
    }

    /// The variance, given that the loss is finite.
    #[getter]
    fn variance(&self) -> Bracket {
        self.variance
    }

    /// All losses with their probabilities, from the largest down, if they are few; else None.
    #[getter]
    fn atoms(&self) -> Option<Vec<(Bracket, Bracket)>> {
        self.atoms.clone()
    }

    /// The probability of a loss above this one.
    #[pyo3(signature = (loss, *, tolerance = None, progress = None))]
    fn above(
        &self,
        py: Python<'_>,
        loss: &Bound<'_, PyAny>,
        tolerance: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bracket> {
        let (loss, how) = (number("loss", loss)?, RunOptions::new(tolerance, None, progress)?);
        Ok(self.ask(py, &how, move |losses, options| losses.above(loss, options))?.into())
    }

    /// The probability of a loss above each of these, packed.
    #[pyo3(signature = (losses, *, tolerance = None, progress = None))]
    fn above_each<'py>(
        &self,
        py: Python<'py>,
        losses: &[u8],
        tolerance: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Ends<'py>> {
        let how = RunOptions::new(tolerance, None, progress)?;
        let places: Vec<f64> = doubles(losses).collect();
        let list = self.ask(py, &how, move |losses, options| {
            places.iter().map(|&loss| losses.above(loss, options)).collect::<Result<Vec<_>, _>>()
        })?;
        ends(py, &list)
    }

    /// The least loss that is exceeded with probability at most 1 - level.
    #[pyo3(signature = (level, *, tolerance = None, progress = None))]
    fn quantile(
        &self,
        py: Python<'_>,
        level: &Bound<'_, PyAny>,
        tolerance: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bracket> {
        let level = Level::new(number("level", level)?).map_err(out_of_range("level"))?;
        let how = RunOptions::new(tolerance, None, progress)?;
        Ok(self.ask(py, &how, move |losses, options| losses.quantile(level, options))?.into())
    }
}
