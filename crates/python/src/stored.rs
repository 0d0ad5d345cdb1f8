//! Sessions whose state is in a ledger. Every answer is stored there with the state after it before it is shown, so that
//! threads, forks, other processes and restarts after a crash continue from the same state.

use counterpoint_curator::{
    self as curator, Bill, CustomMechanism, DataScope, Error, LedgerAccess, SessionQuery, Step,
    StepError,
};
use counterpoint_ledger::LedgerError;
use counterpoint_mechanisms as mechanisms;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::{invalid, stored as refused};
use crate::ledger::{Ledger, plan};
use crate::query::{Data, NoisyQuery, Query};
use crate::session::{SessionReply, SessionSpec, reply_of};
use crate::value::number;

/// A user's own mechanism: its name and its guarantee.
#[pyclass(frozen, eq, module = "counterpoint._native")]
#[derive(PartialEq)]
pub(crate) struct OwnSpec {
    own: CustomMechanism,
}

#[pymethods]
impl OwnSpec {
    #[new]
    fn new(name: String, guarantee: &[u8]) -> PyResult<Self> {
        Ok(Self { own: CustomMechanism { name, guarantee: plan(guarantee, None)?.releases } })
    }
}

/// A mechanism of the library, or a user's own.
#[derive(FromPyObject)]
enum AnySpec<'py> {
    Ours(PyRef<'py, SessionSpec>),
    Own(PyRef<'py, OwnSpec>),
}

/// A session under its key in the account.
struct StoredSession {
    name: String,
    key: String,
    /// The data, if the library has them: a user's own mechanism keeps its own.
    data: Option<mechanisms::Data>,
}

impl StoredSession {
    fn about(&self) -> DataScope {
        let data = self.data.as_ref();
        DataScope {
            relation: data.map(mechanisms::Data::relation),
            part: data.and_then(|data| data.part().cloned()),
        }
    }
}

/// The error of a question.
enum QuestionError {
    Curator(Error),
    Python(PyErr),
}

impl From<Error> for QuestionError {
    fn from(error: Error) -> Self {
        Self::Curator(error)
    }
}

/// Access to the ledger for one step at a time, so that it is not locked while a user's own mechanism runs.
struct LedgerSteps<'py, 'l> {
    py: Python<'py>,
    ledger: &'l Ledger,
}

impl LedgerAccess for LedgerSteps<'_, '_> {
    fn with<T: Send>(
        &mut self,
        step: impl FnOnce(&mut counterpoint_ledger::Ledger) -> Result<T, LedgerError> + Send,
    ) -> Result<T, LedgerError> {
        self.ledger.work(self.py, step)
    }
}

/// Sessions about the same people in one account; a single session is a set of one.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct StoredSessions {
    ledger: Py<Ledger>,
    account: String,
    all: Vec<StoredSession>,
}

impl StoredSessions {
    fn find(&self, name: &str) -> PyResult<&StoredSession> {
        let found = self.all.iter().find(|one| one.name == name);
        found.ok_or_else(|| invalid(format!("session {name:?} is not among those declared")))
    }

    fn ask(
        &self,
        py: Python<'_>,
        name: &str,
        ask: &str,
        question: &SessionQuery,
    ) -> PyResult<SessionReply> {
        let StoredSession { key, data, .. } = self.find(name)?;
        let data = data.as_ref().ok_or_else(|| invalid("the session is of another kind"))?;
        let place = (self.account.as_str(), key.as_str());
        let shown =
            self.ledger.get().work(py, |ledger| curator::ask(ledger, place, ask, question, data));
        reply_of(shown.map_err(refused)?.reply().clone())
    }

    /// The number of answers a session has given, and true if it is over.
    fn standing(&self, py: Python<'_>, name: &str) -> PyResult<(u64, bool)> {
        let key = &self.find(name)?.key;
        let found = self.ledger.get().work(py, |ledger| ledger.session(&self.account, key));
        let found = found.map_err(crate::errors::ledger)?;
        Ok(found.map_or((0, false), |session| (session.answered, session.ended.is_some())))
    }
}

