//! The whole numbers that a query needs from the data, in one pass.

use super::places::SortedPlaces;
use super::{Query, Summand};
use crate::data::Data;
use counterpoint::Relation;
use std::fmt;

/// The whole numbers that noise is added to, or that a choice is based on.
///
/// Made by [`Measurement::tally`](super::Measurement::tally) from data, or by
/// [`Measurement::tally_from_numbers`](super::Measurement::tally_from_numbers) from numbers that were added up
/// elsewhere. It is as secret as the data; [`Measurement::release`](super::Measurement::release) answers from it.
#[derive(Clone, PartialEq)]
pub struct Tally {
    pub(super) relation: Relation,
    pub(super) query: Query,
    pub(super) summands: Vec<Summand>,
    pub(super) rows: u64,
    pub(super) numbers: Vec<i128>,
}

/// Omits the numbers, since output may end up in a log.
impl fmt::Debug for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tally").field("query", &self.query).finish_non_exhaustive()
    }
}

#[cfg(test)]
impl Tally {
    /// The numbers that noise is added to, in grid steps.
    pub(crate) fn steps(&self) -> Vec<i128> {
        let rounded = |(place, units): (usize, &i128)| match self.summands.get(place) {
            Some(summand) => summand.rounded(*units),
            None => *units,
        };
        self.numbers.iter().enumerate().map(rounded).collect()
    }
}

/// The number of records that are added to all sums at a time, so that they stay in the processor's cache.
const BLOCK: usize = 2048;

/// The sums of all summands.
pub(super) fn sums(summands: &[Summand], data: &Data) -> Vec<i128> {
    let mut sums = vec![0; summands.len()];
    for from in (0..data.rows()).step_by(BLOCK) {
        let rows = from..data.rows().min(from + BLOCK);
        let add = |(sum, summand): (&mut i128, &Summand)| {
            *sum += summand.sum_in(data.columns(), rows.clone());
        };
        sums.iter_mut().zip(summands).for_each(add);
    }
    sums
}

/// The number of values below the first place, from each place up to the next, and from the last place on. NaN is below
/// all.
pub(super) fn gaps(list: &[f64], data: &[f64]) -> Vec<i128> {
    let places = SortedPlaces::new(list, data.len());
    let mut counts = vec![0_u64; list.len() + 1];
    for x in data {
        if let Some(count) = counts.get_mut(places.at_most(*x)) {
            *count += 1;
        }
    }
    counts.into_iter().map(i128::from).collect()
}

/// Scores of a quantile's candidates, given the gaps between them: minus the distance, in whole numbers, between the
/// share below each candidate and the requested share.
pub(super) fn scores((part, whole): (u32, u32), gaps: &[i128]) -> Vec<i64> {
    let wanted = i128::from(part) * gaps.iter().sum::<i128>();
    let mut below = 0;
    let score = |count: &i128| {
        below += count;
        let miss = (i128::from(whole) * below - wanted).abs();
        -(miss.min(i64::MAX.into()) as i64)
    };
    let candidates = gaps.len().saturating_sub(1);
    gaps.iter().take(candidates).map(score).collect()
}

/// An upper bound on sums of records: 2^63 of at most 2^62 units.
const MOST_UNITS: i128 = 1 << 125;
/// An upper bound on counts.
const MOST_ROWS: i128 = 1 << 64;

/// Clamps sums from elsewhere to possible sums: an error would depend on the data.
pub(super) fn cut_sums(numbers: Vec<i128>) -> Vec<i128> {
    numbers.into_iter().map(|number| number.clamp(-MOST_UNITS, MOST_UNITS)).collect()
}

/// Clamps counts from elsewhere to possible counts.
pub(super) fn cut_counts(numbers: Vec<i128>) -> Vec<i128> {
    numbers.into_iter().map(|number| number.clamp(0, MOST_ROWS)).collect()
}
