//! Accuracy as stated against accuracy as seen: 20,000 runs in a full run, 2,000 in a quick one.

use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{Bounds, Data, Measurement, Query, Reply};
use counterpoint_testing::tries;

const RECORDS: u64 = 400;

fn data() -> Vec<f64> {
    (0..RECORDS).map(|i| (i as f64 * 0.37) % 10.0).collect()
}

fn first(reply: &Reply) -> f64 {
    match reply {
        Reply::Table(bins) => bins[0],
        other => other.number().unwrap(),
    }
}

/// How often answers are within the half-width, and the mean distance from the truth.
fn seen(measurement: &Measurement, truth: f64, runs: u64) -> (f64, f64) {
    let data = Data::new(measurement.relation(), data());
    let half_width = measurement.half_width(RECORDS, 0.9).unwrap();
    let (mut within, mut distance) = (0.0, 0.0);
    for _ in 0..runs {
        let off = (first(&measurement.run(&data).unwrap()) - truth).abs();
        within += f64::from(u8::from(off <= half_width + 1e-6));
        distance += off;
    }
    (within / runs as f64, distance / runs as f64)
}

#[test]
fn answers_are_as_close_as_promised() {
    let runs = tries(20_000, 0.1);
    let bounds = Bounds::new(0.0, 10.0).unwrap();
    let list = data();
    let count = list.len() as f64;
    let sum: f64 = list.iter().sum();
    let mean = sum / count;
    let variance = list.iter().map(|x| x * x).sum::<f64>() / count - mean * mean;
    let low = list.iter().filter(|&&x| x < 5.0).count() as f64;
    for relation in [Adjacency::AddRemove, Adjacency::Replace].map(Relation::one) {
        let cases = [
            (Query::count(), count, true),
            (Query::sum(bounds), sum, true),
            (Query::histogram(&[0.0, 5.0]).unwrap(), low, true),
            (Query::mean(bounds), mean, false),
            (Query::variance(bounds), variance, false),
        ];
        for (query, truth, exact) in cases {
            for recipe in [query.laplace(0.8).unwrap(), query.gaussian(3.0).unwrap()] {
                let measurement = recipe.under(relation).unwrap();
                let (within, distance) = seen(&measurement, truth, runs);
                // Six standard deviations of a mean of so many.
                let slack = 6.0 * (0.09 / runs as f64).sqrt();
                assert!(within >= 0.9 - slack, "{query:?}: {within}");
                let expected = measurement.expected_error(RECORDS);
                let slack = 6.0 * expected / (runs as f64).sqrt();
                assert!(distance <= expected * 1.02 + slack, "{query:?}: {distance} {expected}");
                if exact {
                    assert!(distance >= expected - slack, "{query:?}: {distance} {expected}");
                }
            }
        }
    }
}

#[test]
fn a_half_width_can_be_asked_for() {
    let bounds = Bounds::new(0.0, 10.0).unwrap();
    for relation in [Adjacency::AddRemove, Adjacency::Replace].map(Relation::one) {
        for query in [Query::sum(bounds), Query::mean(bounds)] {
            let within = |half_width, confidence| {
                query.laplace_within(half_width, confidence, RECORDS, relation)
            };
            for wanted in [0.2, 3.0] {
                let found = within(wanted, 0.95).unwrap().under(relation).unwrap();
                let half_width = found.half_width(RECORDS, 0.95).unwrap();
                assert!(half_width <= wanted && half_width >= 0.99 * wanted, "{half_width}");
            }
            assert!(within(0.0, 0.95).is_err() && within(1.0, 1.0).is_err());
        }
    }
}
