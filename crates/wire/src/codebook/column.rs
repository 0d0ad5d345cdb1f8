//! Columns as codebooks describe them.

use counterpoint_questions::public::Key;

/// A column as a codebook describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct CodebookColumn {
    /// The names that the column may have in the data file, its own name first.
    pub names: Vec<String>,
    /// The meaning of the column, in the codebook's words.
    pub label: Option<String>,
    /// The values of the column.
    pub holds: ColumnContent,
    /// The codes that stand for a missing value, as they are written in the data file.
    pub missing: Vec<String>,
    /// A remark for the person who declares the column.
    pub note: Option<String>,
}

/// The kind of values that a column has, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnContent {
    /// The kind is not known.
    Unknown,
    /// Numbers, with the bounds that are known.
    Numbers {
        /// The smallest legal value.
        low: Option<f64>,
        /// The largest legal value.
        high: Option<f64>,
    },
    /// Categories from a list.
    Categories(Vec<Category>),
    /// Texts without a known list.
    Texts,
    /// Truth values, in an unknown spelling.
    Truths,
    /// Dates or times.
    Dates,
    /// Lists, tables or other values that are not single numbers or texts.
    Nested,
}

/// A category and its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Category {
    /// The category as it is written in the data file.
    pub key: Key,
    /// The meaning, in the codebook's words.
    pub label: Option<String>,
}

/// Reads a whole number in its usual spelling; `None` for `007` or `+1`.
pub fn whole_number(text: &str) -> Option<i64> {
    text.parse().ok().filter(|whole: &i64| whole.to_string() == text)
}

/// Reads a finite number.
pub fn finite_number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Makes categories of texts: whole numbers if all texts are whole numbers and the format allows these, else texts.
/// Repeated texts and missing codes are dropped.
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
    let are_whole = may_be_whole && codes.iter().all(|(code, _)| whole_number(code).is_some());
    let key = |code: String| match whole_number(&code) {
        Some(whole) if are_whole => Key::Whole(whole),
        _ => Key::Text(code),
    };
    codes.into_iter().map(|(code, label)| Category { key: key(code), label }).collect()
}
