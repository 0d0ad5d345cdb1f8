//! Missing values: aggregates and filters mean what they mean in SQL, and one person moves no more than is charged.

use crate::Place;
use counterpoint::Mechanism;
use counterpoint_curator::engine::{Engine, Postgres, Sqlite};
use counterpoint_curator::public::{Table, TableText};
use counterpoint_curator::question::sql;
use counterpoint_curator::{OpenTable, PreparedQuestion, Spend};
use counterpoint_mechanisms::Reply;
use rusqlite::types::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Zero is within no bounds, so that a missing value cannot be taken for it.
fn public(adjacency: &str, complete: bool) -> Table {
    let text = format!(
        "name = \"t\"\nadjacency = \"{adjacency}\"\npeople = 2000\n\
         [[column]]\nname = \"x\"\nbounds = [5, 95]\ncomplete = {complete}\n\
         [[column]]\nname = \"region\"\ncategories = [\"north\", \"south\"]\n"
    );
    Table::new(toml::from_str::<TableText>(&text).unwrap()).unwrap()
}

/// A number and a region.
type Row = (Option<f64>, Option<&'static str>);

/// Half of the numbers are missing; regions are declared, not declared and missing.
fn rows() -> Vec<Row> {
    let regions = [Some("north"), Some("south"), Some("west"), None, Some("north")];
    let row = |place: usize| {
        let number = (place.is_multiple_of(2)).then(|| 10.0 + (place * 37 % 161) as f64 / 2.0);
        (number, regions[place % 5])
    };
    (0..2_000).map(row).collect()
}

const CREATE: &str = "CREATE TABLE t (x double precision, region text);";

fn write_sqlite(file: &Path, rows: &[Row]) {
    let mut connection = rusqlite::Connection::open(file).unwrap();
    connection.execute_batch(&format!("DROP TABLE IF EXISTS t; {CREATE}")).unwrap();
    let transaction = connection.transaction().unwrap();
    for (x, region) in rows {
        transaction.execute("INSERT INTO t VALUES (?1, ?2)", (x, region)).unwrap();
    }
    transaction.commit().unwrap();
}

fn write_postgres(url: &str, rows: &[Row]) {
    let text = |row: &Row| {
        let x = row.0.map_or("NULL".to_owned(), |x| format!("{x}"));
        let region = row.1.map_or("NULL".to_owned(), |region| format!("'{region}'"));
        format!("({x}, {region})")
    };
    let values: Vec<String> = rows.iter().map(text).collect();
    let sql =
        format!("DROP TABLE IF EXISTS t; {CREATE} INSERT INTO t VALUES {}", values.join(", "));
    postgres::Client::connect(url, postgres::NoTls).unwrap().batch_execute(&sql).unwrap();
}

fn ready(held: &OpenTable, text: &str) -> PreparedQuestion {
    let question = sql::read(text, |_| Some(&held.public)).unwrap();
    PreparedQuestion::new(held, &question, Spend::Epsilon(250.0), None).unwrap()
}

/// The numbers of an answer, with next to no noise.
fn answered(held: &OpenTable, text: &str) -> Vec<f64> {
    let ready = ready(held, text);
    let deadline = Instant::now() + Duration::from_secs(60);
    let counted = held.count(&[ready.tabulation()], deadline).unwrap().remove(0).remove(0);
    let numbers = ready.measurements().iter().zip(counted.numbers);
    let numbers = numbers.flat_map(|(measurement, numbers)| {
        let tally = measurement.tally_from_numbers(counted.rows, numbers).unwrap();
        match measurement.release(&tally).unwrap() {
            Reply::Table(list) => list,
            other => other.number().into_iter().collect(),
        }
    });
    numbers.collect()
}

/// What is asked, and how far an answer may be off.
const QUESTIONS: [(&str, f64); 12] = [
    ("AVG(x) FROM t", 0.1),
    ("SUM(x) FROM t", 20.0),
    ("AVG(x*x) - AVG(x)*AVG(x) FROM t", 5.0),
    ("AVG(x) FROM t WHERE region <> 'north'", 0.2),
    ("COUNT(*) FROM t WHERE region <> 'north'", 0.0),
    ("COUNT(*) FROM t WHERE NOT (region = 'north' OR region = 'south')", 0.0),
    ("COUNT(*) FROM t WHERE region IS NULL", 0.0),
    ("COUNT(*) FROM t WHERE region IS NOT NULL", 0.0),
    ("COUNT(*) FROM t WHERE x IS NULL", 0.0),
    ("COUNT(*) FROM t WHERE x IS NOT NULL AND NOT x > 30", 0.0),
    ("COUNT(*) FROM t WHERE NOT (x > 30 AND region IN ('south'))", 0.0),
    ("SUM(x) FROM t WHERE region IS NULL OR x < 20", 20.0),
];

/// The variance's name is ours.
fn ours(text: &str) -> String {
    format!("SELECT {}", text.replace("AVG(x*x) - AVG(x)*AVG(x)", "VARIANCE(x)"))
}

fn check(held: &OpenTable, plain: impl Fn(&str) -> f64) {
    let adjacency = held.public.relation();
    for (text, error) in QUESTIONS {
        let (found, expected) = (answered(held, &ours(text))[0], plain(&format!("SELECT {text}")));
        assert!((found - expected).abs() <= error, "{adjacency} {text}: {found}, {expected}");
    }
    // One of a thousand and one numbers.
    let median = answered(held, "SELECT MEDIAN(x) FROM t")[0];
    let mut values: Vec<f64> = rows().iter().filter_map(|row| row.0).collect();
    values.sort_by(f64::total_cmp);
    let expected = values[values.len() / 2];
    assert!((median - expected).abs() < 1.0, "{adjacency}: {median}, {expected}");
    let bins = answered(held, "SELECT HISTOGRAM(x, 5, 30, 95) FROM t");
    let below = values.iter().filter(|x| **x < 30.0).count() as f64;
    assert_eq!(bins, [below, values.len() as f64 - below], "{adjacency}");
}

#[test]
fn aggregates_and_filters_are_those_of_sql() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    write_sqlite(&file, &rows());
    for adjacency in ["add-remove", "replace"] {
        let engine: Arc<dyn Engine> = Arc::new(Sqlite::open(&file).unwrap());
        let held = OpenTable::new(public(adjacency, false), "t", engine, [7; 32]).unwrap();
        let connection = rusqlite::Connection::open(&file).unwrap();
        check(&held, |text| connection.query_row(text, [], |row| row.get(0)).unwrap());
    }
    let Some(place) = Place::postgres() else { return };
    write_postgres(&place.url, &rows());
    for adjacency in ["add-remove", "replace"] {
        let engine: Arc<dyn Engine> = Arc::new(Postgres::open(&place.url).unwrap());
        let held = OpenTable::new(public(adjacency, false), "t", engine, [7; 32]).unwrap();
        check(&held, |text| {
            let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
            let text = text.replacen("SELECT ", "SELECT CAST(", 1);
            let text = text.replacen(" FROM", " AS double precision) FROM", 1);
            client.query_one(&text, &[]).unwrap().get(0)
        });
    }
}

