//! Sessions about tables: what they answer, what they cost, whose they are, and what a restart goes on from.

mod answers;
mod charges;
mod owners;
mod refusals;
mod restarts;

use counterpoint::{Adjacency, Relation};
use counterpoint_curator::question::{Aggregate, AggregateKind, Condition, Question};
use counterpoint_curator::table_session::{QuerySpec, SessionSpec};
use counterpoint_curator::{
    AnswerError, Bearer, Config, Curator, CuratorError, Error, MechanismError, NewSession,
    QuestionText, Role, SessionReceipt, SessionSubmission, StoredReply, Tokens,
};
use counterpoint_ledger::{FilterKind, Ledger, LedgerError, NewAccount, NewFilter};
use rusqlite::types::Value;

use crate::amount;
use crate::tables::{self, Row};

/// Two tables of one data set, of which people have two rows that are used; two others of data sets of their own.
const CONFIG: &str = r#"
version = 1
ledger = "sqlite:ledger.db"
state = "sqlite:state.db"
[timing]
slot = 0
limit = 60
[[table]]
name = "visits"
source = "sqlite:visits.db"
person = "nr"
rows = 2
adjacency = "add-remove"
column = [{ name = "age", bounds = [0, 10] }, { name = "pay", bounds = [-3, 7.5] },
    { name = "region", categories = ["north", "south"] }]
[[table]]
name = "wards"
dataset = "visits"
source = "sqlite:visits.db"
from = "visits"
person = "nr"
rows = 2
adjacency = "add-remove"
column = [{ name = "age", bounds = [0, 10] }]
[[table]]
name = "others"
source = "sqlite:visits.db"
from = "visits"
adjacency = "add-remove"
column = [{ name = "age", bounds = [0, 10] }]
[[table]]
name = "shops"
source = "sqlite:visits.db"
from = "visits"
adjacency = "replace"
column = [{ name = "age", bounds = [0, 10] }]
"#;

/// A curator's files, gone when dropped; and who may ask.
struct Place {
    folder: tempfile::TempDir,
    ann: Bearer,
    ben: Bearer,
    cleo: Bearer,
}

/// A budget of epsilons alone.
fn pure(epsilon: &str) -> NewFilter {
    NewFilter::new(FilterKind::Sums, amount(epsilon), amount("0"))
}

/// Two hundred people with two visits each, ages 0 to 9 and pays from -10 to 9, and one with six visits.
fn visits() -> Vec<Row> {
    let row = |nr: i64, age: i64, pay: f64, region: &str| {
        let region = Value::Text(region.to_owned());
        [Value::Integer(nr), Value::Integer(age), Value::Real(pay), region, Value::Null]
    };
    let mut rows: Vec<Row> = Vec::new();
    for nr in 0..200 {
        let region = if nr % 4 == 0 { "north" } else { "south" };
        rows.push(row(nr, nr % 10, (nr % 20 - 10) as f64, region));
        rows.push(row(nr, nr % 10, 4.25, region));
    }
    rows.extend((0..6).map(|_| row(999, 9, 100.0, "north")));
    rows
}

/// So many rows are in the north: of 50 people, and of the one with six, all two.
const NORTH: f64 = 102.0;

