//! The mean and the variance of one loss.
//!
//! They are K'(0) and K''(0), which K(h) and K(2h) give up to a remainder. With a tiny h the remainder may be bounded
//! crudely, because cumulants stay relatively accurate near zero.

use super::{Law, cumulant};
use crate::delta_bounds::ROUNDED_UP;
use counterpoint_numerics::{Bracket, Dd, STEP, down, up};

/// The first two moments, given that the loss is finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moments {
    pub(crate) mean: Bracket,
    pub(crate) variance: Bracket,
}

/// Returns the moments of a law; `None` if its cumulant cannot be computed.
pub(crate) fn moments(law: &dyn Law) -> Option<Moments> {
    law.own_moments().or_else(|| of_cumulant(law))
}

fn bracket(value: Dd, error: Dd) -> Bracket {
    Bracket { lower: (value - error).lower(), upper: (value + error).upper() }
}

/// The steps at which the cumulant is evaluated, as shares of the reach: a large step leaves a large remainder, a small
/// one loses the cumulant's digits.
const SHARES: [f64; 6] = [1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14];

/// The moments of a loss with E[e^-L] = 1: by Taylor's theorem at every step, keeping the best bounds.
fn of_cumulant(law: &dyn Law) -> Option<Moments> {
    let reach = reach(law)?;
    let all = f64::INFINITY;
    let mut mean = Bracket { lower: -all, upper: all };
    let mut variance = Bracket { lower: 0.0, upper: all };
    for share in SHARES {
        let Some(found) = at_step(law, reach, reach * share) else { continue };
        mean = inner(mean, found.mean);
        variance = inner(variance, found.variance);
    }
    mean.upper.is_finite().then_some(Moments { mean, variance })
}

fn inner(a: Bracket, b: Bracket) -> Bracket {
    Bracket { lower: a.lower.max(b.lower), upper: a.upper.min(b.upper) }
}

/// Returns a number a of at most 1/2 with K(a) at most about one.
fn reach(law: &dyn Law) -> Option<f64> {
    let mut reach = 0.5;
    for _ in 0..30 {
        if cumulant(law, reach)?.0.hi <= 1.0 {
            return Some(reach);
        }
        reach *= 0.5;
    }
    None
}

// The factors of Taylor's theorem in [`at_step`], rounded up to cover their few roundings in doubles.

/// 1/2, a factor of b and of the mean's remainder h K''/2.
const HALF: f64 = 0.501;
/// K'' <= 2 b/a^2.
const SECOND: f64 = 2.01;
/// |K'''| <= 104 b/a^3.
const THIRD: f64 = 105.0;
/// The second difference's remainder: 8/6 + 2/6 times h K'''.
const REMAINDER: f64 = 1.7;
/// The rounding of the second difference, three operations on numbers of about K(h), and of its two quotients.
const DIFFERENCE: f64 = 8.0 * STEP;
const QUOTIENTS: f64 = 4.0 * STEP;
/// With b = (E[e^((a + 2h) L)] - 1)/2, for 0 <= t <= 2h the loss tilted by t has
/// E[cosh(a L) - 1] <= b, as E[e^(tL)] >= 1 and E[e^((t - a) L)] <= 1. By the series of
/// cosh, K'' <= E[L^2] <= 2b/a^2, and |K'''| <= 8 E|L|^3 <= 104 b/a^3 since
/// |x|^3 <= (x^2 + x^4)/2.
fn at_step(law: &dyn Law, reach: f64, h: f64) -> Option<Moments> {
    let (one, one_error) = cumulant(law, h)?;
    let (two, two_error) = cumulant(law, 2.0 * h)?;
    let (far, far_error) = cumulant(law, up(reach + 2.0 * h))?;
    let spread = HALF * (far + Dd::from(far_error)).expm1().upper();
    let second = SECOND * spread / (reach * reach);
    let third = THIRD * spread / (reach * reach * reach);
    let slope = bracket(one / h, Dd::from(ROUNDED_UP * one_error / h + STEP * one.hi / h));
    let mean = Bracket { lower: down(slope.lower - HALF * h * second), upper: slope.upper };
    let curvature = (two - one.scaled(2.0)) / h / h;
    let error = ROUNDED_UP * ((two_error + 2.0 * one_error + DIFFERENCE * one.hi) / h / h)
        + REMAINDER * third * h
        + QUOTIENTS * curvature.hi.abs();
    Some(Moments { mean, variance: bracket(curvature, Dd::from(error)) })
}
