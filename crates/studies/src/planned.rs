//! A planned study as JSON, and as a plan.

use counterpoint::quantity::{NoiseScale, Sensitivity};
use counterpoint::{Adjacency, Count, Mechanism};
use counterpoint_planner::{StatisticPlan, Study, SumBound, TheoremCost, Warning};
use counterpoint_wire::document::{Object, bracket_object, exact_object};
use counterpoint_wire::ledger::{ExactPlan, SpentSetting};
use counterpoint_wire::{Bundle, Format, Plan, PlanError, Question, Release, Value, decimal};
use serde_json::value::RawValue;
use std::iter::repeat;

/// The result of planning a study.
#[derive(Clone, Debug)]
pub struct PlannedStudy {
    /// The plan of the planner.
    pub planned: counterpoint_planner::StudyPlan,
    adjacency: Adjacency,
}

impl PlannedStudy {
    /// The result of planning this study.
    #[must_use]
    pub fn new(study: &Study, planned: counterpoint_planner::StudyPlan) -> Self {
        Self { planned, adjacency: study.public().relation.adjacency() }
    }

    /// The plan of all releases, for `compose` and `ledger open`. Releases have the names of their statistics.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let releases: Vec<_> = self.planned.statistics.iter().filter_map(release).collect();
        let mut plan = Plan::from(releases);
        plan.question = Some(Question::EpsilonAt(self.planned.delta_within));
        plan.adjacency = Some(self.adjacency);
        plan
    }

    /// The same plan with exact amounts, for ledgers.
    ///
    /// # Errors
    /// If a number is not finite or a plan cannot describe a mechanism.
    pub fn exact_plan(&self) -> Result<ExactPlan, PlanError> {
        ExactPlan::parse(self.plan().to_json()?.as_bytes(), Format::Json)
    }

    /// The `plan --json` object.
    ///
    /// # Errors
    /// If a number is not finite or a plan cannot describe a mechanism.
    pub fn json(&self) -> Result<String, PlanError> {
        let text = |error: serde_json::Error| PlanError::plan(error.to_string());
        let planned = &self.planned;
        let plan = RawValue::from_string(self.plan().to_json()?).map_err(text)?;
        let outlook = if planned.factor.is_some() { "factor" } else { "epsilon" };
        let statistics = planned.statistics.iter();
        let statistics = statistics.map(|line| statistic(line, planned.warning(line), outlook));
        Object::new()
            .field("epsilon", bracket_object(planned.cost.bracket))
            .field("delta", exact_object(planned.delta.get()))
            .some("wide", planned.cost.wide.then_some(true))
            .field("factor", planned.factor.map(bracket_object))
            .some("sum", planned.sum.map(|sum| sum.relative))
            .some("sum_in_units", planned.sum.map(|sum| sum.in_units))
            .some("free_choice", planned.free_choice)
            .some("least", planned.sum_bound.as_ref().map(least))
            .field("route", planned.cost.route.name())
            .field("theorem", planned.cost.theorem.source())
            .field("setting", SpentSetting::from(planned.cost.theorem.setting()))
            .field("statistics", statistics.collect::<Result<Vec<_>, _>>()?)
            .field("others", planned.other_theorems.iter().map(other).collect::<Vec<_>>())
            .field("plan", plan)
            .json()
            .map_err(text)
    }
}

/// Makes a statistic one release with its name, in the units of its answer, with its noisy query and all further
/// releases. `None` if nothing is released.
fn release(line: &StatisticPlan) -> Option<Release> {
    let grids = line.answer.as_ref().map(|runs| runs.measurement.noises()).unwrap_or_default();
    let grids = grids.into_iter().map(|noise| noise.grid().step()).map(Some).chain(repeat(None));
    let mut also = Vec::new();
    for (release, step) in line.releases.iter().zip(grids) {
        let mechanism = in_units(&release.mechanism, step.unwrap_or(1.0));
        let (count, part) = (release.count, release.part.clone());
        also.push(Release::from(counterpoint::Release { mechanism, rate: None, count, part }));
    }
    let first = also.first_mut()?;
    // If the first release is made several times for one answer, it is made once, and the rest of its count is bundled
    // with it.
    let rest = Count::new(first.count.get() - 1).ok();
    let mut whole = first.clone();
    (whole.count, first.partition) = (Count::ONE, None);
    match rest {
        Some(rest) => first.count = rest,
        None => drop(also.remove(0)),
    }
    let recipe = line.answer.as_ref().map(|runs| runs.measurement.noisy_query().clone());
    let shared = line.answer.as_ref().and_then(|runs| runs.count.clone());
    whole.name = Some(line.name.as_str().into());
    if !also.is_empty() || recipe.is_some() {
        whole.bundle = Some(Box::new(Bundle::new(also, recipe, shared)));
    }
    Some(whole)
}

