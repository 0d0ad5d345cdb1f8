//! A table on a Spark cluster, which `tests/spark.sh` starts.

use super::Types;
use crate::tables::Row;
use counterpoint_curator::engine::{Engine, Spark};
use rusqlite::types::Value;
use spark_connect_core::{ChannelBuilder, SparkConnectClient};
use spark_connect_proto as proto;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of the cluster's, for one table. Its files are read anew by each question.
pub(super) struct Cluster {
    pub(super) url: String,
    folder: tempfile::TempDir,
}

impl Cluster {
    /// `None` where there is no cluster.
    pub(super) fn new() -> Option<Self> {
        let Ok(url) = std::env::var("COUNTERPOINT_SPARK") else {
            eprintln!("not tested on Spark: COUNTERPOINT_SPARK is not set");
            return None;
        };
        // Names are without dots, which would part them.
        let folder = tempfile::Builder::new().prefix("visits").tempdir().unwrap();
        Some(Self { url, folder })
    }

    pub(super) fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(Spark::open(&self.url).unwrap())
    }

    pub(super) fn table(&self) -> String {
        format!("parquet.{}/table", self.folder.path().display())
    }

    pub(super) fn write(&self, types: &Types, rows: &[Row]) {
        let types = types.map(|kind| match kind {
            "double precision" => "DOUBLE",
            "integer" => "INT",
            "bigint" => "BIGINT",
            // Wide enough for every digit of what is written.
            "numeric" => "DECIMAL(38, 28)",
            "boolean" => "BOOLEAN",
            _ => "STRING",
        });
        let names = ["nr", "AGE", "pay", "region", "Year"];
        let columns = names.iter().zip(types).enumerate();
        let columns: Vec<String> = columns
            .map(|(place, (name, kind))| format!("CAST(col{} AS {kind}) AS `{name}`", place + 1))
            .collect();
        let rows: Vec<String> = rows.iter().map(line).collect();
        let from = match rows.as_slice() {
            [] => format!("VALUES ({}) LIMIT 0", ["NULL"; 5].join(", ")),
            rows => format!("VALUES {}", rows.join(", ")),
        };
        let path = self.folder.path().join("table");
        // In two files, so that both workers have some of it.
        self.execute(&format!(
            "INSERT OVERWRITE DIRECTORY '{}' USING parquet SELECT /*+ REPARTITION(2) */ {} FROM {from}",
            path.display(),
            columns.join(", ")
        ));
    }

    /// A view of billions of rows, each of which takes its time.
    pub(super) fn slow(&self) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("slow{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.execute(&format!(
            "CREATE OR REPLACE GLOBAL TEMPORARY VIEW {name} AS SELECT id AS nr, CAST(LENGTH(SHA2(CAST(id AS STRING), 512)) AS INT) \
             AS age, 1.5 AS pay, 'north' AS region, 1980 AS year FROM RANGE(0, 100000000000, 1, 4)"
        ));
        format!("global_temp.{name}")
    }

    /// Whether something else still runs: then the cluster's two processors are not free, and this is late.
    pub(super) fn is_busy(&self) -> bool {
        let start = std::time::Instant::now();
        self.execute("SELECT COUNT(*) FROM RANGE(0, 1000, 1, 2)");
        start.elapsed() > std::time::Duration::from_secs(60)
    }

    fn execute(&self, sql: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let target = ChannelBuilder::parse(&self.url).unwrap();
            let client = SparkConnectClient::connect(&target).await.unwrap();
            let query = proto::Sql { query: sql.to_owned(), ..Default::default() };
            let input = proto::relation::RelType::Sql(query);
            let input = proto::Relation { rel_type: Some(input), ..Default::default() };
            let command = proto::SqlCommand { input: Some(input), ..Default::default() };
            let command = proto::command::CommandType::SqlCommand(command);
            let command = proto::Command { command_type: Some(command) };
            let plan = proto::Plan { op_type: Some(proto::plan::OpType::Command(command)) };
            let request = proto::ExecutePlanRequest {
                session_id: client.session_id().to_owned(),
                user_context: Some(proto::UserContext::default()),
                plan: Some(plan),
                ..Default::default()
            };
            let mut answer = client.execute_plan(request).await.unwrap();
            while answer.message().await.unwrap().is_some() {}
        });
    }
}

fn line(row: &Row) -> String {
    let values: Vec<String> = row.iter().map(literal).collect();
    format!("({})", values.join(", "))
}

/// A value as a text that is cast: here backslashes have a meaning in texts.
fn literal(value: &Value) -> String {
    let text = match value {
        Value::Integer(whole) => whole.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(text) => text.clone(),
        _ => return "CAST(NULL AS STRING)".to_owned(),
    };
    let bytes: String = text.bytes().map(|byte| format!("{byte:02X}")).collect();
    format!("CAST(X'{bytes}' AS STRING)")
}
