//! How far the noise moves an answer. Accuracy is a matter of usefulness, not of privacy:
//! plain doubles will do.

use super::law::Law;
use super::{MOST_SIGMA, Noise};
use crate::error::{Error, check};
use crate::grid::Grid;

impl Noise {
    /// The mean distance between the answer with noise and without.
    #[must_use]
    pub fn expected_error(&self) -> f64 {
        Law::new(self).expected()
    }

    /// The noise is at most this with at least this probability: the least multiple of the grid's
    /// step for which that is so, at any confidence from 1e-16 to 1 - 1e-16.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn half_width(&self, confidence: f64) -> Result<f64, Error> {
        confident(confidence)?;
        Ok(Law::new(self).half_width(confidence))
    }

    /// The largest Laplace noise on a grid that keeps to a half-width.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the confidence or the sensitivity is not legal, or not even the
    /// least noise keeps to it.
    pub fn laplace_within(
        half_width: f64,
        confidence: f64,
        sensitivity: f64,
        grid: Grid,
    ) -> Result<Self, Error> {
        let noise = |units: f64| Self::laplace(units * grid.step(), sensitivity, grid);
        largest(half_width, confidence, 2.0_f64.powi(80), noise)
    }

    /// The largest Gaussian noise on a grid that keeps to a half-width.
    ///
    /// # Errors
    /// As for [`Noise::laplace_within`].
    pub fn gaussian_within(
        half_width: f64,
        confidence: f64,
        sensitivity: f64,
        grid: Grid,
    ) -> Result<Self, Error> {
        let noise = |units: f64| Self::gaussian(units * grid.step(), sensitivity, grid);
        largest(half_width, confidence, MOST_SIGMA, noise)
    }
}

pub(crate) fn confident(confidence: f64) -> Result<(), Error> {
    let legal = "a number above 0 and below 1";
    check(confidence > 0.0 && confidence < 1.0, "confidence", confidence, legal)
}

/// The noise with the largest parameter, in grid units, that keeps to the half-width.
fn largest(
    half_width: f64,
    confidence: f64,
    most: f64,
    noise: impl Fn(f64) -> Result<Noise, Error>,
) -> Result<Noise, Error> {
    confident(confidence)?;
    let keeps = |noise: &Noise| Law::new(noise).half_width(confidence) <= half_width;
    let (mut low, mut high) = (2.0_f64.powi(-20), most);
    let (mut best, widest) = (noise(low)?, noise(high)?);
    check(keeps(&best), "half-width", half_width, "at least one step of the grid, or zero")?;
    if keeps(&widest) {
        return Ok(widest);
    }
    while high / low > 1.0 + 1e-12 {
        let middle = (low * high).sqrt();
        if middle <= low || middle >= high {
            break;
        }
        let trial = noise(middle)?;
        if keeps(&trial) {
            (low, best) = (middle, trial);
        } else {
            high = middle;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Shape, ratio};

    /// Masses by definition, summed one by one.
    fn brute(shape: &Shape, alpha: f64) -> (f64, f64) {
        let weight = |x: i64| match shape {
            Shape::Laplace { scale } => (-(x as f64) / scale.to_f64().value()).exp(),
            Shape::Gaussian { sigma } => (-0.5 * (x as f64 / sigma.to_f64().value()).powi(2)).exp(),
            Shape::Staircase { inverse_epsilon, period, cut } => {
                let level = x as u64 / period + u64::from(x as u64 % period >= *cut);
                (-(level as f64) / inverse_epsilon.to_f64().value()).exp()
            }
        };
        let total: f64 = weight(0) + 2.0 * (1..20_000).map(weight).sum::<f64>();
        let expected = 2.0 * (1..20_000).map(|x| x as f64 * weight(x)).sum::<f64>() / total;
        let beyond = |h: i64| 2.0 * (h + 1..20_000).map(weight).sum::<f64>() / total;
        let half_width = (0..).find(|&h| beyond(h) <= alpha).unwrap();
        (expected, half_width as f64)
    }

    #[test]
    fn accuracy_is_that_of_the_masses_summed_one_by_one() {
        let noises = [
            Noise::geometric(0.3, 1).unwrap(),
            Noise::geometric(17.0, 1).unwrap(),
            Noise::discrete_gaussian(0.4, 1).unwrap(),
            Noise::discrete_gaussian(25.0, 1).unwrap(),
            Noise::staircase(1.0, None, 1.0, Grid::WHOLE).unwrap(),
            Noise::staircase(0.5, None, 12.0, Grid::WHOLE).unwrap(),
            Noise::staircase(3.0, Some(0.8), 5.0, Grid::WHOLE).unwrap(),
        ];
        for noise in noises {
            for confidence in [0.2, 0.9, 0.95, 0.999] {
                let (expected, half_width) = brute(&noise.shape, 1.0 - confidence);
                assert!((noise.expected_error() / expected - 1.0).abs() < 1e-9, "{noise:?}");
                let found = noise.half_width(confidence).unwrap();
                assert!((found - half_width).abs() < 1e-9, "{noise:?}: {found} {half_width}");
            }
        }
    }

    #[test]
    fn noise_for_a_half_width_keeps_to_it_and_hardly_more_noise_does() {
        let grid = Grid::new(-6).unwrap();
        for wanted in [0.5, 3.0, 40.0] {
            let noise = Noise::laplace_within(wanted, 0.95, 1.0, grid).unwrap();
            assert!(noise.half_width(0.95).unwrap() <= wanted);
            let Shape::Laplace { scale } = &noise.shape else { panic!() };
            let more = (scale * ratio(1.0001).unwrap()).to_f64().value() * grid.step();
            let more = Noise::laplace(more, 1.0, grid).unwrap();
            assert!(more.half_width(0.95).unwrap() > wanted);
            let noise = Noise::gaussian_within(wanted, 0.95, 1.0, grid).unwrap();
            assert!(noise.half_width(0.95).unwrap() <= wanted);
        }
        assert!(Noise::laplace_within(-1.0, 0.95, 1.0, grid).is_err());
        assert!(Noise::laplace_within(1.0, 1.0, 1.0, grid).is_err());
    }
}
