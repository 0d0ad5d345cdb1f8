//! PostgreSQL, over one connection.

use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use futures_util::TryStreamExt;
use futures_util::future::{join, join3};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::replicas::{FOUND, Replicas, WAITED_FOR};
use super::tls::{Target, described, failed};
use super::{Access, Cell, Database, DatabaseError, Dialect, Row, Statement};

type Outcome<T> = Result<T, tokio_postgres::Error>;

/// Why a statement came to nothing.
enum Fault {
    /// The server says so.
    Server(tokio_postgres::Error),
    /// What is written might not be kept.
    Unsafe(&'static str),
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

/// A ledger on a server.
///
/// The client waits for the server in a runtime of its own, which must not be started or dropped
/// within another: there, whatever is asked of it is done on a thread of its own.
pub struct Postgres(Option<Session>);

/// The connection.
struct Session {
    runtime: Runtime,
    client: Client,
    /// What carries the client's messages, until the server has taken its leave.
    connection: tokio::task::JoinHandle<()>,
    /// The schema that the ledger is in, quoted.
    schema: String,
    /// The beginning of a transaction, which is sent with its first statement.
    beginning: Option<Beginning>,
    /// What commits wait for.
    replicas: Replicas,
    /// Whether the commit of this transaction will wait for a replica.
    waits: bool,
    /// The last thing that the server warned of.
    warning: Arc<Mutex<Option<String>>>,
    stopped: bool,
}

/// The beginning of a transaction, and how to find out about replicas if it writes and they matter.
struct Beginning {
    sql: &'static str,
    found: Option<Replicas>,
}

/// What must be on for a commit to be durable.
const NEEDED: [&str; 2] = ["fsync", "full_page_writes"];

/// So often others have their turn before a connection is believed to be there.
const TURNS: u32 = 4;

/// Names are looked up where nobody but the server's owner makes any; the ledger's own are sent with their schema. Said in
/// every transaction, as all settings are: between two of them a pooler may have exchanged the session for another.
const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
                          SET LOCAL search_path = pg_catalog, pg_temp";

/// A commit that is cancelled while it waits for a replica succeeds, with a
/// warning, which must be sent.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
                           SET LOCAL search_path = pg_catalog, pg_temp; \
                           SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '60s'; \
                           SET LOCAL client_min_messages = warning";

/// A message in the server's log, which every role may leave there: its commit waits, as any other does, until the log up to
/// it is durable, here and on the replicas that commits wait for.
const MESSAGE: &str = "SELECT CAST(pg_logical_emit_message(true, 'counterpoint', '') AS text)";

impl Postgres {
    /// Connects to a server that can be written to.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] saying why it cannot be used.
    pub fn open(url: &str) -> Result<Self, DatabaseError> {
        Ok(Self(Some(outside(|| Session::open(url, Access::Write))??)))
    }

    /// Connects to a server to read, a standby perhaps.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] saying why it cannot be used.
    pub fn open_read_only(url: &str) -> Result<Self, DatabaseError> {
        Ok(Self(Some(outside(|| Session::open(url, Access::Read))??)))
    }

    fn ask<T: Send>(
        &mut self,
        work: impl FnOnce(&mut Session) -> Result<T, DatabaseError> + Send,
    ) -> Result<T, DatabaseError> {
        let session = self.0.as_mut().ok_or_else(gone)?;
        let outcome = outside(|| work(session));
        outcome.unwrap_or_else(|error| {
            // Nobody knows what its thread left undone.
            session.stopped = true;
            Err(error)
        })
    }
}

/// Does something that waits in a runtime, or drops one: here, or on a thread of its own if this one
/// is within a runtime already.
///
/// # Errors
/// [`DatabaseError::Failed`] if that thread panics.
pub fn outside<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, DatabaseError> {
    if Handle::try_current().is_err() {
        return Ok(work());
    }
    std::thread::scope(|scope| scope.spawn(work).join()).map_err(|_| gone())
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(session) = self.0.take() {
            let _ = outside(|| session.close());
        }
    }
}

impl Database for Postgres {
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.ask(|session| session.begin(access))
    }

    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError> {
        self.ask(|session| session.query(sql, parameters))
    }

    fn query_all(&mut self, reads: &[Statement]) -> Result<Vec<Vec<Row>>, DatabaseError> {
        self.ask(|session| session.query_all(reads))
    }

    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError> {
        let changed = self.ask(|session| session.execute(&[(sql, parameters)]))?;
        changed.first().copied().ok_or_else(gone)
    }

