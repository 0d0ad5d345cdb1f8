//! Formulas for single mechanisms and for Rényi curves, written out plainly in doubles.

/// P(N(0, 1) > x), to some thirteen digits.
pub(crate) fn normal_tail(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - normal_tail(-x);
    }
    let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    if x > 3.0 {
        // x + 1/(x + 2/(x + 3/(x + ...))): so many terms agree with 200 of them to 3e-16.
        let terms = 12 + (500.0 / (x * x)) as u32;
        return density / (1..terms).rev().fold(x, |rest, n| x + f64::from(n) / rest);
    }
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term > 1e-18 * sum {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    0.5 - density * sum
}

/// The delta of a Gaussian with mu = sensitivity/sigma.
pub(crate) fn gaussian_delta(mu: f64, epsilon: f64) -> f64 {
    let (centre, half) = (epsilon / mu, 0.5 * mu);
    normal_tail(centre - half) - epsilon.exp() * normal_tail(centre + half)
}

/// The epsilon of a Gaussian, by bisection.
pub(crate) fn gaussian_epsilon(mu: f64, delta: f64) -> f64 {
    let (mut low, mut high) = (0.0, 0.5 * mu * mu + 40.0 * mu);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if gaussian_delta(mu, middle) > delta { low = middle } else { high = middle }
    }
    high
}

/// The Rényi divergence of order a of a Gaussian.
pub(crate) fn gaussian_divergence(mu: f64, a: f64) -> f64 {
    0.5 * a * mu * mu
}

/// The Rényi divergence of order a of Laplace noise, e0 = sensitivity/scale.
pub(crate) fn laplace_divergence(e0: f64, a: f64) -> f64 {
    let up = a / (2.0 * a - 1.0);
    let down = (a - 1.0) / (2.0 * a - 1.0) * ((1.0 - 2.0 * a) * e0).exp();
    e0 + (up + down).ln() / (a - 1.0)
}

/// The Rényi divergence of order a of randomized response over some buckets.
pub(crate) fn response_divergence(epsilon: f64, buckets: f64, a: f64) -> f64 {
    // Outcomes with probabilities e^eps and 1, 1 and e^eps, and the others, over all.
    let other = ((1.0 - 2.0 * a) * epsilon).exp() + (buckets - 2.0) * (-a * epsilon).exp();
    (a * epsilon + other.ln_1p() - (epsilon.exp() + buckets - 1.0).ln()) / (a - 1.0)
}

/// The least value over orders up to the last: a scan, then ever finer ones around the best.
pub(crate) fn best_order(last: f64, value: impl Fn(f64) -> f64) -> f64 {
    let last = (last - 1.0).ln();
    least((-14.0_f64).min(last), 14.0_f64.min(last), |x| value(1.0 + x.exp()))
}

/// The least value of a function of one variable with one dip.
pub(crate) fn least(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
    const PIECES: u32 = 64;
    let mut best = f64::INFINITY;
    for _ in 0..9 {
        let step = (high - low) / f64::from(PIECES);
        let places = (0..=PIECES).map(|i| low + step * f64::from(i));
        let rated = places.map(|x| (value(x), x));
        let found = rated.fold((f64::INFINITY, low), |a, b| if b.0 < a.0 { b } else { a });
        best = best.min(found.0);
        (low, high) = ((found.1 - step).max(low), (found.1 + step).min(high));
    }
    best
}

/// RDP to epsilon, at the best order up to the last.
pub(crate) fn renyi_epsilon(last: f64, delta: f64, divergence: impl Fn(f64) -> f64) -> f64 {
    best_order(last, |a| divergence(a) + (-1.0 / a).ln_1p() - (delta * a).ln() / (a - 1.0))
}

/// RDP to delta, at the best order up to the last.
pub(crate) fn renyi_delta(last: f64, epsilon: f64, divergence: impl Fn(f64) -> f64) -> f64 {
    let ln =
        best_order(last, |a| (a - 1.0) * (divergence(a) - epsilon + (-1.0 / a).ln_1p()) - a.ln());
    ln.exp().min(1.0)
}
