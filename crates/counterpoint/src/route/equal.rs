//! Equal parameters: one binomial tail.
//!
//! Of k randomized responses y come out "minus" with P-probability
//! C(k, y) e^((k-y) eps) / (1 + e^eps)^k; the loss is then (k - 2y) eps, and Q is P
//! with y and k - y exchanged (KOV Theorem III.3, MV Theorem 1.4).

use super::tail::Tail;
use crate::composition::Factor;
use crate::rounding::{Dd, STEP, UNIT, Wide};

/// k equal randomized responses, prepared.
#[derive(Clone, Debug)]
pub(crate) struct Equal {
    epsilon: f64,
    count: f64,
    /// e^-eps; zero where that is below 2^-860.
    decay: Dd,
    /// -ln(1 + e^-eps): ln of the probability of a plus.
    ln_plus: Dd,
    last: Option<(f64, Tail)>,
}

impl Equal {
    pub(crate) fn new(factor: Factor) -> Self {
        let decay = if factor.epsilon < 590.0 { Dd::from(-factor.epsilon).exp() } else { Dd::ZERO };
        let ln_plus = -decay.ln_1p();
        Self { epsilon: factor.epsilon, count: factor.count as f64, decay, ln_plus, last: None }
    }

    /// Whether a tail takes many terms.
    pub(crate) fn is_large(&self) -> bool {
        self.count > 1e6
    }

    /// The largest loss, k eps.
    pub(crate) fn largest(&self) -> Dd {
        Dd::product(self.count, self.epsilon)
    }

    /// The loss with y minuses, exactly.
    pub(crate) fn loss(&self, y: f64) -> Dd {
        Dd::product(self.count - 2.0 * y, self.epsilon)
    }

    /// ln of the P-probability of y minuses, and a bound on its absolute error.
    ///
    /// Loader's form: Stirling's corrections, the normal prefactor and the deviance
    /// `y ln(y / kq) + (k-y) ln((k-y) / kp)`, q being the probability of a minus. Both
    /// logarithms come from the same difference `y - kq`, so that an error in q cancels
    /// to first order and the error stays relative to that difference.
    pub(crate) fn ln_mass(&self, y: f64) -> (Dd, f64) {
        let k = self.count;
        if y < 1.0 || k - y < 1.0 || self.decay.hi <= 0.0 {
            let (minuses, pluses) = (Dd::product(y, self.epsilon), self.ln_plus * k);
            let choose = ln_factorial(k) - ln_factorial(y) - ln_factorial(k - y);
            let size =
                minuses.hi + pluses.hi.abs() + 2.0 * ln_factorial(k).hi * y.min(k - y).min(1.0);
            return (choose - minuses + pluses, 8.0 * STEP * (8.0 + size));
        }
        let plus = Dd::ONE / (Dd::ONE + self.decay);
        let (expected_minuses, expected_pluses) = (self.decay * plus * k, plus * k);
        let excess = Dd::from(y) - expected_minuses;
        let minuses = (excess / expected_minuses).ln_1p() * y;
        let pluses = (-excess / expected_pluses).ln_1p() * (k - y);
        let correction =
            stirling_correction(k) - stirling_correction(y) - stirling_correction(k - y);
        let prefactor = (Dd::from(k) / y / (k - y)).ln().scaled(0.5) - HALF_LN_TAU;
        let size = minuses.hi.abs() + pluses.hi.abs() + excess.hi.abs() + prefactor.hi.abs();
        (correction + prefactor - minuses - pluses, 8.0 * STEP * (8.0 + size))
    }

    /// The tail above an epsilon of at least zero; the last one is kept, since a
    /// search ends within one step of the staircase.
    pub(crate) fn tail(&mut self, epsilon: f64) -> Tail {
        let y = self.most_minuses(epsilon);
        match self.last {
            Some((last, tail)) if last.to_bits() == y.to_bits() => tail,
            _ => {
                let tail = self.tail_of(y, series);
                self.last = Some((y, tail));
                tail
            }
        }
    }

    /// The tail in plain doubles, for a first look at very large counts.
    pub(crate) fn rough_tail(&self, epsilon: f64) -> Tail {
        let y = self.most_minuses(epsilon);
        self.tail_of(y, rough_series)
    }

