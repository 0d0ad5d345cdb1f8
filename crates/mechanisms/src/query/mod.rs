//! Queries about a list of numbers, and their sensitivities.
//!
//! Each number becomes a whole number of small units between two fixed bounds, by a rule that depends on that number
//! alone. The whole numbers are added in 128 bits without overflow. The two bounds therefore limit how far one person's
//! records move the sum, whatever the order and the content of the list.

mod noisy_query;
mod summand;
mod places;
mod tally;
mod prefixes;
mod ratio;
mod moments;
mod parts;
mod noises;
mod measurement;
mod groups;
mod mean;
mod variance;
mod covariance;
mod chain;
mod coefficients;
mod ends;
mod simulation;
mod accuracy;
mod arithmetic;
mod interval;
mod sampling;
mod shared;
#[cfg(test)]
mod tests;

pub use arithmetic::Interval;
pub use groups::{Contribution, GroupLimits};
pub use interval::{NoisyAnswer, ReplyWithIntervals};
pub use measurement::{Gaps, Measurement};
pub use noisy_query::{NoisyQuery, Style};
pub use prefixes::monotone;
pub use summand::{Summand, Term};
pub use tally::Tally;

use crate::error::{Error, check};
use counterpoint::{Adjacency, Relation};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The bounds that numbers are clamped to. NaN counts as the lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "(f64, f64)", try_from = "(f64, f64)")]
pub struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    /// # Errors
    /// [`Error::Order`] unless both are finite, below 1e100 in size, and in order;
    /// [`Error::OutOfRange`] unless they are at least 1e-100 apart.
    pub fn new(low: f64, high: f64) -> Result<Self, Error> {
        let legal = low.abs() <= 1e100 && high.abs() <= 1e100 && low < high;
        if !legal {
            return Err(Error::Order { what: "bounds", low, high });
        }
        check(high - low >= 1e-100, "width of the bounds", high - low, "at least 1e-100")?;
        // Negative zero becomes zero, so that equal bounds have equal bits.
        Ok(Self { low: low + 0.0, high: high + 0.0 })
    }

    /// The lower end.
    #[must_use]
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The upper end.
    #[must_use]
    pub fn high(&self) -> f64 {
        self.high
    }

    pub(crate) fn clamp(&self, x: f64) -> f64 {
        cut(x, self.low, self.high)
    }

    /// The middle.
    #[must_use]
    pub fn center(&self) -> f64 {
        0.5 * self.low + 0.5 * self.high
    }

    pub(crate) fn half(&self) -> f64 {
        0.5 * self.high - 0.5 * self.low
    }
}

/// Clamps a number; NaN becomes the lower bound. Two comparisons, which processors do without branches.
fn cut(x: f64, low: f64, high: f64) -> f64 {
    let x = if x > low { x } else { low };
    if x < high { x } else { high }
}

impl From<Bounds> for (f64, f64) {
    fn from(bounds: Bounds) -> Self {
        (bounds.low, bounds.high)
    }
}

impl TryFrom<(f64, f64)> for Bounds {
    type Error = Error;

    fn try_from((low, high): (f64, f64)) -> Result<Self, Error> {
        Self::new(low, high)
    }
}

/// A query about a list of numbers.
///
/// A query does not state the neighbouring relation, which belongs to the [`Data`](crate::Data). The sensitivity
/// follows from the query and the relation.
///
/// ```
/// use counterpoint::{Adjacency, Relation};
/// use counterpoint_mechanisms::{Bounds, Data, Query};
///
/// let ages = Data::new(Relation::single_record(Adjacency::Replace), [31.0, 45.0, 27.0, 62.0, 38.0]);
/// let mean = Query::mean(Bounds::new(0.0, 100.0)?).laplace(1.0)?.under(ages.relation())?;
/// println!("{:?}", mean.run(&ages)?);
/// println!("within {} nineteen times in twenty", mean.half_width(5, 0.95)?);
/// println!("charged as {:?}", mean.releases());
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
///
/// An analyst cannot choose the number of records of a person:
///
/// ```compile_fail,E0599
/// # use counterpoint_mechanisms::Query;
/// Query::count().records(1);
/// ```
///
/// nor the adjacency:
///
/// ```compile_fail,E0061
/// # use counterpoint_mechanisms::Query;
/// Query::count(counterpoint::Adjacency::Replace);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "QueryKind", try_from = "QueryKind")]
pub struct Query {
    pub(crate) kind: QueryKind,
}

/// A share as a ratio.
pub(crate) type Share = (u32, u32);

