//! The saddle-point contour in the loss itself.
//!
//! For t > 0 and z = t + iw, e^(t e) delta(e) has the Fourier transform M(z) / (z (1 + z)). Sampled at w_j = 2 pi j /
//! T,
//!
//! `S(e) = (1/T) sum_j M(z_j)/(z_j (1 + z_j)) e^(-z_j e) = sum_m e^(t m T) delta(e + m T)`:
//!
//! delta itself plus non-negative terms (theory 4.1). Few points matter if the losses are many or smooth; the others
//! are bounded without being evaluated.
pub(crate) mod blurred;
mod points;
mod factors;
mod layers;
mod line;

use crate::composition::CountedLoss;
use crate::composition::leak::Target;
use crate::delta_bounds::DeltaBounds;
use crate::laws::quick_cumulant;
use crate::methods::saddle::Saddle;
use crate::methods::search::{
    exceeding_epsilon, find_upper_end, satisfying_epsilon, solve_epsilon,
};
use crate::methods::{Failure, within_tolerance};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, Wide};
use layers::{Layers, Steps};
pub(super) use line::{saddle_at_delta, saddle_at_epsilon};
use points::Contour;
pub(crate) use points::Effort;
use std::cell::RefCell;

/// The cumulant generating function of all parts: value and absolute error.
fn total_cumulant(parts: &[CountedLoss], t: f64) -> Option<(Dd, f64)> {
    let mut sum = (Dd::ZERO, 0.0);
    for part in parts {
        let (value, error) = quick_cumulant(part.law(), t)?;
        let count = part.count as f64;
        sum.0 = sum.0 + value * count;
        sum.1 += count * error + STEP * (sum.0.hi.abs() + value.hi.abs() * count);
    }
    Some(sum)
}

/// The largest error that may be neglected, relative to delta.
const LOOSE: f64 = 1e-3;

/// Neglects less and less until an answer is narrow enough, or no longer gets narrower.
fn refine<T>(
    parts: &[CountedLoss],
    mut saddle: Saddle,
    negligible: f64,
    (effort, watch): (Effort, &Watch<'_>),
    answer: impl Fn(&Contour, &mut Saddle) -> Result<T, Failure>,
) -> Result<(T, StoredContour), Failure> {
    let mut negligible = negligible.clamp(1e-14, LOOSE);
    let mut best = f64::INFINITY;
    for _ in 0..4 {
        let contour = match Contour::new(parts, &saddle, negligible, effort, watch) {
            Err(Failure::TooMuch) if best.is_finite() => break,
            // A contour is often better than the neglected error suggests. So a looser contour may meet even this
            // tolerance.
            Err(Failure::TooMuch) if effort == Effort::Much && negligible < LOOSE => {
                negligible = (1e2 * negligible).min(LOOSE);
                continue;
            }
            contour => contour?,
        };
        match answer(&contour, &mut saddle) {
            Err(Failure::TooWide(width)) if width < 0.5 * best => best = width,
            Err(Failure::TooWide(_)) => break,
            answer => return Ok((answer?, StoredContour { contour, saddle })),
        }
        negligible *= 1e-2;
        if negligible < 1e-15 {
            break;
        }
    }
    Err(Failure::TooWide(best))
}

/// A contour and the saddle point for which it was computed.
struct StoredContour {
    contour: Contour,
    saddle: Saddle,
}

/// The contours of earlier questions about the same losses. A contour answers any question, and answers well near the
/// saddle point for which it was computed. Computing a contour takes far longer than evaluating it at an epsilon.
#[derive(Default)]
pub(crate) struct Contours(RefCell<Vec<StoredContour>>);

impl Contours {
    /// The answer of the nearest contour, if there is one and it is narrow enough.
    fn ask<T>(
        &self,
        distance: impl Fn(&Saddle) -> f64,
        answer: impl Fn(&Contour, &mut Saddle) -> Result<T, Failure>,
    ) -> Option<T> {
        let kept = self.0.borrow();
        let nearest =
            kept.iter().min_by(|a, b| distance(&a.saddle).total_cmp(&distance(&b.saddle)))?;
        answer(&nearest.contour, &mut nearest.saddle.clone()).ok()
    }

    fn keep<T>(&self, (answer, kept): (T, StoredContour)) -> T {
        self.0.borrow_mut().push(kept);
        answer
    }
}

/// The least epsilon whose pure delta is within the target.
pub(crate) fn epsilon(
    parts: &[CountedLoss],
    target: &Target,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
    contours: &Contours,
) -> Result<Bracket, Failure> {
    let ln_target = target.lower.ln_estimate();
    let answer = |contour: &Contour, saddle: &mut Saddle| {
        let bracket = solve_epsilon(&|e| contour.ends(e), target, saddle, &watch)?;
        within_tolerance(bracket, tolerance).inspect_err(|_| saddle.look_at(bracket))
    };
    // Moves epsilon along the tilt, to where the nearest contour predicts the answer.
    let shifted = |contour: &Contour, saddle: &mut Saddle| {
        let epsilon = saddle.epsilon + (saddle.ln_delta - ln_target) / saddle.tilt;
        answer(contour, &mut Saddle { epsilon: epsilon.max(0.0), ln_delta: ln_target, ..*saddle })
    };
    let distance = |saddle: &Saddle| (saddle.ln_delta - ln_target).abs();
    if let Some(bracket) = contours.ask(distance, shifted) {
        return Ok(bracket);
    }
    let saddle = saddle_at_delta(parts, ln_target, watch)?;
    let negligible = 0.1 * tolerance * saddle.tilt * saddle.epsilon;
    refine(parts, saddle, negligible, (effort, &watch), answer).map(|found| contours.keep(found))
}

/// The suitability of layers for some losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayerUse {
    None,
    Possible,
    /// Large losses are so rare that one contour will hardly do.
    Needed,
}

