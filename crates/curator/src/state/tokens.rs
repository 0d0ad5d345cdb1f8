//! Who may ask: tokens of 256 bits, of which hashes are kept; and the secret that the curator keeps.

use super::private::open_private;
use counterpoint_ledger::Hash;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sees tables, accounts and spending, opens accounts, and makes the tokens of others.
    Owner,
    /// Asks.
    Analyst,
    /// Sees the history, and verifies it.
    Auditor,
}

impl Role {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Analyst => "analyst",
            Self::Auditor => "auditor",
        }
    }

    /// The role of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Owner, Self::Analyst, Self::Auditor].into_iter().find(|role| role.name() == name)
    }
}

/// Why a token was not made, found or revoked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file failed.
    #[error("{0}")]
    Database(String),
    /// There is no randomness to be had.
    #[error("there is no randomness to be had")]
    Randomness,
    /// Something that cannot be.
    #[error("{what} is {value:?}; legal: {legal}")]
    Value {
        /// What it is.
        what: &'static str,
        /// Its value, cut short if long.
        value: String,
        /// What is legal.
        legal: &'static str,
    },
    /// A row that was not written here.
    #[error("the tokens cannot be read; legal: what this program stored")]
    Unreadable,
}

impl From<rusqlite::Error> for TokenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.to_string())
    }
}

/// Whoever has a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bearer {
    /// The token's number, by which it is listed and revoked.
    pub id: i64,
    /// What it is for.
    pub role: Role,
    /// Whose it is.
    pub name: String,
    /// The accounts that an analyst may ask.
    pub accounts: Vec<String>,
    /// When it was made, in Unix seconds.
    pub created: i64,
    /// When it was revoked.
    pub revoked: Option<i64>,
}

/// Every token, in a file.
#[derive(Debug)]
pub struct Tokens {
    connection: Mutex<Connection>,
}

/// What a token's text begins with, so that it is known where it turns up.
const PREFIX: &str = "cpt_";
/// The longest name, and the most accounts.
const MOST_NAME: usize = 100;
const MOST_ACCOUNTS: usize = 100;

const COLUMNS: &str = "SELECT id, role, name, accounts, created, revoked FROM token";

/// Revoking waits for the disk, and numbers are not given twice.
const SCHEMA: &str = "
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS token (
        id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL UNIQUE, role TEXT NOT NULL, name TEXT NOT NULL,
        accounts TEXT NOT NULL, created INTEGER NOT NULL, revoked INTEGER) STRICT;
    CREATE TABLE IF NOT EXISTS secret (id INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT;
";

impl Tokens {
    /// Opens them, or makes a place for them that nobody but its owner can read.
    ///
    /// # Errors
    /// [`TokenError::Database`] if it cannot be opened.
    pub fn open(file: &Path) -> Result<Self, TokenError> {
        let connection = open_private(file, SCHEMA)?;
        Ok(Self { connection: Mutex::new(connection) })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a token. Its text is shown this once.
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

    /// Whose a token is, if it is valid now.
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

    /// At most so many tokens with higher numbers, in order, without their texts.
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

    /// The token of a number, revoked or not.
    ///
    /// # Errors
    /// [`TokenError::Database`].
    pub fn get(&self, id: i64) -> Result<Option<Bearer>, TokenError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?;
        statement.query_row([id], bearer).optional()?.transpose()
    }

    /// Revokes a token, from now on. `false` if there is none that could be.
    ///
    /// # Errors
    /// [`TokenError::Database`].
    pub fn revoke(&self, id: i64) -> Result<bool, TokenError> {
        let sql = "UPDATE token SET revoked = ?1 WHERE id = ?2 AND revoked IS NULL";
        Ok(self.connection().execute(sql, [now(), id])? > 0)
    }

    /// The secret that decides which rows of a person are used, made once.
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

/// A name that ledgers take, too.
fn is_word(text: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && text.len() <= MOST_NAME
        && text.bytes().all(part)
}

/// A row, if the database gives it; and what it says, if that is legal.
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
