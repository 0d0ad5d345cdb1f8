//! Amplification by sampling, for one loss.

use counterpoint_numerics::{Dd, exp_neg};

/// Returns ln(1 + q (e^eps - 1)).
pub(crate) fn amplified(rate: f64, epsilon: Dd) -> Dd {
    if epsilon.hi > 600.0 {
        epsilon + Dd::from(rate).ln() + ((-epsilon).exp() * ((1.0 - rate) / rate)).ln_1p()
    } else {
        (epsilon.expm1() * rate).ln_1p()
    }
}

/// Returns ln(1 - q + q e^l). Where 1 - q + q e^l is small, it is computed from its summands, which is more accurate
/// than from its distance to one.
pub(crate) fn log_mixture(rate: Dd, loss: Dd) -> Dd {
    if loss.hi > 600.0 {
        return amplified(rate.hi, loss);
    }
    let rise = loss.expm1() * rate;
    if rise.hi > -0.5 {
        return rise.ln_1p();
    }
    (Dd::ONE - rate + exp_neg(-loss) * rate).ln()
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
            let off = log_mixture(Dd::from(1.0 - rest), Dd::from(loss)) - truth;
            let allowed = 4.0 * counterpoint_numerics::STEP * truth.hi.abs().max(0.1);
            assert!(off.hi.abs() <= allowed, "{n} {loss}: {} of {}", off.hi, truth.hi);
        }
    }
}
