//! Discretizes every law into finitely many atoms: a pair that dominates the loss's pair, or a pair that it dominates.
//!
//! A density is partitioned into cells. Within a cell the likelihood ratio runs between the values at its edges. Moving
//! the mass to the edges, with the masses under P and Q unchanged, is a mean-preserving spread, hence a pair that
//! dominates; treating the cell as one outcome is a post-processing, hence a pair that is dominated. Both are applied
//! to the pair (P0, Q0) before sampling, which preserves the order: with E = 1 - q + q e^y a sampled pair is (E Q0, Q0)
//! or (Q0, E Q0).

use super::{Direction, log_mixture};
use crate::watch::Watch;
use counterpoint_numerics::{
    Dd, UNIT, Wide, down, exp, exp_rounded, expm1, expm1_rounded, ln_1p_rounded, ln_rounded,
    normal_tail, up,
};

/// The choice between the pair that dominates (above) and the pair that is dominated (below).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domination {
    Above,
    Below,
}

/// An atom with the mass `p e^scale` under P and `q e^(scale - loss)` under Q; above, p and q agree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellAtom {
    pub(crate) loss: Dd,
    pub(crate) scale: Dd,
    pub(crate) p: f64,
    pub(crate) q: f64,
    /// A bound on the error of the loss, which makes one of the two masses uncertain.
    pub(crate) error: f64,
}

/// The fineness of a partition: the losses of a cell are within `width` of each other where the law tilted by `tilt`,
/// whose cumulant is `cumulant`, has significant mass. Each whole cell there has at least `pieces` pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellFineness<'a> {
    pub(crate) width: f64,
    pub(crate) pieces: f64,
    pub(crate) tilt: f64,
    pub(crate) cumulant: f64,
    /// The callback; if it stops the work, no atoms are returned.
    pub(crate) watch: Watch<'a>,
}

/// The relative error of every mass, beside outward roundings here. A cell's mass and rise are five positive terms of
/// functions good to 4 u, below 24 u; the mass that stays is their difference, with at most four times that error.
pub(crate) const MASS_ERROR: f64 = 128.0 * UNIT;

/// The relative error of [`PoissonSample::ln_ratio`]: derived there.
const RATIO: f64 = 32.0 * UNIT;

/// (64/15)/2 / (1 - rho^-2), where rho is at least 13 for cells this narrow: below 2.15.
const GAUSS: f64 = 2.2;

/// Both masses of a merged cell have the rule's error: together twice.
pub(super) const BOTH_MASSES: f64 = 2.0;

/// The logarithm of the share of the tilted law below which cells may be coarse.
const NEGLIGIBLE: f64 = -45.0;

/// The largest width of a cell, in loss.
const WIDEST: f64 = 0.5;

/// The approximate largest number of cells of a density.
pub(super) const MOST_CELLS: f64 = 4e6;

/// The number of cells between calls of the callback.
pub(super) const OFTEN: u32 = 1 << 14;

/// The distance, in standard deviations, at which a normal pair is cut off.
const REACH: f64 = 50.0;

pub(super) const ROOT_TAU_INVERSE: f64 = 0.398_942_280_401_432_7;

/// The density of Q0 in a pair (P0, Q0).
pub(super) enum Density {
    /// N(mu, 1) and N(0, 1), in the outcome x: y = mu x - mu^2/2.
    Normal { mu: Dd, from: f64, width: f64, cells: f64 },
    /// `factor e^(-(y + epsilon)/2)/4` between -epsilon and epsilon, in y itself.
    Exponential { epsilon: Dd, factor: f64, width: Dd, cells: f64 },
}

/// The mass of a cell under Q0, and the integral of `e^(y - least y) - 1` over the cell, both times e^scale, with a
/// relative error.
pub(super) struct CellMoments {
    pub(super) scale: Dd,
    pub(super) mass: f64,
    pub(super) rise: f64,
    pub(super) error: f64,
}

/// The sampling that turns (P0, Q0) into (P, Q).
#[derive(Clone, Copy)]
pub(super) struct PoissonSample {
    rate: f64,
    direction: Direction,
}

pub(super) const WHOLE: PoissonSample = PoissonSample { rate: 1.0, direction: Direction::Remove };

