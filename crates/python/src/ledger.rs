//! The durable ledger.

use counterpoint::quantity::Order;
use counterpoint::{Adjacency, Delta, Epsilon, Relation};
use counterpoint_budget::Amount;
use counterpoint_ledger::{
    ExportItem, FilterKind, Head, LedgerError, NewAccount, NewFilter, NewQuota, OpenOptions,
    Request, Transfer, Url,
};
use counterpoint_wire::ledger::{
    ExactPlan, ExportWriter, History, Openings, PromiseRecord, ReleaseRequest,
};
use counterpoint_wire::{Format, Question};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use crate::errors::{self, invalid};
use crate::plan::adjacency;

/// Parses a head, an amount or a URL.
fn read<T: FromStr<Err: Display>>(argument: &str, text: &str) -> PyResult<T> {
    text.parse().map_err(|error| invalid(format!("{argument} is {text:?}: {error}")))
}

/// Parses an amount from its exact decimal text.
fn amount(argument: &str, text: &str) -> PyResult<Amount> {
    read(argument, text)
}

/// Durable budgets on SQLite or PostgreSQL. Made by :class:`counterpoint.Ledger`.
#[pyclass(frozen, subclass, module = "counterpoint._native")]
pub(crate) struct Ledger {
    pub(crate) url: Url,
    pub(crate) options: OpenOptions,
    /// The process that opened the connection. A fork has a copy of the connection and must not use it: two processes
    /// on one connection mix their messages, and what one closes is closed for the other.
    process: u32,
    connection: Mutex<Option<counterpoint_ledger::Ledger>>,
}

impl Drop for Ledger {
    /// Leaves the parent's connection open in a fork.
    fn drop(&mut self) {
        if self.process != std::process::id() {
            let connection = self.connection.get_mut();
            let connection = connection.unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(connection.take());
        }
    }
}

fn kind(name: &str) -> PyResult<FilterKind> {
    let found = FilterKind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| {
        let legal = FilterKind::ALL.map(FilterKind::name).join(", ");
        invalid(format!("filter is {name:?}; legal: {legal}"))
    })
}

pub(crate) fn plan(text: &[u8], path: Option<&str>) -> PyResult<ExactPlan> {
    let format = Format::detect(path.map(Path::new), text);
    ExactPlan::parse(text, format).map_err(|error| invalid(error.to_string()))
}

fn json(text: Result<String, impl Display>) -> PyResult<String> {
    text.map_err(|error| invalid(error.to_string()))
}

impl Ledger {
    /// Uses the ledger without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut counterpoint_ledger::Ledger) -> Result<T, LedgerError> + Send,
    ) -> PyResult<T> {
        self.work(py, work).map_err(errors::ledger)
    }

    /// Does the same for work with its own errors. A fork opens a new connection each time: even the lock may be held
    /// by a thread that only its parent has.
    pub(crate) fn work<T: Send, E: From<LedgerError> + Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut counterpoint_ledger::Ledger) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        py.detach(|| {
            // A panic of another thread left nothing half done, since the durable state is in the database.
            let lock = || self.connection.lock().unwrap_or_else(PoisonError::into_inner);
            let mut connection = (self.process == std::process::id()).then(lock);
            match connection.as_mut().and_then(|connection| connection.as_mut()) {
                Some(own) => work(own),
                None => {
                    work(&mut counterpoint_ledger::Ledger::open_with(&self.url, &self.options)?)
                }
            }
        })
    }
}

#[pymethods]
impl Ledger {
    #[new]
    #[pyo3(signature = (url, *, create = false, expect_head = None, read_only = false))]
    fn new(
        py: Python<'_>,
        url: &str,
        create: bool,
        expect_head: Option<&str>,
        read_only: bool,
    ) -> PyResult<Self> {
        let url: Url = read("url", url)?;
        let expect = expect_head.map(|head| read("expect_head", head)).transpose()?;
        let options = OpenOptions { read_only, expect };
        if create && options != OpenOptions::default() {
            return Err(invalid("create is given with expect_head or read_only; legal: alone"));
        }
        let open = || match create {
            true => counterpoint_ledger::Ledger::init(&url),
            false => counterpoint_ledger::Ledger::open_with(&url, &options),
        };
        let connection = Mutex::new(Some(py.detach(open).map_err(errors::ledger)?));
        Ok(Self { url, options, process: std::process::id(), connection })
    }

