//! Aggregates that are legal for a table.

use super::columns::{find, number};
use super::condition::{Size, condition};
use super::{MOST_PLACES, Part};
use crate::illegal::Illegal;
use crate::public::Table;
use crate::question::{Aggregate, Condition, Of, Share, Values};
use counterpoint_mechanisms::{Bounds, Error as Refusal, Query};

/// Where nothing is said, a quantile is one of so many numbers.
const CANDIDATES: usize = 1_001;

/// What is asked of a group's rows, of which columns; and where a row's value is 1, if it is that or 0.
type Resolved = (Query, Vec<String>, Option<Condition>);

/// An aggregate, if it is legal.
///
/// # Errors
/// [`Illegal`], naming the column or what is wrong.
pub fn part(aggregate: &Aggregate, table: &Table) -> Result<Part, Illegal> {
    let name = aggregate.name.clone().unwrap_or_else(|| aggregate.of.name());
    if name.is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
        let legal = "1 to 200 characters that can be seen";
        return Err(Illegal::new("the name of an aggregate", "is too long or unreadable", legal));
    }
    let told = |error: Refusal| {
        Illegal::new(&name, format!("cannot be asked: {error}"), "what the message says")
    };
    let bounded = |values: &Values| -> Result<(String, Bounds), Illegal> {
        let (column, declared) = number(&values.column, table)?;
        let Some((low, high)) = values.bounds else { return Ok((column, declared)) };
        Ok((column, Bounds::new(low, high).map_err(told)?))
    };
    let plain = |query, column| -> Resolved { (query, vec![column], None) };
    let of_one = |make: fn(Bounds) -> Query, values: &Values| -> Result<Resolved, Illegal> {
        let (column, bounds) = bounded(values)?;
        Ok(plain(make(bounds), column))
    };
    let of_two = |make: fn(Bounds, Bounds) -> Query,
                  column: &str,
                  with: &str|
     -> Result<Resolved, Illegal> {
        let ((x, x_bounds), (y, y_bounds)) = (number(column, table)?, number(with, table)?);
        Ok((make(x_bounds, y_bounds), vec![x, y], None))
    };
    let of_edges = |make: fn(&[f64]) -> Result<Query, Refusal>,
                    column: &str,
                    edges: &[f64]|
     -> Result<Resolved, Illegal> {
        let (column, _) = number(column, table)?;
        few(&name, edges.len())?;
        Ok(plain(make(edges).map_err(told)?, column))
    };
    let (query, columns, indicator) = match &aggregate.of {
        Of::Count | Of::People => (Query::count(), Vec::new(), None),
        Of::Sum(values) => of_one(Query::sum, values)?,
        Of::Mean(values) => of_one(Query::mean, values)?,
        Of::Variance(values) => of_one(Query::variance, values)?,
        Of::Deviation(values) => of_one(Query::deviation, values)?,
        Of::Proportion(share) => {
            let column = find(&share.column, table)?.name.clone();
            let holds = condition(&holds(share)?, table, true, &mut Size::default())?;
            // Of values 0 and 1 those that are 1.
            let one = Bounds::new(0.5, 1.5).map_err(told)?;
            (Query::proportion(one), vec![column], Some(holds))
        }
        Of::Quantiles { column, shares, candidates } => {
            let (column, bounds) = number(column, table)?;
            let shares = shares.iter().map(|share| ratio(*share, &name));
            let shares = shares.collect::<Result<Vec<_>, _>>()?;
            let candidates = candidates.clone().unwrap_or_else(|| evenly(bounds, CANDIDATES));
            few(&name, candidates.len())?;
            plain(Query::quantiles(&shares, &candidates).map_err(told)?, column)
        }
        Of::Histogram { column, edges } => of_edges(Query::histogram, column, edges)?,
        Of::Cdf { column, edges } => of_edges(Query::cumulative, column, edges)?,
        Of::Covariance { column, with } => of_two(Query::covariance, column, with)?,
        Of::Correlation { column, with } => of_two(Query::correlation, column, with)?,
        Of::Regression { column, predictors } => {
            let predictors = predictors.iter().map(|column| number(column, table));
            let predictors = predictors.collect::<Result<Vec<_>, _>>()?;
            let (outcome, outcome_bounds) = number(column, table)?;
            let bounds: Vec<Bounds> = predictors.iter().map(|(_, bounds)| *bounds).collect();
            let query = Query::regression(&bounds, outcome_bounds).map_err(told)?;
            let columns = predictors.into_iter().map(|(column, _)| column).chain([outcome]);
            (query, columns.collect(), None)
        }
    };
    let is_complete = |name: &String| table.column(name).is_some_and(|column| column.complete);
    let required: Vec<String> = columns.iter().filter(|name| !is_complete(name)).cloned().collect();
    let skips_missing = !required.is_empty();
    let people = matches!(aggregate.of, Of::People);
    let mut columns = columns.into_iter();
    let (column, others) = (columns.next(), columns.collect());
    Ok(Part { name, query, column, others, indicator, people, skips_missing, required })
}

/// The condition whose share of the rows is asked for.
fn holds(share: &Share) -> Result<Condition, Illegal> {
    let column = share.column.clone();
    match (share.bounds, &share.keys) {
        (Some((from, to)), None) => {
            Ok(Condition::Between { column, from: Some(from), to: Some(to) })
        }
        (None, Some(keys)) => Ok(Condition::In { column, keys: keys.clone() }),
        _ => Err(Illegal::new(column, "has a share of nothing", "bounds, or categories")),
    }
}

fn few(name: &str, length: usize) -> Result<(), Illegal> {
    if length <= MOST_PLACES {
        return Ok(());
    }
    Err(Illegal::new(name, format!("has {length} edges or candidates"), "at most 2000"))
}

/// Numbers from one end to the other.
fn evenly(bounds: Bounds, count: usize) -> Vec<f64> {
    let last = (count - 1) as f64;
    let at = |place: usize| {
        let share = place as f64 / last;
        bounds.low() * (1.0 - share) + bounds.high() * share
    };
    let mut list: Vec<f64> = (0..count).map(at).collect();
    list.dedup_by(|next, before| *next <= *before);
    list
}

/// A share as the fraction with the smallest denominator that it is.
fn ratio(share: f64, name: &str) -> Result<(u32, u32), Illegal> {
    let near = |whole: u32| {
        let part = (share * f64::from(whole)).round();
        let is_it = (share - part / f64::from(whole)).abs() < 1e-12;
        (is_it && part >= 1.0 && part < f64::from(whole)).then_some((part as u32, whole))
    };
    (2..=1000).find_map(near).ok_or_else(|| {
        let legal = "a fraction strictly between 0 and 1 with a denominator of at most 1000";
        Illegal::new(name, format!("has the share {share}"), legal)
    })
}
