//! What is counted for a question, whichever engine counts it: whole numbers that are added up over a group's rows, and how
//! many rows are between places.

use counterpoint_mechanisms::{Bounds, Gaps, Measurement, Of, Summand};
use counterpoint_questions::question::Condition;
use counterpoint_questions::{Checked, Illegal, Part};

/// Larger units would overflow 64 bits, in tables of 2^33 rows. No noise that can be asked for needs them.
const MOST_UNIT: u64 = 1 << 50;

/// A question, and what is counted for it. It is the same for all engines.
#[derive(Clone, Debug)]
pub struct Tabulation {
    pub(crate) checked: Checked,
    /// The sums over a group's rows, in order.
    pub(crate) sums: Vec<Sum>,
    /// The columns whose rows are counted between places, in order.
    pub(crate) counts: Vec<Places>,
    /// How each aggregate's numbers are made of these.
    aggregates: Vec<Made>,
}

/// A sum over a group's rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sum {
    /// The number of rows.
    Rows,
    /// The number of people.
    People,
    /// A sum of units.
    Units(Box<Added>),
}

/// What rows add to a sum of units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Added {
    /// The columns of the first and the second factor; twice the same where there is one.
    pub columns: [String; 2],
    pub summand: Summand,
    /// Rows without a value of one of these add nothing.
    pub required: Vec<String>,
    /// Rows of which this holds add the larger number, and others the smaller one.
    pub indicator: Option<Condition>,
}

/// A column whose rows are counted between places.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub column: String,
    pub places: Vec<f64>,
    /// Whether rows whose value is missing are in no place.
    pub skips_missing: bool,
}

/// Factors that are smaller than these make a product of which nothing is left in rounding.
pub(crate) fn tiny_factors(lost: f64, x: Bounds, y: Bounds) -> [f64; 2] {
    let half = |bounds: Bounds| 0.5 * bounds.high() - 0.5 * bounds.low();
    [lost / half(y), lost / half(x)]
}

/// What has to be known of a group's rows, for one aggregate.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// These, added up over the rows.
    Sums(Vec<Summand>),
    /// How many rows are in the gaps between these numbers.
    Places(Vec<f64>, Gaps),
}

impl Wanted {
    /// What a measurement's tally is made of; `None` if of something else.
    #[must_use]
    pub fn of(measurement: &Measurement) -> Option<Self> {
        let summands = measurement.summands();
        if !summands.is_empty() {
            return Some(Self::Sums(summands));
        }
        measurement.places().map(|(places, gaps)| Self::Places(places.to_vec(), gaps))
    }
}

/// What was counted in a group: how many rows, and for each aggregate its numbers. **It is as secret as the data.**
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
    /// Of the counts with this number, in so many gaps, some of which count.
    Places { number: usize, count: usize, gaps: Gaps },
}

/// What no engine counts.
pub(crate) fn not_whole() -> Illegal {
    Illegal::new("the question", "cannot be added up in whole numbers", "other costs or bounds")
}

impl Tabulation {
    /// What is counted for a question, whose aggregates need this.
    ///
    /// # Errors
    /// [`Illegal`] if that is not made of sums and counts of one column, as legal questions are at costs that make sense.
    pub fn new(checked: &Checked, wanted: &[Wanted]) -> Result<Self, Illegal> {
        let (sums, counts, aggregates) = (vec![Sum::Rows], Vec::new(), Vec::new());
        let mut made = Self { checked: checked.clone(), sums, counts, aggregates };
        for (part, wanted) in checked.parts().iter().zip(wanted) {
            made.add(part, wanted).ok_or_else(not_whole)?;
        }
        Ok(made)
    }

    fn add(&mut self, part: &Part, wanted: &Wanted) -> Option<()> {
        let made = match wanted {
            Wanted::Places(places, gaps) => {
                self.counts.push(Places {
                    column: part.column.clone()?,
                    places: places.clone(),
                    skips_missing: part.skips_missing,
                });
                let (number, count) = (self.counts.len() - 1, places.len() + 1);
                Made::Places { number, count, gaps: *gaps }
            }
            Wanted::Sums(summands) => {
                let sums = summands.iter().map(|summand| self.sum_of(part, summand));
                Made::Sums(sums.collect::<Option<_>>()?)
            }
        };
        self.aggregates.push(made);
        Some(())
    }

    /// Where a summand's sum is found, and what one row counts for.
    fn sum_of(&mut self, part: &Part, summand: &Summand) -> Option<(usize, i64)> {
        let (low, high) = summand.ends();
        let is_added = match summand.of() {
            Of::Ones(Some(_)) | Of::Sides(_) => part.indicator.is_some(),
            _ => part.indicator.is_none() || matches!(summand.of(), Of::Ones(None)),
        };
        if !is_added || low.unsigned_abs().max(high.unsigned_abs()) > MOST_UNIT {
            return None;
        }
        let (sum, each) = match (summand.of(), part.people) {
            (Of::Ones(None), true) => (Sum::People, high),
            (Of::Ones(None), false) if !part.skips_missing => (Sum::Rows, high),
            _ => {
                let all: Vec<&str> = part.columns().collect();
                let [first, second] =
                    summand.columns().map(|at| all.get(at).map(|one| (*one).to_owned()));
                let added = Added {
                    columns: [first?, second?],
                    summand: *summand,
                    required: part.required.clone(),
                    indicator: part.indicator.clone(),
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

    /// The question.
    #[must_use]
    pub fn checked(&self) -> &Checked {
        &self.checked
    }

    /// What rows add to sums of units, in order.
    pub(crate) fn units(&self) -> impl Iterator<Item = &Added> {
        self.sums.iter().filter_map(|sum| match sum {
            Sum::Units(added) => Some(&**added),
            _ => None,
        })
    }

    pub(crate) fn counts_people(&self) -> bool {
        self.sums.contains(&Sum::People)
    }

    /// Whether it says how many groups a person is in, or how many rows in each.
    pub(crate) fn limits_groups(&self) -> bool {
        let (most, groups, each) = self.checked.contribution();
        !self.checked.groupings().is_empty() && (groups < most || each < most)
    }

    /// The numbers of all aggregates for each group, from a group's sums, in their order, and from how many rows of a group
    /// are at a place, by the number of the column, the group and the place.
    pub(crate) fn counted(
        &self,
        sums: impl Fn(usize) -> Vec<i128>,
        count: impl Fn(usize, usize, usize) -> i128,
    ) -> Vec<Counted> {
        let cell = |cell: usize| {
            let sums = sums(cell);
            let sum = |place: usize| sums.get(place).copied().unwrap_or_default();
            let numbers = |made: &Made| match made {
                Made::Sums(places) => {
                    let one =
                        |(place, each): &(usize, i64)| sum(*place).saturating_mul((*each).into());
                    places.iter().map(one).collect()
                }
                Made::Places { number, count: all, gaps } => {
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
            Counted { rows: u64::try_from(sum(0)).unwrap_or_default(), numbers }
        };
        (0..self.checked.cells()).map(cell).collect()
    }
}
