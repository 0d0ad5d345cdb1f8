//! What a chain of neighbours makes of guarantees, leaks and curves: theory 7.6 and theory 7.7.

use super::{LossError, Meaning, bracketed, response};
use crate::mechanism::{Guarantee, RenyiCurve};
use crate::quantity::Group;
use counterpoint_numerics::{Dd, STEP};

/// A pure mechanism: for g people at most as randomized response of g eps, and at least what one person shows.
pub(super) fn pure(epsilon: Dd, one: Meaning, group: Group) -> Result<Meaning, LossError> {
    match group.get() {
        1 => Ok(one),
        people => Ok(response(epsilon * people as f64)?.above(one)),
    }
}

pub(super) fn approximate(guarantee: Guarantee, group: Group) -> Result<Meaning, LossError> {
    chained(Dd::from(guarantee.epsilon.get()), Dd::from(guarantee.delta.get()), group)
}

/// For g people (g eps, delta (e^(g eps) - 1)/(e^eps - 1)): the chain of g neighbours.
pub(super) fn chained(epsilon: Dd, delta: Dd, group: Group) -> Result<Meaning, LossError> {
    let all = epsilon * group.get() as f64;
    let leak = if !delta.is_positive() || group.get() == 1 {
        bracketed(delta)
    } else if !epsilon.is_positive() {
        below_one(delta * group.get() as f64, group)?
    } else if all.hi > 700.0 {
        return Err(too_many_people(group));
    } else {
        below_one(all.expm1() / epsilon.expm1() * delta, group)?
    };
    Ok(Meaning { leak, ..response(all)? })
}

/// Each of the group may be shamed.
pub(super) fn leak_for(delta: f64, group: Group) -> Result<Meaning, LossError> {
    let leak = match group.get() {
        1 => (delta, delta),
        people => below_one(Dd::product(people as f64, delta), group)?,
    };
    Ok(Meaning { leak, ..Meaning::default() })
}

/// What Gaussians within a curve have for g people: g^2 times as much, at the same orders. From below.
pub(super) fn gaussians_for(curve: &RenyiCurve, group: Group) -> Result<RenyiCurve, LossError> {
    let square = Dd::product(group.get() as f64, group.get() as f64);
    let (orders, epsilons): (Vec<f64>, Vec<f64>) = curve
        .points()
        .iter()
        .map(|&(order, divergence)| (order, (square * divergence).lower().min(1e6)))
        .unzip();
    RenyiCurve::new(&orders, &epsilons).map_err(|_| too_many_people(group))
}

/// A number over that of people, rounded down. A quotient that is no double is 2^-73 of itself away from one.
pub(super) fn shared(number: f64, group: Group) -> f64 {
    (Dd::from(number) / group.get() as f64).lower()
}

/// For g people an order A says something of A/g: D_(A/g) is at most D_A times the sum of A/(A - i), i from
/// 0 to g - 1 (theory 7.7). Its first terms are added up; the rest is below A ln((A-m)/(A-g)).
pub(super) fn curve_for(curve: &RenyiCurve, group: Group) -> Result<RenyiCurve, LossError> {
    const ADDED: u64 = 64;
    let people = group.get() as f64;
    let for_all = |&(order, divergence): &(f64, f64)| {
        let added = ADDED.min(group.get());
        let term = |i: u64| Dd::from(order) / Dd::sum(order, -(i as f64));
        let sum = (0..added).fold(Dd::ZERO, |sum, i| sum + term(i));
        let (last, end) = (Dd::sum(order, -(added as f64)), Dd::sum(order, -people));
        let rest = if added < group.get() { (last / end).ln() * order } else { Dd::ZERO };
        // Seventy operations at most, each good to 2^-94.
        let slack = Dd::sum(1.0, 128.0 * STEP);
        (shared(order, group), ((sum + rest) * slack * divergence).upper())
    };
    let points = curve.points().iter().filter(|(order, _)| shared(*order, group) > 1.0);
    let (orders, epsilons): (Vec<f64>, Vec<f64>) = points.map(for_all).unzip();
    RenyiCurve::new(&orders, &epsilons).map_err(|_| {
        let what =
            "an rdp release without larger orders, or with divergences that are then too large";
        LossError::Group { group: group.get(), what }
    })
}

fn below_one(leak: Dd, group: Group) -> Result<(f64, f64), LossError> {
    let leak = bracketed(leak);
    if leak.1 < 1.0 { Ok(leak) } else { Err(too_many_people(group)) }
}

fn too_many_people(group: Group) -> LossError {
    LossError::Group { group: group.get(), what: "deltas that then add up to one" }
}
