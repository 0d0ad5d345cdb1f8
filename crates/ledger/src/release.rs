//! The two steps of a release.

use counterpoint::{Adjacency, Relation};
use counterpoint_wire::ledger::{Asked, Cost, Event, Rule};

use crate::batch::{
    self, Batch, Committed, Done, NewAlias, NewRelease, NewResponse, Reservation, Step,
    unknown_key, unknown_slot,
};
use crate::cells::{damaged, unwritable};
use crate::chain::{Hash, Head};
use crate::database::VERSION;
use crate::error::{LedgerError, Refusal};
use crate::ledger::Ledger;
use crate::rows::{Account, Release, Slot};
use crate::setup::agree;
use crate::tables::Tables;
use crate::{MOST_RESPONSE, name, rules};

/// How many prices are kept.
const MOST_PRICES: usize = 1024;

/// What is asked of an account.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The account.
    pub account: &'a str,
    /// The caller's name for this release, in the account. The same key is charged once.
    pub key: &'a str,
    /// Who asks.
    pub analyst: Option<&'a str>,
    /// For what.
    pub asked: &'a Asked,
    /// Whether answers are given one by one: it is then a session, debited in full.
    pub session: bool,
    /// The digest of the question that is asked at this price, if that is said: the key stands
    /// for it too.
    pub question: Option<Hash>,
    /// The name of the owner's own mechanism that answers, if it is one: what it is charged as is the owner's word.
    pub own: Option<&'a str>,
    /// The digest of the analyst's own key for this request, if there is one. It stands for the release from now on, and
    /// under it nothing else is reserved.
    pub alias: Option<Hash>,
    /// What the request says neighbours are, if it does: it must be what the data set says.
    pub adjacency: Option<Adjacency>,
    /// How many records the request says a person has, if it does: as many as the data set says.
    pub records: Option<u64>,
}

impl<'a> Request<'a> {
    /// A request by nobody in particular.
    #[must_use]
    pub fn new(account: &'a str, key: &'a str, asked: &'a Asked) -> Self {
        Self {
            account,
            key,
            analyst: None,
            asked,
            session: false,
            question: None,
            own: None,
            alias: None,
            adjacency: None,
            records: None,
        }
    }

