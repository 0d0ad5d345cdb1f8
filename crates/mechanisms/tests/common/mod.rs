//! What the statistical tests share. Nothing here is derived from the crate's own code.

#![allow(dead_code)] // Not every test uses all of it.

pub(crate) mod attack;
pub(crate) mod chance;
pub(crate) mod fit;
/// For data and planted bugs only.
#[path = "../../../counterpoint/tests/common/random.rs"]
pub(crate) mod random;

/// The whole run rather than a sample of it.
pub(crate) fn is_full() -> bool {
    std::env::var("COUNTERPOINT_FULL").is_ok_and(|value| value == "1")
}

/// How many draws: all of them in a full run, else a stated fraction.
pub(crate) fn draws(full: u64, fraction: f64) -> u64 {
    if is_full() { full } else { (full as f64 * fraction) as u64 }
}
