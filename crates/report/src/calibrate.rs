use counterpoint::ask::Unknown;
use counterpoint::quantity::format_number;
use counterpoint_wire::{CalibrationAnswer, Change, unknown_field_name};

use crate::compose::{aligned_rows, wider};
use crate::wording;

/// The most changed releases that are listed.
const MAX_CHANGES: usize = 20;

/// Shows the value found, the releases that use it, their total cost, and the nearest value that fails.
#[must_use]
pub fn calibrate(calibrated: &CalibrationAnswer) -> String {
    let theorem = calibrated.theorem;
    let beyond = match calibrated.beyond {
        Some((value, cost)) => {
            let value = format_number(value);
            // Neighbouring doubles may have costs that cannot be distinguished.
            let is_distinguishable = cost.lower > calibrated.target.get();
            let verdict = if is_distinguishable { "does not" } else { "is not certified to" };
            let failing = if is_distinguishable { String::new() } else { failing(calibrated) };
            format!(
                "{value} {verdict} meet the target: it costs\nepsilon {}{failing}",
                wording::certified(cost)
            )
        }
        None => "nothing: the value is at the end of the legal range".to_owned(),
    };
    let next = match calibrated.unknown {
        Unknown::Sigma | Unknown::Scale => "next below",
        Unknown::Epsilon | Unknown::Count => "next above",
    };
    let certified = wording::certified(calibrated.epsilon);
    aligned_rows([
        (unknown_field_name(calibrated.unknown), format_number(calibrated.value)),
        ("changed", changed(calibrated)),
        ("epsilon", certified + &calibrated.wide.map(wider).unwrap_or_default()),
        ("delta", format!("{} (given)", format_number(calibrated.delta.get()))),
        (next, beyond),
        ("route", wording::route(calibrated.route)),
        ("theorem", format!("{}\n({})", theorem.name(), theorem.source())),
        ("setting", wording::setting(theorem.setting())),
    ])
}

/// Lists the changed releases with their new and old values, and counts the unchanged ones.
fn changed(calibrated: &CalibrationAnswer) -> String {
    let changes = &calibrated.changes;
    let mut lines: Vec<String> =
        changes.iter().take(MAX_CHANGES).map(|change| line(calibrated.unknown, change)).collect();
    if changes.len() > MAX_CHANGES {
        lines.push(format!(
            "and {} more releases, in the same proportion",
            changes.len() - MAX_CHANGES
        ));
    }
    if changes.len() > 1 {
        lines.push("(their ratios are kept)".to_owned());
    }
    match calibrated.releases.saturating_sub(changes.len()) {
        0 => {}
        1 => lines.push("the other release is as written".to_owned()),
        kept => lines.push(format!("the other {kept} releases are as written")),
    }
    lines.join("\n")
}

/// The line of one release: its new and old value, and its sampling, count and part.
fn line(unknown: Unknown, change: &Change) -> String {
    let name = change.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
    let was = match change.was {
        Some(was) => format!("was {}", format_number(was)),
        None => "was left out".to_owned(),
    };
    let value = format!("{} {} ({was})", unknown_field_name(unknown), format_number(change.value));
    let times = match (change.rate, change.count) {
        (Some(rate), count) => format!(", {count} steps at rate {}", format_number(rate)),
        (None, 2..) if unknown != Unknown::Count => format!(", {} times", change.count),
        (None, _) => String::new(),
    };
    format!("release {}{name}: {value}{times}", change.release)
}

/// The nearest value that provably fails, and its distance.
fn failing(calibrated: &CalibrationAnswer) -> String {
    match (calibrated.failing, calibrated.gap()) {
        (Some((value, _)), Some(gap)) => {
            let value = format_number(value);
            format!("\nand {value}, {gap:.1e} of it away, provably does not")
        }
        _ => "\nand no value is found that provably does not".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint::Route;
    use counterpoint::theorem::Theorem;
    use counterpoint::{Bracket, Delta, Epsilon};

    #[test]
    fn the_value_comes_first_then_its_cost_then_the_next() {
        let calibrated = CalibrationAnswer {
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
            changes: vec![Change {
                release: 2,
                name: Some("training".into()),
                value: 3.5,
                was: None,
                rate: Some(0.01),
                count: 4688,
            }],
            releases: 2,
            warnings: Vec::new(),
        };
        let text = calibrate(&calibrated);
        let start = "\
sigma       3.5
changed     release 2 \"training\": sigma 3.5 (was left out), 4688 steps at rate 0.01
            the other release is as written
epsilon     2 (certified; the exact value is at most 1.1e-6 less)
delta       1e-6 (given)
next below  3.25 does not meet the target: it costs
            epsilon 2.000002 (certified; the exact value is at most 1.1e-6 less)
route       contour";
        assert!(text.starts_with(start), "{text}");
        let close = Some((3.25, Bracket { lower: 1.999_999, upper: 2.000_002 }));
        let close = calibrate(&CalibrationAnswer { beyond: close, ..calibrated.clone() });
        assert!(close.contains("3.25 is not certified to meet the target"), "{close}");
        let last =
            calibrate(&CalibrationAnswer { beyond: None, unknown: Unknown::Count, ..calibrated });
        assert!(last.starts_with("count       3.5\n"), "{last}");
        assert!(last.contains("next above  nothing: the value is at the end"), "{last}");
    }
}
