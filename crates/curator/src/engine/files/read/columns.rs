//! Blocks of rows as questions use them: columns of numbers, category codes and people. No stored value is an error: a
//! value that cannot be read is missing.

use counterpoint_questions::public::{self, ColumnKind, Key, Table};
use std::collections::HashMap;

/// A stored value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Missing,
    Whole(i64),
    Real(f64),
    /// A number of another kind: a whole number, and how many times it is divided by ten.
    Decimal(i128, i32),
    Text(&'a [u8]),
    /// A text of a format that has texts alone. In a number column it is a number if it can be parsed.
    Written(&'a [u8]),
}

/// The bound on whole numbers, 2^63.
const LIMIT: f64 = 9_223_372_036_854_775_808.0;

impl Cell<'_> {
    fn number(self) -> Option<f64> {
        match self {
            Self::Whole(whole) => Some(whole as f64),
            Self::Real(real) => Some(real).filter(|real| !real.is_nan()),
            // `parse` returns the nearest double.
            Self::Decimal(value, scale) => format!("{value}e{}", -scale).parse().ok(),
            Self::Written(text) => written(text)?.parse().ok().filter(|real: &f64| !real.is_nan()),
            Self::Missing | Self::Text(_) => None,
        }
    }

    /// A canonical form: equal for numbers of different types, and for all forms of missing values.
    pub(super) fn normal(self) -> Self {
        match self {
            Self::Real(real) if real.is_nan() => Self::Missing,
            Self::Real(_) => self.whole().map_or(self, Self::Whole),
            other => other,
        }
    }

    fn whole(self) -> Option<i64> {
        let of_real = |real: f64| {
            (real.fract() == 0.0 && (-LIMIT..LIMIT).contains(&real)).then_some(real as i64)
        };
        match self {
            Self::Whole(whole) => Some(whole),
            Self::Real(real) => of_real(real),
            Self::Written(text) => {
                let text = written(text)?;
                text.parse().ok().or_else(|| of_real(text.parse().ok()?))
            }
            Self::Missing | Self::Text(_) | Self::Decimal(..) => None,
        }
    }

    /// The value in words, for the owner of the data.
    pub(super) fn shown(self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Whole(whole) => whole.to_string(),
            Self::Real(real) => real.to_string(),
            Self::Decimal(value, scale) => format!("{value}e{}", -scale),
            Self::Text(text) | Self::Written(text) => String::from_utf8_lossy(text).into_owned(),
        }
    }
}

/// A number's text without the blanks around it.
fn written(text: &[u8]) -> Option<&str> {
    std::str::from_utf8(text.trim_ascii()).ok()
}

/// The interpretation of a column's values.
#[derive(Clone, Debug)]
pub(crate) enum ReadRule {
    /// Numbers, with the codes of missing values and the replacement for missing values.
    Number(public::Column),
    /// Categories, as their codes.
    Category(CategoryCodes),
    /// People.
    Person,
}

/// The codes of a column's categories.
#[derive(Clone, Debug, Default)]
pub(crate) struct CategoryCodes {
    wholes: HashMap<i64, u32>,
    texts: HashMap<Vec<u8>, u32>,
}

/// The code of a missing category.
pub(crate) const MISSING: u32 = 0;
/// The code of a value that is not a declared category.
pub(crate) const OTHER: u32 = 1;
/// The code of the first declared category.
pub(crate) const FIRST: u32 = 2;

impl CategoryCodes {
    fn of(keys: &[Key]) -> Self {
        let mut all = Self::default();
        for (key, code) in keys.iter().zip(FIRST..) {
            match key {
                Key::Whole(whole) => all.wholes.insert(*whole, code),
                Key::Text(text) => all.texts.insert(text.clone().into_bytes(), code),
            };
        }
        all
    }

    /// The code of a value. A value counts as missing if the column has no categories of its type.
    fn code(&self, cell: Cell<'_>) -> u32 {
        let whole = if self.wholes.is_empty() { None } else { cell.whole() };
        let text = match cell {
            Cell::Text(text) | Cell::Written(text) if !self.texts.is_empty() => Some(text),
            _ => None,
        };
        let found = [
            whole.and_then(|whole| self.wholes.get(&whole)),
            text.and_then(|text| self.texts.get(text)),
        ];
        match found.into_iter().flatten().min() {
            Some(code) => *code,
            None if matches!(cell, Cell::Written(b"")) => MISSING,
            None if whole.is_some() || text.is_some() => OTHER,
            None => MISSING,
        }
    }
}

impl ReadRule {
    fn of(column: &public::Column) -> Self {
        match &column.kind {
            ColumnKind::Number(_) => Self::Number(column.clone()),
            ColumnKind::Category(keys) => Self::Category(CategoryCodes::of(keys)),
        }
    }

    /// The type of value that the column must hold, in words.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Category(keys) if keys.texts.is_empty() => "a whole number",
            Self::Category(keys) if keys.wholes.is_empty() => "a text",
            Self::Category(_) => "a whole number or a text",
            Self::Person => "a whole number or a text",
        }
    }
}

/// The columns to read from a source.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The columns' names in the source, with the interpretation of their values. The person column is the last.
    pub columns: Vec<(String, ReadRule)>,
    /// The names in questions of the number and category columns.
    names: Vec<String>,
    /// True if there is a person column.
    pub has_people: bool,
}

