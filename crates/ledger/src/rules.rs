//! The seam to the core's rules: what may be opened and reserved, decided on plain rows. The
//! same functions decide now and when the history is verified.

use counterpoint::Adjacency;
use counterpoint::quantity::Order;
use counterpoint_budget::{
    Amount, Charge, Currency, Filter, FilterError, Promise, Query, Terms, is_within_part,
};
use counterpoint_wire::ledger::{Asked, Cost, Described, FilterRecord, PlanRecord, Promised, Rule};

use crate::error::{LedgerError, Refusal};
use crate::query::query;
use crate::rows::{Account, Balance, Share, Slot, releases};
use crate::{MOST_TOGETHER, name, slots};

/// Which filter, and what it is to promise.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewFilter {
    /// What is added up.
    pub kind: Kind,
    /// What the account as a whole may cost: an (epsilon, delta), or a budget in what is added
    /// up itself.
    pub promise: Promised,
    /// The Rényi order; the best for the expected use if `None`.
    pub order: Option<Order>,
    /// The share of delta set aside for the releases' own deltas; what the expected use needs, or half, if `None`. With
    /// zero all of delta goes to what is added up, and a release with a delta of its own is refused.
    pub leaks: Option<Amount>,
    /// What will be asked, as far as one knows.
    pub expected: Vec<Described>,
}

/// What an open account adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Epsilons and deltas.
    Sums,
    /// Rényi divergences at one order.
    Renyi,
    /// The rho of concentrated privacy.
    Zcdp,
    /// The squares of Gaussian privacy's mu.
    Gdp,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sums, Self::Renyi, Self::Zcdp, Self::Gdp];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sums => "sums",
            Self::Renyi => "renyi",
            Self::Zcdp => "zcdp",
            Self::Gdp => "gdp",
        }
    }
}

impl Kind {
    /// Whether what it adds up is converted at a delta, of which a share is set aside for leaks.
    fn converts(self) -> bool {
        matches!(self, Self::Renyi | Self::Zcdp)
    }
}

impl NewFilter {
    /// A filter of a kind that promises (epsilon, delta)-privacy, its order and its shares
    /// chosen for it.
    #[must_use]
    pub fn new(kind: Kind, epsilon: Amount, delta: Amount) -> Self {
        Self::promising(kind, Promised::ApproxDp { epsilon, delta })
    }

    /// A filter of a kind that keeps a promise.
    #[must_use]
    pub fn promising(kind: Kind, promise: Promised) -> Self {
        Self { kind, promise, order: None, leaks: None, expected: Vec::new() }
    }

    /// The same for releases without deltas of their own.
    #[must_use]
    pub fn without_leaks(self) -> Self {
        Self { leaks: Some(Amount::ZERO), ..self }
    }

    pub(crate) fn record(&self, adjacency: Adjacency) -> Result<FilterRecord, LedgerError> {
        let terms = Terms::new(adjacency);
        let filter = match (self.kind, self.promise.clone()) {
            (_, Promised::ApproxDp { epsilon, delta }) => self.filter(epsilon, delta, terms)?,
            (Kind::Zcdp, Promised::Zcdp { rho, delta }) => Filter::zcdp_budget(rho, delta, terms)?,
            (Kind::Gdp, Promised::Gdp { mu }) => Filter::gdp_budget(mu, terms)?,
            (Kind::Renyi, Promised::Renyi { order, tau }) => {
                let order = Order::new(order.lower()).map_err(FilterError::from)?;
                Filter::renyi_budget(order, tau, terms)?
            }
            _ => {
                let (account, problem) = ("the filter".to_owned(), self.mismatch());
                let legal = "epsilon and delta with any, rho with zcdp, mu with gdp, order and \
                             tau with renyi";
                return Err(LedgerError::Unfit { account, problem, legal });
            }
        };
        FilterRecord::of(&filter)
            .ok_or_else(|| LedgerError::Uncertified("the promise cannot be written".to_owned()))
    }

    fn mismatch(&self) -> String {
        let promised = match self.promise {
            Promised::Zcdp { .. } => "rho",
            Promised::Gdp { .. } => "mu",
            Promised::Renyi { .. } => "order and tau",
            _ => "epsilon",
        };
        format!("of kind {} is to promise {promised}", self.kind.name())
    }

