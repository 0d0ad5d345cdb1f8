//! The same questions on different engines: the same numbers, on tables full of extremes.

#[cfg(feature = "spark")]
mod spark;

use crate::Place;
use crate::tables::{Attack, Row, condition, held, public, question, write};
use counterpoint_curator::engine::{Engine, Postgres};
use counterpoint_curator::public::Table;
use counterpoint_curator::question::{Aggregate, AggregateKind, ClampedColumn, Question};
use counterpoint_curator::{Config, OpenTable, PreparedQuestion, RawGroup, Spend, examine};
use counterpoint_ledger::Ledger;
use counterpoint_testing::{Random, tries};
use rusqlite::types::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where else than in a file of SQLite a table can be.
enum Other {
    Postgres(Place),
    #[cfg(feature = "spark")]
    Spark(spark::Cluster),
}

impl Other {
    /// Those that are there. A full run has PostgreSQL, and Spark in a run of its own.
    fn all() -> Vec<Self> {
        let list = Place::postgres().map(Self::Postgres).into_iter();
        #[cfg(feature = "spark")]
        let list = list.chain(spark::Cluster::new().map(Self::Spark));
        list.collect()
    }

    fn write(&self, types: &Types, rows: &[Row]) {
        match self {
            Self::Postgres(place) => write_postgres(&place.url, types, rows),
            #[cfg(feature = "spark")]
            Self::Spark(cluster) => cluster.write(types, rows),
        }
    }

    fn url(&self) -> String {
        match self {
            Self::Postgres(place) => place.url.clone(),
            #[cfg(feature = "spark")]
            Self::Spark(cluster) => cluster.url.clone(),
        }
    }

    fn engine(&self) -> Arc<dyn Engine> {
        match self {
            Self::Postgres(place) => Arc::new(Postgres::open(&place.url).unwrap()),
            #[cfg(feature = "spark")]
            Self::Spark(cluster) => cluster.engine(),
        }
    }

    /// What the table is called there.
    fn table(&self) -> String {
        match self {
            Self::Postgres(_) => "visits".to_owned(),
            #[cfg(feature = "spark")]
            Self::Spark(cluster) => cluster.table(),
        }
    }

    fn held(&self, public: Table) -> OpenTable {
        OpenTable::new(public, &self.table(), self.engine(), [7; 32]).unwrap()
    }

    /// A table that takes minutes to read.
    fn slow(&self) -> String {
        match self {
            Self::Postgres(place) => {
                let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
                let slow = "CREATE VIEW slow AS SELECT nr, \"AGE\" AS age, pay, region, \"Year\" AS year \
                            FROM visits, pg_sleep(60) UNION ALL SELECT 1, 2, 3, 'north', 1980 FROM pg_sleep(60)";
                client.batch_execute(slow).unwrap();
                "slow".to_owned()
            }
            #[cfg(feature = "spark")]
            Self::Spark(cluster) => cluster.slow(),
        }
    }

    /// Whether the slow table is still being read.
    fn is_busy(&self) -> bool {
        match self {
            Self::Postgres(place) => {
                let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
                let running = "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%\"slow\"%' \
                               AND pid <> pg_backend_pid()";
                client.query_one(running, &[]).unwrap().get::<_, i64>(0) > 0
            }
            #[cfg(feature = "spark")]
            Self::Spark(cluster) => cluster.is_busy(),
        }
    }
}

