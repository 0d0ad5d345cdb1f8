//! Lists of doubles, as numpy keeps them.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::out_of_range;

/// Doubles as numpy keeps them.
pub(crate) fn doubles(bytes: &[u8]) -> impl Iterator<Item = f64> {
    let (chunks, _) = bytes.as_chunks::<8>();
    chunks.iter().map(|chunk| f64::from_ne_bytes(*chunk))
}

/// Doubles for numpy.
pub(crate) fn packed(
    py: Python<'_>,
    list: impl ExactSizeIterator<Item = f64>,
) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, 8 * list.len(), |buffer| {
        let (chunks, _) = buffer.as_chunks_mut::<8>();
        for (chunk, value) in chunks.iter_mut().zip(list) {
            *chunk = value.to_ne_bytes();
        }
        Ok(())
    })
}

/// Numbers of an array, checked; the first that is not legal is named with its place.
pub(crate) fn checked<T>(
    argument: &str,
    bytes: &[u8],
    check: impl Fn(f64) -> Result<T, counterpoint::OutOfRange>,
) -> PyResult<Vec<T>> {
    let one = |(index, value): (usize, f64)| {
        check(value).map_err(|error| out_of_range(&format!("{argument}[{index}]"))(error))
    };
    doubles(bytes).enumerate().map(one).collect()
}

/// The lower and the upper ends, for numpy.
pub(crate) type Ends<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// The ends of brackets, for numpy.
pub(crate) fn ends<'py>(py: Python<'py>, list: &[counterpoint::Bracket]) -> PyResult<Ends<'py>> {
    let lower = packed(py, list.iter().map(|bracket| bracket.lower))?;
    Ok((lower, packed(py, list.iter().map(|bracket| bracket.upper))?))
}
