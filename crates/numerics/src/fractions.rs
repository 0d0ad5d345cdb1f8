//! Exact fractions, and conversions from and to doubles.
//!
//! Simulation maps and interactive systems claim equalities, so they are computed and checked in fractions. Every
//! double is a fraction.

pub use crate::ratio::{Ratio, RatioError};
use crate::{Bracket, Dd, Wide};
use dashu_base::{BitTest, Gcd};
use dashu_int::UBig;
use dashu_ratio::RBig;
use std::borrow::Borrow;

/// The largest epsilon whose exponential is enclosed.
const MOST_EPSILON: f64 = 500.0;
/// 2^-92, which exceeds the exponential's error of 2^-98.
const MARGIN: f64 = 4.0 * crate::STEP;
/// The longest numerator or denominator that is accepted, in bits. (Doubles need at most 2100.)
const MOST_BITS: usize = 4096;

/// The largest number of bits in memory at once, an eighth of a gigabyte. Work that would need more is refused before
/// it begins.
pub const MOST_TOTAL_BITS: u128 = 1 << 30;

/// The reason why numbers were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExactError {
    /// A number outside its legal range.
    #[error("{place} is {}; legal: {legal}", format_ratio(.value))]
    Number {
        /// The name or place of the number.
        place: String,
        /// The number.
        value: Ratio,
        /// The legal range, in words.
        legal: &'static str,
    },
    /// Probabilities whose sum is not one.
    #[error("{place} sum to {}; legal: 1 exactly", format_ratio(.sum))]
    Sum {
        /// The probabilities.
        place: String,
        /// Their sum.
        sum: Ratio,
    },
    /// A count outside its legal range.
    #[error("{what} number {size}; legal: {}", span(*.least, *.most))]
    Size {
        /// The things that were counted.
        what: &'static str,
        /// Their number.
        size: u128,
        /// The smallest legal number.
        least: u128,
        /// The largest legal number.
        most: u128,
    },
}

fn span(least: u128, most: u128) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

/// Formats a fraction for people: in full if it is short, otherwise to 17 digits.
pub fn format_ratio(value: &Ratio) -> String {
    if is_short(value, 64) { value.to_string() } else { format!("{:e}", nearest(value)) }
}

/// Checks that a count is within a range.
///
/// # Errors
/// [`ExactError::Size`] if it is not.
pub fn check_size(
    what: &'static str,
    size: u128,
    (least, most): (u128, u128),
) -> Result<(), ExactError> {
    if (least..=most).contains(&size) {
        return Ok(());
    }
    Err(ExactError::Size { what, size, least, most })
}

/// Checks that `count` numbers of `bits` bits each fit in memory.
///
/// # Errors
/// [`ExactError::Size`] if they do not.
pub fn check_bits(what: &'static str, count: u128, bits: u128) -> Result<(), ExactError> {
    check_size(what, count.saturating_mul(bits), (0, MOST_TOTAL_BITS))
}

/// Returns the length in bits of a common denominator of all numbers, or of the first numbers whose length exceeds
/// `most`. Sums of these numbers are no longer.
pub fn common_bits<'a>(list: impl IntoIterator<Item = &'a Ratio>, most: u128) -> u128 {
    let mut common = UBig::ONE;
    for value in list {
        let denominator = value.raw().denominator();
        let shared = (&common).gcd(denominator);
        common *= denominator / shared;
        if common.bit_len() as u128 > most {
            break;
        }
    }
    common.bit_len() as u128
}

/// Checks that a list of numbers and their sums fit in memory.
///
/// # Errors
/// [`ExactError::Size`] if they do not.
pub fn check_list<'a>(
    what: &'static str,
    list: impl ExactSizeIterator<Item = &'a Ratio>,
) -> Result<(), ExactError> {
    let count = list.len().max(1) as u128;
    check_bits(what, count, common_bits(list, MOST_TOTAL_BITS / count))
}

/// The length of the longer of numerator and denominator, in bits.
pub fn bits_of(value: &Ratio) -> usize {
    value.raw().numerator().bit_len().max(value.raw().denominator().bit_len())
}

/// True if numerator and denominator have at most this number of bits.
pub fn is_short(value: &Ratio, bits: usize) -> bool {
    bits_of(value) <= bits
}

/// Checks that a number is in [least, most] and not too long to work with.
///
/// # Errors
/// [`ExactError::Number`] if it is not.
pub fn check_range(
    place: impl Fn() -> String,
    value: &Ratio,
    (least, most): (&Ratio, Option<&Ratio>),
    legal: &'static str,
) -> Result<(), ExactError> {
    let inside = value >= least && most.is_none_or(|most| value <= most);
    if inside && is_short(value, MOST_BITS) {
        return Ok(());
    }
    Err(ExactError::Number { place: place(), value: value.clone(), legal })
}

