//! Points of a contour.

use crate::delta_bounds::DOUBLES;
use counterpoint_numerics::complex::{Complex, times};
use counterpoint_numerics::{Dd, TWO_PI, exp, turns};

pub(super) fn over(a: Complex<Dd>, b: Complex<Dd>) -> Complex<Dd> {
    let size = b.0 * b.0 + b.1 * b.1;
    let (re, im) = times(a, (b.0, -b.1));
    (re / size, im / size)
}

/// A point at which a contour is evaluated: w = 2 pi j / period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContourPoint {
    pub(crate) index: u64,
    /// A power of two.
    pub(crate) period: f64,
}

impl ContourPoint {
    /// Returns e^(i w loss).
    pub(crate) fn turn(self, loss: Dd) -> Complex<Dd> {
        turns((loss * self.index as f64).scaled(1.0 / self.period))
    }

    /// Returns w.
    pub(crate) fn frequency(self) -> Dd {
        (TWO_PI * self.index as f64).scaled(1.0 / self.period)
    }
}

/// Bounds the sum of the Gaussians e^(-slope v^2) about all whole numbers, at this distance from the nearest: the next
/// whole number is at least half a turn away, and those further off add less than 10^-34.
pub(crate) fn nearest(slope: f64, away: f64) -> f64 {
    let of = |v: f64| exp(-(slope * v * v * (1.0 - DOUBLES)).min(700.0));
    (of(away.max(0.0)) + of(0.5)) * (1.0 + DOUBLES) + 1e-33
}
