//! The theorems that are formulas in a few sums.

use super::{InapplicableError, Theorem};
use crate::composition::Guarantees;
use crate::composition::leak::{self, Remainder};
use crate::quantity::format_number;
use counterpoint_numerics::{Dd, STEP, Wide};

/// The guarantees and an epsilon, as the formulas for delta use them. The numbers were doubles or fractions.
pub(super) struct DeltaQuery<'a> {
    pub(super) sums: &'a GuaranteeSums,
    /// The epsilon at which delta is requested, rounded down.
    pub(super) epsilon: Dd,
    /// True if the sum of the epsilons is at most that epsilon.
    pub(super) covers: bool,
    /// Returns the total delta, rounded up, from the delta of the finite losses.
    pub(super) whole: &'a dyn Fn(Wide) -> f64,
}

/// The parts of a delta that the guarantees' deltas leave, rounded down.
pub(super) struct SpareDelta {
    /// The excess over the sum of the deltas.
    pub(super) spare: Result<Wide, InapplicableError>,
    /// The d~ with 1 - (1 - d~) prod(1 - d_i) = delta; `None` if it is zero.
    pub(super) slack: Result<Option<Wide>, InapplicableError>,
}

/// The sums that the formulas use; the relative error of each is below 2^-80.
pub(super) struct GuaranteeSums {
    /// The sum of the epsilons.
    epsilon: Dd,
    /// The sum of their squares.
    square: Dd,
    /// The sum of `e tanh(e/2)`, the mean loss of randomized response.
    drift: Dd,
    /// The sum of `e (exp(e) - 1)`; infinite if that overflows.
    steep_drift: Dd,
    /// The sum of the deltas.
    delta: Wide,
    /// The number of deltas.
    leaks: u64,
}

impl GuaranteeSums {
    pub(super) fn new(guarantees: &Guarantees<'_>) -> Self {
        let factors = guarantees.factors.iter();
        let leaks = guarantees.leaks.iter();
        Self::of(
            factors.map(|factor| (Dd::from(factor.each), factor.count)),
            leaks.map(|leak| (Wide::from(Dd::product(1.0, leak.each)), leak.count)),
        )
    }

    /// Computes the sums of epsilons and of deltas, each with its count.
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
            let grown = expm1_below_overflow(epsilon);
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

/// Returns e^x - 1; `None` if it nearly overflows.
fn expm1_below_overflow(x: Dd) -> Option<Dd> {
    (x.hi < 500.0).then(|| x.expm1())
}

/// Returns tanh(x/2), given e^x - 1: `(e^x - 1)/(e^x + 1)`, without cancellation.
fn tanh(grown: Dd) -> Dd {
    grown / (grown + Dd::from(2.0))
}

/// Returns a double that is certainly above a number whose relative error is below 2^-70.
fn rounded_up(x: Dd) -> f64 {
    if x.hi.is_finite() { (x + x * 1e-21).upper() } else { f64::INFINITY }
}

const NO_ETA: &str = "the theorem needs the parameter eta, and bounds epsilon at a delta only";
const NO_FORMULA: &str = "the optimum is not a formula";

pub(super) fn epsilon(
    theorem: Theorem,
    sums: &GuaranteeSums,
    spare_delta: &SpareDelta,
) -> Result<f64, InapplicableError> {
    let value = match theorem {
        Theorem::Basic => {
            spare_delta.spare.clone()?;
            sums.epsilon
        }
        Theorem::Advanced => advanced_epsilon(sums, sums.steep_drift, spare_delta)?,
        Theorem::Strong => advanced_epsilon(sums, sums.drift, spare_delta)?,
        Theorem::KovClosedForm => kov_epsilon(sums, sums.drift, spare_delta)?,
        Theorem::KovSimplified => kov_epsilon(sums, sums.square, spare_delta)?,
        Theorem::Approximation => return Err(InapplicableError::because(NO_ETA)),
        _ => return Err(InapplicableError::because(NO_FORMULA)),
    };
    finite(rounded_up(value))
}

fn finite(value: f64) -> Result<f64, InapplicableError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(InapplicableError::because("the bound is too large for a number"))
    }
}

impl SpareDelta {
    pub(super) fn new(guarantees: &Guarantees<'_>, sums: &GuaranteeSums, delta: f64) -> Self {
        let slack = match leak::remainder(guarantees.leaks, delta) {
            Remainder::Negative => Err(leak_error(leak::least_delta(guarantees.leaks))),
            Remainder::Zero => Ok(None),
            Remainder::Positive(target) => Ok(Some(target.lower)),
        };
        let rest = Wide::from(delta) - sums.delta;
        // With at most one delta nothing was rounded.
        let is_exact = sums.leaks <= 1 && rest >= Wide::ZERO;
        Self { spare: if is_exact { Ok(rest) } else { sums.spare(Wide::from(delta)) }, slack }
    }
}

impl GuaranteeSums {
    /// Returns the excess of a delta over the sum of the deltas, reduced by the rounding of both.
    pub(super) fn spare(&self, delta: Wide) -> Result<Wide, InapplicableError> {
        let rest = delta - self.delta;
        let error = (delta + self.delta) * Wide::from(1e-22);
        if rest >= error { Ok(rest - error) } else { Err(self.sum_error()) }
    }

    /// The error of a delta that is less than the sum of the deltas.
    pub(super) fn sum_error(&self) -> InapplicableError {
        let sum = format_number(self.delta.upper(1e-25));
        InapplicableError::because(format!("the deltas add up to {sum}, above the requested delta"))
    }
}

