//! What may be shown.

use super::error::Error;
use super::text;
use counterpoint_ledger::{Committed, Head};
use counterpoint_mechanisms::Reply;
use counterpoint_wire::ledger::Cost;

/// An answer that was charged and is stored. It is read back from what the ledger returned, so
/// that nothing is shown that a retry would not show again.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    reply: Reply,
    stored: Stored,
    charge: Option<Cost>,
}

/// Bytes that an entry of the ledger stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stored {
    /// The answer.
    pub bytes: Vec<u8>,
    /// The entry.
    pub entry: u64,
    /// Whether an earlier call stored it.
    pub is_repeated: bool,
    /// The ledger's head.
    pub head: Head,
}

impl From<Shown> for Stored {
    fn from(shown: Shown) -> Self {
        shown.stored
    }
}

impl From<Committed> for Stored {
    fn from(committed: Committed) -> Self {
        let Committed { response: bytes, entry, repeated: is_repeated, head, .. } = committed;
        Self { bytes, entry, is_repeated, head }
    }
}

impl Shown {
    /// What an entry stored, whether now or before, and what this call debited for it.
    pub(crate) fn of(stored: Stored, charge: Option<Cost>) -> Result<Self, Error> {
        Ok(Self { reply: text::read("an answer", &stored.bytes)?, stored, charge })
    }

    /// The answer.
    #[must_use]
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The answer as it is stored: JSON.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.stored.bytes
    }

    /// The entry of the ledger that stored it.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.stored.entry
    }

    /// Whether it had been stored by an earlier call.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.stored.is_repeated
    }

    /// What this call debited; `None` if nothing.
    #[must_use]
    pub fn charge(&self) -> Option<&Cost> {
        self.charge.as_ref()
    }

    /// The ledger's head.
    #[must_use]
    pub fn head(&self) -> Head {
        self.stored.head
    }
}
