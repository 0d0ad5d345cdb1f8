//! What is released, as it is published.

use super::composed::{composed, cost};
use super::entries::{Entry, Release};
use super::error::ReleaseError;
use super::rows::table_of;
use crate::answer::{Number, Ready};
use counterpoint_mechanisms::{Measurement, Style};
use counterpoint_planner::Ask;
use counterpoint_questions::public::{Column, Key, Kind as Holds, Table};
use counterpoint_questions::question::Condition;
use counterpoint_wire::ledger::{AccountStatus, Promised};
use counterpoint_wire::publication::{
    Budget, LedgerPlace, Promise, Publication, PublishedColumn, PublishedData, PublishedNumber,
    PublishedStatistic,
};
use counterpoint_wire::{StudyFile, StudyQuestion};

/// A release of a data set as it is published: of made-up rows unless a ledger was charged.
pub(super) fn publication(
    release: &Release<'_>,
    dataset: &str,
    statistics: Vec<(usize, PublishedStatistic)>,
    (privacy, ledger): (Promise, Option<LedgerPlace>),
) -> Result<Publication, ReleaseError> {
    let study = release.study;
    Ok(Publication {
        version: 1,
        made_up: ledger.is_none(),
        title: release.title.to_owned(),
        data: data(table_of(study)?, study, release.source, dataset),
        privacy,
        ledger,
        statistics: in_order(statistics, study),
    })
}

/// Statistics in the order of the study, those that are public included, and after them the counts that they share.
fn in_order(
    mut statistics: Vec<(usize, PublishedStatistic)>,
    study: &StudyFile,
) -> Vec<PublishedStatistic> {
    let all = study.study.statistics().iter().enumerate();
    statistics.extend(all.filter_map(|(index, statistic)| match statistic.ask {
        Ask::Public(number) => Some((index, public(&statistic.name, number))),
        _ => None,
    }));
    statistics.sort_by_key(|(index, _)| *index);
    statistics.into_iter().map(|(_, statistic)| statistic).collect()
}

/// What the people in the data are promised: what the account promises, or the plan.
pub(super) fn promise(
    release: &Release<'_>,
    promised: Option<&Promised>,
    budget: Option<Budget>,
) -> Result<Promise, ReleaseError> {
    let (epsilon, delta) = match promised {
        // A delta is told as it is written, not as the double above it.
        Some(Promised::ApproxDp { epsilon, delta }) => {
            (epsilon.upper(), delta.to_string().parse().unwrap_or(delta.upper()))
        }
        _ => cost(release)?,
    };
    let theorem = "optimal composition of the mechanisms that were run (docs/theory)";
    // Of made-up rows nothing is spent; of a budget that is not counted in epsilon only this release is known.
    let alone = Budget { epsilon, delta, epsilon_spent: 0.0, delta_spent: 0.0 };
    let budget = budget.unwrap_or(alone);
    Ok(Promise { epsilon, delta, theorem: theorem.to_owned(), budget })
}

/// What is public about the data, and of it the columns that statistics are about.
fn data(table: &Table, study: &StudyFile, source: &str, name: &str) -> PublishedData {
    let text = table.text();
    PublishedData {
        name: name.to_owned(),
        source: source.to_owned(),
        adjacency: text.adjacency.clone(),
        person: text.person.clone(),
        rows: text.rows,
        people: text.people,
        sample_of: study.study.public().sample_of,
        columns: table.columns().iter().map(column).collect(),
    }
}

fn column(column: &Column) -> PublishedColumn {
    let (bounds, categories) = match &column.kind {
        Holds::Number(bounds) => (Some((bounds.low(), bounds.high())), None),
        Holds::Category(keys) => (None, Some(keys.iter().map(ToString::to_string).collect())),
    };
    PublishedColumn { name: column.name.clone(), bounds, categories, missing: column.instead }
}

/// The budget of a data set, if it is counted in epsilon.
pub(super) fn budget(account: &AccountStatus) -> Option<Budget> {
    (account.unit == "epsilon").then(|| Budget {
        epsilon: account.capacity.main.upper(),
        delta: account.capacity.delta.upper(),
        epsilon_spent: account.spent.main.upper(),
        delta_spent: account.spent.delta.upper(),
    })
}

