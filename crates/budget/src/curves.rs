//! Slots that are known by Rényi curves alone.
//!
//! A curve is not a profile. Such a slot stands for every mechanism whose divergences are within the curve at each
//! order that it names, in both directions, and a plan's cost is converted from the sum of curves. No single pair has
//! all these divergences, so queries are never compared with a pair: a query is covered if its own divergences are
//! shown to be within the curve, and its leak is at most the slot's.

use crate::amount::Amount;
use crate::charge;
use crate::query::{Description, Query};
use crate::terms::{Charge, Currency, Terms};
use counterpoint::mechanism::Mechanism;
use counterpoint::quantity::Order;

/// The sum of the slots' curves.
enum CurveSum {
    /// Divergences of at most rho a, at every order a or at orders below omega.
    Line { rho: Amount, omega: Option<Order> },
    /// Upper bounds on the divergences at some orders.
    Table(Vec<(Order, Amount)>),
}

/// True if slots that are all curves cover the queries together. Divergences at one order add up.
pub(super) fn cover(slots: &[(Query, u64)], opened: &[(Query, u64)], terms: Terms) -> bool {
    let Some((slot_curve, leak)) = sum_of_curves(slots) else { return false };
    let within = |most: &Amount, charge: &dyn Fn(&Query) -> Option<Charge>| {
        let sum = opened.iter().try_fold(Charge::default(), |sum, (query, count)| {
            Some(sum.plus(&charge(query)?.times(*count)))
        });
        sum.is_some_and(|sum| sum.main <= *most && sum.delta <= leak)
    };
    match slot_curve {
        CurveSum::Line { rho, omega } => within(&rho, &|query| slope(query, omega, terms)),
        CurveSum::Table(points) => points.iter().all(|&(order, ref tau)| {
            within(tau, &|query| charge::charge_once(query, Currency::Renyi { order }, terms).ok())
        }),
    }
}

/// The sum of the curves of all slots, and the leak beside it. `None` if a slot is not a curve, or the sum has no
/// simple form. A leak is allowed only if there is one slot with count one.
fn sum_of_curves(slots: &[(Query, u64)]) -> Option<(CurveSum, Amount)> {
    let (first, rest) = slots.split_first()?;
    let is_one = rest.is_empty() && first.1 == 1;
    let sum = rest.iter().try_fold(slot_curve(first)?, |sum, slot| plus(sum, slot_curve(slot)?))?;
    let leak = |(slot, _): &(Query, u64)| match slot.description() {
        Description::Zcdp { delta, .. } => delta.clone(),
        _ => Amount::ZERO,
    };
    let leaks = slots.iter().map(leak).max()?;
    (is_one || leaks.is_zero()).then_some((sum, leaks))
}

fn slot_curve((slot, count): &(Query, u64)) -> Option<CurveSum> {
    let exact = |value: f64| Some(Amount::from_f64(value)?.times(*count));
    match slot.description() {
        Description::Zcdp { rho, .. } => {
            Some(CurveSum::Line { rho: rho.times(*count), omega: None })
        }
        Description::Other(Mechanism::Tcdp { rho, omega }) => {
            Some(CurveSum::Line { rho: exact(rho.get())?, omega: Some(*omega) })
        }
        Description::Renyi { order, tau } => {
            Some(CurveSum::Table(vec![(*order, tau.times(*count))]))
        }
        Description::Other(Mechanism::Rdp(curve)) => {
            let point = |&(order, tau): &(f64, f64)| Some((Order::new(order).ok()?, exact(tau)?));
            Some(CurveSum::Table(curve.points().iter().map(point).collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// Adds two curves. The slopes of two lines add up, below the smaller omega. Two tables with the same orders are added
/// order by order, unless a table decreases: between two orders the chord then does not bound the sum (theory 7.2).
fn plus(sum: CurveSum, next: CurveSum) -> Option<CurveSum> {
    match (sum, next) {
        (CurveSum::Line { rho, omega }, CurveSum::Line { rho: more, omega: other }) => {
            let ends = omega.into_iter().chain(other);
            let omega = ends.reduce(|a, b| if b < a { b } else { a });
            Some(CurveSum::Line { rho: &rho + &more, omega })
        }
        (CurveSum::Table(list), CurveSum::Table(more)) => {
            let is_rising = |list: &[(Order, Amount)]| {
                list.iter().zip(list.iter().skip(1)).all(|(a, b)| a.1 <= b.1)
            };
            let orders = |list: &[(Order, Amount)]| list.iter().map(|p| p.0).collect::<Vec<_>>();
            if orders(&list) != orders(&more) || !is_rising(&list) || !is_rising(&more) {
                return None;
            }
            let both = list.into_iter().zip(more);
            Some(CurveSum::Table(both.map(|((order, a), (_, b))| (order, &a + &b)).collect()))
        }
        _ => None,
    }
}

/// The slope of a query's curve at every order, or at orders below omega.
fn slope(query: &Query, omega: Option<Order>, terms: Terms) -> Option<Charge> {
    match (query.description(), omega) {
        (Description::Other(Mechanism::Tcdp { rho, omega: own }), Some(omega)) if *own >= omega => {
            Some(Charge { main: Amount::from_f64(rho.get())?, ..Charge::default() })
        }
        _ => charge::charge_once(query, Currency::Zcdp, terms).ok(),
    }
}
