//! Releases put together: what they show in each direction, equal losses as one.

use super::{Composition, Leaks, Part, Rounded, Times, factors};
use crate::laws::{Direction, Gaussian};
use crate::loss::{self, Curve, LossError, Meaning};
use crate::mechanism::{Adjacency, Release};
use crate::quantity::{Epsilon, Group, plain};
use counterpoint_numerics::Dd;
use std::sync::Arc;

/// The most releases that are put together, counts included.
const MOST_RELEASES: u64 = 1_000_000_000_000_000;
/// The most that epsilons may add up to.
const MOST_EPSILON: f64 = 1e12;

/// Why releases could not be put together.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompositionError {
    /// There is nothing to compose.
    #[error("there are no releases; legal: at least one")]
    Empty,
    /// The counts add up to too much.
    #[error("the counts add up to {total}; legal: at most 10^15 in all")]
    TooMany {
        /// What they add up to, at least.
        total: u64,
    },
    /// The epsilons add up to too much to tell neighbouring answers apart.
    #[error("the epsilons add up to {}; legal: at most 10^12 in all", plain(*.total))]
    TooLarge {
        /// What they add up to.
        total: f64,
    },
}

/// Losses in the making: what they are at most and, where that differs for any of them, at least.
#[derive(Default)]
pub(super) struct Gathered {
    most: Sides,
    least: Sides,
    differ: bool,
}

/// Those that are the same in both directions, and the others by direction.
#[derive(Default)]
struct Sides {
    both: Side,
    remove: Side,
    add: Side,
}

/// Losses of one direction.
#[derive(Default)]
struct Side {
    releases: u64,
    /// From below and from above.
    leaks: Vec<Times<(f64, f64)>>,
    losses: Vec<Part>,
    curves: Vec<Times<Curve>>,
}

impl Gathered {
    pub(super) fn add(
        &mut self,
        release: &Release,
        adjacency: Option<Adjacency>,
        group: Group,
    ) -> Result<(), LossError> {
        let count = release.count.get();
        let (mut meaning, mirrored) = loss::both(release, adjacency, group)?;
        let beneath = meaning.beneath.take();
        self.differ |= beneath.is_some();
        let least = beneath.map_or_else(|| meaning.clone(), |beneath| *beneath);
        let least_mirrored = mirrored
            .as_ref()
            .map(|mirrored| mirrored.beneath.as_deref().unwrap_or(mirrored).clone());
        self.most.add(meaning, mirrored, count);
        self.least.add(least, least_mirrored, count);
        Ok(())
    }

    pub(super) fn is_symmetric(&self) -> bool {
        self.most.remove.releases == 0
    }
}

impl Sides {
    fn add(&mut self, meaning: Meaning, mirrored: Option<Meaning>, count: u64) {
        match mirrored {
            None => self.both.add(meaning, count),
            Some(mirrored) => {
                self.remove.add(meaning, count);
                self.add.add(mirrored, count);
            }
        }
    }

    fn of(&self, direction: Direction) -> [&Side; 2] {
        match direction {
            Direction::Remove => [&self.both, &self.remove],
            Direction::Add => [&self.both, &self.add],
        }
    }
}

impl Side {
    fn add(&mut self, meaning: Meaning, count: u64) {
        self.releases = self.releases.saturating_add(count);
        if meaning.leak.1 > 0.0 {
            self.leaks.push(Times { each: meaning.leak, count });
        }
        self.losses.extend(meaning.loss.map(|each| Times { each, count }));
        for (each, times) in meaning.also {
            self.losses.push(Times { each, count: count.saturating_mul(times) });
        }
        self.curves.extend(meaning.curve.map(|each| Times { each, count }));
    }
}

