//! The theorems that are formulas in a few sums.

use super::{Inapplicable, Theorem};
use crate::composition::Guarantees;
use crate::composition::leak::{self, Remainder};
use crate::quantity::plain;
use counterpoint_numerics::{Dd, STEP, Wide};

/// The guarantees as the formulas see them, and a question: numbers that were doubles, or fractions.
pub(super) struct Asked<'a> {
    pub(super) sums: &'a Sums,
    /// The epsilon asked about, from below.
    pub(super) epsilon: Dd,
    /// Whether the epsilons add up to no more than that.
    pub(super) covers: bool,
    /// The delta of the whole, from above, if finite losses have this one.
    pub(super) whole: &'a dyn Fn(Wide) -> f64,
}

/// What a delta leaves once the leaks are paid, from below.
pub(super) struct Room {
    /// Above the sum of the deltas.
    pub(super) spare: Result<Wide, Inapplicable>,
    /// The d~ with 1 - (1 - d~) prod(1 - d_i) = delta; `None` if it is zero.
    pub(super) slack: Result<Option<Wide>, Inapplicable>,
}

/// The sums all formulas are made of; relative error below 2^-80 each.
pub(super) struct Sums {
    /// Of the epsilons.
    epsilon: Dd,
    /// Of their squares.
    square: Dd,
    /// Of `e tanh(e/2)`: the mean loss of randomized response.
    drift: Dd,
    /// Of `e (exp(e) - 1)`; infinite if that overflows.
    steep_drift: Dd,
    /// Of the deltas.
    delta: Wide,
    /// How many deltas there are.
    leaks: u64,
}

impl Sums {
    pub(super) fn new(guarantees: &Guarantees<'_>) -> Self {
        let factors = guarantees.factors.iter();
        let leaks = guarantees.leaks.iter();
        Self::of(
            factors.map(|factor| (Dd::from(factor.each), factor.count)),
            leaks.map(|leak| (Wide::from(Dd::product(1.0, leak.each)), leak.count)),
        )
    }

    /// Of epsilons and of deltas, each with its count.
    pub(super) fn of(
        epsilons: impl Iterator<Item = (Dd, u64)>,
        deltas: impl Iterator<Item = (Wide, u64)>,
    ) -> Self {
        let mut sums = Self {
            epsilon: Dd::ZERO,
            square: Dd::ZERO,
            drift: Dd::ZERO,
            steep_drift: Dd::ZERO,
            delta: Wide::ZERO,
            leaks: 0,
        };
        for (epsilon, count) in epsilons {
            let total = epsilon * count as f64;
            sums.epsilon = sums.epsilon + total;
            sums.square = sums.square + total * epsilon;
            let grown = grown(epsilon);
            sums.drift = sums.drift + total * grown.map_or(Dd::ONE, tanh);
            sums.steep_drift = match grown {
                Some(grown) => sums.steep_drift + total * grown,
                None => Dd::from(f64::INFINITY),
            };
        }
        for (delta, count) in deltas {
            sums.delta = sums.delta + delta * Wide::from(count as f64);
            sums.leaks += count;
        }
        sums
    }
}

/// e^x - 1, unless it is near overflow.
fn grown(x: Dd) -> Option<Dd> {
    (x.hi < 500.0).then(|| x.expm1())
}

/// tanh(x/2), given e^x - 1: `(e^x - 1)/(e^x + 1)`, without cancellation.
fn tanh(grown: Dd) -> Dd {
    grown / (grown + Dd::from(2.0))
}

/// A double surely above a number whose relative error is below 2^-70.
fn rounded_up(x: Dd) -> f64 {
    if x.hi.is_finite() { (x + x * 1e-21).upper() } else { f64::INFINITY }
}

const NO_ETA: &str = "it has a parameter, eta: an epsilon at a delta, within eta";
const NO_FORMULA: &str = "the optimum is not a formula";

pub(super) fn epsilon(theorem: Theorem, sums: &Sums, room: &Room) -> Result<f64, Inapplicable> {
    let value = match theorem {
        Theorem::Basic => {
            room.spare.clone()?;
            sums.epsilon
        }
        Theorem::Advanced => moderate(sums, sums.steep_drift, room)?,
        Theorem::Strong => moderate(sums, sums.drift, room)?,
        Theorem::KovClosedForm => kov(sums, sums.drift, room)?,
        Theorem::KovSimplified => kov(sums, sums.square, room)?,
        Theorem::Approximation => return Err(Inapplicable::because(NO_ETA)),
        _ => return Err(Inapplicable::because(NO_FORMULA)),
    };
    finite(rounded_up(value))
}

fn finite(value: f64) -> Result<f64, Inapplicable> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(Inapplicable::because("the bound is too large for a number"))
    }
}

impl Room {
    pub(super) fn new(guarantees: &Guarantees<'_>, sums: &Sums, delta: f64) -> Self {
        let slack = match leak::remainder(guarantees.leaks, delta) {
            Remainder::Negative => Err(leaks_more(leak::least_delta(guarantees.leaks))),
            Remainder::Zero => Ok(None),
            Remainder::Positive(target) => Ok(Some(target.lower)),
        };
        let rest = Wide::from(delta) - sums.delta;
        // Of none or one alone nothing was rounded.
        let is_exact = sums.leaks <= 1 && rest >= Wide::ZERO;
        Self { spare: if is_exact { Ok(rest) } else { sums.spare(Wide::from(delta)) }, slack }
    }
}

impl Sums {
    /// What a delta leaves above the sum of the deltas, from below, for what both are rounded.
    pub(super) fn spare(&self, delta: Wide) -> Result<Wide, Inapplicable> {
        let rest = delta - self.delta;
        let error = (delta + self.delta) * Wide::from(1e-22);
        if rest >= error { Ok(rest - error) } else { Err(self.add_up()) }
    }

