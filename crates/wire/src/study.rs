//! Studies: what a planner is asked.

use std::collections::BTreeMap;

use counterpoint::{Adjacency, Count, Delta, Epsilon, Guarantee, Relation};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::{
    Ask, Budget, Goal, Noise, Public, Statistic, Study, StudyError, Wanted, Wish,
};

use crate::error::PlanError;
use crate::fields::{Fields, illegal, missing, number};
use crate::parse;
use crate::plan::{Format, adjacency};
use crate::value::{Table, Value};

const TOP: [&str; 6] = ["version", "delta", "epsilon", "goal", "data", "statistic"];
const DATA: [&str; 4] = ["adjacency", "people", "rows", "sample_of"];
const KINDS: [&str; 11] = [
    "count",
    "proportion",
    "sum",
    "mean",
    "variance",
    "histogram",
    "quantiles",
    "cdf",
    "covariance",
    "regression",
    "held-back",
];
/// The fields of every statistic that is a question, besides those of its kind.
const COMMON: [&str; 8] =
    ["name", "kind", "noise", "confidence", "error", "weight", "pin", "epsilon"];

/// Reads a study.
///
/// # Errors
/// [`PlanError`], one line that names the statistic, the field, the offending value and what would be legal.
pub fn read_study(bytes: &[u8], format: Format) -> Result<Study, PlanError> {
    study_of(parse::table(bytes, format)?)
}

/// The study that a table says.
///
/// # Errors
/// As for [`read_study`].
pub fn study_of(table: Table<'_>) -> Result<Study, PlanError> {
    let mut fields = Fields::new(table);
    match fields.take("version") {
        None | Some(Value::Whole(1)) => {}
        Some(other) => return Err(illegal("version", &other, "1")),
    }
    let delta = fields.number("delta", None, (Delta::new, Delta::LEGAL))?;
    let epsilon = fields.take("epsilon");
    let epsilon = epsilon.map(|value| number("epsilon", &value, Epsilon::new, Epsilon::LEGAL));
    let budget = Budget { epsilon: epsilon.transpose()?, delta };
    let goal = match fields.text("goal")?.as_deref() {
        None | Some("relative") => Goal::Relative,
        Some("squared") => Goal::Squared,
        Some(other) => return Err(illegal("goal", &text(other), "relative, squared")),
    };
    let public = data(&mut fields)?;
    let statistics = match fields.take("statistic") {
        Some(Value::List(list)) => list,
        Some(other) => return Err(illegal("statistic", &other, LEGAL_STATISTICS)),
        None => return Err(missing("statistic", LEGAL_STATISTICS)),
    };
    fields.finish("a study", &TOP)?;
    if statistics.len() > counterpoint_planner::MOST_STATISTICS {
        let problem = format!("has {} entries; legal: {LEGAL_STATISTICS}", statistics.len());
        return Err(PlanError::field("statistic", problem));
    }
    let mut list = Vec::with_capacity(statistics.len());
    for (index, value) in statistics.into_iter().enumerate() {
        list.push(statistic(value, index, (&public, delta))?);
    }
    let names: Vec<String> = list.iter().map(|statistic| statistic.name.clone()).collect();
    different(&names)?;
    Study::new(public, budget, goal, list).map_err(|error| placed(&error, &names))
}

const LEGAL_STATISTICS: &str = "1 to 10^5 statistics, each a table";

/// A name stands for one statistic in everything that is made of a study.
fn different(names: &[String]) -> Result<(), PlanError> {
    let mut known = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        if let Some(first) = known.insert(name, index + 1) {
            let problem =
                format!("is {name:?}, which is the name of statistic {first}; legal: another");
            return Err(PlanError::field("name", problem).in_statistic(index + 1, Some(name)));
        }
    }
    Ok(())
}

/// An error of the planner, with the name of the statistic it is about.
#[must_use]
pub fn placed_in_study(study: &Study, error: &StudyError) -> PlanError {
    let names: Vec<String> =
        study.statistics().iter().map(|statistic| statistic.name.clone()).collect();
    placed(error, &names)
}

