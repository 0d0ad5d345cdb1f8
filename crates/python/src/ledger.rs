//! The ledger.

use counterpoint::filter::Amount;
use counterpoint::{Delta, Epsilon};
use counterpoint_ledger::{Head, Kind, NewAccount, NewFilter, NewQuota, Request, Url};
use counterpoint_wire::ledger::{Asked, Described, ExactPlan, Export, History, Openings};
use counterpoint_wire::{Format, Question};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use crate::errors::{self, invalid};
use crate::plan::adjacency;

/// Budgets that survive crashes, on SQLite or PostgreSQL.
#[pyclass(frozen, subclass, module = "counterpoint._native")]
pub(crate) struct Ledger {
    inner: Mutex<counterpoint_ledger::Ledger>,
}

/// An amount from its exact decimal text.
fn amount(argument: &str, text: &str) -> PyResult<Amount> {
    text.parse().map_err(|error| invalid(format!("{argument} is {text:?}: {error}")))
}

fn kind(name: &str) -> PyResult<Kind> {
    let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| {
        let legal = Kind::ALL.map(Kind::name).join(", ");
        invalid(format!("filter is {name:?}; legal: {legal}"))
    })
}

fn plan(text: &[u8], path: Option<&str>) -> PyResult<ExactPlan> {
    let format = Format::detect(path.map(Path::new), text);
    ExactPlan::parse(text, format).map_err(|error| invalid(error.to_string()))
}

fn json(text: Result<String, impl std::fmt::Display>) -> PyResult<String> {
    text.map_err(|error| invalid(error.to_string()))
}

impl Ledger {
    /// Works on the ledger without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(
            &mut counterpoint_ledger::Ledger,
        ) -> Result<T, counterpoint_ledger::LedgerError>
        + Send,
    ) -> PyResult<T> {
        // A panic of another thread left nothing half done: what is durable is in the database.
        let lock = || -> MutexGuard<'_, _> {
            self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
        };
        py.detach(|| work(&mut lock())).map_err(errors::ledger)
    }
}

#[pymethods]
impl Ledger {
    #[new]
    #[pyo3(signature = (url, *, create = false))]
    fn new(py: Python<'_>, url: &str, create: bool) -> PyResult<Self> {
        let url: Url = url.parse().map_err(|error| invalid(format!("url is {url:?}: {error}")))?;
        let open = || match create {
            true => counterpoint_ledger::Ledger::init(&url),
            false => counterpoint_ledger::Ledger::open(&url),
        };
        let inner = py.detach(open).map_err(errors::ledger)?;
        Ok(Self { inner: Mutex::new(inner) })
    }

