//! A Gaussian pair on a Poisson sample: its moment generating function by the trapezoid
//! rule.
//!
//! With x standard normal, r(x) = 1 - q + q e^(mu x - mu^2/2) and l = ln r, the loss is l
//! under the law tilted by r if the person is in P's data and -l if in Q's: in either case
//! M(z) = E[r^(a + iw')] with a = 1 + t, w' = w or a = -t, w' = -w. The integrand is
//! analytic around the real axis, so the rule is exponentially accurate (theorems.md,
//! sampled Gaussian, derives each bound used here).

use super::place::{Complex, Place};
use crate::loss::Direction;
use crate::rounding::{Dd, UNIT, exp, expm1_rounded, ln_1p_rounded, ln_rounded, turn};
use crate::route::{DOUBLES, ROUNDED_UP};
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
    /// Bounds 1 - m + v/w on |M(t + iw)|/M(t): pairs of 1 - m and v, m being at most the mass
    /// from some loss on and v at least the total variation of the density there.
    tails: Vec<(f64, f64)>,
    /// Most losses are at most this, from the centre: the others are rare and large.
    bulk: f64,
}

/// The rule with one spacing.
struct Level {
    nodes: Vec<Node>,
    /// Relative error of the weights.
    error: f64,
    spacing: f64,
    /// At least the slope of the weights' logarithm.
    slope: f64,
    /// Of all nodes, those left out too.
    shares: Shares,
    /// Bounds on the rule's error for frequencies up to 1.25^k times the first, made when they
    /// are needed.
    rule: Vec<OnceCell<f64>>,
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

/// The weights by share, by falling share.
struct Shares(Vec<Bin>);

#[derive(Clone, Copy, Default)]
struct Bin {
    /// The largest share it holds.
    share: f64,
    weight: f64,
    /// The weights of all larger shares.
    above: f64,
}

impl Shares {
    /// Four bins to the octave, down to 2^-40.
    const BINS: usize = 160;

    /// Of nodes by rising share; which bin takes one is estimated, never below an earlier one's.
    #[allow(clippy::disallowed_methods)]
    fn new(nodes: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut bins = vec![Bin::default(); Self::BINS + 1];
        let mut last = Self::BINS as f64;
        for (share, weight) in nodes {
            last = (-4.0 * share.log2()).floor().clamp(0.0, last);
            let bin = &mut bins[last as usize];
            (bin.share, bin.weight) = (bin.share.max(share), bin.weight + weight);
        }
        bins.retain(|bin| bin.weight > 0.0);
        let mut above = 0.0;
        for bin in &mut bins {
            bin.above = above;
            above += bin.weight;
        }
        Self(bins)
    }

