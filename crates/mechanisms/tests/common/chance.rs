//! Chances of discrete and continuous Laplace noise, by their formulas.

/// P(noise >= k) where masses fall by exp(-1/scale) a step.
pub(crate) fn at_least(k: i64, scale: f64) -> f64 {
    let decay = (-1.0 / scale).exp();
    let tail = |k: i64| decay.powf(k as f64) / (1.0 + decay);
    if k >= 0 { tail(k) } else { 1.0 - tail(1 - k) }
}

/// P(noise >= x) where the density falls by exp(-1/scale) a unit.
pub(crate) fn laplace_at_least(x: f64, scale: f64) -> f64 {
    let tail = 0.5 * (-x.abs() / scale).exp();
    if x >= 0.0 { tail } else { 1.0 - tail }
}

/// The mean of a function of discrete Laplace noise.
pub(crate) fn expect(scale: f64, of: impl Fn(i64) -> f64) -> f64 {
    let decay = (-1.0 / scale).exp();
    let far = (40.0 * scale) as i64;
    let term = |x: i64| decay.powf(x.abs() as f64) * of(x);
    (-far..=far).map(term).sum::<f64>() * (1.0 - decay) / (1.0 + decay)
}
