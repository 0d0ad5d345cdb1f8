//! What a study releases, each ready to be asked as its slot of the plan says; and what is refused before anything is charged.

use super::error::ReleaseError;
use crate::answer::Ready;
use crate::engine::Held;
use counterpoint_budget::{Terms, covers};
use counterpoint_mechanisms::Measurement;
use counterpoint_planner::Ask;
use counterpoint_questions::{Checked, Spend};
use counterpoint_wire::ledger::{Described, ExactPlan};
use counterpoint_wire::{StudyFile, StudyQuestion};
use std::collections::BTreeMap;

/// A study that is to be released.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// The study.
    pub study: &'a StudyFile,
    /// The plan: one slot for each statistic.
    pub plan: &'a ExactPlan,
    /// What the study is called.
    pub title: &'a str,
    /// What the source of the rows is called in what is published.
    pub source: &'a str,
}

/// How often the half-width of a shared count is kept.
const COUNT_CONFIDENCE: f64 = 0.95;

/// What is released under a name, a statistic or a count that statistics share, and its place in the study.
pub(super) struct Entry<'a> {
    pub(super) index: usize,
    pub(super) name: &'a str,
    pub(super) confidence: f64,
    /// The number of rows that its error is planned for.
    pub(super) rows: Option<u64>,
    pub(super) question: &'a StudyQuestion,
}

/// Checks that a study can be released of a table. Nothing is charged, and no rows are looked at.
///
/// # Errors
/// [`ReleaseError`], naming the statistic.
pub fn check_release(release: &Release<'_>, held: &Held) -> Result<(), ReleaseError> {
    for (entry, ready) in readied(release.study, held, |name| slot(release.plan, name))? {
        is_charged(&entry, &ready, &slot(release.plan, entry.name)?)?;
    }
    Ok(())
}

/// An error unless what a slot is charged as covers what its recipe runs, as the ledger will have it: a plan that somebody edited
/// would be charged, and then not answered.
fn is_charged(entry: &Entry<'_>, ready: &Ready, slot: &Described) -> Result<(), ReleaseError> {
    let now = |one: &Described| one.opening_in(u64::MAX).map_err(|error| wrong(entry, error));
    let mut run = Vec::new();
    for release in ready.measured().iter().flat_map(Measurement::releases) {
        run.extend(now(&Described::of(release).map_err(|error| wrong(entry, error))?)?);
    }
    let terms = Terms::new(ready.checked().relation().adjacency());
    let covered = covers(&now(slot)?, &run, terms).map(drop);
    let problem = "the plan charges less than its recipe runs; legal: the plan as it was written";
    covered.map_err(|_| wrong(entry, problem))
}

/// The statistics that are released: all but shares that are held back.
pub(super) fn entries(study: &StudyFile) -> Result<Vec<Entry<'_>>, ReleaseError> {
    let statistics = study.study.statistics().iter().zip(&study.questions).enumerate();
    let mut entries = Vec::new();
    for (index, (statistic, question)) in statistics {
        let Ask::Query(wanted) = &statistic.ask else { continue };
        let question = question.as_ref().ok_or_else(|| ReleaseError::Statistic {
            index: index + 1,
            name: statistic.name.clone(),
            problem: "column is missing; legal: a column of [[data.column]] to compute it from"
                .to_owned(),
        })?;
        let rows = wanted.population.as_ref().and_then(|population| population.rows);
        let (name, confidence) = (statistic.name.as_str(), wanted.confidence);
        entries.push(Entry { index, name, confidence, rows, question });
    }
    Ok(entries)
}

/// All that is released, each ready to be asked as its slot says: the counts that statistics share, and then the statistics.
pub(super) fn readied<'a>(
    study: &'a StudyFile,
    held: &Held,
    declared: impl Fn(&str) -> Result<Described, ReleaseError>,
) -> Result<Vec<(Entry<'a>, Ready)>, ReleaseError> {
    let (mut counts, mut statistics) = (BTreeMap::new(), Vec::new());
    for entry in entries(study)? {
        let slot = declared(entry.name)?;
        let name = slot.shared_count();
        if let Some(name) = name.as_ref().filter(|name| !counts.contains_key(*name)) {
            let (count, declared) = (count_entry(study, name, &entry)?, declared(name)?);
            let made = ready(&count, held, &declared, None)?;
            counts.insert(name.clone(), (count, made, declared));
        }
        let shared = name.as_ref().and_then(|name| Some((name.as_str(), &counts.get(name)?.2)));
        let made = ready(&entry, held, &slot, shared)?;
        statistics.push((entry, made));
    }
    let counts = counts.into_values().map(|(entry, ready, _)| (entry, ready));
    Ok(counts.chain(statistics).collect())
}

/// A count that a statistic shares.
fn count_entry<'a>(
    study: &'a StudyFile,
    name: &str,
    of: &Entry<'_>,
) -> Result<Entry<'a>, ReleaseError> {
    let found = study.counts.iter().enumerate().find(|(_, (count, _))| count == name);
    let Some((place, (name, question))) = found else {
        let problem = format!(
            "shares the count {name:?}, which this study does not have; legal: a plan of this study"
        );
        return Err(wrong(of, problem));
    };
    let index = study.study.statistics().len() + place;
    Ok(Entry { index, name, confidence: COUNT_CONFIDENCE, rows: of.rows, question })
}

/// What is wrong with a statistic.
fn wrong(entry: &Entry<'_>, problem: impl ToString) -> ReleaseError {
    let (index, name) = (entry.index + 1, entry.name.to_owned());
    ReleaseError::Statistic { index, name, problem: problem.to_string() }
}

/// The slot of a name in the plan.
pub(super) fn slot(plan: &ExactPlan, name: &str) -> Result<Described, ReleaseError> {
    let found = plan.releases.iter().find(|release| release.name() == Some(name));
    let none = || ReleaseError::NoSlot { name: name.to_owned() };
    found.cloned().ok_or_else(none)
}

/// A statistic, ready to be asked with the noise that its slot says.
fn ready(
    entry: &Entry<'_>,
    held: &Held,
    slot: &Described,
    shared: Option<(&str, &Described)>,
) -> Result<Ready, ReleaseError> {
    let checked: &Checked = &entry.question.checked;
    let query = checked.parts().first().map(|part| &part.query);
    let recipe = slot.recipe().filter(|recipe| Some(recipe.query()) == query);
    let recipe = recipe.ok_or_else(|| {
        wrong(entry, "the plan's recipe is of another question; legal: a plan of this study")
    })?;
    let spend = Spend::Style(recipe.style());
    let made = Ready::in_slot(held, (checked.clone(), spend), entry.name, shared);
    made.map_err(|error| wrong(entry, error))
}
