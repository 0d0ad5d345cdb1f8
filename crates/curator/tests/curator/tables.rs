//! Questions about tables: what the engine adds up, against a reckoning of our own, on tables full of extremes.

use counterpoint::Adjacency;
use counterpoint_curator::engine::{Engine, Sqlite};
use counterpoint_curator::public::{Key, Table, TableText};
use counterpoint_curator::question::{
    Aggregate, AggregateKind, ClampedColumn, Condition, Question,
};
use counterpoint_curator::{OpenTable, PreparedQuestion, RawGroup, Spend};
use counterpoint_mechanisms::{Gaps, Summand, Term as Added};
use counterpoint_testing::{Random, tries};
use rusqlite::types::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A row as it is stored: a person, a number, another, a category and a year.
pub(crate) type Row = [Value; 5];

/// Something that a table may hold: every type, every extreme.
fn anything(random: &mut Random) -> Value {
    match random.below(14) {
        0 => Value::Null,
        1 => Value::Real(f64::INFINITY),
        2 => Value::Real(f64::NEG_INFINITY),
        3 => Value::Integer(i64::MAX),
        4 => Value::Integer(i64::MIN),
        5 => Value::Text("12".to_owned()),
        6 => Value::Text("x'; DROP TABLE visits; --".to_owned()),
        7 => Value::Blob(vec![0, 1, 2]),
        8 => Value::Real(1e308),
        9 => Value::Real(-0.0),
        10 => Value::Integer(random.below(20) as i64 - 5),
        _ => Value::Real(random.unit() * 14.0 - 2.0),
    }
}

fn row(random: &mut Random, people: u64) -> Row {
    let person = match random.below(40) {
        0 => Value::Null,
        _ => Value::Integer(random.below(people) as i64),
    };
    let texts = ["north", "south", "NORTH", "", "west", "north "];
    let region = match random.below(10) {
        0 => anything(random),
        _ => Value::Text(texts[random.below(6) as usize].to_owned()),
    };
    let year = match random.below(10) {
        0 => anything(random),
        1 => Value::Real(1981.0),
        _ => Value::Integer(1980 + random.below(4) as i64),
    };
    [person, anything(random), anything(random), region, year]
}

pub(crate) fn rows(random: &mut Random, count: u64, people: u64) -> Vec<Row> {
    (0..count).map(|_| row(random, people)).collect()
}

pub(crate) fn write(file: &Path, rows: &[Row]) {
    let mut connection = rusqlite::Connection::open(file).unwrap();
    // Columns of no type keep what they are given; NOCASE must not be heeded.
    let sql = "DROP TABLE IF EXISTS visits; CREATE TABLE visits (nr, age, pay, region COLLATE NOCASE, year)";
    connection.execute_batch(sql).unwrap();
    let transaction = connection.transaction().unwrap();
    for row in rows {
        let sql = "INSERT INTO visits VALUES (?1, ?2, ?3, ?4, ?5)";
        transaction.execute(sql, rusqlite::params_from_iter(row)).unwrap();
    }
    transaction.commit().unwrap();
}

/// What is public.
pub(crate) fn public(person: bool, rows: u64, groups: u64, adjacency: &str) -> Table {
    let person = if person { "person = \"nr\"\n" } else { "" };
    let text = format!(
        "name = \"visits\"\n{person}rows = {rows}\ngroups = {groups}\nadjacency = \"{adjacency}\"\n\
         [[column]]\nname = \"age\"\nbounds = [0, 10]\n\
         [[column]]\nname = \"pay\"\nbounds = [-3, 7.5]\ncomplete = true\n\
         [[column]]\nname = \"region\"\ncategories = [\"north\", \"south\", \"east\", \"\"]\n\
         [[column]]\nname = \"year\"\ncategories = [1980, 1981, 1982]\n"
    );
    Table::new(toml::from_str::<TableText>(&text).unwrap()).unwrap()
}

pub(crate) fn held(public: Table, file: &Path) -> OpenTable {
    let engine: Arc<dyn Engine> = Arc::new(Sqlite::open(file).unwrap());
    OpenTable::new(public, "visits", engine, [7; 32]).unwrap()
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(whole) => Some(*whole as f64),
        Value::Real(real) => Some(*real),
        _ => None,
    }
}

fn key_of(value: &Value, keys: &[Key]) -> Option<usize> {
    keys.iter().position(|key| match (key, value) {
        (Key::Text(key), Value::Text(text)) => key == text,
        (Key::Whole(key), other) => {
            number(other).is_some_and(|x| (x - *key as f64).abs() < 0.5 && x.fract().abs() < 1e-300)
        }
        _ => false,
    })
}

