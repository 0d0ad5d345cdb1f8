//! Counts by keys that are known from the data alone.

use counterpoint_mechanisms::{self as mechanisms, KeyRecipe, Person};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::{invalid, mechanisms as refused};
use crate::mechanism::wrap_releases;
use crate::query::{key_of, relation};
use crate::value::number;

/// How many people have each key. Nothing of them can be read back.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Keyed {
    data: mechanisms::Keyed,
}

#[pymethods]
impl Keyed {
    /// Of rows that say who has which key.
    #[new]
    fn new(
        people: Vec<String>,
        keys: Vec<String>,
        adjacency: &str,
        records: &Bound<'_, PyAny>,
        secret: &[u8],
    ) -> PyResult<Self> {
        let people = people.iter().map(|name| Person::Text(name));
        let relation = relation(adjacency, records)?;
        let data = mechanisms::Keyed::of_people(relation, people, &keys, key_of(secret)?);
        Ok(Self { data: data.map_err(refused)? })
    }
}

/// Counts by key, with their noise, their threshold and their cost.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct KeyMeasurement {
    measurement: mechanisms::KeyMeasurement,
}

#[pymethods]
impl KeyMeasurement {
    #[new]
    fn new(
        style: &str,
        amount: &Bound<'_, PyAny>,
        delta: &Bound<'_, PyAny>,
        adjacency: &str,
        records: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let delta = number("delta", delta)?;
        let recipe = match style {
            "laplace" => KeyRecipe::laplace(number("epsilon", amount)?, delta),
            "gaussian" => KeyRecipe::gaussian(number("multiplier", amount)?, delta),
            _ => return Err(invalid(format!("noise is {style:?}; legal: laplace or gaussian"))),
        };
        let measurement = recipe.map_err(refused)?.under(relation(adjacency, records)?);
        Ok(Self { measurement: measurement.map_err(refused)? })
    }

    /// What one run is charged as.
    fn releases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        wrap_releases(py, self.measurement.releases())
    }

    /// The least count, with noise, that is released.
    #[getter]
    fn threshold(&self) -> u64 {
        self.measurement.threshold()
    }

    /// The keys that are released, in the order of their bytes.
    fn run(&self, py: Python<'_>, data: &Keyed) -> PyResult<Vec<(String, u64)>> {
        let counts = py.detach(|| self.measurement.run(&data.data)).map_err(refused)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(counts.iter().map(|(key, people)| (text(key), *people)).collect())
    }

    /// Each key's noise is at most this with at least this probability.
    fn half_width(&self, confidence: &Bound<'_, PyAny>) -> PyResult<f64> {
        self.measurement.half_width(number("confidence", confidence)?).map_err(refused)
    }

    /// A key that so many people have, or more, is released with at least this probability.
    fn released_from(&self, confidence: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.measurement.released_from(number("confidence", confidence)?).map_err(refused)
    }
}
