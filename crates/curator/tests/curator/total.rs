//! Statements never fail: neither because of what a row holds, nor because a legal question is too long to plan.

use crate::Place;
use counterpoint_curator::engine::{Engine, Postgres, Sqlite};
use counterpoint_curator::public::{Key, Table, TableText};
use counterpoint_curator::question::{
    Aggregate, AggregateKind, ClampedColumn, Condition, Question, sql,
};
use counterpoint_curator::{OpenTable, PreparedQuestion, Spend, examine};
use counterpoint_testing::server;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn table(text: &str) -> Table {
    Table::new(toml::from_str::<TableText>(text).unwrap()).unwrap()
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(120)
}

/// Everything that can be asked of a number, for the category, with a filter on both.
const ALL: &str = "SELECT k, COUNT(*), COUNT(DISTINCT nr), SUM(x), AVG(x), VARIANCE(x), MEDIAN(x), \
     HISTOGRAM(x, -1e300, 0, 1, 1e300) FROM t WHERE (x > -5 OR x <= 3 OR x IS NULL) AND \
     (k <> 'a' OR k = 'a' OR k IS NULL) GROUP BY k";
const WHOLE: &str = "SELECT k, COUNT(*), COUNT(DISTINCT nr), SUM(x), AVG(x), VARIANCE(x), MEDIAN(x) FROM t \
     WHERE (x > -5 OR x <= 3 OR x IS NULL) AND (k <> 1 OR k IS NULL OR k = 1) GROUP BY k";

/// Asks all of it, and says how many rows were used in all.
fn rows_used(held: &OpenTable, text: &str) -> u64 {
    let question = sql::read(text, |_| Some(&held.public)).unwrap();
    let ready = PreparedQuestion::new(held, &question, Spend::Epsilon(1.0), None).unwrap();
    let counted = held.count(&[ready.tabulation()], later()).unwrap();
    counted[0].iter().map(|cell| cell.rows).sum()
}

fn public(keys: &str, bounds: &str) -> Table {
    table(&format!(
        "name = \"t\"\nperson = \"nr\"\nrows = 2\nadjacency = \"add-remove\"\n\
         [[column]]\nname = \"x\"\nbounds = {bounds}\n[[column]]\nname = \"k\"\ncategories = {keys}\n"
    ))
}

const BOUNDS: [&str; 3] = ["[0, 10]", "[-1e70, 1e70]", "[-1e-70, 1e-70]"];

/// A database in which texts are any bytes: those of one row are no UTF-8.
#[test]
fn bytes_that_are_no_text_fail_nowhere() {
    let Some(url) = server() else { return };
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    let name = format!("bytes{}", std::process::id());
    let create =
        format!("CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0");
    client.batch_execute(&create).unwrap();
    let own = url.replace("/postgres", &format!("/{name}"));
    let mut there = postgres::Client::connect(&own, postgres::NoTls).unwrap();
    there
        .batch_execute(
            r"CREATE TABLE t (nr text, x integer, k text);
              INSERT INTO t VALUES ('ann', 1, 'a'), ('ann', 2, 'a'), ('ann', 3, 'a'), ('bob', 1, 'b');
              INSERT INTO t VALUES (E'\xff\xfe', 1, 'a'), (E'b\xc3', 2, E'\xff'), (E'\xc3', 2, 'a')",
        )
        .unwrap();
    drop(there);
    let engine: Arc<dyn Engine> = Arc::new(Postgres::open(&own).unwrap());
    let held = OpenTable::new(public("[\"a\", \"b\"]", "[0, 10]"), "t", engine, [7; 32]).unwrap();
    let used = rows_used(&held, ALL);
    drop(held);
    client.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).unwrap();
    assert_eq!(used, 2 + 1 + 2);
}

