//! PostgreSQL. Tables stay on their server, which returns whole numbers alone.

use super::idle::IdleConnections;
use super::view;
use super::{CatalogueInfo, Dialect, Engine, ReadType, Rows, SqlValue, Statement};
use crate::engine::error::{EngineError, SourceColumn};
use counterpoint_ledger::database::{Target, outside_runtime};
use std::error::Error;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;
use tokio_postgres::types::{FromSql, ToSql, Type};

/// The time that the client waits beyond the server's deadline.
const GRACE: Duration = Duration::from_secs(1);

/// Tables on a PostgreSQL server.
pub struct Postgres {
    url: String,
    idle: IdleConnections<PostgresConnection>,
}

/// A connection, with the runtime that carries its messages.
struct PostgresConnection {
    client: Client,
    runtime: Runtime,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").finish_non_exhaustive()
    }
}

impl Postgres {
    /// Connects to a server. The URL has the form of a ledger's URL.
    ///
    /// # Errors
    /// [`EngineError`] if the server cannot be reached.
    pub fn open(url: &str) -> Result<Self, EngineError> {
        let engine = Self { url: url.to_owned(), idle: IdleConnections::new() };
        engine.with(catalogue_deadline(), |_| Ok(()))?;
        Ok(engine)
    }

    fn connect(&self, deadline: Instant) -> Result<PostgresConnection, EngineError> {
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(EngineError::new)?;
        let target = Target::read(&self.url).map_err(EngineError::new)?;
        let connected = within_deadline(deadline, target.connect(|_| ()));
        let (client, _) = runtime.block_on(connected)?.map_err(EngineError::new)?;
        Ok(PostgresConnection { client, runtime })
    }

    /// Returns a connection in a transaction: an idle one that still works, or a new one.
    fn begin_transaction(&self, deadline: Instant) -> Result<PostgresConnection, EngineError> {
        while let Some(idle_link) = self.idle.take() {
            // A failure here is harmless, as no statement was sent: another connection is tried.
            if idle_link.begin(deadline).is_ok() {
                return Ok(idle_link);
            }
        }
        let link = self.connect(deadline)?;
        link.begin(deadline)?;
        Ok(link)
    }

    /// Runs `work` with a connection. Keeps the connection if the work succeeds, and closes it otherwise. Does not
    /// retry.
    fn with<T: Send>(
        &self,
        deadline: Instant,
        work: impl FnOnce(&PostgresConnection) -> Result<T, EngineError> + Send,
    ) -> Result<T, EngineError> {
        outside_runtime(|| {
            let link = self.begin_transaction(deadline)?;
            let outcome = work(&link)?;
            link.wait(deadline, link.client.batch_execute("COMMIT"))?;
            self.idle.keep(link);
            Ok(outcome)
        })
        .map_err(EngineError::new)?
    }
}

/// The deadline for reading the catalogue.
fn catalogue_deadline() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

/// Waits for the server until shortly after the deadline.
async fn within_deadline<T>(
    deadline: Instant,
    answer: impl Future<Output = T>,
) -> Result<T, EngineError> {
    let patience = deadline.saturating_duration_since(Instant::now()) + GRACE;
    tokio::time::timeout(patience, answer)
        .await
        .map_err(|_| EngineError::new("the server did not answer in time"))
}

/// The time left, at least 1 ms: PostgreSQL takes a timeout of 0 as none.
fn milliseconds(deadline: Instant) -> u128 {
    deadline.saturating_duration_since(Instant::now()).as_millis().clamp(1, 3_600_000)
}

/// Connections have their own runtimes, which must not be dropped inside another runtime.
impl Drop for Postgres {
    fn drop(&mut self) {
        let idle = self.idle.take_all();
        let _ = outside_runtime(|| drop(idle));
    }
}

impl PostgresConnection {
    /// Begins a transaction. JIT compilation is off, as it takes longer than running the statement.
    fn begin(&self, deadline: Instant) -> Result<(), EngineError> {
        let begin = format!(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {}; \
             SET LOCAL extra_float_digits = 1; SET LOCAL jit = off",
            milliseconds(deadline)
        );
        self.wait(deadline, self.client.batch_execute(&begin))
    }

