//! Measurements whose number of records is released by another one, of the same records.

use super::measurement::{Measurement, noisy_sums};
use super::parts::placed;
use super::recipe::Recipe;
use super::summand::Of;
use super::tally::Tally;
use super::{Contribution, Drawn, Kind};
use crate::error::Error;

impl Recipe {
    /// The measurement under a contribution bound, of records whose number is measured, and charged, elsewhere: by a plain count of
    /// the same records. Its own releases are those of its other sums, among which all of the noise's budget is shared.
    ///
    /// It is run with [`Measurement::draw_with_count`].
    ///
    /// # Errors
    /// As for [`Recipe::bounded`]; [`Error::Unsuited`] unless the number of records is one of several sums that the query is
    /// answered from, and the other measurement is a plain count; [`Error::Relation`] if that is of other records.
    pub fn bounded_with_count(
        &self,
        contribution: Contribution,
        count: &Measurement,
    ) -> Result<Measurement, Error> {
        let unsuited = |query, legal| Error::Unsuited { noise: "a shared count", query, legal };
        if count.query().kind != Kind::Count(None) {
            return Err(unsuited(count.query().kind.name(), "a plain count, to be shared"));
        }
        let relation = contribution.within()?;
        if count.relation() != relation {
            return Err(Error::Relation { made: relation, data: count.relation() });
        }
        let parts = placed(&self.query.kind, relation);
        if parts.len() < 2 || !matches!(parts.first(), Some((Of::Ones(None), _))) {
            let legal = "a question that is answered from a count of records that is not public, and from other sums";
            return Err(unsuited(self.query.kind.name(), legal));
        }
        match contribution {
            Contribution::Rows(relation) => self.under_with(relation, Some(count)),
            Contribution::Groups(relation, spread) => {
                self.under_groups_with(relation, spread, Some(count))
            }
        }
    }
}

impl Drawn {
    /// The noisy count, if a count was drawn.
    #[must_use]
    pub fn count(&self) -> Option<f64> {
        match self {
            Self::Sums(sums, _) => match sums.as_slice() {
                [count] => Some(*count),
                _ => None,
            },
            Self::Reply(_) | Self::Quantiles { .. } => None,
        }
    }
}

impl Measurement {
    /// Whether the number of records is released by another measurement, and taken from there.
    #[must_use]
    pub fn has_outside_count(&self) -> bool {
        self.has_outside_count
    }

    /// Draws an answer from a tally and from a noisy count of the same records that is released elsewhere, which becomes
    /// part of what is drawn. **Each draw is to be charged again**, the count where it was drawn.
    ///
    /// # Errors
    /// As for [`Measurement::release`], and [`Error::Question`] if it counts its records itself.
    pub fn draw_with_count(&self, tally: &Tally, count: f64) -> Result<Drawn, Error> {
        self.is_of(tally)?;
        if !self.has_outside_count() {
            return Err(Error::Question { legal: "one that shares a count" });
        }
        let own = noisy_sums(self.own_sums(), tally)?;
        Ok(Drawn::Sums([count].into_iter().chain(own).collect(), None))
    }
}