fn placed(error: &StudyError, names: &[String]) -> PlanError {
    let about = PlanError::field(error.field, &error.problem);
    match error.statistic {
        Some(index) => about.in_statistic(index + 1, names.get(index).map(String::as_str)),
        None => about,
    }
}

fn text(text: &str) -> Value<'_> {
    Value::Text(text.into())
}

fn data(fields: &mut Fields<'_>) -> Result<Public, PlanError> {
    let legal = "a table with adjacency, and if they are public people, rows, sample_of";
    let table = match fields.take("data") {
        Some(Value::Table(table)) => table,
        Some(other) => return Err(illegal("data", &other, legal)),
        None => return Err(missing("data", legal)),
    };
    let mut data = Fields::new(table);
    let adjacency: Adjacency = match data.take("adjacency") {
        Some(value) => adjacency("adjacency", &value)?,
        None => return Err(missing("adjacency", "add-remove, replace")),
    };
    let mut whole = |name: &str| data.whole(name, (Count::new, Count::LEGAL));
    let (people, rows, sample_of) = (whole("people")?, whole("rows")?, whole("sample_of")?);
    data.finish("data", &DATA)?;
    let relation = Relation::new(adjacency, rows.map_or(1, Count::get))
        .map_err(|error| PlanError::starting("rows", &error.to_string()))?;
    Ok(Public { relation, rows: people.map(Count::get), sample_of: sample_of.map(Count::get) })
}

/// A statistic, and in an error its place and name.
fn statistic(
    value: Value<'_>,
    index: usize,
    within: (&Public, Delta),
) -> Result<Statistic, PlanError> {
    let Value::Table(table) = value else {
        let error = PlanError::plan(format!("is {value}; legal: a table"));
        return Err(error.in_statistic(index + 1, None));
    };
    let mut fields = Fields::new(table);
    let name = fields.peek_text("name").map(str::to_owned);
    ask(&mut fields, within)
        .and_then(|(kind, own, ask)| {
            fields.take("name");
            let held = matches!(ask, Ask::HeldBack(_));
            let legal = [if held { &COMMON[..2] } else { &COMMON[..] }, own].concat();
            fields.finish(kind, &legal)?;
            let name = name.clone().unwrap_or_else(|| format!("{kind} {}", index + 1));
            Ok(Statistic { name, ask })
        })
        .map_err(|error| error.in_statistic(index + 1, name.as_deref()))
}

