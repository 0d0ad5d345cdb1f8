//! Decimals, fractions and powers, read exactly. All amounts are read here.

use counterpoint_budget::Amount;
use counterpoint_numerics::fractions::{Ratio, from_double, nearest};

use super::decimal;

/// The legal spellings of a number, in words.
const LEGAL: &str =
    "a decimal number such as 0.3 or 1e-6, a fraction such as 1/3, or a power such as 2^-25";

/// The error for a text that is not a legal number.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NumberError {
    /// The text, or its length if it is long.
    pub number: String,
    /// The legal texts, in words.
    pub legal: &'static str,
}

impl std::error::Error for NumberError {}

impl std::fmt::Display for NumberError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "is {}; legal: {}", self.number, self.legal)
    }
}

/// A number from a file that no double equals.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactNumber {
    /// The nearest double.
    pub nearest: f64,
    /// The number itself.
    pub exact: Ratio,
}

impl ExactNumber {
    /// Makes one of a number; `None` if a double equals it.
    #[must_use]
    pub fn new(exact: Ratio) -> Option<Self> {
        Self::with_nearest(nearest(&exact), exact)
    }

    /// Makes one of a number whose text is read as a given double; `None` if that double equals it.
    pub(crate) fn with_nearest(nearest: f64, exact: Ratio) -> Option<Self> {
        (from_double(nearest) != exact).then_some(Self { nearest, exact })
    }

    /// Returns decimals with this many significant digits below and above the number; if the number itself is a
    /// decimal, returns that twice.
    pub(crate) fn decimal_bounds(&self, digits: usize) -> (String, String) {
        let text = fraction_text(&self.exact);
        if !text.contains('/') {
            return (text.clone(), text);
        }
        // The number lies between the doubles on both sides of the nearest one.
        let (below, above) = (self.nearest.next_down(), self.nearest.next_up());
        (decimal::down(below, digits), decimal::up(above, digits))
    }
}

impl std::fmt::Display for ExactNumber {
    /// Writes a decimal if the number has finitely many decimals, else a fraction.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&fraction_text(&self.exact))
    }
}

/// Reads a nonnegative number: `0.3`, `1e-6`, `1/3`, `0.1/3`, `2^-25`, `10^-6`.
///
/// ```
/// use counterpoint_wire::fraction;
/// assert_eq!(fraction("0.3")?, fraction("3/10")?);
/// assert!(fraction("1/0").is_err() && fraction("-1/3").is_err());
/// # Ok::<(), counterpoint_wire::NumberError>(())
/// ```
///
/// # Errors
/// [`NumberError`], with the text and the legal spellings.
pub fn fraction(text: &str) -> Result<Ratio, NumberError> {
    let illegal = || NumberError { number: cut(text), legal: LEGAL };
    let part = |text: &str| amount(text.trim()).map(|amount| Ratio::from(&amount));
    let Some((above, below)) = text.split_once('/') else {
        return part(text).map_err(|_| illegal());
    };
    match (part(above), part(below)) {
        (Ok(above), Ok(below)) if below > Ratio::ZERO => Ok(above / below),
        _ => Err(illegal()),
    }
}

/// Reads a decimal number or a power of two or ten, exactly.
pub(crate) fn amount(text: &str) -> Result<Amount, NumberError> {
    // Powers of two are doubles, powers of ten are decimals.
    if text.trim().starts_with("2^")
        && let Some(amount) = power(text).and_then(Amount::from_f64)
    {
        return Ok(amount);
    }
    let ten = text.trim().strip_prefix("10^").map(|exponent| format!("1e{}", exponent.trim()));
    let text = ten.as_deref().unwrap_or(text);
    let plain = text.strip_prefix('+').unwrap_or(text);
    // Negative zero is read as zero.
    let plain = plain.strip_prefix('-').filter(|rest| is_zero(rest)).unwrap_or(plain);
    plain.parse().map_err(|_| NumberError { number: cut(text), legal: Amount::LEGAL })
}

fn is_zero(text: &str) -> bool {
    text.parse::<Amount>().is_ok_and(|amount| amount.is_zero())
}

fn cut(text: &str) -> String {
    if text.len() <= 40 {
        text.to_owned()
    } else {
        format!("a number of {} characters", text.len())
    }
}

