//! The nearest value that provably does not meet the target.
//!
//! Neighbouring doubles are mostly closer than any bracket can tell apart: then the truth is between
//! the value that meets the target and one that is proved to fail, a little further on.

use super::trial::{Trial, Trials};
use super::{CalibrateError, Unknown, between};

/// Doublings of the distance, from the width of the bracket on, before the search is given up.
const DOUBLINGS: u32 = 40;
/// Halvings between the last value that could not be told and the first that fails.
const HALVINGS: u32 = 4;

/// A value at least as unsafe as `beyond` whose cost's lower end is above the target; `None` if there is
/// none in the legal range, or none is found.
pub(super) fn nearest(
    trials: &mut Trials<'_>,
    beyond: &Trial,
) -> Result<Option<Trial>, CalibrateError> {
    if trials.fails(beyond) {
        return Ok(Some(beyond.clone()));
    }
    let width = beyond.cost.bracket.relative_width();
    let mut distance = if width.is_finite() { (0.25 * width).clamp(1e-15, 1.0) } else { 1.0 };
    let mut open = beyond.clone();
    for _ in 0..DOUBLINGS {
        let Some(next) = further(trials, beyond.value, distance)? else { return Ok(None) };
        if trials.fails(&next) {
            return nearer(trials, open, next).map(Some);
        }
        open = next;
        distance *= 2.0;
    }
    Ok(None)
}

/// A trial further on the unsafe side by a relative distance; `None` beyond the legal range.
fn further(
    trials: &mut Trials<'_>,
    from: f64,
    distance: f64,
) -> Result<Option<Trial>, CalibrateError> {
    let unknown = trials.search.unknown;
    let value = match unknown {
        Unknown::Sigma | Unknown::Scale => (from / (1.0 + distance)).min(from.next_down()),
        Unknown::Epsilon => (from * (1.0 + distance)).max(from.next_up()),
        Unknown::Count => (from * (1.0 + distance)).ceil().max(from + 1.0),
    };
    match trials.plan(value) {
        Ok(plan) => trials.ask(&plan, value).map(Some),
        Err(_) => Ok(None),
    }
}

/// The same, a few halvings nearer.
fn nearer(
    trials: &mut Trials<'_>,
    mut open: Trial,
    mut failing: Trial,
) -> Result<Trial, CalibrateError> {
    for _ in 0..HALVINGS {
        let unknown = trials.search.unknown;
        let Some(value) = between(unknown, open.value, failing.value, 0.5) else { break };
        let plan = trials.plan(value)?;
        let middle = trials.ask(&plan, value)?;
        if trials.fails(&middle) {
            failing = middle;
        } else {
            open = middle;
        }
    }
    Ok(failing)
}
