//! Validated quantities. A value of one of these types is legal; nothing
//! downstream checks it again.

use counterpoint_numerics::fractions::{Ratio, exponential};

/// A number outside its legal range, with the range it should have been in.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{quantity} is {}; legal: {legal}", plain(*.value))]
pub struct OutOfRange {
    /// What the number was meant to be, e.g. `"epsilon"`.
    pub quantity: &'static str,
    /// The number that was given.
    pub value: f64,
    /// The legal range, in words.
    pub legal: &'static str,
}

/// A number as people write it, which is read as the same double: 0, 1.26, 0.5000000000000003, 1e-6, 1000000.
///
/// ```
/// use counterpoint::quantity::plain;
/// assert_eq!([0.0, 1.26, 3.0, 1e-6, 1e30].map(plain), ["0", "1.26", "3", "1e-6", "1e30"]);
/// ```
#[must_use]
pub fn plain(number: f64) -> String {
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
            /// [`OutOfRange`] if the value is NaN or outside the legal range.
            pub fn new($value: f64) -> Result<Self, OutOfRange> {
                if $check {
                    // -0.0 + 0.0 is +0.0: one zero, so that equal means identical.
                    Ok(Self($value + 0.0))
                } else {
                    Err(OutOfRange { quantity: $label, value: $value, legal: $legal })
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
    /// The multiplicative half of a guarantee. (Numbers below 1e-100 would leave the range in
    /// which arithmetic is exact enough to certify, and mean nothing.)
    Epsilon, "epsilon", "0, or a number from 1e-100 to 1000000",
    |value| (1e-100..=1e6).contains(&value) || value.abs() < f64::from_bits(1)
);

impl Epsilon {
    /// Fractions below and above e^epsilon, 2^-91 of it apart.
    ///
    /// # Errors
    /// [`OutOfRange`] if epsilon is above 500.
    pub fn exponential(self) -> Result<(Ratio, Ratio), OutOfRange> {
        let legal = "a number from 0 to 500, where exact fractions are used";
        let value = self.get();
        exponential(value).ok_or(OutOfRange { quantity: "epsilon", value, legal })
    }
}

quantity!(
    /// The additive half of a guarantee: a probability below one.
    Delta, "delta", "a number from 0 up to but not including 1",
    |value| (0.0..1.0).contains(&value)
);

/// The relative width of an answer: a promise where it was given, an aim where it was not.
///
/// What cannot be had to a promise is an error that carries the best answer; what misses an aim is
/// an answer that says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    width: f64,
    promise: bool,
}

impl Tolerance {
    /// The legal range, in words.
    pub const LEGAL: &'static str = "a number from 1e-15 to 0.1";

    /// A promise.
    ///
    /// # Errors
    /// [`OutOfRange`] if the value is NaN or outside the legal range.
    pub fn new(value: f64) -> Result<Self, OutOfRange> {
        if (1e-15..=0.1).contains(&value) {
            Ok(Self { width: value, promise: true })
        } else {
            Err(OutOfRange { quantity: "tolerance", value, legal: Self::LEGAL })
        }
    }

    /// The same width, as an aim.
    #[must_use]
    pub fn aimed_at(self) -> Self {
        Self { promise: false, ..self }
    }

    /// The width itself.
    #[must_use]
    pub fn get(self) -> f64 {
        self.width
    }

    /// Whether wider answers are errors.
    #[must_use]
    pub fn is_promise(self) -> bool {
        self.promise
    }
}

quantity!(
    /// How far one person can move a query's answer.
    Sensitivity, "sensitivity", "a number above 0, at most 1e300",
    |value| value > 0.0 && value <= 1e300
);

quantity!(
    /// The scale or standard deviation of noise.
    Noise, "noise", "a number from 1e-100 to 1e100",
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
    /// The parameter of Gaussian privacy: how many standard deviations apart.
    Mu, "mu", "0, or a number from 1e-100 to 1e6",
    |value| (1e-100..=1e6).contains(&value) || value.abs() < f64::from_bits(1)
);

quantity!(
    /// Where the staircase's steps are cut: a share of the sensitivity.
    Share, "gamma", "a number from 0 to 1",
    |value| (0.0..=1.0).contains(&value)
);

quantity!(
    /// The probability that a quantile leaves below it.
    Level, "level", "a number above 0 and below 1",
    |value| value > 0.0 && value < 1.0
);

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
            /// [`OutOfRange`] if the number is outside the legal range.
            pub fn new(value: u64) -> Result<Self, OutOfRange> {
                if ($from..=$to).contains(&value) {
                    Ok(Self(value))
                } else {
                    Err(OutOfRange { quantity: $label, value: value as f64, legal: $legal })
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
    /// How many times a release is made.
    Count, "count", "a whole number from 1 to 10^12", 1, 1_000_000_000_000
);

impl Count {
    /// Once.
    pub const ONE: Self = Self(1);
}

whole!(
    /// How far one person can move a query's whole-numbered answer.
    Steps, "sensitivity", "a whole number from 1 to 100000", 1, 100_000
);

whole!(
    /// How many steps people are allocated to.
    Rounds, "steps", "a whole number from 1 to 10^6", 1, 1_000_000
);

whole!(
    /// How many answers a randomized response chooses from.
    Buckets, "buckets", "a whole number from 2 to 10^12", 2, 1_000_000_000_000
);

whole!(
    /// How many people are protected together.
    Group, "group", "a whole number from 1 to 10^6", 1, 1_000_000
);

impl Group {
    /// One person.
    pub const ONE: Self = Self(1);
}

/// How many correct bits are wanted: MV section 2's q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits(u32);

impl Bits {
    /// The legal range, in words.
    pub const LEGAL: &'static str = "a whole number from 8 to 100000";
    /// As many as a double has use for.
    pub(crate) const DOUBLE: Self = Self(64);

    /// Checks the range.
    ///
    /// # Errors
    /// [`OutOfRange`] if outside it.
    pub fn new(value: u64) -> Result<Self, OutOfRange> {
        match u32::try_from(value) {
            Ok(bits @ 8..=100_000) => Ok(Self(bits)),
            _ => Err(OutOfRange { quantity: "bits", value: value as f64, legal: Self::LEGAL }),
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
