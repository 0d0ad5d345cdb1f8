//! The account of a release. Its name is made of the study and the rows' fingerprint. Opening it is the debit.

use super::cost::cost;
use super::entries::{StudyRelease, entries, slot};
use super::error::ReleaseError;
use super::rows::table_of;
use crate::charge::text;
use counterpoint_budget::{Amount, GRID_PLACES};
use counterpoint_ledger::{FilterKind, Hash, Ledger, LedgerError, NewAccount, NewFilter};
use counterpoint_planner::{AccuracyTarget, QueryRequest, Statistic, StatisticContent};
use counterpoint_questions::CheckedQuestion;
use counterpoint_questions::public::TableText;
use counterpoint_studies::{StudyFile, StudyQuestion};
use counterpoint_wire::ledger::{AccountStatus, ReleaseRecord};
use serde::Serialize;

/// The data set that pays for a release, and the rows' fingerprint.
#[derive(Clone, Copy, Debug)]
pub struct ReleasePayer<'a> {
    /// The data set in the ledger. If it does not exist, it is created with the study's budget.
    pub dataset: &'a str,
    /// A keyed hash of the rows.
    pub fingerprint: Hash,
    /// True if the rows may differ from those of earlier releases.
    pub changed: bool,
}

/// The content that identifies a study.
#[derive(Serialize)]
struct StudyIdentity<'a> {
    version: u64,
    table: &'a TableText,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample_of: Option<u64>,
    epsilon: Option<f64>,
    delta: f64,
    statistics: Vec<(&'a str, Option<&'a CheckedQuestion>, f64, String)>,
}

/// The name of the account of a study of these rows.
pub(super) fn account_name<'a>(
    study: &'a StudyFile,
    payer: &ReleasePayer<'_>,
) -> Result<String, ReleaseError> {
    let statistic = |(statistic, question): (&'a Statistic, &'a Option<StudyQuestion>)| {
        let (confidence, target) = match &statistic.content {
            StatisticContent::Query(QueryRequest { confidence, target, .. }) => {
                (*confidence, wished(*target))
            }
            StatisticContent::HeldBack(share) => (0.0, format!("{share:?}")),
            StatisticContent::Public(number) => (0.0, format!("public {number:e}")),
        };
        (statistic.name.as_str(), question.as_ref().map(|one| &one.checked), confidence, target)
    };
    let statistics = study.study.statistics().iter().zip(&study.questions).map(statistic);
    let budget = study.study.budget();
    let same = StudyIdentity {
        version: 1,
        table: table_of(study)?.text(),
        sample_of: study.study.public().sample_of,
        epsilon: budget.epsilon.map(counterpoint::Epsilon::get),
        delta: budget.delta.get(),
        statistics: statistics.collect(),
    };
    let digest = text::digest(&same).map_err(ReleaseError::computation)?;
    Ok(format!("{}{}", prefix(payer.fingerprint), short(digest)))
}

fn wished(target: AccuracyTarget) -> String {
    match target {
        AccuracyTarget::Error(error) => format!("error {error:e}"),
        AccuracyTarget::PinnedError(error) => format!("kept {error:e}"),
        AccuracyTarget::PinnedLevel(level) => format!("level {level:e}"),
        AccuracyTarget::Weight(weight) => format!("weight {weight:e}"),
    }
}

/// The prefix of all accounts of releases.
const RELEASE: &str = "release-";

/// The prefix of the accounts of releases of these rows.
fn prefix(fingerprint: Hash) -> String {
    format!("{RELEASE}{}-", short(fingerprint))
}

/// The first 64 bits of a hash.
fn short(hash: Hash) -> String {
    hash.to_string().chars().take(16).collect()
}

/// Opens the account of a release unless it is open. Opening it is the debit.
pub(super) fn open(
    release: &StudyRelease<'_>,
    payer: &ReleasePayer<'_>,
    account: &str,
    ledger: &mut Ledger,
) -> Result<(), ReleaseError> {
    let status = ledger.status(None)?;
    let is_there = |name: &str| status.accounts.iter().any(|account| account.name == name);
    if is_there(account) {
        return check_same_plan(release, account, ledger);
    }
    let is_own = |one: &AccountStatus| one.parent.as_deref() == Some(payer.dataset);
    let is_same = |one: &AccountStatus| one.name.starts_with(&prefix(payer.fingerprint));
    if let Some(other) = status.accounts.iter().find(|one| is_same(one) && !is_own(one)) {
        let dataset = other.parent.clone().unwrap_or_default();
        return Err(ReleaseError::OtherName { dataset });
    }
    let is_release = |one: &&AccountStatus| is_own(one) && one.name.starts_with(RELEASE);
    let mut releases = status.accounts.iter().filter(is_release).peekable();
    let is_first = releases.peek().is_none();
    if !is_first && !releases.any(is_same) && !payer.changed {
        return Err(ReleaseError::Changed { dataset: payer.dataset.to_owned() });
    }
    if !is_there(payer.dataset) {
        let relation = release.study.study.public().relation;
        ok_if_exists(ledger.add_dataset(payer.dataset, relation, &first_budget(release)?))?;
    }
    let plan = NewAccount::Plan(release.plan.clone(), None);
    ok_if_exists(ledger.open_account(account, payer.dataset, &plan))?;
    check_same_plan(release, account, ledger)
}

/// Another process may have created it first.
fn ok_if_exists<T>(made: Result<T, LedgerError>) -> Result<(), LedgerError> {
    match made {
        Err(LedgerError::Exists { .. }) => Ok(()),
        made => made.map(drop),
    }
}

/// Returns an error if the open account has other slots than the plan.
fn check_same_plan(
    release: &StudyRelease<'_>,
    account: &str,
    ledger: &mut Ledger,
) -> Result<(), ReleaseError> {
    for entry in entries(release.study)? {
        let query = |slot: &ReleaseRecord| slot.recipe().map(|recipe| recipe.query().clone());
        let declared = ledger.slot_release(account, entry.name)?;
        if query(&declared) != query(&slot(release.plan, entry.name)?) {
            return Err(ReleaseError::OtherPlan { account: account.to_owned() });
        }
    }
    Ok(())
}

/// The budget of a data set at its first release: the declared one, else the study's. If the study has none, or its
/// promise relies on the secrecy of the sample, the budget is the plan's cost.
fn first_budget(release: &StudyRelease<'_>) -> Result<NewFilter, ReleaseError> {
    let study = &release.study.study;
    let declared = release.study.data.as_ref().and_then(|data| data.budget);
    let plain = study.public().sample_of.is_none();
    // The decimals as written, not the doubles next to them.
    let written = |number: f64| number.to_string().parse::<Amount>().ok();
    let (epsilon, delta) = match (declared, study.budget().epsilon) {
        (Some(budget), _) => (written(budget.epsilon.get()), written(budget.delta.get())),
        (None, Some(epsilon)) if plain => {
            (written(epsilon.get()), written(study.budget().delta.get()))
        }
        _ => {
            let (epsilon, delta) = cost(release)?;
            // The ledger charges the certified double itself, rounded up to its grid.
            (Amount::from_f64(epsilon).map(|epsilon| epsilon.ceil(GRID_PLACES)), written(delta))
        }
    };
    let (Some(epsilon), Some(delta)) = (epsilon, delta) else {
        return Err(ReleaseError::computation("the budget cannot be written as a decimal"));
    };
    Ok(NewFilter::new(FilterKind::Sums, epsilon, delta))
}
