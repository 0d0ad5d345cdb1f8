//! Few atoms: list them, in one half or two.
//!
//! The losses of a set of factors form a list of atoms, sorted, with the P and Q
//! mass of everything from each atom upward. Two such lists answer for the factors
//! of both: for every atom of one, the part of the other that lifts the sum above
//! epsilon is a suffix, and moves one way as the atom grows. That is the square root
//! of the papers' 2^k.

use super::equal::Equal;
use crate::composition::Factor;
use crate::ends::UNCOUNTED;
use crate::methods::outcomes::Outcomes;
use crate::methods::tail::Tail;
use crate::watch::{Stopped, Watch};
use counterpoint_numerics::{Dd, STEP, Wide};

/// A factor's product and its mass's logarithm, beside what the latter carries.
const FACTOR: f64 = 4.0;
/// An addition costs 2^-102, a 256th of a step.
const ADDITIONS_A_STEP: f64 = 256.0;
/// The same for losses, fourfold; a few beside those counted.
const LOSSES_A_STEP: f64 = 64.0;
const FEW: f64 = 4.0;
/// Losses that differ by both their errors, and as much again for the difference, are one.
const SAME: f64 = 4.0;
/// Atoms down to three errors below epsilon may be counted in, each costing e^x - 1 of its mass.
const COUNTED_IN: f64 = 8.0;
/// P's or Q's mass: a logarithm as in [`Equal`], twice.
const MASS: f64 = 16.0 * STEP;

#[derive(Clone, Copy, Debug)]
struct Atom {
    loss: Dd,
    p: Wide,
    q: Wide,
}

/// A sorted list of atoms with the masses of its suffixes.
#[derive(Clone, Debug)]
struct Half {
    atoms: Vec<Atom>,
    /// P and Q mass of the atoms from each index on; one entry more than atoms.
    suffixes: Vec<(Wide, Wide)>,
}

/// Two halves of a composition, either of which may be trivial.
#[derive(Clone, Debug)]
pub(crate) struct Halves {
    left: Half,
    right: Half,
    largest: Dd,
    /// Relative error of the masses.
    slack: f64,
    /// Absolute error of the losses.
    loss_error: f64,
}

/// How many atoms a list of factors has, saturating.
pub(crate) fn atoms_of(factors: &[Factor]) -> f64 {
    factors.iter().map(|factor| factor.count as f64 + 1.0).product()
}

/// Splits the factors in two so that the larger list of atoms is short: each goes to
/// the shorter side, the longest first.
pub(crate) fn balanced(factors: &[Factor]) -> (Vec<Factor>, Vec<Factor>) {
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
    ) -> Result<Self, Stopped> {
        let all = || left.iter().chain(right);
        let largest = all().fold(Dd::ZERO, |sum, f| sum + Dd::product(f.count as f64, f.each));
        // Each factor adds one product and, if counted, a binomial mass.
        let masses: f64 = all().map(|f| FACTOR + mass_error(f) / STEP).sum();
        let additions = 2.0 * (atoms_of(left) + atoms_of(right));
        let factors = (left.len() + right.len()) as f64;
        Ok(Self {
            left: Half::new(left, watch)?,
            right: Half::new(right, watch)?,
            largest,
            slack: STEP * (masses + additions / ADDITIONS_A_STEP + UNCOUNTED),
            loss_error: STEP * (factors + FEW) * largest.hi / LOSSES_A_STEP,
        })
    }

    /// The outcomes of the second half, the first being trivial: by falling loss, those that
    /// differ by rounding at most together.
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
    /// Atoms within the error of the losses below epsilon are counted in: each adds
    /// at most that error, relative to its mass, which the slack allows for.
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

/// A bound on the relative error of one factor's masses: eight steps for each unit of the
/// logarithms they are made of, which for any number of minuses add up to at most
/// `n (eps + 4) + ln n + 8`, twice for Q.
fn mass_error(factor: &Factor) -> f64 {
    let count = factor.count as f64;
    MASS * (count * (factor.each + 4.0) + 0.7 * f64::from(64 - factor.count.leading_zeros()) + 16.0)
}

impl Half {
    fn new(factors: &[Factor], watch: &Watch<'_>) -> Result<Self, Stopped> {
        let mut atoms = vec![Atom { loss: Dd::ZERO, p: Wide::ONE, q: Wide::ONE }];
        for factor in factors {
            watch.at(0.0)?;
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
fn atoms_of_one(factor: Factor) -> Vec<Atom> {
    let equal = Equal::new(factor);
    let atom = |y: u64| {
        let loss = equal.loss(y as f64);
        let ln_p = equal.ln_mass(y as f64).0;
        Atom { loss, p: Wide::exp(ln_p), q: Wide::exp(ln_p - loss) }
    };
    (0..=factor.count).rev().map(atom).collect()
}

/// All sums of an atom of each list, sorted. The input is runs of sorted atoms, one
/// for each shift, which a merging sort finds.
fn times(atoms: &[Atom], shifts: &[Atom]) -> Vec<Atom> {
    let mut all = Vec::with_capacity(atoms.len() * shifts.len());
    for shift in shifts {
        all.extend(atoms.iter().map(|atom| Atom {
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