impl LayerUse {
    pub(crate) fn for_parts(parts: &[CountedLoss]) -> Self {
        match Steps::of(parts) {
            None => Self::None,
            Some(steps) if steps.are_rare() => Self::Needed,
            Some(_) => Self::Possible,
        }
    }
}

/// The least epsilon whose pure delta is within the target, by layers. The first, rough contours only locate it.
pub(crate) fn layered_epsilon(
    parts: &[CountedLoss],
    target: &Target,
    tolerance: f64,
    watch: Watch<'_>,
) -> Result<Bracket, Failure> {
    let steps = Steps::of(parts).ok_or(Failure::TooMuch)?;
    if Wide::from(steps.most_variation()) <= target.lower {
        return Ok(Bracket::exact(0.0));
    }
    let ln_target = target.lower.ln_estimate();
    let fine = (0.2 * tolerance).clamp(1e-13, 1e-3);
    let (mut guess, mut negligible, mut best) = (steps.guess(ln_target)?, ROUGHLY, f64::INFINITY);
    for _ in 0..12 {
        let layers = Layers::new(steps, (guess, ln_target), negligible, &watch)?;
        let ends = |e: f64| layers.ends(e);
        let near = |epsilon: f64| {
            let fall =
                ends(epsilon).upper.ln_estimate() - ends(1.001 * epsilon).upper.ln_estimate();
            let tilt = fall.max(1e-6) / (0.001 * epsilon);
            Saddle { tilt, epsilon, ln_delta: ln_target, variance: 1.0 }
        };
        let first = near(guess);
        let top = find_upper_end(&ends, target, &first);
        let upper = satisfying_epsilon(|e| ends(e).upper, target, &first, top, &watch)?;
        let bracket =
            Bracket { lower: exceeding_epsilon(&ends, target, &near(upper), upper), upper };
        if bracket.is_within_tolerance(tolerance) {
            return Ok(bracket);
        }
        let is_near = (0.9 * guess..1.1 * guess).contains(&upper);
        if negligible > fine && (is_near || bracket.relative_width() < NEAR) {
            negligible = fine;
        } else if is_near {
            if bracket.relative_width() > 0.5 * best {
                break;
            }
            best = bracket.relative_width();
            negligible = (0.03 * negligible).max(1e-14);
        }
        guess = upper.clamp(0.02 * guess, 50.0 * guess);
    }
    Err(Failure::TooWide(best))
}

