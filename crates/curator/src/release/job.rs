//! A release, from its rows to the published numbers. Every problem of the study or the rows is found before the
//! charge.

use super::account::ReleasePayer;
use super::checks::{FileStamp, check_declared_values};
use super::entries::{StudyRelease, check_release};
use super::error::ReleaseError;
use super::publish::release;
use super::rows::{ReleaseRows, table_of};
use crate::state::Tokens;
use counterpoint::watch::{Control, Watch};
use counterpoint_ledger::{Hash, Ledger, LedgerError, OpenOptions, Pool, Url};
use counterpoint_wire::publication::Publication;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest time for checking a file's rows before the charge.
const CHECK: Duration = Duration::from_secs(3600);

/// The file name of the default ledger.
const LEDGER: &str = "ledger.db";
/// The file name of the key for fingerprints. Only the data's owner may read the file.
const SECRET: &str = "secret.db";

/// A release with its rows, its ledger and the owner's key.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseJob<'a> {
    /// The study and its plan.
    pub release: StudyRelease<'a>,
    /// The rows.
    pub rows: &'a ReleaseRows,
    /// The data set of the ledger that pays.
    pub dataset: &'a str,
    /// The ledger's URL. A file that does not exist is created.
    pub ledger: &'a Url,
    /// The options for opening the ledger.
    pub options: &'a OpenOptions,
    /// The file of the key for fingerprints. It is created if it does not exist.
    pub secret: &'a Path,
    /// True if the rows may differ from those of earlier releases.
    pub changed: bool,
    /// Reports progress, and may stop the release before the charge.
    pub watch: Watch<'a>,
}

/// The ledger to charge, by default in the folder of the published files, and the file of the owner's key. The key lies
/// beside a ledger that is a file, so that everybody who charges it uses the same key. `None` if neither a ledger nor a
/// folder is given.
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

/// Releases a study. Every problem of the study or the rows is found before anything is created or charged.
///
/// # Errors
/// As for [`release`].
pub fn run_release(job: &ReleaseJob<'_>) -> Result<Publication, ReleaseError> {
    let study = job.release.study;
    let stamp = FileStamp::of(job.rows.file());
    let probe = job.rows.table(study, [0; 32])?;
    check_release(&job.release, &probe)?;
    let found = probe.check(Instant::now() + CHECK).map_err(ReleaseError::of_rows)?;
    if let Some(found) = &found {
        check_declared_values(table_of(study)?, job.rows.file(), found)?;
    }
    let digest = job.rows.digest()?;
    let still = |then: &str| stamp.still(job.rows.file(), then);
    still("nothing was charged; legal: a file that nobody writes")?;
    let secret = Tokens::open(job.secret).and_then(|tokens| tokens.secret());
    let secret = secret.map_err(|error| ReleaseError::Rows(error.to_string()))?;
    let table = job.rows.table(study, secret)?;
    // From here on the release is charged and cannot be stopped.
    if job.watch.report(1.0) == Control::Stop {
        return Err(ReleaseError::Stopped);
    }
    let pool = open_or_create_pool(job.ledger, job.options)?;
    let fingerprint = keyed_hash(&secret, &digest);
    let charged = ReleasePayer { dataset: job.dataset, fingerprint, changed: job.changed };
    let published = release(&job.release, &charged, &pool, &table)?;
    still(
        "it was charged, and the numbers may be of either content; released again with the old content, the study returns them",
    )?;
    Ok(published)
}

/// Opens the ledger. Creates it if its file does not exist, or is empty because a program was killed while creating it.
fn open_or_create_pool(url: &Url, options: &OpenOptions) -> Result<Pool, LedgerError> {
    if let Url::Sqlite(path) = url
        && is_empty(Path::new(path))
    {
        match Ledger::init(url) {
            // Another process may have created it first.
            Ok(_) | Err(LedgerError::Initialised) => {}
            Err(error) => return Err(error),
        }
    }
    Pool::new(url, options, 2)
}

/// True if there is no file, or a database without tables.
fn is_empty(file: &Path) -> bool {
    let tables = || {
        let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let tables = "SELECT COUNT(*) FROM sqlite_schema";
        connection.query_row(tables, [], |row| row.get::<_, i64>(0))
    };
    !file.exists() || tables().is_ok_and(|tables| tables == 0)
}

/// A keyed hash: hash(key, hash(key, bytes)). Without the key nobody can test guesses of the bytes.
fn keyed_hash(secret: &[u8; 32], bytes: &[u8]) -> Hash {
    let inner = Hash::of(&[&secret[..], b"rows\0", bytes].concat());
    Hash::of(&[&secret[..], inner.to_string().as_bytes()].concat())
}
