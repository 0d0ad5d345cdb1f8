//! Collects releases: their losses in each direction, with equal losses counted together.

use super::{Composition, CountedLoss, Leaks, RoundingDirection, WithCount, factors};
use crate::laws::{Direction, Gaussian};
use crate::loss::{self, Curve, LossError, PairLoss};
use crate::mechanism::{Adjacency, Release};
use crate::quantity::{Epsilon, GroupSize, format_number};
use counterpoint_numerics::Dd;
use std::sync::Arc;

/// The largest number of releases, counts included.
const MOST_RELEASES: u64 = 1_000_000_000_000_000;
/// The largest sum of epsilons.
const MOST_EPSILON: f64 = 1e12;

/// The reason why releases cannot be composed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompositionError {
    /// A list without releases.
    #[error("there are no releases; legal: at least one")]
    Empty,
    /// Counts whose sum is too large.
    #[error("the counts add up to {total}; legal: at most 10^15 in all")]
    TooMany {
        /// A lower bound on their sum.
        total: u64,
    },
    /// Epsilons whose sum is so large that doubles cannot tell neighbouring answers apart.
    #[error("the epsilons add up to {}; legal: at most 10^12 in all", format_number(*.total))]
    TooLarge {
        /// Their sum.
        total: f64,
    },
}

/// The collected losses of the upper pairs (`most`) and of the lower pairs (`least`). `differ` is true if any release
/// has a lower pair of its own.
#[derive(Default)]
pub(super) struct LossCollection {
    most: LossesByDirection,
    least: LossesByDirection,
    differ: bool,
}

/// Losses that are the same in both directions, and the others by direction.
#[derive(Default)]
struct LossesByDirection {
    both: DirectionLosses,
    remove: DirectionLosses,
    add: DirectionLosses,
}

/// Losses in one direction.
#[derive(Default)]
struct DirectionLosses {
    releases: u64,
    /// Leaks from below and from above.
    leaks: Vec<WithCount<(f64, f64)>>,
    losses: Vec<CountedLoss>,
    curves: Vec<WithCount<Curve>>,
}

impl LossCollection {
    pub(super) fn add(
        &mut self,
        release: &Release,
        adjacency: Option<Adjacency>,
        group: GroupSize,
    ) -> Result<(), LossError> {
        let count = release.count.get();
        let (mut pair_loss, mirrored) = loss::release_losses(release, adjacency, group)?;
        let lower_pair = pair_loss.lower_pair.take();
        self.differ |= lower_pair.is_some();
        let least = lower_pair.map_or_else(|| pair_loss.clone(), |lower_pair| *lower_pair);
        let least_mirrored = mirrored
            .as_ref()
            .map(|mirrored| mirrored.lower_pair.as_deref().unwrap_or(mirrored).clone());
        self.most.add(pair_loss, mirrored, count);
        self.least.add(least, least_mirrored, count);
        Ok(())
    }

    pub(super) fn is_symmetric(&self) -> bool {
        self.most.remove.releases == 0
    }
}

impl LossesByDirection {
    fn add(&mut self, pair_loss: PairLoss, mirrored: Option<PairLoss>, count: u64) {
        match mirrored {
            None => self.both.add(pair_loss, count),
            Some(mirrored) => {
                self.remove.add(pair_loss, count);
                self.add.add(mirrored, count);
            }
        }
    }

    fn of(&self, direction: Direction) -> [&DirectionLosses; 2] {
        match direction {
            Direction::Remove => [&self.both, &self.remove],
            Direction::Add => [&self.both, &self.add],
        }
    }
}

impl DirectionLosses {
    fn add(&mut self, pair_loss: PairLoss, count: u64) {
        self.releases = self.releases.saturating_add(count);
        if pair_loss.leak.1 > 0.0 {
            self.leaks.push(WithCount { each: pair_loss.leak, count });
        }
        self.losses.extend(pair_loss.loss.map(|each| WithCount { each, count }));
        for (each, times) in pair_loss.further_losses {
            self.losses.push(WithCount { each, count: count.saturating_mul(times) });
        }
        self.curves.extend(pair_loss.curve.map(|each| WithCount { each, count }));
    }
}

