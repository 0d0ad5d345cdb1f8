//! One connection to a server, and what is under way over it.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::names::qualified;
use super::pipeline::{
    Beginning, Fault, Outcome, after, all, cells, changed, committed, guard, in_order, typed,
};
use super::replicas::{FOUND, Replicas};
use super::target::{Target, described, failed};
use super::{Access, Cell, DatabaseError, Row, Statement};

/// A connection, and whether it may still be used.
pub(super) struct ServerConnection {
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
    pub(super) stopped: bool,
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

impl ServerConnection {
    pub(super) fn open(url: &str, access: Access) -> Result<Self, DatabaseError> {
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
        // Questions about the server itself are answered by the server itself, too.
        opened.run(BEGIN_READ).map_err(|error| failed(&error))?;
        opened.check(access)?;
        opened.run("ROLLBACK").map_err(|error| failed(&error))?;
        Ok(opened)
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

    pub(super) fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
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

    pub(super) fn query(
        &mut self,
        sql: &str,
        parameters: &[Cell],
    ) -> Result<Vec<Row>, DatabaseError> {
        self.running()?;
        let rows = self.rows(&[(sql, parameters)]).map_err(|fault| self.failed(fault))?;
        rows.into_iter().next().ok_or_else(gone)
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
    pub(super) fn commit_after(
        &mut self,
        writes: &[Statement],
    ) -> Result<Option<usize>, DatabaseError> {
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

    pub(super) fn rollback(&mut self) {
        let is_begun = self.beginning.take().is_none();
        if is_begun && !self.stopped && self.run("ROLLBACK").is_err() {
            self.stopped = true;
        }
    }

    /// Whether the server is gone, if that has come here by now.
    pub(super) fn is_lost(&self) -> bool {
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
    pub(super) fn close(self) {
        drop(self.client);
        let _ = self.runtime.block_on(self.connection);
    }
}

/// The thread that used the connection has ended, and the connection with it.
pub(super) fn gone() -> DatabaseError {
    DatabaseError::Failed("the connection is gone".to_owned())
}
