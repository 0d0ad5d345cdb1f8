//! A Gaussian pair on a Poisson sample: its moment generating function by the trapezoid
//! rule.
//!
//! With x standard normal, r(x) = 1 - q + q e^(mu x - mu^2/2) and l = ln r, the loss is l
//! under the law tilted by r if the person is in P's data and -l if in Q's: in either case
//! M(z) = E[r^(a + iw')] with a = 1 + t, w' = w or a = -t, w' = -w. The integrand is
//! analytic around the real axis, so the rule is exponentially accurate (theorems.md,
//! sampled Gaussian, derives each bound used here).

use super::term::{Complex, Place};
use crate::loss::Direction;
use crate::rounding::{Dd, UNIT, exp, expm1, turn};

/// The tilted law of the loss, as nodes with weights, ever finer.
pub(super) struct Sampled {
    levels: Vec<Level>,
    /// Losses are counted from here.
    pub(super) centre: f64,
    /// At least the variance of the tilted loss.
    pub(super) variance: f64,
    /// At least the total variation of the tilted loss's density.
    pub(super) variation: f64,
}

/// The rule with one spacing.
struct Level {
    nodes: Vec<Node>,
    /// Relative error of the weights.
    error: f64,
    /// Bounds on the rule's error for frequencies up to 4^k times the first.
    rule: Vec<f64>,
    first_frequency: f64,
}

#[derive(Clone, Copy)]
struct Node {
    /// The loss, from the centre.
    loss: f64,
    /// Its share of the tilted law.
    weight: f64,
    /// How much of r is due to the sampled person: q e^(mu x - mu^2/2) / r.
    share: f64,
}

/// What the integral is of.
#[derive(Clone, Copy)]
struct Shape {
    rate: f64,
    mu: f64,
    /// The power of r on the real axis.
    power: f64,
    /// The loss is this times ln r.
    sign: f64,
    /// Nodes are taken between these.
    from: f64,
    to: f64,
}

/// Spacings in standard deviations.
const SPACINGS: [f64; 3] = [1.0 / 8.0, 1.0 / 32.0, 1.0 / 128.0];
/// Weights below this share are left out.
const NEGLIGIBLE: f64 = 1e-26;
/// What is cut off at both ends, relative to the whole.
const CUT: f64 = 1e-19;
const MOST_NODES: f64 = 200_000.0;

impl Shape {
    /// The ends are so far out that at most [`CUT`] lies beyond.
    fn new(rate: f64, mu: f64, direction: Direction, t: f64) -> Self {
        let (power, sign) = match direction {
            Direction::Remove => (1.0 + t, 1.0),
            Direction::Add => (-t, -1.0),
        };
        // r^-t may be as large as (1 - q)^-t on the left.
        let rise = match direction {
            Direction::Remove => 0.0,
            Direction::Add => t * -(-rate).ln_1p(),
        };
        let from = -(2.0 * (47.0 + rise)).sqrt().max(mu + 10.0);
        let to = match direction {
            Direction::Remove => power * mu + 9.8,
            Direction::Add => 9.8_f64.max(0.5 * mu + 1.0),
        };
        Self { rate, mu, power, sign, from, to }
    }

    /// ln r at x and the share of the sampled person, relative errors below 16 u.
    fn loss(&self, x: f64) -> (f64, f64) {
        let y = self.mu * (x - 0.5 * self.mu);
        if y > 300.0 {
            let scaled = (1.0 - self.rate) / self.rate * exp(-y);
            return (y + ln_1p(self.rate - 1.0) + scaled, 1.0 / (1.0 + scaled));
        }
        let rise = self.rate * expm1(y);
        let ratio = self.rate * exp(y) / (1.0 + rise);
        (ln_1p(rise), ratio)
    }

    /// The logarithm of phi(x) r^power, but for a constant.
    fn exponent(&self, x: f64, loss: f64) -> f64 {
        -0.5 * x * x + self.power * loss
    }
}

