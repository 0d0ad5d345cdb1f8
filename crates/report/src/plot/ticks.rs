//! Chooses the ends of an axis and its round numbers.

use super::{Axis, Scale};

/// An upper bound on the ticks of an axis, which bounds the loops.
const MAX_TICKS: usize = 60;

/// Axes end below this number, so that no power of ten overflows.
const FAR: f64 = 1e300;

/// An axis with its ends, ticks and grid lines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ruler {
    scale: Scale,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) major: Vec<(f64, String)>,
    pub(super) minor: Vec<f64>,
}

impl Ruler {
    /// Creates the ruler of an axis that shows these numbers.
    pub(super) fn new(axis: &Axis, numbers: impl Iterator<Item = f64>) -> Self {
        let legal = |x: &f64| match axis.scale {
            Scale::Linear => x.abs() < FAR,
            Scale::Log => (1.0 / FAR..FAR).contains(x),
        };
        let numbers = numbers.filter(legal);
        let ends = numbers.fold(None, |ends: Option<(f64, f64)>, x| match ends {
            Some((least, most)) => Some((least.min(x), most.max(x))),
            None => Some((x, x)),
        });
        let given = axis.range.filter(|(from, to)| legal(from) && legal(to) && from < to);
        let ruler = match axis.scale {
            Scale::Linear => linear(given, ends.unwrap_or((0.0, 1.0))),
            Scale::Log => log(given, ends.unwrap_or((1.0, 10.0))),
        };
        match axis.names.is_empty() {
            true => ruler,
            false => ruler.with_names(&axis.names),
        }
    }

    /// Replaces the numbers by names.
    fn with_names(self, names: &[(f64, String)]) -> Self {
        let major = names.iter().filter(|(place, _)| self.holds(*place)).cloned().collect();
        Self { major, minor: Vec::new(), ..self }
    }

    /// The position of a number along the axis, from 0 to 1; `None` if the axis cannot show it.
    pub(super) fn share(&self, x: f64) -> Option<f64> {
        let share = match self.scale {
            Scale::Linear => (x - self.from) / (self.to - self.from),
            Scale::Log if x > 0.0 => (x / self.from).ln() / (self.to / self.from).ln(),
            Scale::Log => return None,
        };
        share.is_finite().then_some(share)
    }

    /// True if a number is between the ends, up to rounding.
    fn holds(&self, x: f64) -> bool {
        self.share(x).is_some_and(|share| (-1e-9..=1.0 + 1e-9).contains(&share))
    }
}

/// About five steps of 1, 2 or 5 times a power of ten; at most seven within the data's span.
fn linear(given: Option<(f64, f64)>, (least, most): (f64, f64)) -> Ruler {
    let (least, most) = given.unwrap_or_else(|| with_room(least, most));
    let (step, parts) = round_step((most - least) / 7.0);
    let (from, to) = given.unwrap_or_else(|| {
        ((least / step + 1e-9).floor() * step, (most / step - 1e-9).ceil() * step)
    });
    let empty = Ruler { scale: Scale::Linear, from, to, major: vec![], minor: vec![] };
    let on_axis = |step: f64| {
        let first = (from / step - 1e-9).ceil();
        let ticks = (0..MAX_TICKS).map(move |n| (first + n as f64) * step);
        // Adding zero turns a negative zero into zero.
        ticks.filter(|x| empty.holds(*x)).map(|x| x + 0.0).collect::<Vec<_>>()
    };
    let major = on_axis(step).into_iter().map(|x| (x, plain(x, step))).collect();
    let minor = on_axis(step / parts);
    Ruler { major, minor, ..empty.clone() }
}

/// Extends ranges near zero to zero and widens a single number to a range.
fn with_room(least: f64, most: f64) -> (f64, f64) {
    if least >= 0.0 && least < 0.5 * most {
        (0.0, most)
    } else if most - least <= 1e-12 * most.abs().max(least.abs()) {
        let room = if most.abs() > 0.0 { 0.5 * most.abs() } else { 1.0 };
        (least - room, most + room)
    } else {
        (least, most)
    }
}

/// The next round number at or above this one, and the number of parts that it is divided into.
fn round_step(x: f64) -> (f64, f64) {
    let power = 10_f64.powf(x.log10().floor());
    match x / power {
        digit if digit <= 1.0 + 1e-9 => (power, 5.0),
        digit if digit <= 2.0 + 1e-9 => (2.0 * power, 4.0),
        digit if digit <= 5.0 + 1e-9 => (5.0 * power, 5.0),
        _ => (10.0 * power, 5.0),
    }
}