/// A statistic as it is published.
///
/// # Errors
/// [`ReleaseError::Untold`] if it cannot be said what it would cost alone.
pub(super) fn published(
    entry: &Entry<'_>,
    ready: &Ready,
    numbers: &[Number],
    study: &StudyFile,
) -> Result<PublishedStatistic, ReleaseError> {
    let StudyQuestion { checked, kind, condition, by, .. } = entry.question;
    let part = checked.parts().first();
    let columns = part.into_iter().flat_map(|part| part.column.iter().chain(&part.others));
    let counted = checked.groupings().iter().skip(*by).map(|grouping| &grouping.column);
    let measurement = ready.measured().first();
    let releases = ready.measured().iter().flat_map(Measurement::releases);
    let error = measurement.and_then(|measurement| planned_error(measurement, entry));
    Ok(PublishedStatistic {
        name: entry.name.to_owned(),
        kind: (*kind).to_owned(),
        columns: columns.chain(counted).cloned().collect(),
        condition: condition.clone(),
        by: checked.groupings().iter().take(*by).map(|one| one.column.clone()).collect(),
        values: part.and_then(|part| part.indicator.as_ref()).map(written),
        noise: measurement.map_or("none", |one| noise(one.recipe().style())).to_owned(),
        epsilon: composed(releases.cloned(), study, study.study.budget().delta)?,
        planned_error: error,
        sampling_error: sampling_error(entry, study),
        numbers: numbers.iter().map(|number| published_number(number, *by)).collect(),
    })
}

/// A count that is public: no noise, no cost, no error.
fn public(name: &str, number: f64) -> PublishedStatistic {
    let number = PublishedNumber {
        group: Vec::new(),
        part: String::new(),
        value: number,
        lower: Some(number),
        upper: Some(number),
        confidence: 1.0,
    };
    PublishedStatistic {
        name: name.to_owned(),
        kind: "count".to_owned(),
        columns: Vec::new(),
        condition: None,
        by: Vec::new(),
        values: None,
        noise: "none".to_owned(),
        epsilon: 0.0,
        planned_error: Some(0.0),
        sampling_error: None,
        numbers: vec![number],
    }
}

/// How far the sample may be off from its population, where that is known.
fn sampling_error(entry: &Entry<'_>, study: &StudyFile) -> Option<f64> {
    match &study.study.statistics().get(entry.index)?.ask {
        Ask::Query(wanted) => study.study.sampling_error(wanted),
        Ask::HeldBack(_) | Ask::Public(_) => None,
    }
}

/// The values whose share a proportion is, as a condition.
fn written(condition: &Condition) -> String {
    match condition {
        Condition::In { column, keys } => {
            let key = |key: &Key| match key {
                Key::Whole(whole) => whole.to_string(),
                Key::Text(text) => format!("'{}'", text.replace('\'', "''")),
            };
            format!("{column} IN ({})", keys.iter().map(key).collect::<Vec<_>>().join(", "))
        }
        Condition::Between { column, from: Some(from), to: Some(to) } => {
            format!("{column} BETWEEN {from} AND {to}")
        }
        _ => String::new(),
    }
}

/// The half-width for the number of rows that was planned for, of all numbers at once.
fn planned_error(measurement: &Measurement, entry: &Entry<'_>) -> Option<f64> {
    let groups = entry.question.checked.cells().max(1) as f64;
    let confidence = entry.confidence.powf(1.0 / groups).next_up().next_up();
    let error = measurement.half_width_all(entry.rows.unwrap_or(1), confidence).ok()?;
    error.is_finite().then_some(error)
}

fn noise(style: Style) -> &'static str {
    match style {
        Style::Laplace { .. } => "laplace",
        Style::Gaussian { .. } | Style::DiscreteGaussian { .. } => "gaussian",
        Style::Staircase { .. } => "staircase",
        Style::Exponential { .. } | Style::ExponentialInterval { .. } => "exponential",
        _ => "other",
    }
}

fn published_number(number: &Number, by: usize) -> PublishedNumber {
    let counted = number.group.get(by).map(ToString::to_string);
    let bin = number.bin.map(|(from, to)| format!("{from} to {to}"));
    let share = number.share.map(|share| share.to_string());
    let edge = number.edge.map(|edge| format!("< {edge}"));
    let coefficient = number.coefficient.clone();
    PublishedNumber {
        group: number.group.iter().take(by).map(ToString::to_string).collect(),
        part: counted.or(bin).or(share).or(edge).or(coefficient).unwrap_or_default(),
        value: number.value,
        lower: number.interval.map(|(low, _)| low),
        upper: number.interval.map(|(_, high)| high),
        confidence: number.confidence,
    }
}
