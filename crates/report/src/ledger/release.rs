//! Shows releases and sessions: prices, states and responses.

use counterpoint_wire::ledger::{
    CommitResult, Cost, PendingKey, PendingList, Price, ReserveResult, Response, SessionStatus,
};

use super::{down, up};
use crate::columns::Align::{Left, Right};
use crate::columns::columns;
use crate::compose::aligned_rows;

/// Shows the charge of a release, and if it would be allowed now.
#[must_use]
pub fn price(price: &Price) -> String {
    let now = match &price.refusal {
        None => "it fits".to_owned(),
        Some(short) => {
            let (left, capacity) = (down(&short.remaining), down(&short.capacity));
            format!("too much for {}: {left} of {capacity} {} is left", short.budget, short.total)
        }
    };
    aligned_rows([
        ("account", price.account.clone()),
        ("charge", cost(&price.charge, price.unit)),
        ("now", now),
        ("head", price.head.clone()),
    ])
}

fn cost(charge: &Cost, unit: &str) -> String {
    match charge.delta.is_zero() {
        true => format!("{} of {unit}", up(&charge.main)),
        false => format!("{} of {unit}, delta {}", up(&charge.main), up(&charge.delta)),
    }
}

/// Lists debited releases without a response, and open sessions, one per line.
#[must_use]
pub fn pending(pending: &PendingList) -> String {
    let heading = ["account", "key", "analyst", "entry", ""];
    let row = |one: &PendingKey| {
        let analyst = one.analyst.clone().unwrap_or_default();
        [one.account.clone(), one.key.clone(), analyst, one.entry.to_string(), state_text(one)]
    };
    let rows: Vec<_> = std::iter::once(heading.map(str::to_owned))
        .chain(pending.pending.iter().map(row))
        .collect();
    let table = match rows.len() {
        1 => "nothing is pending\n".to_owned(),
        _ => columns([Left, Left, Left, Right, Left], &rows),
    };
    format!("{table}\n{}", aligned_rows([("head", pending.head.clone())]))
}

/// The state of a pending key.
pub(super) fn state_text(one: &PendingKey) -> String {
    match (one.session, one.answered) {
        (false, _) => "no response yet".to_owned(),
        (true, None) => "session, not begun".to_owned(),
        (true, Some(answered)) => format!("session, {answered} answers"),
    }
}

/// Shows the state of a session.
#[must_use]
pub fn session(session: &SessionStatus) -> String {
    let at = |entry: Option<u64>| entry.map_or("no".to_owned(), |entry| format!("entry {entry}"));
    let answers = match session.answers.as_slice() {
        [] => "none".to_owned(),
        list => format!("{}: {}", list.len(), list.join(", ")),
    };
    aligned_rows([
        ("account", session.account.clone()),
        ("key", session.key.clone()),
        ("analyst", session.analyst.clone().unwrap_or("none".to_owned())),
        ("reserved", at(Some(session.entry))),
        ("begun", at(session.begun)),
        ("over", at(session.ended)),
        ("answers", answers),
        ("head", session.head.clone()),
    ])
}

/// Lists stored responses, one per line; short plain texts in full.
#[must_use]
pub fn responses(responses: &[Response], is_first: bool) -> String {
    let heading = ["account", "key", "ask", "analyst", "response"];
    let row = |one: &Response| {
        let Response { account, key, ask, analyst, bytes } = one;
        let is_plain = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
        let response = match std::str::from_utf8(bytes) {
            Ok(text) if bytes.len() <= 60 && bytes.iter().all(is_plain) => text.to_owned(),
            _ => format!("({} bytes)", bytes.len()),
        };
        let or_none = |word: &Option<String>| word.clone().unwrap_or_default();
        [account.clone(), key.clone(), or_none(ask), or_none(analyst), response]
    };
    let heading = is_first.then(|| heading.map(str::to_owned));
    let rows: Vec<_> = heading.into_iter().chain(responses.iter().map(row)).collect();
    columns([Left, Left, Left, Left, Left], &rows)
}

/// The line after the last response.
#[must_use]
pub fn responses_end(head: &str) -> String {
    format!("\n{}", aligned_rows([("head", head.to_owned())]))
}

/// Shows the result of `reserve`, and the next step.
#[must_use]
pub fn reserved(reserved: &ReserveResult, session: bool) -> String {
    let next = match reserved.outcome {
        "reserved" if session => "begin the session under this key",
        "pending" if session => "debited before; begin the session or go on, nothing is charged",
        "reserved" => "draw the noise, then commit the response under this key",
        "pending" => "debited before; draw the noise and commit, nothing more is charged",
        _ => "the response is stored: show it again (ledger response), draw no noise",
    };
    let charge = reserved.charge.as_ref();
    aligned_rows([
        ("outcome", reserved.outcome.to_owned()),
        ("key", reserved.key.clone()),
        ("charge", charge.map_or("none".to_owned(), |charge| cost(charge, reserved.unit))),
        ("next", next.to_owned()),
        ("head", reserved.head.clone()),
    ])
}

/// Shows the result of `commit`.
#[must_use]
pub fn committed(committed: &CommitResult) -> String {
    let bytes = committed.response.len();
    let stored = if committed.repeated { "stored before" } else { "stored now" };
    aligned_rows([
        ("outcome", committed.outcome.to_owned()),
        ("key", committed.key.clone()),
        ("response", format!("{bytes} bytes, {stored}; they may be shown")),
        ("head", committed.head.clone()),
    ])
}
