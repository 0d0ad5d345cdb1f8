//! Regions of error rates.

use counterpoint::quantity::Rate;
use counterpoint::region::ErrorRates;
use counterpoint_wire::verdict_name;
use pyo3::prelude::*;

use crate::arrays::{Ends, checked, ends, packed};
use crate::bracket::Bracket;
use crate::errors::out_of_range;
use crate::value::number;

/// The pairs of false-alarm and miss rates that a test for one person's data can have.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Region {
    pub(crate) inner: counterpoint::region::Region,
}

fn points<'py>(py: Python<'py>, list: &[ErrorRates]) -> PyResult<Ends<'py>> {
    let alarms = packed(py, list.iter().map(|point| point.false_alarm()))?;
    Ok((alarms, packed(py, list.iter().map(|point| point.miss()))?))
}

#[pymethods]
impl Region {
    /// The vertices of the outer polygon, packed.
    fn outer_points<'py>(&self, py: Python<'py>) -> PyResult<Ends<'py>> {
        points(py, self.inner.outer())
    }

    /// The vertices of the inner polygon, packed.
    fn inner_points<'py>(&self, py: Python<'py>) -> PyResult<Ends<'py>> {
        points(py, self.inner.inner())
    }

    /// The least miss rates at false-alarm rates, packed.
    fn least_misses<'py>(&self, py: Python<'py>, false_alarms: &[u8]) -> PyResult<Ends<'py>> {
        let rates = checked("false_alarm", false_alarms, Rate::new)?;
        let list =
            py.detach(|| rates.iter().map(|&rate| self.inner.least_miss(rate)).collect::<Vec<_>>());
        ends(py, &list)
    }

    /// The least miss rate at a false-alarm rate. Its safe side is the lower end, which no attacker beats.
    fn least_miss(&self, false_alarm: &Bound<'_, PyAny>) -> PyResult<Bracket> {
        Ok(Bracket::at_least(self.inner.least_miss(rate(false_alarm)?)))
    }

    /// The best advantage, 1 - false_alarm - miss, at a false-alarm rate.
    fn best_advantage(&self, false_alarm: &Bound<'_, PyAny>) -> PyResult<Bracket> {
        Ok(self.inner.best_advantage(rate(false_alarm)?).into())
    }

    /// Decides if a test with these error rates exists: "yes", "no" or "undecided".
    fn contains(
        &self,
        false_alarm: &Bound<'_, PyAny>,
        miss: &Bound<'_, PyAny>,
    ) -> PyResult<&'static str> {
        let (alarm, miss) = (number("false_alarm", false_alarm)?, number("miss", miss)?);
        let point =
            ErrorRates::new(alarm, miss).map_err(|error| out_of_range(error.quantity)(error))?;
        Ok(verdict_name(self.inner.contains(point)))
    }

    /// Decides if each test of this region has its equal in the other: "yes", "no" or "undecided".
    fn is_within(&self, py: Python<'_>, other: PyRef<'_, Self>) -> &'static str {
        let other = &other.inner;
        py.detach(|| verdict_name(self.inner.is_within(other)))
    }

    /// The largest advantage of any test.
    #[getter]
    fn total_variation(&self) -> Bracket {
        self.inner.total_variation().into()
    }

    /// The area between the trade-off curve and the line of blind guesses.
    #[getter]
    fn area(&self) -> Bracket {
        self.inner.area().into()
    }

    /// True if the polygons are the region itself, except for rounding.
    #[getter]
    fn is_finite(&self) -> bool {
        self.inner.is_finite()
    }

    /// The theorem that the region rests on.
    #[getter]
    fn theorem(&self) -> &'static str {
        self.inner.theorem().name()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().inner == self.inner)
    }
}

fn rate(given: &Bound<'_, PyAny>) -> PyResult<Rate> {
    Rate::new(number("false_alarm", given)?).map_err(out_of_range("false_alarm"))
}
