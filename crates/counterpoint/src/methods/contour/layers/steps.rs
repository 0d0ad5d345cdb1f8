//! The composed steps, and the layers into which they are cut.

use super::complex::expm1;
use crate::composition::CountedLoss;
use crate::delta_bounds::DOUBLES;
use crate::laws::{Direction, SampledGaussian};
use counterpoint_numerics::ln_rounded;

/// A Gaussian on a Poisson sample, run `count` times.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Steps {
    pub(super) rate: f64,
    pub(super) mu: f64,
    pub(super) count: u64,
    pub(super) direction: Direction,
}

/// The part of P^n in which every loss is below the high cut and some loss is above the low one. Cuts are places on the
/// axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer {
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

impl Steps {
    /// The steps of a composition, if it consists of one such loss.
    pub(in super::super) fn of(parts: &[CountedLoss]) -> Option<Self> {
        let [part] = parts else { return None };
        let &SampledGaussian { rate, mu, direction } = part.law().sampled_normal()?;
        let (mu, count) = (mu.hi, part.count);
        let fits = (0.05..10.0).contains(&mu) && (1e-12..0.25).contains(&rate);
        (fits && (2..1 << 40).contains(&count)).then_some(Self { rate, mu, count, direction })
    }

    /// True if the person is in only a few samples.
    pub(in super::super) fn are_rare(&self) -> bool {
        self.many() * self.rate < 3.0
    }

    pub(super) fn many(&self) -> f64 {
        self.count as f64
    }

    /// An upper bound on delta at epsilon zero, which is the total variation. That of one step is at most q sqrt(1 -
    /// e^-KL), where KL is mu^2/2 (Bretagnolle and Huber 1979), and the steps add up.
    pub(in super::super) fn most_variation(&self) -> f64 {
        let one = self.rate * (-expm1(-0.5 * self.mu * self.mu)).sqrt();
        self.many() * one * (1.0 + DOUBLES)
    }

    /// The place at which the sampled person adds `rho` to r.
    pub(super) fn place(&self, rho: f64) -> f64 {
        (ln_rounded(rho) - ln_rounded(self.rate)) / self.mu + 0.5 * self.mu
    }

    /// The largest useful tilt: M(t) has a term (1+t) ln q + t(1+t) mu^2/2 in its exponent, or (1-q)^-t.
    pub(super) fn most_tilt(&self) -> f64 {
        if self.direction == Direction::Add {
            return 40.0 / self.rate;
        }
        let height = |t: f64| (1.0 + t) * (ln_rounded(self.rate) + 0.5 * t * self.mu * self.mu);
        let mut t = 1.0;
        while height(t) < 60.0 && t < 1e7 {
            t *= 1.2;
        }
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of ten steps, against ten times q times the Gaussians' own total variation, 2 Phi(mu/2) - 1.
    #[test]
    fn the_variation_is_at_most_what_it_says() {
        let (rate, direction) = (1e-3, Direction::Remove);
        for (mu, exact) in [
            (1.0, 0.382_924_922_548_026),
            (2.0, 0.682_689_492_137_085),
            (4.0, 0.954_499_736_103_641),
            (9.0, 0.999_993_204_653_75),
        ] {
            let most = Steps { rate, mu, count: 10, direction }.most_variation();
            assert!(most >= 10.0 * rate * exact && most <= 10.1 * rate, "{mu}: {most}");
        }
    }
}
