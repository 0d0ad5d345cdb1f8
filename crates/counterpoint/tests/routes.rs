//! The chooser: every route that is reported can be asked for, and a refusal says what is legal.

use crate::common::mechanisms::*;
use crate::common::{Question, is_full};
use counterpoint::Route;
use counterpoint::quantity::Bits;
use counterpoint::watch::Watch;
use counterpoint::{AskError, Delta, Options, Plan, Release};
use counterpoint_testing::Random;

fn forced(plan: &Plan, question: Question, route: Route) -> Result<counterpoint::Answer, AskError> {
    ask_with(plan, question, &Options { route: Some(route), ..Options::default() })
}

/// One of every kind, so seldom run that all routes have their turn.
fn random_release(random: &mut Random) -> Release {
    let epsilon = random.log_uniform(0.02, 2.0);
    let count = random.log_whole(1, 30);
    let release = match random.below(13) {
        0..=2 => times(count, approximate(epsilon, 0.0)),
        3 => times(count, approximate(epsilon, 1e-9)),
        4 => times(count, laplace(1.0 / epsilon, 1.0)),
        5 => times(count, gaussian(2.0 / epsilon, 1.0)),
        6 => times(random.between(1, 4), response(epsilon, random.between(2, 6))),
        7 => times(random.between(1, 4), geometric(1.0 / epsilon, 1)),
        8 => times(random.between(1, 3), finite(&[0.5, 0.25, 0.25], &[0.25, 0.25, 0.5])),
        9 => times(count, exponential(epsilon)),
        10 => times(count, zcdp(epsilon * epsilon / 20.0)),
        11 => times(1, sparse_vector(epsilon, 0.1)),
        _ => sampled(count, gaussian(2.0, 1.0), 0.05),
    };
    match random.below(6) {
        0 => on("a", release),
        1 => on("b", release),
        _ => release,
    }
}

#[test]
fn every_route_that_is_reported_can_be_asked_for() {
    let random = &mut Random::new(0x726f_7574_6573);
    let mut seen = Vec::new();
    for _ in 0..if is_full() { 2000 } else { 100 } {
        let releases: Vec<Release> =
            (0..random.between(1, 3)).map(|_| random_release(random)).collect();
        let plan = plan(&releases);
        let question = match random.below(3) {
            0 => Question::Delta(random.log_uniform(0.01, 20.0)),
            _ => Question::Epsilon(random.log_uniform(1e-14, 0.1)),
        };
        let Ok(free) = ask(&plan, question, 1e-6) else { continue };
        let again = forced(&plan, question, free.route);
        let again = again.unwrap_or_else(|error| panic!("{releases:?} {question:?}: {error}"));
        let apart =
            again.bracket.lower > free.bracket.upper || free.bracket.lower > again.bracket.upper;
        assert!(!apart, "{releases:?} {question:?}: {} and {}", free.bracket, again.bracket);
        seen.push(free.route);
    }
    for route in [Route::Closed, Route::Equal, Route::Grouped, Route::Contour, Route::Renyi] {
        assert!(seen.contains(&route), "no plan is answered by {route}");
    }
}

#[test]
fn three_responses_of_four_buckets_are_closed_for_the_asking() {
    let plan = plan(&[times(3, response(1.0, 4))]);
    let question = Question::Epsilon(1e-6);
    assert_eq!(ask(&plan, question, 1e-6).unwrap().route, Route::Closed);
    assert_eq!(forced(&plan, question, Route::Closed).unwrap().route, Route::Closed);
    assert_eq!(forced(&plan, question, Route::Renyi).unwrap().route, Route::Renyi);
}

