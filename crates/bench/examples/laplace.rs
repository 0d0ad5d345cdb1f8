//! Laplace noise: counts of one scale, lists of distinct scales, and surveys of a few. How long an epsilon and a
//! delta take, how wide they are, and which are refused.
//!
//!     bench/laplace
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Instant;

use counterpoint::quantity::{GroupSize, NoiseScale, Rate, WholeSensitivity};
use counterpoint::{
    Adjacency, AskError, Bracket, Count, Delta, Epsilon, Guarantee, Mechanism, Options, Plan,
    Release, Sensitivity,
};

const SCALES: [f64; 9] = [0.1, 0.5, 1.0, 3.0, 7.5, 12.0, 40.0, 1000.0, 1e6];
const COUNTS: [u64; 8] = [2, 5, 20, 60, 250, 1000, 100_000, 1_000_000];
const DELTAS: [f64; 4] = [1e-5, 1e-6, 1e-8, 1e-10];
const MANY: [u64; 8] = [5, 20, 50, 100, 400, 1000, 10_000, 100_000];

/// The slowest answers in milliseconds, how many were refused, and the widest.
#[derive(Default)]
struct Cell {
    epsilon: f64,
    delta: f64,
    refused: u32,
    width: f64,
}

fn laplace(scale: f64, count: u64, rate: Option<f64>) -> Release {
    let sensitivity = Sensitivity::new(1.0).unwrap();
    release(Mechanism::Laplace { scale: NoiseScale::new(scale).unwrap(), sensitivity }, count, rate)
}

fn release(mechanism: Mechanism, count: u64, rate: Option<f64>) -> Release {
    let rate = rate.map(|rate| Rate::new(rate).unwrap());
    Release { mechanism, rate, count: Count::new(count).unwrap(), part: None }
}

fn plan(releases: Vec<Release>) -> Plan {
    Plan::for_neighbours(releases, Some(Adjacency::AddRemove), GroupSize::ONE).unwrap()
}

/// The faster of two runs, for the machine's sake.
fn timed<T>(ask: impl Fn() -> T) -> (T, f64) {
    let once = || {
        let start = Instant::now();
        (ask(), 1e3 * start.elapsed().as_secs_f64())
    };
    let (first, second) = (once(), once());
    (second.0, first.1.min(second.1))
}

fn cell(plan: &Plan) -> Cell {
    let (mut cell, options) = (Cell::default(), Options::default());
    let mut note = |answer: Result<Bracket, AskError>| match answer {
        Ok(bracket) => {
            cell.width = cell.width.max(bracket.relative_width());
            Some(bracket)
        }
        Err(AskError::ToleranceNotMet { .. }) => {
            cell.refused += 1;
            None
        }
        Err(error) => panic!("{error}"),
    };
    let (mut epsilons, mut deltas) = (0.0_f64, 0.0_f64);
    for delta in DELTAS {
        let delta = Delta::new(delta).unwrap();
        let (answer, time) = timed(|| plan.epsilon(delta, &options));
        epsilons = epsilons.max(time);
        let epsilon = note(answer.map(|answer| answer.bracket)).map(|bracket| bracket.upper);
        if let Some(epsilon) = epsilon.and_then(|epsilon| Epsilon::new(epsilon).ok()) {
            let (answer, time) = timed(|| plan.delta(epsilon, &options));
            deltas = deltas.max(time);
            note(answer.map(|answer| answer.bracket));
        }
    }
    (cell.epsilon, cell.delta) = (epsilons, deltas);
    cell
}

fn line(name: &str, plan: &Plan) {
    let Cell { epsilon, delta, refused, width } = cell(plan);
    println!("{name:<36}{epsilon:>10.2}{delta:>10.2}{refused:>9}{width:>12.0e}");
}

fn main() {
    println!("one scale: slowest of epsilon and delta, ms (r: refused), at deltas 1e-5 to 1e-10");
    print!("{:<10}", "scale");
    COUNTS.iter().for_each(|count| print!("{count:>10}"));
    println!();
    for scale in SCALES {
        print!("{scale:<10}");
        for count in COUNTS {
            let Cell { epsilon, delta, refused, .. } =
                cell(&plan(vec![laplace(scale, count, None)]));
            let mark = if refused > 0 { "r" } else { "" };
            print!("{:>10}", format!("{:.2}{mark}", epsilon.max(delta)));
        }
        println!();
    }
    println!();
    println!("{:<36}{:>10}{:>10}{:>9}{:>12}", "", "epsilon", "delta", "refused", "widest");
    for many in MANY {
        let epsilon = |i: u64| 0.01 + 0.19 * (0.618_033_988_7 * i as f64).fract();
        let list = (1..=many).map(|i| laplace(1.0 / epsilon(i), 1, None)).collect();
        line(&format!("{many} distinct scales"), &plan(list));
    }
    let noise = NoiseScale::new(4.0).unwrap();
    let grid =
        Mechanism::Geometric { scale: noise, sensitivity: WholeSensitivity::new(1).unwrap() };
    let response: Mechanism = Guarantee::new(0.5, 0.0).unwrap().into();
    let normal = Mechanism::Gaussian {
        sigma: NoiseScale::new(8.0).unwrap(),
        sensitivity: Sensitivity::new(1.0).unwrap(),
    };
    let three = [laplace(3.0, 2, None), laplace(7.3, 5, None), laplace(11.9, 3, None)];
    let others = [release(response, 1, None), release(grid, 1, None), release(normal, 1, None)];
    line("three scales", &plan(three.to_vec()));
    line("three scales, response, geometric", &plan([&three[..], &others[..2]].concat()));
    line("three scales and a Gaussian too", &plan([&three[..], &others[..]].concat()));
    let one = [laplace(5.0, 10, None)];
    line("one scale, response, geometric", &plan([&one[..], &others[..2]].concat()));
    line("one release on a sample", &plan(vec![laplace(3.0, 1, Some(0.01))]));
}
