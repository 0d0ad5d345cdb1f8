//! Exact decimal amounts, in which budgets are counted.
//!
//! Budgets are added up over years. A binary fraction cannot represent 0.1, so 0.1 and 0.2 would not add up to 0.3 and
//! totals would drift. An [`Amount`] is a decimal fraction of any length, and its sums and products are exact. Every
//! double is one too.

use counterpoint_numerics::fractions::Ratio;
use counterpoint_numerics::{Dd, Wide};
use dashu_base::{BitTest, DivRem};
use dashu_int::UBig;
use dashu_ratio::RBig;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Mul};
use std::str::FromStr;

/// The number of decimal places that remain of an amount that is not a decimal fraction, such as a third or the Rényi
/// divergence of a randomized response. Charges are rounded up, derived budgets down. So totals stay short and can be
/// recomputed from the history to the last digit.
pub const GRID_PLACES: u32 = 24;

/// An exact decimal fraction that is not negative.
///
/// ```
/// use counterpoint_budget::Amount;
/// let [a, b, c]: [Amount; 3] = ["0.1".parse()?, "0.2".parse()?, "3e-1".parse()?];
/// assert_eq!(&a + &b, c);
/// assert_eq!((&a + &b).to_string(), "0.3");
/// # Ok::<(), counterpoint_budget::AmountError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Amount {
    /// The value is `digits / 10^places`, in lowest terms: equal amounts are identical.
    digits: UBig,
    places: u32,
}

/// A text that is not an amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an amount; legal: {}", Amount::LEGAL)]
pub struct AmountError {
    /// The text, shortened if it is long.
    pub text: String,
}

/// The largest number of digits after the point that can be read back.
pub(super) const MOST_PLACES: u32 = 2500;
const MOST_WHOLE: u32 = 40;

impl Amount {
    /// The texts that can be read as amounts, in words.
    pub const LEGAL: &'static str =
        "a decimal number from 0 up to 10^40, with at most 2500 digits after the point";

    /// Zero.
    pub const ZERO: Self = Self { digits: UBig::ZERO, places: 0 };

    fn new(mut digits: UBig, mut places: u32) -> Self {
        let ten = UBig::from(10_u8);
        while places > 0 {
            let (rest, last) = (&digits).div_rem(&ten);
            if !last.is_zero() {
                break;
            }
            (digits, places) = (rest, places - 1);
        }
        Self { digits, places }
    }

