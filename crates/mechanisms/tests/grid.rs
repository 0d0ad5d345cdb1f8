//! Answers lie on a grid that does not depend on the data: 10^6 draws on each of two neighbours
//! in a full run, 2,000 in a quick one, none off it.

use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{
    Bounds, Data, Grid, GuessAndCheck, InteractiveMechanism, Measurement, Noise, Query,
    SessionQuery, SparseVector,
};
use counterpoint_testing::tries;

fn is_multiple(x: f64, step: f64) -> bool {
    // Division by a power of two is exact.
    (x / step).fract().abs() < f64::MIN_POSITIVE
}

#[test]
fn noise_on_two_neighbours() {
    let grid = Grid::new(-5).unwrap();
    let noises = [
        Noise::laplace(0.7, 1.0, grid).unwrap(),
        Noise::gaussian(0.7, 1.0, grid).unwrap(),
        Noise::staircase(0.9, None, 1.0, grid).unwrap(),
    ];
    for noise in &noises {
        for x in [0.1, 1.1] {
            for _ in 0..tries(1_000_000, 0.002) {
                let answer = noise.release(x).unwrap();
                assert!(is_multiple(answer, grid.step()), "{answer:e}");
            }
        }
    }
}

#[test]
fn sums_on_two_neighbours() {
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    let (added, replaced) = ([0.1, 0.2, 0.7], [0.1, 0.2, 0.3]);
    let pairs = [
        (Adjacency::AddRemove, [&added[..], &added[..2]]),
        (Adjacency::Replace, [&added[..], &replaced[..]]),
    ];
    for (adjacency, neighbours) in pairs {
        let (query, relation) = (Query::sum(bounds), Relation::single_record(adjacency));
        for noisy_query in [query.laplace(0.3).unwrap(), query.gaussian(2.0).unwrap()] {
            let measurement = noisy_query.under(relation).unwrap();
            neighbours.iter().for_each(|&data| on_grid(&measurement, &Data::new(relation, data)));
        }
    }
}

fn on_grid(measurement: &Measurement, data: &Data) {
    let step = measurement.noises()[0].grid().step();
    for _ in 0..tries(1_000_000, 0.002) {
        let answer = measurement.run(data).unwrap().number().unwrap();
        assert!(is_multiple(answer, step), "{answer:e}");
    }
}

/// Sums of eighths on a grid of quarters, each correction and each value above.
#[test]
fn values_of_sessions_on_two_neighbours() {
    let grid = Grid::new(-2).unwrap();
    let relation = Relation::single_record(Adjacency::AddRemove);
    let sum = Query::sum(Bounds::new(0.0, 1.0).unwrap());
    let many = tries(1_000_000, 0.002);
    let sparse = SparseVector::new(1.0, many, -1e15).unwrap().with_values();
    let sparse = InteractiveMechanism::from(sparse.scaled(1.0, grid).unwrap());
    let guess = GuessAndCheck::new(1.0, many, 1.0).unwrap();
    let guess = InteractiveMechanism::from(guess.scaled(1.0, grid).unwrap());
    let questions =
        [(sparse, SessionQuery::Above(sum.clone())), (guess, SessionQuery::Check(sum, 1e15))];
    for (declared, question) in questions {
        for data in [&[0.125, 0.375, 0.875][..], &[0.125, 0.375][..]] {
            let session = declared.open(&Data::new(relation, data)).unwrap();
            for _ in 0..many {
                let answer = session.ask(&question).unwrap().number().unwrap();
                assert!(is_multiple(answer, grid.step()), "{answer:e}");
            }
            assert!(session.is_exhausted());
        }
    }
}
