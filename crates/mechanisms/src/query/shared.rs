//! Measurements that use the number of records that another measurement of the same records releases.

use super::measurement::{Measurement, noisy_sums};
use super::noisy_query::NoisyQuery;
use super::parts::placed;
use super::summand::Term;
use super::tally::Tally;
use super::{Contribution, NoisyAnswer, QueryKind};
use crate::error::Error;

impl NoisyQuery {
    /// The measurement under a contribution bound, with a noisy number of records from another measurement: a plain
    /// count of the same records, which is charged where it is drawn. The releases of the measurement itself are those
    /// of its other sums, which share the whole budget of the noise.
    ///
    /// Run it with [`Measurement::draw_with_count`].
    ///
    /// # Errors
    /// As for [`NoisyQuery::bounded`]. [`Error::Unsuited`] unless the number of records is one of several sums of the
    /// query and the other measurement is a plain count. [`Error::Relation`] if the count is of other records.
    pub fn bounded_with_count(
        &self,
        contribution: Contribution,
        count: &Measurement,
    ) -> Result<Measurement, Error> {
        let unsuited = |query, legal| Error::Unsuited { noise: "a shared count", query, legal };
        if count.query().kind != QueryKind::Count(None) {
            return Err(unsuited(count.query().kind.name(), "a plain count, to be shared"));
        }
        let relation = contribution.within()?;
        if count.relation() != relation {
            return Err(Error::Relation { made: relation, data: count.relation() });
        }
        let parts = placed(&self.query.kind, relation);
        if parts.len() < 2 || !matches!(parts.first(), Some((Term::Ones(None), _))) {
            let legal = "a query answered from a private number of records and from other sums";
            return Err(unsuited(self.query.kind.name(), legal));
        }
        match contribution {
            Contribution::Rows(relation) => self.under_with(relation, Some(count)),
            Contribution::Groups(relation, limits) => {
                self.under_groups_with(relation, limits, Some(count))
            }
        }
    }
}

impl NoisyAnswer {
    /// The noisy count, if the answer is a count.
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
    /// True if another measurement releases the number of records.
    #[must_use]
    pub fn has_outside_count(&self) -> bool {
        self.has_outside_count
    }

    /// Draws a noisy answer from a tally and from a noisy count of the same records, which another measurement
    /// released. The count becomes part of the noisy answer. **Each draw must be charged**; the count is charged where
    /// it was drawn.
    ///
    /// # Errors
    /// As for [`Measurement::release`], and [`Error::Question`] if this measurement counts its records itself.
    pub fn draw_with_count(&self, tally: &Tally, count: f64) -> Result<NoisyAnswer, Error> {
        self.check_tally(tally)?;
        if !self.has_outside_count() {
            return Err(Error::Question { legal: "a measurement that uses another count" });
        }
        let own = noisy_sums(self.own_sums(), tally)?;
        Ok(NoisyAnswer::Sums([count].into_iter().chain(own).collect(), None))
    }
}
