//! `counterpoint ledger`.

mod args;

use anyhow::{Context, Result, bail};
use counterpoint::Delta;
use counterpoint::Epsilon;
use counterpoint::filter::Amount;
use counterpoint_ledger::{
    Head, Ledger, LedgerError, NewAccount, NewFilter, NewQuota, Request, Url, Verification,
};
use counterpoint_report::ledger as tables;
use counterpoint_wire::ledger::{
    Asked, Committed, Described, Done, ExactPlan, Export, History, No, Reserved, Short, Verified,
};
use counterpoint_wire::{Format, Question};

pub(crate) use args::LedgerArgs;
use args::{
    CommitArgs, DatasetArgs, LedgerCommand, OpenArgs, QuotaArgs, RecutArgs, ReserveArgs,
    ResponseArgs,
};

use crate::input;
use crate::output::Outcome;

pub(crate) fn run(args: &LedgerArgs) -> Result<Outcome> {
    let outcome = outcome(args);
    let Err(error) = outcome else { return outcome };
    match error.downcast_ref::<LedgerError>() {
        Some(LedgerError::Refused(refusal)) => {
            let short = Short {
                by: refusal.place.clone(),
                what: refusal.what.clone(),
                asked: refusal.asked.clone(),
                left: refusal.left.clone(),
                capacity: refusal.capacity.clone(),
            };
            no("refused", refusal.to_string(), Some(short), args.json)
        }
        _ => Err(error),
    }
}

fn outcome(args: &LedgerArgs) -> Result<Outcome> {
    let url: Url = args.url.parse()?;
    let json = args.json;
    if let LedgerCommand::Init = args.command {
        return done(Ledger::init(&url)?.head()?, json);
    }
    let mut ledger = match (Ledger::open(&url), &args.command) {
        (Err(LedgerError::Damaged(problem)), LedgerCommand::Verify { .. }) => {
            return no("broken", problem, None, json);
        }
        (opened, _) => opened?,
    };
    let ledger = &mut ledger;
    match &args.command {
        LedgerCommand::Init => bail!("init is over"),
        LedgerCommand::Dataset(args) => done(dataset(ledger, args)?, json),
        LedgerCommand::Open(args) => done(open(ledger, args)?, json),
        LedgerCommand::Recut(args) => done(recut(ledger, args)?, json),
        LedgerCommand::Quota(args) => done(quota(ledger, args)?, json),
        LedgerCommand::Reserve(args) => reserve(ledger, args, json),
        LedgerCommand::Commit(args) => commit(ledger, args, json),
        LedgerCommand::Response(args) => response(ledger, args, json),
        LedgerCommand::Status { account } => {
            let status = ledger.status(account.as_deref())?;
            told(json, || status.json(), || tables::status(&status))
        }
        LedgerCommand::History { account } => history(ledger, account.as_deref(), json),
        LedgerCommand::Verify { expect_head } => verified(&ledger.verify(*expect_head)?, json),
        LedgerCommand::Export => export(ledger),
    }
}

/// An answer for programs or for people.
fn told<E: std::error::Error + Send + Sync + 'static>(
    json: bool,
    object: impl FnOnce() -> Result<String, E>,
    text: impl FnOnce() -> String,
) -> Result<Outcome> {
    Ok(if json { Outcome::json(object()?) } else { Outcome::text(text(), Vec::new()) })
}

fn done(head: Head, json: bool) -> Result<Outcome> {
    let head = head.to_string();
    told(json, || Done { outcome: "done", head: head.clone() }.json(), || format!("head  {head}\n"))
}

fn no(
    outcome: &'static str,
    reason: String,
    refusal: Option<Short>,
    json: bool,
) -> Result<Outcome> {
    let object = No { outcome, reason: reason.clone(), refusal };
    Ok(Outcome::no(reason, json.then(|| object.json()).transpose()?))
}

