//! Releases that are reserved and committed in one transaction: any number of them, one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use counterpoint_wire::ledger::{Asked, Cost, Event};

use crate::cells::{self, Known, damaged};
use crate::chain::{Hash, Head};
use crate::database::{Cell, Row, Statement};
use crate::error::LedgerError;
use crate::ledger::{add_entry, now};
use crate::rows::{Account, Alias, Release, Share, Slot};
use crate::rules;
use crate::tables::{Tables, account_named, alias_of, release_under, share_of, slot_named};

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

/// A release that is to be reserved: a request whose price is known.
#[derive(Debug)]
pub(crate) struct NewRelease {
    pub(crate) account: String,
    pub(crate) key: String,
    pub(crate) analyst: Option<String>,
    pub(crate) session: bool,
    pub(crate) question: Option<Hash>,
    pub(crate) own: Option<String>,
    pub(crate) asked: Asked,
    /// The digest of the analyst's own key, if there is one.
    pub(crate) alias: Option<Hash>,
    /// What makes two requests the same.
    pub(crate) digest: Hash,
    /// The account with the rule by which it was priced.
    pub(crate) known: Arc<Known>,
    pub(crate) charge: Cost,
}

/// A response that is to be stored.
#[derive(Debug)]
pub(crate) struct NewResponse {
    pub(crate) account: String,
    pub(crate) key: String,
    pub(crate) response: Vec<u8>,
}

/// An analyst's own key that is to stand for a release which is there.
#[derive(Debug)]
pub(crate) struct NewAlias {
    pub(crate) account: String,
    pub(crate) analyst: Option<String>,
    pub(crate) alias: Hash,
    pub(crate) key: String,
}

/// One of several things that are done in a transaction.
#[derive(Debug)]
pub(crate) enum Step {
    Reserve(Box<NewRelease>),
    Alias(NewAlias),
    Commit(NewResponse),
}

/// What became of it.
#[derive(Clone, Debug)]
pub(crate) enum Done {
    Reserved(Reservation),
    Named(Head),
    Committed(Committed),
}

/// A row that is read, by its names: that of its account first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place<'a> {
    Account(&'a str),
    Slot(&'a str, &'a str),
    Share(&'a str, &'a str),
    Release(&'a str, &'a str),
    Alias(&'a str, &'a str, &'a Hash),
}

/// A row as it was read, and what a batch has made of it.
struct Line<T> {
    row: Option<Row>,
    /// What it said, and what it says now.
    changed: Option<(T, T)>,
}

/// The rows that a batch needs, and what it has changed.
pub(crate) struct Batch<'a> {
    first: Head,
    head: Head,
    /// Whether something that others wrote is told, and must be durable.
    repeats: bool,
    accounts: BTreeMap<Place<'a>, Line<Account>>,
    slots: BTreeMap<Place<'a>, Line<Slot>>,
    shares: BTreeMap<Place<'a>, Line<Share>>,
    releases: BTreeMap<Place<'a>, Line<Release>>,
    aliases: BTreeMap<Place<'a>, Line<Alias>>,
}

type Outcome<T> = Result<T, LedgerError>;

/// The statements that read what steps need.
pub(crate) fn reads(steps: &[Step]) -> Vec<Statement> {
    places(steps).into_iter().map(Place::read).collect()
}

/// Does every step after the ones before it, each wholly or not at all. `rows` are those of [`reads`].
pub(crate) fn apply(
    tables: &mut Tables<'_>,
    head: Head,
    rows: Vec<Vec<Row>>,
    steps: &[Step],
) -> Outcome<Vec<Outcome<Done>>> {
    let mut batch = Batch::new(head, rows, steps);
    let mut done = Vec::new();
    for step in steps {
        let before = tables.put_off();
        let outcome = match step {
            Step::Reserve(new) => batch.reserve(tables, new).map(Done::Reserved),
            Step::Alias(new) => batch.alias(tables, new).map(Done::Named),
            Step::Commit(new) => batch.commit(tables, new).map(Done::Committed),
        };
        match outcome {
            // Half of it may be among what is to be written.
            Err(error) if tables.put_off() != before => return Err(error),
            outcome => done.push(outcome),
        }
    }
    batch.write(tables)?;
    Ok(done)
}

/// The rows that steps need, each once.
fn places(steps: &[Step]) -> Vec<Place<'_>> {
    let mut places: Vec<Place<'_>> = steps.iter().flat_map(Step::places).collect();
    places.sort_unstable();
    places.dedup();
    // No name has a zero byte, and PostgreSQL has no such text.
    places.retain(|place| !place.names().iter().any(|name| name.contains('\0')));
    places
}

