//! Pairs of mixtures of Gaussians on a line, partitioned into cells. The losses at a cell's ends bound the loss within
//! the cell.

use super::PairLoss;
use super::cells::spread;
use super::partial_lists::{dominated_loss, dominating_loss};
use crate::laws::{Atom, log_mixture};
use crate::mechanism::Cell;
use counterpoint_numerics::{Dd, normal_tail};

/// A mixture of normal laws of variance one: weights, and means in multiples of the mean of [`EvenCells`].
pub(super) type NormalMixture<'a> = &'a [(Dd, i32)];

/// The unit of cells' widths, 2^-45.
const GRAIN: f64 = 1.0 / (1_u64 << 45) as f64;
/// The largest width of a cell, in a fine and in a coarse partition.
pub(super) const FINE: f64 = 1.0 / 256.0;
pub(super) const COARSE: f64 = 1.0 / 64.0;
/// The distance from all means beyond which a mass of less than 1e-33 remains, which leaks.
const REACH: f64 = 12.0;
/// The relative error of a cell's mass. Tails are good to 2^-83 of themselves, and a cell of a width of 5e-4 or more is
/// at least 2^-12 of a tail that ends in it. A cell's loss, a logarithm of sums of positive terms, has no larger error.
const CLOSE: f64 = 1e-21;

/// The error of the sum of all masses.
const NEARLY: f64 = 1e-19;

/// The mass of the largest losses that is counted as a leak; the mass that is left out in any case is smaller.
pub(super) const RARE: f64 = 1e-18;

/// Cells with less mass than this leak.
const NOTHING: f64 = 1e-250;

/// A partition of the line into cells of one width, in which a mean is a whole number of cells, so that one table holds
/// the masses of all normal laws. The width is a multiple of [`GRAIN`], so the ends of cells are exact.
#[derive(Clone, Copy)]
pub(super) struct EvenCells {
    width: f64,
    steps: i32,
}

impl EvenCells {
    /// A partition for a mean that is rounded up.
    pub(super) fn above(mu: Dd, widest: f64) -> Self {
        let steps = even(mu.upper() / widest);
        let width = ((mu / steps).upper() / GRAIN).ceil() * GRAIN;
        Self { width, steps: steps as i32 }
    }

    /// A partition for a mean that is rounded down.
    pub(super) fn below(mu: Dd, widest: f64) -> Self {
        let steps = even(mu.upper() / widest);
        let width = ((mu / steps).lower() / GRAIN).floor() * GRAIN;
        Self { width, steps: steps as i32 }
    }

    pub(super) fn mean(self) -> f64 {
        self.end(self.steps)
    }

    fn end(self, cell: i32) -> f64 {
        self.width * f64::from(cell)
    }
}

/// The least even whole number that is at least a positive number. (Half a mean is then an end of a cell too.)
fn even(number: f64) -> f64 {
    2.0 * (0.5 * number).ceil().max(1.0)
}

/// A partitioned pair whose loss rises with the position.
#[derive(Default)]
pub(super) struct PartitionedPair(Vec<PairCell>);

#[derive(Clone, Copy)]
struct PairCell {
    /// The cell's lower end.
    place: f64,
    p: Dd,
    q: Dd,
    lower: f64,
    upper: f64,
}

