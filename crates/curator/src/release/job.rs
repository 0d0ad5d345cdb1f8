//! A release from its rows to what is published: everything that can be wrong is found before anything is charged.

use super::account::Charged;
use super::checks::{Stamp, are_declared};
use super::entries::{Release, check_release};
use super::error::ReleaseError;
use super::released::release;
use super::rows::{ReleaseRows, table_of};
use crate::state::Tokens;
use counterpoint::watch::{Go, Watch};
use counterpoint_ledger::{Hash, Ledger, LedgerError, OpenOptions, Pool, Url};
use counterpoint_wire::publication::Publication;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A file is read through before anything is charged, for so long at most.
const CHECK: Duration = Duration::from_secs(3600);

/// The file of the default ledger.
const LEDGER: &str = "ledger.db";
/// The file of the key that fingerprints are made with. Nobody but the owner of the data may read it.
const SECRET: &str = "secret.db";

/// A release, the rows that it is of, the ledger that it is charged to, and the owner's key.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The study and its plan.
    pub release: Release<'a>,
    /// Where the rows are.
    pub rows: &'a ReleaseRows,
    /// The data set of the ledger that pays.
    pub dataset: &'a str,
    /// The ledger. A file that is not there is made.
    pub ledger: &'a Url,
    /// How the ledger is opened.
    pub options: &'a OpenOptions,
    /// The file of the key that fingerprints are made with. It is made if it is not there.
    pub secret: &'a Path,
    /// Whether the rows may be others than those of earlier releases.
    pub changed: bool,
    /// May stop it before anything is charged.
    pub watch: Watch<'a>,
}

/// The ledger that a release is charged to, in the folder of what is published unless another is given, and the file of the owner's
/// key: beside a ledger that is a file, so that all who charge it have the same key. Nothing if nothing says where they are.
#[must_use]
pub fn release_ledger(ledger: Option<&Url>, folder: Option<&Path>) -> Option<(Url, PathBuf)> {
    let own = || Some(Url::Sqlite(folder?.join(LEDGER).display().to_string()));
    let ledger = ledger.cloned().or_else(own)?;
    let secret = match &ledger {
        Url::Sqlite(path) => Path::new(path).with_file_name(SECRET),
        _ => folder?.join(SECRET),
    };
    Some((ledger, secret))
}

/// Releases a study. Everything that can be wrong with the study or with its rows is found before anything is made or charged.
///
/// # Errors
/// As for [`release`].
pub fn run_release(job: &Job<'_>) -> Result<Publication, ReleaseError> {
    let study = job.release.study;
    let stamp = Stamp::of(job.rows.file());
    let probe = job.rows.held(study, [0; 32])?;
    check_release(&job.release, &probe)?;
    let found = probe.check(Instant::now() + CHECK).map_err(ReleaseError::of_rows)?;
    if let Some(found) = &found {
        are_declared(table_of(study)?, job.rows.file(), found)?;
    }
    let digest = job.rows.digest()?;
    let still = |then: &str| stamp.still(job.rows.file(), then);
    still("nothing was charged; legal: a file that nobody writes")?;
    let secret = Tokens::open(job.secret).and_then(|tokens| tokens.secret());
    let secret = secret.map_err(|error| ReleaseError::Rows(error.to_string()))?;
    let held = job.rows.held(study, secret)?;
    // From here on it is charged, and goes on to its end.
    if job.watch.tell(1.0) == Go::Stop {
        return Err(ReleaseError::Stopped);
    }
    let pool = opened(job.ledger, job.options)?;
    let fingerprint = keyed(&secret, &digest);
    let charged = Charged { dataset: job.dataset, fingerprint, changed: job.changed };
    let published = release(&job.release, &charged, &pool, &held)?;
    still(
        "it was charged, and the numbers may be of either content; released as it was, they are told",
    )?;
    Ok(published)
}

/// The ledger, made if it is a file that is not there, or one that nothing was written to before a program was killed.
fn opened(url: &Url, options: &OpenOptions) -> Result<Pool, LedgerError> {
    if let Url::Sqlite(path) = url
        && is_empty(Path::new(path))
    {
        match Ledger::init(url) {
            // Another process may have been quicker.
            Ok(_) | Err(LedgerError::Initialised) => {}
            Err(error) => return Err(error),
        }
    }
    Pool::new(url, options, 2)
}

/// Whether there is no file, or a database without any table.
fn is_empty(file: &Path) -> bool {
    let tables = || {
        let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let tables = "SELECT COUNT(*) FROM sqlite_schema";
        connection.query_row(tables, [], |row| row.get::<_, i64>(0))
    };
    !file.exists() || tables().is_ok_and(|tables| tables == 0)
}

/// A hash that nobody can compare guesses with who does not have the key: of the key and the hash of both.
fn keyed(secret: &[u8; 32], bytes: &[u8]) -> Hash {
    let inner = Hash::of(&[&secret[..], b"rows\0", bytes].concat());
    Hash::of(&[&secret[..], inner.to_string().as_bytes()].concat())
}
