//! Shadows of releases: Laplace or Gaussian noise that can be computed from a release, and so reveals no more (theory
//! 14.4).

use counterpoint::{Mechanism, Release};
use std::f64::consts::PI;

/// A kind of noise whose privacy is log-concave in its level (sensitivity over scale).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShadowKind {
    Laplace,
    Gaussian,
}

/// Noise that reveals no more than a release: `count` noises of a kind and a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shadow {
    pub(crate) kind: ShadowKind,
    pub(crate) level: f64,
    pub(crate) count: u64,
    /// True if the shadow approximates discrete Gaussian noise.
    pub(crate) smoothed: bool,
}

/// The conversion of the releases of a study to shadows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShadowRule {
    /// True if delta is zero. Only the largest losses then matter.
    pub(crate) pure: bool,
    /// The value sigma^2 tau^2 / (sigma^2 + tau^2) of discrete Gaussian noise sigma and the noise tau that smooths it.
    pub(crate) smooth: f64,
}

impl ShadowRule {
    /// Chooses the smoothing so that it takes this much of epsilon in all, for this number of releases of discrete
    /// Gaussian noise.
    ///
    /// With noise of variance tau^2 added, a discrete Gaussian's density is the normal one of variance sigma^2 + tau^2
    /// within factors (1 - s)/(1 + s) and (1 + s). Here s = 2 q/(1 - q), q = e^(-2 pi^2 v), and v is [`Self::smooth`]
    /// (Poisson summation).
    pub(crate) fn new(pure: bool, taken: f64, releases: u64) -> Self {
        let s = (0.5 * taken / releases.max(1) as f64).tanh().min(0.5);
        // The factor rounds up.
        Self { pure, smooth: (1.0 + 1e-9) * -(s / (2.0 + s)).ln() / (2.0 * PI * PI) }
    }

    /// The shadow of a release.
    pub(crate) fn of(&self, release: &Release) -> Shadow {
        let (mut kind, mut smoothed) = (ShadowKind::Laplace, false);
        let level = match &release.mechanism {
            _ if release.part.is_some() || release.rate.is_some() => 0.0,
            Mechanism::Laplace { scale, sensitivity } => sensitivity.get() / scale.get(),
            // Laplace noise is geometric noise plus noise that is independent of it.
            Mechanism::Geometric { scale, sensitivity } => sensitivity.get() as f64 / scale.get(),
            // Randomized response, from which every pure mechanism can be computed.
            Mechanism::ApproxDp(guarantee) => guarantee.epsilon.get(),
            // One of its pairs is randomized response with half the epsilon; and some pairs come arbitrarily close to
            // all of it.
            Mechanism::Exponential { epsilon } if self.pure => epsilon.get(),
            Mechanism::Exponential { epsilon } => 0.5 * epsilon.get(),
            Mechanism::Gaussian { sigma, sensitivity } if !self.pure => {
                kind = ShadowKind::Gaussian;
                sensitivity.get() / sigma.get()
            }
            Mechanism::DiscreteGaussian { sigma, sensitivity } if !self.pure => {
                (kind, smoothed) = (ShadowKind::Gaussian, true);
                sensitivity.get() as f64 * self.smoothed(sigma.get())
            }
            _ => 0.0,
        };
        // The factor allows for rounding.
        Shadow { kind, level: level * (1.0 - 1e-12), count: release.count.get(), smoothed }
    }

    /// One over the deviation of smoothed discrete Gaussian noise: sqrt(sigma^2 - v)/sigma^2, which increases as sigma
    /// decreases to sqrt(2 v); zero for smaller sigma.
    fn smoothed(&self, sigma: f64) -> f64 {
        let square = sigma * sigma;
        if square < 2.0 * self.smooth { 0.0 } else { (square - self.smooth).sqrt() / square }
    }
}

/// A sigma up to which discrete Gaussian noise alone exceeds (epsilon, delta), whatever else is released; at most about
/// `most`.
///
/// P(X <= -k) - e^epsilon P(X <= -k - moved) is a lower bound on delta for each k. Both probabilities increase with
/// sigma, since the law of |X| has a monotone likelihood ratio in sigma. So a bound with an interval's lower end in the
/// first probability and its upper end in the second holds within the interval. For k = 0 the first is at least 1/2.
pub(crate) fn broken_up_to(moved: u64, (epsilon, delta): (f64, f64), most: f64) -> f64 {
    let grown = epsilon.exp() * (1.0 + 1e-9);
    let beats = |first: f64, second: f64| first * (1.0 - 1e-9) - grown * second > delta;
    let mut sigma = 2.0;
    while !beats(0.5, below(sigma, moved)) {
        sigma *= 0.9;
        if sigma < 0.01 {
            return 0.0;
        }
    }
    while sigma < most {
        let next = 1.02 * sigma;
        let breaks = |k: u64| beats(below(sigma, k), below(next, k.saturating_add(moved)));
        if !(0..60).any(breaks) {
            break;
        }
        sigma = next;
    }
    sigma
}