/// Values that are of no use where numbers are declared, and the ends of the bounds.
fn extremes() -> Vec<Value> {
    let numbers = [5.0, 95.0, 50.0, 0.0, -1e300, f64::INFINITY, f64::NEG_INFINITY];
    let others = [Value::Null, Value::Text("7".to_owned()), Value::Blob(vec![1])];
    numbers.map(Value::Real).into_iter().chain(others).collect()
}

fn add(file: &Path, values: &[&Value]) {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.execute_batch("DROP TABLE IF EXISTS t; CREATE TABLE t (x, region)").unwrap();
    for value in values {
        connection.execute("INSERT INTO t VALUES (?1, 'north')", [value]).unwrap();
    }
}

/// One person's value for another, or for none, moves every number that noise is added to by no more than the noise is for; and
/// what an answer depends on besides, the number of rows, is the same.
#[test]
fn a_missing_value_moves_no_more_than_is_charged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let aggregates = ["SUM(x)", "AVG(x)", "VARIANCE(x)", "COUNT(*)", "HISTOGRAM(x, 5, 30, 95)"];
    for (adjacency, complete) in
        [("replace", false), ("replace", true), ("add-remove", false), ("add-remove", true)]
    {
        add(&file, &[]);
        let engine: Arc<dyn Engine> = Arc::new(Sqlite::open(&file).unwrap());
        let held = OpenTable::new(public(adjacency, complete), "t", engine, [7; 32]).unwrap();
        for filter in ["", " WHERE x IS NULL", " WHERE x IS NOT NULL", " WHERE region = 'north'"] {
            for aggregate in aggregates {
                let ready = ready(&held, &format!("SELECT {aggregate} FROM t{filter}"));
                let numbers = |values: &[&Value]| -> (u64, Vec<f64>) {
                    add(&file, values);
                    let deadline = Instant::now() + Duration::from_secs(60);
                    let counted = held.count(&[ready.tabulation()], deadline).unwrap();
                    let counted = &counted[0][0];
                    let summands = ready.measurements()[0].summands();
                    let unit = |place: usize| summands.get(place).map_or(1.0, |one| one.unit());
                    let numbers = counted.numbers[0].iter().enumerate();
                    (counted.rows, numbers.map(|(at, x)| *x as f64 * unit(at)).collect())
                };
                let other = Value::Real(33.0);
                let values = extremes();
                let tables = values.iter().map(|value| vec![&other, value]);
                let mut tables: Vec<Vec<&Value>> = tables.collect();
                if adjacency == "add-remove" {
                    tables.push(vec![&other]);
                }
                let all: Vec<(u64, Vec<f64>)> = tables.iter().map(|table| numbers(table)).collect();
                let noises = ready.measurements()[0].noises();
                let far: Vec<f64> = noises.iter().map(|noise| reach(&noise.mechanism())).collect();
                let is_public = ready.measurements()[0].relation().is_length_public();
                let pairs = all.iter().flat_map(|one| all.iter().map(move |other| (one, other)));
                for ((rows, one), (others, other)) in pairs {
                    assert!(!is_public || rows == others, "{adjacency} {aggregate}{filter}");
                    if adjacency == "add-remove" && rows.abs_diff(*others) != 1 {
                        continue;
                    }
                    for (at, (one, other)) in one.iter().zip(other).enumerate() {
                        let far = far.get(at).or(far.first()).unwrap() * (1.0 + 1e-9);
                        let moved = (one - other).abs();
                        assert!(
                            moved <= far,
                            "{adjacency} {complete} {aggregate}{filter}: {moved} {far}"
                        );
                    }
                }
            }
        }
    }
}

