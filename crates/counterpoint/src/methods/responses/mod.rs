//! Randomized responses alone, to which (epsilon, delta) guarantees compose: exact lists of atoms, and lattices.

pub(crate) mod contour;
pub(crate) mod convolution;
pub(crate) mod equal;
pub(crate) mod exact;
pub(crate) mod halves;
pub(crate) mod lattice;
pub(crate) mod near_max;
pub(crate) mod precise;
pub(crate) mod skipped;
pub(crate) mod two_lattices;

use crate::composition::Factor;
use counterpoint_numerics::{Dd, STEP};

/// The largest loss, which is the sum of all epsilons; its relative error is below [`largest_error`].
pub(crate) fn largest_loss(factors: &[Factor]) -> Dd {
    factors.iter().fold(Dd::ZERO, |sum, f| sum + Dd::product(f.count as f64, f.each))
}

/// An addition of double-doubles costs 2^-102, a 256th of a step; twice that is allowed for.
const ADDITIONS_A_STEP: f64 = 128.0;

/// A bound on the relative error of [`largest_loss`]; zero for a single factor.
pub(crate) fn largest_error(factors: &[Factor]) -> f64 {
    factors.len().saturating_sub(1) as f64 * STEP / ADDITIONS_A_STEP
}

/// True if an epsilon is at or above the largest loss; close cases are decided exactly.
pub(crate) fn is_at_max(factors: &[Factor], epsilon: f64) -> bool {
    let largest = largest_loss(factors);
    let error = Dd::from(2.0 * largest_error(factors) * largest.hi);
    let gap = largest - Dd::from(epsilon);
    if gap > error || gap < -error {
        return gap < Dd::ZERO;
    }
    // Exact: the epsilons are multiples of 2^-500 below 2^60.
    let big = |x: f64| precise::PreciseFloat::try_from(x).unwrap_or(precise::PreciseFloat::ZERO);
    let with_room = |x: precise::PreciseFloat| x.with_precision(1000).value();
    let sum = factors.iter().fold(with_room(precise::PreciseFloat::ZERO), |sum, factor| {
        sum + with_room(big(factor.each)) * with_room(precise::PreciseFloat::from(factor.count))
    });
    with_room(big(epsilon)) >= sum
}
