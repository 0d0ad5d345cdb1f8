//! Sentences about statistics, data and guarantees.

use counterpoint_wire::publication::{PublishedColumn, PublishedData, PublishedStatistic};

use super::dimensions::has_bins;
use super::numbers::{exact, whole};
use crate::plot::escaped;

/// A part of a sentence.
pub(super) enum Phrase {
    /// Text of this program.
    Words(String),
    /// A name from the study.
    Name(String),
    /// A condition from the study.
    Code(String),
}

/// Formats a sentence as HTML. A right-to-left name does not affect its neighbours.
pub(super) fn html(pieces: &[Phrase]) -> String {
    let piece = |piece: &Phrase| match piece {
        Phrase::Words(words) => escaped(words),
        Phrase::Name(text) => name(text),
        Phrase::Code(text) => code(text),
    };
    pieces.iter().map(piece).collect()
}

/// Formats a sentence as text.
pub(super) fn text(pieces: &[Phrase]) -> String {
    let piece = |piece: &Phrase| match piece {
        Phrase::Words(text) | Phrase::Name(text) | Phrase::Code(text) => text.clone(),
    };
    pieces.iter().map(piece).collect()
}

/// Longer words may be broken anywhere, so that the page does not become too wide.
const LONGEST_WORD: usize = 24;

/// Formats a name from the study as HTML.
pub(super) fn name(text: &str) -> String {
    let is_unbroken = text.split_whitespace().any(|word| word.chars().count() > LONGEST_WORD);
    let class = if is_unbroken { r#" class="unbroken""# } else { "" };
    format!("<bdi{class}>{}</bdi>", escaped(text))
}

/// Formats a condition or a command as HTML.
pub(super) fn code(text: &str) -> String {
    format!(r#"<code dir="ltr">{}</code>"#, escaped(text))
}

fn words(text: &str) -> Phrase {
    Phrase::Words(text.to_owned())
}

/// A list of names with commas and a final "and".
pub(super) fn listed(names: &[String]) -> Vec<Phrase> {
    let mut pieces = Vec::new();
    for (place, name) in names.iter().enumerate() {
        match place {
            0 => {}
            _ if place + 1 == names.len() => pieces.push(words(" and ")),
            _ => pieces.push(words(", ")),
        }
        pieces.push(Phrase::Name(name.clone()));
    }
    pieces
}

/// Describes a statistic in a sentence.
pub(super) fn sentence(statistic: &PublishedStatistic) -> Vec<Phrase> {
    let mut pieces = subject(statistic);
    if let Some(condition) = &statistic.condition {
        pieces.push(words(", for rows where "));
        pieces.push(Phrase::Code(condition.clone()));
    }
    if !statistic.by.is_empty() {
        pieces.push(words(", by "));
        pieces.extend(listed(&statistic.by));
    }
    pieces.push(words("."));
    pieces
}

fn subject(statistic: &PublishedStatistic) -> Vec<Phrase> {
    let kind = statistic.kind.replace(['-', '_'], " ");
    let columns = &statistic.columns;
    let of = |start: &str| {
        let mut pieces = vec![words(start)];
        pieces.extend(listed(columns));
        pieces
    };
    match (kind.as_str(), columns.split_first()) {
        ("count", _) => vec![words("The number of rows")],
        ("people", _) => vec![words("The number of people")],
        ("proportion", _) if statistic.values.is_some() => {
            let values = statistic.values.clone().unwrap_or_default();
            vec![words("The proportion of rows with "), Phrase::Code(values)]
        }
        ("quantiles", Some(_)) => of("Quantiles of "),
        ("histogram", Some(_)) if has_bins(statistic) => of("The number of rows in each bin of "),
        ("histogram", Some(_)) => of("The number of rows in each category of "),
        ("cdf", Some(_)) => of("The number of rows below each of several values of "),
        ("regression", Some((outcome, predictors))) => {
            let mut pieces = vec![words("The coefficients of a linear regression of ")];
            pieces.push(Phrase::Name(outcome.clone()));
            if !predictors.is_empty() {
                pieces.push(words(" on "));
            }
            pieces.extend(listed(predictors));
            pieces
        }
        (kind, Some(_)) => of(&format!("The {kind} of ")),
        (kind, None) => vec![words(&format!("The {kind}"))],
    }
}

/// Explains how to read numbers of a kind, if that is not obvious.
pub(super) fn hint(statistic: &PublishedStatistic) -> Option<&'static str> {
    Some(match statistic.kind.as_str() {
        "quantiles" | "median" => {
            "A share of 0.25 stands for the value below which a quarter of the rows lie; 0.5 is the median."
        }
        "histogram" if has_bins(statistic) => {
            "A bin written [a, b) holds the values from a up to, but not including, b."
        }
        "cdf" => "Each number counts the rows whose value is below the value that is named.",
        "regression" => {
            "A coefficient is by how much the outcome changes, on average, if its column grows by 1 and the others stay."
        }
        _ => return None,
    })
}

/// Describes a kind of noise.
pub(super) fn noise(noise: &str) -> String {
    match noise {
        "none" => "no noise: the number is public".to_owned(),
        "laplace" => "Laplace noise".to_owned(),
        "gaussian" => "Gaussian noise".to_owned(),
        "exponential" => "a random choice by the exponential mechanism".to_owned(),
        other => other.to_owned(),
    }
}

/// Describes the privacy unit.
pub(super) fn unit(data: &PublishedData) -> Vec<Phrase> {
    let rows = match data.rows {
        1 => "at most one row is used".to_owned(),
        rows => format!("at most {} rows are used", whole(rows)),
    };
    match &data.person {
        Some(column) => vec![
            words("one person: all rows with the same value of "),
            Phrase::Name(column.clone()),
            words(&format!(", of which {rows}")),
        ],
        None if data.rows == 1 => {
            vec![words("one row: each row is taken to be a different person")]
        }
        None => vec![words(&format!("one person, of whose rows {rows}"))],
    }
}

/// Describes the difference of two neighbouring data sets.
pub(super) fn relation(data: &PublishedData) -> &'static str {
    match data.adjacency.as_str() {
        "add-remove" => "one person is added to the data or removed from them (add-remove)",
        "replace" => {
            "one person’s data are replaced by any other data, while the number of people stays the same (replace)"
        }
        _ => "one person’s data are different",
    }
}

