//! Shows a ledger's accounts.

mod history;
mod odometer;
mod release;

use std::collections::BTreeMap;

use counterpoint_budget::Amount;
use counterpoint_wire::decimal;
use counterpoint_wire::ledger::{
    AccountStatus, Cost, Headroom, PendingKey, PromiseRecord, QuotaStatus, SlotStatus,
    SpentEpsilon, SpentSetting, Status, VerifyResult,
};

use crate::columns::Align::{Left, Right};
use crate::columns::columns;
use crate::compose::aligned_rows;
use crate::wording::TABLE_DIGITS;

pub use history::history;
pub use odometer::odometer;
use release::state_text;
pub use release::{committed, pending, price, reserved, responses, responses_end, session};

/// The length of a bar in characters.
const BAR: usize = 20;

/// The most pending keys of an account that are shown.
const MAX_KEYS: usize = 5;

/// Shows data sets and accounts with their spent and remaining budgets and their pending keys. A single account is
/// shown with its slots and quotas.
#[must_use]
pub fn status(status: &Status, pending: &[PendingKey]) -> String {
    let head = aligned_rows([("head", status.head.clone())]);
    match status.accounts.as_slice() {
        [] => format!("{head}\nno data sets yet\n"),
        [one] if one.parent.is_some() || !one.slots.is_empty() => {
            format!("{}\n{head}", account(one, pending))
        }
        all => format!("{}\n{head}", overview(all, pending)),
    }
}

fn overview(accounts: &[AccountStatus], pending: &[PendingKey]) -> String {
    let heading = ["account", "kind", "epsilon", "delta", "spent", "left", "of", "", "", ""];
    let mut rows = vec![heading.map(str::to_owned)];
    for (depth, account) in in_families(accounts) {
        rows.push(row(depth, account));
        let under = keys(&account.name, pending).into_iter().map(|(key, what)| {
            let mut row: [String; 10] = Default::default();
            (row[0], row[1]) = (format!("{}{key}", "  ".repeat(depth + 1)), what);
            row
        });
        rows.extend(under);
    }
    columns([Left, Left, Right, Right, Right, Right, Left, Left, Right, Left], &rows)
}

/// An account's row: promise, spent and remaining budget, and a bar of the total that binds.
fn row(depth: usize, account: &AccountStatus) -> [String; 10] {
    let [spent, left] = spent_and_left(&account.capacity, &account.spent);
    let [main, delta] = promise(&account.promise);
    let (share, what) = binding(account.unit, &account.capacity, &account.spent);
    [
        format!("{}{}", "  ".repeat(depth), account.name),
        account.kind.clone() + closed(account),
        main,
        delta,
        spent,
        left,
        account.unit.to_owned(),
        bar(share),
        percent(share),
        format!("of {what}"),
    ]
}

/// The pending keys of an account: the first ones, and the number of further ones.
fn keys(account: &str, pending: &[PendingKey]) -> Vec<(String, String)> {
    let own: Vec<_> = pending.iter().filter(|one| one.account == account).collect();
    let shown = own.iter().take(MAX_KEYS);
    let mut list: Vec<_> = shown.map(|one| (one.key.clone(), state_text(one))).collect();
    if own.len() > MAX_KEYS {
        list.push((format!("and {} more", own.len() - MAX_KEYS), "see pending".to_owned()));
    }
    list
}

/// Each data set, followed by its accounts, each followed by the accounts within its slots; with the depth of each.
fn in_families(accounts: &[AccountStatus]) -> Vec<(usize, &AccountStatus)> {
    let mut children: BTreeMap<Option<&str>, Vec<&AccountStatus>> = BTreeMap::new();
    for account in accounts.iter().rev() {
        children.entry(account.parent.as_deref()).or_default().push(account);
    }
    let mut rest: Vec<_> = children.remove(&None).unwrap_or_default();
    let mut rest: Vec<_> = rest.drain(..).map(|dataset| (0, dataset)).collect();
    let mut list = Vec::with_capacity(accounts.len());
    while let Some((depth, account)) = rest.pop() {
        list.push((depth, account));
        let own = children.remove(&Some(account.name.as_str())).unwrap_or_default();
        rest.extend(own.into_iter().map(|child| (depth + 1, child)));
    }
    list
}