#[test]
fn no_number_on_a_server_fails() {
    let Some(place) = Place::postgres() else { return };
    let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
    let floats = "'NaN', 'Infinity', '-Infinity', 1e-37, -1e-37, 3.4e38, -3.4e38, 0, '-0', 1";
    let doubles = "'NaN', 'Infinity', '-Infinity', 5e-324, -5e-324, 1.7976931348623157e308, \
                   -1.7976931348623157e308, 9.3e18, -9.3e18, 9223372036854775807, 1e-200, 1";
    let numerics = "'NaN', 'Infinity', '-Infinity', 1e131071, -1e131071, 1e-16383, -1e-16383, 1e309, \
                    -1e309, 9223372036854775808, -9223372036854775809, 1.5, 1";
    let types = [
        ("smallint", "-32768, 32767, 0, 1"),
        ("integer", "-2147483648, 2147483647, 0, 1"),
        ("bigint", "-9223372036854775808, 9223372036854775807, 0, 1"),
        ("real", floats),
        ("double precision", doubles),
        ("numeric", numerics),
    ];
    for (kind, values) in types {
        for (people, keys) in [("bigint", false), ("text", true)] {
            let key = if keys { "text" } else { kind };
            client
                .batch_execute(&format!(
                    "DROP TABLE IF EXISTS t; CREATE TABLE t (nr {people}, x {kind}, k {key})"
                ))
                .unwrap();
            for value in values.split(',') {
                let value = value.trim().trim_matches('\'');
                let key = if keys { "'a'".to_owned() } else { format!("'{value}'") };
                client
                    .batch_execute(&format!(
                        "INSERT INTO t VALUES ('1', '{value}', {key}), (NULL, NULL, NULL)"
                    ))
                    .unwrap();
            }
            for bounds in BOUNDS {
                let engine: Arc<dyn Engine> = Arc::new(Postgres::open(&place.url).unwrap());
                let categories = if keys { "[\"a\"]" } else { "[1]" };
                let held =
                    OpenTable::new(public(categories, bounds), "t", engine, [7; 32]).unwrap();
                assert!(rows_used(&held, if keys { ALL } else { WHOLE }) > 0, "{kind}");
            }
        }
    }
}

#[test]
fn no_value_in_a_file_fails() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let values = "NULL, 9223372036854775807, -9223372036854775808, 9e999, -9e999, 5e-324, -1e308, 1.5, 1, '', \
                  '1', x'00', x'fffe', CAST(x'fffe' AS TEXT), CAST(x'00ff00' AS TEXT), '[', zeroblob(100000)";
    let list: Vec<&str> = values.split(", ").collect();
    for encoding in ["UTF-8", "UTF-16le"] {
        let connection = rusqlite::Connection::open(&file).unwrap();
        let create = format!(
            "PRAGMA encoding = '{encoding}'; CREATE TABLE t (nr COLLATE NOCASE, x, k COLLATE RTRIM)"
        );
        connection.execute_batch(&create).unwrap();
        for one in &list {
            for other in &list {
                let sql =
                    format!("INSERT INTO t VALUES ({one}, {other}, 'a'), (1, {one}, {other})");
                connection.execute_batch(&sql).unwrap();
            }
        }
        drop(connection);
        for bounds in BOUNDS {
            for (categories, text) in [("[\"a\"]", ALL), ("[1]", WHOLE), ("[1, \"a\"]", ALL)] {
                let engine: Arc<dyn Engine> = Arc::new(Sqlite::open(&file).unwrap());
                let held =
                    OpenTable::new(public(categories, bounds), "t", engine, [7; 32]).unwrap();
                assert!(rows_used(&held, text) > 0);
            }
        }
        std::fs::remove_file(&file).unwrap();
    }
}

