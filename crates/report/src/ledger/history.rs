//! Shows the history of a ledger.

use std::collections::BTreeMap;

use counterpoint_wire::ledger::{Event, HistoryEntry, ReleaseRecord, ReleaseRequest, Rule};

use super::{down, promised, up};
use crate::columns::Align::{Left, Right};
use crate::columns::columns;
use crate::compose::aligned_rows;

/// Shows the history, one entry per line. `units` holds the units of the charges of each data set or account.
#[must_use]
pub fn history(
    entries: &[HistoryEntry],
    units: &BTreeMap<String, &'static str>,
    head: &str,
) -> String {
    let line = |entry| line(entry, units);
    let heading = ["entry", "time (UTC)", "event", "account", "what", "charge", "hash"];
    let rows: Vec<_> =
        std::iter::once(heading.map(str::to_owned)).chain(entries.iter().map(line)).collect();
    let table = columns([Right, Left, Left, Left, Left, Right, Left], &rows);
    format!("{table}\n{}", aligned_rows([("head", head.to_owned())]))
}

fn line(entry: &HistoryEntry, units: &BTreeMap<String, &'static str>) -> [String; 7] {
    let event = &entry.event;
    let (what, charge) = match event {
        Event::Dataset { filter, .. } => (promised(&filter.promise), None),
        Event::Open { parent, slot, rule, charge, .. } => {
            let kind = match rule {
                Rule::Plan(plan) => format!("plan of {} slots", plan.slots.len()),
                Rule::Filter(filter) => filter.kind.clone(),
                _ => String::new(),
            };
            let slot = slot.as_ref().map(|slot| format!("slot {slot:?} of "));
            (format!("{kind} under {}{parent}", slot.unwrap_or_default()), Some(charge))
        }
        Event::Recut { unused, into, .. } => {
            let given = unused.iter().map(|one| format!("{} of slot {:?}", one.count, one.slot));
            let made = into.iter().map(|slot| format!("{:?}, {} times", slot.name, slot.count));
            let list = |names: Vec<String>| names.join("; ");
            (format!("{} into {}", list(given.collect()), list(made.collect())), None)
        }
        Event::Quota { analyst, capacity, changed, .. } => {
            let from_now_on = if *changed { " from now on" } else { "" };
            (format!("{analyst}: {} to spend{from_now_on}", down(&capacity.main)), None)
        }
        Event::Move { to, key, amount, .. } => {
            let delta = match amount.delta.is_zero() {
                true => String::new(),
                false => format!(" and delta {}", up(&amount.delta)),
            };
            (format!("{key}: {}{delta} to {to}", up(&amount.main)), None)
        }
        Event::Reserve { key, analyst, session, own, release, charge, .. } => {
            let asked = asked(release);
            let session = if *session { "session, " } else { "" };
            let by = analyst.as_ref().map(|analyst| format!(" by {analyst}"));
            let own = own.as_ref().map(|own| format!(", on the word of the owner of {own}"));
            let (own, by) = (own.unwrap_or_default(), by.unwrap_or_default());
            (format!("{key}: {session}{asked}{own}{by}"), Some(charge))
        }
        Event::Alias { key, analyst, .. } => {
            let by = analyst.as_ref().map(|analyst| format!(" by {analyst}"));
            (format!("{key}{}", by.unwrap_or_default()), None)
        }
        Event::Upgrade { format, .. } => (format!("to format {format}"), None),
        Event::Commit { key, length, .. } => (format!("{key}: {length} bytes"), None),
        Event::Answer { key, ask, number, length, state, .. } => {
            let last = if state.is_none() { ", the last" } else { "" };
            (format!("{key}: {ask}, answer {number}, {length} bytes{last}"), None)
        }
        Event::Begin { key, .. } | Event::End { key, .. } => (key.clone(), None),
        _ => (String::new(), None),
    };
    // The charge of a new account is paid by its parent.
    let payer = match event {
        Event::Open { parent, .. } => Some(parent.as_str()),
        event => event.account(),
    };
    let unit = payer.and_then(|name| units.get(name));
    let unit = unit.map(|unit| format!(" of {unit}")).unwrap_or_default();
    [
        entry.sequence.to_string(),
        time(event.at()),
        event.name().to_owned(),
        event.account().unwrap_or_default().to_owned(),
        what,
        charge.map(|charge| format!("{}{unit}", up(&charge.main))).unwrap_or_default(),
        format!("{}...", entry.hash.get(..8).unwrap_or_default()),
    ]
}

/// A short description of a requested release.
fn asked(asked: &ReleaseRequest) -> String {
    let names = |list: &[ReleaseRecord]| {
        let names: Vec<&str> = list.iter().take(5).map(ReleaseRecord::mechanism).collect();
        let more = if list.len() > 5 { ", ..." } else { "" };
        names.join(", ") + more
    };
    match asked {
        ReleaseRequest::Slot { name, count, run } => {
            let times = if *count == 1 { String::new() } else { format!(", {count} times") };
            let run = if run.is_empty() { String::new() } else { format!(", for {}", names(run)) };
            format!("slot {name:?}{times}{run}")
        }
        ReleaseRequest::Described(list) => names(list),
        _ => String::new(),
    }
}

/// Formats Unix seconds as a date and time of day.
fn time(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02}", second % 60)
}

/// The Gregorian date of a day, counted from 1970-01-01. Years are counted from March, so that leap days come last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days.min(1 << 40) + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + later, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_as_other_calendars_have_them() {
        // `date -u -d @N`.
        let cases = [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_700_000_000, "2023-11-14 22:13:20"),
            (4_107_542_400, "2100-03-01 00:00:00"),
        ];
        for (seconds, text) in cases {
            assert_eq!(time(seconds), text);
        }
    }
}
