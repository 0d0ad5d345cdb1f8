//! Apache Spark: tables stay on their cluster, which is asked by Spark Connect.
//!
//! Of the official client the part beneath its data frames is used: there a deadline can be kept, nothing is tried again behind
//! our back, and an answer that was cut short is not taken for a short one. See `docs/decisions/0022-spark-connect.md`.

use super::idle::Idle;
use super::{Dialect, Engine, Read, Rows, Statement, Value};
use crate::engine::failed::{Failed, Found};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::DataType;
use counterpoint_ledger::database::outside;
use spark_connect_core::{ChannelBuilder, RetryPolicy, SparkConnectClient, SparkError};
use spark_connect_proto as proto;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// So long a session is waited for that is to end.
const FAREWELL: Duration = Duration::from_secs(5);
/// So long a statement is waited for that has to begin before it can be stopped.
const LATEST_BEGIN: Duration = Duration::from_secs(120);
/// So long a server is waited for that is only asked whether it is there.
const GREETING: Duration = Duration::from_secs(30);

/// Tables on a Spark cluster.
pub struct Spark {
    url: String,
    idle: Idle<Link>,
}

/// A session on the server, and what carries its messages.
struct Link {
    client: Arc<SparkConnectClient>,
    runtime: Runtime,
    /// By which the server knows that it is still the same one.
    server: String,
    /// What runs on when it should not.
    late: Option<Running>,
}

/// A statement on its way.
struct Running {
    answer: JoinHandle<Result<Rows, SparkError>>,
    /// Whether the cluster works on it.
    begun: Arc<AtomicBool>,
}

impl std::fmt::Debug for Spark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spark").finish_non_exhaustive()
    }
}

impl Spark {
    /// Connects to a server, `sc://HOST:PORT/;NAME=VALUE`. Whatever leaves the machine is encrypted, unless the URL says
    /// `use_ssl=false`.
    ///
    /// # Errors
    /// [`Failed`] if it cannot be reached.
    pub fn open(url: &str) -> Result<Self, Failed> {
        let engine = Self { url: url.to_owned(), idle: Idle::new() };
        engine.with(|_| Ok(()))?;
        Ok(engine)
    }

    /// Does something in a session, which is kept if that succeeds, and ended if not, with all that still runs in it. A
    /// session of a server that is gone is made anew; nothing is tried twice.
    fn with<T: Send>(
        &self,
        work: impl FnOnce(&mut Link) -> Result<T, Failed> + Send,
    ) -> Result<T, Failed> {
        outside(|| {
            let kept = std::iter::from_fn(|| self.idle.take()).find(Link::is_there);
            let mut link = kept.map_or_else(|| Link::new(&self.url), Ok)?;
            let outcome = work(&mut link);
            match outcome {
                Ok(_) => self.idle.keep(link),
                Err(_) => link.end(),
            }
            outcome
        })
        .map_err(Failed::new)?
    }
}

/// Sessions have runtimes of their own, which must not be dropped within another.
impl Drop for Spark {
    fn drop(&mut self) {
        let idle = self.idle.take_all();
        let _ = outside(|| idle.into_iter().for_each(Link::end));
    }
}

/// Where to connect to, and how that is kept from others.
fn target(url: &str) -> Result<ChannelBuilder, Failed> {
    let mut target = ChannelBuilder::parse(url).map_err(told)?;
    if target.get("use_ssl").is_none() && !target.is_loopback() {
        target.set("use_ssl", "true");
    }
    Ok(target)
}

fn told(error: SparkError) -> Failed {
    Failed::new(error)
}