    /// The head: sequence and hash of the newest entry.
    #[getter]
    fn head(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |ledger| Ok(ledger.head()?.to_string()))
    }

    /// Adds a data set with its budget.
    #[pyo3(name = "_dataset", signature = (name, adjacency, filter, epsilon, delta))]
    fn dataset(
        &self,
        py: Python<'_>,
        name: &str,
        adjacency: &Bound<'_, PyAny>,
        filter: &str,
        epsilon: &str,
        delta: &str,
    ) -> PyResult<String> {
        let relation = self::adjacency(Some(adjacency))?
            .ok_or_else(|| invalid("adjacency is missing; legal: \"add-remove\" or \"replace\""))?;
        let (epsilon, delta) = (amount("epsilon", epsilon)?, amount("delta", delta)?);
        let budget = NewFilter::new(kind(filter)?, epsilon, delta);
        self.with(py, |ledger| Ok(ledger.dataset(name, relation, &budget)?.to_string()))
    }

    /// Opens an account by a plan.
    #[pyo3(name = "_open_plan", signature = (account, dataset, text, path, delta, epsilon))]
    #[allow(clippy::too_many_arguments)]
    fn open_plan(
        &self,
        py: Python<'_>,
        account: &str,
        dataset: &str,
        text: &[u8],
        path: Option<&str>,
        delta: Option<&str>,
        epsilon: Option<&str>,
    ) -> PyResult<String> {
        let question = match (delta, epsilon) {
            (None, None) => None,
            (Some(delta), None) => {
                let exact = amount("delta", delta)?;
                let at = Delta::new(exact.lower()).map_err(errors::out_of_range("delta"))?;
                Some((Question::EpsilonAt(at), exact))
            }
            (None, Some(epsilon)) => {
                let exact = amount("epsilon", epsilon)?;
                let at = Epsilon::new(exact.lower()).map_err(errors::out_of_range("epsilon"))?;
                Some((Question::DeltaAt(at), exact))
            }
            _ => return Err(invalid("delta and epsilon are both given with a plan; legal: one")),
        };
        let new = NewAccount::Plan(plan(text, path)?, question);
        self.with(py, |ledger| Ok(ledger.open_account(account, dataset, &new)?.to_string()))
    }

    /// Opens an account by a filter.
    #[pyo3(name = "_open_filter", signature = (account, dataset, within, slot, filter, epsilon, delta, order, leaks, expect))]
    #[allow(clippy::too_many_arguments)]
    fn open_filter(
        &self,
        py: Python<'_>,
        account: &str,
        dataset: Option<&str>,
        within: Option<&str>,
        slot: Option<&str>,
        filter: &str,
        epsilon: &str,
        delta: &str,
        order: Option<f64>,
        leaks: Option<&str>,
        expect: Option<&[u8]>,
    ) -> PyResult<String> {
        let (epsilon, delta) = (amount("epsilon", epsilon)?, amount("delta", delta)?);
        let mut filter = NewFilter::new(kind(filter)?, epsilon, delta);
        filter.order = order
            .map(|order| {
                counterpoint::quantity::Order::new(order).map_err(errors::out_of_range("order"))
            })
            .transpose()?;
        filter.leaks = leaks.map(|leaks| amount("leaks", leaks)).transpose()?;
        if let Some(text) = expect {
            filter.expected = plan(text, None)?.releases;
        }
        let head = match (dataset, within, slot) {
            (Some(dataset), None, None) => {
                let new = NewAccount::Filter(filter);
                self.with(py, |ledger| ledger.open_account(account, dataset, &new))?
            }
            (None, Some(within), Some(slot)) => {
                self.with(py, |ledger| ledger.open_in_slot(account, within, slot, &filter))?
            }
            _ => {
                return Err(invalid(
                    "nothing pays for the account; legal: dataset, or within and slot",
                ));
            }
        };
        Ok(head.to_string())
    }

    /// Exchanges unused openings of slots for new slots.
    #[pyo3(name = "_recut", signature = (account, unused, text, path))]
    fn recut(
        &self,
        py: Python<'_>,
        account: &str,
        unused: Vec<(String, u64)>,
        text: &[u8],
        path: Option<&str>,
    ) -> PyResult<String> {
        let into = plan(text, path)?;
        let openings = unused.into_iter().map(|(slot, count)| Openings { slot, count });
        let openings: Vec<Openings> = openings.collect();
        self.with(py, |ledger| Ok(ledger.recut(account, &openings, &into)?.to_string()))
    }

    /// Gives an analyst a share of an account.
    #[pyo3(name = "_quota", signature = (account, analyst, share, releases, epsilon, delta))]
    #[allow(clippy::too_many_arguments)]
    fn quota(
        &self,
        py: Python<'_>,
        account: &str,
        analyst: &str,
        share: Option<&str>,
        releases: Option<u64>,
        epsilon: Option<&str>,
        delta: Option<&str>,
    ) -> PyResult<String> {
        let quota = match (share, releases, epsilon, delta) {
            (Some(share), None, None, None) => NewQuota::Share(amount("share", share)?),
            (None, Some(count), None, None) => NewQuota::Releases(count),
            (None, None, Some(epsilon), Some(delta)) => NewQuota::Cost {
                epsilon: amount("epsilon", epsilon)?,
                delta: amount("delta", delta)?,
            },
            _ => {
                return Err(invalid(
                    "no one quota is given; legal: share, releases, or epsilon and delta",
                ));
            }
        };
        self.with(py, |ledger| Ok(ledger.quota(account, analyst, &quota)?.to_string()))
    }

    /// Debits a release: one slot of a plan account, or a release described in JSON.
    #[pyo3(name = "_reserve", signature = (account, key, slot, count, release, run, analyst))]
    #[allow(clippy::too_many_arguments)]
    fn reserve<'py>(
        &self,
        py: Python<'py>,
        account: &str,
        key: &str,
        slot: Option<String>,
        count: u64,
        release: Option<&[u8]>,
        run: Option<&[u8]>,
        analyst: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (asked, adjacency) = match (slot, release) {
            (Some(name), None) => {
                let run = run.map(|text| one(plan(text, None)?)).transpose()?;
                (Asked::Slot { name, count, run }, None)
            }
            (None, Some(text)) => {
                let plan = plan(text, None)?;
                let adjacency = plan.adjacency;
                (Asked::Described(one(plan)?), adjacency)
            }
            _ => {
                return Err(invalid(
                    "release is missing; legal: a mechanism, or the name of a slot",
                ));
            }
        };
        let request = Request { analyst, adjacency, ..Request::new(account, key, &asked) };
        let reserved = self.with(py, |ledger| ledger.reserve(&request))?;
        let outcome = match (&reserved.charge, &reserved.response) {
            (_, Some(_)) => "committed",
            (Some(_), None) => "reserved",
            (None, None) => "pending",
        };
        let dict = entry(py, outcome, reserved.entry, reserved.head)?;
        dict.set_item("response", reserved.response.map(|bytes| PyBytes::new(py, &bytes)))?;
        Ok(dict)
    }

    /// Stores a response; only what comes back may be shown.
    #[pyo3(name = "_commit", signature = (key, response))]
    fn commit<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        response: &[u8],
    ) -> PyResult<Bound<'py, PyDict>> {
        let stored = self.with(py, |ledger| ledger.commit(key, response))?;
        let dict = entry(py, "committed", stored.entry, stored.head)?;
        dict.set_item("repeated", stored.repeated)?;
        dict.set_item("response", PyBytes::new(py, &stored.response))?;
        Ok(dict)
    }

    /// The stored response of a key, or None if it is reserved and not committed.
    fn response<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let stored = self.with(py, |ledger| ledger.response(key))?;
        Ok(stored.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// What is spent and what is left, as JSON.
    #[pyo3(name = "_status", signature = (account))]
    fn status(&self, py: Python<'_>, account: Option<&str>) -> PyResult<String> {
        json(self.with(py, |ledger| ledger.status(account))?.json())
    }

    /// The entries, as JSON.
    #[pyo3(name = "_history", signature = (account))]
    fn history(&self, py: Python<'_>, account: Option<&str>) -> PyResult<String> {
        let history = self.with(py, |ledger| {
            let mut entries = Vec::new();
            let head = ledger.history(account, |entry| entries.push(entry))?.to_string();
            Ok(History { head, entries })
        })?;
        json(history.json())
    }

    /// Everything, as JSON.
    fn export(&self, py: Python<'_>) -> PyResult<String> {
        let export = self.with(py, |ledger| {
            let mut entries = Vec::new();
            let (head, responses) = ledger.export(|entry| entries.push(entry))?;
            Ok(Export { version: 1, head: head.to_string(), entries, responses })
        })?;
        json(export.json())
    }

    /// Recomputes everything. None, or what is wrong.
    #[pyo3(name = "_verify", signature = (expect_head))]
    fn verify(
        &self,
        py: Python<'_>,
        expect_head: Option<&str>,
    ) -> PyResult<(String, Option<String>)> {
        let expected = expect_head.map(|text| {
            let head = text.parse::<Head>();
            head.map_err(|error| invalid(format!("expect_head is {text:?}: {error}")))
        });
        let expected = expected.transpose()?;
        let verification = self.with(py, |ledger| ledger.verify(expected))?;
        Ok((verification.head.to_string(), verification.problem))
    }
}

fn entry<'py>(
    py: Python<'py>,
    outcome: &str,
    entry: u64,
    head: Head,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("outcome", outcome)?;
    dict.set_item("entry", entry)?;
    dict.set_item("head", head.to_string())?;
    Ok(dict)
}

/// The one release of a plan.
fn one(plan: ExactPlan) -> PyResult<Described> {
    let legal = |count| invalid(format!("release holds {count} releases; legal: one"));
    let [release] = <[_; 1]>::try_from(plan.releases).map_err(|all| legal(all.len()))?;
    Ok(release)
}
