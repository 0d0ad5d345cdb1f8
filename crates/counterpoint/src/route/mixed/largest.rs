//! The largest loss, where there is one, and its mass.

use crate::composition::Part;
use crate::loss::{Direction, Loss, mixed};
use counterpoint_numerics::{Dd, STEP, falling};
use crate::route::ROUNDED_UP;

/// A product with a count and an addition, each good to 2^-102, of losses good to 2^-94.
const SUM: f64 = 8.0 * STEP;

/// The largest total loss, if there is one: value and absolute error.
pub(crate) fn largest(parts: &[Part]) -> Option<(Dd, f64)> {
    if cut(parts) > 0.0 { None } else { largest_kept(parts) }
}

/// P mass cut off the parts, which may have any loss, but for what is known to be below the largest.
pub(crate) fn cut(parts: &[Part]) -> f64 {
    let of = |part: &Part| match &part.each {
        Loss::Atoms(atoms) => atoms.above() * part.count as f64,
        _ => 0.0,
    };
    ROUNDED_UP * parts.iter().map(of).sum::<f64>()
}

/// The largest total loss but for masses cut off.
pub(crate) fn largest_kept(parts: &[Part]) -> Option<(Dd, f64)> {
    let mut sum = (Dd::ZERO, 0.0);
    for part in parts {
        let (top, _) = top(&part.each)?;
        sum.0 = sum.0 + top * part.count as f64;
        sum.1 += SUM * (sum.0.hi.abs() + top.hi.abs() * part.count as f64);
    }
    Some(sum)
}

/// Whether the largest total loss is surely much larger than an epsilon, or there is none: told without listing
/// outcomes for which there is a formula, and only where there are such.
pub(crate) fn is_far_above(parts: &[Part], epsilon: f64) -> bool {
    let whole = |part: &Part| match &part.each {
        Loss::Atoms(atoms) => atoms.list.whole(),
        _ => None,
    };
    if parts.iter().all(|part| whole(part).is_none()) {
        return false;
    }
    let far = |part: &Part| match whole(part) {
        Some(whole) => Some(whole.far() * part.count as f64),
        None => top(&part.each).map(|(top, _)| top.hi * part.count as f64),
    };
    parts.iter().map(far).sum::<Option<f64>>().is_none_or(|far| far > epsilon + 1.0)
}

/// The largest loss and its P mass; zero if it is not attained.
pub(super) fn top(loss: &Loss) -> Option<(Dd, Dd)> {
    let half = Dd::from(0.5);
    match loss {
        Loss::Response { epsilon } => {
            let decay = falling(*epsilon);
            Some((*epsilon, Dd::ONE / (Dd::ONE + decay)))
        }
        Loss::Laplace { epsilon } => Some((*epsilon, half)),
        Loss::Range { epsilon } => Some((*epsilon, Dd::ZERO)),
        Loss::Atoms(atoms) => atoms.list.first().map(|a| (a.loss, a.mass)),
        Loss::SampledLaplace { rate, epsilon, direction } => Some(match direction {
            Direction::Remove => {
                let rest = falling(*epsilon);
                let mass = (Dd::from(*rate) + (Dd::ONE - Dd::from(*rate)) * rest).scaled(0.5);
                (mixed(Dd::from(*rate), *epsilon), mass)
            }
            Direction::Add => (-mixed(Dd::from(*rate), -*epsilon), half),
        }),
        Loss::SampledRange { rate, epsilon, direction } => Some(match direction {
            Direction::Remove => (mixed(Dd::from(*rate), *epsilon), Dd::ZERO),
            Direction::Add => (-mixed(Dd::from(*rate), -*epsilon), Dd::ZERO),
        }),
        Loss::SampledGaussian { rate, direction: Direction::Add, .. } => {
            Some((-(-Dd::from(*rate)).ln_1p(), Dd::ZERO))
        }
        Loss::Mixture(mixture) if mixture.direction == Direction::Add => {
            mixture.rest.is_positive().then(|| (-mixture.rest.ln(), Dd::ZERO))
        }
        Loss::Gaussian { .. }
        | Loss::SampledGaussian { .. }
        | Loss::Mixture(_)
        | Loss::Subset { .. } => None,
    }
}
