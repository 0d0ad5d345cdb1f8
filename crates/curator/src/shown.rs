//! What may be shown.

use crate::error::Error;
use crate::text;
use counterpoint_ledger::{Committed, Head};
use counterpoint_mechanisms::Reply;
use counterpoint_wire::ledger::Cost;

/// An answer that was charged and is stored. It is read back from what the ledger returned, so
/// that nothing is shown that a retry would not show again.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    reply: Reply,
    bytes: Vec<u8>,
    entry: u64,
    is_repeated: bool,
    charge: Option<Cost>,
    head: Head,
}

impl Shown {
    /// Bytes that an entry stored, whether now or before.
    pub(crate) fn stored(
        bytes: Vec<u8>,
        entry: u64,
        is_repeated: bool,
        head: Head,
    ) -> Result<Self, Error> {
        let reply = text::read("an answer", &bytes)?;
        Ok(Self { reply, bytes, entry, is_repeated, charge: None, head })
    }

    pub(crate) fn committed(stored: Committed) -> Result<Self, Error> {
        Self::stored(stored.response, stored.entry, stored.repeated, stored.head)
    }

    pub(crate) fn charged(self, charge: Option<Cost>) -> Self {
        Self { charge, ..self }
    }

    /// The answer.
    #[must_use]
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The answer as it is stored: JSON.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The entry of the ledger that stored it.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.entry
    }

    /// Whether it had been stored by an earlier call.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.is_repeated
    }

    /// What this call debited; `None` if nothing.
    #[must_use]
    pub fn charge(&self) -> Option<&Cost> {
        self.charge.as_ref()
    }

    /// The ledger's head.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }
}
