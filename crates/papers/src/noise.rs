//! Published rules for the noise that queries need:
//!
//! - for k queries, KOV Corollaries V.1 and V.2 and Theorem V.3;
//! - for one query, the rules that KOV section V mentions: Gaussian noise, and staircases or uniform noise (Geng and
//!   Viswanath).
//!
//! The paper states the rules for every epsilon, but they fail for large ones (at delta 0.1, V.1 from about epsilon
//! 32 for many mechanisms, and V.3 from about 91). So a rule gives advice only if the composed profile confirms it.

use counterpoint::Plan;
use counterpoint::ask::{AskError, Options};
use counterpoint::mechanism::Guarantee;
use counterpoint::quantity::{Count, Delta, Epsilon, Sensitivity, format_number};
use counterpoint_numerics::{Dd, STEP, Wide, normal_tail};

/// The advice of a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Advice {
    /// The variance of the noise that the rule prescribes, rounded up.
    pub variance: f64,
    /// The certified delta of this noise at the target epsilon.
    pub delta: f64,
}

/// The reason why a rule gives no advice.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AdviceError {
    /// The rule fails for these numbers.
    #[error("the rule's noise has delta {} at this epsilon; legal: at most {}", format_number(*.achieved), format_number(*.target))]
    NotConfirmed {
        /// An upper bound on the delta of the rule's noise.
        achieved: f64,
        /// The target delta.
        target: f64,
    },
    /// Delta or epsilon is zero, or a number is out of range.
    #[error("the rule needs an epsilon and a delta above zero, within range")]
    OutOfRange,
    /// The profile could not be computed.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// KOV Corollary V.1: the guarantee that each of k mechanisms may have so that together they have (epsilon, delta):
/// `eps / (2 sqrt(k ln(e + eps/delta)))` and `delta / 2k`.
///
/// # Errors
/// [`AdviceError`] unless optimal composition confirms the rule.
pub fn per_query(epsilon: Epsilon, delta: Delta, count: Count) -> Result<Guarantee, AdviceError> {
    let each_epsilon = each_epsilon(epsilon, delta, count)?;
    let each_delta = delta.get() / (2.0 * count.get() as f64);
    let guarantee =
        Guarantee::new(each_epsilon, each_delta).map_err(|_| AdviceError::OutOfRange)?;
    confirm(compose_delta(guarantee, epsilon, count)?, delta)?;
    Ok(guarantee)
}

/// KOV Corollary V.2: Laplace noise for k real-valued queries. Each query is then `D sqrt(2 / variance)`-private.
///
/// # Errors
/// [`AdviceError`] unless optimal composition of those guarantees confirms the rule.
pub fn laplace(
    epsilon: Epsilon,
    delta: Delta,
    count: Count,
    sensitivity: Sensitivity,
) -> Result<Advice, AdviceError> {
    let variance = variance(epsilon, delta, count, sensitivity)?;
    let ratio = (Dd::from(2.0) / Dd::from(variance)).sqrt() * sensitivity.get();
    let each = Guarantee::pure(ratio.hi.next_up()).map_err(|_| AdviceError::OutOfRange)?;
    let delta = confirm(compose_delta(each, epsilon, count)?, delta)?;
    Ok(Advice { variance, delta })
}

/// KOV Theorem V.3: Gaussian noise for k real-valued queries. Together they are one Gaussian with `mu = D sqrt(k /
/// variance)`.
///
/// # Errors
/// [`AdviceError`] unless the Gaussian's own profile confirms the rule.
pub fn gaussian(
    epsilon: Epsilon,
    delta: Delta,
    count: Count,
    sensitivity: Sensitivity,
) -> Result<Advice, AdviceError> {
    let variance = variance(epsilon, delta, count, sensitivity)?;
    let mu = (Dd::from(count.get() as f64) / Dd::from(variance)).sqrt() * sensitivity.get();
    if !(mu.hi > 1e-300 && mu.hi < 1e300) {
        return Err(AdviceError::OutOfRange);
    }
    let delta = confirm(gaussian_delta(mu.hi.next_up(), epsilon.get()), delta)?;
    Ok(Advice { variance, delta })
}

/// Laplace noise for one query: the scale is `D / eps`, and the variance is twice the square of the scale. Delta is not
/// needed.
///
/// # Errors
/// [`AdviceError::OutOfRange`] if epsilon is zero or a number is out of range.
pub fn laplace_once(epsilon: Epsilon, sensitivity: Sensitivity) -> Result<Advice, AdviceError> {
    if epsilon.get() <= 0.0 {
        return Err(AdviceError::OutOfRange);
    }
    let ratio = Wide::from(sensitivity.get()) * Wide::from(epsilon.get()).recip();
    let variance = (ratio * ratio * Wide::from(2.0)).upper(1e-22);
    let legal = variance > 1e-300 && variance < 1e300;
    if legal { Ok(Advice { variance, delta: 0.0 }) } else { Err(AdviceError::OutOfRange) }
}

