//! The account of a release: named after its study and its rows, and opened once, which is the debit.

use super::composed::cost;
use super::entries::{Release, entries, slot};
use super::error::ReleaseError;
use super::rows::table_of;
use crate::charge::text;
use counterpoint_budget::Amount;
use counterpoint_ledger::{Hash, Kind, Ledger, LedgerError, NewAccount, NewFilter};
use counterpoint_planner::{Ask, Statistic, Wanted, Wish};
use counterpoint_questions::Checked;
use counterpoint_questions::public::TableText;
use counterpoint_wire::ledger::{AccountStatus, Described};
use counterpoint_wire::{StudyFile, StudyQuestion};
use serde::Serialize;

/// Who pays for a release.
#[derive(Clone, Copy, Debug)]
pub struct Charged<'a> {
    /// The data set of the ledger. It is made if it is not there, with the study's budget.
    pub dataset: &'a str,
    /// A keyed hash of the rows.
    pub fingerprint: Hash,
    /// Whether the rows may be others than those of earlier releases.
    pub changed: bool,
}

/// What makes two studies the same.
#[derive(Serialize)]
struct Same<'a> {
    version: u64,
    table: &'a TableText,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample_of: Option<u64>,
    epsilon: Option<f64>,
    delta: f64,
    statistics: Vec<(&'a str, Option<&'a Checked>, f64, String)>,
}

/// The account of a study of some rows.
pub(super) fn account_name<'a>(
    study: &'a StudyFile,
    charged: &Charged<'_>,
) -> Result<String, ReleaseError> {
    let statistic = |(statistic, question): (&'a Statistic, &'a Option<StudyQuestion>)| {
        let (confidence, wish) = match &statistic.ask {
            Ask::Query(Wanted { confidence, wish, .. }) => (*confidence, wished(*wish)),
            Ask::HeldBack(share) => (0.0, format!("{share:?}")),
            Ask::Public(number) => (0.0, format!("public {number:e}")),
        };
        (statistic.name.as_str(), question.as_ref().map(|one| &one.checked), confidence, wish)
    };
    let statistics = study.study.statistics().iter().zip(&study.questions).map(statistic);
    let budget = study.study.budget();
    let same = Same {
        version: 1,
        table: table_of(study)?.text(),
        sample_of: study.study.public().sample_of,
        epsilon: budget.epsilon.map(counterpoint::Epsilon::get),
        delta: budget.delta.get(),
        statistics: statistics.collect(),
    };
    let digest = text::digest(&same).map_err(ReleaseError::untold)?;
    Ok(format!("{}{}", prefix(charged.fingerprint), short(digest)))
}

fn wished(wish: Wish) -> String {
    match wish {
        Wish::Error(error) => format!("error {error:e}"),
        Wish::Kept(error) => format!("kept {error:e}"),
        Wish::Level(level) => format!("level {level:e}"),
        Wish::Weight(weight) => format!("weight {weight:e}"),
    }
}

/// What the accounts of releases begin with.
const RELEASE: &str = "release-";

/// What the accounts of releases of these rows begin with.
fn prefix(fingerprint: Hash) -> String {
    format!("{RELEASE}{}-", short(fingerprint))
}

/// The first 64 bits of a hash.
fn short(hash: Hash) -> String {
    hash.to_string().chars().take(16).collect()
}

/// Opens the account of a release, if it is not open: that is the debit.
pub(super) fn open(
    release: &Release<'_>,
    charged: &Charged<'_>,
    account: &str,
    ledger: &mut Ledger,
) -> Result<(), ReleaseError> {
    let status = ledger.status(None)?;
    let is_there = |name: &str| status.accounts.iter().any(|account| account.name == name);
    if is_there(account) {
        return is_planned_alike(release, account, ledger);
    }
    let is_own = |one: &AccountStatus| one.parent.as_deref() == Some(charged.dataset);
    let is_same = |one: &AccountStatus| one.name.starts_with(&prefix(charged.fingerprint));
    if let Some(other) = status.accounts.iter().find(|one| is_same(one) && !is_own(one)) {
        let dataset = other.parent.clone().unwrap_or_default();
        return Err(ReleaseError::OtherName { dataset });
    }
    let is_release = |one: &&AccountStatus| is_own(one) && one.name.starts_with(RELEASE);
    let mut releases = status.accounts.iter().filter(is_release).peekable();
    let is_first = releases.peek().is_none();
    if !is_first && !releases.any(is_same) && !charged.changed {
        return Err(ReleaseError::Changed { dataset: charged.dataset.to_owned() });
    }
    if !is_there(charged.dataset) {
        let relation = release.study.study.public().relation;
        unless_there(ledger.dataset(charged.dataset, relation, &first_budget(release)?))?;
    }
    let plan = NewAccount::Plan(release.plan.clone(), None);
    unless_there(ledger.open_account(account, charged.dataset, &plan))?;
    is_planned_alike(release, account, ledger)
}

/// Another process may have been quicker.
fn unless_there<T>(made: Result<T, LedgerError>) -> Result<(), LedgerError> {
    match made {
        Err(LedgerError::Exists { .. }) => Ok(()),
        made => made.map(drop),
    }
}

/// An error if an account that is open has other slots than the plan.
fn is_planned_alike(
    release: &Release<'_>,
    account: &str,
    ledger: &mut Ledger,
) -> Result<(), ReleaseError> {
    for entry in entries(release.study)? {
        let query = |slot: &Described| slot.recipe().map(|recipe| recipe.query().clone());
        let declared = ledger.declared(account, entry.name)?;
        if query(&declared) != query(&slot(release.plan, entry.name)?) {
            return Err(ReleaseError::OtherPlan { account: account.to_owned() });
        }
    }
    Ok(())
}

/// The budget of a data set whose first release this is: the one that is declared for it, or that of the study, or what the plan
/// costs where the study has none, or where secrecy of the sample is part of what it promises.
fn first_budget(release: &Release<'_>) -> Result<NewFilter, ReleaseError> {
    let study = &release.study.study;
    let declared = release.study.data.as_ref().and_then(|data| data.budget);
    let plain = study.public().sample_of.is_none();
    let (epsilon, delta) = match (declared, study.budget().epsilon) {
        (Some(budget), _) => (budget.epsilon.get(), budget.delta.get()),
        (None, Some(epsilon)) if plain => (epsilon.get(), study.budget().delta.get()),
        _ => cost(release)?,
    };
    // As they are written, not as the doubles next to that.
    let amount = |number: f64| number.to_string().parse::<Amount>();
    match (amount(epsilon), amount(delta)) {
        (Ok(epsilon), Ok(delta)) => Ok(NewFilter::new(Kind::Sums, epsilon, delta)),
        _ => Err(ReleaseError::untold("the budget cannot be written as a decimal")),
    }
}