/// The error that may be neglected until the answer is located, and the relative width from which it counts as located.
const ROUGHLY: f64 = 1e-2;
const NEAR: f64 = 0.05;

/// The pure delta at an epsilon, by layers.
pub(crate) fn layered_delta(
    parts: &[CountedLoss],
    epsilon: f64,
    tolerance: f64,
    watch: Watch<'_>,
) -> Result<DeltaBounds, Failure> {
    let steps = Steps::of(parts).filter(|_| epsilon > 0.0).ok_or(Failure::TooMuch)?;
    let fine = (0.1 * tolerance).clamp(1e-13, 1e-3);
    let (mut ln_delta, mut negligible, mut best) = (-1.0, ROUGHLY, f64::INFINITY);
    for _ in 0..12 {
        let layers = Layers::new(steps, (epsilon, ln_delta), negligible, &watch)?;
        let ends = layers.ends(epsilon);
        let width = ends.relative_width();
        if width <= tolerance {
            return Ok(ends);
        }
        if width > 0.1 {
            // ln delta is not even known roughly yet.
            ln_delta = ends.upper.ln_estimate() - 3.0;
        } else if negligible > fine {
            (ln_delta, negligible) = (ends.lower.ln_estimate(), fine);
        } else if width > 0.5 * best {
            break;
        } else {
            (best, negligible) = (width, (0.03 * negligible).max(1e-14));
        }
    }
    Err(Failure::TooWide(best))
}

/// The pure delta at an epsilon.
pub(crate) fn delta(
    parts: &[CountedLoss],
    epsilon: f64,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
    contours: &Contours,
) -> Result<DeltaBounds, Failure> {
    let answer = |contour: &Contour, saddle: &mut Saddle| {
        let ends = contour.ends(epsilon);
        ends.within_tolerance(tolerance).inspect_err(|_| saddle.expect(ends))
    };
    watch.check(0.5)?;
    if let Some(ends) = contours.ask(|saddle| (saddle.epsilon - epsilon).abs(), answer) {
        return Ok(ends);
    }
    let saddle = saddle_at_epsilon(parts, epsilon, watch)?;
    refine(parts, saddle, 0.1 * tolerance, (effort, &watch), answer)
        .map(|found| contours.keep(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::{Direction, SampledGaussian};

    /// Layers against one contour, whose transforms are others, where both answer: many steps, and both directions.
    #[test]
    fn layers_and_one_contour_agree() {
        let cases: [(f64, f64, u64, f64); 6] = [
            (1.0, 1e-3, 1000, 0.1),
            (0.5, 1e-3, 1000, 0.02),
            (1.0, 1e-3, 10_000, 0.2),
            (0.25, 1e-2, 300, 0.05),
            (0.5, 1e-2, 1000, 0.5),
            (1.25, 3e-4, 20_000, 0.3),
        ];
        let watch = Watch::default();
        let mut compared = 0;
        for (mu, rate, count, epsilon) in cases {
            for direction in [Direction::Remove, Direction::Add] {
                let each = SampledGaussian { rate, mu: Dd::from(mu), direction }.into();
                let parts = [CountedLoss { each, count }];
                let effort = (Effort::Much, watch);
                let one = delta(&parts, epsilon, 1e-4, effort, &Contours::default());
                let layers = layered_delta(&parts, epsilon, 1e-4, watch);
                let (Ok(one), Ok(layers)) = (one, layers) else { continue };
                assert!(
                    one.lower <= layers.upper && layers.lower <= one.upper,
                    "{parts:?}: {one:?} and {layers:?}"
                );
                compared += 1;
            }
        }
        assert!(compared >= 8, "{compared}");
    }
}
