//! Every sampler follows its law, and a scale wrong by 2 % would be seen. Twenty parameter sets
//! each: 200,000 draws a set in a full run, 4 10^6 for each sampler; 5,000 a set in a quick one.

use crate::common::fit::Law;
use counterpoint_mechanisms::{
    Exponential, Grid, LeakyAnswer, LeakyResponse, Noise, RandomizedResponse,
};
use counterpoint_testing::tries;

const SETS: usize = 20;

/// Twenty numbers from one end to the other, evenly in the logarithm.
fn spaced(low: f64, high: f64) -> impl Iterator<Item = f64> {
    (0..SETS).map(move |i| low * (high / low).powf(i as f64 / (SETS - 1) as f64))
}

fn follows(law: &Law, what: &str, draw: impl FnMut() -> i128) {
    let verdict = law.verdict(tries(200_000, 0.025), draw);
    assert!(!verdict.rejects(), "{what}: {verdict:?}");
}

fn gaussian_law(sigma: f64) -> Law {
    let far = (40.0 * sigma).ceil() as i128;
    let mass = move |x: i128| (x, (-0.5 * (x as f64 / sigma).powi(2)).exp());
    Law::listed((-far..=far).map(mass), move |x| (x as f64 / sigma).powi(2))
}

/// Level n: |x| from (n-1) period + cut up to n period + cut.
fn staircase_law(epsilon: f64, period: i128, cut: i128) -> Law {
    let level = move |x: i128| ((x.abs() - cut).div_euclid(period) + 1) as f64;
    let far = period * (2.0 + 40.0 / epsilon).ceil() as i128;
    Law::listed((-far..=far).map(move |x| (x, (-epsilon * level(x)).exp())), level)
}

#[test]
fn geometric() {
    for scale in spaced(0.2, 2000.0) {
        let noise = Noise::geometric(scale, 1).unwrap();
        follows(&Law::laplace(scale), &format!("{noise:?}"), || noise.add(0).unwrap());
    }
}

#[test]
fn laplace_on_a_grid() {
    for scale in spaced(1e-3, 1e6) {
        let grid = Grid::at_most(scale / 1e9).unwrap();
        let noise = Noise::laplace(scale, 1.0, grid).unwrap();
        let law = Law::laplace(scale / grid.step());
        follows(&law, &format!("{noise:?}"), || {
            (noise.release(0.0).unwrap() / grid.step()) as i128
        });
    }
}

#[test]
fn discrete_gaussian() {
    for sigma in spaced(0.2, 500.0) {
        let noise = Noise::discrete_gaussian(sigma, 1).unwrap();
        follows(&gaussian_law(sigma), &format!("{noise:?}"), || noise.add(0).unwrap());
    }
}

#[test]
fn gaussian_on_a_grid() {
    for sigma in spaced(1e-3, 1e6) {
        let grid = Grid::at_most(sigma / 1024.0).unwrap();
        let noise = Noise::gaussian(sigma, sigma, grid).unwrap();
        let law = gaussian_law(sigma / grid.step());
        follows(&law, &format!("{noise:?}"), || {
            (noise.release(0.0).unwrap() / grid.step()) as i128
        });
    }
}

#[test]
fn staircase() {
    for (epsilon, period) in spaced(0.1, 4.0).zip([1_u64, 2, 3, 5, 8, 13, 40].iter().cycle()) {
        let noise = Noise::staircase(epsilon, None, *period as f64, Grid::WHOLE).unwrap();
        // The boundary nearest to the best one that lies half a step off the grid.
        let best = *period as f64 / (1.0 + (0.5 * epsilon).exp());
        let cut = (1..=*period).min_by(|a, b| {
            (*a as f64 - 0.5 - best).abs().total_cmp(&(*b as f64 - 0.5 - best).abs())
        });
        let law = staircase_law(epsilon, (*period).into(), cut.unwrap().into());
        follows(&law, &format!("{noise:?}"), || noise.add(0).unwrap());
    }
}

fn response_law(epsilon: f64, buckets: i128, truth: i128) -> Law {
    let mass = move |x: i128| (x, if x == truth { epsilon.exp() } else { 1.0 });
    Law::listed((0..buckets).map(mass), move |x| f64::from(u8::from(x == truth)))
}

#[test]
fn randomized_response() {
    for (epsilon, buckets) in spaced(0.05, 6.0).zip([2_u64, 3, 4, 10, 100].iter().cycle()) {
        let truth = buckets / 2;
        let response = RandomizedResponse::new(epsilon, *buckets).unwrap();
        let law = response_law(epsilon, (*buckets).into(), truth.into());
        follows(&law, &format!("{response:?}"), || response.release(truth).unwrap().into());
    }
}

/// 0 and 1: randomized; 2 and 3: leaked. The truth is 1.
fn leaky_law(epsilon: f64, delta: f64) -> Law {
    let told = (1.0 - delta) * epsilon.exp() / (1.0 + epsilon.exp());
    let masses = [1.0 - delta - told, told, 0.0, delta];
    Law::listed((0..4).zip(masses), |x| f64::from(u8::from(x == 1)))
}

