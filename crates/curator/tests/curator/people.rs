//! Who is one person: what is written the same, byte for byte, whatever a column's type and collation are.

use crate::Place;
use crate::engines::{counted, counted_together};
use counterpoint_curator::engine::{Engine, Postgres, Sqlite};
use counterpoint_curator::public::{Table, TableText};
use counterpoint_curator::question::{
    Aggregate, AggregateKind, ClampedColumn, Condition, Question,
};
use counterpoint_curator::{OpenTable, PersonRows, PreparedQuestion, RawGroup, Spend};
use rusqlite::types::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn public(rows: u64) -> Table {
    let text = format!(
        "name = \"visits\"\nperson = \"nr\"\nrows = {rows}\nadjacency = \"add-remove\"\n\
         [[column]]\nname = \"pay\"\nbounds = [-1, 1]\n\
         [[column]]\nname = \"region\"\ncategories = [\"north\", \"NORTH\"]\n"
    );
    Table::new(toml::from_str::<TableText>(&text).unwrap()).unwrap()
}

/// A person, a number and a region.
type Row = (Value, f64, &'static str);

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// A file whose person and region columns are declared like this.
fn write_sqlite(file: &Path, column: &str, rows: &[Row]) {
    let connection = rusqlite::Connection::open(file).unwrap();
    // A collation that the service does not know.
    connection.create_collation("odd", |one, other| one.len().cmp(&other.len())).unwrap();
    let sql = format!(
        "DROP TABLE IF EXISTS visits; CREATE TABLE visits (nr {column}, pay, region {column})"
    );
    connection.execute_batch(&sql).unwrap();
    for (person, pay, region) in rows {
        let sql = "INSERT INTO visits VALUES (?1, ?2, ?3)";
        connection.execute(sql, rusqlite::params![person, pay, region]).unwrap();
    }
}

fn write_postgres(url: &str, column: &str, rows: &[Row]) {
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    let sql = format!(
        "DROP TABLE IF EXISTS visits; CREATE TABLE visits (nr {column}, pay double precision, region {column})"
    );
    client.batch_execute(&sql).unwrap();
    for (person, pay, region) in rows {
        let Value::Text(person) = person else { panic!("{person:?}") };
        let sql = "INSERT INTO visits VALUES ($1, $2, $3)";
        client.execute(sql, &[person, pay, region]).unwrap();
    }
}

/// What is added up of each aggregate, with and without a filter for one region.
fn asked(held: &OpenTable, region: Option<&str>) -> Vec<i128> {
    let pay = AggregateKind::Sum(ClampedColumn::of("pay"));
    let aggregates =
        [AggregateKind::Count, AggregateKind::People, pay].map(|of| Aggregate { name: None, of });
    let filter = region.map(|region| {
        let keys = vec![counterpoint_curator::public::Key::Text(region.to_owned())];
        Condition::In { column: "region".to_owned(), keys }
    });
    let question = Question {
        table: "visits".to_owned(),
        filter,
        group: Vec::new(),
        aggregates: aggregates.to_vec(),
        rows: None,
        groups: None,
        rows_in_group: None,
    };
    let ready = PreparedQuestion::new(held, &question, Spend::Epsilon(1.0), None).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let counted = held.count(&[ready.tabulation()], deadline).unwrap().remove(0);
    let one = ready.measurements()[2].summands()[0].ends().1;
    // In whole numbers of the bound.
    let numbers = &counted[0].numbers;
    vec![numbers[0][0], numbers[1][0], numbers[2][0] / i128::from(one)]
}

/// Columns of SQLite that compare texts in ways of their own.
const COLUMNS: [&str; 6] =
    ["", "TEXT", "COLLATE NOCASE", "TEXT COLLATE NOCASE", "COLLATE RTRIM", "COLLATE odd"];

/// Four spellings, which are four people, with extreme values.
const SPELLINGS: [(&str, f64); 4] = [("Ann", -1.0), ("ANN", 1.0), ("ann", 1.0), ("ann ", -1.0)];

/// Each spelling in turn comes to the others: the number of people moves by one, and sums by no more than the rows that are
/// kept. `hold` writes rows and holds the table.
fn attack(kept: u64, hold: &dyn Fn(&[Row], u64) -> OpenTable, about: &str) {
    let rows = |spelling: &&(&'static str, f64)| -> Vec<Row> {
        (0..3).map(|_| (text(spelling.0), spelling.1, "north")).collect()
    };
    let all: Vec<Row> = SPELLINGS.iter().flat_map(|one| rows(&one)).collect();
    let with = asked(&hold(&all, kept), None);
    let kept = kept.min(3) as i128;
    assert_eq!(with, [4 * kept, 4, 0], "{about}");
    for left in &SPELLINGS {
        let others = SPELLINGS.iter().filter(|other| other.0 != left.0);
        let others: Vec<Row> = others.flat_map(|one| rows(&one)).collect();
        let without = asked(&hold(&others, kept as u64), None);
        let moved: Vec<i128> = with.iter().zip(&without).map(|(one, other)| one - other).collect();
        assert_eq!(moved, [kept, 1, kept * left.1 as i128], "{about}: {left:?}");
    }
}

#[test]
fn spellings_are_people_whatever_the_collation() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    for column in COLUMNS {
        let hold = |rows: &[Row], kept: u64| {
            write_sqlite(&file, column, rows);
            let engine: Arc<dyn Engine> = Arc::new(Sqlite::open(&file).unwrap());
            OpenTable::new(public(kept), "visits", engine, [7; 32]).unwrap()
        };
        for kept in [1, 2, 3] {
            attack(kept, &hold, &format!("{column:?}, {kept} rows"));
        }
    }
    let Some(place) = Place::postgres() else { return };
    let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
    let loose = "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)";
    client.batch_execute(loose).unwrap();
    for column in ["text", "text COLLATE loose", "varchar COLLATE loose", "text COLLATE \"C\""] {
        let hold = |rows: &[Row], kept: u64| {
            write_postgres(&place.url, column, rows);
            let engine: Arc<dyn Engine> = Arc::new(Postgres::open(&place.url).unwrap());
            OpenTable::new(public(kept), "visits", engine, [7; 32]).unwrap()
        };
        for kept in [1, 2, 3] {
            attack(kept, &hold, &format!("{column:?}, {kept} rows"));
        }
    }
}

