//! New accounts, and the rules that are recorded for them.

use counterpoint::{Adjacency, Relation};
use counterpoint_budget::Amount;
use counterpoint_wire::ledger::{ExactPlan, Rule};
use counterpoint_wire::{Question, adjacency_name};

use super::error::{Result, unfit_plan};
use super::filter::NewFilter;
use super::slots;

/// The kind of a new account.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NewAccount {
    /// A plan account: slots declared up front. The question, if given, replaces the plan's.
    Plan(ExactPlan, Option<(Question, Amount)>),
    /// An open account: a filter admits releases that are chosen adaptively.
    Filter(NewFilter),
}

/// Makes the rule of a new account.
pub(crate) fn rule(new: &NewAccount, relation: Relation) -> Result<Rule> {
    match new {
        NewAccount::Filter(filter) => Ok(Rule::Filter(filter.record(relation.adjacency())?)),
        NewAccount::Plan(plan, question) => {
            check_plan(plan, relation)?;
            let question = question.as_ref().or(plan.question.as_ref()).ok_or_else(|| {
                let legal = "delta or epsilon in the plan, or --delta or --epsilon";
                unfit_plan("asks no question".to_owned(), legal)
            })?;
            Ok(Rule::Plan(slots::certify(question, slots::declared(plan)?, relation)?))
        }
    }
}

/// Refuses a plan about another neighbouring relation, or about groups of several people.
pub(crate) fn check_plan(plan: &ExactPlan, relation: Relation) -> Result<()> {
    check_relation(plan.adjacency, None, relation)?;
    match plan.group {
        1 => Ok(()),
        group => Err(unfit_plan(format!("has group {group}"), "group 1")),
    }
}

/// Refuses a plan or request that states another neighbouring relation than its data set.
pub(crate) fn check_relation(
    adjacency: Option<Adjacency>,
    records: Option<u64>,
    dataset: Relation,
) -> Result<()> {
    let problem = match (adjacency, records) {
        (Some(other), _) if other != dataset.adjacency() => {
            let [other, own] = [other, dataset.adjacency()].map(adjacency_name);
            format!("has adjacency {other}, and the data set has {own}")
        }
        (_, Some(other)) if other != dataset.records() => {
            format!("has {other} records per person, and the data set has {}", dataset.records())
        }
        _ => return Ok(()),
    };
    Err(unfit_plan(problem, "that of the data set, or none"))
}
