use counterpoint::ask::Unknown;
use counterpoint::quantity::plain;
use counterpoint_wire::{Calibrated, Change, name_of};

use crate::compose::{listed, wider};
use crate::words;

/// How many changed releases are listed.
const MOST: usize = 20;

/// What value to use and where it was filled in, what it costs, and that the next one does not do.
#[must_use]
pub fn calibrate(calibrated: &Calibrated) -> String {
    let theorem = calibrated.theorem;
    let beyond = match calibrated.beyond {
        Some((value, cost)) => {
            let value = plain(value);
            // Neighbouring doubles may be too close to be told apart.
            let told = cost.lower > calibrated.target.get();
            let verdict = if told { "does not" } else { "is not certified to" };
            let failing = if told { String::new() } else { failing(calibrated) };
            format!(
                "{value} {verdict} meet the target: it costs\nepsilon {}{failing}",
                words::certified(cost)
            )
        }
        None => "nothing: the value is at the end of the legal range".to_owned(),
    };
    let next = match calibrated.unknown {
        Unknown::Sigma | Unknown::Scale => "next below",
        Unknown::Epsilon | Unknown::Count => "next above",
    };
    let certified = words::certified(calibrated.epsilon);
    listed([
        (name_of(calibrated.unknown), plain(calibrated.value)),
        ("changed", changed(calibrated)),
        ("epsilon", certified + &calibrated.wide.map(wider).unwrap_or_default()),
        ("delta", format!("{} (given)", plain(calibrated.delta.get()))),
        (next, beyond),
        ("route", words::route(calibrated.route)),
        ("theorem", format!("{}\n({})", theorem.name(), theorem.source())),
        ("setting", words::setting(theorem.setting())),
    ])
}

/// The releases that were changed, what they have now and had before; and how many were not.
fn changed(calibrated: &Calibrated) -> String {
    let changes = &calibrated.changes;
    let mut lines: Vec<String> =
        changes.iter().take(MOST).map(|change| line(calibrated.unknown, change)).collect();
    if changes.len() > MOST {
        lines.push(format!("and {} more releases, in the same proportion", changes.len() - MOST));
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

/// One release: its value now and before, and how it is run.
fn line(unknown: Unknown, change: &Change) -> String {
    let name = change.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
    let was = match change.was {
        Some(was) => format!("was {}", plain(was)),
        None => "was left out".to_owned(),
    };
    let value = format!("{} {} ({was})", name_of(unknown), plain(change.value));
    let times = match (change.rate, change.count) {
        (Some(rate), count) => format!(", {count} steps at rate {}", plain(rate)),
        (None, 2..) if unknown != Unknown::Count => format!(", {} times", change.count),
        (None, _) => String::new(),
    };
    format!("release {}{name}: {value}{times}", change.release)
}

/// The nearest value that provably fails, and how far away it is.
fn failing(calibrated: &Calibrated) -> String {
    match (calibrated.failing, calibrated.gap()) {
        (Some((value, _)), Some(gap)) => {
            let value = plain(value);
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
        let close = calibrate(&Calibrated { beyond: close, ..calibrated.clone() });
        assert!(close.contains("3.25 is not certified to meet the target"), "{close}");
        let last = calibrate(&Calibrated { beyond: None, unknown: Unknown::Count, ..calibrated });
        assert!(last.starts_with("count       3.5\n"), "{last}");
        assert!(last.contains("next above  nothing: the value is at the end"), "{last}");
    }
}
