//! Probabilities of noise, in doubles. They are accurate to about twelve digits, however small; one-sided bounds round
//! by [`SLACK`].

mod gaussian;
mod laplace;
mod staircase;

pub(crate) use gaussian::normal_tail;

use super::{Noise, NoiseShape};
use gaussian::{normal_excess, normal_quantile, tails, wide_excess, wide_tail};
use laplace::{two_laplaces, two_laplaces_excess};
use staircase::StaircaseLaw;

/// An upper bound on the relative rounding error of a probability.
pub(crate) const SLACK: f64 = 1e-12;

/// From this sigma on, sums over a discrete Gaussian are computed as integrals with corrections.
const WIDE: f64 = 32.0;

/// An upper bound on the relative rounding error of an excess, which is a difference of nearly equal numbers 40
/// deviations out.
const EXCESS_SLACK: f64 = 1e-9;

/// The law of noise on multiples of a step.
#[derive(Clone, Debug)]
pub(crate) struct NoiseLaw {
    kind: LawKind,
    step: f64,
}

#[derive(Clone, Debug)]
enum LawKind {
    /// The masses fall by the factor e^-rate with each step.
    Laplace {
        rate: f64,
    },
    /// P(x >= k) for k = 0, 1, ...
    Listed {
        tails: Vec<f64>,
    },
    Gaussian {
        sigma: f64,
    },
    Staircase(StaircaseLaw),
}

impl NoiseLaw {
    pub(crate) fn new(noise: &Noise) -> Self {
        Self { kind: LawKind::new(&noise.shape), step: noise.grid.step() }
    }

    /// The step.
    pub(crate) fn step(&self) -> f64 {
        self.step
    }

    /// The mean absolute value of the noise.
    pub(crate) fn expected(&self) -> f64 {
        self.kind.expected() * self.step
    }

    /// P(noise > x).
    pub(crate) fn above(&self, x: f64) -> f64 {
        let place = x / self.step;
        if place >= 0.0 {
            self.kind.at_least(place.floor() + 1.0)
        } else {
            1.0 - self.kind.at_least((-place).ceil())
        }
    }

    /// P(low <= noise <= high).
    pub(crate) fn between(&self, low: f64, high: f64) -> f64 {
        let (low, high) = ((low / self.step).ceil(), (high / self.step).floor());
        let tail = |k: f64| self.kind.at_least(k);
        if low > high {
            0.0
        } else if low > 0.0 {
            tail(low) - tail(high + 1.0)
        } else if high < 0.0 {
            tail(-high) - tail(1.0 - low)
        } else {
            1.0 - tail(1.0 - low) - tail(high + 1.0)
        }
    }

    /// The least h with P(|noise| > h) <= alpha.
    pub(crate) fn furthest(&self, alpha: f64) -> f64 {
        let keeps = |h: f64| 2.0 * self.kind.at_least(h + 1.0) <= alpha * (1.0 - SLACK);
        least(self.kind.about(0.5 * alpha), keeps) * self.step
    }

    /// The least h >= 0 with P(noise > h) <= alpha.
    pub(crate) fn reach(&self, alpha: f64) -> f64 {
        let keeps = |h: f64| self.kind.at_least(h + 1.0) <= alpha * (1.0 - SLACK);
        least(self.kind.about(alpha), keeps) * self.step
    }

    /// The least h with P(|noise| <= h) >= confidence.
    pub(crate) fn half_width(&self, confidence: f64) -> f64 {
        if confidence >= 0.5 {
            // The difference is exact.
            return self.furthest(1.0 - confidence);
        }
        // A Gaussian is zero with probability above 10^-7; in the other laws nothing cancels.
        let keeps = |h: f64| self.kind.within(h) * (1.0 - 1e-9) >= confidence;
        least(0.0, keeps) * self.step
    }

    /// E (noise - x)_+ for x >= 0, rounded up by less than a step.
    pub(crate) fn excess(&self, x: f64) -> f64 {
        self.kind.excess((x / self.step).floor()) * self.step * (1.0 + EXCESS_SLACK)
    }

    /// E min(noise_+, cap), rounded up: the cap is rounded up to a multiple of the step, unless only rounding separates
    /// it from one.
    pub(crate) fn capped(&self, cap: f64) -> f64 {
        let steps = (cap / self.step * (1.0 - SLACK) - 1e-6).ceil();
        if steps <= 0.0 {
            return 0.0;
        }
        let beyond = self.kind.excess(steps) * (1.0 - EXCESS_SLACK);
        (self.kind.excess(0.0) * (1.0 + SLACK) - beyond).max(0.0) * self.step
    }

