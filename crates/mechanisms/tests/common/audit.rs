//! A lower confidence bound on epsilon, from how often an attack that was fixed beforehand
//! succeeds.

use super::ln_gamma;

/// How often an event occurred in how many runs on each of two neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) on_first: u64,
    pub(crate) on_second: u64,
    pub(crate) runs: u64,
}

/// Runs an attack on both neighbours.
pub(crate) fn attack(
    runs: u64,
    mut first: impl FnMut() -> bool,
    mut second: impl FnMut() -> bool,
) -> Seen {
    let mut seen = Seen { on_first: 0, on_second: 0, runs };
    for _ in 0..runs {
        seen.on_first += u64::from(first());
        seen.on_second += u64::from(second());
    }
    seen
}

/// One error in a million is what all bounds of a test may miss by.
pub(crate) const ALPHA: f64 = 1e-9;

/// Epsilon is at least this at this delta, but for a chance of [`ALPHA`]: Kairouz, Oh and
/// Viswanath's (1) in both forms, with one-sided Clopper-Pearson bounds.
pub(crate) fn epsilon_at_least(seen: Seen, delta: f64) -> f64 {
    let Seen { on_first, on_second, runs } = seen;
    let one = |yes: u64, no: u64| {
        let low = at_least(yes, runs);
        let high = 1.0 - at_least(runs - no, runs);
        ((low - delta) / high).ln()
    };
    // The event tells first from second; its absence tells second from first.
    one(on_first, on_second).max(one(runs - on_second, runs - on_first)).max(0.0)
}

/// The largest p for which so many successes or more have a chance of at most alpha/2.
fn at_least(successes: u64, runs: u64) -> f64 {
    if successes == 0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        let chance = beta(successes as f64, (runs - successes + 1) as f64, middle);
        if chance <= ALPHA / 2.0 { low = middle } else { high = middle }
    }
    low
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz):
/// the chance of a successes or more in a + b - 1 trials.
fn beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(b, a, 1.0 - x);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    let tiny = 1e-300;
    let (mut c, mut d) = (1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for m in 1..100_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for step in [even, odd] {
            d = 1.0 / (1.0 + step * d + tiny);
            c = 1.0 + step / (c + tiny);
            value *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (front + value.ln()).exp() / a
}

#[test]
fn bounds_against_published_and_closed_forms() {
    // I_x(a, b) = x^a for b = 1; and P(at least 2 of 3 heads) = 1/2.
    assert!((beta(7.0, 1.0, 0.3) / 0.3_f64.powi(7) - 1.0).abs() < 1e-12);
    assert!((beta(2.0, 2.0, 0.5) - 0.5).abs() < 1e-12);
    // All successes: p^n = alpha/2.
    let bound = at_least(1000, 1000);
    assert!((bound.powi(1000) / (ALPHA / 2.0) - 1.0).abs() < 1e-6, "{bound}");
}
