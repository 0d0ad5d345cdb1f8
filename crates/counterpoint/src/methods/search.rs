//! Searches that the methods share. Every end that they return was checked.

use super::saddle::Saddle;
use super::{DeltaBounds, Failure, within_tolerance};
use crate::composition::leak::Target;
use crate::watch::{StopRequest, Watch};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::Wide;

/// Halves an interval until no double lies between its ends, or they are relatively close, or the halvings are used up.
/// The upper end passes if it passed before, and the lower end does not pass.
pub(crate) fn bisect<E>(
    Bracket { lower: mut low, upper: mut high }: Bracket,
    (halvings, close): (u32, f64),
    passes: impl Fn(f64) -> Result<bool, E>,
) -> Result<Bracket, E> {
    for _ in 0..halvings {
        let middle = low + 0.5 * (high - low);
        if middle <= low || middle >= high || high - low < close * high {
            break;
        }
        if passes(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Bracket { lower: low, upper: high })
}

/// The minimum of a function with one dip, by golden-section search. Infinite values are taken to lie right of the
/// minimum.
pub(crate) fn golden_section(
    (mut low, mut high): (f64, f64),
    sections: u32,
    value: impl Fn(f64) -> f64,
) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut left, mut right) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..sections {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - RATIO * (high - low);
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + RATIO * (high - low);
            at_right = value(right);
        }
    }
    if at_left <= at_right { left } else { right }
}

/// Halves a bracket of the answer until it is narrow, or until the profile's own width hides the answer.
pub(crate) fn narrow_bracket<E>(
    mut bracket: Bracket,
    (halvings, narrow): (u32, f64),
    target: &Target,
    delta: impl Fn(f64) -> Result<DeltaBounds, E>,
) -> Result<Bracket, E> {
    for _ in 0..halvings {
        if bracket.relative_width() <= narrow {
            break;
        }
        let middle = bracket.lower + 0.5 * bracket.width();
        let DeltaBounds { lower: low, upper: high } = delta(middle)?;
        if middle <= bracket.lower || middle >= bracket.upper {
            break;
        } else if high <= target.lower {
            bracket.upper = middle;
        } else if low > target.upper {
            bracket.lower = middle;
        } else {
            break;
        }
    }
    Ok(bracket)
}

/// An epsilon that surely satisfies the target, as near to the least as the bound allows: the secant method on ln
/// delta, with every step checked.
pub(crate) fn satisfying_epsilon(
    delta: impl Fn(f64) -> Wide,
    target: &Target,
    saddle: &Saddle,
    top: f64,
    watch: &Watch<'_>,
) -> Result<f64, StopRequest> {
    let goal = target.lower;
    let ln_goal = goal.ln_estimate();
    let (mut low, mut high) = (0.0_f64, top);
    let mut at = saddle.epsilon.clamp(0.0, top);
    let mut slope = saddle.tilt;
    let mut last: Option<(f64, f64)> = None;
    for _ in 0..100 {
        watch.check(0.9)?;
        let value = delta(at);
        if value <= goal {
            high = at;
        } else if at <= low && at > 0.0 {
            break;
        } else {
            low = at;
        }
        if high <= 0.0 || high - low <= 4e-16 * high {
            break;
        }
        let height = if value.is_positive() { value.ln_estimate() - ln_goal } else { -50.0 };
        if let Some((x, y)) = last.filter(|&(x, _)| (x - at).abs() > 0.0) {
            let secant = (y - height) / (at - x);
            if secant > 0.0 && secant.is_finite() {
                slope = secant;
            }
        }
        last = Some((at, height));
        if value <= goal && height > -1e-13 {
            break;
        }
        // Aims slightly to the safe side, so that the last step lands on it.
        let next = at + (height + 3e-14) / slope;
        at = if next > low && next < high { next } else { 0.5 * low + 0.5 * high };
        if at <= low && low <= 0.0 {
            at = 0.0;
        }
    }
    Ok(high)
}

/// An epsilon that satisfies the target, as the upper end of a search.
pub(crate) fn find_upper_end(
    ends: &dyn Fn(f64) -> DeltaBounds,
    target: &Target,
    saddle: &Saddle,
) -> f64 {
    let mut top = saddle.epsilon + 1.0 / saddle.tilt;
    for _ in 0..200 {
        if ends(top).upper <= target.lower {
            return top;
        }
        top += (top - saddle.epsilon).max(1e-300) + saddle.epsilon * 1e-3;
    }
    f64::MAX
}

/// An epsilon that surely exceeds the target, slightly below one that satisfies it.
pub(crate) fn exceeding_epsilon(
    ends: &dyn Fn(f64) -> DeltaBounds,
    target: &Target,
    saddle: &Saddle,
    upper: f64,
) -> f64 {
    let DeltaBounds { lower: low, upper: high } = ends(upper);
    let gap = if low.is_positive() { high.ln_estimate() - low.ln_estimate() } else { 1.0 };
    let mut step = (gap.max(1e-15) * 1.2) / saddle.tilt + upper * 4e-16;
    for _ in 0..60 {
        let at = (upper - step).max(0.0);
        if ends(at).lower > target.upper {
            return at;
        }
        if at <= 0.0 {
            break;
        }
        step *= 1.5;
    }
    0.0
}

/// The least epsilon within the target, by bounds on a decreasing profile; both ends are checked.
pub(crate) fn solve_epsilon(
    ends: &dyn Fn(f64) -> DeltaBounds,
    target: &Target,
    saddle: &Saddle,
    watch: &Watch<'_>,
) -> Result<Bracket, StopRequest> {
    let highest = find_upper_end(ends, target, saddle);
    let upper = satisfying_epsilon(|e| ends(e).upper, target, saddle, highest, watch)?;
    Ok(Bracket { lower: exceeding_epsilon(ends, target, saddle, upper), upper })
}

/// Searches each end separately; each end is surely on its side.
pub(crate) fn both_ends<E>(
    at: impl Fn(f64) -> Result<DeltaBounds, E>,
    target: &Target,
    bracket: Bracket,
    halvings: (u32, f64),
) -> Result<Bracket, E> {
    let upper = bisect(bracket, halvings, |e| Ok(at(e)?.upper <= target.lower))?.upper;
    let lower = bisect(bracket, halvings, |e| Ok(at(e)?.lower <= target.upper))?.lower;
    Ok(Bracket { lower: lower.min(upper), upper })
}

/// Searches each end separately and checks the tolerance, for profiles too wide to decide both ends at once.
pub(crate) fn both_ends_to_tolerance(
    at: impl Fn(f64) -> Result<DeltaBounds, Failure>,
    target: &Target,
    bracket: Bracket,
    tolerance: f64,
) -> Result<Bracket, Failure> {
    within_tolerance(both_ends(at, target, bracket, (100, 0.0))?, tolerance)
}
