//! Data with their relation, and what may be asked about them.

use counterpoint::Relation;
use counterpoint_mechanisms::{self as mechanisms, Bounds, Drawn, Person, Reply};
use counterpoint_wire::adjacency_named;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::Arc;

use crate::arrays::doubles;
use crate::errors::{invalid, mechanisms as refused, out_of_range};
use crate::mechanism::wrap_releases;
use crate::value::{number, whole};

/// Which data sets are neighbours.
pub(crate) fn relation(adjacency: &str, records: &Bound<'_, PyAny>) -> PyResult<Relation> {
    let found = adjacency_named(adjacency);
    let legal = || invalid(format!("adjacency is {adjacency:?}; legal: add-remove or replace"));
    Relation::new(found.ok_or_else(legal)?, whole("records", records)?)
        .map_err(out_of_range("records"))
}

/// A key that chooses among a person's records.
pub(crate) fn key_of(key: &[u8]) -> PyResult<&[u8; 32]> {
    let length = key.len();
    key.try_into().map_err(|_| invalid(format!("key has {length} bytes; legal: 32 bytes")))
}

/// Columns of numbers with the relation they are protected under. Nothing of them can be read back.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Data {
    pub(crate) data: mechanisms::Data,
}

#[pymethods]
impl Data {
    /// Packed columns of one table, as one part of the data set if one is named.
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

    /// The same of a table that says for each row whose it is, by name.
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

    /// What neighbouring data sets are.
    #[getter]
    fn adjacency(&self) -> &'static str {
        counterpoint_wire::adjacency_name(self.data.relation().adjacency())
    }

    /// How many records a person has at most.
    #[getter]
    fn records(&self) -> u64 {
        self.data.relation().records()
    }

    /// How many columns there are.
    #[getter]
    fn columns(&self) -> usize {
        self.data.width()
    }

    /// The part of the data set that this is, or None.
    #[getter]
    fn part(&self) -> Option<&str> {
        self.data.part().map(AsRef::as_ref)
    }
}

/// Thirty-two bytes from the operating system.
#[pyfunction]
pub(crate) fn secret(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    Ok(PyBytes::new(py, &mechanisms::secret().map_err(refused)?))
}

/// What is asked about data, without noise.
#[pyclass(frozen, eq, module = "counterpoint._native")]
#[derive(PartialEq)]
pub(crate) struct Query {
    pub(crate) query: mechanisms::Query,
}

type Ends<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

fn bounds((low, high): &Ends<'_>) -> PyResult<Bounds> {
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
    fn count(within: Option<Ends<'_>>) -> PyResult<Self> {
        Ok(match within {
            Some(ends) => mechanisms::Query::count_within(bounds(&ends)?).into(),
            None => mechanisms::Query::count().into(),
        })
    }

    #[staticmethod]
    fn sum(ends: Ends<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::sum(bounds(&ends)?).into())
    }

    #[staticmethod]
    fn mean(ends: Ends<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::mean(bounds(&ends)?).into())
    }

    #[staticmethod]
    fn variance(ends: Ends<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::variance(bounds(&ends)?).into())
    }

    #[staticmethod]
    fn deviation(ends: Ends<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::deviation(bounds(&ends)?).into())
    }

    #[staticmethod]
    fn correlation(x: Ends<'_>, y: Ends<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::correlation(bounds(&x)?, bounds(&y)?).into())
    }

    #[staticmethod]
    fn proportion(ends: Ends<'_>) -> PyResult<Self> {
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
    fn covariance(x: Ends<'_>, y: Ends<'_>) -> PyResult<Self> {
        Ok(mechanisms::Query::covariance(bounds(&x)?, bounds(&y)?).into())
    }

    #[staticmethod]
    fn regression(predictors: Vec<Ends<'_>>, outcome: Ends<'_>) -> PyResult<Self> {
        let predictors = predictors.iter().map(bounds).collect::<PyResult<Vec<_>>>()?;
        let query = mechanisms::Query::regression(&predictors, bounds(&outcome)?);
        Ok(query.map_err(refused)?.into())
    }

    /// With noise: laplace, staircase or exponential at an epsilon, gaussian at a multiplier.
    fn recipe(&self, style: &str, amount: &Bound<'_, PyAny>) -> PyResult<Recipe> {
        let query = &self.query;
        let recipe = match style {
            "gaussian" => query.gaussian(number("multiplier", amount)?),
            "laplace" => query.laplace(number("epsilon", amount)?),
            "staircase" => query.staircase(number("epsilon", amount)?),
            "exponential" => query.exponential(number("epsilon", amount)?),
            _ => {
                let legal = "laplace, gaussian, staircase or exponential";
                return Err(invalid(format!("noise is {style:?}; legal: {legal}")));
            }
        };
        Ok(Recipe { recipe: recipe.map_err(refused)? })
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.query)
    }
}

/// A query with the noise it is to be answered with.
#[pyclass(frozen, eq, module = "counterpoint._native")]
#[derive(PartialEq)]
pub(crate) struct Recipe {
    pub(crate) recipe: mechanisms::Recipe,
}

#[pymethods]
impl Recipe {
    /// Made ready for data of a relation.
    fn under(&self, adjacency: &str, records: &Bound<'_, PyAny>) -> PyResult<Measurement> {
        let measurement = self.recipe.under(relation(adjacency, records)?).map_err(refused)?;
        Ok(Measurement { measurement: Arc::new(measurement) })
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.recipe)
    }
}

/// A recipe with its noise and its cost.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Measurement {
    measurement: Arc<mechanisms::Measurement>,
}

#[pymethods]
impl Measurement {
    /// What one run is charged as, on a part of the data if one is named.
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

    /// Runs it once.
    fn run(&self, py: Python<'_>, data: &Data) -> PyResult<Released> {
        let (measurement, data) = (Arc::clone(&self.measurement), &data.data);
        let drawn = py.detach(|| measurement.draw(&measurement.tally(data)?));
        let drawn = drawn.map_err(refused)?;
        let reply = measurement.within(&drawn, 0.5).map_err(refused)?.reply;
        Ok(Released { measurement, drawn, reply })
    }

    /// The answer is within this of that without noise, whatever the data are.
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

    /// The mean distance from the answer without noise, for the worst data.
    fn expected_error(&self, rows: &Bound<'_, PyAny>) -> PyResult<f64> {
        Ok(self.measurement.expected_error(whole("rows", rows)?))
    }
}

/// What was drawn for an answer.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Released {
    measurement: Arc<mechanisms::Measurement>,
    drawn: Drawn,
    reply: Reply,
}

#[pymethods]
impl Released {
    /// The numbers of the answer.
    #[getter]
    fn numbers(&self) -> Vec<f64> {
        match &self.reply {
            Reply::Table(numbers) => numbers.clone(),
            other => other.number().into_iter().collect(),
        }
    }

    /// Whether it is a table, rather than one number.
    #[getter]
    fn is_table(&self) -> bool {
        matches!(self.reply, Reply::Table(_))
    }

    /// For each number an interval, from what was released alone; none where none is known.
    fn intervals(&self, confidence: &Bound<'_, PyAny>) -> PyResult<Vec<(f64, f64)>> {
        let within = self.measurement.within(&self.drawn, number("confidence", confidence)?);
        let within = within.map_err(refused)?;
        Ok(within.intervals.iter().map(|interval| (interval.low, interval.high)).collect())
    }
}
