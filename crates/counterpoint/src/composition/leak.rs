//! Leaks, and the part of a delta that they leave for the finite losses.
//!
//! With all leaks removed the composition has the pure profile; then `delta = 1 - prod(1 - d_i) (1 - pure)` (MV
//! equation 1.2). All numbers are kept as logarithms, `g = -ln(1 - delta)`, so that nothing cancels unless delta and
//! the leak are close; then arbitrary precision decides.

use crate::composition::Leak;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, Wide};
use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;

/// A positive number between two bounds of a tiny relative distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) lower: Wide,
    pub(crate) upper: Wide,
}

/// The part of a delta that the leaks leave for the finite losses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Remainder {
    /// The leak exceeds delta: no finite epsilon exists.
    Negative,
    /// The leak equals delta: only the largest loss is an answer.
    Zero,
    /// The pure delta that the finite losses may have.
    Positive(Target),
}

/// The relative error of the logarithms below: 2^-91.
const LOG_ERROR: f64 = 8.0 * STEP;
/// The difference of the logarithms is used while its relative error is below this.
const TRUSTED: f64 = 1e-20;

/// Returns -ln(1 - delta), with a relative error below 2^-93.
fn minus_ln_keep(delta: f64) -> Wide {
    if delta < 1e-50 {
        Wide::from(delta)
    } else if delta < 0.5 {
        Wide::from(-Dd::from(-delta).ln_1p())
    } else {
        Wide::from(-Dd::sum(1.0, -delta).ln())
    }
}

/// Returns 1 - e^-x for positive x, with a relative error below 2^-93 beside that of x.
fn one_minus_exp(x: Wide) -> Wide {
    if x < Wide::from(1e-50) {
        x
    } else if x > Wide::from(300.0) {
        Wide::ONE
    } else {
        Wide::from(-(-x.to_dd()).expm1())
    }
}

/// Returns -ln of the probability that nothing leaks.
fn minus_ln_kept(leaks: &[Leak]) -> Wide {
    leaks.iter().fold(Wide::ZERO, |sum, leak| {
        sum + minus_ln_keep(leak.each) * Wide::from(leak.count as f64)
    })
}

/// Returns the least delta with a finite epsilon: the smallest double that is at least the leak.
pub(crate) fn least_delta(leaks: &[Leak]) -> f64 {
    let nearest = one_minus_exp(minus_ln_kept(leaks)).estimate();
    let candidates = [nearest.next_down().max(0.0), nearest, nearest.next_up()];
    let enough = |&delta: &f64| !matches!(remainder(leaks, delta), Remainder::Negative);
    candidates.into_iter().find(enough).unwrap_or(nearest.next_up().next_up()).min(1.0)
}

/// Returns the part of a delta that the leaks leave.
pub(crate) fn remainder(leaks: &[Leak], delta: f64) -> Remainder {
    if leaks.is_empty() {
        return positive(Wide::from(delta), 0.0);
    }
    let asked = minus_ln_keep(delta);
    let leaked = minus_ln_kept(leaks);
    let rest = asked - leaked;
    let error = (asked + leaked) * Wide::from(LOG_ERROR + STEP * leaks.len() as f64);
    if rest > Wide::ZERO && error < rest * Wide::from(TRUSTED) {
        return positive(one_minus_exp(rest), 2.0 * TRUSTED);
    }
    if rest < Wide::ZERO && error < (leaked - asked) * Wide::from(TRUSTED) {
        return Remainder::Negative;
    }
    precise_remainder(leaks, delta)
}

pub(crate) fn positive(pure: Wide, error: f64) -> Remainder {
    if !pure.is_positive() {
        return Remainder::Zero;
    }
    let slack = error + 4.0 * STEP;
    Remainder::Positive(Target {
        lower: pure * Wide::from(Dd::sum(1.0, -slack)),
        upper: pure * Wide::from(Dd::sum(1.0, slack)),
    })
}

type HalfEvenFloat = FBig<HalfEven, 2>;

/// Computes the remainder of a delta very near the leak, in arbitrary precision.
///
/// Each 1 - d_i is an odd number over 2^s_i, so their product is an odd number over 2^(sum s_i). It can equal 1 - delta
/// only if that sum is at most 1074, and is then computed exactly. If it differs, enough bits determine the difference.
fn precise_remainder(leaks: &[Leak], delta: f64) -> Remainder {
    let bits: u64 = leaks.iter().fold(0, |sum, leak| {
        sum.saturating_add(leak.count.saturating_mul(denominator_bits(leak.each)))
    });
    let exact = bits <= 4096;
    let mut precision = if exact { bits as usize + 1200 } else { 1600 };
    let total: u64 = leaks.iter().fold(0, |sum, leak| sum.saturating_add(leak.count));
    let total_bits = 64 - total.leading_zeros() as usize;
    while precision <= 1 << 16 {
        let kept = leaks.iter().fold(big(1.0, precision), |product, leak| {
            product * (big(1.0, precision) - big(leak.each, precision)).powi(leak.count.into())
        });
        let gap = &kept - (big(1.0, precision) - big(delta, precision));
        let zero = gap.repr().significand().is_zero();
        if exact && zero {
            return Remainder::Zero;
        }
        // `kept` is below one, so 4 total 2^-precision bounds its absolute error.
        let error_exponent = total_bits as i64 + 3 - precision as i64;
        if !zero && (exact || top_exponent(&gap) > error_exponent + 70) {
            if gap < big(0.0, precision) {
                return Remainder::Negative;
            }
            return positive(to_wide(&(gap / kept)), 2.0 * TRUSTED);
        }
        precision *= 4;
    }
    // The difference is smaller than any affordable precision can tell. Refusing the delta is safe.
    Remainder::Negative
}

