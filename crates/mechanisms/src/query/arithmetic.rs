//! Interval arithmetic, in doubles.

/// The numbers between two ends, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    pub(super) fn around(middle: f64, half: f64) -> Self {
        Self { low: middle - half, high: middle + half }
    }

    pub(super) fn cut(self, low: f64, high: f64) -> Self {
        Self { low: self.low.clamp(low, high), high: self.high.clamp(low, high) }
    }

    pub(super) fn plus(self, by: f64) -> Self {
        Self { low: self.low + by, high: self.high + by }
    }

    /// Divides by an interval of positive numbers.
    pub(super) fn over(self, by: Self) -> Self {
        let low = if self.low < 0.0 { by.low } else { by.high };
        let high = if self.high < 0.0 { by.high } else { by.low };
        Self { low: self.low / low, high: self.high / high }
    }

    pub(super) fn squared(self) -> Self {
        let (one, other) = (self.low * self.low, self.high * self.high);
        let low = if self.low <= 0.0 && 0.0 <= self.high { 0.0 } else { one.min(other) };
        Self { low, high: one.max(other) }
    }

    pub(super) fn times(self, other: Self) -> Self {
        let ends = [
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        ];
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Self {
            low: ends.into_iter().fold(low, f64::min),
            high: ends.into_iter().fold(high, f64::max),
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }

    /// The smallest interval that also contains a number.
    pub(super) fn with(self, x: f64) -> Self {
        Self { low: self.low.min(x), high: self.high.max(x) }
    }

    pub(super) fn root(self) -> Self {
        Self { low: self.low.max(0.0).sqrt(), high: self.high.max(0.0).sqrt() }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self { low: self.low - other.high, high: self.high - other.low }
    }
}