    /// The same about data with this relation, which must be the data set's.
    #[must_use]
    pub fn under(self, relation: Relation) -> Self {
        let (adjacency, records) = (Some(relation.adjacency()), Some(relation.records()));
        Self { adjacency, records, ..self }
    }
}

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
    pub fn reserve(&mut self, request: &Request<'_>) -> Result<Reservation, LedgerError> {
        let new = self.new_release(request)?;
        match self.apply_one(Step::Reserve(Box::new(new))) {
            Ok(Done::Reserved(reservation)) => Ok(reservation),
            Err(error) => Err(self.explain(error, request)),
            _ => Err(damaged("a reservation was taken for something else")),
        }
    }

    /// What a reservation would cost and whether it would be made now. The key is not looked
    /// at, and nothing is written.
    ///
    /// # Errors
    /// As [`Ledger::reserve`], but for a budget that is too short.
    pub fn price(&mut self, request: &Request<'_>) -> Result<Price, LedgerError> {
        let new = self.priced(request)?;
        let charge = new.charge.clone();
        let steps = [Step::Reserve(Box::new(new))];
        let (head, refused) = self.read(|tables| {
            let (head, rows) = (tables.head()?, tables.all_rows(&batch::reads(&steps))?);
            let batch = Batch::new(head, rows, &steps);
            let charge = |step: &Step| match step {
                Step::Reserve(new) => batch.charge(new),
                _ => Ok(()),
            };
            Ok((head, steps.iter().try_for_each(charge)))
        })?;
        let refusal = match refused {
            Ok(()) => None,
            Err(LedgerError::Refused(refusal)) => Some(self.explained(*refusal, request)),
            Err(error) => return Err(error),
        };
        Ok(Price { charge, refusal, head })
    }

    /// A release that is ready to be reserved. All that may take a while is done here.
    pub(crate) fn new_release(&mut self, request: &Request<'_>) -> Result<NewRelease, LedgerError> {
        name::word("key", request.key)?;
        self.priced(request)
    }

    /// A release, and what its account would charge.
    fn priced(&mut self, request: &Request<'_>) -> Result<NewRelease, LedgerError> {
        request.analyst.map_or(Ok(()), |analyst| name::word("analyst", analyst))?;
        request.own.map_or(Ok(()), |own| name::word("mechanism", own))?;
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
    pub(crate) fn apply(&mut self, steps: &[Step]) -> Vec<Result<Done, LedgerError>> {
        let done = self.write_after(batch::reads(steps), |tables, head, rows| {
            batch::apply(tables, head, rows, steps)
        });
        done.unwrap_or_else(|error| steps.iter().map(|_| Err(error.clone())).collect())
    }

    fn apply_one(&mut self, step: Step) -> Result<Done, LedgerError> {
        let done = self.apply(&[step]).pop();
        done.unwrap_or_else(|| Err(damaged("nothing was done")))
    }

    /// What a request costs. Neither an account's rule nor what a slot declares ever changes, so
    /// that this, which may take a while, can be known before the ledger is locked, and is
    /// computed once for the same thing asked again.
    fn known_price(&mut self, account: &Account, asked: &Asked) -> Result<Cost, LedgerError> {
        if let Some((name, last, price)) = &self.last_price
            && (name, last) == (&account.name, asked)
        {
            return Ok(price.clone());
        }
        let place = (account.name.clone(), asked.text().map_err(unwritable)?);
        if let Some(price) = self.prices.get(&place) {
            self.last_price = Some((place.0, asked.clone(), price.clone()));
            return Ok(price.clone());
        }
        let slot = match asked {
            Asked::Slot { name, run, .. }
                if !run.is_empty() && matches!(account.rule, Rule::Plan(_)) =>
            {
                Some(self.read(|tables| find_slot(tables, &account.name, name))?)
            }
            _ => None,
        };
        let price = rules::price(account, slot.as_ref(), asked, VERSION.unsigned_abs())?;
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
    pub fn commit(
        &mut self,
        account: &str,
        key: &str,
        response: &[u8],
    ) -> Result<Committed, LedgerError> {
        match self.apply_one(Step::Commit(new_response(account, key, response)?))? {
            Done::Committed(committed) => Ok(committed),
            _ => Err(damaged("a response was taken for something else")),
        }
    }
}

/// An analyst's own key that is ready to stand for a release.
pub(crate) fn new_alias(
    account: &str,
    analyst: Option<&str>,
    alias: Hash,
    key: &str,
) -> Result<NewAlias, LedgerError> {
    name::place(account, key)?;
    analyst.map_or(Ok(()), |analyst| name::word("analyst", analyst))?;
    let (account, analyst) = (account.to_owned(), analyst.map(str::to_owned));
    Ok(NewAlias { account, analyst, alias, key: key.to_owned() })
}

/// A response that is ready to be stored.
pub(crate) fn new_response(
    account: &str,
    key: &str,
    response: &[u8],
) -> Result<NewResponse, LedgerError> {
    name::place(account, key)?;
    fits("response", response, 0)?;
    let (account, key) = (account.to_owned(), key.to_owned());
    Ok(NewResponse { account, key, response: response.to_vec() })
}

/// Bytes that can be stored.
pub(crate) fn fits(what: &'static str, bytes: &[u8], least: usize) -> Result<(), LedgerError> {
    match bytes.len() {
        length if (least..=MOST_RESPONSE).contains(&length) => Ok(()),
        length => Err(LedgerError::Length { what, length, least }),
    }
}

pub(crate) fn find_release(
    tables: &mut Tables<'_>,
    account: &str,
    key: &str,
) -> Result<Release, LedgerError> {
    tables.release(account, key)?.ok_or_else(|| unknown_key(key))
}

/// What makes two requests the same.
pub(crate) fn digest(request: &Request<'_>) -> Hash {
    let event = Event::Reserve {
        at: 0,
        account: request.account.to_owned(),
        key: request.key.to_owned(),
        analyst: request.analyst.map(str::to_owned),
        session: request.session,
        question: request.question.map(|question| question.to_string()),
        own: request.own.map(str::to_owned),
        release: request.asked.normal(),
        charge: Cost::default(),
    };
    // Every event can be written.
    Hash::of(event.body().unwrap_or_default().as_bytes())
}

pub(crate) fn find_slot(
    tables: &mut Tables<'_>,
    account: &str,
    name: &str,
) -> Result<Slot, LedgerError> {
    tables.slot(account, name)?.ok_or_else(|| unknown_slot(name))
}
