//! Plans that are less than others release by release: no computation is needed to know that
//! their regions are within, not even where these touch.

use crate::composition::leak;
use crate::composition::{Composition, Part, Plan};
use crate::loss::Loss;
use counterpoint_numerics::{Dd, Wide};

/// Whether every whole of the first is dominated, release by release, by one of the second in
/// the same direction.
pub(super) fn is_within(plan: &Plan, other: &Plan) -> bool {
    let others = other.sides();
    plan.sides().iter().all(|(remove, add)| {
        others.iter().any(|(other_remove, other_add)| {
            is_less(remove, other_remove) && is_less(add, other_add)
        })
    })
}

fn is_less(whole: &Composition, other: &Composition) -> bool {
    let known = |whole: &Composition| whole.beneath.is_none();
    known(whole)
        && known(other)
        && leaks_less(whole, other)
        && has_curves(whole, other)
        && has_parts(whole, other)
}

fn leaks_less(whole: &Composition, other: &Composition) -> bool {
    let (mine, others) = (&whole.leaks.above, &other.leaks.below);
    mine.is_empty()
        || (mine == others && &whole.leaks.below == others)
        || leak::with_leaks(mine, Wide::ZERO, Wide::ZERO).upper
            <= leak::with_leaks(others, Wide::ZERO, Wide::ZERO).lower
}

/// Whether each curve is one of the other's, as often at most.
fn has_curves(whole: &Composition, other: &Composition) -> bool {
    let times = |whole: &Composition, wanted| -> u64 {
        let same = whole.curves.iter().filter(|curve| &curve.each == wanted);
        same.fold(0, |sum, curve| sum.saturating_add(curve.count))
    };
    whole.curves.iter().all(|curve| times(whole, &curve.each) <= times(other, &curve.each))
}

/// Whether the losses can be matched with larger ones of the same kind. Taking each from the
/// largest down, against the largest that is left, finds a match if there is one.
fn has_parts(whole: &Composition, other: &Composition) -> bool {
    let mut left: Vec<Part> = other.losses.clone();
    whole.losses.iter().rev().all(|part| {
        let mut wanted = part.count;
        for candidate in left.iter_mut().rev().filter(|other| dominates(&other.each, &part.each)) {
            let taken = wanted.min(candidate.count);
            candidate.count -= taken;
            wanted -= taken;
        }
        wanted == 0
    })
}

/// Whether a loss is the other with a larger parameter: noise that is larger by a factor is
/// noise of the smaller kind with more added, or a coin between it and nothing.
fn dominates(loss: &Loss, other: &Loss) -> bool {
    use Loss::{Gaussian, Laplace, Range, Response, SampledGaussian, SampledLaplace, SampledRange};
    if loss == other {
        return true;
    }
    match (loss, other) {
        // Randomized response dominates all that is as private (KOV section IV).
        (Response { epsilon: more }, Laplace { epsilon } | Range { epsilon }) => {
            more == epsilon || exceeds(*more, *epsilon)
        }
        (Response { epsilon: more }, Loss::Atoms(atoms)) => {
            let largest = atoms.list.first().map_or(Dd::ZERO, |first| first.loss);
            atoms.cut <= 0.0 && (*more == largest || exceeds(*more, largest))
        }
        (Response { epsilon: more }, Response { epsilon: less })
        | (Laplace { epsilon: more }, Laplace { epsilon: less })
        | (Range { epsilon: more }, Range { epsilon: less })
        | (Gaussian { square: more }, Gaussian { square: less }) => exceeds(*more, *less),
        (
            SampledGaussian { rate, mu: more, direction },
            SampledGaussian { rate: other_rate, mu: less, direction: other_direction },
        )
        | (
            SampledLaplace { rate, epsilon: more, direction },
            SampledLaplace { rate: other_rate, epsilon: less, direction: other_direction },
        )
        | (
            SampledRange { rate, epsilon: more, direction },
            SampledRange { rate: other_rate, epsilon: less, direction: other_direction },
        ) => {
            let same = rate.to_bits() == other_rate.to_bits() && direction == other_direction;
            same && exceeds(*more, *less)
        }
        _ => false,
    }
}

/// Surely larger: parameters are known to a relative 2^-94.
fn exceeds(more: Dd, less: Dd) -> bool {
    (more - less).hi > 1e-26 * more.hi
}