/// The type of each column on the server, which decides what may be in it.
pub(crate) type Types = [&'static str; 5];

pub(crate) fn types(random: &mut Random) -> Types {
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

pub(crate) fn row(types: &Types, random: &mut Random) -> Row {
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

pub(crate) fn counted(held: &OpenTable, ready: &PreparedQuestion) -> Vec<RawGroup> {
    let deadline = Instant::now() + Duration::from_secs(120);
    held.count(&[ready.tabulation()], deadline).unwrap().remove(0)
}

/// In one pass through the table.
pub(crate) fn counted_together<'a>(
    held: &OpenTable,
    questions: impl Iterator<Item = (&'a Question, Spend)>,
) -> Vec<Vec<RawGroup>> {
    let ready = questions
        .map(|(question, spend)| PreparedQuestion::new(held, question, spend, None).unwrap());
    let ready: Vec<PreparedQuestion> = ready.collect();
    let list: Vec<_> = ready.iter().map(PreparedQuestion::tabulation).collect();
    // One statement is not too long.
    held.compile(&list).unwrap();
    held.count(&list, Instant::now() + Duration::from_secs(300)).unwrap()
}

/// A thousand questions in a full run, each alone and some together. Nobody has more rows than are used: which ones are is
/// each engine's own choice.
#[test]
fn engines_add_up_what_sqlite_does() {
    let others = Other::all();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let mut random = Random::new(1_789);
    for round in 0..tries(100, 0.06) {
        let types = types(&mut random);
        let rows: Vec<Row> = (0..80).map(|_| row(&types, &mut random)).collect();
        write(&file, &rows);
        let person = random.below(4) > 0;
        let kept = if person { 80 } else { 1 };
        let public = public(person, kept, kept, "add-remove");
        let here = held(public.clone(), &file);
        let there = others.iter().map(|other| {
            other.write(&types, &rows);
            other.held(public.clone())
        });
        let there: Vec<OpenTable> = there.collect();
        let mut all = Vec::new();
        for number in 0..10 {
            let mut question = question(&mut random);
            if number == 0 {
                question.filter = Some(condition(&mut random, 4));
            }
            let spend = [Spend::Epsilon(1.0), Spend::Rho(0.5)][random.below(2) as usize];
            let counted =
                |held| counted(held, &PreparedQuestion::new(held, &question, spend, None).unwrap());
            let one = counted(&here);
            for other in &there {
                assert!(one == counted(other), "{round}, {number}: {types:?} {question:?}");
            }
            all.push((question, spend, one));
        }
        let from = random.below(8) as usize;
        let some = &all[from..from + 2 + random.below(9 - from as u64) as usize];
        for held in [&here].into_iter().chain(&there) {
            let asked = some.iter().map(|(question, spend, _)| (question, *spend));
            let ones = some.iter().map(|(_, _, one)| one.clone());
            assert!(
                counted_together(held, asked) == ones.collect::<Vec<_>>(),
                "{round}: {types:?} {some:?}"
            );
        }
    }
}

/// On every engine nobody moves more than is kept of them, one by one and together, whatever the order of rows.
#[test]
fn one_person_moves_no_more_on_any_engine() {
    let mut random = Random::new(2_161);
    for other in Other::all() {
        let mut most = 0.0_f64;
        for _ in 0..tries(200, 0.05) {
            let types = types(&mut random);
            let adjacency = ["add-remove", "replace"][random.below(2) as usize];
            let (kept, groups) = (random.between(1, 4), random.between(1, 4));
            let public = public(true, kept, groups, adjacency);
            let own = |random: &mut Random| -> Vec<Row> {
                let person = if types[0] == "text" {
                    Value::Text("ANN".to_owned())
                } else {
                    Value::Integer(99)
                };
                let one = |_| {
                    let mut own = row(&types, random);
                    own[0] = person.clone();
                    own
                };
                (0..12).map(one).collect()
            };
            let others: Vec<Row> = (0..40).map(|_| row(&types, &mut random)).collect();
            let (own, another) = (own(&mut random), own(&mut random));
            let mut question = question(&mut random);
            question.rows_in_group = Some(random.between(1, kept));
            other.write(&types, &[]);
            let held = other.held(public);
            let attack = Attack { others, own, another };
            let write = |rows: &[Row]| other.write(&types, rows);
            most = most.max(attack.moves(&held, &question, &mut random, write));
            let spend = Spend::Epsilon(1.0);
            let questions = [question, crate::tables::question(&mut random)];
            let alone = questions.each_ref().map(|question| {
                counted(&held, &PreparedQuestion::new(&held, question, spend, None).unwrap())
            });
            let asked = questions.iter().map(|question| (question, spend));
            assert!(counted_together(&held, asked) == alone, "{questions:?}");
        }
        assert!(most > 0.99, "nobody moved as much as they may: {most}");
    }
}

/// Some servers fail where a product is rounded to 0: none is made, and a row whose value is tiny does not show.
#[test]
fn products_that_vanish_fail_nowhere() {
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
    let public = public(true, 1, 1, "add-remove");
    let here = held(public.clone(), &file);
    for other in Other::all() {
        other.write(&types, &rows);
        let there = other.held(public.clone());
        for wide in [1.0, 1e-100, 1e25, 1e200] {
            let values = ClampedColumn { column: "pay".to_owned(), bounds: Some((-wide, wide)) };
            for of in [
                AggregateKind::Sum(values.clone()),
                AggregateKind::Mean(values.clone()),
                AggregateKind::Variance(values),
            ] {
                let mut question = question(&mut Random::new(1));
                (question.filter, question.group) = (None, Vec::new());
                question.aggregates = vec![Aggregate { name: None, of }];
                let [one, other] = [&here, &there].map(|held| {
                    let ready = PreparedQuestion::new(held, &question, Spend::Epsilon(1.0), None);
                    ready.map(|ready| counted(held, &ready)).ok()
                });
                assert!(one == other, "{wide} {question:?}");
                assert!(one.is_some() || !(1e-99..1e99).contains(&wide), "{wide} {question:?}");
            }
        }
    }
}

/// Whatever else a column is, it is refused before anything is asked; so is a table that is not there.
#[test]
fn columns_of_other_types_are_refused() {
    let fits: Types = ["bigint", "integer", "numeric", "text", "integer"];
    let bad = [(0, "double precision"), (1, "text"), (2, "boolean"), (3, "integer"), (4, "text")];
    let public = public(true, 1, 1, "add-remove");
    for other in Other::all() {
        let held = |types: &Types| {
            other.write(types, &[]);
            OpenTable::new(public.clone(), &other.table(), other.engine(), [7; 32]).map(drop)
        };
        held(&fits).unwrap();
        for (column, kind) in bad {
            let mut types = fits;
            types[column] = kind;
            let why = held(&types).unwrap_err().why;
            assert!(why.contains("is of type") && why.contains("which is not"), "{why}");
        }
        let elsewhere = OpenTable::new(public.clone(), "elsewhere", other.engine(), [7; 32]);
        let why = elsewhere.unwrap_err().why;
        assert!(why.contains("elsewhere"), "{why}");
    }
}

/// As services do: their threads are within a runtime, and so may be whoever drops them.
#[test]
fn an_engine_may_be_asked_and_dropped_within_a_runtime() {
    for other in Other::all() {
        other.write(&["bigint", "integer", "numeric", "text", "integer"], &[]);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            assert_eq!(other.engine().columns(&other.table()).unwrap().len(), 5);
        });
    }
}

/// What takes too long is cut off on the server; the next question is answered.
#[test]
fn late_statements_are_cut_off() {
    let question = question(&mut Random::new(1));
    let public = public(true, 1, 1, "add-remove");
    for other in Other::all() {
        other.write(&["bigint", "integer", "numeric", "text", "integer"], &[]);
        let (slow, engine) = (other.slow(), other.engine());
        let slow = OpenTable::new(public.clone(), &slow, Arc::clone(&engine), [7; 32]).unwrap();
        let ready = PreparedQuestion::new(&slow, &question, Spend::Epsilon(1.0), None).unwrap();
        let start = Instant::now();
        let deadline = start + Duration::from_millis(300);
        slow.count(&[ready.tabulation()], deadline).unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(30));
        assert!(!other.is_busy());
        let quick = OpenTable::new(public.clone(), &other.table(), engine, [7; 32]).unwrap();
        let ready = PreparedQuestion::new(&quick, &question, Spend::Epsilon(1.0), None).unwrap();
        counted(&quick, &ready);
    }
}

