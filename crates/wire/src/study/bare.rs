//! Statistics that say their own bounds: they can be planned, and name no column to be computed from.

use counterpoint::Count;
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::Public;

use crate::text::error::PlanError;
use crate::text::fields::{Fields, illegal, missing};
use crate::text::value::Value;

/// The question, how large its answer can be, and the fields of its kind.
pub(super) fn query(
    kind: &str,
    fields: &mut Fields<'_>,
    public: &Public,
) -> Result<(Query, f64, &'static [&'static str]), PlanError> {
    let rows = public.rows.map_or(1.0, |rows| rows as f64);
    let needs_rows = matches!(
        kind,
        "proportion" | "mean" | "variance" | "standard-deviation" | "quantiles" | "covariance"
    );
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
        "standard-deviation" => {
            let bounds = bounds(fields, "bounds")?;
            let half = 0.5 * (bounds.high() - bounds.low());
            Ok((Query::deviation(bounds), half, &["bounds"]))
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
        "correlation" => {
            let (x, y) = (bounds(fields, "bounds")?, bounds(fields, "with")?);
            Ok((Query::correlation(x, y), 1.0, &["bounds", "with"]))
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
pub(super) fn bounds(fields: &mut Fields<'_>, name: &'static str) -> Result<Bounds, PlanError> {
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
pub(super) fn places(
    fields: &mut Fields<'_>,
    name: &'static str,
    usual: u64,
) -> Result<Vec<f64>, PlanError> {
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
pub(super) fn ratio(share: f64) -> Option<(u32, u32)> {
    let near = |whole: &u32| {
        let part = (share * f64::from(*whole)).round();
        (part / f64::from(*whole) - share).abs() < 1e-12
    };
    let whole = (2..=1000).find(near)?;
    Some(((share * f64::from(whole)).round() as u32, whole))
}