impl Step {
    fn places(&self) -> Vec<Place<'_>> {
        match self {
            Self::Reserve(new) => {
                let slot = match &new.asked {
                    Asked::Slot { name, .. } => Some(Place::Slot(&new.account, name)),
                    _ => None,
                };
                let share = new.analyst.as_deref();
                let share = share.map(|analyst| Place::Share(&new.account, analyst));
                let alias = new.alias.as_ref();
                let alias =
                    alias.map(|alias| alias_place(&new.account, new.analyst.as_ref(), alias));
                let fixed = [Place::Account(&new.account), Place::Release(&new.account, &new.key)];
                fixed.into_iter().chain(slot).chain(share).chain(alias).collect()
            }
            Self::Alias(new) => {
                let alias = alias_place(&new.account, new.analyst.as_ref(), &new.alias);
                vec![Place::Release(&new.account, &new.key), alias]
            }
            Self::Commit(new) => vec![Place::Release(&new.account, &new.key)],
        }
    }
}

impl<'a> Place<'a> {
    fn names(self) -> [&'a str; 2] {
        match self {
            Self::Account(name) => [name, ""],
            Self::Slot(account, name)
            | Self::Share(account, name)
            | Self::Release(account, name)
            | Self::Alias(account, name, _) => [account, name],
        }
    }

    fn read(self) -> Statement {
        match self {
            Self::Account(name) => account_named(name),
            Self::Slot(account, name) => slot_named(account, name),
            Self::Share(account, analyst) => share_of(account, analyst),
            Self::Release(account, key) => release_under(account, key),
            Self::Alias(account, analyst, alias) => alias_of(account, analyst, alias),
        }
    }
}

impl<T: Clone> Line<T> {
    fn new(row: Option<Row>) -> Self {
        Self { row, changed: None }
    }

