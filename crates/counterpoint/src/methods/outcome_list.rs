//! Lists of all outcomes, for losses with few outcomes.

use super::largest::left_out_mass;
use crate::composition::CountedLoss;
use crate::composition::leak::Target;
use crate::delta_bounds::{DeltaBounds, ROUNDED_UP, UNCOUNTED};
use crate::laws::{Atom, Atoms, LOSS};
use crate::methods::Failure;
use crate::methods::outcomes::Outcomes;
use crate::methods::search::both_ends_to_tolerance;
use counterpoint_numerics::{Bracket, Dd, STEP, Wide};

/// For each factor: its mass, good to two steps, and its product in a power.
const FACTOR: f64 = 4.0;

/// The largest number of outcomes that are listed.
const MOST_LISTED: usize = 20_000;

/// A bound on the mass lost when products of masses underflow; the true loss is far smaller.
const UNDERFLOW: f64 = 1e-260;

/// An estimate of the number of sums that make the list. It assumes that the losses lie on a lattice, where the number of
/// different sums is about the sum of the factors' numbers of atoms.
pub(crate) fn estimated_work(parts: &[CountedLoss]) -> f64 {
    let (mut factors, mut different) = (0.0, 1.0);
    for part in parts {
        let atoms = match (part.law().list_formula(), part.law().listed_count()) {
            (Some(formula), _) => formula.outcomes,
            (None, Some(atoms)) => atoms as f64,
            (None, None) => 2.0,
        };
        factors += part.count as f64 * atoms;
        different += part.count as f64 * (atoms - 1.0);
    }
    0.5 * factors * different
}

/// All losses of a composition of few atoms; equal losses are merged.
pub(crate) struct OutcomeList {
    atoms: Atoms,
    /// The largest number of operations in a loss or a mass.
    operations: f64,
    /// The P mass that is not listed and may have any loss; a list of outcomes must account for it.
    omitted_mass: f64,
}

impl OutcomeList {
    /// Returns `None` if a part has a density, or there are too many outcomes.
    pub(crate) fn new(parts: &[CountedLoss]) -> Option<Self> {
        if are_too_many(parts) {
            return None;
        }
        let one = Atom { loss: Dd::ZERO, mass: Dd::ONE };
        let cut = left_out_mass(parts) + UNDERFLOW;
        let mut atoms =
            Atoms { list: vec![one].into(), cut, capped: false, symmetric: false, rho: None };
        let mut operations = UNCOUNTED;
        for part in parts {
            let factor = part.law().atoms()?;
            for _ in 0..part.count {
                if atoms.list.len() * factor.len() > 8 * MOST_LISTED || operations > 1e5 {
                    return None;
                }
                atoms.list = product(&atoms.list, &factor).into();
                operations += FACTOR + factor.len() as f64;
                if atoms.list.len() > MOST_LISTED {
                    return None;
                }
            }
        }
        let omitted_mass = |part: &CountedLoss| part.law().omitted_mass().mass * part.count as f64;
        let omitted_mass = ROUNDED_UP * parts.iter().map(omitted_mass).sum::<f64>();
        Some(Self { atoms, operations, omitted_mass })
    }

    /// The outcomes, the mass that is in none of them, and the largest number of operations in each.
    pub(crate) fn into_atoms(self) -> (Vec<Atom>, f64, f64) {
        let cut = self.cut();
        (self.atoms.list.to_vec(), cut, self.operations)
    }

    /// The mass that is not listed. Nothing has underflowed if no mass is near underflow.
    fn cut(&self) -> f64 {
        let whole = self.omitted_mass <= 0.0
            && self.atoms.cut <= UNDERFLOW
            && self.atoms.list.iter().all(|atom| atom.mass.hi > 1e-250);
        if whole { 0.0 } else { self.atoms.cut + self.omitted_mass }
    }

    /// The outcomes, with their Q masses.
    pub(crate) fn into_outcomes(self) -> Outcomes {
        let list = &self.atoms.list;
        let size = list.iter().fold(1.0, |most: f64, atom| most.max(1.0 + atom.loss.hi.abs()));
        let slack = LOSS * self.operations * size + STEP * list.len() as f64;
        let cut = self.cut();
        let outcome = |atom: &Atom| {
            let p = Wide::from(atom.mass);
            (atom.loss, p, p * Wide::exp(-atom.loss))
        };
        Outcomes { list: list.iter().map(outcome).collect(), slack, cut }
    }

    pub(crate) fn delta(&self, epsilon: f64) -> DeltaBounds {
        self.atoms.profile_after(Dd::from(epsilon), self.operations)
    }

    /// Losses and their masses, by decreasing loss.
    pub(crate) fn brackets(&self) -> Vec<(Bracket, Bracket)> {
        let around = |value: Dd, error: f64| Bracket {
            lower: (value - Dd::from(error)).lower(),
            upper: (value + Dd::from(error)).upper(),
        };
        let slack = self.operations * STEP;
        let ends = |atom: &Atom| {
            let loss = around(atom.loss, slack * (1.0 + atom.loss.hi.abs()));
            (loss, around(atom.mass, slack * atom.mass.hi + self.atoms.cut + self.omitted_mass))
        };
        self.atoms.list.iter().map(ends).collect()
    }

    /// The least epsilon whose pure delta is within the target.
    pub(crate) fn epsilon(&self, target: &Target, tolerance: f64) -> Result<Bracket, Failure> {
        let first = self.atoms.list.first().ok_or(Failure::TooMuch)?;
        let top = (first.loss + Dd::from(self.operations * STEP * (1.0 + first.loss.hi))).upper();
        if self.delta(0.0).upper <= target.lower {
            return Ok(Bracket::exact(0.0));
        }
        if self.delta(top.max(0.0)).upper > target.lower {
            return Err(Failure::TooMuch);
        }
        let bracket = Bracket { lower: 0.0, upper: top.max(0.0) };
        both_ends_to_tolerance(|epsilon| Ok(self.delta(epsilon)), target, bracket, tolerance)
    }
}

/// True if there are surely too many sums, by the formulas of lists that are not made yet.
fn are_too_many(parts: &[CountedLoss]) -> bool {
    let outcomes = |part: &CountedLoss| Some((part.law().list_formula()?.outcomes, part.count));
    let mut most = 0.0_f64;
    for (outcomes, count) in parts.iter().filter_map(outcomes) {
        let before = if count > 1 { outcomes } else { most };
        // The list leaves out a few of them.
        if 0.8 * outcomes * before > (8 * MOST_LISTED) as f64 {
            return true;
        }
        most = most.max(outcomes);
    }
    false
}

/// All sums, by decreasing loss; losses that differ at most by rounding are merged.
fn product(list: &[Atom], factor: &[Atom]) -> Vec<Atom> {
    let sum = |a: &Atom, b: &Atom| Atom { loss: a.loss + b.loss, mass: a.mass * b.mass };
    let mut all: Vec<Atom> =
        list.iter().flat_map(|a| factor.iter().map(move |b| sum(a, b))).collect();
    all.sort_by(|a, b| b.loss.hi.total_cmp(&a.loss.hi).then(b.loss.lo.total_cmp(&a.loss.lo)));
    all.dedup_by(|next, kept| {
        let same = (kept.loss - next.loss).hi <= STEP * (1.0 + kept.loss.hi.abs());
        if same {
            kept.mass = kept.mass + next.mass;
        }
        same
    });
    all
}
