//! Names and numbers in words.

use counterpoint::Bracket;
use counterpoint::route::Route;
use counterpoint::theorem::{Parameters, Setting, Theorem};
use counterpoint_wire::{Asked, Question, decimal};

/// Significant digits of a bound in a table.
pub(crate) const TABLE_DIGITS: usize = 7;

/// The name of the side that was asked.
pub(crate) fn asked_name(question: Question) -> &'static str {
    match question {
        Question::EpsilonAt(_) => "epsilon",
        Question::DeltaAt(_) => "delta",
    }
}

/// The name of the given side, and its value.
pub(crate) fn given(question: Question) -> (&'static str, String) {
    match question {
        Question::EpsilonAt(delta) => ("delta", decimal::shortest(delta.get())),
        Question::DeltaAt(epsilon) => ("epsilon", decimal::shortest(epsilon.get())),
    }
}

/// How a route computes.
pub(crate) fn route(route: Route) -> String {
    let how = match route {
        Route::Closed => "in closed form, exact",
        Route::Equal => "one binomial sum, exact",
        Route::Grouped => "every outcome of a few distinct epsilons, exact",
        Route::Halves => "two halves met in the middle, exact",
        Route::Contour => "a saddle-point contour, certified to the tolerance",
        Route::Lattice => "Fourier transforms on a lattice, certified to the tolerance",
        Route::Renyi => "Rényi divergences, added up and converted",
        Route::Convolution => "convolution on a lattice, certified to the tolerance",
        Route::Precise => "arbitrary precision, exact",
        _ => return route.name().to_owned(),
    };
    format!("{} ({how})", route.name())
}

/// What a setting allows, in two lines.
pub(crate) fn setting(setting: Setting) -> String {
    let parameters = match setting.parameters {
        Parameters::Adaptive => "parameters chosen from earlier answers",
        // Promising less than is true is safe.
        _ => "parameters fixed before the first answer, mechanisms chosen as you go",
    };
    let order = if setting.concurrent {
        "sequentially or concurrently, queries interleaved at will"
    } else {
        "one after the other"
    };
    format!("{parameters};\n{order}")
}

/// A charge for a table: rounded up, but for a round number that only the last bits of a
/// double lift above itself (10, not 10.00001 for a hundred times 0.1). The optimum, which
/// people rely on, is always rounded up.
pub(crate) fn charge(theorem: Theorem, value: f64) -> String {
    if theorem == Theorem::Optimal {
        return decimal::up(value, TABLE_DIGITS);
    }
    let near = decimal::down(value, TABLE_DIGITS);
    match near.parse::<f64>() {
        Ok(round) if value - round <= 1e-12 * value => near,
        _ => decimal::up(value, TABLE_DIGITS),
    }
}

/// The ends of an answer, rounded outward to the digits they differ in and two
/// more; and the upper end once more in one digit less.
pub(crate) fn ends(asked: &Asked) -> (String, String, String) {
    match asked {
        Asked::Bracket(bracket) => {
            let digits = telling_digits(bracket);
            (
                decimal::down(bracket.lower, digits),
                decimal::up(bracket.upper, digits),
                decimal::up(bracket.upper, digits - 1),
            )
        }
        Asked::Digits { lower, upper } => (lower.clone(), upper.clone(), upper.clone()),
    }
}

/// How many significant digits show the width of a bracket.
fn telling_digits(bracket: &Bracket) -> usize {
    let digits = 2.0 - bracket.relative_width().log10().ceil();
    // As a cast saturates, so zero width gives the most.
    (digits as usize).clamp(6, 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_stay_bounds_and_can_be_told_apart() {
        let bracket = Bracket { lower: 4.774_567_588_107_91, upper: 4.774_567_588_108_19 };
        let (lower, upper, headline) = ends(&Asked::Bracket(bracket));
        assert_eq!(lower, "4.77456758810791");
        assert_eq!(upper, "4.77456758810819");
        assert_eq!(headline, "4.7745675881082");
    }

    #[test]
    fn an_exact_answer_is_shown_in_full() {
        let (lower, upper, headline) = ends(&Asked::Bracket(Bracket::exact(2.5)));
        assert_eq!((&*lower, &*upper), ("2.500000000000000", "2.500000000000000"));
        assert_eq!(headline, "2.50000000000000");
        assert_eq!(ends(&Asked::Bracket(Bracket::exact(0.0))).2, "0.0");
    }
}
