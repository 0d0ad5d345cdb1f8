//! Data with their neighbouring relation, and queries about them.

use counterpoint::Relation;
use counterpoint_mechanisms::{self as mechanisms, Bounds, NoisyAnswer, Person, Reply};
use counterpoint_wire::adjacency_from_name;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::Arc;

use crate::arrays::doubles;
use crate::errors::{invalid, mechanisms as refused, out_of_range};
use crate::mechanism::wrap_releases;
use crate::value::{number, whole};

/// Reads a neighbouring relation.
pub(crate) fn relation(adjacency: &str, records: &Bound<'_, PyAny>) -> PyResult<Relation> {
    let found = adjacency_from_name(adjacency);
    let legal = || invalid(format!("adjacency is {adjacency:?}; legal: add-remove or replace"));
    Relation::new(found.ok_or_else(legal)?, whole("records", records)?)
        .map_err(out_of_range("records"))
}

/// Reads the key that chooses among a person's records.
pub(crate) fn key_of(key: &[u8]) -> PyResult<&[u8; 32]> {
    let length = key.len();
    key.try_into().map_err(|_| invalid(format!("key has {length} bytes; legal: 32 bytes")))
}

/// Columns of numbers with the neighbouring relation that protects them. Numbers cannot be read back.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Data {
    pub(crate) data: mechanisms::Data,
}

#[pymethods]
impl Data {
    /// Makes a table of packed columns, as a part of a data set if one is named.
    #[new]
    fn new(
        columns: Vec<Vec<u8>>,
        adjacency: &str,
        records: &Bound<'_, PyAny>,
        part: Option<&str>,
    ) -> PyResult<Self> {
        let columns = columns.iter().map(|bytes| doubles(bytes).collect::<Vec<f64>>());
        let data = mechanisms::Data::table(relation(adjacency, records)?, columns);
        let data = data.map_err(refused)?;
        let data = match part {
            Some(part) => data.about(part).map_err(refused)?,
            None => data,
        };
        Ok(Self { data })
    }

    /// Makes a table that names the person of each row.
    #[staticmethod]
    fn of_people(
        people: Vec<String>,
        columns: Vec<Vec<u8>>,
        adjacency: &str,
        records: &Bound<'_, PyAny>,
        key: &[u8],
    ) -> PyResult<Self> {
        let key = key_of(key)?;
        let columns: Vec<Vec<f64>> = columns.iter().map(|bytes| doubles(bytes).collect()).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let people = people.iter().map(|name| Person::Text(name));
        let relation = relation(adjacency, records)?;
        let data = mechanisms::Data::table_of_people(relation, people, &columns, key);
        Ok(Self { data: data.map_err(refused)? })
    }

    /// The neighbouring relation: "add-remove" or "replace".
    #[getter]
    fn adjacency(&self) -> &'static str {
        counterpoint_wire::adjacency_name(self.data.relation().adjacency())
    }

    /// The largest number of a person's records.
    #[getter]
    fn records(&self) -> u64 {
        self.data.relation().records()
    }

    /// The number of columns.
    #[getter]
    fn columns(&self) -> usize {
        self.data.width()
    }

    /// The part of the data set, or None.
    #[getter]
    fn part(&self) -> Option<&str> {
        self.data.part().map(AsRef::as_ref)
    }
}

/// Thirty-two random bytes from the operating system.
#[pyfunction]
pub(crate) fn secret(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    Ok(PyBytes::new(py, &mechanisms::secret().map_err(refused)?))
}

/// A query about data, without noise.
#[pyclass(frozen, eq, module = "counterpoint._native")]
#[derive(PartialEq)]
pub(crate) struct Query {
    pub(crate) query: mechanisms::Query,
}

type BoundsArgument<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

fn bounds((low, high): &BoundsArgument<'_>) -> PyResult<Bounds> {
    Bounds::new(number("bounds[0]", low)?, number("bounds[1]", high)?).map_err(refused)
}