fn dataset(ledger: &mut Ledger, args: &DatasetArgs) -> Result<Head> {
    let (epsilon, delta) = (args.budget.epsilon.clone(), args.budget.delta.clone());
    let budget = NewFilter::new(args.filter, epsilon, delta);
    Ok(ledger.dataset(&args.name, args.adjacency, &budget)?)
}

fn open(ledger: &mut Ledger, args: &OpenArgs) -> Result<Head> {
    let new = match (&args.plan, args.filter) {
        (Some(path), _) => {
            let plan = input::exact_plan(path).with_context(|| input::shown(path))?;
            NewAccount::Plan(plan, question(args)?)
        }
        (None, Some(kind)) => {
            let missing = "an open account needs --epsilon and --delta";
            let epsilon = args.epsilon.clone().context(missing)?;
            let delta = args.delta.clone().context(missing)?;
            let mut filter = NewFilter::new(kind, epsilon, delta);
            (filter.order, filter.leaks) = (args.order, args.leaks.clone());
            if let Some(path) = &args.expect {
                filter.expected =
                    input::exact_plan(path).with_context(|| input::shown(path))?.releases;
            }
            NewAccount::Filter(filter)
        }
        (None, None) => bail!("no rule is given; legal: --plan, or --filter"),
    };
    match (&args.dataset, &args.within, &args.slot, &new) {
        (Some(dataset), ..) => Ok(ledger.open_account(&args.account, dataset, &new)?),
        (_, Some(within), Some(slot), NewAccount::Filter(filter)) => {
            Ok(ledger.open_in_slot(&args.account, within, slot, filter)?)
        }
        _ => bail!("nothing pays for the account; legal: --dataset, or --within and --slot"),
    }
}

fn recut(ledger: &mut Ledger, args: &RecutArgs) -> Result<Head> {
    let into = input::exact_plan(&args.into).with_context(|| input::shown(&args.into))?;
    Ok(ledger.recut(&args.account, &args.unused, &into)?)
}

/// The question on the command line, which replaces the plan's.
fn question(args: &OpenArgs) -> Result<Option<(Question, Amount)>> {
    Ok(match (&args.delta, &args.epsilon) {
        (Some(_), Some(_)) => {
            bail!("--delta and --epsilon are both given with a plan; legal: one, the question")
        }
        (Some(delta), None) => {
            Some((Question::EpsilonAt(Delta::new(delta.lower())?), delta.clone()))
        }
        (None, Some(epsilon)) => {
            Some((Question::DeltaAt(Epsilon::new(epsilon.lower())?), epsilon.clone()))
        }
        (None, None) => None,
    })
}

fn quota(ledger: &mut Ledger, args: &QuotaArgs) -> Result<Head> {
    let quota = match (&args.share, args.releases, &args.epsilon, &args.delta) {
        (Some(share), ..) => NewQuota::Share(share.clone()),
        (None, Some(count), ..) => NewQuota::Releases(count),
        (None, None, Some(epsilon), Some(delta)) => {
            NewQuota::Cost { epsilon: epsilon.clone(), delta: delta.clone() }
        }
        _ => bail!("no quota is given; legal: --share, --epsilon and --delta, or --releases"),
    };
    Ok(ledger.quota(&args.account, &args.analyst, &quota)?)
}

fn reserve(ledger: &mut Ledger, args: &ReserveArgs, json: bool) -> Result<Outcome> {
    let (asked, adjacency) = if ledger.is_plan(&args.account)? {
        in_slot(args)?
    } else if args.count.is_some() || args.run.is_some() {
        bail!("--count or --run is given with an open account; legal: the release alone")
    } else {
        let (release, adjacency) = described(&args.release)?;
        (Asked::Described(release), adjacency)
    };
    let analyst = args.analyst.as_deref();
    let request = Request { analyst, adjacency, ..Request::new(&args.account, &args.key, &asked) };
    let reservation = ledger.reserve(&request)?;
    let outcome = match (&reservation.charge, &reservation.response) {
        (_, Some(_)) => "committed",
        (Some(_), None) => "reserved",
        (None, None) => "pending",
    };
    let reserved = Reserved {
        outcome,
        key: args.key.clone(),
        entry: reservation.entry,
        charge: reservation.charge,
        response: reservation.response,
        head: reservation.head.to_string(),
    };
    told(json, || reserved.json(), || tables::reserved(&reserved))
}

