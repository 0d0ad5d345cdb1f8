//! Brackets and answers.

use counterpoint::theorem::Theorem;
use counterpoint_wire::decimal;
use pyo3::exceptions::{PyTypeError, PyValueError, PyZeroDivisionError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBool, PyFloat, PyString, PyType};

use crate::errors::{self, invalid};
use crate::interval::{self, Side, SidedBracket};

/// Two numbers with the true value between them, rounding included.
///
/// ``float()`` of a bracket is its safe side: the upper end, which is never below the true value, or the lower end if
/// ``safe`` says so. Comparisons compare the true value; if the ends do not decide, they raise
/// :class:`counterpoint.errors.UndecidedError`.
///
/// Parameters
/// ----------
/// lower
///     A number that is never above the true value.
/// upper
///     A number that is never below the true value.
/// safe
///     The safe side: "upper", "lower", or None if neither is.
#[pyclass(frozen, subclass, module = "counterpoint._native")]
#[derive(Clone, Copy)]
pub(crate) struct Bracket {
    pub(crate) inner: counterpoint::Bracket,
    side: Side,
}

impl From<counterpoint::Bracket> for Bracket {
    fn from(inner: counterpoint::Bracket) -> Self {
        Self { inner, side: Side::Upper }
    }
}

impl Bracket {
    /// A bracket whose safe side is the lower end.
    pub(crate) fn at_least(inner: counterpoint::Bracket) -> Self {
        Self { inner, side: Side::Lower }
    }

    fn with_side(&self) -> SidedBracket {
        (self.inner, self.side)
    }

    /// The safe end, and true if it is the upper one.
    fn safe_end(&self) -> PyResult<(f64, bool)> {
        match self.side {
            Side::Upper | Side::Either => Ok((self.inner.upper, true)),
            Side::Lower => Ok((self.inner.lower, false)),
            Side::Neither => {
                let text = format!("{} has no safe side; legal: .lower or .upper", self.__str__());
                Err(PyTypeError::new_err(text))
            }
        }
    }
}

