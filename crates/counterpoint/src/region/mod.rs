//! Trade-off regions: the pairs of error rates that tests about a person can reach.
//!
//! A test raises an alarm or does not. Without the person's data an alarm is false; with the data a missing alarm is a
//! miss. The region of a plan is that of KOV section II: the pairs of rates with `miss + e^epsilon false_alarm >= 1 -
//! delta(epsilon)` and, in the other direction, `false_alarm + e^epsilon miss >= 1 - delta(epsilon)`, for every
//! epsilon. Its boundary is the trade-off curve. (Rates above the line `false_alarm + miss = 1` are those of the
//! opposite test and are disregarded.)
//!
//! A [`Region`] consists of two polygons: an *outer* one that certainly contains it and an *inner* one that it
//! certainly contains. Theory 9.4 and theory 9.5 derive both.

mod boundary;
mod finite;
mod gdp;
mod lines;
mod normal;
mod order;
mod readings;
mod slopes;
#[cfg(test)]
mod tests;

use crate::ask::{AskError, Options};
use crate::citation::Theorem;
use crate::composition::{Composition, Plan};
use crate::loss::Direction;
use crate::quantity::{Epsilon, OutOfRangeError, Rate};
use boundary::Boundary;
use counterpoint_numerics::Bracket;
pub use gdp::{GaussianPrivacy, MU_TOLERANCE, REGRET_TOLERANCE};
pub use readings::{Assumptions, RISK_RATES, Readings};

/// The error rates of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorRates {
    false_alarm: f64,
    miss: f64,
}

impl ErrorRates {
    /// Checks that both are probabilities.
    ///
    /// # Errors
    /// [`OutOfRangeError`] naming the rate that is not a probability.
    pub fn new(false_alarm: f64, miss: f64) -> Result<Self, OutOfRangeError> {
        let named = |quantity, value| {
            Rate::new(value).map_err(|error| OutOfRangeError { quantity, ..error }).map(Rate::get)
        };
        Ok(Self {
            false_alarm: named("the false-alarm rate", false_alarm)?,
            miss: named("the miss rate", miss)?,
        })
    }

    pub(crate) fn raw(false_alarm: f64, miss: f64) -> Self {
        Self { false_alarm, miss }
    }

    /// The probability of an alarm without the person's data.
    #[must_use]
    pub fn false_alarm(self) -> f64 {
        self.false_alarm
    }

    /// The probability of no alarm with the person's data.
    #[must_use]
    pub fn miss(self) -> f64 {
        self.miss
    }

    /// Exchanges the two rates.
    #[must_use]
    pub fn mirrored(self) -> Self {
        Self { false_alarm: self.miss, miss: self.false_alarm }
    }
}

/// The answer to a yes-no question that the bounds may leave undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Certainly yes.
    Yes,
    /// Certainly no.
    No,
    /// The outer and the inner boundary give different answers.
    Undecided,
}

/// The error rates that tests of a plan can reach, bounded by two polygons.
///
/// ```
/// use counterpoint::quantity::Rate;
/// use counterpoint::region::{ErrorRates, Verdict};
/// use counterpoint::{Count, Guarantee, Options, Plan};
///
/// let plan = Plan::new([(Guarantee::pure(0.1)?, Count::new(100)?)])?;
/// let region = plan.region(&[], &Options::default())?;
/// let miss = region.least_miss(Rate::new(0.05)?);
/// assert!(region.is_finite() && miss.width() < 1e-14);
/// assert_eq!(region.contains(ErrorRates::new(0.05, miss.upper + 1e-9)?), Verdict::Yes);
/// assert_eq!(region.contains(ErrorRates::new(0.05, miss.lower - 1e-9)?), Verdict::No);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    outer: Boundary,
    inner: Boundary,
    finite: bool,
    total_variation: Bracket,
    theorem: Theorem,
    plan: Plan,
}

/// The distance between the inner and the outer boundary that is aimed at, as a share of the total variation. Where the
/// profile's own brackets are too wide, the distance is larger.
pub const BOUNDARY_TOLERANCE: f64 = 1e-3;

