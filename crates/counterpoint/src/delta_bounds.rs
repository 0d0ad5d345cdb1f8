//! Bounds on a delta, and the allowances of bounds in doubles.

use counterpoint_numerics::Wide;

/// A lower and an upper bound on the pure delta: the delta apart from the leaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DeltaBounds {
    pub(crate) lower: Wide,
    pub(crate) upper: Wide,
}

impl DeltaBounds {
    pub(crate) const ZERO: Self = Self { lower: Wide::ZERO, upper: Wide::ZERO };

    pub(crate) fn new(lower: Wide, upper: Wide) -> Self {
        Self { lower, upper }
    }

    pub(crate) fn width(&self) -> Wide {
        self.upper - self.lower
    }

    /// The approximate width relative to the upper bound.
    pub(crate) fn relative_width(&self) -> f64 {
        (self.width() * self.upper.recip()).estimate()
    }
}

/// A bound on the sum of the masses that are left out, relative to the whole of a tilted law: each is below 2^-850, and
/// there are at most 10^15.
pub(crate) const LEFT_OUT: f64 = 1e-240;

/// The factor for a bound that is a sum of positive doubles: fewer than 10^13 roundings, u of it each, are below 1 %.
pub(crate) const ROUNDED_UP: f64 = 1.01;

/// The relative error that a bound on an error may have itself: a few roundings, or a first-order term.
pub(crate) const LOOSE: f64 = 0.01;

/// The allowance of bounds in plain doubles: fewer than nine million roundings, or a few in exponents of at most 700.
pub(crate) const DOUBLES: f64 = 1e-9;

/// The allowance for operations in double-doubles beside those that are counted: always fewer than this, at a [`STEP`]
/// each.
///
/// [`STEP`]: counterpoint_numerics::STEP
pub(crate) const UNCOUNTED: f64 = 64.0;
