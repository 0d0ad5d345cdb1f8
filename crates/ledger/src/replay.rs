//! The balances, derived from the history once more.

use std::collections::{BTreeMap, BTreeSet};

use counterpoint::Relation;
use counterpoint_wire::ledger::{self as wire, Asked, Cost, Event, Openings, Rule};

use crate::chain::Hash;
use crate::database::{OLDEST, VERSION};
use crate::error::{LedgerError, Problem};
use crate::name::Place;
use crate::release::{Request, digest};
use crate::rows::{Account, Balance, Share, Slot};
use crate::session::Sessions;
use crate::setup::{unused, without_slots};
use crate::{name, owner, plan, rows, rules, slots};

/// Everything that follows from a history.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pub(crate) accounts: BTreeMap<String, Account>,
    /// By account and slot.
    pub(crate) slots: BTreeMap<(String, String), Slot>,
    /// By account and analyst.
    pub(crate) shares: BTreeMap<(String, String), Share>,
    pub(crate) unstored: Unstored,
    /// By account and key.
    pub(crate) releases: BTreeMap<Place, Kept>,
    /// By account, analyst (empty where nobody is named) and the key's digest: the release's key, and the entry.
    pub(crate) aliases: BTreeMap<(String, String, Hash), (String, u64)>,
    pub(crate) sessions: Sessions,
    /// The version of the format so far.
    pub(crate) format: u64,
    /// The entry that these books begin after, from which only what was not over is known; 0 if all of it is.
    pub(crate) after: u64,
    /// Keys that are not known from there on, and were named: they must have been reserved before.
    pub(crate) earlier: Vec<Place>,
    /// What was already priced: prices depend on the account's rule and the description alone.
    prices: BTreeMap<Place, Cost>,
}

/// What follows from the history alone: no table has it.
#[derive(Debug, Default)]
pub(crate) struct Unstored {
    /// What analysts spent without a share, by account and analyst.
    pub(crate) unshared: BTreeMap<Place, Balance>,
    /// The moves of budget, by the account that gave and key.
    pub(crate) moves: BTreeSet<Place>,
}

/// The first version of the format that has aliases.
pub(crate) const ALIASES: u64 = 3;

/// The first version of the format in which a ledger has an identity.
const IDENTITY: u64 = 4;

/// The first version of the format in which owners close data sets, change quotas, move budget and bring mechanisms.
const OWNERS: u64 = 4;

/// What became of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) analyst: Option<String>,
    pub(crate) session: bool,
    pub(crate) request: Hash,
    pub(crate) reserved: u64,
    /// The entry, and the response's digest and length.
    pub(crate) committed: Option<(u64, String, u64)>,
}

impl Books {
    /// Empty books of a format that begin after an entry.
    pub(crate) fn after(after: u64, format: u64) -> Self {
        Self { after, format, ..Self::default() }
    }