fn closed(account: &AccountStatus) -> &'static str {
    if account.closed { ", closed" } else { "" }
}

/// The promised epsilon and its delta.
fn promise(promise: &PromiseRecord) -> [String; 2] {
    match promise {
        PromiseRecord::ApproxDp { epsilon, delta } => [up(epsilon), up(delta)],
        PromiseRecord::Zcdp { rho, delta } => [format!("rho {}", up(rho)), up(delta)],
        PromiseRecord::Gdp { mu } => [format!("mu {}", up(mu)), String::new()],
        PromiseRecord::Renyi { order, tau } => {
            [format!("tau {} at order {}", up(tau), up(order)), String::new()]
        }
        _ => [String::new(), String::new()],
    }
}

/// Describes a promise.
fn promised(promised: &PromiseRecord) -> String {
    match (promised, promise(promised)) {
        (PromiseRecord::ApproxDp { .. }, [epsilon, delta]) => {
            format!("epsilon {epsilon}, delta {delta}")
        }
        (PromiseRecord::Zcdp { .. }, [rho, delta]) => format!("{rho}, delta {delta}"),
        (_, [main, _]) => main,
    }
}

fn account(account: &AccountStatus, pending: &[PendingKey]) -> String {
    let order = account.order.as_ref().map(|order| format!(", order {}", up(order)));
    let Cost { main, delta, pure } = &account.capacity;
    let mut spent = lines(account.unit, main, &account.spent.main);
    if !delta.is_zero() {
        spent += &lines("delta", delta, &account.spent.delta);
    } else if account.kind != "plan" {
        spent += "(no delta is set aside: a release with one of its own is refused)\n";
    }
    if let (Some(pure), Some(sum)) = (pure, &account.spent.pure) {
        spent += "or, as long as all is pure\n";
        spent += &lines("epsilon", pure, sum);
    }
    let records = if account.records == 1 { "record" } else { "records" };
    let kind = account.kind.clone() + &order.unwrap_or_default() + closed(account);
    let promise = promised(&account.promise);
    let mut text = aligned_rows([
        ("account", account.name.clone()),
        ("under", under(account)),
        ("neighbours", format!("{}, {} {records} a person", account.adjacency, account.records)),
        ("kind", kind),
        ("promise", format!("{promise}\n(for the whole account, however little is spent)")),
        (
            "spent",
            spent + &account.spent_epsilon.as_ref().map(spent_epsilon_text).unwrap_or_default(),
        ),
        ("still fits", account.room.as_ref().map_or_else(|| "nothing".to_owned(), fitting)),
        ("charges", account.charges.to_string()),
    ]);
    let open = keys(&account.name, pending);
    if !open.is_empty() {
        let rows: Vec<_> = open.into_iter().map(|(key, what)| [key, what]).collect();
        let heading = ["key", ""].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
        text += &format!("\n{}", columns([Left, Left], &rows));
    }
    if !account.slots.is_empty() {
        text += &format!("\n{}", slots(&account.slots));
    }
    if !account.quotas.is_empty() {
        text += &format!("\n{}", quotas(account.unit, &account.quotas));
    }
    text
}

/// The largest single releases that fit; only one of them does.
fn fitting(room: &Headroom) -> String {
    match room.phrases() {
        list if list.is_empty() => "nothing".to_owned(),
        list => list.join("\nor "),
    }
}

/// The loss so far as an epsilon, and the setting in which the epsilon holds.
fn spent_epsilon_text(spent: &SpentEpsilon) -> String {
    let (epsilon, delta) = (up(&spent.epsilon), up(&spent.delta));
    let setting = setting(spent.setting);
    format!(
        "so far: epsilon at most {epsilon} at delta {delta}\n(certified at all times at once; {setting})\n"
    )
}

