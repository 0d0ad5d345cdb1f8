//! The public description of a table. It alone decides whether a question is legal, what the question costs, how much
//! noise its answer gets and which keys are answered.

use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::Bounds;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The most columns a table may declare.
pub const MOST_COLUMNS: usize = 500;
/// The most missing codes of a column.
pub const MOST_CODES: usize = 100;
/// The most categories of a column.
pub const MOST_CATEGORIES: usize = 10_000;

/// A table's description has an illegal value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {problem}; legal: {legal}")]
pub struct PublicError {
    /// The table, and the column if one is concerned.
    pub place: String,
    /// The problem, in words.
    pub problem: String,
    /// The legal values.
    pub legal: &'static str,
}

impl PublicError {
    fn new(place: impl ToString, problem: impl ToString, legal: &'static str) -> Self {
        Self { place: place.to_string(), problem: problem.to_string(), legal }
    }
}

/// A category: a value that a column may hold and that answers are grouped by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Key {
    /// A whole number.
    Whole(i64),
    /// A text.
    Text(String),
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(whole) => whole.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// The declared kind of a column's values.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnKind {
    /// Numbers. They are clamped to the bounds before they are added up.
    Number(Bounds),
    /// Categories from this list.
    Category(Vec<Key>),
}

/// A declared column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The column's name in questions.
    pub name: String,
    /// The column's name in the source.
    pub from: String,
    /// The kind of the column's values.
    pub kind: ColumnKind,
    /// True if the owner declares that no value is missing. A value that is missing nevertheless counts as the lower
    /// bound.
    pub complete: bool,
    /// The number that replaces a missing value; `None` if rows without a value are left out.
    pub instead: Option<f64>,
    /// Numbers that stand for a missing value.
    pub codes: Vec<f64>,
}

impl Column {
    /// Applies the missing codes and the replacement for missing values to the value of a row.
    #[must_use]
    pub fn value(&self, read: Option<f64>) -> Option<f64> {
        let is_code =
            |value: &f64| self.codes.iter().any(|code| code.total_cmp(&(value + 0.0)).is_eq());
        read.filter(|value| !is_code(value)).or(self.instead)
    }
}

/// The treatment of rows whose value is missing, as written by the owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MissingText {
    /// This number replaces the missing value.
    Number(f64),
    /// `skip`: rows without a value are left out, as in SQL.
    Word(String),
}

/// A code that stands for a missing value, as written by the owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CodeText {
    /// A number.
    Number(f64),
    /// A text. In questions, a text that is no code counts as missing, too: always in a column of numbers, and in a
    /// column of categories unless it is a declared category. (In a release such a text is an error unless `others` is
    /// `skip`.)
    Text(String),
}

/// A column, as written by the owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnText {
    /// The column's name in questions.
    pub name: String,
    /// The bounds of a column of numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<(f64, f64)>,
    /// The categories of a column of categories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<Key>>,
    /// True if no value of a column of numbers is missing, so that the number of values equals the number of rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete: bool,
    /// The column's name in the source, if it differs from `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The treatment of rows whose value is missing: `skip` (the default), or a number that replaces the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingText>,
    /// Values that stand for a missing one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_codes: Vec<CodeText>,
    /// For releases: the treatment of values that are neither declared nor missing. `skip` treats them as missing;
    /// without `others` they are an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<String>,
}

impl ColumnText {
    /// Creates a column with a name and nothing else.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            bounds: None,
            categories: None,
            complete: false,
            from: None,
            missing: None,
            missing_codes: Vec::new(),
            others: None,
        }
    }
}

/// A table's description, as written by the owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableText {
    /// The table's name in questions.
    pub name: String,
    /// The column that identifies the person of a row. Without it each row is a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The largest number of rows that a person contributes to an answer.
    #[serde(default = "one")]
    pub rows: u64,
    /// The column that numbers each person's rows from 1. The rows with the lowest numbers are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_number: Option<String>,
    /// The largest number of groups that a person contributes to, where answers are given by group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u64>,
    /// The adjacency: `add-remove` or `replace`.
    pub adjacency: String,
    /// The approximate number of people, if it is public. Errors that depend on it are computed from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<u64>,
    /// The columns.
    #[serde(rename = "column")]
    pub columns: Vec<ColumnText>,
}

fn one() -> u64 {
    1
}

/// The checked public description of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    text: TableText,
    relation: Relation,
    columns: Vec<Column>,
}

