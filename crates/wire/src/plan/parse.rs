//! Reading plans in either format.

use std::path::Path;

use super::builder::Builder;
use super::{BYTE_ORDER_MARK, Blank, Format, NumberMode, Plan, json, toml};
use crate::text::error::PlanError;
use crate::text::value::Table;

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// [`PlanError`], one line that names the release, the field, its value and the legal values.
    pub fn parse(bytes: &[u8], format: Format) -> Result<Self, PlanError> {
        Self::read(bytes, format, Builder::default())
    }

    /// Reads a plan whose releases may leave out a field. The field of these releases gets a placeholder.
    ///
    /// # Errors
    /// As [`Plan::parse`].
    pub fn parse_with_blank(
        bytes: &[u8],
        format: Format,
        blank: Blank<'_>,
    ) -> Result<Self, PlanError> {
        Self::read(bytes, format, Builder::with_blank(blank))
    }

    /// Reads a plan whose releases may leave out a field, and that may name CSV files in this folder.
    ///
    /// # Errors
    /// As [`Plan::parse`], and for files that cannot be read.
    pub fn parse_in(
        folder: &Path,
        bytes: &[u8],
        format: Format,
        blank: Option<Blank<'_>>,
    ) -> Result<Self, PlanError> {
        let builder = blank.map_or_else(Builder::default, Builder::with_blank);
        Self::read(bytes, format, builder.in_folder(folder))
    }

    /// Reads a plan and keeps its numbers exactly for [`Plan::precise_plan`]: 0.3 is three tenths.
    ///
    /// # Errors
    /// As [`Plan::parse`].
    pub fn parse_exactly(bytes: &[u8], format: Format) -> Result<Self, PlanError> {
        // The reader of doubles reports what is wrong.
        Self::parse(bytes, format)?;
        Self::read(bytes, format, Builder::exact_numbers())
    }

    fn read(bytes: &[u8], format: Format, builder: Builder) -> Result<Self, PlanError> {
        let text = text(bytes)?;
        if text.trim_ascii().is_empty() {
            return Err(PlanError::plan("the plan is empty; legal: a plan in TOML or JSON"));
        }
        match format {
            Format::Toml => toml::read(text, builder),
            Format::Json => json::read(text, builder),
        }
    }
}

/// Reads a document as one table.
///
/// # Errors
/// [`PlanError`] if the text is not a document of the format.
pub fn table_of(bytes: &[u8], format: Format, numbers: NumberMode) -> Result<Table<'_>, PlanError> {
    let text = text(bytes)?;
    match format {
        Format::Toml => toml::table(text, numbers),
        Format::Json => json::table(text, numbers),
    }
}

fn text(bytes: &[u8]) -> Result<&str, PlanError> {
    let text = std::str::from_utf8(bytes).map_err(|error| not_text(bytes, error))?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
}

fn not_text(bytes: &[u8], error: std::str::Utf8Error) -> PlanError {
    let at = error.valid_up_to();
    let byte = bytes.get(at).copied().unwrap_or_default();
    PlanError::plan(format!(
        "byte {} (0x{byte:02x}) is not UTF-8 text; legal: a plan in TOML or JSON",
        at + 1
    ))
}