/// Describes what an attacker tries to find out.
pub(super) fn secret(data: &PublishedData) -> &'static str {
    match data.adjacency.as_str() {
        "add-remove" => "whether a particular person is in the data",
        _ => "which of two possible versions of one person’s data is the true one",
    }
}

/// The largest probability of guessing correctly between two equally likely possibilities: (e^epsilon + delta) / (1 +
/// e^epsilon).
pub(super) fn best_guess(epsilon: f64, delta: f64) -> f64 {
    1.0 - (1.0 - delta) / (1.0 + epsilon.exp())
}

/// More categories are not listed.
const MAX_CATEGORIES: usize = 60;

/// Describes what was declared about a column's values.
pub(super) fn declared(column: &PublishedColumn) -> Vec<Phrase> {
    let mut pieces = Vec::new();
    if let Some((low, high)) = column.bounds {
        let (low, high) = (exact(low), exact(high));
        pieces.push(words(&format!(
            "Numbers from {low} to {high}. Values outside are moved to the nearer bound."
        )));
    }
    if let Some(categories) = &column.categories {
        let listed_count = categories.len().min(MAX_CATEGORIES);
        pieces.push(words("Categories: "));
        pieces.extend(listed(&categories[..listed_count]));
        match categories.len() - listed_count {
            0 => pieces.push(words(". Other values are not counted.")),
            more => pieces.push(words(&format!(
                ", and {} more (release.json lists all). Other values are not counted.",
                whole(more as u64)
            ))),
        }
    }
    if pieces.is_empty() {
        pieces.push(words("Nothing was declared."));
    }
    pieces
}

/// Describes how missing values are treated.
pub(super) fn missing(column: &PublishedColumn) -> String {
    match column.missing {
        Some(number) => format!("{} is used instead.", exact(number)),
        None => "Rows without a value are left out.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least sum of false alarms and misses of (epsilon, delta) privacy is at the corner where both are equal.
    #[test]
    fn the_best_guess_is_at_the_corner_of_the_trade_off() {
        for (epsilon, delta) in [(0.0, 0.0), (0.5, 1e-6), (1.0, 0.0), (3.0, 0.1), (800.0, 0.0)] {
            let mut least = f64::INFINITY;
            for step in 0..=20_000 {
                let alarms = f64::from(step) / 20_000.0;
                let grown = f64::exp(epsilon);
                let misses = [0.0, 1.0 - delta - grown * alarms, (1.0 - delta - alarms) / grown];
                least = misses.into_iter().fold(0.0, f64::max).mul_add(1.0, alarms).min(least);
            }
            let found = best_guess(epsilon, delta);
            assert!((found - (1.0 - least / 2.0)).abs() < 1e-4, "{epsilon} {delta} {found}");
        }
        let by_hand = (1_f64.exp() + 1e-6) / (1.0 + 1_f64.exp());
        assert!((best_guess(1.0, 1e-6) - by_hand).abs() < 1e-15);
    }
}
