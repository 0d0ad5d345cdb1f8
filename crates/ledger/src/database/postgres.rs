//! PostgreSQL, over one connection.

use std::collections::HashMap;
use std::error::Error;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Statement};

use super::tls::{Target, described, failed};
use super::{Access, Cell, Database, DatabaseError, Dialect, Row};

/// A ledger on a server.
///
/// The client waits for the server in a runtime of its own, which must not be started within
/// another: it lives on a thread of its own, so that async programs may open, use and drop it.
pub struct Postgres {
    orders: Sender<Order>,
    thread: Option<JoinHandle<()>>,
}

/// Something to be done on the client's thread.
type Order = Box<dyn FnOnce(&mut Session) + Send>;

/// The connection, on its thread.
struct Session {
    client: Client,
    statements: HashMap<String, Statement>,
    stopped: bool,
}

/// What must be on for a commit to be durable.
const NEEDED: [&str; 2] = ["fsync", "full_page_writes"];

/// Said in every transaction that writes: between two of them a pooler may have exchanged the
/// session, with its settings, for another.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
                           SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '60s'";

impl Postgres {
    /// Connects.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] saying why it cannot be used.
    pub fn open(url: &str) -> Result<Self, DatabaseError> {
        let (orders, inbox) = mpsc::channel::<Order>();
        let (opened, outcome) = mpsc::channel();
        let url = url.to_owned();
        let life = move || match Session::open(&url) {
            Ok(mut session) => {
                let _ = opened.send(Ok(()));
                inbox.iter().for_each(|order| order(&mut session));
            }
            Err(error) => {
                let _ = opened.send(Err(error));
            }
        };
        let no_thread = |error| DatabaseError::Unusable(format!("no thread to connect: {error}"));
        let builder = std::thread::Builder::new().name("ledger connection".to_owned());
        let thread = builder.spawn(life).map_err(no_thread)?;
        let postgres = Self { orders, thread: Some(thread) };
        outcome.recv().map_err(|_| gone())??;
        Ok(postgres)
    }

    /// Has something done on the client's thread, and waits for it.
    fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Session) -> T + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let (reply, answer) = mpsc::channel();
        let order: Order = Box::new(move |session| {
            let _ = reply.send(work(session));
        });
        self.orders.send(order).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())
    }
}

impl Drop for Postgres {
    /// The thread ends when nobody can order anything any more.
    fn drop(&mut self) {
        self.orders = mpsc::channel().0;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Database for Postgres {
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.ask(move |session| session.begin(access))?
    }

    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError> {
        let (sql, parameters) = (sql.to_owned(), parameters.to_vec());
        self.ask(move |session| session.query(&sql, &parameters))?
    }

    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError> {
        let (sql, parameters) = (sql.to_owned(), parameters.to_vec());
        self.ask(move |session| session.execute(&sql, &parameters))?
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        let outcome = self.ask(Session::commit);
        outcome.map_err(|error| DatabaseError::Uncertain(error.to_string()))?
    }

    fn rollback(&mut self) {
        let _ = self.ask(Session::rollback);
    }

    fn copy(&mut self, file: &str) -> Result<(), DatabaseError> {
        super::copy::tables(self, file)
    }

    fn is_stopped(&self) -> bool {
        self.ask(|session| session.stopped).unwrap_or(true)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }
}

impl Session {
    fn open(url: &str) -> Result<Self, DatabaseError> {
        let failed = |error| failed(&error);
        let mut client = Target::read(url)?.connect()?;
        for setting in NEEDED {
            let row = client.query_one(&format!("SHOW {setting}"), &[]).map_err(failed)?;
            let value: String = row.try_get(0).map_err(failed)?;
            if value != "on" {
                let problem = format!("{setting} is {value}; legal: on");
                return Err(DatabaseError::Unusable(problem));
            }
        }
        Ok(Self { client, statements: HashMap::new(), stopped: false })
    }

    fn running(&self) -> Result<(), DatabaseError> {
        if self.stopped { Err(DatabaseError::Stopped) } else { Ok(()) }
    }

    fn failed(&mut self, error: &postgres::Error) -> DatabaseError {
        if error.code() == Some(&postgres::error::SqlState::LOCK_NOT_AVAILABLE) {
            self.rollback();
            return DatabaseError::Busy;
        }
        self.stopped = true;
        let _ = self.client.batch_execute("ROLLBACK");
        DatabaseError::Failed(described(error))
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, postgres::Error> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn rows(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, postgres::Error> {
        let statement = self.statement(sql)?;
        let rows = self.client.query(&statement, &references(parameters))?;
        rows.iter().map(cells).collect()
    }

    fn changed(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, postgres::Error> {
        let statement = self.statement(sql)?;
        self.client.execute(&statement, &references(parameters))
    }

    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.running()?;
        let sql = match access {
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            // The lock is the head's row, taken before anything else is read.
            Access::Write => BEGIN_WRITE,
        };
        self.client.batch_execute(sql).map_err(|error| self.failed(&error))
    }

    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError> {
        self.running()?;
        self.rows(sql, parameters).map_err(|error| self.failed(&error))
    }

    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError> {
        self.running()?;
        self.changed(sql, parameters).map_err(|error| self.failed(&error))
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        self.running()?;
        self.client.batch_execute("COMMIT").map_err(|error| {
            self.stopped = true;
            DatabaseError::Uncertain(described(&error))
        })
    }

    fn rollback(&mut self) {
        if !self.stopped && self.client.batch_execute("ROLLBACK").is_err() {
            self.stopped = true;
        }
    }
}

/// The client's thread has ended, and the connection with it.
fn gone() -> DatabaseError {
    DatabaseError::Failed("the connection is gone".to_owned())
}

fn references(parameters: &[Cell]) -> Vec<&(dyn ToSql + Sync)> {
    parameters.iter().map(|cell| cell as &(dyn ToSql + Sync)).collect()
}

fn cells(row: &postgres::Row) -> Result<Row, postgres::Error> {
    let cell = |(index, column): (usize, &postgres::Column)| {
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
