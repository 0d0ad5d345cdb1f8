//! Rows by their names and keys, or the error that says that there is none.

use super::tables::Tables;
use super::tables::cells::AccountRow;
use crate::rules::error::{LedgerError, Result, unknown};
use crate::rules::rows::{Account, Release, SessionRow, Slot};

/// Finds a data set or an account.
pub(crate) fn account(tables: &mut Tables<'_>, name: &str) -> Result<Account> {
    let legal = "the name of a data set or an account";
    tables.account(name)?.ok_or_else(|| unknown("account", name, legal))
}

/// Checks that a data set or account exists, if a name is given.
pub(crate) fn check_named(tables: &mut Tables<'_>, name: Option<&str>) -> Result<()> {
    name.map_or(Ok(()), |name| account(tables, name).map(drop))
}

/// Finds a data set.
pub(crate) fn dataset(tables: &mut Tables<'_>, name: &str) -> Result<Account> {
    let found = tables.account(name)?.filter(|found| found.parent.is_none());
    found.ok_or_else(|| unknown("data set", name, "the name of one that was added"))
}

/// Finds an account that is not a data set, so that releases can be made in it.
pub(crate) fn account_not_dataset(tables: &mut Tables<'_>, name: &str) -> Result<Account> {
    Ok(account_row(tables, name)?.account)
}

/// Finds an account that is not a data set, with the row that it was read from.
pub(crate) fn account_row(tables: &mut Tables<'_>, name: &str) -> Result<AccountRow> {
    let legal = "the name of one that was opened";
    let found = tables.account_row(name)?.ok_or_else(|| unknown("account", name, legal))?;
    match found.account.parent {
        Some(_) => Ok(found),
        None => Err(found.account.unfit("is a data set", "an account opened under it")),
    }
}

/// Checks that no data set and no account has a name.
pub(crate) fn check_vacant(tables: &mut Tables<'_>, name: &str) -> Result<()> {
    let Some(found) = tables.account(name)? else { return Ok(()) };
    let what = if found.parent.is_none() { "data set" } else { "account" };
    Err(LedgerError::Exists { what, name: name.to_owned() })
}

/// Finds a slot of a plan account.
pub(crate) fn slot(tables: &mut Tables<'_>, account: &str, name: &str) -> Result<Slot> {
    tables.slot(account, name)?.ok_or_else(|| unknown_slot(name))
}

/// Finds the release that was reserved under a key.
pub(crate) fn release(tables: &mut Tables<'_>, account: &str, key: &str) -> Result<Release> {
    tables.release(account, key)?.ok_or_else(|| unknown_key(key))
}

/// Finds a key that was reserved for a session.
pub(crate) fn session(tables: &mut Tables<'_>, account: &str, key: &str) -> Result<Release> {
    let release = release(tables, account, key)?;
    if release.session {
        return Ok(release);
    }
    let (key, problem) = (release.key, "is a single release's".to_owned());
    Err(LedgerError::UnfitKey { key, problem, legal: "one that was reserved for a session" })
}

/// Finds a session that was begun.
pub(crate) fn begun(tables: &mut Tables<'_>, account: &str, key: &str) -> Result<SessionRow> {
    let found = tables.session(account, key)?;
    found.ok_or_else(|| unknown("session", key, "one that was begun in the account"))
}

/// The error for a slot that does not exist.
pub(crate) fn unknown_slot(name: &str) -> LedgerError {
    unknown("slot", name, "the name of a release in the account's plan, as status lists them")
}

/// The error for a key that was not reserved.
pub(crate) fn unknown_key(key: &str) -> LedgerError {
    unknown("key", key, "one that was reserved in the account")
}
