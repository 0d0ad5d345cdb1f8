//! What still fits an account: told for itself, and with every refusal.

use counterpoint_wire::ledger::Room;

use crate::rules::error::{LedgerError, Refusal, Result};
use crate::rules::request::Request;
use crate::rules::room::Gauge;
use crate::rules::rows::{Account, Share};
use crate::store::find;
use crate::store::ledger::Ledger;

impl Ledger {
    /// The largest single releases that still fit an open account, and an analyst's share of it if one is named, in
    /// terms that people use. Each of them is admitted if it is reserved now, one or the other. `None` for data sets, plan
    /// accounts and closed ones, and for analysts without a share where others have one.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if there is no such account.
    pub fn room(&mut self, account: &str, analyst: Option<&str>) -> Result<Option<Room>> {
        let (account, share) = self.gauged(account, analyst)?;
        Ok(Gauge::new(&account, analyst, share.as_ref()).map(|gauge| gauge.room(true)))
    }

    /// The same error; a refusal of an open account with what would still fit. It is looked up when the refusal is
    /// made, so that what is not refused takes no longer.
    pub(crate) fn explain(&mut self, error: LedgerError, request: &Request<'_>) -> LedgerError {
        match error {
            LedgerError::Refused(refusal) => self.explained(*refusal, request).into(),
            error => error,
        }
    }

    /// The same of a refusal.
    pub(crate) fn explained(&mut self, refusal: Refusal, request: &Request<'_>) -> Refusal {
        let Ok((account, share)) = self.gauged(request.account, request.analyst) else {
            return refusal;
        };
        let Some(gauge) = Gauge::new(&account, request.analyst, share.as_ref()) else {
            return refusal;
        };
        let (noise, room) = (gauge.noise(request.asked), Some(gauge.room(false)));
        Refusal { noise, room, ..refusal }
    }

    /// An account, and an analyst's share of it.
    fn gauged(&mut self, account: &str, analyst: Option<&str>) -> Result<(Account, Option<Share>)> {
        self.read(|tables| {
            let found = find::account(tables, account)?;
            let share = match analyst.filter(|_| found.quotas > 0) {
                Some(analyst) => tables.share(account, analyst)?,
                None => None,
            };
            Ok((found, share))
        })
    }
}
