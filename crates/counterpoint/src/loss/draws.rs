//! Samples of a fixed size drawn with replacement: theory 6.9.

use super::cut::{COARSE, Cuts, FINE, Pieces};
use super::{LossError, Meaning, gaussian, legal};
use crate::mechanism::Adjacency;
use crate::quantity::Group;
use counterpoint_numerics::Dd;
use counterpoint_numerics::binomial::{ln_mass, upper_tail};

/// A record is drawn at most so often, but for what leaks.
const OFTEN: u64 = 40;
/// As often as has this probability.
const HARDLY: f64 = 1e-18;
/// Or if it moves the sum no further than this: the cells that have hardly any Q mass have no P mass either, and what
/// is not in the pieces is at loss zero.
const FURTHEST_MEAN: f64 = 20.0;

/// `draws` of `records`.
pub(super) fn draws(
    mu: Dd,
    (draws, records): (u64, u64),
    adjacency: Option<Adjacency>,
    group: Group,
) -> Result<Meaning, LossError> {
    fixed_size(adjacency, group, LossError::DrawsUnderAddRemove)?;
    if draws > records {
        return Err(LossError::MoreThanRecords { draws, records });
    }
    if records == 1 {
        return gaussian(legal("sensitivity / sigma", mu)?);
    }
    if !(1e-3..=5.0).contains(&mu.hi) {
        let (what, legal) = ("sensitivity / sigma", "1e-3 to 5 with draws");
        return Err(LossError::Range { what, value: mu.hi, legal });
    }
    let sample = Sample::new(draws, records, (FURTHEST_MEAN / mu.hi) as u64);
    let most = sample.pieces(mu, Cuts::above).mirrored(sample.rest);
    Ok(most.most().above(sample.pieces(mu, Cuts::below).mirrored(0.0).least()))
}

/// What is proved of samples of a fixed size is so where one record is in another's place.
pub(super) fn fixed_size(
    adjacency: Option<Adjacency>,
    group: Group,
    under_add_remove: LossError,
) -> Result<(), LossError> {
    match adjacency {
        None => {
            let why = "a sample of a fixed size is private in its own way under each";
            Err(LossError::no_adjacency(why))
        }
        Some(Adjacency::AddRemove) => Err(under_add_remove),
        Some(Adjacency::Replace) if group.get() > 1 => {
            let what = "a release on a sample of a fixed size";
            Err(LossError::Group { group: group.get(), what })
        }
        Some(Adjacency::Replace) => Ok(()),
    }
}

/// With which probability a record is drawn at all, and how often.
struct Sample {
    rate: Dd,
    /// Once, twice, ...
    times: Vec<Dd>,
    /// More often than those.
    rest: f64,
}

impl Sample {
    fn new(draws: u64, records: u64, often: u64) -> Self {
        let (trials, each) = (draws as f64, Dd::ONE / Dd::from(records as f64));
        let never = (-each).ln_1p() * trials;
        let beyond = |times: u64| upper_tail(trials, each, times as f64 + 1.0);
        let often = OFTEN.min(often).min(draws);
        let most = (1..often).find(|&times| beyond(times) < HARDLY).unwrap_or(often);
        let chance = |times: u64| match times < draws {
            true => ln_mass((trials, times as f64), each, Dd::ONE - each).0.exp(),
            false => (each.ln() * trials).exp(),
        };
        let times = (1..=most).map(chance).collect();
        Self { rate: -never.expm1(), times, rest: beyond(most) }
    }

    /// Half of the pair: the outcomes that are likelier under P, for each number of times that is seen.
    fn pieces(&self, mu: Dd, cuts: impl Fn(Dd, f64) -> Cuts) -> Pieces {
        let one = |(index, &chance): (usize, &Dd)| {
            let cuts = cuts(mu * (index as f64 + 1.0), if index == 0 { FINE } else { COARSE });
            Pieces::sampled(cuts, self.rate).above(0.5 * cuts.mean(), chance / self.rate)
        };
        self.times.iter().enumerate().map(one).fold(Pieces::default(), Pieces::beside)
    }
}