#[pymethods]
impl StoredSessions {
    /// Opens and debits each session under its key. A session that was opened before continues.
    #[new]
    fn new(
        py: Python<'_>,
        declared: Vec<(String, String, AnySpec<'_>, Option<PyRef<'_, Data>>)>,
        ledger: Py<Ledger>,
        account: String,
        analyst: Option<String>,
        slot: Option<String>,
    ) -> PyResult<Self> {
        let mut all = Vec::with_capacity(declared.len());
        for (name, key, declared, data) in declared {
            let one = StoredSession { name, key, data: data.map(|data| data.data.clone()) };
            let bill = Bill {
                analyst: analyst.as_deref(),
                slot: slot.as_deref(),
                ..Bill::new(&account, &one.key)
            };
            let opened = match (&declared, &one.data) {
                (AnySpec::Ours(ours), Some(data)) => {
                    let ours = &ours.declared;
                    ledger.get().work(py, |ledger| curator::open(ledger, &bill, ours, data))
                }
                (AnySpec::Ours(_), None) => return Err(invalid("data are missing")),
                (AnySpec::Own(own), _) => {
                    let mut steps = LedgerSteps { py, ledger: ledger.get() };
                    curator::open_custom(&mut steps, &bill, &own.own, &one.about())
                }
            };
            opened.map_err(refused)?;
            all.push(one);
        }
        Ok(Self { ledger, account, all })
    }

    /// Asks a user's own mechanism: `step` maps the state and the question to a reply and a new state, all of them JSON. An
    /// exception of `step` ends the session, except an interrupt of the keyboard, which comes from outside.
    fn own(
        &self,
        py: Python<'_>,
        name: &str,
        ask: &str,
        question: &str,
        step: &Bound<'_, PyAny>,
    ) -> PyResult<String> {
        let one = self.find(name)?;
        let place = (self.account.as_str(), one.key.as_str());
        let mut steps = LedgerSteps { py, ledger: self.ledger.get() };
        let run = |state: Option<&str>, question: &str| {
            let result = step.call1((state, question));
            match result.and_then(|result| result.extract::<(String, Option<String>)>()) {
                Ok((reply, state)) => Ok(Step { reply, state }),
                // Every other exception may depend on the data, exits and cancellations too.
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                    Err(StepError::Stopped(QuestionError::Python(error)))
                }
                Err(error) => Err(StepError::Failed(QuestionError::Python(error))),
            }
        };
        match curator::ask_custom(&mut steps, place, (ask, question), &one.about(), run) {
            Ok(stored) => Ok(String::from_utf8_lossy(&stored.bytes).into_owned()),
            Err(QuestionError::Curator(error)) => Err(refused(error)),
            Err(QuestionError::Python(error)) => Err(error),
        }
    }

    /// Asks a sparse vector if a query is above the threshold.
    fn above(
        &self,
        py: Python<'_>,
        name: &str,
        ask: &str,
        query: &Query,
    ) -> PyResult<SessionReply> {
        self.ask(py, name, ask, &SessionQuery::Above(query.query.clone()))
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
        self.ask(py, name, ask, &SessionQuery::Check(query.query.clone(), number("guess", guess)?))
    }

    /// Runs a query of a sequence.
    fn measure(
        &self,
        py: Python<'_>,
        name: &str,
        ask: &str,
        query: &NoisyQuery,
    ) -> PyResult<SessionReply> {
        self.ask(py, name, ask, &SessionQuery::Measure(query.query.clone()))
    }

    /// True if the session gives no more answers.
    fn is_exhausted(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        Ok(self.standing(py, name)?.1)
    }

    /// The number of answers given so far.
    fn answered(&self, py: Python<'_>, name: &str) -> PyResult<u64> {
        Ok(self.standing(py, name)?.0)
    }

    /// True if all sessions are over.
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        for one in &self.all {
            if !self.standing(py, &one.name)?.1 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends the sessions for everybody.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        for StoredSession { key, .. } in &self.all {
            let place = (self.account.as_str(), key.as_str());
            let closed = self.ledger.get().work(py, |ledger| curator::close(ledger, place));
            closed.map_err(refused)?;
        }
        Ok(())
    }
}
