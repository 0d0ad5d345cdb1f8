//! What names and keys stand for, or why they stand for nothing.

use super::tables::Tables;
use super::tables::cells::Known;
use crate::rules::error::{LedgerError, Result, unknown};
use crate::rules::rows::{Account, Release, Session, Slot};

/// A data set or an account.
pub(crate) fn account(tables: &mut Tables<'_>, name: &str) -> Result<Account> {
    let legal = "the name of a data set or an account";
    tables.account(name)?.ok_or_else(|| unknown("account", name, legal))
}

/// Whether there is such a data set or account, if one is named.
pub(crate) fn named(tables: &mut Tables<'_>, name: Option<&str>) -> Result<()> {
    name.map_or(Ok(()), |name| account(tables, name).map(drop))
}

/// A data set.
pub(crate) fn dataset(tables: &mut Tables<'_>, name: &str) -> Result<Account> {
    let found = tables.account(name)?.filter(|found| found.parent.is_none());
    found.ok_or_else(|| unknown("data set", name, "the name of one that was added"))
}

/// An account that releases can be made in.
pub(crate) fn opened(tables: &mut Tables<'_>, name: &str) -> Result<Account> {
    Ok(known(tables, name)?.account)
}

/// The same with the row it is in.
pub(crate) fn known(tables: &mut Tables<'_>, name: &str) -> Result<Known> {
    let legal = "the name of one that was opened";
    let found = tables.known(name)?.ok_or_else(|| unknown("account", name, legal))?;
    match found.account.parent {
        Some(_) => Ok(found),
        None => Err(found.account.unfit("is a data set", "an account opened under it")),
    }
}

/// A name that neither a data set nor an account has.
pub(crate) fn vacant(tables: &mut Tables<'_>, name: &str) -> Result<()> {
    let Some(found) = tables.account(name)? else { return Ok(()) };
    let what = if found.parent.is_none() { "data set" } else { "account" };
    Err(LedgerError::Exists { what, name: name.to_owned() })
}

/// A slot of a plan account.
pub(crate) fn slot(tables: &mut Tables<'_>, account: &str, name: &str) -> Result<Slot> {
    tables.slot(account, name)?.ok_or_else(|| unknown_slot(name))
}

/// What was reserved under a key.
pub(crate) fn release(tables: &mut Tables<'_>, account: &str, key: &str) -> Result<Release> {
    tables.release(account, key)?.ok_or_else(|| unknown_key(key))
}

/// A key that was reserved for a session.
pub(crate) fn session(tables: &mut Tables<'_>, account: &str, key: &str) -> Result<Release> {
    let release = release(tables, account, key)?;
    if release.session {
        return Ok(release);
    }
    let (key, problem) = (release.key, "is a single release's".to_owned());
    Err(LedgerError::UnfitKey { key, problem, legal: "one that was reserved for a session" })
}

/// A session that was begun.
pub(crate) fn begun(tables: &mut Tables<'_>, account: &str, key: &str) -> Result<Session> {
    let found = tables.session(account, key)?;
    found.ok_or_else(|| unknown("session", key, "one that was begun in the account"))
}

/// There is no such slot.
pub(crate) fn unknown_slot(name: &str) -> LedgerError {
    unknown("slot", name, "the name of a release in the account's plan, as status lists them")
}

/// There is no such key.
pub(crate) fn unknown_key(key: &str) -> LedgerError {
    unknown("key", key, "one that was reserved in the account")
}
