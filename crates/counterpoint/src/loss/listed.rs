//! Lists of which only part of the mass is certain.

use super::Meaning;
use super::atoms::{Atom, Atoms, sum};
use crate::rounding::Dd;

/// No mechanism with these losses at most, and with these masses at least: all else leaks.
pub(super) fn at_most(list: Vec<Atom>) -> Meaning {
    let total = masses(&list);
    let rest = (Dd::ONE - total).upper().clamp(0.0, 1.0);
    let normed = |atom: Atom| Atom { mass: atom.mass / total, ..atom };
    let list = list.into_iter().map(normed).collect();
    Meaning { leak: (0.0, rest), ..Atoms::listed(list).into() }
}

/// No mechanism with these losses at least, and with these masses at least: all else is at the least loss.
pub(super) fn at_least(mut list: Vec<Atom>) -> Meaning {
    let rest = Dd::ONE - masses(&list);
    let least = list.iter_mut().min_by(|a, b| a.loss.hi.total_cmp(&b.loss.hi));
    match least {
        Some(least) if rest.is_positive() => least.mass = least.mass + rest,
        Some(_) => {}
        None => return Meaning::default(),
    }
    Atoms::listed(list).into()
}

fn masses(list: &[Atom]) -> Dd {
    sum(&list.iter().map(|atom| atom.mass).collect::<Vec<_>>())
}
