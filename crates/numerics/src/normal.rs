//! The tail of the normal distribution.

use super::{Dd, STEP, Wide};

/// ln sqrt(2 pi).
pub const LN_SQRT_TAU: Dd = Dd::literal(0.918_938_533_204_672_8, -3.878_294_158_067_241_4e-17);

/// The error of the density: its exponent has an error of 2^-102 of itself and e^x of 2^-98, less than this for each
/// unit of 8 + x^2.
const DENSITY: f64 = 8.0 * STEP;
/// The error of [`mills`], 2^-90, and of three products.
const MILLS: f64 = 1e-25;
/// The error of 120 positive terms, two operations of 2^-102 each, and of their sum.
const SERIES: f64 = 512.0 * STEP;

/// Returns a lower and an upper bound on the probability that a standard normal exceeds x.
///
/// Above 3 it uses Laplace's continued fraction for the ratio of the tail to the density, whose convergents lie
/// alternately above and below it. Between 0 and 3 the tail is one half minus the density times `x + x^3/3 + x^5/15 +
/// ...`, a series of positive terms, cut off where a geometric series bounds the rest; the difference loses a factor
/// below
/// 400. Below 0 it uses symmetry.
#[must_use]
pub fn normal_tail(x: f64) -> (Wide, Wide) {
    if x < 0.0 {
        let (lower, upper) = normal_tail(-x);
        return (outward(Wide::ONE - upper, -1.0), outward(Wide::ONE - lower, 1.0));
    }
    let square = Dd::product(x, x);
    let density = Wide::exp(-square.scaled(0.5) - LN_SQRT_TAU);
    let slack = DENSITY * (8.0 + square.hi);
    if x > 3.0 {
        // The convergents approach each other as e^(-2x sqrt(2n)): with these terms to at least 1e-40.
        let terms = 40 + (1000.0 / square.hi) as u32;
        let (low, high) = (mills(x, terms), mills(x, terms + 1));
        let (low, high) = if low < high { (low, high) } else { (high, low) };
        let scaled = |ratio: Dd, slack: f64| density * Wide::from(ratio * Dd::sum(1.0, slack));
        return (scaled(low, -slack - MILLS), scaled(high, slack + MILLS));
    }
    let (mut term, mut sum) = (Dd::from(x), Dd::from(x));
    for n in 1..120_u32 {
        term = term * square / f64::from(2 * n + 1);
        sum = sum + term;
    }
    // The ratio of later terms is below 9/241: the rest is below the last term.
    let centre = density * Wide::from(sum);
    let error = centre * Wide::from(2.0 * slack + SERIES) + density * Wide::from(term.hi);
    let half = Wide::from(0.5);
    (half - centre - error, half - centre + error)
}

/// Returns the n-th convergent of `1/(x + 1/(x + 2/(x + 3/(x + ...))))`: positive operations only, none of which
/// increases an earlier error; at most 401 steps of 18 u^2 are below 2^-90.
fn mills(x: f64, n: u32) -> Dd {
    let inner =
        (1..=n).rev().fold(Dd::from(x), |inner, i| Dd::from(x) + Dd::from(f64::from(i)) / inner);
    Dd::ONE / inner
}

fn outward(x: Wide, direction: f64) -> Wide {
    x * Wide::from(Dd::sum(1.0, direction * STEP))
}
