//! How fast the ledger is, beside the same transactions in bare SQL.
//!
//!     bench/ledger                                    both databases
//!     cargo run --release -p counterpoint-ledger --example speed [ENTRIES]
//!
//! ENTRIES is how long the history is made for the measurements that must not depend on it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::{Duration, Instant};

use counterpoint::{Adjacency, Relation};
use counterpoint_ledger::database::Access;
use counterpoint_ledger::{
    FilterKind, Ledger, NewAccount, NewFilter, OpenOptions, Pool, Request, Url,
};
use counterpoint_testing::Proxy;
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{ExactPlan, ReleaseRequest};

/// Pairs in one measurement, and measurements of each kind, taken in turn.
const PAIRS: u64 = 40;
const ROUNDS: u64 = 41;

fn main() {
    let entries = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
    println!("{:<12}{:>16}{:>16}{:>8}", "pairs/s", "ledger", "bare SQL", "ratio");
    compare("SQLite", &file("ledger"), &mut BareSqlite::new(&file("bare")));
    let server = std::env::var("COUNTERPOINT_POSTGRES").ok();
    let schema = |server: &str, name: &str| {
        let mut client = postgres::Client::connect(server, postgres::NoTls).unwrap();
        client.batch_execute(&format!("CREATE SCHEMA {name}")).unwrap();
        format!("{server}?options=-csearch_path%3D{name}")
    };
    if let Some(server) = &server {
        let mut bare = BarePostgres::new(&schema(server, "speed_bare"));
        compare("PostgreSQL", &schema(server, "speed_ledger"), &mut bare);
    }
    println!(
        "\n{:<34}{:>10}{:>12}{:>12}",
        "threads of one pool", "pairs/s", "median ms", "99 % ms"
    );
    let concurrent = |name: &str, url: &str| {
        set_up(&mut Ledger::init(&url.parse().unwrap()).unwrap());
        for threads in [1, 8, 64] {
            together(&format!("{name}, {threads}"), url, threads);
        }
    };
    concurrent("SQLite", &file("together"));
    if let Some(server) = &server {
        concurrent("PostgreSQL", &schema(server, "speed_together"));
        for microseconds in [250, 500] {
            let (distant, delay) = distant(server, Duration::from_micros(microseconds));
            let url = schema(server, &format!("speed_distant_{microseconds}"));
            concurrent(&format!("PostgreSQL, {delay} ms each way"), &url.replace(server, &distant));
        }
    }
    let sizes = [0, entries / 100, entries];
    let names = ["history_none", "history_short", "history_long"];
    long("SQLite", &names.map(file), &sizes);
    if let Some(server) = &server {
        long("PostgreSQL", &names.map(|name| schema(server, name)), &sizes);
    }
}

fn release() -> ReleaseRequest {
    let text = br#"{"release":[{"mechanism":"laplace","scale":10}]}"#;
    ReleaseRequest::Described(ExactPlan::parse(text, Format::Json).unwrap().releases)
}

fn set_up(ledger: &mut Ledger) {
    let budget = |epsilon: &str| {
        NewFilter::new(FilterKind::Sums, epsilon.parse().unwrap(), "1e-6".parse().unwrap())
    };
    let relation = Relation::single_record(Adjacency::AddRemove);
    ledger.add_dataset("data", relation, &budget("1000000")).unwrap();
    let account = NewAccount::Filter(budget("900000"));
    ledger.open_account("account", "data", &account).unwrap();
}

fn pairs(ledger: &mut Ledger, prefix: &str, count: u64) -> f64 {
    let asked = release();
    let start = Instant::now();
    for index in 0..count {
        let key = format!("{prefix}-{index}");
        ledger.reserve(&Request::new("account", &key, &asked)).unwrap();
        ledger.commit("account", &key, b"42.1234567").unwrap();
    }
    count as f64 / start.elapsed().as_secs_f64()
}

