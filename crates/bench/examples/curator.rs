//! What the curator adds to a bare aggregate and a pair of ledger writes, side by side in one run: 10^5 rows; and how many
//! answers 64 clients get over HTTP beside as many who write to the ledger alone.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use counterpoint_curator::engine::Sqlite;
use counterpoint_curator::public::Table;
use counterpoint_curator::question::{
    Aggregate, AggregateKind, ClampedColumn, Condition, Question,
};
use counterpoint_curator::{
    Config, Curator, OpenTable, Payer, PreparedQuestion, Role, Spend, TimeLimits, Tokens,
    answer_question,
};
use counterpoint_ledger::{
    FilterKind, Ledger, NewAccount, NewFilter, OpenOptions, Pool, Request, Url,
};
use counterpoint_server::Server;
use counterpoint_testing::Client;
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{ExactPlan, ReleaseRecord, ReleaseRequest};
use std::sync::{Arc, Mutex};
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
    let only = std::env::args().nth(1);
    if only.as_deref() != Some("rates") {
        overhead();
    }
    rates();
}

fn overhead() {
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
    let budget = NewFilter::new(FilterKind::Sums, "1000000".parse().unwrap(), "0".parse().unwrap());
    ledger.add_dataset("visits", public.relation(), &budget).unwrap();
    ledger.open_account("team", "visits", &NewAccount::Filter(budget)).unwrap();
    drop(ledger);
    let pool = Pool::new(&url, &OpenOptions::default(), 2).unwrap();
    let engine = Arc::new(Sqlite::open(&file).unwrap());
    let held = OpenTable::new(public, "visits", engine, [7; 32]).unwrap();
    let far = || Instant::now() + Duration::from_secs(60);
    let payer = Payer { account: "team", analyst: None, alias: None };
    let (mut bare, mut whole) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        // In turns, so that whatever else the machine does hits both.
        let question = question(run as f64);
        let ready = PreparedQuestion::new(&held, &question, Spend::Epsilon(0.5), None).unwrap();
        let described = ready
            .measurements()
            .iter()
            .flat_map(|one| one.releases())
            .map(ReleaseRecord::from_release);
        let asked = ReleaseRequest::Described(described.collect::<Result<_, _>>().unwrap());
        let key = format!("bare{run}");
        let start = Instant::now();
        held.count(&[ready.tabulation()], far()).unwrap();
        pool.with(|ledger| {
            ledger.reserve(&Request::new("team", &key, &asked))?;
            ledger.commit("team", &key, &[b'x'; 100])
        })
        .unwrap();
        bare.push(start.elapsed());
        let start = Instant::now();
        let ready = PreparedQuestion::new(&held, &question, Spend::Epsilon(0.5), None).unwrap();
        let told = answer_question(&pool, &held, &ready, &payer, far()).unwrap();
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
        aggregates: vec![Aggregate {
            name: None,
            of: AggregateKind::Mean(ClampedColumn::of("age")),
        }],
        rows: None,
        groups: None,
        rows_in_group: None,
    }
}

const CLIENTS: usize = 64;
const ROUNDS: usize = 9;
/// Questions of each client in a round.
const EACH: usize = 10;

