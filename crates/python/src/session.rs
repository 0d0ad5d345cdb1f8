//! Sessions: mechanisms that answer several questions one by one.

use counterpoint_mechanisms::{
    self as mechanisms, Error, Grid, InteractiveMechanism, Reply, SessionQuery,
};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::RwLock;

use crate::errors::{invalid, mechanisms as refused, session_ended};
use crate::mechanism::wrap_releases;
use crate::query::{Data, NoisyQuery, Query};
use crate::value::{number, whole};

/// The specification of a session: the kind and the number of its answers.
#[pyclass(frozen, eq, module = "counterpoint._native")]
#[derive(PartialEq)]
pub(crate) struct SessionSpec {
    pub(crate) declared: InteractiveMechanism,
}

/// The most that a record moves a query, and the grid of the answers, if given.
type ScaleArguments<'py> = Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>;

fn scaled(given: &ScaleArguments<'_>) -> PyResult<Option<(f64, Grid)>> {
    let Some((reach, step)) = given else { return Ok(None) };
    let grid = Grid::at_most(number("grid", step)?).map_err(refused)?;
    Ok(Some((number("reach", reach)?, grid)))
}

#[pymethods]
impl SessionSpec {
    #[staticmethod]
    fn sparse_vector(
        epsilon: &Bound<'_, PyAny>,
        answers: &Bound<'_, PyAny>,
        threshold: &Bound<'_, PyAny>,
        values: bool,
        redrawn: bool,
        scale: ScaleArguments<'_>,
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
        scale: ScaleArguments<'_>,
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
    fn sequence(queries: Vec<PyRef<'_, NoisyQuery>>) -> PyResult<Self> {
        let queries = queries.iter().map(|one| one.query.clone());
        Ok(Self { declared: mechanisms::Sequence::new(queries).map_err(refused)?.into() })
    }

    /// The releases that the session is charged as on data, however much of it is used.
    fn releases<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Bound<'py, PyTuple>> {
        let protocol = self.declared.under(data.data.relation()).map_err(refused)?;
        charged(py, protocol.releases(), data)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.declared)
    }
}

/// Labels releases with the part of the data, if there is one.
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

/// Open sessions about the same people, opened together; a single session is a set of one.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct Sessions {
    /// `None` after closing.
    open: RwLock<Option<mechanisms::ConcurrentSessions>>,
}

/// A reply: the kind of question, true if above the threshold or a wrong guess, one number, several numbers.
pub(crate) type SessionReply = (&'static str, bool, Option<f64>, Vec<f64>);

impl Sessions {
    /// Uses the open sessions. Exceptions are made after the lock is released: making one may wait for a thread that waits
    /// for the lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&mechanisms::ConcurrentSessions) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let found = py.detach(|| {
            let open = self.open.read().ok()?;
            open.as_ref().map(read)
        });
        let closed = "the session is closed: it answers nothing more";
        found.ok_or_else(|| session_ended(closed))?.map_err(refused)
    }

    fn ask(&self, py: Python<'_>, name: &str, question: &SessionQuery) -> PyResult<SessionReply> {
        reply_of(self.with(py, |open| open.session(name)?.ask(question))?)
    }
}

pub(crate) fn reply_of(reply: Reply) -> PyResult<SessionReply> {
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
    /// Opens all sessions, which are charged from here on.
    #[new]
    fn new(declared: Vec<(String, PyRef<'_, SessionSpec>, PyRef<'_, Data>)>) -> PyResult<Self> {
        let all = declared.iter().map(|(name, declared, data)| {
            (name.as_str(), declared.declared.clone(), data.data.clone())
        });
        let open = mechanisms::ConcurrentSessions::open_on_columns(all).map_err(refused)?;
        Ok(Self { open: RwLock::new(Some(open)) })
    }

    /// Asks a sparse vector if a query is above the threshold. Nothing is stored, so the name `ask` is unused.
    fn above(
        &self,
        py: Python<'_>,
        name: &str,
        ask: &str,
        query: &Query,
    ) -> PyResult<SessionReply> {
        let _ = ask;
        self.ask(py, name, &SessionQuery::Above(query.query.clone()))
    }

    /// Asks guess-and-check if a guess is about right.
    fn check(
        &self,
        py: Python<'_>,
        name: &str,
        ask: &str,
        query: &Query,
        guess: &Bound<'_, PyAny>,
    ) -> PyResult<SessionReply> {
        let _ = ask;
        self.ask(py, name, &SessionQuery::Check(query.query.clone(), number("guess", guess)?))
    }

    /// Runs a query of a sequence.
    fn measure(
        &self,
        py: Python<'_>,
        name: &str,
        ask: &str,
        query: &NoisyQuery,
    ) -> PyResult<SessionReply> {
        let _ = ask;
        self.ask(py, name, &SessionQuery::Measure(query.query.clone()))
    }

    /// True if the session gives no more answers.
    fn is_exhausted(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        match self.is_closed(py) {
            true => Ok(true),
            false => self.with(py, |open| Ok(open.session(name)?.is_exhausted())),
        }
    }

    /// The number of answers given so far.
    fn answered(&self, py: Python<'_>, name: &str) -> PyResult<u64> {
        self.with(py, |open| Ok(open.session(name)?.answered()))
    }

    /// True if the sessions are closed.
    fn is_closed(&self, py: Python<'_>) -> bool {
        py.detach(|| self.open.read().map_or(true, |open| open.is_none()))
    }

    /// Closes the sessions.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            if let Ok(mut open) = self.open.write() {
                *open = None;
            }
        });
    }
}
