use counterpoint::quantity::plain;
use counterpoint_papers::noise::NoAdvice;
use counterpoint_wire::{Advised, Converted, NoiseRules, decimal};

use crate::columns::Side::{Left, Right};
use crate::columns::columns;
use crate::compose::listed;
use crate::words::{self, TABLE_DIGITS};

/// A guarantee in other words.
#[must_use]
pub fn convert(converted: &Converted) -> String {
    let mut rows = vec![
        ("epsilon", format!("{} (given)", plain(converted.from.epsilon.get()))),
        ("delta", format!("{} (given)", plain(converted.from.delta.get()))),
        ("total variation", words::certified(converted.total_variation)),
    ];
    if let Some((epsilon, delta)) = converted.delta {
        rows.push((
            "delta there",
            format!("{}\nat epsilon {}", words::certified(delta), plain(epsilon.get())),
        ));
    }
    if let Some((delta, epsilon)) = converted.epsilon {
        let least =
            epsilon.map_or("none: the guarantee's own delta is more".to_owned(), words::certified);
        rows.push(("epsilon there", format!("{least}\nat delta {}", plain(delta.get()))));
    }
    if let Some((to, implied)) = converted.implied {
        let (epsilon, delta) = (plain(to.epsilon.get()), plain(to.delta.get()));
        let verdict =
            if implied { "yes" } else { "no: some mechanism has the one and not the other" };
        rows.push(("implied", format!("{verdict}\n(epsilon {epsilon}, delta {delta})")));
    }
    rows.push(("theorem", Converted::SOURCE.to_owned()));
    listed(rows)
}

/// What published rules say, and whether it is so.
#[must_use]
pub fn noise(rules: &NoiseRules) -> String {
    let head = listed([
        (
            "epsilon",
            format!("{} (target, of all queries together)", plain(rules.target.epsilon.get())),
        ),
        ("delta", format!("{} (target)", plain(rules.target.delta.get()))),
        ("queries", rules.count.get().to_string()),
        ("sensitivity", plain(rules.sensitivity.get())),
    ]);
    let heading = ["rule", "variance", "with", "keeps delta", "source"].map(str::to_owned);
    let rows = rules.rules.iter().map(|(rule, advised)| {
        let [variance, with, kept, last] = match advised {
            Ok(advised) => said(advised, rule.source()),
            Err(reason) => refused(reason, rule.source()),
        };
        [rule.name().to_owned(), variance, with, kept, last]
    });
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    format!("{head}\n{}", columns([Left, Right, Left, Right, Left], &rows))
}

fn said(advised: &Advised, source: &str) -> [String; 4] {
    let shown = words::round;
    let with = match (advised.parameter, advised.each) {
        (Some((name, value)), _) => format!("{name} {}", shown(value)),
        // What each may have is rounded down: less is no harm.
        (None, Some(each)) => {
            let down = |x: f64| decimal::down(x, TABLE_DIGITS);
            format!("epsilon {}, delta {} each", down(each.epsilon.get()), down(each.delta.get()))
        }
        (None, None) => String::new(),
    };
    let number = |x: Option<f64>| x.map_or("-".to_owned(), shown);
    [number(advised.variance), with, number(advised.delta), source.to_owned()]
}

fn refused(reason: &NoAdvice, source: &str) -> [String; 4] {
    let why = match reason {
        NoAdvice::NotConfirmed { .. } => format!("fails here ({source}): {reason}"),
        _ => format!("does not apply ({source}): {reason}"),
    };
    let achieved = match reason {
        NoAdvice::NotConfirmed { achieved, .. } => decimal::up(*achieved, TABLE_DIGITS),
        _ => "-".to_owned(),
    };
    ["-".to_owned(), String::new(), achieved, why]
}
