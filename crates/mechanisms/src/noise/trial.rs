//! Noise for simulations: the same laws, in doubles, from numbers that are not secret. **Nothing is ever released with
//! this noise.**

use super::{Noise, NoiseShape};

/// A law of noise to simulate.
pub(crate) struct SimulatedNoise {
    kind: SimulatedShape,
    step: f64,
}

enum SimulatedShape {
    Laplace { scale: f64 },
    Gaussian { sigma: f64 },
    Staircase { epsilon: f64, period: f64, cut: f64 },
}

impl SimulatedNoise {
    pub(crate) fn new(noise: &Noise) -> Self {
        let kind = match &noise.shape {
            NoiseShape::Laplace { scale } => {
                SimulatedShape::Laplace { scale: scale.to_f64().value() }
            }
            NoiseShape::Gaussian { sigma } => {
                SimulatedShape::Gaussian { sigma: sigma.to_f64().value() }
            }
            NoiseShape::Staircase { inverse_epsilon, period, cut } => SimulatedShape::Staircase {
                epsilon: 1.0 / inverse_epsilon.to_f64().value(),
                period: *period as f64,
                cut: *cut as f64,
            },
        };
        Self { kind, step: noise.grid.step() }
    }

    /// Draws, given uniform numbers above 0 and at most 1.
    pub(crate) fn draw(&self, mut unit: impl FnMut() -> f64) -> f64 {
        self.step
            * match self.kind {
                SimulatedShape::Laplace { scale } => laplace(scale, &mut unit),
                SimulatedShape::Gaussian { sigma } => gaussian(sigma, &mut unit),
                SimulatedShape::Staircase { epsilon, period, cut } => {
                    staircase((epsilon, period, cut), &mut unit)
                }
            }
    }
}

/// A draw of a geometric variable x with P(x >= k) = e^(-k/scale).
fn geometric(scale: f64, unit: &mut impl FnMut() -> f64) -> f64 {
    (-unit().ln() * scale).floor()
}

fn laplace(scale: f64, unit: &mut impl FnMut() -> f64) -> f64 {
    geometric(scale, unit) - geometric(scale, unit)
}

/// Canonne, Kamath and Steinke 2020, Algorithm 3.
fn gaussian(sigma: f64, unit: &mut impl FnMut() -> f64) -> f64 {
    let scale = sigma.floor() + 1.0;
    loop {
        let y = laplace(scale, unit);
        let off = (y.abs() - sigma * (sigma / scale)) / sigma;
        if unit() <= (-0.5 * off * off).exp() {
            return y;
        }
    }
}

/// Level 0 has 2 cut - 1 whole numbers, and each later level has a period on either side.
fn staircase((epsilon, period, cut): (f64, f64, f64), unit: &mut impl FnMut() -> f64) -> f64 {
    let middle = 2.0 * cut - 1.0;
    let later = 2.0 * period / epsilon.exp_m1();
    let place = |of: f64, unit: &mut dyn FnMut() -> f64| ((1.0 - unit()) * of).floor();
    if unit() * (middle + later) <= middle {
        return place(middle, unit) - (cut - 1.0);
    }
    let sign = if unit() < 0.5 { -1.0 } else { 1.0 };
    sign * (cut + geometric(1.0 / epsilon, unit) * period + place(period, unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::noise::NoiseLaw;
    use counterpoint_testing::Random;

    /// Observed frequencies match the law's probabilities up to six standard deviations.
    #[test]
    fn draws_follow_the_law() {
        let mut random = Random::new(5);
        for noise in [
            Noise::geometric(0.7, 1),
            Noise::geometric(3e9, 1),
            Noise::discrete_gaussian(0.4, 1),
            Noise::discrete_gaussian(1e6, 1),
            Noise::staircase(0.7, None, 12.0, Grid::new(-3).unwrap()),
            Noise::staircase(3.0, Some(0.8), 5e6, Grid::WHOLE),
        ] {
            let noise = noise.unwrap();
            let (law, trial) = (NoiseLaw::new(&noise), SimulatedNoise::new(&noise));
            let runs = 20_000;
            let draws: Vec<f64> = (0..runs).map(|_| trial.draw(|| 1.0 - random.unit())).collect();
            for share in [-3.0, -1.0, -0.4, 0.0, 0.2, 1.0, 2.0] {
                let place = share * law.expected();
                let chance = law.above(place);
                let seen = draws.iter().filter(|x| **x > place).count() as f64 / f64::from(runs);
                let slack = 6.0 * (chance * (1.0 - chance) / f64::from(runs)).sqrt() + 1e-9;
                assert!((seen - chance).abs() <= slack, "{noise:?} {share}: {seen} {chance}");
            }
        }
    }
}
