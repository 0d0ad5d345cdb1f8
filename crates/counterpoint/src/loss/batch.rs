//! Sums over Poisson samples whose summands are of bounded norm: theory 6.11 and theory 6.12.

use super::cut::{COARSE, Cuts, FINE, Pieces, RARE};
use super::listed::at_most;
use super::{Direction, LossError, Meaning, gaussian};
use crate::laws::{Atom, SampledGaussian, mixed};
use crate::mechanism::{Adjacency, Cap};
use crate::quantity::Group;
use counterpoint_numerics::Dd;
use counterpoint_numerics::binomial::upper_tail;

pub(super) fn batch(
    mu: Dd,
    rate: f64,
    cap: Option<Cap>,
    direction: Direction,
    adjacency: Option<Adjacency>,
    group: Group,
) -> Result<Meaning, LossError> {
    if rate <= 0.0 {
        return Ok(Meaning::default());
    }
    let why = "what a summand moves is its norm, or that of a difference";
    let adjacency = adjacency.ok_or(LossError::no_adjacency(why))?;
    if group.get() > 1 {
        let what = "a sum over a Poisson sample, of whom some may be added and others removed";
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

/// One summand in another's place: they lie opposite each other, as far as they can.
fn replaced(mu: Dd, rate: f64) -> Meaning {
    let pieces = |cuts: Cuts| {
        let (mu, rate, rest) = (cuts.mean(), Dd::from(rate), Dd::ONE - Dd::from(rate));
        let half = Dd::product(mu, mu).scaled(0.5);
        let loss = |z: f64| {
            let along = Dd::product(mu, z);
            mixed(rate, along - half) - mixed(rate, -along - half)
        };
        Pieces::new(cuts, &[(rest, 0), (rate, 1)], &[(rest, 0), (rate, -1)], loss)
    };
    let (most, least) = (pieces(Cuts::above(mu, FINE)), pieces(Cuts::below(mu, FINE)));
    most.most().above(least.least())
}

/// Where a cut batch shows somebody as rarely as this, that leaks.
const HARDLY: f64 = 1e-16;

/// A batch of more than `cap.most` is cut to that, at random. If so many of the others are in the sample, which may be
/// seen, whoever is in the batch is in somebody's place, and moves it twice as far.
fn capped(mu: Dd, rate: f64, cap: Cap, direction: Direction) -> Result<Meaning, LossError> {
    let most = cap.most.get() as f64;
    let full = upper_tail(cap.people.get() as f64 - 1.0, Dd::from(rate), most);
    let one = |rate: f64| match rate < 1.0 {
        true => Ok(SampledGaussian { rate, mu, direction }.into()),
        false => gaussian(mu),
    };
    if full <= 0.0 {
        return one(rate);
    }
    // The person is in a sample of n > most, and stays with probability most / n.
    let stays = (1.0 - full).max(most / cap.people.get() as f64).min(1.0);
    let beneath = (Dd::from(rate) * stays * (1.0 - 8.0 * f64::EPSILON)).lower();
    let inner = (Dd::from(rate) * (Dd::from(most) / (most + 1.0))).upper().min(1.0);
    if full * inner < HARDLY {
        let leak = (0.0, (full * inner).next_up());
        return Ok(Meaning { leak, ..one(rate)? }.above(one(beneath)?));
    }
    let coin = coin(full, inner, Cuts::above(mu.scaled(2.0), COARSE), direction);
    let also = coin.loss.into_iter().map(|loss| (loss, 1)).collect();
    Ok(Meaning { also, leak: coin.leak, ..one(rate)? }.above(one(beneath)?))
}

/// With this probability, which everybody sees, a Gaussian pair on a Poisson sample.
fn coin(chance: f64, rate: f64, cuts: Cuts, direction: Direction) -> Meaning {
    let pieces = Pieces::sampled(cuts, Dd::from(rate));
    let pieces = if direction == Direction::Remove { pieces } else { pieces.exchanged() };
    let tossed = |atom: Atom| Atom { mass: atom.mass * chance, ..atom };
    let nothing = Atom { loss: Dd::ZERO, mass: Dd::ONE - Dd::from(chance) };
    at_most(pieces.apart().into_iter().map(tossed).chain([nothing]).collect(), RARE)
}
