//! Conversion of a promised (epsilon, delta) to a budget, rounded down.
//!
//! Let the Rényi divergences of all queries at order a add up to at most B, and t = a - 1. Then all queries together
//! are (epsilon, delta)-private for `ln delta = t (B - epsilon) - ln(1+t) - t ln(1 + 1/t)` (Canonne, Kamath and Steinke
//! 2020, Proposition 12). This module solves the equation for B.

use crate::amount::{Amount, GRID_PLACES};
use counterpoint::Plan;
use counterpoint::mechanism::Mechanism;
use counterpoint::quantity::{Count, Epsilon, Mu, Order};
use counterpoint_numerics::{Dd, STEP};

/// The range of orders that are searched: t from 2^-40 to 2^29.
pub(super) const LEAST_T: f64 = 9.094_947_017_729_282e-13;
pub(super) const MOST_T: f64 = 536_870_912.0;

/// The bound on the tail of the loss.
#[derive(Clone, Copy)]
pub(super) enum Tail {
    /// For (epsilon, delta)-privacy: better than Markov's inequality by the factor `(1/a) (1 - 1/a)^(a-1)`.
    Privacy,
    /// For the probability that the loss is ever above epsilon: Markov's inequality alone.
    Ever,
}

/// The Rényi divergence that may be spent at an order; `None` if there is none.
pub(super) fn budget(epsilon: &Amount, delta: &Amount, order: Order) -> Option<Amount> {
    spendable(epsilon, delta, order, Tail::Privacy)
}

/// The Rényi divergence that may be spent at an order, for either bound on the tail.
pub(super) fn spendable(
    epsilon: &Amount,
    delta: &Amount,
    order: Order,
    tail: Tail,
) -> Option<Amount> {
    let lower = lower_bound(epsilon, delta, order.get() - 1.0, tail)?;
    let budget = Amount::from_dd(lower)?.floor(GRID_PLACES);
    (!budget.is_zero()).then_some(budget)
}

/// A lower bound on `epsilon + ln(delta)/t`, and for privacy `+ ln(1+t)/t + ln(1 + 1/t)`.
fn lower_bound(epsilon: &Amount, delta: &Amount, t: f64, tail: Tail) -> Option<Dd> {
    if delta.is_zero() || !(LEAST_T..=MOST_T).contains(&t) {
        return None;
    }
    let epsilon = epsilon.to_dd(false);
    let ln_delta = delta.to_wide(false).ln();
    let (order, inverse) = match tail {
        Tail::Privacy => (Dd::from(t).ln_1p(), (Dd::ONE / t).ln_1p()),
        Tail::Ever => (Dd::ZERO, Dd::ZERO),
    };
    let value = epsilon + inverse + (ln_delta + order) / t;
    let sizes = epsilon.hi + inverse.hi + (1.0 + ln_delta.hi.abs() + order.hi) / t;
    Some(value - Dd::from(16.0 * STEP * sizes))
}

/// The budget in doubles, for choosing an order.
pub(super) fn estimate(epsilon: f64, ln_delta: f64, t: f64, tail: Tail) -> f64 {
    match tail {
        Tail::Privacy => epsilon + (1.0 / t).ln_1p() + (ln_delta + t.ln_1p()) / t,
        Tail::Ever => epsilon + ln_delta / t,
    }
}

/// The rho of concentrated privacy that may be spent. The Rényi divergence is at most rho a at *every* order, so every
/// order bounds rho; the best order is found by search.
pub(super) fn rho(epsilon: &Amount, delta: &Amount) -> Option<Amount> {
    let order = best_order(epsilon, delta, Tail::Privacy, |t| 1.0 + t)?;
    let lower = lower_bound(epsilon, delta, order.get() - 1.0, Tail::Privacy)?;
    let rho = lower / order.get() * Dd::sum(1.0, -8.0 * STEP);
    let rho = Amount::from_dd(rho)?.floor(GRID_PLACES);
    (!rho.is_zero()).then_some(rho)
}

/// The order at which a cost fits most often into the budget; `None` if it never fits.
pub(super) fn best_order(
    epsilon: &Amount,
    delta: &Amount,
    tail: Tail,
    cost: impl Fn(f64) -> f64,
) -> Option<Order> {
    if delta.is_zero() {
        return None;
    }
    let (epsilon, ln_delta) = (epsilon.lower(), delta.to_wide(false).ln_estimate());
    let misfit = |t: f64| {
        let (room, cost) = (estimate(epsilon, ln_delta, t, tail), cost(t));
        if room > 0.0 && cost.is_finite() { -room / cost } else { f64::INFINITY }
    };
    let t = minimizer(misfit)?;
    Order::new(1.0 + t).ok()
}

/// A t at which a function is nearly minimal, found by a scan and then by steps that halve.
pub(super) fn minimizer(value: impl Fn(f64) -> f64) -> Option<f64> {
    const STRIDE: f64 = 0.5;
    let at = |x: f64| (value(x.exp().clamp(LEAST_T, MOST_T)), x);
    let better = |a: (f64, f64), b: (f64, f64)| if b.0 < a.0 { b } else { a };
    let scan = (0..=96).map(|i| at(LEAST_T.ln() + STRIDE * f64::from(i)));
    let mut best = scan.fold((f64::INFINITY, 0.0), better);
    if !best.0.is_finite() {
        return None;
    }
    let mut step = STRIDE * 0.5;
    for _ in 0..24 {
        let x = best.1;
        best = better(better(best, at(x - step)), at(x + step));
        step *= 0.5;
    }
    // The order is stored and shown to people, so it has few digits.
    let found = best.1.exp().clamp(LEAST_T, MOST_T);
    let short = format!("{:.5e}", found).parse().unwrap_or(found);
    Some(if value(short).is_finite() { short } else { found })
}

/// Nearly the largest mu whose Gaussian pair is (epsilon, delta)-indistinguishable. The bisection ends at a double that
/// was certified, and the result is rounded down.
pub(super) fn mu(epsilon: &Amount, delta: &Amount) -> Option<Amount> {
    let target = Epsilon::new(epsilon.lower()).ok()?;
    let fits = |mu: f64| {
        let Ok(mu) = Mu::new(mu) else { return false };
        let Ok(plan) = Plan::new([(Mechanism::Gdp { mu }, Count::ONE)]) else { return false };
        let answer = plan.delta(target, &counterpoint::Options::default());
        answer.is_ok_and(|answer| answer.bracket.upper <= delta.lower())
    };
    // The pair's delta at epsilon is below 1e-300 for mu = epsilon/50, and below the promised delta for mu = delta.
    let (mut low, mut high) = ((0.02 * target.get()).max(delta.lower()), 1e6_f64);
    if !fits(low) {
        return None;
    }
    for _ in 0..100 {
        let middle = if high / low > 4.0 { (low * high).sqrt() } else { 0.5 * (low + high) };
        if !(middle > low && middle < high) {
            break;
        }
        if fits(middle) { low = middle } else { high = middle }
    }
    // Rounded down to 24 decimal places, mu still fits.
    let mu = Amount::from_f64(low)?.floor(GRID_PLACES);
    (!mu.is_zero()).then_some(mu)
}
