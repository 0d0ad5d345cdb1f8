//! What is set up in a ledger: data sets, accounts, quotas.

use std::collections::BTreeSet;

use counterpoint::{Adjacency, Relation};
use counterpoint_budget::Amount;
use counterpoint_wire::ledger::{Cost, Event, ExactPlan, PlanRecord, Rule, Slot};
use counterpoint_wire::{Question, adjacency_name};

use crate::chain::Head;
use crate::error::LedgerError;
use crate::ledger::{Ledger, append, find_account, now};
use crate::rows::{self, Account, Balance, Share};
use crate::rules::{self, Kind, NewFilter};
use crate::tables::Tables;
use crate::{MOST_SLOTS, name, slots};

/// How many entries are read at a time.
const PAGE: u64 = 1000;

/// What kind of account is to be opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NewAccount {
    /// Slots declared up front. The question, if given, replaces the plan's.
    Plan(ExactPlan, Option<(Question, Amount)>),
    /// Releases chosen as one goes.
    Filter(NewFilter),
}

/// An analyst's share of an account.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NewQuota {
    /// This part of what the account has to spend: above 0, at most 1.
    Share(Amount),
    /// So many releases, in a plan account.
    Releases(u64),
    /// So much, in an account that adds up epsilons and deltas.
    Cost {
        /// The multiplicative part.
        epsilon: Amount,
        /// The additive part.
        delta: Amount,
    },
}

impl Ledger {
    /// Adds a data set with its neighbouring relation and its budget.
    ///
    /// # Errors
    /// [`LedgerError`] if the name is taken or something is not legal.
    pub fn dataset(
        &mut self,
        name: &str,
        relation: Relation,
        budget: &NewFilter,
    ) -> Result<Head, LedgerError> {
        name::word("data set", name)?;
        let (adjacency, records) = (relation.adjacency(), relation.records());
        let filter = budget.record(adjacency)?;
        self.write(|tables, head| {
            vacant(tables, name)?;
            let rule = Rule::Filter(filter.clone());
            let (at, name_) = (now(), name.to_owned());
            let event = Event::Dataset { at, name: name_, adjacency, records, filter };
            let head = append(tables, head, &event)?;
            tables.add_account(&Account::new(name, None, head.sequence, relation, rule))?;
            Ok(head)
        })
    }

    /// Opens an account and charges its data set for all of it.
    ///
    /// # Errors
    /// [`LedgerError::Refused`] if the data set's budget does not allow it.
    pub fn open_account(
        &mut self,
        account: &str,
        dataset: &str,
        new: &NewAccount,
    ) -> Result<Head, LedgerError> {
        name::word("account", account)?;
        // A data set's relation never changes, so that the rule, which may take long to
        // certify, can be made before the ledger is locked.
        let relation = self.read(|tables| Ok(find_dataset(tables, dataset)?.relation))?;
        let rule = rule(new, relation)?;
        rows::capacity(&rule).ok_or_else(|| too_many(account))?;
        self.write(|tables, head| {
            vacant(tables, account)?;
            let parent = find_dataset(tables, dataset)?;
            rules::is_open(&parent)?;
            let (charge, balance) = rules::open(&parent, &rule)?;
            let (slots, kept) = without_slots(rule.clone());
            let event = Event::Open {
                at: now(),
                account: account.to_owned(),
                parent: dataset.to_owned(),
                slot: None,
                part: None,
                rule: rule.clone(),
                charge,
            };
            let head = append(tables, head, &event)?;
            tables.charge_account(&parent, &balance)?;
            tables.add_account(&Account {
                rule: kept,
                ..Account::new(account, Some(dataset), head.sequence, relation, rule)
            })?;
            for slot in slots {
                tables.add_slot(account, &slot)?;
            }
            Ok(head)
        })
    }

