//! The balances, derived from the history once more.

mod accounts;
mod releases;
mod sessions;

use std::collections::{BTreeMap, BTreeSet};

use counterpoint::Relation;
use counterpoint_wire::ledger::{Cost, Event, NotCanonical, Rule};

use crate::rules::chain::Hash;
use crate::rules::error::{LedgerError, Result};
use crate::rules::filter;
use crate::rules::limits::{FORMAT, OLDEST_FORMAT};
use crate::rules::name::Place;
use crate::rules::request::Request;
use crate::rules::rows::{Account, Balance, Share, Slot};
pub(super) use releases::Kept;
pub(super) use sessions::{KeptAnswer, KeptSession, Sessions};

/// Everything that follows from a history.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) accounts: BTreeMap<String, Account>,
    /// By account and slot.
    pub(super) slots: BTreeMap<(String, String), Slot>,
    /// By account and analyst.
    pub(super) shares: BTreeMap<(String, String), Share>,
    pub(super) unstored: Unstored,
    /// By account and key.
    pub(super) releases: BTreeMap<Place, Kept>,
    /// By account, analyst (empty where nobody is named) and the key's digest: the release's key, and the entry.
    pub(super) aliases: BTreeMap<(String, String, Hash), (String, u64)>,
    pub(super) sessions: Sessions,
    /// The version of the format so far.
    pub(super) format: u64,
    /// The entry that these books begin after, from which only what was not over is known; 0 if all of it is.
    pub(super) after: u64,
    /// Keys that are not known from there on, and were named: they must have been reserved before.
    pub(super) earlier: Vec<Place>,
    /// What was already priced: prices depend on the account's rule and the description alone.
    prices: BTreeMap<Place, Cost>,
}

/// What follows from the history alone: no table has it.
#[derive(Debug, Default)]
pub(super) struct Unstored {
    /// What analysts spent without a share, by account and analyst.
    pub(super) unshared: BTreeMap<Place, Balance>,
    /// The moves of budget, by the account that gave and key.
    pub(super) moves: BTreeSet<Place>,
}

/// The first version of the format that has aliases.
pub(super) const ALIASES: u64 = 3;

/// The first version of the format in which a ledger has an identity.
const IDENTITY: u64 = 4;

/// The first version of the format in which owners close data sets, change quotas, move budget and bring mechanisms.
const OWNERS: u64 = 4;

/// Why an event of a history could not have happened.
#[derive(Debug, thiserror::Error)]
pub(super) enum Impossible {
    /// It does not follow from what came before, or is no event.
    #[error("{0}")]
    Unfounded(String),
    /// A rule does not allow it.
    #[error(transparent)]
    Forbidden(#[from] LedgerError),
}

impl From<&str> for Impossible {
    fn from(problem: &str) -> Self {
        Self::Unfounded(problem.to_owned())
    }
}

impl From<String> for Impossible {
    fn from(problem: String) -> Self {
        Self::Unfounded(problem)
    }
}

impl From<NotCanonical> for Impossible {
    fn from(error: NotCanonical) -> Self {
        Self::Unfounded(error.problem)
    }
}

/// Whether what happens once had not happened before.
fn once<T>(before: Option<T>, problem: &str) -> Result<(), Impossible> {
    before.map_or(Ok(()), |_| Err(problem.into()))
}

impl Books {
    /// Empty books of a format that begin after an entry.
    pub(super) fn after(after: u64, format: u64) -> Self {
        Self { after, format, ..Self::default() }
    }

    /// One event later.
    pub(super) fn apply(&mut self, sequence: u64, event: &Event) -> Result<(), Impossible> {
        match event {
            Event::Init { format, identity, .. } => {
                if sequence != 1 || !(OLDEST_FORMAT..=FORMAT).contains(format) {
                    return Err("a ledger begins here".into());
                }
                self.begin(*format, identity.as_deref())
            }
            _ if sequence == 1 => Err("the history does not begin with init".into()),
            Event::Upgrade { format, identity, .. } => {
                if !(self.format + 1..=FORMAT).contains(format) {
                    return Err(format!("the format goes from {} to {format}", self.format).into());
                }
                self.begin(*format, identity.as_deref())
            }
            Event::Dataset { name, adjacency, records, filter, .. } => {
                if filter::overstated(filter, *adjacency)? {
                    return Err("there is more to spend than is promised".into());
                }
                let relation = Relation::new(*adjacency, *records);
                let relation = relation.map_err(|error| error.to_string())?;
                self.add(Account::new(name, None, sequence, relation, Rule::Filter(filter.clone())))
            }
            Event::Open { account, parent, slot: None, part: None, rule, charge, .. } => {
                self.open(sequence, account, parent, rule, charge)
            }
            Event::Open { account, parent, slot: Some(slot), part, rule, charge, .. } => {
                let part = part.as_deref();
                self.open_in_slot(sequence, account, (parent, slot, part), rule, charge)
            }
            Event::Recut { account, unused, into, .. } => self.recut(account, unused, into),
            Event::Quota { account, analyst, capacity, changed: false, .. } => {
                self.quota(account, analyst, capacity)
            }
            Event::Quota { account, analyst, capacity, changed: true, .. } => {
                self.change_quota(account, analyst, capacity)
            }
            Event::Move { account, to, key, amount, .. } => {
                self.transfer((account, to), key, amount)
            }
            Event::Reserve {
                account,
                key,
                analyst,
                session,
                question,
                own,
                release,
                charge,
                ..
            } => {
                own.as_ref().map_or(Ok(()), |_| self.has_owners())?;
                let digest = |text: &String| Hash::read(text).ok_or("its question has no digest");
                let request = Request {
                    analyst: analyst.as_deref(),
                    session: *session,
                    question: question.as_ref().map(digest).transpose()?,
                    own: own.as_deref(),
                    ..Request::new(account, key, release)
                };
                self.reserve(sequence, &request, charge)
            }
            Event::Alias { account, analyst, alias, key, .. } => {
                self.alias(sequence, (account, analyst.as_deref(), alias), key)
            }
            Event::Commit { account, key, sha256, length, .. } => {
                let committed = &mut self.kept(account, key, false)?.committed;
                let response = (sequence, sha256.clone(), *length);
                once(committed.replace(response), "the key was committed before")
            }
            Event::Begin { account, key, .. }
            | Event::Answer { account, key, .. }
            | Event::End { account, key, .. } => {
                self.kept(account, key, true)?;
                self.sessions.apply(sequence, (account, key), event)
            }
            Event::Close { account, .. } => self.close(sequence, account),
            _ => Err("the event is of no known kind".into()),
        }
    }

    /// Whether the format has what owners do.
    fn has_owners(&self) -> Result<(), Impossible> {
        if self.format >= OWNERS {
            return Ok(());
        }
        Err("the format has no such event yet".into())
    }

    /// A format from here on, with the identity that ledgers have from 4 on.
    fn begin(&mut self, format: u64, identity: Option<&str>) -> Result<(), Impossible> {
        self.format = format;
        // Prices are those of the format that they were charged in.
        self.prices.clear();
        match identity.map(Hash::read) {
            Some(Some(_)) if format >= IDENTITY => Ok(()),
            None if format < IDENTITY => Ok(()),
            _ => Err("the ledger's identity is none".into()),
        }
    }
}
