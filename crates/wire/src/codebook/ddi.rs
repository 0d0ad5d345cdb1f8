//! DDI Codebook (DDI-C), versions 1.2 to 2.5. <https://ddialliance.org/ddi-codebook>
//!
//! Only the description of the questionnaire is read. `sumStat` and `catStat` are computed from the data: nothing here
//! may depend on them.

use std::collections::HashSet;

use roxmltree::{Document, Node, ParsingOptions};

use super::column::{CodebookColumn, ColumnContent, categories, finite_number, whole_number};
use crate::text::error::{PlanError, quoted};

/// More missing codes than any questionnaire has.
const MOST_CODES: i64 = 1000;

/// Returns the variables of the file with this name.
pub(super) fn columns(text: &str, data: &str) -> Result<Vec<CodebookColumn>, PlanError> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| PlanError::plan(format!("is not legal XML: {error}; legal: {LEGAL}")))?;
    let root = document.root_element();
    match root.tag_name().name() {
        "codeBook" => variables(root, data),
        "DDIInstance" | "FragmentInstance" => {
            let advice = "most archives export both";
            Err(PlanError::plan(format!("is DDI Lifecycle; legal: {LEGAL}; {advice}")))
        }
        other => {
            let problem = format!("is XML with the root {}", quoted(other));
            Err(PlanError::plan(format!("{problem}; legal: {LEGAL}")))
        }
    }
}

const LEGAL: &str = "DDI Codebook (DDI-C, root codeBook)";

fn variables(root: Node<'_, '_>, data: &str) -> Result<Vec<CodebookColumn>, PlanError> {
    let file = file(root, data);
    let all = root.descendants().filter(|node| is(node, "var"));
    let is_here = |var: &Node<'_, '_>| match (file, var.attribute("files")) {
        (Some(file), Some(files)) => files.split_whitespace().any(|other| other == file),
        _ => true,
    };
    let mut seen = HashSet::new();
    let mut columns = Vec::new();
    for var in all.filter(is_here) {
        let Some(name) = var.attribute("name").map(str::trim).filter(|name| !name.is_empty())
        else {
            let problem = format!("variable {} has no name", columns.len() + 1);
            return Err(PlanError::plan(format!("{problem}; legal: a name for each var")));
        };
        if !seen.insert(name) {
            let problem = format!("describes the variable {} twice", quoted(name));
            let legal = format!("once, or in several files of which one is called {data}");
            return Err(PlanError::plan(format!("{problem}; legal: {legal}")));
        }
        columns.push(column(var, name));
    }
    Ok(columns)
}

/// Returns the identifier of the data file, if the codebook is about several files.
fn file<'a>(root: Node<'a, '_>, data: &str) -> Option<&'a str> {
    let stem =
        |name: &str| name.trim().rsplit_once('.').map_or(name.trim(), |(stem, _)| stem).to_owned();
    let is_data = |node: &Node<'_, '_>| {
        let mut names = node.descendants().filter(|node| is(node, "fileName"));
        names.any(|name| name.text().is_some_and(|text| stem(text) == stem(data)))
    };
    let mut files = root.children().filter(|node| is(node, "fileDscr"));
    files.find(is_data).and_then(|node| node.attribute("ID"))
}

/// True if an element has this name in any namespace: each version of DDI has its own namespace.
fn is(node: &Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

fn children<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| is(child, name))
}