type Read = (&'static str, &'static [&'static str], Ask);

fn ask(fields: &mut Fields<'_>, (public, delta): (&Public, Delta)) -> Result<Read, PlanError> {
    if let Some(name) = fields.take("name") {
        let name = crate::fields::text("name", name)?;
        fields.fill("name", Value::Text(name));
    }
    let known = KINDS.join(", ");
    let value = fields.take("kind").ok_or_else(|| missing("kind", &known))?;
    let kind = match &value {
        Value::Text(text) => KINDS.into_iter().find(|kind| *kind == text),
        _ => None,
    };
    let kind = kind.ok_or_else(|| illegal("kind", &value, &known))?;
    if kind == "held-back" {
        let epsilon = fields.number("epsilon", None, (Epsilon::new, Epsilon::LEGAL))?;
        let delta = fields.number("delta", Some(0.0), (Delta::new, Delta::LEGAL))?;
        return Ok((kind, &["epsilon", "delta"], Ask::HeldBack(Guarantee { epsilon, delta })));
    }
    let (query, scale, own) = query(kind, fields, public)?;
    let confidence = fields.number("confidence", Some(0.95), (Ok, "above 0 and below 1"))?;
    let (wish, pinned_by_epsilon) = wish(fields)?;
    // Gaussian noise has no finite epsilon at delta zero.
    let noise = noise(fields, kind, pinned_by_epsilon || delta.get() <= 0.0)?;
    if kind == "regression" && !pinned_by_epsilon {
        let problem = "is missing: no error of a regression holds for all data; legal: pin = true with an epsilon";
        return Err(PlanError::field("epsilon", problem));
    }
    Ok((kind, own, Ask::Query(Wanted { query, noise, confidence, wish, scale })))
}

/// What is wanted, and whether an epsilon is pinned.
fn wish(fields: &mut Fields<'_>) -> Result<(Wish, bool), PlanError> {
    let pin = match fields.take("pin") {
        None | Some(Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(other) => return Err(illegal("pin", &other, "true, false")),
    };
    let mut amount = |name: &str| {
        let given = fields.take(name);
        given.map(|value| number(name, &value, Ok, "a positive number")).transpose()
    };
    let (error, weight, epsilon) = (amount("error")?, amount("weight")?, amount("epsilon")?);
    match (pin, error, weight, epsilon) {
        (true, Some(error), None, None) => Ok((Wish::Kept(error), false)),
        (true, None, None, Some(epsilon)) => Ok((Wish::Level(epsilon), true)),
        (true, ..) => {
            Err(PlanError::field("pin", "is true; legal: with either an error or an epsilon"))
        }
        (false, _, _, Some(_)) => {
            Err(PlanError::field("epsilon", "is given; legal: with pin = true"))
        }
        (false, Some(_), Some(_), _) => {
            Err(PlanError::field("weight", "is given with error; legal: one of the two"))
        }
        (false, Some(error), None, _) => Ok((Wish::Error(error), false)),
        (false, None, weight, _) => Ok((Wish::Weight(weight.unwrap_or(1.0)), false)),
    }
}

/// The noise that is asked for. A pinned epsilon is that of pure noise.
fn noise(fields: &mut Fields<'_>, kind: &str, pure: bool) -> Result<Option<Noise>, PlanError> {
    let kinds: &[Noise] = match kind {
        "quantiles" => &[Noise::Exponential],
        _ if pure => &[Noise::Laplace],
        _ => &[Noise::Laplace, Noise::Gaussian],
    };
    let Some(name) = fields.text("noise")? else {
        return Ok(if kinds.len() == 1 { kinds.first().copied() } else { None });
    };
    match kinds.iter().find(|noise| noise.name() == name) {
        Some(noise) => Ok(Some(*noise)),
        None => {
            let legal: Vec<&str> = kinds.iter().map(|noise| noise.name()).collect();
            Err(illegal("noise", &Value::Text(name), &legal.join(", ")))
        }
    }
}

/// The question, how large its answer can be, and the fields of its kind.
fn query(
    kind: &str,
    fields: &mut Fields<'_>,
    public: &Public,
) -> Result<(Query, f64, &'static [&'static str]), PlanError> {
    let rows = public.rows.map_or(1.0, |rows| rows as f64);
    let needs_rows =
        matches!(kind, "proportion" | "mean" | "variance" | "quantiles" | "covariance");
    if needs_rows && public.rows.is_none() {
        let problem =
            format!("is missing: the error of a {kind} depends on it; legal: people in data");
        return Err(PlanError::field("people", problem));
    }
    let wrong = |field: &'static str| {
        move |error: counterpoint_mechanisms::Error| {
            PlanError::field(field, format!("is not legal: {error}"))
        }
    };
    match kind {
        "count" if fields.has("bounds") => {
            Ok((Query::count_within(bounds(fields, "bounds")?), rows, &["bounds"]))
        }
        "count" => Ok((Query::count(), rows, &["bounds"])),
        "proportion" => Ok((Query::proportion(bounds(fields, "bounds")?), 1.0, &["bounds"])),
        "sum" => {
            let bounds = bounds(fields, "bounds")?;
            let most = bounds.low().abs().max(bounds.high().abs());
            Ok((Query::sum(bounds), rows * most, &["bounds"]))
        }
        "mean" => {
            let bounds = bounds(fields, "bounds")?;
            Ok((Query::mean(bounds), bounds.high() - bounds.low(), &["bounds"]))
        }
        "variance" => {
            let bounds = bounds(fields, "bounds")?;
            let half = 0.5 * (bounds.high() - bounds.low());
            Ok((Query::variance(bounds), half * half, &["bounds"]))
        }
        "histogram" => {
            let edges = match fields.take("categories") {
                Some(Value::List(list)) if !list.is_empty() => {
                    (0..=list.len()).map(|edge| edge as f64).collect()
                }
                Some(other) => return Err(illegal("categories", &other, "a list of names")),
                None => fields.numbers("bins")?,
            };
            let query = Query::histogram(&edges).map_err(wrong("bins"))?;
            Ok((query, rows, &["bins", "categories"]))
        }
        "cdf" => {
            let edges = places(fields, "bins", 20)?;
            let query = Query::cumulative(&edges).map_err(wrong("bins"))?;
            Ok((query, rows, &["bins", "bounds", "points"]))
        }
        "quantiles" => {
            let shares = if fields.has("shares") { fields.numbers("shares")? } else { vec![0.5] };
            let shares: Option<Vec<(u32, u32)>> =
                shares.iter().map(|share| ratio(*share)).collect();
            let legal =
                "is not legal; legal: rising shares above 0 and below 1, of thousandths or such";
            let shares = shares.ok_or_else(|| PlanError::field("shares", legal))?;
            let candidates = places(fields, "candidates", 101)?;
            let query = Query::quantiles(&shares, &candidates).map_err(wrong("shares"))?;
            Ok((query, rows, &["shares", "candidates", "bounds", "points"]))
        }
        "covariance" => {
            let (x, y) = (bounds(fields, "bounds")?, bounds(fields, "with")?);
            let half = |bounds: Bounds| 0.5 * (bounds.high() - bounds.low());
            Ok((Query::covariance(x, y), half(x) * half(y), &["bounds", "with"]))
        }
        _ => {
            let outcome = bounds(fields, "bounds")?;
            let legal = "a list of bounds, one for each predictor";
            let list = match fields.take("predictors") {
                Some(Value::List(list)) => list,
                Some(other) => return Err(illegal("predictors", &other, legal)),
                None => return Err(missing("predictors", legal)),
            };
            let read = |value: Value<'_>| {
                bounds(&mut Fields::new(vec![("predictors".into(), value)]), "predictors")
            };
            let predictors = list.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
            let query = Query::regression(&predictors, outcome).map_err(wrong("predictors"))?;
            Ok((query, 1.0, &["bounds", "predictors"]))
        }
    }
}

