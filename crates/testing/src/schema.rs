//! The tests' PostgreSQL server and its schemas.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// The URL of the tests' server, if there is one. A full run needs one.
///
/// # Panics
/// In a full run without a server.
#[must_use]
pub fn server() -> Option<String> {
    let server = std::env::var("COUNTERPOINT_POSTGRES").ok();
    if server.is_none() {
        let full = crate::is_full();
        assert!(
            !full,
            "the full run needs COUNTERPOINT_POSTGRES (crates/ledger/tests/postgres.sh)"
        );
        eprintln!("not tested on PostgreSQL: COUNTERPOINT_POSTGRES is not set");
    }
    server
}

/// Creates a schema on a server and returns its name.
///
/// # Panics
/// If the server refuses.
#[must_use]
pub fn new_schema(server: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("t{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    run(server, &format!("CREATE SCHEMA {name}"));
    name
}

/// The URL of a server, with settings that select a schema.
#[must_use]
pub fn within(server: &str, schema: &str) -> String {
    format!("{server}?options=-csearch_path%3D{schema}")
}

/// Runs statements on a server.
///
/// # Panics
/// If they fail.
#[allow(clippy::unwrap_used)]
pub fn run(server: &str, sql: &str) {
    let mut client = postgres::Client::connect(server, postgres::NoTls).unwrap();
    client.batch_execute(sql).unwrap();
}

const OWN: &str = "COUNTERPOINT_TEST_OWN_SERVER";

/// Runs an ignored test of this program, which begins by checking [`has_own_server`], with a PostgreSQL server of its
/// own that the test may stop. Does nothing if there is no PostgreSQL.
///
/// # Panics
/// If the test fails.
pub fn on_own_server(test: &str) {
    if server().is_some() {
        run_with("ledger/tests/postgres.sh", test);
    }
}

/// As [`on_own_server`], with a Spark cluster. Does nothing if there is no Spark.
///
/// # Panics
/// If the test fails.
pub fn on_own_spark(test: &str) {
    if std::env::var("COUNTERPOINT_SPARK").is_ok() {
        run_with("curator/tests/spark.sh", test);
    } else {
        eprintln!("not tested on Spark: COUNTERPOINT_SPARK is not set");
    }
}

#[allow(clippy::unwrap_used)]
fn run_with(script: &str, test: &str) {
    let own = Command::new(format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../{}"), script))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(OWN, "yes")
        .output()
        .unwrap();
    let said = [own.stdout, own.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(own.status.success() && said[0].contains("1 passed"), "{}{}", said[0], said[1]);
}

/// True if the server belongs to this test alone.
#[must_use]
pub fn has_own_server() -> bool {
    std::env::var(OWN).is_ok()
}

/// Runs a command of the cluster script of this test's own server (see postgres.sh) and returns its output.
///
/// # Panics
/// If the command fails.
#[allow(clippy::unwrap_used)]
pub fn cluster(orders: &[&str]) -> String {
    let program = std::env::var("COUNTERPOINT_POSTGRES_CLUSTER").unwrap();
    let told = Command::new(program).args(orders).output().unwrap();
    assert!(told.status.success(), "{orders:?}: {}", String::from_utf8_lossy(&told.stderr));
    String::from_utf8(told.stdout).unwrap().trim().to_owned()
}
