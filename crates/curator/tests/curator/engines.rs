//! The same questions on different engines: the same numbers, on tables full of extremes.

use crate::Place;
use crate::tables::{Row, condition, held, public, question, write};
use counterpoint_curator::engine::{Engine, Postgres};
use counterpoint_curator::question::{Aggregate, Of, Values};
use counterpoint_curator::{Counted, Held, Ready, Spend};
use counterpoint_testing::{Random, tries};
use rusqlite::types::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The type of each column on the server, which decides what may be in it.
type Types = [&'static str; 5];

fn types(random: &mut Random) -> Types {
    let mut pick = |list: &[&'static str]| list[random.below(list.len() as u64) as usize];
    let numbers = ["double precision", "bigint", "numeric", "integer"];
    [
        pick(&["bigint", "text", "integer"]),
        pick(&numbers[..2]),
        pick(&numbers),
        pick(&["text", "character varying"]),
        pick(&numbers),
    ]
}

fn value(kind: &str, random: &mut Random) -> Value {
    if random.below(12) == 0 {
        return Value::Null;
    }
    let small = random.below(16) as i64 - 4;
    match (kind, random.below(16)) {
        ("integer", 0) => Value::Integer(i32::MAX.into()),
        ("bigint", 0) => Value::Integer(i64::MAX),
        ("bigint", 1) => Value::Integer(i64::MIN),
        ("bigint", 2) => Value::Integer((1 << 53) + 1),
        ("integer" | "bigint", _) => Value::Integer(small),
        ("double precision", 0) => Value::Real(f64::INFINITY),
        ("double precision", 1) => Value::Real(f64::NEG_INFINITY),
        ("double precision", 2) => Value::Real(f64::NAN),
        ("double precision", 3) => Value::Real(5e-324),
        ("double precision", 4) => Value::Real(-1e-200),
        ("double precision", 5) => Value::Real(1e308),
        ("double precision", 6) => Value::Real(-0.0),
        _ => Value::Real(random.unit() * 14.0 - 2.0),
    }
}

fn row(types: &Types, random: &mut Random) -> Row {
    let people = ["", "ann", "Ann", "ann ", "ö'\"\\", "bob/1"];
    let person = match (random.below(20), types[0]) {
        (0, _) => Value::Null,
        (_, "text") => Value::Text(people[random.below(6) as usize].to_owned()),
        _ => Value::Integer(random.below(6) as i64),
    };
    let regions = ["north", "south", "NORTH", "", "west", "north "];
    let region = match random.below(10) {
        0 => Value::Null,
        _ => Value::Text(regions[random.below(6) as usize].to_owned()),
    };
    let year = match (random.below(4), types[4]) {
        (0, kind) => value(kind, random),
        (_, "double precision" | "numeric") => Value::Real(1980.0 + random.below(7) as f64 / 2.0),
        _ => Value::Integer(1980 + random.below(4) as i64),
    };
    [person, value(types[1], random), value(types[2], random), region, year]
}

/// A value in the server's SQL.
fn literal(value: &Value) -> String {
    match value {
        Value::Integer(whole) => format!("'{whole}'"),
        Value::Real(real) => format!("'{real:?}'"),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        _ => "NULL".to_owned(),
    }
}

fn write_postgres(url: &str, types: &Types, rows: &[Row]) {
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    // Names in capitals: who declares a table does not have to know.
    let names = ["nr", "AGE", "pay", "region", "Year"];
    let columns = names.iter().zip(types).map(|(name, kind)| format!("\"{name}\" {kind}"));
    let columns: Vec<String> = columns.collect();
    let mut sql = "SET standard_conforming_strings = on; DROP TABLE IF EXISTS visits;".to_owned();
    sql += &format!("CREATE TABLE visits ({});", columns.join(", "));
    for row in rows {
        let values: Vec<String> = row.iter().map(literal).collect();
        sql += &format!("INSERT INTO visits VALUES ({});", values.join(", "));
    }
    client.batch_execute(&sql).unwrap();
}

fn counted(held: &Held, ready: &Ready) -> Vec<Counted> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let answer = held.engine.run(ready.compiled().statement(), deadline).unwrap();
    ready.compiled().counted(&answer).unwrap()
}

/// A thousand questions in a full run.
#[test]
fn postgresql_adds_up_what_sqlite_does() {
    let Some(place) = Place::postgres() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let mut random = Random::new(1_789);
    for round in 0..tries(100, 0.06) {
        let types = types(&mut random);
        let rows: Vec<Row> = (0..80).map(|_| row(&types, &mut random)).collect();
        write(&file, &rows);
        write_postgres(&place.url, &types, &rows);
        let person = random.below(4) > 0;
        let kept = if person { random.between(1, 5) } else { 1 };
        let public = public(person, kept, random.between(1, 3), "add-remove");
        let here = held(public.clone(), &file);
        let engine = Arc::new(Postgres::open(&place.url, [7; 32]).unwrap());
        let there = Held::new(public, "visits", engine).unwrap();
        for number in 0..10 {
            let mut question = question(&mut random);
            if number == 0 {
                question.filter = Some(condition(&mut random, 4));
            }
            let spend = [Spend::Epsilon(1.0), Spend::Rho(0.5)][random.below(2) as usize];
            let [one, other] = [&here, &there]
                .map(|held| counted(held, &Ready::new(held, &question, spend, None).unwrap()));
            assert!(one == other, "{round}, {number}: {types:?} {question:?}");
        }
    }
}

/// A server fails where a product is rounded to 0: none is made, and a row whose value is tiny does not show.
#[test]
fn products_that_vanish_fail_nowhere() {
    let Some(place) = Place::postgres() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let types: Types = ["bigint", "double precision", "double precision", "text", "integer"];
    let row = |(person, value): (usize, &f64)| {
        let number = Value::Real(*value);
        let (nr, region) = (Value::Integer(person as i64), Value::Text("north".to_owned()));
        [nr, number.clone(), number, region, Value::Integer(1980)]
    };
    let values = [5e-324, -5e-324, 1e-200, -1e-170, 1e-160, 0.0, 0.5, -0.25];
    let rows: Vec<Row> = values.iter().enumerate().map(row).collect();
    write(&file, &rows);
    write_postgres(&place.url, &types, &rows);
    let public = public(true, 1, 1, "add-remove");
    let here = held(public.clone(), &file);
    let engine = Arc::new(Postgres::open(&place.url, [7; 32]).unwrap());
    let there = Held::new(public, "visits", engine).unwrap();
    for wide in [1.0, 1e-100, 1e25, 1e200] {
        let values = Values { column: "pay".to_owned(), bounds: Some((-wide, wide)) };
        for of in [Of::Sum(values.clone()), Of::Mean(values.clone()), Of::Variance(values)] {
            let mut question = question(&mut Random::new(1));
            (question.filter, question.group) = (None, Vec::new());
            question.aggregates = vec![Aggregate { name: None, of }];
            let [one, other] = [&here, &there].map(|held| {
                let ready = Ready::new(held, &question, Spend::Epsilon(1.0), None);
                ready.map(|ready| counted(held, &ready)).ok()
            });
            assert!(one == other, "{wide} {question:?}");
            assert!(one.is_some() || !(1e-99..1e99).contains(&wide), "{wide} {question:?}");
        }
    }
}

/// Whatever else a column is, it is refused before anything is asked; so is a table that is not there.
#[test]
fn columns_of_other_types_are_refused() {
    let Some(place) = Place::postgres() else { return };
    let fits: Types = ["bigint", "integer", "numeric", "text", "integer"];
    let bad = [(0, "double precision"), (1, "text"), (2, "boolean"), (3, "integer"), (4, "text")];
    let held = |types: &Types| {
        write_postgres(&place.url, types, &[]);
        let engine = Arc::new(Postgres::open(&place.url, [7; 32]).unwrap());
        Held::new(public(true, 1, 1, "add-remove"), "visits", engine).map(drop)
    };
    held(&fits).unwrap();
    for (column, kind) in bad {
        let mut types = fits;
        types[column] = kind;
        let why = held(&types).unwrap_err().why;
        assert!(why.contains(kind), "{why}");
    }
    let engine = Arc::new(Postgres::open(&place.url, [7; 32]).unwrap());
    let why = Held::new(public(true, 1, 1, "add-remove"), "elsewhere", engine).unwrap_err().why;
    assert!(why.contains("elsewhere"), "{why}");
}

/// As services do: their threads are within a runtime, and so may be whoever drops them.
#[test]
fn an_engine_may_be_asked_and_dropped_within_a_runtime() {
    let Some(place) = Place::postgres() else { return };
    write_postgres(&place.url, &["bigint", "integer", "numeric", "text", "integer"], &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let engine = Postgres::open(&place.url, [7; 32]).unwrap();
        assert_eq!(engine.columns("visits").unwrap().len(), 5);
    });
}

