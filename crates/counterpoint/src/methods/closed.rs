//! One mechanism run once, by its formula.

use super::contour::{self, Contours, Effort};
use super::largest::largest;
use crate::composition::CountedLoss;
use crate::composition::leak::Target;
use crate::delta_bounds::DeltaBounds;
use crate::laws::{Direction, FORMULA, Law, Loss, SampledPair, scaled};
use crate::methods::Failure;
use crate::methods::search::{both_ends_to_tolerance, narrow_bracket};
use crate::watch::Watch;
use counterpoint_numerics::{Bracket, Dd, STEP, Wide, one_minus_exp_neg};

// Allowances of the certificates below, each rounded up generously.

/// q - (1 - q)(e^eps - 1): four operations on numbers of at most about q.
const SHARE: f64 = 16.0 * STEP;
/// A bound on the factor A where it cannot be distinguished from zero: four times its error.
const NOTHING: f64 = 4.0;

/// The pure delta of one mechanism run once.
pub(crate) fn delta(
    part: &CountedLoss,
    epsilon: f64,
    watch: Watch<'_>,
) -> Result<DeltaBounds, Failure> {
    single(&part.each, Dd::from(epsilon), watch)
}

/// The profile of one loss at an epsilon of any sign, good to a relative 2^-90.
fn single(loss: &Loss, epsilon: Dd, watch: Watch<'_>) -> Result<DeltaBounds, Failure> {
    let law: &dyn Law = loss.law();
    if let Some(ends) = law.profile(epsilon) {
        return Ok(ends);
    }
    if law.normal_square().is_some() {
        return gaussian(loss, epsilon, watch);
    }
    // The formula of a sample holds only for epsilon >= 0.
    let sample = law.sampled_pair().filter(|_| !epsilon.is_negative()).ok_or(Failure::TooMuch)?;
    sampled_profile(&sample, epsilon, watch)
}

/// Gaussians by the contour, to twelve digits; below zero by `delta(-e) = 1 - e^-e + e^-e delta(e)`.
fn gaussian(loss: &Loss, epsilon: Dd, watch: Watch<'_>) -> Result<DeltaBounds, Failure> {
    let part = [CountedLoss { each: loss.clone(), count: 1 }];
    let size = epsilon.abs();
    // Doubles on either side of epsilon, since the profile decreases.
    let much = (Effort::Much, watch);
    let at = |e: f64| contour::delta(&part, e.max(0.0), 1e-12, much, &Contours::default());
    let (lower, upper) = (at(size.upper())?.lower, at(size.lower())?.upper);
    if !epsilon.is_negative() {
        return Ok(DeltaBounds { lower, upper });
    }
    let decay = Wide::exp(epsilon);
    // 1 - e^epsilon.
    let fixed = Wide::from(one_minus_exp_neg(-epsilon));
    let both = |delta: Wide, slack: f64| (fixed + decay * delta) * Wide::from(Dd::sum(1.0, slack));
    Ok(DeltaBounds::new(both(lower, -FORMULA), both(upper, FORMULA)))
}

