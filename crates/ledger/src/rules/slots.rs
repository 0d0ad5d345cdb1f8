//! The certified cost of declared slots together, and the releases that they cover.

use std::collections::BTreeSet;

use counterpoint::quantity::{Count, Delta, Epsilon};
use counterpoint::{Options, Relation};
use counterpoint_budget::{
    Amount, Filter, GRID_PLACES, OpenError, PlanAccount, Query, Terms, covers,
};
use counterpoint_wire::Question;
use counterpoint_wire::ledger::{self as wire, ExactPlan, PlanRecord, ReleaseRecord, Rule};

use super::error::{LedgerError, Refusal, Result, unfit_plan};
use super::limits::{FORMAT, MAX_SLOTS};
use super::name;
use super::query::{opening, query, times};
use super::rows::{Account, Slot};

/// The last version of the format in which plans did not say how their slots are read.
const LAST_UNVERSIONED_FORMAT: u64 = 3;

/// The releases of a plan as slots, each with a name of its own.
pub(crate) fn declared(plan: &ExactPlan) -> Result<Vec<wire::Slot>> {
    if plan.releases.len() > MAX_SLOTS {
        let problem = format!("has {} releases", plan.releases.len());
        return Err(unfit_plan(problem, "at most 100000, each with a count"));
    }
    let mut names = BTreeSet::new();
    let slot = |(index, release): (usize, &ReleaseRecord)| {
        let name = release.name().map_or_else(|| (index + 1).to_string(), str::to_owned);
        name::check_label("slot", &name)?;
        release.part().map_or(Ok(()), |part| name::check_label("partition", part))?;
        if !names.insert(name.clone()) {
            let problem = format!("names two releases {name:?}");
            return Err(unfit_plan(problem, "a name of its own for each"));
        }
        let count = release.count()?;
        Ok(wire::Slot { name, count, release: release.clone() })
    };
    plan.releases.iter().enumerate().map(slot).collect()
}

/// Certifies the cost of all slots together by optimal composition, at the given delta or epsilon, which is rounded to
/// the safe side.
pub(crate) fn certify(
    question: &(Question, Amount),
    slots: Vec<wire::Slot>,
    relation: Relation,
) -> Result<PlanRecord> {
    let plan = composed(&slots, relation, FORMAT)?;
    let (format, (question, given)) = (Some(FORMAT), question);
    let options = Options::default();
    let found = match question {
        Question::EpsilonAt(_) => plan.epsilon(Delta::new(given.lower())?, &options),
        Question::DeltaAt(_) => plan.delta(Epsilon::new(given.lower())?, &options),
    };
    let found = found.map_err(|error| LedgerError::Uncertified(error.to_string()))?;
    let upper = Amount::from_f64(found.bracket.upper)
        .ok_or_else(|| LedgerError::Uncertified("the cost is not finite".to_owned()))?;
    Ok(match question {
        // Deltas may be far below the grid, so they are not rounded to it.
        Question::DeltaAt(_) => PlanRecord { epsilon: given.clone(), delta: upper, slots, format },
        Question::EpsilonAt(_) => {
            PlanRecord { epsilon: upper.ceil(GRID_PLACES), delta: given.clone(), slots, format }
        }
    })
}

/// True if a plan's slots are read by the rules of this version of the format.
pub(crate) fn has_format(plan: &PlanRecord, format: u64) -> bool {
    plan.format.unwrap_or(LAST_UNVERSIONED_FORMAT) == format.max(LAST_UNVERSIONED_FORMAT)
}

/// The version of the format by whose rules the slots of an account are read.
pub(crate) fn format_of(rule: &Rule) -> u64 {
    match rule {
        Rule::Plan(plan) => plan.format.unwrap_or(LAST_UNVERSIONED_FORMAT),
        _ => LAST_UNVERSIONED_FORMAT,
    }
}

/// True if the slots are known to cost more than a stored plan says.
pub(crate) fn is_understated(plan: &PlanRecord, relation: Relation) -> Result<bool> {
    let composed = composed(&plan.slots, relation, plan.format.unwrap_or(LAST_UNVERSIONED_FORMAT))?;
    let found = composed.delta(Epsilon::new(plan.epsilon.upper())?, &Options::default());
    let found = found.map_err(|error| LedgerError::Uncertified(error.to_string()))?;
    Ok(Amount::from_f64(found.bracket.lower).is_none_or(|lower| lower > plan.delta))
}