/// Returns s, where delta is an odd number over 2^s; positive for 0 < delta < 1.
fn denominator_bits(delta: f64) -> u64 {
    let bits = delta.to_bits();
    let field = bits >> 52;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) =
        if field == 0 { (fraction, 1074) } else { (fraction | (1 << 52), 1075 - field) };
    exponent - u64::from(mantissa.trailing_zeros())
}

fn big(x: f64, precision: usize) -> HalfEvenFloat {
    HalfEvenFloat::try_from(x).unwrap_or(HalfEvenFloat::ZERO).with_precision(precision).value()
}

/// Returns the exponent of the leading bit.
fn top_exponent(x: &HalfEvenFloat) -> i64 {
    x.repr().digits() as i64 + x.repr().exponent() as i64
}

/// Converts a big number to a `Wide`, with a relative error below 2^-105.
pub(crate) fn to_wide(x: &HalfEvenFloat) -> Wide {
    let exponent = x.repr().exponent() + x.repr().digits() as isize;
    let near_one = x.clone() >> exponent;
    let hi = near_one.to_f64().value();
    let lo = (near_one - big(hi, x.precision())).to_f64().value();
    Wide::new(Dd::sum(hi, lo), exponent as i64)
}

/// Returns the delta of leaks and finite losses together, from bounds on the pure delta.
pub(crate) fn with_leaks(leaks: &[Leak], lower: Wide, upper: Wide) -> Bracket {
    if leaks.is_empty() {
        return Bracket { lower: lower.lower(0.0), upper: upper.upper(0.0).min(1.0) };
    }
    let leaked = minus_ln_kept(leaks);
    let kept = Wide::exp(-leaked.to_dd());
    let leak = one_minus_exp(leaked);
    // The exponential inherits the absolute error of its argument.
    let slack = (16.0 + leaks.len() as f64) * STEP * (1.0 + leaked.upper(0.0));
    let of = |pure: Wide| leak + kept * pure;
    Bracket { lower: of(lower).lower(slack), upper: of(upper).upper(slack).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaks(list: &[(f64, u64)]) -> Vec<Leak> {
        list.iter().map(|&(each, count)| Leak { each, count }).collect()
    }

    #[test]
    fn equality_is_decided_exactly() {
        let halves = leaks(&[(0.5, 2)]);
        assert!(matches!(remainder(&halves, 0.75), Remainder::Zero));
        assert!(matches!(remainder(&halves, 0.75_f64.next_down()), Remainder::Negative));
        assert!(matches!(remainder(&halves, 0.75_f64.next_up()), Remainder::Positive(_)));
        assert!((least_delta(&halves) - 0.75).abs() < 1e-300);
        for delta in [1e-7, 1e-300, 5e-324, 0.3, 1.0_f64.next_down()] {
            let one = leaks(&[(delta, 1)]);
            assert!(matches!(remainder(&one, delta), Remainder::Zero), "{delta}");
            assert!(matches!(remainder(&one, delta.next_down()), Remainder::Negative), "{delta}");
            assert_eq!(least_delta(&one).to_bits(), delta.to_bits(), "{delta}");
        }
    }

    #[test]
    fn the_least_delta_is_the_first_that_leaves_room() {
        for list in [&[(1e-7, 10)][..], &[(1e-9, 1_000_000), (0.25, 3)], &[(1e-300, 1_000_000_000)]]
        {
            let leaks = leaks(list);
            let least = least_delta(&leaks);
            assert!(!matches!(remainder(&leaks, least), Remainder::Negative), "{list:?}");
            assert!(
                matches!(remainder(&leaks, least.next_down()), Remainder::Negative),
                "{list:?}"
            );
        }
    }

    #[test]
    fn what_ten_small_leaks_leave() {
        // 1 - (1 - 1e-6)/(1 - 1e-7)^10 for the decimals is 4.49999...e-13; for these
        // doubles the value was computed with 60 digits elsewhere.
        let Remainder::Positive(target) = remainder(&leaks(&[(1e-7, 10)]), 1e-6) else {
            panic!("there is room")
        };
        let value = target.upper.estimate();
        assert!((value / 4.500_003e-13 - 1.0).abs() < 1e-4, "{value:e}");
    }
}
