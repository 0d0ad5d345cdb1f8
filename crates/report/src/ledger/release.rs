//! Releases and sessions: their price, what became of them, what was answered.

use counterpoint_wire::ledger::{
    Committed, Cost, Pending, PendingKey, Price, Reserved, Response, SessionStatus,
};

use super::{down, up};
use crate::columns::Side::{Left, Right};
use crate::columns::columns;
use crate::compose::listed;

/// What would be charged, and whether it would be allowed now.
#[must_use]
pub fn price(price: &Price) -> String {
    let now = match &price.refusal {
        None => "it fits".to_owned(),
        Some(short) => {
            let (left, capacity) = (down(&short.left), down(&short.capacity));
            format!("too much for {}: {left} of {capacity} {} is left", short.by, short.what)
        }
    };
    listed([
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

/// What is debited and not over, a line each.
#[must_use]
pub fn pending(pending: &Pending) -> String {
    let heading = ["account", "key", "analyst", "entry", ""];
    let row = |one: &PendingKey| {
        let analyst = one.analyst.clone().unwrap_or_default();
        [one.account.clone(), one.key.clone(), analyst, one.entry.to_string(), standing(one)]
    };
    let rows: Vec<_> = std::iter::once(heading.map(str::to_owned))
        .chain(pending.pending.iter().map(row))
        .collect();
    let table = match rows.len() {
        1 => "nothing is pending\n".to_owned(),
        _ => columns([Left, Left, Left, Right, Left], &rows),
    };
    format!("{table}\n{}", listed([("head", pending.head.clone())]))
}

/// How far something is that is debited and not over.
pub(super) fn standing(one: &PendingKey) -> String {
    match (one.session, one.answered) {
        (false, _) => "no response yet".to_owned(),
        (true, None) => "session, not begun".to_owned(),
        (true, Some(answered)) => format!("session, {answered} answers"),
    }
}

/// How far a session is.
#[must_use]
pub fn session(session: &SessionStatus) -> String {
    let at = |entry: Option<u64>| entry.map_or("no".to_owned(), |entry| format!("entry {entry}"));
    let answers = match session.answers.as_slice() {
        [] => "none".to_owned(),
        list => format!("{}: {}", list.len(), list.join(", ")),
    };
    listed([
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

/// Stored responses, a line each: in full where they are short and plain.
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

/// What follows the last of them.
#[must_use]
pub fn responses_end(head: &str) -> String {
    format!("\n{}", listed([("head", head.to_owned())]))
}

/// What `reserve` came to, and what to do next.
#[must_use]
pub fn reserved(reserved: &Reserved, session: bool) -> String {
    let next = match reserved.outcome {
        "reserved" if session => "begin the session under this key",
        "pending" if session => "debited before; begin the session or go on, nothing is charged",
        "reserved" => "draw the noise, then commit the response under this key",
        "pending" => "debited before; draw the noise and commit, nothing more is charged",
        _ => "the response is stored: show it again (ledger response), draw no noise",
    };
    let charge = reserved.charge.as_ref();
    listed([
        ("outcome", reserved.outcome.to_owned()),
        ("key", reserved.key.clone()),
        ("charge", charge.map_or("none".to_owned(), |charge| cost(charge, reserved.unit))),
        ("next", next.to_owned()),
        ("head", reserved.head.clone()),
    ])
}

/// What `commit` came to.
#[must_use]
pub fn committed(committed: &Committed) -> String {
    let bytes = committed.response.len();
    let stored = if committed.repeated { "stored before" } else { "stored now" };
    listed([
        ("outcome", committed.outcome.to_owned()),
        ("key", committed.key.clone()),
        ("response", format!("{bytes} bytes, {stored}; they may be shown")),
        ("head", committed.head.clone()),
    ])
}
