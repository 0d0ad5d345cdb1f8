//! Values from the literature and from independent computations, to about 13 digits: they
//! are for exact decimals, of which the doubles here are only the nearest.

use crate::common;

use common::{Release, check, compose};
use counterpoint::{Answer, Delta, Epsilon, Options, Tolerance};

fn epsilon(releases: &[Release], delta: f64) -> Answer {
    compose(releases).epsilon(Delta::new(delta).unwrap(), &Options::default()).unwrap()
}

fn delta(releases: &[Release], epsilon: f64) -> Answer {
    compose(releases).delta(Epsilon::new(epsilon).unwrap(), &Options::default()).unwrap()
}

/// The value lies in the bracket, give or take a relative 1e-13 (or what its printed
/// digits leave open), and the bracket is as narrow as an exact route's.
fn assert_value(answer: &Answer, value: f64, allowance: f64) {
    let bracket = answer.bracket;
    let slack = value * allowance;
    assert!(
        bracket.lower - slack <= value && value <= bracket.upper + slack,
        "{value:e} is not in {bracket}"
    );
    assert!(bracket.relative_width() <= 1e-12, "{bracket}");
}

#[test]
fn the_optimum_of_equal_releases() {
    let tenth = |count: u64| [(0.1, 0.0, count)];
    assert_value(&epsilon(&tenth(100), 1e-6), 4.774567588108, 2e-13);
    assert_value(&epsilon(&tenth(1000), 1e-6), 19.34467144799, 5e-13);
    assert_value(&epsilon(&[(0.5, 0.0, 30)], 1e-6), 13.95200753947, 5e-13);
    assert_value(&epsilon(&tenth(100), 1e-12), 6.891377199771, 2e-13);
    assert_value(&epsilon(&tenth(1000), 2.0_f64.powi(-40)), 26.5654364309846, 1e-13);
}

#[test]
fn the_profile_of_equal_releases() {
    assert_value(&delta(&[(0.1, 0.0, 100)], 4.0), 3.4223123191967733e-5, 1e-13);
    assert_value(&delta(&[(0.1, 1e-8, 100)], 4.0), 3.5223088473861643e-5, 1e-13);
}

#[test]
fn leaks_near_the_delta_asked_for() {
    assert_value(&epsilon(&[(0.1, 1e-7, 10)], 1e-6), 0.999999999716996, 1e-13);
}

#[test]
fn two_leaky_releases() {
    let answer = delta(&[(1.0, 0.1, 1), (2.0, 0.2, 1)], 3.0);
    assert_value(&answer, 0.28, 1e-15);
}

#[test]
fn twenty_different_responses() {
    let list: Vec<Release> = (1..=20).map(|i| (0.05 * f64::from(i), 0.0, 1)).collect();
    for (at, value) in [(3.0, 0.43159979955085839), (6.0, 0.08395595258874154)] {
        let bracket = delta(&list, at).bracket;
        assert!(bracket.lower <= value * (1.0 + 1e-13), "{bracket}");
        assert!(bracket.upper >= value * (1.0 - 1e-13), "{bracket}");
        assert!(bracket.relative_width() <= 1e-6, "{bracket}");
    }
}

/// The reference of the soundness tests knows the same values.
#[test]
fn the_judge_agrees() {
    let equal = [(0.1, 0.0, 100)];
    let value = common::by_counts(&equal).delta(4.0).low.near();
    assert!((value / 3.4223123191967733e-5 - 1.0).abs() < 1e-13, "{value:e}");
    let list: Vec<Release> = (1..=12).map(|i| (0.0625 * f64::from(i), 1e-3, 1)).collect();
    let multiples: Vec<usize> = (1..=12).collect();
    let ways = [
        common::by_patterns(&list),
        common::by_counts(&list),
        common::by_multiples(0.0625, &multiples, &list),
    ];
    for epsilon in [0.0, 0.0625, 1.0, 1.0 + 1e-9, 4.8, 4.875] {
        let [a, b, c] = [0, 1, 2].map(|way: usize| ways[way].delta(epsilon));
        for other in [b, c] {
            assert!(other.low <= a.high && a.low <= other.high, "{epsilon}: {a:?} {other:?}");
        }
    }
}

/// There is no floor below which a delta is not answered, and no tolerance is lost there.
#[test]
fn tiny_deltas() {
    let equal: Vec<Release> = vec![(0.1, 0.0, 1000)];
    let distinct: Vec<Release> =
        (1..=1000).map(|i| (0.01 + 0.19 * (0.6180339887 * f64::from(i)).fract(), 0.0, 1)).collect();
    let judge = common::by_counts(&equal);
    for delta in [1e-15, 1e-30, 1e-100, 1e-300] {
        for tolerance in [1e-6, 1e-9] {
            let options =
                Options { tolerance: Tolerance::new(tolerance).unwrap(), ..Options::default() };
            let ask = |list: &[Release]| {
                let delta = Delta::new(delta).unwrap();
                compose(list).epsilon(delta, &options).unwrap().bracket
            };
            let bracket = ask(&equal);
            check::bracket(&judge, common::Question::Epsilon(delta), &bracket).unwrap();
            assert!(bracket.relative_width() <= 1e-12, "{bracket}");
            let bracket = ask(&distinct);
            assert!(bracket.relative_width() <= tolerance, "{delta:e}: {bracket}");
            assert!(bracket.lower > 5.0 && bracket.upper < 106.0, "{delta:e}: {bracket}");
        }
    }
}
