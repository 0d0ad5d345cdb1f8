//! Whose a session is, and the key that the ledger has for it.

use crate::charge::Bill;
use counterpoint_questions::Illegal;

/// The longest key of the ledger, and what stands before and between an analyst's name and key in it.
const MOST_KEY: usize = 128;
const BEFORE: &str = "s-";
/// No analyst has this in their name, so that no two of them share a key.
const BETWEEN: char = '/';

/// Whose session it is. A key is its analyst's own, in the account.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// The account that pays.
    pub account: &'a str,
    /// Whose it is.
    pub analyst: &'a str,
    /// What the analyst calls it.
    pub key: &'a str,
}

impl Owner<'_> {
    /// The key in the ledger. No question has one like it, and no other analyst this one.
    ///
    /// # Errors
    /// [`Illegal`] if a name has a separator in it, or is too long.
    pub fn ledger_key(&self) -> Result<String, Illegal> {
        let most = MOST_KEY - BEFORE.len() - 1;
        let left = most.saturating_sub(self.analyst.len());
        if self.analyst.is_empty() || self.analyst.contains(BETWEEN) || left == 0 {
            let legal = "1 to 124 letters, digits and . _ -";
            return Err(Illegal::new("the analyst's name", "cannot be part of a key", legal));
        }
        let part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if !(1..=left).contains(&self.key.len()) || !self.key.bytes().all(part) {
            let legal = format!("1 to {left} letters, digits and . _ -");
            return Err(Illegal::new("the session's key", "cannot be one", legal));
        }
        Ok(format!("{}{}", Self::prefix(self.analyst), self.key))
    }

    /// Where the session is charged, under its key in the ledger.
    pub(super) fn bill<'a>(&'a self, key: &'a str, slot: Option<&'a str>) -> Bill<'a> {
        Bill { account: self.account, key, analyst: Some(self.analyst), slot }
    }

    /// What an analyst's keys begin with.
    #[must_use]
    pub fn prefix(analyst: &str) -> String {
        format!("{BEFORE}{analyst}{BETWEEN}")
    }
}
