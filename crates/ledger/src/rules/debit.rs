//! Charges for new accounts and for releases, and the balances after them.

use counterpoint_budget::{Amount, Charge, Currency, Filter, is_within_part};
use counterpoint_wire::ledger::{
    Cost, PlanRecord, PromiseRecord, ReleaseRecord, ReleaseRequest, Rule,
};

use super::error::{LedgerError, Refusal, Result, damaged};
use super::limits::MAX_RELEASES_PER_KEY;
use super::query::query;
use super::rows::{Account, Balance, QuotaRow, Slot, releases};
use super::{name, slots};

/// The promise of an account with this rule as a whole, for which its data set is charged.
pub(crate) fn promise_of_rule(rule: &Rule) -> Option<PromiseRecord> {
    match rule {
        Rule::Plan(PlanRecord { epsilon, delta, .. }) => {
            Some(PromiseRecord::ApproxDp { epsilon: epsilon.clone(), delta: delta.clone() })
        }
        Rule::Filter(filter) => Some(filter.promise.clone()),
        _ => None,
    }
}

/// The promise of an account with its present capacity. Moved budget changes the promise by the moved amount.
pub(crate) fn current_promise(account: &Account) -> Option<PromiseRecord> {
    let promised = promise_of_rule(&account.rule)?;
    let Rule::Filter(record) = &account.rule else { return Some(promised) };
    let (first, now) = (&record.capacity, &account.balance.capacity);
    let shifted = |total: &Amount, first: &Amount, now: &Amount| (total + now).checked_sub(first);
    Some(match promised {
        PromiseRecord::ApproxDp { epsilon, delta } => PromiseRecord::ApproxDp {
            epsilon: shifted(&epsilon, &first.main, &now.main)?,
            delta: shifted(&delta, &first.delta, &now.delta)?,
        },
        PromiseRecord::Zcdp { .. } => {
            PromiseRecord::Zcdp { rho: now.main.clone(), delta: now.delta.clone() }
        }
        PromiseRecord::Renyi { order, .. } => PromiseRecord::Renyi { order, tau: now.main.clone() },
        promised => promised,
    })
}

/// Charges a data set, once and in full, for an account that is opened with this rule. Returns the charge and the data
/// set's balance after it.
pub(crate) fn open(dataset: &Account, rule: &Rule) -> Result<(Cost, Balance)> {
    let filter = filter_of(dataset)?;
    let promise = promise_of_rule(rule).and_then(|promise| promise.promise());
    let promise = promise.ok_or_else(|| no_rule(&dataset.name))?;
    let charge = cost(&filter, filter.charge_account(&promise)?);
    let place = format!("data set {:?}", dataset.name);
    let balance = charge_by_filter(&filter, &dataset.balance, &charge, &place)?;
    Ok((charge, balance))
}

/// The charge of a release, and the balances and the slot's uses after it.
#[derive(Debug, PartialEq)]
pub(crate) struct Debit {
    pub(crate) charge: Cost,
    pub(crate) account: Balance,
    pub(crate) quota: Option<Balance>,
    pub(crate) used: Option<u64>,
}

/// The charge of a release under a version of the format. It depends on the description alone, and in a plan account on
/// the declaration of its slot.
pub(crate) fn price(
    account: &Account,
    slot: Option<&Slot>,
    asked: &ReleaseRequest,
    format: u64,
) -> Result<Cost> {
    if asked.releases().len() > MAX_RELEASES_PER_KEY {
        let problem = format!("is asked for {} releases under one key", asked.releases().len());
        return Err(account.unfit(&problem, "1 to 1000"));
    }
    for label in asked.releases().iter().filter_map(ReleaseRecord::part) {
        name::check_label("partition", label)?;
    }
    match (&account.rule, asked) {
        (Rule::Filter(_), ReleaseRequest::Described(list)) => price_together(account, list, format),
        (Rule::Plan(_), ReleaseRequest::Slot { name, count: 0, .. }) => {
            Err(account.unfit(&format!("slot {name:?}, 0 times"), "a count from 1"))
        }
        (Rule::Plan(_), ReleaseRequest::Slot { count, run, .. }) => {
            if !run.is_empty() {
                let slot = slot.ok_or_else(|| no_rule(&account.name))?;
                slots::check_runs_covered(account, slot, *count, run, format)?;
            }
            Ok(releases(*count))
        }
        (Rule::Plan(_), _) => Err(account.unfit("is a plan account", "the name of a slot")),
        _ => Err(account.unfit("is an open account", "a file with releases")),
    }
}

