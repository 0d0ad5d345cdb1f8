use counterpoint::quantity::format_number;
use counterpoint_papers::noise::AdviceError;
use counterpoint_studies::{NoiseRules, RuleAdvice};
use counterpoint_wire::{GuaranteeConversion, decimal};

use crate::columns::Align::{Left, Right};
use crate::columns::columns;
use crate::compose::aligned_rows;
use crate::wording::{self, TABLE_DIGITS};

/// Shows a converted guarantee.
#[must_use]
pub fn convert(converted: &GuaranteeConversion) -> String {
    let mut rows = vec![
        ("epsilon", format!("{} (given)", format_number(converted.from.epsilon.get()))),
        ("delta", format!("{} (given)", format_number(converted.from.delta.get()))),
        ("total variation", wording::certified(converted.total_variation)),
    ];
    if let Some((epsilon, delta)) = converted.delta {
        rows.push((
            "delta there",
            format!("{}\nat epsilon {}", wording::certified(delta), format_number(epsilon.get())),
        ));
    }
    if let Some((delta, epsilon)) = converted.epsilon {
        let least = epsilon
            .map_or("none: the guarantee's own delta is more".to_owned(), wording::certified);
        rows.push(("epsilon there", format!("{least}\nat delta {}", format_number(delta.get()))));
    }
    if let Some((to, implied)) = converted.implied {
        let (epsilon, delta) = (format_number(to.epsilon.get()), format_number(to.delta.get()));
        let verdict =
            if implied { "yes" } else { "no: some mechanism has the one and not the other" };
        rows.push(("implied", format!("{verdict}\n(epsilon {epsilon}, delta {delta})")));
    }
    rows.push(("theorem", GuaranteeConversion::SOURCE.to_owned()));
    aligned_rows(rows)
}

/// Shows the noise that published rules require, and if it suffices.
#[must_use]
pub fn noise(rules: &NoiseRules) -> String {
    let head = aligned_rows([
        (
            "epsilon",
            format!(
                "{} (target, of all queries together)",
                format_number(rules.target.epsilon.get())
            ),
        ),
        ("delta", format!("{} (target)", format_number(rules.target.delta.get()))),
        ("queries", rules.count.get().to_string()),
        ("sensitivity", format_number(rules.sensitivity.get())),
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

fn said(advised: &RuleAdvice, source: &str) -> [String; 4] {
    let shown = wording::round;
    let with = match (advised.parameter, advised.each) {
        (Some((name, value)), _) => format!("{name} {}", shown(value)),
        // Budgets of single queries are rounded down, which is safe.
        (None, Some(each)) => {
            let down = |x: f64| decimal::down(x, TABLE_DIGITS);
            format!("epsilon {}, delta {} each", down(each.epsilon.get()), down(each.delta.get()))
        }
        (None, None) => String::new(),
    };
    let number = |x: Option<f64>| x.map_or("-".to_owned(), shown);
    [number(advised.variance), with, number(advised.delta), source.to_owned()]
}

fn refused(reason: &AdviceError, source: &str) -> [String; 4] {
    let why = match reason {
        AdviceError::NotConfirmed { .. } => format!("fails here ({source}): {reason}"),
        _ => format!("does not apply ({source}): {reason}"),
    };
    let achieved = match reason {
        AdviceError::NotConfirmed { achieved, .. } => decimal::up(*achieved, TABLE_DIGITS),
        _ => "-".to_owned(),
    };
    ["-".to_owned(), String::new(), achieved, why]
}
