//! Laws that answers about plans of real mechanisms obey, whatever the numbers are.
//!
//! Where a law says that one cost is at most another, the brackets must not contradict it:
//! the smaller one's lower end is at most the larger one's upper end. Where it says that two
//! plans are the same, the brackets are the same bit for bit.

use crate::common;

use common::Question;
use common::mechanisms::*;
use counterpoint::Route;
use counterpoint::watch::{Control, Watch};
use counterpoint::{AskError, Bracket, Delta, Epsilon, Mechanism, Options, Plan, Release};
use std::cell::Cell;

fn epsilon(releases: &[Release], delta: f64) -> Bracket {
    let delta = Delta::new(delta).unwrap();
    plan(releases).epsilon(delta, &Options::default()).unwrap().bracket
}

fn delta(releases: &[Release], epsilon: f64) -> Bracket {
    let epsilon = Epsilon::new(epsilon).unwrap();
    plan(releases).delta(epsilon, &Options::default()).unwrap().bracket
}

/// The brackets of both questions, at a few places. Now and then the tolerance is refused:
/// then there is nothing to hold to a law but that it cannot be told.
fn answers(plan: &Plan) -> Vec<Bracket> {
    let options = Options::default();
    let unknown = |largest: f64| Bracket { lower: 0.0, upper: largest };
    let mut list = Vec::new();
    for at in [0.1, 1e-3, 1e-6] {
        list.push(match plan.epsilon(Delta::new(at).unwrap(), &options) {
            Err(AskError::ToleranceNotMet { .. } | AskError::BelowLeak { .. }) => {
                unknown(f64::INFINITY)
            }
            answer => answer.unwrap().bracket,
        });
    }
    for at in [0.05, 1.0] {
        list.push(match plan.delta(Epsilon::new(at).unwrap(), &options) {
            Err(AskError::ToleranceNotMet { .. }) => unknown(1.0),
            answer => answer.unwrap().bracket,
        });
    }
    let known = list.iter().filter(|bracket| bracket.upper < 1.0 || bracket.lower > 0.0);
    assert!(known.count() >= 3, "refused too often: {list:?} for {plan:?}");
    list
}

fn bits(bracket: &Bracket) -> (u64, u64) {
    (bracket.lower.to_bits(), bracket.upper.to_bits())
}

fn assert_same(a: &Plan, b: &Plan) {
    let (a, b) = (answers(a), answers(b));
    for (a, b) in a.iter().zip(&b) {
        assert_eq!(bits(a), bits(b), "{a} and {b}");
    }
}

/// The first never costs more than the second.
fn assert_at_most(less: &[Release], more: &[Release]) {
    let (small, large) = (answers(&plan(less)), answers(&plan(more)));
    for (small, large) in small.iter().zip(&large) {
        assert!(small.lower <= large.upper, "{small} > {large} for {less:?} and {more:?}");
    }
}

#[test]
fn more_noise_never_costs_more() {
    let families: [fn(f64) -> Mechanism; 5] = [
        |noise| laplace(noise, 1.0),
        |noise| gaussian(noise, 1.0),
        |noise| geometric(noise, 1),
        |noise| exponential(1.0 / noise),
        |noise| staircase(1.0 / noise, Some(0.25)),
    ];
    for family in families {
        for count in [1, 3, 40] {
            for (less, more) in [(1.0, 1.0 + 1e-9), (1.0, 1.1), (2.0, 3.0)] {
                assert_at_most(&[times(count, family(more))], &[times(count, family(less))]);
            }
        }
    }
}

#[test]
fn a_larger_sample_never_costs_less() {
    let families: [fn() -> Mechanism; 4] = [
        || gaussian(1.5, 1.0),
        || laplace(1.0, 1.0),
        || approximate(1.0, 1e-7),
        || discrete_gaussian(1.5, 1),
    ];
    for family in families {
        for count in [1, 20] {
            let mut last = times(count, family());
            for rate in [0.5, 0.1, 0.1 - 1e-9, 0.01]
                .into_iter()
                .take(counterpoint_testing::size(4, 2) as usize)
            {
                let smaller = sampled(count, family(), rate);
                assert_at_most(std::slice::from_ref(&smaller), &[last]);
                last = smaller;
            }
        }
    }
}

/// A list of everything that has a loss distribution.
fn mixture() -> Vec<Release> {
    vec![
        times(2, laplace(3.0, 1.0)),
        times(4, gaussian(5.0, 1.0)),
        times(1, geometric(4.0, 2)),
        times(2, response(0.3, 4)),
        times(1, approximate(0.1, 1e-9)),
        times(2, staircase(0.2, None)),
        times(1, finite(&[0.5, 0.25, 0.25], &[0.25, 0.25, 0.5])),
        sampled(10, gaussian(2.0, 1.0), 0.05),
    ]
}