/// How long threads of one pool are measured.
const MEASURED: Duration = Duration::from_secs(5);

/// Pairs by so many threads, each one after the other.
fn together(name: &str, url: &str, threads: usize) {
    let pool = Pool::new(&url.parse().unwrap(), &OpenOptions::default(), 16).unwrap();
    let (asked, start) = (release(), Instant::now());
    let client = |thread: usize| {
        let mut times = Vec::new();
        while start.elapsed() < MEASURED {
            let (key, begun) = (format!("{threads}-{thread}-{}", times.len()), Instant::now());
            pool.reserve(&Request::new("account", &key, &asked)).unwrap();
            pool.commit("account", &key, b"42.1234567").unwrap();
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        times
    };
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let client = &client;
        let clients: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || client(thread))).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let rate = times.len() as f64 / start.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let (half, most) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{name:<34}{rate:>10.0}{half:>12.2}{most:>12.2}");
}

/// The URL of a server that is further away, and by how many milliseconds.
fn distant(server: &str, delay: Duration) -> (String, f64) {
    let address = server.split(['@', '/']).nth(3).unwrap();
    let proxy = Proxy::start(address.parse().unwrap(), delay);
    (server.replace(address, &proxy.address().to_string()), delay.as_secs_f64() * 1e3)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn compare(name: &str, url: &str, bare: &mut dyn Bare) {
    let mut ledger = Ledger::init(&url.parse().unwrap()).unwrap();
    set_up(&mut ledger);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        ours.push(pairs(&mut ledger, &format!("round-{round}"), PAIRS));
        let start = Instant::now();
        (0..PAIRS).for_each(|index| bare.pair(round * PAIRS + index));
        theirs.push(PAIRS as f64 / start.elapsed().as_secs_f64());
    }
    // Neighbours in time share the disk's and the machine's mood.
    let ratio = median(ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect());
    println!("{name:<12}{:>16.0}{:>16.0}{ratio:>8.2}", median(ours), median(theirs));
}

/// What a long history costs: the same pairs on a new ledger and on long ones, in turn.
fn long(name: &str, urls: &[String; 3], sizes: &[u64; 3]) {
    println!("\n{name}, reserve and commit after so many entries, and status");
    let urls: Vec<Url> = urls.iter().map(|url| url.parse().unwrap()).collect();
    urls.iter().zip(sizes).for_each(|(url, size)| fill(url, *size));
    let mut ledgers: Vec<Ledger> = urls.iter().map(|url| Ledger::open(url).unwrap()).collect();
    let before: Vec<u64> = ledgers.iter_mut().map(|one| one.head().unwrap().sequence).collect();
    let mut rates = vec![Vec::new(); urls.len()];
    for round in 0..ROUNDS {
        for (ledger, rates) in ledgers.iter_mut().zip(&mut rates) {
            rates.push(pairs(ledger, &format!("round-{round}"), PAIRS));
        }
    }
    let first = rates[0].clone();
    for ((url, entries), rates) in urls.iter().zip(before).zip(rates) {
        let ratio = median(rates.iter().zip(&first).map(|(one, new)| one / new).collect());
        let time = |_| {
            let start = Instant::now();
            Ledger::open(url).unwrap().status(Some("account")).unwrap();
            start.elapsed().as_secs_f64() * 1e3
        };
        let (rate, status) = (median(rates), median((0..9).map(time).collect()));
        println!(
            "{entries:>9} entries: {rate:>6.0} pairs/s, {ratio:.2} of the first, status {status:.2} ms"
        );
    }
}

