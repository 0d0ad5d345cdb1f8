//! A ledger, for people.

use counterpoint::filter::Amount;
use counterpoint_wire::decimal;
use counterpoint_wire::ledger::{
    AccountStatus, Asked, Committed, Cost, Event, HistoryEntry, QuotaStatus, Reserved, Rule,
    SlotStatus, Status, Verified,
};

use crate::columns::Side::{Left, Right};
use crate::columns::columns;
use crate::compose::listed;
use crate::words::TABLE_DIGITS;

/// How many characters a bar is long.
const BAR: usize = 20;

/// Data sets and accounts with what is spent and left; one account with its slots and quotas.
#[must_use]
pub fn status(status: &Status) -> String {
    let head = listed([("head", status.head.clone())]);
    match status.accounts.as_slice() {
        [] => format!("{head}\nno data sets yet\n"),
        [one] if one.dataset.is_some() || !one.slots.is_empty() => {
            format!("{}\n{head}", account(one))
        }
        all => format!("{}\n{head}", overview(all)),
    }
}

fn overview(accounts: &[AccountStatus]) -> String {
    let heading = ["account", "kind", "epsilon", "delta", "spent", "left", "of", "", ""];
    let row = |account: &AccountStatus| {
        let indent = if account.dataset.is_some() { "  " } else { "" };
        let [spent, left] = spent_and_left(&account.capacity, &account.spent);
        [
            format!("{indent}{}", account.name),
            account.kind.clone(),
            up(&account.epsilon),
            up(&account.delta),
            spent,
            left,
            account.unit.to_owned(),
            bar(&account.capacity, &account.spent),
            percent(&account.capacity, &account.spent),
        ]
    };
    let rows: Vec<_> = std::iter::once(heading.map(str::to_owned))
        .chain(in_families(accounts).into_iter().map(row))
        .collect();
    columns([Left, Left, Right, Right, Right, Right, Left, Left, Right], &rows)
}

/// Each data set, followed by its accounts.
fn in_families(accounts: &[AccountStatus]) -> Vec<&AccountStatus> {
    let datasets = accounts.iter().filter(|account| account.dataset.is_none());
    let family = |dataset| {
        let of = move |account: &&AccountStatus| account.dataset.as_ref() == Some(dataset);
        accounts.iter().filter(of)
    };
    datasets.flat_map(|dataset| std::iter::once(dataset).chain(family(&dataset.name))).collect()
}

fn account(account: &AccountStatus) -> String {
    let order = account.order.as_ref().map(|order| format!(", order {}", up(order)));
    let promise = format!("epsilon {}, delta {}", up(&account.epsilon), up(&account.delta));
    let Cost { main, delta } = &account.capacity;
    let mut spent = lines(account.unit, main, &account.spent.main);
    if !delta.is_zero() {
        spent += &lines("delta", delta, &account.spent.delta);
    }
    let mut text = listed([
        ("account", account.name.clone()),
        ("data set", account.dataset.clone().unwrap_or_default()),
        ("neighbours", account.adjacency.to_owned()),
        ("kind", account.kind.clone() + &order.unwrap_or_default()),
        ("promise", format!("{promise}\n(for all of it, however little is spent)")),
        ("spent", spent),
        ("charges", account.charges.to_string()),
    ]);
    if !account.slots.is_empty() {
        text += &format!("\n{}", slots(&account.slots));
    }
    if !account.quotas.is_empty() {
        text += &format!("\n{}", quotas(&account.quotas));
    }
    text
}

/// One total as a bar, with what is spent and left.
fn lines(unit: &str, capacity: &Amount, spent: &Amount) -> String {
    let only = |main: &Amount| Cost { main: main.clone(), delta: Amount::ZERO };
    let (capacity_, spent_) = (only(capacity), only(spent));
    let left = capacity.less(spent).unwrap_or_default();
    format!(
        "{} {} of {} {unit}, {} left\n",
        bar(&capacity_, &spent_),
        up(spent),
        down(capacity),
        down(&left)
    )
}

fn slots(slots: &[SlotStatus]) -> String {
    let heading = ["slot", "used", "of", ""];
    let row = |slot: &SlotStatus| {
        let [count, used] = [slot.count, slot.used].map(whole);
        [slot.name.clone(), slot.used.to_string(), slot.count.to_string(), bar(&count, &used)]
    };
    let rows: Vec<_> =
        std::iter::once(heading.map(str::to_owned)).chain(slots.iter().map(row)).collect();
    columns([Left, Right, Right, Left], &rows)
}

