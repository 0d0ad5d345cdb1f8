//! Binomial probabilities and their tails, with known error.

use crate::{Dd, STEP, UNIT, Wide};

/// Returns ln of the probability of y successes in k trials, and a bound on its absolute error. Each trial succeeds
/// with the probability `minus` and fails with `plus`; both are known to a relative 2^-100. Valid for 1 <= y <= k - 1.
///
/// The form is Loader's: Stirling's corrections, the normal prefactor and the deviance `y ln(y / kq) + (k-y) ln((k-y) /
/// kp)`, q being the probability of success. Both logarithms are computed from the same difference `y - kq`, so that an
/// error in q cancels to first order and the error stays relative to that difference.
pub fn ln_mass((k, y): (f64, f64), minus: Dd, plus: Dd) -> (Dd, f64) {
    let (expected_minuses, expected_pluses) = (minus * k, plus * k);
    let excess = Dd::from(y) - expected_minuses;
    let minuses = (excess / expected_minuses).ln_1p() * y;
    let pluses = (-excess / expected_pluses).ln_1p() * (k - y);
    let correction = stirling_correction(k) - stirling_correction(y) - stirling_correction(k - y);
    let prefactor = (Dd::from(k) / y / (k - y)).ln().scaled(0.5) - HALF_LN_TAU;
    let size = minuses.hi.abs() + pluses.hi.abs() + excess.hi.abs() + prefactor.hi.abs();
    (correction + prefactor - minuses - pluses, 8.0 * STEP * (8.0 + size))
}

/// Bounds the probability that a binomial variable of `trials` is at least `least`: its mass there, and a geometric
/// series.
pub fn upper_tail(trials: f64, p: Dd, least: f64) -> f64 {
    if least > trials || !p.is_positive() {
        return 0.0;
    }
    let q = Dd::ONE - p;
    let ratio = (trials - least) * p.hi / ((least + 1.0) * q.hi) * (1.0 + 8.0 * f64::EPSILON);
    if !q.is_positive() || ratio >= 1.0 {
        return 1.0;
    }
    let (ln, error) = match least < trials {
        true => ln_mass((trials, least), p, q),
        false => (p.ln() * trials, 1e-20 * trials),
    };
    let mass = Wide::exp(ln + Dd::from(error));
    (mass.upper(1e-15) / (1.0 - ratio) * (1.0 + 1e-12)).min(1.0)
}

/// A sum of positive terms relative to its first, and its relative error.
pub struct Sum {
    /// The sum.
    pub sum: Dd,
    /// A bound on its relative error.
    pub error: f64,
}

impl Sum {
    /// Joins two sums with the same first term, which is counted once.
    pub fn joined(&self, other: &Self) -> Self {
        Self { sum: self.sum + (other.sum - Dd::ONE), error: self.error + other.error }
    }
}

/// A function that sums `1 + r_0 + r_0 r_1 + ...` with `r_l = c numerator(l) / denominator(l)` falling in l, for l
/// below a limit.
pub type Series = fn(Dd, f64, &dyn Fn(f64) -> (f64, f64)) -> Sum;

/// Sums in double-doubles until a term is below 2^-46 of the sum, then in doubles until the rest, at most a geometric
/// series, is below 2^-94 of the sum.
///
/// Each step in double-doubles costs at most 32 u^2, a quarter of [`STEP`]; each step in doubles costs 4 u of a part
/// whose share is known in the end.
pub fn series(c: Dd, limit: f64, ratio: &dyn Fn(f64) -> (f64, f64)) -> Sum {
    let (mut term, mut sum, mut l) = (Dd::ONE, Dd::ONE, 0.0);
    while l < limit && term.hi > 1.4e-14 * sum.hi {
        let (numerator, denominator) = ratio(l);
        term = (term * c) * numerator / denominator;
        sum = sum + term;
        l += 1.0;
    }
    let near = l;
    let far = doubles(c.hi, term.hi, 0.25 * STEP * sum.hi, (l, limit), ratio);
    let share = far.0 / sum.hi;
    let error = STEP * (near + 8.0) + share * 8.0 * UNIT * (far.1 - near + 4.0);
    Sum { sum: sum + Dd::from(far.0), error }
}

/// Sums in doubles only, to about nine digits.
pub fn rough_series(c: Dd, limit: f64, ratio: &dyn Fn(f64) -> (f64, f64)) -> Sum {
    let (sum, steps) = doubles(c.hi, 1.0, 1e-13, (0.0, limit), ratio);
    Sum { sum: Dd::sum(1.0, sum), error: 1e-12 + 8.0 * UNIT * steps }
}