#[pymethods]
impl Bracket {
    #[new]
    #[pyo3(signature = (lower, upper, safe = Some("upper")))]
    fn new(lower: f64, upper: f64, safe: Option<&str>) -> PyResult<Self> {
        let side = match safe {
            None => Some(Side::Neither),
            Some(name) => Side::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, s)| s),
        };
        let Some(side) = side else {
            let text =
                format!("safe is {:?}; legal: upper, lower or None", safe.unwrap_or_default());
            return Err(invalid(text));
        };
        if lower <= upper {
            return Ok(Self { inner: counterpoint::Bracket { lower, upper }, side });
        }
        let text = format!("lower is {lower:?} and upper {upper:?}; legal: lower at most upper");
        Err(invalid(text))
    }

    /// The lower end, never above the true value.
    #[getter]
    fn lower(&self) -> f64 {
        self.inner.lower
    }

    /// The upper end, never below the true value.
    #[getter]
    fn upper(&self) -> f64 {
        self.inner.upper
    }

    /// The safe side: "upper", "lower", or None if neither is.
    #[getter]
    fn safe(&self) -> Option<&'static str> {
        self.side.name()
    }

    /// The width, upper - lower.
    #[getter]
    fn width(&self) -> f64 {
        self.inner.width()
    }

    /// The width relative to the upper end.
    #[getter]
    fn relative_width(&self) -> f64 {
        self.inner.relative_width()
    }

    /// True if two brackets have a common point, as two brackets of the same number must.
    ///
    /// Parameters
    /// ----------
    /// other
    ///     The other bracket.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True if the brackets overlap.
    fn overlaps(&self, other: PyRef<'_, Self>) -> bool {
        self.inner.overlaps(&other.inner)
    }

    fn __contains__(&self, number: f64) -> bool {
        self.inner.contains(number)
    }

    fn __float__(&self) -> PyResult<f64> {
        Ok(self.safe_end()?.0)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let ends = (slf.get().inner.lower, slf.get().inner.upper);
        ends.into_pyobject(slf.py())?.call_method0("__iter__")
    }

    /// `==` compares both ends, where a number is a bracket of width zero. The other operators compare true values.
    fn __richcmp__(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        op: CompareOp,
    ) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let Some((theirs, _)) = operand(other)? else { return Ok(py.NotImplemented()) };
        let mine = slf.get().inner;
        let truth = match op {
            CompareOp::Eq => Some(mine == theirs),
            CompareOp::Ne => Some(mine != theirs),
            _ if theirs.lower.is_nan() => {
                return Err(invalid("a bracket is compared with nan; legal: a number"));
            }
            // One bracket on both sides: the same unknown number.
            CompareOp::Le | CompareOp::Ge if slf.is(other) => Some(true),
            CompareOp::Lt | CompareOp::Gt if slf.is(other) => Some(false),
            CompareOp::Le => interval::is_at_most(mine, theirs, false),
            CompareOp::Lt => interval::is_at_most(mine, theirs, true),
            CompareOp::Ge => interval::is_at_most(theirs, mine, false),
            CompareOp::Gt => interval::is_at_most(theirs, mine, true),
        };
        let truth = truth.ok_or_else(|| {
            let (mine, theirs) = (slf.get().__str__(), other.str().map(|text| text.to_string()));
            let asked = format!("{mine} {} {}", symbol(op), theirs.unwrap_or_default());
            errors::undecided(&asked)
        })?;
        Ok(PyBool::new(py, truth).to_owned().into_any().unbind())
    }

    fn __bool__(&self) -> PyResult<bool> {
        let counterpoint::Bracket { lower, upper } = self.inner;
        match (lower > 0.0 || upper < 0.0, lower >= 0.0 && upper <= 0.0) {
            (true, _) => Ok(true),
            (_, true) => Ok(false),
            _ => Err(errors::undecided(&format!("{} != 0", self.__str__()))),
        }
    }

    fn __hash__(slf: &Bound<'_, Self>) -> PyResult<isize> {
        let counterpoint::Bracket { lower, upper } = slf.get().inner;
        match lower >= upper {
            true => PyFloat::new(slf.py(), upper).hash(),
            false => (lower, upper).into_pyobject(slf.py())?.hash(),
        }
    }

    fn __add__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.make(other, |mine, theirs| Ok(interval::sum(mine, theirs)))
    }

    fn __radd__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.__add__(other)
    }

    fn __sub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.make(other, |mine, theirs| Ok(interval::difference(mine, theirs)))
    }

    fn __rsub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.make(other, |mine, theirs| Ok(interval::difference(theirs, mine)))
    }

    fn __mul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.make(other, |mine, theirs| Ok(interval::product(mine, theirs)))
    }

    fn __rmul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.__mul__(other)
    }

    fn __truediv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.make(other, |mine, theirs| interval::quotient(mine, theirs).ok_or_else(by_zero))
    }

    fn __rtruediv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.make(other, |mine, theirs| interval::quotient(theirs, mine).ok_or_else(by_zero))
    }

    fn __neg__(&self) -> Self {
        of(interval::negative(self.with_side()))
    }

    fn __pos__(&self) -> Self {
        *self
    }

    fn __abs__(&self) -> Self {
        of(interval::magnitude(self.with_side()))
    }

    /// Rounds the safe side outward, to digits after the point or to a whole number.
    #[pyo3(signature = (ndigits = None))]
    fn __round__<'py>(
        slf: &Bound<'py, Self>,
        ndigits: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.get().outward(slf.py(), |number| {
            let rounded = match ndigits {
                Some(digits) => number.call_method1("__round__", (digits,))?,
                None => number.call_method0("__round__")?,
            };
            let value = rounded.extract()?;
            Ok((rounded, value))
        })
    }

    /// The safe side, for NumPy.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy.is_some_and(|copy| copy.is(&*PyBool::new(slf.py(), false))) {
            return Err(PyValueError::new_err("copy is False; legal: None or True"));
        }
        let array = slf.py().import("numpy")?.getattr("array")?;
        array.call1((slf.get().safe_end()?.0, dtype))
    }

    /// Makes NumPy's numbers defer comparisons and sums to brackets.
    #[classattr]
    fn __array_priority__() -> f64 {
        1000.0
    }

    fn __repr__(&self) -> String {
        let counterpoint::Bracket { lower, upper } = self.inner;
        let safe = match self.side.name() {
            Some("upper") => String::new(),
            Some(name) => format!(", safe='{name}'"),
            None => ", safe=None".to_owned(),
        };
        format!("Bracket(lower={lower:?}, upper={upper:?}{safe})")
    }

    /// Shows all certain digits, at least six, rounded outward.
    fn __str__(&self) -> String {
        let counterpoint::Bracket { lower, upper } = self.inner;
        if !upper.is_finite() || !lower.is_finite() {
            return format!("{lower:?} .. {upper:?}");
        }
        for digits in 6..17 {
            let (low, high) = (decimal::down(lower, digits), decimal::up(upper, digits));
            // Only the last digit differs.
            if low.len() == high.len() && low[..low.len() - 1] == high[..high.len() - 1] {
                return format!("{low} .. {high}");
            }
            if upper - lower > 1e-6 * upper.abs() {
                return format!("{low} .. {high}");
            }
        }
        format!("{lower:?} .. {upper:?}")
    }

    /// Formats the safe side as a float, rounded outward.
    fn __format__(&self, format: &Bound<'_, PyAny>) -> PyResult<String> {
        if format.len()? == 0 {
            return Ok(self.__str__());
        }
        self.outward(format.py(), |number| {
            let text: String = number.call_method1("__format__", (format,))?.extract()?;
            let read = read(&text);
            let legal = "one whose text is a number, as .3f or .4g";
            Ok((text, read.ok_or_else(|| invalid(format!("format is {format}; legal: {legal}")))?))
        })
    }

    /// Shows the safe side, rounded outward, and both ends in a notebook.
    fn _repr_html_(&self) -> String {
        let ends = self.__str__();
        match self.side {
            Side::Neither => ends,
            Side::Lower => {
                format!("<b>{}</b> at least ({ends})", decimal::down(self.inner.lower, 6))
            }
            _ => format!("<b>{}</b> at most ({ends})", decimal::up(self.inner.upper, 6)),
        }
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, PyType>, (f64, f64, Option<&'static str>)) {
        let ends = slf.get().inner;
        (slf.py().get_type::<Self>(), (ends.lower, ends.upper, slf.get().side.name()))
    }
}