#[test]
fn the_order_of_releases_makes_no_difference() {
    let list = mixture();
    let original = plan(&list);
    let mut turned = list.clone();
    turned.reverse();
    assert_same(&original, &plan(&turned));
    turned.rotate_left(3);
    assert_same(&original, &plan(&turned));
}

#[test]
fn splitting_counts_makes_no_difference() {
    let whole = [
        times(5, laplace(3.0, 1.0)),
        times(3, discrete_gaussian(2.0, 1)),
        times(7, staircase(0.3, Some(0.5))),
    ];
    let split = [
        times(2, discrete_gaussian(2.0, 1)),
        times(1, laplace(3.0, 1.0)),
        times(3, staircase(0.3, Some(0.5))),
        times(4, laplace(3.0, 1.0)),
        times(1, discrete_gaussian(2.0, 1)),
        times(4, staircase(0.3, Some(0.5))),
    ];
    assert_same(&plan(&whole), &plan(&split));
    let sample = |count| sampled(count, gaussian(1.0, 1.0), 0.02);
    assert_same(&plan(&[sample(300)]), &plan(&[sample(100), sample(150), sample(50)]));
    let noise = |count| times(count, gaussian(7.0, 1.0));
    assert_same(&plan(&[noise(30)]), &plan(&[noise(13), noise(17)]));
}

#[test]
fn a_whole_sample_is_no_sample_and_an_empty_one_costs_nothing() {
    for mechanism in
        [gaussian(2.0, 1.0), laplace(2.0, 1.0), discrete_gaussian(2.0, 1), approximate(0.5, 1e-8)]
    {
        let whole = sampled(3, mechanism.clone(), 1.0);
        assert_same(&plan(&[whole]), &plan(&[times(3, mechanism.clone())]));
        let nothing = sampled(3, mechanism.clone(), 0.0);
        for bracket in answers(&plan(std::slice::from_ref(&nothing))) {
            assert!(bracket.upper <= 0.0, "{bracket}");
        }
        let other = times(2, laplace(1.0, 1.0));
        assert_same(&plan(&[other.clone(), nothing]), &plan(&[other]));
    }
}

#[test]
fn no_mechanism_costs_more_than_its_label() {
    for epsilon in [0.1, 1.0, 3.0] {
        let list = [
            laplace(1.0, epsilon),
            response(epsilon, 3),
            response(epsilon, 1000),
            exponential(epsilon),
            staircase(epsilon, None),
            staircase(epsilon, Some(0.1)),
            staircase(epsilon, Some(0.9)),
            above_threshold(0.25 * epsilon, 0.75 * epsilon),
            geometric(4.0 / epsilon, 4),
        ];
        for mechanism in list {
            for count in [1, 2, 10] {
                let label = times(count, approximate(epsilon * (1.0 + 1e-15), 0.0));
                assert_at_most(&[times(count, mechanism.clone())], &[label]);
            }
        }
    }
    for mechanism in [sparse_vector(0.25, 0.5), above_threshold(0.75, 0.0)] {
        assert_same(&plan(&[times(4, mechanism)]), &plan(&[times(4, approximate(0.75, 0.0))]));
    }
    assert_same(&plan(&[times(4, response(0.7, 2))]), &plan(&[times(4, approximate(0.7, 0.0))]));
    assert_same(&plan(&[times(4, gdp(0.5))]), &plan(&[times(4, gaussian(2.0, 1.0))]));
}

