//! Numbers with known error: arithmetic and special functions in doubles and double-doubles, sums of binomial
//! probabilities, exact fractions, brackets, and Fourier transforms.
//!
//! All of this is plain code on `f64`, so that no bound rests on a platform's mathematics library. Writing u for 2^-53:
//!
//! | function | error at most |
//! | --- | --- |
//! | `Dd` add, subtract, multiply, divide | 16 u^2 = 2^-102, relative |
//! | `Dd::exp`, `Wide::exp` | 2^-98, relative |
//! | `Dd::expm1` | 2^-95, relative |
//! | `Dd::ln`, `Wide::ln` | 2^-97 times max(1, |result|), absolute |
//! | `Dd::ln_1p` | 2^-94, relative |
//! | `Dd::sqrt` | 2^-100, relative |
//! | `normal_tail` | a bracket, about 2^-80 wide, relative |
//! | `turn` (cosine and sine of a rational turn, f64) | 16 u, absolute |
//! | `turn_dd` (the same in `Dd`) | 2^-96, absolute |
//! | `turns` (cosine and sine of any turn, `Dd`) | 2^-94, absolute |
//! | `exp` (f64) | 2 u, relative |
//! | `expm1` (f64) | 4 u, relative |
//! | `ln_1p_rounded` (f64) | 18 u, relative |
//!
//! The bounds of the four operations are those of Joldes, Muller and Popescu (2017), rounded up generously; the other
//! bounds are derived beside each function. `tests/rounding.rs` compares each function with arbitrary precision.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod dd;
mod table;
mod functions;
mod wide;
mod normal;
mod bracket;
pub mod binomial;
pub mod complex;
pub mod fourier;
mod ratio;
pub mod fractions;

pub use bracket::Bracket;
pub use dd::Dd;
pub use functions::{
    TWO_PI, exp, exp_neg, exp_rounded, expm1, expm1_rounded, one_minus_exp_neg, turn, turn_dd,
    turns,
};
pub use functions::{ln_1p_rounded, ln_rounded};
pub use normal::{LN_SQRT_TAU, normal_tail};
pub use wide::Wide;

/// The unit roundoff of `f64`, 2^-53.
pub const UNIT: f64 = 1.110_223_024_625_156_5e-16;

/// The relative error allowed for each `Dd` or `Wide` operation, functions included, when operations are counted:
/// 2^-94.
pub const STEP: f64 = 5.048_709_793_414_476e-29;

/// Returns the next double above. The exact result of a correctly rounded operation is never above it.
#[must_use]
pub fn up(x: f64) -> f64 {
    x.next_up()
}

/// Returns the next double below.
#[must_use]
pub fn down(x: f64) -> f64 {
    x.next_down()
}