/// Discretizes a normal pair, mu apart.
pub(super) fn normal(
    mu: Dd,
    sampling: PoissonSample,
    side: Domination,
    cut: Option<&CellFineness<'_>>,
    sink: &mut dyn FnMut(CellAtom),
) -> Option<Wide> {
    cells(&Density::normal(mu)?, sampling, side, cut, sink)?;
    Some(beyond_reach())
}

/// Bounds the normal tails on both sides: each is below e^(-REACH^2/2)/2.
pub(super) fn beyond_reach() -> Wide {
    Wide::exp(Dd::from(-0.5 * REACH * REACH))
}

pub(super) fn laplace(
    epsilon: Dd,
    sampling: PoissonSample,
    side: Domination,
    cut: Option<&CellFineness<'_>>,
    sink: &mut dyn FnMut(CellAtom),
) -> Option<Wide> {
    sink(sampling.atom(epsilon, -epsilon, 0.5));
    cells(&Density::exponential(epsilon, 1.0)?, sampling, side, cut, sink)?;
    sink(sampling.atom(-epsilon, Dd::ZERO, 0.5));
    Some(Wide::ZERO)
}

/// Discretizes a Gaussian on a sample of a fixed size (theory 6.8): from x = mu/2 on the pair of a Poisson sample with
/// the person in P's data, its mirror image, and the remaining mass at zero. Starting at a lower x splits more of the
/// mass at zero, which dominates; starting at a higher x merges more, which is dominated.
pub(super) fn subset(
    share: f64,
    mu: Dd,
    side: Domination,
    cut: Option<&CellFineness<'_>>,
    sink: &mut dyn FnMut(CellAtom),
) -> Option<Wide> {
    // A number with few bits, so that the cells' edges are exact.
    const BITS: f64 = 1_048_576.0;
    let half = 0.5 * mu.hi * BITS;
    let from = match side {
        Domination::Above => (half.floor() - 1.0) / BITS,
        Domination::Below => (half.ceil() + 1.0) / BITS,
    };
    let density = Density::normal_from(mu, from)?;
    for direction in [Direction::Remove, Direction::Add] {
        cells(&density, PoissonSample { rate: share, direction }, side, cut, sink)?;
    }
    let (least, most) = left_at_zero(share, mu, from);
    let (p, q) = if side == Domination::Above { (most, most) } else { (least, most) };
    sink(CellAtom { loss: Dd::ZERO, scale: Dd::ZERO, p, q, error: 0.0 });
    Some(beyond_reach() + beyond_reach())
}

/// Returns 1 - (2 - q) Q0(x > a) - q P0(x > a), from below and from above.
fn left_at_zero(share: f64, mu: Dd, from: f64) -> (f64, f64) {
    let place = Dd::from(from) - mu;
    let (p_low, p_high) = (normal_tail(up(place.hi)).0, normal_tail(down(place.hi)).1);
    let (q_low, q_high) = normal_tail(from);
    let share = Dd::from(share);
    let weighed = |p: Wide, q: Wide| p * Wide::from(share) + q * Wide::from(Dd::from(2.0) - share);
    let (most, least) = (Wide::ONE - weighed(p_low, q_low), Wide::ONE - weighed(p_high, q_high));
    // A few operations, with errors of 2^-94 of one.
    (down(least.to_dd().lower() - UNIT).max(0.0), up(most.to_dd().upper() + UNIT))
}

pub(super) fn range(
    epsilon: Dd,
    sampling: PoissonSample,
    side: Domination,
    cut: Option<&CellFineness<'_>>,
    sink: &mut dyn FnMut(CellAtom),
) -> Option<Wide> {
    let factor = 2.0 / -expm1(-epsilon.hi);
    cells(&Density::exponential(epsilon, factor)?, sampling, side, cut, sink)?;
    Some(Wide::ZERO)
}

impl PoissonSample {
    pub(super) fn new(rate: f64, direction: Direction) -> Self {
        Self { rate, direction }
    }

