//! Bounds on the Rényi divergences of mechanisms whose loss has no known law.

use super::selection::BestOf;
use crate::mechanism::RenyiCurve;
use counterpoint_numerics::{Dd, STEP};

/// Bounds on the Rényi divergences of a mechanism whose loss has no known law.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Curve {
    /// Divergences of at most rho times the order, for orders below omega.
    Line {
        rho: f64,
        omega: f64,
    },
    Table(RenyiCurve),
    /// Divergences of at most rho times the order, for a mechanism that may have smaller ones: the mechanism is no
    /// witness of the line.
    Below {
        rho: f64,
    },
    /// The divergences of the best of a random number of runs.
    BestOf(Box<BestOf>),
}

/// A number and a bound on its absolute error.
pub(crate) type ValueWithError = (Dd, f64);

/// A product of a few sums and products.
const TERM: f64 = 8.0 * STEP;

impl Curve {
    /// An upper bound on (a - 1) D_a at order a = 1 + t.
    pub(crate) fn bound(&self, t: f64) -> Option<ValueWithError> {
        let value = match self {
            Self::Line { rho, omega } => {
                (t < omega - 1.0).then(|| (Dd::product(t, t) + t.into()) * *rho)
            }
            Self::Table(table) => interpolate(table, t),
            Self::Below { rho } => Some((Dd::product(t, t) + t.into()) * *rho),
            Self::BestOf(best) => return best.bound(t),
        }?;
        Some((value, TERM * value.hi))
    }

    /// The largest t at which the curve may give a bound.
    pub(crate) fn largest_t(&self) -> f64 {
        match self {
            Self::Line { omega, .. } => (omega - 1.0).next_down(),
            Self::Table(table) => table.points().last().map_or(0.0, |&(order, _)| order - 1.0),
            Self::Below { .. } => f64::INFINITY,
            Self::BestOf(best) => best.largest_t(),
        }
    }

    /// Values of t at which the bound may be least.
    pub(crate) fn listed_ts(&self) -> Vec<f64> {
        match self {
            Self::Table(table) => table.points().iter().map(|&(order, _)| order - 1.0).collect(),
            Self::BestOf(best) => best.listed_ts(),
            Self::Line { .. } | Self::Below { .. } => Vec::new(),
        }
    }
}

/// D_a increases with the order and (a - 1) D_a is convex in the order. So between two orders the bound is the lesser
/// of the next value and the chord, below the first order it is the first value, and beyond the last there is none. (An
/// order less one is exact in a double.)
fn interpolate(table: &RenyiCurve, t: f64) -> Option<Dd> {
    let points = table.points();
    let next = points.partition_point(|&(order, _)| order - 1.0 < t);
    let &(order, value) = points.get(next)?;
    let by_next = Dd::product(t, value);
    let Some(&(before, below)) = next.checked_sub(1).and_then(|last| points.get(last)) else {
        return Some(by_next);
    };
    let (right, left) = (Dd::sum(order, -1.0), Dd::sum(before, -1.0));
    let width = right - left;
    let chord = left * below * ((right - t.into()) / width)
        + right * value * ((Dd::from(t) - left) / width);
    Some(if chord < by_next { chord } else { by_next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_bounded_between_their_orders() {
        let orders: Vec<f64> = (2..=64).map(f64::from).collect();
        let values: Vec<f64> = orders.iter().map(|a| 0.1 * a).collect();
        let table = RenyiCurve::new(&orders, &values).unwrap();
        for t in [0.1, 1.0, 1.5, 7.25, 62.9, 63.0] {
            let bound = interpolate(&table, t).unwrap().hi;
            let truth = 0.1 * t * (1.0 + t);
            let chord = 0.1 * (t.ceil() - t) * (t - t.floor());
            let most = if t < 1.0 { 0.2 * t } else { truth + chord };
            assert!(bound >= truth * (1.0 - 1e-15) && bound <= most * (1.0 + 1e-12), "{t}");
        }
        assert!(interpolate(&table, 63.5).is_none());
    }
}