/// Twenty quantiles of the most candidates, even and uneven, for all groups: planned at once, on all engines.
#[test]
fn the_longest_questions_are_planned_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let connection = rusqlite::Connection::open(&file).unwrap();
    let rows =
        "CREATE TABLE t (nr bigint, x double precision, k text); INSERT INTO t VALUES (1, 2, 'a')";
    connection.execute_batch(rows).unwrap();
    drop(connection);
    let sqlite: Arc<dyn Engine> = Arc::new(Sqlite::open(&file).unwrap());
    let mut engines = vec![sqlite];
    let place = Place::postgres();
    if let Some(place) = &place {
        let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
        client.batch_execute(rows).unwrap();
        engines.push(Arc::new(Postgres::open(&place.url).unwrap()));
    }
    let even: Vec<f64> = (0..2_000).map(f64::from).collect();
    let uneven: Vec<f64> = (0..2_000).map(|place| f64::from(place).powi(2)).collect();
    let of = |place: usize| {
        let candidates = Some(if place.is_multiple_of(2) { even.clone() } else { uneven.clone() });
        AggregateKind::Quantiles {
            column: "x".to_owned(),
            shares: vec![0.25, 0.5, 0.75],
            candidates,
        }
    };
    let keys: Vec<String> = (0..490).map(|key| format!("\"{key}\"")).collect();
    let public = public(&format!("[\"a\", {}]", keys.join(", ")), "[0, 10]");
    for engine in engines {
        let held = OpenTable::new(public.clone(), "t", engine, [7; 32]).unwrap();
        let question = Question {
            table: "t".to_owned(),
            filter: None,
            group: vec!["k".to_owned()],
            aggregates: (0..20).map(|place| Aggregate { name: None, of: of(place) }).collect(),
            rows: None,
            groups: None,
            rows_in_group: None,
        };
        let ready = PreparedQuestion::new(&held, &question, Spend::Epsilon(1.0), None).unwrap();
        // What is written does not grow with the candidates: planning took as long as there were comparisons.
        let questions = [ready.tabulation()];
        let compiled = held.compile(&questions).unwrap().unwrap();
        let statement = compiled.statement();
        assert!(statement.values.len() < 2_000 && statement.sql.len() < 200_000);
        held.count(&questions, later()).unwrap();
    }
}

/// What would take an engine too long to plan is refused before anything is charged, by its size alone.
#[test]
fn longer_questions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch("CREATE TABLE t (nr, x, k)").unwrap();
    let keys: Vec<String> = (0..10_000).map(|key| key.to_string()).collect();
    let public = public(&format!("[{}]", keys.join(", ")), "[0, 10]");
    let engine: Arc<dyn Engine> = Arc::new(Sqlite::open(&file).unwrap());
    let held = OpenTable::new(public, "t", engine, [7; 32]).unwrap();
    let filter = |conditions: usize, keys: i64| {
        let one =
            Condition::In { column: "k".to_owned(), keys: (0..keys).map(Key::Whole).collect() };
        Condition::Any(vec![one; conditions])
    };
    let asked = |filter: Option<Condition>, group: bool| Question {
        table: "t".to_owned(),
        filter,
        group: group.then(|| "k".to_owned()).into_iter().collect(),
        aggregates: vec![Aggregate { name: None, of: AggregateKind::Count }],
        rows: None,
        groups: None,
        rows_in_group: None,
    };
    let ready =
        |question: &Question| PreparedQuestion::new(&held, question, Spend::Epsilon(1.0), None);
    for legal in [
        asked(None, true),
        asked(Some(filter(1, 9_999)), true),
        asked(Some(filter(190, 50)), false),
    ] {
        let ready = ready(&legal).unwrap();
        held.count(&[ready.tabulation()], later()).unwrap();
    }
    for illegal in [asked(Some(filter(190, 9_999)), false), asked(Some(filter(2, 9_999)), true)] {
        let said = ready(&illegal).unwrap_err().to_string();
        assert!(said.contains("at most"), "{said}");
    }
    let values = ClampedColumn::of("x");
    let of = [
        AggregateKind::Sum(values.clone()),
        AggregateKind::Mean(values.clone()),
        AggregateKind::Variance(values),
    ];
    let list = of.into_iter().cycle().take(20);
    let many = Question {
        aggregates: list.map(|of| Aggregate { name: None, of }).collect(),
        ..asked(None, false)
    };
    held.count(&[ready(&many).unwrap().tabulation()], later()).unwrap();
}