impl Bracket {
    /// Combines this bracket with a number or another bracket; `NotImplemented` for other types.
    fn make(
        &self,
        other: &Bound<'_, PyAny>,
        make: impl FnOnce(SidedBracket, SidedBracket) -> PyResult<SidedBracket>,
    ) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let Some((theirs, side)) = operand(other)? else { return Ok(py.NotImplemented()) };
        if theirs.lower.is_nan() {
            return Err(invalid("a bracket is added to nan or multiplied by it; legal: a number"));
        }
        Ok(Py::new(py, of(make(self.with_side(), (theirs, side))?))?.into_any())
    }

    /// Shows the safe side by `show`, never on its unsafe side.
    fn outward<'py, T>(
        &self,
        py: Python<'py>,
        show: impl Fn(&Bound<'py, PyFloat>) -> PyResult<(T, f64)>,
    ) -> PyResult<T> {
        let (end, is_upper) = self.safe_end()?;
        let is_kept = |value: f64| if is_upper { value >= end } else { value <= end };
        let (shown, value) = show(&PyFloat::new(py, end))?;
        // Rounding moved the number by at most half a last digit: moving a little further shows the next digit.
        let mut more = end - value;
        if is_kept(value) || !more.is_finite() {
            return Ok(shown);
        }
        loop {
            let (shown, value) = show(&PyFloat::new(py, end + more))?;
            if is_kept(value) {
                return Ok(shown);
            }
            more *= 1.5;
        }
    }
}

fn of((inner, side): SidedBracket) -> Bracket {
    Bracket { inner, side }
}

fn by_zero() -> PyErr {
    PyZeroDivisionError::new_err("the divisor may be zero; legal: one that is not")
}

fn symbol(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    }
}

/// Reads the other operand: a bracket, or a number, which becomes a bracket if no double equals it. `None` for other
/// types.
fn operand(given: &Bound<'_, PyAny>) -> PyResult<Option<SidedBracket>> {
    if let Ok(bracket) = given.cast::<Bracket>() {
        return Ok(Some(bracket.get().with_side()));
    }
    if let Ok(number) = given.cast::<PyFloat>() {
        let value = number.value();
        return Ok(Some((counterpoint::Bracket { lower: value, upper: value }, Side::Either)));
    }
    let is_array = given.getattr("ndim").and_then(|n| n.extract::<usize>()).is_ok_and(|n| n > 0);
    let is_text = given.is_instance_of::<PyBool>() || given.is_instance_of::<PyString>();
    let has = |name| given.hasattr(name);
    if is_array || is_text || !(has("__float__")? || has("__index__")?) {
        return Ok(None);
    }
    let value: f64 = given.extract()?;
    let exactly = value.is_nan() || given.eq(value)?;
    let (lower, upper) =
        if exactly { (value, value) } else { (value.next_down(), value.next_up()) };
    Ok(Some((counterpoint::Bracket { lower, upper }, Side::Either)))
}

/// A certified answer: a bracket with its method and its theorem. Made by :class:`counterpoint.Plan`.
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
        let bracket = PyClassInitializer::from(Bracket::new(lower, upper, Some("upper"))?);
        Ok(bracket.add_subclass(Self { route, theorem, wide }))
    }

    /// True if the bracket is relatively wider than promised or aimed at.
    #[getter]
    fn wide(&self) -> bool {
        self.wide
    }

    /// The method that computed the answer.
    #[getter]
    fn route(&self) -> &str {
        &self.route
    }

    /// The theorem that the answer rests on.
    #[getter]
    fn theorem(&self) -> &str {
        &self.theorem
    }

    /// The publication that proves the theorem.
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

    /// Shows the upper end, rounded up, both ends and their origin in a notebook.
    fn _repr_html_(slf: &Bound<'_, Self>) -> String {
        let Self { route, theorem, wide } = slf.get();
        let wide = if *wide { "; wider than aimed at" } else { "" };
        let bracket = slf.as_super().get()._repr_html_();
        // Names that a service made may contain any character.
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
        format!("{bracket}; {}, {}{wide}", escaped(theorem), escaped(route))
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

/// Reads a formatted number.
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