/// Makes a ledger with so many entries more, of which the tables have every row. (No chain: it
/// is never looked at again.)
fn fill(url: &Url, entries: u64) {
    set_up(&mut Ledger::init(url).unwrap());
    let mut database = url.open(false).unwrap();
    database.begin(Access::Write).unwrap();
    let numbers = |most: u64| {
        format!(
            "WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL \
             SELECT i + 1 FROM n WHERE i < {most})"
        )
    };
    if entries > 1 {
        let entry = format!(
            "INSERT INTO ledger_entry (sequence, previous, hash, account, body) {} \
             SELECT h.sequence + i, h.hash, h.hash, 'account', '{BODY}' FROM n, ledger_head h",
            numbers(entries)
        );
        let release = format!(
            "INSERT INTO ledger_release (key, account, session, request, reserved, committed, \
             response) {} SELECT 'fill-' || i, 'account', 0, h.hash, h.sequence + 2 * i - 1, \
             h.sequence + 2 * i, h.hash FROM n, ledger_head h",
            numbers(entries / 2)
        );
        let head = format!("UPDATE ledger_head SET sequence = sequence + {entries}");
        for sql in [entry, release, head] {
            database.execute(&sql, &[]).unwrap();
        }
    }
    database.commit().unwrap();
    drop(database);
    // What is measured is a long history, not the disk still busy with making it.
    match url {
        Url::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
            std::fs::File::open(path).unwrap().sync_all().unwrap();
        }
        Url::Postgres(url) => {
            let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
            client.batch_execute("VACUUM ANALYZE").unwrap();
            client.batch_execute("CHECKPOINT").unwrap();
        }
        _ => {}
    }
}

/// A reserve and a commit, in the statements that the ledger itself uses.
trait Bare {
    fn pair(&mut self, index: u64);
}

const HEAD: &str = "SELECT id, sequence, hash FROM ledger_head";
const KEY: &str = "SELECT key, account, analyst, session, request, reserved, committed, response \
                   FROM ledger_release WHERE key = $1 AND account = $2";
const ACCOUNT: &str = "SELECT name, parent, slot, opened, adjacency, records, part, rule, quotas, \
                       closed, charges, capacity_main, capacity_delta, capacity_pure, \
                       spent_main, spent_delta, spent_pure FROM ledger_account WHERE name = $1";
const ENTRY: &str = "INSERT INTO ledger_entry (sequence, previous, hash, account, body) \
                     VALUES ($1, $2, $3, $4, $5)";
const SET_HEAD: &str = "UPDATE ledger_head SET sequence = $1, hash = $2 WHERE id = 1";
const CHARGE: &str = "UPDATE ledger_account SET charges = $1, spent_main = $2 WHERE name = $3";
const RELEASE: &str = "INSERT INTO ledger_release (key, account, session, request, reserved) \
                       VALUES ($1, $2, 0, $3, $4)";
const RESPOND: &str = "UPDATE ledger_release SET committed = $1, response = $2 \
                       WHERE key = $3 AND account = $4";

const BODY: &str = r#"{"event":"reserve","at":1763190000,"account":"account","key":"round-0-000","analyst":null,"release":{"described":[{"mechanism":"laplace","scale":"10"}]},"charge":{"main":"0.1","delta":"0"}}"#;

fn hash(number: i64) -> Vec<u8> {
    number.to_be_bytes().repeat(4)
}

struct BareSqlite(rusqlite::Connection);

impl BareSqlite {
    fn new(url: &str) -> Self {
        let mut ledger = Ledger::init(&url.parse().unwrap()).unwrap();
        set_up(&mut ledger);
        drop(ledger);
        let connection = rusqlite::Connection::open(url.strip_prefix("sqlite:").unwrap()).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON",
            )
            .unwrap();
        connection.set_prepared_statement_cache_capacity(64);
        Self(connection)
    }

    fn read(&self, sql: &str, parameters: impl rusqlite::Params) {
        let mut statement = self.0.prepare_cached(sql).unwrap();
        let mut rows = statement.query(parameters).unwrap();
        while rows.next().unwrap().is_some() {}
    }

    fn run(&self, sql: &str, parameters: impl rusqlite::Params) {
        self.0.prepare_cached(sql).unwrap().execute(parameters).unwrap();
    }
}

