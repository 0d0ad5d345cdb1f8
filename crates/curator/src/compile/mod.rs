//! From the algebra to SQL over whole numbers. Rows are filtered, then at most so many of a person are kept, then every
//! number is clamped and becomes a whole number of units; those are added up.

mod guess;
mod writer;
mod statement;

use crate::engine::{Dialect, Rows, Statement};
use counterpoint_mechanisms::{Measurement, Of, Summand, Tally};
use counterpoint_questions::Illegal;
use counterpoint_questions::public::Table;
use counterpoint_questions::{Checked, Part};
use statement::{Asked, LOWER_BITS, Source};
use std::collections::BTreeMap;

/// Larger units would overflow 64 bits, in tables of 2^33 rows. No noise that can be asked for needs them.
const MOST_UNIT: u64 = 1 << 50;

/// A statement with more values, or a longer one, takes some engine seconds to plan, or is not taken at all.
const MOST_VALUES: usize = 12_000;
const MOST_BYTES: usize = 2 << 20;

/// A question as a statement, and what its rows mean: the number of what is told, a group, a place, and the sums. What is
/// told first is the sums of a group; then, for each aggregate that wants them, how many rows are at a place.
#[derive(Clone, Debug)]
pub struct Compiled {
    statement: Statement,
    /// What is added up, in order.
    sums: Vec<Sum>,
    /// What is counted between places, in order.
    counts: Vec<Places>,
    /// How each aggregate's tally is made.
    tallies: Vec<Made>,
    cells: usize,
    /// Whether sums of units are in two columns.
    has_parts: bool,
}

/// What is added up.
#[derive(Clone, Debug, PartialEq)]
enum Sum {
    /// How many rows.
    Rows,
    /// How many people.
    People,
    /// Of units.
    Units(Added),
}

/// What rows add to a sum of units.
#[derive(Clone, Debug, PartialEq)]
struct Added {
    column: String,
    summand: Summand,
    /// Whether rows whose value is missing add nothing.
    skips_missing: bool,
}

/// A column whose rows are counted between places.
#[derive(Clone, Debug)]
struct Places {
    column: String,
    places: Vec<f64>,
    /// Whether rows whose value is missing are in no place.
    skips_missing: bool,
}

/// What has to be known of a group's rows, for one aggregate.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// These, added up over the rows.
    Sums(Vec<Summand>),
    /// How many rows are between these numbers, and whether those below the first and from the last count too.
    Places(Vec<f64>, bool),
}

impl Wanted {
    /// What a measurement's tally is made of; `None` if of something else.
    #[must_use]
    pub fn of(measurement: &Measurement) -> Option<Self> {
        let summands = measurement.summands();
        if !summands.is_empty() {
            return Some(Self::Sums(summands));
        }
        measurement.places().map(|(places, ends)| Self::Places(places.to_vec(), ends))
    }
}

/// What was found of a group: how many rows, and for each aggregate its numbers. **It is as secret as the data.**
#[derive(Clone, PartialEq)]
pub struct Counted {
    /// How many rows.
    pub rows: u64,
    /// For each aggregate a number for each summand, or place.
    pub numbers: Vec<Vec<i128>>,
}

/// Without the numbers: what is printed may end up in a log.
impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counted").finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
enum Made {
    /// Of these sums, and what a row or person counts where they are counted.
    Sums(Vec<(usize, i64)>),
    /// Of what is told under this number. So many places, the first and the last left out or not.
    Places { told: usize, places: usize, ends: bool },
}

/// The statement that finds out what is wanted for each aggregate of a question, of a table as [`crate::Held::place`] has it.
/// It goes through the table once.
///
/// # Errors
/// [`Illegal`] if it is not made of sums and counts of one column, as legal questions are at costs that make sense, or would
/// be so long that it takes an engine too long to plan it.
pub fn compile(
    checked: &Checked,
    wanted: &[Wanted],
    table: &Table,
    origin: &Origin<'_>,
) -> Result<Compiled, Illegal> {
    let compiled = compiled(checked, wanted, table, origin).ok_or_else(not_whole)?;
    let (values, bytes) = (compiled.statement.values.len(), compiled.statement.sql.len());
    if values <= MOST_VALUES && bytes <= MOST_BYTES {
        return Ok(compiled);
    }
    let problem = format!("would be a statement of {values} values and {bytes} bytes");
    let legal = format!(
        "at most {MOST_VALUES} values and {MOST_BYTES} bytes: fewer aggregates, conditions or categories"
    );
    Err(Illegal::new("the question", problem, legal))
}