    /// The head: the number and the hash of the newest entry.
    #[getter]
    fn head(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |ledger| Ok(ledger.head()?.to_string()))
    }

    /// Adds a data set with its budget.
    #[pyo3(name = "_dataset", signature = (name, adjacency, records, filter, epsilon, delta))]
    #[allow(clippy::too_many_arguments)]
    fn dataset(
        &self,
        py: Python<'_>,
        name: &str,
        adjacency: &Bound<'_, PyAny>,
        records: u64,
        filter: &str,
        epsilon: &str,
        delta: &str,
    ) -> PyResult<String> {
        let adjacency = self::adjacency(Some(adjacency))?
            .ok_or_else(|| invalid("adjacency is missing; legal: \"add-remove\" or \"replace\""))?;
        let relation =
            Relation::new(adjacency, records).map_err(errors::out_of_range("records"))?;
        let (epsilon, delta) = (amount("epsilon", epsilon)?, amount("delta", delta)?);
        let budget = NewFilter::new(kind(filter)?, epsilon, delta);
        self.with(py, |ledger| Ok(ledger.add_dataset(name, relation, &budget)?.to_string()))
    }

    /// Opens an account with a plan's slots.
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

    /// Opens an account with a filter. Its promise is given by name.
    #[pyo3(name = "_open_filter", signature = (account, dataset, within, slot, filter, promise, order, leaks, expect))]
    #[allow(clippy::too_many_arguments)]
    fn open_filter(
        &self,
        py: Python<'_>,
        account: &str,
        dataset: Option<&str>,
        within: Option<&str>,
        slot: Option<&str>,
        filter: &str,
        promise: BTreeMap<String, String>,
        order: Option<f64>,
        leaks: Option<&str>,
        expect: Option<&[u8]>,
    ) -> PyResult<String> {
        let order = order.map(Order::new).transpose().map_err(errors::out_of_range("order"))?;
        let promise = self::promise(&promise, order.map(|order| order.get()))?;
        let mut filter = NewFilter::with_promise(kind(filter)?, promise);
        filter.order = order;
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

    /// Limits what an analyst may spend of an account.
    #[pyo3(name = "_quota", signature = (account, analyst, share, releases, epsilon, delta, change))]
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
        change: bool,
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
        self.with(py, |ledger| {
            let head = match change {
                true => ledger.change_quota(account, analyst, &quota)?,
                false => ledger.add_quota(account, analyst, &quota)?,
            };
            Ok(head.to_string())
        })
    }

    /// Moves unspent budget from an account to another of the same data set.
    #[pyo3(name = "_move", signature = (source, to, key, amount, delta))]
    fn transfer(
        &self,
        py: Python<'_>,
        source: &str,
        to: &str,
        key: &str,
        amount: &str,
        delta: &str,
    ) -> PyResult<String> {
        let new = Transfer::new(source, to, key, self::amount("amount", amount)?);
        let new = new.with_delta(self::amount("delta", delta)?);
        self.with(py, |ledger| Ok(ledger.move_budget(&new)?.to_string()))
    }

    /// Debits a release: a slot of a plan account, or releases described in JSON.
    #[pyo3(name = "_reserve", signature = (account, key, slot, count, release, run, analyst, session))]
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
        session: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (releases, adjacency) = release_request(slot, count, release, run)?;
        let request =
            Request { analyst, adjacency, session, ..Request::new(account, key, &releases) };
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

    /// The cost of a reservation, and the reason why it would be refused now.
    #[pyo3(name = "_price", signature = (account, slot, count, release, run, analyst))]
    #[allow(clippy::too_many_arguments)]
    fn price(
        &self,
        py: Python<'_>,
        account: &str,
        slot: Option<String>,
        count: u64,
        release: Option<&[u8]>,
        run: Option<&[u8]>,
        analyst: Option<&str>,
    ) -> PyResult<(String, String, Option<String>)> {
        let (releases, adjacency) = release_request(slot, count, release, run)?;
        let request = Request { analyst, adjacency, ..Request::new(account, "", &releases) };
        let price = self.with(py, |ledger| ledger.price(&request))?;
        let refusal = price.refusal.map(|refusal| refusal.to_string());
        Ok((price.charge.main.to_string(), price.charge.delta.to_string(), refusal))
    }

    /// Stores a response. Only the returned response may be shown.
    #[pyo3(name = "_commit", signature = (key, response, account))]
    fn commit<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        response: &[u8],
        account: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let stored = self.with(py, |ledger| {
            let account = named(ledger, key, account)?;
            ledger.commit(&account, key, response)
        })?;
        let dict = entry(py, "committed", stored.entry, stored.head)?;
        dict.set_item("repeated", stored.repeated)?;
        dict.set_item("response", PyBytes::new(py, &stored.response))?;
        Ok(dict)
    }

    /// The stored response of a key.
    ///
    /// Parameters
    /// ----------
    /// key
    ///     The key of the reservation.
    /// account
    ///     The account, needed if two have the key.
    ///
    /// Returns
    /// -------
    /// bytes or None
    ///     The response; None if the key is reserved and not committed.
    ///
    /// Raises
    /// ------
    /// counterpoint.LedgerError
    ///     Nothing is reserved under the key, or two accounts have it.
    #[pyo3(signature = (key, account = None))]
    fn response<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        account: Option<&str>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let stored = self.with(py, |ledger| {
            let account = named(ledger, key, account)?;
            ledger.response(&account, key)
        })?;
        Ok(stored.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Closes an account for good. Reserved releases can still be committed.
    ///
    /// Parameters
    /// ----------
    /// account
    ///     The account.
    ///
    /// Returns
    /// -------
    /// str
    ///     The ledger's new head.
    fn close(&self, py: Python<'_>, account: &str) -> PyResult<String> {
        self.with(py, |ledger| Ok(ledger.close(account)?.to_string()))
    }

    /// Closes a data set and all of its accounts for good. Reserved releases can still be committed.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     The data set.
    ///
    /// Returns
    /// -------
    /// str
    ///     The ledger's new head.
    fn close_dataset(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.with(py, |ledger| Ok(ledger.close_dataset(name)?.to_string()))
    }

    /// Ends a session, which then gives no more answers.
    ///
    /// Parameters
    /// ----------
    /// account
    ///     The account.
    /// key
    ///     The session's key.
    ///
    /// Returns
    /// -------
    /// str
    ///     The ledger's new head.
    fn end(&self, py: Python<'_>, account: &str, key: &str) -> PyResult<String> {
        self.with(py, |ledger| Ok(ledger.end_session(account, key)?.to_string()))
    }

    /// The progress of a session, as JSON.
    #[pyo3(name = "_session", signature = (account, key))]
    fn session(&self, py: Python<'_>, account: &str, key: &str) -> PyResult<String> {
        json(self.with(py, |ledger| ledger.session_status(account, key))?.json())
    }

    /// The debits without a response and the sessions that are not over, as JSON.
    #[pyo3(name = "_pending", signature = (account))]
    fn pending(&self, py: Python<'_>, account: Option<&str>) -> PyResult<String> {
        json(self.with(py, |ledger| ledger.pending(account))?.json())
    }

    /// The stored responses, as JSON.
    #[pyo3(name = "_responses", signature = (account, analyst))]
    fn responses(
        &self,
        py: Python<'_>,
        account: Option<&str>,
        analyst: Option<&str>,
    ) -> PyResult<String> {
        json(self.with(py, |ledger| ledger.responses(account, analyst))?.json())
    }

    /// Copies the ledger to a new SQLite file, verified and durable; returns the copy's head.
    #[pyo3(name = "_backup", signature = (file))]
    fn backup(&self, py: Python<'_>, file: PathBuf) -> PyResult<String> {
        self.with(py, |ledger| Ok(ledger.backup(&file)?.to_string()))
    }

    /// The spent and the remaining budgets, as JSON.
    #[pyo3(name = "_status", signature = (account))]
    fn status(&self, py: Python<'_>, account: Option<&str>) -> PyResult<String> {
        let status = self.with(py, |ledger| {
            let mut status = ledger.status(account)?;
            if let (Some(name), [one]) = (account, status.accounts.as_mut_slice()) {
                one.spent_epsilon = ledger.spent_epsilon(name)?;
                one.room = ledger.room(name, None)?;
            }
            Ok(status)
        })?;
        json(status.json())
    }

    /// The reading of the odometer of an open account or a data set, as JSON.
    #[pyo3(name = "_odometer", signature = (account))]
    fn odometer(&self, py: Python<'_>, account: &str) -> PyResult<String> {
        json(self.with(py, |ledger| ledger.odometer(account))?.json())
    }

    /// The entries, as JSON.
    #[pyo3(name = "_history", signature = (account, analyst))]
    fn history(
        &self,
        py: Python<'_>,
        account: Option<&str>,
        analyst: Option<&str>,
    ) -> PyResult<String> {
        let history = self.with(py, |ledger| {
            let mut entries = Vec::new();
            let head = ledger.history(account, analyst, |entry| entries.push(entry))?.to_string();
            Ok(History { head, entries })
        })?;
        json(history.json())
    }

    /// Exports the history with all responses.
    ///
    /// Returns
    /// -------
    /// str
    ///     One JSON object.
    fn export(&self, py: Python<'_>) -> PyResult<String> {
        let bytes = self.work(py, |ledger| export(ledger, Vec::new())).map_err(export_error)?;
        String::from_utf8(bytes).map_err(|error| invalid(error.to_string()))
    }

    /// Exports the history with all responses to a new file, which only its owner can read.
    ///
    /// Parameters
    /// ----------
    /// file
    ///     The new file.
    ///
    /// Raises
    /// ------
    /// FileExistsError
    ///     The file exists.
    #[pyo3(signature = (file))]
    fn export_to(&self, py: Python<'_>, file: PathBuf) -> PyResult<()> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let out = BufWriter::new(options.open(&file)?);
        let mut out = self.work(py, |ledger| export(ledger, out)).map_err(export_error)?;
        Ok(out.flush()?)
    }

    /// Recomputes every balance and hash; returns the head, and the problem if there is one.
    #[pyo3(name = "_verify", signature = (expect_head))]
    fn verify(
        &self,
        py: Python<'_>,
        expect_head: Option<&str>,
    ) -> PyResult<(String, Option<String>)> {
        let expected = expect_head.map(|head| read("expect_head", head)).transpose()?;
        let verification = self.with(py, |ledger| ledger.verify(expected))?;
        Ok((verification.head.to_string(), verification.problem))
    }
}