/// Rounds of both in turns, and the median of their ratios.
fn rates() {
    let folder = tempfile::tempdir().unwrap();
    let (config, _) = counterpoint_curator::demo::make(folder.path()).unwrap();
    let config = Config { timing: TimeLimits { slot: Duration::ZERO, ..config.timing }, ..config };
    rusqlite::Connection::open(folder.path().join("visits.db"))
        .unwrap()
        .execute_batch("DELETE FROM visits WHERE patient >= 10")
        .unwrap();
    let budget = NewFilter::new(FilterKind::Sums, "1".parse().unwrap(), "0".parse().unwrap());
    let mut ledger = Ledger::open(&config.ledger).unwrap();
    ledger.open_account("team", "visits", &NewAccount::Filter(budget.clone())).unwrap();
    let tokens = Tokens::open(&config.state).unwrap();
    let token = |number| tokens.create(Role::Analyst, &format!("c{number}"), &["team".to_owned()]);
    let tokens: Vec<String> = (0..CLIENTS).map(|number| token(number).unwrap()).collect();
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let server = server.with_curator(Curator::open(&config).unwrap());
    let address = server.address();
    std::thread::spawn(move || server.run().unwrap());
    let url: Url = format!("sqlite:{}", folder.path().join("alone").display()).parse().unwrap();
    let mut alone = Ledger::init(&url).unwrap();
    let relation = ledger.relation("visits").unwrap();
    alone.add_dataset("visits", relation, &budget).unwrap();
    alone.open_account("team", "visits", &NewAccount::Filter(budget)).unwrap();
    let pool = Pool::new(&url, &OpenOptions::default(), 16).unwrap();
    let clients: Vec<Mutex<Client>> =
        (0..CLIENTS).map(|_| Mutex::new(Client::new(address))).collect();
    let mut found = Vec::new();
    for round in 0..=ROUNDS {
        let ours = rate(|client, number| {
            let sql =
                format!("SELECT COUNT(*) FROM visits WHERE age > -{}", mix(round, client, number));
            let body = serde_json::json!({"account": "team", "sql": sql, "epsilon": 0.0001});
            let mut sender = clients[client].lock().unwrap();
            let (status, text) = sender.question(&tokens[client], &body.to_string());
            assert_eq!(status, 200, "{text}");
        });
        let asked = release();
        let theirs = rate(|client, number| {
            let key = format!("k{}", mix(round, client, number));
            let analyst = format!("c{client}");
            let request = Request::new("team", &key, &asked).with_relation(relation);
            let request = Request { analyst: Some(&analyst), ..request };
            pool.with(|ledger| ledger.reserve(&request).map(drop)).unwrap();
            pool.with(|ledger| ledger.commit("team", &key, &[b'x'; 100]).map(drop)).unwrap();
        });
        let start = Instant::now();
        for number in 0..CLIENTS * EACH {
            let key = format!("one-{round}-{number}");
            let request = Request::new("team", &key, &asked).with_relation(relation);
            pool.with(|ledger| ledger.reserve(&request).map(drop)).unwrap();
            pool.with(|ledger| ledger.commit("team", &key, &[b'x'; 100]).map(drop)).unwrap();
        }
        let single = (CLIENTS * EACH) as f64 / start.elapsed().as_secs_f64();
        // The first warms everything up.
        if round > 0 {
            found.push([ours, theirs, single]);
        }
    }
    let median = |mut list: Vec<f64>| {
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    };
    let of = |place: usize| median(found.iter().map(|one| one[place]).collect());
    let ratio = |place: usize| median(found.iter().map(|one| one[0] / one[place]).collect());
    println!("{CLIENTS} clients, {ROUNDS} rounds in turns, medians:");
    println!("the curator over HTTP                {:>5.0} answers/s", of(0));
    println!("the ledger alone, of 64 threads      {:>5.0} pairs/s, ratio {:.2}", of(1), ratio(1));
    println!("the ledger alone, of one             {:>5.0} pairs/s, ratio {:.2}", of(2), ratio(2));
}

fn mix(round: usize, client: usize, number: usize) -> usize {
    1 + (round * CLIENTS + client) * EACH + number
}

fn release() -> ReleaseRequest {
    let text = br#"{"release":[{"mechanism":"geometric","scale":30000}]}"#;
    ReleaseRequest::Described(ExactPlan::parse(text, Format::Json).unwrap().releases)
}

/// How many a second, of all clients at once.
fn rate(work: impl Fn(usize, usize) + Sync) -> f64 {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let work = &work;
            scope.spawn(move || (0..EACH).for_each(|number| work(client, number)));
        }
    });
    (CLIENTS * EACH) as f64 / start.elapsed().as_secs_f64()
}