/// Describes what may be chosen adaptively, and in which order.
fn setting(setting: SpentSetting) -> String {
    let parameters = match setting.parameters {
        "adaptive" => "whatever is asked next, parameters chosen from earlier answers",
        _ => "parameters fixed before the first answer",
    };
    let order =
        if setting.concurrent { "sequentially or concurrently" } else { "one after the other" };
    format!("{parameters}; {order}")
}

/// The parent that was charged for an account, and the part of the data.
fn under(account: &AccountStatus) -> String {
    let parent = account.parent.as_deref().unwrap_or("nothing");
    let under = match &account.slot {
        Some(slot) => format!("slot {slot:?} of account {parent}"),
        None => format!("data set {parent}"),
    };
    let part = account.part.as_ref().map(|part| format!("\n(about part {part:?} of the data)"));
    under + &part.unwrap_or_default()
}

/// One total as a bar, with its spent and remaining amounts.
fn lines(unit: &str, capacity: &Amount, spent: &Amount) -> String {
    let left = capacity.checked_sub(spent).unwrap_or_default();
    format!(
        "{} {} of {} {unit}, {} left\n",
        bar(share(capacity, spent)),
        up(spent),
        down(capacity),
        down(&left)
    )
}

fn slots(slots: &[SlotStatus]) -> String {
    let heading = ["slot", "used", "of", ""];
    let row = |slot: &SlotStatus| {
        let filled = bar(share(&slot.count.into(), &slot.used.into()));
        let part = slot.part.as_ref().map(|part| format!(" (part {part:?})"));
        let name = slot.name.clone() + &part.unwrap_or_default();
        [name, slot.used.to_string(), slot.count.to_string(), filled]
    };
    let rows: Vec<_> =
        std::iter::once(heading.map(str::to_owned)).chain(slots.iter().map(row)).collect();
    columns([Left, Right, Right, Left], &rows)
}

fn quotas(unit: &'static str, quotas: &[QuotaStatus]) -> String {
    let heading = ["analyst", "spent", "left", "releases", "", ""];
    let row = |quota: &QuotaStatus| {
        let [spent, left] = spent_and_left(&quota.capacity, &quota.spent);
        let (share, what) = binding(unit, &quota.capacity, &quota.spent);
        let releases = quota.releases.to_string();
        [quota.analyst.clone(), spent, left, releases, bar(share), format!("of {what}")]
    };
    let rows: Vec<_> =
        std::iter::once(heading.map(str::to_owned)).chain(quotas.iter().map(row)).collect();
    columns([Left, Right, Right, Right, Left, Left], &rows)
}

/// Shows the result of `verify`, and what a verification cannot exclude.
#[must_use]
pub fn verified(verified: &VerifyResult) -> String {
    let found = verified.expected.as_ref().map(|head| format!("{head} (found)"));
    let open = match verified.not_excluded.as_slice() {
        [] => "nothing, if the expected head was kept elsewhere".to_owned(),
        list => list.join("\n"),
    };
    aligned_rows([
        ("outcome", verified.outcome.to_owned()),
        ("head", verified.head.clone()),
        ("expected", found.unwrap_or_else(|| "no head was given (--expect-head)".to_owned())),
        ("not excluded", open),
    ])
}

fn spent_and_left(capacity: &Cost, spent: &Cost) -> [String; 2] {
    [up(&spent.main), down(&capacity.main.checked_sub(&spent.main).unwrap_or_default())]
}

/// The spent share of the total that binds, and the name of that total: the one with the larger spent share. If own
/// epsilons are added up as well, either total admits a release, so the one with more left binds.
fn binding(unit: &'static str, capacity: &Cost, spent: &Cost) -> (f64, &'static str) {
    let main = (share(&capacity.main, &spent.main), unit);
    let delta = (share(&capacity.delta, &spent.delta), "delta");
    let totals = if delta.0 > main.0 { delta } else { main };
    let pure = capacity.pure.as_ref().zip(spent.pure.as_ref());
    let pure = pure.map(|(capacity, spent)| (share(capacity, spent), "epsilon"));
    pure.filter(|pure| pure.0 < totals.0).unwrap_or(totals)
}

