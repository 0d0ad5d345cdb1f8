//! The accounts that pay: the right to use them, their scope and their balance.

use super::curator::{AccountScope, Curator, RegisteredTable};
use super::request::{AccountBalance, CuratorError};
use crate::answer::affordable_times;
use crate::state::Bearer;
use counterpoint_ledger::LedgerError;
use counterpoint_questions::QuestionError;
use counterpoint_wire::ledger::{Cost, ExactPlan, Openings, QuotaStatus};
use std::sync::PoisonError;

impl Curator {
    /// The balance of an account, and the number of questions of a given cost that it can still pay.
    ///
    /// # Errors
    /// [`CuratorError::NotYours`] if the account is not one of the asker's.
    pub fn balance(
        &self,
        asker: &Bearer,
        account: &str,
        like: Option<&Cost>,
    ) -> Result<AccountBalance, CuratorError> {
        check_may_use(asker, account)?;
        let status = self.pool.with(|ledger| ledger.status(Some(account)))?;
        let mut accounts = status.accounts.into_iter();
        let mut status =
            accounts.next().ok_or_else(|| CuratorError::not_yours("account", account))?;
        let own = |quota: &QuotaStatus| quota.analyst == asker.name;
        status.quotas.retain(own);
        let more = like.map(|cost| {
            let balances = [(&status.capacity, &status.spent)];
            let quotas = status.quotas.iter().map(|quota| (&quota.capacity, &quota.spent));
            let all = balances.into_iter().chain(quotas);
            all.map(|(capacity, spent)| affordable_times(capacity, spent, cost))
                .min()
                .unwrap_or_default()
        });
        Ok(AccountBalance { status, more })
    }

    /// Exchanges unused openings of an account's slots for new ones, which the old ones must dominate. With
    /// `only_check`, only checks whether the exchange is legal.
    ///
    /// # Errors
    /// [`CuratorError`] if the account is not the asker's, or the ledger refuses: openings that are used, or new slots
    /// that cost more.
    pub fn recut(
        &self,
        asker: &Bearer,
        account: &str,
        (unused, into): (&[Openings], &ExactPlan),
        only_check: bool,
    ) -> Result<(), CuratorError> {
        check_may_use(asker, account)?;
        self.pool.with(|ledger| match only_check {
            true => ledger.check_recut(account, unused, into),
            false => ledger.recut(account, unused, into).map(drop),
        })?;
        Ok(())
    }

    /// Returns an error unless an account pays for questions about all of a table.
    pub(super) fn check_pays(
        &self,
        account: &str,
        table: &RegisteredTable,
    ) -> Result<(), CuratorError> {
        let (dataset, part) = self.account_scope(account)?;
        if dataset == table.dataset && part.is_none() {
            return Ok(());
        }
        let name = table.table.public.name();
        let problem = format!("does not pay for questions about all of table {name:?}");
        let legal = format!("an account under data set {:?}", table.dataset);
        Err(QuestionError::new(format!("account {account:?}"), problem, legal).into())
    }

    fn account_scope(&self, account: &str) -> Result<AccountScope, LedgerError> {
        let known = || self.scopes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scope) = known().get(account) {
            return Ok(scope.clone());
        }
        let scope = self.pool.with(|ledger| ledger.dataset_of(account))?;
        known().insert(account.to_owned(), scope.clone());
        Ok(scope)
    }

    /// True if the account's currency suits Gaussian noise.
    pub(super) fn uses_rho(&self, account: &str) -> Result<bool, LedgerError> {
        let status = self.pool.with(|ledger| ledger.status(Some(account)))?;
        let kind = status.accounts.first().map(|account| account.kind.clone());
        Ok(kind.is_some_and(|kind| kind != "sums" && kind != "plan"))
    }
}

/// Returns an error unless the account is one of the asker's.
pub(super) fn check_may_use(asker: &Bearer, account: &str) -> Result<(), CuratorError> {
    let own = asker.accounts.iter().any(|own| own == account);
    if own { Ok(()) } else { Err(CuratorError::not_yours("account", account)) }
}
