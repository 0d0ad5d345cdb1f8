//! The composition of all releases: their losses together, as plain data from which questions are answered. Counts are
//! applied here and nowhere else.

mod gather;
pub(crate) mod leak;
mod plan;

pub use gather::CompositionError;
pub(crate) use gather::{sorted, with_gaussian};
pub use plan::{Plan, PlanError};

use crate::laws::{Direction, Law, Loss};
use crate::loss::{Curve, enclosing_doubles};
use std::sync::Arc;

/// A value with the number of its copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WithCount<T> {
    pub(crate) each: T,
    pub(crate) count: u64,
}

/// Equal randomized responses: the finite part of the losses of (epsilon, delta) guarantees, each epsilon positive.
/// Leaky randomized response dominates every mechanism with its guarantee (MV Lemma 3.2, KOV section IV): with
/// probability delta the loss is infinite, otherwise it is `+epsilon` with probability `e^epsilon/(1+e^epsilon)` and
/// `-epsilon` with the remaining probability.
pub(crate) type Factor = WithCount<f64>;

/// Equal leaks, each of a positive probability.
pub(crate) type Leak = WithCount<f64>;

/// Equal losses.
pub(crate) type CountedLoss = WithCount<Loss>;

impl CountedLoss {
    /// The law of each loss.
    pub(crate) fn law(&self) -> &dyn Law {
        self.each.law()
    }
}

/// The composition of all releases in one direction on one part of the data. Equal losses are counted together. The
/// order of the losses does not depend on the order of the releases, on split counts, or on (0, 0) releases.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Composition {
    pub(crate) direction: Direction,
    pub(crate) partition: Option<Arc<str>>,
    pub(crate) leaks: Leaks,
    /// The finite losses; all Gaussians are one loss.
    pub(crate) losses: Vec<CountedLoss>,
    /// The Rényi curves of releases without a known law.
    pub(crate) curves: Vec<WithCount<Curve>>,
    /// The composition of the lower pairs, where some releases are only known to lie between two pairs. The other
    /// fields are then the composition of the upper pairs.
    pub(crate) lower_pair: Option<Box<Composition>>,
}

/// Leaks rounded down and rounded up, by increasing probability.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Leaks {
    pub(crate) below: Vec<Leak>,
    pub(crate) above: Vec<Leak>,
}

/// The direction in which numbers are rounded to doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoundingDirection {
    Down,
    Up,
}

/// Rounded (epsilon, delta) guarantees, separated into randomized responses and leaks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guarantees<'a> {
    /// The responses, by increasing epsilon.
    pub(crate) factors: Vec<Factor>,
    /// The leaks, by increasing probability.
    pub(crate) leaks: &'a [Leak],
}

impl Leaks {
    pub(crate) fn rounded(&self, rounded: RoundingDirection) -> &[Leak] {
        match rounded {
            RoundingDirection::Down => &self.below,
            RoundingDirection::Up => &self.above,
        }
    }
}

impl Composition {
    /// The composition that lower bounds are computed from.
    pub(crate) fn lower_composition(&self) -> &Self {
        self.lower_pair.as_deref().unwrap_or(self)
    }

    /// The composition that upper bounds are computed from, without the lower pairs.
    pub(crate) fn upper_composition(&self) -> Self {
        Self { lower_pair: None, ..self.clone() }
    }

    /// The rounded guarantees, if the composition consists of randomized responses and leaks only.
    pub(crate) fn guarantees(&self, rounded: RoundingDirection) -> Option<Guarantees<'_>> {
        let factors = self.curves.is_empty().then(|| factors(&self.losses, rounded))??;
        Some(Guarantees { factors, leaks: self.leaks.rounded(rounded) })
    }

    /// True if the composition consists of randomized responses and leaks only.
    pub(crate) fn is_responses(&self) -> bool {
        let is_response = |part: &CountedLoss| part.law().response_epsilon().is_some();
        self.curves.is_empty() && self.losses.iter().all(is_response)
    }
}

/// Rounds losses that are all randomized responses; `None` if any other loss is among them.
pub(crate) fn factors(losses: &[CountedLoss], rounded: RoundingDirection) -> Option<Vec<Factor>> {
    let factor = |part: &CountedLoss| {
        let (below, above) = enclosing_doubles(part.law().response_epsilon()?);
        let each = if rounded == RoundingDirection::Up { above } else { below };
        Some(WithCount { each, count: part.count })
    };
    let list: Option<Vec<Factor>> = losses.iter().map(factor).collect();
    Some(sorted(list?.into_iter().filter(|factor| factor.each > 0.0).collect()))
}
