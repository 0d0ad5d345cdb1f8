//! Sessions whose state is in a ledger: every answer is stored there with the state after it before it is shown, so that
//! threads, forks, other processes and whoever comes after a crash go on from the same state.

use counterpoint_curator::{self as curator, Bill, Interactive, Question};
use counterpoint_mechanisms as mechanisms;
use pyo3::prelude::*;

use crate::errors::{invalid, stored as refused};
use crate::ledger::Ledger;
use crate::query::{Data, Query, Recipe};
use crate::session::{Declared, Told, told};
use crate::value::number;

/// One of the sessions, under its key in the account.
struct Stored {
    name: String,
    key: String,
    declared: Interactive,
    data: mechanisms::Data,
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
        declared: Vec<(String, String, PyRef<'_, Declared>, PyRef<'_, Data>)>,
        ledger: Py<Ledger>,
        account: String,
    ) -> PyResult<Self> {
        let all = declared.iter().map(|(name, key, declared, data)| Stored {
            name: name.clone(),
            key: key.clone(),
            declared: declared.declared.clone(),
            data: data.data.clone(),
        });
        let all: Vec<Stored> = all.collect();
        for Stored { key, declared, data, .. } in &all {
            let bill = Bill::new(&account, key);
            let opened =
                ledger.get().work(py, |ledger| curator::open(ledger, &bill, declared, data));
            opened.map_err(refused)?;
        }
        Ok(Self { ledger, account, all })
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
