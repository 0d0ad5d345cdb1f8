//! HTTP server of the planner page, and of a curator if one is configured.
//!
//! The planner's paths:
//!
//! - `POST /plan` takes a study as JSON and returns the object of `plan --json` without its field `least`.
//! - `POST /least` takes the same study and returns the object with `least`, which takes longer to compute.
//! - `GET /progress` returns the progress of the running plan that has the same `Plan-Name` header.
//! - `POST /study` takes the text of a study file and returns the study as JSON.
//! - `POST /release` releases a study from the data source that the program was started with, if there is one. The
//!   client must send the key that the program printed.
//!
//! If a study cannot be planned, the status is 422 and the body is an object with `statistic` (counted from one),
//! `field` and `problem`.
//!
//! Without TLS, the server serves only clients on this machine, and pages of its own: the address is a loopback
//! address, and the `Host` and `Origin` headers must name this server. The pages load nothing from other servers.

// Input reaches this crate: an index out of range must be an error.
#![warn(clippy::indexing_slicing)]

mod api;
mod assets;
mod body;
mod connection_limits;
mod connections;
mod guard;
mod planning;
mod progress;
mod record;
mod release;

pub use connections::{ServeError, Server};
pub use record::log_to_stderr;
pub use release::{ReleaseOutput, ReleaseSource, Releaser};
