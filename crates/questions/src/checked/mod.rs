//! A question that is legal for a table, by what is public about it alone; and what its answer is measured with.

mod aggregate;
mod columns;
mod condition;
mod measured;
mod used_rows;

pub use aggregate::part;
pub use columns::number;
pub use measured::{Spend, recipe};

use crate::illegal::Illegal;
use crate::public::{Key, Table};
use crate::question::{Condition, Question};
use columns::category;
use condition::{Size, condition};
use counterpoint::Relation;
use counterpoint_mechanisms::Query;
use serde::Serialize;
use std::collections::BTreeSet;

/// The most aggregates of a question.
pub const MOST_AGGREGATES: usize = 20;
/// The most groups that a question answers for, and the most numbers of an answer.
pub const MOST_CELLS: usize = 10_000;
/// The most edges and candidates.
pub const MOST_PLACES: usize = 2_000;

/// One aggregate, resolved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it is called. That makes no other question of it.
    #[serde(skip)]
    pub name: String,
    /// What is asked of the rows of a group.
    pub query: Query,
    /// The column that it is about, the first of the query's if there are several; none if rows or people are counted.
    pub column: Option<String>,
    /// The query's other columns, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// Where this holds, the value of a row is 1, and 0 where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indicator: Option<Condition>,
    /// Whether people are counted, not rows.
    pub people: bool,
    /// Whether rows without a value of the column are left out, so that how many are used is not public.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skips_missing: bool,
    /// The columns without a value of which rows are left out. They follow from the table's description.
    #[serde(skip)]
    pub required: Vec<String>,
}

/// A column that is grouped by, and its keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grouping {
    /// The column.
    pub column: String,
    /// Its keys.
    pub keys: Vec<Key>,
}

/// A legal question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    table: String,
    filter: Option<Condition>,
    groupings: Vec<Grouping>,
    parts: Vec<Part>,
    rows: u64,
    groups: u64,
    each: u64,
    #[serde(skip)]
    relation: Relation,
    #[serde(skip)]
    people: Option<u64>,
    /// Whether every row is a person's, and used.
    #[serde(skip)]
    whole: bool,
    /// Whether a person may have more rows than are used, among which each question makes its own choice.
    #[serde(skip)]
    chooses: bool,
}

impl Part {
    /// The query's columns, in its order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.column.iter().chain(&self.others).map(String::as_str)
    }
}

impl Question {
    /// Checks a question against what is public about its table.
    ///
    /// # Errors
    /// [`Illegal`], naming the place and what is legal.
    pub fn check(&self, table: &Table) -> Result<Checked, Illegal> {
        let filter = self.filter.as_ref();
        let mut conditions = Size::default();
        let filter =
            filter.map(|filter| condition(filter, table, true, &mut conditions)).transpose()?;
        let groupings = groupings(&self.group, table)?;
        let length = self.aggregates.len();
        if !(1..=MOST_AGGREGATES).contains(&length) {
            return Err(Illegal::new("aggregates", format!("are {length}"), "1 to 20"));
        }
        let parts = self.aggregates.iter().map(|one| part(one, table)).collect::<Result<_, _>>()?;
        let rows = at_most("rows", self.rows, table.rows())?;
        let groups = at_most("groups", self.groups, table.groups())?.min(rows);
        let each = at_most("rows_in_group", self.rows_in_group, rows)?;
        // Rows without a person are not used, and some people may have no others.
        let whole = filter.is_none() && table.person().is_none();
        let checked = Checked {
            whole,
            chooses: table.person().is_some(),
            table: table.name().to_owned(),
            filter,
            groupings,
            parts,
            rows,
            groups,
            each,
            relation: table.relation(),
            people: table.people(),
        };
        checked.is_short()?;
        Ok(checked)
    }
}

fn at_most(place: &str, asked: Option<u64>, most: u64) -> Result<u64, Illegal> {
    match asked {
        None => Ok(most),
        Some(asked) if (1..=most).contains(&asked) => Ok(asked),
        Some(asked) => Err(Illegal::new(place, format!("is {asked}"), format!("1 to {most}"))),
    }
}

impl Checked {
    /// The table.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Which rows are used.
    #[must_use]
    pub fn filter(&self) -> Option<&Condition> {
        self.filter.as_ref()
    }

    /// What answers are given for.
    #[must_use]
    pub fn groupings(&self) -> &[Grouping] {
        &self.groupings
    }

    /// What is computed.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// At most so many rows of a person; in so many groups; in one group.
    #[must_use]
    pub fn contribution(&self) -> (u64, u64, u64) {
        (self.rows, self.groups, self.each)
    }

    /// The relation of the table.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// How many groups are answered.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.groupings.iter().map(|grouping| grouping.keys.len()).product()
    }

    /// The keys of a group.
    #[must_use]
    pub fn keys(&self, cell: usize) -> Vec<&Key> {
        let mut left = cell;
        let mut keys: Vec<&Key> = Vec::new();
        for grouping in self.groupings.iter().rev() {
            let length = grouping.keys.len().max(1);
            keys.extend(grouping.keys.get(left % length));
            left /= length;
        }
        keys.reverse();
        keys
    }

    /// An error unless every answer can be stored.
    fn is_short(&self) -> Result<(), Illegal> {
        let cells = self.groupings.iter().try_fold(1_usize, |cells, grouping| {
            cells.checked_mul(grouping.keys.len()).filter(|cells| *cells <= MOST_CELLS)
        });
        let Some(cells) = cells else {
            return Err(Illegal::new(
                "group",
                "has more than 10000 keys together",
                "at most 10000",
            ));
        };
        // A mean is made of two numbers, a variance of three.
        let numbers: usize = self.parts.iter().map(|part| part.query.numbers().max(3)).sum();
        let all = cells.saturating_mul(numbers);
        if all > 3 * MOST_CELLS {
            let problem = format!("would have up to {all} numbers");
            return Err(Illegal::new("the answer", problem, "at most 30000: fewer groups or bins"));
        }
        Ok(())
    }
}

fn groupings(columns: &[String], table: &Table) -> Result<Vec<Grouping>, Illegal> {
    let mut seen = BTreeSet::new();
    let grouping = |column: &String| {
        let (column, keys) = category(column, table)?;
        if !seen.insert(column.to_owned()) {
            return Err(Illegal::new(format!("{column:?}"), "is grouped by twice", "once"));
        }
        Ok(Grouping { column: column.to_owned(), keys: keys.to_vec() })
    };
    columns.iter().map(grouping).collect()
}