#[test]
fn the_top_of_a_long_list_is_grouped_for_the_asking() {
    let releases: Vec<Release> =
        (1..=60).map(|i| times(1, approximate(2.0 + 0.01 * f64::from(i), 0.0))).collect();
    let plan = plan(&releases);
    let question = Question::Epsilon(1e-6);
    let free = ask(&plan, question, 1e-6).unwrap();
    assert_eq!(free.route, Route::Grouped, "2^60 atoms, few of them near the top");
    assert_eq!(forced(&plan, question, Route::Grouped).unwrap(), free);
}

#[test]
fn a_route_for_guarantees_names_those_for_mechanisms() {
    let normal = plan(&[times(3, gaussian(2.0, 1.0)), times(1, laplace(1.0, 1.0))]);
    for route in Route::ALL.into_iter().filter(|route| !route.is_for_mechanisms()) {
        let error = forced(&normal, Question::Epsilon(1e-6), route).unwrap_err();
        let AskError::RouteDoesNotApply { route: named, reason } = error else {
            panic!("{route}: {error}")
        };
        assert_eq!(named, route);
        assert!(reason.ends_with("legal: closed, grouped, contour, lattice, renyi"), "{reason}");
    }
    let delta = Delta::new(1e-6).unwrap();
    let bits = normal.epsilon_to_bits(delta, Bits::new(64).unwrap(), Watch::none());
    assert!(matches!(bits, Err(AskError::RouteDoesNotApply { route: Route::Precise, .. })));
}

#[test]
fn a_plan_with_a_curve_is_asked_by_its_curve_or_not_at_all() {
    let curved = plan(&[times(3, zcdp(0.01)), times(1, laplace(1.0, 1.0))]);
    for route in Route::ALL {
        let answer = forced(&curved, Question::Epsilon(1e-6), route);
        assert_eq!(answer.is_ok(), route == Route::Renyi, "{route}");
        if let Err(error) = answer {
            assert!(error.to_string().ends_with("legal: renyi"), "{error}");
        }
    }
}

#[test]
fn a_route_is_taken_on_the_parts_where_it_applies() {
    let both = plan(&[
        on("guarantees", times(40, approximate(0.3, 0.0))),
        on("others", times(2, gaussian(20.0, 1.0))),
    ]);
    let question = Question::Epsilon(1e-6);
    assert_eq!(ask(&both, question, 1e-6).unwrap().route, Route::Equal);
    assert_eq!(forced(&both, question, Route::Equal).unwrap().route, Route::Equal);
    let nowhere =
        plan(&[on("a", times(2, gaussian(20.0, 1.0))), on("b", times(2, laplace(20.0, 1.0)))]);
    assert!(forced(&nowhere, question, Route::Equal).is_err());
}

/// Discrete Gaussians have a formula on the contour, and lists of outcomes on the lattice: two ways that share nothing.
#[test]
fn discrete_gaussians_by_their_formula_and_by_their_lists() {
    let noise = |sigma, steps, count| times(count, discrete_gaussian(sigma, steps));
    for list in [
        vec![noise(2.0, 1, 2)],
        vec![noise(2.0, 1, 1), noise(3.1, 1, 1)],
        vec![noise(5.0, 2, 4), noise(7.3, 1, 3)],
        vec![noise(12.0, 1, 30)],
        vec![noise(12.0, 1, 3), times(2, laplace(4.0, 1.0))],
        vec![noise(40.0, 3, 6), noise(41.0, 1, 6), noise(90.0, 1, 6)],
    ] {
        let plan = Plan::new(list.clone()).unwrap();
        for delta in [1e-3, 1e-6, 1e-10] {
            let by = |route| {
                let options = Options { route: Some(route), ..Options::default() };
                plan.epsilon(Delta::new(delta).unwrap(), &options).unwrap().bracket
            };
            let (contour, lattice) = (by(Route::Contour), by(Route::Lattice));
            let apart = contour.lower > lattice.upper || lattice.lower > contour.upper;
            assert!(!apart, "{list:?} at {delta}: {contour} {lattice}");
            assert!(contour.relative_width() < 1e-4, "{list:?} at {delta}: {contour}");
        }
    }
}
