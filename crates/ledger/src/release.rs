//! The two steps of a release.

use counterpoint::Adjacency;
use counterpoint_wire::ledger::{Asked, Cost, Event, Rule};

use crate::cells::{damaged, unwritable};
use crate::chain::{Hash, Head};
use crate::error::LedgerError;
use crate::ledger::{Ledger, append, find_account, now};
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
    /// The caller's name for this release. The same key is charged once.
    pub key: &'a str,
    /// Who asks.
    pub analyst: Option<&'a str>,
    /// For what.
    pub asked: &'a Asked,
    /// What the request says neighbours are, if it does: it must be what the data set says.
    pub adjacency: Option<Adjacency>,
}

impl<'a> Request<'a> {
    /// A request by nobody in particular.
    #[must_use]
    pub fn new(account: &'a str, key: &'a str, asked: &'a Asked) -> Self {
        Self { account, key, analyst: None, asked, adjacency: None }
    }
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
        check(request)?;
        let known = self.known(request.account)?.clone();
        let charge = self.price(&known, request)?;
        let digest = digest(request);
        self.write(|tables, head| match tables.release(request.key)? {
            Some(release) => repeated(tables, head, release, digest),
            None => reserve(tables, head, request, digest, (&known, charge)),
        })
    }

    /// What a request costs. Neither an account's rule nor what a slot declares ever changes, so
    /// that this, which may take a while, can be known before the ledger is locked, and is
    /// computed once for the same thing asked again.
    fn price(&mut self, account: &Account, request: &Request<'_>) -> Result<Cost, LedgerError> {
        agree(request.adjacency, account.adjacency)?;
        let asked = (account.name.clone(), request.asked.text().map_err(unwritable)?);
        if let Some(price) = self.prices.get(&asked) {
            return Ok(price.clone());
        }
        let slot = match request.asked {
            Asked::Slot { name, run: Some(_), .. } if matches!(account.rule, Rule::Plan(_)) => {
                Some(self.read(|tables| find_slot(tables, &account.name, name))?)
            }
            _ => None,
        };
        let price = rules::price(account, slot.as_ref(), request.asked)?;
        if self.prices.len() >= MOST_PRICES {
            self.prices.clear();
        }
        self.prices.insert(asked, price.clone());
        Ok(price)
    }

    /// Stores a response. Only what this returns may be shown: if the key was committed before,
    /// that is the earlier response.
    ///
    /// # Errors
    /// [`LedgerError::Unknown`] if the key was not reserved.
    pub fn commit(&mut self, key: &str, response: &[u8]) -> Result<Committed, LedgerError> {
        name::word("key", key)?;
        if response.len() > MOST_RESPONSE {
            return Err(LedgerError::Response { length: response.len() });
        }
        self.write(|tables, head| {
            let legal = "one that was reserved";
            let unknown = || LedgerError::Unknown { what: "key", name: key.to_owned(), legal };
            let release = tables.release(key)?.ok_or_else(unknown)?;
            if let (Some(entry), Some(response)) = (release.committed, release.response) {
                tables.touch(head)?;
                return Ok(Committed { entry, response, repeated: true, head });
            }
            let (account, key) = (release.account, key.to_owned());
            let (sha256, length) = (Hash::of(response).to_string(), response.len() as u64);
            let event = Event::Commit { at: now(), account, key: key.clone(), sha256, length };
            let head = append(tables, head, &event)?;
            let entry = head.sequence;
            tables.respond(&key, entry, response)?;
            Ok(Committed { entry, response: response.to_vec(), repeated: false, head })
        })
    }
}

fn check(request: &Request<'_>) -> Result<(), LedgerError> {
    name::word("key", request.key)?;
    request.analyst.map_or(Ok(()), |analyst| name::word("analyst", analyst))?;
    if let Asked::Slot { name, count: 0, .. } = request.asked {
        let (account, problem) = (request.account.to_owned(), format!("slot {name:?}, 0 times"));
        return Err(LedgerError::Unfit { account, problem, legal: "a count from 1" });
    }
    Ok(())
}

/// What makes two requests the same.
pub(crate) fn digest(request: &Request<'_>) -> Hash {
    let event = Event::Reserve {
        at: 0,
        account: request.account.to_owned(),
        key: request.key.to_owned(),
        analyst: request.analyst.map(str::to_owned),
        release: request.asked.clone(),
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
    (known, charge): (&Account, Cost),
) -> Result<Reservation, LedgerError> {
    let account = find_account(tables, request.account)?;
    // The price is by the rule that was known.
    if (account.opened, &account.rule) != (known.opened, &known.rule) {
        return Err(damaged("the account is not the one it was; legal: open the ledger again"));
    }
    let slot = match request.asked {
        Asked::Slot { name, .. } => Some(find_slot(tables, &account.name, name)?),
        _ => None,
    };
    let share = find_share(tables, &account, request.analyst)?;
    let debit = rules::reserve(&account, slot.as_ref(), share.as_ref(), request.asked, charge)?;
    let event = Event::Reserve {
        at: now(),
        account: request.account.to_owned(),
        key: request.key.to_owned(),
        analyst: request.analyst.map(str::to_owned),
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
        request: digest,
        reserved: entry,
        committed: None,
        response: None,
    })?;
    Ok(Reservation { entry, charge: Some(debit.charge), response: None, head })
}

pub(crate) fn find_slot(
    tables: &mut Tables<'_>,
    account: &str,
    name: &str,
) -> Result<Slot, LedgerError> {
    let legal = "the name of a release in the account's plan";
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
        return Err(rules::unfit(account, "has quotas and no analyst is named", legal));
    };
    let name = analyst.to_owned();
    let unknown = || LedgerError::Unknown { what: "quota of analyst", name, legal };
    Ok(Some(tables.share(&account.name, analyst)?.ok_or_else(unknown)?))
}
