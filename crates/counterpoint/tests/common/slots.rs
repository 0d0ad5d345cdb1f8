//! Slots and what is run in them, in a few letters.

use counterpoint::mechanism::{FinitePair, RenyiCurve};
use counterpoint::quantity::{NoiseScale, Order, Rate, Rho, WholeSensitivity};
use counterpoint::{Adjacency, Count, Delta, Mechanism, Release, Sensitivity};
use counterpoint_budget::{Amount, Query, Terms};

pub(crate) fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

pub(crate) fn terms() -> Terms {
    Terms::new(Adjacency::AddRemove)
}

pub(crate) fn approx(epsilon: &str, delta: &str) -> Query {
    Query::approx_dp(amount(epsilon), amount(delta)).unwrap()
}

pub(crate) fn gdp(mu: &str) -> Query {
    Query::gdp(amount(mu)).unwrap()
}

pub(crate) fn gaussian(sigma: &str) -> Query {
    Query::gaussian(amount(sigma), amount("1")).unwrap()
}

pub(crate) fn laplace(scale: &str) -> Query {
    Query::laplace(amount(scale), amount("1")).unwrap()
}

pub(crate) fn zcdp(rho: &str) -> Query {
    Query::zcdp(amount(rho), Amount::ZERO).unwrap()
}

pub(crate) fn other(mechanism: Mechanism) -> Query {
    Query::from(Release::from((mechanism, Count::ONE)))
}

pub(crate) fn sampled(sigma: f64, rate: f64) -> Query {
    let (sigma, sensitivity) = (NoiseScale::new(sigma).unwrap(), Sensitivity::new(1.0).unwrap());
    let release = Release::from((Mechanism::Gaussian { sigma, sensitivity }, Count::ONE));
    Query::from(Release { rate: Some(Rate::new(rate).unwrap()), ..release })
}

pub(crate) fn finite(p: &[f64], q: &[f64]) -> Query {
    other(Mechanism::Finite(FinitePair::new(p, q).unwrap()))
}

pub(crate) fn count(n: u64) -> Count {
    Count::new(n).unwrap()
}

pub(crate) fn geometric(scale: f64, steps: u64) -> Query {
    let (scale, sensitivity) =
        (NoiseScale::new(scale).unwrap(), WholeSensitivity::new(steps).unwrap());
    other(Mechanism::Geometric { scale, sensitivity })
}

pub(crate) fn leak(delta: f64) -> Query {
    other(Mechanism::NameAndShame { delta: Delta::new(delta).unwrap() })
}

pub(crate) fn tcdp(rho: f64, omega: f64) -> Query {
    let (rho, omega) = (Rho::new(rho).unwrap(), Order::new(omega).unwrap());
    other(Mechanism::Tcdp { rho, omega })
}

pub(crate) fn rdp(orders: &[f64], taus: &[f64]) -> Query {
    other(Mechanism::Rdp(RenyiCurve::new(orders, taus).unwrap()))
}