/// Types whose values are equal though they are written differently are refused.
#[test]
fn texts_without_case_are_refused() {
    let Some(place) = Place::postgres() else { return };
    let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
    let there = "SELECT COUNT(*) FROM pg_available_extensions WHERE name = 'citext'";
    if client.query_one(there, &[]).unwrap().get::<_, i64>(0) == 0 {
        return;
    }
    client.batch_execute("CREATE EXTENSION citext").unwrap();
    client.batch_execute("CREATE TABLE visits (nr citext, pay integer, region text)").unwrap();
    let engine: Arc<dyn Engine> = Arc::new(Postgres::open(&place.url).unwrap());
    let why = OpenTable::new(public(1), "visits", engine, [7; 32]).unwrap_err().why;
    client.batch_execute("DROP EXTENSION citext CASCADE").unwrap();
    assert!(why.contains("\"nr\"") && why.contains("citext"), "{why}");
}

/// 1, 1.0, '1' and x'31' are one person; what is written otherwise is another.
#[test]
fn a_person_is_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let blob = |bytes: &[u8]| Value::Blob(bytes.to_vec());
    let same = [Value::Integer(1), Value::Real(1.0), text("1"), blob(b"1")];
    let others = [
        text("1.0"),
        text("01"),
        text(" 1"),
        text("1\0"),
        Value::Real(1.5),
        Value::Real(1.0 + f64::EPSILON),
        Value::Real(f64::INFINITY),
        Value::Integer(i64::MAX),
        blob(&[0xff, 0xfe]),
        blob(b""),
        Value::Integer(-1),
    ];
    let minus = [Value::Integer(i64::MIN), Value::Real(-(2.0_f64.powi(63)))];
    for column in ["", "COLLATE NOCASE", "COLLATE odd"] {
        let row = |person: &Value| (person.clone(), 1.0, "north");
        let rows: Vec<Row> = same.iter().chain(&others).chain(&minus).map(row).collect();
        write_sqlite(&file, column, &rows);
        let engine: Arc<dyn Engine> = Arc::new(Sqlite::open(&file).unwrap());
        let held = OpenTable::new(public(1), "visits", engine, [7; 32]).unwrap();
        let people = 2 + others.len() as i128;
        assert_eq!(asked(&held, None), [people, people, people], "{column}");
    }
}

#[test]
fn categories_are_compared_by_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    for column in COLUMNS {
        let rows =
            [("a", "north"), ("b", "NORTH"), ("c", "north "), ("d", "North"), ("e", "north")];
        let rows = rows.map(|(person, region)| (text(person), 1.0, region));
        write_sqlite(&file, column, &rows);
        let engine: Arc<dyn Engine> = Arc::new(Sqlite::open(&file).unwrap());
        let held = OpenTable::new(public(1), "visits", engine, [7; 32]).unwrap();
        assert_eq!(asked(&held, Some("north")), [2, 2, 2], "{column}");
        assert_eq!(asked(&held, Some("NORTH")), [1, 1, 1], "{column}");
    }
}