    /// Returns ln(1 - q + q e^y) and a bound on its error, beside 2^-94 max(1, |result|).
    ///
    /// With z = q (e^y - 1) known to 7 u: if |z| < 1/2 this error counts at most 1.5 times in ln(1 + z), which adds 18
    /// u; otherwise the sum is known to 4 u, its logarithm to 9 u max(1, |result|), and |result| > 0.4. In both cases
    /// 32 u of the result suffice.
    fn ln_ratio(self, y: Dd) -> (Dd, f64) {
        if self.rate >= 1.0 {
            return (y, 0.0);
        }
        if y.hi.abs() >= 500.0 {
            return (log_mixture(Dd::from(self.rate), y), 0.0);
        }
        let z = self.rate * expm1_rounded(y);
        let ratio = if z.abs() < 0.5 {
            ln_1p_rounded(z)
        } else {
            ln_rounded(1.0 - self.rate + self.rate * exp_rounded(y))
        };
        (Dd::from(ratio), RATIO * ratio.abs())
    }

    /// Returns q e^y / (1 - q + q e^y), the slope of the logarithm in y.
    fn slope(self, y: f64) -> f64 {
        self.rate / (self.rate + (1.0 - self.rate) * exp_rounded(Dd::from((-y).min(690.0))))
    }

    /// Returns an atom of (P0, Q0) with the mass `mass e^scale` under Q0.
    fn atom(self, y: Dd, scale: Dd, mass: f64) -> CellAtom {
        let (ratio, error) = self.ln_ratio(y);
        let (loss, scale) = match self.direction {
            Direction::Remove => (ratio, scale + ratio),
            Direction::Add => (-ratio, scale),
        };
        CellAtom { loss, scale, p: mass, q: mass, error }
    }

    /// Returns a cell as one outcome: its ratio E is that at the lower edge y times 1 + slope times the mean rise.
    fn merged(self, y: Dd, moments: &CellMoments) -> CellAtom {
        let edge = self.atom(y, moments.scale, moments.mass);
        let risen = moments.mass + self.slope(y.hi) * moments.rise;
        let (p, q) = match self.direction {
            Direction::Remove => (risen, edge.q),
            Direction::Add => (edge.p, risen),
        };
        let error = BOTH_MASSES * moments.error;
        CellAtom { p: p * (1.0 - error).max(0.0), q: q * (1.0 + error), ..edge }
    }
}

impl Density {
    /// Chooses cells so wide that their edges are exact doubles, and so narrow that losses vary little.
    pub(super) fn normal(mu: Dd) -> Option<Self> {
        let mut width = 1.0 / 32.0;
        while mu.hi * width > WIDEST {
            width *= 0.5;
        }
        let cells = ((2.0 * REACH + mu.hi) / width).ceil() + 1.0;
        (cells < MOST_CELLS).then_some(Self::Normal { mu, from: -REACH, width, cells })
    }

    /// Chooses the cells of the normal density from a place on.
    fn normal_from(mu: Dd, from: f64) -> Option<Self> {
        let Self::Normal { width, .. } = Self::normal(mu)? else { return None };
        let cells = ((REACH + mu.hi - from) / width).ceil() + 1.0;
        Some(Self::Normal { mu, from, width, cells })
    }

    fn exponential(epsilon: Dd, factor: f64) -> Option<Self> {
        let cells = (2.0 * epsilon.hi / WIDEST).ceil().max(64.0);
        let width = epsilon.scaled(2.0) / cells;
        (cells < MOST_CELLS).then_some(Self::Exponential { epsilon, factor, width, cells })
    }

    fn cells(&self) -> f64 {
        match *self {
            Self::Normal { cells, .. } | Self::Exponential { cells, .. } => cells,
        }
    }

    /// Returns the inner loss y at this number of cells above the lowest.
    fn loss(&self, cell: f64) -> Dd {
        match *self {
            // y = mu (x - mu/2); the place x is an exact double.
            Self::Normal { mu, from, width, .. } => {
                mu * (Dd::from(from + cell * width) - mu.scaled(0.5))
            }
            Self::Exponential { epsilon, width, .. } => width * cell - epsilon,
        }
    }

    /// Returns the rise of y over a share of a cell.
    fn rise(&self, share: f64) -> f64 {
        match *self {
            Self::Normal { mu, width, .. } => mu.hi * (width * share),
            Self::Exponential { width, .. } => width.hi * share,
        }
    }

