//! The losses of samples of a fixed size drawn with replacement: theory 6.9.

use super::partition::{COARSE, EvenCells, FINE, PartitionedPair};
use super::{LossError, PairLoss, check_loss_range, gaussian};
use crate::mechanism::Adjacency;
use crate::quantity::GroupSize;
use counterpoint_numerics::Dd;
use counterpoint_numerics::binomial::{ln_mass, upper_tail};

/// The largest number of times that a record is drawn; larger numbers leak.
const OFTEN: u64 = 40;
/// The numbers of times that are too rare to list, and leak: their total probability is less than this.
const HARDLY: f64 = 1e-18;
/// The largest mean, in standard deviations; larger means leak. The cells with hardly any mass under Q then have hardly
/// any under P, and the mass outside the pieces is placed at loss zero.
const FURTHEST_MEAN: f64 = 20.0;

/// The loss of `draws` draws from `records` records.
pub(super) fn draws_loss(
    mu: Dd,
    (draws, records): (u64, u64),
    adjacency: Option<Adjacency>,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    check_fixed_size(adjacency, group, LossError::DrawsUnderAddRemove)?;
    if draws > records {
        return Err(LossError::MoreThanRecords { draws, records });
    }
    if records == 1 {
        return gaussian(check_loss_range("sensitivity / sigma", mu)?);
    }
    if !(1e-3..=5.0).contains(&mu.hi) {
        let (what, legal) = ("sensitivity / sigma", "1e-3 to 5 with draws");
        return Err(LossError::Range { what, value: mu.hi, legal });
    }
    let sample = DrawCounts::new(draws, records, (FURTHEST_MEAN / mu.hi) as u64);
    let most = sample.pieces(mu, EvenCells::above).mirrored(sample.rest);
    Ok(most
        .dominating_loss()
        .with_lower_pair(sample.pieces(mu, EvenCells::below).mirrored(0.0).dominated_loss()))
}

/// Checks that a bound for samples of a fixed size is proved: for one person, where one record replaces another.
pub(super) fn check_fixed_size(
    adjacency: Option<Adjacency>,
    group: GroupSize,
    under_add_remove: LossError,
) -> Result<(), LossError> {
    match adjacency {
        None => {
            let why = "the guarantee of a sample of a fixed size depends on it";
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

/// The probabilities of the number of times that a record is drawn.
struct DrawCounts {
    rate: Dd,
    /// The probabilities of once, twice, ...
    times: Vec<Dd>,
    /// A bound on the probability of more times than those.
    rest: f64,
}

impl DrawCounts {
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

    /// Half of the pair: the outcomes that are likelier under P, for each number of times, which an observer may know.
    fn pieces(&self, mu: Dd, cuts: impl Fn(Dd, f64) -> EvenCells) -> PartitionedPair {
        let one = |(index, &chance): (usize, &Dd)| {
            let cuts = cuts(mu * (index as f64 + 1.0), if index == 0 { FINE } else { COARSE });
            PartitionedPair::sampled(cuts, self.rate).above(0.5 * cuts.mean(), chance / self.rate)
        };
        self.times
            .iter()
            .enumerate()
            .map(one)
            .fold(PartitionedPair::default(), PartitionedPair::beside)
    }
}
