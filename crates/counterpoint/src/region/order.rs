//! Compares plans release by release. This proves that one region is within another without computing them, even where
//! their boundaries touch.

use crate::composition::leak;
use crate::composition::{Composition, CountedLoss, Plan};
use crate::laws::Loss;
use counterpoint_numerics::Wide;

/// True if every part of the first plan is dominated, release by release, by some part of the second in the same
/// direction.
pub(super) fn is_within(plan: &Plan, other: &Plan) -> bool {
    let others = other.parts_by_direction();
    plan.parts_by_direction().iter().all(|(remove, add)| {
        others.iter().any(|(other_remove, other_add)| {
            is_dominated((remove, add), other_remove) && is_dominated((add, remove), other_add)
        })
    })
}

/// True if the composition in one direction is dominated. The other direction tells if outcomes of this one are
/// impossible under P.
fn is_dominated((whole, mirrored): (&Composition, &Composition), other: &Composition) -> bool {
    let known = |whole: &Composition| whole.lower_pair.is_none();
    known(whole)
        && known(other)
        && has_smaller_leaks(whole, other)
        && has_curves(whole, other)
        && has_parts(whole, other, mirrored.leaks.above.is_empty())
}

fn has_smaller_leaks(whole: &Composition, other: &Composition) -> bool {
    let (mine, others) = (&whole.leaks.above, &other.leaks.below);
    mine.is_empty()
        || (mine == others && &whole.leaks.below == others)
        || leak::with_leaks(mine, Wide::ZERO, Wide::ZERO).upper
            <= leak::with_leaks(others, Wide::ZERO, Wide::ZERO).lower
}

/// True if each curve is also one of the other's, with at least the same count.
fn has_curves(whole: &Composition, other: &Composition) -> bool {
    let times = |whole: &Composition, wanted| -> u64 {
        let same = whole.curves.iter().filter(|curve| &curve.each == wanted);
        same.fold(0, |sum, curve| sum.saturating_add(curve.count))
    };
    whole.curves.iter().all(|curve| times(whole, &curve.each) <= times(other, &curve.each))
}

/// True if each loss is matched with one that dominates it. Matches are made from the largest loss down, with the
/// largest remaining candidate: within one law this finds a match if there is one, across laws it may miss one.
/// `is_complete` says that no outcome is impossible under P, so that all of Q has a finite loss.
fn has_parts(whole: &Composition, other: &Composition, is_complete: bool) -> bool {
    let mut left: Vec<CountedLoss> = other.losses.clone();
    whole.losses.iter().rev().all(|part| {
        let mut wanted = part.count;
        let fits = |other: &&mut CountedLoss| dominates(&other.each, &part.each, is_complete);
        for candidate in left.iter_mut().rev().filter(fits) {
            let taken = wanted.min(candidate.count);
            candidate.count -= taken;
            wanted -= taken;
        }
        wanted == 0
    })
}

/// True if the first loss equals the other, or is known to dominate it. (For example, noise of a larger scale is a
/// randomized function of the same noise of a smaller scale, on all of the data and on a sample of the same rate.)
fn dominates(loss: &Loss, other: &Loss, is_complete: bool) -> bool {
    loss == other || loss.law().dominates(other, is_complete)
}
