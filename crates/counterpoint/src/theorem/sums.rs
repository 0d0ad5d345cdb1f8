//! The theorems that are formulas in a few sums.

use super::{Inapplicable, Theorem};
use crate::composition::Guarantees;
use crate::composition::leak::{self, Remainder};
use crate::quantity::plain;
use counterpoint_numerics::{Dd, STEP, Wide};

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
        let mut sums = Self {
            epsilon: Dd::ZERO,
            square: Dd::ZERO,
            drift: Dd::ZERO,
            steep_drift: Dd::ZERO,
            delta: Wide::ZERO,
            leaks: guarantees.leaks.iter().map(|leak| leak.count).sum(),
        };
        for factor in &guarantees.factors {
            let (epsilon, count) = (factor.each, factor.count as f64);
            let total = Dd::product(count, epsilon);
            sums.epsilon = sums.epsilon + total;
            sums.square = sums.square + total * epsilon;
            let grown = grown(epsilon);
            sums.drift = sums.drift + total * grown.map_or(Dd::ONE, tanh);
            sums.steep_drift = match grown {
                Some(grown) => sums.steep_drift + total * grown,
                None => Dd::from(f64::INFINITY),
            };
        }
        for leak in guarantees.leaks {
            sums.delta = sums.delta
                + Wide::from(Dd::product(1.0, leak.each)) * Wide::from(leak.count as f64);
        }
        sums
    }
}

/// e^x - 1, unless it is near overflow.
fn grown(x: f64) -> Option<Dd> {
    (x < 500.0).then(|| Dd::from(x).expm1())
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

pub(super) fn epsilon(
    theorem: Theorem,
    (guarantees, sums): (&Guarantees<'_>, &Sums),
    delta: f64,
) -> Result<f64, Inapplicable> {
    let value = match theorem {
        Theorem::Basic => {
            spare(sums, delta)?;
            sums.epsilon
        }
        Theorem::Advanced => moderate(sums, sums.steep_drift, delta)?,
        Theorem::Strong => moderate(sums, sums.drift, delta)?,
        Theorem::KovClosedForm => kov(sums, sums.drift, guarantees, delta)?,
        Theorem::KovSimplified => kov(sums, sums.square, guarantees, delta)?,
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

/// What a delta leaves above the sum of the deltas, from below.
fn spare(sums: &Sums, delta: f64) -> Result<Wide, Inapplicable> {
    let rest = Wide::from(delta) - sums.delta;
    let error = (Wide::from(delta) + sums.delta) * Wide::from(1e-22);
    if sums.leaks <= 1 && rest >= Wide::ZERO {
        // None or one alone: nothing was rounded.
        return Ok(rest);
    }
    if rest >= error {
        return Ok(rest - error);
    }
    Err(Inapplicable::because(format!(
        "the deltas add up to {}, above the delta asked about",
        plain(sums.delta.upper(1e-25))
    )))
}

/// `sqrt(2 ln(1/d') sum e^2) + drift` with `d' = delta - sum d`.
fn moderate(sums: &Sums, drift: Dd, delta: f64) -> Result<Dd, Inapplicable> {
    let slack = spare(sums, delta)?;
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
fn kov(
    sums: &Sums,
    drift: Dd,
    guarantees: &Guarantees<'_>,
    delta: f64,
) -> Result<Dd, Inapplicable> {
    let slack = match leak::remainder(guarantees.leaks, delta) {
        Remainder::Negative => {
            return Err(Inapplicable::because(format!(
                "the releases leak {}, above the delta asked about",
                plain(leak::least_delta(guarantees.leaks))
            )));
        }
        Remainder::Zero => return Ok(sums.epsilon),
        Remainder::Positive(target) => target.lower,
    };
    let plain = drift + spread(sums.square, -slack.ln());
    let ratio = Wide::from(sums.square.sqrt()) * slack.recip() + Wide::from(Dd::ONE.exp());
    let mixed = drift + spread(sums.square, ratio.ln());
    Ok(smaller(sums.epsilon, smaller(plain, mixed)))
}

fn smaller(a: Dd, b: Dd) -> Dd {
    if a < b { a } else { b }
}

pub(super) fn delta(
    theorem: Theorem,
    (guarantees, sums): (&Guarantees<'_>, &Sums),
    epsilon: f64,
) -> Result<f64, Inapplicable> {
    let added = |slack: Wide| probability((sums.delta + slack).upper(1e-20));
    match theorem {
        Theorem::Basic if epsilon >= rounded_up(sums.epsilon) => added(Wide::ZERO),
        Theorem::Basic => Err(Inapplicable::because(format!(
            "the epsilons add up to {}, above the epsilon asked about",
            rounded_up(sums.epsilon)
        ))),
        Theorem::Advanced => added(tail(sums, sums.steep_drift, epsilon)?),
        Theorem::Strong => added(tail(sums, sums.drift, epsilon)?),
        Theorem::KovClosedForm | Theorem::KovSimplified => {
            let simple = theorem == Theorem::KovSimplified;
            let slack = kov_slack(sums, if simple { sums.square } else { sums.drift }, epsilon)?;
            probability(leak::with_leaks(guarantees.leaks, slack, slack).upper)
        }
        Theorem::Approximation => Err(Inapplicable::because(NO_ETA)),
        _ => Err(Inapplicable::because(NO_FORMULA)),
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
fn above(drift: Dd, epsilon: f64) -> Result<Dd, Inapplicable> {
    let excess = Dd::from(epsilon) - drift - drift * 1e-21;
    if drift.hi.is_finite() && excess.is_positive() {
        Ok(excess)
    } else {
        Err(Inapplicable::because("it certifies no epsilon this small"))
    }
}

/// The d' with `drift + sqrt(2 ln(1/d') sum e^2) = epsilon`, from above.
fn tail(sums: &Sums, drift: Dd, epsilon: f64) -> Result<Wide, Inapplicable> {
    if !sums.square.is_positive() {
        return Ok(Wide::ZERO);
    }
    let exponent = exponent(sums, above(drift, epsilon)?);
    Ok(Wide::exp(-exponent) * Wide::from(Dd::sum(1.0, 1e-20)))
}

/// `x^2 / (2 sum e^2)`, from below.
fn exponent(sums: &Sums, excess: Dd) -> Dd {
    let exponent = excess * excess / sums.square.scaled(2.0) * (1.0 - 1e-15 - STEP);
    // Far beyond any delta, and within the range of the exponential.
    if exponent.hi < 1e12 { exponent } else { Dd::from(1e12) }
}

/// The least d~ for which KOV's closed form stays within an epsilon, from above.
fn kov_slack(sums: &Sums, drift: Dd, epsilon: f64) -> Result<Wide, Inapplicable> {
    if epsilon >= rounded_up(sums.epsilon) {
        return Ok(Wide::ZERO);
    }
    let exponent = exponent(sums, above(drift, epsilon)?);
    let up = Wide::from(Dd::sum(1.0, 1e-20));
    let plain = Wide::exp(-exponent) * up;
    let grown = Wide::exp(exponent) - Wide::from(Dd::ONE.exp());
    if grown > Wide::from(1e-3) {
        let mixed = Wide::from(sums.square.sqrt()) * grown.recip() * up;
        return Ok(if mixed < plain { mixed } else { plain });
    }
    Ok(plain)
}