/// The spent share of a total, rounded up.
fn share(capacity: &Amount, spent: &Amount) -> f64 {
    match (spent.is_zero(), capacity.is_zero()) {
        (true, _) => 0.0,
        (false, true) => 1.0,
        (false, false) => (spent.upper() / capacity.lower()).min(1.0),
    }
}

/// A bar of the spent share, rounded up: an empty bar means that nothing is spent.
fn bar(share: f64) -> String {
    let filled = ((share * BAR as f64).ceil() as usize).min(BAR);
    format!("[{}{}]", "#".repeat(filled), ".".repeat(BAR - filled))
}

fn percent(share: f64) -> String {
    // Zero is shown as 0.0, not -0.0.
    let tenths = (share * 1000.0 - 1e-9).ceil().max(0.0) + 0.0;
    format!("{:.1} %", tenths / 10.0)
}

/// The amount in full if it is short, otherwise rounded up.
fn up(amount: &Amount) -> String {
    short(amount).unwrap_or_else(|| decimal::up(amount.upper(), TABLE_DIGITS))
}

/// The amount in full if it is short, otherwise rounded down.
fn down(amount: &Amount) -> String {
    short(amount).unwrap_or_else(|| decimal::down(amount.lower(), TABLE_DIGITS))
}

fn short(amount: &Amount) -> Option<String> {
    let text = amount.to_string();
    if text.len() <= TABLE_DIGITS + 3 {
        return Some(text);
    }
    // 0.000...0001 is short as a power of ten.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short_or_rounded_to_the_safe_side() {
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

    fn amount(text: &str) -> Amount {
        text.parse().unwrap()
    }

    #[test]
    fn a_bar_is_empty_only_if_nothing_is_spent() {
        let spent = |text: &str| share(&amount("1"), &amount(text));
        assert_eq!(bar(spent("0")), "[....................]");
        assert_eq!(bar(spent("0.001")), "[#...................]");
        assert_eq!(bar(spent("0.999")), "[####################]");
        assert_eq!(percent(spent("0.999")), "99.9 %");
        assert_eq!(percent(share(&amount("3"), &amount("3"))), "100.0 %");
    }

    #[test]
    fn the_bar_shows_the_total_that_binds_and_says_which() {
        let cost = |main: &str, delta: &str, pure: Option<&str>| Cost {
            main: amount(main),
            delta: amount(delta),
            pure: pure.map(amount),
        };
        let bound = |capacity: &Cost, spent: &Cost| {
            let (share, what) = binding("rho", capacity, spent);
            format!("{} of {what}", percent(share))
        };
        let plain = cost("5", "0.000001", None);
        assert_eq!(bound(&plain, &cost("0", "0", None)), "0.0 % of rho");
        assert_eq!(bound(&plain, &cost("1", "0", None)), "20.0 % of rho");
        assert_eq!(bound(&plain, &cost("1", "0.000001", None)), "100.0 % of delta");
        assert_eq!(bound(&plain, &cost("4", "0.0000005", None)), "80.0 % of rho");
        // A total of zero binds as soon as something of it is spent.
        assert_eq!(bound(&cost("5", "0", None), &cost("1", "0.1", None)), "100.0 % of delta");
        // While all releases are pure, either total admits them.
        let either = cost("5", "0.000001", Some("2"));
        assert_eq!(bound(&either, &cost("4", "0", Some("1"))), "50.0 % of epsilon");
        assert_eq!(bound(&either, &cost("6", "0", Some("1.5"))), "75.0 % of epsilon");
        assert_eq!(bound(&either, &cost("1", "0", Some("1"))), "20.0 % of rho");
        // A release that is not pure ends that.
        assert_eq!(bound(&either, &cost("4", "0", None)), "80.0 % of rho");
    }
}
