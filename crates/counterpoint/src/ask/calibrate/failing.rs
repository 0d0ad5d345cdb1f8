//! Searches the nearest value that provably does not meet the target.
//!
//! Neighbouring doubles are mostly closer than any bracket can distinguish. Then the exact boundary lies between the
//! value that meets the target and a value, a little further on, that is proved to fail.

use super::trial::{Trial, Trials};
use super::{CalibrateError, Unknown, between};

/// The number of doublings of the distance, starting at the width of the bracket, before the search gives up.
const DOUBLINGS: u32 = 40;
/// The number of halvings between the last undecided value and the first that fails.
const HALVINGS: u32 = 4;

/// A value at least as unsafe as `beyond` whose cost's lower end is above the target; `None` if none is found in the
/// legal range.
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

/// Moves the failing trial nearer to the undecided one by a few halvings.
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
