//! The seam to the core's rules: what may be opened and reserved, decided on plain rows. The
//! same functions decide now and when the history is verified.

use counterpoint::filter::{
    Amount, Currency, Filter, FilterError, GRID_PLACES, PlanAccount, Query, Terms,
};
use counterpoint::quantity::{Delta, Epsilon, Order};
use counterpoint::{Adjacency, Options};
use counterpoint_wire::Question;
use counterpoint_wire::ledger::{Asked, Cost, Described, FilterRecord, PlanRecord, Rule};

use crate::error::{LedgerError, Refusal};
use crate::rows::{Account, Balance, Share, Slot};
use crate::slots;

/// Which filter, and what it is to promise.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewFilter {
    /// What is added up.
    pub kind: Kind,
    /// What the account as a whole may cost.
    pub epsilon: Amount,
    /// At this delta.
    pub delta: Amount,
    /// The Rényi order; the best for the expected use if `None`.
    pub order: Option<Order>,
    /// The share of delta set aside for the releases' own deltas; half if `None`.
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

impl NewFilter {
    /// A filter of a kind, its order and its shares chosen for it.
    #[must_use]
    pub fn new(kind: Kind, epsilon: Amount, delta: Amount) -> Self {
        Self { kind, epsilon, delta, order: None, leaks: None, expected: Vec::new() }
    }

    pub(crate) fn record(&self, adjacency: Adjacency) -> Result<FilterRecord, LedgerError> {
        let filter = self.filter(Terms::new(adjacency))?;
        FilterRecord::of(&filter)
            .ok_or_else(|| LedgerError::Uncertified("the filter promises no epsilon".to_owned()))
    }

    fn filter(&self, terms: Terms) -> Result<Filter, LedgerError> {
        let (epsilon, delta) = (self.epsilon.clone(), self.delta.clone());
        let leaks = || self.leaks.clone().unwrap_or_else(|| self.delta.half());
        Ok(match (self.kind, self.order) {
            (Kind::Sums, _) => Filter::sums(epsilon, delta, terms)?,
            (Kind::Renyi, Some(order)) => Filter::renyi(epsilon, delta, leaks(), order, terms)?,
            (Kind::Renyi, None) => {
                let expected: Result<Vec<Query>, _> =
                    self.expected.iter().map(Described::query).collect();
                let chosen = Filter::renyi_for(epsilon.clone(), delta.clone(), &expected?, terms)?;
                match (&self.leaks, chosen.currency()) {
                    (Some(leaks), Currency::Renyi { order }) => {
                        Filter::renyi(epsilon, delta, leaks.clone(), order, terms)?
                    }
                    _ => chosen,
                }
            }
            (Kind::Zcdp, _) => Filter::zcdp(epsilon, delta, leaks(), terms)?,
            (Kind::Gdp, _) => Filter::gdp(epsilon, delta, terms)?,
        })
    }
}

/// What an account promises as a whole, which is what it costs its data set.
pub(crate) fn promise(rule: &Rule) -> Option<(Amount, Amount)> {
    match rule {
        Rule::Plan(plan) => Some((plan.epsilon.clone(), plan.delta.clone())),
        Rule::Filter(filter) => Some((filter.epsilon.clone(), filter.delta.clone())),
        _ => None,
    }
}

/// Opening an account is one charge to the data set, in full: the charge, and the data set's
/// balance after it.
pub(crate) fn open(dataset: &Account, rule: &Rule) -> Result<(Cost, Balance), LedgerError> {
    let filter = filter_of(dataset)?;
    let (epsilon, delta) = promise(rule).ok_or_else(|| damaged(&dataset.name))?;
    let query = Query::approx_dp(epsilon, delta).map_err(FilterError::from)?;
    let charge = Cost::from(filter.charge(&query)?);
    let place = format!("data set {:?}", dataset.name);
    let balance = charged(&filter, &dataset.balance, &charge, &place)?;
    Ok((charge, balance))
}

