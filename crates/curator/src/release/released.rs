//! A planned study, released: charged to a ledger, drawn, stored, and only then published.
//!
//! The account of a release is named after its study and the fingerprint of its rows, so that the same study of the same rows
//! finds its account again: its numbers are told from the ledger, charge nothing and are drawn once, whatever happened in
//! between.

use super::account::{Charged, account_name, open};
use super::entries::{Release, check_release, readied, slot};
use super::error::ReleaseError;
use super::publish::{self, promise, publication, published};
use super::rows::table_of;
use crate::answer::{self, Due, Payer, Stages};
use crate::engine::{Dummy, Failed, Held};
use counterpoint_ledger::Pool;
use counterpoint_wire::publication::{LedgerPlace, Publication};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// So long all statistics together may take, each.
const LIMIT: Duration = Duration::from_secs(3600);

/// Releases a study: what was not stored is debited, drawn and stored, and what is stored is published.
///
/// # Errors
/// [`ReleaseError`]. What was charged stays charged; the same study released again continues where it stopped.
pub fn release(
    release: &Release<'_>,
    charged: &Charged<'_>,
    pool: &Pool,
    held: &Held,
) -> Result<Publication, ReleaseError> {
    check_release(release, held)?;
    let account = account_name(release.study, charged)?;
    pool.with(|ledger| open(release, charged, &account, ledger))?;
    // What the account was opened with is what is drawn, whatever the plan is by now.
    let declared = |name: &str| Ok(pool.with(|ledger| ledger.declared(&account, name))?);
    let entries = readied(release.study, held, declared)?;
    let payer = Payer { account: &account, analyst: None, alias: None };
    let due: Vec<Due<'_>> = entries.iter().map(|(_, ready)| Due { held, ready, payer }).collect();
    let told = answer::tell_all(pool, &due, LIMIT, &Stages::default());
    let mut statistics = Vec::with_capacity(entries.len());
    for ((entry, ready), told) in entries.iter().zip(told) {
        let numbers = told?.numbers(ready, entry.confidence).map_err(ReleaseError::untold)?;
        statistics.push((entry.index, published(entry, ready, &numbers, release.study)?));
    }
    let status = pool.with(|ledger| ledger.status(None))?;
    let find = |name: &str| status.accounts.iter().find(|account| account.name == name);
    let budget = find(charged.dataset).and_then(publish::budget);
    let promised = find(&account).map(|account| &account.promise);
    let privacy = promise(release, promised, budget)?;
    let ledger = Some(LedgerPlace { account, head: status.head });
    publication(release, charged.dataset, statistics, (privacy, ledger))
}

/// The same from rows that are made up from what is public: nothing is charged or stored, and the numbers say nothing about
/// anybody.
///
/// # Errors
/// [`ReleaseError`], naming the statistic.
pub fn rehearse_release(release: &Release<'_>) -> Result<Publication, ReleaseError> {
    let public = table_of(release.study)?;
    let failed = |failed: Failed| ReleaseError::MadeUp(failed.why);
    let dummy = Dummy::of(public).map_err(failed)?;
    let (mut statistics, mut counts) = (Vec::new(), BTreeMap::new());
    for (entry, ready) in readied(release.study, &dummy.held, |name| slot(release.plan, name))? {
        let deadline = Instant::now() + LIMIT;
        let counted = dummy.held.count(&[ready.tabulation()], deadline).map_err(failed)?;
        let shared = ready.count().and_then(|count| counts.get(count.key()));
        let shared = shared.map(|drawn: &Vec<_>| answer::counts(drawn)).transpose();
        let shared = shared.map_err(failed)?;
        let drawn = answer::drawn(ready.measured(), counted.concat(), shared.as_deref());
        let drawn = drawn.map_err(failed)?;
        let measured = (ready.checked(), ready.measured());
        let numbers =
            answer::numbers(&drawn, measured, entry.confidence).map_err(ReleaseError::untold)?;
        statistics.push((entry.index, published(&entry, &ready, &numbers, release.study)?));
        counts.insert(ready.key().to_owned(), drawn);
    }
    publication(release, public.name(), statistics, (promise(release, None, None)?, None))
}
