//! Gaussians whose shift is drawn at random, against integrals in doubles.

use crate::common;

use common::Question;
use common::mechanisms::*;
use counterpoint::Route;
use counterpoint::loss::LossError;
use counterpoint::mechanism::{ListError, Shifts};
use counterpoint::quantity::GroupSize;
use counterpoint::{Adjacency, Bracket, Options, Plan, PlanError, Release};

fn delta(releases: &[Release], epsilon: f64) -> Bracket {
    ask(&plan(releases), Question::Delta(epsilon), 1e-5).unwrap().bracket
}

const LISTS: [&[(f64, f64)]; 4] = [
    &[(0.0, 0.7), (1.0, 0.2), (2.0, 0.1)],
    &[(0.5, 0.5), (1.5, 0.5)],
    &[(0.0, 0.9), (0.25, 0.05), (0.5, 0.03), (4.0, 0.02)],
    &[(0.0, 0.25), (1.0, 0.5), (2.0, 0.25)],
];

fn ratio(list: &[(f64, f64)], sigma: f64, x: f64) -> f64 {
    let term = |&(shift, weight): &(f64, f64)| {
        let mu = shift / sigma;
        weight * (mu * x - 0.5 * mu * mu).exp()
    };
    list.iter().map(term).sum()
}

/// Places with their masses under N(0, 1): the midpoint rule, which is exact to many digits for smooth integrands.
fn normal(width: f64) -> impl Iterator<Item = (f64, f64)> + Clone {
    let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    let reach = (14.0 / width) as i32;
    (-reach..reach).map(move |i| (f64::from(i) + 0.5) * width).map(move |x| (x, density(x) * width))
}

/// The larger delta of both directions, of so many releases.
fn integrated(list: &[(f64, f64)], sigma: f64, epsilon: f64, twice: bool) -> f64 {
    let growth = epsilon.exp();
    let width = if twice { 0.01 } else { 1e-5 };
    let cells: Vec<(f64, f64)> =
        normal(width).map(|(x, mass)| (mass, ratio(list, sigma, x))).collect();
    let (mut remove, mut add) = (0.0, 0.0);
    let others: &[(f64, f64)] = if twice { &cells } else { &[(1.0, 1.0)] };
    for &(mass, e) in &cells {
        for &(other, more) in others {
            remove += mass * other * (e * more - growth).max(0.0);
            add += mass * other * (1.0 - growth * e * more).max(0.0);
        }
    }
    f64::max(remove, add)
}

#[test]
fn one_and_two_releases_are_integrals() {
    for list in LISTS {
        for sigma in [0.7, 1.5] {
            for epsilon in [0.1, 1.0] {
                for twice in [false, true] {
                    let truth = integrated(list, sigma, epsilon, twice);
                    let count = if twice { 2 } else { 1 };
                    let bracket = delta(&[times(count, mixture(sigma, list))], epsilon);
                    // The kink at the threshold costs the rule about the square of its width.
                    let slack = if twice { 1e-4 } else { 1e-7 } * truth;
                    let what = format!("{list:?} {sigma} {epsilon} {count}: {truth} and {bracket}");
                    assert!(
                        bracket.lower <= truth + slack && truth - slack <= bracket.upper,
                        "{what}"
                    );
                    assert!(is_narrow(&bracket, 1e-5), "{what}");
                }
            }
        }
    }
}

/// A shift that is always the same, or sometimes none, is a Gaussian, on a sample or not; so are two that are
/// next to each other, but for next to nothing.
#[test]
fn simple_mixtures_are_gaussians() {
    let bits = |bracket: &Bracket| (bracket.lower.to_bits(), bracket.upper.to_bits());
    let same = |one: &Release, other: &Release| {
        let (one, other) =
            (delta(std::slice::from_ref(one), 0.5), delta(std::slice::from_ref(other), 0.5));
        assert_eq!(bits(&one), bits(&other), "{one} and {other}");
    };
    let gaussian = || gaussian(2.0, 1.5);
    same(&times(5, mixture(2.0, &[(1.5, 1.0)])), &times(5, gaussian()));
    same(&times(5, mixture(2.0, &[(0.0, 0.9), (1.5, 0.1)])), &sampled(5, gaussian(), 0.1));
    same(&times(5, mixture(2.0, &[(0.0, 0.1), (1.5, 0.9)])), &sampled(5, gaussian(), 0.9));
    same(&sampled(5, mixture(2.0, &[(1.5, 1.0)]), 0.25), &sampled(5, gaussian(), 0.25));
    assert!(delta(&[times(5, mixture(2.0, &[(0.0, 1.0)]))], 0.0).upper <= 0.0);
    for count in [1, 100] {
        let near = [(0.0, 0.75), (1.5, 0.125), (1.5 * (1.0 + 1e-9), 0.125)];
        let one = delta(&[times(count, mixture(3.0, &near))], 0.5);
        let other = delta(&[sampled(count, common::mechanisms::gaussian(3.0, 1.5), 0.25)], 0.5);
        assert!(one.lower <= other.upper * (1.0 + 1e-6), "{one} and {other}");
        assert!(other.lower <= one.upper * (1.0 + 1e-6), "{one} and {other}");
    }
}

