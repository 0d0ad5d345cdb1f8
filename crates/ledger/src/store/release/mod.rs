//! The two steps of a release.

mod batch;
mod lines;
mod room;
pub(crate) mod steps;

use counterpoint_wire::ledger::{Asked, Cost, Rule};

use crate::rules::account::agree;
use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Refusal, Result, damaged};
use crate::rules::limits::FORMAT;
use crate::rules::request::{Request, digest};
use crate::rules::rows::Account;
use crate::rules::{debit, name};
use crate::store::find;
use crate::store::ledger::Ledger;
use steps::{Committed, Done, NewRelease, Reservation, Step};

/// How many prices are kept.
const MOST_PRICES: usize = 1024;

/// What a reservation would cost, and whether it would be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// What it would cost.
    pub charge: Cost,
    /// Whose budget is too short for it now; `None` if it fits.
    pub refusal: Option<Refusal>,
    /// The ledger's head when it was looked up.
    pub head: Head,
}

impl Ledger {
    /// Debits a release. Noise may be drawn once this has returned, and no earlier. If the key
    /// was reserved before, nothing is charged.
    ///
    /// # Errors
    /// [`LedgerError::Refused`] if a budget does not allow it.
    pub fn reserve(&mut self, request: &Request<'_>) -> Result<Reservation> {
        let new = self.new_release(request)?;
        let done = self.apply_one(Step::Reserve(Box::new(new))).and_then(Done::reserved);
        done.map_err(|error| self.explain(error, request))
    }

    /// What a reservation would cost and whether it would be made now. The key is not looked
    /// at, and nothing is written.
    ///
    /// # Errors
    /// As [`Ledger::reserve`], but for a budget that is too short.
    pub fn price(&mut self, request: &Request<'_>) -> Result<Price> {
        let new = self.priced(request)?;
        let charge = new.charge.clone();
        let steps = [Step::Reserve(Box::new(new))];
        let (head, refused) = self.read(|tables| {
            let (head, rows) = (tables.head()?, tables.all_rows(&batch::reads(&steps))?);
            Ok((head, batch::check(head, rows, &steps)))
        })?;
        let refusal = match refused {
            Ok(()) => None,
            Err(LedgerError::Refused(refusal)) => Some(self.explained(*refusal, request)),
            Err(error) => return Err(error),
        };
        Ok(Price { charge, refusal, head })
    }

    /// A release that is ready to be reserved. All that may take a while is done here.
    pub(crate) fn new_release(&mut self, request: &Request<'_>) -> Result<NewRelease> {
        name::word("key", request.key)?;
        self.priced(request)
    }

    /// A release, and what its account would charge.
    fn priced(&mut self, request: &Request<'_>) -> Result<NewRelease> {
        name::optional_word("analyst", request.analyst)?;
        name::optional_word("mechanism", request.own)?;
        let known = self.known(request.account)?;
        agree(request.adjacency, request.records, known.account.relation)?;
        let charge = self.known_price(&known.account, request.asked)?;
        Ok(NewRelease {
            account: request.account.to_owned(),
            key: request.key.to_owned(),
            analyst: request.analyst.map(str::to_owned),
            session: request.session,
            question: request.question,
            own: request.own.map(str::to_owned),
            alias: request.alias,
            asked: request.asked.clone(),
            digest: digest(request),
            known,
            charge,
        })
    }

    /// Does several things in one transaction. What each came to, in their order; an error of the transaction is that of all.
    pub(crate) fn apply(&mut self, steps: &[Step]) -> Vec<Result<Done>> {
        let done = self.write_after(batch::reads(steps), |tables, head, rows| {
            batch::apply(tables, head, rows, steps)
        });
        done.unwrap_or_else(|error| steps.iter().map(|_| Err(error.clone())).collect())
    }

    fn apply_one(&mut self, step: Step) -> Result<Done> {
        let done = self.apply(&[step]).pop();
        done.unwrap_or_else(|| Err(damaged("nothing was done")))
    }

    /// What a request costs. Neither an account's rule nor what a slot declares ever changes, so
    /// that this, which may take a while, can be known before the ledger is locked, and is
    /// computed once for the same thing asked again.
    fn known_price(&mut self, account: &Account, asked: &Asked) -> Result<Cost> {
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
            Asked::Slot { name, run, .. }
                if !run.is_empty() && matches!(account.rule, Rule::Plan(_)) =>
            {
                Some(self.read(|tables| find::slot(tables, &account.name, name))?)
            }
            _ => None,
        };
        let price = debit::price(account, slot.as_ref(), asked, FORMAT)?;
        if self.prices.len() >= MOST_PRICES {
            self.prices.clear();
        }
        self.prices.insert(place, price.clone());
        Ok(price)
    }

    /// Stores a response. Only what this returns may be shown: if the key was committed before,
    /// that is the earlier response.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if the key was not reserved.
    pub fn commit(&mut self, account: &str, key: &str, response: &[u8]) -> Result<Committed> {
        self.apply_one(Step::commit(account, key, response)?)?.committed()
    }
}
