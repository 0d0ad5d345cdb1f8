//! PostgreSQL, through one connection.

mod names;
mod pipeline;
mod replicas;
mod connection;
mod target;

use tokio::runtime::Handle;

pub use self::target::Target;
use super::{Access, Cell, Database, DatabaseError, Dialect, Row, Statement};
use connection::{ServerConnection, connection_gone};

/// A ledger in a PostgreSQL database.
///
/// The client waits for the server in a Tokio runtime of its own. A runtime must not be started or dropped within
/// another one, so calls from within a runtime run on a separate thread.
pub struct Postgres(Option<ServerConnection>);

/// Writes a message to the server's log, which every role may do. Its commit waits, like any other, until the log up to
/// the message is durable, on the server and on the replicas that commits wait for.
const MESSAGE: &str = "SELECT CAST(pg_logical_emit_message(true, 'counterpoint', '') AS text)";

impl Postgres {
    /// Connects to a server that accepts writes.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] with the reason if the server cannot be used.
    pub fn open(url: &str) -> Result<Self, DatabaseError> {
        Ok(Self(Some(outside_runtime(|| ServerConnection::open(url, Access::Write))??)))
    }

    /// Connects to a server for reading. The server may be a standby.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] with the reason if the server cannot be used.
    pub fn open_read_only(url: &str) -> Result<Self, DatabaseError> {
        Ok(Self(Some(outside_runtime(|| ServerConnection::open(url, Access::Read))??)))
    }

    fn ask<T: Send>(
        &mut self,
        work: impl FnOnce(&mut ServerConnection) -> Result<T, DatabaseError> + Send,
    ) -> Result<T, DatabaseError> {
        let connection = self.0.as_mut().ok_or_else(connection_gone)?;
        let outcome = outside_runtime(|| work(connection));
        outcome.unwrap_or_else(|error| {
            // It is unknown at which point its thread stopped.
            connection.stopped = true;
            Err(error)
        })
    }
}

/// Runs a function that waits in a Tokio runtime, or drops one: on this thread, or on a new thread if this one is
/// within a runtime already.
///
/// # Errors
/// [`DatabaseError::Failed`] if the new thread panics.
pub fn outside_runtime<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, DatabaseError> {
    if Handle::try_current().is_err() {
        return Ok(work());
    }
    std::thread::scope(|scope| scope.spawn(work).join()).map_err(|_| connection_gone())
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            let _ = outside_runtime(|| connection.close());
        }
    }
}

impl Database for Postgres {
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.ask(|connection| connection.begin(access))
    }

    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError> {
        self.ask(|connection| connection.query(sql, parameters))
    }

    fn query_all(&mut self, reads: &[Statement]) -> Result<Vec<Vec<Row>>, DatabaseError> {
        self.ask(|connection| connection.query_all(reads))
    }

    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError> {
        let changed = self.ask(|connection| connection.execute(&[(sql, parameters)]))?;
        changed.first().copied().ok_or_else(connection_gone)
    }

    fn execute_all(&mut self, writes: &[Statement]) -> Result<Vec<u64>, DatabaseError> {
        let writes: Vec<(&str, &[Cell])> =
            writes.iter().map(|write| (write.sql, write.parameters.as_slice())).collect();
        self.ask(|connection| connection.execute(&writes))
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        // A commit without a reply may have taken effect.
        self.ask(ServerConnection::commit).map_err(|error| match error {
            DatabaseError::Failed(problem) => DatabaseError::Uncertain(problem),
            error => error,
        })
    }

    fn commit_after(&mut self, writes: &[Statement]) -> Result<Option<usize>, DatabaseError> {
        self.ask(|connection| connection.commit_after(writes)).map_err(|error| match error {
            // The thread of the call ended, perhaps after the COMMIT was sent.
            error if error == connection_gone() => DatabaseError::Uncertain(error.to_string()),
            error => error,
        })
    }

    fn rollback(&mut self) {
        let _ = self.ask(|connection| {
            connection.rollback();
            Ok(())
        });
    }

    fn copy(&mut self, file: &str, secrets: bool) -> Result<(), DatabaseError> {
        super::copy::tables(self, file, secrets)
    }

    fn wait_until_durable(&mut self) -> Result<(), DatabaseError> {
        self.begin(Access::Read)?;
        let standby = self.query("SELECT CAST(pg_is_in_recovery() AS text)", &[]);
        self.rollback();
        if standby? == [[Cell::Text("true".to_owned())]] {
            let problem = "the server is a standby, and only its primary knows whether the rows are durable; \
                           legal: its primary";
            return Err(DatabaseError::Unusable(problem.to_owned()));
        }
        self.begin(Access::Write)?;
        self.query(MESSAGE, &[])?;
        self.commit()
    }

    fn is_stopped(&self) -> bool {
        self.0.as_ref().is_none_or(|connection| connection.stopped)
    }

    fn is_lost(&mut self) -> bool {
        self.ask(|connection| Ok(connection.is_lost())).unwrap_or(true)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }
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
        assert_eq!(outside_runtime(|| 42), Ok(42));
        assert_eq!(outside_runtime(|| -> u8 { panic!("on purpose") }), Err(connection_gone()));
    }
}