/// The kinds of queries. A deserialized kind is unchecked; the kind in a [`Query`] is valid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum QueryKind {
    /// The number of records: within bounds, or all.
    Count(Option<Bounds>),
    Sum(Bounds),
    Mean(Bounds),
    Variance(Bounds),
    /// The share of the records within bounds.
    Proportion(Bounds),
    /// Counts in bins, given the edges of the bins.
    Histogram(Arc<[f64]>),
    /// A share as a ratio, and the candidate answers in increasing order.
    Quantile {
        share: (u32, u32),
        candidates: Arc<[f64]>,
    },
    /// The number of records below each edge.
    Cumulative(Arc<[f64]>),
    /// Quantiles for several increasing shares.
    Quantiles {
        shares: Arc<[(u32, u32)]>,
        candidates: Arc<[f64]>,
    },
    /// The covariance of two columns.
    Covariance(Bounds, Bounds),
    /// The root of the variance.
    Deviation(Bounds),
    /// The correlation of two columns.
    Correlation(Bounds, Bounds),
    /// Least squares on several columns, the last of which is the outcome.
    Regression {
        predictors: Arc<[Bounds]>,
        outcome: Bounds,
    },
}

impl QueryKind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Count(_) => "a count",
            Self::Sum(_) => "a sum",
            Self::Mean(_) => "a mean",
            Self::Variance(_) => "a variance",
            Self::Histogram(_) => "a histogram",
            Self::Quantile { .. } => "a quantile",
            Self::Proportion(_) => "a proportion",
            Self::Cumulative(_) => "a cumulative count",
            Self::Quantiles { .. } => "several quantiles",
            Self::Covariance(..) => "a covariance",
            Self::Deviation(_) => "a standard deviation",
            Self::Correlation(..) => "a correlation",
            Self::Regression { .. } => "a regression",
        }
    }
}

impl From<Query> for QueryKind {
    fn from(query: Query) -> Self {
        query.kind
    }
}

/// Checks the lists; bounds check themselves.
impl TryFrom<QueryKind> for Query {
    type Error = Error;

    fn try_from(kind: QueryKind) -> Result<Self, Error> {
        match kind {
            QueryKind::Histogram(edges) => Self::histogram(&edges),
            QueryKind::Quantile { share, candidates } => Self::quantile(share, &candidates),
            QueryKind::Cumulative(edges) => Self::cumulative(&edges),
            QueryKind::Quantiles { shares, candidates } => Self::quantiles(&shares, &candidates),
            QueryKind::Regression { predictors, outcome } => Self::regression(&predictors, outcome),
            QueryKind::Count(_)
            | QueryKind::Sum(_)
            | QueryKind::Mean(_)
            | QueryKind::Variance(_) => Ok(Self { kind }),
            QueryKind::Proportion(_) | QueryKind::Covariance(..) => Ok(Self { kind }),
            QueryKind::Deviation(_) | QueryKind::Correlation(..) => Ok(Self { kind }),
        }
    }
}

impl Query {
    /// The number of records.
    #[must_use]
    pub fn count() -> Self {
        Self { kind: QueryKind::Count(None) }
    }

    /// The number of records within bounds, both ends included.
    #[must_use]
    pub fn count_within(bounds: Bounds) -> Self {
        Self { kind: QueryKind::Count(Some(bounds)) }
    }

    /// The sum of the numbers, each clamped.
    #[must_use]
    pub fn sum(bounds: Bounds) -> Self {
        Self { kind: QueryKind::Sum(bounds) }
    }

    /// The mean of the numbers, each clamped. If people may be added or removed, or have several records, the number of
    /// records is private too, and is estimated from the same budget.
    #[must_use]
    pub fn mean(bounds: Bounds) -> Self {
        Self { kind: QueryKind::Mean(bounds) }
    }

    /// The variance of the numbers, each clamped.
    #[must_use]
    pub fn variance(bounds: Bounds) -> Self {
        Self { kind: QueryKind::Variance(bounds) }
    }

    /// The share of the numbers that is within bounds, both ends included. The number of records is private in the same
    /// cases as for a mean. The share of an empty list is one half, or zero if the number of records is public.
    #[must_use]
    pub fn proportion(bounds: Bounds) -> Self {
        Self { kind: QueryKind::Proportion(bounds) }
    }

