//! Upper bounds on the tail probabilities of noise, for privacy guarantees: exponentials with proven error, and sums
//! that are rounded to the safe side.

use super::NoiseShape;
use counterpoint_numerics::{exp, expm1};

/// Exponentials are accurate to 2^-52, and their arguments, below [`FURTHEST`], to 8 roundings: less than 10^-12 in
/// total. Sums of at most some thousands of them add as much again.
const SLACK: f64 = 1.0 + 1e-11;

/// Exponents beyond this one are not computed; e^-690 is below [`NEVER`].
const FURTHEST: f64 = 690.0;
const NEVER: f64 = 1e-299;

/// Blocks of a Gaussian's support are this part of sigma wide. The bound on a block exceeds its sum by a factor of at
/// most exp(1/(2 PARTS^2)).
const PARTS: f64 = 128.0;

/// An upper bound on P(noise >= k) for a whole k >= 1; `None` for staircases.
pub(crate) fn at_least(shape: &NoiseShape, k: u64) -> Option<f64> {
    let k = k as f64;
    let bound = match shape {
        NoiseShape::Laplace { scale } => laplace(scale.to_f64().value(), k),
        NoiseShape::Gaussian { sigma } => gaussian(sigma.to_f64().value(), k),
        NoiseShape::Staircase { .. } => return None,
    };
    Some(bound.max(NEVER))
}

/// b^k/(1 + b), b = e^(-1/scale).
fn laplace(scale: f64, k: f64) -> f64 {
    if k / scale > FURTHEST {
        return NEVER;
    }
    exp(-k / scale) / (1.0 + exp(-1.0 / scale)) * SLACK
}

/// The sum of f(j) = e^(-j^2/2 sigma^2) over j >= k, divided by the sum over all j.
fn gaussian(sigma: f64, k: f64) -> f64 {
    // -ln f(j), and -ln(f(j + 1)/f(j)).
    let depth = |j: f64| 0.5 * (j / sigma) * (j / sigma);
    let falls = |j: f64| (j + 0.5) / sigma / sigma;
    if depth(k) > FURTHEST {
        return NEVER;
    }
    let width = (sigma / PARTS).floor().max(1.0);
    let (mut sum, mut place) = (0.0, k);
    // The rest is then below e^-30 of the sum.
    while depth(place) - depth(k) < 30.0 && depth(place) < FURTHEST {
        // The ratios decrease with j: a block is below a geometric series with its first ratio.
        let rate = falls(place);
        sum += exp(-depth(place)) * (expm1(-width * rate) / expm1(-rate));
        place += width;
    }
    let rest = exp(-depth(place).min(FURTHEST)) / -expm1(-falls(place));
    (sum + rest) / all(sigma) * SLACK
}

/// A lower bound on the sum of f over all whole numbers: some of its terms, or sigma sqrt(2 pi), since Poisson
/// summation adds only positive terms to that.
fn all(sigma: f64) -> f64 {
    let terms = (1..=20_u8).map(|j| exp((-0.5 * (f64::from(j) / sigma).powi(2)).max(-800.0)));
    let smeared = sigma * std::f64::consts::TAU.sqrt();
    smeared.max(1.0 + 2.0 * terms.sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::ratio;
    use dashu_float::FBig;
    use dashu_float::round::mode::HalfEven;

    type Float = FBig<HalfEven>;

    fn float(x: f64) -> Float {
        Float::try_from(x).unwrap().with_precision(160).value()
    }

    /// The tail probability by definition, in 160 bits.
    fn exact(weight: impl Fn(i64) -> Float, k: i64, far: i64) -> Float {
        let sum = |from: i64| (from..far).map(&weight).fold(float(0.0), |sum, mass| sum + mass);
        let (one, more) = (sum(1), float(2.0));
        sum(k) / (weight(0) + one * more)
    }

    /// Never below the truth, and above it by less than about 10^-5.
    #[test]
    fn chances_are_bounded_closely_from_above() {
        for (scale, k) in [(0.2, 3), (1.0, 1), (1.0, 40), (7.3, 200), (30.0, 31)] {
            let weight = |x: i64| (float(-(x as f64)) / float(scale)).exp();
            let truth = exact(weight, k, k + (200.0 * scale) as i64 + 2);
            let shape = NoiseShape::Laplace { scale: ratio(scale).unwrap() };
            close(at_least(&shape, k as u64).unwrap(), &truth, 1e-10);
        }
        for (sigma, k) in [
            (0.3, 1),
            (0.3, 4),
            (0.9, 9),
            (1.0, 1),
            (4.1, 30),
            (60.0, 1),
            (60.0, 700),
            (300.0, 900),
        ] {
            let two = float(2.0) * float(sigma) * float(sigma);
            let weight = |x: i64| (float(-((x * x) as f64)) / two.clone()).exp();
            let truth = exact(weight, k, k + (13.0 * sigma) as i64 + 2);
            let shape = NoiseShape::Gaussian { sigma: ratio(sigma).unwrap() };
            close(at_least(&shape, k as u64).unwrap(), &truth, 3e-5);
        }
    }

    fn close(found: f64, truth: &Float, most: f64) {
        let off = (float(found) / truth.clone()).to_f64().value() - 1.0;
        assert!(float(found) >= *truth && off <= most, "{found}: off by {off}");
    }

    #[test]
    fn what_is_too_rare_to_compute_is_not_nothing() {
        for shape in [
            NoiseShape::Laplace { scale: ratio(0.001).unwrap() },
            NoiseShape::Gaussian { sigma: ratio(0.001).unwrap() },
            NoiseShape::Gaussian { sigma: ratio(20.0).unwrap() },
        ] {
            let bound = at_least(&shape, 1_000).unwrap();
            assert!(bound > 0.0 && bound < 1e-290, "{shape:?}: {bound}");
        }
    }
}
