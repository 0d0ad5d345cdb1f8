//! The privacy loss that an answer may spend, and the measurements that spend it.

use super::{CheckedAggregate, CheckedQuestion};
use crate::error::QuestionError;
use counterpoint::Relation;
use counterpoint_mechanisms::{
    Contribution, Error as MechanismError, GroupLimits, Measurement, NoisyQuery, Style,
};
use serde::Serialize;

/// The default confidence of the intervals that are drawn together with quantiles.
const CONFIDENCE: f64 = 0.95;

/// The privacy loss that an answer may spend.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spend {
    /// An epsilon of pure differential privacy, spent by Laplace noise.
    Epsilon(f64),
    /// A rho of zero-concentrated differential privacy, spent by Gaussian noise.
    Rho(f64),
    /// The cost of discrete Gaussian noise with exactly this sigma. For counts alone.
    Sigma(f64),
    /// The cost of exactly this planned noise. For questions with one aggregate.
    Style(Style),
}

impl CheckedQuestion {
    /// The measurement of each aggregate over all groups. The aggregates share the spend equally.
    ///
    /// # Errors
    /// [`QuestionError`] if no noise has this cost.
    pub fn measurements(&self, spend: Spend) -> Result<Vec<Measurement>, QuestionError> {
        self.measurements_at(spend, CONFIDENCE)
    }

    /// The measurements with another confidence of the intervals that are drawn together with quantiles. The cost is
    /// the same.
    ///
    /// # Errors
    /// As for [`CheckedQuestion::measurements`], and unless the confidence is strictly between 0 and 1.
    pub fn measurements_at(
        &self,
        spend: Spend,
        confidence: f64,
    ) -> Result<Vec<Measurement>, QuestionError> {
        self.build_measurements(|aggregate, shares| {
            let plain = noisy_query(aggregate, spend, shares)?;
            match (spend, plain.style()) {
                (Spend::Epsilon(_) | Spend::Rho(_), Style::Exponential { epsilon }) => {
                    aggregate.query.exponential_interval(epsilon, confidence)
                }
                // Planned noise stays as it was planned.
                _ => Ok(plain),
            }
        })
    }

    /// The measurements in a slot. Quantiles have intervals only if the intervals were planned: a slot that declares no
    /// more than a mechanism has no budget for intervals.
    ///
    /// # Errors
    /// As for [`CheckedQuestion::measurements`].
    pub fn measurements_in_slot(&self, spend: Spend) -> Result<Vec<Measurement>, QuestionError> {
        self.build_measurements(|aggregate, shares| noisy_query(aggregate, spend, shares))
    }

    fn build_measurements(
        &self,
        noisy_query: impl Fn(&CheckedAggregate, f64) -> Result<NoisyQuery, MechanismError>,
    ) -> Result<Vec<Measurement>, QuestionError> {
        let measurement = |aggregate: &CheckedAggregate| {
            let noisy_query = noisy_query(aggregate, self.aggregates.len() as f64);
            let made = noisy_query
                .and_then(|noisy_query| noisy_query.bounded(self.contribution_to(aggregate)?));
            made.map_err(|error| cannot_be_measured(aggregate, &error))
        };
        self.aggregates.iter().map(measurement).collect()
    }

    /// The bound on the contribution of one person to an aggregate's answer.
    ///
    /// # Errors
    /// [`MechanismError`] if a person has more rows than can be bounded.
    pub fn contribution_to(
        &self,
        aggregate: &CheckedAggregate,
    ) -> Result<Contribution, MechanismError> {
        if self.group_columns.is_empty() {
            let rows = if aggregate.counts_people { 1 } else { self.rows };
            return Ok(Contribution::Rows(self.within(rows, aggregate)?));
        }
        let (rows, rows_in_group) = if aggregate.counts_people {
            (self.rows.min(self.groups), 1)
        } else {
            (self.rows, self.rows_in_group)
        };
        Ok(Contribution::Groups(self.relation, GroupLimits::new(rows, rows_in_group, self.groups)?))
    }

    /// The neighbouring relation of the rows that an aggregate uses. A person has exactly `rows` of them if every row
    /// is used, else at most `rows`.
    fn within(&self, rows: u64, aggregate: &CheckedAggregate) -> Result<Relation, MechanismError> {
        let relation = Relation::new(self.relation.adjacency(), rows)?;
        let all = self.uses_every_row && !aggregate.skips_missing;
        Ok(if all { relation } else { relation.filtered() })
    }
}

/// The noise for an aggregate that may spend one of `shares` equal shares. Quantiles have no interval.
///
/// # Errors
/// [`MechanismError`] if no noise has this cost.
pub fn noisy_query(
    aggregate: &CheckedAggregate,
    spend: Spend,
    shares: f64,
) -> Result<NoisyQuery, MechanismError> {
    let chosen = aggregate.query.exponential(1.0).is_ok();
    match spend {
        Spend::Epsilon(epsilon) if chosen => aggregate.query.exponential(epsilon / shares),
        Spend::Epsilon(epsilon) => aggregate.query.laplace(epsilon / shares),
        // A choice of range eta is eta^2/8-concentrated (Cesar and Rogers 2021). The choices of several quantiles share
        // eta equally, so their sum is less.
        Spend::Rho(rho) if chosen => aggregate.query.exponential((8.0 * rho / shares).sqrt()),
        Spend::Rho(rho) => aggregate.query.gaussian((0.5 * shares / rho).sqrt()),
        Spend::Sigma(sigma) => aggregate.query.discrete_gaussian(sigma),
        Spend::Style(style) => NoisyQuery::new(aggregate.query.clone(), style),
    }
}

pub(super) fn cannot_be_measured(
    aggregate: &CheckedAggregate,
    error: &MechanismError,
) -> QuestionError {
    QuestionError::new(&aggregate.name, format!("cannot be measured ({error})"), "other costs")
}
