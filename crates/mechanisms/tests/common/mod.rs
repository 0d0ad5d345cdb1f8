//! What the statistical tests share. Nothing here is derived from the crate's own code.

#![allow(dead_code)] // Not every test uses all of it.

pub(crate) mod attack;
pub(crate) mod chance;
pub(crate) mod fit;

/// The whole run rather than a sample of it.
pub(crate) fn is_full() -> bool {
    std::env::var("COUNTERPOINT_FULL").is_ok_and(|value| value == "1")
}

/// How many draws: all of them in a full run, else a stated fraction.
pub(crate) fn draws(full: u64, fraction: f64) -> u64 {
    if is_full() { full } else { (full as f64 * fraction) as u64 }
}

/// SplitMix64 (Steele, Lea and Flood 2014), for data and planted bugs only.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Strictly between 0 and 1.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) * 2.0_f64.powi(-53)
    }
}
