//! The losses of random allocation, in which each person is in some of t steps: theory 6.13.
//!
//! With one step for each person the likelihood ratio is the mean of t independent ratios of a Gaussian pair. Its law
//! without the person is computed on points twice: spread out it dominates, contracted it is dominated.

mod base;
mod grid;
mod point_masses;
mod outward;
mod statistic;

use super::partial_lists::{dominated_loss, dominating_loss};
use super::{Direction, LossError, PairLoss, check_loss_range, gaussian};
use crate::laws::Atom;
use crate::laws::cells::Domination;
use crate::mechanism::Adjacency;
use crate::quantity::GroupSize;
use base::BEYOND;
use counterpoint_numerics::{Dd, STEP};

/// The largest relative error that one addition causes in a point: the sum is rounded, its place in a cell is rounded,
/// and the rounded shares change the mean of the cell.
const ROUNDED: f64 = 4.0 * f64::EPSILON;

/// Returns the losses in both directions.
pub(super) fn losses(
    mu: Dd,
    (steps, each): (u64, u64),
    adjacency: Option<Adjacency>,
    group: GroupSize,
) -> Result<[PairLoss; 2], LossError> {
    if each > steps {
        return Err(LossError::MoreThanSteps { each, steps });
    }
    if each == steps {
        // Each person is in every step.
        let one = gaussian(check_loss_range("sensitivity / sigma", mu * group.get() as f64)?)?;
        let further_losses = one.loss.iter().map(|loss| (loss.clone(), steps - 1)).collect();
        let all = PairLoss { further_losses, ..one };
        return Ok([all.clone(), all]);
    }
    let why = "the guarantee of random allocation depends on it";
    match adjacency {
        None => return Err(LossError::no_adjacency(why)),
        Some(Adjacency::Replace) => return Err(LossError::AllocationUnderReplace),
        Some(Adjacency::AddRemove) => {}
    }
    if group.get() > 1 {
        let what = "random allocation to steps, whose bound is proved for one person";
        return Err(LossError::Group { group: group.get(), what });
    }
    if each == 1 {
        return one_step_losses(mu, steps);
    }
    several_steps_losses(mu, steps, each)
}

/// The losses if each person is in one of `steps` steps.
fn one_step_losses(mu: Dd, steps: u64) -> Result<[PairLoss; 2], LossError> {
    if !(1e-3..=5.0).contains(&mu.hi) {
        let (what, legal) =
            ("sensitivity / sigma", "1e-3 to 5 where people are in some of the steps");
        return Err(LossError::Range { what, value: mu.hi, legal });
    }
    let [above, below] = [Domination::Above, Domination::Below].map(|side| ratios(mu, steps, side));
    let pair_loss = |direction| {
        let most = above.pair_loss(Domination::Above, direction);
        most.with_lower_pair(below.pair_loss(Domination::Below, direction))
    };
    Ok([Direction::Remove, Direction::Add].map(pair_loss))
}

/// The losses if each person is in `each` of the steps. The upper bounds assume one step in each of `each` blocks; the
/// lower bounds use what a statistic of all steps reveals, or the sum of all steps.
fn several_steps_losses(mu: Dd, steps: u64, each: u64) -> Result<[PairLoss; 2], LossError> {
    let block = steps / each;
    let most = match block {
        1 => [gaussian(mu)?, gaussian(mu)?],
        _ => one_step_losses(mu, block)?,
    };
    let all = mu * (each as f64) / Dd::from(steps as f64).sqrt();
    let all = gaussian(all * Dd::sum(1.0, -8.0 * STEP))?;
    let below = statistic::losses(mu.hi, steps, each).unwrap_or_else(|| [all.clone(), all]);
    let composed = |most: PairLoss, below: PairLoss| {
        let further_losses = most.loss.iter().map(|loss| (loss.clone(), each - 1)).collect();
        let kept = Dd::sum(1.0, -most.leak.1);
        let leak = (0..each).fold(Dd::ONE, |all, _| all * kept);
        let leak = (0.0, (Dd::ONE - leak).upper());
        PairLoss { further_losses, leak, ..most.with_lower_pair(below) }
    };
    let [remove, add] = most;
    let [remove_below, add_below] = below;
    Ok([composed(remove, remove_below), composed(add, add_below)])
}

/// The likelihood ratio's values with their masses under Q. The sum and the mean of the masses are one, up to `slack`.
struct Ratios {
    list: Vec<(Dd, Dd)>,
    slack: f64,
}

fn ratios(mu: Dd, steps: u64, side: Domination) -> Ratios {
    let sum = base::law(mu, side).times(steps, side);
    let slack =
        4.0 * ROUNDED * f64::from(sum.rounds) + sum.lost / steps as f64 + BEYOND * steps as f64;
    let masses = outward::outward(&sum, steps as f64, side);
    let list = sum.points.iter().zip(&masses).filter(|(_, mass)| **mass > 0.0);
    let list = list.map(|(&point, &mass)| (Dd::from(point) / steps as f64, Dd::from(mass)));
    let list: Vec<(Dd, Dd)> = list.collect();
    let mass = list.iter().fold(Dd::ZERO, |sum, &(_, mass)| sum + mass);
    let mean = list.iter().fold(Dd::ZERO, |sum, &(ratio, mass)| sum + ratio * mass);
    let off = (mass - Dd::ONE).abs().hi + (mean - Dd::ONE).abs().hi;
    Ratios { list, slack: slack + 4.0 * off }
}

impl Ratios {
    fn pair_loss(&self, side: Domination, direction: Direction) -> PairLoss {
        let certain = Dd::sum(1.0, -self.slack);
        // For a lower bound, no ratio may be further from one than its true value.
        let less = match side {
            Domination::Above => Dd::ZERO,
            Domination::Below => Dd::from(2.0 * self.slack),
        };
        let atom = |&(ratio, mass): &(Dd, Dd)| match direction {
            Direction::Remove => Atom { loss: ratio.ln() - less, mass: ratio * mass * certain },
            Direction::Add => Atom { loss: -ratio.ln() - less, mass: mass * certain },
        };
        let finite = self.list.iter().filter(|(ratio, _)| ratio.is_positive());
        let list = finite.map(atom).collect();
        match side {
            Domination::Above => dominating_loss(list, self.slack),
            Domination::Below => dominated_loss(list, self.slack),
        }
    }
}
