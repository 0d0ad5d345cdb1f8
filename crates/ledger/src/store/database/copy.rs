//! Copies a ledger's tables to a SQLite file, row by row.

use rusqlite::{Connection, OpenFlags, params_from_iter};
use sha2::{Digest, Sha256};

use super::{Access, Cell, Database, DatabaseError, Dialect, Row, WITHOUT_SECRETS, schema};

/// The number of rows that are read at a time. Some hold responses.
const PAGE: usize = 100;

/// Copies all tables, in one snapshot, to a new file. Without `secrets`, the file has digests in the place of private
/// states, and is marked as such.
pub(super) fn tables(
    source: &mut dyn Database,
    file: &str,
    secrets: bool,
) -> Result<(), DatabaseError> {
    let unusable = |error: rusqlite::Error| DatabaseError::unusable(file, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(file, flags).map_err(unusable)?;
    // A row may be copied before the rows that it refers to.
    target.execute_batch("PRAGMA foreign_keys = OFF").map_err(unusable)?;
    if !secrets {
        let marked = format!("PRAGMA application_id = {WITHOUT_SECRETS}");
        target.execute_batch(&marked).map_err(unusable)?;
    }
    let transaction = target.transaction().map_err(unusable)?;
    source.begin(Access::Read)?;
    let copied = version(source).and_then(|version| {
        let statements = schema(Dialect::Sqlite, version);
        for statement in &statements {
            transaction.execute_batch(statement).map_err(unusable)?;
        }
        let mut names = statements.iter().filter_map(|statement| table(statement));
        names.try_for_each(|name| rows(source, &transaction, (name, secrets, version), unusable))
    });
    source.rollback();
    copied.and_then(|()| transaction.commit().map_err(unusable))
}

/// The version of the tables.
fn version(source: &mut dyn Database) -> Result<i64, DatabaseError> {
    let rows = source.query("SELECT version FROM ledger_version WHERE id = 1", &[])?;
    match rows.first().and_then(|row| row.first()) {
        Some(Cell::Whole(version)) => Ok(*version),
        _ => Err(DatabaseError::Unusable("ledger_version has no version".to_owned())),
    }
}

/// The name of the table that a statement creates, if it creates one.
fn table(statement: &str) -> Option<&str> {
    statement.strip_prefix("CREATE TABLE ")?.split_whitespace().next()
}

/// Copies one table. Source and target have its columns in the same order: that of the statement that created it.
fn rows(
    source: &mut dyn Database,
    target: &Connection,
    (name, secrets, version): (&str, bool, i64),
    unusable: impl Fn(rusqlite::Error) -> DatabaseError,
) -> Result<(), DatabaseError> {
    let is_withheld = name == "ledger_state" && !secrets;
    // A server offers digests to roles that may not read the states themselves.
    let has_digests = is_withheld && source.dialect() == Dialect::Postgres && version >= 4;
    let from = if has_digests { "ledger_state_digest" } else { name };
    let mut after = begin(source, name, from)?;
    loop {
        let page = page(source, name, &mut after)?;
        let Some(first) = page.first() else { return Ok(()) };
        let places: Vec<String> = (1..=first.len()).map(|number| format!("?{number}")).collect();
        let sql = format!("INSERT INTO {name} VALUES ({})", places.join(", "));
        let mut statement = target.prepare_cached(&sql).map_err(&unusable)?;
        for mut row in page {
            if let Some(Cell::Bytes(state)) = row.last_mut().filter(|_| is_withheld && !has_digests)
            {
                *state = Sha256::digest(&*state).to_vec();
            }
            statement.execute(params_from_iter(row)).map_err(&unusable)?;
        }
    }
}

/// Begins to read a table. For SQLite, returns the row number to continue after.
fn begin(source: &mut dyn Database, name: &str, from: &str) -> Result<Option<i64>, DatabaseError> {
    if source.dialect() == Dialect::Sqlite {
        return Ok(Some(i64::MIN));
    }
    let sql = format!("DECLARE all_{name} NO SCROLL CURSOR FOR SELECT * FROM {from}");
    source.execute(&sql, &[])?;
    Ok(None)
}

/// The next rows of a table.
fn page(
    source: &mut dyn Database,
    name: &str,
    after: &mut Option<i64>,
) -> Result<Vec<Row>, DatabaseError> {
    let Some(after) = after else {
        return source.query(&format!("FETCH {PAGE} FROM all_{name}"), &[]);
    };
    let sql = format!("SELECT rowid, * FROM {name} WHERE rowid > $1 ORDER BY rowid LIMIT {PAGE}");
    let mut page = source.query(&sql, &[Cell::Whole(*after)])?;
    for row in &mut page {
        if let Cell::Whole(number) = row.remove(0) {
            *after = number;
        }
    }
    Ok(page)
}