/// On a Poisson sample, for epsilon >= 0. Remove: P - e^e Q = q (P0 - e^e' Q0) with `e^e' = 1 + (e^e - 1)/q`. Add: A
/// (Q0 - e^e' P0) with `A = q - (1 - q)(e^e - 1)` and `e^e' = q e^e / A`, and zero if A is not positive; the inner pair
/// is symmetric.
fn sampled_profile(
    sample: &SampledPair,
    epsilon: Dd,
    watch: Watch<'_>,
) -> Result<DeltaBounds, Failure> {
    let rate = Dd::from(sample.rate);
    if epsilon.hi > 500.0 {
        return Err(Failure::TooMuch);
    }
    let excess = epsilon.expm1();
    let (share, inner_epsilon) = match sample.direction {
        Direction::Remove => (rate, (excess / rate).ln_1p()),
        Direction::Add => {
            let share = rate - (Dd::ONE - rate) * excess;
            // The share cannot be distinguished from zero.
            let error = Dd::from(SHARE * rate.hi);
            if !(share - error).is_positive() {
                let most = if (share + error).is_positive() {
                    Wide::from(error * NOTHING)
                } else {
                    Wide::ZERO
                };
                return Ok(DeltaBounds::new(Wide::ZERO, most));
            }
            (share, (rate / share).ln() + epsilon)
        }
    };
    // Relative error of the share, absolute error of the epsilon.
    let slack = FORMULA * (1.0 + rate.hi / share.hi);
    let error = Dd::from(slack * (1.0 + inner_epsilon.hi.abs()));
    let low = single(&sample.inner, inner_epsilon + error, watch)?.lower;
    let high = single(&sample.inner, inner_epsilon - error, watch)?.upper;
    Ok(DeltaBounds::new(low * scaled(share, -slack), high * scaled(share, slack)))
}

/// The least epsilon whose pure delta is within the target, for one mechanism run once.
pub(crate) fn epsilon(
    part: &CountedLoss,
    target: &Target,
    tolerance: f64,
    watch: Watch<'_>,
) -> Result<Bracket, Failure> {
    let at = |epsilon: f64| delta(part, epsilon, watch);
    if at(0.0)?.upper <= target.lower {
        return Ok(Bracket::exact(0.0));
    }
    if let Some(Bracket { lower, upper }) = by_inner(part, target, tolerance, watch)?
        && at(upper)?.upper <= target.lower
        && at(lower)?.lower > target.upper
    {
        return Ok(Bracket { lower, upper });
    }
    let bracket = match largest(std::slice::from_ref(part)) {
        Some((top, error)) => Bracket { lower: 0.0, upper: (top + Dd::from(error)).upper() },
        None => {
            let mut upper = 1.0;
            while at(upper)?.upper > target.lower {
                upper *= 2.0;
            }
            Bracket { lower: 0.0, upper }
        }
    };
    let bracket = narrow_bracket(bracket, (200, 1e-3 * tolerance.max(1e-12)), target, at)?;
    if bracket.is_within_tolerance(tolerance) {
        Ok(bracket)
    } else {
        both_ends_to_tolerance(at, target, bracket, tolerance)
    }
}

/// The likely answer on a Poisson sample with the person in P's data: there the profile is q times the inner profile at
/// e', and e^e - 1 is q (e^e' - 1).
fn by_inner(
    part: &CountedLoss,
    target: &Target,
    tolerance: f64,
    watch: Watch<'_>,
) -> Result<Option<Bracket>, Failure> {
    let is_it = |sample: &SampledPair| {
        sample.is_whole
            && sample.direction == Direction::Remove
            && sample.inner.law().normal_square().is_some()
    };
    let Some(SampledPair { inner, rate, .. }) = part.law().sampled_pair().filter(is_it) else {
        return Ok(None);
    };
    let inner = [CountedLoss { each: inner, count: 1 }];
    let share = Wide::from(rate).recip();
    let inner_target = Target { lower: target.lower * share, upper: target.upper * share };
    let narrow = (1e-3 * tolerance).max(1e-11);
    let effort = (Effort::Much, watch);
    match contour::epsilon(&inner, &inner_target, narrow, effort, &Contours::default()) {
        Ok(Bracket { lower, upper }) => {
            let outer = |e: f64| (Dd::from(e).expm1() * Dd::from(rate)).ln_1p().hi;
            let bracket =
                Bracket { lower: outer(lower) * (1.0 - HAIR), upper: outer(upper) * (1.0 + HAIR) };
            Ok(bracket.is_within_tolerance(tolerance).then_some(bracket))
        }
        Err(Failure::Stopped) => Err(Failure::Stopped),
        Err(_) => Ok(None),
    }
}

/// The approximate error of the profile's formula, relative to epsilon.
const HAIR: f64 = 1e-11;