impl Composition {
    /// What the releases about all of the data and about one part show.
    pub(super) fn new(
        everywhere: &Gathered,
        own: &Gathered,
        direction: Direction,
        partition: Option<Arc<str>>,
    ) -> Result<Self, CompositionError> {
        let all = |of: fn(&Gathered) -> &Sides| {
            [of(everywhere).of(direction), of(own).of(direction)].concat()
        };
        let mut whole = Self::of(&all(|gathered| &gathered.most), direction, partition.clone())?;
        if everywhere.differ || own.differ {
            let least = Self::of(&all(|gathered| &gathered.least), direction, partition)?;
            whole.beneath = Some(Box::new(least));
        }
        Ok(whole)
    }

    fn of(
        sides: &[&Side],
        direction: Direction,
        partition: Option<Arc<str>>,
    ) -> Result<Self, CompositionError> {
        let total = sides.iter().fold(0_u64, |sum, side| sum.saturating_add(side.releases));
        if total > MOST_RELEASES {
            return Err(CompositionError::TooMany { total });
        }
        let losses = together(sides.iter().flat_map(|side| &side.losses).cloned().collect());
        is_bearable(&losses)?;
        let leaks = |end: fn(&(f64, f64)) -> f64| {
            let all = sides.iter().flat_map(|side| &side.leaks);
            let ends = all.map(|leak| Times { each: end(&leak.each), count: leak.count });
            sorted(ends.filter(|leak| leak.each > 0.0).collect())
        };
        let leaks = Leaks { below: leaks(|ends| ends.0), above: leaks(|ends| ends.1) };
        let curves = sides.iter().flat_map(|side| &side.curves).cloned().collect();
        Ok(Self { direction, partition, leaks, losses, curves, beneath: None })
    }
}

/// Whether the sum of the responses' epsilons can be told from its neighbours.
fn is_bearable(losses: &[Part]) -> Result<(), CompositionError> {
    let end = losses.partition_point(|part| part.law().guarantee().is_some());
    let largest = factors(&losses[..end], Rounded::Up).unwrap_or_default();
    if let Some(most) = largest.last().filter(|factor| Epsilon::new(factor.each).is_err()) {
        return Err(CompositionError::TooLarge { total: most.each });
    }
    let total = largest.iter().map(|factor| factor.each * factor.count as f64).sum();
    if total > MOST_EPSILON { Err(CompositionError::TooLarge { total }) } else { Ok(()) }
}

/// Sorts by value and adds up the counts of equal values.
pub(crate) fn sorted(mut list: Vec<Times<f64>>) -> Vec<Times<f64>> {
    list.sort_by(|a, b| a.each.total_cmp(&b.each));
    list.dedup_by(|next, kept| merged(next, kept, |a, b| a.to_bits() == b.to_bits()));
    list
}

/// Sorts losses and adds up the counts of equal ones, and Gaussians to one, exactly.
fn together(mut list: Vec<Part>) -> Vec<Part> {
    list.sort_by(|a, b| a.each.compared(&b.each));
    list.dedup_by(|next, kept| merged(next, kept, |a, b| a == b));
    let normal = |part: &Part| Some(part.law().normal()? * part.count as f64);
    let square = list.iter().filter_map(normal).fold(Dd::ZERO, |sum, square| sum + square);
    list.retain(|part| normal(part).is_none());
    with_gaussian(&mut list, square);
    list
}

/// Adds one to the other if they are the same.
fn merged<T>(next: &Times<T>, kept: &mut Times<T>, same: impl Fn(&T, &T) -> bool) -> bool {
    let same = same(&next.each, &kept.each);
    if same {
        kept.count += next.count;
    }
    same
}

/// Puts a Gaussian with this square in its place, if it is more than nothing.
pub(crate) fn with_gaussian(list: &mut Vec<Part>, square: Dd) {
    if square.is_positive() {
        let one = Part { each: Gaussian { square }.into(), count: 1 };
        let place = list.partition_point(|part| part.each.compared(&one.each).is_lt());
        list.insert(place, one);
    }
}
