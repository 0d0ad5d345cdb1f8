//! PostgreSQL: tables stay where they are, and give whole numbers.

use super::idle::Idle;
use super::view;
use super::{About, Dialect, Engine, Read, Rows, Statement, Value};
use crate::engine::failed::{Failed, Found};
use counterpoint_ledger::database::{Target, outside};
use std::error::Error;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;
use tokio_postgres::types::{FromSql, ToSql, Type};

/// So much longer than the server the client waits, at the deadline.
const GRACE: Duration = Duration::from_secs(1);

/// Tables on a PostgreSQL server.
pub struct Postgres {
    url: String,
    idle: Idle<Link>,
}

/// A connection, and what carries its messages.
struct Link {
    client: Client,
    runtime: Runtime,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").finish_non_exhaustive()
    }
}

impl Postgres {
    /// Connects to a server; the URL is as for ledgers.
    ///
    /// # Errors
    /// [`Failed`] if it cannot be reached.
    pub fn open(url: &str) -> Result<Self, Failed> {
        let engine = Self { url: url.to_owned(), idle: Idle::new() };
        engine.with(soon(), |_| Ok(()))?;
        Ok(engine)
    }

    fn connect(&self, deadline: Instant) -> Result<Link, Failed> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Failed::new)?;
        let target = Target::read(&self.url).map_err(Failed::new)?;
        let connected = late(deadline, target.connect(|_| ()));
        let (client, _) = runtime.block_on(connected)?.map_err(Failed::new)?;
        Ok(Link { client, runtime })
    }

    /// A connection in a transaction: one that was kept, or a new one if those are lost.
    fn begun(&self, deadline: Instant) -> Result<Link, Failed> {
        while let Some(kept) = self.idle.take() {
            // Nothing was asked yet, so that it can be tried elsewhere.
            if kept.begin(deadline).is_ok() {
                return Ok(kept);
            }
        }
        let link = self.connect(deadline)?;
        link.begin(deadline)?;
        Ok(link)
    }

    /// Does something with a connection, which is kept if that succeeds, and closed if not. What is asked is not tried twice.
    fn with<T: Send>(
        &self,
        deadline: Instant,
        work: impl FnOnce(&Link) -> Result<T, Failed> + Send,
    ) -> Result<T, Failed> {
        outside(|| {
            let link = self.begun(deadline)?;
            let outcome = work(&link)?;
            link.wait(deadline, link.client.batch_execute("COMMIT"))?;
            self.idle.keep(link);
            Ok(outcome)
        })
        .map_err(Failed::new)?
    }
}

/// When a question about the catalogue is late.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

/// Waits for the server, and not much longer than the deadline.
async fn late<T>(deadline: Instant, answer: impl Future<Output = T>) -> Result<T, Failed> {
    let patience = deadline.saturating_duration_since(Instant::now()) + GRACE;
    tokio::time::timeout(patience, answer).await.map_err(|_| Failed::new("the server is late"))
}

/// What is left, for a server that takes 0 for ever.
fn milliseconds(deadline: Instant) -> u128 {
    deadline.saturating_duration_since(Instant::now()).as_millis().clamp(1, 3_600_000)
}

/// Connections have runtimes of their own, which must not be dropped within another.
impl Drop for Postgres {
    fn drop(&mut self) {
        let idle = self.idle.take_all();
        let _ = outside(|| drop(idle));
    }
}

impl Link {
    /// Begins a transaction. Compiling a statement takes the server longer than running it.
    fn begin(&self, deadline: Instant) -> Result<(), Failed> {
        let begin = format!(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {}; \
             SET LOCAL extra_float_digits = 1; SET LOCAL jit = off",
            milliseconds(deadline)
        );
        self.wait(deadline, self.client.batch_execute(&begin))
    }