    /// Gives an analyst a share of an account, once. From then on every release in the account
    /// must name an analyst who has one. What the analyst asked for before is spent of it; of a share
    /// that is below that nothing is left.
    ///
    /// # Errors
    /// [`LedgerError`] if the analyst has one.
    pub fn quota(
        &mut self,
        account: &str,
        analyst: &str,
        quota: &NewQuota,
    ) -> Result<Head, LedgerError> {
        name::word("analyst", analyst)?;
        self.write(|tables, head| {
            let found = find_account(tables, account)?;
            rules::is_open(&found)?;
            if tables.share(account, analyst)?.is_some() {
                let name = analyst.to_owned();
                return Err(LedgerError::Exists { what: "a quota of analyst", name });
            }
            let spent = spent_before(tables, &found, analyst)?;
            let balance = spent.of(capacity_of(&found, quota)?);
            let (at, account_, analyst) = (now(), account.to_owned(), analyst.to_owned());
            let (capacity, changed) = (balance.capacity.clone(), false);
            let share = Share { analyst: analyst.clone(), balance };
            let event = Event::Quota { at, account: account_, analyst, capacity, changed };
            let head = append(tables, head, &event)?;
            tables.count_quota(&found)?;
            tables.add_share(account, &share)?;
            Ok(head)
        })
    }
}

impl Ledger {
    /// Closes an account for good: there are no new releases, quotas, slots or accounts in it.
    /// What was paid for goes on: responses to what was reserved, answers of sessions, accounts
    /// within its slots.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn close(&mut self, account: &str) -> Result<Head, LedgerError> {
        self.write(|tables, head| {
            if find_account(tables, account)?.closed.is_some() {
                tables.touch(head)?;
                return Ok(head);
            }
            let event = Event::Close { at: now(), account: account.to_owned() };
            let head = append(tables, head, &event)?;
            tables.close(account, head.sequence)?;
            Ok(head)
        })
    }
}

pub(crate) fn vacant(tables: &mut Tables<'_>, name: &str) -> Result<(), LedgerError> {
    match tables.account(name)? {
        None => Ok(()),
        Some(found) => {
            let what = if found.parent.is_none() { "data set" } else { "account" };
            Err(LedgerError::Exists { what, name: name.to_owned() })
        }
    }
}

pub(crate) fn find_dataset(tables: &mut Tables<'_>, name: &str) -> Result<Account, LedgerError> {
    let legal = "the name of one that was added";
    let unknown = || LedgerError::Unknown { what: "data set", name: name.to_owned(), legal };
    tables.account(name)?.filter(|found| found.parent.is_none()).ok_or_else(unknown)
}

fn too_many(account: &str) -> LedgerError {
    let problem = "has too many slots".to_owned();
    LedgerError::Unfit { account: account.to_owned(), problem, legal: "less than 2^64 uses" }
}

/// The rule of a new account.
fn rule(new: &NewAccount, relation: Relation) -> Result<Rule, LedgerError> {
    let adjacency = relation.adjacency();
    match new {
        NewAccount::Filter(filter) => Ok(Rule::Filter(filter.record(adjacency)?)),
        NewAccount::Plan(plan, question) => {
            agree(plan.adjacency, None, relation)?;
            if plan.group != 1 {
                return Err(unfit_plan(format!("group is {}", plan.group), "1"));
            }
            let question = question.as_ref().or(plan.question.as_ref());
            let legal = "delta or epsilon in the plan, or --delta or --epsilon";
            let question =
                question.ok_or_else(|| unfit_plan("nothing is asked".to_owned(), legal))?;
            Ok(Rule::Plan(slots::certify(question, declared(plan)?, relation)?))
        }
    }
}

/// A plan or a request may not speak of another neighbouring relation than its data set.
pub(crate) fn agree(
    adjacency: Option<Adjacency>,
    records: Option<u64>,
    dataset: Relation,
) -> Result<(), LedgerError> {
    let legal = "that of the data set, or none";
    if let Some(other) = adjacency.filter(|other| *other != dataset.adjacency()) {
        return Err(unfit_plan(format!("adjacency is {}", adjacency_name(other)), legal));
    }
    if let Some(other) = records.filter(|other| *other != dataset.records()) {
        return Err(unfit_plan(format!("records a person are {other}"), legal));
    }
    Ok(())
}

pub(crate) fn unfit_plan(problem: String, legal: &'static str) -> LedgerError {
    LedgerError::Unfit { account: "the plan".to_owned(), problem, legal }
}