/// Returns the text of the first child with this name.
fn text_of(node: Node<'_, '_>, name: &'static str) -> Option<String> {
    let text: String = children(node, name)
        .next()?
        .descendants()
        .filter_map(|node| node.is_text().then(|| node.text())?)
        .collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn column(var: Node<'_, '_>, name: &str) -> CodebookColumn {
    let (mut missing, mut note) = invalid(var);
    let mut valid = Vec::new();
    for category in children(var, "catgry") {
        let Some(code) = text_of(category, "catValu") else { continue };
        match category.attribute("missing") {
            Some("Y" | "y" | "true" | "1") => missing.push(code),
            _ => valid.push((code, text_of(category, "labl"))),
        }
    }
    if valid.is_empty() {
        let items = children(var, "valrng").flat_map(|range| children(range, "item"));
        let codes = items.filter_map(|item| item.attribute("VALUE"));
        valid.extend(codes.map(|code| (code.trim().to_owned(), None)));
    }
    let mut seen = HashSet::new();
    missing.retain(|code| seen.insert(code.clone()));
    valid.retain(|(code, _)| !seen.contains(code));
    let holds = holds(var, &valid);
    if matches!(holds, ColumnContent::Numbers { .. }) && !valid.is_empty() {
        note = Some(labelled(&valid));
    }
    CodebookColumn {
        names: vec![name.to_owned()],
        label: text_of(var, "labl"),
        holds,
        missing,
        note,
    }
}

/// Words the remark about a column of numbers of which some have labels.
fn labelled(valid: &[(String, Option<String>)]) -> String {
    let list: Vec<String> = valid
        .iter()
        .map(|(code, label)| {
            label.as_ref().map_or(code.clone(), |label| format!("{code} = {label}"))
        })
        .collect();
    format!("some of its numbers have labels: {}", list.join(", "))
}

/// Returns the content of a variable, by its valid codes and range.
fn holds(var: Node<'_, '_>, valid: &[(String, Option<String>)]) -> ColumnContent {
    let kind = children(var, "varFormat").next().and_then(|format| format.attribute("type"));
    let is_text = kind == Some("character");
    let is_continuous = var.attribute("intrvl") == Some("contin");
    let (low, high) = range(var);
    let are_categories = is_text || (!is_continuous && covers(valid, low, high));
    if !valid.is_empty() && are_categories {
        return ColumnContent::Categories(categories(valid.iter().cloned(), !is_text, &[]));
    }
    let are_numbers = kind == Some("numeric") || is_continuous || !valid.is_empty();
    match (low, high) {
        _ if is_text => ColumnContent::Texts,
        (None, None) if !are_numbers => ColumnContent::Unknown,
        _ => ColumnContent::Numbers { low, high },
    }
}

/// Returns the smallest range that contains all valid ranges.
fn range(var: Node<'_, '_>) -> (Option<f64>, Option<f64>) {
    let ranges: Vec<_> =
        children(var, "valrng").flat_map(|valid| children(valid, "range")).collect();
    let ends = |names: [&str; 2]| {
        let ends = ranges.iter().map(|range| end(*range, names));
        // If one range is open at this end, so is the whole.
        ends.collect::<Option<Vec<f64>>>().unwrap_or_default()
    };
    let low = ends(["min", "minExclusive"]).into_iter().reduce(f64::min);
    (low, ends(["max", "maxExclusive"]).into_iter().reduce(f64::max))
}

fn end(range: Node<'_, '_>, names: [&str; 2]) -> Option<f64> {
    names.into_iter().find_map(|name| range.attribute(name)).and_then(finite_number)
}

/// True if the codes are all whole numbers of the range, or there is no range. A scale with labels at its ends alone is
/// not a list of categories.
fn covers(valid: &[(String, Option<String>)], low: Option<f64>, high: Option<f64>) -> bool {
    let (Some(low), Some(high)) = (low, high) else { return low.is_none() && high.is_none() };
    let codes: HashSet<i64> = valid.iter().filter_map(|(code, _)| whole_number(code)).collect();
    let is_within = |code: &i64| (low..=high).contains(&(*code as f64));
    codes.iter().filter(|code| is_within(code)).count() as f64 > high.floor() - low.ceil()
}

/// Returns the codes of missing values, and a remark about ranges of codes that are too long to list.
fn invalid(var: Node<'_, '_>) -> (Vec<String>, Option<String>) {
    let (mut codes, mut note) = (Vec::new(), None);
    for invalid in children(var, "invalrng") {
        let items = children(invalid, "item").filter_map(|item| item.attribute("VALUE"));
        codes.extend(items.map(|code| code.trim().to_owned()));
        for range in children(invalid, "range") {
            let [low, high] = [["min", "minExclusive"], ["max", "maxExclusive"]].map(|names| {
                names.into_iter().find_map(|name| range.attribute(name)).map(str::trim)
            });
            match (low.and_then(whole_number), high.and_then(whole_number)) {
                (Some(low), Some(high)) if high.saturating_sub(low) < MOST_CODES => {
                    codes.extend((low..=high).map(|code| code.to_string()));
                }
                _ => {
                    let [low, high] = [low, high].map(|end| end.unwrap_or("any"));
                    note = Some(format!(
                        "values from {low} to {high} stand for missing ones: list those that occur in missing_codes"
                    ));
                }
            }
        }
    }
    (codes, note)
}
