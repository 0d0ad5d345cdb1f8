//! Counts by keys that are known only from the data.

use counterpoint_mechanisms::{self as mechanisms, KeyQuery, Person};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::{invalid, mechanisms as refused};
use crate::mechanism::wrap_releases;
use crate::query::{key_of, relation};
use crate::value::number;

/// The number of people with each key, which cannot be read back.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct KeyedData {
    data: mechanisms::KeyedData,
}

#[pymethods]
impl KeyedData {
    /// Counts rows of a person and a key.
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
        let data = mechanisms::KeyedData::of_people(relation, people, &keys, key_of(secret)?);
        Ok(Self { data: data.map_err(refused)? })
    }
}

/// Counts by key, with noise, a threshold and a cost.
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
            "laplace" => KeyQuery::laplace(number("epsilon", amount)?, delta),
            "gaussian" => KeyQuery::gaussian(number("multiplier", amount)?, delta),
            _ => return Err(invalid(format!("noise is {style:?}; legal: laplace or gaussian"))),
        };
        let measurement = recipe.map_err(refused)?.under(relation(adjacency, records)?);
        Ok(Self { measurement: measurement.map_err(refused)? })
    }

    /// The releases that one run is charged as.
    fn releases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        wrap_releases(py, self.measurement.releases())
    }

    /// The least noisy count that is released.
    #[getter]
    fn threshold(&self) -> u64 {
        self.measurement.threshold()
    }

    /// Runs once: the released keys with noisy counts, in the order of the keys' bytes.
    fn run(&self, py: Python<'_>, data: &KeyedData) -> PyResult<Vec<(String, u64)>> {
        let counts = py.detach(|| self.measurement.run(&data.data)).map_err(refused)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(counts.iter().map(|(key, people)| (text(key), *people)).collect())
    }

    /// The half-width of each key's noise at a confidence.
    fn half_width(&self, confidence: &Bound<'_, PyAny>) -> PyResult<f64> {
        self.measurement.half_width(number("confidence", confidence)?).map_err(refused)
    }

    /// The number of people from which a key is released with at least this probability.
    fn released_from(&self, confidence: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.measurement.released_from(number("confidence", confidence)?).map_err(refused)
    }
}
