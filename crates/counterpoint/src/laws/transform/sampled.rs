//! The moment generating function of a Gaussian pair on a Poisson sample, by the trapezoid rule.
//!
//! With x standard normal, r(x) = 1 - q + q e^(mu x - mu^2/2) and l = ln r, the loss is l under the law tilted by r if
//! the person is in P's data and -l if in Q's. In either case M(z) = E[r^(a + iw')] with a = 1 + t, w' = w or a = -t,
//! w' = -w. The integrand is analytic around the real axis, so the rule is exponentially accurate (theory 4.7 to
//! theory 4.12 derive each bound used here).

use super::contour_point::ContourPoint;
use crate::delta_bounds::{DOUBLES, ROUNDED_UP};
use crate::laws::Direction;
use counterpoint_numerics::complex::Complex;
use counterpoint_numerics::{Dd, UNIT, exp, turn};
use integrand::{
    CUT, ContourShift, EXPONENT, FIRST_ORDER, Integrand, MOVES, RATIO, SPACINGS, WEIGHT,
};
use shares::Shares;
use std::cell::OnceCell;
use tails::tails;

pub(crate) mod quick;
mod integrand;
mod shares;
mod tails;
#[cfg(test)]
mod tests;

/// The tilted law of the loss, as nodes with weights, at several spacings.
pub(crate) struct SampledTransform {
    shape: Integrand,
    /// Levels are computed on first use.
    levels: [OnceCell<Option<NodeLevel>>; SPACINGS.len()],
    /// The loss from which losses are counted.
    pub(crate) centre: f64,
    /// A bound on the variance of the tilted loss.
    pub(crate) variance: f64,
    /// Bounds 1 - m + v/w on |M(t + iw)|/M(t), as pairs of 1 - m and v: m is at most the mass from some loss on, and v
    /// is at least the total variation of the density there.
    tails: Vec<(f64, f64)>,
    /// A bound, from the centre, on most losses: the others are rare and large.
    bulk: f64,
}

/// The rule with one spacing.
struct NodeLevel {
    nodes: Vec<LossNode>,
    /// The relative error of the weights.
    error: f64,
    spacing: f64,
    /// A bound on the slope of the weights' logarithm.
    slope: f64,
    /// The shares of all nodes, including those that are left out.
    shares: Shares,
    /// Bounds on the rule's error for frequencies up to 1.25^k times the first, computed on first use.
    rule: Vec<OnceCell<f64>>,
}

#[derive(Clone, Copy)]
struct LossNode {
    /// The loss, from the centre.
    loss: f64,
    /// Its share of the tilted law.
    weight: f64,
    /// The sampled person's share of r: q e^(mu x - mu^2/2) / r.
    share: f64,
}

/// The ratio of neighbouring frequencies for which bounds on the rule's error are stored, from the first on.
const STRIDE: f64 = 1.25;
const FIRST_FREQUENCY: f64 = 1e-6;
const FREQUENCIES: usize = 160;
/// Smaller weights are left out.
const NEGLIGIBLE: f64 = 1e-26;
/// 2/(e^x - 1) is at most this times e^-x where the bound is useful, below 0.1.
const TWO_LINES: f64 = 4.0;
/// Beyond a cut: the nodes once, and the integral and the two sides, at most three times the rest of the line
/// (theory 4.8).
const BEYOND_A_CUT: f64 = 3.0;
/// The share of 2 pi/h up to which the sides' integral is bounded there.
const UPRIGHT: f64 = 0.75;
/// The error of the tilted loss's variance from nodes 1/32 apart; its root stands beside [`RATIO`].
const VARIANCE: f64 = 1e-3;
/// The rounding of a modulus, of its square, and of a sum of doubles of at most one.
const MODULUS: f64 = 4.0 * UNIT;
const SQUARE: f64 = 1e-14;
const SUM: f64 = 16.0 * UNIT;
/// The factors of [`turned`]: for an angle and its functions, 20 u and 24 u in each of two coordinates; for additions
/// in both coordinates and of both; and for the losses' 16 u of the centre, in both.
const ANGLE: f64 = 160.0;
const ADDED: f64 = 4.0;
const CENTRE: f64 = 32.0;
const MOST_NODES: f64 = 500_000.0;