/// What there is to spend in a new account.
pub(crate) fn capacity(rule: &Rule) -> Option<Cost> {
    match rule {
        Rule::Plan(plan) => {
            let total: u128 = plan.slots.iter().map(|slot| u128::from(slot.count)).sum();
            Some(releases(u64::try_from(total).ok()?))
        }
        Rule::Filter(filter) => Some(filter.capacity.clone()),
        _ => None,
    }
}

/// What a release changes.
#[derive(Debug, PartialEq)]
pub(crate) struct Debit {
    pub(crate) charge: Cost,
    pub(crate) account: Balance,
    pub(crate) share: Option<Balance>,
    pub(crate) used: Option<u64>,
}

/// What a release costs. It depends on the description alone, and in a plan account on
/// what its slot declares.
pub(crate) fn price(
    account: &Account,
    slot: Option<&Slot>,
    asked: &Asked,
) -> Result<Cost, LedgerError> {
    match (&account.rule, asked) {
        (Rule::Filter(_), Asked::Described(described)) => {
            Ok(filter_of(account)?.charge(&described.query()?)?.into())
        }
        (Rule::Plan(_), Asked::Slot { count, run, .. }) => {
            if let (Some(slot), Some(run)) = (slot, run) {
                slots::runs(account, slot, *count, run)?;
            }
            Ok(releases(*count))
        }
        (Rule::Plan(_), _) => Err(unfit(account, "is a plan account", "the name of a slot")),
        _ => Err(unfit(account, "is an open account", "a file with one release")),
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
    let used = match (asked, slot) {
        (Asked::Slot { count, .. }, Some(slot)) => Some(opened(account, slot, *count)?),
        _ => None,
    };
    let spent_of = |share: &Share| {
        let place = format!("the quota of {:?} in account {:?}", share.analyst, account.name);
        within(&share.balance, &charge, &place, account.unit())
    };
    let share = share.map(spent_of).transpose()?;
    let place = format!("account {:?}", account.name);
    let balance = match account.rule {
        Rule::Filter(_) => charged(&filter_of(account)?, &account.balance, &charge, &place)?,
        _ => within(&account.balance, &charge, &place, account.unit())?,
    };
    Ok(Debit { charge, account: balance, share, used })
}

/// How often a slot is used once it is opened so many times more.
pub(crate) fn opened(account: &Account, slot: &Slot, count: u64) -> Result<u64, LedgerError> {
    let left = slot.total.saturating_sub(slot.used);
    if count <= left {
        return Ok(slot.used + count);
    }
    let place = format!("slot {:?} of account {:?}", slot.name, account.name);
    let (asked, left, capacity) = (count.into(), left.into(), slot.total.into());
    Err(Refusal { place, what: "uses".to_owned(), asked, left, capacity }.into())
}

/// The balance after a charge, by a filter.
fn charged(
    filter: &Filter,
    balance: &Balance,
    charge: &Cost,
    place: &str,
) -> Result<Balance, LedgerError> {
    let admitted = filter.admit(&balance.spent.clone().into(), &charge.clone().into());
    let spent = admitted.map_err(|refused| Refusal {
        place: place.to_owned(),
        what: refused.what.to_owned(),
        asked: refused.asked,
        left: refused.left,
        capacity: refused.capacity,
    })?;
    Ok(balance.charged(spent.into()))
}

/// The balance after a charge, where totals are compared and nothing more.
fn within(
    balance: &Balance,
    charge: &Cost,
    place: &str,
    unit: &str,
) -> Result<Balance, LedgerError> {
    let Balance { capacity, spent, .. } = balance;
    let total = |what: &str, capacity: &Amount, spent: &Amount, asked: &Amount| {
        let total = spent + asked;
        if total <= *capacity {
            return Ok(total);
        }
        Err(LedgerError::from(Refusal {
            place: place.to_owned(),
            what: what.to_owned(),
            asked: asked.clone(),
            left: capacity.less(spent).unwrap_or_default(),
            capacity: capacity.clone(),
        }))
    };
    let main = total(unit, &capacity.main, &spent.main, &charge.main)?;
    let delta = total("delta", &capacity.delta, &spent.delta, &charge.delta)?;
    Ok(balance.charged(Cost { main, delta }))
}

pub(crate) fn releases(count: u64) -> Cost {
    Cost { main: count.into(), delta: Amount::ZERO }
}

fn filter_of(account: &Account) -> Result<Filter, LedgerError> {
    account.filter().ok_or_else(|| damaged(&account.name))
}

fn damaged(account: &str) -> LedgerError {
    LedgerError::Damaged(format!("the rule of {account:?} is none"))
}

pub(crate) fn unfit(account: &Account, problem: &str, legal: &'static str) -> LedgerError {
    LedgerError::Unfit { account: account.name.clone(), problem: problem.to_owned(), legal }
}

/// What all slots cost together: optimal composition, certified, at the delta or epsilon
/// asked for, which is rounded to the safe side.
pub(crate) fn certify(
    question: &(Question, Amount),
    slots: Vec<counterpoint_wire::ledger::Slot>,
    adjacency: Adjacency,
) -> Result<PlanRecord, LedgerError> {
    let plan = composed(&slots, adjacency)?;
    let (question, given) = question;
    let out_of_range =
        |error: counterpoint::OutOfRange| LedgerError::from(FilterError::from(error));
    let found = match question {
        Question::EpsilonAt(_) => {
            plan.epsilon(Delta::new(given.lower()).map_err(out_of_range)?, &Options::default())
        }
        Question::DeltaAt(_) => {
            plan.delta(Epsilon::new(given.lower()).map_err(out_of_range)?, &Options::default())
        }
    };
    let found = found.map_err(|error| LedgerError::Uncertified(error.to_string()))?;
    let upper = Amount::from_f64(found.bracket.upper)
        .ok_or_else(|| LedgerError::Uncertified("the cost is not finite".to_owned()))?;
    Ok(match question {
        // Deltas may be far below the grid: they are kept as they are.
        Question::DeltaAt(_) => PlanRecord { epsilon: given.clone(), delta: upper, slots },
        Question::EpsilonAt(_) => {
            PlanRecord { epsilon: upper.ceil(GRID_PLACES), delta: given.clone(), slots }
        }
    })
}

/// Whether a stored filter has more to spend than its promise allows. What is derived may
/// come out a little larger in a later version, and smaller by rounding alone.
pub(crate) fn overstated(record: &FilterRecord, adjacency: Adjacency) -> Result<bool, LedgerError> {
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == record.kind);
    let Some(kind) = kind else { return Ok(true) };
    let order = record.order.as_ref().and_then(|order| Order::new(order.lower()).ok());
    let new = NewFilter {
        order,
        leaks: Some(record.capacity.delta.clone()),
        ..NewFilter::new(kind, record.epsilon.clone(), record.delta.clone())
    };
    let most = new.record(adjacency)?.capacity;
    if kind == Kind::Sums {
        return Ok(record.capacity != most);
    }
    let slack = most.main.over(&Amount::from(1_000_000_000_000)).unwrap_or_default();
    Ok(record.capacity.main > &most.main + &slack || record.capacity.delta > most.delta)
}

/// Whether the slots are known to cost more than a stored plan says.
pub(crate) fn understated(plan: &PlanRecord, adjacency: Adjacency) -> Result<bool, LedgerError> {
    let composed = composed(&plan.slots, adjacency)?;
    let out_of_range =
        |error: counterpoint::OutOfRange| LedgerError::from(FilterError::from(error));
    let epsilon = Epsilon::new(plan.epsilon.upper()).map_err(out_of_range)?;
    let found = composed.delta(epsilon, &Options::default());
    let found = found.map_err(|error| LedgerError::Uncertified(error.to_string()))?;
    Ok(Amount::from_f64(found.bracket.lower).is_none_or(|lower| lower > plan.delta))
}

fn composed(
    slots: &[counterpoint_wire::ledger::Slot],
    adjacency: Adjacency,
) -> Result<PlanAccount, LedgerError> {
    let queries: Result<Vec<Query>, _> = slots.iter().map(|slot| slot.release.query()).collect();
    PlanAccount::new(queries?, Terms::new(adjacency))
        .map_err(|error| LedgerError::Uncertified(error.to_string()))
}
