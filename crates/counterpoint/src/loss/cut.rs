//! Pairs of mixtures of Gaussians on a line, cut into cells in which the loss is known to lie between its ends.

use super::Meaning;
use super::atoms::Atom;
use super::cells::spread;
use super::listed::{at_least, at_most};
use crate::mechanism::Cell;
use crate::rounding::{Dd, normal_tail};

/// Standard normal laws by weight and mean. Means are multiples of [`UNIT`], so that distances from a cell's ends
/// are exact.
pub(super) type Normals<'a> = &'a [(Dd, f64)];

/// 2^-45.
const UNIT: f64 = 1.0 / (1_u64 << 45) as f64;
/// Cells are 2^-8 wide.
const WIDTH: f64 = 1.0 / 256.0;
/// Beyond this from all means less than 1e-33 is left, which leaks.
const REACH: f64 = 12.0;
/// Tails are good to 2^-90 of themselves, and a cell is at least 2^-9 of a tail that ends in it: its mass is within this.
/// Its loss, a logarithm of sums of positive terms, is within as much.
const CLOSE: f64 = 1e-22;

/// Cells with less than this leak.
const NOTHING: f64 = 1e-250;

/// The least multiple of the unit that is no less.
pub(super) fn mean_above(mu: Dd) -> f64 {
    (mu.upper() / UNIT).ceil() * UNIT
}

/// The largest that is no more.
pub(super) fn mean_below(mu: Dd) -> f64 {
    (mu.lower() / UNIT).floor() * UNIT
}

/// A pair whose loss rises with the place, cut.
pub(super) struct Pieces(Vec<Piece>);

struct Piece {
    p: Dd,
    q: Dd,
    lower: f64,
    upper: f64,
}

impl Pieces {
    pub(super) fn new(p: Normals<'_>, q: Normals<'_>, loss: impl Fn(f64) -> Dd) -> Self {
        let means = || p.iter().chain(q).map(|&(_, mean)| mean);
        let first = (means().fold(0.0, f64::min) - REACH).floor();
        let cells = ((means().fold(0.0, f64::max) + REACH - first) / WIDTH).ceil() as u32;
        let end = |k: u32| first + WIDTH * f64::from(k);
        let (p, q) = (masses(p, cells, end), masses(q, cells, end));
        let losses: Vec<Dd> = (0..=cells).map(|k| loss(end(k))).collect();
        let pieces = p.into_iter().zip(q).zip(losses.windows(2)).map(|((p, q), ends)| {
            let close = CLOSE * ends[0].hi.abs().max(ends[1].hi.abs()).max(1.0);
            let (lower, upper) = (ends[0] - Dd::from(close), ends[1] + Dd::from(close));
            Piece { p, q, lower: lower.lower(), upper: upper.upper() }
        });
        Self(pieces.filter(|piece| piece.p.hi > NOTHING && piece.q.hi > NOTHING).collect())
    }

    /// The same with P and Q exchanged.
    pub(super) fn exchanged(&self) -> Self {
        let turn = |piece: &Piece| Piece {
            p: piece.q,
            q: piece.p,
            lower: -piece.upper,
            upper: -piece.lower,
        };
        Self(self.0.iter().map(turn).collect())
    }

    /// Each cell's masses at its ends.
    pub(super) fn apart(&self) -> Vec<Atom> {
        let ends = |piece: &Piece| {
            let cell = Cell { p: 0.0, q: 0.0, lower: piece.lower, upper: piece.upper };
            spread(&cell, (piece.p, piece.q))
        };
        let certain =
            |(p, q): (Dd, Dd)| Atom { loss: (p / q).ln(), mass: p * (Dd::ONE - Dd::from(CLOSE)) };
        self.0
            .iter()
            .flat_map(ends)
            .filter(|(p, q)| p.is_positive() && q.is_positive())
            .map(certain)
            .collect()
    }

    /// Each cell as one outcome.
    fn together(&self) -> Vec<Atom> {
        let one = |piece: &Piece| Atom {
            loss: (piece.p / piece.q).ln() - Dd::from(4.0 * CLOSE),
            mass: piece.p * (Dd::ONE - Dd::from(CLOSE)),
        };
        self.0.iter().map(one).collect()
    }

    pub(super) fn most(&self) -> Meaning {
        at_most(self.apart())
    }

    pub(super) fn least(&self) -> Meaning {
        at_least(self.together())
    }
}

/// What a mixture has in each cell.
fn masses(normals: Normals<'_>, cells: u32, end: impl Fn(u32) -> f64) -> Vec<Dd> {
    let mut all = vec![Dd::ZERO; cells as usize];
    for &(weight, mean) in normals {
        // Below the mean the lower tails, above it the upper ones: nothing cancels but neighbours.
        let tail = |x: f64| {
            let (lower, upper) = normal_tail(x.abs());
            (lower + upper).to_dd().scaled(0.5)
        };
        let tails: Vec<(f64, Dd)> =
            (0..=cells).map(|k| (end(k) - mean, tail(end(k) - mean))).collect();
        for (mass, ends) in all.iter_mut().zip(tails.windows(2)) {
            let ((a, low), (b, high)) = (ends[0], ends[1]);
            let between = match (a >= 0.0, b <= 0.0) {
                (true, _) => low - high,
                (_, true) => high - low,
                _ => Dd::ONE - low - high,
            };
            *mass = *mass + weight * between;
        }
    }
    all
}