/// The error of a delta below the leak.
pub(super) fn leak_error(least: f64) -> InapplicableError {
    let least = format_number(least);
    InapplicableError::because(format!("the releases leak {least}, above the requested delta"))
}

/// `sqrt(2 ln(1/d') sum e^2) + drift` with `d' = delta - sum d`.
fn advanced_epsilon(
    sums: &GuaranteeSums,
    drift: Dd,
    spare_delta: &SpareDelta,
) -> Result<Dd, InapplicableError> {
    let slack = spare_delta.spare.clone()?;
    if !slack.is_positive() {
        return Err(InapplicableError::because(
            "the deltas add up to all of the requested delta, and the theorem needs slack",
        ));
    }
    Ok(drift + spread(sums.square, -slack.ln()))
}

/// `sqrt(2 l s)`, zero for a negative l.
fn spread(square: Dd, logarithm: Dd) -> Dd {
    if logarithm.is_negative() { Dd::ZERO } else { (square * logarithm * 2.0).sqrt() }
}

/// KOV equation (8), a special case of which is (7), for equal guarantees. With the sum of squares as drift, which is
/// at least twice as large, it is the simplified form.
fn kov_epsilon(
    sums: &GuaranteeSums,
    drift: Dd,
    spare_delta: &SpareDelta,
) -> Result<Dd, InapplicableError> {
    let Some(slack) = spare_delta.slack.clone()? else { return Ok(sums.epsilon) };
    let plain = drift + spread(sums.square, -slack.ln());
    let ratio = Wide::from(sums.square.sqrt()) * slack.recip() + Wide::from(Dd::ONE.exp());
    let mixed = drift + spread(sums.square, ratio.ln());
    Ok(smaller(sums.epsilon, smaller(plain, mixed)))
}

fn smaller(a: Dd, b: Dd) -> Dd {
    if a < b { a } else { b }
}

pub(super) fn delta(theorem: Theorem, query: &DeltaQuery<'_>) -> Result<f64, InapplicableError> {
    let sums = query.sums;
    let added = |slack: Wide| probability((sums.delta + slack).upper(1e-20));
    match theorem {
        Theorem::Basic if query.covers => added(Wide::ZERO),
        Theorem::Basic => Err(InapplicableError::because(format!(
            "the epsilons add up to {}, above the requested epsilon",
            rounded_up(sums.epsilon)
        ))),
        Theorem::Advanced => added(slack_at(query, sums.steep_drift)?),
        Theorem::Strong => added(slack_at(query, sums.drift)?),
        Theorem::KovClosedForm | Theorem::KovSimplified => {
            let simple = theorem == Theorem::KovSimplified;
            let slack = kov_slack(query, if simple { sums.square } else { sums.drift })?;
            probability((query.whole)(slack))
        }
        Theorem::Approximation => Err(InapplicableError::because(NO_ETA)),
        _ => Err(InapplicableError::because(NO_FORMULA)),
    }
}

impl<'a> DeltaQuery<'a> {
    pub(super) fn new(
        sums: &'a GuaranteeSums,
        epsilon: f64,
        whole: &'a dyn Fn(Wide) -> f64,
    ) -> Self {
        let covers = epsilon >= rounded_up(sums.epsilon);
        Self { sums, epsilon: Dd::from(epsilon), covers, whole }
    }
}

fn probability(delta: f64) -> Result<f64, InapplicableError> {
    if delta < 1.0 {
        Ok(delta)
    } else {
        Err(InapplicableError::because("the theorem certifies no delta below 1 at this epsilon"))
    }
}

/// Returns the height of an epsilon above a drift, rounded down.
fn excess_over(drift: Dd, epsilon: Dd) -> Result<Dd, InapplicableError> {
    let excess = epsilon - drift - drift * 1e-21;
    if drift.hi.is_finite() && excess.is_positive() {
        Ok(excess)
    } else {
        Err(InapplicableError::because("the theorem certifies no delta at so small an epsilon"))
    }
}

/// Returns the d' with `drift + sqrt(2 ln(1/d') sum e^2) = epsilon`, rounded up.
fn slack_at(query: &DeltaQuery<'_>, drift: Dd) -> Result<Wide, InapplicableError> {
    if !query.sums.square.is_positive() {
        return Ok(Wide::ZERO);
    }
    let exponent = exponent(query.sums, excess_over(drift, query.epsilon)?);
    Ok(Wide::exp(-exponent) * Wide::from(Dd::sum(1.0, 1e-20)))
}

/// Returns `x^2 / (2 sum e^2)`, rounded down.
fn exponent(sums: &GuaranteeSums, excess: Dd) -> Dd {
    let exponent = excess * excess / sums.square.scaled(2.0) * (1.0 - 1e-15 - STEP);
    // The bound is far beyond any delta, and within the range of the exponential.
    if exponent.hi < 1e12 { exponent } else { Dd::from(1e12) }
}

/// Returns the least d~ for which KOV's closed form stays within an epsilon, rounded up.
fn kov_slack(query: &DeltaQuery<'_>, drift: Dd) -> Result<Wide, InapplicableError> {
    if query.covers {
        return Ok(Wide::ZERO);
    }
    let exponent = exponent(query.sums, excess_over(drift, query.epsilon)?);
    let up = Wide::from(Dd::sum(1.0, 1e-20));
    let plain = Wide::exp(-exponent) * up;
    let grown = Wide::exp(exponent) - Wide::from(Dd::ONE.exp());
    if grown > Wide::from(1e-3) {
        let mixed = Wide::from(query.sums.square.sqrt()) * grown.recip() * up;
        return Ok(if mixed < plain { mixed } else { plain });
    }
    Ok(plain)
}
