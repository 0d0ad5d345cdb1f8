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
    let seen = attack(runs(), first, second);
    epsilon_at_least(seen, 0.0) > charge
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
struct Broken {
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

impl Broken {
    fn new(bug: Bug) -> Self {
        let add = noise(1.0);
        Self { threshold: add(0), left: 1 + u64::from(bug == Bug::OneMore), reused: add(0), bug }
    }

    fn ask(&mut self, value: i128) -> Option<bool> {
        if self.left == 0 {
            return None;
        }
        let noisy = match self.bug {
            Bug::NoQueryNoise => value,
            Bug::ReusedNoise => value + self.reused,
            _ => noise(1.0)(value),
        };
        let above = noisy >= self.threshold;
        if above {
            match self.bug {
                Bug::Unlimited => {}
                Bug::Refreshed => self.threshold = noise(1.0)(0),
                _ => self.left -= 1,
            }
        }
        Some(above)
    }
}

/// Below at `low`, then above at `high`. Without noise of its own for each query the answers
/// are in order: impossible where low is the larger.
fn crossed(bug: Bug, low: i128, high: i128) -> bool {
    let mut gate = Broken::new(bug);
    gate.ask(low) == Some(false) && gate.ask(high) == Some(true)
}

#[test]
fn no_query_noise() {
    let bug = Bug::NoQueryNoise;
    assert!(caught(3.0, || crossed(bug, 0, 1), || crossed(bug, 1, 0)));
}

#[test]
fn query_noise_reused() {
    let bug = Bug::ReusedNoise;
    assert!(caught(3.0, || crossed(bug, 0, 1), || crossed(bug, 1, 0)));
}

/// Forty queries that fall with the person and forty that rise: how many more of the first
/// are above?
fn lopsided(bug: Bug, first: i128, then: i128) -> bool {
    let mut gate = Broken::new(bug);
    let mut above = |value| (0..40).filter(|_| gate.ask(value) == Some(true)).count() as i64;
    above(first) - above(then) >= 5
}

#[test]
fn unlimited_answers_above() {
    let bug = Bug::Unlimited;
    assert!(caught(3.0, || lopsided(bug, 1, 0), || lopsided(bug, 0, 1)));
}

#[test]
fn a_threshold_refreshed_for_free() {
    let bug = Bug::Refreshed;
    assert!(caught(3.0, || lopsided(bug, 1, 0), || lopsided(bug, 0, 1)));
}

#[test]
fn a_halt_off_by_one() {
    let mut sound = Broken::new(Bug::None);
    let mut late = Broken::new(Bug::OneMore);
    assert_eq!(answers_above(|| sound.ask(100)), 1);
    assert_eq!(answers_above(|| late.ask(100)), 2);
}

/// The same attacks find nothing where there is no bug.
#[test]
fn a_gate_without_a_bug_passes() {
    let bug = Bug::None;
    assert!(!caught(3.0, || crossed(bug, 0, 1), || crossed(bug, 1, 0)));
    assert!(!caught(3.0, || lopsided(bug, 1, 0), || lopsided(bug, 0, 1)));
}
