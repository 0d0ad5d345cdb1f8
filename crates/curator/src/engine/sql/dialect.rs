//! The differences between the SQL of engines.

use super::SqlValue;

/// The type that a column is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadType {
    /// A double; NULL for a value that is not a number.
    Number,
    /// A whole number of 64 bits; NULL for any other value.
    Whole,
    /// A text; NULL for any other value.
    Text,
    /// The person of a row, in a form that compares by bytes; NULL for a row without a person.
    Person,
}

impl ReadType {
    /// The type, in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Whole => "a whole number",
            Self::Text => "a text",
            Self::Person => "a whole number or a text",
        }
    }
}

/// The parts of SQL that differ between engines. `compile` writes everything else once.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// Writes a table's name.
    pub table: fn(&str) -> String,
    /// Writes the parameter with this number (from 1) for this value.
    pub parameter: fn(usize, &SqlValue) -> String,
    /// Reads a column of a type, as the engine names it, as another type. `None` if the column cannot be read so.
    pub read: fn(&str, &str, ReadType) -> Option<String>,
    /// The whole part of a nonnegative number, as 64 bits.
    pub whole: fn(&str) -> String,
    /// The function that returns the lesser of two numbers.
    pub least: &'static str,
    /// The function that returns the greater of two numbers.
    pub greatest: &'static str,
    /// A keyed hash of whole numbers and a person, of 64 bits. Each engine may use another hash: it decides which of a
    /// person's rows are used, from that person's rows alone.
    pub hash: fn(&str, &[&str], &str) -> String,
    /// The exact sum of whole numbers of 64 bits; `None` if the engine has none, and sums are returned in two parts.
    pub exact_sum: Option<fn(&str) -> String>,
    /// The number of elements of an increasing list that are at most a number. The number is neither NULL nor NaN.
    pub at_most: fn(&str, &str) -> String,
    /// The place of a value in a list, from 1; 0 or NULL if the list does not contain it.
    pub position: fn(&str, &str) -> String,
    /// The element of a list at an index (from 1), if the engine finds edges faster with it.
    pub element_at: Option<fn(&str, &str) -> String>,
    /// A table whose only column, `n`, has the whole numbers from 0 up to but not including this.
    pub series: fn(u64) -> String,
}
