//! Mechanisms that are held open and asked again.

use counterpoint_mechanisms::{self as mechanisms, Error, Grid, Interactive, Question, Reply};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::RwLock;

use crate::errors::{invalid, mechanisms as refused, session_ended};
use crate::mechanism::wrap_releases;
use crate::query::{Data, Query, Recipe};
use crate::value::{number, whole};

/// What will be asked, and how much of it, before anything is.
#[pyclass(frozen, eq, module = "counterpoint._native")]
#[derive(PartialEq)]
pub(crate) struct Declared {
    pub(crate) declared: Interactive,
}

/// How far a record moves a query, and the grid it is answered on, where that is said.
type Scaled<'py> = Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>;

fn scaled(given: &Scaled<'_>) -> PyResult<Option<(f64, Grid)>> {
    let Some((reach, step)) = given else { return Ok(None) };
    let grid = Grid::at_most(number("grid", step)?).map_err(refused)?;
    Ok(Some((number("reach", reach)?, grid)))
}

#[pymethods]
impl Declared {
    #[staticmethod]
    fn sparse_vector(
        epsilon: &Bound<'_, PyAny>,
        answers: &Bound<'_, PyAny>,
        threshold: &Bound<'_, PyAny>,
        values: bool,
        redrawn: bool,
        scale: Scaled<'_>,
    ) -> PyResult<Self> {
        let (epsilon, answers) = (number("epsilon", epsilon)?, whole("answers", answers)?);
        let threshold = number("threshold", threshold)?;
        let mut gate =
            mechanisms::SparseVector::new(epsilon, answers, threshold).map_err(refused)?;
        if let Some((reach, grid)) = scaled(&scale)? {
            gate = gate.scaled(reach, grid).map_err(refused)?;
        }
        let gate = if values { gate.with_values() } else { gate };
        let gate = if redrawn { gate.redrawn() } else { gate };
        Ok(Self { declared: gate.into() })
    }

    #[staticmethod]
    fn guess_and_check(
        epsilon: &Bound<'_, PyAny>,
        corrections: &Bound<'_, PyAny>,
        tolerance: &Bound<'_, PyAny>,
        redrawn: bool,
        scale: Scaled<'_>,
    ) -> PyResult<Self> {
        let (epsilon, corrections) =
            (number("epsilon", epsilon)?, whole("corrections", corrections)?);
        let tolerance = number("tolerance", tolerance)?;
        let mut gate =
            mechanisms::GuessAndCheck::new(epsilon, corrections, tolerance).map_err(refused)?;
        if let Some((reach, grid)) = scaled(&scale)? {
            gate = gate.scaled(reach, grid).map_err(refused)?;
        }
        let gate = if redrawn { gate.redrawn() } else { gate };
        Ok(Self { declared: gate.into() })
    }

    #[staticmethod]
    fn sequence(recipes: Vec<PyRef<'_, Recipe>>) -> PyResult<Self> {
        let recipes = recipes.iter().map(|one| one.recipe.clone());
        Ok(Self { declared: mechanisms::Sequence::new(recipes).map_err(refused)?.into() })
    }

    /// What all of it is charged as on data, however much of it is used.
    fn releases<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Bound<'py, PyTuple>> {
        let protocol = self.declared.under(data.data.relation()).map_err(refused)?;
        charged(py, protocol.releases(), data)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.declared)
    }
}

/// About the part of the data that these are, if they are one.
fn charged<'py>(
    py: Python<'py>,
    releases: &[counterpoint::Release],
    data: &Data,
) -> PyResult<Bound<'py, PyTuple>> {
    let about = |release: &counterpoint::Release| counterpoint::Release {
        part: data.data.part().cloned().or_else(|| release.part.clone()),
        ..release.clone()
    };
    wrap_releases(py, &releases.iter().map(about).collect::<Vec<_>>())
}

/// Open sessions about the same people, all declared before any was opened; one is a set of one.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Sessions {
    /// Gone once it is closed.
    open: RwLock<Option<mechanisms::Concurrent>>,
}

/// What comes back: what was asked for, whether the gate was passed, and the numbers.
pub(crate) type Told = (&'static str, bool, Option<f64>, Vec<f64>);

impl Sessions {
    /// Reads them while they are open. No exception is made before the lock is given back: that may have to wait for
    /// whoever waits for the lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&mechanisms::Concurrent) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let found = py.detach(|| {
            let open = self.open.read().ok()?;
            open.as_ref().map(read)
        });
        let closed = "the session is closed: it answers nothing more";
        found.ok_or_else(|| session_ended(closed))?.map_err(refused)
    }

    fn ask(&self, py: Python<'_>, name: &str, question: &Question) -> PyResult<Told> {
        told(self.with(py, |open| open.session(name)?.ask(question))?)
    }
}

pub(crate) fn told(reply: Reply) -> PyResult<Told> {
    Ok(match reply {
        Reply::Above(value) => ("gate", true, value, Vec::new()),
        Reply::Below => ("gate", false, None, Vec::new()),
        Reply::Wrong(value) => ("guess", true, Some(value), Vec::new()),
        Reply::Pass => ("guess", false, None, Vec::new()),
        Reply::Number(number) => ("number", true, Some(number), Vec::new()),
        Reply::Table(numbers) => ("table", true, None, numbers),
        _ => return Err(invalid("the reply is of a kind that is not known here")),
    })
}

#[pymethods]
impl Sessions {
    /// Opens them all: from here on they are charged.
    #[new]
    fn new(declared: Vec<(String, PyRef<'_, Declared>, PyRef<'_, Data>)>) -> PyResult<Self> {
        let all = declared.iter().map(|(name, declared, data)| {
            (name.as_str(), declared.declared.clone(), data.data.clone())
        });
        let open = mechanisms::Concurrent::over(all).map_err(refused)?;
        Ok(Self { open: RwLock::new(Some(open)) })
    }

    /// To a sparse vector: is this above the threshold? (Nothing is stored here, and `ask`, under which it would be, unused.)
    fn above(&self, py: Python<'_>, name: &str, ask: &str, query: &Query) -> PyResult<Told> {
        let _ = ask;
        self.ask(py, name, &Question::Above(query.query.clone()))
    }

    /// To a guess-and-check: is this about right?
    fn check(
        &self,
        py: Python<'_>,
        name: &str,
        ask: &str,
        query: &Query,
        guess: &Bound<'_, PyAny>,
    ) -> PyResult<Told> {
        let _ = ask;
        self.ask(py, name, &Question::Check(query.query.clone(), number("guess", guess)?))
    }

    /// To a sequence: run this.
    fn measure(&self, py: Python<'_>, name: &str, ask: &str, recipe: &Recipe) -> PyResult<Told> {
        let _ = ask;
        self.ask(py, name, &Question::Measure(recipe.recipe.clone()))
    }

    /// Whether it answers nothing more.
    fn is_exhausted(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        match self.is_closed(py) {
            true => Ok(true),
            false => self.with(py, |open| Ok(open.session(name)?.is_exhausted())),
        }
    }

    /// How many answers it has given.
    fn answered(&self, py: Python<'_>, name: &str) -> PyResult<u64> {
        self.with(py, |open| Ok(open.session(name)?.answered()))
    }

    /// Whether they are closed.
    fn is_closed(&self, py: Python<'_>) -> bool {
        py.detach(|| self.open.read().map_or(true, |open| open.is_none()))
    }

    /// Closes them: they answer nothing more.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            if let Ok(mut open) = self.open.write() {
                *open = None;
            }
        });
    }
}
