//! Pairs of mixtures of Gaussians on a line, cut into cells in which the loss is known to lie between its ends.

use super::Meaning;
use super::cells::spread;
use super::listed::{at_least, at_most};
use crate::laws::{Atom, mixed};
use crate::mechanism::Cell;
use counterpoint_numerics::{Dd, normal_tail};

/// Standard normal laws by weight, and by their means in multiples of one: see [`Cuts`].
pub(super) type Normals<'a> = &'a [(Dd, i32)];

/// 2^-45.
const GRAIN: f64 = 1.0 / (1_u64 << 45) as f64;
/// Cells are at most so wide: finely cut, and coarsely.
pub(super) const FINE: f64 = 1.0 / 256.0;
pub(super) const COARSE: f64 = 1.0 / 64.0;
/// Beyond this from all means less than 1e-33 is left, which leaks.
const REACH: f64 = 12.0;
/// Tails are good to 2^-83 of themselves, and a cell of a width of 5e-4 or more is at least 2^-12 of a tail that ends in
/// it: its mass is within this. Its loss, a logarithm of sums of positive terms, is within as much.
const CLOSE: f64 = 1e-21;

/// All masses together are within this.
const NEARLY: f64 = 1e-19;

/// As much of the largest losses leaks: what is left out in any case is less.
pub(super) const RARE: f64 = 1e-18;

/// Cells with less than this leak.
const NOTHING: f64 = 1e-250;

/// Cells of one width, of which a mean is a whole number, so that one table has the masses of all normal laws. The
/// width is a multiple of [`GRAIN`]: cells' ends are exact.
#[derive(Clone, Copy)]
pub(super) struct Cuts {
    width: f64,
    steps: i32,
}

impl Cuts {
    /// For a mean that is no less.
    pub(super) fn above(mu: Dd, widest: f64) -> Self {
        let steps = even(mu.upper() / widest);
        let width = ((mu / steps).upper() / GRAIN).ceil() * GRAIN;
        Self { width, steps: steps as i32 }
    }

    /// For a mean that is no more.
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

/// The least even whole number that is no less than a positive one: half a mean is an end of a cell too.
fn even(number: f64) -> f64 {
    2.0 * (0.5 * number).ceil().max(1.0)
}

/// A pair whose loss rises with the place, cut.
#[derive(Default)]
pub(super) struct Pieces(Vec<Piece>);

#[derive(Clone, Copy)]
struct Piece {
    /// The cell's lower end.
    place: f64,
    p: Dd,
    q: Dd,
    lower: f64,
    upper: f64,
}

impl Pieces {
    /// `loss` is that at a place.
    pub(super) fn new(
        cuts: Cuts,
        p: Normals<'_>,
        q: Normals<'_>,
        loss: impl Fn(f64) -> Dd,
    ) -> Self {
        let means = || p.iter().chain(q).map(|&(_, mean)| mean * cuts.steps);
        let reach = (REACH / cuts.width).ceil() as i32;
        let (first, last) =
            (means().min().unwrap_or(0) - reach, means().max().unwrap_or(0) + reach);
        let normal = normal(cuts, last - first);
        let mass = |normals: Normals<'_>, cell: i32| {
            let each = normals.iter().map(|&(weight, mean)| {
                let from = cell - mean * cuts.steps;
                // As far on the other side.
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
            Piece { place, p, q, lower: lower.lower(), upper: upper.upper() }
        });
        Self(pieces.filter(|piece| piece.p.hi > NOTHING && piece.q.hi > NOTHING).collect())
    }

    /// A Gaussian pair of this mean on a Poisson sample of this rate.
    pub(super) fn sampled(cuts: Cuts, rate: Dd) -> Self {
        let (mean, rest) = (cuts.mean(), Dd::ONE - rate);
        let half = Dd::product(mean, mean).scaled(0.5);
        let loss = |z: f64| mixed(rate, Dd::product(mean, z) - half);
        Self::new(cuts, &[(rest, 0), (rate, 1)], &[(Dd::ONE, 0)], loss)
    }

    /// The same with P and Q exchanged.
    pub(super) fn exchanged(&self) -> Self {
        let turn = |piece: &Piece| Piece {
            p: piece.q,
            q: piece.p,
            lower: -piece.upper,
            upper: -piece.lower,
            ..*piece
        };
        Self(self.0.iter().map(turn).collect())
    }

    /// What lies above a place, with this probability.
    pub(super) fn above(self, place: f64, chance: Dd) -> Self {
        let part = |piece: Piece| Piece { p: piece.p * chance, q: piece.q * chance, ..piece };
        Self(self.0.into_iter().filter(|piece| piece.place >= place).map(part).collect())
    }

    /// Both, seen apart.
    pub(super) fn beside(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Together with its mirror image and, at loss zero, all that is in neither but for so much.
    pub(super) fn mirrored(self, but: f64) -> Self {
        let all = self.0.iter().fold(Dd::ZERO, |sum, piece| sum + piece.p + piece.q);
        let rest = Dd::ONE - all - Dd::from(but + NEARLY);
        let rest = if rest.is_positive() { rest } else { Dd::ZERO };
        let none = Piece { place: 0.0, p: rest, q: rest, lower: 0.0, upper: 0.0 };
        let image = self.exchanged();
        self.beside(image).beside(Self(vec![none]))
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
        at_most(self.apart(), RARE)
    }

    pub(super) fn least(&self) -> Meaning {
        at_least(self.together(), RARE)
    }
}

/// What a standard normal law has in each cell above zero.
fn normal(cuts: Cuts, cells: i32) -> Vec<Dd> {
    let tail = |cell: i32| {
        let (lower, upper) = normal_tail(cuts.end(cell));
        (lower + upper).to_dd().scaled(0.5)
    };
    let tails: Vec<Dd> = (0..=cells + 1).map(tail).collect();
    tails.windows(2).map(|ends| ends[0] - ends[1]).collect()
}
