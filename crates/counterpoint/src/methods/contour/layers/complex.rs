//! Functions of complex numbers, in doubles.

use crate::laws::transform::angle;
use counterpoint_numerics::complex::Complex;
use counterpoint_numerics::{Dd, exp, expm1_rounded};

pub(super) const ZERO: Complex = (0.0, 0.0);

/// e^x - 1 to 6 u.
pub(super) fn expm1(x: f64) -> f64 {
    expm1_rounded(Dd::from(x))
}

/// An upper bound on the modulus, at most sqrt(2) times it.
pub(super) fn size(a: Complex) -> f64 {
    a.0.abs() + a.1.abs()
}

/// e^(x + iy), zero where that is below e^-690.
pub(super) fn exponential(x: f64, y: f64) -> Complex {
    if x < -690.0 {
        return ZERO;
    }
    let (size, (less, sine)) = (exp(x), angle(y));
    (size * (1.0 - less), size * sine)
}

/// 1 - e^-(x + iy).
pub(super) fn complement(x: f64, y: f64) -> Complex {
    if x > 690.0 {
        return (1.0, 0.0);
    }
    let (size, (less, sine)) = (exp(-x), angle(y));
    (-expm1(-x) + size * less, size * sine)
}

/// The argument of x + iy for x > 0, y >= 0, to a relative error of 1024 u, and of 16 u if y is at most 0.03 x.
///
/// The series leaves out less than 2^-70. Otherwise a guess is corrected by the sine of its error, which is known to
/// fewer than 30 u.
#[allow(clippy::disallowed_methods)] // A guess, which is then corrected.
pub(super) fn argument(x: f64, y: f64) -> f64 {
    let slope = y / x;
    if slope <= 0.03 {
        let s = slope * slope;
        let series = 1.0 / 7.0 - s * (1.0 / 9.0 - s * (1.0 / 11.0 - s / 13.0));
        return slope * (1.0 - s * (1.0 / 3.0 - s * (0.2 - s * series)));
    }
    let guess = slope.atan();
    let (less, sine) = angle(guess);
    guess + (slope * (1.0 - less) - sine) / (1.0 + slope * slope).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_numerics::{Dd, TWO_PI, UNIT, turns};

    #[test]
    fn arguments_are_as_good_as_they_say() {
        for k in 0..400 {
            // tan y of an angle y that double-doubles know.
            let y = Dd::from(1e-9 * 1.0525_f64.powi(k));
            if y.hi > 1.4 {
                break;
            }
            let (cosine, sine) = turns(y / TWO_PI);
            let found = argument(cosine.hi, sine.hi);
            // The arguments themselves are rounded to doubles.
            let allowed = if sine.hi <= 0.03 * cosine.hi { 16.0 } else { 1024.0 };
            let off = (Dd::from(found) / y - Dd::ONE).hi.abs();
            assert!(off <= (allowed + 4.0) * UNIT, "{}: {off:e}", y.hi);
        }
    }
}
