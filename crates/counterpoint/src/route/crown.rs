//! Near the largest loss: the few atoms that lie above epsilon.
//!
//! With E the largest loss, a set of minuses T has loss E - 2 sum_T eps. Only those above
//! epsilon count, and where they are few they are listed, however long the list of factors
//! is. There the lattices would subtract nearly equal masses.

use super::tail::Tail;
use super::{largest_error, largest_loss};
use crate::composition::Factor;
use crate::rounding::{Dd, STEP, Wide};

/// The most atoms worth listing.
const MOST_ATOMS: usize = 4096;

/// The tail above an epsilon, if few atoms lie there.
pub(crate) fn tail(factors: &[Factor], epsilon: f64) -> Option<Tail> {
    let largest = largest_loss(factors);
    let error = largest_error(factors) * largest.hi;
    // A little more, so that no atom above epsilon is left out.
    let gap = largest - Dd::from(epsilon) + Dd::from(4.0 * error);
    let mut atoms = vec![Atom { first: 0, left: gap, ratio: Wide::ONE, down: Dd::ZERO }];
    let (mut p, mut q) = (Wide::ZERO, Wide::ZERO);
    let mut listed = 0;
    while let Some(atom) = atoms.pop() {
        listed += 1;
        p = p + atom.ratio;
        q = q + atom.ratio * Wide::exp(atom.down - largest);
        for index in atom.first..factors.len() {
            // Factors come sorted: the rest are too large as well.
            if atom.left < Dd::from(2.0 * factors[index].epsilon) {
                break;
            }
            atoms.extend(atom.with_minuses(index, factors[index]));
            if listed + atoms.len() > MOST_ATOMS {
                return None;
            }
        }
    }
    let (mass, mass_error) = all_pluses(factors);
    let slack = mass_error + STEP * (MOST_ATOMS as f64 + 64.0 + 8.0 * largest.hi) + 16.0 * error;
    Some(Tail { p: p * mass, q: q * mass, slack })
}

/// A set of minuses: its mass relative to no minus at all, and how far down it is.
struct Atom {
    /// Minuses may still be added from this factor on.
    first: usize,
    left: Dd,
    ratio: Wide,
    down: Dd,
}

impl Atom {
    /// The atoms with 1, 2, ... minuses more of one factor, none before it.
    fn with_minuses(&self, index: usize, factor: Factor) -> Vec<Self> {
        let each = Dd::from(2.0 * factor.epsilon);
        let decay = Wide::exp(Dd::from(-factor.epsilon));
        let (mut left, mut down, mut ratio) = (self.left, self.down, self.ratio);
        let mut list = Vec::new();
        for minuses in 0..factor.count {
            if left < each || list.len() > MOST_ATOMS {
                break;
            }
            left = left - each;
            down = down + each;
            let choices = Dd::from((factor.count - minuses) as f64) / (minuses + 1) as f64;
            ratio = ratio * Wide::from(choices) * decay;
            list.push(Self { first: index + 1, left, ratio, down });
        }
        list
    }
}

/// The probability of no minus at all, and its relative error.
fn all_pluses(factors: &[Factor]) -> (Wide, f64) {
    let logarithm = factors.iter().fold(Dd::ZERO, |sum, factor| {
        let decay = if factor.epsilon < 590.0 { Dd::from(-factor.epsilon).exp() } else { Dd::ZERO };
        sum - decay.ln_1p() * factor.count as f64
    });
    let error = STEP * (4.0 + factors.len() as f64 / 64.0) * (1.0 + logarithm.hi.abs());
    (Wide::exp(logarithm), 2.0 * error)
}
