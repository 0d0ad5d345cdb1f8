//! The quick cumulant against the one in double-doubles.

use super::cumulant;
use crate::loss::{Direction, Loss};
use crate::renyi;
use crate::rounding::Dd;

/// The two share neither nodes nor arithmetic nor bounds: what they say they may be off by
/// must cover their difference, and in most cases show a part in a thousand.
#[test]
fn the_quick_cumulant_is_the_precise_one() {
    let (mut compared, mut sharp) = (0, 0);
    for direction in [Direction::Remove, Direction::Add] {
        for rate in [1e-5, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.9] {
            for mu in [0.01, 0.1, 0.3, 1.0, 1.7, 2.5, 5.0].map(Dd::from) {
                for t in [0.01, 0.1, 0.5, 1.0, 2.3, 7.0, 20.0, 63.0, 200.0] {
                    let Some((quick, error)) = cumulant(rate, mu, direction, t) else { continue };
                    let loss = Loss::SampledGaussian { rate, mu, direction };
                    let Some((precise, slack)) = renyi::cumulant(&loss, t) else { continue };
                    let off = (quick - precise).hi.abs();
                    let text = format!("q {rate} mu {} t {t} {direction:?}", mu.hi);
                    assert!(off <= error + slack, "{text}: {quick:?} {precise:?}, {error:e}");
                    compared += 1;
                    sharp += usize::from(error + slack < 1e-3 * precise.hi);
                }
            }
        }
    }
    assert!(compared >= 600 && 10 * sharp >= 8 * compared, "{sharp} of {compared}");
}
