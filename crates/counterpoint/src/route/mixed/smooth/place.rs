//! Places on a contour, and complex numbers there.

use crate::rounding::{Dd, TWO_PI, turns};

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
