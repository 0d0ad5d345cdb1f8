//! Releases that are reserved and committed in one transaction: any number of them, one after the other.

mod lines;

use std::sync::Arc;

use counterpoint_wire::ledger::{Asked, Cost, Event};

use super::cells::{self, Known};
use super::database::{Row, Statement};
use super::find::{unknown_key, unknown_slot};
use super::ledger::{add_entry, now};
use super::tables::Tables;
use crate::rules::chain::{Hash, Head};
use crate::rules::debit::{self, Debit};
use crate::rules::error::{LedgerError, Outcome, damaged, unknown};
use crate::rules::rows::{Account, Alias, Release, Share, Slot};
use lines::{Lines, Place, places};

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

/// One of several things that are done in a transaction.
#[derive(Debug)]
pub(crate) enum Step {
    Reserve(Box<NewRelease>),
    /// An analyst's own key is to stand for a release which is there.
    Alias {
        account: String,
        analyst: Option<String>,
        alias: Hash,
        key: String,
    },
    /// A response is to be stored.
    Commit {
        account: String,
        key: String,
        response: Vec<u8>,
    },
}

/// What became of it.
#[derive(Clone, Debug)]
pub(crate) enum Done {
    Reserved(Reservation),
    Named(Head),
    Committed(Committed),
}

impl Done {
    pub(crate) fn reserved(self) -> Outcome<Reservation> {
        match self {
            Self::Reserved(reservation) => Ok(reservation),
            _ => Err(damaged("a reservation was taken for something else")),
        }
    }

    pub(crate) fn named(self) -> Outcome<Head> {
        match self {
            Self::Named(head) => Ok(head),
            _ => Err(damaged("a key was taken for something else")),
        }
    }

    pub(crate) fn committed(self) -> Outcome<Committed> {
        match self {
            Self::Committed(committed) => Ok(committed),
            _ => Err(damaged("a response was taken for something else")),
        }
    }
}

/// The rows that a batch needs, and what it has changed.
pub(crate) struct Batch<'a> {
    first: Head,
    head: Head,
    /// Whether something that others wrote is told, and must be durable.
    repeats: bool,
    accounts: Lines<'a, Account>,
    slots: Lines<'a, Slot>,
    shares: Lines<'a, Share>,
    releases: Lines<'a, Release>,
    aliases: Lines<'a, Alias>,
}

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
            Step::Alias { account, analyst, alias, key } => {
                let place = Place::alias(account, analyst.as_ref(), alias);
                batch.alias(tables, place, Place::Release(account, key)).map(Done::Named)
            }
            Step::Commit { account, key, response } => {
                batch.commit(tables, Place::Release(account, key), response).map(Done::Committed)
            }
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

/// What pays for a release, and what it leaves of that.
struct Found {
    account: Account,
    slot: Option<Slot>,
    share: Option<Share>,
    debit: Debit,
}

impl<'a> Batch<'a> {
    /// The rows that [`reads`] read.
    pub(crate) fn new(head: Head, rows: Vec<Vec<Row>>, steps: &'a [Step]) -> Self {
        let mut batch = Self {
            first: head,
            head,
            repeats: false,
            accounts: Lines::new(cells::account),
            slots: Lines::new(cells::slot),
            shares: Lines::new(cells::share),
            releases: Lines::new(cells::release),
            aliases: Lines::new(cells::alias),
        };
        for (place, rows) in places(steps).into_iter().zip(rows) {
            let row = rows.into_iter().next();
            match place {
                Place::Account(_) => batch.accounts.insert(place, row),
                Place::Slot(..) => batch.slots.insert(place, row),
                Place::Share(..) => batch.shares.insert(place, row),
                Place::Release(..) => batch.releases.insert(place, row),
                Place::Alias(..) => batch.aliases.insert(place, row),
            }
        }
        batch
    }

    /// Whether account, slot and quota as they are now allow a release at its price.
    pub(crate) fn charge(&self, new: &NewRelease) -> Outcome<()> {
        self.debit(new).map(drop)
    }