/// The error of an export.
enum ExportError {
    Ledger(LedgerError),
    File(std::io::Error),
}

impl From<LedgerError> for ExportError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl From<std::io::Error> for ExportError {
    fn from(error: std::io::Error) -> Self {
        Self::File(error)
    }
}

fn export_error(error: ExportError) -> PyErr {
    match error {
        ExportError::Ledger(error) => errors::ledger(error),
        ExportError::File(error) => error.into(),
    }
}

/// Writes the history with all responses as JSON, part by part.
fn export<W: Write>(ledger: &mut counterpoint_ledger::Ledger, out: W) -> Result<W, ExportError> {
    let mut writer = ExportWriter::export(out);
    ledger.export(|part| {
        match part {
            ExportItem::Head(head) => writer.head(&head.to_string())?,
            ExportItem::Entry(entry) => writer.entry(&entry)?,
            ExportItem::Response(response) => writer.response(&response)?,
            _ => {}
        }
        Ok::<_, ExportError>(())
    })?;
    Ok(writer.end()?)
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

/// The request: a slot and the releases that run in it, or releases; and their adjacency.
fn release_request(
    slot: Option<String>,
    count: u64,
    release: Option<&[u8]>,
    run: Option<&[u8]>,
) -> PyResult<(ReleaseRequest, Option<Adjacency>)> {
    match (slot, release) {
        (Some(name), None) => {
            let run = run.map(|text| plan(text, None)).transpose()?;
            let (run, adjacency) =
                run.map_or((Vec::new(), None), |plan| (plan.releases, plan.adjacency));
            Ok((ReleaseRequest::Slot { name, count, run }, adjacency))
        }
        (None, Some(text)) => {
            let plan = plan(text, None)?;
            Ok((ReleaseRequest::Described(plan.releases), plan.adjacency))
        }
        _ => Err(invalid("release is missing; legal: a mechanism, or the name of a slot")),
    }
}

/// The promise of an open account, from the given amounts.
fn promise(given: &BTreeMap<String, String>, order: Option<f64>) -> PyResult<PromiseRecord> {
    let names: Vec<&str> = given.keys().map(String::as_str).collect();
    let get = |name: &str| match given.get(name) {
        Some(text) => amount(name, text),
        None => Ok(Amount::ZERO),
    };
    Ok(match (names.as_slice(), order.and_then(Amount::from_f64)) {
        (["delta", "epsilon"], _) => {
            PromiseRecord::ApproxDp { epsilon: get("epsilon")?, delta: get("delta")? }
        }
        (["rho"] | ["delta", "rho"], _) => {
            PromiseRecord::Zcdp { rho: get("rho")?, delta: get("delta")? }
        }
        (["mu"], _) => PromiseRecord::Gdp { mu: get("mu")? },
        (["tau"], Some(order)) => PromiseRecord::Renyi { order, tau: get("tau")? },
        _ => {
            return Err(invalid(
                "the account promises nothing; legal: epsilon and delta, rho (and delta), mu, or \
                 order and tau",
            ));
        }
    })
}

/// The account of a key: the named one, or the only one that has the key.
fn named(
    ledger: &mut counterpoint_ledger::Ledger,
    key: &str,
    account: Option<&str>,
) -> Result<String, LedgerError> {
    account.map_or_else(|| ledger.account_of(key), |account| Ok(account.to_owned()))
}
