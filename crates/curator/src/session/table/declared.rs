//! What is declared of a session about a table, and what is asked of it: by what is public alone.

use crate::charge::{Error, text};
use crate::session::own::Own;
use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{
    Bounds, Grid, GuessAndCheck, Interactive, Question as Put, Sequence, SparseVector,
};
use counterpoint_questions::public::Table;
use counterpoint_questions::question::{Aggregate, Of, Question};
use counterpoint_questions::{Checked, Illegal, Part, Spend, number, part, recipe};
use serde::{Deserialize, Serialize};

/// So many grid steps at least are what a person moves a sum by: rounding is not felt, and 2^32 are far.
const STEPS: f64 = (1_u64 << 22) as f64;

/// What a gate's queries are: sums of numbers within bounds, a column's own or these; counts, if neither is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summed {
    /// The column whose bounds they are.
    pub column: Option<String>,
    /// The bounds, if not a column's own.
    pub bounds: Option<(f64, f64)>,
}

/// What is declared: what will be asked, and how much of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Declared {
    /// Which queries are above a threshold. Costs 3 epsilon, and a fourth with values.
    SparseVector {
        /// The epsilon.
        epsilon: f64,
        /// It ends with so many answers above.
        answers: u64,
        /// The threshold.
        threshold: f64,
        /// Whether answers above have a value.
        values: bool,
        /// What the queries are.
        of: Summed,
    },
    /// Which guesses are wrong, and what would be right. Costs 4 epsilon.
    GuessAndCheck {
        /// The epsilon.
        epsilon: f64,
        /// It ends with so many corrections.
        corrections: u64,
        /// Guesses that are off by about this are wrong.
        tolerance: f64,
        /// What the queries are.
        of: Summed,
    },
    /// Aggregates at these costs. Others may be asked in their place that cost the same.
    Sequence(Vec<(Of, Spend)>),
}

/// A question to a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// A filter and one aggregate.
    pub question: Question,
    /// The guess that is checked.
    pub guess: Option<f64>,
    /// What it costs of a sequence.
    pub spend: Option<Spend>,
}

/// What is stored of a session when it is opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    version: u64,
    /// What its analyst calls it.
    pub key: String,
    /// The table that it is about.
    pub table: String,
    /// What was declared.
    pub declared: Runs,
}

/// What a session runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Runs {
    /// A mechanism that the owner registered.
    Own(Own),
    /// One of ours.
    Ours(Interactive),
}

impl Runs {
    /// The mechanism, if it is one of ours.
    pub(crate) fn ours(&self) -> Result<&Interactive, Illegal> {
        match self {
            Self::Ours(declared) => Ok(declared),
            Self::Own(own) => {
                let legal = format!("own: what mechanism {:?} is to be asked", own.own);
                Err(Illegal::new("the question", "is about a table", legal))
            }
        }
    }
}

impl Summed {
    /// How far a record moves a query, and the grid that they are on; `None` for counts.
    fn reach(&self, table: &Table) -> Result<Option<(f64, Grid)>, Illegal> {
        let column = self.column.as_deref().map(|column| number(column, table));
        let own = column.transpose()?.map(|(_, bounds)| bounds);
        let bounds = match self.bounds {
            Some((low, high)) => {
                Some(Bounds::new(low, high).map_err(|error| cannot_be_had("bounds", &error))?)
            }
            None => own,
        };
        let Some(bounds) = bounds else { return Ok(None) };
        let (low, high) = (bounds.low(), bounds.high());
        let reach = match table.relation().adjacency() {
            Adjacency::AddRemove => low.abs().max(high.abs()),
            // Whoever is replaced may have passed the filter, and whoever comes may not.
            Adjacency::Replace if low < 0.0 && high > 0.0 => (high - low).next_up(),
            Adjacency::Replace => low.abs().max(high.abs()),
        };
        let step = reach * table.relation().records() as f64 / STEPS;
        let grid = Grid::at_most(step).map_err(|error| cannot_be_had("bounds", &error))?;
        Ok(Some((reach, grid)))
    }
}

