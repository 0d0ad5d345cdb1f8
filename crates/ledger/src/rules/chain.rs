//! The chain of the history: the hash of each entry covers the hash of the entry before it.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// A SHA-256 hash, shown in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

/// The last entry of a history, now or at an earlier time: `SEQUENCE:HASH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The entry's number, from 1; 0 before the first.
    pub sequence: u64,
    /// The entry's hash.
    pub hash: Hash,
}

/// The error for text that is not a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is not a head; legal: SEQUENCE:HASH, a number and 64 hexadecimal digits")]
pub struct HeadError;

impl Head {
    /// The head before the first entry.
    pub const NONE: Self = Self { sequence: 0, hash: Hash([0; 32]) };

    /// The head after an entry with this body is added.
    #[must_use]
    pub fn then(self, body: &str) -> Self {
        let sequence = self.sequence + 1;
        // The parts before the body have a fixed length, so no two entries give the same bytes.
        let hash = Sha256::new()
            .chain_update(b"counterpoint ledger 2\n")
            .chain_update(self.hash.0)
            .chain_update(sequence.to_be_bytes())
            .chain_update(body)
            .finalize();
        Self { sequence, hash: Hash(hash.into()) }
    }
}

impl Hash {
    /// The hash of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads 64 hexadecimal digits.
    pub(crate) fn read(text: &str) -> Option<Self> {
        from_hex(text)?.try_into().ok().map(Self)
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16);
    let digits = |byte: &u8| [byte >> 4, byte & 15].into_iter().filter_map(digit);
    bytes.iter().flat_map(digits).collect()
}

/// Reads pairs of hexadecimal digits.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let half = |digit: u8| char::from(digit).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(half(*high)? * 16 + half(*low)?).ok(),
        _ => None,
    };
    text.as_bytes().chunks(2).map(byte).collect()
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.sequence, self.hash)
    }
}

impl FromStr for Head {
    type Err = HeadError;

    fn from_str(text: &str) -> Result<Self, HeadError> {
        let (sequence, hash) = text.split_once(':').ok_or(HeadError)?;
        if !sequence.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(HeadError);
        }
        let sequence = sequence.parse().map_err(|_| HeadError)?;
        Ok(Self { sequence, hash: Hash::read(hash).ok_or(HeadError)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_sha_256_of_what_the_format_says() {
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Hash::of(b"abc").to_string(), abc);
        let mut text = b"counterpoint ledger 2\n".to_vec();
        text.extend([0; 32]);
        text.extend([0, 0, 0, 0, 0, 0, 0, 1]);
        text.extend(b"{}");
        let head = Head::NONE.then("{}");
        assert_eq!(head, Head { sequence: 1, hash: Hash::of(&text) });
        assert_eq!(head.to_string().parse(), Ok(head));
        for bad in ["", "1", "1:", ":00", "x:00", "+1:00", &head.to_string()[..60]] {
            assert_eq!(bad.parse::<Head>(), Err(HeadError), "{bad}");
        }
    }
}