/// Returns the sum of the terms after a given one, until the rest is below `negligible`, and the index reached.
fn doubles(
    c: f64,
    first: f64,
    negligible: f64,
    (from, limit): (f64, f64),
    ratio: &dyn Fn(f64) -> (f64, f64),
) -> (f64, f64) {
    let (mut term, mut sum, mut l) = (first, 0.0, from);
    while l < limit {
        let (numerator, denominator) = ratio(l);
        let step = c * numerator / denominator;
        if term * step <= negligible * (1.0 - step) {
            break;
        }
        term *= step;
        sum += term;
        l += 1.0;
    }
    (sum, l)
}

/// ln(2 pi) / 2.
const HALF_LN_TAU: Dd = Dd { hi: 0.918_938_533_204_672_8, lo: -3.878_294_158_067_241_4e-17 };

/// Returns ln n!, with an error below 2^-94 of max(1, ln n!).
pub fn ln_factorial(n: f64) -> Dd {
    if n < 40.0 { ln_small_factorial(n) } else { stirling(n) + stirling_correction(n) }
}

/// Returns ln of the product itself, for n below 40.
fn ln_small_factorial(n: f64) -> Dd {
    (2..=n as u32).fold(Dd::ONE, |product, i| product * f64::from(i)).ln()
}

/// Returns `(n + 1/2) ln n - n + ln(2 pi) / 2`.
fn stirling(n: f64) -> Dd {
    Dd::from(n).ln() * (n + 0.5) - Dd::from(n) + HALF_LN_TAU
}

/// Returns `ln n! - stirling(n)` for n of at least 1, with an absolute error below 2^-92.
///
/// From 40 on it uses the series to 1/n^23, whose error is below its first omitted term, 2^-121 at n = 40.
fn stirling_correction(n: f64) -> Dd {
    /// B_2m / (2m (2m - 1)) as fractions.
    const SERIES: [(f64, f64); 12] = [
        (1.0, 12.0),
        (-1.0, 360.0),
        (1.0, 1260.0),
        (-1.0, 1680.0),
        (1.0, 1188.0),
        (-691.0, 360_360.0),
        (1.0, 156.0),
        (-3617.0, 122_400.0),
        (43867.0, 244_188.0),
        (-174_611.0, 125_400.0),
        (77683.0, 5796.0),
        (-236_364_091.0, 1_506_960.0),
    ];
    if n < 40.0 {
        return ln_small_factorial(n) - stirling(n);
    }
    let inverse = Dd::ONE / Dd::from(n);
    let square = inverse * inverse;
    let series = SERIES.iter().rev().fold(Dd::ZERO, |sum, &(numerator, denominator)| {
        sum * square + Dd::from(numerator) / denominator
    });
    series * inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stirling_meets_the_product() {
        for n in [40_u32, 41, 57, 90, 150] {
            let direct = (2..=n).fold(Wide::ONE, |p, i| p * Wide::from(f64::from(i))).ln();
            let difference = (ln_factorial(f64::from(n)) - direct).hi;
            assert!(difference.abs() < 1e-27, "{n}: {difference:e}");
        }
    }

    /// Compares with the sum of all masses, each by products.
    #[test]
    fn tails_of_binomials_are_not_undercut() {
        for (trials, rate, least) in
            [(30_u32, 0.2, 10_u32), (100, 0.03, 12), (50, 0.5, 49), (9, 0.1, 9)]
        {
            let mass = |k: u32| {
                let choose = (0..k).map(|i| f64::from(trials - i) / f64::from(i + 1));
                choose.product::<f64>() * rate_power(rate, k) * rate_power(1.0 - rate, trials - k)
            };
            let truth: f64 = (least..=trials).map(mass).sum();
            let found = upper_tail(f64::from(trials), Dd::from(rate), f64::from(least));
            assert!(found >= truth * (1.0 - 1e-12) && found < 1.3 * truth, "{found} {truth}");
        }
        assert!(
            upper_tail(9.0, Dd::from(0.1), 10.0) <= 0.0
                && upper_tail(9.0, Dd::from(0.5), 2.0) >= 1.0
        );
    }

    fn rate_power(rate: f64, k: u32) -> f64 {
        (0..k).map(|_| rate).product()
    }
}
