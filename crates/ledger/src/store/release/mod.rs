//! The two steps of a release: reserve and commit.

mod batch;
mod lines;
mod room;
pub(crate) mod steps;

use counterpoint_wire::ledger::{Cost, ReleaseRequest, Rule};

use crate::rules::account::check_relation;
use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Refusal, Result, damaged};
use crate::rules::limits::FORMAT;
use crate::rules::request::{Request, digest};
use crate::rules::rows::Account;
use crate::rules::{debit, name};
use crate::store::find;
use crate::store::ledger::Ledger;
use steps::{NewRelease, Reservation, Step, StepOutcome, StoredResponse};

/// The most prices that are kept.
const MAX_PRICES: usize = 1024;

/// The charge of a request, and whether it could be reserved now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// The charge.
    pub charge: Cost,
    /// The refusal by a budget that is too small now; `None` if the charge fits.
    pub refusal: Option<Refusal>,
    /// The ledger's head at which the price was computed.
    pub head: Head,
}

impl Ledger {
    /// Debits a release, durably. The caller may draw noise after this has returned, and not earlier. If the key was
    /// reserved before, nothing is charged.
    ///
    /// # Errors
    /// [`LedgerError::Refused`] if a budget does not allow it.
    pub fn reserve(&mut self, request: &Request<'_>) -> Result<Reservation> {
        let new = self.new_release(request)?;
        let done = self.apply_one(Step::Reserve(Box::new(new))).and_then(StepOutcome::reserved);
        done.map_err(|error| self.explain(error, request))
    }

    /// Computes the charge of a request and whether it fits now. The key is not looked up, and nothing is written.
    ///
    /// # Errors
    /// Those of [`Ledger::reserve`], except that a budget that is too small is no error.
    pub fn price(&mut self, request: &Request<'_>) -> Result<Price> {
        let new = self.priced_release(request)?;
        let charge = new.charge.clone();
        let steps = [Step::Reserve(Box::new(new))];
        let (head, refused) = self.read(|tables| {
            let (head, rows) = (tables.head()?, tables.all_rows(&batch::reads(&steps))?);
            Ok((head, batch::check(head, rows, &steps)))
        })?;
        let refusal = match refused {
            Ok(()) => None,
            Err(LedgerError::Refused(refusal)) => Some(self.explain_refusal(*refusal, request)),
            Err(error) => return Err(error),
        };
        Ok(Price { charge, refusal, head })
    }

    /// Prepares a release for its reservation. All slow work is done here, before the ledger is locked.
    pub(crate) fn new_release(&mut self, request: &Request<'_>) -> Result<NewRelease> {
        name::check_name("key", request.key)?;
        self.priced_release(request)
    }

    /// Prepares a release with its charge.
    fn priced_release(&mut self, request: &Request<'_>) -> Result<NewRelease> {
        name::check_optional_name("analyst", request.analyst)?;
        name::check_optional_name("mechanism", request.owner_mechanism)?;
        let known = self.cached_account(request.account)?;
        check_relation(request.adjacency, request.records, known.account.relation)?;
        let charge = self.cached_price(&known.account, request.asked)?;
        Ok(NewRelease {
            account: request.account.to_owned(),
            key: request.key.to_owned(),
            analyst: request.analyst.map(str::to_owned),
            session: request.session,
            question: request.question,
            owner_mechanism: request.owner_mechanism.map(str::to_owned),
            alias: request.alias,
            asked: request.asked.clone(),
            digest: digest(request),
            known,
            charge,
        })
    }

    /// Runs several steps in one transaction. Returns their outcomes, in order; an error of the transaction is the
    /// outcome of every step.
    pub(crate) fn apply(&mut self, steps: &[Step]) -> Vec<Result<StepOutcome>> {
        let done = self.write_after(batch::reads(steps), |tables, head, rows| {
            batch::apply(tables, head, rows, steps)
        });
        done.unwrap_or_else(|error| steps.iter().map(|_| Err(error.clone())).collect())
    }

    fn apply_one(&mut self, step: Step) -> Result<StepOutcome> {
        let done = self.apply(&[step]).pop();
        done.unwrap_or_else(|| Err(damaged("a step gave no outcome")))
    }

    /// The charge of a request. Neither an account's rule nor a slot's declaration ever changes, so the charge, which
    /// may take long to compute, is computed before the ledger is locked and kept for the next equal request.
    fn cached_price(&mut self, account: &Account, asked: &ReleaseRequest) -> Result<Cost> {
        if let Some((name, last, price)) = &self.last_price
            && (name, last) == (&account.name, asked)
        {
            return Ok(price.clone());
        }
        let place = (account.name.clone(), asked.text().map_err(damaged)?);
        if let Some(price) = self.prices.get(&place) {
            self.last_price = Some((place.0, asked.clone(), price.clone()));
            return Ok(price.clone());
        }
        let slot = match asked {
            ReleaseRequest::Slot { name, run, .. }
                if !run.is_empty() && matches!(account.rule, Rule::Plan(_)) =>
            {
                Some(self.read(|tables| find::slot(tables, &account.name, name))?)
            }
            _ => None,
        };
        let price = debit::price(account, slot.as_ref(), asked, FORMAT)?;
        if self.prices.len() >= MAX_PRICES {
            self.prices.clear();
        }
        self.prices.insert(place, price.clone());
        Ok(price)
    }

    /// Stores a response, durably. Only the returned response may be shown: if the key was committed before, it is the
    /// earlier response.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if the key was not reserved.
    pub fn commit(&mut self, account: &str, key: &str, response: &[u8]) -> Result<StoredResponse> {
        self.apply_one(Step::commit(account, key, response)?)?.committed()
    }
}