    /// Returns the exact value of a double; `None` if the double is negative, infinite or NaN.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        if !(value >= 0.0 && value.is_finite()) {
            return None;
        }
        let bits = value.to_bits() & !(1 << 63);
        let (field, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let mantissa = UBig::from(if field == 0 { fraction } else { fraction | (1 << 52) });
        let down = 1075 - field.max(1) as i64;
        Some(match usize::try_from(down) {
            // m / 2^s = m 5^s / 10^s.
            Ok(shift) => {
                let zeros = mantissa.trailing_zeros().unwrap_or(shift).min(shift);
                let places = shift - zeros;
                Self::new((mantissa >> zeros) * power(5, places as u32), places as u32)
            }
            Err(_) => Self::new(mantissa << down.unsigned_abs() as usize, 0),
        })
    }

    /// Returns the exact value of a double-double; zero if it is negative.
    pub(super) fn from_dd(value: Dd) -> Option<Self> {
        if value.hi.is_nan() || value.hi.is_infinite() {
            return None;
        }
        if !value.is_positive() {
            return Some(Self::ZERO);
        }
        let head = Self::from_f64(value.hi)?;
        let tail = Self::from_f64(value.lo.abs())?;
        if value.lo < 0.0 { head.checked_sub(&tail) } else { Some(&head + &tail) }
    }

    /// True if the amount is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.digits.is_zero()
    }

    /// Subtracts another amount; `None` if the other amount is larger.
    #[must_use]
    pub fn checked_sub(&self, other: &Self) -> Option<Self> {
        if self < other {
            return None;
        }
        let places = self.places.max(other.places);
        Some(Self::new(&*self.digits_at(places) - &*other.digits_at(places), places))
    }

    /// Multiplies the amount by a whole number.
    #[must_use]
    pub fn times(&self, count: u64) -> Self {
        Self::new(&self.digits * UBig::from(count), self.places)
    }

    /// Half of the amount.
    #[must_use]
    pub fn half(&self) -> Self {
        Self::new(&self.digits * UBig::from(5_u8), self.places + 1)
    }

    /// The largest multiple of 10^-places that is not above the amount.
    #[must_use]
    pub fn floor(&self, places: u32) -> Self {
        Self::new(self.truncate(places).0, places.min(self.places))
    }

    /// The least multiple of 10^-places that is not below the amount.
    #[must_use]
    pub fn ceil(&self, places: u32) -> Self {
        let (kept, exact) = self.truncate(places);
        let up = if exact { kept } else { kept + UBig::ONE };
        Self::new(up, places.min(self.places))
    }

    /// Divides, rounding up to a multiple of 10^-24; `None` for a divisor of zero.
    #[must_use]
    pub fn div_up(&self, divisor: &Self) -> Option<Self> {
        let (quotient, exact) = self.quotient(divisor)?;
        Some(Self::new(if exact { quotient } else { quotient + UBig::ONE }, GRID_PLACES))
    }

    /// Divides, rounding down to a multiple of 10^-24; `None` for a divisor of zero.
    #[must_use]
    pub fn div_down(&self, divisor: &Self) -> Option<Self> {
        Some(Self::new(self.quotient(divisor)?.0, GRID_PLACES))
    }

    /// The quotient in whole multiples of 10^-24, rounded down; the flag is true if it is exact.
    fn quotient(&self, divisor: &Self) -> Option<(UBig, bool)> {
        if divisor.is_zero() {
            return None;
        }
        let above = &self.digits * power(10, divisor.places + GRID_PLACES);
        let below = &divisor.digits * power(10, self.places);
        let (quotient, rest) = above.div_rem(below);
        Some((quotient, rest.is_zero()))
    }

    /// The nearest double that is not below the amount.
    #[must_use]
    pub fn upper(&self) -> f64 {
        self.to_f64(true)
    }

    /// The nearest double that is not above the amount.
    #[must_use]
    pub fn lower(&self) -> f64 {
        self.to_f64(false)
    }

    /// Converts to 106 bits; the result is not below the amount if `up`, else not above.
    pub(super) fn to_wide(&self, up: bool) -> Wide {
        let (mantissa, exponent) = self.leading_bits(106, up);
        let high = (mantissa >> 53) as f64 * 9_007_199_254_740_992.0;
        let low = (mantissa & ((1 << 53) - 1)) as f64;
        Wide::new(Dd::sum(high, low), exponent)
    }

    /// Converts amounts between 2^-900 and 2^900 like [`Amount::to_wide`].
    pub(super) fn to_dd(&self, up: bool) -> Dd {
        self.to_wide(up).to_dd()
    }

    fn to_f64(&self, up: bool) -> f64 {
        let (mantissa, exponent) = self.leading_bits(53, up);
        if mantissa == 0 {
            return 0.0;
        }
        let mantissa = mantissa as f64;
        match exponent {
            ..=-1075 => {
                // Subnormal or smaller: one step outward.
                let near =
                    mantissa * 2.0_f64.powi(-600) * 2.0_f64.powi(exponent.max(-1600) as i32 + 600);
                if up { near.next_up() } else { near.next_down().max(0.0) }
            }
            -1074..=900 => {
                let half = (exponent / 2) as i32;
                mantissa * 2.0_f64.powi(half) * 2.0_f64.powi(exponent as i32 - half)
            }
            _ if up => f64::INFINITY,
            _ => f64::MAX,
        }
    }

    /// The leading bits of the amount: a mantissa m of at most 2^bits and an exponent, such that m 2^exponent is next
    /// to the amount, not below it if `up`, else not above.
    fn leading_bits(&self, bits: usize, up: bool) -> (u128, i64) {
        if self.is_zero() {
            return (0, 0);
        }
        let divisor = power(10, self.places);
        let lift = (bits + 1 + divisor.bit_len()).saturating_sub(self.digits.bit_len());
        let (quotient, rest) = (&self.digits << lift).div_rem(divisor);
        let drop = quotient.bit_len().saturating_sub(bits);
        let kept = &quotient >> drop;
        let exact = rest.is_zero() && (&kept << drop) == quotient;
        let kept = if up && !exact { kept + UBig::ONE } else { kept };
        // At most 2^bits, so the conversion does not fail.
        let kept = u128::try_from(kept).unwrap_or(u128::MAX);
        (kept, drop as i64 - lift as i64)
    }

    /// The digits of the amount in units of 10^-places; `places` is at least the amount's own.
    fn digits_at(&self, places: u32) -> Cow<'_, UBig> {
        match places.saturating_sub(self.places) {
            0 => Cow::Borrowed(&self.digits),
            more => Cow::Owned(&self.digits * power(10, more)),
        }
    }

    /// The amount in whole multiples of 10^-places, rounded down, and true if this is exact. An amount with fewer
    /// places is unchanged.
    fn truncate(&self, places: u32) -> (UBig, bool) {
        let (kept, rest) = (&self.digits).div_rem(power(10, self.places.saturating_sub(places)));
        (kept, rest.is_zero())
    }
}

