//! Tokens of 256 bits, stored as hashes, and the curator's secret.

use super::private::{OpenError, open_private};
use counterpoint_ledger::Hash;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The rights of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sees tables, accounts and spending, opens accounts, and creates tokens for others.
    Owner,
    /// Asks questions.
    Analyst,
    /// Sees and verifies the history.
    Auditor,
}

impl Role {
    /// The role's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Analyst => "analyst",
            Self::Auditor => "auditor",
        }
    }

    /// The role with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Owner, Self::Analyst, Self::Auditor].into_iter().find(|role| role.name() == name)
    }
}

/// A token was not created, found or revoked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file failed.
    #[error("{0}")]
    Database(String),
    /// The source of randomness failed.
    #[error("the source of randomness failed")]
    Randomness,
    /// A value is illegal.
    #[error("{what} is {value:?}; legal: {legal}")]
    Value {
        /// The name of the value.
        what: &'static str,
        /// The value, cut short if it is long.
        value: String,
        /// The legal values.
        legal: &'static str,
    },
    /// A row was not written by this program.
    #[error("the tokens cannot be read; legal: what this program stored")]
    Unreadable,
}

impl From<OpenError> for TokenError {
    fn from(error: OpenError) -> Self {
        Self::Database(error.to_string())
    }
}

impl From<rusqlite::Error> for TokenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.to_string())
    }
}

/// The bearer of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bearer {
    /// The token's number, by which it is listed and revoked.
    pub id: i64,
    /// The rights of the token.
    pub role: Role,
    /// The bearer's name.
    pub name: String,
    /// The accounts that an analyst may use.
    pub accounts: Vec<String>,
    /// The time of creation, in Unix seconds.
    pub created: i64,
    /// The time of revocation, in Unix seconds.
    pub revoked: Option<i64>,
}

/// The tokens, in a file.
#[derive(Debug)]
pub struct Tokens {
    connection: Mutex<Connection>,
}

/// The prefix of every token, by which leaked tokens can be recognised.
const PREFIX: &str = "cpt_";
/// The longest name, and the largest number of accounts.
const MOST_NAME: usize = 100;
const MOST_ACCOUNTS: usize = 100;

const COLUMNS: &str = "SELECT id, role, name, accounts, created, revoked FROM token";

/// Revocation waits for the disk, and numbers are not reused.
const SCHEMA: &str = "
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS token (
        id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL UNIQUE, role TEXT NOT NULL, name TEXT NOT NULL,
        accounts TEXT NOT NULL, created INTEGER NOT NULL, revoked INTEGER) STRICT;
    CREATE TABLE IF NOT EXISTS secret (id INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT;
";

impl Tokens {
    /// Opens the tokens in a file, or creates a file that only its owner can read.
    ///
    /// # Errors
    /// [`TokenError::Database`] if the file cannot be opened.
    pub fn open(file: &Path) -> Result<Self, TokenError> {
        let connection = open_private(file, SCHEMA)?;
        Ok(Self { connection: Mutex::new(connection) })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a token and returns its text, which is not stored.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn create(
        &self,
        role: Role,
        name: &str,
        accounts: &[String],
    ) -> Result<String, TokenError> {
        let legal = "1 to 100 letters, digits and . _ -, the first a letter or digit";
        for word in [name].into_iter().chain(accounts.iter().map(String::as_str)) {
            if !is_word(word) {
                let value: String = word.chars().take(MOST_NAME).collect();
                return Err(TokenError::Value { what: "a name", value, legal });
            }
        }
        if accounts.len() > MOST_ACCOUNTS || (role != Role::Analyst && !accounts.is_empty()) {
            let legal = "up to 100 accounts, for an analyst";
            let value = accounts.len().to_string();
            return Err(TokenError::Value { what: "the number of accounts", value, legal });
        }
        let secret = counterpoint_mechanisms::secret().map_err(|_| TokenError::Randomness)?;
        let token = format!("{PREFIX}{}", Hash(secret));
        let hash = Hash::of(token.as_bytes());
        let sql =
            "INSERT INTO token (hash, role, name, accounts, created) VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = params![hash.0, role.name(), name, accounts.join(" "), now()];
        self.connection().execute(sql, row)?;
        Ok(token)
    }

    /// Finds the bearer of a token, if the token is valid now.
    ///
    /// # Errors
    /// [`TokenError::Database`].
    pub fn find(&self, token: &str) -> Result<Option<Bearer>, TokenError> {
        if token.len() != PREFIX.len() + 64 || !token.starts_with(PREFIX) {
            return Ok(None);
        }
        let connection = self.connection();
        let sql = format!("{COLUMNS} WHERE hash = ?1 AND revoked IS NULL");
        let mut statement = connection.prepare_cached(&sql)?;
        let found = statement.query_row([Hash::of(token.as_bytes()).0], bearer).optional()?;
        found.transpose()
    }

    /// All tokens, without their texts.
    ///
    /// # Errors
    /// [`TokenError::Database`].
    pub fn list(&self) -> Result<Vec<Bearer>, TokenError> {
        self.page(0, u64::MAX)
    }

    /// Lists at most `most` tokens with higher numbers, in order, without their texts.
    ///
    /// # Errors
    /// [`TokenError::Database`].
    pub fn page(&self, after: u64, most: u64) -> Result<Vec<Bearer>, TokenError> {
        let cell = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let connection = self.connection();
        let sql = format!("{COLUMNS} WHERE id > ?1 ORDER BY id LIMIT ?2");
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map([cell(after), cell(most)], bearer)?;
        rows.map(|row| row?).collect()
    }

    /// The token with this number, revoked or not.
    ///
    /// # Errors
    /// [`TokenError::Database`].
    pub fn get(&self, id: i64) -> Result<Option<Bearer>, TokenError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?;
        statement.query_row([id], bearer).optional()?.transpose()
    }

    /// Revokes a token at once. Returns false if there is no such token, or it was revoked before.
    ///
    /// # Errors
    /// [`TokenError::Database`].
    pub fn revoke(&self, id: i64) -> Result<bool, TokenError> {
        let sql = "UPDATE token SET revoked = ?1 WHERE id = ?2 AND revoked IS NULL";
        Ok(self.connection().execute(sql, [now(), id])? > 0)
    }

    /// The secret that decides which rows of a person are used. It is created once.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn secret(&self) -> Result<[u8; 32], TokenError> {
        let made = counterpoint_mechanisms::secret().map_err(|_| TokenError::Randomness)?;
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute("INSERT OR IGNORE INTO secret (id, value) VALUES (1, ?1)", [made])?;
        let kept =
            transaction.query_row("SELECT value FROM secret WHERE id = 1", [], |row| row.get(0))?;
        transaction.commit()?;
        Ok(kept)
    }
}

/// True if a name is legal for ledgers, too.
fn is_word(text: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && text.len() <= MOST_NAME
        && text.bytes().all(part)
}

/// Reads a row. The outer error is the database's; the inner one is for an illegal value.
fn bearer(row: &Row<'_>) -> rusqlite::Result<Result<Bearer, TokenError>> {
    let (role, accounts): (String, String) = (row.get(1)?, row.get(3)?);
    let Some(role) = Role::named(&role) else { return Ok(Err(TokenError::Unreadable)) };
    let accounts = accounts.split_whitespace().map(str::to_owned).collect();
    let (id, name, created, revoked) = (row.get(0)?, row.get(2)?, row.get(4)?, row.get(5)?);
    Ok(Ok(Bearer { id, role, name, accounts, created, revoked }))
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or_default())
}
