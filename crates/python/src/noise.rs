//! The exact samplers, for numbers, lists and arrays.
//!
//! Only the drawn values depend on the data: values that are too large are cut, as in the library, and never refused.

use counterpoint::quantity::Count;
use counterpoint_mechanisms::{self as mechanisms, Error, Grid, LeakyAnswer};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::arrays::doubles;
use crate::errors::{mechanisms as refused, out_of_range};
use crate::mechanism::wrap_releases;
use crate::value::{number, whole};

/// The number of draws between two looks at the interpreter's signals.
const BLOCK: usize = 1 << 15;

/// Draws once for each item, without the interpreter's lock.
fn each<T: Sync, U: Send>(
    py: Python<'_>,
    items: &[T],
    draw: impl Fn(&T) -> Result<U, Error> + Sync,
) -> PyResult<Vec<U>> {
    let mut drawn = Vec::with_capacity(items.len());
    for block in items.chunks(BLOCK) {
        let more: Result<Vec<U>, Error> = py.detach(|| block.iter().map(&draw).collect());
        drawn.extend(more.map_err(refused)?);
        py.check_signals()?;
    }
    Ok(drawn)
}

/// Reads the whole numbers of a NumPy array.
fn wholes(bytes: &[u8]) -> Vec<i64> {
    let (chunks, _) = bytes.as_chunks::<8>();
    chunks.iter().map(|chunk| i64::from_ne_bytes(*chunk)).collect()
}

/// Packs numbers of eight bytes for NumPy.
fn packed<'py, T>(
    py: Python<'py>,
    list: &[T],
    bytes: impl Fn(&T) -> [u8; 8],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 8 * list.len(), |buffer| {
        let (chunks, _) = buffer.as_chunks_mut::<8>();
        for (chunk, value) in chunks.iter_mut().zip(list) {
            *chunk = bytes(value);
        }
        Ok(())
    })
}

/// The releases that a number of runs is charged as.
fn charged<'py>(
    py: Python<'py>,
    mechanism: counterpoint::Mechanism,
    times: u64,
) -> PyResult<Bound<'py, PyTuple>> {
    if times == 0 {
        return Ok(PyTuple::empty(py));
    }
    let count = Count::new(times).map_err(out_of_range("the number of values"))?;
    wrap_releases(py, &[(mechanism, count).into()])
}

/// Additive noise.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Noise {
    noise: mechanisms::Noise,
}

/// The grid whose step is at most this one.
fn grid(step: &Bound<'_, PyAny>) -> PyResult<Grid> {
    Grid::at_most(number("grid", step)?).map_err(refused)
}

#[pymethods]
impl Noise {
    /// Geometric noise on whole numbers.
    #[staticmethod]
    fn geometric(scale: &Bound<'_, PyAny>, sensitivity: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (scale, sensitivity) = (number("scale", scale)?, whole("sensitivity", sensitivity)?);
        Ok(Self { noise: mechanisms::Noise::geometric(scale, sensitivity).map_err(refused)? })
    }

    /// Discrete Gaussian noise on whole numbers.
    #[staticmethod]
    fn discrete_gaussian(
        sigma: &Bound<'_, PyAny>,
        sensitivity: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (sigma, sensitivity) = (number("sigma", sigma)?, whole("sensitivity", sensitivity)?);
        let noise = mechanisms::Noise::discrete_gaussian(sigma, sensitivity);
        Ok(Self { noise: noise.map_err(refused)? })
    }

    /// Laplace noise on a grid.
    #[staticmethod]
    fn laplace(
        scale: &Bound<'_, PyAny>,
        sensitivity: &Bound<'_, PyAny>,
        step: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (scale, sensitivity) = (number("scale", scale)?, number("sensitivity", sensitivity)?);
        let noise = mechanisms::Noise::laplace(scale, sensitivity, grid(step)?);
        Ok(Self { noise: noise.map_err(refused)? })
    }

    /// Gaussian noise on a grid.
    #[staticmethod]
    fn gaussian(
        sigma: &Bound<'_, PyAny>,
        sensitivity: &Bound<'_, PyAny>,
        step: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (sigma, sensitivity) = (number("sigma", sigma)?, number("sensitivity", sensitivity)?);
        let noise = mechanisms::Noise::gaussian(sigma, sensitivity, grid(step)?);
        Ok(Self { noise: noise.map_err(refused)? })
    }

    /// Staircase noise on a grid.
    #[staticmethod]
    fn staircase(
        epsilon: &Bound<'_, PyAny>,
        gamma: Option<&Bound<'_, PyAny>>,
        sensitivity: &Bound<'_, PyAny>,
        step: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let gamma = gamma.map(|gamma| number("gamma", gamma)).transpose()?;
        let epsilon = number("epsilon", epsilon)?;
        let sensitivity = number("sensitivity", sensitivity)?;
        let noise = mechanisms::Noise::staircase(epsilon, gamma, sensitivity, grid(step)?);
        Ok(Self { noise: noise.map_err(refused)? })
    }