/// Gaussian noise for one query, as KOV section V-A quotes it: variance `2 D^2 ln(2/delta) / eps^2`. The rule fails for
/// large epsilon: from about 7.1 at delta 0.1, and from 9.7 at delta 1e-6.
///
/// # Errors
/// [`AdviceError`] unless the Gaussian's own profile confirms the rule.
pub fn gaussian_once(
    epsilon: Epsilon,
    delta: Delta,
    sensitivity: Sensitivity,
) -> Result<Advice, AdviceError> {
    if epsilon.get() <= 0.0 || delta.get() <= 0.0 {
        return Err(AdviceError::OutOfRange);
    }
    let ratio = Wide::from(sensitivity.get()) * Wide::from(epsilon.get()).recip();
    let logarithm = (Wide::from(2.0) * Wide::from(delta.get()).recip()).ln();
    let variance = (ratio * ratio * Wide::from(logarithm * 2.0)).upper(1e-22);
    if !(variance > 1e-300 && variance < 1e300) {
        return Err(AdviceError::OutOfRange);
    }
    let mu = Dd::ONE / Dd::from(variance).sqrt() * sensitivity.get();
    if !(mu.hi > 1e-300 && mu.hi < 1e300) {
        return Err(AdviceError::OutOfRange);
    }
    let delta = confirm(gaussian_delta(mu.hi.next_up(), epsilon.get()), delta)?;
    Ok(Advice { variance, delta })
}

/// Noise for one query by Geng and Viswanath, and its variance to about fifteen digits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Stairs {
    /// The staircase, which is (epsilon, 0)-private. The density is a for |x| < gamma D, and a e^-epsilon from gamma D
    /// to D. On each further interval of length D, the density is e^-epsilon times that of the interval before.
    Staircase {
        /// The place of the step, as a share of D.
        gamma: f64,
        /// The variance. With this gamma, no noise that is (epsilon, 0)-private for every query has a smaller variance.
        variance: f64,
    },
    /// Uniform noise, which is (0, delta)-private.
    Uniform {
        /// The noise is from -width/2 to width/2, where `width = D / delta`.
        width: f64,
        /// `width^2 / 12`.
        variance: f64,
    },
}

impl Stairs {
    /// The variance of the noise.
    #[must_use]
    pub fn variance(self) -> f64 {
        match self {
            Self::Staircase { variance, .. } | Self::Uniform { variance, .. } => variance,
        }
    }
}

/// The staircase of the least variance at an epsilon (Geng and Viswanath 2012; KOV section V-A): with b = e^-eps,
/// `gamma = -b/(1-b) + (b - 2b^2 + 2b^4 - b^5)^(1/3) / (2^(1/3) (1-b)^2)` and variance
/// `D^2 ((b (1+b) / 2)^(2/3) + b) / (1-b)^2`.
///
/// # Errors
/// [`AdviceError::OutOfRange`] unless epsilon is from 1e-6 to 100.
pub fn staircase(epsilon: Epsilon, sensitivity: Sensitivity) -> Result<Stairs, AdviceError> {
    if !(1e-6..=100.0).contains(&epsilon.get()) {
        return Err(AdviceError::OutOfRange);
    }
    let b = Dd::from(-epsilon.get()).exp();
    let gap = -Dd::from(-epsilon.get()).expm1();
    let cube_root = |x: Dd| (x.ln() / 3.0).exp();
    // b - 2b^2 + 2b^4 - b^5 = b (1-b)^3 (1+b): the root is (1-b) (b (1+b))^(1/3).
    let root = cube_root(b * (Dd::ONE + b) / 2.0);
    let gamma = (root - b) / gap;
    let square = (root * root + b) / (gap * gap);
    let variance = (square * sensitivity.get() * sensitivity.get()).hi;
    if variance > 1e-300 && variance < 1e300 {
        Ok(Stairs::Staircase { gamma: gamma.hi.clamp(0.0, 1.0), variance })
    } else {
        Err(AdviceError::OutOfRange)
    }
}

/// The staircase or uniform noise, whichever has the smaller variance at an epsilon and a delta. The order of this
/// variance, min(1/eps^2, 1/delta^2), is the least possible (Geng and Viswanath 2013; KOV section V-A).
///
/// # Errors
/// [`AdviceError::OutOfRange`] if neither noise exists.
pub fn staircase_or_uniform(
    epsilon: Epsilon,
    delta: Delta,
    sensitivity: Sensitivity,
) -> Result<Stairs, AdviceError> {
    // The width is rounded up: a smaller one would leak more.
    let width = (Dd::from(sensitivity.get()) / Dd::from(delta.get())).hi.next_up();
    let variance = width * width / 12.0;
    let uniform =
        (variance > 1e-300 && variance < 1e300).then_some(Stairs::Uniform { width, variance });
    match (staircase(epsilon, sensitivity), uniform) {
        (Ok(stairs), Some(uniform)) if uniform.variance() < stairs.variance() => Ok(uniform),
        (Err(_), Some(uniform)) => Ok(uniform),
        (stairs, _) => stairs,
    }
}

