//! Releases and their keys.

use counterpoint_wire::ledger::{Cost, ReleaseRequest};

use super::{ALIASES_SINCE, Books, ReplayError, check_once};
use crate::rules::chain::Hash;
use crate::rules::debit;
use crate::rules::name::{self, NameInAccount};
use crate::rules::request::{Request, digest};
use crate::rules::rows::Balance;

/// A key with its reservation and its response, as they follow from the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::history) struct ReleaseRecord {
    pub(in crate::history) analyst: Option<String>,
    pub(in crate::history) session: bool,
    pub(in crate::history) request: Hash,
    pub(in crate::history) reserved: u64,
    /// The entry of the response, and the response's digest and length.
    pub(in crate::history) committed: Option<(u64, String, u64)>,
}

impl Books {
    pub(super) fn reserve(
        &mut self,
        sequence: u64,
        request: &Request<'_>,
        charge: &Cost,
    ) -> Result<(), ReplayError> {
        name::check_name("key", request.key)?;
        name::check_optional_name("analyst", request.analyst)?;
        name::check_optional_name("mechanism", request.owner_mechanism)?;
        let due = self.price(request)?;
        if due != *charge {
            return Err("the charge is not what the release costs".into());
        }
        let (name, slot_place, quota_place) = places(request);
        let account = self.accounts.get(&name).ok_or("its account did not exist")?;
        let slot = slot_place.as_ref().and_then(|place| self.slots.get(place));
        if slot.is_none() && slot_place.is_some() {
            return Err("its slot did not exist".into());
        }
        let quota = quota_place.as_ref().and_then(|place| self.quotas.get(place));
        if quota.is_none() && account.quotas > 0 {
            return Err("its analyst had no quota".into());
        }
        let debit = debit::reserve(account, slot, quota, request.asked, due)?;
        if let (Some(place), None) = (&quota_place, &debit.quota) {
            let none = Balance::new(account.balance.capacity.clone());
            let before =
                self.unstored.spent_without_quota.get(place).unwrap_or(&none).plus(&debit.charge);
            self.unstored.spent_without_quota.insert(place.clone(), before);
        }
        self.account(&name)?.balance = debit.account;
        if let (Some(place), Some(used)) = (slot_place, debit.used)
            && let Some(slot) = self.slots.get_mut(&place)
        {
            slot.used = used;
        }
        if let (Some(place), Some(balance)) = (quota_place, debit.quota)
            && let Some(quota) = self.quotas.get_mut(&place)
        {
            quota.balance = balance;
        }
        let place = (name, request.key.to_owned());
        let kept = ReleaseRecord {
            analyst: request.analyst.map(str::to_owned),
            session: request.session,
            request: digest(request),
            reserved: sequence,
            committed: None,
        };
        check_once(self.releases.insert(place, kept), "the key was reserved before")
    }

    fn price(&mut self, request: &Request<'_>) -> Result<Cost, ReplayError> {
        let asked = request.asked.text().map_err(|error| error.to_string())?;
        let known = (request.account.to_owned(), asked);
        if let Some(price) = self.prices.get(&known) {
            return Ok(price.clone());
        }
        let (account, format) = (self.account(request.account)?.clone(), self.format);
        let slot = match request.asked {
            ReleaseRequest::Slot { name, .. } => Some(&*self.slot(request.account, name)?),
            _ => None,
        };
        let price = debit::price(&account, slot, request.asked, format)?;
        self.prices.insert(known, price.clone());
        Ok(price)
    }

    pub(super) fn alias(
        &mut self,
        sequence: u64,
        (account, analyst, alias): (&str, Option<&str>, &str),
        key: &str,
    ) -> Result<(), ReplayError> {
        if self.format < ALIASES_SINCE {
            return Err("this version of the format has no aliases".into());
        }
        name::check_optional_name("analyst", analyst)?;
        let place = (account.to_owned(), key.to_owned());
        match self.releases.contains_key(&place) {
            true => {}
            false if self.after > 0 => self.earlier.push(place),
            false => return Err("the key was not reserved in this account".into()),
        }
        let alias = Hash::read(alias).ok_or("the alias is not a hash")?;
        let place = (account.to_owned(), analyst.unwrap_or_default().to_owned(), alias);
        check_once(
            self.aliases.insert(place, (key.to_owned(), sequence)),
            "the alias was added before",
        )
    }

    /// Finds a key that was reserved, for a session or for a single release.
    pub(super) fn reserved_key(
        &mut self,
        account: &str,
        key: &str,
        session: bool,
    ) -> Result<&mut ReleaseRecord, ReplayError> {
        let kept = self.releases.get_mut(&(account.to_owned(), key.to_owned()));
        let kept = kept.ok_or("the key was not reserved in this account")?;
        if kept.session == session {
            return Ok(kept);
        }
        Err("the key of a session was used for a single release, or the reverse".into())
    }
}

/// The names of a request's account, slot and quota in the books.
fn places(request: &Request<'_>) -> (String, Option<NameInAccount>, Option<NameInAccount>) {
    let account = request.account.to_owned();
    let slot = match request.asked {
        ReleaseRequest::Slot { name, .. } => Some((account.clone(), name.clone())),
        _ => None,
    };
    let quota = request.analyst.map(|analyst| (account.clone(), analyst.to_owned()));
    (account, slot, quota)
}