/// Two numbers.
fn bounds(fields: &mut Fields<'_>, name: &'static str) -> Result<Bounds, PlanError> {
    let legal = "[low, high], two finite numbers, the first below the second";
    if !fields.has(name) {
        return Err(missing(name, legal));
    }
    let list = fields.numbers(name)?;
    let &[low, high] = list.as_slice() else {
        let problem = format!("has {} numbers; legal: {legal}", list.len());
        return Err(PlanError::field(name, problem));
    };
    Bounds::new(low, high)
        .map_err(|_| PlanError::field(name, format!("is [{low}, {high}]; legal: {legal}")))
}

/// A list of numbers, or evenly spaced ones between bounds.
fn places(fields: &mut Fields<'_>, name: &'static str, usual: u64) -> Result<Vec<f64>, PlanError> {
    if fields.has(name) {
        return fields.numbers(name);
    }
    if !fields.has("bounds") {
        return Err(missing(name, "a rising list of numbers, or bounds"));
    }
    let bounds = bounds(fields, "bounds")?;
    let points = fields.whole("points", (Count::new, "2 to 10^6"))?.map_or(usual, Count::get);
    if !(2..=1_000_000).contains(&points) {
        return Err(PlanError::field("points", format!("is {points}; legal: 2 to 10^6")));
    }
    let step = (bounds.high() - bounds.low()) / (points - 1) as f64;
    let place =
        |i: u64| if i + 1 == points { bounds.high() } else { bounds.low() + step * i as f64 };
    Ok((0..points).map(place).collect())
}

/// A share as a ratio of small numbers, if it is one.
fn ratio(share: f64) -> Option<(u32, u32)> {
    let near = |whole: &u32| {
        let part = (share * f64::from(*whole)).round();
        (part / f64::from(*whole) - share).abs() < 1e-12
    };
    let whole = (2..=1000).find(near)?;
    Some(((share * f64::from(whole)).round() as u32, whole))
}
