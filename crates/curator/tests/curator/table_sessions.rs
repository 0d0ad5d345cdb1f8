//! Sessions about tables: what they answer, what they cost, whose they are, and what a restart goes on from.

use std::sync::Arc;
use std::time::{Duration, Instant};

use counterpoint::{Adjacency, Relation};
use counterpoint_curator::engine::{Dialect, Engine, Failed, Found, Rows, Sqlite, Statement};
use counterpoint_curator::question::{Aggregate, Condition, Of, Question, Values};
use counterpoint_curator::table_session::{self, Asked, Declared, Owner, Summed};
use counterpoint_curator::{
    Ask, Asking, Bearer, Config, Curator, Denied, Error, Held, Opened, Opening, Pay, Refusal,
    Reply, Role, Shown, Spend, Tokens, Unanswered, Wanted, Written, compile,
};
use counterpoint_ledger::{Kind, Ledger, LedgerError, NewAccount, NewFilter, OpenOptions, Pool};
use counterpoint_mechanisms::{Interactive, Needed, Question as Step};
use counterpoint_testing::{Random, tries};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::tables::{self, Row};
use crate::{amount, cost};

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
    NewFilter::new(Kind::Sums, amount(epsilon), amount("0"))
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
        ledger.dataset("visits", relation, &pure("1000000")).unwrap();
        ledger.dataset("others", Relation::one(Adjacency::AddRemove), &pure("1000")).unwrap();
        ledger.open_account("both", "visits", &NewAccount::Filter(pure("100000"))).unwrap();
        ledger.open_account("small", "visits", &NewAccount::Filter(pure("1"))).unwrap();
        ledger.open_account("other", "others", &NewAccount::Filter(pure("500"))).unwrap();
        ledger.dataset("shops", Relation::one(Adjacency::Replace), &pure("1000")).unwrap();
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

fn opening(key: &str, declared: Declared) -> Opening {
    let (account, table) = ("both".to_owned(), "visits".to_owned());
    Opening { account, key: key.to_owned(), table, declared, slot: None }
}

fn sparse(epsilon: f64, answers: u64, threshold: f64, of: Summed) -> Declared {
    Declared::SparseVector { epsilon, answers, threshold, values: true, of }
}

fn pay() -> Summed {
    Summed { column: Some("pay".to_owned()), bounds: None }
}

