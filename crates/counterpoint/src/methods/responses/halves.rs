//! Few atoms: lists of all atoms in one half or two.
//!
//! The losses of a set of factors form a sorted list of atoms, with the P and Q mass of all atoms from each one upward.
//! Two such lists represent the factors of both: for every atom of one list, the atoms of the other that lift the sum
//! above epsilon are a suffix, and the suffix moves in one direction as the atom increases. That takes the square root
//! of the papers' 2^k.

use super::equal::EqualResponses;
use crate::composition::Factor;
use crate::delta_bounds::UNCOUNTED;
use crate::methods::outcomes::Outcomes;
use crate::methods::tail::Tail;
use crate::watch::{StopRequest, Watch};
use counterpoint_numerics::{Dd, STEP, Wide};

/// A factor's product and its mass's logarithm, besides the error that the logarithm carries.
const FACTOR: f64 = 4.0;
/// An addition costs 2^-102, a 256th of a step.
const ADDITIONS_A_STEP: f64 = 256.0;
/// The same for losses, times four; and a few operations besides those counted.
const LOSSES_A_STEP: f64 = 64.0;
const FEW: f64 = 4.0;
/// Losses that differ by at most both their errors, and as much again for the difference, are merged.
const SAME: f64 = 4.0;
/// Atoms down to three errors below epsilon may be included, each costing e^x - 1 of its mass.
const COUNTED_IN: f64 = 8.0;
/// P's or Q's mass: a logarithm as in [`EqualResponses`], twice.
const MASS: f64 = 16.0 * STEP;

#[derive(Clone, Copy, Debug)]
struct HalfAtom {
    loss: Dd,
    p: Wide,
    q: Wide,
}

/// A sorted list of atoms with the masses of its suffixes.
#[derive(Clone, Debug)]
struct HalfList {
    atoms: Vec<HalfAtom>,
    /// P and Q mass of the atoms from each index on; one entry more than atoms.
    suffixes: Vec<(Wide, Wide)>,
}

/// Two halves of a composition, either of which may be trivial.
#[derive(Clone, Debug)]
pub(crate) struct Halves {
    left: HalfList,
    right: HalfList,
    largest: Dd,
    /// Relative error of the masses.
    slack: f64,
    /// Absolute error of the losses.
    loss_error: f64,
}

/// The number of atoms of a list of factors, saturating.
pub(crate) fn atoms_of(factors: &[Factor]) -> f64 {
    factors.iter().map(|factor| factor.count as f64 + 1.0).product()
}

/// Splits the factors in two so that the larger list of atoms is short: each factor goes to the shorter side, the
/// longest first.
pub(crate) fn balance(factors: &[Factor]) -> (Vec<Factor>, Vec<Factor>) {
    let mut sorted = factors.to_vec();
    sorted.sort_by_key(|factor| std::cmp::Reverse(factor.count));
    let (mut left, mut right) = ((Vec::new(), 1.0), (Vec::new(), 1.0));
    for factor in sorted {
        let shorter = if left.1 <= right.1 { &mut left } else { &mut right };
        shorter.0.push(factor);
        shorter.1 *= factor.count as f64 + 1.0;
    }
    (left.0, right.0)
}

impl Halves {
    /// Lists the atoms of both halves.
    pub(crate) fn new(
        left: &[Factor],
        right: &[Factor],
        watch: &Watch<'_>,
    ) -> Result<Self, StopRequest> {
        let all = || left.iter().chain(right);
        let largest = all().fold(Dd::ZERO, |sum, f| sum + Dd::product(f.count as f64, f.each));
        // Each factor adds one product and a binomial mass.
        let masses: f64 = all().map(|f| FACTOR + mass_error(f) / STEP).sum();
        let additions = 2.0 * (atoms_of(left) + atoms_of(right));
        let factors = (left.len() + right.len()) as f64;
        Ok(Self {
            left: HalfList::new(left, watch)?,
            right: HalfList::new(right, watch)?,
            largest,
            slack: STEP * (masses + additions / ADDITIONS_A_STEP + UNCOUNTED),
            loss_error: STEP * (factors + FEW) * largest.hi / LOSSES_A_STEP,
        })
    }

