//! Names and numbers as text.

use counterpoint::Bracket;
use counterpoint::Route;
use counterpoint::quantity::format_number;
use counterpoint::theorem::{ParameterChoice, Setting, Theorem};
use counterpoint_wire::{Question, decimal};

/// Significant digits of a bound in a table.
pub(crate) const TABLE_DIGITS: usize = 7;

/// The name of the requested side: epsilon or delta.
pub(crate) fn asked_name(question: Question) -> &'static str {
    match question {
        Question::EpsilonAt(_) => "epsilon",
        Question::DeltaAt(_) => "delta",
    }
}

/// The name and value of the given side.
pub(crate) fn given(question: Question) -> (&'static str, String) {
    match question {
        Question::EpsilonAt(delta) => ("delta", format_number(delta.get())),
        Question::DeltaAt(epsilon) => ("epsilon", format_number(epsilon.get())),
    }
}

/// Describes how a route computes.
pub(crate) fn route(route: Route) -> String {
    let how = match route {
        Route::Closed => "a formula, exact",
        Route::Leaks => "nothing to compute: what leaks, or the largest loss",
        Route::NearLargestLoss => "bounds next to the largest loss, certified to the tolerance",
        Route::SmallMu => "moments of a normal tail, certified to the tolerance",
        Route::Splines => "splines of Laplace noise, certified to the tolerance",
        Route::TruncatedPowers => "truncated powers of Laplace noise, certified to the tolerance",
        Route::Equal => "one binomial sum, exact",
        Route::Outcomes => "every outcome, exact",
        Route::Halves => "two halves met in the middle, exact",
        Route::Contour => "a saddle-point contour, certified to the tolerance",
        Route::BlurredContour => {
            "a saddle-point contour of blurred losses, certified to the tolerance"
        }
        Route::LayeredContour => {
            "saddle-point contours, layer by layer, certified to the tolerance"
        }
        Route::GradedLists => {
            "lists of likelihood ratios on graded grids, certified to the tolerance"
        }
        Route::Lattice => "Fourier transforms on a lattice, certified to the tolerance",
        Route::Renyi => "Rényi divergences, added up and converted",
        Route::Convolution => "convolution on a lattice, certified to the tolerance",
        Route::Precise => "arbitrary precision, exact",
        _ => return route.name().to_owned(),
    };
    format!("{} ({how})", route.name())
}

/// Describes what a setting allows to be adaptive or concurrent, in two lines.
pub(crate) fn setting(setting: Setting) -> String {
    let parameters = match setting.parameters {
        ParameterChoice::Adaptive => "parameters chosen from earlier answers",
        // For unknown settings, the weaker claim is safe.
        _ => "parameters fixed before the first answer, mechanisms chosen as you go",
    };
    let order = if setting.concurrent {
        "sequentially or concurrently, queries interleaved at will"
    } else {
        "one after the other"
    };
    format!("{parameters};\n{order}")
}

/// A theorem's cost for a table: rounded up, unless rounding errors of doubles lift it above a round number (10, not
/// 10.00001, for a hundred times 0.1). The optimum, which people rely on, is always rounded up.
pub(crate) fn charge(theorem: Theorem, value: f64) -> String {
    if theorem == Theorem::Optimal {
        return decimal::up(value, TABLE_DIGITS);
    }
    round(value)
}

/// Rounds a number up, unless rounding errors of doubles lift it above a round number.
pub(crate) fn round(value: f64) -> String {
    if value <= 0.0 {
        return format_number(value);
    }
    let near = decimal::down(value, TABLE_DIGITS);
    match near.parse::<f64>() {
        Ok(round) if value - round <= 1e-12 * value => near,
        _ => decimal::up(value, TABLE_DIGITS),
    }
}

/// A bracket from zero to at most this is shown as zero.
const NOTHING: f64 = 1e-25;