    /// One event later.
    pub(crate) fn apply(&mut self, sequence: u64, event: &Event) -> Result<(), Problem> {
        match event {
            Event::Init { format, identity, .. } => {
                let legal = OLDEST.unsigned_abs()..=VERSION.unsigned_abs();
                if sequence != 1 || !legal.contains(format) {
                    return Err("a ledger begins here".to_owned());
                }
                self.begin(*format, identity.as_deref())
            }
            _ if sequence == 1 => Err("the history does not begin with init".to_owned()),
            Event::Upgrade { format, identity, .. } => {
                if !(self.format + 1..=VERSION.unsigned_abs()).contains(format) {
                    return Err(format!("the format goes from {} to {format}", self.format));
                }
                self.begin(*format, identity.as_deref())
            }
            Event::Dataset { name, adjacency, records, filter, .. } => {
                if rules::overstated(filter, *adjacency).map_err(text)? {
                    return Err("there is more to spend than is promised".to_owned());
                }
                let relation = Relation::new(*adjacency, *records);
                let relation = relation.map_err(|error| error.to_string())?;
                self.add(Account::new(name, None, sequence, relation, Rule::Filter(filter.clone())))
            }
            Event::Open { account, parent, slot: None, part: None, rule, charge, .. } => {
                self.open(sequence, account, parent, rule, charge)
            }
            Event::Open { account, parent, slot: Some(slot), part, rule, charge, .. } => {
                let part = part.as_deref();
                self.open_in_slot(sequence, account, (parent, slot, part), rule, charge)
            }
            Event::Recut { account, unused, into, .. } => self.recut(account, unused, into),
            Event::Quota { account, analyst, capacity, changed: false, .. } => {
                self.quota(account, analyst, capacity)
            }
            Event::Quota { account, analyst, capacity, changed: true, .. } => {
                self.change_quota(account, analyst, capacity)
            }
            Event::Move { account, to, key, amount, .. } => {
                self.transfer((account, to), key, amount)
            }
            Event::Reserve {
                account,
                key,
                analyst,
                session,
                question,
                own,
                release,
                charge,
                ..
            } => {
                own.as_ref().map_or(Ok(()), |_| self.has_owners())?;
                let digest = |text: &String| Hash::read(text).ok_or("its question has no digest");
                let request = Request {
                    analyst: analyst.as_deref(),
                    session: *session,
                    question: question.as_ref().map(digest).transpose()?,
                    own: own.as_deref(),
                    ..Request::new(account, key, release)
                };
                self.reserve(sequence, &request, charge)
            }
            Event::Alias { account, analyst, alias, key, .. } => {
                self.alias(sequence, (account, analyst.as_deref(), alias), key)
            }
            Event::Commit { account, key, sha256, length, .. } => {
                let kept = self.kept(account, key, false)?;
                if kept.committed.is_some() {
                    return Err("the key was committed before".to_owned());
                }
                kept.committed = Some((sequence, sha256.clone(), *length));
                Ok(())
            }
            Event::Begin { account, key, .. }
            | Event::Answer { account, key, .. }
            | Event::End { account, key, .. } => {
                self.kept(account, key, true)?;
                self.sessions.apply(sequence, (account, key), event)
            }
            Event::Close { account, .. } => self.close(sequence, account),
            _ => Err("the event is of no known kind".to_owned()),
        }
    }

    /// Closes an account, or a data set whose accounts are closed.
    fn close(&mut self, sequence: u64, account: &str) -> Result<(), Problem> {
        let is_dataset = self.accounts.get(account).is_some_and(|found| found.parent.is_none());
        if is_dataset {
            self.has_owners()?;
            let is_open = |one: &Account| one.closed.is_none() && one.name != account;
            if self.accounts.values().any(|one| is_open(one) && self.dataset_of(one) == account) {
                return Err("an account of the data set is open".to_owned());
            }
        }
        let found = self.accounts.get_mut(account).ok_or("its account was not there")?;
        match found.closed.replace(sequence) {
            None => Ok(()),
            Some(_) => Err("it was closed before".to_owned()),
        }
    }

    /// The data set that an account is under, however deep.
    fn dataset_of<'a>(&'a self, mut account: &'a Account) -> &'a str {
        // Parents were opened before.
        while let Some(parent) = account.parent.as_ref().and_then(|name| self.accounts.get(name)) {
            account = parent;
        }
        &account.name
    }

    /// Whether the format has what owners do.
    fn has_owners(&self) -> Result<(), Problem> {
        if self.format >= OWNERS {
            return Ok(());
        }
        Err("the format has no such event yet".to_owned())
    }

    fn change_quota(
        &mut self,
        account: &str,
        analyst: &str,
        capacity: &Cost,
    ) -> Result<(), Problem> {
        self.has_owners()?;
        rules::is_open(self.account(account)?).map_err(text)?;
        let share = self.shares.get_mut(&(account.to_owned(), analyst.to_owned()));
        let share = share.ok_or("the analyst had no quota")?;
        let changed = owner::changed_share(share, capacity);
        *share = changed.ok_or("more is spent than the quota has")?;
        Ok(())
    }

