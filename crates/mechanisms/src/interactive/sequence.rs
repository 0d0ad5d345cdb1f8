//! Measurements chosen from earlier answers, at prices fixed before the first.

use super::state::Progress;
use crate::error::Error;
use crate::query::{Measurement, NoisyQuery};
use counterpoint::{Relation, Release};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A declared list of noisy queries. Their costs are the prices of the sequence. A measurement may run if its cost
/// equals an unused price; which measurement runs, and when, may depend on all earlier answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Arc<[NoisyQuery]>", try_from = "Vec<NoisyQuery>")]
pub struct Sequence {
    pub(crate) noisy_queries: Arc<[NoisyQuery]>,
}

impl From<Sequence> for Arc<[NoisyQuery]> {
    fn from(sequence: Sequence) -> Self {
        sequence.noisy_queries
    }
}

impl TryFrom<Vec<NoisyQuery>> for Sequence {
    type Error = Error;

    fn try_from(noisy_queries: Vec<NoisyQuery>) -> Result<Self, Error> {
        Self::new(noisy_queries)
    }
}

impl Sequence {
    /// Declares the prices of these noisy queries.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 10^6.
    pub fn new(noisy_queries: impl IntoIterator<Item = NoisyQuery>) -> Result<Self, Error> {
        let noisy_queries: Arc<[NoisyQuery]> = noisy_queries.into_iter().collect();
        let (what, length, legal) = ("the sequence", noisy_queries.len(), "1 to 10^6");
        if !(1..=1_000_000).contains(&length) {
            return Err(Error::Length { what, length, legal });
        }
        Ok(Self { noisy_queries })
    }
}

/// The cost of each measurement of a sequence under one relation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Prices {
    relation: Relation,
    prices: Vec<Vec<Release>>,
}

impl Prices {
    pub(super) fn new(sequence: &Sequence, relation: Relation) -> Result<Self, Error> {
        let price = |noisy_query: &NoisyQuery| Ok(noisy_query.under(relation)?.releases().to_vec());
        let prices = sequence.noisy_queries.iter().map(price).collect::<Result<_, Error>>()?;
        Ok(Self { relation, prices })
    }

    pub(super) fn releases(&self) -> Vec<Release> {
        self.prices.concat()
    }

    /// The indices of all prices.
    pub(super) fn slots(&self) -> Vec<usize> {
        (0..self.prices.len()).collect()
    }

    /// True if the indices are on the list, none of them twice.
    pub(super) fn include_slots(&self, open: &[usize]) -> bool {
        open.is_sorted_by(|one, next| one < next)
            && open.last().is_none_or(|last| *last < self.prices.len())
    }

    /// The measurement, if an unused price equals its cost; and the progress after the first such price is used.
    pub(super) fn pay(
        &self,
        noisy_query: &NoisyQuery,
        open: &[usize],
    ) -> Result<(Measurement, Progress), Error> {
        let measurement = noisy_query.under(self.relation)?;
        let is_price = |slot: &usize| {
            self.prices.get(*slot).is_some_and(|price| price == measurement.releases())
        };
        let paid = *open.iter().find(|slot| is_price(slot)).ok_or(Error::NotDeclared)?;
        let rest = open.iter().copied().filter(|slot| *slot != paid).collect();
        Ok((measurement, Progress::Slots(rest)))
    }
}
