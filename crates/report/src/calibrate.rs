use counterpoint::Bracket;
use counterpoint::ask::Unknown;
use counterpoint_wire::{Asked, Calibrated, decimal, name_of};

use crate::compose::{listed, wider};
use crate::words;

/// What value to use, what it costs, and that the next one does not do.
#[must_use]
pub fn calibrate(calibrated: &Calibrated) -> String {
    let theorem = calibrated.theorem;
    let beyond = match calibrated.beyond {
        Some((value, cost)) => {
            let value = calibrated.text(value);
            // Neighbouring doubles may be too close to be told apart.
            let told = cost.lower > calibrated.target.get();
            let verdict = if told { "does not" } else { "is not certified to" };
            let failing = if told { String::new() } else { failing(calibrated) };
            format!("{value} {verdict} meet the target: it costs\nepsilon {}{failing}", ends(cost))
        }
        None => "nothing: the value is at the end of the legal range".to_owned(),
    };
    let next = match calibrated.unknown {
        Unknown::Sigma | Unknown::Scale => "next below",
        Unknown::Epsilon | Unknown::Count => "next above",
    };
    listed([
        (name_of(calibrated.unknown), calibrated.text(calibrated.value)),
        ("epsilon", ends(calibrated.epsilon) + &calibrated.wide.map(wider).unwrap_or_default()),
        ("delta", format!("{} (given)", decimal::shortest(calibrated.delta.get()))),
        (next, beyond),
        ("route", words::route(calibrated.route)),
        ("theorem", format!("{}\n({})", theorem.name(), theorem.source())),
        ("setting", words::setting(theorem.setting())),
    ])
}

/// The nearest value that provably fails, and how far away it is.
fn failing(calibrated: &Calibrated) -> String {
    match (calibrated.failing, calibrated.gap()) {
        (Some((value, _)), Some(gap)) => {
            let value = calibrated.text(value);
            format!("\nand {value}, {gap:.1e} of it away, provably does not")
        }
        _ => "\nand no value is found that provably does not".to_owned(),
    }
}

fn ends(bracket: Bracket) -> String {
    let (lower, upper, headline) = words::ends(&Asked::Bracket(bracket));
    format!("{headline} (certified: between {lower} and {upper})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint::route::Route;
    use counterpoint::theorem::Theorem;
    use counterpoint::{Delta, Epsilon};

    #[test]
    fn the_value_comes_first_then_its_cost_then_the_next() {
        let calibrated = Calibrated {
            unknown: Unknown::Sigma,
            target: Epsilon::new(2.0).unwrap(),
            value: 3.5,
            epsilon: Bracket { lower: 1.999_999, upper: 2.0 },
            delta: Delta::new(1e-6).unwrap(),
            beyond: Some((3.25, Bracket { lower: 2.000_001, upper: 2.000_002 })),
            failing: Some((3.25, Bracket { lower: 2.000_001, upper: 2.000_002 })),
            route: Route::Contour,
            theorem: Theorem::Optimal,
            wide: None,
            warnings: Vec::new(),
        };
        let text = calibrate(&calibrated);
        let start = "\
sigma       3.5000000000000000
epsilon     2.000000 (certified: between 1.9999990 and 2.0000000)
delta       1e-6 (given)
next below  3.2500000000000000 does not meet the target: it costs
            epsilon 2.000002 (certified: between 2.0000010 and 2.0000020)
route       contour";
        assert!(text.starts_with(start), "{text}");
        let close = Some((3.25, Bracket { lower: 1.999_999, upper: 2.000_002 }));
        let close = calibrate(&Calibrated { beyond: close, ..calibrated.clone() });
        assert!(
            close.contains("3.2500000000000000 is not certified to meet the target"),
            "{close}"
        );
        let last = calibrate(&Calibrated { beyond: None, unknown: Unknown::Count, ..calibrated });
        assert!(last.starts_with("count       3.5\n"), "{last}");
        assert!(last.contains("next above  nothing: the value is at the end"), "{last}");
    }
}