impl SampledTransform {
    /// Returns `None` if the law is too wide for the nodes.
    pub(crate) fn new(rate: f64, mu: Dd, direction: Direction, t: f64) -> Option<Self> {
        let shape = Integrand::new(rate, mu.hi, direction, t);
        if !((shape.to - shape.from) / SPACINGS[2] < MOST_NODES && mu.hi > 1e-3 && rate > 1e-9) {
            return None;
        }
        let centre = NodeLevel::new(&shape, SPACINGS[0], 0.0)?.mean();
        let fine = NodeLevel::new(&shape, SPACINGS[1], centre)?;
        let variance: f64 = fine.nodes.iter().map(|n| n.weight * n.loss * n.loss).sum();
        let tails = tails(&shape, SPACINGS[1]);
        let levels = [const { OnceCell::new() }; SPACINGS.len()];
        let bulk = fine.quantile(0.99);
        Some(Self { shape, levels, centre, variance: variance * (1.0 + VARIANCE), tails, bulk })
    }

    fn level(&self, index: usize) -> Option<&NodeLevel> {
        let new = || {
            let many = (self.shape.to - self.shape.from) / SPACINGS[index] > MOST_NODES;
            if many { None } else { NodeLevel::new(&self.shape, SPACINGS[index], self.centre) }
        };
        self.levels[index].get_or_init(new).as_ref()
    }

    /// Returns the transform at a place, from the coarsest nodes whose error is small enough.
    pub(crate) fn value(&self, place: ContourPoint, enough: f64) -> Option<(Complex<Dd>, f64)> {
        let frequency = place.frequency().hi;
        let spread = (frequency * self.variance.sqrt()).min(1.0);
        let mut best: Option<(&NodeLevel, f64)> = None;
        for index in 0..SPACINGS.len() {
            let Some(level) = self.level(index) else { continue };
            let rule = level.rule_error(&self.shape, frequency);
            if best.is_none_or(|(_, error)| rule < error) {
                best = Some((level, rule));
            }
            // Finer nodes cost too much for the last few digits.
            if rule < if index < 2 { enough } else { enough.max(1e-13) } {
                break;
            }
        }
        let (level, rule) = best?;
        if rule > 0.1 {
            return None;
        }
        let (less, im, phase) = turned(&level.nodes, frequency, self.centre);
        let error = RATIO * (rule + CUT) + RATIO * level.error * spread + phase;
        Some(((Dd::sum(1.0, -less), Dd::from(im)), error))
    }

    /// Bounds |M(t + iw)|/M(t) within `reach` of a place. The rule's sum is the characteristic function of a discrete
    /// law. Its rare large losses count in full, and sqrt((1 - |phi|^2)/2) of the others changes by at most
    /// sqrt(variance/2) for each unit of w.
    pub(crate) fn nearby(&self, place: ContourPoint, reach: f64, enough: f64) -> f64 {
        let frequency = place.frequency().hi;
        let levels = (0..SPACINGS.len()).filter_map(|index| self.level(index));
        let within = |level: &&NodeLevel| level.rule_error(&self.shape, frequency + reach) < enough;
        let Some(level) = { levels }.find(within) else { return 1.0 };
        let bulk: Vec<LossNode> =
            level.nodes.iter().filter(|node| node.loss <= self.bulk).copied().collect();
        let sum =
            |of: &dyn Fn(&LossNode) -> f64| bulk.iter().map(|n| n.weight * of(n)).sum::<f64>();
        let mass = sum(&|_| 1.0).clamp(0.0, 1.0);
        if mass <= 0.5 {
            return 1.0;
        }
        let mean = sum(&|node| node.loss) / mass;
        let variance = sum(&|node| (node.loss - mean) * (node.loss - mean)) / mass;
        let (less, im, phase) = turned(&bulk, frequency, self.centre);
        let re = mass - less;
        let size = ((re * re + im * im).sqrt() + phase + MODULUS) / mass;
        let g = 0.5 * (1.0 - size * size - SQUARE);
        let root = g.max(0.0).sqrt() - (0.5 * variance).sqrt() * reach * (1.0 + DOUBLES);
        let root = root.max(0.0) * (1.0 - DOUBLES);
        let most = mass * (1.0 - 2.0 * root * root).max(0.0).sqrt() + (1.0 - mass);
        let error = RATIO * (level.rule_error(&self.shape, frequency + reach) + CUT + level.error);
        (most + error + SUM).min(1.0)
    }

