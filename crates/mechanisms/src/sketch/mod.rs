//! Graph cuts and directional variances by the Johnson-Lindenstrauss mechanism (Blocki, Blum,
//! Datta and Sheffet 2012; Kairouz, Oh and Viswanath 2017, appendix).
//!
//! The mechanism adds a weight w to the data, which makes the data hard to distinguish from neighbouring data, and
//! projects them onto r random Gaussian directions. Each direction is (eps0, delta0)-private; eps0 is the largest for
//! which r directions cost at most epsilon by *optimal* composition. Optimal composition makes w, and with it the
//! error, smaller than older theorems do.
//!
//! **The privacy claim is about real numbers.** This code computes with doubles, whose low bits may reveal more. It
//! therefore returns an [`IdealisedSketch`], which cannot be converted to a release that an accountant would take:
//!
//! ```compile_fail
//! use counterpoint::{Count, Release};
//! use counterpoint_mechanisms::sketch::Claim;
//!
//! fn charge(claim: Claim) -> Release {
//!     (claim, Count::ONE).into()
//! }
//! ```

mod cuts;
mod variances;
#[cfg(test)]
mod tests;

pub use cuts::{CutSketch, Graph};
pub use variances::VarianceSketch;

use crate::error::{Error, check};
use crate::sample;
use counterpoint::{Count, Delta, Epsilon, Guarantee, Options, Plan};

/// A sketch that would be private if doubles were real numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct IdealisedSketch<T> {
    sketch: T,
    claim: Claim,
}

/// The guarantee that would hold for real numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    /// The epsilon of the guarantee.
    pub epsilon: f64,
    /// The delta of the guarantee.
    pub delta: f64,
    /// The inputs that are neighbours.
    pub neighbours: &'static str,
    /// The source of the proof.
    pub source: &'static str,
}

impl<T> IdealisedSketch<T> {
    /// The guarantee that would hold for real numbers.
    #[must_use]
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The sketch, for callers who accept the claim for doubles.
    #[must_use]
    pub fn accepting_real_arithmetic(&self) -> &T {
        &self.sketch
    }
}

/// The privacy and the accuracy of a sketch.
///
/// ```
/// use counterpoint_mechanisms::sketch::SketchParameters;
///
/// let sketching = SketchParameters::new(1.0, 1e-6, 0.5, 0.05)?;
/// println!("{} directions, each ({}, {})-private", sketching.directions(),
///     sketching.each().0, sketching.each().1);
/// println!("graphs need more than {} nodes", sketching.cut_weight());
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SketchParameters {
    epsilon: f64,
    delta: f64,
    eta: f64,
    nu: f64,
    directions: u64,
    epsilon0: f64,
    delta0: f64,
}

impl SketchParameters {
    /// Parameters for (epsilon, delta)-privacy and answers whose error, with probability at least 1 - nu, is at most
    /// eta times the truth plus some tau.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= epsilon <= 100, 1e-100 <= delta <= 0.5, 0.01 <= eta
    /// <= 0.75 and 1e-100 <= nu <= 0.5.
    pub fn new(epsilon: f64, delta: f64, eta: f64, nu: f64) -> Result<Self, Error> {
        let within = |low: f64, high: f64, x: f64| (low..=high).contains(&x);
        let legal = "a number from 2^-20 to 100";
        check(within(2.0_f64.powi(-20), 100.0, epsilon), "epsilon", epsilon, legal)?;
        check(within(1e-100, 0.5, delta), "delta", delta, "a number from 1e-100 to 0.5")?;
        // 2 exp(-r (eta^2/4 - eta^3/6)) <= 2 exp(-r eta^2/8) needs eta <= 3/4.
        check(within(0.01, 0.75, eta), "eta", eta, "a number from 0.01 to 0.75")?;
        check(within(1e-100, 0.5, nu), "nu", nu, "a number from 1e-100 to 0.5")?;
        let directions = (8.0 * (2.0 / nu).ln() / (eta * eta)).ceil() as u64;
        let delta0 = delta / (2.0 * directions as f64);
        let epsilon0 = each(epsilon, delta, directions, delta0)?;
        Ok(Self { epsilon, delta, eta, nu, directions, epsilon0, delta0 })
    }

    /// The number r of random directions.
    #[must_use]
    pub fn directions(&self) -> u64 {
        self.directions
    }

    /// The guarantee of each direction: (eps0, delta0).
    #[must_use]
    pub fn each(&self) -> (f64, f64) {
        (self.epsilon0, self.delta0)
    }

    /// The relative error eta.
    #[must_use]
    pub fn eta(&self) -> f64 {
        self.eta
    }

    /// The probability nu of a larger error.
    #[must_use]
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// The weight w that graphs need: 2 ln(1/delta0) / eps0. (theory 13.10 derives it; half of Kairouz, Oh and
    /// Viswanath's Lemma 1 suffices.)
    #[must_use]
    pub fn cut_weight(&self) -> f64 {
        2.0 * (1.0 / self.delta0).ln().max(0.5) / self.epsilon0
    }

    /// The weight w that matrices need: with l = ln(1/delta0) and k = eps0/(l + 1 + eps0),
    /// 2/w + 1/w^2 = k.
    #[must_use]
    pub fn variance_weight(&self) -> f64 {
        let log = (1.0 / self.delta0).ln();
        let k = self.epsilon0 / (log + 1.0 + self.epsilon0);
        ((1.0 + k).sqrt() + 1.0) / k
    }

    fn claim(&self, neighbours: &'static str) -> Claim {
        Claim {
            epsilon: self.epsilon,
            delta: self.delta,
            neighbours,
            source: "Blocki, Blum, Datta and Sheffet 2012 with the composition of Kairouz, Oh and \
                     Viswanath 2017, Theorem III.3; row by row as in docs/theory 13.9",
        }
    }
}

/// The largest eps0 for which r directions of (eps0, delta0) are (epsilon, delta)-private.
fn each(epsilon: f64, within: f64, directions: u64, delta0: f64) -> Result<f64, Error> {
    let target = Epsilon::new(epsilon)?;
    let fits = |epsilon0: f64| -> Result<bool, Error> {
        let guarantee = Guarantee { epsilon: Epsilon::new(epsilon0)?, delta: Delta::new(delta0)? };
        let Ok(all) = Plan::new([(guarantee, Count::new(directions)?)]) else {
            return Ok(false);
        };
        Ok(all.delta(target, &Options::default())?.bracket.upper <= within)
    };
    // By basic composition the lower end is always private enough.
    let (mut low, mut high) = (epsilon / directions as f64 * (1.0 - 1e-12), epsilon);
    while high / low > 1.0 + 1e-9 {
        let middle = (low * high).sqrt();
        if fits(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

/// A stream of standard normal numbers (Box and Muller), as accurate as doubles.
#[derive(Default)]
struct Normals {
    spare: Option<f64>,
}

impl Normals {
    fn next(&mut self) -> Result<f64, Error> {
        if let Some(spare) = self.spare.take() {
            return Ok(spare);
        }
        let bits = sample::bits()?;
        let unit = |bits: u64| ((bits >> 11) as f64 + 0.5) * 2.0_f64.powi(-53);
        let radius = (-2.0 * unit((bits >> 64) as u64).ln()).sqrt();
        let (sine, cosine) = (2.0 * std::f64::consts::PI * unit(bits as u64)).sin_cos();
        self.spare = Some(radius * sine);
        Ok(radius * cosine)
    }
}