    /// Waits for the server's answer until the deadline.
    fn wait<T>(
        &self,
        deadline: Instant,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, EngineError> {
        let error_of = |error: tokio_postgres::Error| {
            let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
            EngineError::new(format!("{error}{source}"))
        };
        self.runtime.block_on(within_deadline(deadline, answer))?.map_err(error_of)
    }

    fn query(
        &self,
        statement: &Statement,
        deadline: Instant,
    ) -> Result<Vec<tokio_postgres::Row>, EngineError> {
        let values: Vec<&(dyn ToSql + Sync)> = statement
            .values
            .iter()
            .map(|value| match value {
                SqlValue::Whole(whole) => whole as &(dyn ToSql + Sync),
                SqlValue::Real(real) => real,
                SqlValue::Text(text) => text,
                SqlValue::Reals(list) => list,
                SqlValue::Wholes(list) => list,
                SqlValue::Texts(list) => list,
            })
            .collect();
        self.wait(deadline, self.client.query(&statement.sql, &values))
    }

    fn rows(&self, statement: &Statement, deadline: Instant) -> Result<Rows, EngineError> {
        let rows = self.query(statement, deadline)?;
        let number = |row: &tokio_postgres::Row, at: usize| {
            let number: Option<Whole> = row.try_get(at).map_err(EngineError::new)?;
            Ok(number.map(|Whole(number)| number).unwrap_or_default())
        };
        rows.iter().map(|row| (0..row.len()).map(|at| number(row, at)).collect()).collect()
    }
}

/// A whole number of any of the server's types.
struct Whole(i128);

impl<'a> FromSql<'a> for Whole {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        if *kind == Type::NUMERIC {
            return numeric(raw).map(Self).ok_or_else(|| "no whole number".into());
        }
        let number = match *kind {
            Type::INT2 => i64::from(i16::from_sql(kind, raw)?),
            Type::INT4 => i64::from(i32::from_sql(kind, raw)?),
            _ => i64::from_sql(kind, raw)?,
        };
        Ok(Self(number.into()))
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT2, Type::INT4, Type::INT8, Type::NUMERIC].contains(kind)
    }
}

/// Decodes a NUMERIC: the number of digits to the base 10,000, the weight of the first digit, the sign, the number of
/// decimals shown, and the digits. `None` unless it is a whole number of at most 128 bits.
fn numeric(raw: &[u8]) -> Option<i128> {
    let mut words =
        raw.chunks_exact(2).filter_map(|word| Some(i16::from_be_bytes(word.try_into().ok()?)));
    let (digits, weight, sign) = (words.next()?, words.next()?, words.next()?);
    words.next()?;
    let mut number: i128 = 0;
    for place in 0..=weight.max(-1) {
        let digit = if place < digits { words.next()? } else { 0 };
        number = number.checked_mul(10_000)?.checked_add(digit.into())?;
    }
    let is_whole = words.all(|digit| digit == 0);
    match sign {
        0 if is_whole => Some(number),
        0x4000 if is_whole => Some(-number),
        _ => None,
    }
}

impl Engine for Postgres {
    fn run(&self, statement: &Statement, deadline: Instant) -> Result<Rows, EngineError> {
        self.with(deadline, |link| link.rows(statement, deadline))
    }

    fn check_reachable(&self, deadline: Instant) -> Result<(), EngineError> {
        self.with(deadline, |_| Ok(()))
    }

    fn columns(&self, table: &str) -> Result<Vec<SourceColumn>, EngineError> {
        let sql = "SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute \
                   WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
        let (deadline, name) = (catalogue_deadline(), quoted(table));
        let rows = self.with(deadline, |link| {
            let rows = link.wait(deadline, link.client.query(sql, &[&name]))?;
            let found = |row: &tokio_postgres::Row| {
                Ok(SourceColumn { name: row.try_get(0)?, kind: row.try_get(1)? })
            };
            rows.iter()
                .map(found)
                .collect::<Result<Vec<_>, tokio_postgres::Error>>()
                .map_err(EngineError::new)
        })?;
        if rows.is_empty() {
            return Err(EngineError::new(format!("there is no table {table:?}")));
        }
        Ok(rows)
    }

    fn unique_condition(
        &self,
        table: &str,
        columns: &[&str],
    ) -> Result<Option<String>, EngineError> {
        let text = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let names: Vec<String> = columns.iter().map(|column| text(column)).collect();
        let unique = format!(
            "FROM pg_index AS i INNER JOIN pg_class AS c ON c.oid = i.indrelid \
             WHERE c.oid = to_regclass({}) AND c.relkind = 'r' AND NOT c.relhassubclass \
             AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indnkeyatts = {count} \
             AND i.indpred IS NULL AND i.indexprs IS NULL \
             AND (SELECT COUNT(*) FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname IN ({}) \
             AND a.attnum = ANY ((i.indkey::int2[])[0:{count} - 1])) = {count}",
            text(&quoted(table)),
            names.join(", "),
            count = columns.len(),
        );
        let sql = format!("SELECT COUNT(*) {unique}");
        let count = self.with(catalogue_deadline(), |link| {
            let row = link.wait(catalogue_deadline(), link.client.query_one(&sql, &[]))?;
            row.try_get::<_, i64>(0).map_err(EngineError::new)
        })?;
        // The statement itself checks the index again: without an index the condition divides by zero and the statement
        // fails.
        Ok((count > 0).then(|| format!("(SELECT 1 / LEAST(COUNT(*), 1) {unique}) = 1")))
    }