fn quotas(quotas: &[QuotaStatus]) -> String {
    let heading = ["analyst", "spent", "left", "releases", ""];
    let row = |quota: &QuotaStatus| {
        let [spent, left] = spent_and_left(&quota.capacity, &quota.spent);
        let bar = bar(&quota.capacity, &quota.spent);
        [quota.analyst.clone(), spent, left, quota.releases.to_string(), bar]
    };
    let rows: Vec<_> =
        std::iter::once(heading.map(str::to_owned)).chain(quotas.iter().map(row)).collect();
    columns([Left, Right, Right, Right, Left], &rows)
}

/// What happened, a line each.
#[must_use]
pub fn history(entries: &[HistoryEntry], head: &str) -> String {
    let heading = ["entry", "time (UTC)", "event", "account", "what", "charge", "hash"];
    let rows: Vec<_> =
        std::iter::once(heading.map(str::to_owned)).chain(entries.iter().map(line)).collect();
    let table = columns([Right, Left, Left, Left, Left, Right, Left], &rows);
    format!("{table}\n{}", listed([("head", head.to_owned())]))
}

fn line(entry: &HistoryEntry) -> [String; 7] {
    let event = &entry.event;
    let (what, charge) = match event {
        Event::Dataset { filter, .. } => {
            (format!("epsilon {}, delta {}", up(&filter.epsilon), up(&filter.delta)), None)
        }
        Event::Open { dataset, slot, rule, charge, .. } => {
            let kind = match rule {
                Rule::Plan(plan) => format!("plan of {} slots", plan.slots.len()),
                Rule::Filter(filter) => filter.kind.clone(),
                _ => String::new(),
            };
            let slot = slot.as_ref().map(|slot| format!("slot {slot:?} of "));
            (format!("{kind} under {}{dataset}", slot.unwrap_or_default()), Some(charge))
        }
        Event::Recut { unused, into, .. } => {
            let given = unused.iter().map(|one| format!("{} of slot {:?}", one.count, one.slot));
            let made = into.iter().map(|slot| format!("{:?}, {} times", slot.name, slot.count));
            let list = |names: Vec<String>| names.join("; ");
            (format!("{} into {}", list(given.collect()), list(made.collect())), None)
        }
        Event::Quota { analyst, capacity, .. } => {
            (format!("{analyst}: {} to spend", down(&capacity.main)), None)
        }
        Event::Reserve { key, analyst, release, charge, .. } => {
            let asked = match release {
                Asked::Slot { name, count, run } => {
                    let times =
                        if *count == 1 { String::new() } else { format!(", {count} times") };
                    let run = run.as_ref().map(|run| format!(", for {}", run.mechanism()));
                    format!("slot {name:?}{times}{}", run.unwrap_or_default())
                }
                Asked::Described(described) => described.mechanism().to_owned(),
                _ => String::new(),
            };
            let by = analyst.as_ref().map(|analyst| format!(" by {analyst}"));
            (format!("{key}: {asked}{}", by.unwrap_or_default()), Some(charge))
        }
        Event::Commit { key, length, .. } => (format!("{key}: {length} bytes"), None),
        _ => (String::new(), None),
    };
    [
        entry.sequence.to_string(),
        time(event.at()),
        event.name().to_owned(),
        event.account().unwrap_or_default().to_owned(),
        what,
        charge.map(|charge| up(&charge.main)).unwrap_or_default(),
        format!("{}...", entry.hash.get(..8).unwrap_or_default()),
    ]
}

