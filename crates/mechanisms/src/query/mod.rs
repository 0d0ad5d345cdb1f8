//! Questions about a list of numbers, and how far one person can move their answers.
//!
//! Every number becomes a whole number of small units between two fixed ones, by a rule that
//! looks at that number alone; these are added in 128 bits, where nothing overflows. One
//! person's records therefore move the sum by at most what the two fixed numbers say, in
//! whatever order the list is and whatever is in it.

mod recipe;
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
pub use groups::{Contribution, Spread};
pub use interval::{Drawn, Within};
pub use measurement::{Gaps, Measurement};
pub use prefixes::monotone;
pub use recipe::{Recipe, Style};
pub use summand::{Of, Summand};
pub use tally::Tally;

use crate::error::{Error, check};
use counterpoint::{Adjacency, Relation};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The ends that numbers are clamped to. What is no number counts as the lower end.
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
        // One zero, so that equal bounds are identical.
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

/// A number cut to two ends, the lower one if it is none: two comparisons, as processors have them.
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

/// A question about a list of numbers.
///
/// Which data sets are neighbours is no part of the question: that belongs to the
/// [`Data`](crate::Data), and what a person can change follows from both.
///
/// ```
/// use counterpoint::{Adjacency, Relation};
/// use counterpoint_mechanisms::{Bounds, Data, Query};
///
/// let ages = Data::new(Relation::one(Adjacency::Replace), [31.0, 45.0, 27.0, 62.0, 38.0]);
/// let mean = Query::mean(Bounds::new(0.0, 100.0)?).laplace(1.0)?.under(ages.relation())?;
/// println!("{:?}", mean.run(&ages)?);
/// println!("within {} nineteen times in twenty", mean.half_width(5, 0.95)?);
/// println!("charged as {:?}", mean.releases());
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
///
/// Whoever asks cannot say how many records a person has:
///
/// ```compile_fail,E0599
/// # use counterpoint_mechanisms::Query;
/// Query::count().records(1);
/// ```
///
/// nor who is a neighbour of whom:
///
/// ```compile_fail,E0061
/// # use counterpoint_mechanisms::Query;
/// Query::count(counterpoint::Adjacency::Replace);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Kind", try_from = "Kind")]
pub struct Query {
    pub(crate) kind: Kind,
}

/// A share as a ratio.
pub(crate) type Share = (u32, u32);

/// The kinds of questions. What is read may be anything; in a [`Query`] it has been checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Kind {
    /// Within bounds, or of all.
    Count(Option<Bounds>),
    Sum(Bounds),
    Mean(Bounds),
    Variance(Bounds),
    /// The share within bounds.
    Proportion(Bounds),
    /// By the edges between bins.
    Histogram(Arc<[f64]>),
    /// The share as a ratio, and the answers to choose from, in order.
    Quantile {
        share: (u32, u32),
        candidates: Arc<[f64]>,
    },
    /// How many are below each edge.
    Cumulative(Arc<[f64]>),
    /// Several shares, increasing.
    Quantiles {
        shares: Arc<[(u32, u32)]>,
        candidates: Arc<[f64]>,
    },
    /// Of two columns.
    Covariance(Bounds, Bounds),
    /// The root of the variance.
    Deviation(Bounds),
    /// Of two columns.
    Correlation(Bounds, Bounds),
    /// Of several columns, the last of which is explained by the others.
    Regression {
        predictors: Arc<[Bounds]>,
        outcome: Bounds,
    },
}

impl Kind {
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

impl From<Query> for Kind {
    fn from(query: Query) -> Self {
        query.kind
    }
}

/// The lists are checked here; bounds have been.
impl TryFrom<Kind> for Query {
    type Error = Error;

