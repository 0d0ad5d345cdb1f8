//! The declaration of a session about a table, and its questions. Both are checked against the public description
//! alone.

use crate::charge::{Error, text};
use crate::session::custom::CustomMechanism;
use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{
    Bounds, Grid, GuessAndCheck, InteractiveMechanism, Sequence, SessionQuery, SparseVector,
};
use counterpoint_questions::public::Table;
use counterpoint_questions::question::{Aggregate, AggregateKind, Question};
use counterpoint_questions::{
    CheckedAggregate, CheckedQuestion, QuestionError, Spend, check_aggregate, noisy_query,
    number_column,
};
use serde::{Deserialize, Serialize};

/// The least number of grid steps by which a person can move a sum. It makes rounding negligible and stays far below
/// 2^32.
const STEPS: f64 = (1_u64 << 22) as f64;

/// The queries of a sparse vector or guess-and-check session: sums of numbers within bounds, or counts if neither field
/// is set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuerySpec {
    /// The column whose declared bounds apply.
    pub column: Option<String>,
    /// The bounds, if they are not the column's own.
    pub bounds: Option<(f64, f64)>,
}

/// The declaration of a session: its mechanism, and how much may be asked.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionSpec {
    /// Reports which queries are above a threshold. Costs 3 epsilon, or 4 epsilon with values.
    SparseVector {
        /// The unit of the cost.
        epsilon: f64,
        /// The number of answers "above" after which the session ends.
        answers: u64,
        /// The threshold.
        threshold: f64,
        /// True if answers "above" contain a value.
        values: bool,
        /// The queries.
        of: QuerySpec,
    },
    /// Reports which guesses are wrong, with a corrected value. Costs 4 epsilon.
    GuessAndCheck {
        /// The unit of the cost.
        epsilon: f64,
        /// The number of corrections after which the session ends.
        corrections: u64,
        /// The approximate error from which a guess counts as wrong.
        tolerance: f64,
        /// The queries.
        of: QuerySpec,
    },
    /// Aggregates at declared costs. A question may ask for another aggregate of the same cost instead.
    Sequence(Vec<(AggregateKind, Spend)>),
}

/// A question to a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionQuestion {
    /// The question: a filter and one aggregate.
    pub question: Question,
    /// The guess to check, for guess-and-check.
    pub guess: Option<f64>,
    /// The cost to spend, for a sequence.
    pub spend: Option<Spend>,
}

/// The stored declaration of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionRecord {
    version: u64,
    /// The analyst's key for the session.
    pub key: String,
    /// The table that the session is about.
    pub table: String,
    /// The mechanism that the session runs.
    #[serde(rename = "declared")]
    pub mechanism: SessionMechanism,
}

/// The mechanism that a session runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SessionMechanism {
    /// A mechanism that the owner registered.
    Custom(CustomMechanism),
    /// A mechanism of this program.
    BuiltIn(InteractiveMechanism),
}

impl SessionMechanism {
    /// Returns the mechanism if it is built in.
    pub(crate) fn built_in(&self) -> Result<&InteractiveMechanism, QuestionError> {
        match self {
            Self::BuiltIn(mechanism) => Ok(mechanism),
            Self::Custom(custom) => {
                let legal = format!("own, with a question for mechanism {:?}", custom.name);
                Err(QuestionError::new("the question", "is about a table", legal))
            }
        }
    }
}

impl QuerySpec {
    /// The largest change of a query by one record, and the grid of the query's values; `None` for counts.
    fn row_reach(&self, table: &Table) -> Result<Option<(f64, Grid)>, QuestionError> {
        let column = self.column.as_deref().map(|column| number_column(column, table));
        let own = column.transpose()?.map(|(_, bounds)| bounds);
        let bounds = match self.bounds {
            Some((low, high)) => {
                Some(Bounds::new(low, high).map_err(|error| illegal_parameter("bounds", &error))?)
            }
            None => own,
        };
        let Some(bounds) = bounds else { return Ok(None) };
        let (low, high) = (bounds.low(), bounds.high());
        let reach = match table.relation().adjacency() {
            Adjacency::AddRemove => low.abs().max(high.abs()),
            // The replaced person may pass the filter while the new one does not, or the reverse.
            Adjacency::Replace if low < 0.0 && high > 0.0 => (high - low).next_up(),
            Adjacency::Replace => low.abs().max(high.abs()),
        };
        let step = reach * table.relation().records() as f64 / STEPS;
        let grid = Grid::at_most(step).map_err(|error| illegal_parameter("bounds", &error))?;
        Ok(Some((reach, grid)))
    }
}