/// What no engine is asked.
pub(crate) fn not_whole() -> Illegal {
    Illegal::new("the question", "cannot be added up in whole numbers", "other costs or bounds")
}

/// Where a table's rows are found, as SQL, and how that is written.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The rows as all engines see them.
    pub from: &'a str,
    /// How the engine's SQL differs.
    pub dialect: Dialect,
    /// What its engine knows of a person's rows.
    pub rows: PersonRows,
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

fn compiled(
    checked: &Checked,
    wanted: &[Wanted],
    table: &Table,
    origin: &Origin<'_>,
) -> Option<Compiled> {
    let mut sums: Vec<Sum> = vec![Sum::Rows];
    let mut counts: Vec<Places> = Vec::new();
    let mut tallies = Vec::new();
    for (part, wanted) in checked.parts().iter().zip(wanted) {
        match wanted {
            Wanted::Places(places, ends) => {
                counts.push(Places {
                    column: part.column.clone()?,
                    places: places.clone(),
                    skips_missing: part.skips_missing,
                });
                let (told, ends) = (counts.len(), *ends);
                tallies.push(Made::Places { told, places: places.len() + 1, ends });
            }
            Wanted::Sums(summands) => {
                let places = summands.iter().map(|summand| placed(&mut sums, part, summand));
                tallies.push(Made::Sums(places.collect::<Option<Vec<_>>>()?));
            }
        }
    }
    let questions = [Asked { checked, sums: &sums, counts: &counts }];
    let statement = Source { questions: &questions, table, origin: *origin }.statement()?;
    let (cells, has_parts) = (checked.cells(), origin.dialect.summed.is_none());
    Some(Compiled { statement, sums, counts, tallies, cells, has_parts })
}

/// Where a summand's sum is found, and what one row counts for.
fn placed(sums: &mut Vec<Sum>, part: &Part, summand: &Summand) -> Option<(usize, i64)> {
    let (low, high) = summand.ends();
    if low.unsigned_abs().max(high.unsigned_abs()) > MOST_UNIT {
        return None;
    }
    let (sum, each) = match (summand.of(), part.people) {
        (Of::Ones(None), true) => (Sum::People, high),
        (Of::Ones(None), false) if !part.skips_missing => (Sum::Rows, high),
        _ => {
            let (column, summand) = (part.column.clone()?, *summand);
            (Sum::Units(Added { column, summand, skips_missing: part.skips_missing }), 1)
        }
    };
    let place = sums.iter().position(|other| *other == sum).unwrap_or_else(|| {
        sums.push(sum);
        sums.len() - 1
    });
    Some((place, each))
}

impl Compiled {
    /// What the engine is asked.
    #[must_use]
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// For each group the tallies of all aggregates. Groups of which the engine said nothing have no rows.
    #[must_use]
    pub fn tallies(&self, measured: &[Measurement], answer: &Rows) -> Option<Vec<Vec<Tally>>> {
        let cell = |Counted { rows, numbers }: Counted| {
            let tally = |(measurement, numbers): (&Measurement, Vec<i128>)| {
                measurement.tallied(rows, numbers).ok()
            };
            measured.iter().zip(numbers).map(tally).collect::<Option<Vec<Tally>>>()
        };
        self.counted(answer)?.into_iter().map(cell).collect()
    }

