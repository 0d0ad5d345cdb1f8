//! Validated quantities. Every value of these types is legal, so no later code checks it again.

use counterpoint_numerics::fractions::{Ratio, exponential};

/// A number outside its legal range, with that range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{quantity} is {}; legal: {legal}", format_number(*.value))]
pub struct OutOfRangeError {
    /// The quantity's name, e.g. `"epsilon"`.
    pub quantity: &'static str,
    /// The number.
    pub value: f64,
    /// The legal range, in words.
    pub legal: &'static str,
}

/// Formats a number briefly, so that it parses to the same double: 0, 1.26, 0.5000000000000003, 1e-6, 1000000.
///
/// ```
/// use counterpoint::quantity::format_number;
/// assert_eq!([0.0, 1.26, 3.0, 1e-6, 1e30].map(format_number), ["0", "1.26", "3", "1e-6", "1e30"]);
/// ```
#[must_use]
pub fn format_number(number: f64) -> String {
    let text = format!("{:?}", number + 0.0);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $label:literal, $legal:literal, |$value:ident| $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            /// The legal range, in words.
            pub const LEGAL: &'static str = $legal;

            /// Checks the range.
            ///
            /// # Errors
            /// [`OutOfRangeError`] if the value is NaN or outside the legal range.
            pub fn new($value: f64) -> Result<Self, OutOfRangeError> {
                if $check {
                    // -0.0 + 0.0 is +0.0: with a single zero, equal numbers are identical.
                    Ok(Self($value + 0.0))
                } else {
                    Err(OutOfRangeError { quantity: $label, value: $value, legal: $legal })
                }
            }

            /// The number itself.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }
    };
}

quantity!(
    /// The multiplicative part of a guarantee. (Arithmetic is not exact enough to certify numbers below 1e-100, which
    /// have no practical meaning.)
    Epsilon, "epsilon", "0, or a number from 1e-100 to 1000000",
    |value| (1e-100..=1e6).contains(&value) || value.abs() < f64::from_bits(1)
);

impl Epsilon {
    /// Returns fractions below and above e^epsilon, whose relative distance is 2^-91.
    ///
    /// # Errors
    /// [`OutOfRangeError`] if epsilon is above 500.
    pub fn exponential(self) -> Result<(Ratio, Ratio), OutOfRangeError> {
        let legal = "a number from 0 to 500, where exact fractions are used";
        let value = self.get();
        exponential(value).ok_or(OutOfRangeError { quantity: "epsilon", value, legal })
    }
}

quantity!(
    /// The additive part of a guarantee: a probability below one.
    Delta, "delta", "a number from 0 up to but not including 1",
    |value| (0.0..1.0).contains(&value)
);

/// The largest relative width of an answer: a promise if the caller gave it, an aim by default.
///
/// If an answer misses a promise, the result is an error that carries the best answer. An answer that misses an aim
/// says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    width: f64,
    promise: bool,
}

impl Tolerance {
    /// The legal range, in words.
    pub const LEGAL: &'static str = "a number from 1e-15 to 0.1";

    /// Checks the range of a promised width.
    ///
    /// # Errors
    /// [`OutOfRangeError`] if the value is NaN or outside the legal range.
    pub fn new(value: f64) -> Result<Self, OutOfRangeError> {
        if (1e-15..=0.1).contains(&value) {
            Ok(Self { width: value, promise: true })
        } else {
            Err(OutOfRangeError { quantity: "tolerance", value, legal: Self::LEGAL })
        }
    }

    /// Returns the same width as an aim.
    #[must_use]
    pub fn as_aim(self) -> Self {
        Self { promise: false, ..self }
    }

    /// The width itself.
    #[must_use]
    pub fn get(self) -> f64 {
        self.width
    }

    /// True if wider answers are errors.
    #[must_use]
    pub fn is_promise(self) -> bool {
        self.promise
    }
}

quantity!(
    /// The largest change of a query's answer that one person can cause.
    Sensitivity, "sensitivity", "a number above 0, at most 1e300",
    |value| value > 0.0 && value <= 1e300
);

quantity!(
    /// The scale or standard deviation of noise.
    NoiseScale, "noise", "a number from 1e-100 to 1e100",
    |value| (1e-100..=1e100).contains(&value)
);

quantity!(
    /// The largest amount of truncated noise.
    NoiseBound, "bound", "a number from 1e-100 to 1e100",
    |value| (1e-100..=1e100).contains(&value)
);

quantity!(
    /// The probability with which each person's data enter a Poisson sample.
    Rate, "rate", "a number from 0 to 1",
    |value| (0.0..=1.0).contains(&value)
);

quantity!(
    /// The parameter of concentrated privacy: a Rényi curve's slope.
    Rho, "rho", "0, or a number from 1e-100 to 1e12",
    |value| (1e-100..=1e12).contains(&value) || value.abs() < f64::from_bits(1)
);

quantity!(
    /// A Rényi order.
    Order, "order", "a number above 1, at most 1e12",
    |value| value > 1.0 && value <= 1e12
);

quantity!(
    /// The parameter of Gaussian privacy: the distance of two Gaussians in standard deviations.
    Mu, "mu", "0, or a number from 1e-100 to 1e6",
    |value| (1e-100..=1e6).contains(&value) || value.abs() < f64::from_bits(1)
);

