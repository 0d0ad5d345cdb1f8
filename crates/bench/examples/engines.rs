//! What the curator takes for a question beside what the engine takes for its statement, and for eight questions together
//! beside one by one, in turns, on tables of several sizes:
//!   engines LEDGER RUNS (URL TABLE ROWS)...
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use counterpoint_curator::engine;
use counterpoint_curator::public::Table;
use counterpoint_curator::question::sql;
use counterpoint_curator::{
    BatchItem, Location, OpenTable, Payer, PreparedQuestion, Spend, StageTimes, answer_batch,
    answer_question,
};
use counterpoint_ledger::{FilterKind, Ledger, NewAccount, NewFilter, OpenOptions, Pool, Url};
use std::time::{Duration, Instant};

const PUBLIC: &str = r#"
name = "visits"
person = "nr"
rows = 2
adjacency = "add-remove"

[[column]]
name = "age"
bounds = [0, 100]

[[column]]
name = "region"
categories = ["north", "south", "west"]
"#;

fn main() {
    let mut args = std::env::args().skip(1);
    let url: Url = args.next().unwrap().parse().unwrap();
    let runs: usize = args.next().unwrap().parse().unwrap();
    let rest: Vec<String> = args.collect();
    let public = Table::new(toml::from_str(PUBLIC).unwrap()).unwrap();
    let mut ledger = Ledger::init(&url).unwrap();
    let budget = NewFilter::new(FilterKind::Sums, "1000000".parse().unwrap(), "0".parse().unwrap());
    ledger.add_dataset("visits", public.relation(), &budget).unwrap();
    ledger.open_account("team", "visits", &NewAccount::Filter(budget)).unwrap();
    let pool = Pool::new(&url, &OpenOptions::default(), 2).unwrap();
    println!(
        "{:10} {:>10} {:>12} {:>12} {:>7} {:>17}",
        "engine", "rows", "engine, ms", "curator, ms", "ratio", "8 together/alone"
    );
    for (place, one) in rest.chunks_exact(3).enumerate() {
        let [source, from, rows] = one else { continue };
        let held =
            OpenTable::new(public.clone(), from, engine::open(&located(source)).unwrap(), [7; 32])
                .unwrap();
        let [bare, whole, ratio] = measurements(&pool, &held, (place, runs));
        let name = source.split(':').next().unwrap_or_default();
        // Sixteen questions a run: not of the largest tables.
        let is_large = rows.len() > 7;
        let together = (!is_large).then(|| together(&pool, &held, (place, runs)));
        let together = together.map(|ratio| format!("{ratio:.3}")).unwrap_or_default();
        println!("{name:10} {rows:>10} {bare:>12.1} {whole:>12.1} {ratio:>7.3} {together:>17}");
    }
}

fn located(source: &str) -> Location {
    match source.strip_prefix("sqlite:") {
        Some(path) => Location::Sqlite(path.into()),
        None if source.starts_with("sc:") => Location::Spark(source.to_owned()),
        None => Location::Postgres(source.to_owned()),
    }
}

/// Medians, of both and of their ratios.
fn measurements(pool: &Pool, held: &OpenTable, (place, runs): (usize, usize)) -> [f64; 3] {
    let far = || Instant::now() + Duration::from_secs(600);
    let payer = Payer { account: "team", analyst: None, alias: None };
    let mut found = Vec::new();
    for run in 0..=runs {
        // Never the same question: that would be told for nothing. Nor the same statement: engines remember what they ran.
        let asked = |number: usize| {
            let than = number as f64 / -1000.0;
            let text = format!(
                "SELECT region, COUNT(*), AVG(age), MEDIAN(age) FROM visits WHERE age > {than} GROUP BY region"
            );
            let question = sql::read(&text, |_| Some(&held.public)).unwrap();
            PreparedQuestion::new(held, &question, Spend::Epsilon(0.5), None).unwrap()
        };
        let number = place * 1000 + 2 * run;
        let start = Instant::now();
        let ready = asked(number);
        answer_question(pool, held, &ready, &payer, far()).unwrap().numbers(&ready, 0.95).unwrap();
        let whole = start.elapsed().as_secs_f64() * 1e3;
        let ready = asked(number + 1);
        let start = Instant::now();
        held.count(&[ready.tabulation()], far()).unwrap();
        let bare = start.elapsed().as_secs_f64() * 1e3;
        // The first warms everything up.
        if run > 0 {
            found.push([bare, whole, whole / bare]);
        }
    }
    [0, 1, 2].map(|place| median(found.iter().map(|one| one[place]).collect()))
}

fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

/// Eight questions in one pass beside eight passes.
fn together(pool: &Pool, table: &OpenTable, (place, runs): (usize, usize)) -> f64 {
    let far = || Instant::now() + Duration::from_secs(600);
    let payer = Payer { account: "team", analyst: None, alias: None };
    let once = |run: usize| {
        let ready = (0..8).map(|number| {
            let than = ((place * 1000 + run) * 8 + number) as f64 / -1000.0;
            let text = format!(
                "SELECT COUNT(*), AVG(age) FROM visits WHERE age > {than} AND region = 'north'"
            );
            let question = sql::read(&text, |_| Some(&table.public)).unwrap();
            PreparedQuestion::new(table, &question, Spend::Epsilon(0.5), None).unwrap()
        });
        let ready: Vec<PreparedQuestion> = ready.collect();
        let due: Vec<BatchItem<'_>> =
            ready.iter().map(|question| BatchItem { table, question, payer }).collect();
        let start = Instant::now();
        if run.is_multiple_of(2) {
            for one in answer_batch(pool, &due, Duration::from_secs(600), &StageTimes::default()) {
                one.unwrap();
            }
        } else {
            for ready in &ready {
                answer_question(pool, table, ready, &payer, far()).unwrap();
            }
        }
        start.elapsed().as_secs_f64()
    };
    median((0..runs).map(|run| once(2 * run) / once(2 * run + 1)).collect())
}
