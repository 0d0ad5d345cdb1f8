//! Statements that are sent one after the other without waiting for the server's replies.

use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

use futures_util::TryStreamExt;
use futures_util::future::{join, join3};
use tokio_postgres::Client;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::replicas::{REPLICA_QUERY, Replicas, SYNCHRONOUS};
use super::{Cell, Row};

/// The server's reply to a statement.
pub(super) type Outcome<T> = Result<T, tokio_postgres::Error>;

/// The reason why a statement failed.
pub(super) enum StatementError {
    /// The server refused the statement or is gone.
    Server(tokio_postgres::Error),
    /// A write might not survive the loss of the server.
    Unsafe(&'static str),
}

impl From<tokio_postgres::Error> for StatementError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

/// The start of a transaction. If the transaction writes and replicas must be checked, it reads their state, too.
pub(super) struct TransactionStart {
    pub(super) sql: &'static str,
    pub(super) found: Option<Replicas>,
}

/// Sends the start of a transaction, if it is still to be sent, and a statement, without waiting in between. Returns
/// whether the commit will wait for a replica, and the outcome of the statement. Messages are sent in the order of
/// first polls.
pub(super) async fn after<T>(
    beginning: Option<TransactionStart>,
    client: &Client,
    statement: impl Future<Output = Outcome<T>>,
) -> Result<(bool, T), StatementError> {
    let Some(TransactionStart { sql, found }) = beginning else {
        return Ok((false, statement.await?));
    };
    let (begun, found, outcome) =
        join3(client.batch_execute(sql), check_replicas(client, found), statement).await;
    begun?;
    Ok((found?, outcome?))
}

/// Wraps a statement so that it fails, by a division by zero, unless it changes one row.
pub(super) fn guard(sql: &str) -> String {
    format!("WITH changed AS ({sql} RETURNING 1) SELECT 1 / CAST(count(*) = 1 AS int) FROM changed")
}

/// Awaits several futures. Each is first polled after the one before it, so that their messages are sent in this order.
pub(super) async fn in_order<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
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

/// Awaits several futures in order. Returns their values, or the first error.
pub(super) async fn all<T, F: Future<Output = Outcome<T>>>(
    futures: impl Iterator<Item = F>,
) -> Outcome<Vec<T>> {
    in_order(futures).await.into_iter().collect()
}

/// Commits. If the commit waits for a replica, reads the state of replicas once more: when the names of synchronous
/// replicas are removed, waiting commits go through.
pub(super) async fn committed(
    client: &Client,
    found: Option<Replicas>,
) -> Result<(), StatementError> {
    let (done, found) = join(client.batch_execute("COMMIT"), check_replicas(client, found)).await;
    done?;
    found.map(drop)
}

/// True if commits wait for a replica; an error if there are replicas that commits do not wait for.
async fn check_replicas(client: &Client, found: Option<Replicas>) -> Result<bool, StatementError> {
    let Some(replicas) = found else { return Ok(false) };
    let row = client.query_typed_one(REPLICA_QUERY, &[]).await?;
    let found = row.try_get(0)?;
    match replicas.problem(found) {
        None => Ok(found == SYNCHRONOUS),
        Some(problem) => Err(StatementError::Unsafe(problem)),
    }
}

/// Parameters with their types. The server infers the type of NULL.
pub(super) fn typed(parameters: &[Cell]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    let kind = |cell: &Cell| match cell {
        Cell::Null => Type::UNKNOWN,
        Cell::Whole(_) => Type::INT8,
        Cell::Text(_) => Type::TEXT,
        Cell::Bytes(_) => Type::BYTEA,
    };
    parameters.iter().map(|cell| (cell as &(dyn ToSql + Sync), kind(cell))).collect()
}

/// Runs a statement and returns the number of rows that it changes.
pub(super) async fn changed(
    client: &Client,
    sql: &str,
    parameters: &[(&(dyn ToSql + Sync), Type)],
) -> Outcome<u64> {
    let typed = parameters.iter().map(|(cell, kind)| (*cell, kind.clone()));
    let mut rows = pin!(client.query_typed_raw(sql, typed).await?);
    while rows.try_next().await?.is_some() {}
    Ok(rows.rows_affected().unwrap_or_default())
}

pub(super) fn cells(row: &tokio_postgres::Row) -> Outcome<Row> {
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