fn about(of: Of, filter: Option<Condition>) -> Question {
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

fn asking(key: &str, name: &str, question: Question) -> Asking {
    let written = Written::Question(Box::new(question));
    let (account, key, name) = ("both".to_owned(), key.to_owned(), name.to_owned());
    Asking { account, key, name, written, guess: None, spend: None }
}

fn sql(key: &str, name: &str, text: &str) -> Asking {
    Asking { written: Written::Sql(text.to_owned()), ..asking(key, name, about(Of::Count, None)) }
}

fn opened(curator: &Curator, bearer: &Bearer, key: &str, declared: Declared) -> Opened {
    curator.open_session(bearer, &opening(key, declared)).unwrap()
}

fn spent(curator: &Curator) -> counterpoint::filter::Amount {
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
fn assert_near(shown: &Shown, truth: f64) {
    let number = shown.reply().number().unwrap();
    assert!((number - truth).abs() < 2.0, "{number}, not {truth}");
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(outcome: Result<T, Denied>, words: &str) {
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

fn is_over<T>(outcome: Result<T, Denied>) -> bool {
    matches!(outcome, Err(Denied::Unanswered(Unanswered::Session(Error::Mechanism(error))))
        if *error == Refusal::Exhausted)
}

fn is_not_yours<T>(outcome: Result<T, Denied>) -> bool {
    matches!(outcome, Err(Denied::NotYours { .. }))
}

/// One session below the truth and one above it, of a count and of a sum: every answer is as it should be.
#[test]
fn a_gate_of_a_table_is_near_the_truth() {
    let (place, paid) = (Place::new(), paid_in_the_north());
    let curator = place.curator();
    let pays = || about(Of::Sum(Values::of("pay")), north());
    let counts = || about(Of::Count, north());
    for (key, of, truth, question) in [
        ("count", Summed::default(), NORTH, &counts as &dyn Fn() -> Question),
        ("sum", pay(), paid, &pays),
    ] {
        let (low, high) = (format!("{key}-low"), format!("{key}-high"));
        opened(&curator, &place.ann, &low, sparse(100.0, 3, truth - 3.0, of.clone()));
        opened(&curator, &place.ann, &high, sparse(100.0, 3, truth + 3.0, of.clone()));
        let ask = |key: &str| curator.ask_session(&place.ann, &asking(key, "q", question()));
        assert_near(&ask(&low).unwrap(), truth);
        assert_eq!(*ask(&high).unwrap().reply(), Reply::Below);
        // A guess that is right, and one that is wrong.
        let guess = format!("{key}-guess");
        let declared =
            Declared::GuessAndCheck { epsilon: 100.0, corrections: 2, tolerance: 5.0, of };
        opened(&curator, &place.ann, &guess, declared);
        let check = |name: &str, number: f64| {
            let asking = Asking { guess: Some(number), ..asking(&guess, name, question()) };
            curator.ask_session(&place.ann, &asking).unwrap()
        };
        assert_eq!(*check("right", truth + 1.0).reply(), Reply::Pass);
        assert_near(&check("wrong", truth + 30.0), truth);
    }
    // The same in SQL, of everybody: 200 people and one, two rows of each.
    opened(&curator, &place.ann, "all", sparse(100.0, 1, 300.0, Summed::default()));
    let all = sql("all", "q", "SELECT COUNT(*) FROM visits");
    assert_near(&curator.ask_session(&place.ann, &all).unwrap(), 402.0);
    assert_sound(&curator);
}

/// Whatever costs what was declared is answered, in any order, and nothing else.
#[test]
fn a_sequence_of_a_table_answers_what_it_was_declared_for() {
    let place = Place::new();
    let curator = place.curator();
    let quantiles = |candidates: Vec<f64>| Of::Quantiles {
        column: "age".to_owned(),
        shares: vec![0.5],
        candidates: Some(candidates),
    };
    let bins = Of::Histogram { column: "age".to_owned(), edges: vec![0.0, 5.0, 10.0] };
    let (eps, mean) = (Spend::Epsilon(40.0), Of::Mean(Values::of("age")));
    let list = vec![
        (mean.clone(), eps),
        (Of::Variance(Values::of("age")), eps),
        (quantiles(vec![0.0, 3.0, 6.0]), eps),
        (bins.clone(), eps),
        (Of::Count, Spend::Epsilon(30.0)),
    ];
    opened(&curator, &place.ann, "s", Declared::Sequence(list));
    let ask = |name: &str, of: Of, spend: Spend| {
        let asking = Asking { spend: Some(spend), ..asking("s", name, about(of, None)) };
        curator.ask_session(&place.ann, &asking)
    };
    // Ages 0 to 9 forty times each, and 9 twice more: a mean of 4.52, a variance of 8.29.
    assert!(matches!(ask("bins", bins, eps).unwrap().reply(),
        Reply::Table(bins) if (bins[0] - 200.0).abs() < 2.0 && (bins[1] - 202.0).abs() < 2.0));
    // Other candidates cost the same.
    let middle = ask("half", quantiles(vec![1.0, 4.5, 8.0]), eps).unwrap();
    assert!(
        matches!(middle.reply(), Reply::Table(list) if (list[0] - 4.5).abs() < 1e-9)
            || middle.reply().number().is_some_and(|number| (number - 4.5).abs() < 1e-9)
    );
    let number = |name: &str, of: Of, spend: Spend| ask(name, of, spend).unwrap().reply().number();
    assert!((number("count", Of::Count, Spend::Epsilon(30.0)).unwrap() - 402.0).abs() < 2.0);
    let undeclared = ask("again", Of::Count, Spend::Epsilon(30.0));
    assert!(
        matches!(undeclared, Err(Denied::Unanswered(Unanswered::Session(Error::Mechanism(error))))
        if *error == Refusal::NotDeclared)
    );
    assert!((number("mean", mean.clone(), eps).unwrap() - 4.5224).abs() < 0.05);
    let variance = number("spread", Of::Variance(Values::of("age")), eps).unwrap();
    assert!((variance - 8.29).abs() < 0.5, "{variance}");
    assert!(is_over(ask("more", mean.clone(), eps)));
    assert!(ask("mean", mean, eps).unwrap().is_repeated());
    assert_sound(&curator);
}

/// Two analysts with sessions of the same names in one account, interleaved: each has their own, and no other's.
#[test]
fn sessions_of_two_analysts_are_interleaved() {
    let place = Place::new();
    let (curator, other) = (place.curator(), place.curator());
    opened(&curator, &place.ann, "s", sparse(100.0, 3, NORTH - 5.0, Summed::default()));
    opened(&other, &place.ben, "s", sparse(100.0, 3, NORTH + 5.0, Summed::default()));
    opened(&curator, &place.ben, "t", sparse(100.0, 2, 0.0, pay()));
    for round in 0..3 {
        let asking = asking("s", &format!("q{round}"), about(Of::Count, north()));
        assert_near(&curator.ask_session(&place.ann, &asking).unwrap(), NORTH);
        assert_eq!(*other.ask_session(&place.ben, &asking).unwrap().reply(), Reply::Below);
        // The same name and question: the same answer, from whichever process.
        let again = other.ask_session(&place.ann, &asking).unwrap();
        assert!(again.is_repeated());
        assert_near(&again, NORTH);
    }
    let told = |bearer: &Bearer| {
        let told = curator.sessions(bearer).unwrap().into_iter();
        told.map(|one| (one.key, one.table, one.answered, one.is_over)).collect::<Vec<_>>()
    };
    let told_of = |key: &str, answered, over| (key.to_owned(), "visits".to_owned(), answered, over);
    assert_eq!(told(&place.ann), [told_of("s", 3, true)]);
    assert_eq!(told(&place.ben), [told_of("s", 3, false), told_of("t", 0, false)]);
    // Not there for anyone else.
    let asking = asking("t", "q", about(Of::Count, None));
    assert!(is_not_yours(curator.ask_session(&place.ann, &asking)));
    assert!(is_not_yours(curator.session(&place.ann, "both", "t")));
    assert!(is_not_yours(curator.close_session(&place.ann, "both", "t")));
    assert!(is_not_yours(curator.ask_session(&place.cleo, &asking)));
    assert!(is_not_yours(
        curator.open_session(&place.cleo, &opening("u", sparse(1.0, 1, 0.0, pay())))
    ));
    assert!(!curator.session(&place.ben, "both", "t").unwrap().is_over);
    assert_sound(&curator);
}

/// No two analysts' keys are one, whatever they are called, and none is a question's.
#[test]
fn keys_are_their_analysts_own() {
    let names = ["a", "a.b", "a-b", "s-a", "q-a", "b", "a.b.c"];
    let keys = ["b.c", "c", "b", "a", "q-00", "s-a", "-", "."];
    let mut seen = std::collections::BTreeSet::new();
    for analyst in names {
        for key in keys {
            let owner = Owner { account: "account", analyst, key };
            let made = owner.ledger_key().unwrap();
            assert!(made.starts_with("s-") && made.len() <= 128);
            assert!(seen.insert(made), "{analyst} {key}");
        }
    }
    let long = "k".repeat(125);
    for (analyst, key) in
        [("a/b", "c"), ("a", "b/c"), ("", "c"), ("a", ""), ("a", &long), (&long, "k"), ("a", "ü")]
    {
        assert!(
            Owner { account: "account", analyst, key }.ledger_key().is_err(),
            "{analyst} {key}"
        );
    }
    assert!(Owner { account: "account", analyst: "a", key: &long[1..] }.ledger_key().is_ok());
}

/// The noisy threshold of ann's session, as it is stored.
fn threshold(curator: &Curator, key: &str) -> String {
    let key = format!("s-ann/{key}");
    let session = curator.pool().with(|ledger| ledger.session("both", &key)).unwrap().unwrap();
    let state: serde_json::Value = serde_json::from_slice(session.state.unwrap().bytes()).unwrap();
    state["state"]["left"]["gate"]["threshold"].as_str().unwrap().to_owned()
}

/// Puts another threshold in the place of the one that was drawn.
fn forge(place: &Place, key: &str, threshold: i64) {
    let connection = Connection::open(place.folder.path().join("ledger.db")).unwrap();
    let place = ["both".to_owned(), format!("s-ann/{key}")];
    let sql = "SELECT state FROM ledger_state WHERE account = ?1 AND key = ?2";
    let state: Vec<u8> = connection.query_row(sql, place.clone(), |row| row.get(0)).unwrap();
    let mut state: serde_json::Value = serde_json::from_slice(&state).unwrap();
    state["state"]["left"]["gate"]["threshold"] = threshold.to_string().into();
    let sql = "UPDATE ledger_state SET state = ?3 WHERE account = ?1 AND key = ?2";
    let [account, key] = place;
    let bytes = serde_json::to_vec(&state).unwrap();
    assert_eq!(connection.execute(sql, rusqlite::params![account, key, bytes]).unwrap(), 1);
}

/// The threshold is drawn once: many processes, each of which opens the session again and asks it, find the same.
#[test]
fn a_new_process_goes_on_from_the_same_threshold() {
    let place = Place::new();
    let declared = || sparse(0.001, 1_000_000, NORTH, Summed::default());
    opened(&place.curator(), &place.ann, "s", declared());
    let drawn = threshold(&place.curator(), "s");
    for round in 0..tries(40, 0.25) as u64 {
        let curator = place.curator();
        let again = opened(&curator, &place.ann, "s", declared());
        assert_eq!((again.charge, again.answered), (None, round));
        let asking = asking("s", &format!("q{round}"), about(Of::Count, north()));
        curator.ask_session(&place.ann, &asking).unwrap();
        assert_eq!(threshold(&curator, "s"), drawn, "{round}");
        assert_eq!(curator.session(&place.ann, "both", "s").unwrap().answered, round + 1);
    }
    assert_sound(&place.curator());
}

/// Answers are those of the threshold that is stored. The query is at the declared threshold, so that one that is drawn
/// again would be on either side of it about equally often; the stored one is put far above, then far below.
#[test]
fn every_answer_is_from_the_stored_threshold() {
    let place = Place::new();
    let declared = || sparse(0.01, 40, NORTH, Summed::default());
    for (key, far) in [("above", 1_000_000_000), ("below", -1_000_000_000)] {
        opened(&place.curator(), &place.ann, key, declared());
        forge(&place, key, far);
        for round in 0..tries(40, 0.5) {
            let curator = place.curator();
            opened(&curator, &place.ann, key, declared());
            let asking = asking(key, &format!("q{round}"), about(Of::Count, north()));
            let shown = curator.ask_session(&place.ann, &asking).unwrap();
            assert_eq!(*shown.reply() == Reply::Below, far > 0, "{key}, {round}");
        }
    }
}

/// All of it is charged when it is opened, once, to the unit; and never refunded.
#[test]
fn a_session_is_charged_once_and_ends_with_its_last_answer() {
    let place = Place::new();
    let curator = place.curator();
    let declared = sparse(100.0, 2, -1000.0, Summed::default());
    let table = curator.table("visits").unwrap().held.public.clone();
    let relation = table.relation();
    let due = cost(declared.made(&table).unwrap().under(relation).unwrap().releases());
    // Three epsilons for telling, and the values: each person moves them by two rows.
    assert!(due > amount("399.9") && due <= amount("400"), "{due}");
    let first = opened(&curator, &place.ann, "s", declared.clone());
    assert_eq!(first.charge.unwrap().main, due);
    assert_eq!(spent(&curator), due);
    assert_eq!(opened(&place.curator(), &place.ann, "s", declared.clone()).charge, None);
    let ask =
        |name: &str| curator.ask_session(&place.ann, &asking("s", name, about(Of::Count, None)));
    for name in ["a", "b"] {
        assert_near(&ask(name).unwrap(), 402.0);
    }
    for name in ["c", "d"] {
        assert!(is_over(ask(name)));
    }
    assert!(ask("a").unwrap().is_repeated());
    let again = opened(&curator, &place.ann, "s", declared.clone());
    assert!(again.is_over && again.answered == 2 && again.charge.is_none());
    assert_eq!(spent(&curator), due);
    // Another declaration under the key.
    let moved = curator
        .open_session(&place.ann, &opening("s", sparse(100.0, 2, -1001.0, Summed::default())));
    assert!(matches!(
        moved,
        Err(Denied::Unanswered(Unanswered::Ledger(LedgerError::KeyInUse { .. })))
    ));
    // Closed before it was asked anything.
    opened(&curator, &place.ann, "t", declared);
    for _ in 0..2 {
        assert!(curator.close_session(&place.ann, "both", "t").unwrap().is_over);
    }
    assert!(is_over(curator.ask_session(&place.ann, &asking("t", "q", about(Of::Count, None)))));
    assert_eq!(spent(&curator), &due + &due);
    // What a budget does not allow.
    let costly =
        Opening { account: "small".to_owned(), ..opening("u", sparse(1.0, 1, 0.0, pay())) };
    let refused = curator.open_session(&place.ann, &costly);
    assert!(matches!(
        refused,
        Err(Denied::Unanswered(Unanswered::Ledger(LedgerError::Refused(_))))
    ));
    assert!(is_not_yours(curator.session(&place.ann, "small", "u")));
    assert_sound(&curator);
}

#[test]
fn what_a_session_of_a_table_refuses() {
    let place = Place::new();
    let curator = place.curator();
    opened(&curator, &place.ann, "count", sparse(1.0, 5, 1e9, Summed::default()));
    opened(&curator, &place.ann, "sum", sparse(1.0, 5, 1e9, pay()));
    let before = (spent(&curator), curator.pool().with(Ledger::head).unwrap());
    let ask = |asking: Asking| curator.ask_session(&place.ann, &asking);
    let sum = |bounds| Of::Sum(Values { column: "pay".to_owned(), bounds });
    // Another table, of the same data set and of another.
    assert_refused(
        ask(sql("count", "q", "SELECT COUNT(*) FROM wards")),
        "not what the session is about",
    );
    assert_refused(ask(sql("count", "q", "SELECT COUNT(*) FROM others")), "does not pay");
    assert_refused(ask(sql("count", "q", "SELECT COUNT(*) FROM nowhere")), "nowhere");
    let grouped = Question { group: vec!["region".to_owned()], ..about(Of::Count, None) };
    assert_refused(ask(asking("count", "q", grouped)), "none, in a session");
    let two = "SELECT COUNT(*), SUM(age) FROM visits";
    assert_refused(ask(sql("count", "q", two)), "one, in a session");
    assert_refused(ask(asking("count", "q", about(Of::People, None))), "counts people");
    // Wider than declared, by one in a thousand; as wide is no problem.
    let wider = asking("sum", "q", about(sum(Some((-3.0, 7.5075))), None));
    assert_refused(ask(wider), "sensitivity");
    assert_refused(ask(asking("count", "q", about(sum(Some((0.0, 1.001))), None))), "sensitivity");
    assert_refused(
        ask(asking("sum", "q", about(Of::Mean(Values::of("pay")), None))),
        "counts and sums",
    );
    let guessed = Asking { guess: Some(1.0), ..asking("count", "q", about(Of::Count, None)) };
    assert_refused(ask(guessed), "another kind of session");
    let priced = asking("count", "q", about(Of::Count, None));
    assert_refused(
        ask(Asking { spend: Some(Spend::Rho(1.0)), ..priced }),
        "another kind of session",
    );
    assert_refused(ask(asking("count", "bad name", about(Of::Count, None))), "legal: 1 to 128");
    assert_eq!((spent(&curator), curator.pool().with(Ledger::head).unwrap()), before);
    // A name stands for one question.
    assert_eq!(*ask(asking("sum", "q", about(sum(None), None))).unwrap().reply(), Reply::Below);
    let conflict = ask(asking("sum", "q", about(sum(None), north())));
    assert!(matches!(
        conflict,
        Err(Denied::Unanswered(Unanswered::Ledger(LedgerError::KeyInUse { .. })))
    ));
    // Declarations.
    let open = |opening: Opening| curator.open_session(&place.ann, &opening);
    let plain = || opening("new", sparse(1.0, 5, 0.0, Summed::default()));
    assert_refused(open(Opening { account: "other".to_owned(), ..plain() }), "does not pay");
    assert_refused(open(Opening { table: "nowhere".to_owned(), ..plain() }), "is not here");
    assert_refused(open(opening("new", sparse(1000.0, 5, 0.0, Summed::default()))), "epsilon");
    let column = |name: &str| Summed { column: Some(name.to_owned()), bounds: None };
    assert_refused(open(opening("new", sparse(1.0, 5, 0.0, column("region")))), "has categories");
    assert_refused(
        open(opening("new", sparse(1.0, 5, 0.0, column("nothing")))),
        "no declared column",
    );
    let bounds = Summed { column: None, bounds: Some((1.0, 0.0)) };
    assert_refused(open(opening("new", sparse(1.0, 5, 0.0, bounds))), "bounds");
    assert_refused(open(opening("new", Declared::Sequence(Vec::new()))), "1 to 10^6");
    let people = Declared::Sequence(vec![(Of::People, Spend::Epsilon(1.0))]);
    assert_refused(open(opening("new", people)), "counts people");
    assert_refused(open(opening("a/b", sparse(1.0, 5, 0.0, pay()))), "cannot be one");
    assert_eq!(curator.sessions(&place.ann).unwrap().len(), 2);
    // A question's key is no session's.
    let written = Written::Sql("SELECT COUNT(*) FROM visits".to_owned());
    let question =
        Ask { account: "both".to_owned(), written, pay: Pay::Epsilon(1.0), confidence: 0.95 };
    curator.ask(&place.ann, &question).unwrap();
    let mut keys = Vec::new();
    let history = curator.pool().with(|ledger| {
        ledger
            .history(Some("both"), None, |entry| keys.extend(entry.event.key().map(str::to_owned)))
    });
    history.unwrap();
    let key = keys.into_iter().find(|key| key.starts_with("q-")).unwrap();
    assert!(is_not_yours(ask(asking(&key, "q", about(Of::Count, None)))));
    assert!(is_not_yours(curator.close_session(&place.ann, "both", &key)));
    assert!(curator.ask(&place.ann, &question).unwrap().is_repeated);
    assert_sound(&curator);
}

/// An account about a part of the data pays for no session, since a table is about all of it.
#[test]
fn an_account_about_a_part_pays_for_no_session() {
    let place = Place::new();
    let curator = place.curator();
    let slot = r#"{"name":"a","mechanism":"approx-dp","epsilon":50,"partition":"a"}"#;
    let plan = format!(r#"{{"delta":0,"release":[{slot}]}}"#);
    let plan = ExactPlan::parse(plan.as_bytes(), Format::Json).unwrap();
    let made = curator.pool().with(|ledger| {
        ledger.open_account("parts", "others", &NewAccount::Plan(plan, None))?;
        ledger.open_in_slot("part", "parts", "a", &pure("50")).map(|_| ())
    });
    made.unwrap();
    let ann = Bearer { accounts: vec!["part".to_owned(), "other".to_owned()], ..place.ann.clone() };
    let declared = sparse(1.0, 1, 0.0, Summed::default());
    let opening = Opening { table: "others".to_owned(), ..opening("s", declared) };
    let at = |account: &str| {
        curator.open_session(&ann, &Opening { account: account.to_owned(), ..opening.clone() })
    };
    assert_refused(at("part"), "does not pay");
    assert!(at("other").is_ok());
}

/// Where one row is replaced by one, a filter may let one of them pass and not the other: what a row adds counts, not how
/// far two rows are apart.
#[test]
fn a_filter_leaves_some_rows_where_one_is_replaced() {
    let place = Place::new();
    let curator = place.curator();
    let declared = sparse(100.0, 1, 1e9, Summed { column: None, bounds: Some((0.0, 2.0)) });
    let plain = opening("s", declared);
    let (account, table) = ("shop".to_owned(), "shops".to_owned());
    let opening = Opening { account: account.clone(), table: table.clone(), ..plain };
    curator.open_session(&place.ann, &opening).unwrap();
    let filter = Some(Condition::Above { column: "age".to_owned(), than: 5.0 });
    let ask = |name: &str, bounds: (f64, f64)| {
        let values = Values { column: "age".to_owned(), bounds: Some(bounds) };
        let question = Question { table: table.clone(), ..about(Of::Sum(values), filter.clone()) };
        let asking = Asking { account: account.clone(), ..asking("s", name, question) };
        curator.ask_session(&place.ann, &asking)
    };
    assert_refused(ask("a", (6.0, 7.0)), "sensitivity");
    assert_refused(ask("b", (0.0, 2.02)), "sensitivity");
    assert_refused(ask("c", (-0.5, 1.75)), "sensitivity");
    assert!(ask("d", (-0.25, 1.75)).is_ok() && ask("e", (1.0, 2.0)).is_ok());
}

/// Four threads ask one session: exactly as many answers above as were declared.
#[test]
fn many_ask_one_session_of_a_table_at_once() {
    let place = Place::new();
    let curator = place.curator();
    opened(&curator, &place.ann, "s", sparse(10.0, 5, -1000.0, Summed::default()));
    let above: usize = std::thread::scope(|scope| {
        let thread = |thread: u64| {
            let (curator, place) = (&curator, &place);
            scope.spawn(move || {
                let ask = |round: u64| {
                    let name = format!("{thread}-{round}");
                    let asking = asking("s", &name, about(Of::Count, None));
                    curator.ask_session(&place.ann, &asking).is_ok()
                };
                (0..4).filter(|round| ask(*round)).count()
            })
        };
        let threads: Vec<_> = (0..4).map(thread).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(above, 5);
    assert!(curator.session(&place.ann, "both", "s").unwrap().is_over);
    assert_sound(&curator);
}

/// An engine that needs the ledger's only handle while it runs.
struct Jealous(Sqlite, Arc<Pool>);

impl Engine for Jealous {
    fn run(&self, statements: &[Statement], deadline: Instant) -> Result<Vec<Rows>, Failed> {
        self.1.with(Ledger::head).unwrap();
        self.0.run(statements, deadline)
    }

    fn columns(&self, table: &str) -> Result<Vec<Found>, Failed> {
        self.0.columns(table)
    }

    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }
}

#[test]
fn no_handle_is_held_while_the_engine_runs() {
    let place = Place::new();
    let config = Config::parse(CONFIG, place.folder.path()).unwrap();
    let pool = Arc::new(Pool::new(&config.ledger, &OpenOptions::default(), 1).unwrap());
    let file = place.folder.path().join("visits.db");
    let engine = Jealous(Sqlite::open(&file, [7; 32]).unwrap(), Arc::clone(&pool));
    let public = config.tables[0].public.clone();
    let held = Held { public, from: "visits".to_owned(), engine: Arc::new(engine) };
    let owner = Owner { account: "both", analyst: "ann", key: "s" };
    let declared = sparse(10.0, 1, 0.0, Summed::default());
    table_session::open(&pool, &held, &owner, None, &declared).unwrap();
    let asked = Asked { question: about(Of::Count, None), guess: None, spend: None };
    let deadline = Instant::now() + Duration::from_secs(60);
    table_session::ask(&pool, &held, &owner, "q", &asked, deadline).unwrap();
    // An engine that fails draws nothing: the session is as it was, and goes on.
    table_session::open(&pool, &held, &Owner { key: "t", ..owner }, None, &declared).unwrap();
    let late =
        table_session::ask(&pool, &held, &Owner { key: "t", ..owner }, "q", &asked, Instant::now());
    assert!(matches!(late, Err(Unanswered::Charged(_))), "{late:?}");
    let session = pool.with(|ledger| ledger.session("both", "s-ann/t")).unwrap().unwrap();
    assert!(session.answered == 0 && session.ended.is_none());
    table_session::ask(&pool, &held, &Owner { key: "t", ..owner }, "q", &asked, deadline).unwrap();
    table_session::close(&pool, &owner).unwrap();
}

/// What a gate needs of the table, as it was added up, in the query's own unit.
fn summed(held: &Held, declared: &Interactive, question: &Question) -> f64 {
    let protocol = declared.under(held.public.relation().of_some()).unwrap();
    let checked = question.check(&held.public).unwrap();
    let step = Step::Above(checked.parts()[0].query.clone());
    let Needed::Units(summand) = protocol.needs(&protocol.begin().unwrap(), &step).unwrap() else {
        panic!("a gate needs a sum")
    };
    let place = ("visits", held.engine.dialect());
    let compiled = compile(&checked, &[Wanted::Sums(vec![summand])], &held.public, place).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let answers = held.engine.run(compiled.statements(), deadline).unwrap();
    compiled.counted(&answers).unwrap()[0].numbers[0][0] as f64 * summand.unit()
}

/// Whoever has many rows of whatever values moves no query of a gate further than the gate's noise is for, whichever
/// neighbours there are; and some move it as far.
#[test]
fn one_person_moves_a_gate_no_further_than_declared() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let mut random = Random::new(31_415);
    let mut most = [0.0_f64; 2];
    for round in 0..tries(1_500, 0.1) {
        let rows = random.between(1, 4);
        let adjacency = ["add-remove", "replace"][random.below(2) as usize];
        tables::write(&file, &[]);
        let held = tables::held(tables::public(true, rows, rows, adjacency), &file);
        let bounds =
            [(-3.0, 7.5), (0.1, 0.3), (-8.0, -2.0), (-1e-3, 1e3)][random.below(4) as usize];
        let is_sum = random.below(3) > 0;
        let (of, query) = if is_sum {
            let values = Values { column: "pay".to_owned(), bounds: Some(bounds) };
            (Summed { column: None, bounds: Some(bounds) }, Of::Sum(values))
        } else {
            (Summed::default(), Of::Count)
        };
        let declared = sparse(1.0, 1, 0.0, of).made(&held.public).unwrap();
        let filter = (random.below(3) > 0).then(|| tables::condition(&mut random, 2));
        let question = about(query, filter);
        // By definition: a record's number is added, taken away, or is in another's place, who may have none.
        let (low, high) = if is_sum { bounds } else { (0.0, 1.0) };
        let one = match adjacency {
            "replace" => high.max(0.0) - low.min(0.0),
            _ => low.abs().max(high.abs()),
        };
        let reach = one * rows as f64;
        let own = |random: &mut Random| {
            let mut own = tables::rows(random, 1, 1).remove(0);
            own[0] = Value::Integer(99);
            if random.below(2) == 0 {
                own[2] = Value::Real([1e9, -1e9][random.below(2) as usize]);
            }
            own
        };
        let mut table = tables::rows(&mut random, 20, 6);
        let mut neighbour = table.clone();
        let (one_side, other_side) = (own(&mut random), own(&mut random));
        table.extend((0..random.between(1, 8)).map(|_| one_side.clone()));
        if adjacency == "replace" {
            neighbour.extend((0..random.between(1, 8)).map(|_| other_side.clone()));
        }
        tables::write(&file, &table);
        let here = summed(&held, &declared, &question);
        tables::write(&file, &neighbour);
        let moved = (here - summed(&held, &declared, &question)).abs();
        assert!(moved <= reach * (1.0 + 1e-9), "{round}: {moved} of {reach}, {question:?}");
        let place = usize::from(adjacency == "replace");
        most[place] = most[place].max(moved / reach);
        // A sum that is one in a hundred wider is not of this session.
        if is_sum {
            let wide = |x: f64| x * 1.01;
            let bounds = Some((wide(bounds.0), wide(bounds.1)));
            let values = Values { column: "pay".to_owned(), bounds };
            let wider = about(Of::Sum(values), None).check(&held.public).unwrap();
            let protocol = declared.under(held.public.relation().of_some()).unwrap();
            let step = Step::Above(wider.parts()[0].query.clone());
            let refused = protocol.needs(&protocol.begin().unwrap(), &step);
            assert!(matches!(refused, Err(Refusal::Sensitivity { .. })), "{round}: {bounds:?}");
        }
    }
    assert!(most.iter().all(|most| *most > 0.99), "nobody moved as much as they may: {most:?}");
}
