//! Conditions that are legal for a table.

use super::MOST_CELLS;
use super::columns::{category, find, number};
use crate::illegal::Illegal;
use crate::public::{Key, Table};
use crate::question::Condition;
use std::collections::BTreeSet;

/// The most conditions of a filter.
const MOST_CONDITIONS: usize = 200;

/// How large a filter is.
#[derive(Default)]
pub(super) struct Size {
    conditions: usize,
    /// The categories that columns are compared with.
    keys: usize,
}

/// A condition, or its opposite, with the columns' own names, if it is legal. `Not` is left of `In` and `Missing` alone.
///
/// What cannot be read is neither within nor outside anything: what SQL calls unknown is false wherever it is asked.
pub(super) fn condition(
    given: &Condition,
    table: &Table,
    wanted: bool,
    size: &mut Size,
) -> Result<Condition, Illegal> {
    size.conditions += 1;
    if size.conditions > MOST_CONDITIONS {
        return Err(Illegal::new("the filter", "has more than 200 conditions", "at most 200"));
    }
    let mut each = |list: &[Condition]| -> Result<Vec<Condition>, Illegal> {
        if list.is_empty() {
            return Err(Illegal::new("the filter", "has an empty list", "at least one condition"));
        }
        list.iter().map(|one| condition(one, table, wanted, size)).collect()
    };
    match given {
        Condition::All(list) if wanted => Ok(Condition::All(each(list)?)),
        Condition::All(list) => Ok(Condition::Any(each(list)?)),
        Condition::Any(list) if wanted => Ok(Condition::Any(each(list)?)),
        Condition::Any(list) => Ok(Condition::All(each(list)?)),
        Condition::Not(one) => condition(one, table, !wanted, size),
        Condition::Between { column, from, to } => {
            let (column, _) = number(column, table)?;
            [from, to].into_iter().flatten().try_for_each(|end| finite(&column, *end))?;
            let (from, to) = (from.map(one_zero), to.map(one_zero));
            match (from, to) {
                (None, None) => {
                    Err(Illegal::new(column, "is between nothing", "from, to, or both"))
                }
                _ if wanted => Ok(Condition::Between { column, from, to }),
                _ => {
                    let below = from.map(|than| Condition::Below { column: column.clone(), than });
                    let above = to.map(|than| Condition::Above { column, than });
                    Ok(Condition::Any([below, above].into_iter().flatten().collect()))
                }
            }
        }
        Condition::Above { column, than } => {
            let (column, _) = number(column, table)?;
            finite(&column, *than)?;
            let than = one_zero(*than);
            Ok(match wanted {
                true => Condition::Above { column, than },
                false => Condition::Between { column, from: None, to: Some(than) },
            })
        }
        Condition::Below { column, than } => {
            let (column, _) = number(column, table)?;
            finite(&column, *than)?;
            let than = one_zero(*than);
            Ok(match wanted {
                true => Condition::Below { column, than },
                false => Condition::Between { column, from: Some(than), to: None },
            })
        }
        Condition::In { column, keys } => {
            let (column, declared) = category(column, table)?;
            size.keys += keys.len();
            if size.keys > MOST_CELLS {
                let problem = "compares with more than 10000 categories";
                return Err(Illegal::new("the filter", problem, "at most 10000"));
            }
            let known: BTreeSet<&Key> = declared.iter().collect();
            if let Some(bad) = keys.iter().find(|key| !known.contains(key)) {
                let problem = format!("is compared with {:?}", bad.to_string());
                return Err(Illegal::new(column, problem, "its declared categories"));
            }
            let keys: BTreeSet<&Key> = keys.iter().collect();
            let chosen = declared.iter().filter(|key| keys.contains(key));
            let chosen = chosen.cloned().collect();
            Ok(opposite_unless(wanted, Condition::In { column: column.to_owned(), keys: chosen }))
        }
        Condition::Missing { column } => {
            let column = find(column, table)?.name.clone();
            Ok(opposite_unless(wanted, Condition::Missing { column }))
        }
    }
}

fn opposite_unless(wanted: bool, condition: Condition) -> Condition {
    if wanted { condition } else { Condition::Not(Box::new(condition)) }
}

/// Minus zero is zero, so that equal questions are identical.
fn one_zero(number: f64) -> f64 {
    number + 0.0
}

fn finite(column: &str, number: f64) -> Result<(), Illegal> {
    if number.is_finite() {
        return Ok(());
    }
    Err(Illegal::new(column, format!("is compared with {number}"), "a finite number"))
}