    fn debit(&self, new: &NewRelease) -> Outcome<Found> {
        let place = Place::Account(&new.account);
        let row = self.accounts.row(place).ok_or_else(|| damaged("an account is gone"))?;
        // The price is by the rule that was known.
        let read = new.known.now(row)?;
        let account = self.accounts.changed(place).unwrap_or(read);
        let slot = match &new.asked {
            Asked::Slot { name, .. } => {
                let slot = self.slots.now(Place::Slot(&new.account, name))?;
                Some(slot.ok_or_else(|| unknown_slot(name))?)
            }
            _ => None,
        };
        let share = self.share(&account, new.analyst.as_deref())?;
        let charge = new.charge.clone();
        let debit = debit::reserve(&account, slot.as_ref(), share.as_ref(), &new.asked, charge)?;
        Ok(Found { account, slot, share, debit })
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
        let share = self.shares.now(Place::Share(&account.name, analyst))?;
        share.ok_or_else(|| unknown("quota of analyst", analyst, legal)).map(Some)
    }

    /// What was reserved under a key that must be there.
    fn reserved(&self, place: Place<'a>) -> Outcome<Release> {
        self.releases.now(place)?.ok_or_else(|| unknown_key(place.names()[1]))
    }

    fn reserve(&mut self, tables: &mut Tables<'_>, new: &'a NewRelease) -> Outcome<Reservation> {
        let alias = new.alias.as_ref();
        let alias = alias.map(|alias| Place::alias(&new.account, new.analyst.as_ref(), alias));
        let alias = alias.map_or(Ok(None), |place| self.new_alias(place, &new.key))?;
        let place = Place::Release(&new.account, &new.key);
        if let Some(release) = self.releases.now(place)? {
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
        self.releases.change(place, release.clone(), release);
        if let (Asked::Slot { name, .. }, Some(slot), Some(used)) = (&new.asked, slot, debit.used) {
            let place = Place::Slot(&new.account, name);
            self.slots.change(place, slot.clone(), Slot { used, ..slot });
        }
        if let (Some(analyst), Some(share), Some(balance)) = (&new.analyst, share, debit.share) {
            let place = Place::Share(&new.account, analyst);
            self.shares.change(place, share.clone(), Share { balance, ..share });
        }
        let after = Account { balance: debit.account, ..account.clone() };
        self.accounts.change(Place::Account(&new.account), account, after);
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
        match self.aliases.now(place)? {
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
        self.aliases.change(place, row.clone(), row);
        Ok(())
    }

    fn alias(
        &mut self,
        tables: &mut Tables<'_>,
        place: Place<'a>,
        release: Place<'a>,
    ) -> Outcome<Head> {
        let key = release.names()[1];
        let place = self.new_alias(place, key)?;
        self.reserved(release)?;
        self.repeats = true;
        self.add_alias(tables, place, key)?;
        Ok(self.head)
    }

    fn commit(
        &mut self,
        tables: &mut Tables<'_>,
        place: Place<'a>,
        response: &[u8],
    ) -> Outcome<Committed> {
        let release = self.reserved(place)?;
        if release.session {
            let (key, problem) = (release.key, "is a session's".to_owned());
            return Err(LedgerError::UnfitKey { key, problem, legal: "its answers" });
        }
        if let (Some(entry), Some(response)) = (release.committed, &release.response) {
            self.repeats = true;
            let response = response.clone();
            return Ok(Committed { entry, response, repeated: true, head: self.head });
        }
        let (account, key) = (release.account.clone(), release.key.clone());
        let (sha256, length) = (Hash::of(response).to_string(), response.len() as u64);
        let event = Event::Commit { at: now(), account, key, sha256, length };
        self.head = add_entry(tables, self.head, &event)?;
        let (entry, response) = (self.head.sequence, response.to_vec());
        tables.respond(&release.account, &release.key, entry, &response)?;
        let (committed, stored) = (Some(entry), Some(response.clone()));
        let after = Release { committed, response: stored, ..release.clone() };
        self.releases.change(place, release, after);
        Ok(Committed { entry, response, repeated: false, head: self.head })
    }

    /// Writes what was changed, if it still is what was read; where nothing was, the head once more, so that what is told
    /// waits for a sync of its own.
    fn write(self, tables: &mut Tables<'_>) -> Outcome<()> {
        for (_, before, after) in self.accounts.changes() {
            tables.charge_account(&before, &after.balance)?;
        }
        for (account, before, after) in self.slots.changes() {
            tables.use_slot(account, &before, after.used)?;
        }
        for (account, before, after) in self.shares.changes() {
            tables.charge_share(account, &before, &after.balance)?;
        }
        match self.repeats {
            _ if self.head != self.first => tables.move_head(self.first, self.head),
            true => tables.touch(self.head),
            false => Ok(()),
        }
    }
}