impl Link {
    fn new(url: &str) -> Result<Self, Failed> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Failed::new)?;
        let target = target(url)?;
        let mut client = runtime.block_on(SparkConnectClient::connect(&target)).map_err(told)?;
        client.set_retry_policy(RetryPolicy::no_retries());
        let (client, server, late) = (Arc::new(client), String::new(), None);
        let mut link = Self { client, runtime, server, late };
        let until = Instant::now() + GREETING;
        // What overflows is an error, and names are told apart as elsewhere.
        for (name, value) in
            [("spark.sql.ansi.enabled", "true"), ("spark.sql.caseSensitive", "false")]
        {
            link.wait(until, link.client.set_config(name, value))?;
        }
        link.server = link.greeted(until)?;
        Ok(link)
    }

    /// Waits for the server, and not longer than the deadline.
    fn wait<T>(
        &self,
        until: Instant,
        answer: impl Future<Output = Result<T, SparkError>>,
    ) -> Result<T, Failed> {
        let patience = until.saturating_duration_since(Instant::now());
        let waited = self.runtime.block_on(async { tokio::time::timeout(patience, answer).await });
        waited.map_err(|_| Failed::new("the server is late"))?.map_err(told)
    }

    /// What the server calls this session.
    fn greeted(&self, until: Instant) -> Result<String, Failed> {
        use proto::analyze_plan_request::{Analyze, SparkVersion};
        let request = self.analysis(Analyze::SparkVersion(SparkVersion {}));
        Ok(self.wait(until, self.client.analyze_plan(request))?.server_side_session_id)
    }

    /// Whether the server still knows the session.
    fn is_there(&self) -> bool {
        self.greeted(Instant::now() + FAREWELL).is_ok_and(|server| server == self.server)
    }

    /// Ends the session, and whatever runs in it: nobody waits for what is late.
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

    /// A server that is asked to stop a statement while it still plans it answers that it has, and then runs it to its end.
    fn until_begun(&self, late: &Running) {
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

    fn rows(&mut self, statement: &Statement, until: Instant) -> Result<Rows, Failed> {
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
            Ok(rows) => rows.map_err(Failed::new)?.map_err(told),
            Err(_) => {
                self.late = Some(Running { answer, begun });
                Err(Failed::new("the statement is late"))
            }
        }
    }
}

/// All rows. The answer is whole if the stream ends without an error.
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
                rows.extend(batched(&batch).map_err(|failed| SparkError::connect_msg(failed.why))?);
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

