//! Replaces the errors of masses by a law that is more spread out, or less.
//!
//! Among the laws whose masses are within a relative error of the given ones, with a given sum and mean, the most
//! spread out has its largest masses outside of an interval and its least masses inside: it crosses any other law
//! twice.

use super::Domination;
use super::point_masses::PointMasses;
use counterpoint_numerics::Dd;

/// Returns the masses of the most or the least spread out law among those with sum one and this mean. If there is none,
/// every mass is at its largest or least.
pub(super) fn outward(law: &PointMasses, mean: f64, side: Domination) -> Vec<f64> {
    let outside = match side {
        Domination::Above => law.error,
        Domination::Below => -law.error,
    };
    // The amount by which the inside is smaller than with the factor of the outside.
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

/// Returns the share of each mass in the interval that has this mass and this moment.
fn interval(law: &PointMasses, mass: f64, moment: f64) -> Vec<f64> {
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

/// Returns the share of each mass between two places, if the masses are laid end to end.
fn within(masses: &[f64], start: f64, end: f64) -> Vec<f64> {
    let mut before = 0.0;
    let share = |&mass: &f64| {
        let (from, to) = (before, before + mass);
        before = to;
        if mass > 0.0 { ((to.min(end) - from.max(start)) / mass).clamp(0.0, 1.0) } else { 0.0 }
    };
    masses.iter().map(share).collect()
}
