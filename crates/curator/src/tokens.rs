//! Who may ask: tokens of 256 bits, of which hashes are kept; and the secret that the curator keeps.

use counterpoint_ledger::database::{Access, Cell, Database, Dialect};
use counterpoint_ledger::{DatabaseError, Hash, Url};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sees tables, accounts and spending; asks nothing.
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
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
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

/// Every token, in a database.
pub struct Tokens {
    database: Mutex<Box<dyn Database>>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

/// What a token's text begins with, so that it is known where it turns up.
const PREFIX: &str = "cpt_";
/// The longest name, and the most accounts.
const MOST_NAME: usize = 100;
const MOST_ACCOUNTS: usize = 100;

const COLUMNS: &str = "SELECT id, role, name, accounts, created, revoked FROM curator_token";

impl Tokens {
    /// Opens them, or makes a place for them.
    ///
    /// # Errors
    /// [`TokenError::Database`] if it cannot be opened.
    pub fn open(url: &Url) -> Result<Self, TokenError> {
        let mut database = url.open(true)?;
        let bytes = match database.dialect() {
            Dialect::Sqlite => "BLOB",
            Dialect::Postgres => "BYTEA",
        };
        database.begin(Access::Write)?;
        for sql in [
            format!(
                "CREATE TABLE IF NOT EXISTS curator_token (id BIGINT PRIMARY KEY, hash {bytes} NOT NULL UNIQUE, \
                 role TEXT NOT NULL, name TEXT NOT NULL, accounts TEXT NOT NULL, created BIGINT NOT NULL, revoked BIGINT)"
            ),
            format!(
                "CREATE TABLE IF NOT EXISTS curator_secret (id BIGINT PRIMARY KEY, value {bytes} NOT NULL)"
            ),
        ] {
            database.execute(&sql, &[])?;
        }
        database.commit()?;
        Ok(Self { database: Mutex::new(database) })
    }

    fn database(&self) -> MutexGuard<'_, Box<dyn Database>> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&mut dyn Database) -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        let mut database = self.database();
        database.begin(Access::Write)?;
        match work(&mut **database) {
            Ok(value) => {
                database.commit()?;
                Ok(value)
            }
            Err(error) => {
                database.rollback();
                Err(error)
            }
        }
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&mut dyn Database) -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        let mut database = self.database();
        database.begin(Access::Read)?;
        let outcome = work(&mut **database);
        database.rollback();
        outcome
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
        let token = format!("{PREFIX}{}", hex(&secret));
        let hash = Hash::of(token.as_bytes());
        let accounts = accounts.join(" ");
        self.write(|database| {
            let rows = database.query("SELECT COALESCE(MAX(id), 0) FROM curator_token", &[])?;
            let Some([Cell::Whole(last)]) = rows.first().map(Vec::as_slice) else {
                return Err(TokenError::Unreadable);
            };
            let sql = "INSERT INTO curator_token (id, hash, role, name, accounts, created) \
                       VALUES ($1, $2, $3, $4, $5, $6)";
            let text = |text: &str| Cell::Text(text.to_owned());
            let cells = [
                Cell::Whole(last + 1),
                Cell::Bytes(hash.0.to_vec()),
                text(role.name()),
                text(name),
                text(&accounts),
                Cell::Whole(now()),
            ];
            database.execute(sql, &cells)?;
            Ok(())
        })?;
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
        let hash = Cell::Bytes(Hash::of(token.as_bytes()).0.to_vec());
        let sql = format!("{COLUMNS} WHERE hash = $1 AND revoked IS NULL");
        self.read(|database| match database.query(&sql, &[hash])?.first() {
            Some(row) => bearer(row).map(Some),
            None => Ok(None),
        })
    }

    /// All tokens, without their texts.
    ///
    /// # Errors
    /// [`TokenError::Database`].
    pub fn list(&self) -> Result<Vec<Bearer>, TokenError> {
        let sql = format!("{COLUMNS} ORDER BY id");
        self.read(|database| database.query(&sql, &[])?.iter().map(|row| bearer(row)).collect())
    }

    /// Revokes a token, from now on. `false` if there is none that could be.
    ///
    /// # Errors
    /// [`TokenError::Database`].
    pub fn revoke(&self, id: i64) -> Result<bool, TokenError> {
        let sql = "UPDATE curator_token SET revoked = $1 WHERE id = $2 AND revoked IS NULL";
        let cells = [Cell::Whole(now()), Cell::Whole(id)];
        self.write(|database| Ok(database.execute(sql, &cells)? > 0))
    }

    /// The secret that decides which rows of a person are used, made once.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn secret(&self) -> Result<[u8; 32], TokenError> {
        let made = counterpoint_mechanisms::secret().map_err(|_| TokenError::Randomness)?;
        self.write(|database| {
            let sql = "SELECT value FROM curator_secret WHERE id = 1";
            match database.query(sql, &[])?.first().map(Vec::as_slice) {
                Some([Cell::Bytes(bytes)]) => {
                    bytes.as_slice().try_into().map_err(|_| TokenError::Unreadable)
                }
                Some(_) => Err(TokenError::Unreadable),
                None => {
                    let sql = "INSERT INTO curator_secret (id, value) VALUES (1, $1)";
                    database.execute(sql, &[Cell::Bytes(made.to_vec())])?;
                    Ok(made)
                }
            }
        })
    }
}

/// A name that ledgers take, too.
fn is_word(text: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && text.len() <= MOST_NAME
        && text.bytes().all(part)
}

fn bearer(row: &[Cell]) -> Result<Bearer, TokenError> {
    let [
        Cell::Whole(id),
        Cell::Text(role),
        Cell::Text(name),
        Cell::Text(accounts),
        Cell::Whole(created),
        revoked,
    ] = row
    else {
        return Err(TokenError::Unreadable);
    };
    let revoked = match revoked {
        Cell::Null => None,
        Cell::Whole(at) => Some(*at),
        _ => return Err(TokenError::Unreadable),
    };
    let role = Role::named(role).ok_or(TokenError::Unreadable)?;
    let accounts = accounts.split_whitespace().map(str::to_owned).collect();
    Ok(Bearer { id: *id, role, name: name.clone(), accounts, created: *created, revoked })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or_default())
}
