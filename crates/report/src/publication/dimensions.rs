//! The dimensions of a statistic's numbers: its grouping columns and its parts.

use std::collections::{HashMap, HashSet};

use counterpoint_wire::publication::{PublishedNumber, PublishedStatistic};

/// A dimension of a statistic's numbers.
pub(super) struct Dimension<'a> {
    /// The name of a column, or of the parts.
    pub(super) name: &'a str,
    /// True if the dimension is a column.
    pub(super) is_column: bool,
}

/// The dimensions of a statistic; none for a single number.
pub(super) fn dimensions(statistic: &PublishedStatistic) -> Vec<Dimension<'_>> {
    let column = |name| Dimension { name, is_column: true };
    let mut all: Vec<_> = statistic.by.iter().map(|name| column(name.as_str())).collect();
    if has_parts(statistic) {
        all.push(Dimension { name: part_name(statistic), is_column: false });
    }
    all
}

/// True if the planned error of a kind is in ranks.
pub(super) fn measures_ranks(kind: &str) -> bool {
    matches!(kind, "quantiles" | "median")
}

/// True if the parts of a statistic are bins of numbers.
pub(super) fn has_bins(statistic: &PublishedStatistic) -> bool {
    statistic.numbers.iter().all(|number| bin(&number.part).is_some())
}

fn has_parts(statistic: &PublishedStatistic) -> bool {
    statistic.numbers.iter().any(|number| !number.part.is_empty())
}

/// The name of the parts of a statistic.
fn part_name(statistic: &PublishedStatistic) -> &'static str {
    match statistic.kind.as_str() {
        "histogram" if has_bins(statistic) => "bin",
        "histogram" => "category",
        "quantiles" | "median" => "share of rows below",
        "cdf" => "below",
        "regression" => "coefficient",
        _ => "part",
    }
}

/// The keys of a number, one for each dimension.
pub(super) fn keys<'a>(
    statistic: &'a PublishedStatistic,
    number: &'a PublishedNumber,
) -> Vec<&'a str> {
    let groups = (0..statistic.by.len()).map(|at| number.group.get(at).map_or("", String::as_str));
    let part = has_parts(statistic).then_some(number.part.as_str());
    groups.chain(part).collect()
}

/// Parses the two ends of a bin: a part with two increasing numbers, such as `[0, 10)` or `0..10`.
pub(super) fn bin(part: &str) -> Option<(f64, f64)> {
    match numbers(part)[..] {
        [from, to] if from < to => Some((from, to)),
        _ => None,
    }
}

/// Parses a part with one number, such as `10` or `< 10`.
pub(super) fn place(part: &str) -> Option<f64> {
    match numbers(part)[..] {
        [place] => Some(place),
        _ => None,
    }
}

fn numbers(part: &str) -> Vec<f64> {
    let between = |letter: char| letter.is_whitespace() || "[](),;<>=≤≥–".contains(letter);
    let spaced = part.replace("..", " ");
    let words = spaced.split(between).filter_map(|word| word.parse().ok());
    words.filter(|number: &f64| number.is_finite()).collect()
}

/// Numbers in rows and columns.
pub(super) struct TwoWay<'a> {
    pub(super) rows: Vec<&'a str>,
    pub(super) columns: Vec<&'a str>,
    /// The indices of the dimensions of rows and columns.
    pub(super) down: usize,
    pub(super) across: usize,
    pub(super) cells: HashMap<(&'a str, &'a str), &'a PublishedNumber>,
}

/// More columns would be too wide for a printed page.
const MAX_COLUMNS: usize = 6;

/// Arranges the numbers of a statistic with two dimensions in rows and columns; `None` if the table would be too wide,
/// or if two numbers have the same place.
pub(super) fn two_way(statistic: &PublishedStatistic) -> Option<TwoWay<'_>> {
    if dimensions(statistic).len() != 2 {
        return None;
    }
    let distinct = |at: usize| {
        let mut seen = HashSet::new();
        let keys =
            statistic.numbers.iter().filter_map(|number| keys(statistic, number).get(at).copied());
        keys.filter(|key| seen.insert(*key)).collect::<Vec<_>>()
    };
    let (first, second) = (distinct(0), distinct(1));
    let (down, across, rows, columns) = match (first.len(), second.len()) {
        (_, ..=MAX_COLUMNS) => (0, 1, first, second),
        (..=MAX_COLUMNS, _) => (1, 0, second, first),
        _ => return None,
    };
    let place = |number| {
        let keys = keys(statistic, number);
        ((keys[down], keys[across]), number)
    };
    let cells: HashMap<_, _> = statistic.numbers.iter().map(place).collect();
    let is_whole = cells.len() == statistic.numbers.len();
    is_whole.then_some(TwoWay { rows, columns, down, across, cells })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_and_places_are_read() {
        for part in ["[0, 2.5)", "0..2.5", "0 to 2.5", "[0,2.5]", "0 – 2.5"] {
            assert_eq!(bin(part), Some((0.0, 2.5)), "{part}");
        }
        assert_eq!(bin("[-10, -1e1)"), None);
        assert_eq!(bin("[-10, -5)"), Some((-10.0, -5.0)));
        for part in ["north", "", "3", "NaN inf", "1 2 3"] {
            assert_eq!(bin(part), None, "{part}");
        }
        assert_eq!(place("< -3.5"), Some(-3.5));
        assert_eq!(place("below 10"), Some(10.0));
        assert_eq!(place("x"), None);
    }
}
