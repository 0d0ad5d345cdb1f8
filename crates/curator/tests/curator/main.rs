//! From debit to answer: what is shown, what is charged, and what a crash leaves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod attacked;
mod audit;
mod child;
mod covered;
mod crash;
mod demo;
mod engines;
mod failures;
mod files;
mod frames;
mod interfaces;
mod missing;
mod one_call;
mod people;
mod released;
mod sessions;
mod shared_counts;
mod slots;
mod surveys;
mod table_sessions;
mod tables;
mod total;

use counterpoint::{Adjacency, Relation, Release};
use counterpoint_budget::{Amount, Filter, Query, Terms};
use counterpoint_ledger::{FilterKind, Ledger, NewAccount, NewFilter, Url};
use counterpoint_mechanisms::{Data, NoisyQuery};
use counterpoint_testing::{new_schema, server, size, within};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;

/// Where a test's ledger is; gone when dropped.
struct Place {
    url: String,
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("ledger.db").display());
        Self { url, _folder: Some(folder) }
    }

    /// A schema of its own on the tests' server, if there is one.
    fn postgres() -> Option<Self> {
        let server = server()?;
        let url = within(&server, &new_schema(&server));
        Some(Self { url, _folder: None })
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
}

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

fn sums(epsilon: &str) -> NewFilter {
    NewFilter::new(FilterKind::Sums, amount(epsilon), amount("0.001"))
}

/// The relation of most tests: people come and go with one record each.
fn relation() -> Relation {
    Relation::single_record(Adjacency::AddRemove)
}

fn ages() -> Data {
    Data::new(relation(), [31.0, 45.0, 27.0, 62.0, 38.0])
}

/// A ledger with a data set and one open account that adds up epsilons.
fn with_account(place: &Place, relation: Relation, epsilon: &str) -> Ledger {
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("data", relation, &sums("1000000")).unwrap();
    ledger.open_account("account", "data", &NewAccount::Filter(sums(epsilon))).unwrap();
    ledger
}

/// A ledger whose account is about a part of the data, in a slot about it; so is another slot about
/// another part, at no further cost.
fn with_account_about(place: &Place, part: &str) -> Ledger {
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("data", relation(), &sums("60")).unwrap();
    let slot = |part: &str| {
        format!(r#"{{"name":"{part}","mechanism":"approx-dp","epsilon":50,"partition":"{part}"}}"#)
    };
    let plan = format!(r#"{{"delta":0,"release":[{},{}]}}"#, slot(part), slot("another"));
    let plan = ExactPlan::parse(plan.as_bytes(), Format::Json).unwrap();
    ledger.open_account("parts", "data", &NewAccount::Plan(plan, None)).unwrap();
    let pure = NewFilter::new(FilterKind::Sums, amount("50"), amount("0"));
    ledger.open_in_slot("account", "parts", part, &pure).unwrap();
    ledger
}

/// What the very numbers of the releases cost, added up: a little below what was asked for, since
/// noise is rounded up.
fn cost(releases: &[Release]) -> Amount {
    let filter =
        Filter::sums(amount("1000"), amount("0"), Terms::new(Adjacency::AddRemove)).unwrap();
    releases.iter().fold(Amount::ZERO, |sum, release| {
        &sum + &filter.charge(&Query::from(release.clone())).unwrap().main
    })
}

/// What an answer costs.
fn due(recipe: &NoisyQuery) -> Amount {
    cost(recipe.under(relation()).unwrap().releases())
}

fn spent(ledger: &mut Ledger) -> Amount {
    ledger.status(Some("account")).unwrap().accounts[0].spent.main.clone()
}

/// All is well, up to the head.
#[track_caller]
fn assert_sound(ledger: &mut Ledger) {
    let head = ledger.head().unwrap();
    assert_eq!(ledger.verify(Some(head)).unwrap().problem, None);
}
