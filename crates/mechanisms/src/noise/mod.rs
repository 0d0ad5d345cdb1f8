//! Noise on whole numbers of grid steps, and the mechanism that the noise is charged as.

mod law;
mod tail;
mod trial;
mod accuracy;
mod predrawn;

pub(crate) use accuracy::confident;
pub(crate) use law::{Block, NoiseLaw, SLACK};
pub use predrawn::PredrawnNoise;
pub(crate) use tail::at_least;
pub(crate) use trial::SimulatedNoise;

use crate::error::{Error, check};
use crate::grid::Grid;
use crate::sample::{self, Gaussian, Geometric, Staircase, WholeNumber};
use counterpoint::quantity::{Epsilon, Gamma, NoiseScale as Scale, Sensitivity, WholeSensitivity};
use counterpoint::{Mechanism, OutOfRangeError};
use dashu_ratio::RBig;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Noise for a number with a stated sensitivity.
///
/// The charge is computed from the numbers that the samplers receive ([`Noise::mechanism`]), and the noise is added in
/// exact whole-number arithmetic.
///
/// The caller vouches for the sensitivity. The [`Query`](crate::Query) family derives it.
///
/// ```
/// use counterpoint_mechanisms::Noise;
///
/// let noise = Noise::geometric(2.0, 1)?;
/// let answer = noise.add(1_024)?;
/// println!("{answer}, within {} with probability 95 %", noise.half_width(0.95)?);
/// println!("charged as {:?}", noise.mechanism());
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    pub(crate) shape: NoiseShape,
    grid: Grid,
    sensitivity: u64,
    mechanism: Mechanism,
    sampler: LazySampler,
}

/// The law of the noise, in grid steps. The samplers take the parameters as ratios; each ratio is the exact value of
/// the double that the mechanism's description holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoiseShape {
    /// Masses proportional to e^(-|x| / scale).
    Laplace { scale: RBig },
    /// Masses proportional to e^(-x^2 / 2 sigma^2).
    Gaussian { sigma: RBig },
    /// Masses proportional to b^level, b = e^-epsilon; |x| = n period + j is on level n if
    /// j < cut, else on level n + 1.
    Staircase { inverse_epsilon: RBig, period: u64, cut: u64 },
}

/// The sampler for a shape.
enum Sampler {
    Laplace(Geometric),
    Gaussian(Gaussian),
    Staircase(Staircase),
}

impl Sampler {
    fn new(shape: &NoiseShape) -> Self {
        match shape {
            NoiseShape::Laplace { scale } => Self::Laplace(Geometric::new(scale)),
            NoiseShape::Gaussian { sigma } => Self::Gaussian(Gaussian::new(sigma)),
            NoiseShape::Staircase { inverse_epsilon, period, cut } => {
                Self::Staircase(Staircase::new(inverse_epsilon, *period, *cut))
            }
        }
    }

    fn draw(&self) -> Result<WholeNumber, Error> {
        match self {
            Self::Laplace(law) => sample::laplace(law),
            Self::Gaussian(law) => sample::gaussian(law),
            Self::Staircase(law) => sample::staircase(law),
        }
    }
}

/// A sampler that is built from the shape at the first draw and shared between clones. Equality and `Debug` ignore it,
/// since the shape determines it.
#[derive(Clone, Default)]
struct LazySampler(Arc<OnceLock<Sampler>>);

impl PartialEq for LazySampler {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for LazySampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

const LEGAL_SCALE: &str = "a number from 2^-20 to 2^80 grid steps";
const LEGAL_SIGMA: &str = "a number from 2^-20 to 2^20 grid steps";
const LEGAL_EPSILON: &str = "a number from 2^-24 to 500";

/// The largest sensitivity that the descriptions of discrete noise accept.
const MOST_STEPS: u64 = 100_000;

/// The largest sigma of Gaussian noise, in grid steps.
pub(crate) const MOST_SIGMA: f64 = (1_u64 << 20) as f64;

/// True if discrete Gaussian noise is charged as discrete Gaussian noise. The accountant lists its outcomes up to a
/// sigma of 10^4. For a larger sigma the accountant knows only the Rényi divergences; for a sensitivity of few steps
/// these still cost less than one additional step would.
pub(crate) fn is_charged_as_listed(sigma: f64, steps: u64) -> bool {
    steps < 128 || (sigma <= 1e4 && steps <= MOST_STEPS)
}

/// The sensitivity with one step more, which makes a continuous pair dominate the discrete one (theory 10.2 and theory
/// 10.3). (2^53 + 1 is not a double.)
fn one_more(steps: u64) -> Result<Sensitivity, Error> {
    let steps = steps as f64;
    Ok(Sensitivity::new(steps.next_up().max(steps + 1.0))?)
}

impl Noise {
    /// Geometric noise (discrete Laplace) on a whole number.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= scale <= 2^80 and 1 <= sensitivity <= 2^53.
    pub fn geometric(scale: f64, sensitivity: u64) -> Result<Self, Error> {
        let legal = "a whole number from 1 to 2^53";
        check(sensitivity <= 1 << 53, "sensitivity", sensitivity as f64, legal)?;
        Self::laplace(scale, sensitivity as f64, Grid::WHOLE)
    }

