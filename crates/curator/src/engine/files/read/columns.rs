//! A block of rows, column by column, as questions see it: numbers, categories and people. No stored value is an error: a value
//! that cannot be read is missing.

use counterpoint_questions::public::{self, Key, Kind, Table};
use std::collections::HashMap;

/// A stored value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Missing,
    Whole(i64),
    Real(f64),
    /// A number that is none of these, as a whole number and how often it is divided by ten.
    Decimal(i128, i32),
    Text(&'a [u8]),
    /// Text of a format that has no other values: a number if it is one where numbers are wanted.
    Written(&'a [u8]),
}

/// Whole numbers are below this: 2^63.
const LIMIT: f64 = 9_223_372_036_854_775_808.0;

impl Cell<'_> {
    fn number(self) -> Option<f64> {
        match self {
            Self::Whole(whole) => Some(whole as f64),
            Self::Real(real) => Some(real).filter(|real| !real.is_nan()),
            // The nearest double.
            Self::Decimal(value, scale) => format!("{value}e{}", -scale).parse().ok(),
            Self::Written(text) => written(text)?.parse().ok().filter(|real: &f64| !real.is_nan()),
            Self::Missing | Self::Text(_) => None,
        }
    }

    /// The same value for all that are read alike: numbers of any type, and what is missing in any way.
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

    /// What is shown of a value to the owner of the data.
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

/// A number's text, without the blanks around it.
fn written(text: &[u8]) -> Option<&str> {
    std::str::from_utf8(text.trim_ascii()).ok()
}

/// How the values of a column are read.
#[derive(Clone, Debug)]
pub(crate) enum Reading {
    /// As numbers, with the codes of missing values and the number that is used instead.
    Number(public::Column),
    /// As the places of categories.
    Category(Keys),
    /// As whose a row is.
    Person,
}

/// The categories of a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    wholes: HashMap<i64, u32>,
    texts: HashMap<Vec<u8>, u32>,
}

/// The code of a missing category.
pub(crate) const MISSING: u32 = 0;
/// The code of a value that is no declared category.
pub(crate) const OTHER: u32 = 1;
/// The code of the first declared category.
pub(crate) const FIRST: u32 = 2;

impl Keys {
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

    /// The code of a value. A value that is of no type that the column has categories of is missing.
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

impl Reading {
    fn of(column: &public::Column) -> Self {
        match &column.kind {
            Kind::Number(_) => Self::Number(column.clone()),
            Kind::Category(keys) => Self::Category(Keys::of(keys)),
        }
    }

    /// What the column has to hold, in words.
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

/// The columns that are read of a source, and how.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Their names in the source, and readings; that of people is the last.
    pub columns: Vec<(String, Reading)>,
    /// The names of those that hold numbers and categories in questions.
    names: Vec<String>,
    /// Whether there is one of people.
    pub has_people: bool,
}

impl Layout {
    /// The columns of a table that are used.
    pub(crate) fn of(table: &Table, is_used: impl Fn(&str) -> bool) -> Self {
        let used = || table.columns().iter().filter(|column| is_used(&column.name));
        let names = used().map(|column| column.name.clone()).collect();
        let used = used().map(|column| (column.from.clone(), Reading::of(column)));
        let person = table.person().map(|person| (person.to_owned(), Reading::Person));
        let has_people = person.is_some();
        Self { columns: used.chain(person).collect(), names, has_people }
    }

    /// The place of a column of numbers or categories.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }
}

/// The values of a column.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    /// NaN where a value is missing.
    Numbers(Vec<f64>),
    Codes(Vec<u32>),
    People(People),
}

/// Whose rows are, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct People {
    bytes: Vec<u8>,
    /// Where each person's bytes end, and whether there is a person.
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

    /// Whose each row is.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut start = 0;
        self.ends.iter().map(move |(end, is_there)| {
            let person = self.bytes.get(start..*end);
            start = *end;
            person.filter(|_| *is_there)
        })
    }
}

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Value,
    Missing,
    /// It is there and cannot be read, or is no declared category.
    Unreadable,
}

impl Column {
    pub(crate) fn new(reading: &Reading) -> Self {
        match reading {
            Reading::Number(_) => Self::Numbers(Vec::new()),
            Reading::Category(_) => Self::Codes(Vec::new()),
            Reading::Person => Self::People(People::default()),
        }
    }

    /// Adds a value.
    pub(super) fn push(&mut self, reading: &Reading, cell: Cell<'_>) -> Found {
        let is_nothing = match cell {
            Cell::Missing | Cell::Written(b"") => true,
            Cell::Real(real) => real.is_nan(),
            _ => false,
        };
        let is_read = match (self, reading) {
            (Self::Numbers(numbers), Reading::Number(column)) => {
                let number = cell.number();
                numbers.push(column.value(number).unwrap_or(f64::NAN));
                number.is_some()
            }
            (Self::Codes(codes), Reading::Category(keys)) => {
                let code = keys.code(cell);
                codes.push(code);
                code >= FIRST
            }
            (Self::People(people), Reading::Person) => {
                people.push(cell);
                !is_nothing
            }
            // A column is made by its own reading.
            _ => false,
        };
        match is_read {
            true => Found::Value,
            false if is_nothing => Found::Missing,
            false => Found::Unreadable,
        }
    }

    /// Adds the value of a row that is made up: each of another person, categories in turn.
    pub(super) fn push_made_up(&mut self, reading: &Reading, row: u64) {
        match (self, reading) {
            (Self::Codes(codes), Reading::Category(keys)) => {
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

    /// Adds some rows of another column of the same kind. People are kept elsewhere.
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

    /// Keeps these rows alone, which are in order.
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
