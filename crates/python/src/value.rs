//! Conversion of plan file values to and from Python.

use counterpoint_numerics::fractions::Ratio;
use counterpoint_wire::{ExactNumber, Table, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors::{invalid, wrong_type};

/// Reads a number: any real number of Python except True and False.
pub(crate) fn number(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    let refused = || wrong_type(argument, given, "a number");
    if given.is_instance_of::<PyBool>() || given.is_instance_of::<PyString>() {
        return Err(refused());
    }
    given.extract().map_err(|_| refused())
}

/// Reads a number exactly: text such as "0.3" or "1/3", a Fraction, a Decimal or another real number.
pub(crate) fn fraction(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<Ratio> {
    let legal = "a number, a Fraction, a Decimal or text such as \"1/3\"";
    if given.is_instance_of::<PyBool>() {
        return Err(wrong_type(argument, given, legal));
    }
    if let Ok(text) = given.cast::<PyString>() {
        let read = counterpoint_wire::fraction(&text.to_cow()?);
        return read.map_err(|problem| invalid(format!("{argument} {problem}")));
    }
    ratio(given).ok_or_else(|| wrong_type(argument, given, legal))
}

/// The exact value of a Python number that is a fraction of whole numbers.
fn ratio(given: &Bound<'_, PyAny>) -> Option<Ratio> {
    let parts = given.call_method0("as_integer_ratio").ok()?;
    let (above, below): (Bound<'_, PyAny>, Bound<'_, PyAny>) = parts.extract().ok()?;
    let text = format!("{}/{}", above.str().ok()?, below.str().ok()?);
    text.parse().ok()
}

/// Reads a whole number.
pub(crate) fn whole(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<u64> {
    let refused = || wrong_type(argument, given, "a whole number");
    if given.is_instance_of::<PyBool>() {
        return Err(refused());
    }
    let number = given.call_method0("__index__").map_err(|_| refused())?;
    let text = || format!("{argument} is {number}; legal: a whole number from 0 to 2^64 - 1");
    number.extract().map_err(|_| crate::errors::invalid(text()))
}

/// The greatest depth of nested lists and dicts, since one may contain itself.
const MOST_LEVELS: usize = 16;

/// Reads a field of a release or a study at a level of nesting.
fn from_python(name: &str, given: &Bound<'_, PyAny>, level: usize) -> PyResult<Value<'static>> {
    if level > MOST_LEVELS {
        let text = format!("{name} is nested too deeply; legal: at most {MOST_LEVELS} levels");
        return Err(crate::errors::invalid(text));
    }
    if let Ok(truth) = given.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(Value::Text(text.to_cow()?.into_owned().into()));
    }
    if let Ok(number) = given.cast::<PyFloat>() {
        return Ok(Value::Real(number.extract()?));
    }
    // NumPy's whole numbers have an index, its other numbers a float.
    if let Ok(index) = given.call_method0("__index__") {
        let text = index.str()?.to_cow()?.into_owned();
        return Ok(text.parse().map_or(Value::TooLarge(text), Value::Whole));
    }
    if let Ok(number) = given.extract::<f64>() {
        // A Fraction or a Decimal is kept exactly.
        let written = ratio(given).and_then(ExactNumber::new).map(Box::new);
        return Ok(written.map_or(Value::Real(number), Value::Exact));
    }
    if let Ok(fields) = given.cast::<PyDict>() {
        return Ok(Value::Table(table_in(fields, level)?));
    }
    let Ok(items) = given.try_iter() else {
        return Err(wrong_type(name, given, "a number, a string or a list of numbers"));
    };
    let items = items.map(|item| from_python(name, &item?, level + 1));
    Ok(Value::List(items.collect::<PyResult<_>>()?))
}

/// Reads the fields of a release or a study; a field that is None is absent.
pub(crate) fn table(fields: &Bound<'_, PyDict>) -> PyResult<Table<'static>> {
    table_in(fields, 0)
}

fn table_in(fields: &Bound<'_, PyDict>, level: usize) -> PyResult<Table<'static>> {
    let mut table = Table::new();
    for (name, value) in fields {
        if !value.is_none() {
            let name: String =
                name.extract().map_err(|_| wrong_type("a field", &name, "a string"))?;
            let value = from_python(&name, &value, level + 1)?;
            table.push((name.into(), value));
        }
    }
    Ok(table)
}

pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Whole(number) => whole_to_python(py, *number)?,
        Value::Real(number) => PyFloat::new(py, *number).into_any(),
        Value::Exact(number) => {
            py.import("fractions")?.getattr("Fraction")?.call1((number.to_string(),))?
        }
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::List(items) => {
            let items = items.iter().map(|item| to_python(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Table(table) => {
            let dict = PyDict::new(py);
            for (name, value) in table {
                dict.set_item(name.as_ref(), to_python(py, value)?)?;
            }
            dict.into_any()
        }
        _ => py.None().into_bound(py),
    })
}

fn whole_to_python(py: Python<'_>, number: i128) -> PyResult<Bound<'_, PyAny>> {
    match i64::try_from(number) {
        Ok(number) => Ok(number.into_pyobject(py)?.into_any()),
        Err(_) => py.get_type::<PyInt>().call1((number.to_string(),)),
    }
}