    /// Estimates the logarithm of the density of Q0 in y or x.
    fn ln_density(&self, cell: f64) -> f64 {
        match *self {
            Self::Normal { from, width, .. } => {
                let x = from + cell * width;
                -0.5 * (x * x)
            }
            Self::Exponential { epsilon, .. } => -0.5 * (self.loss(cell) + epsilon).hi,
        }
    }

    /// Returns the moments between `cell` and `cell + share`, given the error of the rule.
    fn moments(&self, cell: f64, rule: &QuadratureRule, error: f64) -> CellMoments {
        match *self {
            Self::Normal { from, width, .. } => {
                rule.normal(from + (cell + 0.5 * rule.share) * width, error)
            }
            Self::Exponential { epsilon, factor, .. } => {
                let scale = (self.loss(cell) + epsilon).scaled(-0.5);
                let [mass, rise] = rule.exponential.map(|value| factor * value);
                CellMoments { scale, mass, rise, error }
            }
        }
    }
}

/// Nodes and weights of the five-point Gauss-Legendre rule on [-1, 1].
pub(super) const NODES: [f64; 5] = [
    -0.906_179_845_938_664,
    -0.538_469_310_105_683_1,
    0.0,
    0.538_469_310_105_683_1,
    0.906_179_845_938_664,
];
const WEIGHTS: [f64; 5] = [
    0.236_926_885_056_189_1,
    0.478_628_670_499_366_5,
    0.568_888_888_888_888_9,
    0.478_628_670_499_366_5,
    0.236_926_885_056_189_1,
];

/// The quadrature rule of equally wide cells.
pub(super) struct QuadratureRule {
    /// The width of these cells as a share of a whole cell.
    pub(super) share: f64,
    /// Half their width in x.
    pub(super) half: f64,
    /// The weights times e^(-d^2/2) at the nodes, d from the middle.
    pub(super) weights: [f64; 5],
    /// e^(mu (x - least x)) - 1 at the nodes.
    pub(super) rises: [f64; 5],
    /// e^(rise of y over the cell) - 1.
    pub(super) whole: f64,
    /// Mass and rise of an exponential density, relative to its value at the lower edge.
    pub(super) exponential: [f64; 2],
}

impl QuadratureRule {
    pub(super) fn new(density: &Density, share: f64) -> Self {
        let whole = expm1(density.rise(share));
        // With w the width: (1 - e^(-w/2))/2 and 2 sinh^2(w/4).
        let quarter = 0.25 * density.rise(share);
        let sinh = 0.5 * (expm1(quarter) - expm1(-quarter));
        let exponential = [-0.5 * expm1(-2.0 * quarter), 2.0 * sinh * sinh];
        let Density::Normal { mu, width, .. } = *density else {
            return Self {
                share,
                half: 0.0,
                weights: WEIGHTS,
                rises: [0.0; 5],
                whole,
                exponential,
            };
        };
        let half = 0.5 * width * share;
        let mut weights = WEIGHTS;
        for (weight, node) in weights.iter_mut().zip(NODES) {
            let d = node * half;
            *weight *= 1.0 + expm1(-0.5 * (d * d));
        }
        let rises = NODES.map(|node| expm1(mu.hi * half * (1.0 + node)));
        Self { share, half, weights, rises, whole, exponential }
    }

    /// Bounds the relative errors of the quadrature anywhere in a whole cell.
    ///
    /// In the ellipse with parameter rho and semi-axis s = half (rho + 1/rho)/2 the two integrands are at most
    /// `e^(|middle| s + s^2/2)`, and that times `e^(mu (s + half)) - 1`; the integrals are at least `2 half
    /// e^(-|middle| half - half^2/2)`, and that times `mu half`. The rule's error is at most `(64/15) half M rho^-10 /
    /// (1 - rho^-2)`. For a given s all of these grow with |middle|.
    pub(super) fn error(&self, density: &Density, cell: f64) -> f64 {
        let Density::Normal { mu, from, width, .. } = *density else {
            return 0.0;
        };
        let edge = |cell: f64| (from + cell * width).abs();
        let (mu, half, middle) = (mu.hi, self.half, edge(cell).max(edge(cell + 1.0)));
        let s = half + 8.0 / (1.0 + mu + middle);
        let rho = 2.0 * s / half - 1.0;
        let growth = exp(middle * (s + half) + 0.5 * (s * s + half * half));
        let steep = expm1(mu * (s + half)) / (mu * half);
        let fall = rho * rho * rho * rho * rho;
        (GAUSS * growth * steep.max(1.0) / fall / fall).min(1.0)
    }