/// True if a text is a name that every engine reads alike: `[A-Za-z_][A-Za-z0-9_]*`, up to 63 bytes.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.as_bytes().first().is_none_or(u8::is_ascii_digit)
        && text.len() <= 63
        && text.bytes().all(part)
}

/// The legal names, in words.
pub const LEGAL_NAME: &str =
    "1 to 63 letters a-z and A-Z, digits and underscores, beginning with no digit";

impl Table {
    /// Checks a description.
    ///
    /// # Errors
    /// [`PublicError`], naming the table or column.
    pub fn new(text: TableText) -> Result<Self, PublicError> {
        let place = format!("table {:?}", text.name);
        let names = [Some(&text.name), text.person.as_ref(), text.row_number.as_ref()];
        let columns = text.columns.iter().map(|column| &column.name);
        if let Some(bad) = names.into_iter().flatten().chain(columns).find(|name| !is_name(name)) {
            return Err(PublicError::new(
                place,
                format!("the name {bad:?} is not legal"),
                LEGAL_NAME,
            ));
        }
        let relation = relation(&text, &place)?;
        if !(1..=MOST_COLUMNS).contains(&text.columns.len()) {
            let problem = format!("it has {} columns", text.columns.len());
            return Err(PublicError::new(place, problem, "1 to 500"));
        }
        let mut seen = BTreeSet::new();
        for column in &text.columns {
            // Engines compare names without case.
            if !seen.insert(column.name.to_ascii_lowercase()) {
                let problem = format!("column {:?} occurs twice", column.name);
                return Err(PublicError::new(
                    place,
                    problem,
                    "different names, whatever their case",
                ));
            }
        }
        let columns = text.columns.iter().map(|column| self::column(column, &place));
        let columns = columns.collect::<Result<_, _>>()?;
        Ok(Self { text, relation, columns })
    }

    /// The table's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.text.name
    }

    /// The column that identifies the person of a row; `None` if each row is a person.
    #[must_use]
    pub fn person(&self) -> Option<&str> {
        self.text.person.as_deref()
    }

    /// The neighbouring relation.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The largest number of rows that a person contributes.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.text.rows
    }

    /// The column that numbers each person's rows, if the rows with the lowest numbers are used.
    #[must_use]
    pub fn row_number(&self) -> Option<&str> {
        self.text.row_number.as_deref()
    }

    /// The largest number of groups that a person contributes to.
    #[must_use]
    pub fn groups(&self) -> u64 {
        self.text.groups.unwrap_or(self.text.rows).min(self.text.rows)
    }

    /// The approximate number of people, if it is public.
    #[must_use]
    pub fn people(&self) -> Option<u64> {
        self.text.people
    }

    /// The columns, in order.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Finds a column by its name, without regard to case, as in SQL.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The description as written by the owner.
    #[must_use]
    pub fn text(&self) -> &TableText {
        &self.text
    }
}

fn relation(text: &TableText, place: &str) -> Result<Relation, PublicError> {
    let adjacency = match text.adjacency.as_str() {
        "add-remove" => Adjacency::AddRemove,
        "replace" => Adjacency::Replace,
        other => {
            let problem = format!("adjacency is {other:?}");
            return Err(PublicError::new(place, problem, "add-remove, replace"));
        }
    };
    if text.person.is_none() && text.rows != 1 {
        let problem = format!("rows is {}, but no person column is named", text.rows);
        return Err(PublicError::new(
            place,
            problem,
            "rows = 1 if each row is a person, or person = the column that identifies people",
        ));
    }
    if let (None, Some(row_number)) = (&text.person, &text.row_number) {
        let problem = format!("row_number is {row_number:?} and no person column is named");
        return Err(PublicError::new(place, problem, "row_number beside person"));
    }
    if text.groups == Some(0) {
        return Err(PublicError::new(place, "groups is 0", "a whole number from 1"));
    }
    let relation = Relation::new(adjacency, text.rows);
    relation
        .map_err(|error| PublicError::new(place, format!("rows is {}", error.value), error.legal))
}