quantity!(
    /// The place inside a staircase's step where its density falls, as a fraction of the sensitivity.
    Gamma, "gamma", "a number from 0 to 1",
    |value| (0.0..=1.0).contains(&value)
);

quantity!(
    /// The expected number of runs of a private selection.
    MeanRuns, "mean", "a number from 1e-6 to 1e9",
    |value| (1e-6..=1e9).contains(&value)
);

quantity!(
    /// The shape of a negative binomial number of runs.
    RunShape, "eta", "a number above -1, at most 1000",
    |value| value > -1.0 && value <= 1000.0
);

quantity!(
    /// The level of a quantile: the probability below it.
    Level, "level", "a number above 0 and below 1",
    |value| value > 0.0 && value < 1.0
);

quantity!(
    /// The delta down to which a mu of Gaussian privacy is requested.
    Floor, "floor", "a number from 1e-30 to 0.01",
    |value| (1e-30..=0.01).contains(&value)
);

impl Default for Floor {
    /// 10^-10.
    fn default() -> Self {
        Self(1e-10)
    }
}

quantity!(
    /// The probability of something before the answers are seen.
    Prior, "prior", "a number above 0 and below 1",
    |value| value > 0.0 && value < 1.0
);

impl Prior {
    /// Even odds.
    pub const EVEN: Self = Self(0.5);
    /// One in a thousand.
    pub const SMALL: Self = Self(1e-3);
}

quantity!(
    /// The probability with which a statistical bound holds.
    Confidence, "confidence", "a number above 0 and below 1",
    |value| value > 0.0 && value < 1.0
);

impl Default for Tolerance {
    /// One part in a million, as an aim.
    fn default() -> Self {
        Self { width: 1e-6, promise: false }
    }
}

macro_rules! whole {
    ($(#[$doc:meta])* $name:ident, $label:literal, $legal:literal, $from:literal, $to:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(u64);

        impl $name {
            /// The legal range, in words.
            pub const LEGAL: &'static str = $legal;

            /// Checks the range.
            ///
            /// # Errors
            /// [`OutOfRangeError`] if the number is outside the legal range.
            pub fn new(value: u64) -> Result<Self, OutOfRangeError> {
                if ($from..=$to).contains(&value) {
                    Ok(Self(value))
                } else {
                    Err(OutOfRangeError { quantity: $label, value: value as f64, legal: $legal })
                }
            }

            /// The number itself.
            #[must_use]
            pub fn get(self) -> u64 {
                self.0
            }
        }
    };
}

whole!(
    /// The number of times that a release is made.
    Count, "count", "a whole number from 1 to 10^12", 1, 1_000_000_000_000
);

impl Count {
    /// One release.
    pub const ONE: Self = Self(1);
}

whole!(
    /// The largest change of a whole-numbered answer that one person can cause.
    WholeSensitivity, "sensitivity", "a whole number from 1 to 100000", 1, 100_000
);

whole!(
    /// A number of steps to which people are allocated.
    StepCount, "steps", "a whole number from 1 to 10^6", 1, 1_000_000
);

whole!(
    /// The number of answers that a randomized response chooses from.
    Buckets, "buckets", "a whole number from 2 to 10^12", 2, 1_000_000_000_000
);

whole!(
    /// The number of people who are protected together.
    GroupSize, "group", "a whole number from 1 to 10^6", 1, 1_000_000
);

impl GroupSize {
    /// A single person.
    pub const ONE: Self = Self(1);
}

/// The requested number of correct bits: q in MV section 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits(u32);

impl Bits {
    /// The legal range, in words.
    pub const LEGAL: &'static str = "a whole number from 8 to 100000";
    /// The number of bits that suffices for a double.
    pub(crate) const DOUBLE: Self = Self(64);

    /// Checks the range.
    ///
    /// # Errors
    /// [`OutOfRangeError`] if the number is outside the legal range.
    pub fn new(value: u64) -> Result<Self, OutOfRangeError> {
        match u32::try_from(value) {
            Ok(bits @ 8..=100_000) => Ok(Self(bits)),
            _ => Err(OutOfRangeError { quantity: "bits", value: value as f64, legal: Self::LEGAL }),
        }
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_infinities_and_the_ends_of_each_range() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e-300, 1e-101, 1.0000001e6] {
            assert!(Epsilon::new(bad).is_err(), "{bad}");
        }
        for bad in [f64::NAN, f64::INFINITY, -1e-300, 1.0] {
            assert!(Delta::new(bad).is_err(), "{bad}");
        }
        assert!(Epsilon::new(800.0).is_ok() && Delta::new(1.0_f64.next_down()).is_ok());
        assert!(Count::new(0).is_err() && Count::new(1_000_000_000_001).is_err());
        assert!(Tolerance::new(0.0).is_err() && Sensitivity::new(0.0).is_err());
    }

    #[test]
    fn an_error_names_the_value_and_the_range() {
        let error = Delta::new(1.5).unwrap_err().to_string();
        assert_eq!(error, "delta is 1.5; legal: a number from 0 up to but not including 1");
    }

    #[test]
    fn negative_zero_is_zero() {
        assert!(Epsilon::new(-0.0).unwrap().get().is_sign_positive());
    }
}
