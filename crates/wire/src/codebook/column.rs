//! Columns as codebooks describe them: plain data.

use counterpoint_questions::public::Key;

/// A column as a codebook describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct CodebookColumn {
    /// The names it may have in the data file; the first one is its own.
    pub names: Vec<String>,
    /// What it means, in the codebook's words.
    pub label: Option<String>,
    /// What it holds.
    pub holds: Holds,
    /// The codes that stand for a missing value, as they are written in the data file.
    pub missing: Vec<String>,
    /// What else whoever declares it should know.
    pub note: Option<String>,
}

/// What is known of what a column holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Holds {
    /// Nothing is known.
    Unknown,
    /// Numbers, with the bounds that are known.
    Numbers {
        /// The smallest legal value.
        low: Option<f64>,
        /// The largest legal value.
        high: Option<f64>,
    },
    /// One of a list.
    Categories(Vec<Category>),
    /// Texts that no list is known of.
    Texts,
    /// True or false, in some spelling.
    Truths,
    /// Dates or times.
    Dates,
    /// Lists, tables or other values that are not single numbers or texts.
    Nested,
}

/// A category, and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Category {
    /// The category as the data file has it.
    pub key: Key,
    /// Its meaning, in the codebook's words.
    pub label: Option<String>,
}

/// The whole number that a text is the usual spelling of.
pub(crate) fn whole(text: &str) -> Option<i64> {
    text.parse().ok().filter(|whole: &i64| whole.to_string() == text)
}

/// The finite number that a text spells.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Categories from texts: whole numbers if all of them are and they may be, else texts. Repetitions and missing codes are dropped.
pub(super) fn categories(
    codes: impl IntoIterator<Item = (String, Option<String>)>,
    may_be_whole: bool,
    missing: &[String],
) -> Vec<Category> {
    let mut seen = std::collections::HashSet::new();
    let codes: Vec<_> = codes
        .into_iter()
        .filter(|(code, _)| !missing.contains(code) && seen.insert(code.clone()))
        .collect();
    let are_whole = may_be_whole && codes.iter().all(|(code, _)| whole(code).is_some());
    let key = |code: String| match whole(&code) {
        Some(whole) if are_whole => Key::Whole(whole),
        _ => Key::Text(code),
    };
    codes.into_iter().map(|(code, label)| Category { key: key(code), label }).collect()
}
