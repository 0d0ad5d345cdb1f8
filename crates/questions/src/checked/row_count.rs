//! The number of rows behind an answer: public, or a noisy count that several answers share.

use super::measurement::{Spend, cannot_be_measured, noisy_query};
use super::{CheckedAggregate, CheckedQuestion};
use crate::error::QuestionError;
use crate::question::Condition;
use counterpoint_mechanisms::{Contribution, Measurement, Query, Style};

impl CheckedQuestion {
    /// The approximate number of rows behind an aggregate's answer, if it is public.
    #[must_use]
    pub fn public_rows(&self, aggregate: &CheckedAggregate) -> Option<u64> {
        let all =
            self.filter.is_none() && self.group_columns.is_empty() && !aggregate.skips_missing;
        self.people.filter(|_| all)
    }

    /// The question that counts the rows behind an aggregate's answer, in each group: `SELECT COUNT(*)` of the same
    /// rows, with `(condition) AND column IS NOT NULL`. `None` where the number is public, where people are counted,
    /// and where the two questions could use different rows of a person.
    #[must_use]
    pub fn row_count_question(&self, aggregate: &CheckedAggregate) -> Option<Self> {
        let differ =
            self.chooses_rows && (aggregate.skips_missing || !self.group_columns.is_empty());
        let is_public = self.group_columns.is_empty()
            && self.contribution_to(aggregate).is_ok_and(|contribution| match contribution {
                Contribution::Rows(relation) => relation.is_length_public(),
                Contribution::Groups(..) => false,
            });
        if aggregate.counts_people || differ || is_public {
            return None;
        }
        let present = |column: &String| {
            Condition::Not(Box::new(Condition::Missing { column: column.clone() }))
        };
        let mut required: Vec<&String> = aggregate.required.iter().collect();
        required.sort();
        required.dedup();
        let mut all: Vec<Condition> = self.filter.iter().cloned().collect();
        all.extend(required.into_iter().map(present));
        let filter = if all.len() > 1 { Some(Condition::All(all)) } else { all.pop() };
        let count = CheckedAggregate {
            name: "count".to_owned(),
            query: Query::count(),
            column: None,
            others: Vec::new(),
            indicator: None,
            counts_people: false,
            skips_missing: false,
            required: Vec::new(),
        };
        let uses_every_row = self.uses_every_row && !aggregate.skips_missing;
        Some(Self { filter, aggregates: vec![count], uses_every_row, ..self.clone() })
    }

    /// The measurement of an aggregate that takes its number of rows from another measurement, `count`.
    ///
    /// # Errors
    /// [`QuestionError`] unless the question has exactly one aggregate, and this aggregate can use such a count.
    pub fn measurement_with_count(
        &self,
        style: Style,
        count: &Measurement,
    ) -> Result<Measurement, QuestionError> {
        let [aggregate] = self.aggregates.as_slice() else {
            return Err(QuestionError::new(
                "aggregates",
                format!("are {}", self.aggregates.len()),
                "1",
            ));
        };
        let noisy_query = noisy_query(aggregate, Spend::Style(style), 1.0);
        let made = noisy_query.and_then(|noisy_query| {
            noisy_query.bounded_with_count(self.contribution_to(aggregate)?, count)
        });
        made.map_err(|error| cannot_be_measured(aggregate, &error))
    }
}
