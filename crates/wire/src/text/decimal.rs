//! Numbers as decimal text, rounded in a stated direction.

use std::cmp::Ordering;

/// The number of digits that distinguish every two f64.
pub const FULL_DIGITS: usize = 17;

/// More significant digits than any f64 has (767): a number printed with this many digits is printed exactly.
const EXACT_DIGITS: usize = 800;

/// The largest decimal number with this many significant digits that is not above the given number.
///
/// ```
/// // The f64 nearest to 0.3 is a little less than 0.3.
/// assert_eq!(counterpoint_wire::decimal::down(0.3, 5), "0.29999");
/// ```
#[must_use]
pub fn down(number: f64, digits: usize) -> String {
    rounded(number, digits, Ordering::Less)
}

/// The smallest decimal number with this many significant digits that is not below the given number.
///
/// ```
/// assert_eq!(counterpoint_wire::decimal::up(0.3, 5), "0.30000");
/// assert_eq!(counterpoint_wire::decimal::up(0.1, 5), "0.10001");
/// ```
#[must_use]
pub fn up(number: f64, digits: usize) -> String {
    rounded(number, digits, Ordering::Greater)
}

/// The decimal number with this many significant digits that is nearest to the given number. With [`FULL_DIGITS`] it is
/// read back as the same number.
///
/// ```
/// assert_eq!(counterpoint_wire::decimal::nearest(0.1, 17), "0.10000000000000001");
/// ```
#[must_use]
pub fn nearest(number: f64, digits: usize) -> String {
    if !number.is_finite() || number.abs() == 0.0 {
        return format!("{:?}", number + 0.0);
    }
    let text = format!("{:.*e}", digits.saturating_sub(1), number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let sign = if number < 0.0 { "-" } else { "" };
    format!("{sign}{}", written(&mantissa.replace('.', ""), exponent.parse().unwrap_or_default()))
}

/// The shortest text that is read back as the same number.
#[must_use]
pub fn shortest(number: f64) -> String {
    format!("{number:?}")
}

/// Removes zeros at the end of a decimal fraction, except one directly after the point. The value stays the same.
#[must_use]
pub fn trimmed(text: &str) -> String {
    let (mantissa, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    let Some((whole, fraction)) = mantissa.split_once('.') else { return text.to_owned() };
    let fraction = fraction.trim_end_matches('0');
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    format!("{whole}.{fraction}{exponent}")
}

fn rounded(number: f64, digits: usize, toward: Ordering) -> String {
    if !number.is_finite() || number.abs() == 0.0 {
        return format!("{:?}", number + 0.0);
    }
    let negative = number < 0.0;
    let away_from_zero = negative == (toward == Ordering::Less);
    let (exact, mut exponent) = expansion(number.abs());
    let (kept, cut) = exact.split_at(digits.clamp(1, EXACT_DIGITS));
    let mut kept = kept.to_vec();
    if away_from_zero && cut.iter().any(|&digit| digit != b'0') && carry_one(&mut kept) {
        exponent += 1;
    }
    let sign = if negative { "-" } else { "" };
    format!("{sign}{}", written(&String::from_utf8_lossy(&kept), exponent))
}

/// Returns all digits of a positive number, and the power of ten of the first digit.
fn expansion(number: f64) -> (Vec<u8>, i32) {
    let text = format!("{number:.EXACT_DIGITS$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    (digits, exponent.parse().unwrap_or_default())
}

/// Adds one to the last digit. Returns true if a carry leaves the first digit: the first digit is then 1, and counts
/// for a ten times larger power.
fn carry_one(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return false;
        }
        *digit = b'0';
    }
    if let Some(first) = digits.first_mut() {
        *first = b'1';
    }
    true
}

/// Writes digits in plain notation where that is short, else with an exponent. The text is a JSON number that is never
/// read as an integer.
fn written(digits: &str, exponent: i32) -> String {
    let (first, rest) = digits.split_at(1);
    match exponent {
        -5..0 => format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        0..=16 => {
            let whole = exponent.unsigned_abs() as usize + 1;
            let (whole, fraction) = match digits.split_at_checked(whole) {
                Some((whole, fraction)) => (whole.to_owned(), fraction),
                None => (format!("{digits:0<whole$}"), ""),
            };
            let fraction = if fraction.is_empty() { "0" } else { fraction };
            format!("{whole}.{fraction}")
        }
        _ if rest.is_empty() => format!("{first}e{exponent}"),
        _ => format!("{first}.{rest}e{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of every magnitude, from a fixed generator.
    fn numbers() -> impl Iterator<Item = f64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let random = std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            f64::from_bits(state)
        });
        let special = [5e-324, f64::MIN_POSITIVE, f64::MAX, 1.0, 10.0, 1e16, 1e17, 0.1, 9.999_999];
        random.filter(|x| x.is_finite()).take(3000).chain(special)
    }

    /// Exact comparison of two positive decimal texts of the form d.ddd...e±x.
    fn compare(a: &str, b: &str) -> Ordering {
        let parts = |text: &str| {
            let plain: f64 = text.parse().unwrap();
            assert!(plain > 0.0);
            let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let all = format!("{whole}{fraction}");
            let zeros = all.len() - all.trim_start_matches('0').len();
            let exponent = exponent.parse::<i32>().unwrap() + whole.len() as i32 - zeros as i32;
            (exponent, format!("{:0<1200}", &all[zeros..]))
        };
        parts(a).cmp(&parts(b))
    }

    /// The digits from the first that is not zero.
    fn significant(text: &str) -> String {
        let mantissa = text.split_once('e').map_or(text, |(mantissa, _)| mantissa);
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        digits.trim_start_matches('0').to_owned()
    }

    #[test]
    fn the_text_is_a_bound_and_the_nearest_one() {
        for x in numbers().map(f64::abs) {
            for digits in [1, 2, 6, 17] {
                let exact = format!("{x:.1100e}");
                let (low, high) = (down(x, digits), up(x, digits));
                assert_ne!(compare(&low, &exact), Ordering::Greater, "{low} {exact}");
                assert_ne!(compare(&high, &exact), Ordering::Less, "{high} {exact}");
                let low = significant(&low)[..digits].parse::<u64>().unwrap();
                let high = significant(&high)[..digits].parse::<u64>().unwrap();
                let carried = high == 10_u64.pow(digits as u32 - 1) && low != high;
                let high = if carried { 10_u64.pow(digits as u32) } else { high };
                assert!(high == low || high == low + 1, "{x:e}: {low} {high}");
            }
        }
    }

    #[test]
    fn seventeen_digits_bracket_the_number_for_a_reader_of_f64_too() {
        for x in numbers() {
            let low: f64 = down(x, 17).parse().unwrap();
            let high: f64 = up(x, 17).parse().unwrap();
            assert!(low <= x && x <= high, "{low:e} {x:e} {high:e}");
        }
    }

    #[test]
    fn negative_numbers_round_the_other_way() {
        for x in numbers().map(f64::abs) {
            assert_eq!(down(-x, 17), format!("-{}", up(x, 17)));
            assert_eq!(up(-x, 17), format!("-{}", down(x, 17)));
        }
    }

    #[test]
    fn notation_suits_the_magnitude() {
        assert_eq!(up(10.0, 17), "10.000000000000000");
        assert_eq!(up(1e16, 17), "10000000000000000.0");
        assert_eq!(up(1e16, 3), "10000000000000000.0");
        assert_eq!(up(0.25, 1), "0.3");
        assert_eq!(down(0.25, 1), "0.2");
        assert_eq!(up(9.5, 1), "10.0");
        assert_eq!(down(1.5e-6, 4), "1.500e-6");
        assert_eq!(up(1.5e-6, 4), "1.501e-6");
        assert_eq!(down(1.5e-6, 1), "1e-6");
        assert_eq!(up(99.99e99, 2), "1.0e101");
        assert_eq!((up(0.0, 17), down(-0.0, 17)), ("0.0".into(), "0.0".into()));
    }

    #[test]
    fn trimming_keeps_the_value() {
        assert_eq!(trimmed("10.000000000000000"), "10.0");
        assert_eq!(trimmed("1.50e-6"), "1.5e-6");
        assert_eq!(trimmed("1e-6"), "1e-6");
        assert_eq!(trimmed("0.125"), "0.125");
    }

    #[test]
    fn the_shortest_and_the_nearest_text_read_back() {
        for x in numbers() {
            for text in [shortest(x), nearest(x, FULL_DIGITS)] {
                assert_eq!(text.parse::<f64>().unwrap().to_bits(), x.to_bits(), "{text}");
            }
            // From 1e16 on the point is followed by a zero more.
            if !(1e16..1e17).contains(&x.abs()) {
                assert_eq!(significant(&nearest(x.abs(), FULL_DIGITS)).len(), FULL_DIGITS);
            }
        }
    }
}
