//! Recuts: unused openings of a plan account's slots are exchanged for new slots.

use std::collections::BTreeSet;

use counterpoint::quantity::Count;
use counterpoint_budget::Amount;
use counterpoint_wire::ledger::{self as wire, Openings};

use super::error::{LedgerError, Result};
use super::query::times;
use super::rows::{Account, Balance, Slot};
use super::slots::{all_openings, format_of, plan, uncovered, uses_after};

/// Checks that at least one opening is given, and each slot is named once.
pub(crate) fn check(account: &str, openings: &[Openings]) -> Result<()> {
    let names: BTreeSet<&str> = openings.iter().map(|one| one.slot.as_str()).collect();
    let problem = match openings {
        [] => "gives no openings",
        _ if names.len() < openings.len() => "gives openings of a slot twice",
        _ if openings.iter().any(|one| one.count == 0) => "gives no openings of a slot",
        _ => return Ok(()),
    };
    let (account, problem) = (account.to_owned(), problem.to_owned());
    Err(LedgerError::Unfit { account, problem, legal: "slots, each with a count from 1" })
}

/// Checks that unused openings of slots dominate new slots, all together.
pub(crate) fn check_domination(
    account: &Account,
    unused: &[(Slot, u64)],
    into: &[wire::Slot],
) -> Result<()> {
    let format = format_of(&account.rule);
    // The queries of each slot, and the number of its openings that are given up.
    let (mut declared, mut openings) = (Vec::new(), Vec::new());
    for (slot, count) in unused {
        let total = Count::new(slot.total)?;
        let opening = slot.release.opening_queries(format)?;
        for (one, all) in opening.iter().zip(times(opening.clone(), total)?) {
            let given = one.count().get().saturating_mul(*count);
            openings.push((declared.len(), given));
            declared.push(all);
        }
    }
    let wanted = all_openings(into, account.relation, format)?;
    let mut plan = plan(account.relation, declared)?;
    plan.recut(&openings, wanted).map_err(|error| uncovered(account, error))?;
    Ok(())
}

/// The uses of each slot and the balance of the account after a recut.
pub(crate) fn recut(
    account: &Account,
    unused: &[(Slot, u64)],
    into: &[wire::Slot],
) -> Result<(Vec<u64>, Balance)> {
    let used: Result<Vec<u64>> =
        unused.iter().map(|(slot, count)| uses_after(account, slot, *count)).collect();
    let sum = |start: &Amount, counts: &mut dyn Iterator<Item = u64>| {
        counts.fold(start.clone(), |sum, count| &sum + &Amount::from(count))
    };
    let mut balance = account.balance.clone();
    balance.spent.main = sum(&balance.spent.main, &mut unused.iter().map(|(_, count)| *count));
    balance.capacity.main = sum(&balance.capacity.main, &mut into.iter().map(|slot| slot.count));
    Ok((used?, balance))
}
