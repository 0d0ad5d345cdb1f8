//! Near the largest loss: lists the few atoms that lie above epsilon.
//!
//! With E the largest loss, a set of minuses T has loss E - 2 sum_T eps. Only atoms above epsilon count. If they are
//! few they are listed, however long the list of factors is. There the lattices would subtract nearly equal masses.

use super::{largest_error, largest_loss};
use crate::composition::Factor;
use crate::composition::leak::Target;
use crate::delta_bounds::{DeltaBounds, UNCOUNTED};
use crate::methods::search::narrow_bracket;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, Wide, exp_neg};

/// The error of an atom's distance above epsilon: the largest loss's error, and as much again for the differences.
const DISTANCE: f64 = 2.0;
/// An atom's ratio takes three operations from another atom's, and an addition; a 16th of a step, counted as two.
const ATOM: f64 = 2.0 * STEP;
/// A sum of logarithms: each good to 2^-94 of itself and added at 2^-102; as a factor of e, twice.
const LOGARITHMS: f64 = 4.0;
const LOGARITHMS_A_STEP: f64 = 64.0;
const FIRST_ORDER: f64 = 2.0;

/// The largest numbers of atoms that are listed: at first, and if no other method applies.
pub(crate) const FEW_ATOMS: usize = 4096;
pub(crate) const MANY_ATOMS: usize = 131_072;
/// Slightly more than the logarithm of [`MANY_ATOMS`].
const LN_MANY_ATOMS: f64 = 13.0;

/// The pure delta at an epsilon below the largest loss, if few atoms lie above it: the sum of their masses times `1 -
/// e^(epsilon - loss)`, in which nothing cancels.
pub(crate) fn delta(factors: &[Factor], epsilon: f64, most: usize) -> Option<DeltaBounds> {
    let largest = largest_loss(factors);
    let error = largest_error(factors) * largest.hi + STEP * epsilon;
    let off = DISTANCE * error;
    let gap = largest - Dd::from(epsilon);
    let mut atoms = vec![MinusSet { first: 0, left: gap, ratio: Wide::ONE }];
    let (mut lower, mut upper) = (Wide::ZERO, Wide::ZERO);
    let mut listed = 0;
    while let Some(atom) = atoms.pop() {
        listed += 1;
        let (low, high) = (atom.left - Dd::from(off), atom.left + Dd::from(off));
        lower = lower + atom.ratio * above(low);
        upper = upper + atom.ratio * above(high);
        for (index, &factor) in factors.iter().enumerate().skip(atom.first) {
            // Factors are sorted, so the remaining ones are too large as well.
            if high < Dd::from(2.0 * factor.each) {
                break;
            }
            atoms.extend(atom.with_minuses(index, factor, off, most));
            if listed + atoms.len() > most {
                return None;
            }
        }
    }
    let (mass, mass_error) = all_pluses(factors);
    let slack = mass_error + ATOM * (most as f64 + UNCOUNTED);
    let scaled = |sum: Wide, slack: f64| sum * mass * Wide::from(Dd::sum(1.0, slack));
    Some(DeltaBounds::new(scaled(lower, -slack), scaled(upper, slack)))
}

/// The least epsilon whose pure delta is within the target, if few atoms lie above it, by bisection of the distance to
/// the largest loss.
pub(crate) fn epsilon(factors: &[Factor], target: &Target, most: usize) -> Option<Bracket> {
    let far = target.upper.ln_estimate() > most_of_all_pluses(factors) + LN_MANY_ATOMS;
    if far || target.upper > all_pluses(factors).0 * Wide::from(most as f64) {
        return None;
    }
    let top = (largest_loss(factors) * (1.0 + 2.0 * largest_error(factors))).upper();
    let mut bracket = Bracket { lower: 0.0, upper: top };
    let mut gap = 1e-15 * top;
    // Step outward until the target is exceeded.
    loop {
        let at = (top - gap).max(0.0);
        let DeltaBounds { lower, upper } = delta(factors, at, most)?;
        if lower > target.upper {
            bracket.lower = at;
            break;
        }
        if upper <= target.lower {
            bracket.upper = at;
        }
        if at <= 0.0 {
            return (bracket.upper <= 0.0).then_some(bracket);
        }
        gap *= 2.0;
    }
    let at = |epsilon: f64| delta(factors, epsilon, most).ok_or(());
    narrow_bracket(bracket, (u32::MAX, 1e-15), target, at).ok()
}

/// `1 - e^-x`, zero below zero.
fn above(x: Dd) -> Wide {
    match x.hi {
        ..=0.0 => Wide::ZERO,
        300.0.. => Wide::ONE,
        _ => Wide::from(-(-x).expm1()),
    }
}

/// A set of minuses: its mass relative to no minus at all, and its distance above epsilon.
struct MinusSet {
    /// The index of the first factor from which minuses may still be added.
    first: usize,
    left: Dd,
    ratio: Wide,
}

impl MinusSet {
    /// The atoms with 1, 2, ... additional minuses of one factor, and none of earlier factors.
    fn with_minuses(&self, index: usize, factor: Factor, error: f64, most: usize) -> Vec<Self> {
        let each = Dd::from(2.0 * factor.each);
        let decay = Wide::exp(Dd::from(-factor.each));
        let (mut left, mut ratio) = (self.left, self.ratio);
        let mut list = Vec::new();
        for minuses in 0..factor.count {
            if left + Dd::from(error) < each || list.len() > most {
                break;
            }
            left = left - each;
            let choices = Dd::from((factor.count - minuses) as f64) / (minuses + 1) as f64;
            ratio = ratio * Wide::from(choices) * decay;
            list.push(Self { first: index + 1, left, ratio });
        }
        list
    }
}

/// An approximate upper bound on the logarithm of the probability of no minus, as ln(1 + e^-x) is at least ln 2 - x/2.
/// It spares most long lists their logarithms.
fn most_of_all_pluses(factors: &[Factor]) -> f64 {
    let most = |factor: &Factor| (0.5 * factor.each - std::f64::consts::LN_2).min(0.0);
    factors.iter().map(|factor| factor.count as f64 * most(factor)).sum()
}

/// The probability of no minus, and its relative error.
fn all_pluses(factors: &[Factor]) -> (Wide, f64) {
    let logarithm = factors.iter().fold(Dd::ZERO, |sum, factor| {
        let decay = exp_neg(Dd::from(factor.each));
        sum - decay.ln_1p() * factor.count as f64
    });
    let steps = LOGARITHMS + factors.len() as f64 / LOGARITHMS_A_STEP;
    let error = STEP * steps * (1.0 + logarithm.hi.abs());
    (Wide::exp(logarithm), FIRST_ORDER * error)
}
