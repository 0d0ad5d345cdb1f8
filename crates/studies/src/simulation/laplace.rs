//! Laplace noise made from randomized response (S Exercise 3.2): for study, in doubles.

use counterpoint::Epsilon;
use counterpoint_papers::pair::LaplaceMap;

use super::draws::SampleWords;
use super::result::{LaplaceResult, LaplaceRow, SimulationError, SimulationResult, input};

/// The largest difference of two probabilities that count as equal.
const ROUNDING: f64 = 1e-14;

pub(super) fn simulate_laplace(
    epsilon: Epsilon,
    samples: u64,
    seed: u64,
) -> Result<SimulationResult, SimulationError> {
    let (map, e) = (LaplaceMap::new(epsilon).map_err(input)?, epsilon.get());
    // The response is plus with the larger probability on the first data set, minus on the second.
    let likely = 1.0 / (1.0 + (-e).exp());
    let plus = [likely, 1.0 - likely];
    let mut words = SampleWords(seed);
    let mut uniform = || ((words.next() >> 11) as f64 + 0.5) * 2_f64.powi(-53);
    let mut drawn = [0, 1].map(|_| Vec::with_capacity(samples as usize));
    for _ in 0..samples {
        for b in [0, 1] {
            let is_plus = uniform() < plus[b];
            drawn[b].push(map.quantile(is_plus, uniform()).map_err(input)?);
        }
    }
    let row = |at: f64| {
        let responses = [true, false].map(|side| map.cumulative(side, at));
        let mixed = plus.map(|plus| plus * responses[0] + (1.0 - plus) * responses[1]);
        let laplace = [0.0, 1.0].map(|centre| cumulative(e * (at - centre)));
        let drawn = [0, 1].map(|b: usize| drawn[b].iter().filter(|z| **z <= at).count() as u64);
        LaplaceRow { at, responses, mixed, laplace, drawn }
    };
    let rows: Vec<LaplaceRow> = places(e).into_iter().map(row).collect();
    let agrees = |row: &LaplaceRow| {
        std::iter::zip(row.mixed, row.laplace).all(|(own, law)| (own - law).abs() < ROUNDING)
    };
    Ok(SimulationResult {
        parts_agree: rows.iter().all(agrees),
        laplace: Some(LaplaceResult { epsilon: e, rows }),
        ..SimulationResult::empty(samples, seed)
    })
}

/// Returns numbers up to two scales below 0, between 0 and 1, and up to two scales above 1.
fn places(e: f64) -> Vec<f64> {
    let beyond = [0.5, 1.0, 2.0].map(|scales| scales / e);
    let below = beyond.iter().rev().map(|by| -by);
    let between = [0.0, 0.25, 0.5, 0.75, 1.0];
    below.chain(between).chain(beyond.iter().map(|by| 1.0 + by)).collect()
}

/// The probability that Laplace noise of scale one is at most a number.
fn cumulative(x: f64) -> f64 {
    if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() }
}
