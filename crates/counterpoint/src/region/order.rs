//! Plans that are less than others release by release: no computation is needed to know that
//! their regions are within, not even where these touch.

use crate::composition::leak;
use crate::composition::{Composition, Part, Plan};
use crate::laws::Loss;
use counterpoint_numerics::Wide;

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

/// Whether a loss is the other, or known to dominate it: noise that is larger by a factor is
/// noise of the smaller kind with more added, or a coin between it and nothing.
fn dominates(loss: &Loss, other: &Loss) -> bool {
    loss == other || loss.law().dominates(other)
}
