//! Made-up rows of a table, from nothing but what is public about it, so that analysts can write their programs
//! before anything is asked.

use super::failed::Failed;
use super::held::Held;
use super::sql::Sqlite;
use counterpoint_questions::public::{Key, Kind, Table};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::sync::Arc;
use tempfile::NamedTempFile;

/// So many people are made up where it is not public how many there are.
const PEOPLE: u64 = 1_000;
/// And at most so many.
const MOST_PEOPLE: u64 = 10_000;
/// So many rows a person has at most.
const MOST_ROWS: u64 = 4;

/// The same numbers every time: a linear congruential generator (Knuth's MMIX), plenty for examples.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A whole number below this one, which is not 0.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most.max(1)
    }
}

/// A made-up table, and the file that it is in as long as it is used.
#[derive(Debug)]
pub(crate) struct Dummy {
    pub(crate) held: Held,
    _file: NamedTempFile,
}

impl Dummy {
    /// Makes rows up: everything within its bounds, and each category as likely as the others.
    pub(crate) fn of(public: &Table) -> Result<Self, Failed> {
        let file = NamedTempFile::new().map_err(Failed::new)?;
        fill(public, &file).map_err(Failed::new)?;
        let engine = Arc::new(Sqlite::open(file.path())?);
        let held = Held::new(public.clone(), "dummy", engine, [0; 32])?;
        Ok(Self { held, _file: file })
    }
}

fn fill(public: &Table, file: &NamedTempFile) -> rusqlite::Result<()> {
    // Who a row is of may be a column that can be asked about, too.
    let is_column = |name: &&str| public.columns().iter().any(|column| column.from == **name);
    let person = public.person().filter(|name| !is_column(name));
    let names = public.columns().iter().map(|column| column.from.as_str()).chain(person);
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    let places: Vec<String> = (1..=names.len()).map(|place| format!("?{place}")).collect();
    let mut connection = Connection::open(file.path())?;
    connection.execute_batch(&format!("CREATE TABLE dummy ({})", names.join(", ")))?;
    let transaction = connection.transaction()?;
    {
        let sql = format!("INSERT INTO dummy VALUES ({})", places.join(", "));
        let mut insert = transaction.prepare(&sql)?;
        let mut dice = Dice(1);
        for number in 0..public.people().unwrap_or(PEOPLE).min(MOST_PEOPLE) {
            for _ in 0..=dice.below(public.rows().min(MOST_ROWS)) {
                let columns = public.columns().iter().map(|column| value(&column.kind, &mut dice));
                let person = person.map(|_| Value::Integer(number as i64));
                insert.execute(params_from_iter(columns.chain(person).collect::<Vec<_>>()))?;
            }
        }
    }
    transaction.commit()
}

fn value(kind: &Kind, dice: &mut Dice) -> Value {
    const PARTS: u64 = 1 << 20;
    match kind {
        Kind::Number(bounds) => {
            let part = dice.below(PARTS + 1) as f64 / PARTS as f64;
            let (low, high) = (bounds.low(), bounds.high());
            // Not the difference, which may be too large.
            Value::Real((low * (1.0 - part) + high * part).clamp(low, high))
        }
        Kind::Category(keys) => match keys.get(dice.below(keys.len() as u64) as usize) {
            Some(Key::Whole(whole)) => Value::Integer(*whole),
            Some(Key::Text(text)) => Value::Text(text.clone()),
            None => Value::Null,
        },
    }
}
