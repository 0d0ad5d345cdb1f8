//! Gaussians whose shift is drawn at random.

use super::{LossError, Meaning, gaussian, legal};
use crate::laws::{Direction, Mixture, SampledGaussian, Shift, sum};
use crate::mechanism::Shifts;
use counterpoint_numerics::Dd;
use std::sync::Arc;

/// A mixture on a Poisson sample of this rate, or on all of the data.
pub(super) fn mixture(
    shifts: &Shifts,
    sigma: f64,
    rate: f64,
    direction: Direction,
) -> Result<Meaning, LossError> {
    let mut list: Vec<Shift> = Vec::new();
    for &(sensitivity, probability) in shifts.points() {
        let mu = Dd::from(sensitivity) / sigma;
        if mu.is_positive() {
            legal("sensitivities / sigma", mu)?;
        }
        match list.last_mut().filter(|last| last.mu == mu) {
            Some(last) => last.weight = last.weight + Dd::from(probability),
            None => list.push(Shift { mu, weight: Dd::from(probability) }),
        }
    }
    summing_to_one(&mut list);
    let one = Dd::ONE;
    let rest = if rate < 1.0 { one - Dd::from(rate) } else { Dd::ZERO };
    for shift in &mut list {
        shift.weight = shift.weight * rate;
    }
    let still = list.iter().find(|shift| !shift.mu.is_positive()).map_or(Dd::ZERO, |at| at.weight);
    list.retain(|shift| shift.mu.is_positive());
    of(list, still + rest, direction)
}

/// Rounded probabilities: with no shift and one, that one's is as given; otherwise the likeliest one's is what the
/// others leave, for there nothing cancels.
fn summing_to_one(list: &mut [Shift]) {
    let first_of_two = matches!(list, [still, _] if !still.mu.is_positive());
    let by_weight = |&a: &usize, &b: &usize| list[a].weight.hi.total_cmp(&list[b].weight.hi);
    let likeliest = if first_of_two { Some(0) } else { (0..list.len()).max_by(by_weight) };
    let Some(at) = likeliest else { return };
    let others = list.iter().enumerate().filter(|(place, _)| *place != at);
    let others: Vec<Dd> = others.map(|(_, shift)| shift.weight).collect();
    if let Some(shift) = list.get_mut(at) {
        shift.weight = Dd::ONE - sum(&others);
    }
}

/// The simplest loss that says the same.
fn of(shifts: Vec<Shift>, rest: Dd, direction: Direction) -> Result<Meaning, LossError> {
    match shifts.as_slice() {
        [] => Ok(Meaning::default()),
        [one] if !rest.is_positive() => gaussian(one.mu),
        [Shift { mu, weight }] if weight.lo.abs() < f64::from_bits(1) => {
            Ok(SampledGaussian { rate: weight.hi, mu: *mu, direction }.into())
        }
        _ => Ok(Arc::new(Mixture { shifts, rest, direction }).into()),
    }
}