fn power(base: u8, exponent: u32) -> UBig {
    UBig::from(base).pow(exponent as usize)
}

impl From<u64> for Amount {
    fn from(value: u64) -> Self {
        Self { digits: UBig::from(value), places: 0 }
    }
}

impl From<&Amount> for Ratio {
    fn from(amount: &Amount) -> Self {
        Self::from_raw(RBig::from_parts(amount.digits.clone().into(), power(10, amount.places)))
    }
}

impl Add for &Amount {
    type Output = Amount;
    fn add(self, other: Self) -> Amount {
        let places = self.places.max(other.places);
        Amount::new(&*self.digits_at(places) + &*other.digits_at(places), places)
    }
}

impl Mul for &Amount {
    type Output = Amount;
    fn mul(self, other: Self) -> Amount {
        Amount::new(&self.digits * &other.digits, self.places + other.places)
    }
}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Amount {
    fn cmp(&self, other: &Self) -> Ordering {
        let places = self.places.max(other.places);
        self.digits_at(places).cmp(&other.digits_at(places))
    }
}

impl FromStr for Amount {
    type Err = AmountError;

    /// Reads digits with an optional point and power of ten: `3`, `0.25`, `1e-6`, `2.5E3`.
    fn from_str(text: &str) -> Result<Self, AmountError> {
        read(text).ok_or_else(|| AmountError { text: text.chars().take(60).collect() })
    }
}

fn read(text: &str) -> Option<Amount> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let exponent: i64 = match exponent {
        Some(digits) if digits.len() <= 7 && has_digits(digits.trim_start_matches(['+', '-'])) => {
            digits.parse().ok()?
        }
        Some(_) => return None,
        None => 0,
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) if has_digits(fraction) => (whole, fraction),
        Some(_) => return None,
        None => (mantissa, ""),
    };
    if !has_digits(whole) || text.len() > 2 * MOST_PLACES as usize {
        return None;
    }
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(Amount::ZERO);
    }
    let places = fraction.len() as i64 - exponent;
    // A number of n digits that does not begin with 0 is at least 10^(n - 1) and below 10^n.
    let below = digits.len() as i64 - places;
    if below > i64::from(MOST_WHOLE) || places > 2 * i64::from(MOST_PLACES) {
        return None;
    }
    let digits = UBig::from_str_radix(digits, 10).ok()?;
    let amount = match u32::try_from(places) {
        Ok(places) => Amount::new(digits, places),
        Err(_) => Amount::new(digits * power(10, places.unsigned_abs() as u32), 0),
    };
    (amount.places <= MOST_PLACES).then_some(amount)
}

fn has_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for Amount {
    /// Writes all digits without a power of ten; reading the text gives the same amount.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.digits.to_string();
        let places = self.places as usize;
        if places > 0 {
            if text.len() <= places {
                text.insert_str(0, &"0".repeat(places + 1 - text.len()));
            }
            text.insert(text.len() - places, '.');
        }
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests;
