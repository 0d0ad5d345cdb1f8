//! The identity of a session, and its key in the ledger.

use crate::charge::Bill;
use counterpoint_questions::QuestionError;

/// The longest key of the ledger, and the prefix and separator of a session's key.
const MOST_KEY: usize = 128;
const PREFIX: &str = "s-";
/// No analyst's name contains this character, so no two analysts share a key.
const SEPARATOR: char = '/';

/// Identifies a session. Each analyst has their own keys in an account.
#[derive(Clone, Copy, Debug)]
pub struct SessionId<'a> {
    /// The account that pays.
    pub account: &'a str,
    /// The analyst whose session it is.
    pub analyst: &'a str,
    /// The analyst's key for the session.
    pub key: &'a str,
}

impl SessionId<'_> {
    /// The session's key in the ledger. No question has such a key, and no other analyst has this one.
    ///
    /// # Errors
    /// [`QuestionError`] if the name or key contains an illegal character or is too long.
    pub fn ledger_key(&self) -> Result<String, QuestionError> {
        let most = MOST_KEY - PREFIX.len() - 1;
        let left = most.saturating_sub(self.analyst.len());
        if self.analyst.is_empty() || self.analyst.contains(SEPARATOR) || left == 0 {
            let legal = "1 to 124 letters, digits and . _ -";
            return Err(QuestionError::new("the analyst's name", "cannot be part of a key", legal));
        }
        let part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if !(1..=left).contains(&self.key.len()) || !self.key.bytes().all(part) {
            let legal = format!("1 to {left} letters, digits and . _ -");
            return Err(QuestionError::new("the session's key", "is not legal", legal));
        }
        Ok(format!("{}{}", Self::prefix(self.analyst), self.key))
    }

    /// The bill for the session, under its key in the ledger.
    pub(super) fn bill<'a>(&'a self, key: &'a str, slot: Option<&'a str>) -> Bill<'a> {
        Bill { account: self.account, key, analyst: Some(self.analyst), slot }
    }

    /// The prefix of an analyst's keys.
    #[must_use]
    pub fn prefix(analyst: &str) -> String {
        format!("{PREFIX}{analyst}{SEPARATOR}")
    }
}
