//! A pure delta between two numbers, and what bounds in doubles allow for.

use counterpoint_numerics::Wide;

/// A pure delta, between two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ends {
    pub(crate) lower: Wide,
    pub(crate) upper: Wide,
}

impl Ends {
    pub(crate) const ZERO: Self = Self { lower: Wide::ZERO, upper: Wide::ZERO };

    pub(crate) fn new(lower: Wide, upper: Wide) -> Self {
        Self { lower, upper }
    }

    pub(crate) fn width(&self) -> Wide {
        self.upper - self.lower
    }

    /// The width relative to the upper end, about.
    pub(crate) fn relative_width(&self) -> f64 {
        (self.width() * self.upper.recip()).estimate()
    }
}

/// What the masses left out may add up to, relative to the whole of a tilted law: each is
/// below 2^-850, and there are at most 10^15.
pub(crate) const LEFT_OUT: f64 = 1e-240;

/// A bound that is a sum of positive doubles: fewer than 10^13 roundings, u of it each, are below 1 %.
pub(crate) const ROUNDED_UP: f64 = 1.01;

/// A bound on an error may be off by this itself: it is a few roundings, or a first-order term.
pub(crate) const LOOSE: f64 = 0.01;

/// Bounds in plain doubles: fewer than nine million roundings, or a few in exponents of at most 700.
pub(crate) const DOUBLES: f64 = 1e-9;

/// Operations in double-doubles beside those that are counted: nowhere as many, at a [`STEP`] each.
///
/// [`STEP`]: counterpoint_numerics::STEP
pub(crate) const UNCOUNTED: f64 = 64.0;
