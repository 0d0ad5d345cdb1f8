//! A few steps of noise on a sample: graded lists against nested quadrature (`reference/few_steps.py`) and, where
//! contours have an answer, against these.

use crate::common::mechanisms::{gaussian, laplace, plan, sampled};
use counterpoint::loss::Direction;
use counterpoint::{AskError, Delta, Epsilon, Options, Plan, Route, Tolerance};
use counterpoint_testing::{Random, tries};

const TABLE: &str = include_str!("reference/few_steps.txt");
/// The relative error of the quadrature in doubles.
const QUADRATURE: f64 = 2e-8;

fn options(route: Option<Route>, tolerance: f64) -> Options<'static> {
    Options { route, tolerance: Tolerance::new(tolerance).unwrap(), ..Options::default() }
}

#[test]
fn graded_lists_contain_the_quadrature() {
    let mut values = 0;
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let numbers: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        let [sigma, rate, steps, epsilon, remove, add] = numbers[..] else { panic!("{line}") };
        let plan = plan(&[sampled(steps as u64, gaussian(sigma, 1.0), rate)]);
        let epsilon = Epsilon::new(epsilon).unwrap();
        for (direction, value) in [(Direction::Remove, remove), (Direction::Add, add)] {
            if value <= 0.0 {
                continue;
            }
            values += 1;
            let options = options(Some(Route::GradedLists), 2e-3);
            let bracket = plan.delta_towards(direction, epsilon, &options).unwrap().bracket;
            let slack = QUADRATURE * value;
            let contains = bracket.lower <= value + slack && value - slack <= bracket.upper;
            assert!(contains, "{line}: {bracket} does not contain {value:e}");
            assert!(bracket.relative_width() <= 2e-3, "{line}: {bracket}");
        }
    }
    assert!(values >= 40, "{values}");
}

/// Both certify: their brackets have a number in common.
#[test]
fn graded_lists_and_contours_agree() {
    let mut random = Random::new(0x6_7ade);
    let (mut compared, all) = (0, tries(300, 0.02));
    for _ in 0..all {
        let noise = gaussian(random.log_uniform(0.5, 8.0), 1.0);
        let rate = random.log_uniform(1e-5, 0.3);
        let mut releases = vec![sampled(random.between(2, 9), noise, rate)];
        if random.once_in(3) {
            let scale = random.log_uniform(1.0, 20.0);
            releases.push(sampled(random.between(1, 3), laplace(scale, 1.0), rate));
        }
        let plan: Plan = plan(&releases);
        let delta = Delta::new(random.log_uniform(1e-9, 1e-3)).unwrap();
        let graded = options(Some(Route::GradedLists), 1e-4);
        let Ok(graded) = plan.epsilon(delta, &graded) else { continue };
        let contour = options(Some(Route::Contour), 1e-6);
        let lattice = options(Some(Route::Lattice), 1e-2);
        let other = plan.epsilon(delta, &contour).or_else(|_| plan.epsilon(delta, &lattice));
        let Ok(other) = other else { continue };
        compared += 1;
        let both = (graded.bracket, other.bracket);
        assert!(graded.bracket.overlaps(&other.bracket), "{releases:?} {delta:?}: {both:?}");
        // A bracket that is off by one part in a hundred would be noticed.
        assert!(graded.bracket.relative_width() <= 1e-4 || graded.bracket.upper < 1e-6);
    }
    assert!(3 * compared >= all, "{compared} of {all}");
}

/// The questions that other methods answered slowly, or not at all.
#[test]
fn hard_questions_of_few_steps() {
    let three = plan(&[sampled(3, gaussian(4.13, 1.0), 1.4e-6)]);
    let epsilon = Epsilon::new(3.63677e-6).unwrap();
    let answer = three.delta(epsilon, &options(None, 1e-4)).unwrap();
    assert!(answer.bracket.lower < 9.555e-13 && 9.554e-13 < answer.bracket.upper, "{answer:?}");
    assert!(answer.bracket.relative_width() <= 1e-4, "{answer:?}");
    let three = plan(&[sampled(3, gaussian(2.2, 1.0), 0.0017)]);
    let delta = Delta::new(1e-6).unwrap();
    let answer = three.epsilon(delta, &options(None, 1e-6)).unwrap();
    assert_eq!(answer.route, Route::GradedLists);
}

#[test]
fn graded_lists_refuse_what_they_are_not_for() {
    let many = plan(&[sampled(1 << 20, gaussian(1.0, 1.0), 0.01)]);
    let answer = many.epsilon(Delta::new(1e-6).unwrap(), &options(Some(Route::GradedLists), 1e-6));
    let is_refused = matches!(
        answer,
        Err(AskError::RouteDoesNotApply { .. } | AskError::ToleranceNotMet { .. })
    );
    assert!(is_refused, "{answer:?}");
}
