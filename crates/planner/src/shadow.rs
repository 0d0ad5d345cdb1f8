//! What releases show at least: Laplace or Gaussian noise that can be made of what they show (docs/theorems.md, *Planning*).

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