    /// Discrete Gaussian noise on a whole number.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-20 <= sigma <= 2^20 and 1 <= sensitivity <= 2^53.
    pub fn discrete_gaussian(sigma: f64, sensitivity: u64) -> Result<Self, Error> {
        let legal = "a whole number from 1 to 2^53";
        check(sensitivity <= 1 << 53, "sensitivity", sensitivity as f64, legal)?;
        Self::gaussian(sigma, sensitivity as f64, Grid::WHOLE)
    }

    /// Laplace noise on a grid: discrete Laplace noise in grid steps, with the sensitivity rounded up to whole steps.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the scale is from 2^-20 to 2^80 steps and the sensitivity at most 2^53 steps.
    pub fn laplace(scale: f64, sensitivity: f64, grid: Grid) -> Result<Self, Error> {
        let steps = grid.steps(sensitivity)?;
        let units = scale / grid.step();
        check(
            (2.0_f64.powi(-20)..=2.0_f64.powi(80)).contains(&units),
            "scale",
            scale,
            LEGAL_SCALE,
        )?;
        let mechanism = if steps <= MOST_STEPS {
            Mechanism::Geometric {
                scale: Scale::new(units)?,
                sensitivity: WholeSensitivity::new(steps)?,
            }
        } else {
            Mechanism::Laplace { scale: Scale::new(units)?, sensitivity: one_more(steps)? }
        };
        Ok(Self {
            shape: NoiseShape::Laplace { scale: ratio(units)? },
            grid,
            sensitivity: steps,
            mechanism,
            sampler: LazySampler::default(),
        })
    }

    /// Gaussian noise on a grid: discrete Gaussian noise in grid steps, with the sensitivity rounded up to whole steps.
    ///
    /// With a sensitivity below 128 steps, or with sigma at most 10^4 and the sensitivity at most 10^5 steps, it is
    /// charged as discrete Gaussian noise. Otherwise it is charged as Gaussian noise with one more step of sensitivity,
    /// which dominates it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless sigma is from 2^-20 to 2^20 steps and the sensitivity at most 2^53 steps.
    pub fn gaussian(sigma: f64, sensitivity: f64, grid: Grid) -> Result<Self, Error> {
        let steps = grid.steps(sensitivity)?;
        let units = sigma / grid.step();
        let legal = 2.0_f64.powi(-20)..=MOST_SIGMA;
        check(legal.contains(&units), "sigma", sigma, LEGAL_SIGMA)?;
        let mechanism = if is_charged_as_listed(units, steps) {
            let sensitivity = WholeSensitivity::new(steps)?;
            Mechanism::DiscreteGaussian { sigma: Scale::new(units)?, sensitivity }
        } else {
            Mechanism::Gaussian { sigma: Scale::new(units)?, sensitivity: one_more(steps)? }
        };
        Ok(Self {
            shape: NoiseShape::Gaussian { sigma: ratio(units)? },
            grid,
            sensitivity: steps,
            mechanism,
            sampler: LazySampler::default(),
        })
    }

    /// Staircase noise (Geng and Viswanath) on a grid. Gamma, the share of each stair that has the higher density, is
    /// rounded to the nearest value that the grid allows; `None` means 1/(1 + e^(epsilon/2)).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 2^-24 <= epsilon <= 500, 0 <= gamma <= 1 and the sensitivity is at most 2^53 steps.
    pub fn staircase(
        epsilon: f64,
        gamma: Option<f64>,
        sensitivity: f64,
        grid: Grid,
    ) -> Result<Self, Error> {
        let period = grid.steps(sensitivity)?;
        check((2.0_f64.powi(-24)..=500.0).contains(&epsilon), "epsilon", epsilon, LEGAL_EPSILON)?;
        let gamma = Gamma::new(gamma.unwrap_or(1.0 / (1.0 + (0.5 * epsilon).exp())))?.get();
        let cut = ((gamma * period as f64 + 0.5).round() as u64).clamp(1, period);
        // A staircase with this gamma, rounded to whole steps, equals this noise exactly.
        let exact = (cut as f64 - 0.5) / period as f64;
        let gamma = if exact < 0.5 { exact.next_up().min(0.5) } else { exact.next_down().max(0.5) };
        let mechanism = Mechanism::Staircase {
            epsilon: Epsilon::new(epsilon)?,
            gamma: Some(Gamma::new(gamma)?),
        };
        let inverse_epsilon = RBig::ONE / ratio(epsilon)?;
        let shape = NoiseShape::Staircase { inverse_epsilon, period, cut };
        Ok(Self { shape, grid, sensitivity: period, mechanism, sampler: LazySampler::default() })
    }

