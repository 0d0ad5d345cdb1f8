//! Checks conditions against a table's description.

use super::MOST_CELLS;
use super::columns::{category_column, find_column, number_column};
use crate::error::QuestionError;
use crate::public::{Key, Table};
use crate::question::Condition;
use std::collections::BTreeSet;

/// The largest number of conditions in a filter.
const MOST_CONDITIONS: usize = 200;

/// The size of a filter so far.
#[derive(Default)]
pub(super) struct FilterSize {
    conditions: usize,
    /// The number of categories that columns are compared with.
    keys: usize,
}

/// Checks a condition and returns it, or its negation if `expected` is false, with the declared names of its columns.
/// Negations are pushed inwards: `Not` remains around `In` and `Missing` alone.
///
/// A value that cannot be read is neither inside nor outside an interval: SQL's "unknown" counts as false in every
/// place.
pub(super) fn condition(
    given: &Condition,
    table: &Table,
    expected: bool,
    size: &mut FilterSize,
) -> Result<Condition, QuestionError> {
    size.conditions += 1;
    if size.conditions > MOST_CONDITIONS {
        return Err(QuestionError::new(
            "the filter",
            "has more than 200 conditions",
            "at most 200",
        ));
    }
    let mut each = |list: &[Condition]| -> Result<Vec<Condition>, QuestionError> {
        if list.is_empty() {
            return Err(QuestionError::new(
                "the filter",
                "has an empty list",
                "at least one condition",
            ));
        }
        list.iter().map(|one| condition(one, table, expected, size)).collect()
    };
    match given {
        Condition::All(list) if expected => Ok(Condition::All(each(list)?)),
        Condition::All(list) => Ok(Condition::Any(each(list)?)),
        Condition::Any(list) if expected => Ok(Condition::Any(each(list)?)),
        Condition::Any(list) => Ok(Condition::All(each(list)?)),
        Condition::Not(one) => condition(one, table, !expected, size),
        Condition::Between { column, from, to } => {
            let (column, _) = number_column(column, table)?;
            [from, to].into_iter().flatten().try_for_each(|end| finite(&column, *end))?;
            let (from, to) = (from.map(normalise_zero), to.map(normalise_zero));
            match (from, to) {
                (None, None) => Err(QuestionError::new(
                    column,
                    "has an interval without ends",
                    "from, to, or both",
                )),
                _ if expected => Ok(Condition::Between { column, from, to }),
                _ => {
                    let below = from.map(|than| Condition::Below { column: column.clone(), than });
                    let above = to.map(|than| Condition::Above { column, than });
                    Ok(Condition::Any([below, above].into_iter().flatten().collect()))
                }
            }
        }
        Condition::Above { column, than } => {
            let (column, _) = number_column(column, table)?;
            finite(&column, *than)?;
            let than = normalise_zero(*than);
            Ok(match expected {
                true => Condition::Above { column, than },
                false => Condition::Between { column, from: None, to: Some(than) },
            })
        }
        Condition::Below { column, than } => {
            let (column, _) = number_column(column, table)?;
            finite(&column, *than)?;
            let than = normalise_zero(*than);
            Ok(match expected {
                true => Condition::Below { column, than },
                false => Condition::Between { column, from: Some(than), to: None },
            })
        }
        Condition::In { column, keys } => {
            let (column, declared) = category_column(column, table)?;
            size.keys += keys.len();
            if size.keys > MOST_CELLS {
                let problem = "compares with more than 10000 categories";
                return Err(QuestionError::new("the filter", problem, "at most 10000"));
            }
            let known: BTreeSet<&Key> = declared.iter().collect();
            if let Some(bad) = keys.iter().find(|key| !known.contains(key)) {
                let problem = format!("is compared with {:?}", bad.to_string());
                return Err(QuestionError::new(
                    column,
                    problem,
                    "the declared categories of this column",
                ));
            }
            let keys: BTreeSet<&Key> = keys.iter().collect();
            let chosen = declared.iter().filter(|key| keys.contains(key));
            let chosen = chosen.cloned().collect();
            Ok(negate_unless(expected, Condition::In { column: column.to_owned(), keys: chosen }))
        }
        Condition::Missing { column } => {
            let column = find_column(column, table)?.name.clone();
            Ok(negate_unless(expected, Condition::Missing { column }))
        }
    }
}

fn negate_unless(expected: bool, condition: Condition) -> Condition {
    if expected { condition } else { Condition::Not(Box::new(condition)) }
}

/// Replaces minus zero by zero, so that equal questions have equal digests.
fn normalise_zero(number: f64) -> f64 {
    number + 0.0
}

fn finite(column: &str, number: f64) -> Result<(), QuestionError> {
    if number.is_finite() {
        return Ok(());
    }
    Err(QuestionError::new(column, format!("is compared with {number}"), "a finite number"))
}
