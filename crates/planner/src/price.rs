//! Estimates of the cost of releases, for choosing between mechanisms, for sharing out a budget, and for starting
//! searches near their ends. No answer rests on them.

use crate::root::{RootBracket, Search, search};
use counterpoint::{Mechanism, Release};
use std::convert::Infallible;

/// Estimates the epsilon at a delta for a loss with this cumulant function ln E[e^(t L)], and the order t of its saddle
/// point. The loss is taken to be normal under the law tilted by t.
pub(crate) fn epsilon(delta: f64, start: f64, cumulant: impl Fn(f64) -> f64) -> (f64, f64) {
    let at = |t: f64| {
        let h = 0.01 * t;
        let [less, here, more] = [t - h, t, t + h].map(&cumulant);
        let slope = (more - less) / (2.0 * h);
        let deviation = ((more - 2.0 * here + less).max(0.0)).sqrt() / h;
        let beyond = tilted(t * deviation) - tilted((1.0 + t) * deviation);
        (slope, here - t * slope + beyond.max(1e-300).ln())
    };
    let place = Search { guess: start, stride: 1.1, range: ORDERS, power: 0.1, near: 3e-3 };
    let value = |t: f64| Ok::<f64, Infallible>(at(t).1 - delta.ln());
    let t = match search(place, value) {
        Ok(RootBracket::Between(_, t)) => t,
        Ok(RootBracket::Below) => ORDERS.0,
        Ok(RootBracket::Above) => ORDERS.1,
        Err(never) => match never {},
    };
    (at(t).0, t)
}

/// The orders among which the saddle point is searched for.
const ORDERS: (f64, f64) = (1e-3, 1e6);

/// e^(a^2 / 2) P(Z > a) of a standard normal variable, to a few digits.
fn tilted(a: f64) -> f64 {
    let root = (2.0 * std::f64::consts::PI).sqrt();
    // Mills' ratio as a continued fraction, or the series of P(0 < Z < a).
    if a > 2.0 {
        return 1.0 / (root * (1..=20).rev().fold(a, |below, k| a + f64::from(k) / below));
    }
    let (mut term, mut sum) = (a, a);
    for k in 1..20 {
        term *= a * a / f64::from(2 * k + 1);
        sum += term;
    }
    0.5 * (0.5 * a * a).exp() - sum / root
}

/// Estimates ln E[e^(t L)] of all releases together: t times the Rényi divergence of order 1 + t.
pub(crate) fn cumulant(releases: &[Release], t: f64) -> f64 {
    releases.iter().map(|release| one(&release.mechanism, t) * release.count.get() as f64).sum()
}

fn one(mechanism: &Mechanism, t: f64) -> f64 {
    match mechanism {
        Mechanism::Gaussian { sigma, sensitivity } => gaussian(sensitivity.get() / sigma.get(), t),
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            gaussian(sensitivity.get() as f64 / sigma.get(), t)
        }
        Mechanism::Zcdp { rho, .. } => t * (1.0 + t) * rho.get(),
        Mechanism::Laplace { scale, sensitivity } => laplace(sensitivity.get() / scale.get(), t),
        Mechanism::Geometric { scale, sensitivity } => {
            let epsilon = sensitivity.get() as f64 / scale.get();
            if sensitivity.get() == 1 { response(epsilon, t) } else { laplace(epsilon, t) }
        }
        Mechanism::Exponential { epsilon } => range(epsilon.get(), t),
        Mechanism::ApproxDp(guarantee) => response(guarantee.epsilon.get(), t),
        Mechanism::Staircase { epsilon, .. } => response(epsilon.get(), t),
        _ => 0.0,
    }
}

fn gaussian(mu: f64, t: f64) -> f64 {
    0.5 * t * (1.0 + t) * mu * mu
}

/// ln of ((1+t) e^(t e) + t e^(-(1+t) e)) / (1+2t), which is t e less a little where that is large.
fn laplace(epsilon: f64, t: f64) -> f64 {
    let x = t * epsilon;
    if x > 30.0 {
        return x + ((1.0 + t) / (1.0 + 2.0 * t)).ln();
    }
    let above_line =
        |x: f64| if x.abs() < 1e-4 { 0.5 * x * x + x * x * x / 6.0 } else { x.exp_m1() - x };
    let sum = (1.0 + t) * above_line(x) + t * above_line(-(x + epsilon));
    (sum / (1.0 + 2.0 * t)).ln_1p()
}

/// ln of cosh(t e) + tanh(e/2) sinh(t e).
fn response(epsilon: f64, t: f64) -> f64 {
    let x = t * epsilon;
    if x > 30.0 {
        return x - (-epsilon).exp().ln_1p();
    }
    let half = (0.5 * x).sinh();
    (2.0 * half * half + (0.5 * epsilon).tanh() * x.sinh()).ln_1p()
}

/// ln of (sinh x / x) / (sinh y / y), x = (t + 1/2) e and y = e/2.
fn range(epsilon: f64, t: f64) -> f64 {
    let ln_ratio =
        |x: f64| if x < 1e-3 { x * x / 6.0 } else { x + (-(-2.0 * x).exp_m1() / (2.0 * x)).ln() };
    ln_ratio((t + 0.5) * epsilon) - ln_ratio(0.5 * epsilon)
}