impl Plan {
    /// Computes the region of error rates.
    ///
    /// Plans of few outcomes get every vertex, up to the last digits. Otherwise the distance of the outer and the inner
    /// boundary is at most [`BOUNDARY_TOLERANCE`], and at the given false-alarm rates at most the tolerance of the
    /// options (both relative to the total variation). If some releases have only Rényi curves, the distance is the
    /// accuracy of these.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn region(&self, rates: &[Rate], options: &Options<'_>) -> Result<Region, AskError> {
        let zero = Epsilon::new(0.0).map_err(|_| AskError::Stopped)?;
        let aim = Options { tolerance: options.tolerance.as_aim(), ..*options };
        let at_zero = self.delta(zero, &aim)?;
        let listed = finite::boundaries(self, options.watch)?;
        let finite = listed.is_some();
        let (outer, inner) = match listed {
            Some(boundaries) => boundaries,
            None => slopes::boundaries(self, rates, options)?,
        };
        let (total_variation, theorem) = (at_zero.bracket, at_zero.theorem);
        Ok(Region { outer, inner, finite, total_variation, theorem, plan: self.clone() })
    }

    /// Returns the parts of the data, each with its compositions for removing and for adding a person.
    pub(crate) fn parts_by_direction(&self) -> Vec<(&Composition, &Composition)> {
        let mut list: Vec<(&Composition, &Composition)> = Vec::new();
        for whole in &self.compositions {
            match (whole.direction, list.last_mut()) {
                (Direction::Add, Some(last)) => last.1 = whole,
                _ => list.push((whole, whole)),
            }
        }
        list
    }
}

impl Region {
    /// The vertices of the outer polygon, by rising false-alarm rate.
    #[must_use]
    pub fn outer(&self) -> &[ErrorRates] {
        self.outer.points()
    }

    /// The vertices of the inner polygon, by rising false-alarm rate.
    #[must_use]
    pub fn inner(&self) -> &[ErrorRates] {
        self.inner.points()
    }

    /// True if the plan has finitely many outcomes, so that the polygons are its region up to the last digits.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.finite
    }

    /// The theorem that licenses the region.
    #[must_use]
    pub fn theorem(&self) -> Theorem {
        self.theorem
    }

    /// Decides whether a test with these error rates exists.
    #[must_use]
    pub fn contains(&self, point: ErrorRates) -> Verdict {
        if self.inner.is_above(point) {
            Verdict::Yes
        } else if self.outer.is_below(point) {
            Verdict::No
        } else {
            Verdict::Undecided
        }
    }

    /// The total variation distance between the outputs with and without the person's data: the largest advantage of
    /// any test.
    #[must_use]
    pub fn total_variation(&self) -> Bracket {
        self.total_variation
    }

    /// The least miss rate of the tests with a given false-alarm rate.
    #[must_use]
    pub fn least_miss(&self, false_alarm: Rate) -> Bracket {
        let rate = false_alarm.get();
        let upper = self.inner.miss_at(rate).1.min((1.0 - rate).next_up()).min(1.0);
        Bracket { lower: self.outer.miss_at(rate).0.min(upper), upper }
    }

    /// The best advantage, `1 - false_alarm - miss`, at a given false-alarm rate.
    #[must_use]
    pub fn best_advantage(&self, false_alarm: Rate) -> Bracket {
        let miss = self.least_miss(false_alarm);
        let alarms = 1.0 - false_alarm.get();
        let (lower, upper) = (alarms - miss.upper, alarms - miss.lower);
        // Two roundings of numbers of at most one.
        Bracket { lower: (lower - 3e-16).max(0.0), upper: (upper + 3e-16).clamp(0.0, 1.0) }
    }

    /// The area between the trade-off curve and the line of blind guesses: 0 if the data sets cannot be told apart, 1/2
    /// if they always can.
    #[must_use]
    pub fn area(&self) -> Bracket {
        let (lower, upper) = (self.inner.area_above().0, self.outer.area_above().1);
        Bracket { lower: lower.clamp(0.0, upper.min(0.5)), upper: upper.clamp(0.0, 0.5) }
    }

    /// The largest difference between the outer and the inner boundary's miss rate at any
    /// false-alarm rate.
    #[must_use]
    pub fn gap(&self) -> f64 {
        self.inner.rise_over(&self.outer).1.max(0.0)
    }

    /// The largest amount by which the miss rate can be less in this region than in the other, over all false-alarm
    /// rates.
    #[must_use]
    pub fn excess_over(&self, other: &Self) -> Bracket {
        if order::is_within(&self.plan, &other.plan) {
            return Bracket::exact(0.0);
        }
        let lower = other.outer.rise_over(&self.inner).0.max(0.0);
        let upper = other.inner.rise_over(&self.outer).1.max(0.0);
        Bracket { lower: lower.min(upper), upper }
    }

    /// Decides whether the error rates of every test of this region are in the other region too, that is, whether the
    /// other plan dominates this one.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> Verdict {
        let excess = self.excess_over(other);
        match (excess.lower > 0.0, excess.upper > 0.0) {
            (true, _) => Verdict::No,
            (_, false) => Verdict::Yes,
            _ => Verdict::Undecided,
        }
    }
}
