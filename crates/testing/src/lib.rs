//! Tools that the tests of all crates share: a random generator, an HTTP client, a slow network, a database server, run
//! sizes.

mod client;
mod proxy;
mod random;
#[cfg(feature = "postgres")]
mod schema;

pub use client::Client;
pub use proxy::Proxy;
pub use random::Random;
#[cfg(feature = "postgres")]
pub use schema::{
    cluster, has_own_server, new_schema, on_own_server, on_own_spark, run, server, within,
};

/// True in a full run, false in a quick one.
#[must_use]
pub fn is_full() -> bool {
    std::env::var("COUNTERPOINT_FULL").is_ok_and(|value| value == "1")
}

/// `full` in a full run, else `quick`.
#[must_use]
pub fn size(full: u64, quick: u64) -> u64 {
    if is_full() { full } else { quick }
}

/// `full` in a full run, else a fraction of it.
#[must_use]
pub fn tries(full: u64, fraction: f64) -> u64 {
    size(full, (full as f64 * fraction) as u64)
}
