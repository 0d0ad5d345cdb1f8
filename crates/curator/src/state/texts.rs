//! The texts of answered questions, for the owner's history. The ledger itself holds only their hashes.

use super::private::open_private;
use super::tokens::TokenError;
use rusqlite::{Connection, params};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The longest text, in characters; longer ones are cut.
const MOST_LETTERS: usize = 4000;

/// Writes do not wait for the disk. If the machine stops, the last texts may be lost and only their hashes remain.
const SCHEMA: &str = "
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS question (key TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID;
";

/// The texts, in the file of the tokens.
pub(crate) struct QuestionLog(Mutex<Connection>);

impl QuestionLog {
    /// Opens the texts in a file.
    pub(crate) fn open(file: &Path) -> Result<Self, TokenError> {
        Ok(Self(Mutex::new(open_private(file, SCHEMA)?)))
    }

    /// Notes the text of the question with this ledger key. A failure is ignored, so that it does not prevent an
    /// answer.
    pub(crate) fn note(&self, key: &str, text: &str) {
        let text: String = text.chars().take(MOST_LETTERS).collect();
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sql = "INSERT OR IGNORE INTO question (key, text) VALUES (?1, ?2)";
        let _ = connection.execute(sql, params![key, text]);
    }

    /// Pairs of ledger key and text: at most `most` of them, after a key, ordered by key.
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
