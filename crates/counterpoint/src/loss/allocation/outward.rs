//! Errors of masses, as a law that lies further apart or closer together.
//!
//! Of all laws with each mass within a relative error of the one given, and with its sum and mean, the one furthest
//! apart has all masses outside of an interval at their largest and all inside at their least: it crosses any other twice.

use super::Side;
use super::law::Law;
use counterpoint_numerics::Dd;

/// The masses of the law furthest apart or closest together, of all that have sum one and this mean. If there is none,
/// every mass at its largest or least.
pub(super) fn outward(law: &Law, mean: f64, side: Side) -> Vec<f64> {
    let outside = match side {
        Side::Above => law.error,
        Side::Below => -law.error,
    };
    // What the inside has less than if it were as the outside is.
    let total = |of: &dyn Fn(usize) -> Dd| {
        (0..law.masses.len()).fold(Dd::ZERO, |sum, place| sum + of(place))
    };
    let mass = total(&|place| Dd::from(law.masses[place]));
    let moment = total(&|place| Dd::product(law.masses[place], law.points[place]));
    let inside = |all: Dd, wanted: f64| {
        ((all * Dd::sum(1.0, outside) - Dd::from(wanted)) / (2.0 * outside)).hi
    };
    let (mass, moment) = (inside(mass, 1.0), inside(moment, mean));
    let shares = interval(law, mass, moment);
    let each = |(share, mass): (f64, &f64)| mass * (1.0 + outside * (1.0 - 2.0 * share));
    shares.into_iter().zip(&law.masses).map(each).collect()
}

/// How much of each mass lies in the interval that has this mass and moment in all.
fn interval(law: &Law, mass: f64, moment: f64) -> Vec<f64> {
    let all: f64 = law.masses.iter().sum();
    let (mut low, mut high) = (0.0, (all - mass).max(0.0));
    for _ in 0..100 {
        let start = 0.5 * (low + high);
        let shares = within(&law.masses, start, start + mass);
        let sum: f64 =
            shares.iter().zip(&law.masses).zip(&law.points).map(|((s, m), x)| s * m * x).sum();
        if sum < moment { low = start } else { high = start }
    }
    within(&law.masses, 0.5 * (low + high), 0.5 * (low + high) + mass)
}

/// The share of each mass that lies between two places, masses being laid end to end.
fn within(masses: &[f64], start: f64, end: f64) -> Vec<f64> {
    let mut before = 0.0;
    let share = |&mass: &f64| {
        let (from, to) = (before, before + mass);
        before = to;
        if mass > 0.0 { ((to.min(end) - from.max(start)) / mass).clamp(0.0, 1.0) } else { 0.0 }
    };
    masses.iter().map(share).collect()
}
