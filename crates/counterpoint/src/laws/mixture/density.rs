//! Cells of Gaussians with a random shift.
//!
//! In the outcome x, Q0 being N(0, 1), the ratio E = w_0 + sum of w_j e^(y_j) rises with x. Relative to its value at a
//! cell's lower edge it rises by the mean of e^(mu_j d) - 1, d being the distance from that edge, where each shift has
//! the share w_j e^(y_j)/E of the ratio at that edge. All terms are positive.

use super::Mixture;
use crate::laws::Direction;
use crate::laws::cells::{
    self, BOTH_MASSES, CellAtom, CellFineness, CellMoments, Density, Domination, MOST_CELLS, NODES,
    OFTEN, QuadratureRule, ROOT_TAU_INVERSE, beyond_reach, shift,
};
use counterpoint_numerics::{
    Dd, UNIT, Wide, exp_neg, exp_rounded, expm1, expm1_rounded, ln_1p_rounded, ln_rounded,
};

/// The error of ln E: each term is a weight times a function good to 4 u, with y's own rounding, and is added; a
/// logarithm is good to 9 u, and the error of its argument counts one and a half times.
const RATIO: f64 = 32.0;
const RATIO_TERM: f64 = 4.0;
/// The error of a share of the ratio, twice, and of the sum over shifts, for each of mass and rise.
const SHARES: f64 = 64.0;
const SHARE_TERM: f64 = 8.0;

/// The shares of all shifts at the lower edge of a cell, and ln E there with its error.
struct Edge {
    shares: Vec<f64>,
    ratio: Dd,
    error: f64,
}

/// The quadrature rule of equally wide cells, for each shift.
struct CellRises {
    rule: QuadratureRule,
    /// e^(mu d) - 1 at the nodes, and over the whole cell.
    nodes: Vec<[f64; 5]>,
    whole: Vec<f64>,
}

impl CellRises {
    fn new(mixture: &Mixture, density: &Density, share: f64) -> Self {
        let rule = QuadratureRule::new(density, share);
        let rise = |mu: f64| NODES.map(|node| expm1(mu * rule.half * (1.0 + node)));
        let nodes = mixture.shifts.iter().map(|shift| rise(shift.mu.hi)).collect();
        let over = |mu: f64| expm1(mu * 2.0 * rule.half);
        let whole = mixture.shifts.iter().map(|shift| over(shift.mu.hi)).collect();
        Self { rule, nodes, whole }
    }

    /// Returns mass and relative rise of the cell around a place, and the rise of the ratio over the whole cell.
    fn moments(&self, edge: &Edge, middle: f64, error: f64) -> (CellMoments, f64) {
        let mut rises = [0.0; 5];
        let mut whole = 0.0;
        for ((share, nodes), over) in edge.shares.iter().zip(&self.nodes).zip(&self.whole) {
            for (sum, rise) in rises.iter_mut().zip(nodes) {
                *sum += share * rise;
            }
            whole += share * over;
        }
        let half = self.rule.half;
        let (mut mass, mut rise) = (0.0, 0.0);
        for ((node, weight), up) in NODES.iter().zip(self.rule.weights).zip(rises) {
            let value = weight * exp_rounded(Dd::from(-middle * (half * node)));
            mass += value;
            rise += value * up;
        }
        let factor = ROOT_TAU_INVERSE * half;
        let scale = Dd::product(middle, middle).scaled(-0.5);
        (CellMoments { scale, mass: factor * mass, rise: factor * rise, error }, whole)
    }
}

/// Returns the y_j at a place, with their weights.
fn losses(mixture: &Mixture, x: f64) -> impl Iterator<Item = (Dd, f64)> {
    let loss = move |mu: Dd| mu * (Dd::from(x) - mu.scaled(0.5));
    mixture.shifts.iter().map(move |shift| (loss(shift.mu), shift.weight.hi))
}

/// Returns ln E and its error. Where E is near one its distance to one is summed, which may cancel: the error is
/// relative to the terms. Elsewhere E is a sum of positive terms, relative to the largest of them if necessary.
fn ln_ratio(mixture: &Mixture, x: f64) -> (Dd, f64) {
    let units = UNIT * (RATIO + RATIO_TERM * mixture.shifts.len() as f64);
    let most = losses(mixture, x).fold(Dd::ZERO, |most, (y, _)| if y > most { y } else { most });
    if most.hi > 500.0 {
        let term = |(y, weight): (Dd, f64)| weight * exp_neg(most - y).hi;
        let rest = mixture.rest.hi * exp_neg(most).hi;
        let sum = losses(mixture, x).map(term).sum::<f64>() + rest;
        let ln = most + Dd::from(ln_rounded(sum));
        return (ln, units * (1.0 + ln_rounded(sum).abs()));
    }
    let (mut change, mut size) = (0.0, 0.0);
    for (y, weight) in losses(mixture, x) {
        let term = weight * expm1_rounded(y);
        change += term;
        size += term.abs();
    }
    if change.abs() < 0.5 {
        return (Dd::from(ln_1p_rounded(change)), units * size);
    }
    let sum: f64 = losses(mixture, x).map(|(y, weight)| weight * exp_rounded(y)).sum();
    let ln = ln_rounded(sum + mixture.rest.hi);
    (Dd::from(ln), units * ln.abs().max(1.0))
}

