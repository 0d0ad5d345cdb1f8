//! The rows that follow from the history, as plain data.

use counterpoint::Relation;
use counterpoint_budget::{Amount, Filter};
use counterpoint_wire::ledger::{self as wire, Cost, PlanRecord, ReleaseRecord, Rule};

use super::chain::Hash;
use super::error::LedgerError;

/// A data set (which has no parent) or an account.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) parent: Option<String>,
    /// The slot of the parent in which the account was opened.
    pub(crate) slot: Option<String>,
    /// The entry that opened the account.
    pub(crate) opened: u64,
    pub(crate) relation: Relation,
    /// The part of the data that the account is about; all of the data if `None`.
    pub(crate) part: Option<String>,
    /// The rule. That of a plan account is kept without its slots.
    pub(crate) rule: Rule,
    pub(crate) balance: Balance,
    /// The number of quotas that were given.
    pub(crate) quotas: u64,
    /// The entry that closed the account.
    pub(crate) closed: Option<u64>,
}

/// A capacity, the amount that is spent of it, and the number of charges.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Balance {
    pub(crate) capacity: Cost,
    pub(crate) spent: Cost,
    pub(crate) charges: u64,
}

/// A slot of a plan account.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slot {
    pub(crate) name: String,
    /// The declared number of openings.
    pub(crate) total: u64,
    /// The number of used openings.
    pub(crate) used: u64,
    /// The declared release, including its count.
    pub(crate) release: ReleaseRecord,
}

/// An analyst's quota of an account.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuotaRow {
    pub(crate) analyst: String,
    pub(crate) balance: Balance,
}

/// A key of an account, with its reservation and its response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Release {
    pub(crate) key: String,
    pub(crate) account: String,
    pub(crate) analyst: Option<String>,
    pub(crate) session: bool,
    /// The digest of the request.
    pub(crate) request: Hash,
    /// The entry of the reservation.
    pub(crate) reserved: u64,
    /// The entry of the response.
    pub(crate) committed: Option<u64>,
    pub(crate) response: Option<Vec<u8>>,
}

/// An analyst's own key, and the release that it stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alias {
    pub(crate) account: String,
    /// The empty text where no analyst is named.
    pub(crate) analyst: String,
    /// The digest of the analyst's key.
    pub(crate) alias: Hash,
    /// The release's key.
    pub(crate) key: String,
    /// The entry that added the alias.
    pub(crate) entry: u64,
}

/// A session that was begun. Its private state is in a table of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SessionRow {
    pub(crate) key: String,
    pub(crate) account: String,
    /// The entry that began the session.
    pub(crate) begun: u64,
    pub(crate) declaration: Vec<u8>,
    /// The number of answers.
    pub(crate) answered: u64,
    /// The entry that ended the session.
    pub(crate) ended: Option<u64>,
}

/// An answer of a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnswerRow {
    pub(crate) key: String,
    pub(crate) account: String,
    /// The number of the answer in its session, from 1.
    pub(crate) number: u64,
    /// The name of the question in the session.
    pub(crate) ask: String,
    /// The digest of the question.
    pub(crate) question: Hash,
    /// The entry that stored the answer.
    pub(crate) entry: u64,
    pub(crate) response: Vec<u8>,
}

impl Balance {
    pub(crate) fn new(capacity: Cost) -> Self {
        // A sum of pure epsilons starts at zero, if there is one.
        let pure = capacity.pure.as_ref().map(|_| Amount::ZERO);
        Self { capacity, spent: Cost { pure, ..Cost::default() }, charges: 0 }
    }

    /// The balance with one more charge, even if it does not fit.
    pub(crate) fn plus(&self, charge: &Cost) -> Self {
        let Cost { main, delta, pure } = &self.spent;
        let pure = pure.as_ref().zip(charge.pure.as_ref()).map(|(sum, charge)| sum + charge);
        self.after_charge(Cost { main: main + &charge.main, delta: delta + &charge.delta, pure })
    }

