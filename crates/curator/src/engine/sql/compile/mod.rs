//! Compiles tabulations to SQL over whole numbers. The statement filters rows, keeps a limited number of rows for each
//! person, clamps every number, rounds it to a whole number of units, and adds the units up.

mod guess;
mod writer;
mod statement;

use super::dialect::Dialect;
use super::{Rows, Statement};
use crate::engine::choice::ChoiceKey;
use crate::engine::tabulation::{RawGroup, Sum, Tabulation, not_countable};
use counterpoint_questions::QuestionError;
use counterpoint_questions::public::Table;
use statement::{LOWER_BITS, Pass};
use std::collections::BTreeMap;

/// Engines need seconds to plan statements with more values or bytes, or refuse them.
const MOST_VALUES: usize = 12_000;
const MOST_BYTES: usize = 2 << 20;

/// Questions as one statement that goes through the table once, and the meaning of the resulting rows. A row holds the
/// question's index (if there are several), the index of a series, a group, a gap, and sums. Series 0 holds the sums of
/// a group; each further series holds the numbers of rows in the gaps between a column's edges.
#[derive(Clone, Debug)]
pub struct BatchStatement<'a> {
    questions: &'a [&'a Tabulation],
    statement: Statement,
    /// True if each sum of units is returned in two columns.
    has_parts: bool,
}

/// A table's rows as SQL, and the SQL dialect to write statements in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// An SQL expression for the rows in the form that all engines share.
    pub from: &'a str,
    /// The engine's dialect.
    pub dialect: Dialect,
    /// The engine's guarantee about a person's rows.
    pub rows: PersonRows,
    /// The key of the hashes that choose among a person's rows.
    pub key: ChoiceKey,
}

/// An engine's guarantee about the rows of one person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonRows {
    /// A person has at most one row, so no choice is needed.
    One,
    /// No two rows of a person have the same row number.
    Numbered,
    /// No guarantee.
    Any,
}

/// Compiles questions about one table into one statement.
///
/// # Errors
/// [`QuestionError`] if the statement would be too long for an engine to plan.
pub(crate) fn compile_batch<'a>(
    questions: &'a [&'a Tabulation],
    table: &Table,
    origin: Origin<'_>,
) -> Result<BatchStatement<'a>, QuestionError> {
    let statement = Pass { questions, table, origin }.statement().ok_or_else(not_countable)?;
    let (values, bytes) = (statement.values.len(), statement.sql.len());
    if values <= MOST_VALUES && bytes <= MOST_BYTES {
        let has_parts = origin.dialect.exact_sum.is_none();
        return Ok(BatchStatement { questions, statement, has_parts });
    }
    let problem = format!("would be a statement of {values} values and {bytes} bytes");
    let legal = format!(
        "at most {MOST_VALUES} values and {MOST_BYTES} bytes: fewer aggregates, conditions or categories"
    );
    Err(QuestionError::new("the question", problem, legal))
}

/// An engine's rows for one question: the numbers by series, group and gap.
type RowsByKey = BTreeMap<[usize; 3], Vec<i128>>;

impl BatchStatement<'_> {
    /// The statement.
    #[must_use]
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Reads the raw groups of each question from the engine's rows. A group without rows in the result is empty.
    /// `None` if the rows do not fit the statement.
    pub(crate) fn raw_groups(&self, answer: &Rows) -> Option<Vec<Vec<RawGroup>>> {
        let mut rows_by_key: Vec<RowsByKey> = vec![RowsByKey::new(); self.questions.len()];
        for row in answer {
            let (question_index, own) = match self.questions.len() {
                1 => (&0, row.as_slice()),
                _ => row.split_first()?,
            };
            let [what, cell, place, sums @ ..] = own else { return None };
            let key = [index(*what)?, index(*cell)?, index(*place)?];
            rows_by_key.get_mut(index(*question_index)?)?.insert(key, sums.to_vec());
        }
        let people = self.questions.iter().any(|question| question.counts_people());
        let one = |(question, rows_by_key): (&&Tabulation, &RowsByKey)| {
            let none = Vec::new();
            let sums = |cell| {
                self.whole(question, people, rows_by_key.get(&[0, cell, 0]).unwrap_or(&none))
            };
            let count = |number: usize, cell, place| {
                let row = rows_by_key.get(&[number + 1, cell, place]);
                row.and_then(|row| row.first().copied()).unwrap_or_default()
            };
            question.raw_groups(sums, count)
        };
        Some(self.questions.iter().zip(&rows_by_key).map(one).collect())
    }

    /// The sums of a row: rows, people if any question counts them, and units, whose two parts are joined.
    fn whole(&self, question: &Tabulation, people: bool, row: &[i128]) -> Vec<i128> {
        let number = |column: usize| row.get(column).copied().unwrap_or_default();
        let mut units = if people { 2.. } else { 1.. };
        let mut next = || units.next().map(number).unwrap_or_default();
        let sum = |sum: &Sum| match sum {
            Sum::Rows => number(0),
            Sum::People => number(1),
            Sum::Units(..) if self.has_parts => (next() << LOWER_BITS) + next(),
            Sum::Units(..) => next(),
        };
        question.sums.iter().map(sum).collect()
    }
}

fn index(number: i128) -> Option<usize> {
    usize::try_from(number).ok()
}
