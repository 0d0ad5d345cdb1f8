//! Brackets and answers.

use counterpoint::theorem::Theorem;
use counterpoint_wire::decimal;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyType};

use crate::errors::invalid;

/// Two numbers with the truth between them, rounding included.
///
/// As a float it is its upper end, which is never below the truth.
#[pyclass(frozen, subclass, module = "counterpoint._native")]
#[derive(Clone, Copy)]
pub(crate) struct Bracket {
    pub(crate) inner: counterpoint::Bracket,
}

impl From<counterpoint::Bracket> for Bracket {
    fn from(inner: counterpoint::Bracket) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl Bracket {
    #[new]
    fn new(lower: f64, upper: f64) -> PyResult<Self> {
        if lower <= upper {
            return Ok(counterpoint::Bracket { lower, upper }.into());
        }
        let text = format!("lower is {lower:?} and upper {upper:?}; legal: lower at most upper");
        Err(invalid(text))
    }

    /// Never above the truth.
    #[getter]
    fn lower(&self) -> f64 {
        self.inner.lower
    }

    /// Never below the truth.
    #[getter]
    fn upper(&self) -> f64 {
        self.inner.upper
    }

    /// upper - lower.
    #[getter]
    fn width(&self) -> f64 {
        self.inner.width()
    }

    /// The width relative to the upper end.
    #[getter]
    fn relative_width(&self) -> f64 {
        self.inner.relative_width()
    }

    /// Whether two brackets have a point in common, as two of the same number must.
    fn overlaps(&self, other: PyRef<'_, Self>) -> bool {
        self.inner.overlaps(&other.inner)
    }

    fn __contains__(&self, number: f64) -> bool {
        self.inner.contains(number)
    }

    fn __float__(&self) -> f64 {
        self.inner.upper
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let ends = (slf.get().inner.lower, slf.get().inner.upper);
        ends.into_pyobject(slf.py())?.call_method0("__iter__")
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().inner == self.inner)
    }

    fn __hash__(&self) -> u64 {
        self.inner.lower.to_bits() ^ self.inner.upper.to_bits().rotate_left(32)
    }

    fn __repr__(&self) -> String {
        let counterpoint::Bracket { lower, upper } = self.inner;
        format!("Bracket(lower={lower:?}, upper={upper:?})")
    }

    /// As many digits as are certain, or six: rounded outward.
    fn __str__(&self) -> String {
        let counterpoint::Bracket { lower, upper } = self.inner;
        if !upper.is_finite() {
            return format!("{lower:?} .. {upper:?}");
        }
        for digits in 6..17 {
            let (low, high) = (decimal::down(lower, digits), decimal::up(upper, digits));
            // The last digit alone differs.
            if low.len() == high.len() && low[..low.len() - 1] == high[..high.len() - 1] {
                return format!("{low} .. {high}");
            }
            if upper - lower > 1e-6 * upper.abs() {
                return format!("{low} .. {high}");
            }
        }
        format!("{lower:?} .. {upper:?}")
    }

    /// The upper end as a float would be formatted, rounded up.
    fn __format__(&self, format: &Bound<'_, PyAny>) -> PyResult<String> {
        if format.len()? == 0 {
            return Ok(self.__str__());
        }
        let upper = self.inner.upper;
        let shown = |value: f64| -> PyResult<(String, f64)> {
            let text: String = PyFloat::new(format.py(), value)
                .call_method1("__format__", (format,))?
                .extract()?;
            let read = read(&text);
            let legal = "one whose text is a number, as .3f or .4g";
            Ok((text, read.ok_or_else(|| invalid(format!("format is {format}; legal: {legal}")))?))
        };
        let (nearest, below) = shown(upper)?;
        // Half a last digit at most: somewhat more of it shows the next one.
        let mut more = upper - below;
        if !more.is_finite() || more <= 0.0 {
            return Ok(nearest);
        }
        loop {
            let (text, value) = shown(upper + more)?;
            if value >= upper {
                return Ok(text);
            }
            more *= 1.5;
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (f64, f64)) {
        let ends = slf.get().inner;
        (slf.py().get_type::<Self>(), (ends.lower, ends.upper))
    }
}

/// A certified answer: a bracket, how it was computed, and which theorem licenses it.
#[pyclass(frozen, extends = Bracket, module = "counterpoint._native")]
pub(crate) struct Answer {
    route: String,
    theorem: String,
    wide: bool,
}

#[pymethods]
impl Answer {
    #[new]
    #[pyo3(signature = (lower, upper, route, theorem, wide = false))]
    fn new(
        lower: f64,
        upper: f64,
        route: String,
        theorem: String,
        wide: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let bracket = PyClassInitializer::from(Bracket::new(lower, upper)?);
        Ok(bracket.add_subclass(Self { route, theorem, wide }))
    }

    /// Whether it is wider, relatively, than was promised or aimed at.
    #[getter]
    fn wide(&self) -> bool {
        self.wide
    }

    /// How it was computed.
    #[getter]
    fn route(&self) -> &str {
        &self.route
    }

    /// Which theorem licenses it.
    #[getter]
    fn theorem(&self) -> &str {
        &self.theorem
    }

    /// Where that theorem was proved.
    #[getter]
    fn source(&self) -> &'static str {
        theorem_named(&self.theorem).map_or("", Theorem::source)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let counterpoint::Bracket { lower, upper } = slf.as_super().get().inner;
        let Self { route, theorem, wide } = slf.get();
        let wide = if *wide { ", wide=True" } else { "" };
        format!(
            "Answer(lower={lower:?}, upper={upper:?}, route={route:?}, theorem={theorem:?}{wide})"
        )
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, PyType>, (f64, f64, String, String, bool)) {
        let ends = slf.as_super().get().inner;
        let Self { route, theorem, wide } = slf.get();
        let parts = (ends.lower, ends.upper, route.clone(), theorem.clone(), *wide);
        (slf.py().get_type::<Self>(), parts)
    }
}

/// The number that a formatted one says.
fn read(text: &str) -> Option<f64> {
    let kept: String = text.chars().filter(|c| !",_ ".contains(*c)).collect();
    match kept.strip_suffix('%') {
        Some(hundredths) => hundredths.parse::<f64>().ok().map(|number| number / 100.0),
        None => kept.parse().ok(),
    }
}

fn theorem_named(name: &str) -> Option<Theorem> {
    Theorem::ALL.into_iter().find(|theorem| theorem.name() == name)
}

impl Answer {
    pub(crate) fn wrap(py: Python<'_>, answer: &counterpoint::Answer) -> PyResult<Py<Self>> {
        let own = Self {
            route: answer.route.name().to_owned(),
            theorem: answer.theorem.name().to_owned(),
            wide: answer.wide,
        };
        let bracket = PyClassInitializer::from(Bracket::from(answer.bracket));
        Py::new(py, bracket.add_subclass(own))
    }
}