    fn transfer(
        &mut self,
        (from, to): (&str, &str),
        key: &str,
        amount: &Cost,
    ) -> Result<(), Problem> {
        self.has_owners()?;
        name::word("key", key).map_err(text)?;
        let [gives, gets] = [self.account(from)?.clone(), self.account(to)?.clone()];
        let dataset = gives.parent.as_ref().and_then(|parent| self.accounts.get(parent));
        let dataset = dataset.filter(|found| found.parent.is_none());
        let dataset = dataset.ok_or("the account is within a slot")?;
        let (less, more) = owner::transfer(dataset, &gives, &gets, amount).map_err(text)?;
        self.account(from)?.balance = less;
        self.account(to)?.balance = more;
        match self.unstored.moves.insert((from.to_owned(), key.to_owned())) {
            true => Ok(()),
            false => Err("the key was moved before".to_owned()),
        }
    }

    /// A format from here on, with the identity that ledgers have from 4 on.
    fn begin(&mut self, format: u64, identity: Option<&str>) -> Result<(), Problem> {
        self.format = format;
        // Prices are those of the format that they were charged in.
        self.prices.clear();
        match identity.map(Hash::read) {
            Some(Some(_)) if format >= IDENTITY => Ok(()),
            None if format < IDENTITY => Ok(()),
            _ => Err("the ledger's identity is none".to_owned()),
        }
    }

    fn alias(
        &mut self,
        sequence: u64,
        (account, analyst, alias): (&str, Option<&str>, &str),
        key: &str,
    ) -> Result<(), Problem> {
        if self.format < ALIASES {
            return Err("the format has no aliases yet".to_owned());
        }
        analyst.map_or(Ok(()), |name| name::word("analyst", name)).map_err(text)?;
        let place = (account.to_owned(), key.to_owned());
        match self.releases.contains_key(&place) {
            true => {}
            false if self.after > 0 => self.earlier.push(place),
            false => return Err("the key was not reserved in this account".to_owned()),
        }
        let alias = Hash::read(alias).ok_or("the alias is no digest")?;
        let place = (account.to_owned(), analyst.unwrap_or_default().to_owned(), alias);
        match self.aliases.insert(place, (key.to_owned(), sequence)) {
            None => Ok(()),
            Some(_) => Err("the alias was given before".to_owned()),
        }
    }

    /// A key that was reserved, for a session or for a single release.
    fn kept(&mut self, account: &str, key: &str, session: bool) -> Result<&mut Kept, Problem> {
        let kept = self.releases.get_mut(&(account.to_owned(), key.to_owned()));
        let kept = kept.ok_or("the key was not reserved in this account")?;
        if kept.session == session {
            return Ok(kept);
        }
        Err("the key is a session's, or a single release's, and not used as one".to_owned())
    }

    fn add(&mut self, account: Account) -> Result<(), Problem> {
        name::word("account", &account.name).map_err(text)?;
        match self.accounts.insert(account.name.clone(), account) {
            None => Ok(()),
            Some(other) => Err(format!("{:?} was there already", other.name)),
        }
    }

    fn open(
        &mut self,
        sequence: u64,
        account: &str,
        dataset: &str,
        rule: &Rule,
        charge: &Cost,
    ) -> Result<(), Problem> {
        let parent = self.accounts.get(dataset).filter(|found| found.parent.is_none());
        let parent = parent.ok_or("its data set was not there")?;
        rules::is_open(parent).map_err(text)?;
        let (relation, adjacency) = (parent.relation, parent.relation.adjacency());
        let wrong = match rule {
            Rule::Plan(plan) if !slots::is_of(plan, self.format) => Ok(true),
            Rule::Plan(plan) => slots::understated(plan, relation),
            Rule::Filter(filter) => rules::overstated(filter, adjacency),
            _ => Ok(true),
        };
        if wrong.map_err(text)? {
            return Err("its rule promises what it does not keep".to_owned());
        }
        let (due, balance) = rules::open(parent, rule).map_err(text)?;
        if due != *charge {
            return Err("the charge is not what the rule costs".to_owned());
        }
        rows::capacity(rule).ok_or("its rule has no capacity")?;
        let (slots, kept) = without_slots(rule.clone());
        if let Some(parent) = self.accounts.get_mut(dataset) {
            parent.balance = balance;
        }
        self.add_slots(account, slots, slots::format_of(rule))?;
        self.add(Account {
            rule: kept,
            ..Account::new(account, Some(dataset), sequence, relation, rule.clone())
        })
    }