/// Where an index sees to it that nobody has two rows, nothing is chosen; once it is gone, statements fail rather than use more.
#[test]
fn unique_people_need_no_choice() {
    let Some(place) = Place::postgres() else { return };
    let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
    let create = "CREATE TABLE visits (nr text UNIQUE, pay double precision, region text); \
                  INSERT INTO visits SELECT n, 1, 'north' FROM generate_series(1, 50) AS n; \
                  INSERT INTO visits VALUES (NULL, 1, 'north'), (NULL, 1, 'north')";
    client.batch_execute(create).unwrap();
    let hold = || {
        let engine: Arc<dyn Engine> = Arc::new(Postgres::open(&place.url).unwrap());
        OpenTable::new(public(1), "visits", engine, [7; 32]).unwrap()
    };
    let held = hold();
    assert_eq!(held.person_rows(), PersonRows::One);
    assert_eq!(asked(&held, None), [50, 50, 50]);
    let twice = "INSERT INTO visits VALUES ('1', 1, 'north')";
    // Another column that is called the same but for its case is another.
    client.batch_execute("ALTER TABLE visits ADD COLUMN \"NR\" text UNIQUE").unwrap();
    // Neither an index that is not about all rows, or not about the column itself, nor one of a table that others inherit from.
    let others = [
        "CREATE UNIQUE INDEX ON visits (nr) WHERE pay > 5",
        "CREATE UNIQUE INDEX ON visits ((nr || ctid::text))",
        "CREATE UNIQUE INDEX ON visits (nr, pay)",
        "CREATE INDEX ON visits (nr)",
    ];
    client.batch_execute("ALTER TABLE visits DROP CONSTRAINT visits_nr_key").unwrap();
    for other in others {
        // Some are refused by the server.
        let _ = client.batch_execute(other);
        assert_eq!(hold().person_rows(), PersonRows::Any, "{other}");
    }
    let question = "SELECT COUNT(*) FROM visits";
    let question =
        counterpoint_curator::question::sql::read(question, |_| Some(&held.public)).unwrap();
    let ready = PreparedQuestion::new(&held, &question, Spend::Epsilon(1.0), None).unwrap();
    let deadline = || Instant::now() + Duration::from_secs(60);
    held.count(&[ready.tabulation()], deadline()).unwrap_err();
    client.batch_execute("DROP INDEX visits_nr_pay_idx").unwrap();
    client.batch_execute(twice).unwrap();
    assert_eq!(asked(&hold(), None), [50, 50, 50]);
    client.batch_execute("DELETE FROM visits; CREATE UNIQUE INDEX ON visits (nr)").unwrap();
    let held = hold();
    assert_eq!(held.person_rows(), PersonRows::One);
    client.batch_execute("CREATE TABLE more () INHERITS (visits)").unwrap();
    held.count(&[ready.tabulation()], deadline()).unwrap_err();
    assert_eq!(hold().person_rows(), PersonRows::Any);
}

/// Of numbered rows too people count in so many groups alone, and questions that are run together use the rows that each uses alone.
#[test]
fn numbered_rows_are_the_same_in_lists_and_in_groups() {
    let Some(place) = Place::postgres() else { return };
    let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
    let create = "CREATE TABLE visits (nr text, visit integer, pay double precision, region text, UNIQUE (nr, visit)); \
                  INSERT INTO visits SELECT p, v, 1, CASE v % 2 WHEN 0 THEN 'north' ELSE 'NORTH' END \
                  FROM generate_series(1, 30) AS p, generate_series(1, 6) AS v";
    client.batch_execute(create).unwrap();
    let engine: Arc<dyn Engine> = Arc::new(Postgres::open(&place.url).unwrap());
    let row_number = Some("visit".to_owned());
    let text = TableText { row_number, groups: Some(1), ..public(3).text().clone() };
    let held = OpenTable::new(Table::new(text).unwrap(), "visits", engine, [7; 32]).unwrap();
    assert_eq!(held.person_rows(), PersonRows::Numbered);
    let questions = [
        "SELECT COUNT(*) FROM visits",
        "SELECT region, COUNT(*) FROM visits GROUP BY region",
        "SELECT COUNT(*) FROM visits WHERE region = 'north'",
        "SELECT region, SUM(pay) FROM visits GROUP BY region",
    ];
    let questions = questions.map(|text| {
        counterpoint_curator::question::sql::read(text, |_| Some(&held.public)).unwrap()
    });
    let spend = Spend::Epsilon(1.0);
    let alone = questions.each_ref().map(|question| {
        counted(&held, &PreparedQuestion::new(&held, question, spend, None).unwrap())
    });
    let rows = |groups: &[RawGroup]| groups.iter().map(|group| group.rows).sum::<u64>();
    // The first three are used: two in one region and one in the other, of which one region counts.
    assert_eq!(rows(&alone[0]), 90);
    assert!((30..=60).contains(&rows(&alone[1])), "{:?}", alone[1]);
    assert_eq!(rows(&alone[2]), 30);
    let asked = questions.iter().map(|question| (question, spend));
    assert!(counted_together(&held, asked) == alone);
}