    /// An upper bound on E (noise + share other - x)_+.
    pub(crate) fn both_excess(&self, other: &Self, share: f64, x: f64, blocks: &[Block]) -> f64 {
        if x < 0.0 {
            return self.both_excess(other, share, -x, blocks) - x;
        }
        // `moved` allows one step more for each noise; `more` is the remainder if these steps exceed x.
        let steps = self.step + share * other.step;
        let (moved, more) = ((x - steps).max(0.0), (steps - x).max(0.0));
        match (&self.kind, &other.kind) {
            (LawKind::Laplace { rate }, LawKind::Laplace { rate: second }) => {
                more + two_laplaces_excess((self.step / rate, share * other.step / second), moved)
            }
            (LawKind::Gaussian { sigma }, LawKind::Gaussian { sigma: second }) => {
                let sigma = (sigma * self.step).hypot(share * second * other.step);
                more + sigma * normal_excess(moved / sigma)
            }
            _ => {
                let one = |block: &Block| {
                    if block.high.is_infinite() {
                        // E (s - low)_+, plus the mean of the remainder in that case.
                        let low = share * block.low;
                        let rest = low + 0.5 * self.expected() - x;
                        return share * other.excess(block.low) + block.chance * rest.max(0.0);
                    }
                    let left = x - share * block.high;
                    block.chance * (self.excess(left.abs()) + (-left).max(0.0))
                };
                blocks.iter().map(one).sum()
            }
        }
    }

    /// An upper bound on P(noise + share other > x), for noises of the same kind. With one step more for each,
    /// continuous noise is above the discrete (theory 11.14).
    pub(crate) fn both_above(&self, other: &Self, share: f64, x: f64, blocks: &[Block]) -> f64 {
        match (&self.kind, &other.kind) {
            (LawKind::Laplace { rate }, LawKind::Laplace { rate: second }) => {
                let scales = (self.step / rate, share * other.step / second);
                two_laplaces(scales, x - self.step - share * other.step)
            }
            (LawKind::Gaussian { sigma }, LawKind::Gaussian { sigma: second }) => {
                let sigma = (sigma * self.step).hypot(share * second * other.step);
                normal_tail((x - self.step - share * other.step) / sigma)
            }
            _ => {
                let one = |block: &Block| block.chance * self.above_in(other, share, x, block);
                blocks.iter().map(one).sum::<f64>().min(1.0)
            }
        }
    }

    /// An upper bound on the same probability given that the other noise is in a block. On the positive side the noise
    /// in a block is stochastically smaller than uniform noise on the block, for which the probability is an integral
    /// of tails: a difference of excesses.
    fn above_in(&self, other: &Self, share: f64, x: f64, block: &Block) -> f64 {
        let most = self.above(x - share * block.high);
        let width = share * (block.high + other.step - block.low);
        if block.low <= 0.0 || block.high.is_infinite() || width < 16.0 * self.step {
            return most;
        }
        let excess = |x: f64| self.excess(x.abs()) + (-x).max(0.0);
        let (near, far) = (x - share * block.low, x - share * (block.high + other.step));
        ((excess(far) - excess(near + self.step)).max(0.0) / width).min(most)
    }

    /// True if [`NoiseLaw::both_above`] needs the second noise in blocks.
    pub(crate) fn needs_blocks(&self, other: &Self) -> bool {
        !matches!(
            (&self.kind, &other.kind),
            (LawKind::Laplace { .. }, LawKind::Laplace { .. })
                | (LawKind::Gaussian { .. }, LawKind::Gaussian { .. })
        )
    }

    /// The noise in blocks, `fineness` of them for its mean absolute value. The last block on either side extends to
    /// infinity and has probability at most `alpha` / 2.
    pub(crate) fn blocks(&self, alpha: f64, fineness: f64) -> Vec<Block> {
        let far = (self.furthest(alpha) / self.step).max(1.0);
        let width = (self.kind.expected() / fineness).floor().clamp(1.0, far);
        let mut list = Vec::new();
        let mut low = -far;
        while low <= far {
            let high = (low + width - 1.0).max(low).min(far);
            let chance = self.between(low * self.step, high * self.step);
            list.push(Block { chance, low: low * self.step, high: high * self.step });
            low = (high + 1.0).max(high.next_up());
        }
        let chance = self.kind.at_least(far + 1.0);
        let beyond = (far + 1.0) * self.step;
        list.push(Block { chance, low: beyond, high: f64::INFINITY });
        list.push(Block { chance, low: f64::NEG_INFINITY, high: -beyond });
        list
    }
}

