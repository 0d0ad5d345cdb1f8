//! A planned study: as one JSON object, and as a plan.

use counterpoint::quantity::{Noise, Sensitivity};
use counterpoint::{Adjacency, Count, Mechanism};
use counterpoint_planner::{Least, Line, Other, Study, Warning};
use serde_json::value::RawValue;
use std::iter::repeat;

use crate::ledger::ExactPlan;
use crate::plan::{Bundle, Format, Plan, Question, Release};
use crate::text::decimal;
use crate::text::error::PlanError;
use crate::text::object::{Object, SpentSetting, ends, exactly};
use crate::text::value::Value;

/// What a study came to.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What was planned.
    pub planned: counterpoint_planner::Planned,
    adjacency: Adjacency,
}

impl Planned {
    /// With the neighbours of its study.
    #[must_use]
    pub fn new(study: &Study, planned: counterpoint_planner::Planned) -> Self {
        Self { planned, adjacency: study.public().relation.adjacency() }
    }

    /// The plan of all releases, as `compose` and `ledger open` take it. Releases are named after their statistics.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let releases: Vec<_> = self.planned.statistics.iter().filter_map(release).collect();
        let mut plan = Plan::from(releases);
        plan.question = Some(Question::EpsilonAt(self.planned.delta_within));
        plan.adjacency = Some(self.adjacency);
        plan
    }

    /// The same plan with exact amounts, as a ledger reads it.
    ///
    /// # Errors
    /// If a number is not finite or a mechanism has no place in a plan.
    pub fn exact_plan(&self) -> Result<ExactPlan, PlanError> {
        ExactPlan::parse(self.plan().to_json()?.as_bytes(), Format::Json)
    }

    /// The `plan --json` object.
    ///
    /// # Errors
    /// If a number is not finite or a mechanism has no place in a plan.
    pub fn json(&self) -> Result<String, PlanError> {
        let text = |error: serde_json::Error| PlanError::plan(error.to_string());
        let planned = &self.planned;
        let plan = RawValue::from_string(self.plan().to_json()?).map_err(text)?;
        let outlook = if planned.factor.is_some() { "factor" } else { "epsilon" };
        let statistics = planned.statistics.iter();
        let statistics = statistics.map(|line| statistic(line, planned.warning(line), outlook));
        Object::new()
            .field("epsilon", ends(planned.cost.bracket))
            .field("delta", exactly(planned.delta.get()))
            .some("wide", planned.cost.wide.then_some(true))
            .field("factor", planned.factor.map(ends))
            .some("sum", planned.sum.map(|sum| sum.relative))
            .some("sum_in_units", planned.sum.map(|sum| sum.in_units))
            .some("free_choice", planned.free_choice)
            .some("least", planned.least.as_ref().map(least))
            .field("route", planned.cost.route.name())
            .field("theorem", planned.cost.theorem.source())
            .field("setting", SpentSetting::from(planned.cost.theorem.setting()))
            .field("statistics", statistics.collect::<Result<Vec<_>, _>>()?)
            .field("others", planned.others.iter().map(other).collect::<Vec<_>>())
            .field("plan", plan)
            .json()
            .map_err(text)
    }
}

/// A statistic as one release of its name, in the units of its answer, with all that is released together for it and how it
/// is run. `None` if nothing is released.
fn release(line: &Line) -> Option<Release> {
    let grids = line.runs.as_ref().map(|runs| runs.measurement.noises()).unwrap_or_default();
    let grids = grids.into_iter().map(|noise| noise.grid().step()).map(Some).chain(repeat(None));
    let mut also = Vec::new();
    for (release, step) in line.releases.iter().zip(grids) {
        let mechanism = in_units(&release.mechanism, step.unwrap_or(1.0));
        let (count, part) = (release.count, release.part.clone());
        also.push(Release::from(counterpoint::Release { mechanism, rate: None, count, part }));
    }
    let first = also.first_mut()?;
    // A release that is made several times for one answer is made once, and together with it once less.
    let rest = Count::new(first.count.get() - 1).ok();
    let mut whole = first.clone();
    (whole.count, first.partition) = (Count::ONE, None);
    match rest {
        Some(rest) => first.count = rest,
        None => drop(also.remove(0)),
    }
    let recipe = line.runs.as_ref().map(|runs| runs.measurement.recipe().clone());
    let shared = line.runs.as_ref().and_then(|runs| runs.count.clone());
    whole.name = Some(line.name.as_str().into());
    if !also.is_empty() || recipe.is_some() {
        whole.bundle = Some(Box::new(Bundle { also, recipe, shared }));
    }
    Some(whole)
}

/// A mechanism on whole numbers of grid steps, in the units of the numbers: its privacy is the same. Steps are powers of two,
/// so that nothing is rounded.
fn in_units(mechanism: &Mechanism, step: f64) -> Mechanism {
    let scaled = |noise: Noise, sensitivity: Sensitivity| {
        let noise = Noise::new(noise.get() * step).ok()?;
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

fn statistic(line: &Line, warning: Option<Warning>, outlook: &str) -> Result<Object, PlanError> {
    let release = release(line);
    let fields = release.as_ref().map(Release::fields).transpose()?;
    let mechanism = fields
        .map(|table| Value::Table(table.into_iter().filter(|(key, _)| key != "name").collect()));
    let runs = line.runs.as_ref();
    let finite = |value: f64| value.is_finite().then_some(value);
    let error = match runs {
        Some(runs) => finite(runs.error),
        None => line.releases.is_empty().then_some(0.0),
    };
    // What would become of the plan, about.
    let would_be = |value: Option<f64>| {
        value.and_then(finite).map(|value| Object::new().field(outlook, value))
    };
    Ok(Object::new()
        .field("name", &line.name)
        // None for a number that is public.
        .field("mechanism", mechanism)
        .field("error", error)
        .field("wanted", runs.and_then(|runs| runs.wanted))
        .field("confidence", runs.map(|runs| runs.confidence))
        .field("pinned", runs.is_some_and(|runs| runs.pinned))
        .field("epsilon", finite(line.epsilon))
        .some("scale", runs.and_then(|runs| runs.scale))
        .some("sampling_error", runs.and_then(|runs| runs.sampling_error))
        .some("warning", warning.map(warning_text))
        .some("if_dropped", would_be(line.spare.dropped))
        .some("if_pinned", would_be(line.spare.pinned)))
}

/// What is proved of the smallest sum: a number, and with which noise; or why nothing is.
fn least(least: &Least) -> Object {
    let sum = |sum: Option<f64>| Object::new().field("sum", sum);
    match *least {
        Least::Proved { sum: proved, any_noise } => {
            sum(Some(proved)).field("noise", if any_noise { "any" } else { "these" })
        }
        Least::Unknown { reason } => sum(None).field("reason", reason),
        _ => sum(None),
    }
}

fn other(other: &Other) -> Object {
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    Object::new()
        .field("theorem", other.theorem)
        .field("epsilon", finite(other.epsilon))
        .field("factor", finite(other.factor))
}
