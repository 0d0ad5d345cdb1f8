//! A mechanism that fits a description of which only Rényi curves are known.

use crate::composition::{Composition, CountedLoss, with_gaussian};
use crate::loss::Curve;
use counterpoint_numerics::{Dd, STEP};

/// A square is two operations, twice: its count and the rounding down.
const SQUARE: f64 = 8.0;

/// The composition's losses, with a Gaussian in place of its curves: a mechanism with these curves may have that
/// Gaussian's loss.
///
/// A Gaussian with square mu^2 has divergence a mu^2/2 at order a. The square is rounded down.
pub(crate) fn witness(whole: &Composition) -> Vec<CountedLoss> {
    let mut parts = whole.losses.clone();
    let curves = whole.curves.iter().map(|curve| square(&curve.each) * curve.count as f64);
    let extra = curves.fold(Dd::ZERO, |sum, square| sum + square);
    if !extra.is_positive() {
        return parts;
    }
    let slack = SQUARE + whole.curves.len() as f64;
    let down = |square: Dd| square - square * (slack * STEP);
    let normal = |part: &CountedLoss| Some(part.law().normal_square()? * part.count as f64);
    let own = parts.iter().find_map(normal).unwrap_or(Dd::ZERO);
    parts.retain(|part| normal(part).is_none());
    with_gaussian(&mut parts, down(own + extra));
    parts
}

/// The largest mu^2 whose divergences are within the curve.
fn square(curve: &Curve) -> Dd {
    match curve {
        Curve::Line { rho, .. } => Dd::product(2.0, *rho),
        Curve::Table(table) => {
            let allowed = table.points().iter().map(|&(order, value)| Dd::from(value) / order);
            let least = allowed.reduce(|least, next| if next < least { next } else { least });
            least.map_or(Dd::ZERO, |least| least.scaled(2.0))
        }
        Curve::Below { .. } | Curve::BestOf(_) => Dd::ZERO,
    }
}
