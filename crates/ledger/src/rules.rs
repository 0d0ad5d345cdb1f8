//! The seam to the core's rules: what may be opened and reserved, decided on plain rows. The
//! same functions decide now and when the history is verified.

use counterpoint::filter::{
    Amount, Charge, Currency, Filter, FilterError, GRID_PLACES, PlanAccount, Promise, Query, Terms,
    is_within_part,
};
use counterpoint::quantity::{Delta, Epsilon, Order};
use counterpoint::{Adjacency, Options, Relation};
use counterpoint_wire::Question;
use counterpoint_wire::ledger::{Asked, Cost, Described, FilterRecord, PlanRecord, Promised, Rule};

use crate::error::{LedgerError, Refusal};
use crate::rows::{Account, Balance, Share, Slot};
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
        Ok(match (self.kind, self.order) {
            (Kind::Sums, _) => Filter::sums(epsilon, delta, terms)?,
            (Kind::Renyi, Some(order)) => {
                Filter::renyi(epsilon, delta.clone(), leaks(), order, terms)?
            }
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
    if asked.described().len() > MOST_TOGETHER {
        let problem = format!("is asked for {} releases under one key", asked.described().len());
        return Err(unfit(account, &problem, "1 to 1000"));
    }
    for label in asked.described().iter().filter_map(Described::part) {
        name::words("partition", label)?;
    }
    match (&account.rule, asked) {
        (Rule::Filter(_), Asked::Described(list)) => together(account, list),
        (Rule::Plan(_), Asked::Slot { name, count: 0, .. }) => {
            Err(unfit(account, &format!("slot {name:?}, 0 times"), "a count from 1"))
        }
        (Rule::Plan(_), Asked::Slot { count, run, .. }) => {
            if !run.is_empty() {
                let slot = slot.ok_or_else(|| damaged(&account.name))?;
                slots::runs(account, slot, *count, run)?;
            }
            Ok(releases(*count))
        }
        (Rule::Plan(_), _) => Err(unfit(account, "is a plan account", "the name of a slot")),
        _ => Err(unfit(account, "is an open account", "a file with releases")),
    }
}

/// A charge as it is stored: with the sum of own epsilons where the account goes by it.
fn cost(filter: &Filter, charge: Charge) -> Cost {
    let pure = charge.pure.filter(|_| filter.capacity().pure.is_some());
    Cost { main: charge.main, delta: charge.delta, pure }
}

/// What releases cost together: the sum. Each must be about the account's part of the data.
fn together(account: &Account, list: &[Described]) -> Result<Cost, LedgerError> {
    if list.is_empty() {
        return Err(unfit(account, "is asked for no release", "1 to 1000"));
    }
    let filter = filter_of(account)?;
    let mut total = Charge::default();
    for described in list {
        let query = query(account.relation, described)?;
        is_within_part(account.part.as_deref(), &query)?;
        total = total.plus(&filter.charge(&query)?);
    }
    Ok(cost(&filter, total))
}

/// Whether an account is still open.
pub(crate) fn is_open(account: &Account) -> Result<(), LedgerError> {
    match account.closed {
        None => Ok(()),
        Some(_) => Err(unfit(account, "is closed", "an open account")),
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

/// The balance after a charge, by a filter. What is spent has a sum of own epsilons where the
/// charges have one.
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
        if spent + asked <= *capacity {
            return Ok(());
        }
        Err(LedgerError::from(Refusal {
            place: place.to_owned(),
            what: what.to_owned(),
            asked: asked.clone(),
            left: capacity.less(spent).unwrap_or_default(),
            capacity: capacity.clone(),
        }))
    };
    let pure = plus(spent.pure.as_ref(), charge.pure.as_ref());
    let (main, delta) = (&spent.main + &charge.main, &spent.delta + &charge.delta);
    let is_pure = pure.as_ref().zip(capacity.pure.as_ref()).is_some_and(|(sum, most)| sum <= most);
    if !is_pure {
        total(unit, &capacity.main, &spent.main, &charge.main)?;
        total("delta", &capacity.delta, &spent.delta, &charge.delta)?;
    }
    Ok(balance.charged(Cost { main, delta, pure }))
}

/// The sum of own epsilons, as long as there is one.
fn plus(spent: Option<&Amount>, charge: Option<&Amount>) -> Option<Amount> {
    spent.zip(charge).map(|(spent, charge)| spent + charge)
}

pub(crate) fn releases(count: u64) -> Cost {
    Cost { main: count.into(), ..Cost::default() }
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
    relation: Relation,
) -> Result<PlanRecord, LedgerError> {
    let plan = composed(&slots, relation)?;
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

/// Whether the slots are known to cost more than a stored plan says.
pub(crate) fn understated(plan: &PlanRecord, relation: Relation) -> Result<bool, LedgerError> {
    let composed = composed(&plan.slots, relation)?;
    let out_of_range =
        |error: counterpoint::OutOfRange| LedgerError::from(FilterError::from(error));
    let epsilon = Epsilon::new(plan.epsilon.upper()).map_err(out_of_range)?;
    let found = composed.delta(epsilon, &Options::default());
    let found = found.map_err(|error| LedgerError::Uncertified(error.to_string()))?;
    Ok(Amount::from_f64(found.bracket.lower).is_none_or(|lower| lower > plan.delta))
}

fn composed(
    slots: &[counterpoint_wire::ledger::Slot],
    relation: Relation,
) -> Result<PlanAccount, LedgerError> {
    let queries: Result<Vec<Query>, _> =
        slots.iter().map(|slot| query(relation, &slot.release)).collect();
    PlanAccount::new(queries?, Terms::new(relation.adjacency()))
        .map_err(|error| LedgerError::Uncertified(error.to_string()))
}

/// What a release asks for. A person with several records may be in several parts of the data,
/// and in a sample by any of their records: what is proved of parts and of samples is about
/// people with one.
pub(crate) fn query(relation: Relation, described: &Described) -> Result<Query, LedgerError> {
    let query = described.query()?;
    let is_sampled = query.release().rate.is_some_and(|rate| rate.get() < 1.0);
    let field = match query.part() {
        _ if relation.records() == 1 => return Ok(query),
        Some(_) => "partition",
        None if is_sampled => "rate",
        None => return Ok(query),
    };
    Err(LedgerError::SeveralRecords { field, records: relation.records() })
}
