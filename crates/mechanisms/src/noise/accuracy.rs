//! How far the noise moves an answer. Accuracy is a matter of usefulness, not of privacy:
//! plain doubles will do.

use super::{Noise, Shape, ratio};
use crate::error::{Error, check};
use crate::grid::Grid;

impl Noise {
    /// The mean distance between the answer with noise and without.
    #[must_use]
    pub fn expected_error(&self) -> f64 {
        self.shape.expected() * self.grid.step()
    }

    /// The noise is at most this with at least this probability.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 0 < confidence < 1.
    pub fn half_width(&self, confidence: f64) -> Result<f64, Error> {
        confident(confidence)?;
        Ok(self.shape.half_width(1.0 - confidence) * self.grid.step())
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
        let shape = |units| Ok(Shape::Laplace { scale: ratio(units)? });
        let units = largest(half_width, confidence, grid, 2.0_f64.powi(80), shape)?;
        Self::laplace(units * grid.step(), sensitivity, grid)
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
        let shape = |units| Ok(Shape::Gaussian { sigma: ratio(units)? });
        let units = largest(half_width, confidence, grid, 1e4, shape)?;
        Self::gaussian(units * grid.step(), sensitivity, grid)
    }
}

pub(crate) fn confident(confidence: f64) -> Result<(), Error> {
    let legal = "a number above 0 and below 1";
    check(confidence > 0.0 && confidence < 1.0, "confidence", confidence, legal)
}

/// The largest parameter, in grid units, for which the noise keeps to the half-width.
fn largest(
    half_width: f64,
    confidence: f64,
    grid: Grid,
    most: f64,
    shape: impl Fn(f64) -> Result<Shape, Error>,
) -> Result<f64, Error> {
    confident(confidence)?;
    let wanted = half_width / grid.step();
    let keeps =
        |units: f64| Ok::<bool, Error>(shape(units)?.half_width(1.0 - confidence) <= wanted);
    let (mut low, mut high) = (2.0_f64.powi(-20), most);
    check(keeps(low)?, "half-width", half_width, "at least one step of the grid, or zero")?;
    if keeps(high)? {
        return Ok(high);
    }
    while high / low > 1.0 + 1e-12 {
        let middle = (low * high).sqrt();
        if middle <= low || middle >= high {
            break;
        }
        if keeps(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

impl Shape {
    /// E|x|.
    fn expected(&self) -> f64 {
        match self {
            Self::Laplace { scale } => 1.0 / (1.0 / scale.to_f64().value()).sinh(),
            Self::Gaussian { sigma } => {
                let sigma = sigma.to_f64().value();
                let (mut mass, mut moment) = (1.0, 0.0);
                for (x, weight) in weights(sigma) {
                    mass += 2.0 * weight;
                    moment += 2.0 * weight * x;
                }
                moment / mass
            }
            Self::Staircase { .. } => {
                let Steps { decay, period, cut, scale } = self.steps();
                let one = cut + (period - cut) * decay;
                let low = cut * (cut - 1.0) / 2.0;
                let moment = low + decay * (period * (period - 1.0) / 2.0 - low);
                let rest = 1.0 - decay;
                2.0 * scale * (one * period * decay / (rest * rest) + moment / rest)
            }
        }
    }

    /// The least h with P(|x| > h) at most alpha.
    fn half_width(&self, alpha: f64) -> f64 {
        match self {
            Self::Laplace { scale } => {
                // P(|x| >= k) = 2 e^(-ak) / (1 + e^-a), k >= 1.
                let a = 1.0 / scale.to_f64().value();
                let beyond = ((2.0 / alpha).ln() - (-a).exp().ln_1p()) / a;
                (beyond.ceil() - 1.0).max(0.0)
            }
            Self::Gaussian { sigma } => {
                let sigma = sigma.to_f64().value();
                let whole: f64 = 1.0 + 2.0 * weights(sigma).map(|(_, weight)| weight).sum::<f64>();
                let mut left = 1.0 - 1.0 / whole;
                if left <= alpha {
                    return 0.0;
                }
                for (x, weight) in weights(sigma) {
                    left -= 2.0 * weight / whole;
                    if left <= alpha {
                        return x;
                    }
                }
                40.0 * sigma
            }
            Self::Staircase { .. } => {
                let (mut low, mut high) = (-1.0, 1.0);
                while self.tail(high + 1.0) > alpha {
                    (low, high) = (high, 2.0 * high);
                }
                while high - low > 1.0 {
                    let middle = (0.5 * (low + high)).floor();
                    if middle <= low {
                        break;
                    }
                    if self.tail(middle + 1.0) <= alpha { high = middle } else { low = middle }
                }
                high
            }
        }
    }

    /// P(|x| >= k) of a staircase, k >= 1.
    fn tail(&self, k: f64) -> f64 {
        let Steps { decay, period, cut, scale } = self.steps();
        let level = (k / period).floor();
        let place = k - level * period;
        let whole = (cut + (period - cut) * decay) / (1.0 - decay);
        let before = place.min(cut) + (place - cut).max(0.0) * decay;
        2.0 * scale * decay.powf(level) * (whole - before)
    }

    fn steps(&self) -> Steps {
        let Self::Staircase { inverse_epsilon, period, cut } = self else {
            return Steps { decay: 0.0, period: 1.0, cut: 1.0, scale: 1.0 };
        };
        let decay = (-1.0 / inverse_epsilon.to_f64().value()).exp();
        let (period, cut) = (*period as f64, *cut as f64);
        let rest = 1.0 - decay;
        let scale = rest / ((2.0 * cut - 1.0) * rest + 2.0 * decay * period);
        Steps { decay, period, cut, scale }
    }
}

/// A staircase's masses: `scale` times `decay` to the level.
struct Steps {
    decay: f64,
    period: f64,
    cut: f64,
    scale: f64,
}

/// The discrete Gaussian's positive places and their weights, that of zero being one.
fn weights(sigma: f64) -> impl Iterator<Item = (f64, f64)> {
    let furthest = (40.0 * sigma).ceil() as u64 + 1;
    (1..=furthest).map(move |x| {
        let x = x as f64;
        (x, (-0.5 * (x / sigma).powi(2)).exp())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let more = Shape::Laplace { scale: scale * ratio(1.0001).unwrap() };
            assert!(more.half_width(0.05) * grid.step() > wanted);
            let noise = Noise::gaussian_within(wanted, 0.95, 1.0, grid).unwrap();
            assert!(noise.half_width(0.95).unwrap() <= wanted);
        }
        assert!(Noise::laplace_within(-1.0, 0.95, 1.0, grid).is_err());
        assert!(Noise::laplace_within(1.0, 1.0, 1.0, grid).is_err());
    }
}
