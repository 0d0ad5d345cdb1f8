//! The two steps of a release.

use std::sync::Arc;

use counterpoint::{Adjacency, Relation};
use counterpoint_wire::ledger::{Asked, Cost, Event, Rule};

use crate::cells::{Known, damaged, unwritable};
use crate::chain::{Hash, Head};
use crate::error::{LedgerError, Refusal};
use crate::ledger::{Ledger, append, now};
use crate::rows::{Account, Release, Share, Slot};
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
    /// What the request says neighbours are, if it does: it must be what the data set says.
    pub adjacency: Option<Adjacency>,
    /// How many records the request says a person has, if it does: as many as the data set says.
    pub records: Option<u64>,
}

impl<'a> Request<'a> {
    /// A request by nobody in particular.
    #[must_use]
    pub fn new(account: &'a str, key: &'a str, asked: &'a Asked) -> Self {
        let (analyst, question, adjacency, records) = (None, None, None, None);
        Self { account, key, analyst, asked, session: false, question, adjacency, records }
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

/// A debit that is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reservation {
    /// The entry that made it.
    pub entry: u64,
    /// What it cost; `None` if it was made by an earlier call.
    pub charge: Option<Cost>,
    /// The stored response, if it was committed: to be shown again, without new noise.
    pub response: Option<Vec<u8>>,
    /// The ledger's head.
    pub head: Head,
}

/// A response that is durable, and may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The entry that stored it.
    pub entry: u64,
    /// The stored bytes, which need not be the ones offered: only these may be shown.
    pub response: Vec<u8>,
    /// Whether an earlier call stored them.
    pub repeated: bool,
    /// The ledger's head.
    pub head: Head,
}

impl Ledger {
    /// Debits a release. Noise may be drawn once this has returned, and no earlier. If the key
    /// was reserved before, nothing is charged.
    ///
    /// # Errors
    /// [`LedgerError::Refused`] if a budget does not allow it.
    pub fn reserve(&mut self, request: &Request<'_>) -> Result<Reservation, LedgerError> {
        name::word("key", request.key)?;
        let (known, charge) = self.cost(request)?;
        let digest = digest(request);
        self.write(|tables, head| match tables.release(request.account, request.key)? {
            Some(release) => repeated(tables, head, release, digest),
            None => reserve(tables, head, request, digest, (&known, charge)),
        })
    }

    /// What a reservation would cost and whether it would be made now. The key is not looked
    /// at, and nothing is written.
    ///
    /// # Errors
    /// As [`Ledger::reserve`], but for a budget that is too short.
    pub fn price(&mut self, request: &Request<'_>) -> Result<Price, LedgerError> {
        let (known, charge) = self.cost(request)?;
        self.read(|tables| {
            let head = tables.head()?;
            let refusal = match debit(tables, request, (&known, charge.clone())) {
                Ok(_) => None,
                Err(LedgerError::Refused(refusal)) => Some(*refusal),
                Err(error) => return Err(error),
            };
            Ok(Price { charge, refusal, head })
        })
    }

    /// The account that is asked, and what it would charge.
    fn cost(&mut self, request: &Request<'_>) -> Result<(Arc<Known>, Cost), LedgerError> {
        request.analyst.map_or(Ok(()), |analyst| name::word("analyst", analyst))?;
        let known = self.known(request.account)?;
        agree(request.adjacency, request.records, known.account.relation)?;
        let charge = self.known_price(&known.account, request.asked)?;
        Ok((known, charge))
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
        let price = rules::price(account, slot.as_ref(), asked)?;
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
        name::place(account, key)?;
        fits("response", response, 0)?;
        self.write(|tables, head| {
            let release = find_release(tables, account, key)?;
            if release.session {
                let (key, problem) = (release.key, "is a session's".to_owned());
                return Err(LedgerError::UnfitKey { key, problem, legal: "its answers" });
            }
            if let (Some(entry), Some(response)) = (release.committed, release.response) {
                tables.touch(head)?;
                return Ok(Committed { entry, response, repeated: true, head });
            }
            let (sha256, length) = (Hash::of(response).to_string(), response.len() as u64);
            let (at, account_, key_) = (now(), account.to_owned(), key.to_owned());
            let event = Event::Commit { at, account: account_, key: key_, sha256, length };
            let head = append(tables, head, &event)?;
            let entry = head.sequence;
            tables.respond(account, key, entry, response)?;
            Ok(Committed { entry, response: response.to_vec(), repeated: false, head })
        })
    }
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
    let legal = "one that was reserved in the account";
    let unknown = || LedgerError::Unknown { what: "key", name: key.to_owned(), legal };
    tables.release(account, key)?.ok_or_else(unknown)
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
        release: request.asked.normal(),
        charge: Cost::default(),
    };
    // Every event can be written.
    Hash::of(event.body().unwrap_or_default().as_bytes())
}