/// A statement with its values. Names are in double quotes, and nothing else is; here those would be texts.
fn sql(statement: &Statement) -> proto::Sql {
    use proto::expression::literal::LiteralType;
    let value = |(place, value): (usize, &Value)| {
        let literal = match value {
            Value::Whole(whole) => LiteralType::Long(*whole),
            Value::Real(real) => LiteralType::Double(*real),
            Value::Text(text) => LiteralType::String(text.clone()),
            Value::Reals(list) => LiteralType::String(listed(list)),
            Value::Wholes(list) => LiteralType::String(listed(list)),
            // No category has a control character in it.
            Value::Texts(list) => LiteralType::String(list.join("\u{1f}")),
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

fn batched(batch: &proto::execute_plan_response::ArrowBatch) -> Result<Rows, Failed> {
    let reader = StreamReader::try_new(batch.data.as_ref(), None).map_err(Failed::new)?;
    let mut rows = Rows::new();
    for records in reader {
        rows.extend(numbers(&records.map_err(Failed::new)?)?);
    }
    if i64::try_from(rows.len()) != Ok(batch.row_count) {
        return Err(Failed::new("rows are missing"));
    }
    Ok(rows)
}

/// The whole numbers of a batch.
fn numbers(records: &RecordBatch) -> Result<Rows, Failed> {
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
            row.push(number.ok_or_else(|| Failed::new("no whole numbers"))?);
        }
    }
    Ok(rows)
}

impl Engine for Spark {
    fn run(&self, statement: &Statement, deadline: Instant) -> Result<Rows, Failed> {
        self.with(|link| link.rows(statement, deadline))
    }

    fn reach(&self, _deadline: Instant) -> Result<(), Failed> {
        self.with(|_| Ok(()))
    }

    fn columns(&self, table: &str) -> Result<Vec<Found>, Failed> {
        use proto::analyze_plan_request::{Analyze, Schema};
        use proto::analyze_plan_response::Result as Told;
        let name =
            proto::read::NamedTable { unparsed_identifier: quoted(table), ..Default::default() };
        let read_type = Some(proto::read::ReadType::NamedTable(name));
        let read = proto::relation::RelType::Read(proto::Read { read_type, ..Default::default() });
        let schema = Analyze::Schema(Schema { plan: Some(plan(read)) });
        let until = Instant::now() + GREETING;
        let told =
            self.with(|link| link.wait(until, link.client.analyze_plan(link.analysis(schema))))?;
        let Some(Told::Schema(schema)) = told.result else {
            return Err(Failed::new("the server does not say what columns there are"));
        };
        let Some(proto::data_type::Kind::Struct(columns)) =
            schema.schema.and_then(|kind| kind.kind)
        else {
            return Err(Failed::new(format!("{table:?} is no table")));
        };
        let found = |column: proto::data_type::StructField| Found {
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
            // What is constant of a list is done once a statement.
            parameter: |number, value| match value {
                Value::Reals(_) => format!("CAST(SPLIT(:p{number}, ',') AS ARRAY<DOUBLE>)"),
                Value::Wholes(_) => format!("CAST(SPLIT(:p{number}, ',') AS ARRAY<BIGINT>)"),
                Value::Texts(_) => format!("SPLIT(:p{number}, CHAR(31))"),
                _ => format!(":p{number}"),
            },
            read: normal,
            whole: |number| format!("CAST(FLOOR({number}) AS BIGINT)"),
            least: "LEAST",
            greatest: "GREATEST",
            // Equal numbers of different types have different hashes, and a list of questions widens types.
            hash: |key, numbers, person| {
                let wide = numbers.iter().map(|number| format!("CAST({number} AS BIGINT)"));
                format!("XXHASH64({key}, {}, {person})", wide.collect::<Vec<_>>().join(", "))
            },
            summed: Some(|units| format!("SUM(CAST({units} AS DECIMAL(38, 0)))")),
            at_most: |list, number| format!("SIZE(FILTER({list}, place -> place <= {number}))"),
            position: |list, value| format!("ARRAY_POSITION({list}, {value})"),
            listed: Some(|list, index| format!("ELEMENT_AT({list}, {index})")),
            series: |count| format!("(SELECT id AS n FROM RANGE({count})) AS series"),
        }
    }
}

fn listed(list: &[impl std::fmt::Debug]) -> String {
    let texts = list.iter().map(|number| format!("{number:?}"));
    texts.collect::<Vec<_>>().join(",").replace("inf", "Infinity")
}

/// A name, or a name in a schema and catalogue.
fn quoted(name: &str) -> String {
    let parts = name.split('.').map(|part| format!("`{}`", part.replace('`', "``")));
    parts.collect::<Vec<_>>().join(".")
}

/// What a type is called in SQL, as far as it can be read; texts that are compared otherwise than by their bytes cannot.
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

/// What a column holds is known by its type. NaN, which is a number here, is none.
fn normal(column: &str, kind: &str, read: Read) -> Option<String> {
    let is_whole = matches!(kind, "tinyint" | "smallint" | "int" | "bigint");
    let is_float = matches!(kind, "float" | "double");
    let is_text = matches!(kind, "string" | "varchar" | "char");
    match read {
        Read::Number if is_whole || kind == "decimal" => Some(format!("CAST({column} AS DOUBLE)")),
        Read::Number if is_float => {
            Some(format!("CASE WHEN NOT ISNAN({column}) THEN CAST({column} AS DOUBLE) END"))
        }
        Read::Whole if is_whole => Some(format!("CAST({column} AS BIGINT)")),
        Read::Whole if is_float => Some(format!(
            "CASE WHEN {column} BETWEEN -9.2e18 AND 9.2e18 AND RINT({column}) = {column} THEN CAST({column} AS BIGINT) END"
        )),
        Read::Whole if kind == "decimal" => Some(format!(
            "CASE WHEN {column} BETWEEN -9200000000000000000 AND 9200000000000000000 AND FLOOR({column}) = {column} \
             THEN CAST({column} AS BIGINT) END"
        )),
        Read::Text if is_text => Some(format!("CAST({column} AS STRING)")),
        Read::Person if is_whole => Some(format!("CAST({column} AS BIGINT)")),
        Read::Person if is_text => Some(format!("CAST(CAST({column} AS STRING) AS BINARY)")),
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