/// ln(1 + x) to about 8 u: a guess, then one step of Newton's method by [`expm1`].
fn ln_1p(x: f64) -> f64 {
    let guess = x.ln_1p();
    guess + (x - expm1(guess)) / (1.0 + x)
}

impl Sampled {
    /// None if the law is too wide for the nodes.
    pub(super) fn new(rate: f64, mu: Dd, direction: Direction, t: f64) -> Option<Self> {
        let shape = Shape::new(rate, mu.hi, direction, t);
        if !((shape.to - shape.from) / SPACINGS[2] < MOST_NODES && mu.hi > 1e-3 && rate > 1e-12) {
            return None;
        }
        let mut centre = 0.0;
        let mut levels = Vec::new();
        for spacing in SPACINGS {
            let level = Level::new(&shape, spacing, centre)?;
            if levels.is_empty() {
                centre = level.mean();
                levels.push(Level::new(&shape, spacing, centre)?);
            } else {
                levels.push(level);
            }
        }
        let finest = levels.last()?;
        let variance: f64 = finest.nodes.iter().map(|n| n.weight * n.loss * n.loss).sum();
        let variation = variation(&shape, finest, SPACINGS[2])?;
        Some(Self { centre, variance: variance * (1.0 + 1e-6), variation, levels })
    }

    /// Where the centre is and how the phases go is exact by definition; see
    /// [`Level::value`].
    pub(super) fn value(&self, place: Place) -> Option<(Complex, f64)> {
        let frequency = place.frequency().hi;
        let spread = (frequency * self.variance.sqrt()).min(1.0);
        let mut best: Option<(&Level, f64)> = None;
        for level in &self.levels {
            let rule = level.rule_error(frequency);
            if best.is_none_or(|(_, error)| rule < error) {
                best = Some((level, rule));
            }
            if rule < 1e-17 {
                break;
            }
        }
        let (level, rule) = best?;
        if rule > 0.1 {
            return None;
        }
        let (re, im, phase) = level.value(frequency);
        let error = 4.0 * (rule + CUT) + 4.0 * level.error * spread + phase;
        Some(((Dd::from(re), Dd::from(im)), error))
    }

    pub(super) fn len(&self) -> usize {
        self.levels.first().map_or(0, |level| level.nodes.len())
    }
}

