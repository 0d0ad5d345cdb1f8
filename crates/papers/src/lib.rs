//! Constructions from the papers on composition, as programs: for teaching, and for checking the library.
//!
//! [`pair`] builds the maps that prove that one pair of distributions dominates another. [`interactive`] finds the best
//! adversary against a mechanism that is queried adaptively, or against several interleaved ones. Both compute in exact
//! fractions. [`noise`] has the noise rules of Kairouz, Oh and Viswanath.

pub mod pair;
pub mod interactive;
pub mod noise;
