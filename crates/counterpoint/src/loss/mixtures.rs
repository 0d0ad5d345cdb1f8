//! The losses of Gaussians with a random shift.

use super::{LossError, PairLoss, check_loss_range, gaussian};
use crate::laws::{Direction, Mixture, SampledGaussian, Shift, sum};
use crate::mechanism::Shifts;
use counterpoint_numerics::Dd;
use std::sync::Arc;

/// The loss of a mixture on a Poisson sample of this rate; a rate of one means all of the data.
pub(super) fn mixture_loss(
    shifts: &Shifts,
    sigma: f64,
    rate: f64,
    direction: Direction,
) -> Result<PairLoss, LossError> {
    let mut list: Vec<Shift> = Vec::new();
    for &(sensitivity, probability) in shifts.points() {
        let mu = Dd::from(sensitivity) / sigma;
        if mu.is_positive() {
            check_loss_range("sensitivities / sigma", mu)?;
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
    let unshifted =
        list.iter().find(|shift| !shift.mu.is_positive()).map_or(Dd::ZERO, |at| at.weight);
    list.retain(|shift| shift.mu.is_positive());
    simplest_loss(list, unshifted + rest, direction)
}

/// Corrects rounded probabilities so that they sum to one. Of no shift and one other shift, the other keeps its
/// probability; otherwise the likeliest shift gets the remainder of the others, which involves no cancellation.
fn summing_to_one(list: &mut [Shift]) {
    let first_of_two = matches!(list, [unshifted, _] if !unshifted.mu.is_positive());
    let by_weight = |&a: &usize, &b: &usize| list[a].weight.hi.total_cmp(&list[b].weight.hi);
    let likeliest = if first_of_two { Some(0) } else { (0..list.len()).max_by(by_weight) };
    let Some(at) = likeliest else { return };
    let others = list.iter().enumerate().filter(|(place, _)| *place != at);
    let others: Vec<Dd> = others.map(|(_, shift)| shift.weight).collect();
    if let Some(shift) = list.get_mut(at) {
        shift.weight = Dd::ONE - sum(&others);
    }
}

/// Returns the simplest law that is equal to the mixture.
fn simplest_loss(
    shifts: Vec<Shift>,
    rest: Dd,
    direction: Direction,
) -> Result<PairLoss, LossError> {
    match shifts.as_slice() {
        [] => Ok(PairLoss::default()),
        [one] if !rest.is_positive() => gaussian(one.mu),
        [Shift { mu, weight }] if weight.lo.abs() < f64::from_bits(1) => {
            Ok(SampledGaussian { rate: weight.hi, mu: *mu, direction }.into())
        }
        _ => Ok(Arc::new(Mixture { shifts, rest, direction }).into()),
    }
}