/// A slot, and what is run in it if that is said.
fn in_slot(args: &ReserveArgs) -> Result<(Asked, Option<counterpoint::Adjacency>)> {
    let run = args.run.as_deref().map(described).transpose()?;
    let (run, adjacency) = run.map_or((None, None), |(run, relation)| (Some(run), relation));
    let (name, count) = (args.release.clone(), args.count.unwrap_or(1));
    Ok((Asked::Slot { name, count, run }, adjacency))
}

/// One release: in a file, on standard input, or itself.
fn described(text: &str) -> Result<(Described, Option<counterpoint::Adjacency>)> {
    let shown = || if text.starts_with('{') { "RELEASE".to_owned() } else { input::shown(text) };
    let plan = if text.starts_with('{') {
        let plan = format!("{{\"release\":[{text}]}}");
        ExactPlan::parse(plan.as_bytes(), Format::Json).with_context(shown)?
    } else {
        input::exact_plan(text).with_context(shown)?
    };
    if plan.group != 1 {
        bail!("{}: group is {}; legal: 1", shown(), plan.group);
    }
    let adjacency = plan.adjacency;
    match <[_; 1]>::try_from(plan.releases) {
        Ok([release]) => Ok((release, adjacency)),
        Err(releases) => bail!("{}: has {} releases; legal: one", shown(), releases.len()),
    }
}

fn commit(ledger: &mut Ledger, args: &CommitArgs, json: bool) -> Result<Outcome> {
    let response = input::bytes(&args.response).with_context(|| input::shown(&args.response))?;
    let stored = ledger.commit(&args.key, &response)?;
    let committed = Committed {
        outcome: "committed",
        key: args.key.clone(),
        entry: stored.entry,
        repeated: stored.repeated,
        response: stored.response,
        head: stored.head.to_string(),
    };
    let differs = committed.response != response;
    let mut outcome = told(json, || committed.json(), || tables::committed(&committed))?;
    if differs && !json {
        let key = &args.key;
        outcome.remark(format!(
            "warning: {key} was committed before with another response; show that one \
             (counterpoint ledger response {key}), not this"
        ));
    }
    Ok(outcome)
}

fn response(ledger: &mut Ledger, args: &ResponseArgs, json: bool) -> Result<Outcome> {
    let Some(bytes) = ledger.response(&args.key)? else {
        bail!("key {:?} is reserved, not committed; legal: a committed one", args.key);
    };
    if let Some(path) = &args.out {
        std::fs::write(path, &bytes).with_context(|| path.clone())?;
        let text = format!("{} bytes written to {path}\n", bytes.len());
        let object = counterpoint_wire::ledger::Response { key: args.key.clone(), bytes };
        return told(json, || object.json(), || text);
    }
    let object = counterpoint_wire::ledger::Response { key: args.key.clone(), bytes };
    if json {
        return Ok(Outcome::json(object.json()?));
    }
    match String::from_utf8(object.bytes) {
        Ok(text) => Ok(Outcome::text(text, Vec::new())),
        Err(_) => bail!("the response is not text; legal: --out FILE, or --json"),
    }
}

fn history(ledger: &mut Ledger, account: Option<&str>, json: bool) -> Result<Outcome> {
    let mut entries = Vec::new();
    let head = ledger.history(account, |entry| entries.push(entry))?.to_string();
    let history = History { head, entries };
    told(json, || history.json(), || tables::history(&history.entries, &history.head))
}

fn export(ledger: &mut Ledger) -> Result<Outcome> {
    let mut entries = Vec::new();
    let (head, responses) = ledger.export(|entry| entries.push(entry))?;
    let export = Export { version: 1, head: head.to_string(), entries, responses };
    Ok(Outcome::json(export.json()?))
}

fn verified(verification: &Verification, json: bool) -> Result<Outcome> {
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