/// What an owner should know of a source is told where it can be seen.
#[test]
fn views_and_collations_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("ledger.db").display()).parse().unwrap();
    let one = counterpoint::Relation::single_record(counterpoint::Adjacency::AddRemove);
    counterpoint_ledger::Ledger::init(&url)
        .unwrap()
        .add_dataset("t", one, &crate::sums("1"))
        .unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("data.db")).unwrap();
    connection.create_collation("odd", |one, other| one.cmp(other)).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE plain (nr, x); CREATE TABLE loose (nr COLLATE NOCASE, x); CREATE TABLE strange (nr COLLATE odd, x); \
             CREATE VIEW seen AS SELECT nr, json(x) AS x FROM plain; \
             WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 2000) INSERT INTO plain SELECT n, n FROM n; \
             CREATE TABLE broken (nr COLLATE odd, x, PRIMARY KEY (nr)) WITHOUT ROWID",
        )
        .unwrap();
    drop(connection);
    let mut sources =
        vec![("sqlite:data.db".to_owned(), ["plain", "loose", "strange", "seen", "broken"])];
    let place = Place::postgres();
    if let Some(place) = &place {
        let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
        client
            .batch_execute(
                "CREATE COLLATION odd (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
                 CREATE TABLE plain (nr bigint, x integer); CREATE TABLE loose (nr text COLLATE odd, x integer); \
                 CREATE VIEW seen AS SELECT nr, 1 / x AS x FROM plain; \
                 INSERT INTO plain SELECT n, n FROM generate_series(1, 2000) AS n; ANALYZE plain",
            )
            .unwrap();
        sources.push((place.url.clone(), ["plain", "loose", "loose", "seen", ""]));
    }
    for (source, tables) in sources {
        let text = |(place, from): (usize, &&str)| {
            format!(
                "[[table]]\nname = \"t{place}\"\ndataset = \"t\"\nsource = \"{source}\"\nfrom = \"{from}\"\n\
                 person = \"nr\"\nadjacency = \"add-remove\"\n[[table.column]]\nname = \"x\"\nbounds = [0, 10]\n"
            )
        };
        let tables = tables.iter().filter(|table| !table.is_empty()).enumerate().map(text);
        let tables: String = tables.collect();
        let config = format!(
            "ledger = \"sqlite:ledger.db\"\nstate = \"sqlite:state.db\"\n[timing]\nlimit = 600\n{tables}"
        );
        let config = counterpoint_curator::Config::parse(&config, folder.path()).unwrap();
        let found = examine(&config);
        let [plain, loose, strange, seen, rest @ ..] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!((plain.problems.as_slice(), plain.rows), (&[][..], Some(2_000)), "{plain:?}");
        assert!(
            !plain.warnings.iter().any(|said| said.contains("view") || said.contains("collation"))
        );
        assert!(loose.problems.is_empty(), "{loose:?}");
        for collated in [loose, strange] {
            assert!(
                collated.warnings.iter().any(|said| said.contains("collation")),
                "{collated:?}"
            );
        }
        assert!(seen.warnings.iter().any(|said| said.contains("view")), "{seen:?}");
        // Reading the table itself needs the collation.
        assert!(rest.iter().all(|broken| !broken.problems.is_empty()), "{rest:?}");
    }
}

/// A limit that the rows which are there exceed is refused, whatever is public about people.
#[test]
fn a_limit_is_held_against_the_rows_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("ledger.db").display()).parse().unwrap();
    let one = counterpoint::Relation::single_record(counterpoint::Adjacency::AddRemove);
    counterpoint_ledger::Ledger::init(&url)
        .unwrap()
        .add_dataset("t", one, &crate::sums("1"))
        .unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("data.db")).unwrap();
    // As large as if there were rows up to the last number.
    let sql = "CREATE TABLE t (nr, x); INSERT INTO t (rowid, nr, x) VALUES (4000000000000, 1, 1)";
    connection.execute_batch(sql).unwrap();
    let examined = |more: &str| {
        let config = format!(
            "ledger = \"sqlite:ledger.db\"\nstate = \"sqlite:state.db\"\n[timing]\nlimit = 600\n\
             [[table]]\nname = \"t\"\nsource = \"sqlite:data.db\"\nperson = \"nr\"\npeople = 1000\n\
             adjacency = \"add-remove\"\n{more}\n[[table.column]]\nname = \"x\"\nbounds = [0, 10]\n"
        );
        let config = counterpoint_curator::Config::parse(&config, folder.path()).unwrap();
        examine(&config).remove(0)
    };
    let found = examined("");
    assert!(found.problems.iter().any(|said| said.contains("timing.limit")), "{found:?}");
    assert!(found.times.iter().any(|pace| pace.question.starts_with("20 medians")), "{found:?}");
    let found = examined("size = 1000");
    assert!(found.problems.is_empty(), "{found:?}");
}
