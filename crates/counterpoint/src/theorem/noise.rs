//! How much noise k queries need: KOV Corollaries V.1 and V.2 and Theorem V.3.
//!
//! The paper states them for every epsilon, but they fail for large ones (V.1 from about
//! epsilon 32 at delta 0.1, V.3 from about 85). So each rule is only offered where the
//! composed profile itself confirms it.

use crate::ask::{AskError, Options};
use crate::composition::Plan;
use crate::mechanism::Guarantee;
use crate::quantity::{Count, Delta, Epsilon, Sensitivity, plain};
use crate::rounding::{Dd, STEP, Wide, normal_tail};

/// A rule's advice.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Advice {
    /// The noise's variance: 8 k D^2 ln(e + eps/delta) / eps^2, rounded up.
    pub variance: f64,
    /// The delta at the target epsilon that this noise certainly keeps.
    pub delta: f64,
}

/// Why a rule gives no advice.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAdvice {
    /// The rule is wrong here.
    #[error("the rule's noise gives delta {} at this epsilon, above {}", plain(*.achieved), plain(*.wanted))]
    NotConfirmed {
        /// An upper bound on the delta the rule's noise gives.
        achieved: f64,
        /// The delta that was wanted.
        wanted: f64,
    },
    /// Delta or epsilon is zero, or the numbers leave their range.
    #[error("the rule needs an epsilon and a delta above zero, within range")]
    OutOfRange,
    /// The profile could not be computed.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// KOV Corollary V.1: the guarantee each of k mechanisms may have so that together they
/// keep (epsilon, delta): `eps / (2 sqrt(k ln(e + eps/delta)))` and `delta / 2k`.
///
/// # Errors
/// [`NoAdvice`] unless optimal composition confirms it.
pub fn per_query(epsilon: Epsilon, delta: Delta, count: Count) -> Result<Guarantee, NoAdvice> {
    let each_epsilon = each_epsilon(epsilon, delta, count)?;
    let each_delta = delta.get() / (2.0 * count.get() as f64);
    let guarantee = Guarantee::new(each_epsilon, each_delta).map_err(|_| NoAdvice::OutOfRange)?;
    confirmed(composed(guarantee, epsilon, count)?, delta)?;
    Ok(guarantee)
}

/// KOV Corollary V.2: Laplace noise for k real-valued queries. Each query is then
/// `D sqrt(2 / variance)`-private.
///
/// # Errors
/// [`NoAdvice`] unless optimal composition of those guarantees confirms it.
pub fn laplace(
    epsilon: Epsilon,
    delta: Delta,
    count: Count,
    sensitivity: Sensitivity,
) -> Result<Advice, NoAdvice> {
    let variance = variance(epsilon, delta, count, sensitivity)?;
    let ratio = (Dd::from(2.0) / Dd::from(variance)).sqrt() * sensitivity.get();
    let each = Guarantee::pure(ratio.hi.next_up()).map_err(|_| NoAdvice::OutOfRange)?;
    let delta = confirmed(composed(each, epsilon, count)?, delta)?;
    Ok(Advice { variance, delta })
}

/// KOV Theorem V.3: Gaussian noise for k real-valued queries. Together they are one
/// Gaussian with `mu = D sqrt(k / variance)`.
///
/// # Errors
/// [`NoAdvice`] unless the Gaussian's own profile confirms it.
pub fn gaussian(
    epsilon: Epsilon,
    delta: Delta,
    count: Count,
    sensitivity: Sensitivity,
) -> Result<Advice, NoAdvice> {
    let variance = variance(epsilon, delta, count, sensitivity)?;
    let mu = (Dd::from(count.get() as f64) / Dd::from(variance)).sqrt() * sensitivity.get();
    if !(mu.hi > 1e-300 && mu.hi < 1e300) {
        return Err(NoAdvice::OutOfRange);
    }
    let delta = confirmed(gaussian_delta(mu.hi.next_up(), epsilon.get()), delta)?;
    Ok(Advice { variance, delta })
}

/// An upper bound on `Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)`, the profile of the
/// Gaussian mechanism; it grows with mu.
fn gaussian_delta(mu: f64, epsilon: f64) -> f64 {
    let (middle, shift) = (epsilon / mu, 0.5 * mu);
    // One more step outward than the two roundings.
    let near = normal_tail((middle - shift) - 4.0 * f64::EPSILON * (middle + shift)).1;
    let far = normal_tail((middle + shift) + 4.0 * f64::EPSILON * (middle + shift)).0;
    let scaled = Wide::exp(Dd::from(epsilon)) * far;
    let delta = near - scaled * Wide::from(Dd::sum(1.0, -8.0 * STEP));
    if delta < Wide::ZERO { 0.0 } else { delta.upper(1e-20) }
}

fn composed(each: Guarantee, epsilon: Epsilon, count: Count) -> Result<f64, NoAdvice> {
    let plan = Plan::new([(each, count)]).map_err(|_| NoAdvice::OutOfRange)?;
    Ok(plan.delta(epsilon, &Options::default())?.bracket.upper)
}

fn confirmed(achieved: f64, wanted: Delta) -> Result<f64, NoAdvice> {
    if achieved <= wanted.get() {
        Ok(achieved)
    } else {
        Err(NoAdvice::NotConfirmed { achieved, wanted: wanted.get() })
    }
}

/// ln(e + eps/delta), from above.
fn logarithm(epsilon: Epsilon, delta: Delta) -> Result<Dd, NoAdvice> {
    if epsilon.get() <= 0.0 || delta.get() <= 0.0 {
        return Err(NoAdvice::OutOfRange);
    }
    let ratio = Wide::from(epsilon.get()) * Wide::from(delta.get()).recip();
    let logarithm = (Wide::from(Dd::ONE.exp()) + ratio).ln();
    Ok(logarithm + logarithm * 1e-24)
}

/// `eps / (2 sqrt(k ln(e + eps/delta)))`, from below.
fn each_epsilon(epsilon: Epsilon, delta: Delta, count: Count) -> Result<f64, NoAdvice> {
    let root = (logarithm(epsilon, delta)? * count.get() as f64).sqrt();
    Ok((Dd::from(epsilon.get()) / root.scaled(2.0)).hi.next_down())
}

/// `8 k D^2 ln(e + eps/delta) / eps^2`, from above.
fn variance(
    epsilon: Epsilon,
    delta: Delta,
    count: Count,
    sensitivity: Sensitivity,
) -> Result<f64, NoAdvice> {
    let ratio = Wide::from(sensitivity.get()) * Wide::from(epsilon.get()).recip();
    let factor = Wide::from(logarithm(epsilon, delta)? * (8.0 * count.get() as f64));
    let variance = (ratio * ratio * factor).upper(1e-22);
    if variance > 1e-300 && variance < 1e300 { Ok(variance) } else { Err(NoAdvice::OutOfRange) }
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
        assert!(matches!(per_query(epsilon, delta, many), Err(NoAdvice::NotConfirmed { .. })));
        let (epsilon, delta) = target(70.0, 1e-6);
        assert!(matches!(per_query(epsilon, delta, many), Err(NoAdvice::NotConfirmed { .. })));
        let (epsilon, delta) = target(100.0, 0.1);
        assert!(matches!(gaussian(epsilon, delta, k, one), Err(NoAdvice::NotConfirmed { .. })));
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
