//! What owners do after a ledger is set up: close data sets, change quotas, move unspent budget.

use counterpoint_budget::Amount;
use counterpoint_wire::ledger::{Cost, Event, FilterRecord, Promised, Rule};

use crate::chain::Head;
use crate::error::{LedgerError, Refusal};
use crate::ledger::{Ledger, append, find_account, now};
use crate::name;
use crate::rows::{Account, Balance, Share};
use crate::rules::{self, Kind};
use crate::setup::{NewQuota, capacity_of, find_dataset};
use crate::tables::Tables;

/// Unspent budget that goes from one account to another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Transfer {
    /// The account that gives.
    pub from: String,
    /// The account that gets, of the same data set.
    pub to: String,
    /// The caller's name for this move, in the account that gives. The same key is moved once.
    pub key: String,
    /// In the accounts' unit: epsilon, divergence or rho.
    pub amount: Amount,
    /// Of the delta for the releases' own.
    pub delta: Amount,
}

impl Transfer {
    /// A move of so much, without delta.
    #[must_use]
    pub fn new(from: &str, to: &str, key: &str, amount: Amount) -> Self {
        let (from, to, key) = (from.to_owned(), to.to_owned(), key.to_owned());
        Self { from, to, key, amount, delta: Amount::ZERO }
    }

    /// The same with some delta.
    #[must_use]
    pub fn with_delta(self, delta: Amount) -> Self {
        Self { delta, ..self }
    }
}

impl Ledger {
    /// Closes a data set for good, and with it every account under it: nothing more is opened or reserved. What was paid
    /// for goes on: responses to what was reserved, answers of sessions.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such data set.
    pub fn close_dataset(&mut self, name: &str) -> Result<Head, LedgerError> {
        self.write(|tables, mut head| {
            if find_dataset(tables, name)?.closed.is_some() {
                tables.touch(head)?;
                return Ok(head);
            }
            let all = tables.accounts()?;
            let open = beneath(name, &all).filter(|account| account.closed.is_none());
            for account in open.map(|account| account.name.as_str()).chain([name]) {
                let event = Event::Close { at: now(), account: account.to_owned() };
                head = append(tables, head, &event)?;
                tables.close(account, head.sequence)?;
            }
            Ok(head)
        })
    }

    /// Changes an analyst's quota from now on. What is spent stays spent: of a quota that is below it nothing is left.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if the analyst has none.
    pub fn change_quota(
        &mut self,
        account: &str,
        analyst: &str,
        quota: &NewQuota,
    ) -> Result<Head, LedgerError> {
        self.write(|tables, head| {
            let found = find_account(tables, account)?;
            rules::is_open(&found)?;
            let share = tables.share(account, analyst)?.ok_or_else(|| no_quota(analyst))?;
            let balance = share.balance.of(capacity_of(&found, quota)?);
            if balance == share.balance {
                tables.touch(head)?;
                return Ok(head);
            }
            let (at, account_, analyst) = (now(), account.to_owned(), analyst.to_owned());
            let capacity = balance.capacity.clone();
            let event = Event::Quota { at, account: account_, analyst, capacity, changed: true };
            let head = append(tables, head, &event)?;
            tables.change_share(account, &share, &balance)?;
            Ok(head)
        })
    }

    /// Moves unspent budget from an account to another of the same data set, which promises what it promised before. A
    /// key that was moved before moves nothing.
    ///
    /// # Errors
    /// [`LedgerError::Refused`] if the account has not so much left, [`LedgerError::Unfit`] where no theorem
    /// lets budget be moved between the two.
    pub fn move_budget(&mut self, new: &Transfer) -> Result<Head, LedgerError> {
        name::word("key", &new.key)?;
        self.write(|tables, head| {
            let from = find_account(tables, &new.from)?;
            let to = find_account(tables, &new.to)?;
            let amount = Cost { main: new.amount.clone(), delta: new.delta.clone(), pure: None };
            if let Some(known) = moved(tables, &new.from, &new.key)? {
                if known != (new.to.clone(), amount) {
                    return Err(LedgerError::KeyInUse { key: new.key.clone() });
                }
                tables.touch(head)?;
                return Ok(head);
            }
            let parent = tables.account(from.parent.as_deref().unwrap_or_default())?;
            let dataset = parent.filter(|parent| parent.parent.is_none());
            let dataset = dataset.ok_or_else(|| unlike(&from, "is within a slot"))?;
            let (less, more) = transfer(&dataset, &from, &to, &amount)?;
            let event = Event::Move {
                at: now(),
                account: new.from.clone(),
                to: new.to.clone(),
                key: new.key.clone(),
                amount,
            };
            let head = append(tables, head, &event)?;
            tables.change_capacity(&from, &less)?;
            tables.change_capacity(&to, &more)?;
            Ok(head)
        })
    }
}

/// The accounts under a data set, however deep. Parents are older than what is under them.
fn beneath<'a>(dataset: &str, all: &'a [Account]) -> impl Iterator<Item = &'a Account> {
    let mut families = std::collections::BTreeSet::from([dataset.to_owned()]);
    all.iter().filter(move |account| {
        let is_beneath = account.parent.as_ref().is_some_and(|parent| families.contains(parent));
        is_beneath && families.insert(account.name.clone())
    })
}

/// Where a key's budget went, and how much, if it was moved.
fn moved(
    tables: &mut Tables<'_>,
    account: &str,
    key: &str,
) -> Result<Option<(String, Cost)>, LedgerError> {
    for body in tables.moves_of(account)? {
        let event = Event::read(&body).map_err(|error| LedgerError::Damaged(error.problem))?;
        if let Event::Move { key: other, to, amount, .. } = event
            && other == key
        {
            return Ok(Some((to, amount)));
        }
    }
    Ok(None)
}

