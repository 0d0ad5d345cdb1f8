//! Replay: all balances, derived from the history again.

mod accounts;
mod releases;
mod sessions;

use std::collections::{BTreeMap, BTreeSet};

use counterpoint::Relation;
use counterpoint_wire::ledger::{CanonicalError, Cost, Event, Rule};

use crate::rules::chain::Hash;
use crate::rules::error::{LedgerError, Result};
use crate::rules::filter;
use crate::rules::limits::{FORMAT, OLDEST_FORMAT};
use crate::rules::name::NameInAccount;
use crate::rules::request::Request;
use crate::rules::rows::{Account, Balance, QuotaRow, Slot};
pub(super) use releases::ReleaseRecord;
pub(super) use sessions::{AnswerRecord, SessionRecord, Sessions};

/// The books: all state that follows from a history.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) accounts: BTreeMap<String, Account>,
    /// The slots, by account and name.
    pub(super) slots: BTreeMap<(String, String), Slot>,
    /// The quotas, by account and analyst.
    pub(super) quotas: BTreeMap<(String, String), QuotaRow>,
    pub(super) unstored: UnstoredState,
    /// The releases, by account and key.
    pub(super) releases: BTreeMap<NameInAccount, ReleaseRecord>,
    /// The release's key and the entry, by account, analyst (empty where none is named) and the digest of the analyst's
    /// own key.
    pub(super) aliases: BTreeMap<(String, String, Hash), (String, u64)>,
    pub(super) sessions: Sessions,
    /// The version of the format at the last entry.
    pub(super) format: u64,
    /// The entry that these books begin after; 0 for complete books. Releases and sessions that had ended by then are
    /// missing.
    pub(super) after: u64,
    /// Keys that aliases stand for and that these books lack. They must have been reserved before the books begin.
    pub(super) earlier: Vec<NameInAccount>,
    /// The charges computed so far, by account and description. A charge depends on the account's rule and the
    /// description alone.
    prices: BTreeMap<NameInAccount, Cost>,
}

/// State that follows from the history and that no table holds.
#[derive(Debug, Default)]
pub(super) struct UnstoredState {
    /// The amounts that analysts spent without a quota, by account and analyst.
    pub(super) spent_without_quota: BTreeMap<NameInAccount, Balance>,
    /// The transfers of budget, by giving account and key.
    pub(super) moves: BTreeSet<NameInAccount>,
}

/// The first version of the format that has aliases.
pub(super) const ALIASES_SINCE: u64 = 3;

/// The first version of the format in which a ledger has an identity.
const IDENTITY_SINCE: u64 = 4;

/// The first version of the format in which owners close data sets, change quotas, move budget and provide mechanisms.
const OWNER_EVENTS_SINCE: u64 = 4;

/// The reason why an event of a history could not have happened.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplayError {
    /// The event does not follow from the earlier ones, or is not legal.
    #[error("{0}")]
    Unfounded(String),
    /// A rule forbids the event.
    #[error(transparent)]
    Forbidden(#[from] LedgerError),
}

impl From<&str> for ReplayError {
    fn from(problem: &str) -> Self {
        Self::Unfounded(problem.to_owned())
    }
}

impl From<String> for ReplayError {
    fn from(problem: String) -> Self {
        Self::Unfounded(problem)
    }
}

impl From<CanonicalError> for ReplayError {
    fn from(error: CanonicalError) -> Self {
        Self::Unfounded(error.problem)
    }
}

/// Refuses an event that may happen once and had happened before.
fn check_once<T>(before: Option<T>, problem: &str) -> Result<(), ReplayError> {
    before.map_or(Ok(()), |_| Err(problem.into()))
}

impl Books {
    /// Empty books of a format that begin after an entry.
    pub(super) fn after(after: u64, format: u64) -> Self {
        Self { after, format, ..Self::default() }
    }

    /// Applies one event.
    pub(super) fn apply(&mut self, sequence: u64, event: &Event) -> Result<(), ReplayError> {
        match event {
            Event::Init { format, identity, .. } => {
                if sequence != 1 || !(OLDEST_FORMAT..=FORMAT).contains(format) {
                    return Err("an init event is not the first, or its format is unknown".into());
                }
                self.begin(*format, identity.as_deref())
            }
            _ if sequence == 1 => Err("the history does not begin with init".into()),
            Event::Upgrade { format, identity, .. } => {
                if !(self.format + 1..=FORMAT).contains(format) {
                    let found = self.format;
                    let problem = format!(
                        "the format changes from {found} to {format}; legal: a later known format"
                    );
                    return Err(problem.into());
                }
                self.begin(*format, identity.as_deref())
            }
            Event::Dataset { name, adjacency, records, filter, .. } => {
                if filter::is_overstated(filter, *adjacency)? {
                    return Err("the filter's capacity exceeds its promise".into());
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
                own.as_ref().map_or(Ok(()), |_| self.check_owner_events())?;
                let digest =
                    |text: &String| Hash::read(text).ok_or("its question's digest is not a hash");
                let request = Request {
                    analyst: analyst.as_deref(),
                    session: *session,
                    question: question.as_ref().map(digest).transpose()?,
                    owner_mechanism: own.as_deref(),
                    ..Request::new(account, key, release)
                };
                self.reserve(sequence, &request, charge)
            }
            Event::Alias { account, analyst, alias, key, .. } => {
                self.alias(sequence, (account, analyst.as_deref(), alias), key)
            }
            Event::Commit { account, key, sha256, length, .. } => {
                let committed = &mut self.reserved_key(account, key, false)?.committed;
                let response = (sequence, sha256.clone(), *length);
                check_once(committed.replace(response), "the key was committed before")
            }
            Event::Begin { account, key, .. }
            | Event::Answer { account, key, .. }
            | Event::End { account, key, .. } => {
                self.reserved_key(account, key, true)?;
                self.sessions.apply(sequence, (account, key), event)
            }
            Event::Close { account, .. } => self.close(sequence, account),
            _ => Err("the event's kind is unknown".into()),
        }
    }

    /// Refuses the events of owners in formats that do not have them.
    fn check_owner_events(&self) -> Result<(), ReplayError> {
        if self.format >= OWNER_EVENTS_SINCE {
            return Ok(());
        }
        Err("this version of the format has no such event".into())
    }

    /// Begins a format, with the ledger's identity in the formats that have one.
    fn begin(&mut self, format: u64, identity: Option<&str>) -> Result<(), ReplayError> {
        self.format = format;
        // Charges follow the format in which they were made.
        self.prices.clear();
        match identity.map(Hash::read) {
            Some(Some(_)) if format >= IDENTITY_SINCE => Ok(()),
            None if format < IDENTITY_SINCE => Ok(()),
            _ => Err("the ledger's identity is missing, not a hash, or not allowed in this format"
                .into()),
        }
    }
}
