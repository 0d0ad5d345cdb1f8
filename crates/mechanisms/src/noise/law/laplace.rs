//! Upper bounds on sums of two continuous Laplace variables.

/// Enlarges two scales slightly where needed, so that they are neither equal nor zero.
fn apart(one: f64, other: f64) -> (f64, f64) {
    let (low, high) = (one.min(other), one.max(other));
    (low.max(1e-9 * high), high.max(1.0001 * low))
}

/// P(X + Y > x) of two independent continuous Laplace variables: with scales b > a it is (b^2 e^(-x/b) -
/// a^2 e^(-x/a)) / (2 (b^2 - a^2)) for x >= 0.
pub(super) fn two_laplaces((one, other): (f64, f64), x: f64) -> f64 {
    if x >= 0.0 {
        return two_laplaces_beyond(apart(one, other), x);
    }
    // Also an upper bound: the subtracted tail has slightly smaller scales.
    let (low, high) = (one.min(other), one.max(other));
    1.0 - two_laplaces_beyond((low.min(0.9999 * high), high), -x)
}

fn two_laplaces_beyond((low, high): (f64, f64), x: f64) -> f64 {
    let (r, tail) = (low / high, |scale: f64| (-x / scale).exp());
    (0.5 * (tail(high) - r * r * tail(low)) / (1.0 - r * r)).clamp(0.0, 1.0)
}

/// The integral of P(X + Y > .) from x >= 0 on.
pub(super) fn two_laplaces_excess((one, other): (f64, f64), x: f64) -> f64 {
    let (low, high) = apart(one, other);
    let (r, tail) = (low / high, |scale: f64| (-x / scale).exp());
    0.5 * high * (tail(high) - r.powi(3) * tail(low)) / (1.0 - r * r)
}