fn place(column: &str) -> usize {
    ["nr", "age", "pay", "region", "year"].iter().position(|name| *name == column).unwrap()
}

/// Whether a condition is true of a row, as SQL has it: `None` is unknown.
fn holds(condition: &Condition, row: &Row) -> Option<bool> {
    match condition {
        Condition::All(list) => list
            .iter()
            .try_fold(true, |all, one| match (all, holds(one, row)) {
                (_, Some(false)) => Some(false),
                (true, other) => other,
                (false, _) => Some(false),
            })
            .or_else(|| list.iter().any(|one| holds(one, row) == Some(false)).then_some(false)),
        Condition::Any(list) if list.iter().any(|one| holds(one, row) == Some(true)) => Some(true),
        Condition::Any(list) => {
            list.iter().all(|one| holds(one, row) == Some(false)).then_some(false)
        }
        Condition::Not(one) => holds(one, row).map(|held| !held),
        Condition::Between { column, from, to } => number(&row[place(column)])
            .map(|x| from.is_none_or(|from| x >= from) && to.is_none_or(|to| x <= to)),
        Condition::Above { column, than } => number(&row[place(column)]).map(|x| x > *than),
        Condition::Below { column, than } => number(&row[place(column)]).map(|x| x < *than),
        Condition::In { column, keys } => {
            let value = &row[place(column)];
            (!is_missing(column, value)).then(|| key_of(value, keys).is_some())
        }
        Condition::Missing { column } => Some(is_missing(column, &row[place(column)])),
    }
}

/// Whether a value cannot be read as what its column is declared to hold.
fn is_missing(column: &str, value: &Value) -> bool {
    match (column, value) {
        ("region", Value::Text(_)) => false,
        ("region", _) => true,
        // The least whole number of 64 bits is one, though no double next to it is below 9.2e18.
        ("year", Value::Integer(_)) => false,
        ("year", value) => !number(value).is_some_and(|x| x.fract() == 0.0 && x.abs() < 9.2e18),
        (_, value) => number(value).is_none(),
    }
}

pub(crate) fn condition(random: &mut Random, depth: u64) -> Condition {
    let column = |random: &mut Random| ["age", "pay"][random.below(2) as usize].to_owned();
    let than = |random: &mut Random| [0.0, 3.0, -3.0, 7.25, 1e300][random.below(5) as usize];
    let list =
        |random: &mut Random| (0..=random.below(2)).map(|_| condition(random, depth - 1)).collect();
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => Condition::Above { column: column(random), than: than(random) },
        1 => Condition::Below { column: column(random), than: than(random) },
        2 => {
            let from = (random.below(2) == 0).then(|| than(random));
            let to = if from.is_none() || random.below(2) == 0 { Some(than(random)) } else { None };
            Condition::Between { column: column(random), from, to }
        }
        3 if random.below(2) == 0 => {
            let keys = ["north", "south", ""].map(|text| Key::Text(text.to_owned()));
            Condition::In {
                column: "region".to_owned(),
                keys: keys[..random.below(4) as usize].to_vec(),
            }
        }
        3 => Condition::In { column: "year".to_owned(), keys: vec![Key::Whole(1981)] },
        4 => {
            let column = ["age", "pay", "region", "year"][random.below(4) as usize];
            Condition::Missing { column: column.to_owned() }
        }
        5 => Condition::All(list(random)),
        6 => Condition::Any(list(random)),
        _ => Condition::Not(Box::new(condition(random, depth - 1))),
    }
}

pub(crate) fn question(random: &mut Random) -> Question {
    let values = |random: &mut Random| {
        let column = ["age", "pay"][random.below(2) as usize];
        let bounds = (random.below(3) == 0).then_some((-1.5, 4.25));
        ClampedColumn { column: column.to_owned(), bounds }
    };
    let of = |random: &mut Random| match random.below(7) {
        0 => AggregateKind::Count,
        1 => AggregateKind::People,
        2 => AggregateKind::Sum(values(random)),
        3 => AggregateKind::Mean(values(random)),
        4 => AggregateKind::Variance(values(random)),
        5 => {
            let candidates = Some(vec![-1.0, 0.0, 2.5, 2.75, 6.0, 9.0]);
            AggregateKind::Quantiles {
                column: values(random).column,
                shares: vec![0.25, 0.5],
                candidates,
            }
        }
        _ => AggregateKind::Histogram {
            column: values(random).column,
            edges: vec![-2.0, 0.0, 1.0, 5.0, 5.5],
        },
    };
    let aggregates =
        (0..=random.below(4)).map(|_| Aggregate { name: None, of: of(random) }).collect();
    let group: &[&str] = [&[][..], &["region"], &["year", "region"]][random.below(3) as usize];
    Question {
        table: "visits".to_owned(),
        filter: (random.below(3) > 0).then(|| condition(random, 3)),
        group: group.iter().map(|name| (*name).to_owned()).collect(),
        aggregates,
        rows: None,
        groups: None,
        rows_in_group: None,
    }
}

