//! Functions and allowances that profiles in closed form share.

use crate::delta_bounds::DeltaBounds;
use counterpoint_numerics::{Dd, STEP, Wide, one_minus_exp_neg};

// The allowances of the certificates here, each rounded up generously.

/// A closed form in double-doubles: fewer than thirty operations on positive numbers, at 2^-94 each.
pub(crate) const FORMULA: f64 = 64.0 * STEP;
/// A difference of two losses, each good to 2^-94 of itself, and its own rounding.
const DISTANCE: f64 = 8.0 * STEP;

/// Returns 1 - e^epsilon, the profile below the least loss.
pub(super) fn keep(epsilon: Dd) -> Dd {
    one_minus_exp_neg(-epsilon)
}

/// Bounds a function of the distance to the largest loss over the error of that distance.
pub(super) fn around(gap: Dd, largest: Dd, at: impl Fn(Dd) -> Dd) -> DeltaBounds {
    let error = Dd::from(DISTANCE * (largest.hi.abs() + gap.hi.abs()));
    let (low, high) = (at(gap - error), at(gap + error));
    let low = if low.is_positive() { low } else { Dd::ZERO };
    DeltaBounds::new(scaled(low, -FORMULA), scaled(high, FORMULA))
}

/// Increases or decreases a number by a share of itself.
pub(crate) fn scaled(x: Dd, slack: f64) -> Wide {
    Wide::from(x) * Wide::from(Dd::sum(1.0, slack))
}

/// The relative error of a cumulant in closed form.
///
/// Each is fewer than thirty operations on positive numbers (the series for a range has
/// more, at 2^-102 each), and ln(1 + m) is no more sensitive than m. The parameter's own
/// error of 2^-94 and that of its product with t count up to fourfold: with s = t + 1/2 the
/// cumulants are f(s eps) - f(eps/2), where f' is concave and vanishes at 0 for responses
/// and ranges, which makes their elasticity at most 2; for Laplace noise it is at most 4.
pub(super) const RELATIVE: f64 = 64.0 * STEP;

/// Adds its error to a cumulant in closed form.
pub(super) fn cumulant_of(value: Dd) -> Option<(Dd, f64)> {
    Some((value, RELATIVE * value.hi.abs()))
}

/// From this x on, e^-x is negligible beside a cumulant of about x.
pub(super) const LARGE: f64 = 300.0;

/// From this epsilon on, estimates in plain doubles keep their digits.
pub(super) const PLAIN: f64 = 1e-4;

// Limits of gaps below the largest loss, in units of epsilon, of the distance to the next atom, or of half the span.
// They must stay below 2 and 1: a gap within the limit does not reach the least loss, which is two epsilons below the
// largest.

pub(super) const SHORT_OF_THE_SPAN: f64 = 1.9;
pub(super) const SHORT_OF_THE_NEXT: f64 = 0.999;
pub(super) const SHORT_OF_HALF: f64 = 0.9;

/// Four roundings of doubles, twice over; no expression beside it has more.
pub(super) const FOUR_ROUNDINGS: f64 = 1e-15;
