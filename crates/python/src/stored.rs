//! Sessions whose state is in a ledger: every answer is stored there with the state after it before it is shown, so that
//! threads, forks, other processes and whoever comes after a crash go on from the same state.

use counterpoint_curator::{
    self as curator, About, Bill, Error, Own, Question, Reach, Step, Unfinished,
};
use counterpoint_ledger::LedgerError;
use counterpoint_mechanisms as mechanisms;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::{invalid, stored as refused};
use crate::ledger::{Ledger, plan};
use crate::query::{Data, Query, Recipe};
use crate::session::{Declared, Told, told};
use crate::value::number;

/// A mechanism that somebody brings: its name, and what all of it is charged as.
#[pyclass(frozen, eq, module = "counterpoint._native")]
#[derive(PartialEq)]
pub(crate) struct OwnDeclared {
    own: Own,
}

#[pymethods]
impl OwnDeclared {
    #[new]
    fn new(name: String, guarantee: &[u8]) -> PyResult<Self> {
        Ok(Self { own: Own { own: name, guarantee: plan(guarantee, None)?.releases } })
    }
}

/// A mechanism of ours, or one that somebody brings.
#[derive(FromPyObject)]
enum AnyDeclared<'py> {
    Ours(PyRef<'py, Declared>),
    Own(PyRef<'py, OwnDeclared>),
}

/// One of the sessions, under its key in the account.
struct Stored {
    name: String,
    key: String,
    /// What it is about, where that is known: the callers' own data are theirs.
    data: Option<mechanisms::Data>,
}

impl Stored {
    fn about(&self) -> About {
        let data = self.data.as_ref();
        About {
            relation: data.map(mechanisms::Data::relation),
            part: data.and_then(|data| data.part().cloned()),
        }
    }
}

/// What came in the way of an answer.
enum Fault {
    Curator(Error),
    Python(PyErr),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Curator(error)
    }
}

/// The ledger for one step at a time: it is not held while somebody's own mechanism runs.
struct Steps<'py, 'l> {
    py: Python<'py>,
    ledger: &'l Ledger,
}

impl Reach for Steps<'_, '_> {
    fn with<T: Send>(
        &mut self,
        step: impl FnOnce(&mut counterpoint_ledger::Ledger) -> Result<T, LedgerError> + Send,
    ) -> Result<T, LedgerError> {
        self.ledger.work(self.py, step)
    }
}

/// Sessions about the same people in one account; one is a set of one.
#[pyclass(frozen, module = "counterpoint._native")]
pub(crate) struct StoredSessions {
    ledger: Py<Ledger>,
    account: String,
    all: Vec<Stored>,
}

impl StoredSessions {
    fn find(&self, name: &str) -> PyResult<&Stored> {
        let found = self.all.iter().find(|one| one.name == name);
        found.ok_or_else(|| invalid(format!("session {name:?} is not among those declared")))
    }

    fn ask(&self, py: Python<'_>, name: &str, ask: &str, question: &Question) -> PyResult<Told> {
        let Stored { key, data, .. } = self.find(name)?;
        let data = data.as_ref().ok_or_else(|| invalid("the session is of another kind"))?;
        let place = (self.account.as_str(), key.as_str());
        let shown =
            self.ledger.get().work(py, |ledger| curator::ask(ledger, place, ask, question, data));
        told(shown.map_err(refused)?.reply().clone())
    }

    /// How many answers a session has given, and whether it is over.
    fn standing(&self, py: Python<'_>, name: &str) -> PyResult<(u64, bool)> {
        let key = &self.find(name)?.key;
        let found = self.ledger.get().work(py, |ledger| ledger.session(&self.account, key));
        let found = found.map_err(crate::errors::ledger)?;
        Ok(found.map_or((0, false), |session| (session.answered, session.ended.is_some())))
    }
}

#[pymethods]
impl StoredSessions {
    /// Opens each under its key, and debits it; one that was opened before goes on where it is.
    #[new]
    fn new(
        py: Python<'_>,
        declared: Vec<(String, String, AnyDeclared<'_>, Option<PyRef<'_, Data>>)>,
        ledger: Py<Ledger>,
        account: String,
        analyst: Option<String>,
        slot: Option<String>,
    ) -> PyResult<Self> {
        let mut all = Vec::with_capacity(declared.len());
        for (name, key, declared, data) in declared {
            let one = Stored { name, key, data: data.map(|data| data.data.clone()) };
            let bill = Bill {
                analyst: analyst.as_deref(),
                slot: slot.as_deref(),
                ..Bill::new(&account, &one.key)
            };
            let opened = match (&declared, &one.data) {
                (AnyDeclared::Ours(ours), Some(data)) => {
                    let ours = &ours.declared;
                    ledger.get().work(py, |ledger| curator::open(ledger, &bill, ours, data))
                }
                (AnyDeclared::Ours(_), None) => return Err(invalid("data are missing")),
                (AnyDeclared::Own(own), _) => {
                    let mut steps = Steps { py, ledger: ledger.get() };
                    curator::open_own(&mut steps, &bill, &own.own, &one.about())
                }
            };
            opened.map_err(refused)?;
            all.push(one);
        }
        Ok(Self { ledger, account, all })
    }

    /// To somebody's own mechanism: what `step` makes of the state and the question, all of them JSON. What `step` raises
    /// ends the session, but for an interrupt of the keyboard, which comes from outside.
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
        let mut steps = Steps { py, ledger: self.ledger.get() };
        let run = |state: Option<&str>, question: &str| {
            let told = step.call1((state, question));
            match told.and_then(|told| told.extract::<(String, Option<String>)>()) {
                Ok((reply, state)) => Ok(Step { reply, state }),
                // Whatever else it raises may depend on the data: exits and cancellations too.
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                    Err(Unfinished::Stopped(Fault::Python(error)))
                }
                Err(error) => Err(Unfinished::Failed(Fault::Python(error))),
            }
        };
        match curator::ask_own(&mut steps, place, (ask, question), &one.about(), run) {
            Ok(stored) => Ok(String::from_utf8_lossy(&stored.bytes).into_owned()),
            Err(Fault::Curator(error)) => Err(refused(error)),
            Err(Fault::Python(error)) => Err(error),
        }
    }

    /// To a sparse vector: is this above the threshold?
    fn above(&self, py: Python<'_>, name: &str, ask: &str, query: &Query) -> PyResult<Told> {
        self.ask(py, name, ask, &Question::Above(query.query.clone()))
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
        self.ask(py, name, ask, &Question::Check(query.query.clone(), number("guess", guess)?))
    }

    /// To a sequence: run this.
    fn measure(&self, py: Python<'_>, name: &str, ask: &str, recipe: &Recipe) -> PyResult<Told> {
        self.ask(py, name, ask, &Question::Measure(recipe.recipe.clone()))
    }

    /// Whether it answers nothing more.
    fn is_exhausted(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        Ok(self.standing(py, name)?.1)
    }

    /// How many answers it has given.
    fn answered(&self, py: Python<'_>, name: &str) -> PyResult<u64> {
        Ok(self.standing(py, name)?.0)
    }

    /// Whether all of them are over.
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        for one in &self.all {
            if !self.standing(py, &one.name)?.1 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends them, for everybody: they answer nothing more.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        for Stored { key, .. } in &self.all {
            let place = (self.account.as_str(), key.as_str());
            let closed = self.ledger.get().work(py, |ledger| curator::close(ledger, place));
            closed.map_err(refused)?;
        }
        Ok(())
    }
}
