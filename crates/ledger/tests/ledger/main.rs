//! The ledger as its callers, its attackers and its disks meet it.
//!
//! Tests on PostgreSQL want its URL in COUNTERPOINT_POSTGRES (tests/postgres.sh sets it) and say
//! so if it is missing; the full run insists on it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod aliases;
mod auditors;
mod backup;
mod bad_input;
mod behaviour;
mod checkpoints;
mod child;
mod concurrency;
mod crash;
mod disk;
mod expect;
mod files;
mod leaks;
mod owners;
mod replicas;
mod requests;
mod room;
mod schema;
mod sessions;
mod slots;
mod tamper;
mod threads;
mod tls;
mod upgrade;
mod watch;

use counterpoint::{Adjacency, Relation};
use counterpoint_budget::Amount;
use counterpoint_ledger::{
    ExportItem, FilterKind, Hash, Head, Ledger, LedgerError, NewAccount, NewAnswer, NewFilter,
    Request, Url,
};
use counterpoint_testing::{Random, is_full, new_schema, server, size, within};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{ExactPlan, ReleaseRequest};

/// Where a test's ledger is; gone when dropped.
struct Place {
    url: String,
    folder: Option<tempfile::TempDir>,
}

impl Place {
    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("ledger.db").display());
        Self { url, folder: Some(folder) }
    }

    /// A schema of its own on the tests' server, if there is one.
    fn postgres() -> Option<Self> {
        let server = server()?;
        let url = within(&server, &new_schema(&server));
        Some(Self { url, folder: None })
    }

    /// A new one in the same database.
    fn another(&self) -> Option<Self> {
        if self.folder.is_some() { Some(Self::sqlite()) } else { Self::postgres() }
    }

    /// Both, or SQLite alone.
    fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::sqlite()).chain(Self::postgres())
    }

    fn url(&self) -> Url {
        self.url.parse().unwrap()
    }

    fn open(&self) -> Ledger {
        Ledger::open(&self.url()).unwrap()
    }

    /// The path of a ledger in SQLite.
    fn file(&self) -> std::path::PathBuf {
        self.folder.as_ref().unwrap().path().join("ledger.db")
    }
}

/// One record of one person more or less.
fn add_remove() -> Relation {
    Relation::single_record(Adjacency::AddRemove)
}

/// One record replaced.
fn replace() -> Relation {
    Relation::single_record(Adjacency::Replace)
}

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

fn budget(kind: FilterKind, epsilon: &str, delta: &str) -> NewFilter {
    NewFilter::new(kind, amount(epsilon), amount(delta))
}

/// A ledger with a data set and one open account that adds up epsilons.
fn with_account(place: &Place, epsilon: &str) -> Ledger {
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("data", add_remove(), &budget(FilterKind::Sums, "1000000", "0.5")).unwrap();
    let account = NewAccount::Filter(budget(FilterKind::Sums, epsilon, "0.001"));
    ledger.open_account("account", "data", &account).unwrap();
    ledger
}

/// A release of 0.1 with its answer; the head after it.
fn pay(ledger: &mut Ledger, key: &str) -> Result<Head, LedgerError> {
    let tenth = release("0.1");
    ledger.reserve(&Request::new("account", key, &tenth))?;
    Ok(ledger.commit("account", key, answer(key).as_bytes())?.head)
}

fn answer(key: &str) -> String {
    format!("{key} answer")
}

/// An answer of a session with nothing special to it.
fn new_answer<'a>(ask: &'a str, after: u64, response: &'a str, last: bool) -> NewAnswer<'a> {
    let question = Hash::of(ask.as_bytes());
    NewAnswer { ask, question, after, response: response.as_bytes(), state: &[7; 40], last }
}

/// What was shown under a key.
fn shown(ledger: &mut Ledger, key: &str) -> Result<Option<Vec<u8>>, LedgerError> {
    ledger.response("account", key)
}

/// Everything that a ledger exports.
fn exported(ledger: &mut Ledger) -> Vec<ExportItem> {
    let mut parts = Vec::new();
    let head = ledger.export(|part| {
        parts.push(part);
        Ok::<_, LedgerError>(())
    });
    assert_eq!(parts.first(), Some(&ExportItem::Head(head.unwrap())));
    parts
}

fn plan(text: &str) -> ExactPlan {
    let format = Format::detect(None, text.as_bytes());
    ExactPlan::parse(text.as_bytes(), format).unwrap()
}

/// A release with an epsilon.
fn release(epsilon: &str) -> ReleaseRequest {
    described(&format!(r#"{{"mechanism":"approx-dp","epsilon":{epsilon}}}"#))
}

fn described(text: &str) -> ReleaseRequest {
    ReleaseRequest::Described(plan(&format!(r#"{{"release":[{text}]}}"#)).releases)
}

fn slot(name: &str, count: u64) -> ReleaseRequest {
    ReleaseRequest::Slot { name: name.to_owned(), count, run: Vec::new() }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, LedgerError>) -> String {
    match outcome {
        Err(LedgerError::Refused(refusal)) => refusal.to_string(),
        other => panic!("not refused: {other:?}"),
    }
}

/// All is well, up to the head.
#[track_caller]
fn assert_sound(ledger: &mut Ledger) {
    let head = ledger.head().unwrap();
    let verification = ledger.verify(Some(head)).unwrap();
    assert_eq!((verification.problem, verification.head), (None, head));
}