    fn execute_all(&mut self, writes: &[Statement]) -> Result<Vec<u64>, DatabaseError> {
        let writes: Vec<(&str, &[Cell])> =
            writes.iter().map(|write| (write.sql, write.parameters.as_slice())).collect();
        self.ask(|session| session.execute(&writes))
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        // A commit that is not answered may have taken effect.
        self.ask(Session::commit).map_err(|error| match error {
            DatabaseError::Failed(problem) => DatabaseError::Uncertain(problem),
            error => error,
        })
    }

    fn commit_after(&mut self, writes: &[Statement]) -> Result<Option<usize>, DatabaseError> {
        self.ask(|session| session.commit_after(writes)).map_err(|error| match error {
            // Its thread ended, perhaps after the COMMIT was sent.
            error if error == gone() => DatabaseError::Uncertain(error.to_string()),
            error => error,
        })
    }

    fn rollback(&mut self) {
        let _ = self.ask(|session| {
            session.rollback();
            Ok(())
        });
    }

    fn copy(&mut self, file: &str) -> Result<(), DatabaseError> {
        super::copy::tables(self, file, true)
    }

    fn copy_without_secrets(&mut self, file: &str) -> Result<(), DatabaseError> {
        super::copy::tables(self, file, false)
    }

    fn settle(&mut self) -> Result<(), DatabaseError> {
        self.begin(Access::Read)?;
        let standby = self.query("SELECT CAST(pg_is_in_recovery() AS text)", &[]);
        self.rollback();
        if standby? == [[Cell::Text("true".to_owned())]] {
            let problem = "the server is a standby, and whether what it shows is durable is known to its primary \
                           alone; legal: its primary";
            return Err(DatabaseError::Unusable(problem.to_owned()));
        }
        self.begin(Access::Write)?;
        self.query(MESSAGE, &[])?;
        self.commit()
    }

    fn is_stopped(&self) -> bool {
        self.0.as_ref().is_none_or(|session| session.stopped)
    }

    fn is_lost(&mut self) -> bool {
        self.ask(|session| Ok(session.is_lost())).unwrap_or(true)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }
}

impl Session {
    fn open(url: &str, access: Access) -> Result<Self, DatabaseError> {
        let no_runtime = |error| DatabaseError::Unusable(format!("no runtime: {error}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_runtime)?;
        let target = Target::read(url)?;
        let target = if access == Access::Write { target.writable() } else { target };
        let warning = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&warning);
        let warned = move |text| *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        let (client, connection) = runtime.block_on(target.connect(warned))?;
        let (beginning, replicas) = (None, target.replicas());
        let schema = format!("\"{}\"", target.schema()?);
        let session = Self {
            runtime,
            client,
            connection,
            schema,
            beginning,
            replicas,
            waits: false,
            warning,
            stopped: false,
        };
        // Questions about the server itself are answered by the server itself, too.
        session.run(BEGIN_READ).map_err(|error| failed(&error))?;
        session.check(access)?;
        session.run("ROLLBACK").map_err(|error| failed(&error))?;
        Ok(session)
    }

    /// Whether the server is set up to keep what it is told.
    fn check(&self, access: Access) -> Result<(), DatabaseError> {
        for setting in NEEDED {
            let value = self.text(&format!("SHOW {setting}"))?;
            if value != "on" {
                let problem = format!("{setting} is {value}; legal: on");
                return Err(DatabaseError::Unusable(problem));
            }
        }
        if access == Access::Read {
            return Ok(());
        }
        if self.text("SELECT CAST(pg_is_in_recovery() AS text)")? == "true" {
            let problem = "the server is a standby; legal: its primary, or to read only";
            return Err(DatabaseError::Unusable(problem.to_owned()));
        }
        let found = if self.replicas.matter() { self.text(FOUND)? } else { String::new() };
        match self.replicas.problem(&found) {
            Some(problem) => Err(DatabaseError::Unusable(problem.to_owned())),
            None => Ok(()),
        }
    }

    /// The one text that a statement gives.
    fn text(&self, sql: &str) -> Result<String, DatabaseError> {
        let row = self.runtime.block_on(self.client.query_typed_one(sql, &[]));
        row.and_then(|row| row.try_get(0)).map_err(|error| failed(&error))
    }

    fn running(&self) -> Result<(), DatabaseError> {
        if self.stopped { Err(DatabaseError::Stopped) } else { Ok(()) }
    }

    fn failed(&mut self, fault: Fault) -> DatabaseError {
        let error = match fault {
            Fault::Server(error) => error,
            Fault::Unsafe(problem) => {
                self.rollback();
                return DatabaseError::Unusable(format!("nothing was written: {problem}"));
            }
        };
        if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) {
            self.rollback();
            return DatabaseError::Busy;
        }
        self.stopped = true;
        let _ = self.run("ROLLBACK");
        DatabaseError::Failed(described(&error))
    }

