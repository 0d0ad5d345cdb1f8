//! HTTP server of the planner page, and of a curator if one is configured.
//!
//! `POST /plan` takes a study as JSON and answers with the object of `plan --json`, without `least`, which takes longer
//! to compute: `POST /least` answers with it. Meanwhile `GET /progress` with the same header `Plan-Name` tells the
//! progress of a plan. `POST /study` takes the text of a study file and answers with the study as JSON. A study that
//! cannot be planned has status 422 and an object that names `statistic` (counted from one), `field` and `problem`. If
//! the program was started with a data source, `POST /release` releases studies of it to clients that show the key that
//! the program printed.
//!
//! Without TLS, only this machine and this server's own pages are served: the address is a loopback address, and `Host`
//! and `Origin` must be this server's. The pages load nothing from elsewhere.

mod api;
mod body;
mod connections;
mod guard;
mod assets;
mod planning;
mod progress;
mod record;
mod release;
mod connection_limits;

pub use connections::{ServeError, Server};
pub use record::log_to_stderr;
pub use release::{ReleaseOutput, ReleaseSource, Releaser};
