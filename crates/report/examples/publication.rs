//! The page and the catalogue entry of a `release.json`, written beside each other.
//!
//!     cargo run -p counterpoint-report --example publication -- release.json DIR
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

use counterpoint_report::{Deposit, publication_metadata, publication_page};
use counterpoint_wire::publication::Publication;

fn main() {
    let mut paths = std::env::args_os().skip(1).map(PathBuf::from);
    let (from, folder) = (paths.next().unwrap(), paths.next().unwrap());
    let publication: Publication = serde_json::from_slice(&fs::read(from).unwrap()).unwrap();
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("report.html"), publication_page(&publication)).unwrap();
    let metadata = publication_metadata(&publication, &Deposit::default());
    fs::write(folder.join("metadata.json"), metadata).unwrap();
}
