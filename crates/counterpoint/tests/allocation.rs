//! Each person in some of many steps, drawn at random.

use crate::common;

use common::Question;
use common::mechanisms::*;
use counterpoint::quantity::{GroupSize, Rate};
use counterpoint::{Adjacency, Bracket, Plan, Release};

fn best(releases: &[Release], question: Question) -> Bracket {
    ask_best(&plan(releases), question, 1e-6).unwrap().bracket
}

fn assert_holds(bracket: &Bracket, truth: f64, slack: f64, wide: f64) {
    let off = slack * truth;
    assert!(bracket.lower <= truth + off && truth - off <= bracket.upper, "{bracket} {truth}");
    assert!(bracket.upper <= bracket.lower * (1.0 + wide), "{bracket} is wide");
}

/// By a quadrature over one of the two, the other's part in closed form (reference/batches.py).
#[test]
fn two_steps_are_a_quadrature() {
    let table = [
        (1.0, 1e-6, 4.201245663),
        (0.5, 1e-6, 10.3040209),
        (2.0, 1e-8, 2.089240099),
        (1.0, 1e-10, 5.85622204),
    ];
    for (sigma, delta, truth) in table {
        let bracket = best(&[times(1, allocation(sigma, 1.0, 2, 1))], Question::Epsilon(delta));
        assert_holds(&bracket, truth, 1e-7, 1e-4);
    }
}

/// By a Laplace transform turned back (reference/batches.py).
#[test]
fn many_steps_are_a_transform() {
    let table = [
        (1.0, 100, 0.3, 9.688358636688e-4),
        (1.0, 100, 0.5, 4.40890803e-5),
        (2.0, 16, 0.2, 4.354339970634e-3),
    ];
    for (sigma, steps, epsilon, truth) in table {
        let release = times(1, allocation(3.0 * sigma, 3.0, steps, 1));
        assert_holds(&best(&[release], Question::Delta(epsilon)), truth, 1e-7, 2e-3);
    }
}

/// By a quadrature in space (reference/batches.py): blocks are more than that, the sum of all steps is less.
#[test]
fn two_of_three_steps_lie_between() {
    for (sigma, epsilon, truth) in [(1.0, 2.0, 0.0572279), (2.0, 1.0, 0.01653997)] {
        let bracket = best(&[times(1, allocation(sigma, 1.0, 3, 2))], Question::Delta(epsilon));
        assert!(bracket.lower <= truth && truth <= bracket.upper, "{bracket} {truth}");
        assert!(bracket.lower > 0.0 && bracket.upper < 1.0, "{bracket}");
    }
}

/// Some of the steps are charged as one of each block, so many times; from below at least as the sum of all.
#[test]
fn some_of_the_steps_are_blocks_and_a_sum() {
    let question = Question::Epsilon(1e-6);
    for (steps, each, block) in [(3, 2, 1), (10, 4, 2), (90, 3, 30)] {
        let some = best(&[times(1, allocation(1.5, 1.0, steps, each))], question);
        let blocks = match block {
            1 => times(each, gaussian(1.5, 1.0)),
            _ => times(each, allocation(1.5, 1.0, block, 1)),
        };
        let blocks = best(&[blocks], question);
        assert!((some.upper / blocks.upper - 1.0).abs() < 1e-3, "{some} {blocks}");
        let mu = each as f64 / (steps as f64).sqrt();
        let sum = best(&[times(1, gaussian(1.5 / mu, 1.0))], question);
        assert!(some.lower > sum.lower, "{some} {sum}");
    }
}

/// From below by a symmetric statistic of all steps, whose law was computed with numpy's transforms; the bracket of many
/// steps is narrow.
#[test]
fn several_of_many_steps_have_a_narrow_bracket() {
    let table = [(1.0, 1000, 5, 1e-8, 1.31975), (2.0, 100, 10, 1e-6, 2.40360)];
    for (sigma, steps, each, delta, statistic) in table {
        let release = times(1, allocation(sigma, 1.0, steps, each));
        let bracket = best(&[release], Question::Epsilon(delta));
        assert!(
            0.997 * statistic < bracket.lower && bracket.lower < 1.003 * statistic,
            "{bracket}"
        );
        assert!(bracket.upper < 1.02 * bracket.lower, "{bracket}");
    }
}

