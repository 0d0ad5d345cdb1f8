//! Copies that are complete, checked, and known by their head.

use std::fmt::Display;
use std::path::Path;

use crate::rules::chain::Head;
use crate::rules::error::{DatabaseError, LedgerError, Result, damaged};
use crate::store::database::{Url, beside, make_private, sync_folder};
use crate::store::ledger::{Ledger, OpenOptions};

impl Ledger {
    /// Copies the ledger as it is at one moment to a new SQLite file, verifies the copy and makes it
    /// durable; its head. While others go on with the ledger the copy falls behind: whoever goes
    /// on with the *copy* spends what was spent since once more, unless its head is still the
    /// last that anybody was told.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] if there is such a file or it cannot be written,
    /// [`LedgerError::Damaged`] if the copy does not verify.
    pub fn backup(&mut self, file: &Path) -> Result<Head> {
        self.back_up(file, true)
    }

    /// The same for auditors: the file has digests in the place of private states. It verifies, can be read, and is not
    /// opened to write.
    ///
    /// # Errors
    /// As [`Ledger::backup`].
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
        // What is in the copy is told, and must not be lost here.
        self.settle()?;
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

    /// The copy under a name that says that it may not be complete.
    fn copy_to(&mut self, file: &Path, secrets: bool) -> Result<Head> {
        let name = file.to_str().ok_or_else(|| unusable(file, "is no text; legal: a path"))?;
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
        // Others may have written since it was settled: what was copied is here and durable.
        self.expect(verification.head);
        self.settle()?;
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
