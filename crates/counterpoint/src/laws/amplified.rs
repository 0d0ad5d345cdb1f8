//! What sampling makes of one loss.

use counterpoint_numerics::{Dd, falling};

/// ln(1 + q (e^eps - 1)).
pub(crate) fn amplified(rate: f64, epsilon: Dd) -> Dd {
    if epsilon.hi > 600.0 {
        epsilon + Dd::from(rate).ln() + ((-epsilon).exp() * ((1.0 - rate) / rate)).ln_1p()
    } else {
        (epsilon.expm1() * rate).ln_1p()
    }
}

/// ln(1 - q + q e^l). Where little is left of 1 - q + q e^l, it is better known by its summands than
/// by its distance from one.
pub(crate) fn mixed(rate: Dd, loss: Dd) -> Dd {
    if loss.hi > 600.0 {
        return amplified(rate.hi, loss);
    }
    let rise = loss.expm1() * rate;
    if rise.hi > -0.5 {
        return rise.ln_1p();
    }
    (Dd::ONE - rate + falling(-loss) * rate).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 1 - q = 2^-n: ln(2^-n) + ln(1 + (2^n - 1) e^l), in which nothing cancels.
    #[test]
    fn a_nearly_whole_sample_keeps_its_digits() {
        for (n, loss) in [(1, -0.5), (10, -3.0), (40, -20.0), (40, -40.0), (50, -36.0)] {
            let rest = 2_f64.powi(-n);
            let ratio = Dd::from(2_f64.powi(n) - 1.0) * Dd::from(loss).exp();
            let truth = Dd::from(rest).ln() + ratio.ln_1p();
            let off = mixed(Dd::from(1.0 - rest), Dd::from(loss)) - truth;
            let allowed = 4.0 * counterpoint_numerics::STEP * truth.hi.abs().max(0.1);
            assert!(off.hi.abs() <= allowed, "{n} {loss}: {} of {}", off.hi, truth.hi);
        }
    }
}