    /// What the server answers in time.
    fn wait<T>(
        &self,
        deadline: Instant,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Failed> {
        let told = |error: tokio_postgres::Error| {
            let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
            Failed::new(format!("{error}{source}"))
        };
        self.runtime.block_on(late(deadline, answer))?.map_err(told)
    }

    fn asked(
        &self,
        statement: &Statement,
        deadline: Instant,
    ) -> Result<Vec<tokio_postgres::Row>, Failed> {
        let values: Vec<&(dyn ToSql + Sync)> = statement
            .values
            .iter()
            .map(|value| match value {
                Value::Whole(whole) => whole as &(dyn ToSql + Sync),
                Value::Real(real) => real,
                Value::Text(text) => text,
                Value::Reals(list) => list,
                Value::Wholes(list) => list,
                Value::Texts(list) => list,
            })
            .collect();
        self.wait(deadline, self.client.query(&statement.sql, &values))
    }

    fn rows(&self, statement: &Statement, deadline: Instant) -> Result<Rows, Failed> {
        let rows = self.asked(statement, deadline)?;
        let number = |row: &tokio_postgres::Row, at: usize| {
            let number: Option<Whole> = row.try_get(at).map_err(Failed::new)?;
            Ok(number.map(|Whole(number)| number).unwrap_or_default())
        };
        rows.iter().map(|row| (0..row.len()).map(|at| number(row, at)).collect()).collect()
    }
}

/// A whole number of any type that the server has for them.
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

/// A NUMERIC as it is sent: the number of digits to the base 10,000, the weight of the first, a sign, how many decimals are
/// shown, and the digits. `None` unless it is whole and has 128 bits at most.
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
    fn run(&self, statement: &Statement, deadline: Instant) -> Result<Rows, Failed> {
        self.with(deadline, |link| link.rows(statement, deadline))
    }

    fn reach(&self, deadline: Instant) -> Result<(), Failed> {
        self.with(deadline, |_| Ok(()))
    }

    fn columns(&self, table: &str) -> Result<Vec<Found>, Failed> {
        let sql = "SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute \
                   WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
        let (deadline, name) = (soon(), quoted(table));
        let rows = self.with(deadline, |link| {
            let rows = link.wait(deadline, link.client.query(sql, &[&name]))?;
            let found = |row: &tokio_postgres::Row| {
                Ok(Found { name: row.try_get(0)?, kind: row.try_get(1)? })
            };
            rows.iter()
                .map(found)
                .collect::<Result<Vec<_>, tokio_postgres::Error>>()
                .map_err(Failed::new)
        })?;
        if rows.is_empty() {
            return Err(Failed::new(format!("there is no table {table:?}")));
        }
        Ok(rows)
    }

    fn unique(&self, table: &str, columns: &[&str]) -> Result<Option<String>, Failed> {
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
        let count = self.with(soon(), |link| {
            let row = link.wait(soon(), link.client.query_one(&sql, &[]))?;
            row.try_get::<_, i64>(0).map_err(Failed::new)
        })?;
        // It is asked again when the rows are read: nothing can be divided by the number of indexes if there is none left.
        Ok((count > 0).then(|| format!("(SELECT 1 / LEAST(COUNT(*), 1) {unique}) = 1")))
    }

    fn about(&self, table: &str, person: Option<&str>) -> Result<About, Failed> {
        let sql = "SELECT c.relkind::text, c.reltuples::float8, c.relrowsecurity, \
                   (SELECT l.collname::text FROM pg_attribute AS a INNER JOIN pg_collation AS l ON l.oid = a.attcollation \
                    WHERE a.attrelid = c.oid AND lower(a.attname) = lower($2) AND NOT l.collisdeterministic LIMIT 1) \
                   FROM pg_class AS c WHERE c.oid = to_regclass($1)";
        let (name, column) = (quoted(table), person.unwrap_or_default().to_owned());
        self.with(soon(), |link| {
            let row = link.wait(soon(), link.client.query_one(sql, &[&name, &column]))?;
            let text = |at| row.try_get::<_, Option<String>>(at).map_err(Failed::new);
            let rows: f64 = row.try_get(1).map_err(Failed::new)?;
            let mut about =
                About { rows: (rows > 0.0).then_some(rows as u64), warnings: Vec::new() };
            match text(0)?.as_deref() {
                Some("v") => about.warnings.push(About::VIEW.to_owned()),
                Some("f") => about.warnings.push(
                    "it is a foreign table: no value that is there may make reading it fail"
                        .to_owned(),
                ),
                _ => {}
            }
            if row.try_get(2).map_err(Failed::new)? {
                about.warnings.push(
                    "it has policies for its rows: none may fail, or depend on other rows"
                        .to_owned(),
                );
            }
            let collation = text(3)?;
            about.warnings.extend(collation.map(|collation| About::collated(&column, &collation)));
            Ok(about)
        })
    }