/// Checks that a number is a probability.
///
/// # Errors
/// [`ExactError::Number`] if it is not.
pub fn check_probability(place: impl Fn() -> String, value: &Ratio) -> Result<(), ExactError> {
    let legal = "a fraction from 0 to 1, of at most 4096 bits";
    check_range(place, value, (&Ratio::ZERO, Some(&Ratio::ONE)), legal)
}

/// Checks that probabilities sum to one.
///
/// # Errors
/// [`ExactError::Sum`] if they do not.
pub fn check_sum(place: impl Fn() -> String, sum: Ratio) -> Result<(), ExactError> {
    if sum.is_one() { Ok(()) } else { Err(ExactError::Sum { place: place(), sum }) }
}

/// Checks a guarantee: the ratio e^epsilon is at least one, delta is below one.
///
/// # Errors
/// [`ExactError::Number`] if one of them is not legal.
pub fn check_guarantee(ratio: &Ratio, delta: &Ratio) -> Result<(), ExactError> {
    let legal = "a fraction of at least 1, of at most 4096 bits";
    check_range(|| "the likelihood ratio".into(), ratio, (&Ratio::ONE, None), legal)?;
    check_probability(|| "delta".into(), delta)?;
    if delta.is_one() {
        let legal = "a fraction from 0 up to but not including 1";
        let (place, value) = ("delta".into(), delta.clone());
        return Err(ExactError::Number { place, value, legal });
    }
    Ok(())
}

/// Converts a double to the same number as a fraction; zero for infinities and NaN.
///
/// ```
/// use counterpoint_numerics::fractions::from_double;
/// assert_eq!(from_double(0.375), "3/8".parse()?);
/// assert_ne!(from_double(0.3), "3/10".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn from_double(value: f64) -> Ratio {
    RBig::try_from(value).map_or(Ratio::ZERO, Ratio::from_raw)
}

/// Adds up a list.
pub fn sum<T: Borrow<Ratio>>(list: impl IntoIterator<Item = T>) -> Ratio {
    list.into_iter().fold(Ratio::ZERO, |total, value| total + value.borrow())
}

/// The larger of two fractions.
pub fn larger(a: Ratio, b: Ratio) -> Ratio {
    if a < b { b } else { a }
}

/// The smaller of two fractions.
pub fn smaller(a: Ratio, b: Ratio) -> Ratio {
    if b < a { b } else { a }
}

/// The fraction, or zero if it is negative.
pub fn positive_part(value: Ratio) -> Ratio {
    larger(value, Ratio::ZERO)
}

/// Returns a double next to the fraction, at most one unit in the last place away.
///
/// ```
/// use counterpoint_numerics::fractions::{Ratio, nearest};
/// let third: Ratio = "1/3".parse()?;
/// assert!((nearest(&third) - 1.0 / 3.0).abs() < 1e-16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn nearest(value: &Ratio) -> f64 {
    value.raw().to_f64().value()
}

/// Converts a positive fraction to a double-double with an exponent, with a relative error of at most 2^-100. The
/// fraction is first scaled to between 1/2 and 2, where two doubles suffice: one next to it, and one next to the rest.
pub fn to_wide(value: &Ratio) -> Wide {
    let length = |bits: usize| i64::try_from(bits).unwrap_or(i64::MAX);
    let exponent =
        length(value.raw().numerator().bit_len()) - length(value.raw().denominator().bit_len());
    let power = Ratio::from_raw((UBig::ONE << exponent.unsigned_abs() as usize).into());
    let near_one = if exponent < 0 { value * power } else { value / power };
    let high = nearest(&near_one);
    let low = nearest(&(near_one - from_double(high)));
    Wide::new(Dd::sum(high, low), exponent)
}

/// Returns doubles on either side of a fraction: guesses by the library, moved until the exact comparison holds.
#[must_use]
pub fn enclose(low: &Ratio, high: &Ratio) -> Bracket {
    let (mut lower, mut upper) = (nearest(low), nearest(high));
    while lower.is_finite() && from_double(lower) > *low {
        lower = lower.next_down();
    }
    while upper.is_finite() && from_double(upper) < *high {
        upper = upper.next_up();
    }
    Bracket { lower, upper }
}

/// Returns fractions below and above e^epsilon, whose relative distance is 2^-91; `None` unless epsilon is from 0 to
/// 500.
///
/// ```
/// use counterpoint_numerics::fractions::{exponential, nearest};
/// let (below, above) = exponential(1.0).unwrap();
/// assert!(below < above && (nearest(&below) - std::f64::consts::E).abs() < 1e-15);
/// ```
#[must_use]
pub fn exponential(epsilon: f64) -> Option<(Ratio, Ratio)> {
    if !(0.0..=MOST_EPSILON).contains(&epsilon) {
        return None;
    }
    // exp is within 2^-98; both margins are wider, and exact.
    let exp = Dd::from(epsilon).exp();
    let middle = from_double(exp.hi) + from_double(exp.lo);
    let margin = from_double(MARGIN) * &middle;
    let below = larger(&middle - &margin, Ratio::ONE);
    Some((below, middle + margin))
}