    fn catalogue_info(
        &self,
        table: &str,
        person: Option<&str>,
    ) -> Result<CatalogueInfo, EngineError> {
        let sql = "SELECT c.relkind::text, c.reltuples::float8, c.relrowsecurity, \
                   (SELECT l.collname::text FROM pg_attribute AS a INNER JOIN pg_collation AS l ON l.oid = a.attcollation \
                    WHERE a.attrelid = c.oid AND lower(a.attname) = lower($2) AND NOT l.collisdeterministic LIMIT 1) \
                   FROM pg_class AS c WHERE c.oid = to_regclass($1)";
        let (name, column) = (quoted(table), person.unwrap_or_default().to_owned());
        self.with(catalogue_deadline(), |link| {
            let row =
                link.wait(catalogue_deadline(), link.client.query_one(sql, &[&name, &column]))?;
            let text = |at| row.try_get::<_, Option<String>>(at).map_err(EngineError::new);
            let rows: f64 = row.try_get(1).map_err(EngineError::new)?;
            let mut about =
                CatalogueInfo { rows: (rows > 0.0).then_some(rows as u64), warnings: Vec::new() };
            match text(0)?.as_deref() {
                Some("v") => about.warnings.push(CatalogueInfo::VIEW.to_owned()),
                Some("f") => about.warnings.push(
                    "it is a foreign table: no value that is there may make reading it fail"
                        .to_owned(),
                ),
                _ => {}
            }
            if row.try_get(2).map_err(EngineError::new)? {
                about.warnings.push(
                    "it has policies for its rows: none may fail, or depend on other rows"
                        .to_owned(),
                );
            }
            let collation = text(3)?;
            about
                .warnings
                .extend(collation.map(|collation| CatalogueInfo::collated(&column, &collation)));
            Ok(about)
        })
    }

    fn plan(&self, statement: &Statement) -> Result<(), EngineError> {
        let sql = format!("EXPLAIN {}", statement.sql);
        let explained = Statement { sql, values: statement.values.clone() };
        self.with(catalogue_deadline(), |link| {
            link.query(&explained, catalogue_deadline()).map(drop)
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            table: quoted,
            parameter: |number, value| {
                let kind = match value {
                    SqlValue::Whole(_) => "bigint",
                    SqlValue::Real(_) => "double precision",
                    SqlValue::Text(_) => "text",
                    SqlValue::Reals(_) => "double precision[]",
                    SqlValue::Wholes(_) => "bigint[]",
                    SqlValue::Texts(_) => "text[]",
                };
                format!("CAST(${number} AS {kind})")
            },
            read: normal,
            whole: |number| format!("CAST(FLOOR({number}) AS bigint)"),
            least: "LEAST",
            greatest: "GREATEST",
            // Each hash is the seed of the next. Every text has a hash, whatever its bytes are.
            hash: |key, numbers, person| {
                let chained = numbers.iter().fold(key.to_owned(), |seed, number| {
                    format!("hashint8extended({number}, {seed})")
                });
                format!("hashtextextended(CAST({person} AS text) COLLATE \"C\", {chained})")
            },
            // The server adds numbers of 64 bits up in 128 bits.
            exact_sum: Some(|units| format!("SUM(CAST({units} AS bigint))")),
            at_most: |list, number| format!("width_bucket({number}, {list})"),
            position: |list, value| format!("array_position({list}, {value})"),
            element_at: None,
            series: |count| {
                format!(
                    "(SELECT n FROM generate_series(0, CAST({count} AS bigint) - 1) AS n) AS series"
                )
            },
        }
    }
}

/// Quotes a name, or a name in a schema.
fn quoted(name: &str) -> String {
    name.split('.').map(view::quoted).collect::<Vec<_>>().join(".")
}

/// Reads a column according to its type. NaN, a number in PostgreSQL, becomes NULL.
fn normal(column: &str, kind: &str, read: ReadType) -> Option<String> {
    let is_whole = matches!(kind, "smallint" | "integer" | "bigint");
    let is_float = matches!(kind, "real" | "double precision");
    let is_text = matches!(kind, "text" | "character varying" | "character");
    match read {
        ReadType::Number if is_whole => Some(format!("CAST({column} AS double precision)")),
        ReadType::Number if is_float => {
            Some(format!("CASE WHEN {column} <> 'NaN' THEN CAST({column} AS double precision) END"))
        }
        // NUMERIC exceeds the range of doubles at both ends, and the server fails on a cast out of range.
        ReadType::Number if kind == "numeric" => Some(format!(
            "CASE WHEN {column} <> 'NaN' THEN CAST(ROUND(LEAST(GREATEST({column}, -1.7976931348623157e308), \
             1.7976931348623157e308), 300) AS double precision) END"
        )),
        ReadType::Whole if is_whole => Some(format!("CAST({column} AS bigint)")),
        ReadType::Whole if is_float || kind == "numeric" => Some(format!(
            "CASE WHEN {column} BETWEEN -9.2e18 AND 9.2e18 AND FLOOR({column}) = {column} THEN CAST({column} AS bigint) END"
        )),
        ReadType::Text if is_text => Some(format!("CAST({column} AS text) COLLATE \"C\"")),
        ReadType::Person if is_whole => Some(format!("CAST({column} AS bigint)")),
        ReadType::Person if is_text || kind == "uuid" => {
            Some(format!("CAST({column} AS text) COLLATE \"C\""))
        }
        _ => None,
    }
}