fn numbers(argument: &str, list: &[Bound<'_, PyAny>]) -> PyResult<Vec<f64>> {
    let one = |(index, item)| number(&format!("{argument}[{index}]"), item);
    list.iter().enumerate().map(one).collect()
}

impl From<mechanisms::Query> for Query {
    fn from(query: mechanisms::Query) -> Self {
        Self { query }
    }
}

#[pymethods]
impl Query {
    #[staticmethod]
    #[pyo3(signature = (within = None))]
    fn count(within: Option<BoundsArgument<'_>>) -> PyResult<Self> {
        Ok(match within {
            Some(ends) => mechanisms::Query::count_within(bounds(&ends)?).into(),
            None => mechanisms::Query::count().into(),
        })
    }

    #[staticmethod]
    fn sum(ends: BoundsArgument<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::sum(bounds(&ends)?).into())
    }

    #[staticmethod]
    fn mean(ends: BoundsArgument<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::mean(bounds(&ends)?).into())
    }

    #[staticmethod]
    fn variance(ends: BoundsArgument<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::variance(bounds(&ends)?).into())
    }

    #[staticmethod]
    fn deviation(ends: BoundsArgument<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::deviation(bounds(&ends)?).into())
    }

    #[staticmethod]
    fn correlation(x: BoundsArgument<'_>, y: BoundsArgument<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::correlation(bounds(&x)?, bounds(&y)?).into())
    }

    #[staticmethod]
    fn proportion(ends: BoundsArgument<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::proportion(bounds(&ends)?).into())
    }

    #[staticmethod]
    fn histogram(edges: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let query = mechanisms::Query::histogram(&numbers("edges", &edges)?);
        Ok(query.map_err(refused)?.into())
    }

    #[staticmethod]
    fn cumulative(edges: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let query = mechanisms::Query::cumulative(&numbers("edges", &edges)?);
        Ok(query.map_err(refused)?.into())
    }

    #[staticmethod]
    fn quantiles(shares: Vec<(u32, u32)>, candidates: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let candidates = numbers("candidates", &candidates)?;
        let query = match shares.as_slice() {
            [share] => mechanisms::Query::quantile(*share, &candidates),
            shares => mechanisms::Query::quantiles(shares, &candidates),
        };
        Ok(query.map_err(refused)?.into())
    }

    #[staticmethod]
    fn covariance(x: BoundsArgument<'_>, y: BoundsArgument<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::covariance(bounds(&x)?, bounds(&y)?).into())
    }

    #[staticmethod]
    fn regression(
        predictors: Vec<BoundsArgument<'_>>,
        outcome: BoundsArgument<'_>,
    ) -> PyResult<Self> {
        let predictors = predictors.iter().map(bounds).collect::<PyResult<Vec<_>>>()?;
        let query = mechanisms::Query::regression(&predictors, bounds(&outcome)?);
        Ok(query.map_err(refused)?.into())
    }

    /// Adds noise: laplace, staircase or exponential at an epsilon, gaussian at a multiplier.
    fn with_noise(&self, style: &str, amount: &Bound<'_, PyAny>) -> PyResult<NoisyQuery> {
        let query = &self.query;
        let noisy = match style {
            "gaussian" => query.gaussian(number("multiplier", amount)?),
            "laplace" => query.laplace(number("epsilon", amount)?),
            "staircase" => query.staircase(number("epsilon", amount)?),
            "exponential" => query.exponential(number("epsilon", amount)?),
            _ => {
                let legal = "laplace, gaussian, staircase or exponential";
                return Err(invalid(format!("noise is {style:?}; legal: {legal}")));
            }
        };
        Ok(NoisyQuery { query: noisy.map_err(refused)? })
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.query)
    }
}

/// A query with its noise.
#[pyclass(frozen, eq, module = "counterpoint._native")]
#[derive(PartialEq)]
pub(crate) struct NoisyQuery {
    pub(crate) query: mechanisms::NoisyQuery,
}

#[pymethods]
impl NoisyQuery {
    /// Prepares the query for data of a neighbouring relation.
    fn under(&self, adjacency: &str, records: &Bound<'_, PyAny>) -> PyResult<Measurement> {
        let measurement = self.query.under(relation(adjacency, records)?).map_err(refused)?;
        Ok(Measurement { measurement: Arc::new(measurement) })
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.query)
    }
}

/// A query with its noise and its cost under a neighbouring relation.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Measurement {
    measurement: Arc<mechanisms::Measurement>,
}

#[pymethods]
impl Measurement {
    /// The releases that one run is charged as, on a part of the data if one is named.
    #[pyo3(signature = (part = None))]
    fn releases<'py>(&self, py: Python<'py>, part: Option<&str>) -> PyResult<Bound<'py, PyTuple>> {
        let part: Option<Arc<str>> = part.map(Into::into);
        let about = |release: &counterpoint::Release| counterpoint::Release {
            part: part.clone().or_else(|| release.part.clone()),
            ..release.clone()
        };
        let releases: Vec<_> = self.measurement.releases().iter().map(about).collect();
        wrap_releases(py, &releases)
    }

    /// Runs the measurement once.
    fn run(&self, py: Python<'_>, data: &Data) -> PyResult<MeasurementReply> {
        let (measurement, data) = (Arc::clone(&self.measurement), &data.data);
        let drawn = py.detach(|| measurement.draw(&measurement.tally(data)?));
        let drawn = drawn.map_err(refused)?;
        let reply = measurement.with_intervals(&drawn, 0.5).map_err(refused)?.reply;
        Ok(MeasurementReply { measurement, drawn, reply })
    }

    /// The half-width of the answer, whatever the data are.
    fn half_width(
        &self,
        rows: &Bound<'_, PyAny>,
        confidence: &Bound<'_, PyAny>,
        all: bool,
    ) -> PyResult<f64> {
        let (rows, confidence) = (whole("rows", rows)?, number("confidence", confidence)?);
        let width = match all {
            true => self.measurement.half_width_all(rows, confidence),
            false => self.measurement.half_width(rows, confidence),
        };
        width.map_err(refused)
    }

    /// The mean distance from the value without noise, for the worst data.
    fn expected_error(&self, rows: &Bound<'_, PyAny>) -> PyResult<f64> {
        Ok(self.measurement.expected_error(whole("rows", rows)?))
    }
}

/// A noisy answer.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct MeasurementReply {
    measurement: Arc<mechanisms::Measurement>,
    drawn: NoisyAnswer,
    reply: Reply,
}

#[pymethods]
impl MeasurementReply {
    /// The numbers of the answer.
    #[getter]
    fn numbers(&self) -> Vec<f64> {
        match &self.reply {
            Reply::Table(numbers) => numbers.clone(),
            other => other.number().into_iter().collect(),
        }
    }

    /// True if the answer is a table rather than one number.
    #[getter]
    fn is_table(&self) -> bool {
        matches!(self.reply, Reply::Table(_))
    }

    /// An interval for each number, computed from released numbers alone; empty if none is known.
    fn intervals(&self, confidence: &Bound<'_, PyAny>) -> PyResult<Vec<(f64, f64)>> {
        let within =
            self.measurement.with_intervals(&self.drawn, number("confidence", confidence)?);
        let within = within.map_err(refused)?;
        Ok(within.intervals.iter().map(|interval| (interval.low, interval.high)).collect())
    }
}