/// Reads a power of two or ten such as 2^-25, and returns the nearest double.
#[must_use]
pub fn power(text: &str) -> Option<f64> {
    let (base, exponent) = text.trim().split_once('^')?;
    let exponent: i32 = exponent.trim().parse().ok().filter(|k| (-300..=300).contains(k))?;
    match base.trim() {
        "2" => Some(f64::from_bits(u64::from((1023 + exponent).unsigned_abs()) << 52)),
        "10" => format!("1e{exponent}").parse().ok(),
        _ => None,
    }
}

/// Reads a number in quotes: the nearest double, and the exact number.
pub(crate) fn quoted_number(text: &str) -> Option<(f64, Ratio)> {
    let exact = fraction(text).ok()?;
    let near = power(text).or_else(|| text.trim().parse().ok());
    Some((near.unwrap_or_else(|| nearest(&exact)), exact))
}

/// Writes a fraction as a decimal if it has finitely many decimals, else in lowest terms. [`fraction`] reads the same
/// number back.
pub fn fraction_text(exact: &Ratio) -> String {
    let places = |prime: u32| {
        let (mut rest, mut count) =
            (Ratio::from_raw(exact.raw().denominator().clone().into()), 0_u32);
        loop {
            let next = &rest / Ratio::from(prime);
            if !next.raw().is_int() {
                return (count, rest);
            }
            (rest, count) = (next, count + 1);
        }
    };
    let ((twos, odd), (fives, _)) = (places(2), places(5));
    let others = (0..fives).fold(odd, |rest, _| rest / Ratio::from(5_u32));
    let count = twos.max(fives);
    if !others.is_one() || count > 2500 {
        return exact.to_string();
    }
    let scaled = exact * Ratio::from(10_u32).pow(count as i32);
    let mut digits = scaled.to_string();
    let count = count as usize;
    if count > 0 {
        if digits.len() <= count {
            digits.insert_str(0, &"0".repeat(count + 1 - digits.len()));
        }
        digits.insert(digits.len() - count, '.');
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_fractions_and_powers_are_read_exactly() {
        let third: Ratio = "1/3".parse().unwrap();
        assert_eq!(fraction("1/3").unwrap(), third);
        assert_eq!(fraction(" 0.1 / 0.3 ").unwrap(), third);
        assert_eq!(fraction("+2e-1").unwrap(), "1/5".parse().unwrap());
        assert_eq!(fraction("10^-40").unwrap(), Ratio::ONE / Ratio::from(10_u32).pow(40));
        assert_eq!(fraction("2^-25/3").unwrap(), Ratio::ONE / Ratio::from(3_u32 << 25));
        for text in ["", "1/", "/3", "1/0", "1/3/5", "-1/3", "1/-3", "nan", "inf", "0x1", "a"] {
            let error = fraction(text).unwrap_err().to_string();
            assert!(error.contains("legal: a decimal number such as 0.3"), "{error}");
        }
    }

    #[test]
    fn what_is_shown_is_read_back() {
        let texts = ["0.3", "0.0001", "1/3", "123.456", "2/7", "5", "0", "0.125", "1/7000"];
        for text in texts {
            assert_eq!(fraction_text(&fraction(text).unwrap()), text);
        }
    }

    /// The double nearest to a fraction is the double that its decimal text is read as, so that writing and reading
    /// change nothing.
    #[test]
    fn the_double_next_to_a_decimal_is_the_one_it_is_read_as() {
        let mut state = 1_u64;
        for round in 0..5000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let digits = (state >> 20) % 10_u64.pow(1 + round % 13);
            let text = format!("{digits}e-{}", round % 330);
            let read: f64 = text.parse().unwrap();
            assert_eq!(nearest(&fraction(&text).unwrap()).to_bits(), read.to_bits(), "{text}");
        }
    }

    #[test]
    fn doubles_are_not_kept_as_written() {
        assert_eq!(ExactNumber::new(fraction("0.375").unwrap()), None);
        let tenth = ExactNumber::new(fraction("0.1").unwrap()).unwrap();
        assert_eq!(tenth.nearest.to_bits(), 0.1_f64.to_bits());
    }
}