    /// The outcomes of the second half by decreasing loss, if the first half is trivial. Losses that differ at most by
    /// rounding are merged.
    pub(crate) fn into_outcomes(self) -> Outcomes {
        let mut list: Vec<(Dd, Wide, Wide)> = Vec::with_capacity(self.right.atoms.len());
        for atom in self.right.atoms.iter().rev() {
            match list.last_mut() {
                Some((loss, p, q)) if (*loss - atom.loss).hi <= SAME * self.loss_error => {
                    (*p, *q) = (*p + atom.p, *q + atom.q);
                }
                _ => list.push((atom.loss, atom.p, atom.q)),
            }
        }
        Outcomes { list, slack: self.slack + COUNTED_IN * self.loss_error, cut: 0.0 }
    }

    /// The largest loss, from above.
    pub(crate) fn largest(&self) -> Dd {
        self.largest + Dd::from(self.loss_error)
    }

    /// The tail above an epsilon.
    ///
    /// Atoms below epsilon, but within the error of the losses, are included: each adds at most that error, relative to
    /// its mass, for which the slack allows.
    pub(crate) fn tail(&self, epsilon: f64) -> Tail {
        let threshold = Dd::from(epsilon) - Dd::from(2.0 * self.loss_error);
        let (mut p, mut q) = (Wide::ZERO, Wide::ZERO);
        let mut from = self.right.atoms.len();
        for atom in &self.left.atoms {
            while from > 0 && atom.loss + self.right.atoms[from - 1].loss > threshold {
                from -= 1;
            }
            let (right_p, right_q) = self.right.suffixes[from];
            p = p + atom.p * right_p;
            q = q + atom.q * right_q;
        }
        Tail { p, q, slack: self.slack + COUNTED_IN * self.loss_error }
    }
}

/// A bound on the relative error of one factor's masses: eight steps for each unit of the logarithms in them, which for
/// any number of minuses add up to at most `n (eps + 4) + ln n + 8`, twice for Q.
fn mass_error(factor: &Factor) -> f64 {
    let count = factor.count as f64;
    MASS * (count * (factor.each + 4.0) + 0.7 * f64::from(64 - factor.count.leading_zeros()) + 16.0)
}

impl HalfList {
    fn new(factors: &[Factor], watch: &Watch<'_>) -> Result<Self, StopRequest> {
        let mut atoms = vec![HalfAtom { loss: Dd::ZERO, p: Wide::ONE, q: Wide::ONE }];
        for factor in factors {
            watch.check(0.0)?;
            atoms = times(&atoms, &atoms_of_one(*factor));
        }
        let mut suffixes = vec![(Wide::ZERO, Wide::ZERO); atoms.len() + 1];
        for (index, atom) in atoms.iter().enumerate().rev() {
            let (p, q) = suffixes[index + 1];
            suffixes[index] = (p + atom.p, q + atom.q);
        }
        Ok(Self { atoms, suffixes })
    }
}

/// The atoms of one factor, by increasing loss.
fn atoms_of_one(factor: Factor) -> Vec<HalfAtom> {
    let equal = EqualResponses::new(factor);
    let atom = |y: u64| {
        let loss = equal.loss(y as f64);
        let ln_p = equal.ln_mass(y as f64).0;
        HalfAtom { loss, p: Wide::exp(ln_p), q: Wide::exp(ln_p - loss) }
    };
    (0..=factor.count).rev().map(atom).collect()
}

/// All sums of an atom of each list, sorted. The input consists of sorted runs, one for each shift, which a merge sort
/// detects.
fn times(atoms: &[HalfAtom], shifts: &[HalfAtom]) -> Vec<HalfAtom> {
    let mut all = Vec::with_capacity(atoms.len() * shifts.len());
    for shift in shifts {
        all.extend(atoms.iter().map(|atom| HalfAtom {
            loss: atom.loss + shift.loss,
            p: atom.p * shift.p,
            q: atom.q * shift.q,
        }));
    }
    all.sort_by(|a, b| {
        a.loss.hi.total_cmp(&b.loss.hi).then_with(|| a.loss.lo.total_cmp(&b.loss.lo))
    });
    all
}