/// An upper bound on `Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)`, the profile of the Gaussian mechanism, which grows
/// with mu.
fn gaussian_delta(mu: f64, epsilon: f64) -> f64 {
    let (middle, shift) = (epsilon / mu, 0.5 * mu);
    // The bounds move outward by one step more than the two roundings need.
    let near = normal_tail((middle - shift) - 4.0 * f64::EPSILON * (middle + shift)).1;
    let far = normal_tail((middle + shift) + 4.0 * f64::EPSILON * (middle + shift)).0;
    let scaled = Wide::exp(Dd::from(epsilon)) * far;
    let delta = near - scaled * Wide::from(Dd::sum(1.0, -8.0 * STEP));
    if delta < Wide::ZERO { 0.0 } else { delta.upper(1e-20) }
}

fn compose_delta(each: Guarantee, epsilon: Epsilon, count: Count) -> Result<f64, AdviceError> {
    let plan = Plan::new([(each, count)]).map_err(|_| AdviceError::OutOfRange)?;
    Ok(plan.delta(epsilon, &Options::default())?.bracket.upper)
}

fn confirm(achieved: f64, target: Delta) -> Result<f64, AdviceError> {
    if achieved <= target.get() {
        Ok(achieved)
    } else {
        Err(AdviceError::NotConfirmed { achieved, target: target.get() })
    }
}

/// ln(e + eps/delta), rounded up.
fn logarithm(epsilon: Epsilon, delta: Delta) -> Result<Dd, AdviceError> {
    if epsilon.get() <= 0.0 || delta.get() <= 0.0 {
        return Err(AdviceError::OutOfRange);
    }
    let ratio = Wide::from(epsilon.get()) * Wide::from(delta.get()).recip();
    let logarithm = (Wide::from(Dd::ONE.exp()) + ratio).ln();
    Ok(logarithm + logarithm * 1e-24)
}

/// `eps / (2 sqrt(k ln(e + eps/delta)))`, rounded down.
fn each_epsilon(epsilon: Epsilon, delta: Delta, count: Count) -> Result<f64, AdviceError> {
    let root = (logarithm(epsilon, delta)? * count.get() as f64).sqrt();
    Ok((Dd::from(epsilon.get()) / root.scaled(2.0)).hi.next_down())
}

/// `8 k D^2 ln(e + eps/delta) / eps^2`, rounded up.
fn variance(
    epsilon: Epsilon,
    delta: Delta,
    count: Count,
    sensitivity: Sensitivity,
) -> Result<f64, AdviceError> {
    let ratio = Wide::from(sensitivity.get()) * Wide::from(epsilon.get()).recip();
    let factor = Wide::from(logarithm(epsilon, delta)? * (8.0 * count.get() as f64));
    let variance = (ratio * ratio * factor).upper(1e-22);
    if variance > 1e-300 && variance < 1e300 { Ok(variance) } else { Err(AdviceError::OutOfRange) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(epsilon: f64, delta: f64) -> (Epsilon, Delta) {
        (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap())
    }

    #[test]
    fn the_rules_hold_for_moderate_epsilon_and_are_refused_where_they_fail() {
        let (k, one) = (Count::new(50).unwrap(), Sensitivity::new(1.0).unwrap());
        for (epsilon, delta) in [(0.5, 1e-6), (1.0, 1e-5), (10.0, 1e-3), (20.0, 0.1)] {
            let (epsilon, delta) = target(epsilon, delta);
            assert!(per_query(epsilon, delta, k).is_ok());
            assert!(laplace(epsilon, delta, k, one).is_ok());
            assert!(gaussian(epsilon, delta, k, one).is_ok());
        }
        let many = Count::new(100_000).unwrap();
        let (epsilon, delta) = target(40.0, 0.1);
        assert!(matches!(per_query(epsilon, delta, many), Err(AdviceError::NotConfirmed { .. })));
        let (epsilon, delta) = target(70.0, 1e-6);
        assert!(matches!(per_query(epsilon, delta, many), Err(AdviceError::NotConfirmed { .. })));
        let (epsilon, delta) = target(100.0, 0.1);
        assert!(matches!(gaussian(epsilon, delta, k, one), Err(AdviceError::NotConfirmed { .. })));
        let (epsilon, delta) = target(80.0, 0.1);
        assert!(gaussian(epsilon, delta, k, one).is_ok());
    }

    #[test]
    fn the_gaussian_profile_is_right() {
        // theory: sigma 1, delta(1) = 0.12693673750664395.
        let delta = gaussian_delta(1.0, 1.0);
        assert!((delta / 0.126_936_737_506_643_95 - 1.0).abs() < 1e-13, "{delta}");
    }
}
