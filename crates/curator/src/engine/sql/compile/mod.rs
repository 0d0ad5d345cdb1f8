//! From what is counted to SQL over whole numbers. Rows are filtered, then at most so many of a person are kept, then every
//! number is clamped and becomes a whole number of units; those are added up.

mod guess;
mod writer;
mod statement;

use super::dialect::Dialect;
use super::{Rows, Statement};
use crate::engine::choice::ChoiceKey;
use crate::engine::tabulation::{Counted, Sum, Tabulation, not_whole};
use counterpoint_questions::Illegal;
use counterpoint_questions::public::Table;
use statement::{LOWER_BITS, Pass};
use std::collections::BTreeMap;

/// A statement with more values, or a longer one, takes some engine seconds to plan, or is not taken at all.
const MOST_VALUES: usize = 12_000;
const MOST_BYTES: usize = 2 << 20;

/// Questions as one statement, which goes through the table once, and what its rows mean: the number of the question if there
/// are several, the number of what is told, a group, a place, and the sums. What is told first is the sums of a group; then, for
/// each column whose rows are counted between places, how many rows are at a place.
#[derive(Clone, Debug)]
pub struct Compiled<'a> {
    questions: &'a [&'a Tabulation],
    statement: Statement,
    /// Whether sums of units are in two columns.
    has_parts: bool,
}

/// Where a table's rows are found, as SQL, and how that is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// The rows as all engines see them.
    pub from: &'a str,
    /// How the engine's SQL differs.
    pub dialect: Dialect,
    /// What its engine knows of a person's rows.
    pub rows: PersonRows,
    /// The key of the hashes that choose among a person's rows.
    pub key: ChoiceKey,
}

/// What an engine sees to about the rows of one person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonRows {
    /// There is one at most, so that there is nothing to choose among.
    One,
    /// No two have the same number.
    Numbered,
    /// Nothing.
    Any,
}

/// The statement that counts for questions about one table.
///
/// # Errors
/// [`Illegal`] if it would be so long that it takes an engine too long to plan it.
pub(crate) fn compile<'a>(
    questions: &'a [&'a Tabulation],
    table: &Table,
    origin: Origin<'_>,
) -> Result<Compiled<'a>, Illegal> {
    let statement = Pass { questions, table, origin }.statement().ok_or_else(not_whole)?;
    let (values, bytes) = (statement.values.len(), statement.sql.len());
    if values <= MOST_VALUES && bytes <= MOST_BYTES {
        let has_parts = origin.dialect.summed.is_none();
        return Ok(Compiled { questions, statement, has_parts });
    }
    let problem = format!("would be a statement of {values} values and {bytes} bytes");
    let legal = format!(
        "at most {MOST_VALUES} values and {MOST_BYTES} bytes: fewer aggregates, conditions or categories"
    );
    Err(Illegal::new("the question", problem, legal))
}

/// What an engine told of a question: by the number of what is told, group and place, the numbers.
type Told = BTreeMap<[usize; 3], Vec<i128>>;

impl Compiled<'_> {
    /// What the engine is asked.
    #[must_use]
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// For each question and group the numbers of all aggregates. Groups of which the engine said nothing have no rows. `None`
    /// if the engine says something else.
    pub(crate) fn counted(&self, answer: &Rows) -> Option<Vec<Vec<Counted>>> {
        let mut told: Vec<Told> = vec![Told::new(); self.questions.len()];
        for row in answer {
            let (asked, own) = match self.questions.len() {
                1 => (&0, row.as_slice()),
                _ => row.split_first()?,
            };
            let [what, cell, place, sums @ ..] = own else { return None };
            let key = [index(*what)?, index(*cell)?, index(*place)?];
            told.get_mut(index(*asked)?)?.insert(key, sums.to_vec());
        }
        let people = self.questions.iter().any(|question| question.counts_people());
        let one = |(question, told): (&&Tabulation, &Told)| {
            let none = Vec::new();
            let sums =
                |cell| self.whole(question, people, told.get(&[0, cell, 0]).unwrap_or(&none));
            let count = |number: usize, cell, place| {
                let row = told.get(&[number + 1, cell, place]);
                row.and_then(|row| row.first().copied()).unwrap_or_default()
            };
            question.counted(sums, count)
        };
        Some(self.questions.iter().zip(&told).map(one).collect())
    }

    /// The sums of a row, the two parts of each together: rows, people if any question counts them, and units.
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
