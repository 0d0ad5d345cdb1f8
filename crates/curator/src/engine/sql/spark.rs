//! Apache Spark. Tables stay on their cluster, which is asked over Spark Connect.
//!
//! Only the layer of the official client below its data frames is used: it allows deadlines, does not retry silently,
//! and does not mistake a truncated answer for a complete one. See `docs/decisions/0022-spark-connect.md`.

use super::idle::IdleConnections;
use super::{Dialect, Engine, ReadType, Rows, SqlValue, Statement};
use crate::engine::error::{EngineError, SourceColumn};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::DataType;
use counterpoint_ledger::database::outside_runtime;
use spark_connect_core::{ChannelBuilder, RetryPolicy, SparkConnectClient, SparkError};
use spark_connect_proto as proto;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// The longest wait for a session to end.
const FAREWELL: Duration = Duration::from_secs(5);
/// The longest wait for a statement to begin, before which it cannot be stopped.
const LATEST_BEGIN: Duration = Duration::from_secs(120);
/// The longest wait for a server that is only asked whether it is reachable.
const GREETING: Duration = Duration::from_secs(30);

/// Tables on a Spark cluster.
pub struct Spark {
    url: String,
    idle: IdleConnections<SparkSession>,
}

/// A session on the server, with the runtime that carries its messages.
struct SparkSession {
    client: Arc<SparkConnectClient>,
    runtime: Runtime,
    /// The server's identifier of the session.
    server: String,
    /// A statement that still runs after its deadline.
    late: Option<RunningStatement>,
}

/// A statement that was sent.
struct RunningStatement {
    answer: JoinHandle<Result<Rows, SparkError>>,
    /// True once the cluster works on the statement.
    begun: Arc<AtomicBool>,
}

impl std::fmt::Debug for Spark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spark").finish_non_exhaustive()
    }
}

impl Spark {
    /// Connects to a server, `sc://HOST:PORT/;NAME=VALUE`. Connections that leave the machine are encrypted, unless the
    /// URL says `use_ssl=false`.
    ///
    /// # Errors
    /// [`EngineError`] if the server cannot be reached.
    pub fn open(url: &str) -> Result<Self, EngineError> {
        let engine = Self { url: url.to_owned(), idle: IdleConnections::new() };
        engine.with(|_| Ok(()))?;
        Ok(engine)
    }

    /// Runs `work` in a session. Keeps the session if the work succeeds; otherwise ends it and every statement in it.
    /// If the server has lost the session, opens a new one first. Does not retry.
    fn with<T: Send>(
        &self,
        work: impl FnOnce(&mut SparkSession) -> Result<T, EngineError> + Send,
    ) -> Result<T, EngineError> {
        outside_runtime(|| {
            let kept = std::iter::from_fn(|| self.idle.take()).find(SparkSession::is_there);
            let mut link = kept.map_or_else(|| SparkSession::new(&self.url), Ok)?;
            let outcome = work(&mut link);
            match outcome {
                Ok(_) => self.idle.keep(link),
                Err(_) => link.end(),
            }
            outcome
        })
        .map_err(EngineError::new)?
    }
}

/// Sessions have their own runtimes, which must not be dropped inside another runtime.
impl Drop for Spark {
    fn drop(&mut self) {
        let idle = self.idle.take_all();
        let _ = outside_runtime(|| idle.into_iter().for_each(SparkSession::end));
    }
}

/// The server's address, with encryption unless the server is on this machine.
fn target(url: &str) -> Result<ChannelBuilder, EngineError> {
    let mut target = ChannelBuilder::parse(url).map_err(engine_error)?;
    if target.get("use_ssl").is_none() && !target.is_loopback() {
        target.set("use_ssl", "true");
    }
    Ok(target)
}

fn engine_error(error: SparkError) -> EngineError {
    EngineError::new(error)
}

impl SparkSession {
    fn new(url: &str) -> Result<Self, EngineError> {
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(EngineError::new)?;
        let target = target(url)?;
        let mut client =
            runtime.block_on(SparkConnectClient::connect(&target)).map_err(engine_error)?;
        client.set_retry_policy(RetryPolicy::no_retries());
        let (client, server, late) = (Arc::new(client), String::new(), None);
        let mut link = Self { client, runtime, server, late };
        let until = Instant::now() + GREETING;
        // Overflow is an error, and names are compared without case, as in the other engines.
        for (name, value) in
            [("spark.sql.ansi.enabled", "true"), ("spark.sql.caseSensitive", "false")]
        {
            link.wait(until, link.client.set_config(name, value))?;
        }
        link.server = link.server_session_id(until)?;
        Ok(link)
    }