fn leaky(response: &LeakyResponse) -> i128 {
    match response.release(true).unwrap() {
        LeakyAnswer::Randomized(bit) => i128::from(bit),
        LeakyAnswer::Leaked(bit) => 2 + i128::from(bit),
    }
}

#[test]
fn leaky_response() {
    for (epsilon, delta) in spaced(0.05, 5.0).zip(spaced(1e-3, 0.5)) {
        let response = LeakyResponse::new(epsilon, delta).unwrap();
        follows(&leaky_law(epsilon, delta), &format!("{response:?}"), || leaky(&response));
    }
}

/// Places in a list of scores; the energy is the logarithm of the weight.
fn exponential_law(rate: f64, scores: &[i64]) -> Law {
    let energies: Vec<f64> = scores.iter().map(|&score| rate * score as f64).collect();
    let best = energies.iter().copied().fold(f64::MIN, f64::max);
    let masses: Vec<f64> = energies.iter().map(|energy| (energy - best).exp()).collect();
    Law::listed((0..).zip(masses), move |x| energies[x as usize])
}

#[test]
fn exponential() {
    let scores = [3_i64, 17, 0, 12, 17, 5, 16, -40];
    for (epsilon, sensitivity) in spaced(0.05, 8.0).zip([1_u64, 2, 5].iter().cycle()) {
        let choice = Exponential::new(epsilon, *sensitivity).unwrap();
        let law = exponential_law(epsilon / (2.0 * *sensitivity as f64), &scores);
        follows(&law, &format!("{choice:?}"), || choice.release(&scores).unwrap() as i128);
    }
}

/// A law against a sampler of which one parameter is 2 % off, either way, in 10^6 draws; in a
/// quick run 10 % off in 40,000, which is as many standard deviations: 13 for a single bit, 18
/// or more for the others, where 7 are rejected.
fn sees<D: FnMut() -> i128>(law: &Law, wrong: impl Fn(f64) -> D) {
    let factors: &[f64] = if counterpoint_testing::is_full() { &[0.98, 1.02] } else { &[0.9] };
    for &factor in factors {
        let verdict = law.verdict(tries(1_000_000, 0.04), wrong(factor));
        assert!(verdict.rejects(), "{factor}: {verdict:?}");
    }
}

fn noisy(noise: Noise) -> impl FnMut() -> i128 {
    move || noise.add(0).unwrap()
}

/// In steps of the grid.
fn released(noise: Noise) -> impl FnMut() -> i128 {
    move || (noise.release(0.0).unwrap() / noise.grid().step()) as i128
}

#[test]
fn a_wrong_geometric_scale_is_rejected() {
    sees(&Law::laplace(7.0), |wrong| noisy(Noise::geometric(7.0 * wrong, 1).unwrap()));
}

#[test]
fn a_wrong_laplace_scale_is_rejected() {
    let grid = Grid::at_most(1e-9).unwrap();
    let law = Law::laplace(1.0 / grid.step());
    sees(&law, |wrong| released(Noise::laplace(wrong, 1.0, grid).unwrap()));
}

#[test]
fn a_wrong_discrete_gaussian_sigma_is_rejected() {
    sees(&gaussian_law(7.0), |wrong| noisy(Noise::discrete_gaussian(7.0 * wrong, 1).unwrap()));
}

#[test]
fn a_wrong_gaussian_sigma_is_rejected() {
    let grid = Grid::at_most(1e-3).unwrap();
    let law = gaussian_law(1.0 / grid.step());
    sees(&law, |wrong| released(Noise::gaussian(wrong, 1.0, grid).unwrap()));
}

#[test]
fn a_wrong_staircase_epsilon_is_rejected() {
    sees(&staircase_law(1.0, 5, 2), |wrong| {
        noisy(Noise::staircase(wrong, None, 5.0, Grid::WHOLE).unwrap())
    });
}

#[test]
fn a_wrong_response_epsilon_is_rejected() {
    for (epsilon, buckets) in [(2.4, 2), (4.5, 10)] {
        sees(&response_law(epsilon, buckets.into(), 1), |wrong| {
            let response = RandomizedResponse::new(epsilon * wrong, buckets).unwrap();
            move || response.release(1).unwrap().into()
        });
    }
}

#[test]
fn a_wrong_epsilon_or_delta_of_a_leaky_response_is_rejected() {
    let response = |epsilon: f64, delta: f64| {
        let response = LeakyResponse::new(epsilon, delta).unwrap();
        move || leaky(&response)
    };
    sees(&leaky_law(2.4, 0.01), |wrong| response(2.4 * wrong, 0.01));
    sees(&leaky_law(1.0, 0.5), |wrong| response(1.0, 0.5 * wrong));
}

#[test]
fn a_wrong_exponential_epsilon_is_rejected() {
    let scores: Vec<i64> = (0..10).collect();
    sees(&exponential_law(0.5, &scores), |wrong| {
        let (choice, scores) = (Exponential::new(wrong, 1).unwrap(), scores.clone());
        move || choice.release(&scores).unwrap() as i128
    });
}