    fn run(&self, sql: &str) -> Outcome<()> {
        self.runtime.block_on(self.client.batch_execute(sql))
    }

    /// The rows of several statements. They are sent one after the other without waiting for what the server says; after
    /// one that fails it does none.
    fn rows(&mut self, reads: &[(&str, &[Cell])]) -> Result<Vec<Vec<Row>>, Fault> {
        let sent: Vec<_> =
            reads.iter().map(|(sql, cells)| (self.sent(sql), typed(cells))).collect();
        let all = all(sent.iter().map(|(sql, cells)| self.client.query_typed(sql, cells)));
        let beginning = self.beginning.take();
        let (waits, found) = self.runtime.block_on(after(beginning, &self.client, all))?;
        self.waits |= waits;
        let read = |rows: Vec<tokio_postgres::Row>| rows.iter().map(cells).collect();
        Ok(found.into_iter().map(read).collect::<Outcome<_>>()?)
    }

    /// What several statements change, sent in the same way.
    fn changed(&mut self, writes: &[(&str, &[Cell])]) -> Result<Vec<u64>, Fault> {
        let sent: Vec<_> =
            writes.iter().map(|(sql, cells)| (self.sent(sql), typed(cells))).collect();
        let all = all(sent.iter().map(|(sql, cells)| changed(&self.client, sql, cells)));
        let beginning = self.beginning.take();
        let (waits, changed) = self.runtime.block_on(after(beginning, &self.client, all))?;
        self.waits |= waits;
        Ok(changed)
    }