    /// The mechanism that a release with this noise is charged as.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        self.mechanism.clone()
    }

    /// The grid that answers lie on.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The sensitivity in grid steps.
    #[must_use]
    pub fn sensitivity(&self) -> u64 {
        self.sensitivity
    }

    /// Adds fresh noise to a number of grid steps.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the source of randomness fails.
    pub fn add(&self, units: i128) -> Result<i128, Error> {
        #[cfg(test)]
        if let Some(draw) =
            sample::watch::draw(|| sample::watch::Observation::Added(units, self.clone()))
        {
            return Ok(units.saturating_add(draw));
        }
        Ok(self.draw()?.added_to(units))
    }

    /// Draws fresh noise.
    fn draw(&self) -> Result<WholeNumber, Error> {
        self.sampler.0.get_or_init(|| Sampler::new(&self.shape)).draw()
    }

    /// Rounds a number to the grid and adds fresh noise.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the source of randomness fails.
    pub fn release(&self, x: f64) -> Result<f64, Error> {
        Ok(self.grid.value(self.add(self.grid.units(x).into())?))
    }

    /// Rounds a whole number to the grid and adds fresh noise. The number need not be a double: conversion to doubles
    /// could move neighbouring whole numbers further apart than the noise covers.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the source of randomness fails.
    pub fn release_whole(&self, x: i128) -> Result<f64, Error> {
        Ok(self.grid.value(self.add(self.grid.units_of_whole(x).into())?))
    }
}

/// The exact value of a finite double as a ratio.
pub(crate) fn ratio(x: f64) -> Result<RBig, Error> {
    let (quantity, value, legal) = ("parameter", x, "a finite number");
    RBig::try_from(x).map_err(|_| OutOfRangeError { quantity, value, legal }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::script;

    #[test]
    fn noise_is_added_as_drawn_and_a_failed_source_is_an_error() {
        let noise = Noise::geometric(3.0, 1).unwrap();
        script::with(&[7, -9, i128::MAX], || {
            assert_eq!(noise.add(10), Ok(17));
            assert_eq!(noise.add(10), Ok(1));
            assert_eq!(noise.add(10), Ok(i128::MAX));
            assert!(matches!(noise.add(10), Err(Error::Randomness { .. })));
        });
    }

    #[test]
    fn sensitivity_is_rounded_up_and_the_scale_is_charged_in_units() {
        let noise = Noise::laplace(1.0, 0.3, Grid::new(-2).unwrap()).unwrap();
        let Mechanism::Geometric { scale, sensitivity } = noise.mechanism() else { panic!() };
        assert!((scale.get() - 4.0).abs() < 1e-15 && sensitivity.get() == 2);
    }

    #[test]
    fn bad_parameters_are_named() {
        let bad =
            [(0.0, "0"), (-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf"), (1e300, "1e300")];
        for (bad, written) in bad {
            let text = Noise::geometric(bad, 1).unwrap_err().to_string();
            assert!(text.starts_with(&format!("scale is {written}; legal: ")), "{text}");
            assert!(Noise::discrete_gaussian(bad, 1).is_err());
            assert!(Noise::staircase(bad, None, 1.0, Grid::WHOLE).is_err());
            assert!(Noise::laplace(1.0, bad, Grid::WHOLE).is_err());
        }
        assert!(Noise::discrete_gaussian(1.0, 100_001).is_ok());
        assert!(Noise::discrete_gaussian(1.0, (1 << 53) + 1).is_err());
        assert!(Noise::geometric(1.0, 0).is_err());
        // As doubles the two numbers are equal; only the smaller is legal.
        assert!(Noise::geometric(1.0, 1 << 53).is_ok());
        assert!(Noise::geometric(1.0, (1 << 53) + 1).is_err());
    }
}
