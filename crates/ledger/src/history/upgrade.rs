//! Upgrades of ledgers of an earlier format to this one.

use std::path::Path;

use counterpoint_wire::ledger::Event;

use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result, damaged};
use crate::rules::limits::{FORMAT, OLDEST, VERSION};
use crate::store::database::Url;
use crate::store::ledger::{Ledger, append, new_identity, now};

impl Ledger {
    /// Upgrades a ledger of an earlier format to this one. The ledger is first verified and copied, unchanged, to a new
    /// file. Its history continues, so every head that was kept is still in it.
    ///
    /// # Errors
    /// [`LedgerError::Version`] if the ledger has this format already, or one that cannot be upgraded;
    /// [`LedgerError::Damaged`] if its rows do not follow from its history; [`LedgerError::OtherHistory`] if the
    /// expected entry is not in it.
    pub fn upgrade(url: &Url, backup: &Path, expect: Option<Head>) -> Result<Head> {
        let mut ledger = Self::new(url.open(false)?);
        let found = ledger.version()?;
        if !(OLDEST..VERSION).contains(&found) {
            return Err(LedgerError::Version { found });
        }
        ledger.expect(expect.unwrap_or(Head::NONE));
        check_sound(&mut ledger)?;
        ledger.backup(backup)?;
        let head = ledger.write(|tables, head| {
            // Another process may have upgraded the ledger first.
            match tables.version()? {
                now if now == found => tables.upgrade(found, VERSION)?,
                found => return Err(LedgerError::Version { found }),
            }
            let identity = Some(new_identity()?);
            append(tables, head, &Event::Upgrade { at: now(), format: FORMAT, identity })
        })?;
        check_sound(&mut ledger)?;
        Ok(head)
    }
}

/// Checks that a ledger's rows follow from its history.
fn check_sound(ledger: &mut Ledger) -> Result<()> {
    ledger.verify(None)?.problem.map_or(Ok(()), |problem| Err(damaged(problem)))
}