/// What takes too long is cut off on the server; the next question is answered.
#[test]
fn late_statements_are_cut_off() {
    let Some(place) = Place::postgres() else { return };
    write_postgres(&place.url, &["bigint", "integer", "numeric", "text", "integer"], &[]);
    let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
    let slow = "CREATE VIEW slow AS SELECT nr, \"AGE\" AS age, pay, region, \"Year\" AS year \
                FROM visits, pg_sleep(60) UNION ALL SELECT 1, 2, 3, 'north', 1980 FROM pg_sleep(60)";
    client.batch_execute(slow).unwrap();
    let engine = Arc::new(Postgres::open(&place.url, [7; 32]).unwrap());
    let public = public(true, 1, 1, "add-remove");
    let slow = Held::new(public.clone(), "slow", Arc::clone(&engine) as _).unwrap();
    let question = question(&mut Random::new(1));
    let ready = Ready::new(&slow, &question, Spend::Epsilon(1.0), None).unwrap();
    let start = Instant::now();
    let deadline = start + Duration::from_millis(300);
    slow.engine.run(ready.compiled().statement(), deadline).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(30));
    let running = "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%\"slow\"%' \
                   AND pid <> pg_backend_pid()";
    assert_eq!(client.query_one(running, &[]).unwrap().get::<_, i64>(0), 0);
    let quick = Held::new(public, "visits", engine).unwrap();
    let ready = Ready::new(&quick, &question, Spend::Epsilon(1.0), None).unwrap();
    counted(&quick, &ready);
}
