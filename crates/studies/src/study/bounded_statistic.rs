//! Statistics with their own bounds and without columns: they can be planned, but not computed.

use counterpoint::Count;
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::PublicFacts;
use counterpoint_wire::document::{Fields, illegal, missing};
use counterpoint_wire::{PlanError, Value};

/// Reads the query of a statistic; returns it with the scale of its answer and the fields of its kind.
pub(super) fn query(
    kind: &str,
    fields: &mut Fields<'_>,
    public: &PublicFacts,
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
    type BareQuery = (Query, Option<[Bounds; 2]>, &'static [&'static str]);
    let one = |fields: &mut Fields<'_>, query: fn(Bounds) -> Query| {
        let bounds = bounds(fields, "bounds")?;
        Ok::<BareQuery, PlanError>((query(bounds), Some([bounds, bounds]), &["bounds"]))
    };
    let (query, ends, own): BareQuery = match kind {
        "proportion" => one(fields, Query::proportion)?,
        "sum" => one(fields, Query::sum)?,
        "mean" => one(fields, Query::mean)?,
        "variance" => one(fields, Query::variance)?,
        "standard-deviation" => one(fields, Query::deviation)?,
        "count" if fields.has("bounds") => one(fields, Query::count_within)?,
        "count" => (Query::count(), None, &["bounds"]),
        "histogram" => {
            let edges = match fields.take("categories") {
                Some(Value::List(list)) if !list.is_empty() => {
                    (0..=list.len()).map(|edge| edge as f64).collect()
                }
                Some(other) => return Err(illegal("categories", &other, "a list of names")),
                None => fields.numbers("bins")?,
            };
            let query = Query::histogram(&edges).map_err(wrong("bins"))?;
            (query, None, &["bins", "categories"])
        }
        "cdf" => {
            let edges = places(fields, "bins", 20)?;
            let query = Query::cumulative(&edges).map_err(wrong("bins"))?;
            (query, None, &["bins", "bounds", "points"])
        }
        "quantiles" => {
            let shares = if fields.has("shares") { fields.numbers("shares")? } else { vec![0.5] };
            let shares: Option<Vec<(u32, u32)>> =
                shares.iter().map(|share| ratio(*share)).collect();
            let legal =
                "is not legal; legal: rising shares above 0 and below 1, such as 0.25 or 0.001";
            let shares = shares.ok_or_else(|| PlanError::field("shares", legal))?;
            let candidates = places(fields, "candidates", 101)?;
            let query = Query::quantiles(&shares, &candidates).map_err(wrong("shares"))?;
            (query, None, &["shares", "candidates", "bounds", "points"])
        }
        "correlation" | "covariance" => {
            let ends @ [x, y] = [bounds(fields, "bounds")?, bounds(fields, "with")?];
            let query = if kind == "covariance" { Query::covariance } else { Query::correlation };
            (query(x, y), Some(ends), &["bounds", "with"])
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
            (query, None, &["bounds", "predictors"])
        }
    };
    let ends = ends.map(|both| both.map(|ends| (ends.low(), ends.high())));
    Ok((query, scale(kind, rows, ends.unwrap_or([(0.0, 1.0); 2])), own))
}

/// The largest possible answer about one or two columns of numbers within bounds.
pub(super) fn scale(
    kind: &str,
    rows: f64,
    [(low, high), (other_low, other_high)]: [(f64, f64); 2],
) -> f64 {
    let half = 0.5 * (high - low);
    match kind {
        "proportion" | "regression" | "correlation" => 1.0,
        "sum" => rows * low.abs().max(high.abs()),
        "mean" => high - low,
        "variance" => half * half,
        "standard-deviation" => half,
        "covariance" => half * 0.5 * (other_high - other_low),
        _ => rows,
    }
}

/// Reads bounds: a list of two numbers.
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

/// Reads a list of numbers, or makes evenly spaced numbers between bounds.
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

/// Returns a share as a ratio of small whole numbers, if it is one.
pub(super) fn ratio(share: f64) -> Option<(u32, u32)> {
    let near = |whole: &u32| {
        let part = (share * f64::from(*whole)).round();
        (part / f64::from(*whole) - share).abs() < 1e-12
    };
    let whole = (2..=1000).find(near)?;
    Some(((share * f64::from(whole)).round() as u32, whole))
}
