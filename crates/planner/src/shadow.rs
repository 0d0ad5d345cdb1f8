//! What releases show at least: Laplace or Gaussian noise that can be made of what they show (theory 14.4).

use counterpoint::{Mechanism, Release};
use std::f64::consts::PI;

/// Noise whose privacy is log-concave in its level, sensitivity over scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Laplace,
    Gaussian,
}

/// What a release shows at least: so often noise of this level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shadow {
    pub(crate) kind: Kind,
    pub(crate) level: f64,
    pub(crate) count: u64,
    /// Whether it is made of discrete Gaussian noise, nearly.
    pub(crate) smoothed: bool,
}

/// How releases are relaxed within a study.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relaxed {
    /// Whether delta is zero: then only the largest losses matter.
    pub(crate) pure: bool,
    /// Which sigma^2 tau^2 / (sigma^2 + tau^2) discrete Gaussian noise and the noise tau that smooths it have.
    pub(crate) smooth: f64,
}

impl Relaxed {
    /// With smoothing that takes this much of epsilon in all, for so many releases of discrete Gaussian noise.
    ///
    /// With noise of variance tau^2 added, a discrete Gaussian's density is the normal one of variance sigma^2 + tau^2
    /// within factors (1 - s)/(1 + s) and (1 + s), s = 2 q/(1 - q), q = e^(-2 pi^2 v), v as above (Poisson's summation).
    pub(crate) fn new(pure: bool, taken: f64, releases: u64) -> Self {
        let s = (0.5 * taken / releases.max(1) as f64).tanh().min(0.5);
        // A little more than it takes.
        Self { pure, smooth: (1.0 + 1e-9) * -(s / (2.0 + s)).ln() / (2.0 * PI * PI) }
    }

    /// What a release shows at least.
    pub(crate) fn of(&self, release: &Release) -> Shadow {
        let (mut kind, mut smoothed) = (Kind::Laplace, false);
        let level = match &release.mechanism {
            _ if release.part.is_some() || release.rate.is_some() => 0.0,
            Mechanism::Laplace { scale, sensitivity } => sensitivity.get() / scale.get(),
            // Laplace noise is geometric noise and noise that is independent of it.
            Mechanism::Geometric { scale, sensitivity } => sensitivity.get() as f64 / scale.get(),
            // Randomized response, of which all that is pure can be made.
            Mechanism::ApproxDp(guarantee) => guarantee.epsilon.get(),
            // One of its pairs is randomized response with half of it; and some come as near to all of it as one likes.
            Mechanism::Exponential { epsilon } if self.pure => epsilon.get(),
            Mechanism::Exponential { epsilon } => 0.5 * epsilon.get(),
            Mechanism::Gaussian { sigma, sensitivity } if !self.pure => {
                kind = Kind::Gaussian;
                sensitivity.get() / sigma.get()
            }
            Mechanism::DiscreteGaussian { sigma, sensitivity } if !self.pure => {
                (kind, smoothed) = (Kind::Gaussian, true);
                sensitivity.get() as f64 * self.smoothed(sigma.get())
            }
            _ => 0.0,
        };
        // A little less, for rounding.
        Shadow { kind, level: level * (1.0 - 1e-12), count: release.count.get(), smoothed }
    }

    /// One over the deviation of smoothed discrete Gaussian noise: sqrt(sigma^2 - v)/sigma^2, which rises as sigma falls to
    /// sqrt(2 v); nothing below.
    fn smoothed(&self, sigma: f64) -> f64 {
        let square = sigma * sigma;
        if square < 2.0 * self.smooth { 0.0 } else { (square - self.smooth).sqrt() / square }
    }
}

/// A sigma up to which discrete Gaussian noise alone breaks (epsilon, delta), whatever else there is; up to `most` or so.
///
/// P(X <= -k) - e^epsilon P(X <= -k - moved) is a lower bound of delta for each k. Both chances rise with sigma, the
/// law of |X| having a likelihood ratio that is monotone in it; so what holds with sigma's lower end in the first and
/// the upper end in the second holds in between. For k = 0 the first is 1/2 at least.
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
    use super::{Relaxed, broken_up_to};
    use counterpoint::quantity::{Noise, Steps};
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

    fn shadow(relaxed: &Relaxed, mechanism: Mechanism) -> f64 {
        relaxed.of(&Release::from((mechanism, Count::ONE))).level
    }

    /// What discrete Gaussian noise shows, but for what smoothing takes, and nearly all of it where it is wide.
    #[test]
    fn discrete_gaussian_noise_shows_what_its_shadow_does() {
        let mut random = Random::new(71);
        for _ in 0..tries(3000, 0.2) {
            let (sigma, moved) = (random.log_uniform(0.7, 40.0), random.between(1, 4));
            let epsilon = random.log_uniform(0.05, 4.0);
            let (taken, many) = (random.log_uniform(1e-6, 1e-2), random.between(1, 3));
            let relaxed = Relaxed::new(false, taken, many);
            let made = Mechanism::DiscreteGaussian {
                sigma: Noise::new(sigma).unwrap(),
                sensitivity: Steps::new(moved).unwrap(),
            };
            let level = shadow(&relaxed, made);
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

    /// Geometric noise shows what Laplace noise of the same level does, and randomized response of half the range of
    /// a choice what Laplace noise of half its epsilon does: delta of Laplace noise is 1 - e^((epsilon - x)/2).
    #[test]
    fn geometric_noise_shows_what_laplace_noise_does() {
        let mut random = Random::new(72);
        let laplace = |level: f64, epsilon: f64| -(0.5 * (epsilon - level)).exp_m1().min(0.0);
        for _ in 0..tries(3000, 0.2) {
            let (scale, moved) = (random.log_uniform(0.2, 20.0), random.between(1, 6));
            let made = Mechanism::Geometric {
                scale: Noise::new(scale).unwrap(),
                sensitivity: Steps::new(moved).unwrap(),
            };
            let level = shadow(&Relaxed::new(false, 1e-4, 1), made);
            let epsilon = level * random.log_uniform(0.05, 1.0);
            let mass = |x: i64| (-(x.abs() as f64) / scale).exp();
            let far = (40.0 * scale) as i64 + 2 * moved as i64;
            let shown = delta(mass, moved as i64, epsilon, far);
            assert!(laplace(level, epsilon) <= shown + 1e-12, "{scale} {moved} {epsilon} {shown}");
            let choice = Mechanism::Exponential { epsilon: Epsilon::new(level).unwrap() };
            let half = shadow(&Relaxed::new(false, 1e-4, 1), choice);
            // Two outcomes, of losses e/2 and -e/2.
            let (top, asked) = (1.0 / (1.0 + (-0.5 * level).exp()), 0.5 * epsilon);
            let shown = (top - asked.exp() * (1.0 - top)).max(0.0);
            assert!(laplace(half, asked) <= shown + 1e-12, "{level} {epsilon} {half} {shown}");
        }
    }

    /// Narrow noise of every sigma up to it breaks the budget.
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