fn column(text: &ColumnText, place: &str) -> Result<Column, PublicError> {
    let place = format!("{place}, column {:?}", text.name);
    let kind = match (&text.bounds, &text.categories) {
        (Some((low, high)), None) => {
            let bounds = Bounds::new(*low, *high);
            ColumnKind::Number(bounds.map_err(|error| {
                PublicError::new(&place, error, "two finite numbers, the lower one first")
            })?)
        }
        (None, Some(categories)) => ColumnKind::Category(check_categories(categories, &place)?),
        (bounds, _) => {
            let problem = match bounds {
                None => "it has neither bounds nor categories",
                Some(_) => "it has both bounds and categories",
            };
            return Err(PublicError::new(place, problem, "exactly one of bounds and categories"));
        }
    };
    if text.complete && matches!(kind, ColumnKind::Category(_)) {
        let problem = "it has categories and is declared complete";
        return Err(PublicError::new(place, problem, "complete for a column with bounds"));
    }
    let instead = instead(text, &kind, &place)?;
    if let Some(other) = text.others.as_deref().filter(|word| *word != "skip") {
        return Err(PublicError::new(
            place,
            format!("others is {other:?}"),
            "\"skip\", or no field others",
        ));
    }
    let from = text.from.clone().unwrap_or_else(|| text.name.clone());
    if from.is_empty() || from.chars().any(char::is_control) || from.contains('"') {
        let problem = format!("from is {from:?}");
        return Err(PublicError::new(
            place,
            problem,
            "the name of a column in the source, without quotes",
        ));
    }
    let codes = codes(text, &kind, &place)?;
    let complete = text.complete || instead.is_some();
    Ok(Column { name: text.name.clone(), from, kind, complete, instead, codes })
}

/// Returns the number that replaces a missing value.
fn instead(text: &ColumnText, kind: &ColumnKind, place: &str) -> Result<Option<f64>, PublicError> {
    let legal = "\"skip\", or a number within the bounds of a column that has bounds";
    match (&text.missing, kind) {
        (None, _) => Ok(None),
        (Some(MissingText::Word(word)), _) if word == "skip" && !text.complete => Ok(None),
        (Some(MissingText::Number(number)), ColumnKind::Number(bounds))
            if (bounds.low()..=bounds.high()).contains(number) && !text.complete =>
        {
            Ok(Some(*number + 0.0))
        }
        (Some(MissingText::Number(number)), _) => {
            Err(PublicError::new(place, format!("missing is {number}"), legal))
        }
        (Some(MissingText::Word(word)), _) => {
            Err(PublicError::new(place, format!("missing is {word:?}"), legal))
        }
    }
}

/// Returns the numbers among the codes that stand for a missing value.
fn codes(text: &ColumnText, kind: &ColumnKind, place: &str) -> Result<Vec<f64>, PublicError> {
    let is_category = |code: &CodeText| {
        match (kind, code) {
        (ColumnKind::Category(keys), CodeText::Text(text)) => keys.contains(&Key::Text(text.clone())),
        (ColumnKind::Category(keys), CodeText::Number(number)) => {
            keys.iter().any(|key| matches!(key, Key::Whole(whole) if (*whole as f64).total_cmp(&(number + 0.0)).is_eq()))
        }
        _ => false,
    }
    };
    if text.missing_codes.len() > MOST_CODES {
        let problem = format!("it has {} missing_codes", text.missing_codes.len());
        return Err(PublicError::new(place, problem, "at most 100"));
    }
    if text.missing_codes.iter().any(is_category) {
        let problem = "a missing code is one of its categories";
        return Err(PublicError::new(place, problem, "codes that are no categories"));
    }
    let number = |code: &CodeText| match code {
        CodeText::Number(number) => Some(*number + 0.0),
        CodeText::Text(_) => None,
    };
    let numbers: Vec<f64> = text.missing_codes.iter().filter_map(number).collect();
    match numbers.iter().find(|number| !number.is_finite()) {
        Some(bad) => {
            Err(PublicError::new(place, format!("a missing code is {bad}"), "finite numbers"))
        }
        None => Ok(numbers),
    }
}

fn check_categories(categories: &[Key], place: &str) -> Result<Vec<Key>, PublicError> {
    if !(1..=MOST_CATEGORIES).contains(&categories.len()) {
        let problem = format!("it has {} categories", categories.len());
        return Err(PublicError::new(place, problem, "1 to 10000"));
    }
    let fits = |text: &str| text.chars().count() <= 200 && !text.chars().any(char::is_control);
    let mut seen = BTreeSet::new();
    for key in categories {
        if let Key::Text(text) = key
            && !fits(text)
        {
            let problem = "a category is too long or has a control character in it";
            return Err(PublicError::new(place, problem, "up to 200 printable characters"));
        }
        if !seen.insert(key) {
            let problem = format!("category {key} occurs twice");
            return Err(PublicError::new(place, problem, "different categories"));
        }
    }
    Ok(categories.to_vec())
}