/// An analyst without a quota.
fn no_quota(analyst: &str) -> LedgerError {
    let (what, legal) = ("quota of analyst", "an analyst who has a quota");
    LedgerError::Unknown { what, name: analyst.to_owned(), legal }
}

/// What two accounts have to spend once budget has gone from one to the other.
///
/// The releases of all accounts of a data set are one adaptive composition, and the data set's promise follows from sums
/// that a move leaves as they are (docs/theorems.md, *Moved budgets*):
///
/// - where the data set adds up epsilons, of accounts that add up epsilons, or divergences at any order, and promise an
///   (epsilon, delta): what an account promises is its capacity and a constant, so that a move of x takes x from one
///   promise and from both of its totals, and adds x to the other's;
/// - where data set and accounts add up rho, or divergences at one order: what the data set paid is the capacity itself.
pub(crate) fn transfer(
    dataset: &Account,
    from: &Account,
    to: &Account,
    amount: &Cost,
) -> Result<(Balance, Balance), LedgerError> {
    rules::is_open(from)?;
    rules::is_open(to)?;
    if from.name == to.name
        || from.parent.as_ref() != Some(&dataset.name)
        || to.parent != from.parent
    {
        return Err(unlike(to, &format!("is not another account of {:?}", dataset.name)));
    }
    if amount.main.is_zero() && amount.delta.is_zero() || amount.pure.is_some() {
        return Err(from.unfit("is to give nothing", "an amount or a delta above 0"));
    }
    let (whole, gives, gets) = (record(dataset)?, record(from)?, record(to)?);
    let is_sum = |filter: &FilterRecord| {
        let kinds = [Kind::Sums.name(), Kind::Renyi.name()];
        kinds.contains(&filter.kind.as_str()) && matches!(filter.promise, Promised::ApproxDp { .. })
    };
    let is_paid = |filter: &FilterRecord| match &filter.promise {
        Promised::Zcdp { .. } => whole.kind == Kind::Zcdp.name(),
        Promised::Renyi { .. } => {
            whole.kind == Kind::Renyi.name()
                && (&filter.order, &filter.order) == (&whole.order, &gives.order)
        }
        _ => false,
    };
    let by_sums = whole.kind == Kind::Sums.name() && is_sum(gives) && is_sum(gets);
    let is_same = is_paid(gives) && is_paid(gets);
    if !(by_sums || is_same) {
        let kinds = format!("adds up other things than {:?} and {:?}", to.name, dataset.name);
        return Err(unlike(from, &kinds));
    }
    let more = |total: &Amount, amount: &Amount| total + amount;
    let Cost { main, delta, pure } = &to.balance.capacity;
    let added = Cost {
        main: more(main, &amount.main),
        delta: more(delta, &amount.delta),
        pure: pure.as_ref().map(|pure| more(pure, &amount.main)),
    };
    let left = Balance { capacity: taken(from, amount)?, ..from.balance.clone() };
    if !left.holds() {
        return Err(short(from, amount));
    }
    Ok((left, Balance { capacity: added, ..to.balance.clone() }))
}

/// What there is to spend without what is given.
fn taken(from: &Account, amount: &Cost) -> Result<Cost, LedgerError> {
    let Cost { main, delta, pure } = &from.balance.capacity;
    let take = |total: &Amount, part: &Amount| total.less(part).ok_or_else(|| short(from, amount));
    Ok(Cost {
        main: take(main, &amount.main)?,
        delta: take(delta, &amount.delta)?,
        pure: pure.as_ref().map(|pure| take(pure, &amount.main)).transpose()?,
    })
}

/// An account has less left than it is to give.
fn short(from: &Account, amount: &Cost) -> LedgerError {
    let Balance { capacity, spent, .. } = &from.balance;
    let left = |total: &Amount, spent: &Amount| total.less(spent).unwrap_or_default();
    let place = format!("account {:?}", from.name);
    let of_delta = left(&capacity.delta, &spent.delta);
    if amount.delta > of_delta {
        let totals = [amount.delta.clone(), of_delta, capacity.delta.clone()];
        return Refusal::new(place, "delta".to_owned(), totals).into();
    }
    let main = (from.unit(), &capacity.main, &spent.main);
    // While all is pure the sum of epsilons is what there is.
    let pure = capacity.pure.as_ref().zip(spent.pure.as_ref());
    let (unit, most, spent) = pure.map_or(main, |(most, sum)| ("epsilon", most, sum));
    let totals = [amount.main.clone(), left(most, spent), most.clone()];
    Refusal::new(place, unit.to_owned(), totals).into()
}

fn record(account: &Account) -> Result<&FilterRecord, LedgerError> {
    match &account.rule {
        Rule::Filter(record) => Ok(record),
        _ => Err(unlike(account, "is a plan account")),
    }
}

fn unlike(account: &Account, problem: &str) -> LedgerError {
    let legal = "two open accounts of one data set that adds up epsilons, both sums or renyi with an epsilon and a \
                 delta; or accounts by rho, or by a divergence at one order, of a data set that adds up the same";
    account.unfit(problem, legal)
}

/// A share as it is after a change in its history.
pub(crate) fn changed_share(share: &Share, capacity: &Cost) -> Option<Share> {
    let balance = Balance { capacity: capacity.clone(), ..share.balance.clone() };
    balance.holds().then(|| Share { analyst: share.analyst.clone(), balance })
}
