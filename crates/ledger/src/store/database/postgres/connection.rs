//! One connection to a server, with its transaction in progress.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::names::qualified;
use super::pipeline::{
    Outcome, StatementError, TransactionStart, after, all, cells, changed, committed, guard,
    in_order, typed,
};
use super::replicas::{REPLICA_QUERY, Replicas};
use super::target::{Target, described, failed};
use super::{Access, Cell, DatabaseError, Row, Statement};

/// A connection to a server.
pub(super) struct ServerConnection {
    runtime: Runtime,
    client: Client,
    /// The task that carries the client's messages. It ends when the server closes the connection.
    connection: tokio::task::JoinHandle<()>,
    /// The schema of the ledger, quoted.
    schema: String,
    /// The start of a transaction, which is sent with the transaction's first statement.
    beginning: Option<TransactionStart>,
    /// The URL's setting for replicas.
    replicas: Replicas,
    /// True if the commit of this transaction will wait for a replica.
    waits: bool,
    /// The last warning of the server.
    warning: Arc<Mutex<Option<String>>>,
    pub(super) stopped: bool,
}

/// The settings that must be on for a commit to be durable.
const NEEDED: [&str; 2] = ["fsync", "full_page_writes"];

/// The number of times that other tasks may run before a connection counts as open. In that time the task that carries
/// messages can notice that the server has closed the connection.
const YIELDS: u32 = 4;

/// The search path holds only schemas in which nobody but the server's owner creates anything; the ledger's own names
/// are sent with their schema. All settings are sent in every transaction, because between two of them a pooler may
/// exchange the session for another.
const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
                          SET LOCAL search_path = pg_catalog, pg_temp";

/// If a commit is cancelled while it waits for a replica, it succeeds with a warning, so the server must send warnings.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
                           SET LOCAL search_path = pg_catalog, pg_temp; \
                           SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '60s'; \
                           SET LOCAL client_min_messages = warning";

impl ServerConnection {
    pub(super) fn open(url: &str, access: Access) -> Result<Self, DatabaseError> {
        let no_runtime = |error| {
            DatabaseError::Unusable(format!("the Tokio runtime cannot be started: {error}"))
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_runtime)?;
        let target = Target::read(url)?;
        let target = if access == Access::Write { target.writable() } else { target };
        let warning = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&warning);
        let warned = move |text| *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        let (client, connection) = runtime.block_on(target.connect(warned))?;
        let (beginning, replicas) = (None, target.replicas());
        let schema = format!("\"{}\"", target.schema()?);
        let opened = Self {
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
        // The search path matters for the checks below, too.
        opened.run(BEGIN_READ).map_err(|error| failed(&error))?;
        opened.check(access)?;
        opened.run("ROLLBACK").map_err(|error| failed(&error))?;
        Ok(opened)
    }