/// Powers of ten; with few of them, also their multiples by 2 and 5.
fn log(given: Option<(f64, f64)>, (least, most): (f64, f64)) -> Ruler {
    let (from, to) = given.unwrap_or_else(|| {
        let (low, high) = ((least.log10() + 1e-9).floor(), (most.log10() - 1e-9).ceil());
        (10_f64.powf(low), 10_f64.powf(high.max(low + 1.0)))
    });
    let empty = Ruler { scale: Scale::Log, from, to, major: vec![], minor: vec![] };
    // Both are between -300 and 300.
    let (low, high) = (from.log10().floor() as i32, to.log10().ceil() as i32);
    let decades = high - low;
    let stride = (decades + 7) / 8;
    let multiples: &[i32] = if decades <= 2 { &[1, 2, 5] } else { &[1] };
    let far = low < -3 || high > 3;
    let at = |digit: i32, power: i32| f64::from(digit) * 10_f64.powi(power);
    let ticks = |powers: i32, digits: &'_ [i32]| -> Vec<(i32, i32)> {
        let powers = (low..=high).filter(move |power| power.rem_euclid(powers) == 0);
        let ticks = powers.flat_map(|power| digits.iter().map(move |&digit| (digit, power)));
        ticks.filter(|&(digit, power)| empty.holds(at(digit, power))).collect()
    };
    let labelled = |(digit, power)| (at(digit, power), power_of_ten(digit, power, far));
    let major = ticks(stride.max(1), multiples).into_iter().map(labelled).collect();
    let every: &[i32] = if stride > 1 { &[1] } else { &[1, 2, 3, 4, 5, 6, 7, 8, 9] };
    let minor = ticks(1, every).into_iter().map(|(digit, power)| at(digit, power)).collect();
    Ruler { major, minor, ..empty.clone() }
}

fn power_of_ten(digit: i32, power: i32, far: bool) -> String {
    let raised = format!("10{}", superscript(power));
    match (digit, power) {
        (_, 0) => digit.to_string(),
        (_, 1..) if !far => format!("{}", f64::from(digit) * 10_f64.powi(power)),
        (_, ..0) if !far => {
            format!("{:.*}", power.unsigned_abs() as usize, f64::from(digit) * 10_f64.powi(power))
        }
        (1, 1) => "10".to_owned(),
        (1, _) => raised,
        _ => format!("{digit}×{raised}"),
    }
}

/// Formats a number with as many decimals as the step has, with a space before the thousands.
fn plain(x: f64, step: f64) -> String {
    let magnitude = x.abs().max(step);
    if !(1e-5..1e7).contains(&magnitude) || step < 1e-7 {
        return scientific(x);
    }
    let decimals = (-step.log10() - 1e-9).ceil().clamp(0.0, 8.0) as usize;
    let text = format!("{:.*}", decimals, x.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if x < 0.0 { "−" } else { "" };
    if whole.len() < 5 {
        return format!("{sign}{text}");
    }
    // Numbers have at most seven digits, so one space suffices.
    let (thousands, units) = whole.split_at(whole.len() - 3);
    let millions = match thousands.len() {
        4.. => format!(
            "{}\u{2009}{}",
            &thousands[..thousands.len() - 3],
            &thousands[thousands.len() - 3..]
        ),
        _ => thousands.to_owned(),
    };
    format!("{sign}{millions}\u{2009}{units}{rest}")
}

/// Formats a number as a few digits and a power of ten.
pub(crate) fn scientific(x: f64) -> String {
    let text = format!("{x:.3e}");
    let Some((digits, power)) = text.split_once('e') else { return text };
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    match power.parse() {
        Ok(0) | Err(_) => digits.to_owned(),
        Ok(power) if digits == "1" => format!("10{}", superscript(power)),
        Ok(power) => format!("{digits}×10{}", superscript(power)),
    }
}

/// Formats a number as a superscript.
pub(crate) fn superscript(power: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |digit: char| digit.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    power.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, numbers: &[f64]) -> Vec<String> {
        let ruler = Ruler::new(axis, numbers.iter().copied());
        ruler.major.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_cover_the_data() {
        let axis = Axis::new("x");
        assert_eq!(labels(&axis, &[0.01, 0.93]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&axis, &[100.0, 104.0]), ["100", "101", "102", "103", "104"]);
        assert_eq!(labels(&axis, &[-1.0, 3.0]), ["−1", "0", "1", "2", "3"]);
        assert_eq!(labels(&axis, &[0.0, 1e4])[4..], ["8000", "10\u{2009}000"]);
        assert_eq!(labels(&axis, &[0.0, 5e6])[1], "1\u{2009}000\u{2009}000");
        assert_eq!(labels(&axis, &[3.0])[..3], ["1.5", "2.0", "2.5"]);
        assert_eq!(labels(&axis, &[0.0, 3e-9])[1..3], ["5×10⁻¹⁰", "10⁻⁹"]);
    }

    #[test]
    fn log_ticks_are_powers_of_ten() {
        let axis = Axis::new("x").log();
        assert_eq!(labels(&axis, &[0.02, 70.0]), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(&axis, &[1.0, 1e6])[5..], ["10⁵", "10⁶"]);
        assert_eq!(labels(&axis, &[2.0, 9.0]), ["1", "2", "5", "10"]);
        assert_eq!(labels(&axis, &[1e-300, 1.0]).len(), 8);
        assert_eq!(labels(&axis, &[0.0, -1.0, f64::NAN]), ["1", "2", "5", "10"]);
    }

    #[test]
    fn any_numbers_at_all_give_a_ruler() {
        let odd = [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, 1e308, -1e308, 5e-324, 1e-300];
        for axis in [Axis::new("x"), Axis::new("x").log()] {
            for a in odd {
                for b in odd {
                    for axis in [axis.clone(), axis.clone().range(a, b)] {
                        let ruler = Ruler::new(&axis, [a, b].into_iter());
                        assert!(ruler.major.len() <= MAX_TICKS, "{axis:?} {a} {b}");
                    }
                }
            }
        }
    }
}
