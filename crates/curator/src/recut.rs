//! An analyst's own slots, cut otherwise.

use crate::asked::Denied;
use crate::curator::{Curator, may_use};
use crate::tokens::Bearer;
use counterpoint_wire::ledger::{ExactPlan, Openings};

impl Curator {
    /// Exchanges unused openings of slots of an account for new ones, which they must dominate; or only checks whether it may.
    ///
    /// # Errors
    /// [`Denied`] if the account is not the asker's, or the ledger refuses: openings that are used, or new slots that cost more.
    pub fn recut(
        &self,
        asker: &Bearer,
        account: &str,
        (unused, into): (&[Openings], &ExactPlan),
        only_check: bool,
    ) -> Result<(), Denied> {
        may_use(asker, account)?;
        self.pool().with(|ledger| match only_check {
            true => ledger.check_recut(account, unused, into),
            false => ledger.recut(account, unused, into).map(drop),
        })?;
        Ok(())
    }
}