    fn try_from(kind: Kind) -> Result<Self, Error> {
        match kind {
            Kind::Histogram(edges) => Self::histogram(&edges),
            Kind::Quantile { share, candidates } => Self::quantile(share, &candidates),
            Kind::Cumulative(edges) => Self::cumulative(&edges),
            Kind::Quantiles { shares, candidates } => Self::quantiles(&shares, &candidates),
            Kind::Regression { predictors, outcome } => Self::regression(&predictors, outcome),
            Kind::Count(_) | Kind::Sum(_) | Kind::Mean(_) | Kind::Variance(_) => Ok(Self { kind }),
            Kind::Proportion(_) | Kind::Covariance(..) => Ok(Self { kind }),
            Kind::Deviation(_) | Kind::Correlation(..) => Ok(Self { kind }),
        }
    }
}

impl Query {
    /// How many numbers there are.
    #[must_use]
    pub fn count() -> Self {
        Self { kind: Kind::Count(None) }
    }

    /// How many numbers are within bounds, both ends included.
    #[must_use]
    pub fn count_within(bounds: Bounds) -> Self {
        Self { kind: Kind::Count(Some(bounds)) }
    }

    /// The sum of the numbers, each clamped.
    #[must_use]
    pub fn sum(bounds: Bounds) -> Self {
        Self { kind: Kind::Sum(bounds) }
    }

    /// The mean of the numbers, each clamped. Where people may be added or removed, or have
    /// several records, how many there are is private too, and is estimated from the same budget.
    #[must_use]
    pub fn mean(bounds: Bounds) -> Self {
        Self { kind: Kind::Mean(bounds) }
    }

    /// The variance of the numbers, each clamped.
    #[must_use]
    pub fn variance(bounds: Bounds) -> Self {
        Self { kind: Kind::Variance(bounds) }
    }

    /// The share of the numbers that is within bounds, both ends included. How many there are is private where it
    /// is for a mean. Of no numbers at all it is one half, or zero where their number is public.
    #[must_use]
    pub fn proportion(bounds: Bounds) -> Self {
        Self { kind: Kind::Proportion(bounds) }
    }

    /// How many numbers an answer has.
    #[must_use]
    pub fn numbers(&self) -> usize {
        match &self.kind {
            Kind::Histogram(edges) => edges.len().saturating_sub(1),
            Kind::Cumulative(edges) => edges.len(),
            Kind::Quantiles { shares, .. } => shares.len(),
            Kind::Regression { predictors, .. } => predictors.len() + 1,
            _ => 1,
        }
    }

    /// The unit and the power in which its errors are like those of a mean of numbers from -1 to 1, if they are: an error e is like
    /// one of e^power over the unit. A rough guess to plan with, which no answer rests on.
    #[must_use]
    pub fn like_a_mean(&self) -> Option<(f64, i32)> {
        match &self.kind {
            Kind::Mean(bounds) => Some((bounds.half(), 1)),
            Kind::Variance(bounds) => Some((bounds.half() * bounds.half(), 1)),
            Kind::Deviation(bounds) => Some((bounds.half() * bounds.half(), 2)),
            Kind::Covariance(x, y) => Some((x.half() * y.half(), 1)),
            _ => None,
        }
    }

    /// The shares that it asks for quantiles of; none for other questions.
    #[must_use]
    pub fn shares(&self) -> Vec<f64> {
        let shares = self.choice().map(|(shares, _)| shares).unwrap_or_default();
        shares.iter().copied().map(value_of).collect()
    }

    /// Its shares and the candidates, if it asks for quantiles.
    pub(crate) fn choice(&self) -> Option<(&[Share], &[f64])> {
        match &self.kind {
            Kind::Quantile { share, candidates } => Some((std::slice::from_ref(share), candidates)),
            Kind::Quantiles { shares, candidates } => Some((shares, candidates)),
            _ => None,
        }
    }

    /// How many columns it is about.
    #[must_use]
    pub fn columns(&self) -> usize {
        match &self.kind {
            Kind::Covariance(..) | Kind::Correlation(..) => 2,
            Kind::Regression { predictors, .. } => predictors.len() + 1,
            _ => 1,
        }
    }

