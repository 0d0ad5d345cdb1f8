//! Rounds numbers for readers: their intervals determine the number of digits.

use counterpoint::quantity::format_number;
use counterpoint_wire::decimal;
use counterpoint_wire::publication::{PublishedNumber, PublishedStatistic};

use super::dimensions::measures_ranks;
use crate::plot::scientific;
use crate::wording::trimmed;

/// The direction of rounding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Toward {
    Nearest,
    Below,
    Above,
}

/// A number and its interval, rounded for reading. The ends are rounded outward.
pub(super) struct RoundedNumber {
    pub(super) value: String,
    pub(super) lower: Option<String>,
    pub(super) upper: Option<String>,
}

/// Rounds a number to two digits of its interval's half-width; a number without noise keeps all its digits.
pub(super) fn rounded(statistic: &PublishedStatistic, number: &PublishedNumber) -> RoundedNumber {
    let power = last_power(statistic, number);
    let at = |value: f64, toward| match power {
        Some(power) => multiple(value, power, toward),
        None => grouped(&format_number(value)),
    };
    RoundedNumber {
        value: at(number.value, Toward::Nearest),
        lower: number.lower.map(|lower| at(lower, Toward::Below)),
        upper: number.upper.map(|upper| at(upper, Toward::Above)),
    }
}

/// A planned half-width, rounded up to two digits.
pub(super) fn half_width(error: f64) -> String {
    match power_of(error) {
        Some(power) => multiple(error, power - 1, Toward::Above),
        None => grouped(&format_number(error)),
    }
}

/// The power of ten of the last digit; `None` if all digits are shown.
fn last_power(statistic: &PublishedStatistic, number: &PublishedNumber) -> Option<i32> {
    if statistic.noise == "none" {
        return None;
    }
    let half_width = match (number.lower, number.upper) {
        (Some(lower), Some(upper)) => Some((upper - lower) / 2.0),
        (Some(end), None) | (None, Some(end)) => Some((end - number.value).abs()),
        (None, None) if measures_ranks(&statistic.kind) => None,
        (None, None) => statistic.planned_error,
    };
    match half_width.and_then(power_of) {
        Some(power) => Some(power - 1),
        // The accuracy is not known.
        None => power_of(number.value.abs()).map(|power| power - 3),
    }
}

/// The power of ten of a positive number's first digit.
fn power_of(number: f64) -> Option<i32> {
    let power = number.log10().floor();
    // The power is between -324 and 308.
    (number > 0.0 && power.is_finite()).then_some(power as i32)
}

/// Rounds a number to a multiple of a power of ten.
fn multiple(number: f64, power: i32, toward: Toward) -> String {
    if !number.is_finite() || number.abs() >= 1e15 || !(-12..=15).contains(&power) {
        return scientific(number);
    }
    let unit = 10_f64.powi(power);
    let decimals = power.min(0).unsigned_abs() as usize;
    // Decimal texts are exact; a quotient of two doubles would not be.
    let near = match power {
        ..=0 => format!("{number:.decimals$}"),
        _ => format!("{:.0}", (number / unit).round() * unit),
    };
    let shown: f64 = near.parse().unwrap_or(number);
    let moved = match toward {
        Toward::Below if shown > number => format!("{:.decimals$}", shown - unit),
        Toward::Above if shown < number => format!("{:.decimals$}", shown + unit),
        _ => near,
    };
    grouped(&moved)
}

/// Formats a decimal: groups of three digits from five digits on, and a true minus sign.
fn grouped(text: &str) -> String {
    if text.contains(['e', 'n', 'N']) {
        return text.parse().map_or(text.to_owned(), scientific);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) if digits.contains(|digit: char| ('1'..='9').contains(&digit)) => {
            ("−", digits)
        }
        Some(digits) => ("", digits),
        None => ("", text),
    };
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut spaced = String::from(sign);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && whole.len() > 4 && (whole.len() - place) % 3 == 0 {
            spaced.push('\u{202f}');
        }
        spaced.push(digit);
    }
    spaced + fraction
}

/// Formats a whole number in groups of three digits.
pub(super) fn whole(number: u64) -> String {
    grouped(&number.to_string())
}

/// Formats a number of the study with all its digits.
pub(super) fn exact(number: f64) -> String {
    grouped(&format_number(number))
}

/// Formats an upper bound with four digits.
pub(super) fn upper_bound(value: f64) -> String {
    bound(value, decimal::up)
}

/// Formats a lower bound with four digits.
pub(super) fn lower_bound(value: f64) -> String {
    bound(value, decimal::down)
}

