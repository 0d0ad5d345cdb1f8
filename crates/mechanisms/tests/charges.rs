//! What is charged is what runs: profiles of the noise, summed one by one from its masses, against
//! the accountant's answer for the description.

use counterpoint::{Count, Epsilon, Mechanism, Options, Plan};
use counterpoint_mechanisms::{Grid, Noise};

/// delta(e) of noise moved by some steps, from masses that need not sum to one.
fn profile(mass: impl Fn(i64) -> f64, far: i64, shift: i64, epsilon: f64) -> f64 {
    let total: f64 = (-far..=far).map(&mass).sum();
    let gain = |x: i64| (mass(x) - epsilon.exp() * mass(x - shift)).max(0.0);
    (-far..=far + shift).map(gain).sum::<f64>() / total
}

fn charged(mechanism: &Mechanism, epsilon: f64) -> counterpoint::Bracket {
    let plan = Plan::new([(mechanism.clone(), Count::ONE)]).unwrap();
    plan.delta(Epsilon::new(epsilon).unwrap(), &Options::default()).unwrap().bracket
}

fn agree(noise: &Noise, mass: impl Fn(i64) -> f64 + Copy, far: i64) {
    let steps = noise.sensitivity() as i64;
    for epsilon in [0.0, 0.1, 0.35, 0.7, 1.3] {
        let worst = (1..=steps).map(|shift| profile(mass, far, shift, epsilon));
        let worst = worst.fold(0.0, f64::max);
        let bracket = charged(&noise.mechanism(), epsilon);
        let (low, high) =
            (bracket.lower * (1.0 - 1e-9) - 1e-12, bracket.upper * (1.0 + 1e-9) + 1e-12);
        assert!((low..=high).contains(&worst), "{noise:?} at {epsilon}: {worst}, {bracket}");
    }
}

#[test]
fn noise_is_charged_as_what_it_is() {
    for (scale, steps) in [(1.0, 1), (2.5, 3), (10.0, 7)] {
        let noise = Noise::geometric(scale, steps).unwrap();
        agree(&noise, |x| (-(x.abs() as f64) / scale).exp(), 800);
        let noise = Noise::discrete_gaussian(scale, steps).unwrap();
        agree(&noise, |x| (-0.5 * (x as f64 / scale).powi(2)).exp(), 400);
    }
    for (epsilon, period, gamma) in [(1.0, 1, None), (0.8, 5, None), (1.2, 8, Some(0.9))] {
        let noise = Noise::staircase(epsilon, gamma, period as f64, Grid::WHOLE).unwrap();
        let share = gamma.unwrap_or(1.0 / (1.0 + (0.5_f64 * epsilon).exp()));
        let cut = ((share * period as f64 + 0.5).round() as i64).clamp(1, period);
        let level = move |x: i64| (x.abs() - cut).div_euclid(period) + 1;
        agree(&noise, |x| (-epsilon * level(x) as f64).exp(), 60 * period);
    }
}

/// One step more makes continuous noise dominate discrete noise; without it, it does not.
#[test]
fn continuous_noise_with_one_step_more_dominates() {
    let mut without = 0;
    for scale in [0.7, 3.0, 20.0] {
        for steps in [1_i64, 2, 5, 30] {
            for share in [-0.9, -0.3, 0.0, 0.2, 0.5, 0.77, 0.95, 0.999] {
                let epsilon = share * steps as f64 / scale;
                let mass = |x: i64| (-(x.abs() as f64) / scale).exp();
                let discrete = profile(mass, 1500, steps, epsilon);
                let continuous = |steps: f64| 1.0 - (0.5 * (epsilon - steps / scale)).exp();
                assert!(continuous(steps as f64 + 1.0) >= discrete - 1e-12);
                without += u32::from(continuous(steps as f64) < discrete - 1e-9);
            }
        }
    }
    assert!(without > 20);
}

/// The same for Gaussian noise: every threshold tells less of discrete noise moved by D than of continuous
/// noise moved by D + 1, that is, quantiles of the chances on both sides are closer. With D alone they are not.
#[test]
fn continuous_gaussian_noise_with_one_step_more_dominates() {
    let mut without = 0;
    for sigma in [0.3_f64, 1.0, 4.0, 30.0] {
        let far = (35.0 * sigma).ceil() as i64 + 2;
        let weight = |x: i64| (-0.5 * (x as f64 / sigma).powi(2)).exp();
        let total: f64 = (-far..=far).map(weight).sum();
        let at_least = |k: i64| (k..=far).rev().map(weight).sum::<f64>() / total;
        let tail = |x: f64| 0.5 * libm::erfc(x / (sigma * 2.0_f64.sqrt()));
        for k in -3..=(6.0 * sigma) as i64 + 3 {
            // P(Z > k) <= P(x >= k) <= P(Z > k - 1).
            let discrete = at_least(k);
            assert!(tail(k as f64) <= discrete * (1.0 + 1e-9), "{sigma} {k}");
            assert!(discrete <= tail(k as f64 - 1.0) * (1.0 + 1e-9), "{sigma} {k}");
        }
        for steps in [1, 3, 10] {
            for share in [-0.5, 0.0, 0.4, 1.0, 2.5] {
                let distance = steps as f64;
                let epsilon = share * distance / sigma;
                let discrete = profile(weight, far, steps, epsilon);
                let continuous = |mu: f64| {
                    let (near, beyond) = (epsilon / mu - 0.5 * mu, epsilon / mu + 0.5 * mu);
                    tail(near * sigma) - epsilon.exp() * tail(beyond * sigma)
                };
                assert!(continuous((distance + 1.0) / sigma) >= discrete - 1e-12);
                without += u32::from(continuous(distance / sigma) < discrete - 1e-9);
            }
        }
    }
    assert!(without > 10, "{without}");
}

/// Far beyond what can be listed, noise is charged that way; and with few steps as what it is.
#[test]
fn wide_gaussian_noise_is_charged_one_step_more() {
    let noise = Noise::gaussian(2.0, 1.0, Grid::new(-18).unwrap()).unwrap();
    let Mechanism::Gaussian { sigma, sensitivity } = noise.mechanism() else { panic!() };
    let steps = 2.0_f64.powi(18);
    assert!(
        (sigma.get() - 2.0 * steps).abs() < 0.5 && (sensitivity.get() - steps - 1.0).abs() < 0.5
    );
    let Mechanism::DiscreteGaussian { sigma, sensitivity } =
        Noise::discrete_gaussian(11_000.0, 11).unwrap().mechanism()
    else {
        panic!()
    };
    assert!((sigma.get() - 11_000.0).abs() < 1e-9 && sensitivity.get() == 11);
}

/// Fine grids are charged as continuous noise, with that step.
#[test]
fn a_fine_grid_is_charged_one_step_more() {
    let noise = Noise::laplace(1.0, 1.0, Grid::new(-20).unwrap()).unwrap();
    let Mechanism::Laplace { scale, sensitivity } = noise.mechanism() else { panic!() };
    let steps = 2.0_f64.powi(20);
    assert!((scale.get() - steps).abs() < 0.5 && (sensitivity.get() - steps - 1.0).abs() < 0.5);
    // At 2^53 steps one more is no double: two are charged.
    let noise = Noise::geometric(1.0, 1 << 53).unwrap();
    let Mechanism::Laplace { sensitivity, .. } = noise.mechanism() else { panic!() };
    assert!(sensitivity.get() > 2.0_f64.powi(53));
}
