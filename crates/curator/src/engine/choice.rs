//! The choice of rows of people who have more rows than may be used.

use sha2::{Digest, Sha256};

/// The key of the hashes that choose a person's rows. It is secret and is not printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChoiceKey(i64);

impl std::fmt::Debug for ChoiceKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChoiceKey")
    }
}

impl ChoiceKey {
    pub(crate) fn of(secret: [u8; 32]) -> Self {
        Self(first_64_bits(Sha256::digest(secret)))
    }

    pub(crate) fn get(self) -> i64 {
        self.0
    }
}

/// Returns the first 64 bits of a digest.
pub(crate) fn first_64_bits(digest: impl AsRef<[u8]>) -> i64 {
    digest.as_ref().iter().take(8).fold(0, |hash, byte| (hash << 8) | i64::from(*byte))
}
