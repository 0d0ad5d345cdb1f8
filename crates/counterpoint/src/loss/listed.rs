//! Lists of which only part of the mass is certain.

use super::Meaning;
use crate::laws::{Atom, Atoms, sum};
use counterpoint_numerics::Dd;

/// No mechanism with these losses at most, and with these masses at least: all else leaks, and so do the largest
/// losses, which have no more mass than `rare` together.
pub(super) fn at_most(list: Vec<Atom>, rare: f64) -> Meaning {
    let list = usual(list, rare);
    let total = masses(&list);
    let rest = (Dd::ONE - total).upper().clamp(0.0, 1.0);
    let normed = |atom: Atom| Atom { mass: atom.mass / total, ..atom };
    let list = list.into_iter().map(normed).collect();
    Meaning { leak: (0.0, rest), ..Atoms::of(list).into() }
}

/// No mechanism with these losses at least, and with these masses at least: all else is at the least loss, and so is
/// what is rare.
pub(super) fn at_least(list: Vec<Atom>, rare: f64) -> Meaning {
    let mut list = usual(list, rare);
    let rest = Dd::ONE - masses(&list);
    let Some(least) = list.first_mut() else { return Meaning::default() };
    if rest.is_positive() {
        least.mass = least.mass + rest;
    }
    Atoms::of(list).into()
}

/// By rising loss, without the largest ones that are rare together: routes that weigh losses by their size would
/// look for them.
fn usual(mut list: Vec<Atom>, rare: f64) -> Vec<Atom> {
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
