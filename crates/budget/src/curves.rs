//! Slots known by Rényi curves alone.
//!
//! A curve is not a profile. Such a slot stands for every mechanism whose divergences are
//! within it at each order it names, in both directions, and a plan's cost is a conversion of
//! the sum of curves. There is no pair that has all of that, so nothing is ever compared with
//! one: what is run is covered if its own divergences are shown to be within the curve, and
//! if it leaks no more than the slot says beside it.

use crate::amount::Amount;
use crate::charge;
use crate::query::{Description, Query};
use crate::terms::{Charge, Currency, Terms};
use counterpoint::mechanism::Mechanism;
use counterpoint::quantity::Order;

/// What slots promise together.
enum Promised {
    /// Divergences of at most rho a, at every order a or at those below omega.
    Line { rho: Amount, omega: Option<Order> },
    /// Divergences of at most so much at some orders.
    Table(Vec<(Order, Amount)>),
}

/// Whether slots that are curves cover queries, all together: divergences of one order add up.
pub(super) fn cover(slots: &[(Query, u64)], opened: &[(Query, u64)], terms: Terms) -> bool {
    let Some((promised, leak)) = together(slots) else { return false };
    let within = |most: &Amount, charge: &dyn Fn(&Query) -> Option<Charge>| {
        let sum = opened.iter().try_fold(Charge::default(), |sum, (query, count)| {
            Some(sum.plus(&charge(query)?.times(*count)))
        });
        sum.is_some_and(|sum| sum.main <= *most && sum.delta <= leak)
    };
    match promised {
        Promised::Line { rho, omega } => within(&rho, &|query| slope(query, omega, terms)),
        Promised::Table(points) => points.iter().all(|&(order, ref tau)| {
            within(tau, &|query| charge::of(query, Currency::Renyi { order }, terms).ok())
        }),
    }
}

/// The curve of all slots, and the leak beside it; `None` if not all are curves, or nothing
/// simple is true of all of them together. A leak is that of one slot.
fn together(slots: &[(Query, u64)]) -> Option<(Promised, Amount)> {
    let (first, rest) = slots.split_first()?;
    let is_one = rest.is_empty() && first.1 == 1;
    let sum = rest.iter().try_fold(promised(first)?, |sum, slot| plus(sum, promised(slot)?))?;
    let leak = |(slot, _): &(Query, u64)| match slot.description() {
        Description::Zcdp { delta, .. } => delta.clone(),
        _ => Amount::ZERO,
    };
    let leaks = slots.iter().map(leak).max()?;
    (is_one || leaks.is_zero()).then_some((sum, leaks))
}

fn promised((slot, count): &(Query, u64)) -> Option<Promised> {
    let exact = |value: f64| Some(Amount::from_f64(value)?.times(*count));
    match slot.description() {
        Description::Zcdp { rho, .. } => {
            Some(Promised::Line { rho: rho.times(*count), omega: None })
        }
        Description::Other(Mechanism::Tcdp { rho, omega }) => {
            Some(Promised::Line { rho: exact(rho.get())?, omega: Some(*omega) })
        }
        Description::Renyi { order, tau } => {
            Some(Promised::Table(vec![(*order, tau.times(*count))]))
        }
        Description::Other(Mechanism::Rdp(curve)) => {
            let point = |&(order, tau): &(f64, f64)| Some((Order::new(order).ok()?, exact(tau)?));
            Some(Promised::Table(curve.points().iter().map(point).collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// Slopes add up, as far as both lines go. So do tables of the same orders, unless one falls:
/// what is between two orders is then no longer the chord (theory 7.2).
fn plus(sum: Promised, next: Promised) -> Option<Promised> {
    match (sum, next) {
        (Promised::Line { rho, omega }, Promised::Line { rho: more, omega: other }) => {
            let ends = omega.into_iter().chain(other);
            let omega = ends.reduce(|a, b| if b < a { b } else { a });
            Some(Promised::Line { rho: &rho + &more, omega })
        }
        (Promised::Table(list), Promised::Table(more)) => {
            let is_rising = |list: &[(Order, Amount)]| {
                list.iter().zip(list.iter().skip(1)).all(|(a, b)| a.1 <= b.1)
            };
            let orders = |list: &[(Order, Amount)]| list.iter().map(|p| p.0).collect::<Vec<_>>();
            if orders(&list) != orders(&more) || !is_rising(&list) || !is_rising(&more) {
                return None;
            }
            let both = list.into_iter().zip(more);
            Some(Promised::Table(both.map(|((order, a), (_, b))| (order, &a + &b)).collect()))
        }
        _ => None,
    }
}

/// The slope of a query's curve at every order, or at those below omega.
fn slope(query: &Query, omega: Option<Order>, terms: Terms) -> Option<Charge> {
    match (query.description(), omega) {
        (Description::Other(Mechanism::Tcdp { rho, omega: own }), Some(omega)) if *own >= omega => {
            Some(Charge { main: Amount::from_f64(rho.get())?, ..Charge::default() })
        }
        _ => charge::of(query, Currency::Zcdp, terms).ok(),
    }
}
