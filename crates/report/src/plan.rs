//! Shows a planned study.

use counterpoint::quantity::format_number;
use counterpoint_planner::{StatisticPlan, SumBound, TheoremCost};
use counterpoint_studies::{PlannedStudy, warning_text};
use counterpoint_wire::decimal;

use crate::columns::{Align, columns};
use crate::compose::aligned_rows;
use crate::plot::{Bar, Bars, Color, Group};
use crate::wording;

/// Shows each statistic with its noise, error and cost alone, the total cost, and the costs by other theorems.
#[must_use]
pub fn plan(planned: &PlannedStudy) -> String {
    let planned = &planned.planned;
    let header = ["statistic", "noise", "error", "requested", "confidence", "epsilon alone"];
    let rows: Vec<[String; 6]> = std::iter::once(header.map(str::to_owned))
        .chain(planned.statistics.iter().map(row))
        .collect();
    let sides = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
    let certified =
        wording::certified(planned.cost.bracket).replacen(' ', " for all statistics together ", 1);
    let mut lines = vec![
        ("epsilon", certified),
        ("delta", format!("{} (given)", format_number(planned.delta.get()))),
    ];
    if let Some(factor) = planned.factor {
        let (low, high) = (decimal::down(factor.lower, 5), decimal::up(factor.upper, 5));
        let shares =
            |line: &StatisticPlan| line.answer.as_ref().is_some_and(|runs| runs.count.is_some());
        let counts = match planned.statistics.iter().any(shares) {
            true => " and these shared counts",
            false => "",
        };
        let text = format!(
            "every error is {high} times the requested error\n(proved: with these kinds of noise{counts}, no factor below {low} keeps the budget)"
        );
        lines.push(("factor", text));
    }
    if let Some(sum) = planned.sum {
        let least = planned.sum_bound.as_ref().map(least).unwrap_or_default();
        let (relative, in_units) = (decimal::up(sum.relative, 6), decimal::up(sum.in_units, 6));
        let text = format!(
            "{relative} is the sum of weighted errors, each divided by its statistic's scale; {in_units} without this division{least}"
        );
        lines.push(("sum", text));
    }
    if let Some(text) = hint(planned) {
        lines.push(("hint", text));
    }
    if let Some(text) = warnings(planned) {
        lines.push(("warning", text));
    }
    if let Some(text) = sampling(planned) {
        lines.push(("sampling", text));
    }
    if let Some(text) = spares(planned) {
        lines.push(("what if", text));
    }
    let others: Vec<String> = planned.other_theorems.iter().map(other).collect();
    if !others.is_empty() {
        lines.push(("others", others.join("\n")));
    }
    lines.push((
        "theorem",
        format!("{}\n({})", planned.cost.theorem.name(), planned.cost.theorem.source()),
    ));
    lines.push(("setting", wording::setting(planned.cost.theorem.setting())));
    columns(sides, &rows) + "\n" + &aligned_rows(lines)
}

/// A hint about prescribed noise, if another kind is better by two percent or more.
fn hint(planned: &counterpoint_planner::StudyPlan) -> Option<String> {
    let free = planned.free_choice?;
    let (what, now) = match (planned.sum, planned.factor) {
        (Some(sum), _) => ("the sum", sum.relative),
        (None, Some(factor)) => ("the factor", factor.upper),
        (None, None) => ("epsilon", planned.cost.bracket.upper),
    };
    (free < 0.98 * now).then(|| {
        let (free, now) = (decimal::up(free, 4), decimal::up(now, 4));
        format!("{what} would be {free}, not {now}, if no statistic had the field noise")
    })
}

/// Warns about statistics with errors too large to be useful.
fn warnings(planned: &counterpoint_planner::StudyPlan) -> Option<String> {
    let of = |line: &StatisticPlan| {
        let warning = planned.warning(line)?;
        Some(format!("{}: {}", line.name, warning_text(warning)))
    };
    listed_some(planned.statistics.iter().filter_map(of).collect())
}

/// The sampling error: the distance of the sample from the population, beside the errors of the answers.
fn sampling(planned: &counterpoint_planner::StudyPlan) -> Option<String> {
    let of = |line: &StatisticPlan| {
        let error = line.answer.as_ref()?.sampling_error.filter(|error| *error > 0.0)?;
        Some(format!("{} {}", line.name, decimal::up(error, 4)))
    };
    let said = listed_some(planned.statistics.iter().filter_map(of).collect())?;
    let last =
        "(how far the sample may be from the population, whatever the data; add this to the error)";
    Some(format!("{said}\n{last}"))
}

