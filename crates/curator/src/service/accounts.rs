//! The accounts that pay: who may use them, what they are about, and what is left of them.

use super::curator::{About, Curator, Kept};
use super::request::{Denied, Left};
use crate::answer::times;
use crate::state::Bearer;
use counterpoint_ledger::LedgerError;
use counterpoint_questions::Illegal;
use counterpoint_wire::ledger::{Cost, ExactPlan, Openings, QuotaStatus};
use std::sync::PoisonError;

impl Curator {
    /// What is left of an account, and for how many questions of such a cost.
    ///
    /// # Errors
    /// [`Denied::NotYours`] if the asker has no business with it.
    pub fn left(&self, asker: &Bearer, account: &str, like: Option<&Cost>) -> Result<Left, Denied> {
        may_use(asker, account)?;
        let status = self.pool.with(|ledger| ledger.status(Some(account)))?;
        let mut accounts = status.accounts.into_iter();
        let mut status = accounts.next().ok_or_else(|| Denied::not_yours("account", account))?;
        let own = |quota: &QuotaStatus| quota.analyst == asker.name;
        status.quotas.retain(own);
        let more = like.map(|cost| {
            let balances = [(&status.capacity, &status.spent)];
            let quotas = status.quotas.iter().map(|quota| (&quota.capacity, &quota.spent));
            let all = balances.into_iter().chain(quotas);
            all.map(|(capacity, spent)| times(capacity, spent, cost)).min().unwrap_or_default()
        });
        Ok(Left { status, more })
    }

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
        self.pool.with(|ledger| match only_check {
            true => ledger.check_recut(account, unused, into),
            false => ledger.recut(account, unused, into).map(drop),
        })?;
        Ok(())
    }

    /// An error unless an account pays for questions about all of a table.
    pub(super) fn pays(&self, account: &str, kept: &Kept) -> Result<(), Denied> {
        let (dataset, part) = self.about(account)?;
        if dataset == kept.dataset && part.is_none() {
            return Ok(());
        }
        let table = kept.held.public.name();
        let problem = format!("does not pay for questions about all of table {table:?}");
        let legal = format!("an account under data set {:?}", kept.dataset);
        Err(Illegal::new(format!("account {account:?}"), problem, legal).into())
    }

    fn about(&self, account: &str) -> Result<About, LedgerError> {
        let known = || self.about.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(about) = known().get(account) {
            return Ok(about.clone());
        }
        let about = self.pool.with(|ledger| ledger.dataset_of(account))?;
        known().insert(account.to_owned(), about.clone());
        Ok(about)
    }

    /// Whether Gaussian noise is what an account's currency is made for.
    pub(super) fn goes_by_rho(&self, account: &str) -> Result<bool, LedgerError> {
        let status = self.pool.with(|ledger| ledger.status(Some(account)))?;
        let kind = status.accounts.first().map(|account| account.kind.clone());
        Ok(kind.is_some_and(|kind| kind != "sums" && kind != "plan"))
    }
}

/// An error unless an account is one of the asker's.
pub(super) fn may_use(asker: &Bearer, account: &str) -> Result<(), Denied> {
    let own = asker.accounts.iter().any(|own| own == account);
    if own { Ok(()) } else { Err(Denied::not_yours("account", account)) }
}
