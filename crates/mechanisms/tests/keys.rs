//! Counts by keys that are known from the data alone: how close they are, and which are released.

use crate::common::chance::at_least;
use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{KeyQuery, KeyedData};
use counterpoint_testing::tries;

const ONE: Relation = Relation::single_record(Adjacency::AddRemove);

/// P(c + noise >= T), by the formula: from the count that is said on at least the confidence, and not before.
#[test]
fn keys_are_released_from_the_count_that_is_said() {
    for epsilon in [0.05, 0.7, 5.0] {
        let ready = KeyQuery::laplace(epsilon, 1e-7).unwrap().under(ONE).unwrap();
        let threshold = ready.threshold() as i64;
        for confidence in [0.001, 0.3, 0.5, 0.9, 0.999, 1.0 - 1e-9] {
            let count = ready.released_from(confidence).unwrap() as i64;
            let released = |count: i64| at_least(threshold - count, 1.0 / epsilon);
            let context = format!("{epsilon} {confidence}: {count}");
            assert!(released(count) >= confidence * (1.0 - 1e-9), "{context}");
            assert!(count == 1 || released(count - 1) < confidence, "{context}");
        }
    }
}

/// A confidence that a count just reaches, in decimals: a billionth below, that count is said; with
/// nothing to spare for rounding, one more.
#[test]
fn rounding_is_allowed_for_where_keys_are_released() {
    for epsilon in [0.05, 0.7] {
        let ready = KeyQuery::laplace(epsilon, 1e-7).unwrap().under(ONE).unwrap();
        let threshold = ready.threshold();
        for count in [threshold - 3, threshold + 2, threshold + 9] {
            let released = at_least(threshold as i64 - count as i64, 1.0 / epsilon);
            for (by, expected) in [(1.0 - 1e-9, count), (1.0, count + 1), (1.0 + 1e-9, count + 1)] {
                // Below one half it is the chance that is rounded, above what it lacks to one.
                let confidence = if released < 0.5 {
                    released * by
                } else {
                    1.0 - (1.0 - released) * (2.0 - by)
                };
                assert_eq!(ready.released_from(confidence).unwrap(), expected, "{count} {by}");
            }
        }
    }
}

/// 10^5 runs in a full run: released, and within the half-width, as often as was said. A half-width 5 % too small, and a
/// count one lower, are not.
#[test]
fn counts_are_as_close_as_promised() {
    let runs = tries(100_000, 0.1);
    for noisy_query in [KeyQuery::laplace(0.1, 1e-6), KeyQuery::gaussian(20.0, 1e-6)] {
        let ready = noisy_query.unwrap().under(ONE).unwrap();
        let (count, half_width) =
            (ready.released_from(0.9).unwrap(), ready.half_width(0.9).unwrap());
        let high = ready.threshold() + 1_000;
        let keyed = KeyedData::from_counts(ONE, [("about", count), ("high", high)]);
        let (mut about, mut within, mut less) = (0.0, 0.0, 0.0);
        for _ in 0..runs {
            let released = ready.run(&keyed).unwrap();
            about += f64::from(u8::from(released.len() == 2));
            let off = (released.last().unwrap().1 as f64 - high as f64).abs();
            within += f64::from(u8::from(off <= half_width));
            less += f64::from(u8::from(off <= 0.95 * half_width));
        }
        let runs = runs as f64;
        let slack = 6.0 * (0.09 / runs).sqrt();
        for seen in [about, within] {
            assert!(seen / runs >= 0.9 - slack && seen / runs <= 0.91 + slack, "{seen}");
        }
        if runs > 50_000.0 {
            assert!(less / runs < 0.9 - slack, "{less}");
        }
    }
}
