//! What becomes of a tolerance that no route keeps: where it was a promise the error carries the best
//! answer, where it was an aim that answer is given, and marked.

use super::{Answer, AskError, Options};
use crate::quantity::Tolerance;

/// From coarse to fine: what to ask for when nothing is known of what can be had.
const LADDER: [f64; 7] = [0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7];

/// What was reached once can be had again if a little more is allowed.
const AGAIN: f64 = 1.25;

/// The answer to the tolerance, or the best there is; `last` is one that costs nothing.
pub(super) fn best(
    options: &Options<'_>,
    ask: impl Fn(&Options<'_>) -> Result<Answer, AskError>,
    last: impl Fn() -> Option<Answer>,
) -> Result<Answer, AskError> {
    let asked = options.tolerance.get();
    let best = match ask(options) {
        Err(AskError::ToleranceNotMet { achieved, .. }) => {
            looser(options, achieved, &ask)?.or_else(last)
        }
        answer => Some(answer?),
    };
    let wide = |answer: &Answer| answer.bracket.relative_width() > asked;
    match best {
        Some(answer) if answer.bracket.keeps(asked) || !options.tolerance.is_promise() => {
            Ok(Answer { wide: wide(&answer), ..answer })
        }
        best => {
            let best = best.map(|answer| Answer { wide: wide(&answer), ..answer });
            let achieved = best.map_or(f64::INFINITY, |best| best.bracket.relative_width());
            Err(AskError::ToleranceNotMet { asked, achieved, best })
        }
    }
}

/// The best answer to a looser tolerance: to what was reached, or else to ever finer ones until one
/// is refused.
fn looser(
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
