//! Bounds on the Rényi divergences of mechanisms whose loss has no known law.

use super::PairLoss;
use crate::laws::{Loss, MOST, quick_cumulant};
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

/// The best of a random number of runs, in one direction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BestOf {
    pub(crate) runs: Runs,
    /// The losses of one run with their counts.
    pub(crate) toward: Vec<(PairLoss, u64)>,
    /// The losses of one run in the other direction.
    pub(crate) back: Vec<(PairLoss, u64)>,
}

/// What bounds need of the law of the number of runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Runs {
    /// A truncated negative binomial law.
    NegativeBinomial {
        mean: f64,
        /// 1 + eta.
        shape: Dd,
        /// An upper bound on ln(1/gamma).
        ln_inverse: f64,
        /// A bound on the logarithm of the factor by which an output's rank makes its selection likelier on one data
        /// set; `None` before it is computed from the deltas of one run.
        ln_ratio: Option<f64>,
    },
    Poisson {
        mean: f64,
        /// Bounds on the delta of one run at ln(1 + 1/t) in the other direction, each after its t, which rises.
        deltas: Vec<(f64, f64)>,
    },
}

impl BestOf {
    /// True if both directions have the same bounds.
    pub(super) fn is_symmetric(&self) -> bool {
        self.toward == self.back
    }

    /// An upper bound on (a - 1) D_a at order a = 1 + t.
    pub(super) fn bound(&self, t: f64) -> Option<ValueWithError> {
        let (total, error) = total(&self.toward, t)?;
        let total = total + error.into();
        let value = match &self.runs {
            Runs::NegativeBinomial { mean, ln_ratio, .. } => {
                total + Dd::product(t, (*ln_ratio)?) + Dd::from(*mean).ln()
            }
            Runs::Poisson { mean, deltas } => {
                let at = deltas.partition_point(|&(listed, _)| listed < t);
                let &(_, delta) = deltas.get(at)?;
                poisson_bound(total, *mean, Dd::product(t, delta) * *mean)
            }
        };
        Some((value, 16.0 * STEP * (1.0 + value.hi.abs() + total.hi.abs())))
    }

    pub(super) fn largest_t(&self) -> f64 {
        match &self.runs {
            Runs::NegativeBinomial { .. } => largest_common_t(&self.toward),
            Runs::Poisson { deltas, .. } => {
                let last = deltas.last().map_or(0.0, |&(t, _)| t);
                last.min(largest_common_t(&self.toward))
            }
        }
    }

    pub(super) fn listed_ts(&self) -> Vec<f64> {
        match &self.runs {
            Runs::NegativeBinomial { .. } => Vec::new(),
            Runs::Poisson { deltas, .. } => deltas.iter().map(|&(t, _)| t).collect(),
        }
    }
}

/// ln(1 + m e^x (e^T - 1)), which bounds (a - 1) D_a for a Poisson number of runs.
fn poisson_bound(total: Dd, mean: f64, exponent: Dd) -> Dd {
    const LARGE: f64 = 300.0;
    if total.hi <= LARGE && exponent.hi <= LARGE {
        return (exponent.exp() * mean * total.expm1()).ln_1p();
    }
    // With y = ln m + x + T the bound is at most ln(1 + e^y) <= max(y, 0) + ln 2.
    let most = total + exponent + Dd::from(mean).ln();
    if most.is_positive() { most + Dd::from(0.7) } else { Dd::from(0.7) }
}

fn largest_common_t(losses: &[(PairLoss, u64)]) -> f64 {
    let curves = losses.iter().filter_map(|(loss, _)| loss.curve.as_ref());
    curves.map(Curve::largest_t).fold(MOST, f64::min)
}

/// A bound on (a - 1) D_a of all losses together, at order a = 1 + t; `None` if one has no curve or leaks.
fn total(losses: &[(PairLoss, u64)], t: f64) -> Option<ValueWithError> {
    let (mut sum, mut error) = (Dd::ZERO, 0.0);
    let mut add = |(value, slack): ValueWithError, count: u64| {
        let count = count as f64;
        sum = sum + value * count;
        error += count * slack + 2.0 * STEP * (sum.hi.abs() + count * value.hi.abs());
    };
    for (pair_loss, count) in losses {
        if pair_loss.leak.1 > 0.0 {
            return None;
        }
        if let Some(loss) = &pair_loss.loss {
            add(divergence(loss, t)?, *count);
        }
        for (loss, times) in &pair_loss.further_losses {
            add(divergence(loss, t)?, count.saturating_mul(*times));
        }
        if let Some(curve) = &pair_loss.curve {
            add(curve.bound(t)?, *count);
        }
    }
    Some((sum, error * (1.0 + 1e-9)))
}

/// A bound on (a - 1) D_a that includes the mass that the law leaves out.
fn divergence(loss: &Loss, t: f64) -> Option<ValueWithError> {
    let law = loss.law();
    match law.omitted_mass().mass > 0.0 {
        true => Curve::Below { rho: law.concentration()? }.bound(t),
        false => quick_cumulant(law, t),
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
