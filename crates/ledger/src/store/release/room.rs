//! The largest releases that still fit an account: on request, and with every refusal.

use counterpoint_wire::ledger::Headroom;

use crate::rules::error::{LedgerError, Refusal, Result};
use crate::rules::request::Request;
use crate::rules::room::RoomSearch;
use crate::rules::rows::{Account, QuotaRow};
use crate::store::find;
use crate::store::ledger::Ledger;

impl Ledger {
    /// The largest single releases that still fit an open account, and an analyst's quota of it if an analyst is named,
    /// in familiar terms. Any one of them is admitted if it is reserved now. `None` for data sets, plan accounts and
    /// closed accounts, and for analysts without a quota where others have one.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn room(&mut self, account: &str, analyst: Option<&str>) -> Result<Option<Headroom>> {
        let (account, quota) = self.account_and_quota(account, analyst)?;
        Ok(RoomSearch::new(&account, analyst, quota.as_ref()).map(|search| search.room(true)))
    }

    /// Adds to a refusal of an open account the releases that would still fit. They are searched for only after a
    /// refusal, so that admitted requests take no longer.
    pub(crate) fn explain(&mut self, error: LedgerError, request: &Request<'_>) -> LedgerError {
        match error {
            LedgerError::Refused(refusal) => self.explain_refusal(*refusal, request).into(),
            error => error,
        }
    }

    /// Adds to a refusal the releases that would still fit.
    pub(crate) fn explain_refusal(&mut self, refusal: Refusal, request: &Request<'_>) -> Refusal {
        let Ok((account, quota)) = self.account_and_quota(request.account, request.analyst) else {
            return refusal;
        };
        let Some(search) = RoomSearch::new(&account, request.analyst, quota.as_ref()) else {
            return refusal;
        };
        let (noise, room) = (search.noise(request.asked), Some(search.room(false)));
        Refusal { noise, room, ..refusal }
    }

    /// Finds an account, and an analyst's quota of it.
    fn account_and_quota(
        &mut self,
        account: &str,
        analyst: Option<&str>,
    ) -> Result<(Account, Option<QuotaRow>)> {
        self.read(|tables| {
            let found = find::account(tables, account)?;
            let quota = match analyst.filter(|_| found.quotas > 0) {
                Some(analyst) => tables.quota(account, analyst)?,
                None => None,
            };
            Ok((found, quota))
        })
    }
}
