//! The losses of sums over Poisson samples whose summands have bounded norm: theory 6.11 and theory 6.12.

use super::partial_lists::dominating_loss;
use super::partition::{COARSE, EvenCells, FINE, PartitionedPair, RARE};
use super::{Direction, LossError, PairLoss, gaussian};
use crate::laws::{Atom, SampledGaussian, log_mixture};
use crate::mechanism::{Adjacency, BatchCap};
use crate::quantity::GroupSize;
use counterpoint_numerics::Dd;
use counterpoint_numerics::binomial::upper_tail;

pub(super) fn batch_loss(
    mu: Dd,
    rate: f64,
    cap: Option<BatchCap>,
    direction: Direction,
    adjacency: Option<Adjacency>,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    if rate <= 0.0 {
        return Ok(PairLoss::default());
    }
    let why = "one person changes the sum by one norm (add-remove) or two (replace)";
    let adjacency = adjacency.ok_or(LossError::no_adjacency(why))?;
    if group.get() > 1 {
        let what = "a sum over a Poisson sample, whose bound is proved for one person";
        return Err(LossError::Group { group: group.get(), what });
    }
    if !(1e-3..=30.0).contains(&mu.hi) {
        let (what, legal) = ("norm / sigma", "1e-3 to 30");
        return Err(LossError::Range { what, value: mu.hi, legal });
    }
    match (adjacency, cap) {
        (Adjacency::AddRemove, None) if rate < 1.0 => {
            Ok(SampledGaussian { rate, mu, direction }.into())
        }
        (Adjacency::AddRemove, None) => gaussian(mu),
        (Adjacency::AddRemove, Some(cap)) => capped(mu, rate, cap, direction),
        (Adjacency::Replace, Some(_)) => Err(LossError::CapUnderReplace),
        (Adjacency::Replace, None) if rate < 1.0 => Ok(replaced(mu, rate)),
        (Adjacency::Replace, None) => gaussian(mu.scaled(2.0)),
    }
}

/// The loss where one summand replaces another. In the worst case they have opposite directions and the largest norm.
fn replaced(mu: Dd, rate: f64) -> PairLoss {
    let pieces = |cuts: EvenCells| {
        let (mu, rate, rest) = (cuts.mean(), Dd::from(rate), Dd::ONE - Dd::from(rate));
        let half = Dd::product(mu, mu).scaled(0.5);
        let loss = |z: f64| {
            let along = Dd::product(mu, z);
            log_mixture(rate, along - half) - log_mixture(rate, -along - half)
        };
        PartitionedPair::new(cuts, &[(rest, 0), (rate, 1)], &[(rest, 0), (rate, -1)], loss)
    };
    let (most, least) = (pieces(EvenCells::above(mu, FINE)), pieces(EvenCells::below(mu, FINE)));
    most.dominating_loss().with_lower_pair(least.dominated_loss())
}

/// The probability below which a full batch that contains the person is counted as a leak.
const HARDLY: f64 = 1e-16;

/// The loss of batches that are cut at random to `cap.most` people. If at least that many others are in the sample,
/// which an observer may learn, a person in the batch takes another's place and moves the sum twice as far.
fn capped(mu: Dd, rate: f64, cap: BatchCap, direction: Direction) -> Result<PairLoss, LossError> {
    let most = cap.most.get() as f64;
    let full = upper_tail(cap.people.get() as f64 - 1.0, Dd::from(rate), most);
    let one = |rate: f64| match rate < 1.0 {
        true => Ok(SampledGaussian { rate, mu, direction }.into()),
        false => gaussian(mu),
    };
    if full <= 0.0 {
        return one(rate);
    }
    // The person is in a sample of n > most, and remains after the cut with probability most / n.
    let stays = (1.0 - full).max(most / cap.people.get() as f64).min(1.0);
    let lower_pair = (Dd::from(rate) * stays * (1.0 - 8.0 * f64::EPSILON)).lower();
    let inner = (Dd::from(rate) * (Dd::from(most) / (most + 1.0))).upper().min(1.0);
    if full * inner < HARDLY {
        let leak = (0.0, (full * inner).next_up());
        return Ok(PairLoss { leak, ..one(rate)? }.with_lower_pair(one(lower_pair)?));
    }
    let coin_loss = coin_loss(full, inner, EvenCells::above(mu.scaled(2.0), COARSE), direction);
    let further_losses = coin_loss.loss.into_iter().map(|loss| (loss, 1)).collect();
    Ok(PairLoss { further_losses, leak: coin_loss.leak, ..one(rate)? }
        .with_lower_pair(one(lower_pair)?))
}

/// The loss of a Gaussian pair on a Poisson sample that is used with probability `chance`; everybody sees whether it
/// is.
fn coin_loss(chance: f64, rate: f64, cuts: EvenCells, direction: Direction) -> PairLoss {
    let pieces = PartitionedPair::sampled(cuts, Dd::from(rate));
    let pieces = if direction == Direction::Remove { pieces } else { pieces.exchanged() };
    let tossed = |atom: Atom| Atom { mass: atom.mass * chance, ..atom };
    let nothing = Atom { loss: Dd::ZERO, mass: Dd::ONE - Dd::from(chance) };
    dominating_loss(pieces.split_cells().into_iter().map(tossed).chain([nothing]).collect(), RARE)
}
