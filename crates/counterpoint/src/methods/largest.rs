//! The largest loss of a composition, if the losses are bounded.

use crate::composition::CountedLoss;
use crate::delta_bounds::ROUNDED_UP;
use counterpoint_numerics::{Dd, STEP};

/// A product with a count and an addition, each good to 2^-102, of losses good to 2^-94.
const SUM: f64 = 8.0 * STEP;

/// The largest total loss, if there is one: its value and absolute error.
pub(crate) fn largest(parts: &[CountedLoss]) -> Option<(Dd, f64)> {
    if left_out_mass(parts) > 0.0 { None } else { largest_listed(parts) }
}

/// The P mass that the parts leave out, except for mass that is known to be below the largest loss. It may have any
/// loss.
pub(crate) fn left_out_mass(parts: &[CountedLoss]) -> f64 {
    let of = |part: &CountedLoss| part.law().omitted_mass().above * part.count as f64;
    ROUNDED_UP * parts.iter().map(of).sum::<f64>()
}

/// The largest total loss, ignoring the mass that is left out.
pub(crate) fn largest_listed(parts: &[CountedLoss]) -> Option<(Dd, f64)> {
    let mut sum = (Dd::ZERO, 0.0);
    for part in parts {
        let (top, _) = part.law().largest_loss()?;
        sum.0 = sum.0 + top * part.count as f64;
        sum.1 += SUM * (sum.0.hi.abs() + top.hi.abs() * part.count as f64);
    }
    Some(sum)
}

/// True if the largest total loss is surely much larger than an epsilon, or does not exist. Decided without listing
/// outcomes that have a formula, and only if some part has a formula.
pub(crate) fn is_far_above(parts: &[CountedLoss], epsilon: f64) -> bool {
    if parts.iter().all(|part| part.law().list_formula().is_none()) {
        return false;
    }
    let far = |part: &CountedLoss| match part.law().list_formula() {
        Some(formula) => Some(formula.far * part.count as f64),
        None => part.law().largest_loss().map(|(top, _)| top.hi * part.count as f64),
    };
    parts.iter().map(far).sum::<Option<f64>>().is_none_or(|far| far > epsilon + 1.0)
}
