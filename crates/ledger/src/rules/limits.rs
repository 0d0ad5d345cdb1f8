//! Limits, and the versions of the format.

/// The longest response, declaration or state that is stored, in bytes.
pub const MAX_RESPONSE_BYTES: usize = 1 << 20;

/// The shortest state that is stored, in bytes: a state holds at least this much salt.
pub const MIN_STATE_BYTES: usize = 32;

/// The most releases that are charged under one key.
pub const MAX_RELEASES_PER_KEY: usize = 1000;

/// The most slots of a plan account.
pub const MAX_SLOTS: usize = 100_000;

/// The version of the format that this program reads and writes: in the tables, and as a number in entries.
pub(crate) const VERSION: i64 = 4;
pub(crate) const FORMAT: u64 = VERSION.unsigned_abs();

/// The oldest version that can be upgraded.
pub(crate) const OLDEST: i64 = 2;
pub(crate) const OLDEST_FORMAT: u64 = OLDEST.unsigned_abs();
