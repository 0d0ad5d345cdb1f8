//! Checks aggregates against a table's description.

use super::columns::{find_column, number_column};
use super::condition::{FilterSize, condition};
use super::{CheckedAggregate, MOST_PLACES};
use crate::error::QuestionError;
use crate::public::Table;
use crate::question::{Aggregate, AggregateKind, ClampedColumn, Condition, Share};
use counterpoint_mechanisms::{Bounds, Error as MechanismError, Query};

/// The number of candidates of a quantile, unless the question lists its own.
const CANDIDATES: usize = 1_001;

/// A query, the columns it aggregates, and the condition that makes a row's value 1 instead of 0, if the values are of
/// that kind.
type ResolvedAggregate = (Query, Vec<String>, Option<Condition>);

/// Checks an aggregate against a table's description.
///
/// # Errors
/// [`QuestionError`], naming the column or the problem.
pub fn check_aggregate(
    aggregate: &Aggregate,
    table: &Table,
) -> Result<CheckedAggregate, QuestionError> {
    let name = aggregate.name.clone().unwrap_or_else(|| aggregate.of.name());
    if name.is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
        let legal = "1 to 200 printable characters";
        return Err(QuestionError::new(
            "the name of an aggregate",
            "is too long or unreadable",
            legal,
        ));
    }
    let error_of = |error: MechanismError| {
        QuestionError::new(&name, format!("cannot be computed ({error})"), "other parameters")
    };
    let bounded = |values: &ClampedColumn| -> Result<(String, Bounds), QuestionError> {
        let (column, declared) = number_column(&values.column, table)?;
        let Some((low, high)) = values.bounds else { return Ok((column, declared)) };
        Ok((column, Bounds::new(low, high).map_err(error_of)?))
    };
    let plain = |query, column| -> ResolvedAggregate { (query, vec![column], None) };
    let of_one = |make: fn(Bounds) -> Query,
                  values: &ClampedColumn|
     -> Result<ResolvedAggregate, QuestionError> {
        let (column, bounds) = bounded(values)?;
        Ok(plain(make(bounds), column))
    };
    let of_two = |make: fn(Bounds, Bounds) -> Query,
                  column: &str,
                  with: &str|
     -> Result<ResolvedAggregate, QuestionError> {
        let ((x, x_bounds), (y, y_bounds)) =
            (number_column(column, table)?, number_column(with, table)?);
        Ok((make(x_bounds, y_bounds), vec![x, y], None))
    };
    let of_edges = |make: fn(&[f64]) -> Result<Query, MechanismError>,
                    column: &str,
                    edges: &[f64]|
     -> Result<ResolvedAggregate, QuestionError> {
        let (column, _) = number_column(column, table)?;
        check_length(&name, edges.len())?;
        Ok(plain(make(edges).map_err(error_of)?, column))
    };
    let (query, columns, indicator) = match &aggregate.of {
        AggregateKind::Count | AggregateKind::People => (Query::count(), Vec::new(), None),
        AggregateKind::Sum(values) => of_one(Query::sum, values)?,
        AggregateKind::Mean(values) => of_one(Query::mean, values)?,
        AggregateKind::Variance(values) => of_one(Query::variance, values)?,
        AggregateKind::Deviation(values) => of_one(Query::deviation, values)?,
        AggregateKind::Proportion(share) => {
            let column = find_column(&share.column, table)?.name.clone();
            let holds =
                condition(&share_condition(share)?, table, true, &mut FilterSize::default())?;
            // The query counts values between 0.5 and 1.5: of the values 0 and 1, those that are 1.
            let one = Bounds::new(0.5, 1.5).map_err(error_of)?;
            (Query::proportion(one), vec![column], Some(holds))
        }
        AggregateKind::Quantiles { column, shares, candidates } => {
            let (column, bounds) = number_column(column, table)?;
            let shares = shares.iter().map(|share| as_fraction(*share, &name));
            let shares = shares.collect::<Result<Vec<_>, _>>()?;
            let candidates =
                candidates.clone().unwrap_or_else(|| evenly_spaced(bounds, CANDIDATES));
            check_length(&name, candidates.len())?;
            plain(Query::quantiles(&shares, &candidates).map_err(error_of)?, column)
        }
        AggregateKind::Histogram { column, edges } => of_edges(Query::histogram, column, edges)?,
        AggregateKind::Cdf { column, edges } => of_edges(Query::cumulative, column, edges)?,
        AggregateKind::Covariance { column, with } => of_two(Query::covariance, column, with)?,
        AggregateKind::Correlation { column, with } => of_two(Query::correlation, column, with)?,
        AggregateKind::Regression { column, predictors } => {
            let predictors = predictors.iter().map(|column| number_column(column, table));
            let predictors = predictors.collect::<Result<Vec<_>, _>>()?;
            let (outcome, outcome_bounds) = number_column(column, table)?;
            let bounds: Vec<Bounds> = predictors.iter().map(|(_, bounds)| *bounds).collect();
            let query = Query::regression(&bounds, outcome_bounds).map_err(error_of)?;
            let columns = predictors.into_iter().map(|(column, _)| column).chain([outcome]);
            (query, columns.collect(), None)
        }
    };
    let is_complete = |name: &String| table.column(name).is_some_and(|column| column.complete);
    let required: Vec<String> = columns.iter().filter(|name| !is_complete(name)).cloned().collect();
    let skips_missing = !required.is_empty();
    let counts_people = matches!(aggregate.of, AggregateKind::People);
    let mut columns = columns.into_iter();
    let (column, others) = (columns.next(), columns.collect());
    Ok(CheckedAggregate {
        name,
        query,
        column,
        others,
        indicator,
        counts_people,
        skips_missing,
        required,
    })
}

/// The condition that a row must meet to count in the share.
fn share_condition(share: &Share) -> Result<Condition, QuestionError> {
    let column = share.column.clone();
    match (share.bounds, &share.keys) {
        (Some((from, to)), None) => {
            Ok(Condition::Between { column, from: Some(from), to: Some(to) })
        }
        (None, Some(keys)) => Ok(Condition::In { column, keys: keys.clone() }),
        _ => Err(QuestionError::new(column, "has a share without values", "bounds, or categories")),
    }
}

fn check_length(name: &str, length: usize) -> Result<(), QuestionError> {
    if length <= MOST_PLACES {
        return Ok(());
    }
    Err(QuestionError::new(name, format!("has {length} edges or candidates"), "at most 2000"))
}

/// Returns evenly spaced numbers between the bounds, both ends included.
fn evenly_spaced(bounds: Bounds, count: usize) -> Vec<f64> {
    let last = (count - 1) as f64;
    let at = |place: usize| {
        let share = place as f64 / last;
        bounds.low() * (1.0 - share) + bounds.high() * share
    };
    let mut list: Vec<f64> = (0..count).map(at).collect();
    list.dedup_by(|next, before| *next <= *before);
    list
}

/// Returns the share as a fraction with the smallest possible denominator.
fn as_fraction(share: f64, name: &str) -> Result<(u32, u32), QuestionError> {
    let near = |whole: u32| {
        let part = (share * f64::from(whole)).round();
        let is_it = (share - part / f64::from(whole)).abs() < 1e-12;
        (is_it && part >= 1.0 && part < f64::from(whole)).then_some((part as u32, whole))
    };
    (2..=1000).find_map(near).ok_or_else(|| {
        let legal = "a fraction strictly between 0 and 1 with a denominator of at most 1000";
        QuestionError::new(name, format!("has the share {share}"), legal)
    })
}
