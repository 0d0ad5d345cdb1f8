//! The texts of questions that were answered, for the owner's history. The ledger itself holds only their hashes.

use super::private::open_private;
use super::tokens::TokenError;
use rusqlite::{Connection, params};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Longer texts are cut.
const MOST_LETTERS: usize = 4000;

/// The last text is lost if the machine stops: then its hash is what is left. Nothing waits for the disk.
const SCHEMA: &str = "
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS question (key TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID;
";

/// The texts, in the file of the tokens.
pub(crate) struct Texts(Mutex<Connection>);

impl Texts {
    /// Opens them.
    pub(crate) fn open(file: &Path) -> Result<Self, TokenError> {
        Ok(Self(Mutex::new(open_private(file, SCHEMA)?)))
    }

    /// Notes what a key of the ledger stands for. What fails is not noted, and stops no answer.
    pub(crate) fn note(&self, key: &str, text: &str) {
        let text: String = text.chars().take(MOST_LETTERS).collect();
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sql = "INSERT OR IGNORE INTO question (key, text) VALUES (?1, ?2)";
        let _ = connection.execute(sql, params![key, text]);
    }

    /// At most so many of them, with the ledger's keys: those after a key, in the order of the keys.
    pub(crate) fn page(&self, after: &str, most: u64) -> Result<Vec<(String, String)>, TokenError> {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sql = "SELECT key, text FROM question WHERE key > ?1 ORDER BY key LIMIT ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows =
            statement.query_map(params![after, most], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
