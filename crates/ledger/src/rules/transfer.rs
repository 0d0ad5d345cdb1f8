//! Unspent budget that is moved between accounts.

use counterpoint_budget::Amount;
use counterpoint_wire::ledger::{Cost, FilterRecord, Promised, Rule};

use super::debit::is_open;
use super::error::{LedgerError, Refusal, Result};
use super::filter::Kind;
use super::rows::{Account, Balance};

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

/// What two accounts have to spend once budget has gone from one to the other.
///
/// The releases of all accounts of a data set are one adaptive composition, and the data set's promise follows from sums
/// that a move leaves as they are (theory 8.5):
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
) -> Result<(Balance, Balance)> {
    is_open(from)?;
    is_open(to)?;
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
    let Cost { main, delta, pure } = &to.balance.capacity;
    let added = Cost {
        main: main + &amount.main,
        delta: delta + &amount.delta,
        pure: pure.as_ref().map(|pure| pure + &amount.main),
    };
    let left = Balance { capacity: taken(from, amount)?, ..from.balance.clone() };
    if !left.holds() {
        return Err(short(from, amount));
    }
    Ok((left, Balance { capacity: added, ..to.balance.clone() }))
}

/// What there is to spend without what is given.
fn taken(from: &Account, amount: &Cost) -> Result<Cost> {
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

fn record(account: &Account) -> Result<&FilterRecord> {
    match &account.rule {
        Rule::Filter(record) => Ok(record),
        _ => Err(unlike(account, "is a plan account")),
    }
}

/// Accounts between which no budget can be moved.
pub(crate) fn unlike(account: &Account, problem: &str) -> LedgerError {
    let legal = "two open accounts of one data set that adds up epsilons, both sums or renyi with an epsilon and a \
                 delta; or accounts by rho, or by a divergence at one order, of a data set that adds up the same";
    account.unfit(problem, legal)
}