    fn plan(&self, statement: &Statement) -> Result<(), Failed> {
        let sql = format!("EXPLAIN {}", statement.sql);
        let explained = Statement { sql, values: statement.values.clone() };
        self.with(soon(), |link| link.asked(&explained, soon()).map(drop))
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            table: quoted,
            parameter: |number, value| {
                let kind = match value {
                    Value::Whole(_) => "bigint",
                    Value::Real(_) => "double precision",
                    Value::Text(_) => "text",
                    Value::Reals(_) => "double precision[]",
                    Value::Wholes(_) => "bigint[]",
                    Value::Texts(_) => "text[]",
                };
                format!("CAST(${number} AS {kind})")
            },
            read: normal,
            whole: |number| format!("CAST(FLOOR({number}) AS bigint)"),
            least: "LEAST",
            greatest: "GREATEST",
            // Seeds of one another. Every text has a hash, whatever its bytes are.
            hash: |key, numbers, person| {
                let chained = numbers.iter().fold(key.to_owned(), |seed, number| {
                    format!("hashint8extended({number}, {seed})")
                });
                format!("hashtextextended(CAST({person} AS text) COLLATE \"C\", {chained})")
            },
            // Of 64 bits they are added up in 128.
            summed: Some(|units| format!("SUM(CAST({units} AS bigint))")),
            at_most: |list, number| format!("width_bucket({number}, {list})"),
            position: |list, value| format!("array_position({list}, {value})"),
            listed: None,
            series: |count| {
                format!(
                    "(SELECT n FROM generate_series(0, CAST({count} AS bigint) - 1) AS n) AS series"
                )
            },
        }
    }
}

/// A name, or a name in a schema.
fn quoted(name: &str) -> String {
    name.split('.').map(view::quoted).collect::<Vec<_>>().join(".")
}

/// What a column holds is known by its type. NaN, which is a number here, is none.
fn normal(column: &str, kind: &str, read: Read) -> Option<String> {
    let is_whole = matches!(kind, "smallint" | "integer" | "bigint");
    let is_float = matches!(kind, "real" | "double precision");
    let is_text = matches!(kind, "text" | "character varying" | "character");
    match read {
        Read::Number if is_whole => Some(format!("CAST({column} AS double precision)")),
        Read::Number if is_float => {
            Some(format!("CASE WHEN {column} <> 'NaN' THEN CAST({column} AS double precision) END"))
        }
        // Doubles are narrower at both ends, and the server fails where one is left.
        Read::Number if kind == "numeric" => Some(format!(
            "CASE WHEN {column} <> 'NaN' THEN CAST(ROUND(LEAST(GREATEST({column}, -1.7976931348623157e308), \
             1.7976931348623157e308), 300) AS double precision) END"
        )),
        Read::Whole if is_whole => Some(format!("CAST({column} AS bigint)")),
        Read::Whole if is_float || kind == "numeric" => Some(format!(
            "CASE WHEN {column} BETWEEN -9.2e18 AND 9.2e18 AND FLOOR({column}) = {column} THEN CAST({column} AS bigint) END"
        )),
        Read::Text if is_text => Some(format!("CAST({column} AS text) COLLATE \"C\"")),
        Read::Person if is_whole => Some(format!("CAST({column} AS bigint)")),
        Read::Person if is_text || kind == "uuid" => {
            Some(format!("CAST({column} AS text) COLLATE \"C\""))
        }
        _ => None,
    }
}
