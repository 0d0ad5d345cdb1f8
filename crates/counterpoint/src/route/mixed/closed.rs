//! What needs no composition: one mechanism run once.

use super::largest::largest;
use super::listed::listed;
use super::smooth::{self, Contours, Effort};
use counterpoint_numerics::Bracket;
use crate::composition::Part;
use crate::composition::leak::Target;
use crate::loss::{Direction, Loss};
use counterpoint_numerics::{Dd, STEP, Wide, falling, rise};
use crate::route::search::{closer, narrowed};
use crate::route::{Ends, Failure, UNCOUNTED};
use crate::watch::Watch;

// What the certificates here allow for, each rounded up generously.

/// A closed form in double-doubles: fewer than thirty operations on positive numbers, at 2^-94 each.
const FORMULA: f64 = 64.0 * STEP;
/// A difference of two losses, each good to 2^-94 of itself, and its own rounding.
const DISTANCE: f64 = 8.0 * STEP;
/// q - (1 - q)(e^eps - 1): four operations on numbers of at most about q.
const SHARE: f64 = 16.0 * STEP;
/// What the factor A may be where it cannot be told from nothing: its error, fourfold.
const NOTHING: f64 = 4.0;

/// The pure delta of one mechanism run once.
pub(crate) fn delta(part: &Part, epsilon: f64, watch: Watch<'_>) -> Result<Ends, Failure> {
    single(&part.each, Dd::from(epsilon), watch)
}

/// The profile of one loss at an epsilon of any sign, good to a relative 2^-90.
fn single(loss: &Loss, epsilon: Dd, watch: Watch<'_>) -> Result<Ends, Failure> {
    match loss {
        Loss::Response { epsilon: largest } => {
            let mass = Dd::ONE / (Dd::ONE + falling(*largest));
            let at =
                |gap: Dd| if gap < largest.scaled(2.0) { mass * rise(gap) } else { keep(epsilon) };
            Ok(around(*largest - epsilon, *largest, at))
        }
        Loss::Laplace { epsilon: largest } => {
            let at = |gap: Dd| {
                if gap < largest.scaled(2.0) { rise(gap.scaled(0.5)) } else { keep(epsilon) }
            };
            Ok(around(*largest - epsilon, *largest, at))
        }
        Loss::Range { epsilon: largest } => {
            let whole = rise(*largest);
            let at = |gap: Dd| {
                let side = rise(gap.scaled(0.5));
                if gap < largest.scaled(2.0) { side * side / whole } else { keep(epsilon) }
            };
            Ok(around(*largest - epsilon, *largest, at))
        }
        Loss::Gaussian { .. } => gaussian(loss, epsilon, watch),
        Loss::Atoms(atoms) => Ok(listed(atoms, epsilon, UNCOUNTED)),
        Loss::SampledGaussian { rate, mu, direction } => {
            let inner = Loss::Gaussian { square: *mu * *mu };
            sampled(&inner, *rate, *direction, epsilon, watch)
        }
        Loss::SampledLaplace { rate, epsilon: inner, direction } => {
            let inner = Loss::Laplace { epsilon: *inner };
            sampled(&inner, *rate, *direction, epsilon, watch)
        }
        Loss::SampledRange { rate, epsilon: inner, direction } => {
            let inner = Loss::Range { epsilon: *inner };
            sampled(&inner, *rate, *direction, epsilon, watch)
        }
        // Above zero its profile is that of a Poisson sample with the person in P's data.
        Loss::Subset { share, mu } if !epsilon.is_negative() => {
            let inner = Loss::Gaussian { square: *mu * *mu };
            sampled(&inner, *share, Direction::Remove, epsilon, watch)
        }
        Loss::Subset { .. } => Err(Failure::TooMuch),
        // Where its ratio is e^epsilon has no formula.
        Loss::Mixture(_) => Err(Failure::TooMuch),
    }
}

/// 1 - e^epsilon: the profile below the least loss.
fn keep(epsilon: Dd) -> Dd {
    rise(-epsilon)
}

/// A function of the distance to the largest loss, over that distance's error.
fn around(gap: Dd, largest: Dd, at: impl Fn(Dd) -> Dd) -> Ends {
    let error = Dd::from(DISTANCE * (largest.hi.abs() + gap.hi.abs()));
    let (low, high) = (at(gap - error), at(gap + error));
    let low = if low.is_positive() { low } else { Dd::ZERO };
    Ends::new(scaled(low, -FORMULA), scaled(high, FORMULA))
}

/// A number made larger or smaller by a share of itself.
pub(super) fn scaled(x: Dd, slack: f64) -> Wide {
    Wide::from(x) * Wide::from(Dd::sum(1.0, slack))
}

