//! What questions are put to: the losses of all releases together, as plain data. Counts are
//! applied here and nowhere else.

mod gather;
pub(crate) mod leak;
mod plan;

pub use gather::CompositionError;
pub(crate) use gather::{sorted, with_gaussian};
pub use plan::{Plan, PlanError};

use crate::laws::{Direction, Law, Loss};
use crate::loss::{Curve, bracketed};
use std::sync::Arc;

/// So many of the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Times<T> {
    pub(crate) each: T,
    pub(crate) count: u64,
}

/// Equal randomized responses: the finite part of the losses of (epsilon, delta)
/// guarantees, each epsilon positive. Leaky randomized response dominates every mechanism with
/// its guarantee (MV Lemma 3.2, KOV section IV): with probability delta the loss is infinite,
/// otherwise it is `+epsilon` with probability `e^epsilon/(1+e^epsilon)` and `-epsilon` with the
/// rest.
pub(crate) type Factor = Times<f64>;

/// Equal leaks, each of a positive probability.
pub(crate) type Leak = Times<f64>;

/// Equal losses.
pub(crate) type Part = Times<Loss>;

impl Part {
    /// What the law of each can say.
    pub(crate) fn law(&self) -> &dyn Law {
        self.each.law()
    }
}

/// What all releases together show in one direction on one part of the data. Equal ones are
/// together, in an order that the releases' order, splitting a count or releases that promise
/// (0, 0) do not change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Composition {
    pub(crate) direction: Direction,
    pub(crate) partition: Option<Arc<str>>,
    pub(crate) leaks: Leaks,
    /// The finite losses; Gaussians as one.
    pub(crate) losses: Vec<Part>,
    /// Those without a loss distribution.
    pub(crate) curves: Vec<Times<Curve>>,
    /// What it is at least, where some releases are only known to lie between two pairs; all else here is
    /// what it is at most.
    pub(crate) beneath: Option<Box<Composition>>,
}

/// Leaks rounded down and rounded up, by increasing probability.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Leaks {
    pub(crate) below: Vec<Leak>,
    pub(crate) above: Vec<Leak>,
}

/// Which way numbers between two doubles are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounded {
    Down,
    Up,
}

/// Randomized responses and leaks, rounded: (epsilon, delta) guarantees taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guarantees<'a> {
    /// By increasing epsilon.
    pub(crate) factors: Vec<Factor>,
    /// By increasing probability.
    pub(crate) leaks: &'a [Leak],
}

impl Leaks {
    pub(crate) fn rounded(&self, rounded: Rounded) -> &[Leak] {
        match rounded {
            Rounded::Down => &self.below,
            Rounded::Up => &self.above,
        }
    }
}

impl Composition {
    /// What it is at least.
    pub(crate) fn at_least(&self) -> &Self {
        self.beneath.as_deref().unwrap_or(self)
    }

    /// What it is at most, alone.
    pub(crate) fn at_most(&self) -> Self {
        Self { beneath: None, ..self.clone() }
    }

    /// The guarantees that this is, if it is nothing but randomized responses and leaks.
    pub(crate) fn guarantees(&self, rounded: Rounded) -> Option<Guarantees<'_>> {
        let factors = self.curves.is_empty().then(|| factors(&self.losses, rounded))??;
        Some(Guarantees { factors, leaks: self.leaks.rounded(rounded) })
    }

    /// Whether there is nothing but randomized responses and leaks.
    pub(crate) fn is_responses(&self) -> bool {
        let is_response = |part: &Part| part.law().guarantee().is_some();
        self.curves.is_empty() && self.losses.iter().all(is_response)
    }
}

/// Losses that are all randomized responses, rounded.
pub(crate) fn factors(losses: &[Part], rounded: Rounded) -> Option<Vec<Factor>> {
    let factor = |part: &Part| {
        let (below, above) = bracketed(part.law().guarantee()?);
        let each = if rounded == Rounded::Up { above } else { below };
        Some(Times { each, count: part.count })
    };
    let list: Option<Vec<Factor>> = losses.iter().map(factor).collect();
    Some(sorted(list?.into_iter().filter(|factor| factor.each > 0.0).collect()))
}
