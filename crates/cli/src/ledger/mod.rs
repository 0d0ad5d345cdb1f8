//! `counterpoint ledger`.

mod args;
mod release;
mod setup;
mod show;

use std::path::Path;

use anyhow::{Result, bail};
use counterpoint_ledger::{Head, Ledger, LedgerError, OpenOptions, Refusal, Url};
use counterpoint_wire::ledger::{Completion, Failure, Shortfall};

pub(crate) use args::LedgerArgs;
use args::LedgerCommand;

use crate::output::Outcome;

pub(crate) fn run(args: &LedgerArgs) -> Result<Outcome> {
    let outcome = outcome(args);
    let Err(error) = outcome else { return outcome };
    match error.downcast_ref::<LedgerError>() {
        Some(LedgerError::Refused(refusal)) => {
            definite_no("refused", refusal.to_string(), Some(shortfall(refusal)), args.json)
        }
        Some(LedgerError::OtherHistory { .. }) => {
            definite_no("broken", error.to_string(), None, args.json)
        }
        _ => Err(error),
    }
}

fn shortfall(refusal: &Refusal) -> Shortfall {
    Shortfall {
        budget: refusal.place.clone(),
        total: refusal.what.clone(),
        requested: refusal.asked.clone(),
        remaining: refusal.left.clone(),
        capacity: refusal.capacity.clone(),
        noise: refusal.noise.clone(),
        room: refusal.room.clone(),
    }
}

fn outcome(args: &LedgerArgs) -> Result<Outcome> {
    let url: Url = args.url.parse()?;
    let json = args.json;
    if let LedgerCommand::Init = args.command {
        if args.read_only || args.expect_head.is_some() {
            bail!("--read-only or --expect-head is given with init; legal: with other commands");
        }
        return completion(Ledger::init(&url)?.head()?, json);
    }
    if let LedgerCommand::Upgrade { backup } = &args.command {
        if args.read_only {
            return Err(LedgerError::ReadOnly.into());
        }
        return completion(Ledger::upgrade(&url, Path::new(backup), args.expect_head)?, json);
    }
    let is_verify = matches!(args.command, LedgerCommand::Verify { .. });
    // `verify` reports another history itself, so the ledger is opened without the expected head.
    let expect = args.expect_head.filter(|_| !is_verify);
    let options = OpenOptions { read_only: args.read_only, expect };
    let mut ledger = match Ledger::open_with(&url, &options) {
        Err(LedgerError::Damaged(problem)) if is_verify => {
            return definite_no("broken", problem, None, json);
        }
        opened => opened?,
    };
    let ledger = &mut ledger;
    match &args.command {
        LedgerCommand::Init | LedgerCommand::Upgrade { .. } => {
            bail!("this is a bug: init and upgrade have run already")
        }
        LedgerCommand::Dataset(args) => completion(setup::dataset(ledger, args)?, json),
        LedgerCommand::Open(args) => completion_with_warnings(setup::open(ledger, args)?, json),
        LedgerCommand::Recut(args) => completion_with_warnings(setup::recut(ledger, args)?, json),
        LedgerCommand::Quota(args) => completion(setup::quota(ledger, args)?, json),
        LedgerCommand::Close { account } => completion(ledger.close(account)?, json),
        LedgerCommand::CloseDataset { dataset } => completion(ledger.close_dataset(dataset)?, json),
        LedgerCommand::Move(args) => completion(setup::transfer(ledger, args)?, json),
        LedgerCommand::Price(args) => release::price(ledger, args, json),
        LedgerCommand::Reserve(args) => release::reserve(ledger, args, json),
        LedgerCommand::Commit(args) => release::commit(ledger, args, json),
        LedgerCommand::Response(args) => release::response(ledger, args, json),
        LedgerCommand::End(args) => completion(ledger.end_session(&args.account, &args.key)?, json),
        LedgerCommand::Session(args) => show::session(ledger, args, json),
        LedgerCommand::Pending { account } => show::pending(ledger, account.as_deref(), json),
        LedgerCommand::Status { account } => show::status(ledger, account.as_deref(), json),
        LedgerCommand::Odometer { account } => show::odometer(ledger, account, json),
        LedgerCommand::History(args) => show::history(ledger, args, json),
        LedgerCommand::Responses(args) => show::responses(ledger, args, json),
        LedgerCommand::Verify { checkpoint } => {
            let file = checkpoint.as_ref().map(Path::new);
            show::verify(ledger, file, args.expect_head, json)
        }
        LedgerCommand::Backup { file, without_secrets: false } => {
            completion(ledger.backup(Path::new(file))?, json)
        }
        LedgerCommand::Backup { file, without_secrets: true } => {
            completion(ledger.backup_without_secrets(Path::new(file))?, json)
        }
        LedgerCommand::Export { without_responses } => show::export(ledger, !without_responses),
    }
}

/// An answer as a JSON object or as text.
fn show<E: std::error::Error + Send + Sync + 'static>(
    json: bool,
    object: impl FnOnce() -> Result<String, E>,
    text: impl FnOnce() -> String,
) -> Result<Outcome> {
    show_with_warnings(Vec::new(), json, object, text)
}

/// An answer with warnings; the JSON object contains them already.
fn show_with_warnings<E: std::error::Error + Send + Sync + 'static>(
    warnings: Vec<String>,
    json: bool,
    object: impl FnOnce() -> Result<String, E>,
    text: impl FnOnce() -> String,
) -> Result<Outcome> {
    Ok(if json { Outcome::json(object()?) } else { Outcome::text(text(), warnings) })
}

fn completion(head: Head, json: bool) -> Result<Outcome> {
    completion_with_warnings((head, Vec::new()), json)
}

fn completion_with_warnings((head, warnings): (Head, Vec<String>), json: bool) -> Result<Outcome> {
    let done = Completion { outcome: "done", head: head.to_string(), warnings };
    show_with_warnings(
        done.warnings.clone(),
        json,
        || done.json(),
        || format!("head  {}\n", done.head),
    )
}

fn definite_no(
    outcome: &'static str,
    reason: String,
    refusal: Option<Shortfall>,
    json: bool,
) -> Result<Outcome> {
    let object = Failure { outcome, reason: reason.clone(), refusal };
    Ok(Outcome::definite_no(reason, json.then(|| object.json()).transpose()?))
}
