//! Handles a tolerance that no route meets: a promise becomes an error with the best answer, an aim gives the best
//! answer, marked.

use super::{Answer, AskError, Options};
use crate::quantity::Tolerance;
use counterpoint_numerics::Bracket;

/// Tolerances from coarse to fine, tried if no width is known to be reachable.
const LADDER: [f64; 7] = [0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7];

/// A bracket from zero to at most this is narrow: its width is the rounding of the largest loss.
const NOTHING: f64 = 1e-25;

/// The factor by which a width that was reached once is multiplied, so that it is reached again.
const AGAIN: f64 = 1.25;

/// The answer to the tolerance, or the best available one. `last` gives an answer that needs no computation.
pub(super) fn best_answer(
    options: &Options<'_>,
    ask: impl Fn(&Options<'_>) -> Result<Answer, AskError>,
    last: impl Fn() -> Option<Answer>,
) -> Result<Answer, AskError> {
    let asked = options.tolerance.get();
    let best = match ask(options) {
        Err(AskError::ToleranceNotMet { achieved, .. }) => {
            best_looser_answer(options, achieved, &ask)?.or_else(last)
        }
        answer => Some(answer?),
    };
    let wide = |answer: &Answer| {
        let Bracket { lower, upper } = answer.bracket;
        answer.bracket.relative_width() > asked && (lower > 0.0 || upper > NOTHING)
    };
    match best {
        Some(answer)
            if answer.bracket.is_within_tolerance(asked) || !options.tolerance.is_promise() =>
        {
            Ok(Answer { wide: wide(&answer), ..answer })
        }
        best => {
            let best = best.map(|answer| Answer { wide: wide(&answer), ..answer });
            let achieved = best.map_or(f64::INFINITY, |best| best.bracket.relative_width());
            Err(AskError::ToleranceNotMet { asked, achieved, best })
        }
    }
}

/// The best answer to a looser tolerance: the width that was reached, or else finer and finer widths until one is
/// refused.
fn best_looser_answer(
    options: &Options<'_>,
    achieved: f64,
    ask: impl Fn(&Options<'_>) -> Result<Answer, AskError>,
) -> Result<Option<Answer>, AskError> {
    let to = |width: f64| match Tolerance::new(width) {
        Ok(tolerance) => match ask(&Options { tolerance, ..*options }) {
            Err(AskError::ToleranceNotMet { .. }) => Ok(None),
            answer => answer.map(Some),
        },
        Err(_) => Ok(None),
    };
    if let Some(answer) = to(AGAIN * achieved)? {
        return Ok(Some(answer));
    }
    let mut best: Option<Answer> = None;
    for width in LADDER.into_iter().filter(|&width| width > options.tolerance.get()) {
        if best.is_some_and(|best| best.bracket.relative_width() <= width) {
            continue;
        }
        match to(width)? {
            None => break,
            answer => best = answer,
        }
    }
    Ok(best)
}
