//! What a ledger tells.

use std::collections::BTreeSet;

use anyhow::Result;
use counterpoint_ledger::{Ledger, Verification};
use counterpoint_report::ledger as tables;
use counterpoint_wire::ledger::{AccountStatus, Export, History, Verified};

use super::args::{PartArgs, SessionArgs};
use super::{no, told};
use crate::output::Outcome;

/// Of a data set with all that is under it, of one account in full, or of all.
pub(super) fn status(ledger: &mut Ledger, account: Option<&str>, json: bool) -> Result<Outcome> {
    let mut status = ledger.status(account)?;
    if let (Some(name), [one]) = (account, status.accounts.as_mut_slice()) {
        one.spent_epsilon = ledger.spent_epsilon(name)?;
        one.room = ledger.room(name, None)?;
        if one.parent.is_none() {
            let all = ledger.status(None)?.accounts;
            status.accounts.extend(beneath(name, all));
        }
    }
    let pending = ledger.pending(None)?.pending;
    told(json, || status.json(), || tables::status(&status, &pending))
}

/// The accounts under a data set, however deep. Parents are older than what is under them.
fn beneath(dataset: &str, all: Vec<AccountStatus>) -> Vec<AccountStatus> {
    let mut families = BTreeSet::from([dataset.to_owned()]);
    let mut is_beneath = |account: &AccountStatus| {
        let known = account.parent.as_ref().is_some_and(|parent| families.contains(parent));
        if known {
            families.insert(account.name.clone());
        }
        known
    };
    all.into_iter().filter(|account| is_beneath(account)).collect()
}

/// Of an open account or a data set.
pub(super) fn odometer(ledger: &mut Ledger, account: &str, json: bool) -> Result<Outcome> {
    let read = ledger.odometer(account)?;
    told(json, || read.json(), || tables::odometer(&read))
}

pub(super) fn pending(ledger: &mut Ledger, account: Option<&str>, json: bool) -> Result<Outcome> {
    let pending = ledger.pending(account)?;
    told(json, || pending.json(), || tables::pending(&pending))
}

pub(super) fn session(ledger: &mut Ledger, args: &SessionArgs, json: bool) -> Result<Outcome> {
    let session = ledger.session_status(&args.account, &args.key)?;
    told(json, || session.json(), || tables::session(&session))
}

pub(super) fn history(ledger: &mut Ledger, args: &PartArgs, json: bool) -> Result<Outcome> {
    let mut entries = Vec::new();
    let (account, analyst) = (args.account.as_deref(), args.analyst.as_deref());
    let head = ledger.history(account, analyst, |entry| entries.push(entry))?.to_string();
    let history = History { head, entries };
    let accounts = ledger.status(None)?.accounts;
    let units = accounts.into_iter().map(|account| (account.name, account.unit)).collect();
    told(json, || history.json(), || tables::history(&history.entries, &units, &history.head))
}

pub(super) fn responses(ledger: &mut Ledger, args: &PartArgs, json: bool) -> Result<Outcome> {
    let responses = ledger.responses(args.account.as_deref(), args.analyst.as_deref())?;
    told(json, || responses.json(), || tables::responses(&responses))
}

pub(super) fn export(ledger: &mut Ledger) -> Result<Outcome> {
    let mut entries = Vec::new();
    let (head, responses) = ledger.export(|entry| entries.push(entry))?;
    let export = Export { version: 2, head: head.to_string(), entries, responses };
    Ok(Outcome::json(export.json()?))
}

pub(super) fn verified(verification: &Verification, json: bool) -> Result<Outcome> {
    if let Some(problem) = &verification.problem {
        return no("broken", format!("verification failed: {problem}"), None, json);
    }
    let verified = Verified {
        outcome: "verified",
        head: verification.head.to_string(),
        expected: verification.expected.map(|head| head.to_string()),
        not_excluded: not_excluded(verification),
    };
    told(json, || verified.json(), || tables::verified(&verified))
}

/// What a consistent history does not rule out.
fn not_excluded(verification: &Verification) -> Vec<String> {
    let Some(expected) = verification.expected else {
        return vec![
            "that the newest entries were cut off, or an old backup restored".to_owned(),
            "that the whole history was made up by somebody with write access".to_owned(),
        ];
    };
    if expected == verification.head {
        return Vec::new();
    }
    vec![format!("that entries after {} were cut off or made up", expected.sequence)]
}