    /// The largest y whose loss is at least epsilon (an atom at epsilon itself adds
    /// nothing), or -1.
    fn most_minuses(&self, epsilon: f64) -> f64 {
        let guess = (0.5 * (self.count - epsilon / self.epsilon)).floor();
        let mut y = (guess + 2.0).clamp(-1.0, self.count);
        while y >= 0.0 && self.loss(y) < Dd::from(epsilon) {
            y -= 1.0;
        }
        y
    }

    /// P and Q mass of at most y minuses.
    fn tail_of(&self, y: f64, series: Series) -> Tail {
        if y < 0.0 {
            return Tail { p: Wide::ZERO, q: Wide::ZERO, slack: 0.0 };
        }
        let k = self.count;
        let minus = self.decay / (Dd::ONE + self.decay);
        let mode = (minus.hi * (k + 1.0)).floor().min(k);
        let start = y.min(mode);
        let (ln_p, ln_error) = self.ln_mass(start);
        // Terms at start, start - 1, ... and at start, start + 1, ..., y.
        let growth = if start >= 1.0 { Dd::ONE / self.decay } else { Dd::ZERO };
        let falling = series(growth, start, &|l| (start - l, k - start + l + 1.0));
        let rising = series(self.decay, y - start, &|l| (k - start - l, start + l + 1.0));
        let p = falling.joined(&rising);
        let q = series(self.decay, y, &|l| (y - l, k - y + l + 1.0));
        let (ln_q, q_error) = self.ln_mass(y);
        let ln_q = ln_q - self.loss(y);
        let slack = p.error.max(q.error)
            + 2.0 * ln_error.max(q_error)
            + 8.0 * STEP * (8.0 + self.loss(y).hi.abs());
        Tail {
            p: Wide::exp(ln_p) * Wide::from(p.sum),
            q: Wide::exp(ln_q) * Wide::from(q.sum),
            slack,
        }
    }
}

/// A sum of positive terms relative to its first, and its relative error.
struct Sum {
    sum: Dd,
    error: f64,
}

impl Sum {
    /// Two sums with the same first term, counted once.
    fn joined(&self, other: &Self) -> Self {
        Self { sum: self.sum + (other.sum - Dd::ONE), error: self.error + other.error }
    }
}

/// Sums `1 + r_0 + r_0 r_1 + ...` with `r_l = c numerator(l) / denominator(l)` falling in
/// l, for l below a limit.
type Series = fn(Dd, f64, &dyn Fn(f64) -> (f64, f64)) -> Sum;

/// In double-doubles, until a term is below 2^-46 of the sum, then in doubles until
/// all that is left, at most a geometric series, is below 2^-94 of it.
///
/// Each step in double-doubles costs at most 32 u^2, a quarter of [`STEP`]; the
/// doubles cost 4 u a step, of a part whose share is known in the end.
fn series(c: Dd, limit: f64, ratio: &dyn Fn(f64) -> (f64, f64)) -> Sum {
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

/// In doubles only, to about nine digits.
fn rough_series(c: Dd, limit: f64, ratio: &dyn Fn(f64) -> (f64, f64)) -> Sum {
    let (sum, steps) = doubles(c.hi, 1.0, 1e-13, (0.0, limit), ratio);
    Sum { sum: Dd::sum(1.0, sum), error: 1e-12 + 8.0 * UNIT * steps }
}

/// The terms after a given one, until the rest is below `negligible`, and where that
/// was.
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

/// ln n!: error below 2^-94 of max(1, ln n!).
fn ln_factorial(n: f64) -> Dd {
    if n < 40.0 { ln_small_factorial(n) } else { stirling(n) + stirling_correction(n) }
}

/// The product itself, for n below 40.
fn ln_small_factorial(n: f64) -> Dd {
    (2..=n as u32).fold(Dd::ONE, |product, i| product * f64::from(i)).ln()
}

/// `(n + 1/2) ln n - n + ln(2 pi) / 2`.
fn stirling(n: f64) -> Dd {
    Dd::from(n).ln() * (n + 0.5) - Dd::from(n) + HALF_LN_TAU
}

/// `ln n! - stirling(n)` for n of at least 1: absolute error below 2^-92.
///
/// From 40 on by the series to 1/n^23, whose error is below its first omitted term,
/// 2^-121 at n = 40.
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
}
