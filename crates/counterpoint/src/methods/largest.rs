//! The largest loss, where there is one, and its mass.

use crate::composition::Part;
use crate::ends::ROUNDED_UP;
use counterpoint_numerics::{Dd, STEP};

/// A product with a count and an addition, each good to 2^-102, of losses good to 2^-94.
const SUM: f64 = 8.0 * STEP;

/// The largest total loss, if there is one: value and absolute error.
pub(crate) fn largest(parts: &[Part]) -> Option<(Dd, f64)> {
    if cut(parts) > 0.0 { None } else { largest_kept(parts) }
}

/// P mass cut off the parts, which may have any loss, but for what is known to be below the largest.
pub(crate) fn cut(parts: &[Part]) -> f64 {
    let of = |part: &Part| part.law().left_out().above * part.count as f64;
    ROUNDED_UP * parts.iter().map(of).sum::<f64>()
}

/// The largest total loss but for masses cut off.
pub(crate) fn largest_kept(parts: &[Part]) -> Option<(Dd, f64)> {
    let mut sum = (Dd::ZERO, 0.0);
    for part in parts {
        let (top, _) = part.law().top()?;
        sum.0 = sum.0 + top * part.count as f64;
        sum.1 += SUM * (sum.0.hi.abs() + top.hi.abs() * part.count as f64);
    }
    Some(sum)
}

/// Whether the largest total loss is surely much larger than an epsilon, or there is none: told without listing
/// outcomes for which there is a formula, and only where there are such.
pub(crate) fn is_far_above(parts: &[Part], epsilon: f64) -> bool {
    if parts.iter().all(|part| part.law().formula().is_none()) {
        return false;
    }
    let far = |part: &Part| match part.law().formula() {
        Some(formula) => Some(formula.far * part.count as f64),
        None => part.law().top().map(|(top, _)| top.hi * part.count as f64),
    };
    parts.iter().map(far).sum::<Option<f64>>().is_none_or(|far| far > epsilon + 1.0)
}