impl Declared {
    /// What is declared of a table.
    ///
    /// # Errors
    /// [`Illegal`] unless every number is legal, by what is public.
    pub fn made(&self, table: &Table) -> Result<Interactive, Illegal> {
        let wrong = |error: counterpoint_mechanisms::Error| cannot_be_had("the session", &error);
        match self {
            Self::SparseVector { epsilon, answers, threshold, values, of } => {
                let mut made = SparseVector::new(*epsilon, *answers, *threshold).map_err(wrong)?;
                if let Some((reach, grid)) = of.reach(table)? {
                    made = made.scaled(reach, grid).map_err(wrong)?;
                }
                Ok(if *values { made.with_values() } else { made }.into())
            }
            Self::GuessAndCheck { epsilon, corrections, tolerance, of } => {
                let made = GuessAndCheck::new(*epsilon, *corrections, *tolerance).map_err(wrong)?;
                match of.reach(table)? {
                    Some((reach, grid)) => Ok(made.scaled(reach, grid).map_err(wrong)?.into()),
                    None => Ok(made.into()),
                }
            }
            Self::Sequence(list) => {
                let step = |(of, spend): &(Of, Spend)| {
                    let part = part(&Aggregate { name: None, of: of.clone() }, table)?;
                    rows_only(&part)?;
                    recipe(&part, *spend, 1.0).map_err(wrong)
                };
                let recipes = list.iter().map(step).collect::<Result<Vec<_>, _>>()?;
                Ok(Sequence::new(recipes).map_err(wrong)?.into())
            }
        }
    }
}

/// What is wrong with what was declared, or asked.
pub(super) fn cannot_be_had(place: &str, error: &counterpoint_mechanisms::Error) -> Illegal {
    Illegal::new(place, format!("cannot be had: {error}"), "what the message says")
}

/// People are counted once whatever they have; a session's noise is for all their rows.
fn rows_only(part: &Part) -> Result<(), Illegal> {
    if part.people {
        let legal = "a count of rows, or a question of its own";
        return Err(Illegal::new(&part.name, "counts people, in a session", legal));
    }
    Ok(())
}

/// What a session's questions are about: a filter leaves some of the rows.
pub(super) fn relation(table: &Table) -> Relation {
    table.relation().of_some()
}

impl Declaration {
    pub(super) fn of(key: &str, table: &str, declared: Runs) -> Self {
        Self { version: 1, key: key.to_owned(), table: table.to_owned(), declared }
    }

    /// As it is stored.
    pub(super) fn written(&self) -> Result<Vec<u8>, Error> {
        text::write(self)
    }

    /// What was stored.
    ///
    /// # Errors
    /// [`Error::Unreadable`] if it was not stored here.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        text::read("a session's declaration", bytes)
    }

    /// The question that a question about the table is to this session, if it is about its table.
    pub(super) fn step(&self, checked: &Checked, asked: &Asked) -> Result<Put, Illegal> {
        if checked.table() != self.table {
            let place = format!("table {:?}", checked.table());
            let legal = format!("questions about {:?}", self.table);
            return Err(Illegal::new(place, "is not what the session is about", legal));
        }
        let [part] = checked.parts() else {
            let problem = format!("are {}", checked.parts().len());
            return Err(Illegal::new("aggregates", problem, "one, in a session"));
        };
        if !checked.groupings().is_empty() {
            return Err(Illegal::new("group", "is there", "none, in a session: a filter"));
        }
        rows_only(part)?;
        let query = part.query.clone();
        match (self.declared.ours()?, asked.guess, asked.spend) {
            (Interactive::SparseVector(_), None, None) => Ok(Put::Above(query)),
            (Interactive::GuessAndCheck(_), Some(guess), None) => Ok(Put::Check(query, guess)),
            (Interactive::Sequence(_), None, Some(spend)) => {
                let wrong = |error| cannot_be_had(&part.name, &error);
                Ok(Put::Measure(recipe(part, spend, 1.0).map_err(wrong)?))
            }
            _ => {
                let legal = "a guess for guess-and-check, an epsilon or rho for a sequence, neither for sparse vector";
                Err(Illegal::new("the question", "is of another kind of session", legal))
            }
        }
    }
}
