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
use crate::rounding::{Dd, UNIT, exp, expm1_rounded, turn};
use std::cell::OnceCell;

/// The tilted law of the loss, as nodes with weights, ever finer.
pub(super) struct Sampled {
    shape: Shape,
    /// Made when they are needed.
    levels: [OnceCell<Option<Level>>; SPACINGS.len()],
    /// Losses are counted from here.
    pub(super) centre: f64,
    /// At least the variance of the tilted loss.
    pub(super) variance: f64,
    /// At least the total variation of the tilted loss's density.
    pub(super) variation: f64,
    /// Most losses are at most this, from the centre: the others are rare and large.
    bulk: f64,
}

/// The rule with one spacing.
struct Level {
    nodes: Vec<Node>,
    /// Relative error of the weights.
    error: f64,
    /// Bounds on the rule's error for frequencies up to 1.25^k times the first.
    rule: Vec<f64>,
    first_frequency: f64,
    /// The largest of the weights over their shares, of nodes left out too, and by how much
    /// they rise and fall from node to node in all.
    densest: f64,
    variation: f64,
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

/// The weights by share, each bin with the largest share it holds.
struct Shares(Vec<(f64, f64)>);

impl Shares {
    /// Four bins to the octave, down to 2^-24.
    fn new(nodes: &[Node]) -> Self {
        let mut bins = vec![(0.0_f64, 0.0); 97];
        for node in nodes {
            let at = (-4.0 * node.share.log2()).floor().clamp(0.0, 96.0);
            let bin = &mut bins[at as usize];
            *bin = (bin.0.max(node.share), bin.1 + node.weight);
        }
        bins.retain(|bin| bin.1 > 0.0);
        Self(bins)
    }