/// An operator sees what is wrong with every source, and how long its engine takes for rows that it makes up.
#[test]
fn sources_are_examined() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("ledger.db").display()).parse().unwrap();
    let budget = crate::sums("1");
    let one = counterpoint::Relation::single_record(counterpoint::Adjacency::AddRemove);
    Ledger::init(&url).unwrap().add_dataset("visits", one, &budget).unwrap();
    write(&folder.path().join("data.db"), &[]);
    let file = ("sqlite:data.db".to_owned(), "visits".to_owned());
    let others = Other::all();
    let sources = others.iter().map(|other| {
        other.write(&["bigint", "integer", "numeric", "text", "integer"], &[]);
        (other.url(), other.table())
    });
    for (source, from) in std::iter::once(file).chain(sources) {
        let table = |name: &str, rest: &str| {
            format!(
                "[[table]]\nname = \"{name}\"\ndataset = \"visits\"\nsource = \"{source}\"\nfrom = \"{from}\"\n\
                 adjacency = \"add-remove\"\n{rest}\n"
            )
        };
        let column =
            |name: &str| format!("[[table.column]]\nname = \"{name}\"\nbounds = [0, 10]\n");
        let good = table("good", &format!("people = 100000\n{}{}", column("pay"), column("age")));
        let bad = table("bad", &(column("height") + &column("weight")));
        let busy = table("busy", &format!("people = 1000000000000\n{}", column("pay")));
        let config = format!(
            "ledger = \"sqlite:ledger.db\"\nstate = \"sqlite:state.db\"\n[timing]\nlimit = 600\n{good}{bad}{busy}"
        );
        let found = examine(&Config::parse(&config, folder.path()).unwrap());
        let [good, bad, busy] = found.as_slice() else { panic!("{found:?}") };
        assert!(good.problems.is_empty(), "{good:?}");
        assert_eq!((good.columns.len(), good.times.len(), good.rows), (2, 4, Some(100_000)));
        assert!(good.times.iter().all(|pace| pace.seconds(100_000) > 0.0), "{good:?}");
        let said = bad.problems.join("\n");
        assert!(said.contains("height") && said.contains("weight"), "{said}");
        assert!(busy.problems.join("\n").contains("timing.limit"), "{busy:?}");
    }
}