/// P(X <= -k) of discrete Gaussian noise of a small sigma.
fn below(sigma: f64, k: u64) -> f64 {
    let weight = |x: u64| (-0.5 * (x as f64 / sigma).powi(2)).exp();
    let far = 20 + (40.0 * sigma) as u64;
    let above_zero: f64 = (1..=far).map(weight).sum();
    let tail: f64 = (k..=far.max(k)).map(weight).sum();
    tail / (1.0 + 2.0 * above_zero)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{ShadowRule, broken_up_to};
    use counterpoint::quantity::{NoiseScale, WholeSensitivity};
    use counterpoint::{Count, Epsilon, Mechanism, Release};
    use counterpoint_testing::{Random, tries};

    /// The sum of (p(x) - e^epsilon p(x - moved))_+ over whole numbers.
    fn delta(mass: impl Fn(i64) -> f64, moved: i64, epsilon: f64, far: i64) -> f64 {
        let total: f64 = (-far..=far).map(&mass).sum();
        let of = |x: i64| (mass(x) - epsilon.exp() * mass(x - moved)).max(0.0);
        (-far..=far + moved).map(of).sum::<f64>() / total
    }

    fn discrete(sigma: f64, moved: i64, epsilon: f64) -> f64 {
        let mass = |x: i64| (-0.5 * (x as f64 / sigma).powi(2)).exp();
        delta(mass, moved, epsilon, (15.0 * sigma) as i64 + 2 * moved + 20)
    }

    fn normal(mu: f64, epsilon: f64) -> f64 {
        let below = |x: f64| 0.5 * libm::erfc(-x / 2.0_f64.sqrt());
        below(0.5 * mu - epsilon / mu) - epsilon.exp() * below(-0.5 * mu - epsilon / mu)
    }

    fn shadow(shadow_rule: &ShadowRule, mechanism: Mechanism) -> f64 {
        shadow_rule.of(&Release::from((mechanism, Count::ONE))).level
    }

    /// A shadow reveals no more than its discrete Gaussian noise (up to the smoothing), and nearly as much where the
    /// noise is wide.
    #[test]
    fn discrete_gaussian_noise_shows_what_its_shadow_does() {
        let mut random = Random::new(71);
        for _ in 0..tries(3000, 0.2) {
            let (sigma, moved) = (random.log_uniform(0.7, 40.0), random.between(1, 4));
            let epsilon = random.log_uniform(0.05, 4.0);
            let (taken, many) = (random.log_uniform(1e-6, 1e-2), random.between(1, 3));
            let shadow_rule = ShadowRule::new(false, taken, many);
            let made = Mechanism::DiscreteGaussian {
                sigma: NoiseScale::new(sigma).unwrap(),
                sensitivity: WholeSensitivity::new(moved).unwrap(),
            };
            let level = shadow(&shadow_rule, made);
            let taken = taken / many as f64;
            let least = (-taken).exp() * normal(level.max(1e-9), epsilon + taken);
            let shown = discrete(sigma, moved as i64, epsilon);
            assert!(
                least <= shown * (1.0 + 1e-9) + 1e-15,
                "{sigma} {moved} {epsilon} {least} {shown}"
            );
            assert!(sigma < 10.0 || level > 0.99 * moved as f64 / sigma, "{sigma} {moved} {level}");
        }
    }

    /// Geometric noise reveals at least as much as Laplace noise of the same level, and randomized response with half
    /// the range of a choice at least as much as Laplace noise of half its epsilon. The delta of Laplace noise is 1 -
    /// e^((epsilon - x)/2).
    #[test]
    fn geometric_noise_shows_what_laplace_noise_does() {
        let mut random = Random::new(72);
        let laplace = |level: f64, epsilon: f64| -(0.5 * (epsilon - level)).exp_m1().min(0.0);
        for _ in 0..tries(3000, 0.2) {
            let (scale, moved) = (random.log_uniform(0.2, 20.0), random.between(1, 6));
            let made = Mechanism::Geometric {
                scale: NoiseScale::new(scale).unwrap(),
                sensitivity: WholeSensitivity::new(moved).unwrap(),
            };
            let level = shadow(&ShadowRule::new(false, 1e-4, 1), made);
            let epsilon = level * random.log_uniform(0.05, 1.0);
            let mass = |x: i64| (-(x.abs() as f64) / scale).exp();
            let far = (40.0 * scale) as i64 + 2 * moved as i64;
            let shown = delta(mass, moved as i64, epsilon, far);
            assert!(laplace(level, epsilon) <= shown + 1e-12, "{scale} {moved} {epsilon} {shown}");
            let choice = Mechanism::Exponential { epsilon: Epsilon::new(level).unwrap() };
            let half = shadow(&ShadowRule::new(false, 1e-4, 1), choice);
            // Two outcomes, with losses e/2 and -e/2.
            let (top, asked) = (1.0 / (1.0 + (-0.5 * level).exp()), 0.5 * epsilon);
            let shown = (top - asked.exp() * (1.0 - top)).max(0.0);
            assert!(laplace(half, asked) <= shown + 1e-12, "{level} {epsilon} {half} {shown}");
        }
    }

    /// All narrower noise exceeds the budget.
    #[test]
    fn narrow_noise_breaks_the_budget_alone() {
        let mut random = Random::new(73);
        for _ in 0..tries(1000, 0.2) {
            let (epsilon, delta) = (random.log_uniform(0.05, 8.0), random.log_uniform(1e-10, 1e-3));
            let moved = random.between(1, 3);
            let most = broken_up_to(moved, (epsilon, delta), 2.5);
            assert!(most > 0.05, "{epsilon} {delta} {moved} {most}");
            let sigma = most * random.log_uniform(0.05, 1.0);
            let shown = discrete(sigma, moved as i64, epsilon);
            assert!(shown > delta, "{epsilon} {delta} {moved} {sigma} {shown}");
        }
    }
}
