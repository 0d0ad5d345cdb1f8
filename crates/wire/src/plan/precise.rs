//! Plans of (epsilon, delta) guarantees with exact numbers, for arbitrary precision.

use std::collections::BTreeSet;

use counterpoint::ask::PreciseGuarantee;
use counterpoint::ask::PrecisePlan;
use counterpoint::{Count, Guarantee, Mechanism};
use counterpoint_numerics::fractions::{ExactError, Ratio, from_double};

use super::{Plan, Question, Release};
use crate::text::written::ExactNumber;

impl Plan {
    /// Returns the plan with exact numbers: the numbers in quotes and those of [`Plan::parse_exactly`]; other numbers
    /// are their doubles. `None` unless all releases are (epsilon, delta) guarantees.
    ///
    /// # Errors
    /// [`ExactError`] for numbers that are out of range.
    pub fn precise_plan(&self) -> Result<Option<PrecisePlan>, ExactError> {
        let parts: BTreeSet<_> =
            self.releases.iter().filter_map(|r| r.partition.as_ref()).collect();
        if parts.len() > 1 {
            return Ok(None);
        }
        let group = self.group.get();
        let list: Option<Vec<_>> =
            self.releases.iter().map(|release| release.guarantee(group)).collect();
        list.map(PrecisePlan::new).transpose()
    }

    /// Returns the guarantee of every release and the total count, if all releases have the same guarantee; else
    /// `None`.
    #[must_use]
    pub fn equal_guarantees(&self) -> Option<(Guarantee, Count)> {
        let parts: BTreeSet<_> =
            self.releases.iter().filter_map(|r| r.partition.as_ref()).collect();
        let first = self.releases.first()?;
        let alike = |release: &Release| {
            let whole = release.sample.as_ref().is_none_or(|sample| sample.rate.get() >= 1.0);
            whole && release.mechanism == first.mechanism
        };
        let Mechanism::ApproxDp(guarantee) = first.mechanism else { return None };
        if self.group.get() > 1 || parts.len() > 1 || !self.releases.iter().all(alike) {
            return None;
        }
        let count = self.releases.iter().try_fold(0_u64, |sum, r| sum.checked_add(r.count.get()));
        Some((guarantee, Count::new(count?).ok()?))
    }

    /// The exact number of the plan's question.
    #[must_use]
    pub fn exact_question_number(&self) -> Option<Ratio> {
        let double = match self.question? {
            Question::EpsilonAt(delta) => delta.get(),
            Question::DeltaAt(epsilon) => epsilon.get(),
        };
        Some(exact_or_double(self.exact_question.as_ref(), double))
    }
}

/// The exact number if the double is nearest to it, else the double.
fn exact_or_double(written: Option<&ExactNumber>, double: f64) -> Ratio {
    match written {
        Some(number) if number.nearest.to_bits() == double.to_bits() => number.exact.clone(),
        _ => from_double(double),
    }
}

impl Release {
    /// The exact number of a field, if no double equals it.
    pub(crate) fn exact(&self, field: &str) -> Option<&ExactNumber> {
        self.exact_numbers.iter().find(|(name, _)| &**name == field).map(|(_, number)| number)
    }

    /// Returns the guarantee of the release for a group of people, if it is an epsilon and a delta and nothing else: g
    /// epsilon for g people, and a delta if epsilon or delta is zero (theory 7.6).
    fn guarantee(&self, group: u64) -> Option<PreciseGuarantee> {
        if self.sample.as_ref().is_some_and(|sample| sample.rate.get() < 1.0) {
            return None;
        }
        let number = |field: &str, double: f64| exact_or_double(self.exact(field), double);
        let alone = |epsilon: Ratio| (group == 1).then_some((epsilon, Ratio::ZERO));
        let people = Ratio::from(group);
        let (epsilon, delta) = match &self.mechanism {
            Mechanism::ApproxDp(guarantee) => {
                let epsilon = number("epsilon", guarantee.epsilon.get());
                let delta = number("delta", guarantee.delta.get());
                if group > 1 && !epsilon.is_zero() && !delta.is_zero() {
                    return None;
                }
                (epsilon * &people, delta * &people)
            }
            Mechanism::NameAndShame { delta } => {
                (Ratio::ZERO, number("delta", delta.get()) * &people)
            }
            Mechanism::RandomizedResponse { epsilon, .. }
            | Mechanism::Staircase { epsilon, .. }
                if is_guarantee(&self.mechanism) =>
            {
                alone(number("epsilon", epsilon.get()))?
            }
            Mechanism::SparseVector { threshold, queries }
            | Mechanism::AboveThreshold { threshold, queries }
                if is_guarantee(&self.mechanism) =>
            {
                alone(
                    number("epsilon_threshold", threshold.get())
                        + number("epsilon_queries", queries.get()),
                )?
            }
            Mechanism::Geometric { scale, .. } if is_guarantee(&self.mechanism) => {
                alone(Ratio::ONE / number("scale", scale.get()))?
            }
            _ => return None,
        };
        Some(PreciseGuarantee { epsilon, delta, count: self.count.get() })
    }
}

/// From this epsilon on a staircase counts as randomized response (theory 5.7).
const LONGEST_STAIRCASE: f64 = 500.0;

/// True if a mechanism is a randomized response, a leak or both: then its numbers are kept exactly.
pub(super) fn is_guarantee(mechanism: &Mechanism) -> bool {
    match mechanism {
        Mechanism::ApproxDp(_) | Mechanism::NameAndShame { .. } => true,
        Mechanism::SparseVector { .. } => true,
        Mechanism::AboveThreshold { threshold, queries } => {
            threshold.get() <= 0.0 || queries.get() <= 0.0
        }
        Mechanism::RandomizedResponse { buckets, .. } => buckets.get() == 2,
        Mechanism::Geometric { sensitivity, .. } => sensitivity.get() == 1,
        Mechanism::Staircase { epsilon, .. } => epsilon.get() >= LONGEST_STAIRCASE,
        _ => false,
    }
}