impl Layout {
    /// The layout of the used columns of a table, and its person column.
    pub(crate) fn of(table: &Table, is_used: impl Fn(&str) -> bool) -> Self {
        let used = || table.columns().iter().filter(|column| is_used(&column.name));
        let names = used().map(|column| column.name.clone()).collect();
        let used = used().map(|column| (column.from.clone(), ReadRule::of(column)));
        let person = table.person().map(|person| (person.to_owned(), ReadRule::Person));
        let has_people = person.is_some();
        Self { columns: used.chain(person).collect(), names, has_people }
    }

    /// The index of a number or category column.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }
}

/// The values of a column.
#[derive(Clone, Debug)]
pub(crate) enum ColumnValues {
    /// NaN stands for a missing value.
    Numbers(Vec<f64>),
    Codes(Vec<u32>),
    People(People),
}

/// The people of rows, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct People {
    bytes: Vec<u8>,
    /// The end of each person's bytes, and false if the row has no person.
    ends: Vec<(usize, bool)>,
}

impl People {
    fn push(&mut self, cell: Cell<'_>) {
        use std::io::Write;
        let bytes = &mut self.bytes;
        // Writing to memory does not fail.
        let written = match cell {
            Cell::Missing | Cell::Written(b"") => return self.ends.push((self.bytes.len(), false)),
            Cell::Real(real) if real.is_nan() => return self.ends.push((self.bytes.len(), false)),
            Cell::Text(text) | Cell::Written(text) => bytes.write_all(text),
            Cell::Whole(whole) => write!(bytes, "{whole}"),
            Cell::Decimal(whole, 0) => write!(bytes, "{whole}"),
            Cell::Decimal(value, scale) => write!(bytes, "{value}e{}", -scale),
            Cell::Real(real) => match cell.whole() {
                Some(whole) => write!(bytes, "{whole}"),
                None => write!(bytes, "{real:e}"),
            },
        };
        self.ends.push((self.bytes.len(), written.is_ok()));
    }

    /// The person of each row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut start = 0;
        self.ends.iter().map(move |(end, is_there)| {
            let person = self.bytes.get(start..*end);
            start = *end;
            person.filter(|_| *is_there)
        })
    }
}

/// The outcome of reading a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadOutcome {
    Value,
    Missing,
    /// The value cannot be read or is not a declared category.
    Unreadable,
}

impl ColumnValues {
    pub(crate) fn new(reading: &ReadRule) -> Self {
        match reading {
            ReadRule::Number(_) => Self::Numbers(Vec::new()),
            ReadRule::Category(_) => Self::Codes(Vec::new()),
            ReadRule::Person => Self::People(People::default()),
        }
    }

    /// Adds a value.
    pub(super) fn push(&mut self, reading: &ReadRule, cell: Cell<'_>) -> ReadOutcome {
        let is_nothing = match cell {
            Cell::Missing | Cell::Written(b"") => true,
            Cell::Real(real) => real.is_nan(),
            _ => false,
        };
        let is_read = match (self, reading) {
            (Self::Numbers(numbers), ReadRule::Number(column)) => {
                let number = cell.number();
                numbers.push(column.value(number).unwrap_or(f64::NAN));
                number.is_some()
            }
            (Self::Codes(codes), ReadRule::Category(keys)) => {
                let code = keys.code(cell);
                codes.push(code);
                code >= FIRST
            }
            (Self::People(people), ReadRule::Person) => {
                people.push(cell);
                !is_nothing
            }
            // A column is created from its own rule.
            _ => false,
        };
        match is_read {
            true => ReadOutcome::Value,
            false if is_nothing => ReadOutcome::Missing,
            false => ReadOutcome::Unreadable,
        }
    }

    /// Adds a made-up row: each of another person, with categories in turn.
    pub(super) fn push_made_up(&mut self, reading: &ReadRule, row: u64) {
        match (self, reading) {
            (Self::Codes(codes), ReadRule::Category(keys)) => {
                let many = (keys.wholes.len() + keys.texts.len()).max(1) as u64;
                codes.push(FIRST + (row % many) as u32);
            }
            (column, reading) => {
                column.push(reading, Cell::Whole(row as i64));
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Codes(codes) => codes.len(),
            Self::People(people) => people.ends.len(),
        }
    }

    /// The bytes that a row takes.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::Numbers(_) => size_of::<f64>(),
            Self::Codes(_) => size_of::<u32>(),
            Self::People(_) => 0,
        }
    }

    /// Adds some rows of another column of the same kind. People are stored in [`Shard`](super::super::count).
    pub(crate) fn append(&mut self, other: &Self, rows: &[u32]) {
        fn pick<T: Copy>(to: &mut Vec<T>, from: &[T], rows: &[u32]) {
            to.extend(rows.iter().filter_map(|row| from.get(*row as usize)).copied());
        }
        match (self, other) {
            (Self::Numbers(to), Self::Numbers(from)) => pick(to, from, rows),
            (Self::Codes(to), Self::Codes(from)) => pick(to, from, rows),
            _ => (),
        }
    }

    /// Keeps only these rows, which are in order.
    pub(crate) fn retain(&mut self, rows: &[u32]) {
        let all = std::mem::replace(self, Self::Numbers(Vec::new()));
        *self = match &all {
            Self::Numbers(_) => Self::Numbers(Vec::new()),
            Self::Codes(_) => Self::Codes(Vec::new()),
            Self::People(_) => Self::People(People::default()),
        };
        self.append(&all, rows);
    }
}
