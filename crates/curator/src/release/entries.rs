//! The statistics that a study releases, prepared with the noise of their slots. Everything illegal is refused here,
//! before the charge.

use super::error::ReleaseError;
use crate::answer::PreparedQuestion;
use crate::engine::OpenTable;
use counterpoint_budget::{Terms, covers};
use counterpoint_mechanisms::Measurement;
use counterpoint_planner::StatisticContent;
use counterpoint_questions::{CheckedQuestion, Spend};
use counterpoint_studies::{StudyFile, StudyQuestion};
use counterpoint_wire::ledger::{ExactPlan, ReleaseRecord};
use std::collections::BTreeMap;

/// A study to be released, with its plan.
#[derive(Clone, Copy, Debug)]
pub struct StudyRelease<'a> {
    /// The study.
    pub study: &'a StudyFile,
    /// The plan: one slot for each statistic.
    pub plan: &'a ExactPlan,
    /// The study's title.
    pub title: &'a str,
    /// The published name of the rows' source.
    pub source: &'a str,
}

/// The confidence of the half-width of a shared count.
const COUNT_CONFIDENCE: f64 = 0.95;

/// A statistic that is released, or a count that statistics share, with its place in the study.
pub(super) struct ReleaseEntry<'a> {
    pub(super) index: usize,
    pub(super) name: &'a str,
    pub(super) confidence: f64,
    /// The number of rows that the error is planned for.
    pub(super) rows: Option<u64>,
    pub(super) question: &'a StudyQuestion,
}

/// Checks that a study can be released of a table. Charges nothing and reads no rows.
///
/// # Errors
/// [`ReleaseError`], naming the statistic.
pub fn check_release(release: &StudyRelease<'_>, table: &OpenTable) -> Result<(), ReleaseError> {
    for (entry, prepared) in
        prepared_entries(release.study, table, |name| slot(release.plan, name))?
    {
        check_coverage(&entry, &prepared, &slot(release.plan, entry.name)?)?;
    }
    Ok(())
}

/// Returns an error unless a slot's charge covers the noise that its description runs, by the ledger's rule. Otherwise
/// an edited plan would be charged and then refused.
fn check_coverage(
    entry: &ReleaseEntry<'_>,
    prepared: &PreparedQuestion,
    slot: &ReleaseRecord,
) -> Result<(), ReleaseError> {
    let now =
        |one: &ReleaseRecord| one.opening_queries(u64::MAX).map_err(|error| wrong(entry, error));
    let mut run = Vec::new();
    for release in prepared.measurements().iter().flat_map(Measurement::releases) {
        run.extend(now(
            &ReleaseRecord::from_release(release).map_err(|error| wrong(entry, error))?
        )?);
    }
    let terms = Terms::new(prepared.checked().relation().adjacency());
    let covered = covers(&now(slot)?, &run, terms).map(drop);
    let problem = "the plan charges less than its recipe runs; legal: the plan as it was written";
    covered.map_err(|_| wrong(entry, problem))
}

/// The statistics that are released: all but those that are held back.
pub(super) fn entries(study: &StudyFile) -> Result<Vec<ReleaseEntry<'_>>, ReleaseError> {
    let statistics = study.study.statistics().iter().zip(&study.questions).enumerate();
    let mut entries = Vec::new();
    for (index, (statistic, question)) in statistics {
        let StatisticContent::Query(wanted) = &statistic.content else { continue };
        let question = question.as_ref().ok_or_else(|| ReleaseError::Statistic {
            index: index + 1,
            name: statistic.name.clone(),
            problem: "column is missing; legal: a column of [[data.column]] to compute it from"
                .to_owned(),
        })?;
        let rows = wanted.population.as_ref().and_then(|population| population.rows);
        let (name, confidence) = (statistic.name.as_str(), wanted.confidence);
        entries.push(ReleaseEntry { index, name, confidence, rows, question });
    }
    Ok(entries)
}

/// Prepares everything that is released: the shared counts first, and then the statistics.
pub(super) fn prepared_entries<'a>(
    study: &'a StudyFile,
    table: &OpenTable,
    declared: impl Fn(&str) -> Result<ReleaseRecord, ReleaseError>,
) -> Result<Vec<(ReleaseEntry<'a>, PreparedQuestion)>, ReleaseError> {
    let (mut counts, mut statistics) = (BTreeMap::new(), Vec::new());
    for entry in entries(study)? {
        let slot = declared(entry.name)?;
        let name = slot.shared_count();
        if let Some(name) = name.as_ref().filter(|name| !counts.contains_key(*name)) {
            let (count, declared) = (count_entry(study, name, &entry)?, declared(name)?);
            let made = prepared(&count, table, &declared, None)?;
            counts.insert(name.clone(), (count, made, declared));
        }
        let shared = name.as_ref().and_then(|name| Some((name.as_str(), &counts.get(name)?.2)));
        let made = prepared(&entry, table, &slot, shared)?;
        statistics.push((entry, made));
    }
    let counts = counts.into_values().map(|(entry, prepared, _)| (entry, prepared));
    Ok(counts.chain(statistics).collect())
}

/// The entry of a count that a statistic shares.
fn count_entry<'a>(
    study: &'a StudyFile,
    name: &str,
    of: &ReleaseEntry<'_>,
) -> Result<ReleaseEntry<'a>, ReleaseError> {
    let found = study.counts.iter().enumerate().find(|(_, (count, _))| count == name);
    let Some((place, (name, question))) = found else {
        let problem = format!(
            "shares the count {name:?}, which this study does not have; legal: a plan of this study"
        );
        return Err(wrong(of, problem));
    };
    let index = study.study.statistics().len() + place;
    Ok(ReleaseEntry { index, name, confidence: COUNT_CONFIDENCE, rows: of.rows, question })
}

/// The error for a statistic.
fn wrong(entry: &ReleaseEntry<'_>, problem: impl ToString) -> ReleaseError {
    let (index, name) = (entry.index + 1, entry.name.to_owned());
    ReleaseError::Statistic { index, name, problem: problem.to_string() }
}

/// The plan's slot with this name.
pub(super) fn slot(plan: &ExactPlan, name: &str) -> Result<ReleaseRecord, ReleaseError> {
    let found = plan.releases.iter().find(|release| release.name() == Some(name));
    let none = || ReleaseError::NoSlot { name: name.to_owned() };
    found.cloned().ok_or_else(none)
}

/// Prepares a statistic with the noise of its slot.
fn prepared(
    entry: &ReleaseEntry<'_>,
    table: &OpenTable,
    slot: &ReleaseRecord,
    shared: Option<(&str, &ReleaseRecord)>,
) -> Result<PreparedQuestion, ReleaseError> {
    let checked: &CheckedQuestion = &entry.question.checked;
    let query = checked.aggregates().first().map(|part| &part.query);
    let recipe = slot.recipe().filter(|recipe| Some(recipe.query()) == query);
    let recipe = recipe.ok_or_else(|| {
        wrong(entry, "the plan's recipe is of another question; legal: a plan of this study")
    })?;
    let spend = Spend::Style(recipe.style());
    let made = PreparedQuestion::in_slot(table, (checked.clone(), spend), entry.name, shared);
    made.map_err(|error| wrong(entry, error))
}