impl Level {
    fn new(shape: &Shape, spacing: f64, centre: f64) -> Option<Self> {
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
            nodes.push((exponent, Node { loss: shape.sign * loss - centre, weight: x, share }));
        }
        let mut kept = Vec::with_capacity(nodes.len());
        let (mut total, mut lost) = (0.0, 0.0);
        let mut errors = 0.0_f64;
        for (exponent, node) in nodes {
            let weight = exp((exponent - largest).max(-700.0));
            if weight < NEGLIGIBLE {
                lost += weight;
                continue;
            }
            let x = node.weight;
            steepest = steepest.max(x.abs());
            errors = errors.max(0.5 * x * x + (shape.power * node.loss).abs());
            total += weight;
            kept.push(Node { weight, ..node });
        }
        for node in &mut kept {
            node.weight /= total;
        }
        // The exponents' rounding, then the exponential's and the sums'.
        let error = UNIT * (32.0 * (errors + shape.power.abs() * centre.abs()) + 64.0)
            + UNIT * kept.len() as f64
            + lost / total;
        let mut level = Self { nodes: kept, error, rule: Vec::new(), first_frequency: 1.0 };
        let spread = level.nodes.iter().map(|n| n.weight * n.loss * n.loss).sum::<f64>().sqrt();
        level.first_frequency = 0.25 / spread.max(1e-12);
        let slope = steepest + shape.power.abs() * shape.mu;
        level.rule = (0..12)
            .map(|k| {
                let frequency = level.first_frequency * 4_f64.powi(k);
                level.rule_bound(shape, spacing, slope, frequency, lost / total)
            })
            .collect();
        (error < 1e-6).then_some(level)
    }

    fn mean(&self) -> f64 {
        self.nodes.iter().map(|node| node.weight * node.loss).sum()
    }

    /// The rule's error relative to M(t), for any frequency up to the given one: moving the
    /// line of integration by b = beta/mu multiplies the integrand by at most
    /// `e^(b^2/2 + w min(beta, 2 beta share))`, and by `cos(beta/2)^power` if the power is
    /// negative; the integral of that, by the nodes, within a factor e^(slope/2) a cell.
    fn rule_bound(
        &self,
        shape: &Shape,
        spacing: f64,
        slope: f64,
        frequency: f64,
        lost: f64,
    ) -> f64 {
        let at = |beta: f64| {
            let b = beta / shape.mu;
            let fall = std::f64::consts::TAU * b / spacing;
            let bend = if shape.power < 0.0 { shape.power * (0.5 * beta).cos().ln() } else { 0.0 };
            let slope = slope + 0.5 * frequency * beta * shape.mu;
            let exponent = 0.5 * b * b + bend + 0.5 * slope * spacing - fall;
            // No good beyond any doubt: spare the sum.
            if exponent > 0.0 {
                return f64::INFINITY;
            }
            let most = (frequency * beta).min(650.0);
            let sum: f64 = self
                .nodes
                .iter()
                .map(|node| node.weight * exp((2.0 * frequency * beta * node.share).min(most)))
                .sum();
            if frequency * beta > 650.0 {
                return f64::INFINITY;
            }
            4.0 * exp(exponent.max(-700.0)) * (sum + lost * exp(most))
        };
        [0.1, 0.3, 1.0, 2.2].into_iter().map(at).fold(f64::INFINITY, f64::min)
    }

    fn rule_error(&self, frequency: f64) -> f64 {
        let mut reach = self.first_frequency;
        for &error in &self.rule {
            if frequency <= reach {
                return error;
            }
            reach *= 4.0;
        }
        f64::INFINITY
    }

    /// The sum of weights times e^(iw loss), and what the phases' rounding adds to it.
    fn value(&self, frequency: f64) -> (f64, f64, f64) {
        const BITS: u32 = 53;
        let unit = (1_u64 << BITS) as f64;
        let turning = frequency / std::f64::consts::TAU;
        let (mut re, mut im, mut furthest) = (0.0, 0.0, 0.0_f64);
        for node in &self.nodes {
            let x = node.loss * turning;
            let (cosine, sine) = turn(((x - x.floor()) * unit) as u64, BITS);
            re += node.weight * cosine;
            im += node.weight * sine;
            furthest = furthest.max(x.abs() * node.weight);
        }
        // Each turn's own 24 u, and four roundings of x; losses are good to 16 u of ln r.
        let turned: f64 = self.nodes.iter().map(|n| n.weight * n.loss.abs()).sum();
        (re, im, UNIT * (64.0 + 128.0 * turned * frequency))
    }
}

/// Twice the sum of the maxima of the tilted loss's density bounds its total variation; there
/// are at most two, since the density's slope vanishes where x + mu = (power + 1) mu share(x)
/// and the share is a sigmoid. Between nodes the logarithm of the density bends by at most
/// 2 + |power + 1| mu^2/4.
fn variation(shape: &Shape, level: &Level, spacing: f64) -> Option<f64> {
    let bend = 2.0 + (shape.power + 1.0).abs() * shape.mu * shape.mu / 4.0;
    // All critical points must lie among the nodes.
    let outermost = (shape.power + 1.0).abs() * shape.mu * shape.loss(shape.from).1;
    if shape.from + shape.mu + outermost > -1.0 {
        return None;
    }
    let densest = level
        .nodes
        .iter()
        .map(|node| node.weight / (spacing * shape.mu * node.share))
        .fold(0.0, f64::max);
    Some(4.0 * densest * exp((bend * spacing * spacing / 8.0).min(600.0)) * (1.0 + 1e-6))
}