/// What `reserve` came to, and what to do next.
#[must_use]
pub fn reserved(reserved: &Reserved) -> String {
    let next = match reserved.outcome {
        "reserved" => "draw the noise, then commit the response under this key",
        "pending" => "debited before; draw the noise and commit, nothing more is charged",
        _ => "the response is stored: show it again (ledger response), draw no noise",
    };
    let charge = reserved.charge.as_ref();
    listed([
        ("outcome", reserved.outcome.to_owned()),
        ("key", reserved.key.clone()),
        ("charge", charge.map_or("none".to_owned(), |charge| up(&charge.main))),
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

/// What `verify` found to be right, and what it cannot know.
#[must_use]
pub fn verified(verified: &Verified) -> String {
    let found = verified.expected.as_ref().map(|head| format!("{head} (found)"));
    let open = match verified.not_excluded.as_slice() {
        [] => "nothing, if the expected head was kept elsewhere".to_owned(),
        list => list.join("\n"),
    };
    listed([
        ("outcome", verified.outcome.to_owned()),
        ("head", verified.head.clone()),
        ("expected", found.unwrap_or_else(|| "none given".to_owned())),
        ("not excluded", open),
    ])
}

fn whole(count: u64) -> Cost {
    Cost { main: count.into(), delta: Amount::ZERO }
}

fn spent_and_left(capacity: &Cost, spent: &Cost) -> [String; 2] {
    [up(&spent.main), down(&capacity.main.less(&spent.main).unwrap_or_default())]
}

/// The larger share of the two totals that is spent.
fn share(capacity: &Cost, spent: &Cost) -> f64 {
    let of = |spent: &Amount, capacity: &Amount| match (spent.is_zero(), capacity.is_zero()) {
        (true, _) => 0.0,
        (false, true) => 1.0,
        (false, false) => spent.upper() / capacity.lower(),
    };
    of(&spent.main, &capacity.main).max(of(&spent.delta, &capacity.delta)).min(1.0)
}

/// What is spent, rounded up: an empty bar means nothing at all.
fn bar(capacity: &Cost, spent: &Cost) -> String {
    let filled = (share(capacity, spent) * BAR as f64).ceil() as usize;
    let filled = filled.min(BAR);
    format!("[{}{}]", "#".repeat(filled), ".".repeat(BAR - filled))
}

fn percent(capacity: &Cost, spent: &Cost) -> String {
    let tenths = (share(capacity, spent) * 1000.0 - 1e-9).ceil().max(0.0);
    format!("{:.1} %", tenths / 10.0)
}

/// The amount itself if it is short, else rounded up.
fn up(amount: &Amount) -> String {
    short(amount).unwrap_or_else(|| decimal::up(amount.upper(), TABLE_DIGITS))
}

/// The amount itself if it is short, else rounded down.
fn down(amount: &Amount) -> String {
    short(amount).unwrap_or_else(|| decimal::down(amount.lower(), TABLE_DIGITS))
}

fn short(amount: &Amount) -> Option<String> {
    let text = amount.to_string();
    if text.len() <= TABLE_DIGITS + 3 {
        return Some(text);
    }
    // 0.000...0001 is short with a power of ten.
    let digits = text.strip_prefix("0.")?;
    let significant = digits.trim_start_matches('0');
    let power = digits.len() - significant.len() + 1;
    match significant.len() {
        1 => Some(format!("{significant}e-{power}")),
        2..=TABLE_DIGITS => {
            let (first, rest) = significant.split_at(1);
            Some(format!("{first}.{rest}e-{power}"))
        }
        _ => None,
    }
}

/// A moment in Unix seconds, as a date and time of day.
fn time(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02}", second % 60)
}

/// The Gregorian date so many days after 1970-01-01, counted from March of the year 0, so
/// that leap days come last.
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

    #[test]
    fn amounts_are_short_or_rounded_to_the_safe_side() {
        let amount = |text: &str| text.parse::<Amount>().unwrap();
        for (text, shown) in [
            ("0.3", "0.3"),
            ("0.0000000000001", "1e-13"),
            ("0.0000025", "0.0000025"),
            ("0.00000000025", "2.5e-10"),
        ] {
            assert_eq!(up(&amount(text)), shown);
        }
        let third = amount("0.3333333333333333");
        assert_eq!((up(&third), down(&third)), ("0.3333334".into(), "0.3333333".into()));
    }

    #[test]
    fn a_bar_is_empty_only_if_nothing_is_spent() {
        let cost = |main: &str| Cost { main: main.parse().unwrap(), delta: Amount::ZERO };
        assert_eq!(bar(&cost("1"), &cost("0")), "[....................]");
        assert_eq!(bar(&cost("1"), &cost("0.001")), "[#...................]");
        assert_eq!(bar(&cost("1"), &cost("0.999")), "[####################]");
        assert_eq!(percent(&cost("1"), &cost("0.999")), "99.9 %");
        assert_eq!(percent(&cost("3"), &cost("3")), "100.0 %");
    }
}
