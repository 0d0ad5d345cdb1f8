//! Guarantees, leaks and curves for groups of people, by a chain of neighbours: theory 7.6 and theory 7.7.

use super::{LossError, PairLoss, enclosing_doubles, response};
use crate::mechanism::{Guarantee, RenyiCurve};
use crate::quantity::GroupSize;
use counterpoint_numerics::{Dd, STEP};

/// The loss of a pure mechanism for g people: at most that of randomized response with g eps, and at least that for one
/// person.
pub(super) fn pure_group_loss(
    epsilon: Dd,
    one: PairLoss,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    match group.get() {
        1 => Ok(one),
        people => Ok(response(epsilon * people as f64)?.with_lower_pair(one)),
    }
}

pub(super) fn group_guarantee_loss(
    guarantee: Guarantee,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    chained_guarantee_loss(
        Dd::from(guarantee.epsilon.get()),
        Dd::from(guarantee.delta.get()),
        group,
    )
}

/// The loss of the guarantee (g eps, delta (e^(g eps) - 1)/(e^eps - 1)), which a chain of g neighbours proves for g
/// people.
pub(super) fn chained_guarantee_loss(
    epsilon: Dd,
    delta: Dd,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    let all = epsilon * group.get() as f64;
    let leak = if !delta.is_positive() || group.get() == 1 {
        enclosing_doubles(delta)
    } else if !epsilon.is_positive() {
        below_one(delta * group.get() as f64, group)?
    } else if all.hi > 700.0 {
        return Err(too_many_people(group));
    } else {
        below_one(all.expm1() / epsilon.expm1() * delta, group)?
    };
    Ok(PairLoss { leak, ..response(all)? })
}

/// The loss of name-and-shame, in which each person of the group may be revealed.
pub(super) fn group_leak_loss(delta: f64, group: GroupSize) -> Result<PairLoss, LossError> {
    let leak = match group.get() {
        1 => (delta, delta),
        people => below_one(Dd::product(people as f64, delta), group)?,
    };
    Ok(PairLoss { leak, ..PairLoss::default() })
}

/// The divergences for g people of Gaussians whose divergences for one person are within a curve: g^2 times those of
/// the curve, at the same orders, rounded down.
pub(super) fn group_gaussian_curve(
    curve: &RenyiCurve,
    group: GroupSize,
) -> Result<RenyiCurve, LossError> {
    let square = Dd::product(group.get() as f64, group.get() as f64);
    let (orders, epsilons): (Vec<f64>, Vec<f64>) = curve
        .points()
        .iter()
        .map(|&(order, divergence)| (order, (square * divergence).lower().min(1e6)))
        .unzip();
    RenyiCurve::new(&orders, &epsilons).map_err(|_| too_many_people(group))
}

/// Divides a number by the number of people, rounded down. If the quotient is not a double, it differs from every
/// double by at least 2^-73 of itself.
pub(super) fn divide_by_group(number: f64, group: GroupSize) -> f64 {
    (Dd::from(number) / group.get() as f64).lower()
}

/// The curve for g people. A divergence at the order A bounds one at A/g: D_(A/g) is at most D_A times the sum of A/(A
/// - i), i from 0 to g - 1 (theory 7.7). The first terms are added up; the rest is below A ln((A-m)/(A-g)).
pub(super) fn group_curve(curve: &RenyiCurve, group: GroupSize) -> Result<RenyiCurve, LossError> {
    const ADDED: u64 = 64;
    let people = group.get() as f64;
    let for_all = |&(order, divergence): &(f64, f64)| {
        let added = ADDED.min(group.get());
        let term = |i: u64| Dd::from(order) / Dd::sum(order, -(i as f64));
        let sum = (0..added).fold(Dd::ZERO, |sum, i| sum + term(i));
        let (last, end) = (Dd::sum(order, -(added as f64)), Dd::sum(order, -people));
        let rest = if added < group.get() { (last / end).ln() * order } else { Dd::ZERO };
        // At most seventy operations, each good to 2^-94.
        let slack = Dd::sum(1.0, 128.0 * STEP);
        (divide_by_group(order, group), ((sum + rest) * slack * divergence).upper())
    };
    let points = curve.points().iter().filter(|(order, _)| divide_by_group(*order, group) > 1.0);
    let (orders, epsilons): (Vec<f64>, Vec<f64>) = points.map(for_all).unzip();
    RenyiCurve::new(&orders, &epsilons).map_err(|_| {
        let what =
            "an rdp release whose orders are not above that, or whose divergences exceed 10^6 for that many people";
        LossError::Group { group: group.get(), what }
    })
}

fn below_one(leak: Dd, group: GroupSize) -> Result<(f64, f64), LossError> {
    let leak = enclosing_doubles(leak);
    if leak.1 < 1.0 { Ok(leak) } else { Err(too_many_people(group)) }
}

fn too_many_people(group: GroupSize) -> LossError {
    LossError::Group { group: group.get(), what: "deltas that add up to one for that many people" }
}