/// The group of a row, if it is in one.
fn cell(row: &Row, group: &[String]) -> Option<usize> {
    let keys = |column: &str| match column {
        "region" => ["north", "south", "east", ""].map(|text| Key::Text(text.to_owned())).to_vec(),
        _ => [1980, 1981, 1982].map(Key::Whole).to_vec(),
    };
    group.iter().try_fold(0, |cell, column| {
        let keys = keys(column);
        Some(cell * keys.len() + key_of(&row[place(column)], &keys)?)
    })
}

/// What is added up, or counted between places, of some rows, reckoned here. Nothing is bounded.
fn numbers(ready: &PreparedQuestion, (part, person): (usize, bool), rows: &[&Row]) -> Vec<i128> {
    let (what, measurement) = (&ready.checked().aggregates()[part], &ready.measurements()[part]);
    let column = what.column.as_deref().map_or(0, place);
    if what.counts_people {
        let people: std::collections::BTreeSet<String> =
            rows.iter().map(|row| format!("{:?}", row[0])).collect();
        let ends = measurement.summands()[0].ends();
        // A row is a person, if nothing says whose it is.
        let count = if person { people.len() } else { rows.len() };
        return vec![count as i128 * i128::from(ends.1)];
    }
    // What is missing is left out; of a complete column it counts as the lower bound.
    let values = rows.iter().filter_map(|row| match number(&row[column]) {
        None if what.column.is_none() || column == place("pay") => Some(f64::NEG_INFINITY),
        value => value,
    });
    let values: Vec<f64> = values.collect();
    match measurement.places() {
        Some((places, ends)) => {
            let mut gaps = vec![0; places.len() + 1];
            values.iter().for_each(|x| gaps[places.partition_point(|place| place <= x)] += 1);
            match ends {
                Gaps::All => gaps,
                Gaps::Between => gaps[1..places.len()].to_vec(),
                Gaps::Below => gaps[..places.len()].to_vec(),
            }
        }
        None => measurement.summands().iter().map(|one| summed(one, &values)).collect(),
    }
}

fn summed(summand: &Summand, values: &[f64]) -> i128 {
    let (low, high) = summand.ends();
    let units = |value: f64| {
        let units = (value / summand.unit() + 0.5).floor().clamp(-9e18, 9e18) as i64;
        i128::from(units.clamp(low, high))
    };
    let one = |x: &f64| match summand.term() {
        Added::Ones(None) => i128::from(high),
        Added::Values(bounds) => units(x.clamp(bounds.low(), bounds.high())),
        Added::Offsets(bounds) => units(x.clamp(bounds.low(), bounds.high()) - bounds.center()),
        Added::Squares(bounds) => {
            let offset = x.clamp(bounds.low(), bounds.high()) - bounds.center();
            units(offset * offset)
        }
        other => panic!("{other:?}"),
    };
    values.iter().map(one).sum()
}

#[test]
fn the_engine_adds_up_what_mechanisms_would() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let mut random = Random::new(20_261_117);
    for round in 0..tries(2_000, 0.05) {
        let person = random.below(2) == 0;
        // Nobody has more rows than are kept: the bound is tested below.
        let table = rows(&mut random, 60, 1_000_000);
        write(&file, &table);
        let held = held(public(person, if person { 50 } else { 1 }, 50, "add-remove"), &file);
        let question = question(&mut random);
        let spend = if random.below(2) == 0 { Spend::Epsilon(1.0) } else { Spend::Rho(0.5) };
        let ready = PreparedQuestion::new(&held, &question, spend, None).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let found = held.count(&[ready.tabulation()], deadline).unwrap().remove(0);
        let mut used: BTreeMap<usize, Vec<&Row>> = BTreeMap::new();
        for row in &table {
            let passes =
                question.filter.as_ref().is_none_or(|filter| holds(filter, row) == Some(true));
            if let Some(cell) =
                cell(row, &question.group).filter(|_| passes && !(person && row[0] == Value::Null))
            {
                used.entry(cell).or_default().push(row);
            }
        }
        for (cell, counted) in found.iter().enumerate() {
            let rows = used.remove(&cell).unwrap_or_default();
            assert_eq!(counted.rows, rows.len() as u64);
            for (part, found) in counted.numbers.iter().enumerate() {
                let expected = numbers(&ready, (part, person), &rows);
                assert!(*found == expected, "{round}: {question:?}, group {cell}, part {part}");
            }
        }
        assert!(used.is_empty(), "{round}: rows of no group");
    }
}

