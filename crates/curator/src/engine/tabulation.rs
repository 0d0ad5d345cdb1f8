//! The whole numbers that an engine counts for a question. They are the same for every engine: sums over a group's
//! rows, and numbers of rows between edges.

use counterpoint_mechanisms::{Bounds, Gaps, Measurement, Summand, Term};
use counterpoint_questions::question::Condition;
use counterpoint_questions::{CheckedAggregate, CheckedQuestion, QuestionError};

/// The largest unit count of a row. Larger ones could overflow 64 bits in tables of 2^33 rows, and no noise that can be
/// requested needs them.
const MOST_UNIT: u64 = 1 << 50;

/// A question, and the whole numbers to count for it. It does not depend on the engine.
#[derive(Clone, Debug)]
pub struct Tabulation {
    pub(crate) checked: CheckedQuestion,
    /// The sums over a group's rows, in order.
    pub(crate) sums: Vec<Sum>,
    /// The columns whose rows are counted between edges, in order.
    pub(crate) counts: Vec<BinCounts>,
    /// For each aggregate, the place of its numbers among the sums and counts.
    aggregates: Vec<AggregateFormula>,
}

/// A sum over a group's rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sum {
    /// The number of rows.
    Rows,
    /// The number of people.
    People,
    /// A sum of the rows' units.
    Units(Box<UnitSum>),
}

/// The units that a row adds to a sum.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnitSum {
    /// The columns of the first and the second factor; the same column twice if there is one factor.
    pub columns: [String; 2],
    pub summand: Summand,
    /// Rows without a value in one of these columns add nothing.
    pub required: Vec<String>,
    /// Rows that meet this condition add the larger number, and other rows the smaller one.
    pub indicator: Option<Condition>,
}

/// A column whose rows are counted between edges.
#[derive(Clone, Debug)]
pub(crate) struct BinCounts {
    pub column: String,
    pub edges: Vec<f64>,
    /// True if rows without a value are counted nowhere; else they count as below all edges.
    pub skips_missing: bool,
}

/// Bounds for two factors. If a factor is smaller than its bound, the product is lost in rounding.
pub(crate) fn tiny_factors(lost: f64, x: Bounds, y: Bounds) -> [f64; 2] {
    let half = |bounds: Bounds| 0.5 * bounds.high() - 0.5 * bounds.low();
    [lost / half(y), lost / half(x)]
}

/// The whole numbers of a group that one aggregate's measurement needs.
#[derive(Clone, Debug, PartialEq)]
pub enum TallySpec {
    /// The sums of these summands over the rows.
    Sums(Vec<Summand>),
    /// The numbers of rows in the gaps between these edges.
    Bins(Vec<f64>, Gaps),
}

impl TallySpec {
    /// The whole numbers that a measurement's tally consists of; `None` if it consists of something else.
    #[must_use]
    pub fn of(measurement: &Measurement) -> Option<Self> {
        let summands = measurement.summands();
        if !summands.is_empty() {
            return Some(Self::Sums(summands));
        }
        measurement.places().map(|(edges, gaps)| Self::Bins(edges.to_vec(), gaps))
    }
}

/// The raw numbers of a group: its number of rows, and the numbers of each aggregate. **They are as secret as the
/// data.**
#[derive(Clone, PartialEq)]
pub struct RawGroup {
    /// The number of rows.
    pub rows: u64,
    /// For each aggregate, one number for each summand or gap.
    pub numbers: Vec<Vec<i128>>,
}

/// Omits the numbers, as debug output may end up in a log.
impl std::fmt::Debug for RawGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counted").finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
enum AggregateFormula {
    /// Indices of sums, each with a factor: the units of one row or person if these are counted.
    Sums(Vec<(usize, i64)>),
    /// The index of a column's counts, its number of gaps, and the gaps that belong to the answer.
    Bins { number: usize, count: usize, gaps: Gaps },
}

/// The error for a question that no engine can count.
pub(crate) fn not_countable() -> QuestionError {
    QuestionError::new(
        "the question",
        "cannot be added up in whole numbers",
        "other costs or bounds",
    )
}

impl Tabulation {
    /// Determines the whole numbers for a question. `spec` lists the needs of each aggregate.
    ///
    /// # Errors
    /// [`QuestionError`] unless sums and counts of one column suffice. They do for every legal question at a reasonable
    /// cost.
    pub fn new(checked: &CheckedQuestion, spec: &[TallySpec]) -> Result<Self, QuestionError> {
        let (sums, counts, aggregates) = (vec![Sum::Rows], Vec::new(), Vec::new());
        let mut made = Self { checked: checked.clone(), sums, counts, aggregates };
        for (aggregate, spec) in checked.aggregates().iter().zip(spec) {
            made.add(aggregate, spec).ok_or_else(not_countable)?;
        }
        Ok(made)
    }

