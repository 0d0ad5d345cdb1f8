//! The size of the noise. Accuracy concerns usefulness, not privacy: plain doubles suffice.

use super::law::NoiseLaw;
use super::{MOST_SIGMA, Noise};
use crate::error::{Error, check};
use crate::grid::Grid;

impl Noise {
    /// The mean distance between the answers with and without noise.
    #[must_use]
    pub fn expected_error(&self) -> f64 {
        NoiseLaw::new(self).expected()
    }

    /// The least multiple of the grid's step that bounds the absolute value of the noise with at least this confidence,
    /// for confidences from 1e-16 to 1 - 1e-16.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn half_width(&self, confidence: f64) -> Result<f64, Error> {
        confident(confidence)?;
        Ok(NoiseLaw::new(self).half_width(confidence))
    }

    /// The Laplace noise with the largest scale on a grid whose half-width is at most `half_width`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the confidence or the sensitivity is not legal, or if even the least noise has a larger
    /// half-width.
    pub fn laplace_within(
        half_width: f64,
        confidence: f64,
        sensitivity: f64,
        grid: Grid,
    ) -> Result<Self, Error> {
        let noise = |units: f64| Self::laplace(units * grid.step(), sensitivity, grid);
        largest(half_width, confidence, 2.0_f64.powi(80), noise)
    }

    /// The Gaussian noise with the largest sigma on a grid whose half-width is at most `half_width`.
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

/// The noise with the largest parameter, in grid steps, whose half-width is at most `half_width`.
fn largest(
    half_width: f64,
    confidence: f64,
    most: f64,
    noise: impl Fn(f64) -> Result<Noise, Error>,
) -> Result<Noise, Error> {
    confident(confidence)?;
    let keeps = |noise: &Noise| NoiseLaw::new(noise).half_width(confidence) <= half_width;
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
    use crate::noise::{NoiseShape, ratio};

    /// Masses by definition, summed one by one from the largest x: E|x|, and P(|x| > h) for each h.
    fn brute(shape: &NoiseShape, far: i64) -> (f64, Vec<f64>) {
        let weight = |x: i64| match shape {
            NoiseShape::Laplace { scale } => (-(x as f64) / scale.to_f64().value()).exp(),
            NoiseShape::Gaussian { sigma } => {
                (-0.5 * (x as f64 / sigma.to_f64().value()).powi(2)).exp()
            }
            NoiseShape::Staircase { inverse_epsilon, period, cut } => {
                let level = x as u64 / period + u64::from(x as u64 % period >= *cut);
                (-(level as f64) / inverse_epsilon.to_f64().value()).exp()
            }
        };
        let (mut sum, mut moment) = (0.0, 0.0);
        let mut beyond = vec![0.0];
        for x in (1..far).rev() {
            sum += weight(x);
            moment += x as f64 * weight(x);
            beyond.push(sum);
        }
        let total = 1.0 + 2.0 * sum;
        beyond.reverse();
        (2.0 * moment / total, beyond.iter().map(|sum| 2.0 * sum / total).collect())
    }

    #[test]
    fn accuracy_is_that_of_the_masses_summed_one_by_one() {
        let noises = [
            (Noise::geometric(0.3, 1), 100),
            (Noise::geometric(17.0, 1), 1_500),
            (Noise::geometric(3e4, 1), 2_000_000),
            (Noise::discrete_gaussian(0.4, 1), 100),
            (Noise::discrete_gaussian(25.0, 1), 1_000),
            (Noise::discrete_gaussian(255.9, 1), 10_000),
            (Noise::discrete_gaussian(256.1, 1), 10_000),
            (Noise::discrete_gaussian(1000.0, 1), 40_000),
            (Noise::discrete_gaussian(1e5, 1), 4_000_000),
            (Noise::staircase(1.0, None, 1.0, Grid::WHOLE), 100),
            (Noise::staircase(0.5, None, 12.0, Grid::WHOLE), 2_000),
            (Noise::staircase(3.0, Some(0.8), 5.0, Grid::WHOLE), 200),
            (Noise::staircase(60.0, Some(0.3), 1e4, Grid::WHOLE), 100_000),
            (Noise::staircase(0.01, None, 100.0, Grid::WHOLE), 500_000),
        ];
        for (noise, far) in noises {
            let noise = noise.unwrap();
            let (expected, beyond) = brute(&noise.shape, far);
            assert!((noise.expected_error() / expected - 1.0).abs() < 1e-10, "{noise:?}");
            for confidence in CONFIDENCES {
                let keeps = |beyond: &f64| match confidence < 0.5 {
                    true => 1.0 - beyond >= confidence,
                    false => *beyond <= 1.0 - confidence,
                };
                let half_width = beyond.iter().position(keeps).unwrap() as f64;
                let found = noise.half_width(confidence).unwrap();
                // Sums of a million doubles are good to ten digits.
                let slack = 1e-9 * half_width;
                let context = format!("{noise:?} at {confidence}: {found} {half_width}");
                assert!((found - half_width).abs() <= slack, "{context}");
            }
        }
    }

    const CONFIDENCES: [f64; 12] = [
        1e-16,
        1e-9,
        0.2,
        0.499,
        0.5,
        0.9,
        0.95,
        0.999,
        1.0 - 1e-9,
        1.0 - 1e-12,
        1.0 - 1e-15,
        1.0 - 1.1102230246251565e-16,
    ];

    /// For noise whose outcomes cannot be listed, by the closed form without cancellation: P(|x| <= h) reaches c at the
    /// half-width, and not one step before.
    #[test]
    fn tiny_confidences_of_wide_noise() {
        for (scale, confidence) in [(1e20, 1e-16), (1e20, 1e-10), (2.0_f64.powi(80), 1e-15)] {
            let found = Noise::geometric(scale, 1).unwrap().half_width(confidence).unwrap();
            assert!((found / (scale * confidence) - 1.0).abs() < 1e-6, "{scale} {confidence}");
        }
        // In the flat middle P(|x| <= h) is proportional to h.
        let noise = Noise::staircase(400.0, Some(0.5), 1e12, Grid::WHOLE).unwrap();
        let found = noise.half_width(1e-9).unwrap();
        assert!((found / 500.0 - 1.0).abs() < 0.01, "{found}");
    }

    #[test]
    fn noise_for_a_half_width_keeps_to_it_and_hardly_more_noise_does() {
        let grid = Grid::new(-6).unwrap();
        for wanted in [0.5, 3.0, 40.0] {
            let noise = Noise::laplace_within(wanted, 0.95, 1.0, grid).unwrap();
            assert!(noise.half_width(0.95).unwrap() <= wanted);
            let NoiseShape::Laplace { scale } = &noise.shape else { panic!() };
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