impl PartitionedPair {
    /// Partitions the pair of the mixtures p and q; `loss` is the loss at a position.
    pub(super) fn new(
        cuts: EvenCells,
        p: NormalMixture<'_>,
        q: NormalMixture<'_>,
        loss: impl Fn(f64) -> Dd,
    ) -> Self {
        let means = || p.iter().chain(q).map(|&(_, mean)| mean * cuts.steps);
        let reach = (REACH / cuts.width).ceil() as i32;
        let (first, last) =
            (means().min().unwrap_or(0) - reach, means().max().unwrap_or(0) + reach);
        let normal = normal(cuts, last - first);
        let mass = |normals: NormalMixture<'_>, cell: i32| {
            let each = normals.iter().map(|&(weight, mean)| {
                let from = cell - mean * cuts.steps;
                // Cells on the other side of the mean mirror those on this side.
                let place = if from < 0 { -1 - from } else { from };
                weight * normal[place as usize]
            });
            each.fold(Dd::ZERO, |sum, each| sum + each)
        };
        let losses: Vec<Dd> = (first..=last).map(|cell| loss(cuts.end(cell))).collect();
        let pieces = (first..last).zip(losses.windows(2)).map(|(cell, ends)| {
            let close = CLOSE * ends[0].hi.abs().max(ends[1].hi.abs()).max(1.0);
            let (lower, upper) = (ends[0] - Dd::from(close), ends[1] + Dd::from(close));
            let (p, q) = (mass(p, cell), mass(q, cell));
            let place = cuts.end(cell);
            PairCell { place, p, q, lower: lower.lower(), upper: upper.upper() }
        });
        Self(pieces.filter(|piece| piece.p.hi > NOTHING && piece.q.hi > NOTHING).collect())
    }

    /// Partitions a Gaussian pair with the partition's mean, on a Poisson sample of this rate.
    pub(super) fn sampled(cuts: EvenCells, rate: Dd) -> Self {
        let (mean, rest) = (cuts.mean(), Dd::ONE - rate);
        let half = Dd::product(mean, mean).scaled(0.5);
        let loss = |z: f64| log_mixture(rate, Dd::product(mean, z) - half);
        Self::new(cuts, &[(rest, 0), (rate, 1)], &[(Dd::ONE, 0)], loss)
    }

    /// Exchanges P and Q.
    pub(super) fn exchanged(&self) -> Self {
        let turn = |piece: &PairCell| PairCell {
            p: piece.q,
            q: piece.p,
            lower: -piece.upper,
            upper: -piece.lower,
            ..*piece
        };
        Self(self.0.iter().map(turn).collect())
    }

    /// Keeps the cells above a position, and multiplies their masses by a probability.
    pub(super) fn above(self, place: f64, chance: Dd) -> Self {
        let part = |piece: PairCell| PairCell { p: piece.p * chance, q: piece.q * chance, ..piece };
        Self(self.0.into_iter().filter(|piece| piece.place >= place).map(part).collect())
    }

    /// Joins the outcomes of two partitions, which remain distinguishable.
    pub(super) fn beside(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Joins the pair with its mirror image and places the remaining mass at loss zero, except for `but`.
    pub(super) fn mirrored(self, but: f64) -> Self {
        let all = self.0.iter().fold(Dd::ZERO, |sum, piece| sum + piece.p + piece.q);
        let rest = Dd::ONE - all - Dd::from(but + NEARLY);
        let rest = if rest.is_positive() { rest } else { Dd::ZERO };
        let none = PairCell { place: 0.0, p: rest, q: rest, lower: 0.0, upper: 0.0 };
        let image = self.exchanged();
        self.beside(image).beside(Self(vec![none]))
    }

    /// Moves each cell's masses to its ends: a pair that dominates.
    pub(super) fn split_cells(&self) -> Vec<Atom> {
        let ends = |piece: &PairCell| {
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

    /// Merges each cell into one outcome: a pair that is dominated.
    fn merge_cells(&self) -> Vec<Atom> {
        let one = |piece: &PairCell| Atom {
            loss: (piece.p / piece.q).ln() - Dd::from(4.0 * CLOSE),
            mass: piece.p * (Dd::ONE - Dd::from(CLOSE)),
        };
        self.0.iter().map(one).collect()
    }

    pub(super) fn dominating_loss(&self) -> PairLoss {
        dominating_loss(self.split_cells(), RARE)
    }

    pub(super) fn dominated_loss(&self) -> PairLoss {
        dominated_loss(self.merge_cells(), RARE)
    }
}

/// The mass of a standard normal law in each cell above zero.
fn normal(cuts: EvenCells, cells: i32) -> Vec<Dd> {
    let tail = |cell: i32| {
        let (lower, upper) = normal_tail(cuts.end(cell));
        (lower + upper).to_dd().scaled(0.5)
    };
    let tails: Vec<Dd> = (0..=cells + 1).map(tail).collect();
    tails.windows(2).map(|ends| ends[0] - ends[1]).collect()
}