/// A staircase's profile is A (1 - e^(x-eps)) up to its largest loss, A = 1/2 + c min(gamma, 1-gamma), and on a
/// sample delta(ln(1 + q (e^x - 1))) is q times that of x. So epsilon is known at every delta below q A (1 -
/// e^-eps), and at 0 it is the largest loss, whatever gamma is: also where nothing lies between the losses.
#[test]
fn a_staircase_has_its_epsilon_at_every_delta() {
    let gammas = [0.0, 1e-9, 0.1, 0.3, 0.5_f64.next_down(), 0.5, 0.5_f64.next_up(), 0.77, 1.0];
    for epsilon in [1e-6, 0.1, 0.5, 1.0, 1.3, 4.0, 30.0, 400.0] {
        let decay = f64::exp(-epsilon);
        for gamma in gammas {
            let level = (1.0 - decay) / (2.0 * (gamma + decay * (1.0 - gamma)));
            let top = 0.5 + level * gamma.min(1.0 - gamma);
            let mechanism = staircase(epsilon, Some(gamma));
            for rate in [1.0, 0.3, 1e-3] {
                let release = match rate < 1.0 {
                    true => sampled(1, mechanism.clone(), rate),
                    false => times(1, mechanism.clone()),
                };
                for delta in [0.0, 1e-300, 1e-40, 1e-12] {
                    let whole = epsilon + (-delta / (rate * top)).ln_1p();
                    let expected = if rate < 1.0 { (rate * whole.exp_m1()).ln_1p() } else { whole };
                    let delta = Delta::new(delta).unwrap();
                    let plan = plan(std::slice::from_ref(&release));
                    let found = plan.epsilon(delta, &Options::default());
                    let Bracket { lower, upper } = found.unwrap().bracket;
                    let (low, high) = (expected * (1.0 - 1e-9), expected * (1.0 + 1e-9));
                    let context = format!("{epsilon} {gamma} {rate} {delta:?}: {lower} {upper}");
                    assert!(lower <= high && upper >= low, "{context}, {expected}");
                    assert!(upper <= expected * (1.0 + 1e-6), "{context}, {expected}");
                }
            }
        }
    }
}

/// Exponential(e) has delta (1 - u)^2/(1 - e^-e) where Laplace(e) has 1 - u, and u is at
/// least e^-e: the first is at most the second at every epsilon.
#[test]
fn replacing_by_a_dominating_mechanism_never_lowers_the_cost() {
    let others = [times(2, gaussian(4.0, 1.0)), times(1, response(0.3, 5))];
    let with = |mechanism: Mechanism| {
        let mut list = others.to_vec();
        list.push(times(3, mechanism));
        list
    };
    for epsilon in [0.2, 1.0] {
        let chain = [exponential(epsilon), laplace(1.0, epsilon), response(epsilon, 2)];
        for pair in chain.windows(2) {
            assert_at_most(&with(pair[0].clone()), &with(pair[1].clone()));
        }
        for buckets in [2, 3, 10] {
            let (more, fewer) = (response(epsilon, buckets + 1), response(epsilon, buckets));
            assert_at_most(&with(more), &with(fewer));
        }
        assert_at_most(&with(approximate(epsilon, 0.0)), &with(approximate(epsilon, 1e-9)));
    }
}

#[test]
fn one_release_more_never_costs_less() {
    let list = mixture();
    for length in 1..list.len() {
        assert_at_most(&list[..length], &list[..=length]);
    }
}

/// A sum over a lattice of step 1/sigma against the integral: the sum's error is that of the
/// one kink, of slope mu and height below 0.4, a step wide at most.
#[test]
fn the_discrete_gaussian_approaches_the_gaussian() {
    for (sigma, steps) in [(4.0, 2), (16.0, 8), (64.0, 32), (256.0, 128)] {
        let mu = steps as f64 / sigma;
        for at in [0.0, 0.1, 0.5, 1.0] {
            let smooth = delta(&[times(1, gaussian(sigma, steps as f64))], at);
            let coarse = delta(&[times(1, discrete_gaussian(sigma, steps))], at);
            let gap = (coarse.upper - smooth.lower).max(smooth.upper - coarse.lower);
            let most = 0.05 * mu / (sigma * sigma) + coarse.width() + smooth.width();
            assert!(gap <= most, "sigma {sigma}, epsilon {at}: {coarse} and {smooth}");
        }
    }
}

/// The plan's answer is that of the worse direction: exchanging all pairs changes nothing,
/// and neither direction alone is worse.
#[test]
fn the_answer_covers_both_directions() {
    let (p, q) = ([0.5, 0.25, 0.1875, 0.0625], [0.25, 0.5, 0.25, 0.0]);
    let (r, s) = ([0.125, 0.875], [0.5, 0.5]);
    let ahead = [times(1, finite(&p, &q)), times(1, finite(&r, &s))];
    let back = [times(1, finite(&q, &p)), times(1, finite(&s, &r))];
    for at in [0.05, 0.3, 1.0] {
        let bracket = delta(&ahead, at);
        assert_eq!(bits(&bracket), bits(&delta(&back, at)));
        for turned in [false, true] {
            let mut sum = 0.0;
            for (p, q) in p.iter().zip(q) {
                for (r, s) in r.iter().zip(s) {
                    let (with, without) = if turned { (q * s, p * r) } else { (p * r, q * s) };
                    sum += (with - f64::exp(at) * without).max(0.0);
                }
            }
            assert!(sum <= bracket.upper * (1.0 + 1e-12), "{sum} {bracket}");
        }
    }
    // Mixed directions are no neighbours: the pair turned round is another plan.
    let mixed = [times(1, finite(&p, &q)), times(1, finite(&s, &r))];
    assert!(!delta(&mixed, 0.3).overlaps(&delta(&ahead, 0.3)));
}