/// Formats a bound with four digits, rounded outward unless only rounding errors of doubles keep it from being round.
fn bound(value: f64, outward: fn(f64, usize) -> String) -> String {
    const DIGITS: usize = 4;
    let near = decimal::nearest(value, DIGITS);
    let is_round = near.parse().is_ok_and(|near: f64| (near - value).abs() <= 1e-12 * value.abs());
    let text = if is_round { near } else { outward(value, DIGITS) };
    match text.parse::<f64>() {
        Ok(number) if number.abs() > 0.0 && !(1e-3..1e12).contains(&number.abs()) => {
            scientific(number)
        }
        _ => grouped(&trimmed(&text)),
    }
}

/// Formats a share as a percentage, with one decimal if needed.
pub(super) fn percentage(share: f64) -> String {
    let text = format!("{:.4}", 100.0 * share);
    format!("{}\u{a0}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Formats an upper bound on a share as a percentage with one decimal.
pub(super) fn percentage_at_most(share: f64) -> String {
    let text = multiple(100.0 * share, -1, Toward::Above);
    format!("{}\u{a0}%", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistic(noise: &str, planned_error: Option<f64>) -> PublishedStatistic {
        PublishedStatistic {
            name: "a".to_owned(),
            kind: "mean".to_owned(),
            columns: vec![],
            condition: None,
            by: vec![],
            values: None,
            noise: noise.to_owned(),
            epsilon: 0.1,
            planned_error,
            sampling_error: None,
            numbers: vec![],
        }
    }

    fn number(value: f64, lower: Option<f64>, upper: Option<f64>) -> PublishedNumber {
        let (group, part, confidence) = (vec![], String::new(), 0.95);
        PublishedNumber { group, part, value, lower, upper, confidence }
    }

    fn shown(noise: &str, own: [f64; 3]) -> [String; 3] {
        let [value, lower, upper] = own;
        let RoundedNumber { value, lower, upper } =
            rounded(&statistic(noise, None), &number(value, Some(lower), Some(upper)));
        [value, lower.unwrap(), upper.unwrap()]
    }

    #[test]
    fn digits_follow_the_interval_and_ends_are_rounded_outward() {
        let own = shown("laplace", [52_310.123_4, 51_817.3, 52_802.9]);
        assert_eq!(own, ["52\u{202f}310", "51\u{202f}810", "52\u{202f}810"]);
        assert_eq!(shown("laplace", [0.4567, 0.4511, 0.4623]), ["0.4567", "0.4511", "0.4623"]);
        assert_eq!(shown("laplace", [-3.2, -8.71, 2.31]), ["−3.2", "−8.8", "2.4"]);
        assert_eq!(shown("laplace", [-0.01, -8.0, 8.0])[0], "0.0");
        assert_eq!(shown("laplace", [523.0, -4000.0, 5046.0]), ["500", "−4000", "5100"]);
        assert_eq!(shown("none", [12_000.0; 3]), ["12\u{202f}000"; 3]);
        assert_eq!(shown("laplace", [1e20, 0.9e20, 1.1e20])[0], "10²⁰");
        let unknown = rounded(&statistic("gaussian", None), &number(2.345_678, None, None));
        assert!(unknown.value == "2.346" && unknown.lower.is_none());
        let planned = rounded(&statistic("gaussian", Some(12.0)), &number(2.345_678, None, None));
        assert_eq!(planned.value, "2");
        let half = rounded(&statistic("gaussian", None), &number(2.34, Some(1.04), None));
        assert!(half.value == "2.3" && half.lower.unwrap() == "1.0" && half.upper.is_none());
    }

    #[test]
    fn any_numbers_at_all_are_written() {
        let odd = [0.0, -0.0, 1.0, -7.5, 1e308, -1e308, 5e-324, 1e-9, f64::NAN, f64::INFINITY];
        for value in odd {
            for lower in odd {
                for upper in odd {
                    for noise in ["none", "laplace"] {
                        shown(noise, [value, lower, upper]);
                    }
                }
            }
            let _ = (upper_bound(value), lower_bound(value), percentage(value), half_width(value));
        }
    }

    #[test]
    fn bounds_hold_as_they_are_shown() {
        assert_eq!(upper_bound(0.687_312), "0.6874");
        assert_eq!(lower_bound(0.687_312), "0.6873");
        assert_eq!(upper_bound(0.1 + 0.2), "0.3");
        assert_eq!(upper_bound(1e-6), "10⁻⁶");
        assert_eq!(lower_bound(2.0 - 1.0), "1");
        assert_eq!(percentage(0.95), "95\u{a0}%");
        assert_eq!(percentage_at_most(0.731_058), "73.2\u{a0}%");
        assert_eq!(percentage_at_most(1.0), "100\u{a0}%");
        assert_eq!(half_width(487.3), "490");
    }
}