fn edge(mixture: &Mixture, x: f64) -> Edge {
    let (ratio, error) = ln_ratio(mixture, x);
    let share = |(y, weight): (Dd, f64)| weight * exp_rounded(y - ratio);
    Edge { shares: losses(mixture, x).map(share).collect(), ratio, error }
}

impl Edge {
    /// Returns an atom with the mass `mass e^scale` under Q0.
    fn atom(&self, direction: Direction, scale: Dd, mass: f64) -> CellAtom {
        let (loss, scale) = match direction {
            Direction::Remove => (self.ratio, scale + self.ratio),
            Direction::Add => (-self.ratio, scale),
        };
        CellAtom { loss, scale, p: mass, q: mass, error: self.error }
    }

    /// Returns a cell as one outcome.
    fn merged(&self, direction: Direction, moments: &CellMoments) -> CellAtom {
        let edge = self.atom(direction, moments.scale, moments.mass);
        let risen = moments.mass + moments.rise;
        let (p, q) = match direction {
            Direction::Remove => (risen, edge.q),
            Direction::Add => (edge.p, risen),
        };
        let error = BOTH_MASSES * moments.error;
        CellAtom { p: p * (1.0 - error).max(0.0), q: q * (1.0 + error), ..edge }
    }
}

/// Passes all cells to `sink`, from the lowest x up.
pub(super) fn cells(
    mixture: &Mixture,
    side: Domination,
    cut: Option<&CellFineness<'_>>,
    sink: &mut dyn FnMut(CellAtom),
) -> Option<Wide> {
    let density = Density::normal(mixture.furthest())?;
    let Density::Normal { from, width, cells: many, .. } = density else { return None };
    let place = |cell: f64| from + cell * width;
    let rounding = UNIT * (SHARES + SHARE_TERM * mixture.shifts.len() as f64);
    let direction = mixture.direction;
    let mut rises = CellRises::new(mixture, &density, 1.0);
    let (mut work, mut unwatched, mut at) = (0.0, 0, 0.0);
    // The mass that was moved to the current edge: its scale and its mass.
    let mut waiting = (Dd::ZERO, 0.0);
    while at < many {
        let pieces = cut.map_or(1.0, |cut| pieces(mixture, [place(at), place(at + 1.0)], cut));
        work += pieces;
        if work > MOST_CELLS {
            return None;
        }
        let share = 1.0 / pieces;
        if (share - rises.rule.share).abs() > 0.0 {
            rises = CellRises::new(mixture, &density, share);
        }
        let error = rises.rule.error(&density, at) + rounding;
        for piece in 0..pieces as u64 {
            if unwatched == OFTEN {
                unwatched = 0;
                cut.map_or(Ok(()), |cut| cut.watch.check(0.5)).ok()?;
            }
            unwatched += 1;
            let cell = at + piece as f64 * share;
            let edge = edge(mixture, place(cell));
            let (moments, whole) = rises.moments(&edge, place(cell + 0.5 * share), error);
            match side {
                Domination::Below => sink(edge.merged(direction, &moments)),
                Domination::Above => {
                    let up = moments.rise / whole;
                    let error = moments.error * (moments.mass + up);
                    let carried = waiting.1 * shift(waiting.0 - moments.scale);
                    let stays = (moments.mass - up).max(0.0) + error;
                    sink(edge.atom(direction, moments.scale, stays + carried));
                    waiting = (moments.scale, up + error);
                }
            }
        }
        at += 1.0;
    }
    if side == Domination::Above {
        sink(edge(mixture, place(at)).atom(direction, waiting.0, waiting.1));
    }
    Some(beyond_reach())
}

/// Estimates the useful number of pieces of a cell, as for one shift.
#[allow(clippy::disallowed_methods)]
fn pieces(mixture: &Mixture, ends: [f64; 2], cut: &CellFineness<'_>) -> f64 {
    let [low, high] = ends.map(|x| {
        let ratio = ln_ratio(mixture, x).0.hi;
        let (loss, scale) = match mixture.direction {
            Direction::Remove => (ratio, ratio - 0.5 * x * x),
            Direction::Add => (-ratio, -0.5 * x * x),
        };
        (loss, scale + cut.tilt * loss - cut.cumulant)
    });
    cells::wanted(low, high, cut)
}