impl SessionSpec {
    /// Builds the mechanism for a table.
    ///
    /// # Errors
    /// [`QuestionError`] unless every parameter is legal by the public description.
    pub fn mechanism(&self, table: &Table) -> Result<InteractiveMechanism, QuestionError> {
        let wrong =
            |error: counterpoint_mechanisms::Error| illegal_parameter("the session", &error);
        match self {
            Self::SparseVector { epsilon, answers, threshold, values, of } => {
                let mut made = SparseVector::new(*epsilon, *answers, *threshold).map_err(wrong)?;
                if let Some((reach, grid)) = of.row_reach(table)? {
                    made = made.scaled(reach, grid).map_err(wrong)?;
                }
                Ok(if *values { made.with_values() } else { made }.into())
            }
            Self::GuessAndCheck { epsilon, corrections, tolerance, of } => {
                let made = GuessAndCheck::new(*epsilon, *corrections, *tolerance).map_err(wrong)?;
                match of.row_reach(table)? {
                    Some((reach, grid)) => Ok(made.scaled(reach, grid).map_err(wrong)?.into()),
                    None => Ok(made.into()),
                }
            }
            Self::Sequence(list) => {
                let step = |(of, spend): &(AggregateKind, Spend)| {
                    let aggregate =
                        check_aggregate(&Aggregate { name: None, of: of.clone() }, table)?;
                    check_counts_rows(&aggregate)?;
                    noisy_query(&aggregate, *spend, 1.0).map_err(wrong)
                };
                let recipes = list.iter().map(step).collect::<Result<Vec<_>, _>>()?;
                Ok(Sequence::new(recipes).map_err(wrong)?.into())
            }
        }
    }
}

/// The error for an illegal parameter of a declaration or question.
pub(super) fn illegal_parameter(
    place: &str,
    error: &counterpoint_mechanisms::Error,
) -> QuestionError {
    QuestionError::new(place, format!("is not legal: {error}"), "other parameters")
}

/// Returns an error for a count of people: it counts a person once, while a session's noise is for all rows of a
/// person.
fn check_counts_rows(aggregate: &CheckedAggregate) -> Result<(), QuestionError> {
    if aggregate.counts_people {
        let legal = "a count of rows, or a question of its own";
        return Err(QuestionError::new(&aggregate.name, "counts people in a session", legal));
    }
    Ok(())
}

/// The relation of the rows that a session's questions use: filters leave some of the table's rows.
pub(super) fn relation(table: &Table) -> Relation {
    table.relation().filtered()
}

impl SessionRecord {
    pub(super) fn new(key: &str, table: &str, mechanism: SessionMechanism) -> Self {
        Self { version: 1, key: key.to_owned(), table: table.to_owned(), mechanism }
    }

    /// The stored form.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        text::write(self)
    }

    /// Reads a stored declaration.
    ///
    /// # Errors
    /// [`Error::Unreadable`] if this program did not store the bytes.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        text::read("a session's declaration", bytes)
    }

    /// Converts a question about the table to a query of the session's mechanism.
    pub(super) fn session_query(
        &self,
        checked: &CheckedQuestion,
        question: &SessionQuestion,
    ) -> Result<SessionQuery, QuestionError> {
        if checked.table() != self.table {
            let place = format!("table {:?}", checked.table());
            let legal = format!("questions about {:?}", self.table);
            return Err(QuestionError::new(place, "is not the table of the session", legal));
        }
        let [aggregate] = checked.aggregates() else {
            let problem = format!("are {}", checked.aggregates().len());
            return Err(QuestionError::new("aggregates", problem, "one, in a session"));
        };
        if !checked.group_columns().is_empty() {
            return Err(QuestionError::new(
                "group",
                "is given",
                "no group in a session; a filter selects rows",
            ));
        }
        check_counts_rows(aggregate)?;
        let query = aggregate.query.clone();
        match (self.mechanism.built_in()?, question.guess, question.spend) {
            (InteractiveMechanism::SparseVector(_), None, None) => Ok(SessionQuery::Above(query)),
            (InteractiveMechanism::GuessAndCheck(_), Some(guess), None) => {
                Ok(SessionQuery::Check(query, guess))
            }
            (InteractiveMechanism::Sequence(_), None, Some(spend)) => {
                let wrong = |error| illegal_parameter(&aggregate.name, &error);
                Ok(SessionQuery::Measure(noisy_query(aggregate, spend, 1.0).map_err(wrong)?))
            }
            _ => {
                let legal = "a guess for guess-and-check, an epsilon or rho for a sequence, neither for sparse vector";
                Err(QuestionError::new("the question", "does not fit the kind of session", legal))
            }
        }
    }
}
