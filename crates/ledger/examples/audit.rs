//! How long auditors wait, and how much memory they need.
//!
//!     cargo run --release -p counterpoint-ledger --example audit -- make FILE [PAIRS]
//!     cargo run --release -p counterpoint-ledger --example audit -- verify FILE
//!
//! `make` writes a ledger with so many releases and their responses, with all that follows from them: it verifies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Instant;

use counterpoint::{Adjacency, Relation};
use counterpoint_budget::Amount;
use counterpoint_ledger::database::{Access, Cell, Database};
use counterpoint_ledger::{FilterKind, Hash, Head, Ledger, NewAccount, NewFilter, Url};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{Cost, Event, ExactPlan, ReleaseRequest};

/// Different releases, and accounts.
const RELEASES: u64 = 100;
const ACCOUNTS: u64 = 10;

fn main() {
    let orders: Vec<String> = std::env::args().skip(1).collect();
    match orders.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", file] => make(&Url::Sqlite(file.to_owned()), 500_000),
        ["make", file, pairs] => make(&Url::Sqlite(file.to_owned()), pairs.parse().unwrap()),
        ["verify", file] => {
            let mut ledger = Ledger::open(&Url::Sqlite(file.to_owned())).unwrap();
            let start = Instant::now();
            let found = ledger.verify(None).unwrap();
            assert_eq!(found.problem, None);
            let (seconds, entries) = (start.elapsed().as_secs_f64(), found.head.sequence);
            println!("verify: {entries} entries in {seconds:.2} s, {} MiB at most", peak());
        }
        _ => panic!("make FILE [PAIRS], verify FILE"),
    }
}

/// The most memory that this process had, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn make(url: &Url, pairs: u64) {
    let mut ledger = Ledger::init(url).unwrap();
    let budget =
        |epsilon: &str| NewFilter::new(FilterKind::Sums, epsilon.parse().unwrap(), Amount::ZERO);
    ledger
        .add_dataset("data", Relation::single_record(Adjacency::AddRemove), &budget("1000000"))
        .unwrap();
    for number in 0..ACCOUNTS {
        let account = NewAccount::Filter(budget("90000"));
        ledger.open_account(&format!("account-{number}"), "data", &account).unwrap();
    }
    let mut head = ledger.head().unwrap();
    drop(ledger);
    let mut database = url.open(false).unwrap();
    let asked: Vec<ReleaseRequest> = (1..=RELEASES).map(release).collect();
    let mut spent = vec![(0, Amount::ZERO); ACCOUNTS as usize];
    database.begin(Access::Write).unwrap();
    for number in 0..pairs {
        let account = number % ACCOUNTS;
        let which = number * 7 % RELEASES;
        let charge: Amount = format!("0.{:03}", which + 1).parse().unwrap();
        head = pair(&mut *database, head, number, account, (&asked[which as usize], &charge));
        let (charges, sum) = &mut spent[account as usize];
        (*charges, *sum) = (*charges + 1, &*sum + &charge);
    }
    for (number, (charges, sum)) in spent.into_iter().enumerate() {
        let text = sum.to_string();
        let whole = text.find('.').unwrap_or(text.len());
        let cells = [
            Cell::Whole(charges),
            Cell::Text(format!("{}{text}", "0".repeat(40 - whole))),
            Cell::Text(format!("account-{number}")),
        ];
        let sql = "UPDATE ledger_account SET charges = $1, spent_main = $2 WHERE name = $3";
        database.execute(sql, &cells).unwrap();
    }
    let cells = [Cell::Whole(head.sequence as i64), Cell::Bytes(head.hash.0.to_vec())];
    database.execute("UPDATE ledger_head SET sequence = $1, hash = $2", &cells).unwrap();
    database.commit().unwrap();
}

/// A release that costs so many thousandths.
fn release(thousandths: u64) -> ReleaseRequest {
    let text = format!(
        r#"{{"release":[{{"mechanism":"approx-dp","epsilon":0.{thousandths:03},"name":"a release"}}]}}"#
    );
    ReleaseRequest::Described(ExactPlan::parse(text.as_bytes(), Format::Json).unwrap().releases)
}

/// A release and its response.
fn pair(
    database: &mut dyn Database,
    head: Head,
    number: u64,
    account: u64,
    (asked, charge): (&ReleaseRequest, &Amount),
) -> Head {
    let (account, key) = (format!("account-{account}"), format!("key-{number}"));
    let response = format!("{{\"value\":{number}.25}}").into_bytes();
    let reserve = |at, charge: Cost| Event::Reserve {
        at,
        account: account.clone(),
        key: key.clone(),
        analyst: Some("ann".to_owned()),
        session: false,
        question: None,
        own: None,
        release: asked.clone(),
        charge,
    };
    let request = Hash::of(reserve(0, Cost::default()).body().unwrap().as_bytes());
    let cost = Cost { main: charge.clone(), ..Cost::default() };
    let reserved = add(database, head, &account, &reserve(1_763_190_000, cost));
    let (sha256, length) = (Hash::of(&response).to_string(), response.len() as u64);
    let commit = Event::Commit {
        at: 1_763_190_000,
        account: account.clone(),
        key: key.clone(),
        sha256,
        length,
    };
    let committed = add(database, reserved, &account, &commit);
    let sql = "INSERT INTO ledger_release (key, account, analyst, session, request, reserved, committed, response) \
               VALUES ($1, $2, 'ann', 0, $3, $4, $5, $6)";
    let cells = [
        Cell::Text(key),
        Cell::Text(account),
        Cell::Bytes(request.0.to_vec()),
        Cell::Whole(reserved.sequence as i64),
        Cell::Whole(committed.sequence as i64),
        Cell::Bytes(response),
    ];
    database.execute(sql, &cells).unwrap();
    committed
}

fn add(database: &mut dyn Database, head: Head, account: &str, event: &Event) -> Head {
    let body = event.body().unwrap();
    let next = head.then(&body);
    let sql = "INSERT INTO ledger_entry (sequence, previous, hash, account, body) VALUES ($1, $2, $3, $4, $5)";
    let cells = [
        Cell::Whole(next.sequence as i64),
        Cell::Bytes(head.hash.0.to_vec()),
        Cell::Bytes(next.hash.0.to_vec()),
        Cell::Text(account.to_owned()),
        Cell::Text(body),
    ];
    database.execute(sql, &cells).unwrap();
    next
}