/// The plan account that declares these slots, in a data set with this relation.
fn composed(slots: &[wire::Slot], relation: Relation, format: u64) -> Result<PlanAccount> {
    plan(relation, all_openings(slots, relation, format)?)
}

/// The queries of all openings of slots.
pub(crate) fn all_openings(
    slots: &[wire::Slot],
    relation: Relation,
    format: u64,
) -> Result<Vec<Query>> {
    let mut queries = Vec::with_capacity(slots.len());
    for slot in slots {
        let count = Count::new(slot.release.count()?)?;
        queries.extend(times(opening(relation, &slot.release, format)?, count)?);
    }
    Ok(queries)
}

/// Checks that `count` openings of a slot dominate the releases that run in them: one release in each opening, or
/// several releases together in one opening.
pub(crate) fn check_runs_covered(
    account: &Account,
    slot: &Slot,
    count: u64,
    run: &[ReleaseRecord],
    format: u64,
) -> Result<()> {
    let declared = slot.release.opening_queries(format_of(&account.rule))?;
    let query = |one: &ReleaseRecord| query(account.relation, one, format);
    let queries: Vec<Query> = run.iter().map(query).collect::<Result<_, _>>()?;
    // If there are not so many openings, the slot's balance refuses the request later.
    let count = Count::new(count.min(slot.total)).unwrap_or(Count::ONE);
    let queries = match queries.as_slice() {
        _ if count == Count::ONE => queries,
        [one] if one.count() == Count::ONE => vec![one.clone().times(count)],
        _ => {
            let problem = format!("would run several releases in each of {} openings", count.get());
            let legal = "one release each time, or several in one opening";
            return Err(account.unfit(&problem, legal));
        }
    };
    let terms = Terms::new(account.relation.adjacency());
    let covered = covers(&times(declared, count)?, &queries, terms);
    covered.map(drop).map_err(|error| uncovered(account, error.into()))
}

/// The filter of a stored rule.
pub(crate) fn filter_of_rule(parent: &Account, rule: &Rule) -> Result<Filter> {
    let filter = match rule {
        Rule::Filter(record) => record.filter(parent.relation.adjacency()),
        _ => None,
    };
    filter.ok_or_else(|| {
        parent.unfit("can hold only open accounts in its slots", "--filter, not --plan")
    })
}

/// Checks that one opening of a slot dominates the whole promise of an open account.
pub(crate) fn check_promise_covered(account: &Account, slot: &Slot, filter: &Filter) -> Result<()> {
    let opening = slot.release.opening_queries(format_of(&account.rule))?;
    if opening.len() > 1 {
        return Err(account.unfit("has several releases in the slot", "a slot of one release"));
    }
    let mut plan = plan(account.relation, opening)?;
    plan.open_filter(0, filter).map_err(|error| uncovered(account, error))?;
    Ok(())
}

/// The uses of a slot after `count` more openings.
pub(crate) fn uses_after(account: &Account, slot: &Slot, count: u64) -> Result<u64> {
    let left = slot.total.saturating_sub(slot.used);
    if count <= left {
        return Ok(slot.used + count);
    }
    let place = format!("slot {:?} of account {:?}", slot.name, account.name);
    let (asked, left, capacity) = (count.into(), left.into(), slot.total.into());
    Err(Refusal::new(place, "uses".to_owned(), [asked, left, capacity]).into())
}

/// Refuses an account that is not a plan account, or has quotas: such an account cannot recut slots or hold accounts in
/// them.
pub(crate) fn check_plan_without_quotas(account: &Account) -> Result<()> {
    match account.rule {
        Rule::Plan(_) if account.quotas == 0 => Ok(()),
        Rule::Plan(_) => Err(account.unfit("has quotas", "a plan account without quotas")),
        _ => Err(account.unfit("is an open account", "a plan account")),
    }
}

pub(crate) fn plan(relation: Relation, declared: Vec<Query>) -> Result<PlanAccount> {
    PlanAccount::new(declared, Terms::new(relation.adjacency()))
        .map_err(|error| LedgerError::Uncertified(error.to_string()))
}

pub(crate) fn uncovered(account: &Account, error: OpenError) -> LedgerError {
    LedgerError::Uncovered { account: account.name.clone(), error: Box::new(error) }
}