    /// The standard deviation of the numbers, each clamped: the root of their variance.
    #[must_use]
    pub fn deviation(bounds: Bounds) -> Self {
        Self { kind: Kind::Deviation(bounds) }
    }

    /// The correlation of two columns of a [table](crate::Data::table), each number clamped: 0 where a column does not vary.
    #[must_use]
    pub fn correlation(x: Bounds, y: Bounds) -> Self {
        Self { kind: Kind::Correlation(x, y) }
    }

    /// The covariance of two columns of a [table](crate::Data::table), each number clamped.
    #[must_use]
    pub fn covariance(x: Bounds, y: Bounds) -> Self {
        Self { kind: Kind::Covariance(x, y) }
    }

    /// Least squares: how the last column of a [table](crate::Data::table) is explained by those before it, each number
    /// clamped. The answer is a table of the intercept and a coefficient for each predictor, in the units of the
    /// columns.
    ///
    /// It is computed from noisy sums alone: of ones, unless their number is public, of distances from the middle of the
    /// bounds, and of products of those. Directions in which predictors vary less than the noise does are taken to vary
    /// as much as that: where predictors are collinear, or data are few, coefficients are drawn towards zero.
    ///
    /// ```
    /// use counterpoint::{Adjacency, Relation};
    /// use counterpoint_mechanisms::{Bounds, Data, Query, Reply};
    ///
    /// let relation = Relation::one(Adjacency::AddRemove);
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
        Ok(Self { kind: Kind::Regression { predictors: predictors.into(), outcome } })
    }

    /// How many numbers are in each bin: from one edge up to but not including the next.
    /// Others are not counted.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 2 to 10^6 edges, [`Error::Order`] unless they are
    /// finite and increasing.
    pub fn histogram(edges: &[f64]) -> Result<Self, Error> {
        Ok(Self { kind: Kind::Histogram(in_order("edges", edges, 2, "2 to 10^6")?) })
    }

    /// The candidate below which about a share of the numbers lies.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the share is strictly between 0 and 1 with a denominator of
    /// at most 1000; [`Error::Length`] and [`Error::Order`] as for a histogram's edges.
    pub fn quantile(share: (u32, u32), candidates: &[f64]) -> Result<Self, Error> {
        check_share(share)?;
        let candidates = in_order("candidates", candidates, 1, "1 to 10^6")?;
        Ok(Self { kind: Kind::Quantile { share, candidates } })
    }

    /// How many numbers are below each edge, what is no number being below all.
    ///
    /// Sums of noisy counts over few of the gaps between the edges: the noise of an answer grows with the logarithm of
    /// how many edges there are. Answers need not increase; [`monotone`] makes them, and never enlarges the greatest
    /// error.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 10^6 edges, [`Error::Order`] unless they are
    /// finite and increasing.
    pub fn cumulative(edges: &[f64]) -> Result<Self, Error> {
        Ok(Self { kind: Kind::Cumulative(in_order("edges", edges, 1, "1 to 10^6")?) })
    }

    /// For each share the candidate below which about that share of the numbers lies: chosen one by one, each at an
    /// equal part of the cost.
    ///
    /// Answers need not increase. Whoever puts them in order does not enlarge the greatest of their errors: of two
    /// ranks wanted the lower one is missed by no more, with the lower answer, than one of the two was before.
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
        Ok(Self { kind: Kind::Quantiles { shares: shares.into(), candidates } })
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

/// One record more moves whole * below - part * n by -part or whole - part; another record in
/// one's place moves it by whole at most.
fn score_sensitivity((part, whole): (u32, u32), relation: Relation) -> u64 {
    let one = match relation.adjacency() {
        Adjacency::AddRemove => part.max(whole - part),
        Adjacency::Replace => whole,
    };
    u64::from(one) * relation.records()
}

/// The list, if it is finite, increasing and neither too short nor too long. With one zero, so
/// that equal lists are identical.
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