/// A sample of a mixture is a mixture with more of no shift.
#[test]
fn samples_of_mixtures() {
    let whole = mixture(1.0, &[(0.5, 0.5), (1.5, 0.5)]);
    let other = mixture(1.0, &[(0.0, 0.875), (0.5, 0.0625), (1.5, 0.0625)]);
    let (one, other) = (delta(&[sampled(9, whole, 0.125)], 0.5), delta(&[times(9, other)], 0.5));
    assert!(one.overlaps(&other), "{one} and {other}");
    assert!(is_narrow(&one, 1e-5) && is_narrow(&other, 1e-5), "{one} and {other}");
}

/// Of a group some may be added and others removed, on which nothing is known for shifts drawn at random.
#[test]
fn groups_are_refused() {
    let refused = |release: Release, people: u64| {
        let group = GroupSize::new(people).unwrap();
        let error =
            Plan::for_neighbours(vec![release], Some(Adjacency::AddRemove), group).unwrap_err();
        let known = matches!(error, PlanError::Release { error: LossError::Group { .. }, .. });
        assert!(known, "{error}");
    };
    refused(sampled(1, laplace(1.0, 1.0), 0.5), 2);
    refused(sampled(1, gaussian(1.0, 1.0), 0.5), 2);
    refused(times(1, mixture(1.0, &[(0.5, 0.5), (1.0, 0.5)])), 2);
}

/// Shifts in different directions are told apart no better than in one direction: checks the theorem where it can be
/// integrated.
#[test]
fn shifts_at_an_angle_are_no_worse() {
    let list = [(1.0, 0.5), (1.5, 0.5)];
    for epsilon in [0.2_f64, 0.8] {
        let growth = epsilon.exp();
        let (mut remove, mut add) = (0.0, 0.0);
        for (x, mass) in normal(0.02) {
            for (y, other) in normal(0.02) {
                let ratio = 0.5 * (x - 0.5).exp() + 0.5 * (1.5 * y - 1.125).exp();
                remove += mass * other * (ratio - growth).max(0.0);
                add += mass * other * (1.0 - growth * ratio).max(0.0);
            }
        }
        let bracket = delta(&[times(1, mixture(1.0, &list))], epsilon);
        assert!(f64::max(remove, add) < 0.9 * bracket.lower, "{remove} {add} {bracket}");
    }
}

/// Larger shifts, or likelier ones, never cost less.
#[test]
fn more_shift_costs_more() {
    let cost = |list: &[(f64, f64)]| delta(&[times(20, mixture(3.0, list))], 0.5);
    let one = cost(&[(0.0, 0.5), (1.0, 0.25), (2.0, 0.25)]);
    for more in [[(0.0, 0.5), (1.01, 0.25), (2.0, 0.25)], [(0.0, 0.49), (1.0, 0.26), (2.0, 0.25)]] {
        assert!(one.upper < cost(&more).lower, "{one} {more:?}");
    }
}

#[test]
fn the_curve_is_above_the_lattice() {
    let plan = plan(&[times(500, mixture(2.0, LISTS[2]))]);
    let question = Question::Epsilon(1e-6);
    let lattice = ask(&plan, question, 1e-4).unwrap();
    assert_eq!(lattice.route, Route::Lattice);
    let options = Options { route: Some(Route::Renyi), ..Options::default() };
    let curve = ask_with(&plan, question, &options).unwrap().bracket;
    assert!(curve.upper >= lattice.bracket.lower && curve.upper <= 1.2 * lattice.bracket.upper);
}

#[test]
fn what_is_refused() {
    let mixed = || vec![times(1, mixture(1.0, LISTS[0]))];
    let with = |adjacency| Plan::for_neighbours(mixed(), adjacency, GroupSize::ONE).unwrap_err();
    let error = with(Some(Adjacency::Replace)).to_string();
    assert!(
        error.contains("sensitivities differ, with adjacency replace; legal: add-remove"),
        "{error}"
    );
    assert!(with(None).to_string().contains("adjacency is missing"));
    // One shift is a Gaussian, whatever the relation.
    let one = vec![times(1, mixture(1.0, &[(2.0, 1.0)]))];
    assert!(Plan::for_neighbours(one, Some(Adjacency::Replace), GroupSize::ONE).is_ok());
    let legal = Shifts::new;
    assert!(matches!(legal(&[1.0, 2.0], &[0.5, 0.6]), Err(ListError::Sum { .. })));
    assert!(matches!(legal(&[-1.0], &[1.0]), Err(ListError::Number { .. })));
    assert!(matches!(legal(&[1.0], &[1.0, 0.0]), Err(ListError::Lengths { .. })));
    assert!(matches!(legal(&[f64::NAN], &[1.0]), Err(ListError::Number { .. })));
    assert!(matches!(legal(&[1.0], &[f64::NAN]), Err(ListError::Number { .. })));
    assert!(matches!(legal(&[1.0; 1001], &[1.0 / 1001.0; 1001]), Err(ListError::Shifts { .. })));
}
