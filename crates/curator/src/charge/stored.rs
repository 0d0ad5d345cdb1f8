//! Stored answers, the only ones that may be shown.

use super::error::Error;
use super::text;
use counterpoint_ledger::{Head, StoredResponse};
use counterpoint_mechanisms::Reply;
use counterpoint_wire::ledger::Cost;

/// A reply that was charged and is stored. It is read back from the bytes that the ledger returned, so that a retry
/// shows the same.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredReply {
    reply: Reply,
    stored: StoredBytes,
    charge: Option<Cost>,
}

/// Bytes that an entry of the ledger stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The entry's number.
    pub entry: u64,
    /// True if an earlier call stored the bytes.
    pub is_repeated: bool,
    /// The ledger's head.
    pub head: Head,
}

impl From<StoredReply> for StoredBytes {
    fn from(shown: StoredReply) -> Self {
        shown.stored
    }
}

impl From<StoredResponse> for StoredBytes {
    fn from(committed: StoredResponse) -> Self {
        let StoredResponse { response: bytes, entry, repeated: is_repeated, head, .. } = committed;
        Self { bytes, entry, is_repeated, head }
    }
}

impl StoredReply {
    /// Reads a reply from stored bytes. `charge` is the cost that this call debited.
    pub(crate) fn of(stored: StoredBytes, charge: Option<Cost>) -> Result<Self, Error> {
        Ok(Self { reply: text::read("an answer", &stored.bytes)?, stored, charge })
    }

    /// The reply.
    #[must_use]
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The reply as it is stored: JSON.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.stored.bytes
    }

    /// The number of the ledger's entry that stored the reply.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.stored.entry
    }

    /// True if an earlier call stored the reply.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.stored.is_repeated
    }

    /// The cost that this call debited; `None` if it debited nothing.
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
