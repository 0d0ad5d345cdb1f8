//! Arrays of doubles, exchanged with NumPy as bytes.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::out_of_range;

/// Reads the doubles of a NumPy array.
pub(crate) fn doubles(bytes: &[u8]) -> impl Iterator<Item = f64> {
    let (chunks, _) = bytes.as_chunks::<8>();
    chunks.iter().map(|chunk| f64::from_ne_bytes(*chunk))
}

/// Packs doubles for NumPy.
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

/// Reads and checks the numbers of an array. The error names the first illegal one and its index.
pub(crate) fn checked<T>(
    argument: &str,
    bytes: &[u8],
    check: impl Fn(f64) -> Result<T, counterpoint::OutOfRangeError>,
) -> PyResult<Vec<T>> {
    let one = |(index, value): (usize, f64)| {
        check(value).map_err(|error| out_of_range(&format!("{argument}[{index}]"))(error))
    };
    doubles(bytes).enumerate().map(one).collect()
}

/// Packed lower ends and upper ends.
pub(crate) type Ends<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Packs the ends of brackets for NumPy.
pub(crate) fn ends<'py>(py: Python<'py>, list: &[counterpoint::Bracket]) -> PyResult<Ends<'py>> {
    let lower = packed(py, list.iter().map(|bracket| bracket.lower))?;
    Ok((lower, packed(py, list.iter().map(|bracket| bracket.upper))?))
}