    /// The releases that a number of runs is charged as.
    fn charged<'py>(&self, py: Python<'py>, times: u64) -> PyResult<Bound<'py, PyTuple>> {
        charged(py, self.noise.mechanism(), times)
    }

    /// The step that answers are multiples of.
    #[getter]
    fn step(&self) -> f64 {
        self.noise.grid().step()
    }

    /// The largest number of grid steps that one person moves a number.
    #[getter]
    fn sensitivity(&self) -> u64 {
        self.noise.sensitivity()
    }

    /// The half-width of the noise at a confidence.
    fn half_width(&self, confidence: &Bound<'_, PyAny>) -> PyResult<f64> {
        self.noise.half_width(number("confidence", confidence)?).map_err(refused)
    }

    /// The mean distance between an answer with noise and without.
    fn expected_error(&self) -> f64 {
        self.noise.expected_error()
    }

    /// Adds noise to whole numbers, exactly.
    fn add(&self, py: Python<'_>, values: Vec<i128>) -> PyResult<Vec<i128>> {
        each(py, &values, |units| self.noise.add(*units))
    }

    /// Does the same for packed numbers; results beyond 64 bits are cut.
    fn add_packed<'py>(&self, py: Python<'py>, values: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let drawn = each(py, &wholes(values), |units| self.noise.add((*units).into()))?;
        let cut = |x: &i128| (*x).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        packed(py, &drawn, |x| cut(x).to_ne_bytes())
    }

    /// Rounds packed doubles to the grid and adds noise.
    fn release_packed<'py>(&self, py: Python<'py>, values: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let values: Vec<f64> = doubles(values).collect();
        let drawn = each(py, &values, |x| self.noise.release(*x))?;
        packed(py, &drawn, |x| x.to_ne_bytes())
    }

    /// Rounds whole numbers to the grid as whole numbers and adds noise.
    fn release_whole(&self, py: Python<'_>, values: Vec<i128>) -> PyResult<Vec<f64>> {
        each(py, &values, |x| self.noise.release_whole(*x))
    }

    /// Does the same for packed numbers.
    fn release_whole_packed<'py>(
        &self,
        py: Python<'py>,
        values: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let drawn = each(py, &wholes(values), |x| self.noise.release_whole((*x).into()))?;
        packed(py, &drawn, |x| x.to_ne_bytes())
    }
}

/// Randomized response.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Response {
    response: mechanisms::RandomizedResponse,
}

#[pymethods]
impl Response {
    #[new]
    fn new(epsilon: &Bound<'_, PyAny>, buckets: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (epsilon, buckets) = (number("epsilon", epsilon)?, whole("buckets", buckets)?);
        let response = mechanisms::RandomizedResponse::new(epsilon, buckets);
        Ok(Self { response: response.map_err(refused)? })
    }

    /// The releases that a number of runs is charged as.
    fn charged<'py>(&self, py: Python<'py>, times: u64) -> PyResult<Bound<'py, PyTuple>> {
        charged(py, self.response.mechanism(), times)
    }

    /// Responds to packed true answers. Values that are no answer count as the last one.
    fn release_packed<'py>(&self, py: Python<'py>, values: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = |x: &i64| u64::try_from(*x).unwrap_or(u64::MAX);
        let drawn = each(py, &wholes(values), |x| self.response.release(answer(x)))?;
        packed(py, &drawn, |x| x.to_ne_bytes())
    }
}

/// One bit, leaked with probability delta and else randomized.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct LeakyResponse {
    response: mechanisms::LeakyResponse,
}

#[pymethods]
impl LeakyResponse {
    #[new]
    fn new(epsilon: &Bound<'_, PyAny>, delta: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (epsilon, delta) = (number("epsilon", epsilon)?, number("delta", delta)?);
        let response = mechanisms::LeakyResponse::new(epsilon, delta).map_err(refused)?;
        Ok(Self { response })
    }

    /// The releases that a number of runs is charged as.
    fn charged<'py>(&self, py: Python<'py>, times: u64) -> PyResult<Bound<'py, PyTuple>> {
        charged(py, self.response.mechanism(), times)
    }

    /// For each bit a pair: true if it leaked, and a bit.
    fn release(&self, py: Python<'_>, bits: Vec<bool>) -> PyResult<Vec<(bool, bool)>> {
        each(py, &bits, |bit| {
            Ok(match self.response.release(*bit)? {
                LeakyAnswer::Leaked(bit) => (true, bit),
                LeakyAnswer::Randomized(bit) => (false, bit),
            })
        })
    }
}

/// The exponential mechanism.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Exponential {
    choice: mechanisms::Exponential,
}

#[pymethods]
impl Exponential {
    #[new]
    fn new(epsilon: &Bound<'_, PyAny>, sensitivity: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (epsilon, sensitivity) =
            (number("epsilon", epsilon)?, whole("sensitivity", sensitivity)?);
        let choice = mechanisms::Exponential::new(epsilon, sensitivity).map_err(refused)?;
        Ok(Self { choice })
    }

    /// The releases that a number of runs is charged as.
    fn charged<'py>(&self, py: Python<'py>, times: u64) -> PyResult<Bound<'py, PyTuple>> {
        charged(py, self.choice.mechanism(), times)
    }

    /// The index of the chosen score in each row of this length, packed.
    fn release_packed<'py>(
        &self,
        py: Python<'py>,
        scores: &[u8],
        row: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let scores = wholes(scores);
        // No row counts as an empty row, which is refused.
        let rows: Vec<&[i64]> =
            if row == 0 { vec![&[]] } else { scores.chunks_exact(row).collect() };
        let drawn = each(py, &rows, |row| self.choice.release(row))?;
        packed(py, &drawn, |place| (*place as u64).to_ne_bytes())
    }
}
