//! What the curator adds to a bare aggregate and a pair of ledger writes, side by side in one run: 10^5 rows.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use counterpoint_curator::engine::Sqlite;
use counterpoint_curator::public::Table;
use counterpoint_curator::question::{Aggregate, Condition, Of, Question, Values};
use counterpoint_curator::{Held, Payer, Ready, Spend, tell};
use counterpoint_ledger::{Kind, Ledger, NewAccount, NewFilter, OpenOptions, Pool, Request, Url};
use counterpoint_wire::ledger::{Asked, Described};
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROWS: i64 = 100_000;
const RUNS: usize = 101;

const PUBLIC: &str = r#"
name = "visits"
adjacency = "add-remove"
people = 100000

[[column]]
name = "age"
bounds = [0, 100]
"#;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let mut connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch("CREATE TABLE visits (age INTEGER)").unwrap();
    let transaction = connection.transaction().unwrap();
    for row in 0..ROWS {
        transaction.execute("INSERT INTO visits VALUES (?1)", [row % 101]).unwrap();
    }
    transaction.commit().unwrap();
    let public = Table::new(toml::from_str(PUBLIC).unwrap()).unwrap();
    let url: Url = format!("sqlite:{}", folder.path().join("ledger").display()).parse().unwrap();
    let mut ledger = Ledger::init(&url).unwrap();
    let budget = NewFilter::new(Kind::Sums, "1000000".parse().unwrap(), "0".parse().unwrap());
    ledger.dataset("visits", public.relation(), &budget).unwrap();
    ledger.open_account("team", "visits", &NewAccount::Filter(budget)).unwrap();
    drop(ledger);
    let pool = Pool::new(&url, &OpenOptions::default(), 2).unwrap();
    let engine = Arc::new(Sqlite::open(&file, [7; 32]).unwrap());
    let held = Held { public, from: "visits".to_owned(), engine };
    let far = || Instant::now() + Duration::from_secs(60);
    let payer = Payer { account: "team", analyst: None };
    let (mut bare, mut whole) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        // In turns, so that whatever else the machine does hits both.
        let question = question(run as f64);
        let ready = Ready::new(&held, &question, Spend::Epsilon(0.5), None).unwrap();
        let described = ready.measured().iter().flat_map(|one| one.releases()).map(Described::of);
        let asked = Asked::Described(described.collect::<Result<_, _>>().unwrap());
        let key = format!("bare{run}");
        let start = Instant::now();
        held.engine.run(ready.compiled().statements(), far()).unwrap();
        pool.with(|ledger| {
            ledger.reserve(&Request::new("team", &key, &asked))?;
            ledger.commit("team", &key, &[b'x'; 100])
        })
        .unwrap();
        bare.push(start.elapsed());
        let start = Instant::now();
        let ready = Ready::new(&held, &question, Spend::Epsilon(0.5), None).unwrap();
        let told = tell(&pool, &held, &ready, &payer, far()).unwrap();
        told.numbers(&ready, 0.95).unwrap();
        whole.push(start.elapsed());
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e3
    };
    let (bare, whole) = (median(&mut bare), median(&mut whole));
    println!("{ROWS} rows, {RUNS} questions each, medians:");
    println!("bare aggregate and a pair of ledger writes  {bare:.2} ms");
    println!("the curator                                 {whole:.2} ms");
    println!("ratio {:.3}, {:.2} ms more", whole / bare, whole - bare);
}

fn question(than: f64) -> Question {
    Question {
        table: "visits".to_owned(),
        filter: Some(Condition::Above { column: "age".to_owned(), than: -1.0 - than }),
        group: Vec::new(),
        aggregates: vec![Aggregate { name: None, of: Of::Mean(Values::of("age")) }],
        rows: None,
        groups: None,
        rows_in_group: None,
    }
}