    /// Bounds |M(t + iw)|/M(t) for every w from a frequency on.
    pub(crate) fn envelope(&self, frequency: f64) -> f64 {
        let bound = |&(rest, variation): &(f64, f64)| rest + variation / frequency;
        self.tails.iter().map(bound).fold(1.0, f64::min)
    }

    /// Estimates the number of nodes for a value at a frequency.
    pub(crate) fn work(&self, frequency: f64) -> f64 {
        let levels = (0..SPACINGS.len()).filter_map(|index| self.level(index));
        let fine = { levels }.find(|level| level.rule_error(&self.shape, frequency) < 1e-12);
        fine.map_or(MOST_NODES, |level| level.nodes.len() as f64)
    }
}

impl NodeLevel {
    fn new(shape: &Integrand, spacing: f64, centre: f64) -> Option<Self> {
        let first = (shape.from / spacing).floor() as i64;
        let last = (shape.to / spacing).ceil() as i64;
        let places = || (first..=last).map(|k| k as f64 * spacing);
        let mut nodes = Vec::with_capacity((last - first + 1) as usize);
        let mut largest = f64::NEG_INFINITY;
        let mut steepest = 0.0_f64;
        for x in places() {
            let (loss, share) = shape.loss(x);
            let exponent = shape.exponent(x, loss);
            largest = largest.max(exponent);
            nodes.push((exponent, LossNode { loss: shape.sign * loss - centre, weight: x, share }));
        }
        let mut kept = Vec::with_capacity(nodes.len());
        let mut shares = Vec::with_capacity(nodes.len());
        let (mut lost, mut squares) = (0.0, 0.0);
        for (exponent, node) in nodes {
            let weight = exp((exponent - largest).max(-700.0));
            shares.push((node.share, weight));
            if weight < NEGLIGIBLE {
                lost += weight;
                continue;
            }
            let x = node.weight;
            steepest = steepest.max(x.abs());
            let size = 0.5 * x * x + shape.power.abs() * (node.loss.abs() + centre.abs());
            squares += weight * (EXPONENT * size + WEIGHT) * (EXPONENT * size + WEIGHT);
            kept.push(LossNode { weight, ..node });
        }
        let total = sum_of(kept.iter().map(|node| node.weight));
        for node in &mut kept {
            node.weight /= total;
        }
        // The rounding of the exponents and of the exponential, in the mean square; then the rounding of the sums.
        let additions = (BLOCK + kept.len() / BLOCK) as f64;
        let error =
            UNIT * (ROUNDED_UP * (squares / total).sqrt() + FIRST_ORDER * additions) + lost / total;
        let level = Self {
            shares: Shares::new(shares.into_iter().map(|(share, weight)| (share, weight / total))),
            nodes: kept,
            error,
            spacing,
            slope: steepest + shape.power.abs() * shape.mu,
            rule: vec![OnceCell::new(); FREQUENCIES],
        };
        (error < 1e-6).then_some(level)
    }

    fn mean(&self) -> f64 {
        self.nodes.iter().map(|node| node.weight * node.loss).sum()
    }

