//! HTML tables of published numbers with their intervals.

use counterpoint_wire::publication::{PublishedNumber, PublishedStatistic};

use super::dimensions::{Dimension, TwoWay, dimensions, keys, two_way};
use super::numbers::{RoundedNumber, percentage, rounded};
use super::sentences::name;
use crate::plot::escaped;

/// The table of a statistic. Every number also carries all its digits for programs.
pub(super) fn table(statistic: &PublishedStatistic) -> String {
    let caption = caption(statistic);
    match two_way(statistic) {
        Some(cells) => crossed(statistic, &cells, &caption),
        None => long(statistic, &caption),
    }
}

/// A statistic's only number with its interval, as a line; `None` if there are several numbers.
pub(super) fn in_a_line(statistic: &PublishedStatistic) -> Option<String> {
    let [number] = &statistic.numbers[..] else { return None };
    let RoundedNumber { value, lower, upper } = rounded(statistic, number);
    Some(match (lower, upper) {
        (Some(lower), Some(upper)) if statistic.noise != "none" => {
            format!("{value} ({lower} to {upper})")
        }
        _ => value,
    })
}

fn caption(statistic: &PublishedStatistic) -> String {
    let name = name(&statistic.name);
    if statistic.noise == "none" {
        return format!("{name}: exact, as the number is public");
    }
    match confidence(statistic) {
        Some(confidence) => {
            format!("{name}, with {} intervals for the noise", percentage(confidence))
        }
        None => format!("{name}, with intervals for the noise"),
    }
}

/// The common confidence of a statistic's numbers; `None` if they differ.
pub(super) fn confidence(statistic: &PublishedStatistic) -> Option<f64> {
    let first = statistic.numbers.first()?.confidence;
    let is_common = statistic.numbers.iter().all(|own| own.confidence.to_bits() == first.to_bits());
    is_common.then_some(first)
}

fn heading(dimension: &Dimension<'_>) -> String {
    if dimension.is_column { name(dimension.name) } else { escaped(dimension.name) }
}

/// A table with one row per number.
fn long(statistic: &PublishedStatistic, caption: &str) -> String {
    let dimensions = dimensions(statistic);
    let has_confidence = confidence(statistic).is_none();
    let headings: Vec<String> = match dimensions.is_empty() {
        true => vec!["statistic".to_owned()],
        false => dimensions.iter().map(heading).collect(),
    };
    let key_columns =
        headings.iter().map(|text| format!(r#"<th scope="col" class="words">{text}</th>"#));
    let numbers = ["value", "from", "to"].into_iter().chain(has_confidence.then_some("confidence"));
    let columns = key_columns.chain(numbers.map(|text| format!(r#"<th scope="col">{text}</th>"#)));
    let mut text = format!("<table>\n<caption>{caption}</caption>\n<thead><tr>");
    text.extend(columns);
    text += "</tr></thead>\n<tbody>\n";
    for number in &statistic.numbers {
        let own = keys(statistic, number);
        let keys = if own.is_empty() { vec![statistic.name.as_str()] } else { own };
        text += "<tr>";
        text.extend(keys.iter().map(|key| format!(r#"<th scope="row">{}</th>"#, name(key))));
        text += &three(statistic, number);
        if has_confidence {
            text += &format!("<td>{}</td>", percentage(number.confidence));
        }
        text += "</tr>\n";
    }
    text + "</tbody>\n</table>\n"
}

/// The cells of a number: value, lower and upper end.
fn three(statistic: &PublishedStatistic, number: &PublishedNumber) -> String {
    let shown = rounded(statistic, number);
    let end = |end: Option<f64>, text: Option<String>| match (end, text) {
        (Some(end), Some(text)) => datum(end, &text),
        _ => NOTHING.to_owned(),
    };
    let value = datum(number.value, &shown.value);
    let (lower, upper) = (end(number.lower, shown.lower), end(number.upper, shown.upper));
    format!("<td><strong>{value}</strong></td><td>{lower}</td><td>{upper}</td>")
}

/// The text for an unknown number.
const NOTHING: &str = r#"<span class="none">not known</span>"#;

/// A number for readers, with all its digits for programs.
fn datum(number: f64, shown: &str) -> String {
    format!(r#"<data value="{number:?}">{shown}</data>"#)
}

/// A table of rows and columns; each cell has an interval.
fn crossed(statistic: &PublishedStatistic, cells: &TwoWay<'_>, caption: &str) -> String {
    let dimensions = dimensions(statistic);
    let (down, across) = (heading(&dimensions[cells.down]), heading(&dimensions[cells.across]));
    let wide = cells.columns.len();
    let mut text = format!(
        "<table class=\"crossed\">\n<caption>{caption}; in brackets from and to</caption>\n<thead>\n\
         <tr><td></td><th scope=\"colgroup\" colspan=\"{wide}\">{across}</th></tr>\n<tr><th scope=\"col\" class=\"words\">{down}</th>"
    );
    text.extend(cells.columns.iter().map(|key| format!(r#"<th scope="col">{}</th>"#, name(key))));
    text += "</tr>\n</thead>\n<tbody>\n";
    for row in &cells.rows {
        text += &format!(r#"<tr><th scope="row">{}</th>"#, name(row));
        for column in &cells.columns {
            text += &match cells.cells.get(&(*row, *column)) {
                Some(number) => cell(statistic, number),
                None => r#"<td><span class="none">not published</span></td>"#.to_owned(),
            };
        }
        text += "</tr>\n";
    }
    text + "</tbody>\n</table>\n"
}

fn cell(statistic: &PublishedStatistic, number: &PublishedNumber) -> String {
    let shown = rounded(statistic, number);
    let value = datum(number.value, &shown.value);
    let ends = match (number.lower.zip(shown.lower), number.upper.zip(shown.upper)) {
        (Some((lower, low)), Some((upper, high))) => {
            format!("({} to {})", datum(lower, &low), datum(upper, &high))
        }
        (Some((lower, low)), None) => format!("(from {})", datum(lower, &low)),
        (None, Some((upper, high))) => format!("(to {})", datum(upper, &high)),
        (None, None) => String::new(),
    };
    let confidence = match confidence(statistic) {
        None => format!(" at {}", percentage(number.confidence)),
        Some(_) => String::new(),
    };
    format!(r#"<td><strong>{value}</strong> <span class="ends">{ends}{confidence}</span></td>"#)
}
