//! Compares a database's tables, indexes, triggers and other objects (everything but rows) with those that this version
//! creates.

use rusqlite::Connection;

use super::{Cell, Database, DatabaseError, Dialect, schema, sqlite};

/// Lists the schema of a SQLite database.
const SQLITE: &str = "SELECT type, name, tbl_name, sql FROM sqlite_schema";

/// Lists the schema of a ledger in PostgreSQL, a line for each object: the relations in the ledger's schema whose names
/// begin with `ledger_`, and everything that belongs to its tables. (The schema's name is taken off the names. Columns
/// of views are written with their table up to PostgreSQL 15, and without it from 16 on.)
const POSTGRES: &str = "\
    WITH home AS (SELECT n.oid, quote_ident(n.nspname) || '.' AS prefix FROM pg_class c \
            JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE c.oid = CAST(to_regclass('ledger_version') AS oid)), \
        own AS (SELECT c.* FROM pg_class c, home h \
            WHERE c.relnamespace = h.oid AND starts_with(CAST(c.relname AS text), 'ledger' || '_')), \
        lines AS ( \
    SELECT concat_ws(' ', 'relation', relname, relkind, relpersistence, relrowsecurity, relforcerowsecurity, \
            relispartition, relhassubclass) AS line FROM own \
    UNION ALL SELECT concat_ws(' ', 'column', o.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), \
            a.attnotnull, a.atthasdef, a.attidentity, a.attgenerated, c.collname) \
        FROM own o JOIN pg_attribute a ON a.attrelid = o.oid LEFT JOIN pg_collation c ON c.oid = a.attcollation \
        WHERE o.relkind <> 'i' AND a.attnum > 0 AND NOT a.attisdropped \
    UNION ALL SELECT concat_ws(' ', 'constraint', o.relname, k.conname, k.contype, k.convalidated, k.condeferrable, \
            pg_get_constraintdef(k.oid)) \
        FROM own o JOIN pg_constraint k ON k.conrelid = o.oid WHERE k.contype <> 'n' \
    UNION ALL SELECT concat_ws(' ', 'index', o.relname, i.indisvalid, i.indisready, pg_get_indexdef(i.indexrelid)) \
        FROM own o JOIN pg_index i ON i.indrelid = o.oid \
    UNION ALL SELECT concat_ws(' ', 'trigger', o.relname, t.tgenabled, pg_get_triggerdef(t.oid)) \
        FROM own o JOIN pg_trigger t ON t.tgrelid = o.oid WHERE NOT t.tgisinternal \
    UNION ALL SELECT concat_ws(' ', 'disabled trigger', o.relname, t.tgconstraint <> 0) \
        FROM own o JOIN pg_trigger t ON t.tgrelid = o.oid WHERE t.tgisinternal AND t.tgenabled <> 'O' \
    UNION ALL SELECT concat_ws(' ', 'rule', o.relname, r.rulename) \
        FROM own o JOIN pg_rewrite r ON r.ev_class = o.oid \
    UNION ALL SELECT concat_ws(' ', 'view', o.relname, o.reloptions, \
            regexp_replace(replace(pg_get_viewdef(o.oid), h.prefix, ''), 'ledger' || '_[a-z]+[.]', '', 'g')) \
        FROM own o, home h WHERE o.relkind = 'v' \
    UNION ALL SELECT concat_ws(' ', 'policy', o.relname, p.polname) \
        FROM own o JOIN pg_policy p ON p.polrelid = o.oid \
    UNION ALL SELECT concat_ws(' ', 'inheritance', o.relname) \
        FROM own o JOIN pg_inherits i ON o.oid IN (i.inhparent, i.inhrelid) \
    UNION ALL SELECT concat_ws(' ', 'function', p.proname, pg_get_function_identity_arguments(p.oid), l.lanname, \
            p.prosecdef, p.provolatile, p.proconfig, p.prosrc) \
        FROM home h JOIN pg_proc p ON p.pronamespace = h.oid JOIN pg_language l ON l.oid = p.prolang \
        WHERE starts_with(CAST(p.proname AS text), 'ledger' || '_')) \
    SELECT replace(line, h.prefix, '') FROM lines, home h";

/// The lines that [`POSTGRES`] gives for the schema that this version creates.
const MADE_IN_POSTGRES: &str = include_str!("postgres/postgres.schema");

/// The first difference between a database's schema and that of a ledger of a version, in words.
pub(crate) fn difference(
    database: &mut dyn Database,
    version: i64,
) -> Result<Option<String>, DatabaseError> {
    let (sql, expected) = match database.dialect() {
        Dialect::Sqlite => (SQLITE, made_in_sqlite(version)?),
        Dialect::Postgres => (POSTGRES, made_in_postgres(version)),
    };
    let found = sorted(database.query(sql, &[])?.iter().map(|row| line(row)));
    let missing = expected.iter().find(|line| found.binary_search(line).is_err());
    let other = found.iter().find(|line| expected.binary_search(line).is_err());
    let shown = |line: &String| line.chars().take(300).collect::<String>();
    Ok(match (other, missing) {
        (Some(other), _) => {
            Some(format!("the schema has an object that no ledger has: {}", shown(other)))
        }
        (None, Some(missing)) => Some(format!("the schema lacks: {}", shown(missing))),
        (None, None) if found.len() != expected.len() => {
            Some("the schema has an object twice".to_owned())
        }
        (None, None) => None,
    })
}

/// The schema of a version in SQLite, found by creating it in memory.
fn made_in_sqlite(version: i64) -> Result<Vec<String>, DatabaseError> {
    let wrong = |error: rusqlite::Error| DatabaseError::Unusable(error.to_string());
    let connection = Connection::open_in_memory().map_err(wrong)?;
    for statement in schema(Dialect::Sqlite, version) {
        connection.execute_batch(&statement).map_err(wrong)?;
    }
    let made = sqlite::rows(&connection, SQLITE, &[]).map_err(wrong)?;
    Ok(sorted(made.iter().map(|row| line(row))))
}

/// The schema of a version in PostgreSQL.
fn made_in_postgres(version: i64) -> Vec<String> {
    let is_there = |line: &&str| {
        !line.is_empty()
            && (version >= 3 || !line.contains("ledger_alias"))
            && (version >= 4 || !line.contains("_digest"))
    };
    sorted(MADE_IN_POSTGRES.lines().filter(is_there).map(str::to_owned))
}

fn sorted(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    lines.sort_unstable();
    lines
}

/// A row as one line.
fn line(row: &[Cell]) -> String {
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        other => format!("{other:?}"),
    };
    row.iter().map(text).collect::<Vec<_>>().join(" ")
}
