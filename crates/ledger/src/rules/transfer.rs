//! Transfers of unspent budget between accounts.

use counterpoint_budget::Amount;
use counterpoint_wire::ledger::{Cost, FilterRecord, PromiseRecord, Rule};

use super::debit::check_open;
use super::error::{LedgerError, Refusal, Result};
use super::filter::FilterKind;
use super::rows::{Account, Balance};

/// A transfer of unspent budget from one account to another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Transfer {
    /// The account that gives budget.
    pub from: String,
    /// The account of the same data set that gets the budget.
    pub to: String,
    /// The caller's name for this transfer, within the account that gives. The same key moves budget once.
    pub key: String,
    /// The amount in the accounts' unit: epsilon, divergence or rho.
    pub amount: Amount,
    /// The amount of the delta that is set aside for the releases' own deltas.
    pub delta: Amount,
}

impl Transfer {
    /// A transfer of an amount, without delta.
    #[must_use]
    pub fn new(from: &str, to: &str, key: &str, amount: Amount) -> Self {
        let (from, to, key) = (from.to_owned(), to.to_owned(), key.to_owned());
        Self { from, to, key, amount, delta: Amount::ZERO }
    }

    /// Adds a delta to the transfer.
    #[must_use]
    pub fn with_delta(self, delta: Amount) -> Self {
        Self { delta, ..self }
    }
}

/// The balances of two accounts after a transfer from one to the other.
///
/// The releases of all accounts of a data set are one adaptive composition, and the data set's promise follows from
/// sums that a transfer does not change (theory 8.5):
///
/// - The data set adds up epsilons; each account adds up epsilons, or divergences at any order, and promises an
///   (epsilon, delta). An account's promise is its capacity plus a constant, so a transfer of x takes x from the
///   promise and from both totals of one account, and adds x to those of the other.
/// - The data set and the accounts add up rho, or divergences at one order: the charge is the capacity itself.
pub(crate) fn transfer(
    dataset: &Account,
    from: &Account,
    to: &Account,
    amount: &Cost,
) -> Result<(Balance, Balance)> {
    check_open(from)?;
    check_open(to)?;
    if from.name == to.name
        || from.parent.as_ref() != Some(&dataset.name)
        || to.parent != from.parent
    {
        return Err(cannot_move(to, &format!("is not another account of {:?}", dataset.name)));
    }
    if amount.main.is_zero() && amount.delta.is_zero() || amount.pure.is_some() {
        return Err(from.unfit("gives nothing", "an amount or a delta above 0"));
    }
    let (whole, gives, gets) = (record(dataset)?, record(from)?, record(to)?);
    let is_sum = |filter: &FilterRecord| {
        let kinds = [FilterKind::Sums.name(), FilterKind::Renyi.name()];
        kinds.contains(&filter.kind.as_str())
            && matches!(filter.promise, PromiseRecord::ApproxDp { .. })
    };
    let is_charged_its_capacity = |filter: &FilterRecord| match &filter.promise {
        PromiseRecord::Zcdp { .. } => whole.kind == FilterKind::Zcdp.name(),
        PromiseRecord::Renyi { .. } => {
            whole.kind == FilterKind::Renyi.name()
                && (&filter.order, &filter.order) == (&whole.order, &gives.order)
        }
        _ => false,
    };
    let by_sums = whole.kind == FilterKind::Sums.name() && is_sum(gives) && is_sum(gets);
    let is_same = is_charged_its_capacity(gives) && is_charged_its_capacity(gets);
    if !(by_sums || is_same) {
        let problem = format!("cannot give budget to {:?} in data set {:?}", to.name, dataset.name);
        return Err(cannot_move(from, &problem));
    }
    let Cost { main, delta, pure } = &to.balance.capacity;
    let added = Cost {
        main: main + &amount.main,
        delta: delta + &amount.delta,
        pure: pure.as_ref().map(|pure| pure + &amount.main),
    };
    let left = Balance { capacity: taken(from, amount)?, ..from.balance.clone() };
    if !left.is_within_capacity() {
        return Err(insufficient(from, amount));
    }
    Ok((left, Balance { capacity: added, ..to.balance.clone() }))
}

/// The capacity of the giving account after the transfer.
fn taken(from: &Account, amount: &Cost) -> Result<Cost> {
    let Cost { main, delta, pure } = &from.balance.capacity;
    let take = |total: &Amount, part: &Amount| {
        total.checked_sub(part).ok_or_else(|| insufficient(from, amount))
    };
    Ok(Cost {
        main: take(main, &amount.main)?,
        delta: take(delta, &amount.delta)?,
        pure: pure.as_ref().map(|pure| take(pure, &amount.main)).transpose()?,
    })
}

/// The refusal of an account that has less left than the transfer takes.
fn insufficient(from: &Account, amount: &Cost) -> LedgerError {
    let Balance { capacity, spent, .. } = &from.balance;
    let left = |total: &Amount, spent: &Amount| total.checked_sub(spent).unwrap_or_default();
    let place = format!("account {:?}", from.name);
    let of_delta = left(&capacity.delta, &spent.delta);
    if amount.delta > of_delta {
        let totals = [amount.delta.clone(), of_delta, capacity.delta.clone()];
        return Refusal::new(place, "delta".to_owned(), totals).into();
    }
    let main = (from.unit(), &capacity.main, &spent.main);
    // While all releases are pure, the sum of epsilons is the total that counts.
    let pure = capacity.pure.as_ref().zip(spent.pure.as_ref());
    let (unit, most, spent) = pure.map_or(main, |(most, sum)| ("epsilon", most, sum));
    let totals = [amount.main.clone(), left(most, spent), most.clone()];
    Refusal::new(place, unit.to_owned(), totals).into()
}

fn record(account: &Account) -> Result<&FilterRecord> {
    match &account.rule {
        Rule::Filter(record) => Ok(record),
        _ => Err(cannot_move(account, "is a plan account")),
    }
}

/// The error for two accounts between which no budget can be moved.
pub(crate) fn cannot_move(account: &Account, problem: &str) -> LedgerError {
    let legal = "two open accounts of one data set that adds up epsilons, both sums or renyi with an epsilon and a \
                 delta; or accounts by rho, or by a divergence at one order, of a data set that adds up the same";
    account.unfit(problem, legal)
}
