//! The schema of the tables.

use super::Dialect;
use crate::rules::limits::OLDEST;

/// The statements that create the tables of a version.
pub(crate) fn schema(dialect: Dialect, version: i64) -> Vec<String> {
    let oldest = TABLES.iter().chain(append_only(dialect));
    let mut statements: Vec<String> = oldest.map(|sql| spelled(sql, dialect)).collect();
    statements.extend((OLDEST + 1..=version).flat_map(|version| added(dialect, version)));
    statements
}

/// The statements that a version adds to those of the version before it.
pub(crate) fn added(dialect: Dialect, version: i64) -> Vec<String> {
    match version {
        3 => vec![spelled(ALIASES, dialect)],
        4 if dialect == Dialect::Postgres => DIGESTS.map(str::to_owned).into(),
        _ => Vec::new(),
    }
}

/// Views with digests of private states and responses: verification reads them under roles that may not read the tables
/// themselves. (A SQLite file has no roles.)
const DIGESTS: [&str; 3] = [
    "CREATE VIEW ledger_state_digest AS SELECT key, account, sha256(state) AS state FROM ledger_state",
    "CREATE VIEW ledger_release_digest AS SELECT key, account, analyst, session, request, reserved, committed, \
     sha256(response) AS response, CAST(length(response) AS bigint) AS length FROM ledger_release",
    "CREATE VIEW ledger_answer_digest AS SELECT key, account, number, ask, question, entry, \
     sha256(response) AS response, CAST(length(response) AS bigint) AS length FROM ledger_answer",
];

/// The releases that analysts' own keys stand for. Where no analyst is named, the analyst is the empty text.
const ALIASES: &str = "CREATE TABLE ledger_alias (
        account TEXT NOT NULL,
        analyst TEXT NOT NULL,
        alias BLOB NOT NULL CHECK (length(alias) = 32),
        key TEXT NOT NULL,
        entry INT NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        PRIMARY KEY (account, analyst, alias),
        FOREIGN KEY (key, account) REFERENCES ledger_release (key, account)
    )STRICT";

/// The tables of the oldest version. Amounts are compared as text, byte by byte. (A CHECK whose result is NULL passes,
/// hence COALESCE.)
const TABLES: [&str; 11] = [
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
        slot TEXT,
        opened INT NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        adjacency TEXT NOT NULL,
        records INT NOT NULL CHECK (records > 0),
        part TEXT,
        rule TEXT NOT NULL,
        capacity_main AMOUNT NOT NULL,
        capacity_delta AMOUNT NOT NULL,
        capacity_pure AMOUNT ,
        spent_main AMOUNT NOT NULL,
        spent_delta AMOUNT NOT NULL,
        spent_pure AMOUNT ,
        charges INT NOT NULL CHECK (charges >= 0),
        quotas INT NOT NULL CHECK (quotas >= 0),
        closed INT UNIQUE REFERENCES ledger_entry (sequence),
        CHECK ((spent_main <= capacity_main AND spent_delta <= capacity_delta)
            OR COALESCE(spent_pure <= capacity_pure, FALSE))
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
        capacity_pure AMOUNT ,
        spent_main AMOUNT NOT NULL,
        spent_delta AMOUNT NOT NULL,
        spent_pure AMOUNT ,
        charges INT NOT NULL CHECK (charges >= 0),
        PRIMARY KEY (account, analyst),
        CHECK ((spent_main <= capacity_main AND spent_delta <= capacity_delta)
            OR COALESCE(spent_pure <= capacity_pure, FALSE))
    )STRICT",
    "CREATE TABLE ledger_release (
        key TEXT NOT NULL,
        account TEXT NOT NULL REFERENCES ledger_account (name),
        analyst TEXT,
        session INT NOT NULL CHECK (session = 0 OR session = 1),
        request BLOB NOT NULL CHECK (length(request) = 32),
        reserved INT NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        committed INT UNIQUE REFERENCES ledger_entry (sequence),
        response BLOB,
        PRIMARY KEY (key, account),
        CHECK ((committed IS NULL) = (response IS NULL)),
        CHECK (committed > reserved),
        CHECK (session = 0 OR committed IS NULL)
    )STRICT",
    "CREATE TABLE ledger_session (
        key TEXT NOT NULL,
        account TEXT NOT NULL,
        begun INT NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        answered INT NOT NULL CHECK (answered >= 0),
        ended INT UNIQUE REFERENCES ledger_entry (sequence),
        declaration BLOB NOT NULL,
        PRIMARY KEY (key, account),
        FOREIGN KEY (key, account) REFERENCES ledger_release (key, account),
        CHECK (ended > begun)
    )STRICT",
    "CREATE TABLE ledger_answer (
        key TEXT NOT NULL,
        account TEXT NOT NULL,
        number INT NOT NULL CHECK (number > 0),
        ask TEXT NOT NULL,
        question BLOB NOT NULL CHECK (length(question) = 32),
        entry INT NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        response BLOB NOT NULL,
        PRIMARY KEY (key, account, number),
        UNIQUE (key, account, ask),
        FOREIGN KEY (key, account) REFERENCES ledger_session (key, account)
    )STRICT",
    // The secrets. This table has no CHECK, because the database shows a row that fails one in its error.
    "CREATE TABLE ledger_state (
        key TEXT NOT NULL,
        account TEXT NOT NULL,
        state BLOB NOT NULL,
        PRIMARY KEY (key, account),
        FOREIGN KEY (key, account) REFERENCES ledger_session (key, account)
    )STRICT",
];

/// Triggers against accidents. The owner of the database can drop them.
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

/// Translates a statement into the types of a dialect.
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