    /// A statement with its tables' names in full. It is not kept on the server: the next transaction may be with another
    /// session there.
    fn sent(&self, sql: &str) -> String {
        qualified(sql, &self.schema)
    }

    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.running()?;
        self.waits = false;
        self.beginning = Some(match access {
            Access::Read => Beginning { sql: BEGIN_READ, found: None },
            // The lock is the head's row, taken before anything else is read.
            Access::Write => Beginning { sql: BEGIN_WRITE, found: self.found() },
        });
        Ok(())
    }

    /// What the URL says of replicas, if they matter.
    fn found(&self) -> Option<Replicas> {
        self.replicas.matter().then_some(self.replicas)
    }

    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError> {
        self.running()?;
        let rows = self.rows(&[(sql, parameters)]).map_err(|fault| self.failed(fault))?;
        rows.into_iter().next().ok_or_else(gone)
    }

    fn query_all(&mut self, reads: &[Statement]) -> Result<Vec<Vec<Row>>, DatabaseError> {
        self.running()?;
        let reads: Vec<(&str, &[Cell])> =
            reads.iter().map(|read| (read.sql, read.parameters.as_slice())).collect();
        self.rows(&reads).map_err(|fault| self.failed(fault))
    }

    fn execute(&mut self, writes: &[(&str, &[Cell])]) -> Result<Vec<u64>, DatabaseError> {
        self.running()?;
        self.changed(writes).map_err(|fault| self.failed(fault))
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        self.running()?;
        if self.beginning.take().is_some() {
            return Ok(());
        }
        let found = if self.waits { self.found() } else { None };
        self.warned();
        let committed = self.runtime.block_on(committed(&self.client, found));
        self.acknowledged(committed)
    }

    /// Whether a COMMIT is known to have taken effect.
    fn acknowledged(&mut self, committed: Result<(), Fault>) -> Result<(), DatabaseError> {
        let problem = match committed {
            Ok(()) => self.warned(),
            Err(Fault::Server(error)) => Some(described(&error)),
            Err(Fault::Unsafe(problem)) => Some(problem.to_owned()),
        };
        match problem {
            None => Ok(()),
            Some(problem) => {
                self.stopped = true;
                Err(DatabaseError::Uncertain(problem))
            }
        }
    }

    /// The last statements of a transaction and its COMMIT, sent without waiting in between. After a statement that fails
    /// the server takes the COMMIT for a ROLLBACK.
    fn commit_after(&mut self, writes: &[Statement]) -> Result<Option<usize>, DatabaseError> {
        self.running()?;
        if self.beginning.is_some() {
            // What is found out with the beginning has to be known first.
            self.query_all(&[])?;
        }
        let found = if self.waits { self.found() } else { None };
        self.warned();
        let guarded = |write: &Statement| guard(&self.sent(write.sql));
        let sent: Vec<_> =
            writes.iter().map(|write| (guarded(write), typed(&write.parameters))).collect();
        let writes = in_order(sent.iter().map(|(sql, cells)| self.client.query_typed(sql, cells)));
        let both = join(writes, committed(&self.client, found));
        let (written, committed) = self.runtime.block_on(both);
        let failed = written
            .into_iter()
            .enumerate()
            .find_map(|(place, outcome)| outcome.err().map(|error| (place, error)));
        match failed {
            None => self.acknowledged(committed).map(|()| None),
            // The COMMIT was sent, and nobody knows how far the server came.
            Some((_, error)) if error.as_db_error().is_none() => {
                self.stopped = true;
                Err(DatabaseError::Uncertain(described(&error)))
            }
            Some((place, error)) if error.code() == Some(&SqlState::DIVISION_BY_ZERO) => {
                self.stopped |= committed.is_err();
                Ok(Some(place))
            }
            Some((_, error)) => Err(self.failed(error.into())),
        }
    }

    /// What the server warned of since this was last asked.
    fn warned(&self) -> Option<String> {
        self.warning.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn rollback(&mut self) {
        let is_begun = self.beginning.take().is_none();
        if is_begun && !self.stopped && self.run("ROLLBACK").is_err() {
            self.stopped = true;
        }
    }

    /// Whether the server is gone, if that has come here by now.
    fn is_lost(&self) -> bool {
        // What carries messages has its turn when the runtime waits, and only then: once to learn that there is
        // something, and once to read it.
        self.runtime.block_on(async {
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
        });
        self.client.is_closed()
    }

    /// Takes leave of the server.
    fn close(self) {
        drop(self.client);
        let _ = self.runtime.block_on(self.connection);
    }
}

/// What a statement comes to that is sent after the beginning of its transaction, if that is
/// still to be sent, without waiting for it; and whether its commit will wait. Messages are sent in the order of first polls.
async fn after<T>(
    beginning: Option<Beginning>,
    client: &Client,
    statement: impl Future<Output = Outcome<T>>,
) -> Result<(bool, T), Fault> {
    let Some(Beginning { sql, found }) = beginning else { return Ok((false, statement.await?)) };
    let (begun, found, outcome) =
        join3(client.batch_execute(sql), safe(client, found), statement).await;
    begun?;
    Ok((found?, outcome?))
}

/// A statement that fails, by a division by zero, unless it changes one row.
fn guard(sql: &str) -> String {
    format!("WITH changed AS ({sql} RETURNING 1) SELECT 1 / CAST(count(*) = 1 AS int) FROM changed")
}

/// What several futures come to. Each is begun after the one before it has begun, so that messages are sent in this order.
async fn in_order<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<Pin<Box<F>>> = futures.map(Box::pin).collect();
    let mut outcomes: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, outcome) in futures.iter_mut().zip(&mut outcomes) {
            if outcome.is_none()
                && let Poll::Ready(found) = future.as_mut().poll(context)
            {
                *outcome = Some(found);
            }
        }
        if outcomes.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outcomes.into_iter().flatten().collect()
}

/// The same if all succeed, or the first error.
async fn all<T, F: Future<Output = Outcome<T>>>(
    futures: impl Iterator<Item = F>,
) -> Outcome<Vec<T>> {
    in_order(futures).await.into_iter().collect()
}

/// Commits, and looks at replicas once more if it waits for any: names that are taken away let commits go that wait.
async fn committed(client: &Client, found: Option<Replicas>) -> Result<(), Fault> {
    let (done, found) = join(client.batch_execute("COMMIT"), safe(client, found)).await;
    done?;
    found.map(drop)
}