    /// Checks that the server's settings make commits durable.
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
        let found =
            if self.replicas.needs_check() { self.text(REPLICA_QUERY)? } else { String::new() };
        match self.replicas.problem(&found) {
            Some(problem) => Err(DatabaseError::Unusable(problem.to_owned())),
            None => Ok(()),
        }
    }

    /// Runs a statement that returns one text.
    fn text(&self, sql: &str) -> Result<String, DatabaseError> {
        let row = self.runtime.block_on(self.client.query_typed_one(sql, &[]));
        row.and_then(|row| row.try_get(0)).map_err(|error| failed(&error))
    }

    fn running(&self) -> Result<(), DatabaseError> {
        if self.stopped { Err(DatabaseError::Stopped) } else { Ok(()) }
    }

    fn failed(&mut self, fault: StatementError) -> DatabaseError {
        let error = match fault {
            StatementError::Server(error) => error,
            StatementError::Unsafe(problem) => {
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

    /// Sends several statements one after the other without waiting for their outcomes, and returns their rows. After a
    /// statement that fails, the server runs none of the others.
    fn rows(&mut self, reads: &[(&str, &[Cell])]) -> Result<Vec<Vec<Row>>, StatementError> {
        let sent: Vec<_> =
            reads.iter().map(|(sql, cells)| (self.sent(sql), typed(cells))).collect();
        let all = all(sent.iter().map(|(sql, cells)| self.client.query_typed(sql, cells)));
        let beginning = self.beginning.take();
        let (waits, found) = self.runtime.block_on(after(beginning, &self.client, all))?;
        self.waits |= waits;
        let read = |rows: Vec<tokio_postgres::Row>| rows.iter().map(cells).collect();
        Ok(found.into_iter().map(read).collect::<Outcome<_>>()?)
    }

    /// Sends several statements in the same way, and returns the number of rows that each changes.
    fn changed(&mut self, writes: &[(&str, &[Cell])]) -> Result<Vec<u64>, StatementError> {
        let sent: Vec<_> =
            writes.iter().map(|(sql, cells)| (self.sent(sql), typed(cells))).collect();
        let all = all(sent.iter().map(|(sql, cells)| changed(&self.client, sql, cells)));
        let beginning = self.beginning.take();
        let (waits, changed) = self.runtime.block_on(after(beginning, &self.client, all))?;
        self.waits |= waits;
        Ok(changed)
    }

    /// A statement with its tables' full names. It is not prepared on the server: the next transaction may run in
    /// another session there.
    fn sent(&self, sql: &str) -> String {
        qualified(sql, &self.schema)
    }

    pub(super) fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.running()?;
        self.waits = false;
        self.beginning = Some(match access {
            Access::Read => TransactionStart { sql: BEGIN_READ, found: None },
            // The lock is that of the head's row, which is read first.
            Access::Write => TransactionStart { sql: BEGIN_WRITE, found: self.found() },
        });
        Ok(())
    }

    /// The URL's setting for replicas, if replicas must be checked.
    fn found(&self) -> Option<Replicas> {
        self.replicas.needs_check().then_some(self.replicas)
    }

    pub(super) fn query(
        &mut self,
        sql: &str,
        parameters: &[Cell],
    ) -> Result<Vec<Row>, DatabaseError> {
        self.running()?;
        let rows = self.rows(&[(sql, parameters)]).map_err(|fault| self.failed(fault))?;
        rows.into_iter().next().ok_or_else(connection_gone)
    }

    pub(super) fn query_all(
        &mut self,
        reads: &[Statement],
    ) -> Result<Vec<Vec<Row>>, DatabaseError> {
        self.running()?;
        let reads: Vec<(&str, &[Cell])> =
            reads.iter().map(|read| (read.sql, read.parameters.as_slice())).collect();
        self.rows(&reads).map_err(|fault| self.failed(fault))
    }

    pub(super) fn execute(
        &mut self,
        writes: &[(&str, &[Cell])],
    ) -> Result<Vec<u64>, DatabaseError> {
        self.running()?;
        self.changed(writes).map_err(|fault| self.failed(fault))
    }

    pub(super) fn commit(&mut self) -> Result<(), DatabaseError> {
        self.running()?;
        if self.beginning.take().is_some() {
            return Ok(());
        }
        let found = if self.waits { self.found() } else { None };
        self.warned();
        let committed = self.runtime.block_on(committed(&self.client, found));
        self.acknowledged(committed)
    }

    /// Checks that a COMMIT is known to have taken effect.
    fn acknowledged(&mut self, committed: Result<(), StatementError>) -> Result<(), DatabaseError> {
        let problem = match committed {
            Ok(()) => self.warned(),
            Err(StatementError::Server(error)) => Some(described(&error)),
            Err(StatementError::Unsafe(problem)) => Some(problem.to_owned()),
        };
        match problem {
            None => Ok(()),
            Some(problem) => {
                self.stopped = true;
                Err(DatabaseError::Uncertain(problem))
            }
        }
    }

    /// Sends the last statements of a transaction and its COMMIT without waiting in between. After a statement that
    /// fails, the server treats the COMMIT as a ROLLBACK.
    pub(super) fn commit_after(
        &mut self,
        writes: &[Statement],
    ) -> Result<Option<usize>, DatabaseError> {
        self.running()?;
        if self.beginning.is_some() {
            // The state of replicas, which is read at the start of the transaction, must be known before the COMMIT.
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
            // The COMMIT was sent, and it is unknown whether the server ran it.
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

    /// Takes the server's warning since the last call, if there was one.
    fn warned(&self) -> Option<String> {
        self.warning.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn rollback(&mut self) {
        let is_begun = self.beginning.take().is_none();
        if is_begun && !self.stopped && self.run("ROLLBACK").is_err() {
            self.stopped = true;
        }
    }

    /// True if the server is known to have closed the connection.
    pub(super) fn is_lost(&self) -> bool {
        // The task that carries messages runs only while the runtime waits: once to notice a message, and once to read
        // it.
        self.runtime.block_on(async {
            for _ in 0..YIELDS {
                tokio::task::yield_now().await;
            }
        });
        self.client.is_closed()
    }

    /// Closes the connection, and waits until the server has closed it.
    pub(super) fn close(self) {
        drop(self.client);
        let _ = self.runtime.block_on(self.connection);
    }
}

/// The error for a connection whose thread has ended.
pub(super) fn connection_gone() -> DatabaseError {
    DatabaseError::Failed("the connection is closed".to_owned())
}
