//! A planned study: as one JSON object, and as a plan.

use counterpoint::quantity::{Group, Noise, Sensitivity};
use counterpoint::{Adjacency, Bracket, Count, Mechanism};
use counterpoint_planner::{Least, Line, Other, Study, Warning};
use serde::Serialize;
use serde_json::value::RawValue;
use std::iter::repeat;

use crate::answer::{Ends, InSetting, number, setting};
use crate::decimal;
use crate::error::PlanError;
use crate::ledger::ExactPlan;
use crate::plan::{Bundle, Format, Plan, Question, Release};
use crate::value::{Table, Value};

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
        let releases = self.planned.statistics.iter().filter_map(release).collect();
        Plan {
            question: Some(Question::EpsilonAt(self.planned.delta_within)),
            adjacency: Some(self.adjacency),
            group: Group::ONE,
            releases,
            target: None,
            blanks: Vec::new(),
            asked: None,
        }
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
        let outlook = if planned.factor.is_some() { Outlook::Factor } else { Outlook::Epsilon };
        let statistics = planned.statistics.iter();
        let statistics = statistics.map(|line| statistic(line, planned.warning(line), outlook));
        let statistics = statistics.collect::<Result<_, _>>()?;
        let delta = decimal::shortest(planned.delta.get());
        let ends = |bracket: Bracket| Ends::of(bracket).map_err(text);
        let object = Object {
            epsilon: ends(planned.cost.bracket)?,
            delta: Given {
                lower: number(delta.clone()).map_err(text)?,
                upper: number(delta).map_err(text)?,
            },
            wide: planned.cost.wide.then_some(true),
            factor: planned.factor.map(ends).transpose()?,
            sum: planned.sum.map(|sum| sum.relative),
            sum_in_units: planned.sum.map(|sum| sum.in_units),
            free_choice: planned.free_choice,
            least: planned.least.as_ref().map(least),
            route: planned.cost.route.name(),
            theorem: planned.cost.theorem.source(),
            setting: setting(planned.cost.theorem.setting()),
            statistics,
            others: planned.others.iter().map(other).collect(),
            plan,
        };
        serde_json::to_string(&object).map_err(text)
    }
}

/// A statistic as one release of its name, in the units of its answer, with all that is released together for it and how it
/// is run. `None` if nothing is released.
fn release(line: &Line) -> Option<Release> {
    let grids = line.runs.as_ref().map(|runs| runs.measurement.noises()).unwrap_or_default();
    let grids = grids.into_iter().map(|noise| noise.grid().step()).map(Some).chain(repeat(None));
    let alone = |mechanism, count, partition| Release {
        name: None,
        mechanism,
        sample: None,
        count,
        partition,
        written: Vec::new(),
        bundle: None,
    };
    let mut also = Vec::new();
    for (release, step) in line.releases.iter().zip(grids) {
        let mechanism = in_units(&release.mechanism, step.unwrap_or(1.0));
        also.push(alone(mechanism, release.count, release.part.clone()));
    }
    let first = also.first_mut()?;
    // A release that is made several times for one answer is made once, and together with it once less.
    let rest = Count::new(first.count.get() - 1).ok();
    let mut whole = alone(first.mechanism.clone(), Count::ONE, first.partition.take());
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

fn statistic(
    line: &Line,
    warning: Option<Warning>,
    outlook: fn(f64) -> Outlook,
) -> Result<Statistic<'_>, PlanError> {
    let fields = |release: &Release| {
        let table = release.fields()?;
        let own = table.into_iter().filter(|(key, _)| key != "name");
        let owned = |(key, value): (std::borrow::Cow<'_, str>, Value<'_>)| {
            (key.into_owned().into(), owned(value))
        };
        Ok::<Value<'static>, PlanError>(Value::Table(own.map(owned).collect::<Table<'static>>()))
    };
    let mechanism = release(line).map(|release| fields(&release)).transpose()?;
    let runs = line.runs.as_ref();
    let finite = |value: f64| value.is_finite().then_some(value);
    Ok(Statistic {
        name: &line.name,
        mechanism,
        error: match runs {
            Some(runs) => finite(runs.error),
            None => line.releases.is_empty().then_some(0.0),
        },
        wanted: runs.and_then(|runs| runs.wanted),
        confidence: runs.map(|runs| runs.confidence),
        pinned: runs.is_some_and(|runs| runs.pinned),
        epsilon: finite(line.epsilon),
        scale: runs.and_then(|runs| runs.scale),
        sampling_error: runs.and_then(|runs| runs.sampling_error),
        warning: warning.map(warning_text),
        if_dropped: line.spare.dropped.and_then(finite).map(outlook),
        if_pinned: line.spare.pinned.and_then(finite).map(outlook),
    })
}

fn owned(value: Value<'_>) -> Value<'static> {
    match value {
        Value::Whole(number) => Value::Whole(number),
        Value::Real(number) => Value::Real(number),
        Value::Written(number) => Value::Written(number),
        Value::TooLarge(text) => Value::TooLarge(text),
        Value::Text(text) => Value::Text(text.into_owned().into()),
        Value::Bool(truth) => Value::Bool(truth),
        Value::List(list) => Value::List(list.into_iter().map(owned).collect()),
        Value::Table(table) => Value::Table(
            table.into_iter().map(|(key, value)| (key.into_owned().into(), owned(value))).collect(),
        ),
        Value::Date => Value::Date,
        Value::Null => Value::Null,
    }
}

fn least(least: &Least) -> Bound {
    match *least {
        Least::Proved { sum, any_noise } => {
            let noise = if any_noise { "any" } else { "these" };
            Bound { sum: Some(sum), noise: Some(noise), reason: None }
        }
        Least::Unknown { reason } => Bound { sum: None, noise: None, reason: Some(reason) },
        _ => Bound { sum: None, noise: None, reason: None },
    }
}

fn other(other: &Other) -> Charge {
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    Charge { theorem: other.theorem, epsilon: finite(other.epsilon), factor: finite(other.factor) }
}

/// The object, its fields in the order they are written.
#[derive(Serialize)]
struct Object<'a> {
    epsilon: Ends,
    delta: Given,
    #[serde(skip_serializing_if = "Option::is_none")]
    wide: Option<bool>,
    factor: Option<Ends>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum_in_units: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_choice: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<Bound>,
    route: &'a str,
    theorem: &'a str,
    setting: InSetting,
    statistics: Vec<Statistic<'a>>,
    others: Vec<Charge>,
    plan: Box<RawValue>,
}

#[derive(Serialize)]
struct Given {
    lower: Box<RawValue>,
    upper: Box<RawValue>,
}

#[derive(Serialize)]
struct Statistic<'a> {
    name: &'a str,
    /// None for a number that is public.
    mechanism: Option<Value<'static>>,
    error: Option<f64>,
    wanted: Option<f64>,
    confidence: Option<f64>,
    pinned: bool,
    epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    if_dropped: Option<Outlook>,
    #[serde(skip_serializing_if = "Option::is_none")]
    if_pinned: Option<Outlook>,
}

/// What would become of the plan, about.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outlook {
    Factor(f64),
    Epsilon(f64),
}

/// What is proved of the smallest sum: a number, and with which noise; or why nothing is.
#[derive(Serialize)]
struct Bound {
    sum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct Charge {
    theorem: &'static str,
    epsilon: Option<f64>,
    factor: Option<f64>,
}
