//! Estimates of what releases cost, one by one: for choosing between mechanisms and for sharing a budget out. No
//! answer rests on them.

use counterpoint::{Mechanism, Release};

/// ln E[e^(t L)] of all releases together, about: the Rényi divergence of order 1 + t, times t.
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