    /// True if the spent amount is within the capacity: the main total and the delta, or the sum of pure epsilons.
    pub(crate) fn is_within_capacity(&self) -> bool {
        let Self { capacity, spent, .. } = self;
        let pure = spent.pure.as_ref().zip(capacity.pure.as_ref());
        (spent.main <= capacity.main && spent.delta <= capacity.delta)
            || pure.is_some_and(|(sum, most)| sum <= most)
    }

    /// The balance with a new capacity. A capacity below the spent amount is raised to it, so that nothing is left.
    pub(crate) fn with_capacity(&self, capacity: Cost) -> Self {
        let new = Self { capacity, ..self.clone() };
        if new.is_within_capacity() {
            return new;
        }
        let (Cost { main, delta, pure }, spent) = (new.capacity, new.spent.clone());
        let (main, delta) = (main.max(spent.main.clone()), delta.max(spent.delta.clone()));
        let pure = pure.map(|pure| spent.pure.clone().map_or(pure.clone(), |sum| pure.max(sum)));
        Self { capacity: Cost { main, delta, pure }, spent, charges: new.charges }
    }

    /// The balance after one more charge, with the new spent amount.
    pub(crate) fn after_charge(&self, spent: Cost) -> Self {
        Self { capacity: self.capacity.clone(), spent, charges: self.charges + 1 }
    }
}

impl Slot {
    /// A new slot, unused.
    pub(crate) fn new(slot: wire::Slot) -> Self {
        Self { name: slot.name, total: slot.count, used: 0, release: slot.release }
    }

    /// The slots of a new account.
    pub(crate) fn all(rule: &Rule) -> Vec<Self> {
        match rule {
            Rule::Plan(plan) => plan.slots.iter().cloned().map(Self::new).collect(),
            _ => Vec::new(),
        }
    }

    /// The part of the data that the slot is about.
    pub(crate) fn part(&self) -> Option<String> {
        self.release.part().map(str::to_owned)
    }
}

impl Account {
    /// A new account about all of the data. The rule of a plan account is kept without its slots, because accounts are
    /// read for every decision.
    pub(crate) fn new(
        name: &str,
        parent: Option<&str>,
        opened: u64,
        relation: Relation,
        rule: Rule,
    ) -> Self {
        Self {
            name: name.to_owned(),
            parent: parent.map(str::to_owned),
            slot: None,
            opened,
            relation,
            part: None,
            balance: Balance::new(capacity(&rule).unwrap_or_default()),
            rule: match rule {
                Rule::Plan(plan) => Rule::Plan(PlanRecord { slots: Vec::new(), ..plan }),
                rule => rule,
            },
            quotas: 0,
            closed: None,
        }
    }

    /// A new account within a slot of this plan account.
    pub(crate) fn new_in_slot(&self, slot: &Slot, name: &str, opened: u64, rule: Rule) -> Self {
        Self {
            slot: Some(slot.name.clone()),
            part: slot.part(),
            ..Self::new(name, Some(&self.name), opened, self.relation, rule)
        }
    }

    /// The filter of a data set or an open account, with its present capacity.
    pub(crate) fn filter(&self) -> Option<Filter> {
        let Rule::Filter(record) = &self.rule else { return None };
        let filter = record.filter(self.relation.adjacency())?;
        let (currency, promise, terms) =
            (filter.currency(), filter.promise().clone(), filter.terms());
        Some(Filter::from_stored(currency, promise, self.balance.capacity.clone().into(), terms))
    }

    /// The unit of the account's main total.
    pub(crate) fn unit(&self) -> &'static str {
        self.filter().map_or("releases", |filter| filter.currency().unit())
    }

    /// The error for a call that does not suit this account.
    pub(crate) fn unfit(&self, problem: &str, legal: &'static str) -> LedgerError {
        LedgerError::Unfit { account: self.name.clone(), problem: problem.to_owned(), legal }
    }
}

/// The capacity of a new account.
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

/// The cost of a number of releases in a plan account.
pub(crate) fn releases(count: u64) -> Cost {
    Cost { main: count.into(), ..Cost::default() }
}
