//! What may be opened and reserved, and what it costs.

use counterpoint_budget::{Amount, Charge, Currency, Filter, is_within_part};
use counterpoint_wire::ledger::{Asked, Cost, Described, PlanRecord, Promised, Rule};

use super::error::{LedgerError, Refusal, Result, damaged};
use super::limits::MOST_TOGETHER;
use super::query::query;
use super::rows::{Account, Balance, Share, Slot, releases};
use super::{name, slots};

/// What an account promises as a whole, which is what it costs its data set.
pub(crate) fn promise(rule: &Rule) -> Option<Promised> {
    match rule {
        Rule::Plan(PlanRecord { epsilon, delta, .. }) => {
            Some(Promised::ApproxDp { epsilon: epsilon.clone(), delta: delta.clone() })
        }
        Rule::Filter(filter) => Some(filter.promise.clone()),
        _ => None,
    }
}

/// What an account promises with what it has to spend now: of what was moved to it or from it so much more or less.
pub(crate) fn promise_of(account: &Account) -> Option<Promised> {
    let promised = promise(&account.rule)?;
    let Rule::Filter(record) = &account.rule else { return Some(promised) };
    let (first, now) = (&record.capacity, &account.balance.capacity);
    let shifted = |total: &Amount, first: &Amount, now: &Amount| (total + now).less(first);
    Some(match promised {
        Promised::ApproxDp { epsilon, delta } => Promised::ApproxDp {
            epsilon: shifted(&epsilon, &first.main, &now.main)?,
            delta: shifted(&delta, &first.delta, &now.delta)?,
        },
        Promised::Zcdp { .. } => Promised::Zcdp { rho: now.main.clone(), delta: now.delta.clone() },
        Promised::Renyi { order, .. } => Promised::Renyi { order, tau: now.main.clone() },
        promised => promised,
    })
}

/// Opening an account is one charge to the data set, in full: the charge, and the data set's
/// balance after it.
pub(crate) fn open(dataset: &Account, rule: &Rule) -> Result<(Cost, Balance)> {
    let filter = filter_of(dataset)?;
    let promise = promise(rule).and_then(|promise| promise.promise());
    let promise = promise.ok_or_else(|| no_rule(&dataset.name))?;
    let charge = cost(&filter, filter.charge_account(&promise)?);
    let place = format!("data set {:?}", dataset.name);
    let balance = charged(&filter, &dataset.balance, &charge, &place)?;
    Ok((charge, balance))
}

/// What a release changes.
#[derive(Debug, PartialEq)]
pub(crate) struct Debit {
    pub(crate) charge: Cost,
    pub(crate) account: Balance,
    pub(crate) share: Option<Balance>,
    pub(crate) used: Option<u64>,
}

/// What a release costs in a ledger of a format. It depends on the description alone, and in a
/// plan account on what its slot declares.
pub(crate) fn price(
    account: &Account,
    slot: Option<&Slot>,
    asked: &Asked,
    format: u64,
) -> Result<Cost> {
    if asked.described().len() > MOST_TOGETHER {
        let problem = format!("is asked for {} releases under one key", asked.described().len());
        return Err(account.unfit(&problem, "1 to 1000"));
    }
    for label in asked.described().iter().filter_map(Described::part) {
        name::words("partition", label)?;
    }
    match (&account.rule, asked) {
        (Rule::Filter(_), Asked::Described(list)) => together(account, list, format),
        (Rule::Plan(_), Asked::Slot { name, count: 0, .. }) => {
            Err(account.unfit(&format!("slot {name:?}, 0 times"), "a count from 1"))
        }
        (Rule::Plan(_), Asked::Slot { count, run, .. }) => {
            if !run.is_empty() {
                let slot = slot.ok_or_else(|| no_rule(&account.name))?;
                slots::runs(account, slot, *count, run, format)?;
            }
            Ok(releases(*count))
        }
        (Rule::Plan(_), _) => Err(account.unfit("is a plan account", "the name of a slot")),
        _ => Err(account.unfit("is an open account", "a file with releases")),
    }
}