/// The event that the noise is from `low` to `high`, and its probability.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) chance: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The least whole number from zero on with a property that all larger numbers have: searches outward from a guess,
/// then by bisection.
fn least(about: f64, keeps: impl Fn(f64) -> bool) -> f64 {
    let start = about.floor().max(0.0);
    let (mut low, mut high) = (start - 1.0, start);
    let mut stride = 1.0;
    while !keeps(high) && high < 1e300 {
        (low, high) = (high, (high + stride).max(high.next_up()));
        stride *= 2.0;
    }
    if stride < 2.0 {
        while low >= 0.0 && keeps(low) {
            (low, high) = ((low - stride).min(low.next_down()), low);
            stride *= 2.0;
        }
        low = low.max(-1.0);
    }
    while high - low > 1.0 {
        let middle = (low + 0.5 * (high - low)).floor();
        if middle <= low || middle >= high {
            break;
        }
        if keeps(middle) { high = middle } else { low = middle }
    }
    high
}

impl LawKind {
    fn new(shape: &NoiseShape) -> Self {
        match shape {
            NoiseShape::Laplace { scale } => Self::Laplace { rate: 1.0 / scale.to_f64().value() },
            NoiseShape::Gaussian { sigma } => match sigma.to_f64().value() {
                sigma if sigma < WIDE => Self::Listed { tails: tails(sigma) },
                sigma => Self::Gaussian { sigma },
            },
            NoiseShape::Staircase { inverse_epsilon, period, cut } => {
                let epsilon = 1.0 / inverse_epsilon.to_f64().value();
                Self::Staircase(StaircaseLaw::new(epsilon, *period as f64, *cut as f64))
            }
        }
    }

    /// An estimate of the k with P(x > k) equal to `chance`.
    fn about(&self, chance: f64) -> f64 {
        match self {
            Self::Laplace { rate } => -(chance * (1.0 + (-rate).exp())).ln() / rate - 1.0,
            Self::Gaussian { sigma } => sigma * normal_quantile(chance) - 0.5,
            Self::Listed { .. } | Self::Staircase(_) => 0.0,
        }
    }

    /// P(x >= k), for a whole number k.
    fn at_least(&self, k: f64) -> f64 {
        if k <= 0.0 {
            return 1.0 - self.at_least(1.0 - k);
        }
        if k.is_infinite() {
            return 0.0;
        }
        match self {
            Self::Laplace { rate } => (-rate * k).exp() / (1.0 + (-rate).exp()),
            Self::Listed { tails } => tails.get(k as usize).copied().unwrap_or(0.0),
            Self::Gaussian { sigma } => wide_tail(*sigma, k),
            Self::Staircase(steps) => steps.at_least(k),
        }
    }

    /// P(|x| <= h), without cancellation except for Gaussians.
    fn within(&self, h: f64) -> f64 {
        match self {
            Self::Laplace { rate } => {
                let decay = (-rate).exp();
                let inner = -(-rate * (h + 1.0)).exp_m1() - decay * (-rate * h).exp_m1();
                inner / (1.0 + decay)
            }
            Self::Listed { .. } | Self::Gaussian { .. } => 1.0 - 2.0 * self.at_least(h + 1.0),
            Self::Staircase(steps) => steps.within(h),
        }
    }

    /// E|x|.
    fn expected(&self) -> f64 {
        match self {
            Self::Laplace { rate } => 1.0 / rate.sinh(),
            // E|x| is twice the sum of P(x >= k) over k >= 1.
            Self::Listed { tails } => 2.0 * tails.iter().skip(1).rev().sum::<f64>(),
            Self::Gaussian { sigma } => 2.0 * wide_excess(*sigma, 0.0),
            Self::Staircase(steps) => 2.0 * steps.excess(0.0),
        }
    }