    fn filter(&self, epsilon: Amount, delta: Amount, terms: Terms) -> Result<Filter, LedgerError> {
        let leaks = || self.leaks.clone().unwrap_or_else(|| delta.half());
        if self.leaks.is_some() && !self.kind.converts() {
            let problem = format!("of kind {} is to set delta aside for leaks", self.kind.name());
            let legal = "leaks with renyi and zcdp, whose delta is there for other things too";
            return Err(LedgerError::Unfit { account: "the filter".to_owned(), problem, legal });
        }
        Ok(match (self.kind, self.order) {
            (Kind::Sums, _) => Filter::sums(epsilon, delta, terms)?,
            (Kind::Renyi, Some(order)) => {
                Filter::renyi(epsilon, delta.clone(), leaks(), order, terms)?
            }
            (Kind::Renyi, None) => {
                let expected: Result<Vec<Query>, _> =
                    self.expected.iter().map(Described::query).collect();
                match self.leaks.clone() {
                    None => Filter::renyi_for(epsilon, delta, &expected?, terms)?,
                    Some(leaks) => Filter::renyi_leaking(epsilon, delta, leaks, &expected?, terms)?,
                }
            }
            (Kind::Zcdp, _) => Filter::zcdp(epsilon, delta.clone(), leaks(), terms)?,
            (Kind::Gdp, _) => Filter::gdp(epsilon, delta, terms)?,
        })
    }
}

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
pub(crate) fn open(dataset: &Account, rule: &Rule) -> Result<(Cost, Balance), LedgerError> {
    let filter = filter_of(dataset)?;
    let promise = promise(rule).and_then(|promise| promise.promise());
    let promise: Promise = promise.ok_or_else(|| damaged(&dataset.name))?;
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
) -> Result<Cost, LedgerError> {
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
                let slot = slot.ok_or_else(|| damaged(&account.name))?;
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
fn together(account: &Account, list: &[Described], format: u64) -> Result<Cost, LedgerError> {
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
pub(crate) fn is_open(account: &Account) -> Result<(), LedgerError> {
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
) -> Result<Debit, LedgerError> {
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

/// The balance after a charge, by a filter. What is spent has a sum of own epsilons where the
/// charges have one.
fn charged(
    filter: &Filter,
    balance: &Balance,
    charge: &Cost,
    place: &str,
) -> Result<Balance, LedgerError> {
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
) -> Result<Balance, LedgerError> {
    let Balance { capacity, spent, .. } = balance;
    let total = |what: &dyn Fn() -> String, capacity: &Amount, spent: &Amount, asked: &Amount| {
        if spent + asked <= *capacity {
            return Ok(());
        }
        let left = capacity.less(spent).unwrap_or_default();
        let totals = [asked.clone(), left, capacity.clone()];
        Err(LedgerError::from(Refusal::new(place.to_owned(), what(), totals)))
    };
    let pure = plus(spent.pure.as_ref(), charge.pure.as_ref());
    let (main, delta) = (&spent.main + &charge.main, &spent.delta + &charge.delta);
    let is_pure = pure.as_ref().zip(capacity.pure.as_ref()).is_some_and(|(sum, most)| sum <= most);
    if !is_pure {
        total(unit, &capacity.main, &spent.main, &charge.main)?;
        total(&|| "delta".to_owned(), &capacity.delta, &spent.delta, &charge.delta)?;
    }
    Ok(balance.charged(Cost { main, delta, pure }))
}

/// The sum of own epsilons, as long as there is one.
fn plus(spent: Option<&Amount>, charge: Option<&Amount>) -> Option<Amount> {
    spent.zip(charge).map(|(spent, charge)| spent + charge)
}

fn filter_of(account: &Account) -> Result<Filter, LedgerError> {
    account.filter().ok_or_else(|| damaged(&account.name))
}

fn damaged(account: &str) -> LedgerError {
    LedgerError::Damaged(format!("the rule of {account:?} is none"))
}

/// Whether a stored filter has more to spend than its promise allows. What is derived may
/// come out a little larger in a later version, and smaller by rounding alone.
pub(crate) fn overstated(record: &FilterRecord, adjacency: Adjacency) -> Result<bool, LedgerError> {
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == record.kind);
    let Some(kind) = kind else { return Ok(true) };
    let order = record.order.as_ref().and_then(|order| Order::new(order.lower()).ok());
    let new = NewFilter {
        order,
        leaks: kind.converts().then(|| record.capacity.delta.clone()),
        ..NewFilter::promising(kind, record.promise.clone())
    };
    let most = new.record(adjacency)?;
    let derived = matches!(record.promise, Promised::ApproxDp { .. }) && kind != Kind::Sums;
    if !derived {
        return Ok(*record != most);
    }
    let (stored, most) = (&record.capacity, &most.capacity);
    let slack = most.main.over(&Amount::from(1_000_000_000_000)).unwrap_or_default();
    Ok(stored.main > &most.main + &slack || stored.delta > most.delta || stored.pure != most.pure)
}
