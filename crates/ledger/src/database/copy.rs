//! A copy of a server's tables in a SQLite file.

use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::{Access, Cell, Database, DatabaseError, Dialect, schema};

/// How many rows are read at a time; some hold responses.
const PAGE: usize = 100;

/// Copies all tables, in one snapshot, to a new file.
pub(super) fn tables(source: &mut dyn Database, file: &str) -> Result<(), DatabaseError> {
    let unusable = |error: rusqlite::Error| DatabaseError::Unusable(format!("{file}: {error}"));
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(file, flags).map_err(unusable)?;
    // Rows come in any order: what they refer to may come later.
    target.execute_batch("PRAGMA foreign_keys = OFF").map_err(unusable)?;
    let transaction = target.transaction().map_err(unusable)?;
    source.begin(Access::Read)?;
    let copied = version(source).and_then(|version| {
        let statements = schema(Dialect::Sqlite, version);
        for statement in &statements {
            transaction.execute_batch(statement).map_err(unusable)?;
        }
        let mut names = statements.iter().filter_map(|statement| table(statement));
        names.try_for_each(|name| rows(source, &transaction, name, unusable))
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

/// The table that a statement makes, if it makes one.
fn table(statement: &str) -> Option<&str> {
    statement.strip_prefix("CREATE TABLE ")?.split_whitespace().next()
}

/// Copies one table. Both have its columns in the same order: that of the statement that made it.
fn rows(
    source: &mut dyn Database,
    target: &Connection,
    name: &str,
    unusable: impl Fn(rusqlite::Error) -> DatabaseError,
) -> Result<(), DatabaseError> {
    source
        .execute(&format!("DECLARE all_{name} NO SCROLL CURSOR FOR SELECT * FROM {name}"), &[])?;
    loop {
        let page = source.query(&format!("FETCH {PAGE} FROM all_{name}"), &[])?;
        let Some(first) = page.first() else { return Ok(()) };
        let places: Vec<String> = (1..=first.len()).map(|number| format!("?{number}")).collect();
        let sql = format!("INSERT INTO {name} VALUES ({})", places.join(", "));
        let mut statement = target.prepare_cached(&sql).map_err(&unusable)?;
        for row in page {
            statement.execute(params_from_iter(row)).map_err(&unusable)?;
        }
    }
}