    /// Why nothing is left.
    pub(super) fn add_up(&self) -> Inapplicable {
        let sum = plain(self.delta.upper(1e-25));
        Inapplicable::because(format!("the deltas add up to {sum}, above the delta asked about"))
    }
}

/// Why nothing is left of a delta below the leak.
pub(super) fn leaks_more(least: f64) -> Inapplicable {
    let least = plain(least);
    Inapplicable::because(format!("the releases leak {least}, above the delta asked about"))
}

/// `sqrt(2 ln(1/d') sum e^2) + drift` with `d' = delta - sum d`.
fn moderate(sums: &Sums, drift: Dd, room: &Room) -> Result<Dd, Inapplicable> {
    let slack = room.spare.clone()?;
    if !slack.is_positive() {
        return Err(Inapplicable::because(
            "the deltas leave nothing of the delta asked about for the theorem's own slack",
        ));
    }
    Ok(drift + spread(sums.square, -slack.ln()))
}

/// `sqrt(2 l s)`, zero for a negative l.
fn spread(square: Dd, logarithm: Dd) -> Dd {
    if logarithm.is_negative() { Dd::ZERO } else { (square * logarithm * 2.0).sqrt() }
}

/// KOV equation (8), of which (7) is the case of equal guarantees; simplified if the drift is the sum of squares, which is at
/// least twice as large.
fn kov(sums: &Sums, drift: Dd, room: &Room) -> Result<Dd, Inapplicable> {
    let Some(slack) = room.slack.clone()? else { return Ok(sums.epsilon) };
    let plain = drift + spread(sums.square, -slack.ln());
    let ratio = Wide::from(sums.square.sqrt()) * slack.recip() + Wide::from(Dd::ONE.exp());
    let mixed = drift + spread(sums.square, ratio.ln());
    Ok(smaller(sums.epsilon, smaller(plain, mixed)))
}

fn smaller(a: Dd, b: Dd) -> Dd {
    if a < b { a } else { b }
}

pub(super) fn delta(theorem: Theorem, asked: &Asked<'_>) -> Result<f64, Inapplicable> {
    let sums = asked.sums;
    let added = |slack: Wide| probability((sums.delta + slack).upper(1e-20));
    match theorem {
        Theorem::Basic if asked.covers => added(Wide::ZERO),
        Theorem::Basic => Err(Inapplicable::because(format!(
            "the epsilons add up to {}, above the epsilon asked about",
            rounded_up(sums.epsilon)
        ))),
        Theorem::Advanced => added(tail(asked, sums.steep_drift)?),
        Theorem::Strong => added(tail(asked, sums.drift)?),
        Theorem::KovClosedForm | Theorem::KovSimplified => {
            let simple = theorem == Theorem::KovSimplified;
            let slack = kov_slack(asked, if simple { sums.square } else { sums.drift })?;
            probability((asked.whole)(slack))
        }
        Theorem::Approximation => Err(Inapplicable::because(NO_ETA)),
        _ => Err(Inapplicable::because(NO_FORMULA)),
    }
}

impl<'a> Asked<'a> {
    pub(super) fn new(sums: &'a Sums, epsilon: f64, whole: &'a dyn Fn(Wide) -> f64) -> Self {
        let covers = epsilon >= rounded_up(sums.epsilon);
        Self { sums, epsilon: Dd::from(epsilon), covers, whole }
    }
}

fn probability(delta: f64) -> Result<f64, Inapplicable> {
    if delta < 1.0 {
        Ok(delta)
    } else {
        Err(Inapplicable::because("it certifies no delta below 1 at this epsilon"))
    }
}

/// How far an epsilon lies above a drift, from below.
fn above(drift: Dd, epsilon: Dd) -> Result<Dd, Inapplicable> {
    let excess = epsilon - drift - drift * 1e-21;
    if drift.hi.is_finite() && excess.is_positive() {
        Ok(excess)
    } else {
        Err(Inapplicable::because("it certifies no epsilon this small"))
    }
}

/// The d' with `drift + sqrt(2 ln(1/d') sum e^2) = epsilon`, from above.
fn tail(asked: &Asked<'_>, drift: Dd) -> Result<Wide, Inapplicable> {
    if !asked.sums.square.is_positive() {
        return Ok(Wide::ZERO);
    }
    let exponent = exponent(asked.sums, above(drift, asked.epsilon)?);
    Ok(Wide::exp(-exponent) * Wide::from(Dd::sum(1.0, 1e-20)))
}

/// `x^2 / (2 sum e^2)`, from below.
fn exponent(sums: &Sums, excess: Dd) -> Dd {
    let exponent = excess * excess / sums.square.scaled(2.0) * (1.0 - 1e-15 - STEP);
    // Far beyond any delta, and within the range of the exponential.
    if exponent.hi < 1e12 { exponent } else { Dd::from(1e12) }
}

/// The least d~ for which KOV's closed form stays within an epsilon, from above.
fn kov_slack(asked: &Asked<'_>, drift: Dd) -> Result<Wide, Inapplicable> {
    if asked.covers {
        return Ok(Wide::ZERO);
    }
    let exponent = exponent(asked.sums, above(drift, asked.epsilon)?);
    let up = Wide::from(Dd::sum(1.0, 1e-20));
    let plain = Wide::exp(-exponent) * up;
    let grown = Wide::exp(exponent) - Wide::from(Dd::ONE.exp());
    if grown > Wide::from(1e-3) {
        let mixed = Wide::from(asked.sums.square.sqrt()) * grown.recip() * up;
        return Ok(if mixed < plain { mixed } else { plain });
    }
    Ok(plain)
}
