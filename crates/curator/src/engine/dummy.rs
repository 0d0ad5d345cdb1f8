//! Tables of made-up rows. They are made from the public description alone, so that analysts can try their programs
//! without charge.

use super::error::EngineError;
use super::sql::Sqlite;
use super::table::OpenTable;
use counterpoint_questions::public::{ColumnKind, Key, Table};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::sync::Arc;
use tempfile::NamedTempFile;

/// The number of people if it is not public.
const PEOPLE: u64 = 1_000;
/// The largest number of people.
const MOST_PEOPLE: u64 = 10_000;
/// The largest number of rows of a person.
const MOST_ROWS: u64 = 4;

/// A deterministic generator of whole numbers: Knuth's linear congruential generator (MMIX).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Returns a number from 0 to `most` - 1; `most` is not 0.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most.max(1)
    }
}

/// A table of made-up rows, with the temporary file that holds it.
#[derive(Debug)]
pub(crate) struct DummyTable {
    pub(crate) table: OpenTable,
    _file: NamedTempFile,
}

impl DummyTable {
    /// Makes rows with numbers spread over their bounds and all categories equally likely.
    pub(crate) fn of(public: &Table) -> Result<Self, EngineError> {
        let file = NamedTempFile::new().map_err(EngineError::new)?;
        fill(public, &file).map_err(EngineError::new)?;
        let engine = Arc::new(Sqlite::open(file.path())?);
        let table = OpenTable::new(public.clone(), "dummy", engine, [0; 32])?;
        Ok(Self { table, _file: file })
    }
}

fn fill(public: &Table, file: &NamedTempFile) -> rusqlite::Result<()> {
    // The person column may also be a declared column.
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

fn value(kind: &ColumnKind, dice: &mut Dice) -> Value {
    const PARTS: u64 = 1 << 20;
    match kind {
        ColumnKind::Number(bounds) => {
            let part = dice.below(PARTS + 1) as f64 / PARTS as f64;
            let (low, high) = (bounds.low(), bounds.high());
            // The difference of the bounds may overflow, so this is a weighted mean of both.
            Value::Real((low * (1.0 - part) + high * part).clamp(low, high))
        }
        ColumnKind::Category(keys) => match keys.get(dice.below(keys.len() as u64) as usize) {
            Some(Key::Whole(whole)) => Value::Integer(*whole),
            Some(Key::Text(text)) => Value::Text(text.clone()),
            None => Value::Null,
        },
    }
}