/// What an earlier call came to. It waits for a sync as that one did: who made it may have died
/// in between.
fn repeated(
    tables: &mut Tables<'_>,
    head: Head,
    release: Release,
    digest: Hash,
) -> Result<Reservation, LedgerError> {
    if release.request != digest {
        return Err(LedgerError::KeyInUse { key: release.key });
    }
    tables.touch(head)?;
    let (entry, response) = (release.reserved, release.response);
    Ok(Reservation { entry, charge: None, response, head })
}

fn reserve(
    tables: &mut Tables<'_>,
    head: Head,
    request: &Request<'_>,
    digest: Hash,
    price: (&Known, Cost),
) -> Result<Reservation, LedgerError> {
    let Found { account, slot, share, debit } = debit(tables, request, price)?;
    let event = Event::Reserve {
        at: now(),
        account: request.account.to_owned(),
        key: request.key.to_owned(),
        analyst: request.analyst.map(str::to_owned),
        session: request.session,
        question: request.question.map(|question| question.to_string()),
        release: request.asked.clone(),
        charge: debit.charge.clone(),
    };
    let head = append(tables, head, &event)?;
    tables.charge_account(&account, &debit.account)?;
    if let (Some(slot), Some(used)) = (&slot, debit.used) {
        tables.use_slot(&account.name, slot, used)?;
    }
    if let (Some(share), Some(balance)) = (&share, &debit.share) {
        tables.charge_share(&account.name, share, balance)?;
    }
    let entry = head.sequence;
    tables.add_release(&Release {
        key: request.key.to_owned(),
        account: account.name,
        analyst: request.analyst.map(str::to_owned),
        session: request.session,
        request: digest,
        reserved: entry,
        committed: None,
        response: None,
    })?;
    Ok(Reservation { entry, charge: Some(debit.charge), response: None, head })
}

/// What pays for a release, and what it leaves of that.
struct Found {
    account: Account,
    slot: Option<Slot>,
    share: Option<Share>,
    debit: rules::Debit,
}

/// Whether account, slot and quota as they are now allow a release at a price.
fn debit(
    tables: &mut Tables<'_>,
    request: &Request<'_>,
    (known, charge): (&Known, Cost),
) -> Result<Found, LedgerError> {
    let row = tables.account_row(request.account)?.ok_or_else(|| damaged("an account is gone"))?;
    // The price is by the rule that was known.
    let account = known.now(&row)?;
    let slot = match request.asked {
        Asked::Slot { name, .. } => Some(find_slot(tables, &account.name, name)?),
        _ => None,
    };
    let share = find_share(tables, &account, request.analyst)?;
    let debit = rules::reserve(&account, slot.as_ref(), share.as_ref(), request.asked, charge)?;
    Ok(Found { account, slot, share, debit })
}

pub(crate) fn find_slot(
    tables: &mut Tables<'_>,
    account: &str,
    name: &str,
) -> Result<Slot, LedgerError> {
    let legal = "the name of a release in the account's plan, as status lists them";
    let unknown = || LedgerError::Unknown { what: "slot", name: name.to_owned(), legal };
    tables.slot(account, name)?.ok_or_else(unknown)
}

/// The share that is to be charged: in an account with quotas there must be one.
fn find_share(
    tables: &mut Tables<'_>,
    account: &Account,
    analyst: Option<&str>,
) -> Result<Option<Share>, LedgerError> {
    if account.quotas == 0 {
        return Ok(None);
    }
    let legal = "--analyst with one who has a quota";
    let Some(analyst) = analyst else {
        return Err(account.unfit("has quotas and no analyst is named", legal));
    };
    let name = analyst.to_owned();
    let unknown = || LedgerError::Unknown { what: "quota of analyst", name, legal };
    Ok(Some(tables.share(&account.name, analyst)?.ok_or_else(unknown)?))
}
