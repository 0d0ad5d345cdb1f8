//! Answers lie on a grid that does not depend on the data: 10^6 draws on each of two neighbours
//! in a full run, 2,000 in a quick one, none off it.
#![allow(clippy::unwrap_used)]

mod common;

use common::draws;
use counterpoint::Adjacency;
use counterpoint_mechanisms::{Bounds, Grid, Measurement, Noise, Query};

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
            for _ in 0..draws(1_000_000, 0.002) {
                let answer = noise.release(x).unwrap();
                assert!(is_multiple(answer, grid.step()), "{answer:e}");
            }
        }
    }
}

#[test]
fn sums_on_two_neighbours() {
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
        let query = Query::sum(bounds, adjacency);
        let measurements = [query.laplace(0.3).unwrap(), query.gaussian(2.0).unwrap()];
        for measurement in &measurements {
            for data in [&[0.1, 0.2, 0.7][..], &[0.1, 0.2][..]] {
                on_grid(measurement, data);
            }
        }
    }
}

fn on_grid(measurement: &Measurement, data: &[f64]) {
    let step = measurement.noises()[0].grid().step();
    for _ in 0..draws(500_000, 0.002) {
        let answer = measurement.run(data).unwrap().number().unwrap();
        assert!(is_multiple(answer, step), "{answer:e}");
    }
}
