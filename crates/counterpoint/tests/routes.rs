//! The chooser: every route that is reported can be asked for, and a refusal says what is legal.

use crate::common::kinds;
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
    let mut seen: Vec<Route> = Vec::new();
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
        let is_it = free.route.includes(again.route);
        assert!(is_it, "{releases:?} {question:?}: {} for {}", again.route, free.route);
        seen.push(free.route);
    }
    for route in [Route::Closed, Route::Equal, Route::NearLargestLoss, Route::Contour, Route::Renyi]
    {
        assert!(seen.contains(&route), "no plan is answered by {route}");
    }
}

/// A plan for each computation: the one that is reported, by a name of its own.
#[test]
fn each_computation_has_a_name() {
    let long: Vec<Release> =
        (1..=60).map(|i| times(1, approximate(2.0 + 0.01 * f64::from(i), 0.0))).collect();
    let scales = [times(1, laplace(2.0, 1.0)), times(1, laplace(3.1, 1.0))];
    let (epsilon, delta) = (Question::Epsilon, Question::Delta);
    for (releases, question, route) in [
        (vec![times(1, laplace(2.0, 1.0))], epsilon(1e-3), Route::Closed),
        (vec![times(3, approximate(0.5, 0.1))], epsilon(1.0 - 0.9 * 0.9 * 0.9), Route::Leaks),
        (
            vec![times(3, gaussian(2.0, 1.0)), times(1, name_and_shame(1e-6))],
            epsilon(1e-7),
            Route::Leaks,
        ),
        (vec![times(3, laplace(2.0, 1.0))], delta(2.0), Route::Leaks),
        (vec![times(3, response(1.0, 4))], epsilon(1e-6), Route::NearLargestLoss),
        (long, epsilon(1e-6), Route::NearLargestLoss),
        (vec![times(3, gaussian(1e6, 1.0))], epsilon(1e-9), Route::SmallMu),
        (vec![times(30, laplace(5.0, 1.0))], epsilon(1e-6), Route::Splines),
        (scales.to_vec(), delta(0.25), Route::TruncatedPowers),
        (vec![times(100, approximate(0.1, 0.0))], epsilon(1e-6), Route::Equal),
        (vec![times(20, response(0.3, 4))], epsilon(1e-6), Route::Outcomes),
        (
            vec![times(20, approximate(0.1, 0.0)), times(30, approximate(0.17, 0.0))],
            epsilon(1e-6),
            Route::Halves,
        ),
        (vec![times(30, gaussian(3.0, 1.0))], epsilon(1e-6), Route::Contour),
        (vec![sampled(1000, gaussian(2.0, 1.0), 0.01)], epsilon(1e-6), Route::Contour),
    ] {
        let text = format!("{releases:?} {question:?}");
        let plan = plan(&releases);
        let free = match ask(&plan, question, 1e-6) {
            // That no epsilon does is no answer.
            Err(AskError::BelowLeak { .. }) => continue,
            free => free.expect(&text),
        };
        assert_eq!(free.route, route, "{text}");
        let again = forced(&plan, question, route).expect(&text);
        assert!(
            free.bracket.overlaps(&again.bracket),
            "{text}: {} {}",
            free.bracket,
            again.bracket
        );
    }
}

#[test]
fn older_names_lead_to_what_they_meant() {
    assert_eq!(Route::named("grouped"), Some(Route::Outcomes));
    for (releases, question) in [
        (times(3, laplace(2.0, 1.0)), Question::Delta(2.0)),
        (times(3, response(1.0, 4)), Question::Epsilon(1e-6)),
        (times(3, gaussian(1e6, 1.0)), Question::Epsilon(1e-9)),
        (times(30, laplace(5.0, 1.0)), Question::Epsilon(1e-6)),
    ] {
        let plan = plan(&[releases]);
        let free = ask(&plan, question, 1e-6).unwrap();
        assert_ne!(free.route, Route::Closed);
        assert_eq!(forced(&plan, question, Route::Closed).unwrap(), free);
    }
    let few = plan(&[times(20, approximate(0.1, 0.0)), times(30, approximate(0.17, 0.0))]);
    let halves = forced(&few, Question::Epsilon(1e-6), Route::Outcomes).unwrap();
    assert_eq!(halves.route, Route::Halves);
    let noise = plan(&[times(3, discrete_gaussian(5.0, 1))]);
    let contour = forced(&noise, Question::Epsilon(1e-6), Route::Contour).unwrap();
    assert!(Route::Contour.includes(contour.route) && contour.route != Route::Contour);
}

