//! What holds of every statistic.

use super::{HALF, ROWS, bounds, seen, slack};
use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{Data, Query};
use counterpoint_testing::tries;

/// At the worst data answers are within the half-width as often as was said, and hardly more often: but for the
/// grid where that is coarse.
#[test]
fn answers_are_as_close_as_promised() {
    for relation in [Adjacency::AddRemove, Adjacency::Replace].map(Relation::single_record) {
        let histogram = Query::histogram(&[-5.0, 5.0]).unwrap();
        let (mean, proportion) = (Query::mean(bounds()), Query::proportion(bounds()));
        for query in [Query::count(), Query::sum(bounds()), histogram, mean, proportion] {
            let noisy_queries = [query.laplace(0.8), query.gaussian(3.0), query.staircase(0.8)];
            for noisy_query in noisy_queries.map(Result::unwrap) {
                let measurement = noisy_query.under(relation).unwrap();
                let half_width = measurement.half_width(ROWS, 0.9).unwrap();
                let proportion = query == Query::proportion(bounds());
                let mean = query == Query::mean(bounds()) || proportion;
                // Both sides open, by a little.
                let value = if mean { HALF - 1.01 * half_width } else { 2.0 };
                let inside = ((1.0 - 1.01 * half_width) * ROWS as f64).floor();
                let values: Vec<f64> = match proportion {
                    true => {
                        (0..ROWS).map(|i| if (i as f64) < inside { 1.0 } else { 9.0 }).collect()
                    }
                    false => vec![value; ROWS as usize],
                };
                let data = Data::new(relation, values);
                let truth = match &query {
                    _ if proportion => inside / ROWS as f64,
                    query if *query == Query::sum(bounds()) => value * ROWS as f64,
                    _ if mean => value,
                    _ => ROWS as f64,
                };
                let (within, distance) = seen(&measurement, &data, truth, half_width);
                // Whole numbers are what the grid forces on counts.
                let step = measurement.noises()[0].grid().step();
                let public = proportion && relation.is_length_public();
                let (step, width) =
                    if public { (step, ROWS as f64 * half_width) } else { (step, half_width) };
                let coarse = step > 1e-3 * width && (!mean || public);
                let half_width = width;
                let most = if coarse { 0.9 + 0.2 * step / half_width * 3.0 } else { 0.905 };
                let context = format!("{noisy_query:?} {relation}: {within} within {half_width}");
                assert!(within >= 0.9 - slack(0.9) && within <= most + slack(0.9), "{context}");
                let expected = measurement.expected_error(ROWS);
                let slack = 6.0 * 1.2 * expected / (tries(100_000, 0.02) as f64).sqrt();
                assert!(distance <= expected + slack, "{context}: {distance} {expected}");
                if !mean {
                    assert!(distance >= expected - slack, "{context}: {distance} {expected}");
                }
            }
        }
    }
}

#[test]
fn a_half_width_can_be_asked_for() {
    for relation in [Adjacency::AddRemove, Adjacency::Replace].map(Relation::single_record) {
        for query in [Query::sum(bounds()), Query::mean(bounds()), Query::variance(bounds())] {
            let within = |half_width, confidence| {
                query.laplace_within(half_width, confidence, ROWS, relation)
            };
            for wanted in [0.2, 3.0] {
                let found = within(wanted, 0.95).unwrap().under(relation).unwrap();
                let half_width = found.half_width(ROWS, 0.95).unwrap();
                assert!(half_width <= wanted && half_width >= 0.98 * wanted, "{half_width}");
            }
            assert!(within(0.0, 0.95).is_err() && within(1.0, 1.0).is_err());
        }
    }
}

/// Answers are clamped: no half-width is wider than that allows, however few rows there are.
#[test]
fn no_half_width_is_wider_than_the_bounds() {
    for relation in [Adjacency::AddRemove, Adjacency::Replace].map(Relation::single_record) {
        for rows in [0, 1, 5] {
            for confidence in [1e-9, 0.95, 1.0 - 1e-12] {
                for (query, most) in
                    [(Query::mean(bounds()), 2.0 * HALF), (Query::variance(bounds()), HALF * HALF)]
                {
                    let ready = query.laplace(0.01).unwrap().under(relation).unwrap();
                    let found = ready.half_width(rows, confidence).unwrap();
                    assert!((0.0..=most).contains(&found), "{found}");
                    assert!((0.0..=most).contains(&ready.expected_error(rows)));
                }
            }
        }
    }
}