/// The releases of a plan as slots, each with a name of its own.
pub(crate) fn declared(plan: &ExactPlan) -> Result<Vec<Slot>, LedgerError> {
    if plan.releases.len() > MOST_SLOTS {
        let problem = format!("has {} releases", plan.releases.len());
        return Err(unfit_plan(problem, "at most 100000, each with a count"));
    }
    let mut names = BTreeSet::new();
    let slot = |(index, release): (usize, &counterpoint_wire::ledger::Described)| {
        let name = release.name().map_or_else(|| (index + 1).to_string(), str::to_owned);
        name::words("slot", &name)?;
        release.part().map_or(Ok(()), |part| name::words("partition", part))?;
        if !names.insert(name.clone()) {
            let problem = format!("names two releases {name:?}");
            return Err(unfit_plan(problem, "a name of its own for each"));
        }
        let count = release.count()?;
        Ok(Slot { name, count, release: release.clone() })
    };
    plan.releases.iter().enumerate().map(slot).collect()
}

/// The slots as rows, and the rule without them: accounts are read for every decision.
pub(crate) fn without_slots(rule: Rule) -> (Vec<rows::Slot>, Rule) {
    match rule {
        Rule::Plan(PlanRecord { epsilon, delta, slots, format }) => {
            let kept = PlanRecord { epsilon, delta, slots: Vec::new(), format };
            (slots.into_iter().map(unused).collect(), Rule::Plan(kept))
        }
        rule => (Vec::new(), rule),
    }
}

/// A new slot as a row.
pub(crate) fn unused(slot: Slot) -> rows::Slot {
    rows::Slot { name: slot.name, total: slot.count, used: 0, release: slot.release }
}

/// What a quota that is given late finds spent: all that the analyst asked for in the account before.
fn spent_before(
    tables: &mut Tables<'_>,
    account: &Account,
    analyst: &str,
) -> Result<Balance, LedgerError> {
    let mut balance = Balance::new(account.balance.capacity.clone());
    let shared: u64 = tables.shares(&account.name)?.iter().map(|share| share.balance.charges).sum();
    let (mut after, mut is_more) = (0, shared < account.balance.charges);
    while is_more {
        let page = tables.entries_of(&account.name, after, PAGE)?;
        is_more = page.last().is_some();
        after = page.last().map_or(after, |last| last.sequence);
        for stored in page {
            let event = Event::read(&stored.body);
            let event = event.map_err(|error| LedgerError::Damaged(error.problem))?;
            if let Event::Reserve { analyst: Some(who), charge, .. } = event
                && who == analyst
            {
                balance = balance.plus(&charge);
            }
        }
    }
    Ok(balance)
}

/// Digits after the point that a share of an amount is kept to, well within what can be read.
const SHARE_PLACES: u32 = 2000;

/// What an analyst may spend, in the account's currency.
pub(crate) fn capacity_of(account: &Account, quota: &NewQuota) -> Result<Cost, LedgerError> {
    let Cost { main, delta, pure } = &account.balance.capacity;
    match (&account.rule, quota) {
        (_, NewQuota::Share(share)) if share.is_zero() || *share > Amount::from(1) => {
            Err(account.unfit(&format!("gets a share of {share}"), "above 0, at most 1"))
        }
        (Rule::Plan(_), NewQuota::Share(share)) => {
            Ok(Cost { main: (main * share).floor(0), ..Cost::default() })
        }
        (_, NewQuota::Share(share)) => {
            let part = |amount: &Amount| (amount * share).floor(SHARE_PLACES);
            Ok(Cost { main: part(main), delta: part(delta), pure: pure.as_ref().map(part) })
        }
        (Rule::Plan(_), NewQuota::Releases(count)) => Ok(rows::releases(*count)),
        (Rule::Filter(record), NewQuota::Cost { epsilon, delta })
            if record.kind == Kind::Sums.name() =>
        {
            Ok(Cost { main: epsilon.clone(), delta: delta.clone(), pure: None })
        }
        (Rule::Plan(_), _) => Err(account.unfit("is a plan account", "--releases, or --share")),
        (_, NewQuota::Cost { .. }) => {
            let problem = format!("adds up {}, no epsilons", account.unit());
            Err(account.unfit(&problem, "--share"))
        }
        _ => Err(account.unfit("is an open account", "--share, or --epsilon and --delta")),
    }
}