    /// The least, over where to cut, of a times E[e^(x arg)] below the cut plus c times the mass
    /// above it. There arg, the argument of r on the moved line over beta, is at most the share
    /// if that is at most one half, and at most one. Cuts are at shares up to `most`.
    fn least(&self, x: f64, a: f64, c: f64, most: f64) -> f64 {
        let term = |bin: &Bin| {
            let arg = if bin.share <= 0.5 { bin.share } else { 1.0 };
            if x * arg > 650.0 { f64::INFINITY } else { bin.weight * exp(x * arg) }
        };
        let (mut sum, mut least) = (0.0, f64::INFINITY);
        // From the smallest share up.
        for bin in self.0.iter().rev() {
            sum += term(bin);
            if bin.share <= most {
                least = least.min(a * sum + c * (bin.above + UNSEEN));
            }
        }
        least.min(a * sum)
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
/// Bounds on the rule's error are kept for frequencies so far apart, from the first on.
const STRIDE: f64 = 1.25;
const FIRST_FREQUENCY: f64 = 1e-6;
const FREQUENCIES: usize = 160;
/// Weights below this share are left out.
const NEGLIGIBLE: f64 = 1e-26;
/// What is cut off at both ends, relative to the whole; [`CUT_LEFT`] and those after it are how far out
/// that is (theorems.md, the ends).
const CUT: f64 = 1e-19;
const CUT_LEFT: f64 = 10.0;
const CUT_RIGHT: f64 = 9.8;
const CUT_EXPONENT: f64 = 47.0;

// What the certificates here allow for, each rounded up generously.

/// More than the nodes leave out beyond the right end, beside [`CUT`].
const UNSEEN: f64 = 1e-20;
/// Numerator and denominator are both off by the rule's error and the cut, at most 0.1 of the
/// denominator: 2/(1 - 0.1); the weights' error likewise.
const RATIO: f64 = 4.0;
/// 2/(e^x - 1) is at most this times e^-x where the bound is of use, below 0.1.
const TWO_LINES: f64 = 4.0;
/// Beyond a cut: the nodes once, and the integral and the two sides, at most three times what is left of
/// the line (theorems.md, a cut).
const BEYOND_A_CUT: f64 = 3.0;
/// Of 2 pi/h, for which the sides' integral is bounded there.
const UPRIGHT: f64 = 0.75;
/// The rule's error for a cumulant: 2/(e^x - 1) at an e^-x below e^-44, fourfold.
const RULE: f64 = 8.0;
/// Units of u an exponent -x^2/2 + p ln r carries, for each unit of its summands, ln r being good to 16; and
/// an exponential and a weight.
const EXPONENT: f64 = 32.0;
const WEIGHT: f64 = 64.0;
/// Units of u a term r^p - 1 - p (r - 1) carries: the functions' 6 and ln r's 16, for each unit of
/// what it is made of; and the normal density's, for each unit of x^2 and beside.
const EXCESS: f64 = 40.0;
const SQUARES: f64 = 4.0;
const DENSITY: f64 = 8.0;
/// A logarithm's bend, of a number known to at most a half; a sum and what it is divided by.
const FIRST_ORDER: f64 = 2.0;
/// A logarithm of doubles and the sums beside it.
const LOGARITHM: f64 = 16.0 * UNIT;
/// The tilted loss's variance from nodes 1/32 apart; its root stands beside [`RATIO`].
const VARIANCE: f64 = 1e-3;
/// A modulus, its square and a sum of doubles of at most one.
const MODULUS: f64 = 4.0 * UNIT;
const SQUARE: f64 = 1e-14;
const SUM: f64 = 16.0 * UNIT;
/// Of [`turned`]: an angle and its functions, 20 u and 24 u in each of two coordinates; additions, in both
/// and of both; and the losses' 16 u of the centre, in both.
const ANGLE: f64 = 160.0;
const ADDED: f64 = 4.0;
const CENTRE: f64 = 32.0;
/// Of [`tails`]: three extrema, up and down.
const EXTREMA: f64 = 6.0;
/// The weights' sum instead of their integral: the rule's error, checked to be below a tenth of this.
const NORM: f64 = 1e-6;
/// A cell's mass from below: the same, and the weights' rounding.
const CELL: f64 = 1e-5;
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
            Direction::Add => t * -(-Dd::from(rate)).ln_1p().hi,
        };
        let from = -(2.0 * (CUT_EXPONENT + rise)).sqrt().max(mu + CUT_LEFT);
        let to = match direction {
            Direction::Remove => power * mu + CUT_RIGHT,
            Direction::Add => mu + CUT_RIGHT,
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
        if rise < -0.5 {
            // 1 - q is exact in two doubles, where 1 + rise would cancel.
            let own = self.rate * exp(y);
            let r = (Dd::sum(1.0, -self.rate) + Dd::from(own)).hi;
            return (ln_rounded(r), own / r);
        }
        let ratio = self.rate * exp(y) / (1.0 + rise);
        (ln_1p_rounded(rise), ratio)
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

/// How far the line of integration is moved: by beta/mu, which may multiply r^power by
/// cos(beta/2)^power.
struct Move {
    beta: f64,
    /// ln cos(beta/2), to a relative [`COSINE_ERROR`].
    ln_cosine: f64,
}

const COSINE_ERROR: f64 = 1e-9;

const MOVES: [Move; 6] = [
    Move { beta: 0.01, ln_cosine: -1.250005208368308e-05 },
    Move { beta: 0.03, ln_cosine: -0.00011250421900315009 },
    Move { beta: 0.1, ln_cosine: -0.0012505211808192499 },
    Move { beta: 0.3, ln_cosine: -0.011292442366641833 },
    Move { beta: 1.0, ln_cosine: -0.13058424044372266 },
    Move { beta: 2.2, ln_cosine: -0.7905480772542317 },
];

impl Move {
    /// What cos(beta/2)^power adds to an exponent, from above: nothing where it is at most one.
    fn bend(&self, power: f64) -> f64 {
        if power < 0.0 { power * self.ln_cosine * (1.0 + COSINE_ERROR) } else { 0.0 }
    }
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
        let tails = tails(&shape, SPACINGS[1]);
        let levels = [const { OnceCell::new() }; SPACINGS.len()];
        let bulk = fine.quantile(0.99);
        Some(Self { shape, levels, centre, variance: variance * (1.0 + VARIANCE), tails, bulk })
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

    /// A bound on |M(t + iw)|/M(t) within `reach` of a place. The rule's sum is the
    /// characteristic function of a discrete law; its rare large losses count in full, and
    /// sqrt((1 - |phi|^2)/2) of the others moves by at most sqrt(variance/2) a unit of w.
    pub(super) fn nearby(&self, place: Place, reach: f64, enough: f64) -> f64 {
        let frequency = place.frequency().hi;
        let levels = (0..SPACINGS.len()).filter_map(|index| self.level(index));
        let within = |level: &&Level| level.rule_error(&self.shape, frequency + reach) < enough;
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

    /// A bound on |M(t + iw)|/M(t) for every w from a frequency on.
    pub(super) fn envelope(&self, frequency: f64) -> f64 {
        let bound = |&(rest, variation): &(f64, f64)| rest + variation / frequency;
        self.tails.iter().map(bound).fold(1.0, f64::min)
    }

    /// How many nodes a value at a frequency takes.
    pub(super) fn work(&self, frequency: f64) -> f64 {
        let levels = (0..SPACINGS.len()).filter_map(|index| self.level(index));
        let fine = { levels }.find(|level| level.rule_error(&self.shape, frequency) < 1e-12);
        fine.map_or(MOST_NODES, |level| level.nodes.len() as f64)
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
            kept.push(Node { weight, ..node });
        }
        let total = sum_of(kept.iter().map(|node| node.weight));
        for node in &mut kept {
            node.weight /= total;
        }
        // The exponents' rounding and the exponential's, in the mean square; then the sums'.
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
            error += weight * UNIT * (EXPONENT * size + WEIGHT);
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
    fn rule_bound(&self, shape: &Shape, frequency: f64) -> f64 {
        let at = |step: &Move| {
            let (beta, bend) = (step.beta, step.bend(shape.power));
            let b = beta / shape.mu;
            let fall = std::f64::consts::TAU * b / self.spacing;
            let slope = self.slope + 0.5 * frequency * beta * shape.mu;
            let exponent = 0.5 * b * b + bend + 0.5 * slope * self.spacing - fall;
            if exponent > 0.0 {
                return f64::INFINITY;
            }
            // At the cut the moved line comes back to the axis.
            let most =
                (UPRIGHT * std::f64::consts::TAU / (self.spacing * shape.mu * frequency)).min(0.5);
            let cut = 1.0
                + BEYOND_A_CUT * exp((0.5 * b * b + bend + self.slope * self.spacing).min(700.0));
            self.shares.least(frequency * beta, TWO_LINES * exp(exponent.max(-700.0)), cut, most)
        };
        MOVES.iter().map(at).fold(f64::INFINITY, f64::min)
    }

    fn rule_error(&self, shape: &Shape, frequency: f64) -> f64 {
        let mut reach = FIRST_FREQUENCY;
        for error in &self.rule {
            if frequency <= reach {
                return *error.get_or_init(|| self.rule_bound(shape, reach));
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

/// The sums of weights times 1 - cos(w loss) and times sin(w loss), and a bound on the modulus
/// of their rounding.
///
/// An angle is off by 20 u of itself, and by 16 u w |centre| as losses are good to 16 u of ln r.
/// Up to 1/2 both functions are good to 8 u relative to the angle, beyond that to 24 u; sums of
/// blocks of blocks see few additions each.
fn turned(nodes: &[Node], frequency: f64, centre: f64) -> (f64, f64, f64) {
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

/// 1 - cos x and sin x.
fn angle(x: f64) -> (f64, f64) {
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

/// A sum of numbers that are not negative, in blocks.
fn sum_of(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut part) = (0.0, 0.0);
    for (i, number) in numbers.enumerate() {
        part += number;
        if i % BLOCK == BLOCK - 1 {
            sum += part;
            part = 0.0;
        }
    }
    sum + part
}

/// K(t) and its absolute error, from nodes in plain doubles; None where they will not do.
///
/// E[r] = 1, so that M - 1 = E[r^p - 1 - p (r - 1)]: its terms are small where r is near 1.
pub(super) fn cumulant(rate: f64, mu: Dd, direction: Direction, t: f64) -> Option<(Dd, f64)> {
    let shape = Shape::new(rate, mu.hi, direction, t);
    if mu.hi <= 1e-3 {
        return None;
    }
    // The coarsest spacing that will do.
    let fallen = |&&spacing: &&f64| fall(&shape, spacing) < -44.0;
    let &spacing = SPACINGS.iter().find(fallen)?;
    if (shape.to - shape.from) / spacing > 16_384.0 {
        return None;
    }
    let rule = RULE * exp(fall(&shape, spacing).max(-700.0));
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
        error += weight * (EXCESS * size + (power - line).abs() * (SQUARES * x * x + DENSITY));
    }
    if highest > 3.0 {
        return large_cumulant(&shape, spacing, rule);
    }
    let rule = rule * (1.0 + 2.0 * shape.power.abs());
    let error =
        (error * UNIT + FIRST_ORDER * rule * (1.0 + sum.abs()) + CUT) / (1.0 + sum).max(0.5);
    Some((Dd::from(ln_1p_rounded(sum.max(0.0))), FIRST_ORDER * error + LOGARITHM * sum.abs()))
}

/// The logarithm of the rule's error: of the integrals of r^p, of r and of 1 the first moves most
/// with the line.
fn fall(shape: &Shape, spacing: f64) -> f64 {
    let at = |step: &Move| {
        let b = step.beta / shape.mu;
        0.5 * b * b + step.bend(shape.power) - std::f64::consts::TAU * b / spacing
    };
    // The shortest move never is the best of these.
    MOVES[1..].iter().map(at).fold(0.0, f64::min)
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
    let error = level.2 + RATIO * (rule + CUT) + LOGARITHM * (1.0 + value.abs() + level.0.abs());
    Some((Dd::from(value), error))
}

/// Pairs of 1 - m and v as in [`Sampled`], for losses from some nodes on, and for all.
///
/// The total variation is that from node to node, the jump where the density is cut off, and
/// what each extremum between nodes may add. There are at most three, since the density's slope
/// vanishes where x + mu = (power + 1) mu share(x) and the share is a sigmoid; between nodes the
/// logarithm of the density bends by at most 2 + |power + 1| mu^2/4. The mass in a cell is at
/// least its node's, but for the slope of its logarithm.
fn tails(shape: &Shape, spacing: f64) -> Vec<(f64, f64)> {
    if exp(fall(shape, spacing)) > 0.1 * NORM {
        return Vec::new();
    }
    let first = (shape.from / spacing).floor() as i64;
    let last = (shape.to / spacing).ceil() as i64;
    let nodes: Vec<(f64, f64, f64)> = (first..=last)
        .map(|k| {
            let x = k as f64 * spacing;
            let (loss, share) = shape.loss(x);
            (x, shape.exponent(x, loss), share.max(1e-300))
        })
        .collect();
    let largest = nodes.iter().map(|node| node.1).fold(f64::NEG_INFINITY, f64::max);
    let weight = |exponent: f64| exp((exponent - largest).max(-700.0));
    let total: f64 = nodes.iter().map(|node| weight(node.1)).sum();
    let bend = 2.0 + (shape.power + 1.0).abs() * shape.mu * shape.mu / 4.0;
    let missed = EXTREMA * expm1((bend * spacing * spacing / 8.0).min(600.0));
    let unit = (1.0 + NORM) / (total * spacing * shape.mu);
    let mut list = Vec::new();
    let (mut mass, mut variation, mut densest, mut before) = (0.0, 0.0, 0.0_f64, 0.0);
    for (i, &(x, exponent, share)) in nodes.iter().rev().enumerate() {
        let density = weight(exponent) / share;
        variation += (density - before).abs();
        (densest, before) = (densest.max(density), density);
        if i % 4 == 0 && mass > 1e-12 {
            list.push((1.0 - mass, (variation + density + missed * densest) * unit));
        }
        let slope = x.abs() + spacing + shape.power.abs() * shape.mu;
        mass += weight(exponent) * exp(-0.5 * slope * spacing) / total * (1.0 - CELL);
    }
    // All critical points must lie among the nodes.
    let outermost = (shape.power + 1.0).abs() * shape.mu * shape.loss(shape.from).1;
    if shape.from + shape.mu + outermost <= -1.0 {
        list.push((0.0, (variation + before + missed * densest) * unit));
    }
    list
}

#[cfg(test)]
mod tests;
