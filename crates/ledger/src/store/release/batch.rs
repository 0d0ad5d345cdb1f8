//! Batches: any number of reservations, commits and aliases in one transaction, one after the other.

use counterpoint_wire::ledger::{Event, ReleaseRequest};

use super::lines::{CachedRows, RowName, row_names};
use super::steps::{NewRelease, Reservation, Step, StepOutcome, StoredResponse};
use crate::rules::chain::{Hash, Head};
use crate::rules::debit::{self, Debit};
use crate::rules::error::{LedgerError, Result, damaged, unknown};
use crate::rules::rows::{Account, Alias, QuotaRow, Release, Slot};
use crate::store::database::{Row, Statement};
use crate::store::find::{unknown_key, unknown_slot};
use crate::store::ledger::{add_entry, now};
use crate::store::tables::Tables;
use crate::store::tables::cells;

/// The rows that a batch needs, with its changes.
struct Batch<'a> {
    first: Head,
    head: Head,
    /// True if the batch returns rows that another caller wrote. They must be durable first.
    repeats: bool,
    accounts: CachedRows<'a, Account>,
    slots: CachedRows<'a, Slot>,
    quotas: CachedRows<'a, QuotaRow>,
    releases: CachedRows<'a, Release>,
    aliases: CachedRows<'a, Alias>,
}

/// The statements that read the rows which steps need.
pub(super) fn reads(steps: &[Step]) -> Vec<Statement> {
    row_names(steps).into_iter().map(RowName::read).collect()
}

/// Checks that accounts, slots and quotas admit releases at their charges now. `rows` are those of [`reads`].
pub(super) fn check(head: Head, rows: Vec<Vec<Row>>, steps: &[Step]) -> Result<()> {
    let batch = Batch::new(head, rows, steps);
    steps.iter().try_for_each(|step| match step {
        Step::Reserve(new) => batch.debit(new).map(drop),
        _ => Ok(()),
    })
}

/// Runs every step after the ones before it; each happens wholly or not at all. `rows` are those of [`reads`].
pub(super) fn apply(
    tables: &mut Tables<'_>,
    head: Head,
    rows: Vec<Vec<Row>>,
    steps: &[Step],
) -> Result<Vec<Result<StepOutcome>>> {
    let mut batch = Batch::new(head, rows, steps);
    let mut done = Vec::new();
    for step in steps {
        let before = tables.pending_writes();
        let outcome = match step {
            Step::Reserve(new) => batch.reserve(tables, new).map(StepOutcome::Reserved),
            Step::Alias { account, analyst, alias, key } => {
                let place = RowName::alias(account, analyst.as_ref(), alias);
                batch.alias(tables, place, RowName::Release(account, key)).map(StepOutcome::Aliased)
            }
            Step::Commit { account, key, response } => batch
                .commit(tables, RowName::Release(account, key), response)
                .map(StepOutcome::Committed),
        };
        match outcome {
            // Some writes of the failed step may be pending, so the whole transaction fails.
            Err(error) if tables.pending_writes() != before => return Err(error),
            outcome => done.push(outcome),
        }
    }
    batch.write(tables)?;
    Ok(done)
}

/// The rows that pay for a release, and the debit.
struct Payment {
    account: Account,
    slot: Option<Slot>,
    quota: Option<QuotaRow>,
    debit: Debit,
}

impl<'a> Batch<'a> {
    /// A batch with the rows that [`reads`] read.
    fn new(head: Head, rows: Vec<Vec<Row>>, steps: &'a [Step]) -> Self {
        let mut batch = Self {
            first: head,
            head,
            repeats: false,
            accounts: CachedRows::new(cells::account),
            slots: CachedRows::new(cells::slot),
            quotas: CachedRows::new(cells::quota),
            releases: CachedRows::new(cells::release),
            aliases: CachedRows::new(cells::alias),
        };
        for (place, rows) in row_names(steps).into_iter().zip(rows) {
            let row = rows.into_iter().next();
            match place {
                RowName::Account(_) => batch.accounts.insert(place, row),
                RowName::Slot(..) => batch.slots.insert(place, row),
                RowName::Quota(..) => batch.quotas.insert(place, row),
                RowName::Release(..) => batch.releases.insert(place, row),
                RowName::Alias(..) => batch.aliases.insert(place, row),
            }
        }
        batch
    }

