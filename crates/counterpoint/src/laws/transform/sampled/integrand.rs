//! The integrand, the interval of its nodes, and the distances by which the line of integration can be moved.

use crate::laws::Direction;
use counterpoint_numerics::{Dd, exp, expm1_rounded, ln_1p_rounded, ln_rounded};

/// The integrand, with the interval of its nodes.
#[derive(Clone, Copy)]
pub(super) struct Integrand {
    pub(super) rate: f64,
    pub(super) mu: f64,
    /// The power of r on the real axis.
    pub(super) power: f64,
    /// The factor of ln r in the loss: 1 or -1.
    pub(super) sign: f64,
    /// The ends of the interval of nodes.
    pub(super) from: f64,
    pub(super) to: f64,
}

/// Spacings in standard deviations.
pub(super) const SPACINGS: [f64; 6] =
    [1.0 / 8.0, 1.0 / 32.0, 1.0 / 128.0, 1.0 / 512.0, 1.0 / 2048.0, 1.0 / 8192.0];
/// The mass that is cut off at both ends, relative to the whole; [`CUT_LEFT`] and the constants after it are the
/// distances of the ends (theory 4.9).
pub(super) const CUT: f64 = 1e-19;
pub(super) const CUT_LEFT: f64 = 10.0;
pub(super) const CUT_RIGHT: f64 = 9.8;
pub(super) const CUT_EXPONENT: f64 = 47.0;
/// Numerator and denominator both have the error of the rule and of the cut, at most 0.1 of the denominator: 2/(1 -
/// 0.1). The same holds for the weights' error.
pub(super) const RATIO: f64 = 4.0;
/// The error, in units of u, of an exponent -x^2/2 + p ln r for each unit of its summands, ln r being good to 16; and
/// of an exponential and a weight.
pub(super) const EXPONENT: f64 = 32.0;
pub(super) const WEIGHT: f64 = 64.0;
/// The curvature of the logarithm of a number known to at most a half; a sum and its divisor.
pub(super) const FIRST_ORDER: f64 = 2.0;

impl Integrand {
    /// Chooses the interval so that at most [`CUT`] lies beyond its ends.
    pub(super) fn new(rate: f64, mu: f64, direction: Direction, t: f64) -> Self {
        let (power, sign) = match direction {
            Direction::Remove => (1.0 + t, 1.0),
            Direction::Add => (-t, -1.0),
        };
        // r^-t may be as large as (1 - q)^-t on the left.
        let rise = match direction {
            Direction::Remove => 0.0,
            Direction::Add => t * -(-Dd::from(rate)).ln_1p().hi,
        };
        let from = -(2.0 * (CUT_EXPONENT + rise)).sqrt().max(mu + CUT_LEFT);
        let to = match direction {
            Direction::Remove => power * mu + CUT_RIGHT,
            Direction::Add => mu + CUT_RIGHT,
        };
        Self { rate, mu, power, sign, from, to }
    }

    /// Returns ln r at x and the share of the sampled person, with relative errors below 16 u.
    pub(super) fn loss(&self, x: f64) -> (f64, f64) {
        let y = self.mu * (x - 0.5 * self.mu);
        if y > 300.0 {
            let scaled = (1.0 - self.rate) / self.rate * exp(-y);
            return (y + Dd::from(self.rate).ln().hi + scaled, 1.0 / (1.0 + scaled));
        }
        let rise = self.rate * expm1(y);
        if rise < -0.5 {
            // 1 - q is exact in two doubles, where 1 + rise would cancel.
            let own = self.rate * exp(y);
            let r = (Dd::sum(1.0, -self.rate) + Dd::from(own)).hi;
            return (ln_rounded(r), own / r);
        }
        let ratio = self.rate * exp(y) / (1.0 + rise);
        (ln_1p_rounded(rise), ratio)
    }

    /// Returns the logarithm of phi(x) r^power, up to a constant.
    pub(super) fn exponent(&self, x: f64, loss: f64) -> f64 {
        -0.5 * x * x + self.power * loss
    }
}

/// Returns e^x - 1, good to 6 u.
pub(super) fn expm1(x: f64) -> f64 {
    expm1_rounded(Dd::from(x))
}

/// A move of the line of integration by beta/mu, which may multiply r^power by cos(beta/2)^power.
pub(super) struct ContourShift {
    pub(super) beta: f64,
    /// ln cos(beta/2), with a relative error of at most [`COSINE_ERROR`].
    pub(super) ln_cosine: f64,
}

pub(super) const COSINE_ERROR: f64 = 1e-9;

pub(super) const MOVES: [ContourShift; 6] = [
    ContourShift { beta: 0.01, ln_cosine: -1.250005208368308e-05 },
    ContourShift { beta: 0.03, ln_cosine: -0.00011250421900315009 },
    ContourShift { beta: 0.1, ln_cosine: -0.0012505211808192499 },
    ContourShift { beta: 0.3, ln_cosine: -0.011292442366641833 },
    ContourShift { beta: 1.0, ln_cosine: -0.13058424044372266 },
    ContourShift { beta: 2.2, ln_cosine: -0.7905480772542317 },
];

impl ContourShift {
    /// Bounds the amount that cos(beta/2)^power adds to an exponent: zero where the factor is at most one.
    pub(super) fn bend(&self, power: f64) -> f64 {
        if power < 0.0 { power * self.ln_cosine * (1.0 + COSINE_ERROR) } else { 0.0 }
    }
}

/// Returns the logarithm of the rule's error. Of the integrals of r^p, of r and of 1 the first grows most as the line
/// moves.
pub(super) fn fall(shape: &Integrand, spacing: f64) -> f64 {
    let at = |step: &ContourShift| {
        let b = step.beta / shape.mu;
        0.5 * b * b + step.bend(shape.power) - std::f64::consts::TAU * b / spacing
    };
    // The shortest move is never the best of these.
    MOVES[1..].iter().map(at).fold(0.0, f64::min)
}
