//! Places on a contour, and complex numbers there.

use counterpoint_numerics::{Dd, TWO_PI, exp, turns};
use crate::route::DOUBLES;

/// A complex number in double-doubles.
pub(super) type Complex = (Dd, Dd);

pub(super) fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

pub(super) fn over(a: Complex, b: Complex) -> Complex {
    let size = b.0 * b.0 + b.1 * b.1;
    let (re, im) = times(a, (b.0, -b.1));
    (re / size, im / size)
}

/// Where a contour is evaluated: w = 2 pi j / period.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) index: u64,
    /// A power of two.
    pub(super) period: f64,
}

impl Place {
    /// e^(i w loss).
    pub(super) fn turn(self, loss: Dd) -> Complex {
        turns((loss * self.index as f64).scaled(1.0 / self.period))
    }

    /// w.
    pub(super) fn frequency(self) -> Dd {
        (TWO_PI * self.index as f64).scaled(1.0 / self.period)
    }
}

/// At most what Gaussians e^(-slope v^2) about all whole numbers add up to, so far away from the nearest: the next is
/// half a turn away at least, and what is further off is below 10^-34.
pub(super) fn nearest(slope: f64, away: f64) -> f64 {
    let of = |v: f64| exp(-(slope * v * v * (1.0 - DOUBLES)).min(700.0));
    (of(away.max(0.0)) + of(0.5)) * (1.0 + DOUBLES) + 1e-33
}