impl Composition {
    /// Composes the releases about all of the data with those about one part.
    pub(super) fn new(
        everywhere: &LossCollection,
        own: &LossCollection,
        direction: Direction,
        partition: Option<Arc<str>>,
    ) -> Result<Self, CompositionError> {
        let all = |of: fn(&LossCollection) -> &LossesByDirection| {
            [of(everywhere).of(direction), of(own).of(direction)].concat()
        };
        let mut whole = Self::of(&all(|gathered| &gathered.most), direction, partition.clone())?;
        if everywhere.differ || own.differ {
            let least = Self::of(&all(|gathered| &gathered.least), direction, partition)?;
            whole.lower_pair = Some(Box::new(least));
        }
        Ok(whole)
    }

    /// Composes losses with their counts. Lower pairs are ignored.
    pub(crate) fn of_losses(
        direction: Direction,
        partition: Option<Arc<str>>,
        losses: impl IntoIterator<Item = (PairLoss, u64)>,
    ) -> Result<Self, CompositionError> {
        let mut all = DirectionLosses::default();
        for (loss, count) in losses {
            all.add(loss, count);
        }
        Self::of(&[&all], direction, partition)
    }

    fn of(
        sides: &[&DirectionLosses],
        direction: Direction,
        partition: Option<Arc<str>>,
    ) -> Result<Self, CompositionError> {
        let total = sides.iter().fold(0_u64, |sum, side| sum.saturating_add(side.releases));
        if total > MOST_RELEASES {
            return Err(CompositionError::TooMany { total });
        }
        let losses = merge_losses(sides.iter().flat_map(|side| &side.losses).cloned().collect());
        check_total_epsilon(&losses)?;
        let leaks = |end: fn(&(f64, f64)) -> f64| {
            let all = sides.iter().flat_map(|side| &side.leaks);
            let ends = all.map(|leak| WithCount { each: end(&leak.each), count: leak.count });
            sorted(ends.filter(|leak| leak.each > 0.0).collect())
        };
        let leaks = Leaks { below: leaks(|ends| ends.0), above: leaks(|ends| ends.1) };
        let curves = sides.iter().flat_map(|side| &side.curves).cloned().collect();
        Ok(Self { direction, partition, leaks, losses, curves, lower_pair: None })
    }
}

/// Checks that the sum of the responses' epsilons is small enough to tell neighbouring doubles apart.
fn check_total_epsilon(losses: &[CountedLoss]) -> Result<(), CompositionError> {
    let end = losses.partition_point(|part| part.law().response_epsilon().is_some());
    let largest = factors(&losses[..end], RoundingDirection::Up).unwrap_or_default();
    if let Some(most) = largest.last().filter(|factor| Epsilon::new(factor.each).is_err()) {
        return Err(CompositionError::TooLarge { total: most.each });
    }
    let total = largest.iter().map(|factor| factor.each * factor.count as f64).sum();
    if total > MOST_EPSILON { Err(CompositionError::TooLarge { total }) } else { Ok(()) }
}

/// Sorts by value and adds up the counts of equal values.
pub(crate) fn sorted(mut list: Vec<WithCount<f64>>) -> Vec<WithCount<f64>> {
    list.sort_by(|a, b| a.each.total_cmp(&b.each));
    list.dedup_by(|next, kept| merge_counts(next, kept, |a, b| a.to_bits() == b.to_bits()));
    list
}

/// Sorts losses, adds up the counts of equal ones, and replaces Gaussians by one, exactly.
fn merge_losses(mut list: Vec<CountedLoss>) -> Vec<CountedLoss> {
    list.sort_by(|a, b| a.each.compared(&b.each));
    list.dedup_by(|next, kept| merge_counts(next, kept, |a, b| a == b));
    let normal = |part: &CountedLoss| Some(part.law().normal_square()? * part.count as f64);
    let square = list.iter().filter_map(normal).fold(Dd::ZERO, |sum, square| sum + square);
    list.retain(|part| normal(part).is_none());
    with_gaussian(&mut list, square);
    list
}

/// Adds the count of `next` to that of `kept` if both are the same.
fn merge_counts<T>(
    next: &WithCount<T>,
    kept: &mut WithCount<T>,
    same: impl Fn(&T, &T) -> bool,
) -> bool {
    let same = same(&next.each, &kept.each);
    if same {
        kept.count += next.count;
    }
    same
}

/// Inserts a Gaussian with this squared mean in its place, unless it is zero.
pub(crate) fn with_gaussian(list: &mut Vec<CountedLoss>, square: Dd) {
    if square.is_positive() {
        let one = CountedLoss { each: Gaussian { square }.into(), count: 1 };
        let place = list.partition_point(|part| part.each.compared(&one.each).is_lt());
        list.insert(place, one);
    }
}
