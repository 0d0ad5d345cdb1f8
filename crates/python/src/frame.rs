//! Data frames of Python: through Arrow's C interface, and as dicts of columns.

use arrow_array::{
    ArrayRef, Float64Array, Int64Array, NullArray, RecordBatch, StringArray, StructArray,
    UInt64Array,
};
use arrow_schema::{ArrowError, Field, SchemaRef};
use counterpoint_curator::RowSource;
use pyo3::exceptions::{PyException, PyImportError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyFloat, PyString};
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};
use pyo3_arrow::input::AnyRecordBatch;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::errors::{invalid, wrong_type};

type Batches = (Vec<RecordBatch>, SchemaRef);

/// Copies the rows of a frame or of a dict of columns, so that later writes to the frame change nothing.
pub(crate) fn rows(data: &Bound<'_, PyAny>) -> PyResult<RowSource> {
    let (batches, schema) = match data.cast::<PyDict>() {
        Ok(columns) => of_dict(columns)?,
        Err(_) => of_frame(data)?,
    };
    let copied = RowSource::of_frame(&batches, &schema);
    copied.map_err(|failed| invalid(format!("data cannot be read: {}", one_line(&failed.why))))
}

fn of_frame(data: &Bound<'_, PyAny>) -> PyResult<Batches> {
    if !data.hasattr("__arrow_c_stream__")? && !data.hasattr("__arrow_c_array__")? {
        let legal = "a path, a pandas, Polars or Arrow frame, or a dict of columns";
        return Err(wrong_type("data", data, legal));
    }
    let read = || -> PyResult<Batches> {
        let reader = data.extract::<AnyRecordBatch>()?.into_reader()?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<_, ArrowError>>();
        Ok((batches.map_err(|error| invalid(error.to_string()))?, schema))
    };
    let wrong = |why: &str| invalid(format!("data cannot be read: {}", one_line(why)));
    // Arrow's reader panics if a frame contradicts its own schema.
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Err(error)) if error.is_instance_of::<PyImportError>(data.py()) => Err(wrong(&format!(
            "{}; legal: pyarrow beside pandas, or a dict of columns",
            error.value(data.py())
        ))),
        Ok(Err(error)) if error.is_instance_of::<PyException>(data.py()) => {
            Err(wrong(&error.value(data.py()).to_string()))
        }
        Ok(found) => found,
        Err(_) => Err(wrong("its library gave columns that do not fit together")),
    }
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

fn of_dict(columns: &Bound<'_, PyDict>) -> PyResult<Batches> {
    let column = |(name, values): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let text: String =
            name.extract().map_err(|_| wrong_type("a column's name", &name, "a text"))?;
        let array = column(&text, &values)?;
        Ok((text, array, true))
    };
    let named = columns.iter().map(column).collect::<PyResult<Vec<_>>>()?;
    let batch = RecordBatch::try_from_iter_with_nullable(named);
    let batch = batch.map_err(|error| invalid(format!("data: {error}")))?;
    let schema = batch.schema();
    Ok((vec![batch], schema))
}

/// A value of a list.
enum Value {
    Missing,
    Whole(i128),
    Real(f64),
    Text(String),
}

/// Doubles hold every whole number up to this one exactly.
const EXACT: i128 = 1 << 53;

/// A column of the narrowest type that holds all values of a list exactly.
fn column(name: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let all =
        values.try_iter().map_err(|_| wrong_type(name, values, "a list of numbers or texts"))?;
    let all = all.map(|one| value(name, &one?)).collect::<PyResult<Vec<_>>>()?;
    let mixed = |legal| invalid(format!("data, column {name:?} mixes its types; legal: {legal}"));
    let has = |is: fn(&Value) -> bool| all.iter().any(is);
    let (reals, texts) =
        (has(|one| matches!(one, Value::Real(_))), has(|one| matches!(one, Value::Text(_))));
    let wholes = || {
        all.iter().filter_map(|one| if let Value::Whole(whole) = one { Some(*whole) } else { None })
    };
    let (least, most) = (wholes().min(), wholes().max());
    match (least.zip(most), reals, texts) {
        (None, false, false) => Ok(Arc::new(NullArray::new(all.len()))),
        (None, false, true) => {
            Ok(Arc::new(StringArray::from_iter(all.iter().map(|one| match one {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            }))))
        }
        (Some((least, most)), false, false) => whole_column(name, &all, (least, most)),
        (ends, true, false) => {
            if ends.is_some_and(|(least, most)| least < -EXACT || most > EXACT) {
                return Err(mixed("whole numbers from -2^53 to 2^53 beside others"));
            }
            Ok(Arc::new(Float64Array::from_iter(all.iter().map(|one| match one {
                Value::Real(real) => Some(*real),
                Value::Whole(whole) => Some(*whole as f64),
                _ => None,
            }))))
        }
        _ => Err(mixed("numbers alone, or texts alone")),
    }
}

fn whole_column(name: &str, all: &[Value], (least, most): (i128, i128)) -> PyResult<ArrayRef> {
    fn narrow<T: TryFrom<i128>>(all: &[Value]) -> impl Iterator<Item = Option<T>> {
        all.iter()
            .map(|one| if let Value::Whole(whole) = one { T::try_from(*whole).ok() } else { None })
    }
    if i64::try_from(least).is_ok() && i64::try_from(most).is_ok() {
        Ok(Arc::new(Int64Array::from_iter(narrow(all))))
    } else if u64::try_from(least).is_ok() && u64::try_from(most).is_ok() {
        Ok(Arc::new(UInt64Array::from_iter(narrow(all))))
    } else {
        Err(invalid(format!(
            "data, column {name:?} has whole numbers from {least} to {most}; legal: 64 bits, with or without a sign"
        )))
    }
}

fn value(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    let refused = || {
        wrong_type(&format!("data, a value of column {name:?}"), given, "a number, a text or None")
    };
    if given.is_none() {
        Ok(Value::Missing)
    } else if let Ok(text) = given.cast::<PyString>() {
        Ok(Value::Text(text.to_cow()?.into_owned()))
    } else if let Ok(real) = given.cast::<PyFloat>() {
        Ok(Value::Real(real.extract()?))
    } else if let Ok(index) = given.call_method0("__index__") {
        Ok(Value::Whole(index.extract().map_err(|_| refused())?))
    } else if given.hasattr("as_integer_ratio")? {
        // Decimals, fractions and NumPy's short numbers; not dates, which some libraries convert to floats.
        Ok(Value::Real(given.extract().map_err(|_| refused())?))
    } else {
        Err(refused())
    }
}

/// Exports a batch as an Arrow stream.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    batch: RecordBatch,
    requested: Option<Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let field = Field::new_struct("", batch.schema().fields().clone(), false);
    let array: ArrayRef = Arc::new(StructArray::from(batch));
    let arrays = ArrayIterator::new(vec![Ok(array)], Arc::new(field));
    Ok(to_stream_pycapsule(py, Box::new(arrays), requested)?)
}
