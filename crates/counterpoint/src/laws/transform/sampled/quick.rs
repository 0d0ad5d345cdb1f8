//! The cumulant on the real axis, from nodes in plain doubles.

use super::integrand::{
    CUT, EXPONENT, FIRST_ORDER, Integrand, RATIO, SPACINGS, WEIGHT, expm1, fall,
};
use crate::laws::Direction;
use counterpoint_numerics::{Dd, UNIT, exp, ln_1p_rounded};

/// The factor of the rule's error for a cumulant: 2/(e^x - 1) at an e^-x below e^-44, fourfold.
const RULE: f64 = 8.0;
/// The error of a term r^p - 1 - p (r - 1) in units of u: 6 of the functions and 16 of ln r, for each unit of its
/// summands; and the error of the normal density, for each unit of x^2 and a constant.
const EXCESS: f64 = 40.0;
const SQUARES: f64 = 4.0;
const DENSITY: f64 = 8.0;
/// The rounding of a logarithm of doubles and of the sums beside it.
const LOGARITHM: f64 = 16.0 * UNIT;

/// Returns K(t) and its absolute error, from nodes in plain doubles; `None` where these do not suffice.
///
/// Since E[r] = 1, M - 1 = E[r^p - 1 - p (r - 1)], whose terms are small where r is near 1.
pub(crate) fn cumulant(rate: f64, mu: Dd, direction: Direction, t: f64) -> Option<(Dd, f64)> {
    let shape = Integrand::new(rate, mu.hi, direction, t);
    if mu.hi <= 1e-3 {
        return None;
    }
    // The coarsest spacing that suffices.
    let fallen = |&&spacing: &&f64| fall(&shape, spacing) < -44.0;
    let &spacing = SPACINGS.iter().find(fallen)?;
    if (shape.to - shape.from) / spacing > 16_384.0 {
        return None;
    }
    let rule = RULE * exp(fall(&shape, spacing).max(-700.0));
    let first = (shape.from / spacing).floor() as i64;
    let last = (shape.to / spacing).ceil() as i64;
    let density = spacing / std::f64::consts::TAU.sqrt();
    let (mut sum, mut error, mut highest) = (0.0, 0.0, f64::NEG_INFINITY);
    for k in first..=last {
        let x = k as f64 * spacing;
        let (loss, _) = shape.loss(x);
        let exponent = shape.exponent(x, loss);
        highest = highest.max(exponent);
        if shape.power * loss > 600.0 {
            highest = f64::INFINITY;
        }
        if highest > 3.0 {
            break;
        }
        let weight = density * exp(-0.5 * x * x);
        let (power, line) =
            (expm1(shape.power * loss), shape.power * rate * expm1(mu.hi * (x - 0.5 * mu.hi)));
        let size = power.abs() + line.abs() + (shape.power * loss).abs();
        sum += weight * (power - line);
        error += weight * (EXCESS * size + (power - line).abs() * (SQUARES * x * x + DENSITY));
    }
    if highest > 3.0 {
        return large_cumulant(&shape, spacing, rule);
    }
    let rule = rule * (1.0 + 2.0 * shape.power.abs());
    let error =
        (error * UNIT + FIRST_ORDER * rule * (1.0 + sum.abs()) + CUT) / (1.0 + sum).max(0.5);
    Some((Dd::from(ln_1p_rounded(sum.max(0.0))), FIRST_ORDER * error + LOGARITHM * sum.abs()))
}

/// Estimates K, K' and K''.
pub(crate) fn jet(rate: f64, mu: f64, direction: Direction, t: f64) -> Option<[f64; 3]> {
    let shape = Integrand::new(rate, mu, direction, t);
    let spacing = SPACINGS[0];
    if (shape.to - shape.from) / spacing > 4096.0 {
        return None;
    }
    let places = ((shape.from / spacing).floor() as i64)..=((shape.to / spacing).ceil() as i64);
    let nodes = places.map(|k| {
        let x = k as f64 * spacing;
        let loss = shape.loss(x).0;
        (shape.exponent(x, loss), shape.sign * loss)
    });
    let nodes: Vec<(f64, f64)> = nodes.collect();
    let largest = nodes.iter().map(|node| node.0).fold(f64::NEG_INFINITY, f64::max);
    let [mut total, mut first, mut second] = [0.0; 3];
    for (exponent, loss) in nodes {
        let weight = exp((exponent - largest).max(-700.0));
        total += weight;
        first += weight * loss;
        second += weight * loss * loss;
    }
    let mean = first / total;
    let value = cumulant(rate, Dd::from(mu), direction, t)?.0.hi;
    Some([value, mean, second / total - mean * mean])
}

/// Returns K(t) and its absolute error where r^p is large.
fn large_cumulant(shape: &Integrand, spacing: f64, rule: f64) -> Option<(Dd, f64)> {
    let level = sum(shape, spacing);
    let constant = Dd::from(spacing / std::f64::consts::TAU.sqrt()).ln().hi;
    let value = level.0 + Dd::from(level.1).ln().hi + constant;
    let error = level.2 + RATIO * (rule + CUT) + LOGARITHM * (1.0 + value.abs() + level.0.abs());
    Some((Dd::from(value), error))
}

/// Returns the largest exponent, the sum of the weights relative to it, and that sum's relative error.
fn sum(shape: &Integrand, spacing: f64) -> (f64, f64, f64) {
    let first = (shape.from / spacing).floor() as i64;
    let last = (shape.to / spacing).ceil() as i64;
    let exponents = (first..=last).map(|k| {
        let x = k as f64 * spacing;
        let loss = shape.loss(x).0;
        let size = 0.5 * x * x + (shape.power * loss).abs();
        (shape.exponent(x, loss), size)
    });
    let exponents: Vec<(f64, f64)> = exponents.collect();
    let largest = exponents.iter().map(|e| e.0).fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut error) = (0.0, 0.0);
    for (exponent, size) in exponents {
        let weight = exp((exponent - largest).max(-700.0));
        sum += weight;
        error += weight * UNIT * (EXPONENT * size + WEIGHT);
    }
    (largest, sum, error / sum + UNIT * (last - first + 1) as f64)
}