/// The first entries of a list, one per line, if there are any.
fn listed_some(list: Vec<String>) -> Option<String> {
    const SOME: usize = 20;
    let more = list.len().saturating_sub(SOME);
    let last = (more > 0).then(|| format!("and {more} more"));
    let lines: Vec<String> = list.into_iter().take(SOME).chain(last).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The lower bound on the weighted sum of errors.
fn least(least: &SumBound) -> String {
    match *least {
        SumBound::Proved { sum, any_noise } => {
            let noise = if any_noise { "any" } else { "these kinds of" };
            format!("\n(proved: with {noise} noise no less than {})", decimal::down(sum, 6))
        }
        SumBound::Unknown { reason } => format!("\n(how small it can be is not proved: {reason})"),
        _ => String::new(),
    }
}

/// The effects of dropping or pinning each statistic, for a short list of statistics.
fn spares(planned: &counterpoint_planner::StudyPlan) -> Option<String> {
    const FEW: usize = 40;
    if planned.statistics.len() > FEW {
        return None;
    }
    let name = if planned.factor.is_some() { "the factor of the others is" } else { "epsilon is" };
    let number = |value: f64| decimal::up(value, 4);
    let of = |line: &StatisticPlan| {
        let dropped =
            line.savings.dropped.map(|value| format!("without it, {name} {}", number(value)));
        let pinned = line
            .savings
            .pinned
            .map(|value| format!("with its requested error pinned, {}", number(value)));
        let said: Vec<String> = dropped.into_iter().chain(pinned).collect();
        (!said.is_empty()).then(|| format!("{}: {}", line.name, said.join("; ")))
    };
    let said: Vec<String> = planned.statistics.iter().filter_map(of).collect();
    (!said.is_empty()).then(|| said.join("\n") + "\n(approximate values)")
}

/// A chart of the plan's cost, the costs by other theorems, and the cost of each statistic alone.
#[must_use]
pub fn plan_figure(planned: &PlannedStudy) -> Bars {
    const MOST: usize = 40;
    let planned = &planned.planned;
    let theorems = match planned.factor {
        Some(factor) => {
            let ours =
                Bar::new("this plan", factor.upper, decimal::up(factor.upper, 4), Color::Blue);
            let other = |other: &TheoremCost| Some((other.theorem, other.factor?));
            (
                Group::new(
                    "Errors, as multiples of the requested errors",
                    with_others(planned, ours, other),
                ),
                "errors",
            )
        }
        None => {
            let upper = planned.cost.bracket.upper;
            let ours = Bar::new("this plan", upper, decimal::up(upper, 4), Color::Blue);
            let other = |other: &TheoremCost| Some((other.theorem, other.epsilon?));
            (
                Group::new("Epsilon for these errors", with_others(planned, ours, other)),
                "of the same errors",
            )
        }
    };
    let alone = planned.statistics.iter().take(MOST).map(|line| {
        let color = if line.answer.is_some() { Color::Green } else { Color::Yellow };
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
        format_number(planned.delta.get()),
        theorems.1,
    );
    Bars::new(
        "A planned study",
        caption,
        [theorems.0, Group::new(title, alone.collect::<Vec<_>>())],
    )
}

fn with_others(
    planned: &counterpoint_planner::StudyPlan,
    ours: Bar,
    of: impl Fn(&TheoremCost) -> Option<(&'static str, f64)>,
) -> Vec<Bar> {
    let bar =
        |(name, value): (&str, f64)| Bar::new(name, value, decimal::up(value, 4), Color::Orange);
    std::iter::once(ours).chain(planned.other_theorems.iter().filter_map(of).map(bar)).collect()
}

fn row(line: &StatisticPlan) -> [String; 6] {
    let dash = || "-".to_owned();
    let (noise, error, wanted, confidence) = match &line.answer {
        None if line.releases.is_empty() => {
            ("public".to_owned(), format_number(0.0), dash(), dash())
        }
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
            runs.wanted.map_or_else(dash, format_number),
            format_number(runs.confidence),
        ),
    };
    [line.name.clone(), noise, error, wanted, confidence, decimal::up(line.epsilon, 5)]
}

fn other(other: &TheoremCost) -> String {
    let number = |value: Option<f64>| {
        value.map_or_else(|| "nothing".to_owned(), |value| decimal::up(value, 5))
    };
    match other.factor {
        Some(factor) => format!(
            "theorem {}: {} times the requested errors, with Laplace noise; the requested errors cost epsilon {}",
            other.theorem,
            decimal::up(factor, 5),
            number(other.epsilon),
        ),
        None => format!(
            "theorem {}: epsilon {} for these errors, with Laplace noise",
            other.theorem,
            number(other.epsilon)
        ),
    }
}
