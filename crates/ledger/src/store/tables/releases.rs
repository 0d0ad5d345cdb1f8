//! Every statement about releases and their keys.

use super::Tables;
use super::cells::{RowReader, alias, optional, release, whole};
use crate::rules::chain::Hash;
use crate::rules::error::Result;
use crate::rules::rows::{Alias, Release};
use crate::store::database::{Cell, Statement};

/// A row without its response, with the response's digest and length.
pub(crate) type DigestRow<T> = (T, Option<(Hash, u64)>);

/// The most releases that are read at a time, and the most bytes that their responses have together if there are
/// several.
const RELEASES: u64 = 500;
const RESPONSES: u64 = 1 << 20;

/// Releases without a response, except sessions that have ended.
pub(crate) const OPEN_RELEASES: &str = "SELECT r.key, r.account, r.analyst, r.session, r.request, r.reserved \
     FROM ledger_release r LEFT JOIN ledger_session s ON s.key = r.key AND s.account = r.account \
     WHERE r.committed IS NULL AND s.ended IS NULL ORDER BY r.reserved";

impl Tables<'_> {
    pub(crate) fn release(&mut self, account: &str, key: &str) -> Result<Option<Release>> {
        self.first(&release_under(account, key), release)
    }

    /// The accounts in which a key was reserved.
    pub(crate) fn accounts_with(&mut self, key: &str) -> Result<Vec<String>> {
        let sql = "SELECT account FROM ledger_release WHERE key = $1 ORDER BY account";
        self.list(sql, &[key.into()], |row| RowReader(row).text(0))
    }

    /// Some of the releases that were reserved after an entry, in order; an empty list if there are none. Long
    /// responses make the list shorter, so that it takes little memory.
    pub(crate) fn releases(&mut self, after: i64) -> Result<Vec<Release>> {
        let sql = "SELECT reserved, CAST(coalesce(length(response), 0) AS BIGINT) FROM ledger_release \
                   WHERE reserved > $1 ORDER BY reserved LIMIT $2";
        let (mut last, mut bytes) = (None, 0);
        for row in self.rows(sql, &[after.into(), whole(RELEASES)?])? {
            bytes += RowReader(&row).count(1)?;
            if last.is_some() && bytes > RESPONSES {
                break;
            }
            last = Some(RowReader(&row).whole(0)?);
        }
        let Some(last) = last else { return Ok(Vec::new()) };
        let sql = "SELECT key, account, analyst, session, request, reserved, committed, response \
                   FROM ledger_release WHERE reserved > $1 AND reserved <= $2 ORDER BY reserved";
        self.list(sql, &[after.into(), last.into()], release)
    }

    /// Some of the releases that were reserved after an entry, in order, with digests and lengths in the place of
    /// responses.
    pub(crate) fn digested_releases(&mut self, after: i64) -> Result<Vec<DigestRow<Release>>> {
        if !self.has_digests()? {
            return Ok(self.releases(after)?.into_iter().map(digested).collect());
        }
        let sql = "SELECT key, account, analyst, session, request, reserved, committed, response, length \
                   FROM ledger_release_digest WHERE reserved > $1 ORDER BY reserved LIMIT $2";
        self.list(sql, &[after.into(), whole(RELEASES)?], digested_release)
    }

    /// One release, with a digest and a length in the place of its response.
    pub(crate) fn digested_release(
        &mut self,
        account: &str,
        key: &str,
    ) -> Result<Option<DigestRow<Release>>> {
        if !self.has_digests()? {
            return Ok(self.release(account, key)?.map(digested));
        }
        let sql = "SELECT key, account, analyst, session, request, reserved, committed, response, length \
                   FROM ledger_release_digest WHERE key = $1 AND account = $2";
        self.first(
            &Statement { sql, parameters: vec![key.into(), account.into()] },
            digested_release,
        )
    }

    /// Releases without a response, including sessions, in the order of their reservations.
    pub(crate) fn uncommitted(&mut self) -> Result<Vec<Release>> {
        let sql = "SELECT key, account, analyst, session, request, reserved, committed \
                   FROM ledger_release WHERE committed IS NULL ORDER BY reserved";
        self.list(sql, &[], release)
    }

    pub(crate) fn add_release(&mut self, release: &Release) -> Result<()> {
        let sql = "INSERT INTO ledger_release (key, account, analyst, session, request, reserved) \
                   VALUES ($1, $2, $3, $4, $5, $6)";
        let cells = [
            release.key.as_str().into(),
            release.account.as_str().into(),
            optional(release.analyst.as_deref()),
            i64::from(release.session).into(),
            release.request.into(),
            whole(release.reserved)?,
        ];
        self.write_one(sql, cells)
    }

    /// At most `most` aliases that were given after an entry, in order.
    pub(crate) fn aliases(&mut self, after: i64, most: u64) -> Result<Vec<Alias>> {
        let sql = "SELECT account, analyst, alias, key, entry FROM ledger_alias \
                   WHERE entry > $1 ORDER BY entry LIMIT $2";
        self.list(sql, &[after.into(), whole(most)?], alias)
    }

    pub(crate) fn add_alias(&mut self, alias: &Alias) -> Result<()> {
        let sql = "INSERT INTO ledger_alias (account, analyst, alias, key, entry) \
                   VALUES ($1, $2, $3, $4, $5)";
        let cells = [
            alias.account.as_str().into(),
            alias.analyst.as_str().into(),
            alias.alias.into(),
            alias.key.as_str().into(),
            whole(alias.entry)?,
        ];
        self.write_one(sql, cells)
    }

    /// Stores a response, if the release has none.
    pub(crate) fn respond(
        &mut self,
        account: &str,
        key: &str,
        committed: u64,
        response: &[u8],
    ) -> Result<()> {
        let sql = "UPDATE ledger_release SET committed = $1, response = $2 \
                   WHERE key = $3 AND account = $4 AND session = 0 AND committed IS NULL";
        self.write_one(sql, [whole(committed)?, response.into(), key.into(), account.into()])
    }
}

fn digested(mut release: Release) -> DigestRow<Release> {
    let response = release.response.take();
    (release, response.map(|bytes| (Hash::of(&bytes), bytes.len() as u64)))
}

/// Reads a row in which the response's digest and length are in the place of the response.
fn digested_release(row: &[Cell]) -> Result<DigestRow<Release>> {
    let found = Release { response: None, ..release(row)? };
    let response = match RowReader(row).cell(7) {
        Cell::Null => None,
        _ => Some((RowReader(row).hash(7)?, RowReader(row).count(8)?)),
    };
    Ok((found, response))
}

pub(crate) fn alias_of(account: &str, analyst: &str, alias: &Hash) -> Statement {
    let sql = "SELECT account, analyst, alias, key, entry FROM ledger_alias \
               WHERE account = $1 AND analyst = $2 AND alias = $3";
    let parameters = vec![account.into(), analyst.into(), (*alias).into()];
    Statement { sql, parameters }
}

pub(crate) fn release_under(account: &str, key: &str) -> Statement {
    let sql = "SELECT key, account, analyst, session, request, reserved, committed, response \
               FROM ledger_release WHERE key = $1 AND account = $2";
    Statement { sql, parameters: vec![key.into(), account.into()] }
}
