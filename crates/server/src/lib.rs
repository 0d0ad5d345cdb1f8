//! The planner page, served to this machine alone.
//!
//! One page, and what it asks: `POST /plan` takes a study as JSON and answers the object of `plan --json`, but for `least`,
//! which takes longer: `POST /least` answers that as well. `GET /progress` with the same head `Plan-Name` says meanwhile
//! how far a plan has come; `POST /study` takes the text of a study file and answers the study as JSON. What cannot be
//! planned is status 422 with one object that says where: `statistic` (counted from one), `field` and `problem`. Where the program was
//! started with a source, `POST /release` releases studies of it, for those who have the key that it printed.
//!
//! Nothing of it is for other machines, nor for other pages in the same browser: the address is a loopback one, `Host` and
//! `Origin` have to be ours, and the page may load nothing from elsewhere.

mod api;
mod body;
mod connections;
mod guard;
mod page;
mod planning;
mod progress;
mod record;
mod release;
mod seats;

pub use connections::{ServeError, Server};
pub use record::log_to_stderr;
pub use release::{ReleaseSource, Released, Releaser};