    /// Integrates `e^(-x^2/2)/sqrt(2 pi)` over the cell around `middle`, relative to its value there.
    fn normal(&self, middle: f64, error: f64) -> CellMoments {
        let half = self.half;
        let (mut mass, mut rise) = (0.0, 0.0);
        for ((node, weight), up) in NODES.iter().zip(self.weights).zip(self.rises) {
            let value = weight * exp_rounded(Dd::from(-middle * (half * node)));
            mass += value;
            rise += value * up;
        }
        let factor = ROOT_TAU_INVERSE * half;
        let scale = Dd::product(middle, middle).scaled(-0.5);
        CellMoments { scale, mass: factor * mass, rise: factor * rise, error }
    }
}

/// Passes the cells of a density to `sink`, from the lowest y up.
fn cells(
    density: &Density,
    sampling: PoissonSample,
    side: Domination,
    cut: Option<&CellFineness<'_>>,
    sink: &mut dyn FnMut(CellAtom),
) -> Option<()> {
    let mut work = 0.0;
    // The mass that was moved to the current edge: its scale and its mass.
    let mut waiting = (Dd::ZERO, 0.0);
    let mut rule = QuadratureRule::new(density, 1.0);
    let mut at = 0.0;
    let mut unwatched = 0;
    while at < density.cells() {
        let pieces = cut.map_or(1.0, |cut| pieces(density, sampling, at, cut));
        work += pieces;
        if work > MOST_CELLS {
            return None;
        }
        let share = 1.0 / pieces;
        if (share - rule.share).abs() > 0.0 {
            rule = QuadratureRule::new(density, share);
        }
        let error = rule.error(density, at);
        for piece in 0..pieces as u64 {
            if unwatched == OFTEN {
                unwatched = 0;
                cut.map_or(Ok(()), |cut| cut.watch.check(0.5)).ok()?;
            }
            unwatched += 1;
            let cell = at + piece as f64 * share;
            let moments = density.moments(cell, &rule, error);
            let y = density.loss(cell);
            match side {
                Domination::Below => sink(sampling.merged(y, &moments)),
                Domination::Above => {
                    let up = moments.rise / rule.whole;
                    let error = moments.error * (moments.mass + up);
                    let carried = waiting.1 * shift(waiting.0 - moments.scale);
                    let stays = (moments.mass - up).max(0.0) + error;
                    sink(sampling.atom(y, moments.scale, stays + carried));
                    waiting = (moments.scale, up + error);
                }
            }
        }
        at += 1.0;
    }
    if side == Domination::Above {
        sink(sampling.atom(density.loss(at), waiting.0, waiting.1));
    }
    Some(())
}

/// Returns e^x for a mass that is converted to another scale.
pub(super) fn shift(x: Dd) -> f64 {
    if x.hi > 600.0 { exp(600.0) } else { exp_rounded(x) }
}

/// Estimates the useful number of pieces of a cell, a power of two.
#[allow(clippy::disallowed_methods)]
fn pieces(density: &Density, sampling: PoissonSample, cell: f64, cut: &CellFineness<'_>) -> f64 {
    let end = |cell: f64| {
        let point = sampling.atom(density.loss(cell), Dd::from(density.ln_density(cell)), 1.0);
        (point.loss.hi, point.scale.hi + cut.tilt * point.loss.hi - cut.cumulant)
    };
    wanted(end(cell), end(cell + 1.0), cut)
}

/// Returns that number, given the loss and the logarithm of the tilted density at the two ends.
#[allow(clippy::disallowed_methods)]
pub(super) fn wanted(low: (f64, f64), high: (f64, f64), cut: &CellFineness<'_>) -> f64 {
    let share = low.1.max(high.1).min(0.0);
    if share < NEGLIGIBLE {
        return 1.0;
    }
    // The gap grows with the share times the square of the width. To keep the cells few, the width varies as the share
    // to the power -1/3.
    let width = cut.width * (-share / 3.0).exp();
    let wanted = ((high.0 - low.0).abs() / width).ceil().clamp(cut.pieces, MOST_CELLS);
    (wanted as u64).next_power_of_two() as f64
}