impl Bare for BareSqlite {
    fn pair(&mut self, index: u64) {
        let (key, first) = (format!("bare-{index}"), 2 * index as i64 + 1000);
        self.run("BEGIN IMMEDIATE", []);
        self.read(HEAD, []);
        self.read(KEY, [key.as_str(), "account"]);
        self.read(ACCOUNT, ["account"]);
        self.run(ENTRY, rusqlite::params![first, hash(first - 1), hash(first), "account", BODY]);
        self.run(SET_HEAD, rusqlite::params![first, hash(first)]);
        let spent = format!("{index:040}.1");
        self.run(CHARGE, rusqlite::params![index as i64, spent, "account"]);
        self.run(RELEASE, rusqlite::params![key, "account", hash(first), first]);
        self.run("COMMIT", []);
        let second = first + 1;
        self.run("BEGIN IMMEDIATE", []);
        self.read(HEAD, []);
        self.read(KEY, [key.as_str(), "account"]);
        self.run(ENTRY, rusqlite::params![second, hash(first), hash(second), "account", BODY]);
        self.run(SET_HEAD, rusqlite::params![second, hash(second)]);
        self.run(RESPOND, rusqlite::params![second, b"42.1234567", key, "account"]);
        self.run("COMMIT", []);
    }
}

struct BarePostgres {
    client: postgres::Client,
    statements: std::collections::HashMap<&'static str, postgres::Statement>,
}

impl BarePostgres {
    fn new(url: &str) -> Self {
        let mut ledger = Ledger::init(&url.parse().unwrap()).unwrap();
        set_up(&mut ledger);
        let client = postgres::Client::connect(url, postgres::NoTls).unwrap();
        Self { client, statements: std::collections::HashMap::new() }
    }

    fn statement(&mut self, sql: &'static str) -> postgres::Statement {
        let client = &mut self.client;
        self.statements.entry(sql).or_insert_with(|| client.prepare(sql).unwrap()).clone()
    }

    fn read(&mut self, sql: &'static str, parameters: &[&(dyn postgres::types::ToSql + Sync)]) {
        let statement = self.statement(sql);
        self.client.query(&statement, parameters).unwrap();
    }

    fn run(&mut self, sql: &'static str, parameters: &[&(dyn postgres::types::ToSql + Sync)]) {
        let statement = self.statement(sql);
        self.client.execute(&statement, parameters).unwrap();
    }
}

impl Bare for BarePostgres {
    fn pair(&mut self, index: u64) {
        const LOCK: &str = "SELECT id, sequence, hash FROM ledger_head FOR UPDATE";
        let (key, first) = (format!("bare-{index}"), 2 * index as i64 + 1000);
        self.client.batch_execute("BEGIN").unwrap();
        self.read(LOCK, &[]);
        self.read(KEY, &[&key, &"account"]);
        self.read(ACCOUNT, &[&"account"]);
        self.run(ENTRY, &[&first, &hash(first - 1), &hash(first), &"account", &BODY]);
        self.run(SET_HEAD, &[&first, &hash(first)]);
        let spent = format!("{index:040}.1");
        self.run(CHARGE, &[&(index as i64), &spent, &"account"]);
        self.run(RELEASE, &[&key, &"account", &hash(first), &first]);
        self.client.batch_execute("COMMIT").unwrap();
        let second = first + 1;
        self.client.batch_execute("BEGIN").unwrap();
        self.read(LOCK, &[]);
        self.read(KEY, &[&key, &"account"]);
        self.run(ENTRY, &[&second, &hash(first), &hash(second), &"account", &BODY]);
        self.run(SET_HEAD, &[&second, &hash(second)]);
        self.run(RESPOND, &[&second, &&b"42.1234567"[..], &key, &"account"]);
        self.client.batch_execute("COMMIT").unwrap();
    }
}
