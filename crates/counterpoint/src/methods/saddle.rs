//! Saddle points: they choose where to compute and never reach a report.
//!
//! Nothing here is certified. Saddle points choose the contour's abscissa and first guesses; every answer is then
//! checked by a certified method.
#![allow(clippy::disallowed_methods)]

use super::DeltaBounds;
use crate::composition::Factor;
use counterpoint_numerics::Bracket;

/// The cumulant generating function K of the pure loss, with at most [`MOST_BINS`] factors: precise enough for
/// estimates, at a cost that does not grow with the list.
#[derive(Clone, Debug)]
pub(crate) struct Cumulant {
    bins: Vec<(f64, f64)>,
}

const MOST_BINS: usize = 64;

/// A saddle point: the abscissa t and the epsilon it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saddle {
    pub(crate) tilt: f64,
    pub(crate) epsilon: f64,
    /// An estimate of ln delta at this epsilon.
    pub(crate) ln_delta: f64,
    /// The curvature of K at the tilt: the variance of the tilted loss.
    pub(crate) variance: f64,
}

impl Saddle {
    /// The saddle of `K(t) - t e - ln t - ln(1 + t)` as a function of t, with Laplace's estimate of delta, given K, K'
    /// and K'' at t.
    pub(crate) fn at(tilt: f64, (k, slope, variance): (f64, f64, f64)) -> Self {
        let epsilon = slope - 1.0 / tilt - 1.0 / (1.0 + tilt);
        let curvature = variance + tilt.powi(-2) + (1.0 + tilt).powi(-2);
        let exponent = k - tilt * epsilon - tilt.ln() - tilt.ln_1p();
        let ln_delta = exponent - 0.5 * (std::f64::consts::TAU * curvature).ln();
        Self { tilt, epsilon, ln_delta, variance }
    }

    /// Moves epsilon to an answer that was found, though not narrow enough.
    pub(crate) fn look_at(&mut self, bracket: Bracket) {
        if bracket.upper < 1e300 {
            self.epsilon = bracket.upper;
        }
    }

    /// Moves ln delta to an answer that was found, though not narrow enough.
    pub(crate) fn expect(&mut self, ends: DeltaBounds) {
        if ends.lower.is_positive() {
            self.ln_delta = ends.upper.ln_estimate();
        }
    }

    /// The saddle at which a condition changes from true to false, by bisection of ln t between two ends.
    pub(crate) fn search(
        (mut low, mut high): (f64, f64),
        halvings: u32,
        at: impl Fn(f64) -> Self,
        too_small: impl Fn(&Self) -> bool,
    ) -> Self {
        for _ in 0..halvings {
            let middle = 0.5 * (low + high);
            if too_small(&at(middle.exp())) {
                low = middle;
            } else {
                high = middle;
            }
        }
        at(high.exp())
    }
}

impl Cumulant {
    pub(crate) fn new(factors: &[Factor]) -> Self {
        let size = factors.len().div_ceil(MOST_BINS).max(1);
        let bins = factors.chunks(size).map(|chunk| {
            let count: f64 = chunk.iter().map(|f| f.count as f64).sum();
            let square: f64 = chunk.iter().map(|f| f.count as f64 * f.each * f.each).sum();
            ((square / count).sqrt(), count)
        });
        Self { bins: bins.collect() }
    }

    /// Uses every factor, without lumping any together.
    pub(crate) fn exact(factors: &[Factor]) -> Self {
        Self { bins: factors.iter().map(|f| (f.each, f.count as f64)).collect() }
    }

    /// K, K' and K'' at t: for one randomized response K is
    /// `ln cosh((t + 1/2) eps) - ln cosh(eps / 2)`.
    pub(crate) fn at(&self, t: f64) -> (f64, f64, f64) {
        let mut sums = (0.0, 0.0, 0.0);
        for &(epsilon, count) in &self.bins {
            let slope = ((t + 0.5) * epsilon).tanh();
            sums.0 += count * (ln_cosh((t + 0.5) * epsilon) - ln_cosh(0.5 * epsilon));
            sums.1 += count * epsilon * slope;
            sums.2 += count * epsilon * epsilon * (1.0 - slope * slope);
        }
        sums
    }

    /// The expected number of minuses under the law tilted by t.
    pub(crate) fn expected_minuses(&self, t: f64) -> f64 {
        let minus = |epsilon: f64| 1.0 / (1.0 + ((2.0 * t + 1.0) * epsilon).exp());
        self.bins.iter().map(|&(epsilon, count)| count * minus(epsilon)).sum()
    }

    /// The saddle of a given epsilon; epsilon increases with the tilt.
    pub(crate) fn at_epsilon(&self, epsilon: f64) -> Saddle {
        self.search(|saddle| saddle.epsilon < epsilon)
    }

    /// The saddle of a given ln delta, which decreases with the tilt, at an epsilon of at least zero.
    pub(crate) fn at_ln_delta(&self, ln_delta: f64) -> Saddle {
        self.search(|saddle| saddle.ln_delta > ln_delta || saddle.epsilon < 0.0)
    }

    fn search(&self, too_small: impl Fn(&Saddle) -> bool) -> Saddle {
        let saddle = Saddle::search((-35.0, 35.0), 28, |t| Saddle::at(t, self.at(t)), too_small);
        // Overflow: any finite guess will do.
        let finite = saddle.epsilon.is_finite() && saddle.ln_delta.is_finite();
        if finite {
            saddle
        } else {
            Saddle { tilt: 1.0, epsilon: 0.0, ln_delta: -1.0, variance: 1.0 }
        }
    }
}

fn ln_cosh(x: f64) -> f64 {
    let x = x.abs();
    x + (-2.0 * x).exp().ln_1p() - std::f64::consts::LN_2
}