    /// Waits for the server until the deadline.
    fn wait<T>(
        &self,
        until: Instant,
        answer: impl Future<Output = Result<T, SparkError>>,
    ) -> Result<T, EngineError> {
        let patience = until.saturating_duration_since(Instant::now());
        let waited = self.runtime.block_on(async { tokio::time::timeout(patience, answer).await });
        waited
            .map_err(|_| EngineError::new("the server did not answer in time"))?
            .map_err(engine_error)
    }

    /// The server's identifier of this session.
    fn server_session_id(&self, until: Instant) -> Result<String, EngineError> {
        use proto::analyze_plan_request::{Analyze, SparkVersion};
        let request = self.analysis(Analyze::SparkVersion(SparkVersion {}));
        Ok(self.wait(until, self.client.analyze_plan(request))?.server_side_session_id)
    }

    /// True if the server still has the session.
    fn is_there(&self) -> bool {
        self.server_session_id(Instant::now() + FAREWELL).is_ok_and(|server| server == self.server)
    }

    /// Ends the session and every statement in it. A late statement is stopped by another thread.
    fn end(mut self) {
        match self.late.take() {
            None => self.release(),
            Some(late) => drop(std::thread::spawn(move || {
                self.until_begun(&late);
                self.release();
            })),
        }
    }

    fn release(&self) {
        let _ = self.wait(Instant::now() + FAREWELL, self.client.release_session());
    }

    /// Waits until a statement begins. A server that is asked to stop a statement while planning it agrees, and then
    /// runs it to its end.
    fn until_begun(&self, late: &RunningStatement) {
        let latest = Instant::now() + LATEST_BEGIN;
        let is_over = || late.begun.load(Ordering::Relaxed) || late.answer.is_finished();
        while !is_over() && Instant::now() < latest {
            self.runtime.block_on(async { tokio::time::sleep(Duration::from_millis(100)).await });
        }
    }

    fn user(&self) -> Option<proto::UserContext> {
        let user_id = self.client.user_id().unwrap_or_default().to_owned();
        Some(proto::UserContext { user_id, ..Default::default() })
    }

    fn analysis(&self, asked: proto::analyze_plan_request::Analyze) -> proto::AnalyzePlanRequest {
        let same = (!self.server.is_empty()).then(|| self.server.clone());
        proto::AnalyzePlanRequest {
            session_id: self.client.session_id().to_owned(),
            client_observed_server_side_session_id: same,
            user_context: self.user(),
            analyze: Some(asked),
            ..Default::default()
        }
    }

    fn rows(&mut self, statement: &Statement, until: Instant) -> Result<Rows, EngineError> {
        let request = proto::ExecutePlanRequest {
            session_id: self.client.session_id().to_owned(),
            client_observed_server_side_session_id: Some(self.server.clone()),
            user_context: self.user(),
            plan: Some(plan(proto::relation::RelType::Sql(sql(statement)))),
            ..Default::default()
        };
        let begun = Arc::new(AtomicBool::new(false));
        let answer = answer(Arc::clone(&self.client), request, Arc::clone(&begun));
        let mut answer = self.runtime.spawn(answer);
        let patience = until.saturating_duration_since(Instant::now());
        let waited = async { tokio::time::timeout(patience, &mut answer).await };
        match self.runtime.block_on(waited) {
            Ok(rows) => rows.map_err(EngineError::new)?.map_err(engine_error),
            Err(_) => {
                self.late = Some(RunningStatement { answer, begun });
                Err(EngineError::new("the statement did not end in time"))
            }
        }
    }
}