    fn add(&mut self, aggregate: &CheckedAggregate, spec: &TallySpec) -> Option<()> {
        let made = match spec {
            TallySpec::Bins(edges, gaps) => {
                self.counts.push(BinCounts {
                    column: aggregate.column.clone()?,
                    edges: edges.clone(),
                    skips_missing: aggregate.skips_missing,
                });
                let (number, count) = (self.counts.len() - 1, edges.len() + 1);
                AggregateFormula::Bins { number, count, gaps: *gaps }
            }
            TallySpec::Sums(summands) => {
                let sums = summands.iter().map(|summand| self.sum_of(aggregate, summand));
                AggregateFormula::Sums(sums.collect::<Option<_>>()?)
            }
        };
        self.aggregates.push(made);
        Some(())
    }

    /// Returns the index of a summand's sum and the units of one row in it. Adds the sum if it is new.
    fn sum_of(&mut self, aggregate: &CheckedAggregate, summand: &Summand) -> Option<(usize, i64)> {
        let (low, high) = summand.ends();
        let is_countable = match summand.term() {
            Term::Ones(Some(_)) | Term::Sides(_) => aggregate.indicator.is_some(),
            _ => aggregate.indicator.is_none() || matches!(summand.term(), Term::Ones(None)),
        };
        if !is_countable || low.unsigned_abs().max(high.unsigned_abs()) > MOST_UNIT {
            return None;
        }
        let (sum, each) = match (summand.term(), aggregate.counts_people) {
            (Term::Ones(None), true) => (Sum::People, high),
            (Term::Ones(None), false) if !aggregate.skips_missing => (Sum::Rows, high),
            _ => {
                let all: Vec<&str> = aggregate.columns().collect();
                let [first, second] =
                    summand.columns().map(|at| all.get(at).map(|one| (*one).to_owned()));
                let added = UnitSum {
                    columns: [first?, second?],
                    summand: *summand,
                    required: aggregate.required.clone(),
                    indicator: aggregate.indicator.clone(),
                };
                (Sum::Units(Box::new(added)), 1)
            }
        };
        let place = self.sums.iter().position(|other| *other == sum).unwrap_or_else(|| {
            self.sums.push(sum);
            self.sums.len() - 1
        });
        Some((place, each))
    }

    /// The checked question.
    #[must_use]
    pub fn checked(&self) -> &CheckedQuestion {
        &self.checked
    }

    /// The sums of units, in order.
    pub(crate) fn units(&self) -> impl Iterator<Item = &UnitSum> {
        self.sums.iter().filter_map(|sum| match sum {
            Sum::Units(added) => Some(&**added),
            _ => None,
        })
    }

    pub(crate) fn counts_people(&self) -> bool {
        self.sums.contains(&Sum::People)
    }

    /// True if the question limits the groups of a person or the rows of a person in a group.
    pub(crate) fn limits_groups(&self) -> bool {
        let (most, groups, each) = self.checked.contribution_limits();
        !self.checked.group_columns().is_empty() && (groups < most || each < most)
    }

    /// Assembles the raw groups. `sums` returns a group's sums, and `count` the number of rows of a column, a group and
    /// a gap, all given by index.
    pub(crate) fn raw_groups(
        &self,
        sums: impl Fn(usize) -> Vec<i128>,
        count: impl Fn(usize, usize, usize) -> i128,
    ) -> Vec<RawGroup> {
        let cell = |cell: usize| {
            let sums = sums(cell);
            let sum = |place: usize| sums.get(place).copied().unwrap_or_default();
            let numbers = |made: &AggregateFormula| match made {
                AggregateFormula::Sums(indices) => {
                    let one =
                        |(place, each): &(usize, i64)| sum(*place).saturating_mul((*each).into());
                    indices.iter().map(one).collect()
                }
                AggregateFormula::Bins { number, count: all, gaps } => {
                    let last = all.saturating_sub(1);
                    let inner = match gaps {
                        Gaps::All => 0..*all,
                        Gaps::Between => 1..last,
                        Gaps::Below => 0..last,
                    };
                    inner.map(|place| count(*number, cell, place)).collect()
                }
            };
            let numbers = self.aggregates.iter().map(numbers).collect();
            RawGroup { rows: u64::try_from(sum(0)).unwrap_or_default(), numbers }
        };
        (0..self.checked.group_count()).map(cell).collect()
    }
}