/// A charge as it is stored. It has a sum of pure epsilons only where the account's capacity has one.
fn cost(filter: &Filter, charge: Charge) -> Cost {
    let pure = charge.pure.filter(|_| filter.capacity().pure.is_some());
    Cost { main: charge.main, delta: charge.delta, pure }
}

/// The sum of the charges of several releases. Each must be about the account's part of the data.
fn price_together(account: &Account, list: &[ReleaseRecord], format: u64) -> Result<Cost> {
    if list.is_empty() {
        return Err(account.unfit("is asked for no releases", "1 to 1000"));
    }
    let filter = filter_of(account)?;
    let mut total = Charge::default();
    for described in list {
        let query = query(account.relation, described, format)?;
        is_within_part(account.part.as_deref(), &query)?;
        total = total.plus(&filter.charge(&query)?);
    }
    Ok(cost(&filter, total))
}

/// Refuses an account that is closed.
pub(crate) fn check_open(account: &Account) -> Result<()> {
    match account.closed {
        None => Ok(()),
        Some(_) => Err(account.unfit("is closed", "an open account")),
    }
}

/// Refuses a charge that does not fit the slot, the quota or the account, checked in this order. Returns the balances
/// after the charge.
pub(crate) fn reserve(
    account: &Account,
    slot: Option<&Slot>,
    quota: Option<&QuotaRow>,
    asked: &ReleaseRequest,
    charge: Cost,
) -> Result<Debit> {
    check_open(account)?;
    let used = match (asked, slot) {
        (ReleaseRequest::Slot { count, .. }, Some(slot)) => {
            Some(slots::uses_after(account, slot, *count)?)
        }
        _ => None,
    };
    let unit = || {
        let unit = account.unit();
        account.filter().map_or(unit.to_owned(), |filter| total_name(filter.currency(), unit))
    };
    let spent_of = |quota: &QuotaRow| {
        let place = format!("the quota of {:?} in account {:?}", quota.analyst, account.name);
        charge_by_totals(&quota.balance, &charge, &place, &unit)
    };
    let quota = quota.map(spent_of).transpose()?;
    let place = format!("account {:?}", account.name);
    let balance = match account.rule {
        Rule::Filter(_) => {
            charge_by_filter(&filter_of(account)?, &account.balance, &charge, &place)?
        }
        _ => charge_by_totals(&account.balance, &charge, &place, &unit)?,
    };
    Ok(Debit { charge, account: balance, quota, used })
}

/// Reserves one opening of a slot for an account that is opened in it.
pub(crate) fn open_within(account: &Account, slot: &Slot) -> Result<Debit> {
    let asked = ReleaseRequest::Slot { name: slot.name.clone(), count: 1, run: Vec::new() };
    reserve(account, Some(slot), None, &asked, releases(1))
}

/// The balance after a charge that the filter admits. The spent amount has a sum of pure epsilons where the charges
/// have one.
fn charge_by_filter(
    filter: &Filter,
    balance: &Balance,
    charge: &Cost,
    place: &str,
) -> Result<Balance> {
    let admitted = filter.admit(&balance.spent.clone().into(), &charge.clone().into());
    let spent = admitted.map_err(|refused| {
        let what = total_name(filter.currency(), refused.what);
        Refusal::new(place.to_owned(), what, [refused.asked, refused.left, refused.capacity])
    })?;
    Ok(balance.after_charge(spent.into()))
}

/// The name of a total. Divergences are named with their order.
fn total_name(currency: Currency, what: &str) -> String {
    match currency {
        Currency::Renyi { order } if what == currency.unit() => {
            format!("{what} at order {}", order.get())
        }
        _ => what.to_owned(),
    }
}

/// The balance after a charge, for a slot account or a quota: totals are compared, and no filter is asked.
fn charge_by_totals(
    balance: &Balance,
    charge: &Cost,
    place: &str,
    unit: &dyn Fn() -> String,
) -> Result<Balance> {
    let (Balance { capacity, spent, .. }, after) = (balance, balance.plus(charge));
    if after.is_within_capacity() {
        return Ok(after);
    }
    let (what, capacity, spent, asked) = if after.spent.main > capacity.main {
        (unit(), &capacity.main, &spent.main, &charge.main)
    } else {
        ("delta".to_owned(), &capacity.delta, &spent.delta, &charge.delta)
    };
    let left = capacity.checked_sub(spent).unwrap_or_default();
    Err(Refusal::new(place.to_owned(), what, [asked.clone(), left, capacity.clone()]).into())
}

fn filter_of(account: &Account) -> Result<Filter> {
    account.filter().ok_or_else(|| no_rule(&account.name))
}

fn no_rule(account: &str) -> LedgerError {
    damaged(format_args!("account {account:?} has no filter"))
}