    /// What it says now, if there is one.
    fn now(&self, read: impl Fn(&[Cell]) -> Outcome<T>) -> Outcome<Option<T>> {
        match (&self.changed, &self.row) {
            (Some((_, now)), _) => Ok(Some(now.clone())),
            (None, Some(row)) => read(row).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn change(&mut self, before: T, after: T) {
        match &mut self.changed {
            Some((_, now)) => *now = after,
            None => self.changed = Some((before, after)),
        }
    }
}

/// What pays for a release, and what it leaves of that.
struct Found {
    account: Account,
    slot: Option<Slot>,
    share: Option<Share>,
    debit: rules::Debit,
}

impl<'a> Batch<'a> {
    /// The rows that [`reads`] read.
    pub(crate) fn new(head: Head, rows: Vec<Vec<Row>>, steps: &'a [Step]) -> Self {
        let mut batch = Self {
            first: head,
            head,
            repeats: false,
            accounts: BTreeMap::new(),
            slots: BTreeMap::new(),
            shares: BTreeMap::new(),
            releases: BTreeMap::new(),
            aliases: BTreeMap::new(),
        };
        for (place, rows) in places(steps).into_iter().zip(rows) {
            let row = rows.into_iter().next();
            match place {
                Place::Account(_) => drop(batch.accounts.insert(place, Line::new(row))),
                Place::Slot(..) => drop(batch.slots.insert(place, Line::new(row))),
                Place::Share(..) => drop(batch.shares.insert(place, Line::new(row))),
                Place::Release(..) => drop(batch.releases.insert(place, Line::new(row))),
                Place::Alias(..) => drop(batch.aliases.insert(place, Line::new(row))),
            }
        }
        batch
    }

    /// Whether account, slot and quota as they are now allow a release at its price.
    pub(crate) fn charge(&self, new: &NewRelease) -> Outcome<()> {
        self.debit(new).map(drop)
    }

    fn debit(&self, new: &NewRelease) -> Outcome<Found> {
        let gone = || damaged("an account is gone");
        let line = self.accounts.get(&Place::Account(&new.account)).ok_or_else(gone)?;
        // The price is by the rule that was known.
        let read = new.known.now(line.row.as_ref().ok_or_else(gone)?)?;
        let account = line.changed.as_ref().map_or(read, |(_, now)| now.clone());
        let slot = match &new.asked {
            Asked::Slot { name, .. } => Some(self.slot(&new.account, name)?),
            _ => None,
        };
        let share = self.share(&account, new.analyst.as_deref())?;
        let charge = new.charge.clone();
        let debit = rules::reserve(&account, slot.as_ref(), share.as_ref(), &new.asked, charge)?;
        Ok(Found { account, slot, share, debit })
    }

    fn slot(&self, account: &str, name: &str) -> Outcome<Slot> {
        let line = self.slots.get(&Place::Slot(account, name));
        let slot = line.map_or(Ok(None), |line| line.now(cells::slot))?;
        slot.ok_or_else(|| unknown_slot(name))
    }

    /// The share that is to be charged: in an account with quotas there must be one.
    fn share(&self, account: &Account, analyst: Option<&str>) -> Outcome<Option<Share>> {
        if account.quotas == 0 {
            return Ok(None);
        }
        let legal = "--analyst with one who has a quota";
        let Some(analyst) = analyst else {
            return Err(account.unfit("has quotas and no analyst is named", legal));
        };
        let line = self.shares.get(&Place::Share(&account.name, analyst));
        let share = line.map_or(Ok(None), |line| line.now(cells::share))?;
        let name = analyst.to_owned();
        let unknown = || LedgerError::Unknown { what: "quota of analyst", name, legal };
        share.ok_or_else(unknown).map(Some)
    }

    fn release(&self, account: &str, key: &str) -> Outcome<Option<Release>> {
        let line = self.releases.get(&Place::Release(account, key));
        line.map_or(Ok(None), |line| line.now(cells::release))
    }

    fn reserve(&mut self, tables: &mut Tables<'_>, new: &'a NewRelease) -> Outcome<Reservation> {
        let alias = new.alias.as_ref();
        let alias = alias.map(|alias| alias_place(&new.account, new.analyst.as_ref(), alias));
        let alias = alias.map_or(Ok(None), |place| self.new_alias(place, &new.key))?;
        if let Some(release) = self.release(&new.account, &new.key)? {
            let repeated = self.repeated(release, new.digest)?;
            self.add_alias(tables, alias, &new.key)?;
            return Ok(Reservation { head: self.head, ..repeated });
        }
        let Found { account, slot, share, debit } = self.debit(new)?;
        let event = Event::Reserve {
            at: now(),
            account: new.account.clone(),
            key: new.key.clone(),
            analyst: new.analyst.clone(),
            session: new.session,
            question: new.question.map(|question| question.to_string()),
            own: new.own.clone(),
            release: new.asked.clone(),
            charge: debit.charge.clone(),
        };
        self.head = add_entry(tables, self.head, &event)?;
        let entry = self.head.sequence;
        let release = Release {
            key: new.key.clone(),
            account: new.account.clone(),
            analyst: new.analyst.clone(),
            session: new.session,
            request: new.digest,
            reserved: entry,
            committed: None,
            response: None,
        };
        tables.add_release(&release)?;
        change(
            &mut self.releases,
            Place::Release(&new.account, &new.key),
            release.clone(),
            release,
        );
        if let (Asked::Slot { name, .. }, Some(slot), Some(used)) = (&new.asked, slot, debit.used) {
            let place = Place::Slot(&new.account, name);
            change(&mut self.slots, place, slot.clone(), Slot { used, ..slot });
        }
        if let (Some(analyst), Some(share), Some(balance)) = (&new.analyst, share, debit.share) {
            let place = Place::Share(&new.account, analyst);
            change(&mut self.shares, place, share.clone(), Share { balance, ..share });
        }
        let after = Account { balance: debit.account, ..account.clone() };
        change(&mut self.accounts, Place::Account(&new.account), account, after);
        self.add_alias(tables, alias, &new.key)?;
        Ok(Reservation { entry, charge: Some(debit.charge), response: None, head: self.head })
    }

    /// What an earlier call came to. It waits for a sync as that one did: who made it may have died
    /// in between.
    fn repeated(&mut self, release: Release, digest: Hash) -> Outcome<Reservation> {
        if release.request != digest {
            return Err(LedgerError::KeyInUse { key: release.key });
        }
        self.repeats = true;
        let (entry, response) = (release.reserved, release.response);
        Ok(Reservation { entry, charge: None, response, head: self.head })
    }

    /// The place of an analyst's key if it is new; an error if it stands for another release.
    fn new_alias(&self, place: Place<'a>, key: &str) -> Outcome<Option<Place<'a>>> {
        let line = self.aliases.get(&place);
        match line.map_or(Ok(None), |line| line.now(cells::alias))? {
            None => Ok(Some(place)),
            Some(alias) if alias.key == key => Ok(None),
            Some(_) => Err(LedgerError::AliasInUse),
        }
    }

    /// Lets an analyst's key that is new stand for a release.
    fn add_alias(
        &mut self,
        tables: &mut Tables<'_>,
        place: Option<Place<'a>>,
        key: &str,
    ) -> Outcome<()> {
        let Some(place @ Place::Alias(account, analyst, alias)) = place else { return Ok(()) };
        let event = Event::Alias {
            at: now(),
            account: account.to_owned(),
            analyst: Some(analyst).filter(|analyst| !analyst.is_empty()).map(str::to_owned),
            alias: alias.to_string(),
            key: key.to_owned(),
        };
        self.head = add_entry(tables, self.head, &event)?;
        let (account, analyst) = (account.to_owned(), analyst.to_owned());
        let row = Alias {
            account,
            analyst,
            alias: *alias,
            key: key.to_owned(),
            entry: self.head.sequence,
        };
        tables.add_alias(&row)?;
        change(&mut self.aliases, place, row.clone(), row);
        Ok(())
    }

    fn alias(&mut self, tables: &mut Tables<'_>, new: &'a NewAlias) -> Outcome<Head> {
        let place = alias_place(&new.account, new.analyst.as_ref(), &new.alias);
        let place = self.new_alias(place, &new.key)?;
        self.release(&new.account, &new.key)?.ok_or_else(|| unknown_key(&new.key))?;
        self.repeats = true;
        self.add_alias(tables, place, &new.key)?;
        Ok(self.head)
    }

    fn commit(&mut self, tables: &mut Tables<'_>, new: &'a NewResponse) -> Outcome<Committed> {
        let release = self.release(&new.account, &new.key)?;
        let release = release.ok_or_else(|| unknown_key(&new.key))?;
        if release.session {
            let (key, problem) = (release.key, "is a session's".to_owned());
            return Err(LedgerError::UnfitKey { key, problem, legal: "its answers" });
        }
        if let (Some(entry), Some(response)) = (release.committed, &release.response) {
            self.repeats = true;
            let response = response.clone();
            return Ok(Committed { entry, response, repeated: true, head: self.head });
        }
        let (account, key) = (new.account.clone(), new.key.clone());
        let (sha256, length) = (Hash::of(&new.response).to_string(), new.response.len() as u64);
        let event = Event::Commit { at: now(), account, key, sha256, length };
        self.head = add_entry(tables, self.head, &event)?;
        let (entry, response) = (self.head.sequence, new.response.clone());
        tables.respond(&new.account, &new.key, entry, &response)?;
        let (committed, stored) = (Some(entry), Some(response.clone()));
        let after = Release { committed, response: stored, ..release.clone() };
        change(&mut self.releases, Place::Release(&new.account, &new.key), release, after);
        Ok(Committed { entry, response, repeated: false, head: self.head })
    }

    /// Writes what was changed, if it still is what was read; where nothing was, the head once more, so that what is told
    /// waits for a sync of its own.
    fn write(self, tables: &mut Tables<'_>) -> Outcome<()> {
        for (before, after) in self.accounts.into_values().filter_map(|line| line.changed) {
            tables.charge_account(&before, &after.balance)?;
        }
        for (place, line) in self.slots {
            if let Some((before, after)) = line.changed {
                tables.use_slot(place.names()[0], &before, after.used)?;
            }
        }
        for (place, line) in self.shares {
            if let Some((before, after)) = line.changed {
                tables.charge_share(place.names()[0], &before, &after.balance)?;
            }
        }
        match self.repeats {
            _ if self.head != self.first => tables.move_head(self.first, self.head),
            true => tables.touch(self.head),
            false => Ok(()),
        }
    }
}

/// Where an analyst's key is kept.
fn alias_place<'a>(account: &'a str, analyst: Option<&'a String>, alias: &'a Hash) -> Place<'a> {
    Place::Alias(account, analyst.map_or("", String::as_str), alias)
}

/// Notes what a row says now.
fn change<'a, T: Clone>(
    lines: &mut BTreeMap<Place<'a>, Line<T>>,
    place: Place<'a>,
    before: T,
    after: T,
) {
    lines.entry(place).or_insert_with(|| Line::new(None)).change(before, after);
}

/// There is no such slot.
pub(crate) fn unknown_slot(name: &str) -> LedgerError {
    let legal = "the name of a release in the account's plan, as status lists them";
    LedgerError::Unknown { what: "slot", name: name.to_owned(), legal }
}

/// There is no such key.
pub(crate) fn unknown_key(key: &str) -> LedgerError {
    let legal = "one that was reserved in the account";
    LedgerError::Unknown { what: "key", name: key.to_owned(), legal }
}