/// A charge as it is stored: with the sum of own epsilons where the account goes by it.
fn cost(filter: &Filter, charge: Charge) -> Cost {
    let pure = charge.pure.filter(|_| filter.capacity().pure.is_some());
    Cost { main: charge.main, delta: charge.delta, pure }
}

/// What releases cost together: the sum. Each must be about the account's part of the data.
fn together(account: &Account, list: &[Described], format: u64) -> Result<Cost> {
    if list.is_empty() {
        return Err(account.unfit("is asked for no release", "1 to 1000"));
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

/// Whether an account is still open.
pub(crate) fn is_open(account: &Account) -> Result<()> {
    match account.closed {
        None => Ok(()),
        Some(_) => Err(account.unfit("is closed", "an open account")),
    }
}

/// Whether a release at a price fits slot, quota and account, in this order, and what it
/// leaves of them.
pub(crate) fn reserve(
    account: &Account,
    slot: Option<&Slot>,
    share: Option<&Share>,
    asked: &Asked,
    charge: Cost,
) -> Result<Debit> {
    is_open(account)?;
    let used = match (asked, slot) {
        (Asked::Slot { count, .. }, Some(slot)) => Some(slots::opened(account, slot, *count)?),
        _ => None,
    };
    let unit = || {
        let unit = account.unit();
        account.filter().map_or(unit.to_owned(), |filter| measured(filter.currency(), unit))
    };
    let spent_of = |share: &Share| {
        let place = format!("the quota of {:?} in account {:?}", share.analyst, account.name);
        within(&share.balance, &charge, &place, &unit)
    };
    let share = share.map(spent_of).transpose()?;
    let place = format!("account {:?}", account.name);
    let balance = match account.rule {
        Rule::Filter(_) => charged(&filter_of(account)?, &account.balance, &charge, &place)?,
        _ => within(&account.balance, &charge, &place, &unit)?,
    };
    Ok(Debit { charge, account: balance, share, used })
}

/// The same of one opening of a slot, for an account of its own.
pub(crate) fn open_within(account: &Account, slot: &Slot) -> Result<Debit> {
    let asked = Asked::Slot { name: slot.name.clone(), count: 1, run: Vec::new() };
    reserve(account, Some(slot), None, &asked, releases(1))
}

/// The balance after a charge, by a filter. What is spent has a sum of own epsilons where the
/// charges have one.
fn charged(filter: &Filter, balance: &Balance, charge: &Cost, place: &str) -> Result<Balance> {
    let admitted = filter.admit(&balance.spent.clone().into(), &charge.clone().into());
    let spent = admitted.map_err(|refused| {
        let what = measured(filter.currency(), refused.what);
        Refusal::new(place.to_owned(), what, [refused.asked, refused.left, refused.capacity])
    })?;
    Ok(balance.charged(spent.into()))
}

/// A total's name, with the order that divergences are of.
fn measured(currency: Currency, what: &str) -> String {
    match currency {
        Currency::Renyi { order } if what == currency.unit() => {
            format!("{what} at order {}", order.get())
        }
        _ => what.to_owned(),
    }
}

/// The balance after a charge, where totals are compared and nothing more.
fn within(
    balance: &Balance,
    charge: &Cost,
    place: &str,
    unit: &dyn Fn() -> String,
) -> Result<Balance> {
    let (Balance { capacity, spent, .. }, after) = (balance, balance.plus(charge));
    if after.holds() {
        return Ok(after);
    }
    let (what, capacity, spent, asked) = if after.spent.main > capacity.main {
        (unit(), &capacity.main, &spent.main, &charge.main)
    } else {
        ("delta".to_owned(), &capacity.delta, &spent.delta, &charge.delta)
    };
    let left = capacity.less(spent).unwrap_or_default();
    Err(Refusal::new(place.to_owned(), what, [asked.clone(), left, capacity.clone()]).into())
}

fn filter_of(account: &Account) -> Result<Filter> {
    account.filter().ok_or_else(|| no_rule(&account.name))
}

fn no_rule(account: &str) -> LedgerError {
    damaged(format_args!("the rule of {account:?} is none"))
}
