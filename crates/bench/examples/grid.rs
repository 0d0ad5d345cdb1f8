//! Every plan of a practitioner's grid of private training: how many are refused, how wide the
//! answers are and how long they take.
//!
//!     bench/grid [--every N] [--list]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Instant;

use counterpoint::quantity::{GroupSize, NoiseScale, Rate};
use counterpoint::{
    Adjacency, AskError, Count, Delta, Mechanism, Options, Plan, Release, Sensitivity,
};

const SIGMAS: [f64; 8] = [0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 4.0, 10.0];
const RATES: [f64; 8] = [1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 1e-2, 0.1, 0.5];
const COUNTS: [u64; 9] = [1, 3, 4, 10, 100, 1000, 10_000, 100_000, 1_000_000];
const DELTAS: [f64; 4] = [1e-5, 1e-6, 1e-8, 1e-10];

/// One answer: epsilon's relative width if there is one, and its time in seconds.
struct Point {
    rate: usize,
    count: usize,
    width: Option<f64>,
    seconds: f64,
}

fn plan(sigma: f64, rate: f64, count: u64) -> Plan {
    let noise = NoiseScale::new(sigma).unwrap();
    let mechanism =
        Mechanism::Gaussian { sigma: noise, sensitivity: Sensitivity::new(1.0).unwrap() };
    let (rate, count) = (Some(Rate::new(rate).unwrap()), Count::new(count).unwrap());
    let release = Release { mechanism, rate, count, part: None };
    Plan::for_neighbours([release], Some(Adjacency::AddRemove), GroupSize::ONE).unwrap()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let list = arguments.iter().any(|argument| argument == "--list");
    let every = arguments.iter().position(|argument| argument == "--every");
    let every = every.map_or(1, |place| arguments[place + 1].parse().unwrap());
    let mut points = Vec::new();
    let mut index = 0;
    for (sigma, rate, count, delta) in grid() {
        index += 1;
        if index % every != 0 {
            continue;
        }
        let plan = plan(sigma, RATES[rate], COUNTS[count]);
        let start = Instant::now();
        let answer = plan.epsilon(Delta::new(delta).unwrap(), &Options::default());
        let seconds = start.elapsed().as_secs_f64();
        let text = match &answer {
            Ok(answer) => format!("{} by {}", answer.bracket, answer.route),
            Err(error) => error.to_string(),
        };
        if list {
            let (rate, count) = (RATES[rate], COUNTS[count]);
            println!("{sigma} {rate:e} {count} {delta:e}: {:.1} ms, {text}", 1e3 * seconds);
        }
        let width = match answer {
            Ok(answer) => Some(answer.bracket.relative_width()),
            Err(AskError::ToleranceNotMet { .. }) => None,
            Err(error) => panic!("{error}"),
        };
        points.push(Point { rate, count, width, seconds });
    }
    table("refused", &points, |cell| {
        let refused = cell.iter().filter(|point| point.width.is_none()).count();
        if refused == 0 { "-".to_owned() } else { format!("{refused}/{}", cell.len()) }
    });
    table("wide", &points, |cell| {
        let wide = |point: &&&Point| point.width.is_some_and(|width| width > 1e-6);
        let wide = cell.iter().filter(wide).count();
        if wide == 0 { "-".to_owned() } else { format!("{wide}/{}", cell.len()) }
    });
    table("slowest, ms", &points, |cell| {
        let slowest = cell.iter().map(|point| point.seconds).fold(0.0, f64::max);
        format!("{:.1}", 1e3 * slowest)
    });
    let mut seconds: Vec<f64> = points.iter().map(|point| point.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let refused = points.iter().filter(|point| point.width.is_none()).count();
    let wide = points.iter().filter(|point| point.width.is_some_and(|width| width > 1e-6)).count();
    println!(
        "{} points: {refused} refused, {wide} wider than 1e-6; median {:.2} ms, 90 % {:.1} ms, slowest {:.0} ms",
        points.len(),
        1e3 * seconds[seconds.len() / 2],
        1e3 * seconds[seconds.len() * 9 / 10],
        1e3 * seconds[seconds.len() - 1],
    );
}

/// Sigma, the places of rate and count in their lists, and delta.
fn grid() -> impl Iterator<Item = (f64, usize, usize, f64)> {
    let rates = (0..RATES.len()).flat_map(|rate| (0..COUNTS.len()).map(move |count| (rate, count)));
    rates.flat_map(|(rate, count)| {
        let sigmas = SIGMAS.into_iter().flat_map(|sigma| DELTAS.map(move |delta| (sigma, delta)));
        sigmas.map(move |(sigma, delta)| (sigma, rate, count, delta))
    })
}

/// Rates down, counts across.
fn table(title: &str, points: &[Point], show: impl Fn(&[&Point]) -> String) {
    print!("{title:<12}");
    COUNTS.iter().for_each(|count| print!("{count:>10}"));
    println!();
    for (rate, value) in RATES.iter().enumerate() {
        print!("{value:<12e}");
        for count in 0..COUNTS.len() {
            let cell: Vec<&Point> =
                points.iter().filter(|point| (point.rate, point.count) == (rate, count)).collect();
            print!("{:>10}", show(&cell));
        }
        println!();
    }
    println!();
}