    /// The length of an answer: how many numbers it contains.
    #[must_use]
    pub fn answer_length(&self) -> usize {
        match &self.kind {
            QueryKind::Histogram(edges) => edges.len().saturating_sub(1),
            QueryKind::Cumulative(edges) => edges.len(),
            QueryKind::Quantiles { shares, .. } => shares.len(),
            QueryKind::Regression { predictors, .. } => predictors.len() + 1,
            QueryKind::Count(_)
            | QueryKind::Sum(_)
            | QueryKind::Mean(_)
            | QueryKind::Variance(_)
            | QueryKind::Deviation(_)
            | QueryKind::Proportion(_)
            | QueryKind::Quantile { .. }
            | QueryKind::Covariance(..)
            | QueryKind::Correlation(..) => 1,
        }
    }

    /// The unit and the power that relate this query's errors to those of a mean of numbers from -1 to 1, if there is
    /// such a relation: an error e corresponds to the error e^power / unit of such a mean. A rough guess for planning;
    /// no answer depends on it.
    #[must_use]
    pub fn mean_error_scale(&self) -> Option<(f64, i32)> {
        match &self.kind {
            QueryKind::Mean(bounds) => Some((bounds.half(), 1)),
            QueryKind::Variance(bounds) => Some((bounds.half() * bounds.half(), 1)),
            QueryKind::Deviation(bounds) => Some((bounds.half() * bounds.half(), 2)),
            QueryKind::Covariance(x, y) => Some((x.half() * y.half(), 1)),
            _ => None,
        }
    }

    /// The shares of the quantiles; empty for other queries.
    #[must_use]
    pub fn shares(&self) -> Vec<f64> {
        let shares = self.choice().map(|(shares, _)| shares).unwrap_or_default();
        shares.iter().copied().map(value_of).collect()
    }

    /// The shares and the candidates of quantiles.
    pub(crate) fn choice(&self) -> Option<(&[Share], &[f64])> {
        match &self.kind {
            QueryKind::Quantile { share, candidates } => {
                Some((std::slice::from_ref(share), candidates))
            }
            QueryKind::Quantiles { shares, candidates } => Some((shares, candidates)),
            _ => None,
        }
    }

    /// The number of columns that the query is about.
    #[must_use]
    pub fn columns(&self) -> usize {
        match &self.kind {
            QueryKind::Covariance(..) | QueryKind::Correlation(..) => 2,
            QueryKind::Regression { predictors, .. } => predictors.len() + 1,
            _ => 1,
        }
    }

    /// The standard deviation of the numbers, each clamped: the root of their variance.
    #[must_use]
    pub fn deviation(bounds: Bounds) -> Self {
        Self { kind: QueryKind::Deviation(bounds) }
    }

    /// The correlation of two columns of a [table](crate::Data::table), each number clamped: 0 where a column does not vary.
    #[must_use]
    pub fn correlation(x: Bounds, y: Bounds) -> Self {
        Self { kind: QueryKind::Correlation(x, y) }
    }

    /// The covariance of two columns of a [table](crate::Data::table), each number clamped.
    #[must_use]
    pub fn covariance(x: Bounds, y: Bounds) -> Self {
        Self { kind: QueryKind::Covariance(x, y) }
    }

    /// Least squares: explains the last column of a [table](crate::Data::table) by the columns before it, each number
    /// clamped. The answer is a list of the intercept and a coefficient for each predictor, in the units of the
    /// columns.
    ///
    /// It is computed from noisy sums only: of ones, unless the number of records is public, of offsets from the middle
    /// of the bounds, and of products of offsets. A direction in which the predictors vary less than the noise is
    /// treated as if it varied as much as the noise: with collinear predictors or few data, coefficients shrink towards
    /// zero.
    ///
    /// ```
    /// use counterpoint::{Adjacency, Relation};
    /// use counterpoint_mechanisms::{Bounds, Data, Query, Reply};
    ///
    /// let relation = Relation::single_record(Adjacency::AddRemove);
    /// let ages: Vec<f64> = (0..5_000).map(|i| f64::from(20 + i % 50)).collect();
    /// let wages: Vec<f64> = ages.iter().map(|age| 1_000.0 + 30.0 * age).collect();
    /// let table = Data::table(relation, [ages, wages])?;
    /// let line = Query::regression(&[Bounds::new(15.0, 75.0)?], Bounds::new(0.0, 4_000.0)?)?;
    /// let Reply::Table(coefficients) = line.laplace(2.0)?.under(relation)?.run(&table)? else { panic!() };
    /// println!("{} and {} for each year", coefficients[0], coefficients[1]);
    /// # Ok::<(), counterpoint_mechanisms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 16 predictors.
    pub fn regression(predictors: &[Bounds], outcome: Bounds) -> Result<Self, Error> {
        let (what, length, legal) = ("predictors", predictors.len(), "1 to 16");
        if !(1..=16).contains(&length) {
            return Err(Error::Length { what, length, legal });
        }
        Ok(Self { kind: QueryKind::Regression { predictors: predictors.into(), outcome } })
    }

