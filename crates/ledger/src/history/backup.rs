//! Backups: complete and verified copies, identified by their heads.

use std::fmt::Display;
use std::path::Path;

use crate::rules::chain::Head;
use crate::rules::error::{DatabaseError, LedgerError, Result, damaged};
use crate::store::database::{Url, beside, make_private, sync_folder};
use crate::store::ledger::{Ledger, OpenOptions};

impl Ledger {
    /// Copies the ledger, as it is at one moment, to a new SQLite file, verifies the copy, makes it durable and returns
    /// its head. The copy falls behind while the ledger is used. Do not continue with the *copy* unless its head is
    /// still the last head that any call returned: the copy lacks all later debits, and they would be spent a second
    /// time.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] if the file exists already or cannot be written, [`LedgerError::Damaged`] if the
    /// copy does not verify.
    pub fn backup(&mut self, file: &Path) -> Result<Head> {
        self.back_up(file, true)
    }

    /// Makes a backup for auditors, with digests in the place of private states. The file can be read and verified, and
    /// cannot be opened for writing.
    ///
    /// # Errors
    /// Those of [`Ledger::backup`].
    pub fn backup_without_secrets(&mut self, file: &Path) -> Result<Head> {
        self.back_up(file, false)
    }

    fn back_up(&mut self, file: &Path, secrets: bool) -> Result<Head> {
        let file = &std::path::absolute(file).map_err(|error| unusable(file, error))?;
        let unfinished = beside(file, "-unfinished");
        for name in [file, &unfinished] {
            if name.symlink_metadata().is_ok() {
                return Err(unusable(name, "is there already; legal: a new file"));
            }
        }
        // The copy shows these entries, so they must be durable here first.
        self.wait_until_durable()?;
        make_private(&unfinished).map_err(|problem| unusable(&unfinished, problem))?;
        let copied = self.copy_to(&unfinished, secrets).and_then(|head| {
            rename(&unfinished, file)?;
            Ok(head)
        });
        if copied.is_err() {
            for end in ["", "-journal"] {
                let _ = std::fs::remove_file(beside(&unfinished, end));
            }
        }
        copied
    }

    /// Writes and verifies the copy, under a name that says that it may be incomplete.
    fn copy_to(&mut self, file: &Path, secrets: bool) -> Result<Head> {
        let name = file
            .to_str()
            .ok_or_else(|| unusable(file, "is not valid UTF-8; legal: a path in UTF-8"))?;
        self.copy(name, secrets)?;
        let synced = std::fs::File::open(file).and_then(|file| file.sync_all());
        synced.map_err(|error| unusable(file, error))?;
        let options = OpenOptions { read_only: true, expect: None };
        let version = self.version()?;
        let mut copy = Self::open_version(&Url::Sqlite(name.to_owned()), &options, version)?;
        let verification = copy.verify(None)?;
        if let Some(problem) = verification.problem {
            return Err(damaged(format_args!("the copy: {problem}")));
        }
        // Other processes may have written since the first wait. The copied entries must be durable here too.
        self.expect(verification.head);
        self.wait_until_durable()?;
        Ok(verification.head)
    }
}

/// Gives the copy its name, durably.
fn rename(unfinished: &Path, file: &Path) -> Result<()> {
    std::fs::rename(unfinished, file).map_err(|error| unusable(file, error))?;
    sync_folder(file).map_err(|problem| unusable(file, problem))
}

fn unusable(file: &Path, problem: impl Display) -> LedgerError {
    DatabaseError::unusable(file.display(), problem).into()
}