    /// For each group the numbers of all aggregates, likewise.
    #[must_use]
    pub fn counted(&self, answer: &Rows) -> Option<Vec<Counted>> {
        let told: BTreeMap<[usize; 3], Vec<i128>> = answer
            .iter()
            .map(|row| match row.as_slice() {
                [told, cell, place, sums @ ..] => {
                    Some(([index(*told)?, index(*cell)?, index(*place)?], self.whole(sums)))
                }
                _ => None,
            })
            .collect::<Option<_>>()?;
        let nothing = vec![0; self.sums.len()];
        let cell = |cell: usize| {
            let sums = told.get(&[0, cell, 0]).unwrap_or(&nothing);
            let rows = sums.first().copied().unwrap_or_default();
            let numbers = |made: &Made| match made {
                Made::Sums(places) => {
                    let one = |(place, each): &(usize, i64)| {
                        Some(sums.get(*place)?.saturating_mul(i128::from(*each)))
                    };
                    places.iter().map(one).collect::<Option<Vec<i128>>>()
                }
                Made::Places { told: number, places, ends } => {
                    let inner = if *ends { 0..*places } else { 1..places.saturating_sub(1) };
                    let found = |place| told.get(&[*number, cell, place])?.first().copied();
                    let count = |place| found(place).unwrap_or_default();
                    Some(inner.map(count).collect())
                }
            };
            let numbers = self.tallies.iter().map(numbers).collect::<Option<Vec<_>>>()?;
            Some(Counted { rows: u64::try_from(rows).unwrap_or_default(), numbers })
        };
        (0..self.cells).map(cell).collect()
    }

    fn counts_people(&self) -> bool {
        self.sums.contains(&Sum::People)
    }

    /// The sums of a row, the two parts of each together: rows, people if they are counted, and units.
    fn whole(&self, row: &[i128]) -> Vec<i128> {
        let number = |column: usize| row.get(column).copied().unwrap_or_default();
        let mut units = if self.counts_people() { 2.. } else { 1.. };
        let mut next = || units.next().map(number).unwrap_or_default();
        let sum = |sum: &Sum| match sum {
            Sum::Rows => number(0),
            Sum::People => number(1),
            Sum::Units(..) if self.has_parts => (next() << LOWER_BITS) + next(),
            Sum::Units(..) => next(),
        };
        self.sums.iter().map(sum).collect()
    }
}

/// Several questions as one statement, which goes through the table once.
#[derive(Clone, Debug)]
pub struct Together {
    statement: Statement,
    /// For each question whether it counts people.
    people: Vec<bool>,
}

/// Where a question's row counts people, if it does: after what is told, the group, the place and the number of rows.
const PEOPLE: usize = 4;

/// The statement that asks several questions about one table, each as [`compile`] made it. `None` if that would be too long, or there is
/// only one.
#[must_use]
pub fn together(
    questions: &[(&Checked, &Compiled)],
    table: &Table,
    origin: &Origin<'_>,
) -> Option<Together> {
    let asked = questions.iter().map(|(checked, compiled)| Asked {
        checked,
        sums: &compiled.sums,
        counts: &compiled.counts,
    });
    let asked: Vec<Asked<'_>> = asked.collect();
    let statement = Source { questions: &asked, table, origin: *origin }.statement()?;
    let people = questions.iter().map(|(_, compiled)| compiled.counts_people()).collect();
    let fits = asked.len() > 1
        && statement.values.len() <= MOST_VALUES
        && statement.sql.len() <= MOST_BYTES;
    fits.then_some(Together { statement, people })
}

impl Together {
    /// What the engine is asked.
    #[must_use]
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// For each question the rows that its own statement would have had. `None` if the engine says something else.
    #[must_use]
    pub fn split(&self, answer: &Rows) -> Option<Vec<Rows>> {
        let mut all: Vec<Rows> = vec![Rows::new(); self.people.len()];
        for row in answer {
            let (asked, own) = row.split_first()?;
            let asked = index(*asked)?;
            let mut own = own.to_vec();
            if self.people.contains(&true) && !*self.people.get(asked)? {
                own.get(PEOPLE)?;
                own.remove(PEOPLE);
            }
            all.get_mut(asked)?.push(own);
        }
        Some(all)
    }
}

fn index(number: i128) -> Option<usize> {
    usize::try_from(number).ok()
}