fn counted(held: &OpenTable, ready: &PreparedQuestion) -> Vec<RawGroup> {
    let deadline = Instant::now() + Duration::from_secs(60);
    held.count(&[ready.tabulation()], deadline).unwrap().remove(0)
}

/// How far apart numbers are, in sum.
fn apart(one: &[i128], other: &[i128]) -> i128 {
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).sum()
}

/// A person's rows beside those of others, and somebody else's who may come in their place.
pub(crate) struct Attack {
    pub(crate) others: Vec<Row>,
    pub(crate) own: Vec<Row>,
    pub(crate) another: Vec<Row>,
}

impl Attack {
    /// What a question's sums move by, as a share of what the contribution allows, where the person comes or is replaced; and the
    /// order of rows moves nothing.
    #[track_caller]
    pub(crate) fn moves(
        mut self,
        held: &OpenTable,
        question: &Question,
        random: &mut Random,
        write: impl Fn(&[Row]),
    ) -> f64 {
        let ready = PreparedQuestion::new(held, question, Spend::Epsilon(1.0), None).unwrap();
        let is_replaced = held.public.relation().adjacency() == Adjacency::Replace;
        let mut neighbour = self.others.clone();
        self.others.extend(self.own);
        if is_replaced {
            neighbour.extend(self.another);
        }
        write(&self.others);
        let one = counted(held, &ready);
        let turn = random.below(self.others.len() as u64) as usize;
        self.others.rotate_left(turn);
        self.others.reverse();
        write(&self.others);
        assert!(one == counted(held, &ready), "another order: {question:?}");
        neighbour.reverse();
        write(&neighbour);
        let two = counted(held, &ready);
        let (kept, groups, each) = ready.checked().contribution_limits();
        let all = if question.group.is_empty() { kept } else { kept.min(groups * each) };
        let moves = i128::from(if is_replaced { 2 * all } else { all });
        // How many rows, in all groups; and how many in each place.
        let rows = |groups: &[RawGroup]| -> Vec<i128> {
            groups.iter().map(|group| group.rows.into()).collect()
        };
        let rows_moved = apart(&rows(&one), &rows(&two));
        assert!(rows_moved <= moves, "{rows_moved} of {moves} rows, {question:?}");
        for (part, measurement) in ready.measurements().iter().enumerate() {
            let bins = |groups: &[RawGroup]| -> Vec<i128> {
                groups.iter().flat_map(|group| group.numbers[part].clone()).collect()
            };
            let moved = apart(&bins(&one), &bins(&two));
            let is_sum = !measurement.summands().is_empty();
            assert!(is_sum || moved <= moves, "{moved} of {moves} in bins, {question:?}");
        }
        rows_moved as f64 / moves as f64
    }
}

/// Whoever has a thousand rows, of whatever values, in whatever order, moves no sum further than the contribution allows.
#[test]
fn one_person_moves_no_more_than_is_kept_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let mut random = Random::new(1_729);
    let mut most = 0.0_f64;
    for _ in 0..tries(2_000, 0.04) {
        let (rows_kept, groups, each) =
            (random.between(1, 4), random.between(1, 4), random.between(1, 4));
        let adjacency = ["add-remove", "replace"][random.below(2) as usize];
        let others = rows(&mut random, 40, 6);
        let many = if random.below(8) == 0 { 1_000 } else { 12 };
        let extreme = |random: &mut Random| {
            let mut own = row(random, 1);
            own[0] = Value::Integer(99);
            own
        };
        let own: Vec<Row> = (0..many).map(|_| extreme(&mut random)).collect();
        let another: Vec<Row> = (0..many).map(|_| extreme(&mut random)).collect();
        let mut question = question(&mut random);
        question.rows_in_group = Some(each.min(rows_kept));
        question.group = if random.below(4) == 0 { Vec::new() } else { question.group };
        write(&file, &[]);
        let held = held(public(true, rows_kept, groups, adjacency), &file);
        let attack = Attack { others, own, another };
        most = most.max(attack.moves(&held, &question, &mut random, |rows| write(&file, rows)));
    }
    assert!(most > 0.99, "nobody moved as much as they may: {most}");
}
