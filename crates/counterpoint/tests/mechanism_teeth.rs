//! Brackets of real mechanisms, held to something that would notice one percent.
//!
//! | what | against | cases, full | quick |
//! | --- | --- | --- | --- |
//! | random mixes by the contour | the same by the lattice | 200 | 20 |
//! | epsilons and deltas near the largest loss | the lattice | all | all |
//! | groups and parts | formulas | all | all |

use crate::common;

use common::formulas::{gaussian_epsilon, renyi_epsilon};
use common::mechanisms::*;
use common::{Question, is_full};
use counterpoint::Route;
use counterpoint::loss::Direction;
use counterpoint::{AskError, Bracket, Epsilon, Options, Plan, Release};
use counterpoint_testing::Random;

/// Returns the answer of a forced route; `None` if it refuses.
fn forced(plan: &Plan, question: Question, route: Route, tolerance: f64) -> Option<Bracket> {
    let options = Options { route: Some(route), ..options(tolerance) };
    match ask_with(plan, question, &options) {
        Ok(answer) => {
            assert!(route.includes(answer.route), "{question:?}: {}", answer.route);
            assert!(is_narrow(&answer.bracket, tolerance), "{} by {route}", answer.bracket);
            Some(answer.bracket)
        }
        Err(AskError::ToleranceNotMet { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn random_release(random: &mut Random) -> Release {
    let count = random.log_whole(1, 40);
    // So much noise that the whole costs about one.
    let noise = random.log_uniform(0.7, 3.0) * (count as f64).sqrt();
    match random.below(7) {
        0 => times(count, laplace(noise, 1.0)),
        1 => times(count, gaussian(noise, 1.0)),
        2 => {
            let mechanism = gaussian(random.log_uniform(0.6, 3.0), 1.0);
            sampled(random.log_whole(10, 500), mechanism, random.log_uniform(1e-3, 0.1))
        }
        3 => times(count, response(1.0 / noise, random.between(2, 20))),
        4 => {
            let steps = random.between(1, 4);
            times(count, geometric(noise * steps as f64, steps))
        }
        5 => times(count, staircase(1.0 / noise, Some(random.uniform(0.1, 0.9)))),
        _ => times(count, discrete_gaussian(noise.max(1.0), 1)),
    }
}

#[test]
fn the_contour_and_the_lattice_agree() {
    const TOLERANCE: f64 = 1e-4;
    let random = &mut Random::new(0x7465_6574_6833);
    let wanted = if is_full() { 200 } else { 2 };
    let (mut compared, mut cases) = (0, 0);
    while compared < wanted {
        cases += 1;
        assert!(cases <= 4 * wanted, "only {compared} of {cases} could be compared");
        let releases: Vec<Release> =
            (0..random.between(1, 4)).map(|_| random_release(random)).collect();
        let plan = plan(&releases);
        let both = |question: Question| {
            let contour = forced(&plan, question, Route::Contour, TOLERANCE)?;
            let lattice = forced(&plan, question, Route::Lattice, TOLERANCE)?;
            let text = || format!("{contour} and {lattice}: {question:?} of {releases:?}");
            assert!(contour.overlaps(&lattice), "{}", text());
            // One of them off by a percent would not overlap.
            let widths = contour.width() + lattice.width();
            assert!(widths <= 5e-3 * contour.lower, "{}", text());
            Some(contour)
        };
        let delta = random.log_uniform(1e-9, 1e-2);
        let Some(cost) = both(Question::Epsilon(delta)) else { continue };
        // Where delta is larger still.
        let epsilon = cost.lower * random.uniform(0.3, 1.0);
        compared += usize::from(both(Question::Delta(epsilon)).is_some());
    }
}

/// Training at small rates: rare large losses, far below the saddle point's own line.
#[test]
fn the_contour_and_the_lattice_agree_at_small_rates() {
    for (rate, sigma, steps, delta) in
        [(1e-4, 0.8, 10_000, 1e-5), (1e-4, 0.5, 10_000, 1e-5), (1e-3, 0.5, 1000, 1e-8)]
    {
        let plan = plan(&[sampled(steps, gaussian(sigma, 1.0), rate)]);
        let ask = |route, tolerance| forced(&plan, Question::Epsilon(delta), route, tolerance);
        let contour = ask(Route::Contour, 1e-4).expect("the contour");
        let lattice = ask(Route::Lattice, 2e-3).expect("the lattice");
        assert!(contour.overlaps(&lattice), "{contour} and {lattice} at rate {rate}");
        assert!(contour.width() + lattice.width() <= 5e-3 * contour.lower);
    }
}

/// A little below the largest loss answers come from that loss's own mass. How far below is
/// what can be wrong there.
#[test]
fn answers_near_the_largest_loss_agree_with_the_lattice() {
    let (mut sharp, mut all) = ([0, 0], 0);
    for epsilon in [3.0_f64, 2.0, 5.0].into_iter().take(if is_full() { 3 } else { 1 }) {
        let half = (1.0 + (-epsilon).exp()).recip();
        // With their largest losses and the probabilities of those.
        let rest = 0.8 * (-epsilon).exp();
        let top = (0.2 * epsilon.exp_m1()).ln_1p();
        let lists: [(&[Release], f64, f64); 7] = [
            (&[sampled(2, laplace(1.0, epsilon), 0.2)], 2.0 * top, (0.1 + 0.5 * rest).powi(2)),
            (&[sampled(3, laplace(1.0, epsilon), 0.2)], 3.0 * top, (0.1 + 0.5 * rest).powi(3)),
            (&[times(2, laplace(1.0, epsilon))], 2.0 * epsilon, 0.25),
            (&[times(3, laplace(1.0, epsilon))], 3.0 * epsilon, 0.125),
            (&[times(5, laplace(1.0, epsilon))], 5.0 * epsilon, 0.03125),
            (
                &[times(2, laplace(1.0, epsilon)), times(2, response(epsilon, 2))],
                4.0 * epsilon,
                0.25 * half * half,
            ),
            (
                &[times(4, laplace(1.0, epsilon)), times(1, geometric(1.0 / epsilon, 1))],
                5.0 * epsilon,
                0.0625 * half,
            ),
        ];
        for (list, largest, mass) in lists {
            let plan = plan(list);
            for share in [0.05, 0.02, 0.005] {
                all += 1;
                let text = format!("{list:?}, {share}");
                let agree = |question: Question, tolerance: f64| {
                    let answer = ask(&plan, question, tolerance).expect(&text);
                    let lattice = forced(&plan, question, Route::Lattice, tolerance)?;
                    let bracket = answer.bracket;
                    assert!(bracket.overlaps(&lattice), "{bracket} {lattice} {text}");
                    let is_formula = Route::Closed.includes(answer.route);
                    is_formula.then_some((bracket, bracket.width() + lattice.width()))
                };
                if let Some((cost, widths)) = agree(Question::Epsilon(share * mass), 1e-5) {
                    sharp[0] += usize::from(widths <= 5e-3 * (largest - cost.upper));
                }
                let question = Question::Delta(largest - share);
                if let Some((delta, widths)) = agree(question, 1e-3) {
                    sharp[1] += usize::from(widths <= 5e-3 * delta.lower);
                }
            }
        }
    }
    assert!(
        8 * sharp[0] >= all && 5 * sharp[1] >= all,
        "{sharp:?} of {all} would notice one percent"
    );
}

/// Laplace noise on a sample, next to its largest loss in either direction, against the profile of
/// one that is sampled: `q d(ln(1 + (e^x - 1)/q))` and `r d(ln(q e^x/r))`, r = 1 - (1-q) e^x, where
/// d(y) = 1 - e^((y - e)/2) (Balle, Barthe and Gaboardi 2018).
#[test]
fn sampled_noise_near_its_largest_loss_has_the_profile_of_one() {
    const CLOSE: f64 = 1e-3;
    for (epsilon, rate) in [(2.0_f64, 0.2), (1.0, 0.5), (0.5, 0.9), (4.0, 0.3)] {
        let plan = plan(&[sampled(1, laplace(1.0, epsilon), rate)]);
        let whole = |y: f64| -((y - epsilon) / 2.0).exp_m1();
        let remove = |x: f64| rate * whole((x.exp_m1() / rate).ln_1p());
        let add = |x: f64| {
            let rest = 1.0 - (1.0 - rate) * x.exp();
            rest * whole((rate * x.exp() / rest).ln())
        };
        let top = |y: f64| (rate * y.exp_m1()).ln_1p();
        for gap in [0.05, 0.01, 0.002] {
            let ask = |direction, largest: f64| {
                let at = Epsilon::new(largest - gap).unwrap();
                let answer = plan.delta_towards(direction, at, &options(CLOSE)).unwrap();
                (largest - gap, answer.bracket)
            };
            let (at, bracket) = ask(Direction::Remove, top(epsilon));
            assert_holds(&bracket, remove(at), &format!("remove, {epsilon} {rate} {gap}"));
            let (at, bracket) = ask(Direction::Add, -top(-epsilon));
            assert_holds(&bracket, add(at), &format!("add, {epsilon} {rate} {gap}"));
        }
    }
}

/// The bracket holds a formula's value and is so narrow that one percent shows.
fn assert_holds(bracket: &Bracket, value: f64, text: &str) {
    let slack = 1e-9 * value;
    let holds = bracket.lower <= value + slack && value - slack <= bracket.upper;
    assert!(holds && bracket.width() <= 5e-3 * value, "{bracket} for {value}: {text}");
}

/// A chain of g neighbours: (g eps, delta (e^(g eps) - 1)/(e^eps - 1)), as one randomized
/// response with that leak.
#[test]
fn a_group_pays_for_the_whole_chain() {
    for (epsilon, delta) in [(0.1, 1e-6), (0.5, 1e-3), (1.0, 1e-9), (0.3, 0.01)] {
        for people in [1, 2, 5, 9] {
            let plan = for_group(&[times(1, approximate(epsilon, delta))], people);
            let (all, each) = ((people as f64 * epsilon).exp_m1(), epsilon.exp_m1());
            let leak = delta * all / each;
            for share in [0.0, 0.4, 0.9] {
                let at = share * people as f64 * epsilon;
                let pure = (all - at.exp_m1()) / (2.0 + all);
                let value = leak + (1.0 - leak) * pure;
                let bracket = ask(&plan, Question::Delta(at), 1e-6).unwrap().bracket;
                let text = format!("({epsilon}, {delta}) for {people} at {at}");
                assert_holds(&bracket, value, &text);
            }
            // From g eps on there is the leak alone.
            let question = Question::Delta(1.001 * people as f64 * epsilon);
            let bracket = ask(&plan, question, 1e-6).unwrap().bracket;
            assert_holds(&bracket, leak, &format!("({epsilon}, {delta}) for {people}, leak"));
        }
    }
}

/// rho for one is g^2 rho for g.
#[test]
fn concentrated_privacy_grows_with_the_square_of_a_group() {
    for rho in [1e-3, 0.05, 0.3] {
        for people in [1, 2, 6] {
            let plan = for_group(&[times(3, zcdp(rho))], people);
            let whole = 3.0 * rho * (people * people) as f64;
            for delta in [1e-4, 1e-8] {
                let bracket = ask_best(&plan, Question::Epsilon(delta), 1e-6).unwrap().bracket;
                let text = format!("rho {rho} for {people} at {delta:e}: {bracket}");
                let upper = renyi_epsilon(f64::INFINITY, delta, |a| whole * a);
                assert!((bracket.upper / upper - 1.0).abs() < 1e-7, "{upper} {text}");
                let lower = gaussian_epsilon((2.0 * whole).sqrt(), delta);
                assert!(bracket.lower <= lower * (1.0 + 1e-9), "{lower} {text}");
                assert!(bracket.lower >= lower * (1.0 - 2e-4), "{lower} {text}");
            }
        }
    }
}

/// Disjoint parts cost the most of them, releases about all of the data included.
#[test]
fn parts_cost_the_largest_of_them() {
    let noise = [1.0, 0.9, 1.3];
    let counts = [3, 2, 7];
    let mut releases = vec![times(2, gaussian(4.0, 1.0))];
    for (i, (sigma, count)) in noise.into_iter().zip(counts).enumerate() {
        releases.push(on(&i.to_string(), times(count, gaussian(sigma, 1.0))));
    }
    let square = |i: usize| counts[i] as f64 / (noise[i] * noise[i]) + 2.0 / 16.0;
    let most = (0..3).map(square).fold(0.0, f64::max);
    for delta in [1e-3, 1e-6, 1e-9] {
        let bracket = ask(&plan(&releases), Question::Epsilon(delta), 1e-6).unwrap().bracket;
        assert_holds(&bracket, gaussian_epsilon(most.sqrt(), delta), &format!("{delta:e}"));
    }
}