    fn open_in_slot(
        &mut self,
        sequence: u64,
        account: &str,
        (within, name, part): (&str, &str, Option<&str>),
        rule: &Rule,
        charge: &Cost,
    ) -> Result<(), Problem> {
        let parent = self.account(within)?.clone();
        slots::unshared(&parent).map_err(text)?;
        let filter = plan::stored(&parent, rule).map_err(text)?;
        let Rule::Filter(record) = rule else { return Err("its rule is none".to_owned()) };
        if rules::overstated(record, parent.relation.adjacency()).map_err(text)? {
            return Err("its rule promises what it does not keep".to_owned());
        }
        let slot = self.slot(within, name)?;
        slots::holds(&parent, slot, &filter).map_err(text)?;
        if slot.release.part() != part {
            return Err("it is about another part of the data than its slot".to_owned());
        }
        let asked = plan::one_opening(name);
        let debit = rules::reserve(&parent, Some(slot), None, &asked, rows::releases(1));
        let debit = debit.map_err(text)?;
        if debit.charge != *charge {
            return Err("the charge is not one opening".to_owned());
        }
        slot.used = debit.used.unwrap_or(slot.total);
        self.account(within)?.balance = debit.account;
        self.add(Account {
            slot: Some(name.to_owned()),
            part: part.map(str::to_owned),
            ..Account::new(account, Some(within), sequence, parent.relation, rule.clone())
        })
    }

    fn recut(
        &mut self,
        account: &str,
        openings: &[Openings],
        into: &[wire::Slot],
    ) -> Result<(), Problem> {
        plan::check(account, openings).map_err(text)?;
        let found = self.account(account)?.clone();
        rules::is_open(&found).map_err(text)?;
        slots::unshared(&found).map_err(text)?;
        let slot = |one: &Openings| Ok((self.slot(account, &one.slot)?.clone(), one.count));
        let given: Vec<(Slot, u64)> = openings.iter().map(slot).collect::<Result<_, Problem>>()?;
        slots::dominate(&found, &given, into).map_err(text)?;
        let (used, balance) = slots::recut(&found, &given, into).map_err(text)?;
        for ((slot, _), used) in given.iter().zip(used) {
            self.slot(account, &slot.name)?.used = used;
        }
        self.account(account)?.balance = balance;
        let format = slots::format_of(&found.rule);
        self.add_slots(account, into.iter().cloned().map(unused).collect(), format)
    }

    fn add_slots(&mut self, account: &str, slots: Vec<Slot>, format: u64) -> Result<(), Problem> {
        for slot in slots {
            name::words("slot", &slot.name).map_err(text)?;
            let part = slot.release.part();
            part.map_or(Ok(()), |part| name::words("partition", part)).map_err(text)?;
            slot.release.opening_in(format).map_err(|error| error.to_string())?;
            let declared = slot.release.count().map_err(|error| error.to_string())?;
            if declared != slot.total {
                return Err("a slot opens more often than was declared".to_owned());
            }
            let place = (account.to_owned(), slot.name.clone());
            if self.slots.insert(place, slot).is_some() {
                return Err("two slots have one name".to_owned());
            }
        }
        Ok(())
    }

    fn slot(&mut self, account: &str, name: &str) -> Result<&mut Slot, Problem> {
        let place = (account.to_owned(), name.to_owned());
        self.slots.get_mut(&place).ok_or_else(|| "its slot was not there".to_owned())
    }

