//! The commands that show a ledger's content.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use counterpoint_ledger::{Checkpoint, ExportItem, Head, Ledger, Verification};
use counterpoint_report::ledger as tables;
use counterpoint_wire::ledger::{AccountStatus, ExportWriter, History, VerifyResult};

use super::args::{HistorySelectionArgs, SessionArgs};
use super::{definite_no, show};
use crate::output::{Outcome, stream};

/// Shows a data set with everything under it, one account in full, or all accounts.
pub(super) fn status(ledger: &mut Ledger, account: Option<&str>, json: bool) -> Result<Outcome> {
    let mut status = ledger.status(account)?;
    if let (Some(name), [one]) = (account, status.accounts.as_mut_slice()) {
        one.spent_epsilon = ledger.spent_epsilon(name)?;
        one.room = ledger.room(name, None)?;
        if one.parent.is_none() {
            let all = ledger.status(None)?.accounts;
            status.accounts.extend(accounts_under(name, all));
        }
    }
    let pending = ledger.pending(None)?.pending;
    show(json, || status.json(), || tables::status(&status, &pending))
}

/// All accounts under a data set, at any depth. A parent is listed before its children.
fn accounts_under(dataset: &str, all: Vec<AccountStatus>) -> Vec<AccountStatus> {
    let mut families = BTreeSet::from([dataset.to_owned()]);
    let mut is_under = |account: &AccountStatus| {
        let known = account.parent.as_ref().is_some_and(|parent| families.contains(parent));
        if known {
            families.insert(account.name.clone());
        }
        known
    };
    all.into_iter().filter(|account| is_under(account)).collect()
}

/// Shows the odometer of an open account or a data set.
pub(super) fn odometer(ledger: &mut Ledger, account: &str, json: bool) -> Result<Outcome> {
    let read = ledger.odometer(account)?;
    show(json, || read.json(), || tables::odometer(&read))
}

pub(super) fn pending(ledger: &mut Ledger, account: Option<&str>, json: bool) -> Result<Outcome> {
    let pending = ledger.pending(account)?;
    show(json, || pending.json(), || tables::pending(&pending))
}

pub(super) fn session(ledger: &mut Ledger, args: &SessionArgs, json: bool) -> Result<Outcome> {
    let session = ledger.session_status(&args.account, &args.key)?;
    show(json, || session.json(), || tables::session(&session))
}

pub(super) fn history(
    ledger: &mut Ledger,
    args: &HistorySelectionArgs,
    json: bool,
) -> Result<Outcome> {
    let mut entries = Vec::new();
    let (account, analyst) = (args.account.as_deref(), args.analyst.as_deref());
    let head = ledger.history(account, analyst, |entry| entries.push(entry))?.to_string();
    let history = History { head, entries };
    let accounts = ledger.status(None)?.accounts;
    let units = accounts.into_iter().map(|account| (account.name, account.unit)).collect();
    show(json, || history.json(), || tables::history(&history.entries, &units, &history.head))
}

pub(super) fn responses(
    ledger: &mut Ledger,
    args: &HistorySelectionArgs,
    json: bool,
) -> Result<Outcome> {
    let (account, analyst) = (args.account.as_deref(), args.analyst.as_deref());
    if !json {
        return stream(|out| list_responses(ledger, account, analyst, out));
    }
    stream(|out| {
        let mut writer = ExportWriter::responses(out);
        ledger.each_response(account, analyst, |part| add(&mut writer, part))?;
        Ok(writeln!(writer.end()?)?)
    })
}

/// The number of responses of a table that are formatted at a time.
const LINES_PER_WRITE: usize = 1000;

fn list_responses(
    ledger: &mut Ledger,
    account: Option<&str>,
    analyst: Option<&str>,
    out: &mut impl Write,
) -> Result<()> {
    let (mut lines, mut is_first) = (Vec::new(), true);
    let head = ledger.each_response(account, analyst, |part| {
        if let ExportItem::Response(response) = part {
            lines.push(response);
        }
        if lines.len() == LINES_PER_WRITE {
            out.write_all(tables::responses(&lines, is_first).as_bytes())?;
            lines.clear();
            is_first = false;
        }
        Ok::<_, anyhow::Error>(())
    })?;
    out.write_all(tables::responses(&lines, is_first).as_bytes())?;
    Ok(out.write_all(tables::responses_end(&head.to_string()).as_bytes())?)
}

pub(super) fn export(ledger: &mut Ledger, with_responses: bool) -> Result<Outcome> {
    stream(|out| {
        let writer = if with_responses {
            let mut writer = ExportWriter::export(out);
            ledger.export(|part| add(&mut writer, part))?;
            writer
        } else {
            let mut writer = ExportWriter::entries(out);
            ledger.export_entries(|part| add(&mut writer, part))?;
            writer
        };
        Ok(writeln!(writer.end()?)?)
    })
}

fn add<W: Write>(writer: &mut ExportWriter<W>, part: ExportItem) -> Result<()> {
    match part {
        ExportItem::Head(head) => writer.head(&head.to_string())?,
        ExportItem::Entry(entry) => writer.entry(&entry)?,
        ExportItem::Response(response) => writer.response(&response)?,
        _ => {}
    }
    Ok(())
}

/// Verifies the history from the checkpoint in a file, if it exists, and replaces the checkpoint.
pub(super) fn verify(
    ledger: &mut Ledger,
    file: Option<&Path>,
    expected: Option<Head>,
    json: bool,
) -> Result<Outcome> {
    let known = match file {
        Some(file) if file.symlink_metadata().is_ok() => Some(Checkpoint::load(file)?),
        _ => None,
    };
    let (verification, checkpoint) = ledger.verify_from(known.as_ref(), expected)?;
    if let (Some(file), Some(checkpoint)) = (file, checkpoint) {
        checkpoint.save(file)?;
    }
    verification_outcome(&verification, json)
}

fn verification_outcome(verification: &Verification, json: bool) -> Result<Outcome> {
    if let Some(problem) = &verification.problem {
        return definite_no("broken", format!("verification failed: {problem}"), None, json);
    }
    let verified = VerifyResult {
        outcome: "verified",
        head: verification.head.to_string(),
        expected: verification.expected.map(|head| head.to_string()),
        after: verification.after.map(|head| head.to_string()),
        not_excluded: not_excluded(verification),
    };
    show(json, || verified.json(), || tables::verified(&verified))
}

/// The manipulations that a consistent history does not rule out.
fn not_excluded(verification: &Verification) -> Vec<String> {
    let mut list = Vec::new();
    if verification.lacks_secrets {
        list.push("that private states were changed: the file holds only their digests".to_owned());
    }
    if let Some(after) = verification.after {
        list.push(format!(
            "that entries before {0}, or responses, answers, sessions and aliases finished by then, were changed after entry {0} was \
             verified: they were counted, but not read; verify without a checkpoint to read them",
            after.sequence
        ));
    }
    // The last verified entry rules out the same changes as an expected entry.
    let known = verification.expected.into_iter().chain(verification.after);
    match known.map(|head| head.sequence).max() {
        None => list.extend([
            "that the newest entries were cut off, or an old backup restored".to_owned(),
            "that the whole history was forged by somebody with write access".to_owned(),
        ]),
        Some(last) if last == verification.head.sequence => {}
        Some(last) => list.push(format!("that entries after {last} were cut off or forged")),
    }
    list
}