/// Converts a mechanism on whole multiples of a grid step to the units of the numbers, which does not change its
/// privacy. Steps are powers of two, so nothing is rounded.
fn in_units(mechanism: &Mechanism, step: f64) -> Mechanism {
    let scaled = |noise: NoiseScale, sensitivity: Sensitivity| {
        let noise = NoiseScale::new(noise.get() * step).ok()?;
        Some((noise, Sensitivity::new(sensitivity.get() * step).ok()?))
    };
    let found = match mechanism {
        Mechanism::Laplace { scale, sensitivity } => scaled(*scale, *sensitivity)
            .map(|(scale, sensitivity)| Mechanism::Laplace { scale, sensitivity }),
        Mechanism::Gaussian { sigma, sensitivity } => scaled(*sigma, *sensitivity)
            .map(|(sigma, sensitivity)| Mechanism::Gaussian { sigma, sensitivity }),
        _ => None,
    };
    found.unwrap_or_else(|| mechanism.clone())
}

/// A warning in words.
#[must_use]
pub fn warning_text(warning: Warning) -> String {
    match warning {
        Warning::Coarse(part) => {
            let percent = decimal::up(100.0 * part, 2);
            format!("its error is {percent} % of the largest answer that is possible")
        }
        Warning::Starved => "it has next to nothing of the budget".to_owned(),
        _ => "it will be of little use".to_owned(),
    }
}

fn statistic(
    line: &StatisticPlan,
    warning: Option<Warning>,
    outlook: &str,
) -> Result<Object, PlanError> {
    let release = release(line);
    let fields = release.as_ref().map(Release::fields).transpose()?;
    let mechanism = fields
        .map(|table| Value::Table(table.into_iter().filter(|(key, _)| key != "name").collect()));
    let runs = line.answer.as_ref();
    let finite = |value: f64| value.is_finite().then_some(value);
    let error = match runs {
        Some(runs) => finite(runs.error),
        None => line.releases.is_empty().then_some(0.0),
    };
    // The estimated epsilon or factor of the plan after a change of the study.
    let would_be = |value: Option<f64>| {
        value.and_then(finite).map(|value| Object::new().field(outlook, value))
    };
    Ok(Object::new()
        .field("name", &line.name)
        // `None` for a number that is public.
        .field("mechanism", mechanism)
        .field("error", error)
        .field("wanted", runs.and_then(|runs| runs.wanted))
        .field("confidence", runs.map(|runs| runs.confidence))
        .field("pinned", runs.is_some_and(|runs| runs.pinned))
        .field("epsilon", finite(line.epsilon))
        .some("scale", runs.and_then(|runs| runs.scale))
        .some("sampling_error", runs.and_then(|runs| runs.sampling_error))
        .some("warning", warning.map(warning_text))
        .some("if_dropped", would_be(line.savings.dropped))
        .some("if_pinned", would_be(line.savings.pinned)))
}

/// The proved lower bound on the sum of errors and the noise for which it holds, or the reason why there is none.
fn least(least: &SumBound) -> Object {
    let sum = |sum: Option<f64>| Object::new().field("sum", sum);
    match *least {
        SumBound::Proved { sum: proved, any_noise } => {
            sum(Some(proved)).field("noise", if any_noise { "any" } else { "these" })
        }
        SumBound::Unknown { reason } => sum(None).field("reason", reason),
        _ => sum(None),
    }
}

fn other(other: &TheoremCost) -> Object {
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    Object::new()
        .field("theorem", other.theorem)
        .field("epsilon", finite(other.epsilon))
        .field("factor", finite(other.factor))
}
