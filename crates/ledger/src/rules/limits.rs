//! Limits, and versions of the format.

/// The longest response, declaration or state that is stored, in bytes.
pub const MOST_RESPONSE: usize = 1 << 20;

/// The shortest state that is stored, in bytes: it holds that many of salt.
pub const LEAST_STATE: usize = 32;

/// The most releases that are charged together.
pub const MOST_TOGETHER: usize = 1000;

/// The most slots a plan account has.
pub const MOST_SLOTS: usize = 100_000;

/// The version of the format that this program reads and writes, as the tables and as entries have it.
pub(crate) const VERSION: i64 = 4;
pub(crate) const FORMAT: u64 = VERSION.unsigned_abs();

/// The first version that can be upgraded.
pub(crate) const OLDEST: i64 = 2;
pub(crate) const OLDEST_FORMAT: u64 = OLDEST.unsigned_abs();