    /// E (x - k)_+ for a whole k >= 0: the sum of P(x > j) over j >= k.
    fn excess(&self, k: f64) -> f64 {
        match self {
            Self::Laplace { rate } => {
                let decay = (-rate).exp();
                (-rate * (k + 1.0)).exp() / ((1.0 + decay) * -(-rate).exp_m1())
            }
            Self::Listed { tails } => tails.iter().skip(k as usize + 1).rev().sum(),
            Self::Gaussian { sigma } => wide_excess(*sigma, k),
            Self::Staircase(steps) => steps.excess(k),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grid;

    /// Masses one by one, from differences of tails that other tests compare with definitions.
    fn masses(law: &NoiseLaw, far: i32) -> Vec<(f64, f64)> {
        let mass = |x: f64| law.kind.at_least(x) - law.kind.at_least(x + 1.0);
        (-far..=far).map(|x| (f64::from(x), mass(f64::from(x)))).collect()
    }

    fn laws() -> [(NoiseLaw, i32); 5] {
        [
            (Noise::geometric(9.0, 1), 350),
            (Noise::discrete_gaussian(30.0, 1), 400),
            (Noise::discrete_gaussian(300.0, 1), 3_000),
            (Noise::staircase(0.7, None, 12.0, Grid::WHOLE), 700),
            (Noise::staircase(0.05, Some(0.9), 3.0, Grid::WHOLE), 2_500),
        ]
        .map(|(noise, far)| (NoiseLaw::new(&noise.unwrap()), far))
    }

    /// Formulas against sums: tails and excesses wherever a double distinguishes them from zero.
    #[test]
    fn wide_gaussians_have_the_chances_of_their_sums() {
        for sigma in [WIDE, 33.3, 57.0, 140.1, 255.0, 400.0] {
            let tails = tails(sigma);
            let mut excess = 0.0;
            for (k, &tail) in tails.iter().enumerate().skip(1).rev() {
                let (k, near) = (k as f64, |found: f64, sum: f64, slack: f64| {
                    let t = k as f64 / sigma;
                    assert!((found - sum).abs() <= slack * sum, "{sigma} {t}: {found} {sum}");
                });
                // At this point `excess` is E (x - k)_+, the sum of the tails after k.
                if k < 36.0 * sigma {
                    near(wide_excess(sigma, k), excess, EXCESS_SLACK);
                    near(wide_tail(sigma, k), tail, 0.5 * SLACK);
                }
                excess += tail;
            }
            let expected = 2.0 * wide_excess(sigma, 0.0);
            assert!((expected / (2.0 * excess) - 1.0).abs() < 1e-13, "{sigma}");
        }
    }

    /// Equal scales have a formula of their own: P(X + Y > x) is (2 + x) e^-x / 4 for x >= 0.
    #[test]
    fn two_equal_laplaces_are_bounded_from_above_on_both_sides() {
        for x in [0.0, 0.3, 1.0, 5.0, 20.0] {
            let truth = 0.25 * (2.0 + x) * f64::exp(-x);
            let (beyond, before) = (two_laplaces((1.0, 1.0), x), two_laplaces((1.0, 1.0), -x));
            assert!(beyond >= truth && beyond <= truth * 1.002, "{x}: {beyond} {truth}");
            assert!(before >= 1.0 - truth - 1e-15, "{x}: {before}");
            assert!(before <= 1.0 - truth + 1e-3 * truth, "{x}: {before}");
        }
    }

    /// Bounds are at least the truth, and at most the truth some steps nearer to zero.
    #[test]
    fn excesses_and_sums_of_two_are_those_of_the_masses() {
        for (law, far) in laws() {
            let masses = masses(&law, far);
            let excess = |x: f64| masses.iter().map(|(y, p)| p * (y - x).max(0.0)).sum::<f64>();
            for x in [0.0, 1.0, 7.0, 12.0, 40.0, 100.0] {
                let (found, least, most) = (law.excess(x), excess(x), excess(x - 1.0));
                let slack = 1e-9 * least + 1e-12;
                let most = most * (1.0 + 1e-5);
                assert!(
                    found >= least - slack && found <= most + slack,
                    "{law:?} {x}: {found} {least}"
                );
            }
            let (share, fineness) = (1.7, 16.0);
            let blocks = law.blocks(1e-12, fineness);
            let total: f64 = blocks.iter().map(|block| block.chance).sum();
            assert!((total - 1.0).abs() < 1e-9, "{law:?}: {total}");
            let near = 2.0 * (1.0 + share) + share * law.expected() / fineness;
            for x in [0.0, 3.0, 50.0, 90.0] {
                let chance = |x: f64| {
                    let one = |(y, p): &(f64, f64)| p * law.above(x - share * y);
                    masses.iter().map(one).sum::<f64>()
                };
                let found = law.both_above(&law, share, x, &blocks);
                let context = format!("{law:?} {x}: {found} {} {}", chance(x), chance(x - near));
                assert!(found >= chance(x) - 1e-9 && found <= chance(x - near) + 1e-9, "{context}");
                let mean = |x: f64| {
                    let signed = |z: f64| excess(z.abs()) + (-z).max(0.0);
                    masses.iter().map(|(y, p)| p * signed(x - share * y)).sum::<f64>()
                };
                let found = law.both_excess(&law, share, x, &blocks);
                let context = format!("{law:?} {x}: {found} {} {}", mean(x), mean(x - near));
                assert!(found >= mean(x) - 1e-9 && found <= mean(x - near) + 1e-9, "{context}");
            }
        }
    }
}