/// Two steps, twice: the ratio's law in fine bins, put together by hand.
#[test]
fn twice_it_is_the_product() {
    let (mu, width) = (0.8_f64, 0.02);
    let density = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt() * width;
    let places: Vec<f64> = (-450..=500).map(|i| f64::from(i) * width).collect();
    let ratio = |z: f64| (mu * z - 0.5 * mu * mu).exp();
    let mut bins = std::collections::BTreeMap::<i64, (f64, f64)>::new();
    for &a in &places {
        for &b in &places {
            let (mean, q) = (0.5 * (ratio(a) + ratio(b)), density(a) * density(b));
            let bin = bins.entry((mean.ln() / 0.01).round() as i64).or_default();
            *bin = (bin.0 + mean * q, bin.1 + q);
        }
    }
    let list: Vec<(f64, f64)> = bins.into_values().collect();
    for epsilon in [0.5_f64, 2.0] {
        let growth = epsilon.exp();
        let pairs = list.iter().flat_map(|a| list.iter().map(move |b| (a.0 * b.0, a.1 * b.1)));
        let truth: f64 = pairs.map(|(p, q)| (p - growth * q).max(0.0)).sum();
        let bracket = best(&[times(2, allocation(1.25, 1.0, 2, 1))], Question::Delta(epsilon));
        assert_holds(&bracket, truth, 1e-3, 1e-3);
    }
}

/// More steps to hide in are better, and being in more of them is worse.
#[test]
fn more_steps_are_better_and_more_of_them_worse() {
    let upper = |steps, each| {
        let release = times(1, allocation(1.0, 1.0, steps, each));
        best(&[release], Question::Epsilon(1e-6))
    };
    let all = [2, 3, 10, 77, 1000].map(|steps| upper(steps, 1));
    assert!(all.windows(2).all(|two| two[0].lower > two[1].upper), "{all:?}");
    let [one, four] = [1, 4].map(|each| upper(64, each));
    assert!(one.upper < four.upper && one.lower < four.lower, "{one} {four}");
}

/// An epoch costs about what a Poisson sample of the same rate does in as many steps.
#[test]
fn it_is_near_a_poisson_sample() {
    for (sigma, steps) in [(1.0, 100), (0.8, 500)] {
        let question = Question::Epsilon(1e-6);
        let one = best(&[times(3, allocation(sigma, 1.0, steps, 1))], question);
        let rate = 1.0 / steps as f64;
        let poisson = best(&[sampled(3 * steps, gaussian(sigma, 1.0), rate)], question);
        assert!(one.upper > 0.5 * poisson.lower && one.lower < 1.5 * poisson.upper);
    }
}

#[test]
fn ends_and_refusals() {
    let question = Question::Epsilon(1e-6);
    for (steps, each) in [(1, 1), (7, 7)] {
        let all = best(&[times(2, allocation(3.0, 1.0, steps, each))], question);
        let plain = best(&[times(2 * steps, gaussian(3.0, 1.0))], question);
        assert_holds(&all, plain.upper, 1e-6, 1e-5);
    }
    let refused = |release: Release, adjacency, people| {
        let group = GroupSize::new(people).unwrap();
        Plan::for_neighbours([release], adjacency, group).unwrap_err().to_string()
    };
    let one = || times(1, allocation(2.0, 1.0, 10, 1));
    let add = Some(Adjacency::AddRemove);
    assert!(refused(one(), None, 1).contains("adjacency is missing"));
    let replace = refused(one(), Some(Adjacency::Replace), 1);
    assert!(replace.contains("steps are given with adjacency replace; legal: add-remove"));
    assert!(refused(one(), add, 2).contains("group is 2 for random allocation to steps"));
    let both = Release { rate: Some(Rate::new(0.5).unwrap()), ..one() };
    assert!(refused(both, add, 1).contains("rate is given for gaussian-allocation"));
    let more = times(1, allocation(2.0, 1.0, 10, 11));
    assert!(refused(more, add, 1).contains("each is 11; legal: at most 10"));
    let loud = times(1, allocation(0.01, 1.0, 10, 1));
    assert!(refused(loud, add, 1).contains("sensitivity / sigma is 100; legal: 1e-3 to 5"));
}