/// Whether commits wait for a replica; an error if there are some that they do not wait for.
async fn safe(client: &Client, found: Option<Replicas>) -> Result<bool, Fault> {
    let Some(replicas) = found else { return Ok(false) };
    let row = client.query_typed_one(FOUND, &[]).await?;
    let found = row.try_get(0)?;
    match replicas.problem(found) {
        None => Ok(found == WAITED_FOR),
        Some(problem) => Err(Fault::Unsafe(problem)),
    }
}

/// The thread that used the connection has ended, and the connection with it.
fn gone() -> DatabaseError {
    DatabaseError::Failed("the connection is gone".to_owned())
}

/// Parameters with their types; of nothing the server finds it out.
fn typed(parameters: &[Cell]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    let kind = |cell: &Cell| match cell {
        Cell::Null => Type::UNKNOWN,
        Cell::Whole(_) => Type::INT8,
        Cell::Text(_) => Type::TEXT,
        Cell::Bytes(_) => Type::BYTEA,
    };
    parameters.iter().map(|cell| (cell as &(dyn ToSql + Sync), kind(cell))).collect()
}

/// How many rows a statement changes.
async fn changed(
    client: &Client,
    sql: &str,
    parameters: &[(&(dyn ToSql + Sync), Type)],
) -> Outcome<u64> {
    let typed = parameters.iter().map(|(cell, kind)| (*cell, kind.clone()));
    let mut rows = pin!(client.query_typed_raw(sql, typed).await?);
    while rows.try_next().await?.is_some() {}
    Ok(rows.rows_affected().unwrap_or_default())
}

/// A statement with the schema before every name of a table or function of the ledger: before every word that begins with
/// `ledger_`, but for the names of new indexes and triggers, which are in their table's schema.
fn qualified(sql: &str, schema: &str) -> String {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut text = String::with_capacity(sql.len() + 64);
    let (mut rest, mut last) = (sql, "");
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|next| is_word(next) != is_word(letter)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        if is_word(letter) {
            if piece.starts_with("ledger_") && !["INDEX", "TRIGGER"].contains(&last) {
                text.push_str(schema);
                text.push('.');
            }
            last = piece;
        }
        text.push_str(piece);
        rest = after;
    }
    text
}

fn cells(row: &tokio_postgres::Row) -> Outcome<Row> {
    let cell = |(index, column): (usize, &tokio_postgres::Column)| {
        Ok(match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(index)?.map(Cell::Whole),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(index)?.map(Cell::Bytes),
            _ => row.try_get::<_, Option<String>>(index)?.map(Cell::Text),
        }
        .unwrap_or(Cell::Null))
    };
    row.columns().iter().enumerate().map(cell).collect()
}

impl ToSql for Cell {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Whole(number) => number.to_sql_checked(kind, out),
            Self::Text(text) => text.to_sql_checked(kind, out),
            Self::Bytes(bytes) => bytes.to_sql_checked(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_that_is_not_answered_may_have_taken_effect() {
        let mut lost = Postgres(None);
        assert!(matches!(lost.commit(), Err(DatabaseError::Uncertain(_))));
        assert!(matches!(lost.begin(Access::Write), Err(DatabaseError::Failed(_))));
        assert!(lost.is_stopped());
    }

    #[tokio::test]
    async fn work_that_panics_within_a_runtime_is_an_error() {
        assert_eq!(outside(|| 42), Ok(42));
        assert_eq!(outside(|| -> u8 { panic!("on purpose") }), Err(gone()));
    }

    #[test]
    fn names_of_the_ledger_are_sent_with_their_schema() {
        for (sql, sent) in [
            ("SELECT 1 FROM ledger_head", "SELECT 1 FROM \"s\".ledger_head"),
            ("to_regclass('ledger_version')", "to_regclass('\"s\".ledger_version')"),
            (
                "CREATE INDEX ledger_a ON ledger_b (x)",
                "CREATE INDEX ledger_a ON \"s\".ledger_b (x)",
            ),
            (
                "CREATE TRIGGER ledger_a BEFORE UPDATE ON ledger_b EXECUTE FUNCTION ledger_a()",
                "CREATE TRIGGER ledger_a BEFORE UPDATE ON \"s\".ledger_b EXECUTE FUNCTION \"s\".ledger_a()",
            ),
            ("DECLARE all_ledger_a CURSOR", "DECLARE all_ledger_a CURSOR"),
        ] {
            assert_eq!(qualified(sql, "\"s\""), sent);
        }
    }
}
