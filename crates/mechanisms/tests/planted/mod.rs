//! Mechanisms with one bug each. Every one is caught by the attacks, by the halt or by the
//! grid; none is in the crate.

use super::common::Random;
use super::common::audit::{attack, epsilon_at_least};
use super::{answers_above, runs};
use counterpoint_mechanisms::Noise;

/// Laplace noise as textbooks draw it, in floating point.
fn float_laplace(random: &mut Random, scale: f64) -> f64 {
    let size = -scale * random.unit().ln();
    if random.bits() & 1 == 1 { size } else { -size }
}

/// Whether an attack certifies more than this.
fn caught(charge: f64, first: impl FnMut() -> bool, second: impl FnMut() -> bool) -> bool {
    epsilon_at_least(attack(runs(), first, second), 0.0) > charge
}

#[test]
fn low_bits_of_floating_point_noise() {
    // 1 + x is a multiple of 2^-53 wherever it is small; x alone hardly ever is.
    let off_grid = |y: f64| y.abs() < 0.5 && (y * 2.0_f64.powi(53)).fract().abs() > 0.0;
    let (mut one, mut other) = (Random(1), Random(2));
    let seen_first = || off_grid(float_laplace(&mut one, 1.0));
    assert!(caught(1.0, seen_first, || off_grid(1.0 + float_laplace(&mut other, 1.0))));
}

fn noise(scale: f64) -> impl Fn(i128) -> i128 {
    let noise = Noise::geometric(scale, 1).unwrap();
    move |x| noise.add(x).unwrap()
}

#[test]
fn a_sensitivity_of_one_where_it_is_two() {
    let add = noise(1.0);
    assert!(caught(1.0, || add(0) <= 0, || add(2) <= 0));
}

#[test]
fn a_scale_halved() {
    let add = noise(0.5);
    assert!(caught(1.0, || add(0) <= 0, || add(1) <= 0));
}

/// A gate at threshold zero with c = 1 and epsilon 1, so charged 3, with room for bugs.
struct Broken<'a> {
    noise: &'a Noise,
    threshold: i128,
    left: u64,
    reused: i128,
    bug: Bug,
}

#[derive(Clone, Copy, PartialEq)]
enum Bug {
    None,
    NoQueryNoise,
    ReusedNoise,
    Unlimited,
    Refreshed,
    OneMore,
}

impl<'a> Broken<'a> {
    fn new(bug: Bug, noise: &'a Noise) -> Self {
        let left = 1 + u64::from(bug == Bug::OneMore);
        Self { noise, threshold: noise.add(0).unwrap(), left, reused: noise.add(0).unwrap(), bug }
    }

    fn ask(&mut self, value: i128) -> Option<bool> {
        if self.left == 0 {
            return None;
        }
        let noisy = match self.bug {
            Bug::NoQueryNoise => value,
            Bug::ReusedNoise => value + self.reused,
            _ => self.noise.add(value).unwrap(),
        };
        let above = noisy >= self.threshold;
        if above {
            match self.bug {
                Bug::Unlimited => {}
                Bug::Refreshed => self.threshold = self.noise.add(0).unwrap(),
                _ => self.left -= 1,
            }
        }
        Some(above)
    }
}

/// Below at `low`, then above at `high`. Without noise of its own for each query the answers
/// are in order: impossible where low is the larger.
fn crossed_is_caught(bug: Bug) -> bool {
    let noise = Noise::geometric(1.0, 1).unwrap();
    let crossed = |low: i128, high: i128| {
        let mut gate = Broken::new(bug, &noise);
        gate.ask(low) == Some(false) && gate.ask(high) == Some(true)
    };
    caught(3.0, || crossed(0, 1), || crossed(1, 0))
}

/// A hundred queries that fall with the person and a hundred that rise, in turns: are more of
/// the first above? A thousand runs are plenty.
fn lopsided_is_caught(bug: Bug) -> bool {
    let noise = Noise::geometric(1.0, 1).unwrap();
    let lopsided = |first: i128, then: i128| {
        let mut gate = Broken::new(bug, &noise);
        let mut more = 0;
        for _ in 0..100 {
            more += i32::from(gate.ask(first) == Some(true));
            more -= i32::from(gate.ask(then) == Some(true));
        }
        more >= 5
    };
    let seen = attack(1000, || lopsided(1, 0), || lopsided(0, 1));
    epsilon_at_least(seen, 0.0) > 3.0
}

#[test]
fn no_query_noise() {
    assert!(crossed_is_caught(Bug::NoQueryNoise));
}

#[test]
fn query_noise_reused() {
    assert!(crossed_is_caught(Bug::ReusedNoise));
}

#[test]
fn unlimited_answers_above() {
    assert!(lopsided_is_caught(Bug::Unlimited));
}

#[test]
fn a_threshold_refreshed_for_free() {
    assert!(lopsided_is_caught(Bug::Refreshed));
}

#[test]
fn a_halt_off_by_one() {
    let noise = Noise::geometric(1.0, 1).unwrap();
    let above = |bug| {
        let mut gate = Broken::new(bug, &noise);
        answers_above(|| gate.ask(100))
    };
    assert_eq!((above(Bug::None), above(Bug::OneMore)), (1, 2));
}

/// The same attacks find nothing where there is no bug.
#[test]
fn a_gate_without_a_bug_passes() {
    assert!(!crossed_is_caught(Bug::None) && !lopsided_is_caught(Bug::None));
}