/// Where an index keeps a person's numbered rows apart, those with the first numbers are used: no more, whatever numbers there
/// are. Without the index there is no such table, and statements fail once it is gone.
#[test]
fn numbered_rows_need_no_choice() {
    let Some(place) = Place::postgres() else { return };
    let mut client = postgres::Client::connect(&place.url, postgres::NoTls).unwrap();
    // Numbers from -1 to 5; one person has none, and nobody has some.
    let create = "CREATE TABLE visits (nr text, visit integer, pay double precision, region text); \
                  INSERT INTO visits SELECT p, v, 1, CASE v % 2 WHEN 0 THEN 'north' ELSE 'south' END \
                  FROM generate_series(1, 20) AS p, generate_series(-1, 5) AS v; \
                  INSERT INTO visits VALUES ('21', NULL, 1, 'north'), ('21', NULL, 1, 'north'), (NULL, 1, 1, 'north')";
    client.batch_execute(create).unwrap();
    let hold_by = |row_number: &str, rows| {
        let engine: Arc<dyn Engine> = Arc::new(Postgres::open(&place.url).unwrap());
        let row_number = Some(row_number.to_owned());
        let public = Table::new(TableText { row_number, ..public(rows).text().clone() }).unwrap();
        OpenTable::new(public, "visits", engine, [7; 32])
    };
    let hold = |rows| hold_by("Visit", rows);
    let others = [
        "CREATE INDEX ON visits (nr, visit)",
        "CREATE UNIQUE INDEX ON visits (nr, visit) WHERE pay > 5",
        "CREATE UNIQUE INDEX ON visits (nr, visit, region)",
        "CREATE UNIQUE INDEX ON visits (nr, (visit % 7))",
        "CREATE UNIQUE INDEX ON visits (nr, visit) NULLS NOT DISTINCT WHERE visit > 0",
    ];
    for other in others {
        // Some are refused by the server.
        let _ = client.batch_execute(other);
        let error = hold(2).unwrap_err().why;
        assert!(error.contains("no unique index on \"nr\" and \"visit\""), "{other}: {error}");
    }
    client.batch_execute("CREATE UNIQUE INDEX kept ON visits (visit, nr) INCLUDE (pay)").unwrap();
    for rows in [1, 2, 3] {
        let held = hold(rows).unwrap();
        assert_eq!(held.person_rows(), PersonRows::Numbered);
        let all = 20 * i128::from(rows);
        assert_eq!(asked(&held, None), [all, 20, all]);
        // Chosen before they are filtered: of 1, 2 and 3 the second.
        let north = 20 * i128::from(rows / 2);
        assert_eq!(asked(&held, Some("north")), [north, north, north]);
    }
    // Of texts several would be one number; of a column with itself there is no pair.
    let labels = "ALTER TABLE visits ADD COLUMN label text; UPDATE visits SET label = ctid; \
                  CREATE UNIQUE INDEX ON visits (nr, label)";
    client.batch_execute(labels).unwrap();
    let error = hold_by("label", 2).unwrap_err().why;
    assert!(error.contains("is of type text, which is not a whole number"), "{error}");
    assert!(hold_by("nr", 2).unwrap_err().why.contains("no unique index"));
    // A number twice is what the index keeps out.
    client.batch_execute("INSERT INTO visits VALUES ('1', 1, 1, 'south')").unwrap_err();
    let held = hold(2).unwrap();
    let question = "SELECT COUNT(*) FROM visits";
    let question =
        counterpoint_curator::question::sql::read(question, |_| Some(&held.public)).unwrap();
    let ready = PreparedQuestion::new(&held, &question, Spend::Epsilon(1.0), None).unwrap();
    client.batch_execute("DROP INDEX kept").unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    held.count(&[ready.tabulation()], deadline).unwrap_err();
    let nobody = TableText { person: None, rows: 1, ..held.public.text().clone() };
    let error = Table::new(nobody).unwrap_err().to_string();
    assert!(error.contains("row_number is \"Visit\" and no person column is named"), "{error}");
}
