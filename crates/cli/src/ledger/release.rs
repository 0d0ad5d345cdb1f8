//! Releases, from their price to their response.

use anyhow::{Context, Result, bail};
use counterpoint::Adjacency;
use counterpoint_ledger::{Ledger, Request};
use counterpoint_report::ledger as tables;
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{
    CommitResult, ExactPlan, Price, ReleaseRecord, ReleaseRequest, ReserveResult, Response,
};

use super::args::{CommitArgs, KeyArgs, PriceArgs, ReleaseRequestArgs, ReserveArgs, ResponseArgs};
use super::{shortfall, show, show_with_warnings};
use crate::input;
use crate::output::Outcome;

pub(super) fn price(ledger: &mut Ledger, args: &PriceArgs, json: bool) -> Result<Outcome> {
    let (release, adjacency, warnings) = read_request(ledger, &args.account, &args.request)?;
    let analyst = args.request.analyst.as_deref();
    let request = Request { analyst, adjacency, ..Request::new(&args.account, "", &release) };
    let found = ledger.price(&request)?;
    let price = Price {
        account: args.account.clone(),
        charge: found.charge,
        unit: ledger.unit(&args.account)?,
        fits: found.refusal.is_none(),
        refusal: found.refusal.as_ref().map(shortfall),
        head: found.head.to_string(),
        warnings,
    };
    show_with_warnings(price.warnings.clone(), json, || price.json(), || tables::price(&price))
}

pub(super) fn reserve(ledger: &mut Ledger, args: &ReserveArgs, json: bool) -> Result<Outcome> {
    let (release, adjacency, warnings) = read_request(ledger, &args.account, &args.request)?;
    let (analyst, session) = (args.request.analyst.as_deref(), args.session);
    let request =
        Request { analyst, adjacency, session, ..Request::new(&args.account, &args.key, &release) };
    let unit = ledger.unit(&args.account)?;
    let reservation = ledger.reserve(&request)?;
    let outcome = match (&reservation.charge, &reservation.response) {
        (_, Some(_)) => "committed",
        (Some(_), None) => "reserved",
        (None, None) => "pending",
    };
    let reserved = ReserveResult {
        outcome,
        account: args.account.clone(),
        key: args.key.clone(),
        entry: reservation.entry,
        charge: reservation.charge,
        unit,
        response: reservation.response,
        head: reservation.head.to_string(),
        warnings,
    };
    show_with_warnings(
        reserved.warnings.clone(),
        json,
        || reserved.json(),
        || tables::reserved(&reserved, session),
    )
}

/// Reads the requested release: the request for the account's kind, the adjacency that the plan names, and warnings.
fn read_request(
    ledger: &mut Ledger,
    account: &str,
    args: &ReleaseRequestArgs,
) -> Result<(ReleaseRequest, Option<Adjacency>, Vec<String>)> {
    if ledger.is_plan(account)? {
        let run = args.run.as_deref().map(read_releases).transpose()?;
        let (run, adjacency, warnings) = run.unwrap_or_default();
        let (name, count) = (args.release.clone(), args.count.unwrap_or(1));
        return Ok((ReleaseRequest::Slot { name, count, run }, adjacency, warnings));
    }
    if args.count.is_some() || args.run.is_some() {
        bail!("--count or --run is given with an open account; legal: RELEASE without them")
    }
    let (releases, adjacency, warnings) = read_releases(&args.release)?;
    Ok((ReleaseRequest::Described(releases), adjacency, warnings))
}

/// Reads releases from a file or standard input, or one release from the argument.
fn read_releases(text: &str) -> Result<(Vec<ReleaseRecord>, Option<Adjacency>, Vec<String>)> {
    let input_name =
        || if text.starts_with('{') { "RELEASE".to_owned() } else { input::input_name(text) };
    let plan = if text.starts_with('{') {
        let plan = format!("{{\"release\":[{text}]}}");
        ExactPlan::parse(plan.as_bytes(), Format::Json).with_context(input_name)?
    } else {
        input::exact_plan(text).with_context(input_name)?
    };
    if plan.group != 1 {
        bail!("{}: group is {}; legal: 1", input_name(), plan.group);
    }
    Ok((plan.releases, plan.adjacency, plan.warnings))
}

/// The account of a key: the named one, or the only one with this key.
fn account_of(ledger: &mut Ledger, args: &KeyArgs) -> Result<String> {
    match &args.account {
        Some(account) => Ok(account.clone()),
        None => Ok(ledger.account_of(&args.key)?),
    }
}

pub(super) fn commit(ledger: &mut Ledger, args: &CommitArgs, json: bool) -> Result<Outcome> {
    let response =
        input::bytes(&args.response).with_context(|| input::input_name(&args.response))?;
    let (account, key) = (account_of(ledger, &args.place)?, &args.place.key);
    let stored = ledger.commit(&account, key, &response)?;
    let committed = CommitResult {
        outcome: "committed",
        account,
        key: key.clone(),
        entry: stored.entry,
        repeated: stored.repeated,
        response: stored.response,
        head: stored.head.to_string(),
    };
    let differs = committed.response != response;
    let mut outcome = show(json, || committed.json(), || tables::committed(&committed))?;
    if differs && !json {
        outcome.remark(format!(
            "warning: {key} was committed before with another response; show the stored one \
             (counterpoint ledger response {key}) instead"
        ));
    }
    Ok(outcome)
}

pub(super) fn response(ledger: &mut Ledger, args: &ResponseArgs, json: bool) -> Result<Outcome> {
    let (account, key) = (account_of(ledger, &args.place)?, args.place.key.clone());
    let bytes = match &args.ask {
        Some(ask) => {
            let answer = ledger.stored_answer(&account, &key, ask)?;
            let missing = || format!("session {key:?} has no answer to {ask:?}; legal: the key of an answered question");
            answer.with_context(missing)?.response
        }
        None => ledger.response(&account, &key)?.with_context(|| {
            format!("the release with key {key:?} has no response yet; legal: the key of a committed release")
        })?,
    };
    let written = match &args.out {
        Some(path) => {
            std::fs::write(path, &bytes).with_context(|| path.clone())?;
            Some(format!("{} bytes written to {path}\n", bytes.len()))
        }
        None => None,
    };
    let object = Response { account, key, ask: args.ask.clone(), analyst: None, bytes };
    match (json, written) {
        (true, _) => Ok(Outcome::json(object.json()?)),
        (false, Some(text)) => Ok(Outcome::text(text, Vec::new())),
        (false, None) => match String::from_utf8(object.bytes) {
            Ok(text) => Ok(Outcome::text(text, Vec::new())),
            Err(_) => bail!("the response is not text; legal: --out FILE, or --json"),
        },
    }
}
