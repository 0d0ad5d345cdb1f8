//! Conversions between single guarantees: KOV Remark A.1.

use crate::mechanism::Guarantee;
use crate::quantity::Epsilon;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, Wide};

/// True if every mechanism with the first guarantee also has the second: if and only if `d2 >= d1` and `(1 - d1)/(1 +
/// e^e1) >= (1 - d2)/(1 + e^e2)`.
///
/// The comparison uses about 90 bits; a smaller difference counts as "no", which is safe.
///
/// ```
/// use counterpoint::{Guarantee, theorem::convert::implies};
/// let strong = Guarantee::pure(1.0)?;
/// assert!(implies(strong, Guarantee::new(0.5, 0.3)?));
/// assert!(!implies(strong, Guarantee::new(0.5, 0.2)?));
/// # Ok::<(), counterpoint::OutOfRangeError>(())
/// ```
#[must_use]
pub fn implies(from: Guarantee, to: Guarantee) -> bool {
    if to.delta < from.delta {
        return false;
    }
    if to.epsilon >= from.epsilon {
        return true;
    }
    let (left, right) = (corner(from), corner(to));
    left - right > (left + right) * Wide::from(16.0 * STEP)
}

/// Returns `(1 - d)/(1 + e^e)`, the height of the corner of the guarantee's region.
fn corner(guarantee: Guarantee) -> Wide {
    let grown = Wide::ONE + Wide::exp(Dd::from(guarantee.epsilon.get()));
    Wide::from(Dd::sum(1.0, -guarantee.delta.get())) * grown.recip()
}

/// Returns the least delta that the guarantee implies at another epsilon: `1 - (1 - d)(1 + e^e2)/(1 + e^e)` below the
/// guarantee's own epsilon, d above it.
#[must_use]
pub fn delta_at(guarantee: Guarantee, epsilon: Epsilon) -> Bracket {
    let (own, delta) = (guarantee.epsilon.get(), guarantee.delta.get());
    if epsilon.get() >= own {
        return Bracket::exact(delta);
    }
    // d + (1 - d) (1 - e^(e2 - e)) / (1 + e^-e): a sum of positive terms.
    let fall = Wide::from(-(Dd::sum(epsilon.get(), -own)).expm1());
    let share = (Wide::ONE + Wide::exp(Dd::from(-own))).recip();
    let value = Wide::from(delta) + Wide::from(Dd::sum(1.0, -delta)) * fall * share;
    Bracket { lower: value.lower(16.0 * STEP), upper: value.upper(16.0 * STEP).min(1.0) }
}

/// Returns the largest total variation distance that a guarantee allows: `1 - 2 (1 - d)/(1 + e^e) = d + (1 - d)
/// tanh(e/2)`.
#[must_use]
pub fn total_variation(guarantee: Guarantee) -> Bracket {
    let (epsilon, delta) = (guarantee.epsilon.get(), guarantee.delta.get());
    let fall = Wide::from(-Dd::from(-epsilon.min(1e3)).expm1());
    let share = (Wide::ONE + Wide::exp(Dd::from(-epsilon))).recip();
    let value = Wide::from(delta) + Wide::from(Dd::sum(1.0, -delta)) * fall * share;
    Bracket { lower: value.lower(16.0 * STEP), upper: value.upper(16.0 * STEP).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarantee_is_as_good_as_its_own_corner() {
        let guarantee = Guarantee::new(1.0, 0.1).unwrap();
        // 1 - 0.9 * 2 / (1 + e) and 0.1 + 0.9 (e - 1)/(e + 1), by hand.
        let at_zero = delta_at(guarantee, Epsilon::new(0.0).unwrap());
        assert!((at_zero.upper - 0.515_905_441_534_008_7).abs() < 1e-14, "{at_zero}");
        assert!(at_zero.overlaps(&total_variation(guarantee)));
        assert!(implies(guarantee, Guarantee::new(0.0, at_zero.upper.next_up()).unwrap()));
        assert!(!implies(guarantee, Guarantee::new(0.0, at_zero.lower * 0.99).unwrap()));
        assert!(!implies(guarantee, Guarantee::new(5.0, 0.09).unwrap()));
    }
}