    /// Bounds the rule's error relative to M(t), for any frequency up to the given one. Moving the line of integration
    /// by b = beta/mu multiplies the integrand by at most `e^(b^2/2 + w beta arg)`, arg as in [`Shares::least`], and by
    /// `cos(beta/2)^power` if the power is negative. The integral of that is bounded by the nodes, up to a factor of
    /// e^(slope/2) for each cell.
    fn rule_bound(&self, shape: &Integrand, frequency: f64) -> f64 {
        let at = |step: &ContourShift| {
            let (beta, bend) = (step.beta, step.bend(shape.power));
            let b = beta / shape.mu;
            let fall = std::f64::consts::TAU * b / self.spacing;
            let slope = self.slope + 0.5 * frequency * beta * shape.mu;
            let exponent = 0.5 * b * b + bend + 0.5 * slope * self.spacing - fall;
            if exponent > 0.0 {
                return f64::INFINITY;
            }
            // At the cut the moved line returns to the axis.
            let most =
                (UPRIGHT * std::f64::consts::TAU / (self.spacing * shape.mu * frequency)).min(0.5);
            let cut = 1.0
                + BEYOND_A_CUT * exp((0.5 * b * b + bend + self.slope * self.spacing).min(700.0));
            self.shares.least(frequency * beta, TWO_LINES * exp(exponent.max(-700.0)), cut, most)
        };
        MOVES.iter().map(at).fold(f64::INFINITY, f64::min)
    }

    fn rule_error(&self, shape: &Integrand, frequency: f64) -> f64 {
        let mut reach = FIRST_FREQUENCY;
        for error in &self.rule {
            if frequency <= reach {
                return *error.get_or_init(|| self.rule_bound(shape, reach));
            }
            reach *= STRIDE;
        }
        f64::INFINITY
    }

    /// Returns a loss that is exceeded with approximately one minus this probability.
    fn quantile(&self, probability: f64) -> f64 {
        let mut sorted = self.nodes.clone();
        sorted.sort_by(|a, b| a.loss.total_cmp(&b.loss));
        let mut sum = 0.0;
        let reached = sorted.iter().find(|node| {
            sum += node.weight;
            sum >= probability
        });
        reached.map_or(f64::INFINITY, |node| node.loss)
    }
}

/// Returns the sums of weights times 1 - cos(w loss) and times sin(w loss), and a bound on the modulus of their
/// rounding.
///
/// An angle has an error of 20 u of itself, and of 16 u w |centre| since losses are good to 16 u of ln r. Up to 1/2
/// both functions are good to 8 u relative to the angle, beyond that to 24 u. In sums of blocks of blocks each number
/// takes part in few additions.
fn turned(nodes: &[LossNode], frequency: f64, centre: f64) -> (f64, f64, f64) {
    let (mut sums, mut size) = ((0.0, 0.0), 0.0);
    for block in nodes.chunks(BLOCK) {
        let mut part = (0.0, 0.0);
        for node in block {
            let (less, sine) = angle(node.loss * frequency);
            part.0 += node.weight * less;
            part.1 += node.weight * sine;
            size += node.weight * node.loss.abs();
        }
        sums = (sums.0 + part.0, sums.1 + part.1);
    }
    let additions = (BLOCK + nodes.len() / BLOCK) as f64;
    let turn =
        frequency * (size * ROUNDED_UP * (ANGLE + ADDED * additions) + CENTRE * centre.abs());
    (sums.0, sums.1, UNIT * turn)
}

const BLOCK: usize = 64;

/// Returns 1 - cos x and sin x.
pub(crate) fn angle(x: f64) -> (f64, f64) {
    if x.abs() <= 0.5 {
        let y = x * x;
        let less = 0.5
            - y * (1.0 / 24.0
                - y * (1.0 / 720.0
                    - y * (1.0 / 40_320.0
                        - y * (1.0 / 3_628_800.0
                            - y * (1.0 / 479_001_600.0 - y / 87_178_291_200.0)))));
        let sine = 1.0
            - y * (1.0 / 6.0
                - y * (1.0 / 120.0
                    - y * (1.0 / 5040.0
                        - y * (1.0 / 362_880.0 - y * (1.0 / 39_916_800.0 - y / 6_227_020_800.0)))));
        return (y * less, x * sine);
    }
    const BITS: u32 = 53;
    let turns = x / std::f64::consts::TAU;
    let unit = (1_u64 << BITS) as f64;
    let (cosine, sine) = turn(((turns - turns.floor()) * unit) as u64, BITS);
    (1.0 - cosine, sine)
}

/// Adds up numbers that are not negative, in blocks.
fn sum_of(parameters: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut part) = (0.0, 0.0);
    for (i, number) in parameters.enumerate() {
        part += number;
        if i % BLOCK == BLOCK - 1 {
            sum += part;
            part = 0.0;
        }
    }
    sum + part
}
