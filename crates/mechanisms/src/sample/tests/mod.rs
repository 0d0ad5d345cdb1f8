//! Samplers against their laws, in numbers of any size; words that leave them undecided; and their costs.

mod laws;
mod open;
mod cost;

use super::big::tests::exp;
use super::words::script::{self, Cost};
use super::*;
use counterpoint_testing::{Random, tries};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

fn ratio(x: f64) -> RBig {
    RBig::try_from(x).unwrap()
}

/// Words that are above every probability, and below; or nearly so.
const NEVER: u128 = u128::MAX;
const ALWAYS: u128 = 0;

const SCALES: [f64; 8] = [1e-6, 0.01, 0.3, 1.0, 10.5, 1234.567, 1e9, 1.2e24];
const SIGMAS: [f64; 8] = [1e-6, 0.03, 0.7, 1.0, 10.5, 1_500.123_456_789, 1e6, 3e12];

/// The words that give exactly these digits, lowest first.
fn digits(value: u128, count: usize) -> Vec<u128> {
    let mut words: Vec<u128> =
        (0..count).map(|place| if value >> place & 1 == 1 { ALWAYS } else { NEVER }).collect();
    words.push(NEVER);
    words
}

#[test]
fn ends_of_words_and_of_legal_scales() {
    for scale in [2.0_f64.powi(-20), 2.0_f64.powi(80)] {
        let law = Geometric::new(&ratio(scale));
        assert!(matches!(laplace(&law), Ok(WholeNumber::Small(_))));
        assert!(2 * law.words() < 192);
    }
    for sigma in [2.0_f64.powi(-20), 2.0_f64.powi(79).next_down()] {
        assert!(matches!(gaussian(&Gaussian::new(&ratio(sigma))), Ok(WholeNumber::Small(_))));
    }
    let law = Geometric::new(&ratio(1.0));
    let (failed, _) = script::of(&[0; 3], || laplace(&law));
    assert!(matches!(failed, Err(Error::Randomness { .. })));
}
