//! Statements that are sent one after the other without waiting for what the server says.

use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

use futures_util::TryStreamExt;
use futures_util::future::{join, join3};
use tokio_postgres::Client;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::replicas::{FOUND, Replicas, WAITED_FOR};
use super::{Cell, Row};

/// What the server says.
pub(super) type Outcome<T> = Result<T, tokio_postgres::Error>;

/// Why a statement came to nothing.
pub(super) enum Fault {
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

/// The beginning of a transaction, and how to find out about replicas if it writes and they matter.
pub(super) struct Beginning {
    pub(super) sql: &'static str,
    pub(super) found: Option<Replicas>,
}

/// What a statement comes to that is sent after the beginning of its transaction, if that is
/// still to be sent, without waiting for it; and whether its commit will wait. Messages are sent in the order of first polls.
pub(super) async fn after<T>(
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
pub(super) fn guard(sql: &str) -> String {
    format!("WITH changed AS ({sql} RETURNING 1) SELECT 1 / CAST(count(*) = 1 AS int) FROM changed")
}

/// What several futures come to. Each is begun after the one before it has begun, so that messages are sent in this order.
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

/// The same if all succeed, or the first error.
pub(super) async fn all<T, F: Future<Output = Outcome<T>>>(
    futures: impl Iterator<Item = F>,
) -> Outcome<Vec<T>> {
    in_order(futures).await.into_iter().collect()
}

/// Commits, and looks at replicas once more if it waits for any: names that are taken away let commits go that wait.
pub(super) async fn committed(client: &Client, found: Option<Replicas>) -> Result<(), Fault> {
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

/// Parameters with their types; of nothing the server finds it out.
pub(super) fn typed(parameters: &[Cell]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    let kind = |cell: &Cell| match cell {
        Cell::Null => Type::UNKNOWN,
        Cell::Whole(_) => Type::INT8,
        Cell::Text(_) => Type::TEXT,
        Cell::Bytes(_) => Type::BYTEA,
    };
    parameters.iter().map(|cell| (cell as &(dyn ToSql + Sync), kind(cell))).collect()
}

/// How many rows a statement changes.
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