/// Gaussians by the contour, to twelve digits; below zero by
/// `delta(-e) = 1 - e^-e + e^-e delta(e)`.
fn gaussian(loss: &Loss, epsilon: Dd, watch: Watch<'_>) -> Result<Ends, Failure> {
    let part = [Part { each: loss.clone(), count: 1 }];
    let size = epsilon.abs();
    // Neighbouring doubles, whichever way the profile goes.
    let much = (Effort::Much, watch);
    let at = |e: f64| smooth::delta(&part, e.max(0.0), 1e-12, much, &Contours::default());
    let (lower, upper) = (at(size.upper())?.lower, at(size.lower())?.upper);
    if !epsilon.is_negative() {
        return Ok(Ends { lower, upper });
    }
    let decay = Wide::exp(epsilon);
    let fixed = Wide::from(keep(epsilon));
    let both = |delta: Wide, slack: f64| (fixed + decay * delta) * Wide::from(Dd::sum(1.0, slack));
    Ok(Ends::new(both(lower, -FORMULA), both(upper, FORMULA)))
}

/// On a Poisson sample, for epsilon >= 0. Remove: P - e^e Q = q (P0 - e^e' Q0) with
/// `e^e' = 1 + (e^e - 1)/q`. Add: A (Q0 - e^e' P0) with `A = q - (1 - q)(e^e - 1)` and
/// `e^e' = q e^e / A`, nothing if A is not positive; the inner pair is symmetric.
fn sampled(
    inner: &Loss,
    rate: f64,
    direction: Direction,
    epsilon: Dd,
    watch: Watch<'_>,
) -> Result<Ends, Failure> {
    let rate = Dd::from(rate);
    if epsilon.hi > 500.0 {
        return Err(Failure::TooMuch);
    }
    let excess = epsilon.expm1();
    let (share, inner_epsilon) = match direction {
        Direction::Remove => (rate, (excess / rate).ln_1p()),
        Direction::Add => {
            let share = rate - (Dd::ONE - rate) * excess;
            // Too close to nothing to be told from it.
            let error = Dd::from(SHARE * rate.hi);
            if !(share - error).is_positive() {
                let most = if (share + error).is_positive() {
                    Wide::from(error * NOTHING)
                } else {
                    Wide::ZERO
                };
                return Ok(Ends::new(Wide::ZERO, most));
            }
            (share, (rate / share).ln() + epsilon)
        }
    };
    // Relative error of the share, absolute of the epsilon.
    let slack = FORMULA * (1.0 + rate.hi / share.hi);
    let error = Dd::from(slack * (1.0 + inner_epsilon.hi.abs()));
    let low = single(inner, inner_epsilon + error, watch)?.lower;
    let high = single(inner, inner_epsilon - error, watch)?.upper;
    Ok(Ends::new(low * scaled(share, -slack), high * scaled(share, slack)))
}

/// The least epsilon whose pure delta is within the target, for one mechanism run once.
pub(crate) fn epsilon(
    part: &Part,
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
    let bracket = narrowed(bracket, (200, 1e-3 * tolerance.max(1e-12)), target, at)?;
    if bracket.keeps(tolerance) { Ok(bracket) } else { closer(at, target, bracket, tolerance) }
}

/// Where the answer should be, on a Poisson sample with the person in P's data: the profile is q times the inner one
/// at e' there, and e^e - 1 is q (e^e' - 1).
fn by_inner(
    part: &Part,
    target: &Target,
    tolerance: f64,
    watch: Watch<'_>,
) -> Result<Option<Bracket>, Failure> {
    let Loss::SampledGaussian { rate, mu, direction: Direction::Remove } = part.each else {
        return Ok(None);
    };
    let inner = [Part { each: Loss::Gaussian { square: mu * mu }, count: 1 }];
    let share = Wide::from(rate).recip();
    let inner_target = Target { lower: target.lower * share, upper: target.upper * share };
    let narrow = (1e-3 * tolerance).max(1e-11);
    let effort = (Effort::Much, watch);
    match smooth::epsilon(&inner, &inner_target, narrow, effort, &Contours::default()) {
        Ok(Bracket { lower, upper }) => {
            let outer = |e: f64| (Dd::from(e).expm1() * Dd::from(rate)).ln_1p().hi;
            let bracket =
                Bracket { lower: outer(lower) * (1.0 - HAIR), upper: outer(upper) * (1.0 + HAIR) };
            Ok(bracket.keeps(tolerance).then_some(bracket))
        }
        Err(Failure::Stopped) => Err(Failure::Stopped),
        Err(_) => Ok(None),
    }
}

/// What the profile's formula may be off by, relative to epsilon, about.
const HAIR: f64 = 1e-11;