#[test]
fn what_a_route_is_not_for_is_refused() {
    let others = plan(&[times(3, gaussian(2.0, 1.0)), times(2, laplace(1.0, 1.0))]);
    let guarantees = plan(&[times(300, approximate(0.5, 0.0)), times(200, approximate(0.3, 0.0))]);
    for route in [
        Route::Closed,
        Route::Leaks,
        Route::NearLargestLoss,
        Route::SmallMu,
        Route::Splines,
        Route::TruncatedPowers,
        Route::BlurredContour,
        Route::LayeredContour,
    ] {
        for plan in [&others, &guarantees] {
            let refusal = forced(plan, Question::Epsilon(0.01), route);
            let Err(AskError::RouteDoesNotApply { route: named, .. }) = refusal else {
                panic!("{route}: {refusal:?}")
            };
            assert_eq!(named, route);
        }
    }
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
        let legal = Route::names(Route::ALL.into_iter().filter(|route| route.is_for_mechanisms()));
        assert!(reason.ends_with(&format!("legal: {legal}")), "{reason}");
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

/// The routes that the free choice may take were measured by `bench/methods`: those that take at most twice the best one,
/// and 2 ms.
#[test]
fn the_free_choice_is_about_as_quick_as_any_route() {
    let table = include_str!("common/methods.tsv");
    let lines: Vec<&str> = table.lines().collect();
    let every = if is_full() { 1 } else { 10 };
    let mut failures = Vec::new();
    for line in lines.iter().step_by(every) {
        let mut words = line.split('\t');
        let number: u64 = words.next().unwrap().parse().unwrap();
        let asked = words.next().unwrap();
        let quick: Vec<Route> = words.map(|name| Route::named(name).unwrap()).collect();
        let example = kinds::example(number);
        let plan = plan(&example.releases);
        let epsilon = ask_best(&plan, Question::Epsilon(example.delta), example.tolerance).unwrap();
        let answer = match asked {
            "epsilon" => epsilon,
            _ => {
                ask_best(&plan, Question::Delta(epsilon.bracket.upper), example.tolerance).unwrap()
            }
        };
        let is_close = !answer.wide || answer.bracket.upper <= 1e-12;
        if !quick.contains(&answer.route) || !is_close {
            let (kind, route) = (example.kind, answer.route);
            failures
                .push(format!("{kind} {number}, {asked}: {route}, {}, {quick:?}", answer.bracket));
        }
    }
    assert!(lines.len() >= 500 && failures.is_empty(), "{failures:#?}");
}

/// One lattice holds all sums of discrete Gaussians of one sigma. It takes less time than a contour as long as the
/// outcomes of one release are few; the time of a blurred contour does not depend on their number.
#[test]
fn what_lies_on_a_short_lattice_is_summed_there() {
    for (sigma, steps, count, route) in [
        (2.0, 1, 50, Route::Lattice),
        (12.0, 2, 15, Route::Lattice),
        (30.0, 1, 40, Route::BlurredContour),
    ] {
        let plan = plan(&[times(count, discrete_gaussian(sigma, steps))]);
        for question in
            [Question::Epsilon(1e-6), Question::Delta(1.5 * f64::from(steps as u32) / sigma)]
        {
            let text = format!("{count} of {sigma}: {question:?}");
            let free = ask(&plan, question, 1e-6).expect(&text);
            assert_eq!(free.route, route, "{text}");
            let lattice = forced(&plan, question, Route::Lattice).expect(&text).bracket;
            let contour = forced(&plan, question, Route::BlurredContour).expect(&text).bracket;
            assert!(lattice.overlaps(&contour), "{text}: {lattice} {contour}");
        }
    }
    // No lattice is short that holds the losses of unrelated sigmas.
    let two = plan(&[times(5, discrete_gaussian(7.1, 1)), times(5, discrete_gaussian(11.3, 1))]);
    assert_eq!(ask(&two, Question::Epsilon(1e-6), 1e-6).unwrap().route, Route::BlurredContour);
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