#[test]
fn disjoint_parts_cost_the_most_of_them() {
    let (a, b) = (times(3, laplace(2.0, 1.0)), times(2, gaussian(2.0, 1.0)));
    let (c, all) = (sampled(50, gaussian(1.0, 1.0), 0.05), times(1, response(0.4, 3)));
    let together = plan(&[on("a", a.clone()), on("b", b.clone()), on("c", c.clone()), all.clone()]);
    let alone: Vec<Vec<Bracket>> =
        [a, b, c].map(|release| answers(&plan(&[release, all.clone()]))).into();
    for (i, bracket) in answers(&together).iter().enumerate() {
        let most = |end: fn(&Bracket) -> f64| alone.iter().map(|x| end(&x[i])).fold(0.0, f64::max);
        let expected = Bracket { lower: most(|b| b.lower), upper: most(|b| b.upper) };
        assert!(bracket.overlaps(&expected), "{bracket} and {expected}");
        assert!((bracket.upper / expected.upper - 1.0).abs() < 3e-6, "{bracket} and {expected}");
    }
    // One part alone is a plan like any other.
    let one = times(3, laplace(2.0, 1.0));
    assert_same(&plan(&[on("only", one.clone())]), &plan(&[one]));
}

#[test]
fn a_group_is_a_larger_sensitivity() {
    for people in [2, 3, 8] {
        let wide = people as f64;
        let same = |small: Mechanism, large: Mechanism| {
            assert_same(&for_group(&[times(3, small)], people), &plan(&[times(3, large)]));
        };
        same(laplace(8.0, 0.5), laplace(8.0, 0.5 * wide));
        same(gaussian(8.0, 0.5), gaussian(8.0, 0.5 * wide));
        same(geometric(8.0, 2), geometric(8.0, 2 * people));
        same(discrete_gaussian(8.0, 1), discrete_gaussian(8.0, people));
        same(exponential(0.125), exponential(0.125 * wide));
        same(approximate(0.125, 0.0), approximate(0.125 * wide, 0.0));
    }
}

#[test]
fn the_two_questions_agree() {
    for list in
        [mixture(), vec![sampled(200, gaussian(1.0, 1.0), 0.02)], vec![times(5, exponential(0.5))]]
    {
        for at in [0.01, 1e-5] {
            let cost = epsilon(&list, at);
            assert!(delta(&list, cost.upper).lower <= at);
            assert!(delta(&list, cost.lower).upper >= at);
        }
    }
}

/// Whoever is told to stop has no answer: not even one that could do without what was stopped.
#[test]
fn a_stop_leaves_no_half_answer() {
    let plans = [
        plan(&[times(3, exponential(0.3)), times(2, laplace(5.0, 1.0))]),
        plan(&[times(1, zcdp(0.05)), times(2, laplace(5.0, 1.0))]),
        plan(&[times(1, zcdp(0.05)), times(4, exponential(0.2))]),
        plan(&[sampled(50, gaussian(2.0, 1.0), 0.05)]),
        plan(&[times(2, response(0.4, 7)), times(3, laplace(4.0, 1.0))]),
    ];
    for plan in &plans {
        for question in [Question::Epsilon(1e-6), Question::Delta(1.0)] {
            let polls = Cell::new(0_u32);
            let stopped_at = |place: u32| {
                polls.set(0);
                let callback = |_: f64| {
                    polls.set(polls.get() + 1);
                    if polls.get() == place { Control::Stop } else { Control::Continue }
                };
                let watch = Watch::new(&callback);
                ask_with(plan, question, &Options { watch, ..Options::default() })
            };
            let whole = stopped_at(0);
            let all = polls.get();
            assert!(
                all > 0 || whole.is_ok_and(|answer| Route::Closed.includes(answer.route)),
                "{plan:?}"
            );
            for place in (1..=all).step_by((all as usize / 4).max(1)) {
                let answer = stopped_at(place);
                let is_stopped = matches!(answer, Err(AskError::Stopped));
                assert!(is_stopped, "{answer:?} at {place} of {all}: {question:?} of {plan:?}");
            }
        }
    }
}