    fn quota(&mut self, account: &str, analyst: &str, capacity: &Cost) -> Result<(), Problem> {
        name::word("analyst", analyst).map_err(text)?;
        let format = self.format;
        let found = self.account(account)?;
        rules::is_open(found).map_err(text)?;
        if format < OWNERS && found.quotas == 0 && found.balance.charges > 0 {
            return Err("releases were made without a quota".to_owned());
        }
        found.quotas += 1;
        let unspent = Balance::new(found.balance.capacity.clone());
        let (place, analyst) = ((account.to_owned(), analyst.to_owned()), analyst.to_owned());
        let spent = self.unstored.unshared.remove(&place).unwrap_or(unspent);
        let balance = Balance { capacity: capacity.clone(), ..spent };
        if !balance.holds() {
            return Err("more is spent than the quota has".to_owned());
        }
        match self.shares.insert(place, Share { analyst, balance }) {
            None => Ok(()),
            Some(_) => Err("the analyst had a quota".to_owned()),
        }
    }

    fn reserve(
        &mut self,
        sequence: u64,
        request: &Request<'_>,
        charge: &Cost,
    ) -> Result<(), Problem> {
        name::word("key", request.key).map_err(text)?;
        request.analyst.map_or(Ok(()), |name| name::word("analyst", name)).map_err(text)?;
        request.own.map_or(Ok(()), |name| name::word("mechanism", name)).map_err(text)?;
        let due = self.price(request)?;
        if due != *charge {
            return Err("the charge is not what the release costs".to_owned());
        }
        let (name, slot_place, share_place) = places(request);
        let account = self.accounts.get(&name).ok_or("its account was not there")?;
        let slot = slot_place.as_ref().and_then(|place| self.slots.get(place));
        if slot.is_none() && slot_place.is_some() {
            return Err("its slot was not there".to_owned());
        }
        let share = share_place.as_ref().and_then(|place| self.shares.get(place));
        if share.is_none() && account.quotas > 0 {
            return Err("its analyst had no quota".to_owned());
        }
        let debit = rules::reserve(account, slot, share, request.asked, due).map_err(text)?;
        if let (Some(place), None) = (&share_place, &debit.share) {
            let none = Balance::new(account.balance.capacity.clone());
            let before = self.unstored.unshared.get(place).unwrap_or(&none).plus(&debit.charge);
            self.unstored.unshared.insert(place.clone(), before);
        }
        self.account(&name)?.balance = debit.account;
        if let (Some(place), Some(used)) = (slot_place, debit.used)
            && let Some(slot) = self.slots.get_mut(&place)
        {
            slot.used = used;
        }
        if let (Some(place), Some(balance)) = (share_place, debit.share)
            && let Some(share) = self.shares.get_mut(&place)
        {
            share.balance = balance;
        }
        let place = (name, request.key.to_owned());
        let kept = Kept {
            analyst: request.analyst.map(str::to_owned),
            session: request.session,
            request: digest(request),
            reserved: sequence,
            committed: None,
        };
        match self.releases.insert(place, kept) {
            None => Ok(()),
            Some(_) => Err("the key was reserved before".to_owned()),
        }
    }

    fn price(&mut self, request: &Request<'_>) -> Result<Cost, Problem> {
        let asked = request.asked.text().map_err(|error| error.to_string())?;
        let known = (request.account.to_owned(), asked);
        if let Some(price) = self.prices.get(&known) {
            return Ok(price.clone());
        }
        let (account, format) = (self.account(request.account)?.clone(), self.format);
        let slot = match request.asked {
            Asked::Slot { name, .. } => Some(&*self.slot(request.account, name)?),
            _ => None,
        };
        let price = rules::price(&account, slot, request.asked, format).map_err(text)?;
        self.prices.insert(known, price.clone());
        Ok(price)
    }

    fn account(&mut self, name: &str) -> Result<&mut Account, Problem> {
        let found = self.accounts.get_mut(name).filter(|found| found.parent.is_some());
        found.ok_or_else(|| "its account was not there".to_owned())
    }
}

/// Where a request's account, slot and share are kept.
fn places(request: &Request<'_>) -> (String, Option<Place>, Option<Place>) {
    let account = request.account.to_owned();
    let slot = match request.asked {
        Asked::Slot { name, .. } => Some((account.clone(), name.clone())),
        _ => None,
    };
    let share = request.analyst.map(|analyst| (account.clone(), analyst.to_owned()));
    (account, slot, share)
}

fn text(error: LedgerError) -> Problem {
    error.to_string()
}
