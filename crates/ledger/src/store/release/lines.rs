//! The rows that a batch reads, with the changes that it makes to them.

use std::collections::BTreeMap;

use counterpoint_wire::ledger::ReleaseRequest;

use super::steps::Step;
use crate::rules::chain::Hash;
use crate::rules::error::Result;
use crate::store::database::{Cell, Row, Statement};
use crate::store::tables::{account_named, alias_of, quota_of, release_under, slot_named};

/// The name of a row. The account comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RowName<'a> {
    Account(&'a str),
    Slot(&'a str, &'a str),
    Quota(&'a str, &'a str),
    Release(&'a str, &'a str),
    Alias(&'a str, &'a str, &'a Hash),
}

/// The names of the rows that steps need, each once.
pub(super) fn row_names(steps: &[Step]) -> Vec<RowName<'_>> {
    let mut row_names: Vec<RowName<'_>> = steps.iter().flat_map(Step::row_names).collect();
    row_names.sort_unstable();
    row_names.dedup();
    // No name has a zero byte, and PostgreSQL refuses text with one.
    row_names.retain(|place| !place.names().iter().any(|name| name.contains('\0')));
    row_names
}

impl Step {
    fn row_names(&self) -> Vec<RowName<'_>> {
        match self {
            Self::Reserve(new) => {
                let slot = match &new.asked {
                    ReleaseRequest::Slot { name, .. } => Some(RowName::Slot(&new.account, name)),
                    _ => None,
                };
                let quota = new.analyst.as_deref();
                let quota = quota.map(|analyst| RowName::Quota(&new.account, analyst));
                let alias = new.alias.as_ref();
                let alias =
                    alias.map(|alias| RowName::alias(&new.account, new.analyst.as_ref(), alias));
                let fixed =
                    [RowName::Account(&new.account), RowName::Release(&new.account, &new.key)];
                fixed.into_iter().chain(slot).chain(quota).chain(alias).collect()
            }
            Self::Alias { account, analyst, alias, key } => {
                let alias = RowName::alias(account, analyst.as_ref(), alias);
                vec![RowName::Release(account, key), alias]
            }
            Self::Commit { account, key, .. } => vec![RowName::Release(account, key)],
        }
    }
}

impl<'a> RowName<'a> {
    /// The name of the row of an analyst's own key.
    pub(super) fn alias(account: &'a str, analyst: Option<&'a String>, alias: &'a Hash) -> Self {
        Self::Alias(account, analyst.map_or("", String::as_str), alias)
    }

    pub(super) fn names(self) -> [&'a str; 2] {
        match self {
            Self::Account(name) => [name, ""],
            Self::Slot(account, name)
            | Self::Quota(account, name)
            | Self::Release(account, name)
            | Self::Alias(account, name, _) => [account, name],
        }
    }

    pub(super) fn read(self) -> Statement {
        match self {
            Self::Account(name) => account_named(name),
            Self::Slot(account, name) => slot_named(account, name),
            Self::Quota(account, analyst) => quota_of(account, analyst),
            Self::Release(account, key) => release_under(account, key),
            Self::Alias(account, analyst, alias) => alias_of(account, analyst, alias),
        }
    }
}

/// The rows of one table, as read and as changed by the batch.
pub(super) struct CachedRows<'a, T> {
    read: fn(&[Cell]) -> Result<T>,
    lines: BTreeMap<RowName<'a>, CachedRow<T>>,
}

/// A row as it was read and, if the batch changed it, its value before and after.
struct CachedRow<T> {
    row: Option<Row>,
    changed: Option<(T, T)>,
}

impl<'a, T: Clone> CachedRows<'a, T> {
    pub(super) fn new(read: fn(&[Cell]) -> Result<T>) -> Self {
        Self { read, lines: BTreeMap::new() }
    }

    pub(super) fn insert(&mut self, place: RowName<'a>, row: Option<Row>) {
        self.lines.insert(place, CachedRow { row, changed: None });
    }

    /// The row that was read.
    pub(super) fn row(&self, place: RowName<'a>) -> Option<&Row> {
        self.lines.get(&place)?.row.as_ref()
    }

    /// The present value of a row that the batch changed.
    pub(super) fn changed(&self, place: RowName<'a>) -> Option<T> {
        Some(self.lines.get(&place)?.changed.as_ref()?.1.clone())
    }

    /// The present value of a row, if there is one.
    pub(super) fn now(&self, place: RowName<'a>) -> Result<Option<T>> {
        match self.changed(place) {
            Some(now) => Ok(Some(now)),
            None => self.row(place).map(|row| (self.read)(row)).transpose(),
        }
    }

    /// Records the value of a row before and after a change.
    pub(super) fn change(&mut self, place: RowName<'a>, before: T, after: T) {
        let line = self.lines.entry(place).or_insert(CachedRow { row: None, changed: None });
        match &mut line.changed {
            Some((_, now)) => *now = after,
            None => line.changed = Some((before, after)),
        }
    }

    /// The changed rows: the account, the value as it was read, and the present value.
    pub(super) fn changes(self) -> impl Iterator<Item = (&'a str, T, T)> {
        let changed = |(place, line): (RowName<'a>, CachedRow<T>)| {
            line.changed.map(|(before, after)| (place.names()[0], before, after))
        };
        self.lines.into_iter().filter_map(changed)
    }
}
