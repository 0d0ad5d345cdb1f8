//! A planned study for people.

use counterpoint::quantity::plain;
use counterpoint_planner::{Least, Line, Other};
use counterpoint_wire::{Planned, decimal};

use crate::columns::{Side, columns};
use crate::compose::listed;
use crate::plot::{Bar, Bars, Color, Group};
use crate::words;

/// Each statistic with its noise, error and own cost; what all of it costs, and what other theorems make of it.
#[must_use]
pub fn plan(planned: &Planned) -> String {
    let planned = &planned.planned;
    let header = ["statistic", "noise", "error", "wanted", "confidence", "epsilon alone"];
    let rows: Vec<[String; 6]> = std::iter::once(header.map(str::to_owned))
        .chain(planned.statistics.iter().map(row))
        .collect();
    let sides = [Side::Left, Side::Left, Side::Right, Side::Right, Side::Right, Side::Right];
    let certified = words::certified(planned.cost.bracket).replacen(' ', " for all of it ", 1);
    let mut lines =
        vec![("epsilon", certified), ("delta", format!("{} (given)", plain(planned.delta.get())))];
    if let Some(factor) = planned.factor {
        let (low, high) = (decimal::down(factor.lower, 5), decimal::up(factor.upper, 5));
        let shares = |line: &Line| line.runs.as_ref().is_some_and(|runs| runs.count.is_some());
        let counts = match planned.statistics.iter().any(shares) {
            true => " and these shared counts",
            false => "",
        };
        let text = format!(
            "every error is {high} times what was wanted\n(proved: with this noise{counts} no less than {low} times)"
        );
        lines.push(("factor", text));
    }
    if let Some(sum) = planned.sum {
        let least = planned.least.as_ref().map(least).unwrap_or_default();
        lines.push(("sum", format!("{} of weighted errors{least}", decimal::up(sum, 6))));
    }
    if let Some(text) = spares(planned) {
        lines.push(("what if", text));
    }
    let others: Vec<String> = planned.others.iter().map(other).collect();
    if !others.is_empty() {
        lines.push(("others", others.join("\n")));
    }
    lines.push((
        "theorem",
        format!("{}\n({})", planned.cost.theorem.name(), planned.cost.theorem.source()),
    ));
    lines.push(("setting", words::setting(planned.cost.theorem.setting())));
    columns(sides, &rows) + "\n" + &listed(lines)
}

/// How small the sum can be at all.
fn least(least: &Least) -> String {
    match *least {
        Least::Proved { sum, any_noise } => {
            let noise = if any_noise { "any" } else { "these kinds of" };
            format!("\n(proved: with {noise} noise no less than {})", decimal::down(sum, 6))
        }
        Least::Unknown { reason } => format!("\n(how small it can be is not proved: {reason})"),
        _ => String::new(),
    }
}

/// What dropping or pinning each statistic would buy, where there are few enough to read.
fn spares(planned: &counterpoint_planner::Planned) -> Option<String> {
    const FEW: usize = 40;
    if planned.statistics.len() > FEW {
        return None;
    }
    let (name, unit) =
        if planned.factor.is_some() { ("the others'", " times") } else { ("epsilon", "") };
    let number = |value: f64| format!("{}{unit}", decimal::up(value, 4));
    let of = |line: &Line| {
        let dropped = line.spare.dropped.map(|value| format!("dropped, {name} {}", number(value)));
        let pinned =
            line.spare.pinned.map(|value| format!("pinned at its wanted error, {}", number(value)));
        let said: Vec<String> = dropped.into_iter().chain(pinned).collect();
        (!said.is_empty()).then(|| format!("{} {}", line.name, said.join("; ")))
    };
    let said: Vec<String> = planned.statistics.iter().filter_map(of).collect();
    (!said.is_empty()).then(|| said.join("\n") + "\n(about)")
}

/// The plan beside other theorems, and what each statistic would cost alone.
#[must_use]
pub fn plan_figure(planned: &Planned) -> Bars {
    const MOST: usize = 40;
    let planned = &planned.planned;
    let theorems = match planned.factor {
        Some(factor) => {
            let ours =
                Bar::new("this plan", factor.upper, decimal::up(factor.upper, 4), Color::Blue);
            let other = |other: &Other| Some((other.theorem, other.factor?));
            (
                Group::new(
                    "Errors, as multiples of what was wanted",
                    with_others(planned, ours, other),
                ),
                "errors",
            )
        }
        None => {
            let upper = planned.cost.bracket.upper;
            let ours = Bar::new("this plan", upper, decimal::up(upper, 4), Color::Blue);
            let other = |other: &Other| Some((other.theorem, other.epsilon?));
            (
                Group::new("Epsilon for these errors", with_others(planned, ours, other)),
                "of the same errors",
            )
        }
    };
    let alone = planned.statistics.iter().take(MOST).map(|line| {
        let color = if line.runs.is_some() { Color::Green } else { Color::Yellow };
        Bar::new(line.name.as_str(), line.epsilon, decimal::up(line.epsilon, 4), color)
    });
    let more = planned.statistics.len().saturating_sub(MOST);
    let title = match more {
        0 => "Epsilon of each statistic alone".to_owned(),
        more => format!("Epsilon of each statistic alone; {more} more are not shown"),
    };
    let caption = format!(
        "Together epsilon {} at delta {}. Other theorems have Laplace noise {}.",
        decimal::up(planned.cost.bracket.upper, 4),
        plain(planned.delta.get()),
        theorems.1,
    );
    Bars::new(
        "A planned study",
        caption,
        [theorems.0, Group::new(title, alone.collect::<Vec<_>>())],
    )
}

fn with_others(
    planned: &counterpoint_planner::Planned,
    ours: Bar,
    of: impl Fn(&Other) -> Option<(&'static str, f64)>,
) -> Vec<Bar> {
    let bar =
        |(name, value): (&str, f64)| Bar::new(name, value, decimal::up(value, 4), Color::Orange);
    std::iter::once(ours).chain(planned.others.iter().filter_map(of).map(bar)).collect()
}

fn row(line: &Line) -> [String; 6] {
    let dash = || "-".to_owned();
    let (noise, error, wanted, confidence) = match &line.runs {
        None if line.releases.is_empty() => ("public".to_owned(), plain(0.0), dash(), dash()),
        None => ("held back".to_owned(), dash(), dash(), dash()),
        Some(runs) => (
            if runs.pinned {
                format!("{} (pinned)", runs.noise.name())
            } else {
                runs.noise.name().to_owned()
            },
            if runs.error.is_finite() {
                decimal::up(runs.error, 6)
            } else {
                "depends on the data".to_owned()
            },
            runs.wanted.map_or_else(dash, plain),
            plain(runs.confidence),
        ),
    };
    [line.name.clone(), noise, error, wanted, confidence, decimal::up(line.epsilon, 5)]
}

fn other(other: &Other) -> String {
    let number = |value: Option<f64>| {
        value.map_or_else(|| "nothing".to_owned(), |value| decimal::up(value, 5))
    };
    match other.factor {
        Some(factor) => format!(
            "{}: {} times what was wanted, with Laplace noise; the wanted errors cost epsilon {}",
            other.theorem,
            decimal::up(factor, 5),
            number(other.epsilon),
        ),
        None => format!(
            "{}: epsilon {} for these errors, with Laplace noise",
            other.theorem,
            number(other.epsilon)
        ),
    }
}
