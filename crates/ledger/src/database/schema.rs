//! The tables, as steps from one version of the format to the next.

use super::Dialect;

/// The version this program reads and writes.
pub(crate) const VERSION: i64 = 1;

/// The statements that lead from a version to the next; none if there is no such step.
pub(crate) fn migrations(from: i64, dialect: Dialect) -> Vec<String> {
    match from {
        0 => FIRST.iter().chain(append_only(dialect)).map(|sql| spelled(sql, dialect)).collect(),
        _ => Vec::new(),
    }
}

/// Amounts are compared as text, byte by byte.
const FIRST: [&str; 8] = [
    "CREATE TABLE ledger_version (
        id INT PRIMARY KEY CHECK (id = 1),
        version INT NOT NULL
    )STRICT",
    "CREATE TABLE ledger_entry (
        sequence INT PRIMARY KEY CHECK (sequence > 0),
        previous BLOB NOT NULL CHECK (length(previous) = 32),
        hash BLOB NOT NULL CHECK (length(hash) = 32),
        account TEXT,
        body TEXT NOT NULL
    )STRICT",
    "CREATE INDEX ledger_entry_account ON ledger_entry (account, sequence)",
    "CREATE TABLE ledger_head (
        id INT PRIMARY KEY CHECK (id = 1),
        sequence INT NOT NULL,
        hash BLOB NOT NULL CHECK (length(hash) = 32)
    )STRICT",
    "CREATE TABLE ledger_account (
        name TEXT PRIMARY KEY,
        parent TEXT REFERENCES ledger_account (name),
        opened INT NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        adjacency TEXT NOT NULL,
        rule TEXT NOT NULL,
        capacity_main AMOUNT NOT NULL,
        capacity_delta AMOUNT NOT NULL,
        spent_main AMOUNT NOT NULL,
        spent_delta AMOUNT NOT NULL,
        charges INT NOT NULL CHECK (charges >= 0),
        quotas INT NOT NULL CHECK (quotas >= 0),
        CHECK (spent_main <= capacity_main),
        CHECK (spent_delta <= capacity_delta)
    )STRICT",
    "CREATE TABLE ledger_slot (
        account TEXT NOT NULL REFERENCES ledger_account (name),
        name TEXT NOT NULL,
        total INT NOT NULL CHECK (total > 0),
        used INT NOT NULL CHECK (used >= 0 AND used <= total),
        release TEXT NOT NULL,
        PRIMARY KEY (account, name)
    )STRICT",
    "CREATE TABLE ledger_quota (
        account TEXT NOT NULL REFERENCES ledger_account (name),
        analyst TEXT NOT NULL,
        capacity_main AMOUNT NOT NULL,
        capacity_delta AMOUNT NOT NULL,
        spent_main AMOUNT NOT NULL,
        spent_delta AMOUNT NOT NULL,
        charges INT NOT NULL CHECK (charges >= 0),
        PRIMARY KEY (account, analyst),
        CHECK (spent_main <= capacity_main),
        CHECK (spent_delta <= capacity_delta)
    )STRICT",
    "CREATE TABLE ledger_release (
        key TEXT PRIMARY KEY,
        account TEXT NOT NULL REFERENCES ledger_account (name),
        request BLOB NOT NULL CHECK (length(request) = 32),
        reserved INT NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        committed INT UNIQUE REFERENCES ledger_entry (sequence),
        response BLOB,
        CHECK ((committed IS NULL) = (response IS NULL)),
        CHECK (committed > reserved)
    )STRICT",
];

/// A guard against accidents: who owns the database can drop it.
fn append_only(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Sqlite => &[
            "CREATE TRIGGER ledger_entry_kept BEFORE DELETE ON ledger_entry
                BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END",
            "CREATE TRIGGER ledger_entry_fixed BEFORE UPDATE ON ledger_entry
                BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END",
        ],
        Dialect::Postgres => &[
            "CREATE FUNCTION ledger_entry_guard() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN RAISE EXCEPTION ''entries are never changed or deleted''; END'",
            "CREATE TRIGGER ledger_entry_guard BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry
                EXECUTE FUNCTION ledger_entry_guard()",
        ],
    }
}

/// The statement in a dialect's words for types.
fn spelled(sql: &str, dialect: Dialect) -> String {
    let (whole, bytes, amount, strict) = match dialect {
        Dialect::Sqlite => (" INTEGER ", " BLOB", " TEXT ", " STRICT"),
        Dialect::Postgres => (" BIGINT ", " BYTEA", " TEXT COLLATE \"C\" ", ""),
    };
    sql.replace(" INT ", whole)
        .replace(" BLOB", bytes)
        .replace(" AMOUNT ", amount)
        .replace(")STRICT", &format!("){strict}"))
}
