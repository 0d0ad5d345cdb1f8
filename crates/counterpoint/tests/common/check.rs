//! Checks that answers are right.
//!
//! An epsilon is judged without finding a root: the profile falls strictly up to the largest loss, so the least epsilon
//! lies between two numbers iff delta is at least the requested delta at the first and at most the requested delta at
//! the second.

use super::Question;
use crate::reference::{Fine, Reference};
use counterpoint::{AskError, Bracket};

/// Returns the reason why a bracket is wrong, if it is. A number nearer to the reference than the reference's own error
/// counts as equal.
pub(crate) fn bracket(
    reference: &Reference,
    question: Question,
    bracket: &Bracket,
) -> Result<(), String> {
    let Bracket { lower, upper } = *bracket;
    if !(lower >= 0.0 && lower <= upper && upper.is_finite()) {
        return Err(format!("[{lower:e}, {upper:e}] is no bracket"));
    }
    match question {
        Question::Epsilon(delta) => epsilon(reference, delta, lower, upper),
        Question::Delta(epsilon) => delta(reference, epsilon, lower, upper),
    }
}

fn epsilon(reference: &Reference, delta: f64, lower: f64, upper: f64) -> Result<(), String> {
    let asked = Fine::new(delta);
    let at_upper = reference.delta(upper);
    if at_upper.low > asked {
        return Err(format!("upper end {upper:e} has delta {:?} > {delta:e}", at_upper.low));
    }
    if lower <= 0.0 {
        return Ok(());
    }
    let at_lower = reference.delta(lower);
    if at_lower.high < asked {
        return Err(format!("lower end {lower:e} has delta {:?} < {delta:e}", at_lower.high));
    }
    if reference.is_above_all(lower) {
        return Err(format!("lower end {lower:e} is above the largest loss"));
    }
    Ok(())
}

fn delta(reference: &Reference, epsilon: f64, lower: f64, upper: f64) -> Result<(), String> {
    let truth = reference.delta(epsilon);
    if Fine::new(upper) < truth.low {
        return Err(format!("upper end {upper:e} is below {:?}", truth.low));
    }
    if Fine::new(lower) > truth.high {
        return Err(format!("lower end {lower:e} is above {:?}", truth.high));
    }
    if upper > 1.0 {
        return Err(format!("{upper:e} is no probability"));
    }
    Ok(())
}

/// Returns the relative distance of the ends of a delta's bracket from the truth; zero where doubles lose precision or
/// for an epsilon.
pub(crate) fn slack(reference: &Reference, question: Question, bracket: &Bracket) -> f64 {
    let Question::Delta(epsilon) = question else { return 0.0 };
    let truth = reference.delta(epsilon).low;
    if truth.near() < 1e-290 {
        return 0.0;
    }
    let off = |end: f64| (&(&Fine::new(end) - &truth) / &truth).abs().near();
    off(bracket.lower).max(off(bracket.upper))
}

/// Checks a refusal for a delta below the leak, and the delta that it offers.
pub(crate) fn below_leak(
    reference: &Reference,
    question: Question,
    error: &AskError,
) -> Result<(), String> {
    let (AskError::BelowLeak { least, .. }, Question::Epsilon(delta)) = (error, question) else {
        return Err(format!("refused: {error}"));
    };
    let leak = reference.leak();
    let [asked, offered, smaller] = [delta, *least, least.next_down()].map(Fine::new);
    if asked > leak.high || (asked == leak.high && leak.low == leak.high) {
        return Err(format!("refused, but the leak is only {:?}", leak.high));
    }
    if offered < leak.low || smaller >= leak.high {
        return Err(format!("offers {least:e}, but the leak is {:?}", leak.low));
    }
    Ok(())
}
