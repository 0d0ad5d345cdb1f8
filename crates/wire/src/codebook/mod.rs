//! Codebooks: descriptions of the columns of a data file, by a questionnaire or a documentation.
//!
//! A codebook describes the possible answers, not the given ones. Some formats can also hold facts about the data
//! (DDI's `sumStat` and `catStat`); these are not read.

mod column;
mod csvw;
mod ddi;
mod frictionless;
mod json;

pub use column::{Category, CodebookColumn, ColumnContent};
pub use column::{finite_number, whole_number};

use serde_json::Value;

use crate::text::error::PlanError;

/// A codebook: its columns, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Codebook {
    /// The format of the codebook.
    pub format: CodebookFormat,
    /// The columns, in order.
    pub columns: Vec<CodebookColumn>,
}

/// The formats of codebooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodebookFormat {
    /// A Frictionless table schema, alone or in a data package.
    Frictionless,
    /// Metadata of CSV on the Web.
    Csvw,
    /// DDI Codebook.
    Ddi,
}

impl CodebookFormat {
    /// The name of the format, in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Frictionless => "a Frictionless table schema",
            Self::Csvw => "CSVW metadata",
            Self::Ddi => "a DDI codebook",
        }
    }
}

const LEGAL: &str =
    "a Frictionless table schema (JSON), CSVW metadata (JSON) or a DDI codebook (XML)";

impl Codebook {
    /// Reads a codebook, whose format is detected by its content. `data` is the name of the data file, for codebooks of
    /// several files.
    ///
    /// # Errors
    /// [`PlanError`], one line: the problem and the legal formats.
    pub fn parse(bytes: &[u8], data: &str) -> Result<Self, PlanError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| PlanError::plan(format!("is not UTF-8; legal: {LEGAL}")))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        let (format, columns) = match text.chars().next() {
            Some('<') => (CodebookFormat::Ddi, ddi::columns(text, data)?),
            Some('{') => from_json(text, data)?,
            Some(_) => return Err(PlanError::plan(format!("is not a codebook; legal: {LEGAL}"))),
            None => return Err(PlanError::plan(format!("is empty; legal: {LEGAL}"))),
        };
        if columns.is_empty() {
            return Err(PlanError::plan("describes no column; legal: at least one"));
        }
        Ok(Self { format, columns })
    }
}

fn from_json(text: &str, data: &str) -> Result<(CodebookFormat, Vec<CodebookColumn>), PlanError> {
    let object: Value = serde_json::from_str(text)
        .map_err(|error| PlanError::plan(format!("is not legal JSON: {error}; legal: {LEGAL}")))?;
    let has = |names: &[&str]| names.iter().any(|name| object.get(*name).is_some());
    if has(&["tableSchema", "tables"]) {
        Ok((CodebookFormat::Csvw, csvw::columns(&object, data)?))
    } else if has(&["fields", "resources", "schema"]) {
        Ok((CodebookFormat::Frictionless, frictionless::columns(&object, data)?))
    } else {
        Err(PlanError::plan(format!("is JSON, but not a codebook; legal: {LEGAL}")))
    }
}
