//! The published form of a release.

use super::cost::{composed, cost};
use super::entries::{ReleaseEntry, StudyRelease};
use super::error::ReleaseError;
use super::rows::table_of;
use crate::answer::{Number, PreparedQuestion};
use counterpoint_mechanisms::{Measurement, Style};
use counterpoint_planner::StatisticContent;
use counterpoint_questions::public::{Column, ColumnKind as Holds, Key, Table};
use counterpoint_questions::question::Condition;
use counterpoint_studies::{StudyFile, StudyQuestion};
use counterpoint_wire::ledger::{AccountStatus, PromiseRecord};
use counterpoint_wire::publication::{
    Budget, LedgerLocation, Promise, Publication, PublishedColumn, PublishedData, PublishedNumber,
    PublishedStatistic,
};

/// The publication of a release. It is marked as made up unless a ledger was charged.
pub(super) fn publication(
    release: &StudyRelease<'_>,
    dataset: &str,
    statistics: Vec<(usize, PublishedStatistic)>,
    (privacy, ledger): (Promise, Option<LedgerLocation>),
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

/// Orders the statistics as in the study, including public ones; the shared counts follow.
fn in_order(
    mut statistics: Vec<(usize, PublishedStatistic)>,
    study: &StudyFile,
) -> Vec<PublishedStatistic> {
    let all = study.study.statistics().iter().enumerate();
    statistics.extend(all.filter_map(|(index, statistic)| match statistic.content {
        StatisticContent::Public(number) => Some((index, public(&statistic.name, number))),
        _ => None,
    }));
    statistics.sort_by_key(|(index, _)| *index);
    statistics.into_iter().map(|(_, statistic)| statistic).collect()
}

/// The guarantee for the people in the data: the account's promise, or else the plan's cost.
pub(super) fn promise(
    release: &StudyRelease<'_>,
    promised: Option<&PromiseRecord>,
    budget: Option<Budget>,
) -> Result<Promise, ReleaseError> {
    let (epsilon, delta) = match promised {
        // The delta is published as written, not as the double above it.
        Some(PromiseRecord::ApproxDp { epsilon, delta }) => {
            (epsilon.upper(), delta.to_string().parse().unwrap_or(delta.upper()))
        }
        _ => cost(release)?,
    };
    let theorem = "optimal composition of the mechanisms that were run (docs/theory)";
    // For made-up rows nothing is spent. For a budget in another currency than epsilon, only this release's cost is
    // known.
    let alone = Budget { epsilon, delta, epsilon_spent: 0.0, delta_spent: 0.0 };
    let budget = budget.unwrap_or(alone);
    Ok(Promise { epsilon, delta, theorem: theorem.to_owned(), budget })
}

/// The public description of the data.
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

/// The budget of a data set, if its currency is epsilon.
pub(super) fn budget(account: &AccountStatus) -> Option<Budget> {
    (account.unit == "epsilon").then(|| Budget {
        epsilon: account.capacity.main.upper(),
        delta: account.capacity.delta.upper(),
        epsilon_spent: account.spent.main.upper(),
        delta_spent: account.spent.delta.upper(),
    })
}

/// The published form of a statistic.
///
/// # Errors
/// [`ReleaseError::Computation`] if the cost of the statistic alone cannot be computed.
pub(super) fn published(
    entry: &ReleaseEntry<'_>,
    prepared: &PreparedQuestion,
    numbers: &[Number],
    study: &StudyFile,
) -> Result<PublishedStatistic, ReleaseError> {
    let StudyQuestion { checked, kind, condition, by, .. } = entry.question;
    let part = checked.aggregates().first();
    let columns = part.into_iter().flat_map(|part| part.column.iter().chain(&part.others));
    let counted = checked.group_columns().iter().skip(*by).map(|group_column| &group_column.column);
    let measurement = prepared.measurements().first();
    let releases = prepared.measurements().iter().flat_map(Measurement::releases);
    let error = measurement.and_then(|measurement| planned_error(measurement, entry));
    Ok(PublishedStatistic {
        name: entry.name.to_owned(),
        kind: (*kind).to_owned(),
        columns: columns.chain(counted).cloned().collect(),
        condition: condition.clone(),
        by: checked.group_columns().iter().take(*by).map(|one| one.column.clone()).collect(),
        values: part.and_then(|part| part.indicator.as_ref()).map(written),
        noise: measurement.map_or("none", |one| noise(one.noisy_query().style())).to_owned(),
        epsilon: composed(releases.cloned(), study, study.study.budget().delta)?,
        planned_error: error,
        sampling_error: sampling_error(entry, study),
        numbers: numbers.iter().map(|number| published_number(number, *by)).collect(),
    })
}

/// A public count: without noise, cost or error.
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

/// The largest distance between the sample and its population, if it is known.
fn sampling_error(entry: &ReleaseEntry<'_>, study: &StudyFile) -> Option<f64> {
    match &study.study.statistics().get(entry.index)?.content {
        StatisticContent::Query(wanted) => study.study.sampling_error(wanted),
        StatisticContent::HeldBack(_) | StatisticContent::Public(_) => None,
    }
}

/// Writes the values of a proportion as a condition.
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

/// The half-width of all numbers at once, for the planned number of rows.
fn planned_error(measurement: &Measurement, entry: &ReleaseEntry<'_>) -> Option<f64> {
    let groups = entry.question.checked.group_count().max(1) as f64;
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
