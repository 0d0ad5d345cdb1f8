//! What slots of a plan account may be used for: the seam to the core's declared plans. The same
//! functions decide now and when the history is verified.

use counterpoint::filter::{Amount, Filter, OpenError, PlanAccount, Query, Terms, covers};
use counterpoint::quantity::Count;
use counterpoint_wire::ledger::{self as wire, Described, Rule};

use crate::error::LedgerError;
use crate::rows::{Account, Balance, Slot};
use crate::rules;

/// Whether a slot, opened so many times, dominates what is run in it each time. Releases that
/// are run together take one opening.
pub(crate) fn runs(
    account: &Account,
    slot: &Slot,
    count: u64,
    run: &[Described],
) -> Result<(), LedgerError> {
    let declared = slot.release.query()?;
    let query = |one: &Described| rules::query(account.relation, one);
    let queries: Vec<Query> = run.iter().map(query).collect::<Result<_, _>>()?;
    // More openings than there can be are refused later, by the slot's balance.
    let count = Count::new(count.min(slot.total)).unwrap_or(Count::ONE);
    let queries = match queries.as_slice() {
        _ if count == Count::ONE => queries,
        [one] if one.count() == Count::ONE => vec![one.clone().times(count)],
        _ => {
            let problem = format!("would run several releases in each of {} openings", count.get());
            let legal = "one release each time, or several in one opening";
            return Err(rules::unfit(account, &problem, legal));
        }
    };
    let terms = Terms::new(account.relation.adjacency());
    let covered = covers(&[declared.times(count)], &queries, terms);
    covered.map(drop).map_err(|error| uncovered(account, error.into()))
}

/// Whether one opening of a slot dominates all that an open account promises.
pub(crate) fn holds(account: &Account, slot: &Slot, filter: &Filter) -> Result<(), LedgerError> {
    let mut plan = plan(account, vec![slot.release.query()?])?;
    plan.open_filter(0, filter).map_err(|error| uncovered(account, error))?;
    Ok(())
}

/// Whether so many openings of slots dominate new slots, all together.
pub(crate) fn dominate(
    account: &Account,
    unused: &[(Slot, u64)],
    into: &[wire::Slot],
) -> Result<(), LedgerError> {
    let declared: Result<Vec<Query>, _> =
        unused.iter().map(|(slot, _)| slot.release.query()).collect();
    let query = |slot: &wire::Slot| rules::query(account.relation, &slot.release);
    let wanted: Result<Vec<Query>, LedgerError> = into.iter().map(query).collect();
    let openings: Vec<(usize, u64)> =
        unused.iter().enumerate().map(|(index, (_, count))| (index, *count)).collect();
    let mut plan = plan(account, declared?)?;
    plan.recut(&openings, wanted?).map_err(|error| uncovered(account, error))?;
    Ok(())
}

/// What a recut leaves: how often each slot is used then, and the account's balance.
pub(crate) fn recut(
    account: &Account,
    unused: &[(Slot, u64)],
    into: &[wire::Slot],
) -> Result<(Vec<u64>, Balance), LedgerError> {
    let used: Result<Vec<u64>, LedgerError> =
        unused.iter().map(|(slot, count)| rules::opened(account, slot, *count)).collect();
    let sum = |start: &Amount, counts: &mut dyn Iterator<Item = u64>| {
        counts.fold(start.clone(), |sum, count| &sum + &Amount::from(count))
    };
    let mut balance = account.balance.clone();
    balance.spent.main = sum(&balance.spent.main, &mut unused.iter().map(|(_, count)| *count));
    balance.capacity.main = sum(&balance.capacity.main, &mut into.iter().map(|slot| slot.count));
    Ok((used?, balance))
}

/// Slots are opened by hand, not shared out: an account with quotas is left as it is.
pub(crate) fn unshared(account: &Account) -> Result<(), LedgerError> {
    match account.rule {
        Rule::Plan(_) if account.quotas == 0 => Ok(()),
        Rule::Plan(_) => Err(rules::unfit(account, "has quotas", "a plan account without")),
        _ => Err(rules::unfit(account, "is an open account", "a plan account")),
    }
}

fn plan(account: &Account, declared: Vec<Query>) -> Result<PlanAccount, LedgerError> {
    PlanAccount::new(declared, Terms::new(account.relation.adjacency()))
        .map_err(|error| LedgerError::Uncertified(error.to_string()))
}

fn uncovered(account: &Account, error: OpenError) -> LedgerError {
    LedgerError::Uncovered { account: account.name.clone(), error: Box::new(error) }
}
