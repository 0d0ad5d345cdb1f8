//! New accounts: what they are to be, and the rule that is recorded of it.

use counterpoint::{Adjacency, Relation};
use counterpoint_budget::Amount;
use counterpoint_wire::ledger::{ExactPlan, Rule};
use counterpoint_wire::{Question, adjacency_name};

use super::error::{Result, unfit_plan};
use super::filter::NewFilter;
use super::slots;

/// What kind of account is to be opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NewAccount {
    /// Slots declared up front. The question, if given, replaces the plan's.
    Plan(ExactPlan, Option<(Question, Amount)>),
    /// Releases chosen as one goes.
    Filter(NewFilter),
}

/// The rule of a new account.
pub(crate) fn rule(new: &NewAccount, relation: Relation) -> Result<Rule> {
    match new {
        NewAccount::Filter(filter) => Ok(Rule::Filter(filter.record(relation.adjacency())?)),
        NewAccount::Plan(plan, question) => {
            is_about(plan, relation)?;
            let question = question.as_ref().or(plan.question.as_ref()).ok_or_else(|| {
                let legal = "delta or epsilon in the plan, or --delta or --epsilon";
                unfit_plan("nothing is asked".to_owned(), legal)
            })?;
            Ok(Rule::Plan(slots::certify(question, slots::declared(plan)?, relation)?))
        }
    }
}

/// Whether a plan is about data with a relation, one person at a time.
pub(crate) fn is_about(plan: &ExactPlan, relation: Relation) -> Result<()> {
    agree(plan.adjacency, None, relation)?;
    match plan.group {
        1 => Ok(()),
        group => Err(unfit_plan(format!("group is {group}"), "1")),
    }
}

/// A plan or a request may not speak of another neighbouring relation than its data set.
pub(crate) fn agree(
    adjacency: Option<Adjacency>,
    records: Option<u64>,
    dataset: Relation,
) -> Result<()> {
    let problem = match (adjacency, records) {
        (Some(other), _) if other != dataset.adjacency() => {
            format!("adjacency is {}", adjacency_name(other))
        }
        (_, Some(other)) if other != dataset.records() => format!("records a person are {other}"),
        _ => return Ok(()),
    };
    Err(unfit_plan(problem, "that of the data set, or none"))
}
