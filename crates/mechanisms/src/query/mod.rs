//! Questions about a list of numbers, and how far one person can move their answers.
//!
//! Every number becomes a whole number of small units between two fixed ones, by a rule that
//! looks at that number alone; these are added in 128 bits, where nothing overflows. One
//! person's records therefore move the sum by at most what the two fixed numbers say, in
//! whatever order the list is and whatever is in it.

mod measurement;
mod tally;
#[cfg(test)]
mod tests;

pub use measurement::Measurement;
pub(crate) use tally::Tally;

use crate::error::{Error, check};
use counterpoint::Adjacency;
use std::sync::Arc;

/// The ends that numbers are clamped to. What is no number counts as the lower end.
#[derive(Clone, Copy, Debug, PartialEq)]
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
        if x.is_nan() { self.low } else { x.clamp(self.low, self.high) }
    }

    pub(crate) fn center(&self) -> f64 {
        0.5 * self.low + 0.5 * self.high
    }

    pub(crate) fn half(&self) -> f64 {
        0.5 * self.high - 0.5 * self.low
    }
}

/// A question about a list of numbers.
///
/// Which data sets are neighbours is part of the question. A person contributes one number
/// unless [`Query::records`] says otherwise.
///
/// ```
/// use counterpoint::Adjacency;
/// use counterpoint_mechanisms::{Bounds, Query};
///
/// let ages = [31.0, 45.0, 27.0, 62.0, 38.0];
/// let mean = Query::mean(Bounds::new(0.0, 100.0)?, Adjacency::Replace).laplace(1.0)?;
/// println!("{:?}", mean.run(&ages)?);
/// println!("within {} nineteen times in twenty", mean.half_width(5, 0.95)?);
/// println!("charged as {:?}", mean.releases());
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub(crate) kind: Kind,
    pub(crate) adjacency: Adjacency,
    pub(crate) records: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Count(Option<Bounds>),
    Sum(Bounds),
    Mean(Bounds),
    Variance(Bounds),
    /// By the edges between bins.
    Histogram(Arc<[f64]>),
    /// The share as a ratio, and the answers to choose from, in order.
    Quantile {
        share: (u32, u32),
        candidates: Arc<[f64]>,
    },
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Count(_) => "a count",
            Self::Sum(_) => "a sum",
            Self::Mean(_) => "a mean",
            Self::Variance(_) => "a variance",
            Self::Histogram(_) => "a histogram",
            Self::Quantile { .. } => "a quantile",
        }
    }
}

impl Query {
    fn new(kind: Kind, adjacency: Adjacency) -> Self {
        Self { kind, adjacency, records: 1 }
    }

    /// How many numbers there are.
    #[must_use]
    pub fn count(adjacency: Adjacency) -> Self {
        Self::new(Kind::Count(None), adjacency)
    }

    /// How many numbers are within bounds, both ends included.
    #[must_use]
    pub fn count_within(bounds: Bounds, adjacency: Adjacency) -> Self {
        Self::new(Kind::Count(Some(bounds)), adjacency)
    }

    /// The sum of the numbers, each clamped.
    #[must_use]
    pub fn sum(bounds: Bounds, adjacency: Adjacency) -> Self {
        Self::new(Kind::Sum(bounds), adjacency)
    }

    /// The mean of the numbers, each clamped. Where people may be added or removed, their
    /// number is private too, and is estimated from the same budget.
    #[must_use]
    pub fn mean(bounds: Bounds, adjacency: Adjacency) -> Self {
        Self::new(Kind::Mean(bounds), adjacency)
    }

    /// The variance of the numbers, each clamped.
    #[must_use]
    pub fn variance(bounds: Bounds, adjacency: Adjacency) -> Self {
        Self::new(Kind::Variance(bounds), adjacency)
    }

    /// How many numbers are in each bin: from one edge up to but not including the next.
    /// Others are not counted.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 2 to 10^6 edges, [`Error::Order`] unless they are
    /// finite and increasing.
    pub fn histogram(edges: &[f64], adjacency: Adjacency) -> Result<Self, Error> {
        in_order("edges", edges, 2, "2 to 10^6")?;
        Ok(Self::new(Kind::Histogram(edges.into()), adjacency))
    }

    /// The candidate below which about a share of the numbers lies.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the share is strictly between 0 and 1 with a denominator of
    /// at most 1000; [`Error::Length`] and [`Error::Order`] as for a histogram's edges.
    pub fn quantile(
        share: (u32, u32),
        candidates: &[f64],
        adjacency: Adjacency,
    ) -> Result<Self, Error> {
        let (part, whole) = share;
        let value = f64::from(part) / f64::from(whole);
        let legal = "strictly between 0 and 1, with a denominator of at most 1000";
        check(part > 0 && part < whole && whole <= 1000, "share", value, legal)?;
        in_order("candidates", candidates, 1, "1 to 10^6")?;
        Ok(Self::new(Kind::Quantile { share, candidates: candidates.into() }, adjacency))
    }

    /// The same question where one person contributes up to so many numbers, and another person
    /// in their place perhaps fewer or more. How many numbers there are in all is then private
    /// even where people are replaced; it is public only where each contributes just one.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless that is 1 to 10,000.
    pub fn records(self, records: u64) -> Result<Self, Error> {
        let legal = "a whole number from 1 to 10000";
        check((1..=10_000).contains(&records), "records", records as f64, legal)?;
        Ok(Self { records, ..self })
    }

    /// Which data sets are neighbours.
    #[must_use]
    pub fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// Whether neighbours have equally many records: one for one is replaced.
    fn is_length_public(&self) -> bool {
        self.adjacency == Adjacency::Replace && self.records == 1
    }

    /// Scores of a quantile's candidates: how far, in whole numbers, the share below each is
    /// from the one wanted; and how far one person moves them.
    fn scores(&self, data: &[f64]) -> Vec<i64> {
        let Kind::Quantile { share: (part, whole), candidates } = &self.kind else {
            return Vec::new();
        };
        let mut firsts = vec![0_i128; candidates.len() + 1];
        for x in data {
            let first = candidates.partition_point(|candidate| candidate <= x);
            if let Some(count) = firsts.get_mut(first) {
                *count += 1;
            }
        }
        let wanted = i128::from(*part) * data.len() as i128;
        let mut below = 0;
        let score = |count: &i128| {
            below += count;
            let miss = (i128::from(*whole) * below - wanted).abs();
            -(miss.min(i64::MAX.into()) as i64)
        };
        firsts.iter().take(candidates.len()).map(score).collect()
    }

    /// One record more moves whole * below - part * n by -part or whole - part; another record
    /// in one's place moves it by whole at most.
    fn score_sensitivity(&self, (part, whole): (u32, u32)) -> u64 {
        let one = match self.adjacency {
            Adjacency::AddRemove => part.max(whole - part),
            Adjacency::Replace => whole,
        };
        u64::from(one) * self.records
    }

    /// How many numbers are in each bin.
    fn bins(&self, data: &[f64]) -> Vec<i128> {
        let Kind::Histogram(edges) = &self.kind else { return Vec::new() };
        let mut bins = vec![0; edges.len() - 1];
        for x in data {
            let above = edges.partition_point(|edge| edge <= x);
            if let Some(bin) = above.checked_sub(1).and_then(|bin| bins.get_mut(bin)) {
                *bin += 1;
            }
        }
        bins
    }
}

fn in_order(
    what: &'static str,
    list: &[f64],
    least: usize,
    legal: &'static str,
) -> Result<(), Error> {
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
        None => Ok(()),
    }
}
