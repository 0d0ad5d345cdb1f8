//! Names of data sets, accounts, analysts, keys and slots.

use crate::error::LedgerError;

const LEGAL: &str = "1 to 128 of the letters a-z and A-Z, digits and . _ - : @ / +, \
                     the first a letter or digit";
const LEGAL_SLOT: &str = "1 to 200 characters that can be seen, no space at either end";

/// A word that two people cannot read differently.
pub(crate) fn word(what: &'static str, text: &str) -> Result<(), LedgerError> {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:@/+".contains(&byte);
    let starts = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if starts && text.len() <= 128 && text.bytes().all(part) {
        return Ok(());
    }
    Err(LedgerError::Name { what, value: short(text), legal: LEGAL })
}

/// A slot's name, which comes from a plan and may be any words.
pub(crate) fn slot(text: &str) -> Result<(), LedgerError> {
    let fits = (1..=200).contains(&text.chars().count());
    if fits && !text.contains(char::is_control) && text.trim() == text {
        return Ok(());
    }
    Err(LedgerError::Name { what: "slot", value: short(text), legal: LEGAL_SLOT })
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}