    fn debit(&self, new: &NewRelease) -> Result<Payment> {
        let place = RowName::Account(&new.account);
        let row = self.accounts.row(place).ok_or_else(|| damaged("an account is missing"))?;
        // The charge was computed by the rule in `known`, so the row must still have that rule.
        let read = new.known.now(row)?;
        let account = self.accounts.changed(place).unwrap_or(read);
        let slot = match &new.asked {
            ReleaseRequest::Slot { name, .. } => {
                let slot = self.slots.now(RowName::Slot(&new.account, name))?;
                Some(slot.ok_or_else(|| unknown_slot(name))?)
            }
            _ => None,
        };
        let quota = self.quota(&account, new.analyst.as_deref())?;
        let charge = new.charge.clone();
        let debit = debit::reserve(&account, slot.as_ref(), quota.as_ref(), &new.asked, charge)?;
        Ok(Payment { account, slot, quota, debit })
    }

    /// The quota that is to be charged. An account with quotas requires one.
    fn quota(&self, account: &Account, analyst: Option<&str>) -> Result<Option<QuotaRow>> {
        if account.quotas == 0 {
            return Ok(None);
        }
        let legal = "--analyst with one who has a quota";
        let Some(analyst) = analyst else {
            return Err(account.unfit("has quotas and no analyst is named", legal));
        };
        let quota = self.quotas.now(RowName::Quota(&account.name, analyst))?;
        quota.ok_or_else(|| unknown("quota of analyst", analyst, legal)).map(Some)
    }

    /// The release that was reserved under a key, or the error that there is none.
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
        let Payment { account, slot, quota, debit } = self.debit(new)?;
        let event = Event::Reserve {
            at: now(),
            account: new.account.clone(),
            key: new.key.clone(),
            analyst: new.analyst.clone(),
            session: new.session,
            question: new.question.map(|question| question.to_string()),
            own: new.owner_mechanism.clone(),
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
        if let (ReleaseRequest::Slot { name, .. }, Some(slot), Some(used)) =
            (&new.asked, slot, debit.used)
        {
            let place = RowName::Slot(&new.account, name);
            self.slots.change(place, slot.clone(), Slot { used, ..slot });
        }
        if let (Some(analyst), Some(quota), Some(balance)) = (&new.analyst, quota, debit.quota) {
            let place = RowName::Quota(&new.account, analyst);
            self.quotas.change(place, quota.clone(), QuotaRow { balance, ..quota });
        }
        let after = Account { balance: debit.account, ..account.clone() };
        self.accounts.change(RowName::Account(&new.account), account, after);
        self.add_alias(tables, alias, &new.key)?;
        Ok(Reservation { entry, charge: Some(debit.charge), response: None, head: self.head })
    }

    /// The reservation of an earlier call with the same key. The transaction syncs again, because the process that made
    /// the reservation may have died before its sync.
    fn repeated(&mut self, release: Release, digest: Hash) -> Result<Reservation> {
        if release.request != digest {
            return Err(LedgerError::KeyInUse { key: release.key });
        }
        self.repeats = true;
        let (entry, response) = (release.reserved, release.response);
        Ok(Reservation { entry, charge: None, response, head: self.head })
    }

    /// The name of the row of an analyst's own key if the key is new; an error if it stands for another release.
    fn new_alias(&self, place: RowName<'a>, key: &str) -> Result<Option<RowName<'a>>> {
        match self.aliases.now(place)? {
            None => Ok(Some(place)),
            Some(alias) if alias.key == key => Ok(None),
            Some(_) => Err(LedgerError::AliasInUse),
        }
    }

    /// Lets an analyst's own key, if it is new, stand for a release.
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
    ) -> Result<StoredResponse> {
        let release = self.reserved(place)?;
        if release.session {
            let (key, problem) = (release.key, "is a session's".to_owned());
            return Err(LedgerError::UnfitKey { key, problem, legal: "its answers" });
        }
        if let (Some(entry), Some(response)) = (release.committed, &release.response) {
            self.repeats = true;
            let response = response.clone();
            return Ok(StoredResponse { entry, response, repeated: true, head: self.head });
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
        Ok(StoredResponse { entry, response, repeated: false, head: self.head })
    }

    /// Writes the changed rows, provided that the stored rows still are what was read. If nothing changed and the batch
    /// returns earlier rows, writes the head once more, so that the commit syncs them.
    fn write(self, tables: &mut Tables<'_>) -> Result<()> {
        for (_, before, after) in self.accounts.changes() {
            tables.charge_account(&before, &after.balance)?;
        }
        for (account, before, after) in self.slots.changes() {
            tables.use_slot(account, &before, after.used)?;
        }
        for (account, before, after) in self.quotas.changes() {
            tables.charge_quota(account, &before, &after.balance)?;
        }
        match self.repeats {
            _ if self.head != self.first => tables.move_head(self.first, self.head),
            true => tables.touch(self.head).map(drop),
            false => Ok(()),
        }
    }
}
