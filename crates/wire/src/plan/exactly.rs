//! Plans of (epsilon, delta) guarantees with their numbers as they are written: what arbitrary precision is about.

use std::collections::BTreeSet;

use counterpoint::ask::PreciseGuarantee;
use counterpoint::ask::PrecisePlan;
use counterpoint::{Count, Guarantee, Mechanism};
use counterpoint_numerics::fractions::{ExactError, Ratio, of_double};

use super::{Plan, Question, Release};
use crate::text::written::Written;

impl Plan {
    /// The plan with its numbers as they are written, in quotes or read by [`Plan::parse_exactly`], and else as the doubles they
    /// are; `None` unless it is one of (epsilon, delta) guarantees alone.
    ///
    /// # Errors
    /// [`ExactError`] for numbers that are out of range.
    pub fn exactly(&self) -> Result<Option<PrecisePlan>, ExactError> {
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

    /// The guarantee that all releases have alike, and how many there are; `None` if they differ, or are anything else.
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

    /// The number of the plan's question, as it is written.
    #[must_use]
    pub fn asked_exactly(&self) -> Option<Ratio> {
        let double = match self.question? {
            Question::EpsilonAt(delta) => delta.get(),
            Question::DeltaAt(epsilon) => epsilon.get(),
        };
        Some(written_or(self.asked.as_ref(), double))
    }
}

/// What is written, as long as the double is next to it; else the double.
fn written_or(written: Option<&Written>, double: f64) -> Ratio {
    match written {
        Some(number) if number.nearest.to_bits() == double.to_bits() => number.exact.clone(),
        _ => of_double(double),
    }
}

impl Release {
    /// A number as it is written, where that is no double.
    pub(crate) fn exact(&self, field: &str) -> Option<&Written> {
        self.written.iter().find(|(name, _)| &**name == field).map(|(_, number)| number)
    }

    /// What it promises, if that is an epsilon and a delta and nothing else, for so many people together: g epsilon for g of them, and
    /// a delta if there is no epsilon or nothing to grow (theory 7.6).
    fn guarantee(&self, group: u64) -> Option<PreciseGuarantee> {
        if self.sample.as_ref().is_some_and(|sample| sample.rate.get() < 1.0) {
            return None;
        }
        let number = |field: &str, double: f64| written_or(self.exact(field), double);
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

/// From here on a staircase counts as randomized response (theory 5.7).
const LONGEST_STAIRCASE: f64 = 500.0;

/// Whether a mechanism is a randomized response, a leak or both, so that its numbers are kept as they are written.
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