/// The upper end of a bracket, on which people rely, and its distance to the lower end.
pub(crate) fn certified(bracket: Bracket) -> String {
    if bracket.lower <= 0.0 && bracket.upper > 0.0 && bracket.upper <= NOTHING {
        return format!("0 (certified, but for rounding: at most {})", upper(bracket));
    }
    let (upper, below) = (upper(bracket), below(bracket));
    match below {
        Some(below) => format!("{upper} (certified; the exact value is at most {below} less)"),
        None => format!("{upper} (certified, exact)"),
    }
}

/// The upper end, rounded up to three digits more than the ends have in common.
pub(crate) fn upper(bracket: Bracket) -> String {
    trimmed(&decimal::up(bracket.upper, telling_digits(&bracket)))
}

/// The distance from the shown upper end to the lower end; `None` if they are equal.
fn below(bracket: Bracket) -> Option<String> {
    // The shown text, read back; it may differ from the value by half a unit in the last place.
    let shown: f64 = upper(bracket).parse().unwrap_or(f64::INFINITY);
    let exact = bracket.lower.to_bits() == bracket.upper.to_bits()
        && shown.to_bits() == bracket.upper.to_bits()
        && decimal::down(shown, EXACT) == decimal::up(shown, EXACT);
    (!exact).then(|| trimmed(&decimal::up((shown.next_up() - bracket.lower).next_up(), 2)))
}

/// The digits in which an exact answer is shown.
const EXACT: usize = 16;

/// A decimal without trailing zeros.
pub(crate) fn trimmed(text: &str) -> String {
    let text = decimal::trimmed(text);
    let (mantissa, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    format!("{}{exponent}", mantissa.strip_suffix(".0").unwrap_or(mantissa))
}

/// The number of significant digits that show the width of a bracket.
fn telling_digits(bracket: &Bracket) -> usize {
    let digits = 3.0 - bracket.relative_width().log10().ceil();
    // A cast saturates, so zero width gives the maximum.
    (digits as usize).clamp(6, 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_the_upper_end_and_says_how_narrow_it_is() {
        let bracket = Bracket { lower: 4.774_567_588_107_91, upper: 4.774_567_588_108_19 };
        let text = "4.77456758810819 (certified; the exact value is at most 2.9e-13 less)";
        assert_eq!(certified(bracket), text);
        let bracket = Bracket { lower: 3.683_345_593_780_754, upper: 3.683_345_593_780_755 };
        let text = certified(bracket);
        let (upper, _) = text.split_once(' ').unwrap();
        assert!(upper.parse::<f64>().unwrap() >= bracket.upper, "{text}");
        let wide = Bracket { lower: 0.25, upper: 0.75 };
        assert_eq!(certified(wide), "0.75 (certified; the exact value is at most 0.51 less)");
    }

    #[test]
    fn the_text_is_outside_the_bracket_and_its_distance_is_not_less_than_it_is() {
        for k in 1..2000_u32 {
            let upper_end = f64::from(k) / 7.0;
            for width in [0.0, 1e-16, 1e-9, 1e-3] {
                let bracket = Bracket { lower: upper_end * (1.0 - width), upper: upper_end };
                let shown: f64 = upper(bracket).parse().unwrap();
                assert!(shown >= bracket.upper, "{bracket}");
                if let Some(below) = below(bracket) {
                    let below: f64 = below.parse().unwrap();
                    assert!(shown - below <= bracket.lower, "{bracket}: {shown} {below}");
                    assert!(
                        below <= 1.25 * (bracket.width() + 1e-15 * upper_end) + 1e-15,
                        "{bracket} {below}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_exact_answer_says_so() {
        assert_eq!(certified(Bracket::exact(2.5)), "2.5 (certified, exact)");
        assert_eq!(certified(Bracket::exact(0.0)), "0 (certified, exact)");
        assert!(certified(Bracket::exact(0.1)).starts_with("0.1000000000000001 (certified; "));
    }
}