    /// E[e^(x arg)], where arg, the argument of r on the moved line over beta, is at most the
    /// share if that is at most one half, and at most one.
    fn moment(&self, x: f64) -> f64 {
        let term = |&(share, weight): &(f64, f64)| {
            weight * exp(x * if share <= 0.5 { share } else { 1.0 })
        };
        self.0.iter().map(term).sum()
    }
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
const SPACINGS: [f64; 6] =
    [1.0 / 8.0, 1.0 / 32.0, 1.0 / 128.0, 1.0 / 512.0, 1.0 / 2048.0, 1.0 / 8192.0];
/// Bounds on the rule's error are kept for frequencies so far apart.
const STRIDE: f64 = 1.25;
/// Weights below this share are left out.
const NEGLIGIBLE: f64 = 1e-26;
/// What is cut off at both ends, relative to the whole.
const CUT: f64 = 1e-19;
const MOST_NODES: f64 = 500_000.0;

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
            Direction::Add => mu + 9.8,
        };
        Self { rate, mu, power, sign, from, to }
    }

    /// ln r at x and the share of the sampled person, relative errors below 16 u.
    fn loss(&self, x: f64) -> (f64, f64) {
        let y = self.mu * (x - 0.5 * self.mu);
        if y > 300.0 {
            let scaled = (1.0 - self.rate) / self.rate * exp(-y);
            return (y + Dd::from(self.rate).ln().hi + scaled, 1.0 / (1.0 + scaled));
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

/// e^x - 1 to 6 u.
fn expm1(x: f64) -> f64 {
    expm1_rounded(Dd::from(x))
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
        if !((shape.to - shape.from) / SPACINGS[2] < MOST_NODES && mu.hi > 1e-3 && rate > 1e-9) {
            return None;
        }
        let centre = Level::new(&shape, SPACINGS[0], 0.0)?.mean();
        let fine = Level::new(&shape, SPACINGS[1], centre)?;
        let variance: f64 = fine.nodes.iter().map(|n| n.weight * n.loss * n.loss).sum();
        let variation = variation(&shape, &fine, SPACINGS[1])?;
        let levels = [const { OnceCell::new() }; SPACINGS.len()];
        let bulk = fine.quantile(0.99);
        Some(Self { shape, levels, centre, variance: variance * (1.0 + 1e-3), variation, bulk })
    }

    fn level(&self, index: usize) -> Option<&Level> {
        let new = || {
            let many = (self.shape.to - self.shape.from) / SPACINGS[index] > MOST_NODES;
            if many { None } else { Level::new(&self.shape, SPACINGS[index], self.centre) }
        };
        self.levels[index].get_or_init(new).as_ref()
    }

    /// With the coarsest nodes whose error is small enough.
    pub(super) fn value(&self, place: Place, enough: f64) -> Option<(Complex, f64)> {
        let frequency = place.frequency().hi;
        let spread = (frequency * self.variance.sqrt()).min(1.0);
        let mut best: Option<(&Level, f64)> = None;
        // Finer nodes are for bounds, of which there are few.
        for index in 0..3 {
            let Some(level) = self.level(index) else { continue };
            let rule = level.rule_error(frequency);
            if best.is_none_or(|(_, error)| rule < error) {
                best = Some((level, rule));
            }
            if rule < enough {
                break;
            }
        }
        let (level, rule) = best?;
        if rule > 0.1 {
            return None;
        }
        let (re, im, phase) = turned(&level.nodes, frequency);
        let error = 4.0 * (rule + CUT) + 4.0 * level.error * spread + phase;
        Some(((Dd::from(re), Dd::from(im)), error))
    }

    /// A bound on |M(t + iw)|/M(t) within `reach` of a place. The rule's sum is the
    /// characteristic function of a discrete law; its rare large losses count in full, and
    /// sqrt((1 - |phi|^2)/2) of the others moves by at most sqrt(variance/2) a unit of w.
    pub(super) fn nearby(&self, place: Place, reach: f64, enough: f64) -> f64 {
        let frequency = place.frequency().hi;
        let levels = (0..SPACINGS.len()).filter_map(|index| self.level(index));
        let within = |level: &&Level| level.rule_error(frequency + reach) < enough;
        let Some(level) = { levels }.find(within) else { return 1.0 };
        let bulk: Vec<Node> =
            level.nodes.iter().filter(|node| node.loss <= self.bulk).copied().collect();
        let sum = |of: &dyn Fn(&Node) -> f64| bulk.iter().map(|n| n.weight * of(n)).sum::<f64>();
        let mass = sum(&|_| 1.0).clamp(0.0, 1.0);
        if mass <= 0.5 {
            return 1.0;
        }
        let mean = sum(&|node| node.loss) / mass;
        let variance = sum(&|node| (node.loss - mean) * (node.loss - mean)) / mass;
        let (re, im, phase) = turned(&bulk, frequency);
        let size = ((re * re + im * im).sqrt() + phase) / mass;
        let g = 0.5 * (1.0 - size * size - 1e-14);
        let root = g.max(0.0).sqrt() - (0.5 * variance).sqrt() * reach * (1.0 + 1e-9);
        let root = root.max(0.0) * (1.0 - 1e-9);
        let most = mass * (1.0 - 2.0 * root * root).max(0.0).sqrt() + (1.0 - mass);
        let error = 4.0 * (level.rule_error(frequency + reach) + CUT + level.error);
        (most + error + 16.0 * UNIT).min(1.0)
    }

    pub(super) fn len(&self) -> usize {
        self.level(0).map_or(0, |level| level.nodes.len())
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
        let (mut total, mut lost, mut densest) = (0.0, 0.0, 0.0_f64);
        let (mut variation, mut before) = (0.0, 0.0);
        let mut errors = 0.0_f64;
        for (exponent, node) in nodes {
            let weight = exp((exponent - largest).max(-700.0));
            let density = weight / node.share.max(1e-300);
            variation += (density - before).abs();
            before = density;
            densest = densest.max(density);
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
        let mut level = Self {
            nodes: kept,
            error,
            rule: Vec::new(),
            first_frequency: 1.0,
            densest: densest / total,
            variation: (variation + before) / total,
        };
        let spread = level.nodes.iter().map(|n| n.weight * n.loss * n.loss).sum::<f64>().sqrt();
        level.first_frequency = 0.25 / spread.max(1e-12);
        let slope = steepest + shape.power.abs() * shape.mu;
        let shares = Shares::new(&level.nodes);
        level.rule = (0..72)
            .map(|k| {
                let frequency = level.first_frequency * STRIDE.powi(k);
                Self::rule_bound(&shares, shape, spacing, slope, frequency, lost / total)
            })
            .collect();
        (error < 1e-6).then_some(level)
    }

    /// The largest exponent, the sum of the weights relative to it, and that sum's relative
    /// error.
    fn sum(shape: &Shape, spacing: f64) -> (f64, f64, f64) {
        let first = (shape.from / spacing).floor() as i64;
        let last = (shape.to / spacing).ceil() as i64;
        let exponents = (first..=last).map(|k| {
            let x = k as f64 * spacing;
            let loss = shape.loss(x).0;
            let size = 0.5 * x * x + (shape.power * loss).abs();
            (shape.exponent(x, loss), size)
        });
        let exponents: Vec<(f64, f64)> = exponents.collect();
        let largest = exponents.iter().map(|e| e.0).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut error) = (0.0, 0.0);
        for (exponent, size) in exponents {
            let weight = exp((exponent - largest).max(-700.0));
            sum += weight;
            error += weight * UNIT * (32.0 * size + 64.0);
        }
        (largest, sum, error / sum + UNIT * (last - first + 1) as f64)
    }

    fn mean(&self) -> f64 {
        self.nodes.iter().map(|node| node.weight * node.loss).sum()
    }

    /// The rule's error relative to M(t), for any frequency up to the given one: moving the
    /// line of integration by b = beta/mu multiplies the integrand by at most
    /// `e^(b^2/2 + w beta arg)`, arg as in [`Shares::moment`], and by `cos(beta/2)^power` if the power is
    /// negative; the integral of that, by the nodes, within a factor e^(slope/2) a cell.
    fn rule_bound(
        shares: &Shares,
        shape: &Shape,
        spacing: f64,
        slope: f64,
        frequency: f64,
        lost: f64,
    ) -> f64 {
        let at = |beta: f64| {
            let b = beta / shape.mu;
            let fall = std::f64::consts::TAU * b / spacing;
            let bend = if shape.power < 0.0 {
                shape.power * (0.5 * beta).cos().ln() * (1.0 + 1e-9)
            } else {
                0.0
            };
            let slope = slope + 0.5 * frequency * beta * shape.mu;
            let exponent = 0.5 * b * b + bend + 0.5 * slope * spacing - fall;
            if exponent > 0.0 || frequency * beta > 650.0 {
                return f64::INFINITY;
            }
            let sum = shares.moment(frequency * beta) + lost * exp(frequency * beta);
            4.0 * exp(exponent.max(-700.0)) * sum
        };
        [0.01, 0.03, 0.1, 0.3, 1.0, 2.2].into_iter().map(at).fold(f64::INFINITY, f64::min)
    }

    fn rule_error(&self, frequency: f64) -> f64 {
        let mut reach = self.first_frequency;
        for &error in &self.rule {
            if frequency <= reach {
                return error;
            }
            reach *= STRIDE;
        }
        f64::INFINITY
    }

    /// A loss that is exceeded with about the rest of a probability.
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

/// The sum of weights times e^(iw loss), and what the phases' rounding adds to it.
fn turned(nodes: &[Node], frequency: f64) -> (f64, f64, f64) {
    const BITS: u32 = 53;
    let unit = (1_u64 << BITS) as f64;
    let turning = frequency / std::f64::consts::TAU;
    let (mut re, mut im, mut size) = (0.0, 0.0, 0.0);
    for node in nodes {
        let x = node.loss * turning;
        let (cosine, sine) = turn(((x - x.floor()) * unit) as u64, BITS);
        re += node.weight * cosine;
        im += node.weight * sine;
        size += node.weight * node.loss.abs();
    }
    // Each turn's own 24 u, and four roundings of x; losses are good to 16 u of ln r.
    (re, im, UNIT * (64.0 + 128.0 * size * frequency))
}

/// K(t) and its absolute error, from nodes in plain doubles; None where they will not do.
///
/// E[r] = 1, so that M - 1 = E[r^p - 1 - p (r - 1)]: its terms are small where r is near 1.
pub(super) fn cumulant(rate: f64, mu: Dd, direction: Direction, t: f64) -> Option<(Dd, f64)> {
    let shape = Shape::new(rate, mu.hi, direction, t);
    let spacing = SPACINGS[if mu.hi > 2.0 { 1 } else { 0 }];
    if !((shape.to - shape.from) / spacing < 4096.0 && mu.hi > 1e-3) {
        return None;
    }
    // Of the integrals of r^p, of r and of 1, the first moves most with the line.
    let fall = [0.3, 1.0, 2.2].map(|beta| {
        let b = beta / shape.mu;
        let bend = if shape.power < 0.0 {
            shape.power * (0.5 * beta).cos().ln() * (1.0 + 1e-9)
        } else {
            0.0
        };
        0.5 * b * b + bend - std::f64::consts::TAU * b / spacing
    });
    let rule = 8.0 * exp(fall.into_iter().fold(0.0, f64::min).max(-700.0));
    let first = (shape.from / spacing).floor() as i64;
    let last = (shape.to / spacing).ceil() as i64;
    let density = spacing / std::f64::consts::TAU.sqrt();
    let (mut sum, mut error, mut highest) = (0.0, 0.0, f64::NEG_INFINITY);
    for k in first..=last {
        let x = k as f64 * spacing;
        let (loss, _) = shape.loss(x);
        let exponent = shape.exponent(x, loss);
        highest = highest.max(exponent);
        if shape.power * loss > 600.0 {
            highest = f64::INFINITY;
        }
        if highest > 3.0 {
            break;
        }
        let weight = density * exp(-0.5 * x * x);
        let (power, line) =
            (expm1(shape.power * loss), shape.power * rate * expm1(mu.hi * (x - 0.5 * mu.hi)));
        let size = power.abs() + line.abs() + (shape.power * loss).abs();
        sum += weight * (power - line);
        error += weight * (40.0 * size + (power - line).abs() * (4.0 * x * x + 8.0));
    }
    if highest > 3.0 {
        return large_cumulant(&shape, spacing, rule);
    }
    let rule = rule * (1.0 + 2.0 * shape.power.abs());
    let error = (error * UNIT + 2.0 * rule * (1.0 + sum.abs()) + CUT) / (1.0 + sum).max(0.5);
    Some((Dd::from(ln_1p(sum.max(0.0))), 2.0 * error + 16.0 * UNIT * sum.abs()))
}

/// Estimates of K, K' and K''.
pub(super) fn jet(rate: f64, mu: f64, direction: Direction, t: f64) -> Option<[f64; 3]> {
    let shape = Shape::new(rate, mu, direction, t);
    let spacing = SPACINGS[0];
    if (shape.to - shape.from) / spacing > 4096.0 {
        return None;
    }
    let places = ((shape.from / spacing).floor() as i64)..=((shape.to / spacing).ceil() as i64);
    let nodes = places.map(|k| {
        let x = k as f64 * spacing;
        let loss = shape.loss(x).0;
        (shape.exponent(x, loss), shape.sign * loss)
    });
    let nodes: Vec<(f64, f64)> = nodes.collect();
    let largest = nodes.iter().map(|node| node.0).fold(f64::NEG_INFINITY, f64::max);
    let [mut total, mut first, mut second] = [0.0; 3];
    for (exponent, loss) in nodes {
        let weight = exp((exponent - largest).max(-700.0));
        total += weight;
        first += weight * loss;
        second += weight * loss * loss;
    }
    let mean = first / total;
    let value = cumulant(rate, Dd::from(mu), direction, t)?.0.hi;
    Some([value, mean, second / total - mean * mean])
}

/// The same where r^p is large.
fn large_cumulant(shape: &Shape, spacing: f64, rule: f64) -> Option<(Dd, f64)> {
    let level = Level::sum(shape, spacing);
    let constant = Dd::from(spacing / std::f64::consts::TAU.sqrt()).ln().hi;
    let value = level.0 + Dd::from(level.1).ln().hi + constant;
    let error = level.2 + 4.0 * (rule + CUT) + 16.0 * UNIT * (1.0 + value.abs() + level.0.abs());
    Some((Dd::from(value), error))
}

/// The total variation of the tilted loss's density: that from node to node, and what each
/// extremum between nodes may add. There are at most three, since the density's slope vanishes
/// where x + mu = (power + 1) mu share(x) and the share is a sigmoid; between nodes the
/// logarithm of the density bends by at most 2 + |power + 1| mu^2/4.
fn variation(shape: &Shape, level: &Level, spacing: f64) -> Option<f64> {
    let bend = 2.0 + (shape.power + 1.0).abs() * shape.mu * shape.mu / 4.0;
    // All critical points must lie among the nodes.
    let outermost = (shape.power + 1.0).abs() * shape.mu * shape.loss(shape.from).1;
    if shape.from + shape.mu + outermost > -1.0 {
        return None;
    }
    let missed = expm1((bend * spacing * spacing / 8.0).min(600.0));
    let variation = level.variation + 6.0 * missed * level.densest;
    Some(variation / (spacing * shape.mu) * (1.0 + 1e-6))
}

#[cfg(test)]
mod tests;