/// Reads all rows. The answer is complete if the stream ends without an error.
async fn answer(
    client: Arc<SparkConnectClient>,
    request: proto::ExecutePlanRequest,
    begun: Arc<AtomicBool>,
) -> Result<Rows, SparkError> {
    use proto::execute_plan_response::ResponseType;
    let mut rows = Rows::new();
    let mut answer = client.execute_plan(request).await?;
    while let Some(part) = answer.message().await.map_err(SparkError::from_grpc_status)? {
        match part.response_type {
            Some(ResponseType::ArrowBatch(batch)) => {
                rows.extend(
                    read_batch(&batch).map_err(|failed| SparkError::connect_msg(failed.why))?,
                );
            }
            Some(ResponseType::ExecutionProgress(progress)) if !progress.stages.is_empty() => {
                begun.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }
    Ok(rows)
}

fn plan(asked: proto::relation::RelType) -> proto::Plan {
    let relation = proto::Relation { rel_type: Some(asked), ..Default::default() };
    proto::Plan { op_type: Some(proto::plan::OpType::Root(relation)) }
}

/// Writes a statement with its values. Double quotes occur around names alone; Spark uses backquotes for these.
fn sql(statement: &Statement) -> proto::Sql {
    use proto::expression::literal::LiteralType;
    let value = |(place, value): (usize, &SqlValue)| {
        let literal = match value {
            SqlValue::Whole(whole) => LiteralType::Long(*whole),
            SqlValue::Real(real) => LiteralType::Double(*real),
            SqlValue::Text(text) => LiteralType::String(text.clone()),
            SqlValue::Reals(list) => LiteralType::String(comma_separated(list)),
            SqlValue::Wholes(list) => LiteralType::String(comma_separated(list)),
            // Categories contain no control characters, so the separator is safe.
            SqlValue::Texts(list) => LiteralType::String(list.join("\u{1f}")),
        };
        let literal =
            proto::expression::Literal { literal_type: Some(literal), ..Default::default() };
        let kind = Some(proto::expression::ExprType::Literal(literal));
        (format!("p{}", place + 1), proto::Expression { expr_type: kind, ..Default::default() })
    };
    let query = statement.sql.replace('"', "`");
    let named_arguments = statement.values.iter().enumerate().map(value).collect();
    proto::Sql { query, named_arguments, ..Default::default() }
}

fn read_batch(batch: &proto::execute_plan_response::ArrowBatch) -> Result<Rows, EngineError> {
    let reader = StreamReader::try_new(batch.data.as_ref(), None).map_err(EngineError::new)?;
    let mut rows = Rows::new();
    for records in reader {
        rows.extend(numbers(&records.map_err(EngineError::new)?)?);
    }
    if i64::try_from(rows.len()) != Ok(batch.row_count) {
        return Err(EngineError::new("a batch has another number of rows than announced"));
    }
    Ok(rows)
}

/// The whole numbers of a batch.
fn numbers(records: &RecordBatch) -> Result<Rows, EngineError> {
    let mut rows = vec![Vec::with_capacity(records.num_columns()); records.num_rows()];
    for column in records.columns() {
        let number = |row: usize| match column.data_type() {
            DataType::Int32 => Some(i128::from(column.as_primitive::<Int32Type>().value(row))),
            DataType::Int64 => Some(i128::from(column.as_primitive::<Int64Type>().value(row))),
            DataType::Decimal128(_, 0) => Some(column.as_primitive::<Decimal128Type>().value(row)),
            _ => None,
        };
        for (place, row) in rows.iter_mut().enumerate() {
            let number = if column.is_null(place) { Some(0) } else { number(place) };
            row.push(number.ok_or_else(|| {
                EngineError::new("a column holds other values than whole numbers")
            })?);
        }
    }
    Ok(rows)
}

impl Engine for Spark {
    fn run(&self, statement: &Statement, deadline: Instant) -> Result<Rows, EngineError> {
        self.with(|link| link.rows(statement, deadline))
    }

    fn check_reachable(&self, _deadline: Instant) -> Result<(), EngineError> {
        self.with(|_| Ok(()))
    }

    fn columns(&self, table: &str) -> Result<Vec<SourceColumn>, EngineError> {
        use proto::analyze_plan_request::{Analyze, Schema};
        use proto::analyze_plan_response::Result as AnalysisResult;
        let name =
            proto::read::NamedTable { unparsed_identifier: quoted(table), ..Default::default() };
        let read_type = Some(proto::read::ReadType::NamedTable(name));
        let read = proto::relation::RelType::Read(proto::Read { read_type, ..Default::default() });
        let schema = Analyze::Schema(Schema { plan: Some(plan(read)) });
        let until = Instant::now() + GREETING;
        let engine_error =
            self.with(|link| link.wait(until, link.client.analyze_plan(link.analysis(schema))))?;
        let Some(AnalysisResult::Schema(schema)) = engine_error.result else {
            return Err(EngineError::new("the server does not report the columns"));
        };
        let Some(proto::data_type::Kind::Struct(columns)) =
            schema.schema.and_then(|kind| kind.kind)
        else {
            return Err(EngineError::new(format!("{table:?} is not a table")));
        };
        let found = |column: proto::data_type::StructField| SourceColumn {
            name: column.name,
            kind: column
                .data_type
                .and_then(|kind| kind.kind)
                .map(|kind| name_of(&kind))
                .unwrap_or_default(),
        };
        Ok(columns.fields.into_iter().map(found).collect())
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            table: quoted,
            // Spark evaluates an expression that is constant once for each statement.
            parameter: |number, value| match value {
                SqlValue::Reals(_) => format!("CAST(SPLIT(:p{number}, ',') AS ARRAY<DOUBLE>)"),
                SqlValue::Wholes(_) => format!("CAST(SPLIT(:p{number}, ',') AS ARRAY<BIGINT>)"),
                SqlValue::Texts(_) => format!("SPLIT(:p{number}, CHAR(31))"),
                _ => format!(":p{number}"),
            },
            read: normal,
            whole: |number| format!("CAST(FLOOR({number}) AS BIGINT)"),
            least: "LEAST",
            greatest: "GREATEST",
            // Spark's hash depends on the number's type, and several questions in one statement widen types. So every
            // number is cast.
            hash: |key, numbers, person| {
                let wide = numbers.iter().map(|number| format!("CAST({number} AS BIGINT)"));
                format!("XXHASH64({key}, {}, {person})", wide.collect::<Vec<_>>().join(", "))
            },
            exact_sum: Some(|units| format!("SUM(CAST({units} AS DECIMAL(38, 0)))")),
            at_most: |list, number| format!("SIZE(FILTER({list}, place -> place <= {number}))"),
            position: |list, value| format!("ARRAY_POSITION({list}, {value})"),
            element_at: Some(|list, index| format!("ELEMENT_AT({list}, {index})")),
            series: |count| format!("(SELECT id AS n FROM RANGE({count})) AS series"),
        }
    }
}

fn comma_separated(list: &[impl std::fmt::Debug]) -> String {
    let texts = list.iter().map(|number| format!("{number:?}"));
    texts.collect::<Vec<_>>().join(",").replace("inf", "Infinity")
}

/// Quotes a name, or a name in a schema and catalogue.
fn quoted(name: &str) -> String {
    let parts = name.split('.').map(|part| format!("`{}`", part.replace('`', "``")));
    parts.collect::<Vec<_>>().join(".")
}

/// The SQL name of a type. A text with a collation has another name, as it cannot be read.
fn name_of(kind: &proto::data_type::Kind) -> String {
    use proto::data_type::Kind;
    let name = match kind {
        Kind::Byte(_) => "tinyint",
        Kind::Short(_) => "smallint",
        Kind::Integer(_) => "int",
        Kind::Long(_) => "bigint",
        Kind::Float(_) => "float",
        Kind::Double(_) => "double",
        Kind::Decimal(_) => "decimal",
        Kind::String(text) if text.collation.is_empty() || text.collation == "UTF8_BINARY" => {
            "string"
        }
        Kind::String(text) => return format!("string collate {}", text.collation),
        Kind::Char(_) => "char",
        Kind::VarChar(_) => "varchar",
        Kind::Boolean(_) => "boolean",
        Kind::Date(_) => "date",
        Kind::Timestamp(_) | Kind::TimestampNtz(_) => "timestamp",
        Kind::Binary(_) => "binary",
        _ => "another",
    };
    name.to_owned()
}

/// Reads a column according to its type. NaN, a number in Spark, becomes NULL.
fn normal(column: &str, kind: &str, read: ReadType) -> Option<String> {
    let is_whole = matches!(kind, "tinyint" | "smallint" | "int" | "bigint");
    let is_float = matches!(kind, "float" | "double");
    let is_text = matches!(kind, "string" | "varchar" | "char");
    match read {
        ReadType::Number if is_whole || kind == "decimal" => {
            Some(format!("CAST({column} AS DOUBLE)"))
        }
        ReadType::Number if is_float => {
            Some(format!("CASE WHEN NOT ISNAN({column}) THEN CAST({column} AS DOUBLE) END"))
        }
        ReadType::Whole if is_whole => Some(format!("CAST({column} AS BIGINT)")),
        ReadType::Whole if is_float => Some(format!(
            "CASE WHEN {column} BETWEEN -9.2e18 AND 9.2e18 AND RINT({column}) = {column} THEN CAST({column} AS BIGINT) END"
        )),
        ReadType::Whole if kind == "decimal" => Some(format!(
            "CASE WHEN {column} BETWEEN -9200000000000000000 AND 9200000000000000000 AND FLOOR({column}) = {column} \
             THEN CAST({column} AS BIGINT) END"
        )),
        ReadType::Text if is_text => Some(format!("CAST({column} AS STRING)")),
        ReadType::Person if is_whole => Some(format!("CAST({column} AS BIGINT)")),
        ReadType::Person if is_text => Some(format!("CAST(CAST({column} AS STRING) AS BINARY)")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stays_on_the_machine_goes_without_tls() {
        let is_encrypted = |url: &str| target(url).map(|target| target.use_ssl()).ok();
        for local in ["localhost", "127.0.0.1:15002", "[::1]:15002"] {
            assert_eq!(is_encrypted(&format!("sc://{local}")), Some(false), "{local}");
            assert_eq!(is_encrypted(&format!("sc://{local}/;use_ssl=true")), Some(true), "{local}");
        }
        assert_eq!(is_encrypted("sc://example.org:15002"), Some(true));
        assert_eq!(is_encrypted("sc://10.0.0.1/;user_id=ann"), Some(true));
        assert_eq!(is_encrypted("sc://10.0.0.1/;use_ssl=false"), Some(false));
        assert_eq!(is_encrypted("http://localhost"), None);
    }
}
