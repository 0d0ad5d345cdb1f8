//! The pair N(0, 1) and N(mu, 1): its profile, and what it takes to dominate a point of a profile.

use crate::methods::search::bisect;
use counterpoint_numerics::{Bracket, Dd, STEP, Wide, normal_tail};

/// Beyond this place the normal tail is below 10^-300.
const FURTHEST: f64 = 37.0;
/// The largest mu that is searched for.
const MOST_MU: f64 = 60.0;
/// Halvings of a search in doubles, and the relative width at which it ends.
const NARROW: (u32, f64) = (80, 1e-13);
/// The operations of the profile beside its tails, each at [`STEP`].
const OPERATIONS: f64 = 64.0 * STEP;

/// Returns bounds on the profile of N(0, 1) and N(mu, 1) at an epsilon of at least 0:
/// `T(e/mu - mu/2) - exp(e) T(e/mu + mu/2)`, where T is the normal tail.
pub(super) fn profile(mu: f64, epsilon: f64) -> Bracket {
    let (ratio, half) = (Dd::from(epsilon) / Dd::from(mu), Dd::from(0.5 * mu));
    if (ratio - half).hi >= FURTHEST {
        return Bracket { lower: 0.0, upper: normal_tail(FURTHEST).1.upper(0.0) };
    }
    // Doubles on either side, so that each tail is at a double.
    let tails = |place: Dd| {
        let (below, above) = (place.lower().next_down(), place.upper().next_up());
        (normal_tail(above).0, normal_tail(below).1)
    };
    let ((p_low, p_high), (q_low, q_high)) = (tails(ratio - half), tails(ratio + half));
    let growth = Wide::exp(Dd::from(epsilon));
    let error = (p_high + growth * q_high) * Wide::from(OPERATIONS);
    let (low, high) = (p_low - growth * q_high - error, p_high - growth * q_low + error);
    let lower = if low.is_positive() { low.lower(1e-15) } else { 0.0 };
    Bracket { lower: lower.min(1.0), upper: high.upper(1e-15).min(1.0) }
}

/// Returns a place, almost the least, that a standard normal exceeds with at most this probability.
pub(super) fn place_above(probability: f64) -> f64 {
    let place = search_place(|place| normal_tail(place).1.upper(0.0) <= probability).upper;
    if place < FURTHEST { place } else { f64::INFINITY }
}

/// Returns a place, almost the largest, that a standard normal exceeds with at least this probability.
pub(super) fn place_below(probability: f64) -> f64 {
    let place = search_place(|place| normal_tail(place).0.lower(0.0) < probability).lower;
    if place > -FURTHEST { place } else { f64::NEG_INFINITY }
}

/// Searches the places up to [`FURTHEST`] on either side for the first one that passes. ([`bisect`] runs over positive
/// numbers.)
fn search_place(passes: impl Fn(f64) -> bool) -> Bracket {
    let whole = Bracket { lower: 0.0, upper: 2.0 * FURTHEST };
    let at = |shifted: f64| Ok::<_, ()>(passes(shifted - FURTHEST));
    let Bracket { lower, upper } = bisect(whole, NARROW, at).unwrap_or(whole);
    // The subtraction is that of the search, so both ends have been tried, or are ends of the whole.
    Bracket { lower: lower - FURTHEST, upper: upper - FURTHEST }
}

/// Returns a mu whose profile is at least delta at an epsilon, and almost the least; infinite if there is none.
pub(super) fn sufficient_mu(epsilon: f64, delta: f64) -> f64 {
    let whole = Bracket { lower: 0.0, upper: MOST_MU };
    let reaches = |mu: f64| Ok::<_, ()>(profile(mu, epsilon).lower >= delta);
    let mu = bisect(whole, NARROW, reaches).unwrap_or(whole).upper;
    if mu < MOST_MU { mu } else { f64::INFINITY }
}

/// Returns a mu below which no profile reaches delta at an epsilon.
pub(super) fn necessary_mu(epsilon: f64, delta: f64) -> f64 {
    let whole = Bracket { lower: 0.0, upper: MOST_MU };
    let reaches = |mu: f64| Ok::<_, ()>(profile(mu, epsilon).upper >= delta);
    bisect(whole, NARROW, reaches).unwrap_or(whole).lower
}
