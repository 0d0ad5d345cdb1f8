//! Lists of atoms that account for only a part of the mass.

use super::PairLoss;
use crate::laws::{Atom, Atoms, sum};
use counterpoint_numerics::Dd;

/// A pair that dominates every mechanism whose losses are at most these, with masses of at least these: all other mass
/// leaks, and so do the largest losses, whose mass is at most `rare` together.
pub(super) fn dominating_loss(list: Vec<Atom>, rare: f64) -> PairLoss {
    let list = drop_rare(list, rare);
    let total = masses(&list);
    let rest = (Dd::ONE - total).upper().clamp(0.0, 1.0);
    let normed = |atom: Atom| Atom { mass: atom.mass / total, ..atom };
    let list = list.into_iter().map(normed).collect();
    PairLoss { leak: (0.0, rest), ..Atoms::of(list).into() }
}

/// A pair that is dominated by every mechanism whose losses are at least these, with masses of at least these: all
/// other mass, and that of the rare largest losses, is placed at the least loss.
pub(super) fn dominated_loss(list: Vec<Atom>, rare: f64) -> PairLoss {
    let mut list = drop_rare(list, rare);
    let rest = Dd::ONE - masses(&list);
    let Some(least) = list.first_mut() else { return PairLoss::default() };
    if rest.is_positive() {
        least.mass = least.mass + rest;
    }
    Atoms::of(list).into()
}

/// Sorts by rising loss and drops the largest losses that are rare together: routes that weigh losses by their size
/// would look for them.
fn drop_rare(mut list: Vec<Atom>, rare: f64) -> Vec<Atom> {
    list.sort_by(|a, b| a.loss.hi.total_cmp(&b.loss.hi));
    let mut mass = 0.0;
    while let Some(largest) = list.pop_if(|largest| mass + largest.mass.hi < rare) {
        mass += largest.mass.hi;
    }
    list
}

fn masses(list: &[Atom]) -> Dd {
    sum(&list.iter().map(|atom| atom.mass).collect::<Vec<_>>())
}
