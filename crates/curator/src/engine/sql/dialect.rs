//! How the SQL of engines differs.

use super::Value;

/// What a column is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// A double; nothing, if it is no number.
    Number,
    /// A whole number of 64 bits; nothing, if it is none.
    Whole,
    /// A text; nothing, if it is none.
    Text,
    /// Whose a row is, in a form that is compared by its bytes; nothing, if it is nobody's.
    Person,
}

impl Read {
    /// What it is, in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Whole => "a whole number",
            Self::Text => "a text",
            Self::Person => "a whole number or a text",
        }
    }
}

/// How an engine's SQL differs from others'. Everything else that is asked is written once, in `compile`.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The name of a table, as it is written in a statement.
    pub table: fn(&str) -> String,
    /// The text of the parameter with this number, from 1, for such a value.
    pub parameter: fn(usize, &Value) -> String,
    /// A column, whose type the engine calls this, read as something. `None` if such a column cannot be.
    pub read: fn(&str, &str, Read) -> Option<String>,
    /// The whole part of a number that is not negative, as 64 bits.
    pub whole: fn(&str) -> String,
    /// The lesser of two.
    pub least: &'static str,
    /// The greater of two.
    pub greatest: &'static str,
    /// A hash of 64 bits, under a key, of whole numbers and a person. Which it is is the engine's own affair: it decides which
    /// of a person's rows are used, by that person's rows alone.
    pub hash: fn(&str, &[&str], &str) -> String,
    /// The exact sum of whole numbers of 64 bits, if the engine has one; else they are added up in two parts.
    pub summed: Option<fn(&str) -> String>,
    /// How many of a list of increasing numbers are at most a number, which is none of NULL and NaN.
    pub at_most: fn(&str, &str) -> String,
    /// The place of a value in a list, from 1; 0 or NULL if it is not there.
    pub position: fn(&str, &str) -> String,
    /// The number at an index, from 1, of a list, where that is quicker.
    pub listed: Option<fn(&str, &str) -> String>,
    /// A table whose only column, `n`, has the whole numbers from 0 up to but not including this.
    pub series: fn(u64) -> String,
}
