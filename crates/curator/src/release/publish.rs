//! Releases a planned study: debits, draws, stores, and only then publishes.
//!
//! The account's name is made of the study and the fingerprint of its rows. So the same study of the same rows finds
//! its account again: its numbers are read from the ledger, charged once and drawn once, even after a crash.

use super::account::{ReleasePayer, account_name, open};
use super::entries::{StudyRelease, check_release, prepared_entries, slot};
use super::error::ReleaseError;
use super::publication::{self, promise, publication, published};
use super::rows::table_of;
use crate::answer::{self, BatchItem, Payer, StageTimes};
use crate::engine::{DummyTable, EngineError, OpenTable};
use counterpoint_ledger::Pool;
use counterpoint_wire::publication::{LedgerLocation, Publication};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time limit of each statistic.
const LIMIT: Duration = Duration::from_secs(3600);

/// Releases a study. Debits, draws and stores the statistics that have no stored answer, and publishes the stored
/// answers.
///
/// # Errors
/// [`ReleaseError`]. A charge stays charged; releasing the same study again continues where this call failed.
pub fn release(
    release: &StudyRelease<'_>,
    data_payer: &ReleasePayer<'_>,
    pool: &Pool,
    table: &OpenTable,
) -> Result<Publication, ReleaseError> {
    check_release(release, table)?;
    let account = account_name(release.study, data_payer)?;
    pool.with(|ledger| open(release, data_payer, &account, ledger))?;
    // The noise is that of the slots that the account was opened with, even if the plan has changed since.
    let declared = |name: &str| Ok(pool.with(|ledger| ledger.slot_release(&account, name))?);
    let entries = prepared_entries(release.study, table, declared)?;
    let payer = Payer { account: &account, analyst: None, alias: None };
    let items: Vec<BatchItem<'_>> = entries
        .iter()
        .map(|(_, prepared)| BatchItem { table, question: prepared, payer })
        .collect();
    let answers = answer::answer_batch(pool, &items, LIMIT, &StageTimes::default());
    let mut statistics = Vec::with_capacity(entries.len());
    for ((entry, prepared), answer) in entries.iter().zip(answers) {
        let numbers =
            answer?.numbers(prepared, entry.confidence).map_err(ReleaseError::computation)?;
        statistics.push((entry.index, published(entry, prepared, &numbers, release.study)?));
    }
    let status = pool.with(|ledger| ledger.status(None))?;
    let find = |name: &str| status.accounts.iter().find(|account| account.name == name);
    let budget = find(data_payer.dataset).and_then(publication::budget);
    let promised = find(&account).map(|account| &account.promise);
    let privacy = promise(release, promised, budget)?;
    let ledger = Some(LedgerLocation { account, head: status.head });
    publication(release, data_payer.dataset, statistics, (privacy, ledger))
}

/// Rehearses a release with made-up rows. Charges and stores nothing, and the numbers reveal nothing about anybody.
///
/// # Errors
/// [`ReleaseError`], naming the statistic.
pub fn rehearse_release(release: &StudyRelease<'_>) -> Result<Publication, ReleaseError> {
    let public = table_of(release.study)?;
    let failed = |failed: EngineError| ReleaseError::MadeUp(failed.why);
    let dummy = DummyTable::of(public).map_err(failed)?;
    let (mut statistics, mut counts) = (Vec::new(), BTreeMap::new());
    for (entry, prepared) in
        prepared_entries(release.study, &dummy.table, |name| slot(release.plan, name))?
    {
        let deadline = Instant::now() + LIMIT;
        let counted = dummy.table.count(&[prepared.tabulation()], deadline).map_err(failed)?;
        let shared = prepared.shared_count().and_then(|count| counts.get(count.key()));
        let shared = shared.map(|drawn: &Vec<_>| answer::noisy_counts(drawn)).transpose();
        let shared = shared.map_err(failed)?;
        let drawn =
            answer::draw_answer(prepared.measurements(), counted.concat(), shared.as_deref());
        let drawn = drawn.map_err(failed)?;
        let measurements = (prepared.checked(), prepared.measurements());
        let numbers = answer::numbers(&drawn, measurements, entry.confidence)
            .map_err(ReleaseError::computation)?;
        statistics.push((entry.index, published(&entry, &prepared, &numbers, release.study)?));
        counts.insert(prepared.key().to_owned(), drawn);
    }
    publication(release, public.name(), statistics, (promise(release, None, None)?, None))
}
