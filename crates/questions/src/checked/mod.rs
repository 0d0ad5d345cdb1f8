//! Questions checked against a table's public description, and the measurements that answer them.

mod aggregate;
mod columns;
mod condition;
mod measurement;
mod row_count;

pub use aggregate::check_aggregate;
pub use columns::number_column;
pub use measurement::{Spend, noisy_query};

use crate::error::QuestionError;
use crate::public::{Key, Table};
use crate::question::{Condition, Question};
use columns::category_column;
use condition::{FilterSize, condition};
use counterpoint::Relation;
use counterpoint_mechanisms::Query;
use serde::Serialize;
use std::collections::BTreeSet;

/// The largest number of aggregates in a question.
pub const MOST_AGGREGATES: usize = 20;
/// The largest number of groups that a question answers for, and of numbers in an answer.
pub const MOST_CELLS: usize = 10_000;
/// The largest number of edges or candidates of an aggregate.
pub const MOST_PLACES: usize = 2_000;

/// A legal aggregate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedAggregate {
    /// The name in the answer. It is not part of the question's identity.
    #[serde(skip)]
    pub name: String,
    /// The query about the rows of a group.
    pub query: Query,
    /// The query's first column; `None` if rows or people are counted.
    pub column: Option<String>,
    /// The query's other columns, in the query's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// The condition under which a row's value is 1; else it is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indicator: Option<Condition>,
    /// True if people are counted instead of rows.
    #[serde(rename = "people")]
    pub counts_people: bool,
    /// True if rows without a value are left out, so that the number of rows used is not public.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skips_missing: bool,
    /// A row is used only if it has a value in each of these columns. They follow from the table's description.
    #[serde(skip)]
    pub required: Vec<String>,
}

/// A column that answers are grouped by, and its keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupColumn {
    /// The column's name.
    pub column: String,
    /// The declared keys.
    pub keys: Vec<Key>,
}

/// A question that is legal for a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedQuestion {
    table: String,
    filter: Option<Condition>,
    #[serde(rename = "groupings")]
    group_columns: Vec<GroupColumn>,
    #[serde(rename = "parts")]
    aggregates: Vec<CheckedAggregate>,
    rows: u64,
    groups: u64,
    #[serde(rename = "each")]
    rows_in_group: u64,
    #[serde(skip)]
    relation: Relation,
    #[serde(skip)]
    people: Option<u64>,
    /// True if every row belongs to a person and is used.
    #[serde(skip)]
    uses_every_row: bool,
    /// True if a person may have more rows than are used; each question then chooses among them.
    #[serde(skip)]
    chooses_rows: bool,
}

impl CheckedAggregate {
    /// The query's columns, in the query's order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.column.iter().chain(&self.others).map(String::as_str)
    }
}

impl Question {
    /// Checks a question against the table's public description.
    ///
    /// # Errors
    /// [`QuestionError`], naming the part of the question and the legal values.
    pub fn check(&self, table: &Table) -> Result<CheckedQuestion, QuestionError> {
        let filter = self.filter.as_ref();
        let mut conditions = FilterSize::default();
        let filter =
            filter.map(|filter| condition(filter, table, true, &mut conditions)).transpose()?;
        let group_columns = group_columns(&self.group, table)?;
        let length = self.aggregates.len();
        if !(1..=MOST_AGGREGATES).contains(&length) {
            return Err(QuestionError::new("aggregates", format!("are {length}"), "1 to 20"));
        }
        let aggregates = self
            .aggregates
            .iter()
            .map(|one| check_aggregate(one, table))
            .collect::<Result<_, _>>()?;
        let rows = at_most("rows", self.rows, table.rows())?;
        let groups = at_most("groups", self.groups, table.groups())?.min(rows);
        let rows_in_group = at_most("rows_in_group", self.rows_in_group, rows)?;
        // With a person column, rows that name no person are not used. A person may have only such rows, and then has
        // no row in use.
        let uses_every_row = filter.is_none() && table.person().is_none();
        let checked = CheckedQuestion {
            uses_every_row,
            chooses_rows: table.person().is_some(),
            table: table.name().to_owned(),
            filter,
            group_columns,
            aggregates,
            rows,
            groups,
            rows_in_group,
            relation: table.relation(),
            people: table.people(),
        };
        checked.check_answer_size()?;
        Ok(checked)
    }
}

fn at_most(place: &str, asked: Option<u64>, most: u64) -> Result<u64, QuestionError> {
    match asked {
        None => Ok(most),
        Some(asked) if (1..=most).contains(&asked) => Ok(asked),
        Some(asked) => {
            Err(QuestionError::new(place, format!("is {asked}"), format!("1 to {most}")))
        }
    }
}

impl CheckedQuestion {
    /// The table's name.
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }

    /// The condition that a row must meet to be used.
    #[must_use]
    pub fn filter(&self) -> Option<&Condition> {
        self.filter.as_ref()
    }

    /// The columns that answers are grouped by.
    #[must_use]
    pub fn group_columns(&self) -> &[GroupColumn] {
        &self.group_columns
    }

    /// The aggregates.
    #[must_use]
    pub fn aggregates(&self) -> &[CheckedAggregate] {
        &self.aggregates
    }

    /// The largest numbers of rows of a person, of groups of a person, and of rows of a person in one group.
    #[must_use]
    pub fn contribution_limits(&self) -> (u64, u64, u64) {
        (self.rows, self.groups, self.rows_in_group)
    }

    /// The table's neighbouring relation.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The number of groups that are answered.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.group_columns.iter().map(|group_column| group_column.keys.len()).product()
    }

    /// The keys of the group with this index.
    #[must_use]
    pub fn group_keys(&self, cell: usize) -> Vec<&Key> {
        let mut left = cell;
        let mut keys: Vec<&Key> = Vec::new();
        for group_column in self.group_columns.iter().rev() {
            let length = group_column.keys.len().max(1);
            keys.extend(group_column.keys.get(left % length));
            left /= length;
        }
        keys.reverse();
        keys
    }

    /// Returns an error if an answer could be too long to be stored.
    fn check_answer_size(&self) -> Result<(), QuestionError> {
        let cells = self.group_columns.iter().try_fold(1_usize, |cells, group_column| {
            cells.checked_mul(group_column.keys.len()).filter(|cells| *cells <= MOST_CELLS)
        });
        let Some(cells) = cells else {
            return Err(QuestionError::new(
                "group",
                "has more than 10000 keys together",
                "at most 10000",
            ));
        };
        // A mean is computed from two numbers, a variance from three.
        let numbers: usize =
            self.aggregates.iter().map(|aggregate| aggregate.query.answer_length().max(3)).sum();
        let all = cells.saturating_mul(numbers);
        if all > 3 * MOST_CELLS {
            let problem = format!("would have up to {all} numbers");
            return Err(QuestionError::new(
                "the answer",
                problem,
                "at most 30000: fewer groups or bins",
            ));
        }
        Ok(())
    }
}

fn group_columns(columns: &[String], table: &Table) -> Result<Vec<GroupColumn>, QuestionError> {
    let mut seen = BTreeSet::new();
    let group_column = |column: &String| {
        let (column, keys) = category_column(column, table)?;
        if !seen.insert(column.to_owned()) {
            return Err(QuestionError::new(format!("{column:?}"), "is grouped by twice", "once"));
        }
        Ok(GroupColumn { column: column.to_owned(), keys: keys.to_vec() })
    };
    columns.iter().map(group_column).collect()
}
