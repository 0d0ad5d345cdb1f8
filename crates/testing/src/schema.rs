//! The tests' PostgreSQL server, and places on it.

use std::sync::atomic::{AtomicU64, Ordering};

/// The URL of the tests' server, if there is one. A full run insists on it.
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

/// The name of a new schema on a server.
///
/// # Panics
/// If it cannot be made.
#[must_use]
pub fn new_schema(server: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("t{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    run(server, &format!("CREATE SCHEMA {name}"));
    name
}

/// The URL of a server with settings for a schema.
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
