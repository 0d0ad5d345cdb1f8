//! What the papers on composition prove, made executable: for teaching, and for checking the engine.
//!
//! [`pair`] builds the maps that show one pair of distributions to be at least as telling as another. [`interactive`]
//! finds the best adversary against a mechanism that is queried adaptively, or against several interleaved. Both work in
//! exact fractions. [`noise`] holds the noise rules of Kairouz, Oh and Viswanath.

pub mod pair;
pub mod interactive;
pub mod noise;
