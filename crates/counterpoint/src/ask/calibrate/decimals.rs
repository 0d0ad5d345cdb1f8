//! The numbers of a plan as other readers take them: from their decimal text, exactly.
//!
//! Plans are passed on as text. A ledger reads the numbers of a plan as exact decimals and rounds them to the safe
//! side, so a double may come back as its neighbour. The certificates of calibration must hold there, too.

use crate::mechanism::{Guarantee, Mechanism, Release, RenyiCurve};
use crate::quantity::{Delta, Epsilon, Gamma, Mu, NoiseScale, Order, Rate, Rho, Sensitivity};
use counterpoint_numerics::fractions::{self, Ratio};
use std::cmp::Ordering;

/// The double, or the next one below if one of its two decimal texts (see [`texts`]) is a smaller number.
pub(super) fn below(number: f64) -> f64 {
    if texts(number).contains(&Some(Ordering::Less)) { number.next_down() } else { number }
}

/// The double, or the next one above if one of its two decimal texts (see [`texts`]) is a larger number.
fn above(number: f64) -> f64 {
    if texts(number).contains(&Some(Ordering::Greater)) { number.next_up() } else { number }
}

/// Compares two decimal texts of a double with its exact value: the shortest text that is read as this double, and the
/// text with 17 digits.
fn texts(number: f64) -> [Option<Ordering>; 2] {
    let itself = fractions::from_double(number);
    [format!("{number:e}"), format!("{number:.16e}")]
        .map(|text| decimal(&text).map(|decimal| decimal.cmp(&itself)))
}

/// The exact value of a decimal number with an exponent.
fn decimal(text: &str) -> Option<Ratio> {
    let (mantissa, exponent) = text.split_once('e')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: i64 = format!("{whole}{fraction}").parse().ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    let places = exponent - i32::try_from(fraction.len()).ok()?;
    let power = Ratio::from(10).pow(i32::try_from(places.unsigned_abs()).ok()?);
    Some(if places < 0 { Ratio::from(digits) / power } else { Ratio::from(digits) * power })
}

/// The release as a ledger may read it: costs rounded up, noise rounded down. (Lists of probabilities, where a unit in
/// the last place goes to the outcome that reveals most, are left unchanged.)
pub(super) fn rounded_to_cost_more(release: &Release) -> Release {
    let mechanism = costlier(&release.mechanism).unwrap_or_else(|| release.mechanism.clone());
    let rate = release.rate.map(|rate| Rate::new(above(rate.get()).min(1.0)).unwrap_or(rate));
    Release { mechanism, rate, ..release.clone() }
}

/// The mechanism with costs rounded up; `None` if nothing is rounded, or rounding leaves the legal range.
fn costlier(mechanism: &Mechanism) -> Option<Mechanism> {
    let noise = |noise: NoiseScale| NoiseScale::new(below(noise.get())).ok();
    let moved = |by: Sensitivity| Sensitivity::new(above(by.get())).ok();
    let leak = |delta: Delta| Delta::new(above(delta.get())).ok();
    let more = |epsilon: Epsilon| Epsilon::new(above(epsilon.get())).ok();
    Some(match mechanism {
        Mechanism::ApproxDp(each) => {
            let epsilon = above(each.epsilon.get());
            Guarantee::new(epsilon, leak(each.delta)?.get()).ok()?.into()
        }
        Mechanism::Laplace { scale, sensitivity } => {
            Mechanism::Laplace { scale: noise(*scale)?, sensitivity: moved(*sensitivity)? }
        }
        Mechanism::Gaussian { sigma, sensitivity } => {
            Mechanism::Gaussian { sigma: noise(*sigma)?, sensitivity: moved(*sensitivity)? }
        }
        Mechanism::NoisyMax { noise: law, scale, sensitivity, scores } => Mechanism::NoisyMax {
            noise: *law,
            scale: noise(*scale)?,
            sensitivity: moved(*sensitivity)?,
            scores: *scores,
        },
        Mechanism::Zcdp { rho, delta } => {
            Mechanism::Zcdp { rho: Rho::new(above(rho.get())).ok()?, delta: leak(*delta)? }
        }
        Mechanism::Gdp { mu } => Mechanism::Gdp { mu: Mu::new(above(mu.get())).ok()? },
        Mechanism::Rdp(curve) => {
            let points = curve.points().iter().map(|&(order, tau)| (below(order), above(tau)));
            let (orders, taus): (Vec<f64>, Vec<f64>) = points.unzip();
            Mechanism::Rdp(RenyiCurve::new(&orders, &taus).ok()?)
        }
        Mechanism::Tcdp { rho, omega } => Mechanism::Tcdp {
            rho: Rho::new(above(rho.get())).ok()?,
            omega: Order::new(below(omega.get())).ok()?,
        },
        Mechanism::Geometric { scale, sensitivity } => {
            Mechanism::Geometric { scale: noise(*scale)?, sensitivity: *sensitivity }
        }
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            Mechanism::DiscreteGaussian { sigma: noise(*sigma)?, sensitivity: *sensitivity }
        }
        Mechanism::RandomizedResponse { epsilon, buckets } => {
            Mechanism::RandomizedResponse { epsilon: more(*epsilon)?, buckets: *buckets }
        }
        Mechanism::Exponential { epsilon } => Mechanism::Exponential { epsilon: more(*epsilon)? },
        Mechanism::Staircase { epsilon, gamma } => {
            let half = |gamma: Gamma| match gamma.get() {
                low if low < 0.5 => Gamma::new(above(low)).ok(),
                high => Gamma::new(below(high)).ok(),
            };
            let gamma = gamma.map_or(Some(None), |gamma| half(gamma).map(Some))?;
            Mechanism::Staircase { epsilon: more(*epsilon)?, gamma }
        }
        Mechanism::NameAndShame { delta } => Mechanism::NameAndShame { delta: leak(*delta)? },
        Mechanism::SparseVector { threshold, queries } => {
            Mechanism::SparseVector { threshold: more(*threshold)?, queries: more(*queries)? }
        }
        Mechanism::AboveThreshold { threshold, queries } => {
            Mechanism::AboveThreshold { threshold: more(*threshold)?, queries: more(*queries)? }
        }
        Mechanism::GaussianMixture { sigma, shifts } => {
            Mechanism::GaussianMixture { sigma: noise(*sigma)?, shifts: shifts.clone() }
        }
        Mechanism::PrivateSelection(selection) => {
            let inner = selection.inner().iter().map(rounded_to_cost_more).collect();
            let selection = selection.with_inner(inner);
            Mechanism::PrivateSelection(selection)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_on_the_side_of_its_double_where_it_is() {
        // 0.1 is less than its double, 0.3 more; of 0.5, 3 and 2^-25 the texts are the doubles.
        assert_eq!(below(0.1).to_bits(), 0.1_f64.next_down().to_bits());
        assert_eq!(above(0.3).to_bits(), 0.3_f64.next_up().to_bits());
        for number in [0.5, 3.0, 1e22, 0.0] {
            assert_eq!(below(number).to_bits(), number.to_bits());
            assert_eq!(above(number).to_bits(), number.to_bits());
        }
        // Its 17 digits are 0.10000000000000001 and more than it is, too.
        assert_eq!(above(0.1).to_bits(), 0.1_f64.next_up().to_bits());
        assert!(texts(5e-324).iter().chain(&texts(1e300)).all(Option::is_some));
    }
}