/// Their pays, clamped to -3 to 7.5: each fourth of twenty remainders ten times, and 4.25; and the highest twice.
fn paid_in_the_north() -> f64 {
    let clamped = |pay: i64| (pay as f64).clamp(-3.0, 7.5);
    let first: f64 = (0..50).map(|one| clamped((4 * one) % 20 - 10)).sum();
    first + 50.0 * 4.25 + 2.0 * 7.5
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::parse(CONFIG, folder.path()).unwrap();
        tables::write(&folder.path().join("visits.db"), &visits());
        let mut ledger = Ledger::init(&config.ledger).unwrap();
        let relation = Relation::new(Adjacency::AddRemove, 2).unwrap();
        ledger.add_dataset("visits", relation, &pure("1000000")).unwrap();
        ledger
            .add_dataset("others", Relation::single_record(Adjacency::AddRemove), &pure("1000"))
            .unwrap();
        ledger.open_account("both", "visits", &NewAccount::Filter(pure("100000"))).unwrap();
        ledger.open_account("small", "visits", &NewAccount::Filter(pure("1"))).unwrap();
        ledger.open_account("other", "others", &NewAccount::Filter(pure("500"))).unwrap();
        ledger
            .add_dataset("shops", Relation::single_record(Adjacency::Replace), &pure("1000"))
            .unwrap();
        ledger.open_account("shop", "shops", &NewAccount::Filter(pure("1000"))).unwrap();
        let tokens = Tokens::open(&config.state).unwrap();
        let bearer = |name: &str, accounts: &[&str]| {
            let accounts: Vec<String> = accounts.iter().map(|name| (*name).to_owned()).collect();
            let token = tokens.create(Role::Analyst, name, &accounts).unwrap();
            tokens.find(&token).unwrap().unwrap()
        };
        let ann = bearer("ann", &["both", "small", "other", "shop"]);
        let (ben, cleo) = (bearer("ben", &["both"]), bearer("cleo", &["small"]));
        Self { folder, ann, ben, cleo }
    }

    /// A new process, as it were.
    fn curator(&self) -> Curator {
        Curator::open(&Config::parse(CONFIG, self.folder.path()).unwrap()).unwrap()
    }
}

fn opening(key: &str, declared: SessionSpec) -> NewSession {
    let (account, table) = ("both".to_owned(), "visits".to_owned());
    NewSession { account, key: key.to_owned(), table, spec: declared, slot: None }
}

fn sparse(epsilon: f64, answers: u64, threshold: f64, of: QuerySpec) -> SessionSpec {
    SessionSpec::SparseVector { epsilon, answers, threshold, values: true, of }
}

fn pay() -> QuerySpec {
    QuerySpec { column: Some("pay".to_owned()), bounds: None }
}

fn about(of: AggregateKind, filter: Option<Condition>) -> Question {
    Question {
        table: "visits".to_owned(),
        filter,
        group: Vec::new(),
        aggregates: vec![Aggregate { name: None, of }],
        rows: None,
        groups: None,
        rows_in_group: None,
    }
}

fn north() -> Option<Condition> {
    let keys = vec![counterpoint_curator::public::Key::Text("north".to_owned())];
    Some(Condition::In { column: "region".to_owned(), keys })
}

fn asking(key: &str, name: &str, question: Question) -> SessionSubmission {
    let question = QuestionText::Question(Box::new(question));
    let (account, key, name) = ("both".to_owned(), key.to_owned(), name.to_owned());
    SessionSubmission { account, key, name, question, guess: None, spend: None }
}

fn sql(key: &str, name: &str, text: &str) -> SessionSubmission {
    SessionSubmission {
        question: QuestionText::Sql(text.to_owned()),
        ..asking(key, name, about(AggregateKind::Count, None))
    }
}

fn opened(curator: &Curator, bearer: &Bearer, key: &str, declared: SessionSpec) -> SessionReceipt {
    curator.open_session(bearer, &opening(key, declared)).unwrap()
}

fn spent(curator: &Curator) -> counterpoint_budget::Amount {
    let status = curator.pool().with(|ledger| ledger.status(Some("both"))).unwrap();
    status.accounts[0].spent.main.clone()
}

#[track_caller]
fn assert_sound(curator: &Curator) {
    curator
        .pool()
        .with(|ledger| {
            crate::assert_sound(ledger);
            Ok::<_, LedgerError>(())
        })
        .unwrap();
}

/// The number in an answer above the threshold, or in a correction.
#[track_caller]
fn assert_near(shown: &StoredReply, truth: f64, wide: f64) {
    let number = shown.reply().number().unwrap();
    assert!((number - truth).abs() < 2.0 * wide, "{number}, not {truth}");
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(outcome: Result<T, CuratorError>, words: &str) {
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

fn is_over<T>(outcome: Result<T, CuratorError>) -> bool {
    matches!(outcome, Err(CuratorError::Unanswered(AnswerError::Session(Error::Mechanism(error))))
        if *error == MechanismError::Exhausted)
}

fn is_not_yours<T>(outcome: Result<T, CuratorError>) -> bool {
    matches!(outcome, Err(CuratorError::NotYours { .. }))
}
