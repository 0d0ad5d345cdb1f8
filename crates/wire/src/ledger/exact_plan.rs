//! Plans whose amounts are read exactly.

use counterpoint::Adjacency;
use counterpoint_budget::Amount;

use super::release_record::{ReleaseRecord, text};
use crate::plan::{Format, NumberMode, Plan, Question, table_of};
use crate::text::error::PlanError;
use crate::text::fields::Fields;
use crate::text::value::Value;
use crate::text::written::amount;

/// A plan whose amounts are read exactly.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExactPlan {
    /// The question and its exact amount, if the file asks one.
    pub question: Option<(Question, Amount)>,
    /// The relation between neighbouring data sets, if the file names one.
    pub adjacency: Option<Adjacency>,
    /// The number of people who are protected together.
    pub group: u64,
    /// The releases.
    pub releases: Vec<ReleaseRecord>,
    /// Warnings that belong to the plan.
    pub warnings: Vec<String>,
}

impl ExactPlan {
    /// Reads a plan.
    ///
    /// # Errors
    /// [`PlanError`], as [`Plan::parse`], and for numbers that are not amounts.
    pub fn parse(bytes: &[u8], format: Format) -> Result<Self, PlanError> {
        let plan = Plan::parse(bytes, format)?;
        let mut fields = Fields::new(table_of(bytes, format, NumberMode::Texts)?);
        let exact = |question: Question| {
            let field = match question {
                Question::EpsilonAt(_) => "delta",
                Question::DeltaAt(_) => "epsilon",
            };
            let text = asked(&fields).and_then(text).unwrap_or_default();
            let amount = amount(&text).map_err(|e| PlanError::field(field, e.to_string()))?;
            Ok::<_, PlanError>((question, amount))
        };
        let question = plan.question.map(exact).transpose()?;
        let list = match fields.take("release") {
            Some(Value::List(list)) => list,
            _ => Vec::new(),
        };
        // Every release that was read must be charged.
        if list.len() != plan.releases.len() {
            return Err(PlanError::field("release", "is given in two ways; legal: one list"));
        }
        let described = |(index, (release, fields))| {
            let release: &crate::plan::Release = release;
            let described = match fields {
                _ if release.is_planned() => ReleaseRecord::from_planned(release),
                Value::Table(fields) => ReleaseRecord::from_fields(fields),
                _ => ReleaseRecord::from_release(&release.without_bundle()),
            };
            described.map_err(|error| error.in_release(index + 1, release.name.as_deref()))
        };
        let releases = plan.releases.iter().zip(list).enumerate().map(described);
        let (adjacency, group, warnings) = (plan.adjacency, plan.group.get(), plan.warnings());
        Ok(Self {
            question,
            adjacency,
            group,
            releases: releases.collect::<Result<_, _>>()?,
            warnings,
        })
    }
}

/// The value of the question: delta, epsilon, or the delta of the target.
fn asked<'f>(fields: &'f Fields<'_>) -> Option<&'f Value<'f>> {
    let of_target = || match fields.peek("target")? {
        Value::Table(target) => {
            target.iter().find(|(key, _)| key == "delta").map(|(_, value)| value)
        }
        _ => None,
    };
    fields.peek("delta").or_else(|| fields.peek("epsilon")).or_else(of_target)
}
