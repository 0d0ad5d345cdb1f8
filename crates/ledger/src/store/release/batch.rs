//! Releases that are reserved and committed in one transaction: any number of them, one after the other.

use counterpoint_wire::ledger::{Asked, Event};

use super::lines::{Lines, RowName, row_names};
use super::steps::{Committed, Done, NewRelease, Reservation, Step};
use crate::rules::chain::{Hash, Head};
use crate::rules::debit::{self, Debit};
use crate::rules::error::{LedgerError, Result, damaged, unknown};
use crate::rules::rows::{Account, Alias, Release, Share, Slot};
use crate::store::database::{Row, Statement};
use crate::store::find::{unknown_key, unknown_slot};
use crate::store::ledger::{add_entry, now};
use crate::store::tables::Tables;
use crate::store::tables::cells;

/// The rows that a batch needs, and what it has changed.
struct Batch<'a> {
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
pub(super) fn reads(steps: &[Step]) -> Vec<Statement> {
    row_names(steps).into_iter().map(RowName::read).collect()
}

/// Whether accounts, slots and quotas as they are now allow releases at their prices. `rows` are those of [`reads`].
pub(super) fn check(head: Head, rows: Vec<Vec<Row>>, steps: &[Step]) -> Result<()> {
    let batch = Batch::new(head, rows, steps);
    steps.iter().try_for_each(|step| match step {
        Step::Reserve(new) => batch.debit(new).map(drop),
        _ => Ok(()),
    })
}

/// Does every step after the ones before it, each wholly or not at all. `rows` are those of [`reads`].
pub(super) fn apply(
    tables: &mut Tables<'_>,
    head: Head,
    rows: Vec<Vec<Row>>,
    steps: &[Step],
) -> Result<Vec<Result<Done>>> {
    let mut batch = Batch::new(head, rows, steps);
    let mut done = Vec::new();
    for step in steps {
        let before = tables.put_off();
        let outcome = match step {
            Step::Reserve(new) => batch.reserve(tables, new).map(Done::Reserved),
            Step::Alias { account, analyst, alias, key } => {
                let place = RowName::alias(account, analyst.as_ref(), alias);
                batch.alias(tables, place, RowName::Release(account, key)).map(Done::Named)
            }
            Step::Commit { account, key, response } => {
                batch.commit(tables, RowName::Release(account, key), response).map(Done::Committed)
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
    fn new(head: Head, rows: Vec<Vec<Row>>, steps: &'a [Step]) -> Self {
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
        for (place, rows) in row_names(steps).into_iter().zip(rows) {
            let row = rows.into_iter().next();
            match place {
                RowName::Account(_) => batch.accounts.insert(place, row),
                RowName::Slot(..) => batch.slots.insert(place, row),
                RowName::Share(..) => batch.shares.insert(place, row),
                RowName::Release(..) => batch.releases.insert(place, row),
                RowName::Alias(..) => batch.aliases.insert(place, row),
            }
        }
        batch
    }

    fn debit(&self, new: &NewRelease) -> Result<Found> {
        let place = RowName::Account(&new.account);
        let row = self.accounts.row(place).ok_or_else(|| damaged("an account is gone"))?;
        // The price is by the rule that was known.
        let read = new.known.now(row)?;
        let account = self.accounts.changed(place).unwrap_or(read);
        let slot = match &new.asked {
            Asked::Slot { name, .. } => {
                let slot = self.slots.now(RowName::Slot(&new.account, name))?;
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
    fn share(&self, account: &Account, analyst: Option<&str>) -> Result<Option<Share>> {
        if account.quotas == 0 {
            return Ok(None);
        }
        let legal = "--analyst with one who has a quota";
        let Some(analyst) = analyst else {
            return Err(account.unfit("has quotas and no analyst is named", legal));
        };
        let share = self.shares.now(RowName::Share(&account.name, analyst))?;
        share.ok_or_else(|| unknown("quota of analyst", analyst, legal)).map(Some)
    }

    /// What was reserved under a key that must be there.
    fn reserved(&self, place: RowName<'a>) -> Result<Release> {
        self.releases.now(place)?.ok_or_else(|| unknown_key(place.names()[1]))
    }

    fn reserve(&mut self, tables: &mut Tables<'_>, new: &'a NewRelease) -> Result<Reservation> {
        let alias = new.alias.as_ref();
        let alias = alias.map(|alias| RowName::alias(&new.account, new.analyst.as_ref(), alias));
        let alias = alias.map_or(Ok(None), |place| self.new_alias(place, &new.key))?;
        let place = RowName::Release(&new.account, &new.key);
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
            let place = RowName::Slot(&new.account, name);
            self.slots.change(place, slot.clone(), Slot { used, ..slot });
        }
        if let (Some(analyst), Some(share), Some(balance)) = (&new.analyst, share, debit.share) {
            let place = RowName::Share(&new.account, analyst);
            self.shares.change(place, share.clone(), Share { balance, ..share });
        }
        let after = Account { balance: debit.account, ..account.clone() };
        self.accounts.change(RowName::Account(&new.account), account, after);
        self.add_alias(tables, alias, &new.key)?;
        Ok(Reservation { entry, charge: Some(debit.charge), response: None, head: self.head })
    }

    /// What an earlier call came to. It waits for a sync as that one did: who made it may have died
    /// in between.
    fn repeated(&mut self, release: Release, digest: Hash) -> Result<Reservation> {
        if release.request != digest {
            return Err(LedgerError::KeyInUse { key: release.key });
        }
        self.repeats = true;
        let (entry, response) = (release.reserved, release.response);
        Ok(Reservation { entry, charge: None, response, head: self.head })
    }

    /// The place of an analyst's key if it is new; an error if it stands for another release.
    fn new_alias(&self, place: RowName<'a>, key: &str) -> Result<Option<RowName<'a>>> {
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
        place: Option<RowName<'a>>,
        key: &str,
    ) -> Result<()> {
        let Some(place @ RowName::Alias(account, analyst, alias)) = place else { return Ok(()) };
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
        place: RowName<'a>,
        release: RowName<'a>,
    ) -> Result<Head> {
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
        place: RowName<'a>,
        response: &[u8],
    ) -> Result<Committed> {
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
    fn write(self, tables: &mut Tables<'_>) -> Result<()> {
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
            true => tables.touch(self.head).map(drop),
            false => Ok(()),
        }
    }
}
