//! Each person in one of t steps, drawn at random: theory 6.13.
//!
//! The likelihood ratio is the mean of t independent ones, each that of a Gaussian pair. Its law without the person is
//! found on points, twice: moved apart it dominates, moved together it is dominated.

mod base;
mod grid;
mod law;
mod outward;

use super::listed::{at_least, at_most};
use super::{Direction, LossError, Meaning, gaussian, legal};
use crate::laws::Atom;
use crate::mechanism::Adjacency;
use crate::quantity::Group;
use base::BEYOND;
use counterpoint_numerics::{Dd, STEP};

/// Which way masses are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Apart.
    Above,
    /// Together.
    Below,
}

/// Points are rounded, relatively, by at most this each time they are added: the sum, the place in a cell, and what
/// the roundings of shares do to its mean.
const ROUNDED: f64 = 4.0 * f64::EPSILON;

/// In both directions.
pub(super) fn of(
    mu: Dd,
    (steps, each): (u64, u64),
    adjacency: Option<Adjacency>,
    group: Group,
) -> Result<[Meaning; 2], LossError> {
    if each > steps {
        return Err(LossError::MoreThanSteps { each, steps });
    }
    if each == steps {
        // Everybody is in every step.
        let one = gaussian(legal("sensitivity / sigma", mu * group.get() as f64)?)?;
        let also = one.loss.iter().map(|loss| (loss.clone(), steps - 1)).collect();
        let all = Meaning { also, ..one };
        return Ok([all.clone(), all]);
    }
    let why = "who is in which step is private in its own way under each";
    match adjacency {
        None => return Err(LossError::no_adjacency(why)),
        Some(Adjacency::Replace) => return Err(LossError::AllocationUnderReplace),
        Some(Adjacency::AddRemove) => {}
    }
    if group.get() > 1 {
        let what = "people in steps drawn at random, of whom some may be added and others removed";
        return Err(LossError::Group { group: group.get(), what });
    }
    if each == 1 {
        return one_of(mu, steps);
    }
    some_of(mu, steps, each)
}

/// The pair for one of `steps`.
fn one_of(mu: Dd, steps: u64) -> Result<[Meaning; 2], LossError> {
    if !(1e-3..=5.0).contains(&mu.hi) {
        let (what, legal) =
            ("sensitivity / sigma", "1e-3 to 5 where people are in some of the steps");
        return Err(LossError::Range { what, value: mu.hi, legal });
    }
    let [above, below] = [Side::Above, Side::Below].map(|side| ratios(mu, steps, side));
    let meaning = |direction| {
        let most = above.meaning(Side::Above, direction);
        most.above(below.meaning(Side::Below, direction))
    };
    Ok([Direction::Remove, Direction::Add].map(meaning))
}

/// One of each of so many blocks of steps, from above; from below, what the sum of all steps shows.
fn some_of(mu: Dd, steps: u64, each: u64) -> Result<[Meaning; 2], LossError> {
    let block = steps / each;
    let most = match block {
        1 => [gaussian(mu)?, gaussian(mu)?],
        _ => one_of(mu, block)?,
    };
    let all = mu * (each as f64) / Dd::from(steps as f64).sqrt();
    let below = gaussian(all * Dd::sum(1.0, -8.0 * STEP))?;
    Ok(most.map(|most| {
        let also = most.loss.iter().map(|loss| (loss.clone(), each - 1)).collect();
        let kept = Dd::sum(1.0, -most.leak.1);
        let leak = (0..each).fold(Dd::ONE, |all, _| all * kept);
        let leak = (0.0, (Dd::ONE - leak).upper());
        Meaning { also, leak, ..most.above(below.clone()) }
    }))
}

/// The likelihood ratio's values with their Q masses, which sum to one and have mean one but for `slack`.
struct Ratios {
    list: Vec<(Dd, Dd)>,
    slack: f64,
}

fn ratios(mu: Dd, steps: u64, side: Side) -> Ratios {
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
    fn meaning(&self, side: Side, direction: Direction) -> Meaning {
        let certain = Dd::sum(1.0, -self.slack);
        // From below no ratio is further from one than it may be.
        let less = match side {
            Side::Above => Dd::ZERO,
            Side::Below => Dd::from(2.0 * self.slack),
        };
        let atom = |&(ratio, mass): &(Dd, Dd)| match direction {
            Direction::Remove => Atom { loss: ratio.ln() - less, mass: ratio * mass * certain },
            Direction::Add => Atom { loss: -ratio.ln() - less, mass: mass * certain },
        };
        let finite = self.list.iter().filter(|(ratio, _)| ratio.is_positive());
        let list = finite.map(atom).collect();
        match side {
            Side::Above => at_most(list, self.slack),
            Side::Below => at_least(list, self.slack),
        }
    }
}
