//! Compares the quick cumulant with the one in double-doubles.

use super::integrand::{COSINE_ERROR, Integrand, MOVES};
use super::quick::cumulant;
use crate::laws::{self, Direction, SampledGaussian};
use counterpoint_numerics::{Dd, TWO_PI, UNIT, turns};

/// The two cumulants share neither nodes nor arithmetic nor bounds. The bounds on their errors must cover their
/// difference, and in most cases be below a part in a thousand.
#[test]
fn the_quick_cumulant_is_the_precise_one() {
    let (mut compared, mut sharp) = (0, 0);
    for direction in [Direction::Remove, Direction::Add] {
        for rate in [1e-5, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.9] {
            for mu in [0.01, 0.1, 0.3, 1.0, 1.7, 2.5, 5.0].map(Dd::from) {
                for t in [0.01, 0.1, 0.5, 1.0, 2.3, 7.0, 20.0, 63.0, 200.0] {
                    let Some((quick, error)) = cumulant(rate, mu, direction, t) else { continue };
                    let law = SampledGaussian { rate, mu, direction };
                    let Some((precise, slack)) = laws::cumulant(&law, t) else { continue };
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

#[test]
fn the_cosines_are_what_they_say() {
    for step in MOVES {
        let (cosine, _) = turns(Dd::from(0.5 * step.beta) / TWO_PI);
        let off = (Dd::from(step.ln_cosine) / cosine.ln() - Dd::ONE).hi.abs();
        assert!(off < 1e-3 * COSINE_ERROR, "{}: {off:e}", step.beta);
    }
}

/// Includes rates near one, where 1 + q (e^y - 1) cancels.
#[test]
fn losses_are_good_to_16_units_at_every_rate() {
    for rate in [1e-3, 0.4, 0.5, 0.6, 0.9, 0.999, 0.999_999, 1.0 - 1e-12] {
        for mu in [0.1, 1.0, 5.0] {
            let shape = Integrand::new(rate, mu, Direction::Remove, 1.0);
            for step in -200..200 {
                let x = 0.05 * f64::from(step);
                let y = Dd::from(mu * (x - 0.5 * mu));
                // Where the difference is small, its error is relative to the loss.
                let rise = y.expm1() * rate;
                let exact = if rise.hi > -0.5 {
                    rise.ln_1p()
                } else {
                    (Dd::sum(1.0, -rate) + y.exp() * rate).ln()
                };
                let off = (Dd::from(shape.loss(x).0) - exact).hi.abs();
                assert!(off <= 16.0 * UNIT * exact.hi.abs(), "{rate} {mu} {x}: {off:e}");
            }
        }
    }
}