    /// The number of records in each bin: from one edge up to, but not including, the next. Numbers outside the bins
    /// are not counted.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 2 to 10^6 edges, [`Error::Order`] unless they are
    /// finite and increasing.
    pub fn histogram(edges: &[f64]) -> Result<Self, Error> {
        Ok(Self { kind: QueryKind::Histogram(in_order("edges", edges, 2, "2 to 10^6")?) })
    }

    /// The candidate below which approximately a given share of the numbers lies.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the share is strictly between 0 and 1 with a denominator of
    /// at most 1000; [`Error::Length`] and [`Error::Order`] as for a histogram's edges.
    pub fn quantile(share: (u32, u32), candidates: &[f64]) -> Result<Self, Error> {
        check_share(share)?;
        let candidates = in_order("candidates", candidates, 1, "1 to 10^6")?;
        Ok(Self { kind: QueryKind::Quantile { share, candidates } })
    }

    /// The number of records below each edge. NaN is below all edges.
    ///
    /// Each answer is a sum of noisy counts over few intervals between edges: its noise grows with the logarithm of the
    /// number of edges. The answers need not increase; [`monotone`] makes them increase and never enlarges the greatest
    /// error.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 10^6 edges, [`Error::Order`] unless they are
    /// finite and increasing.
    pub fn cumulative(edges: &[f64]) -> Result<Self, Error> {
        Ok(Self { kind: QueryKind::Cumulative(in_order("edges", edges, 1, "1 to 10^6")?) })
    }

    /// For each share, the candidate below which approximately that share of the numbers lies. The candidates are
    /// chosen independently, each at an equal part of the cost.
    ///
    /// The answers need not increase. Sorting them does not enlarge the greatest of their errors: if two answers are in
    /// the wrong order, exchanging them makes neither rank's error larger than the larger error before.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 100 shares, [`Error::Order`] unless they increase; otherwise as for a
    /// quantile.
    pub fn quantiles(shares: &[(u32, u32)], candidates: &[f64]) -> Result<Self, Error> {
        let (what, length, legal) = ("shares", shares.len(), "1 to 100");
        if !(1..=100).contains(&length) {
            return Err(Error::Length { what, length, legal });
        }
        shares.iter().try_for_each(|share| check_share(*share))?;
        for pair in shares.windows(2) {
            if let &[one, next] = pair
                && u64::from(one.0) * u64::from(next.1) >= u64::from(next.0) * u64::from(one.1)
            {
                return Err(Error::Order { what, low: value_of(one), high: value_of(next) });
            }
        }
        let candidates = in_order("candidates", candidates, 1, "1 to 10^6")?;
        Ok(Self { kind: QueryKind::Quantiles { shares: shares.into(), candidates } })
    }
}

fn value_of((part, whole): (u32, u32)) -> f64 {
    f64::from(part) / f64::from(whole)
}

fn check_share(share: (u32, u32)) -> Result<(), Error> {
    let (part, whole) = share;
    let legal = "strictly between 0 and 1, with a denominator of at most 1000";
    check(part > 0 && part < whole && whole <= 1000, "share", value_of(share), legal)
}

/// The sensitivity of a score, whole * below - part * n. An added record moves the score by -part or whole - part;
/// replacing a record moves it by at most whole.
fn score_sensitivity((part, whole): (u32, u32), relation: Relation) -> u64 {
    let one = match relation.adjacency() {
        Adjacency::AddRemove => part.max(whole - part),
        Adjacency::Replace => whole,
    };
    u64::from(one) * relation.records()
}

/// Returns the list if it is finite, increasing and of a legal length. Negative zero becomes zero, so that equal lists
/// have equal bits.
fn in_order(
    what: &'static str,
    list: &[f64],
    least: usize,
    legal: &'static str,
) -> Result<Arc<[f64]>, Error> {
    if !(least..=1_000_000).contains(&list.len()) {
        return Err(Error::Length { what, length: list.len(), legal });
    }
    for pair in list.windows(2) {
        if let &[low, high] = pair
            && !(low < high && low.is_finite() && high.is_finite())
        {
            return Err(Error::Order { what, low, high });
        }
    }
    match list.iter().find(|x| !x.is_finite()) {
        Some(&bad) => Err(Error::Order { what, low: bad, high: bad }),
        None => Ok(list.iter().map(|x| x + 0.0).collect()),
    }
}