/// How far one person moves a number that this noise is added to.
fn reach(mechanism: &Mechanism) -> f64 {
    match mechanism {
        Mechanism::Laplace { sensitivity, .. } => sensitivity.get(),
        Mechanism::Geometric { sensitivity, .. } => sensitivity.get() as f64,
        other => panic!("{other:?}"),
    }
}

/// The number of values that are used is public only of a complete column, of which a missing value counts as the lower bound.
#[test]
fn complete_columns_cost_less() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    add(&file, &[&Value::Real(95.0), &Value::Null]);
    let held = |complete| {
        let engine: Arc<dyn Engine> = Arc::new(Sqlite::open(&file).unwrap());
        OpenTable::new(public("replace", complete), "t", engine, [7; 32]).unwrap()
    };
    let mean = "SELECT AVG(x) FROM t";
    assert!((answered(&held(true), mean)[0] - 50.0).abs() < 5.0);
    assert!((answered(&held(false), mean)[0] - 95.0).abs() < 15.0);
    assert_eq!(ready(&held(true), mean).measurements()[0].summands().len(), 1);
    assert_eq!(ready(&held(false), mean).measurements()[0].summands().len(), 2);
    // How far off it will be is told where that is public.
    let told = |complete| ready(&held(complete), mean).half_widths(0.95).unwrap()[0].1;
    assert!(told(true).is_some() && told(false).is_none());
}
