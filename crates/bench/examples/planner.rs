//! Studies planned: how long a best fit, a least cost and a best sum take, for few statistics and for many, and of some
//! the same with quantiles. Time of the processor, where the system tells it, and the best of some runs.
//!
//!     bench/planner [the most statistics] [words of the names that are wanted]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Instant;

use counterpoint::{Adjacency, Delta, Epsilon, Options, Relation};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::{Ask, Budget, Goal, Public, Statistic, Study, Wanted, Wish, plan};

/// Counts, sums, means, proportions and histograms in turn, no two alike, or quantiles in place of the last two.
fn statistic(index: usize, quantiles: bool, wish: impl Fn(f64) -> Wish) -> Statistic {
    let candidates = |count: usize| (0..=count).map(|at| at as f64).collect::<Vec<f64>>();
    let size = 1.0 + 0.37 * index as f64;
    let bounds = |high: f64| Bounds::new(0.0, high).unwrap();
    let (query, error) = match index % 5 {
        0 => (Query::count(), 20.0 + index as f64),
        1 => (Query::sum(bounds(size)), 50.0 * size),
        2 => (Query::mean(bounds(size)), 0.01 * size),
        3 if quantiles => {
            let query = Query::quantile((1, 2), &candidates(100 + index));
            (query.unwrap(), 100.0 + index as f64)
        }
        4 if quantiles => {
            let query = Query::quantiles(&[(1, 4), (1, 2), (3, 4)], &candidates(50 + index));
            (query.unwrap(), 300.0 + index as f64)
        }
        3 => (Query::proportion(bounds(size)), 0.005 + 1e-5 * index as f64),
        _ => (Query::histogram(&[0.0, 1.0, 2.0, 3.0]).unwrap(), 30.0 + index as f64),
    };
    let wanted = Wanted {
        query,
        noise: None,
        confidence: 0.95,
        wish: wish(error),
        scale: error,
        population: None,
    };
    Statistic { name: format!("statistic {index}"), ask: Ask::Query(wanted) }
}

fn study(
    (count, quantiles): (usize, bool),
    epsilon: Option<f64>,
    wish: impl Fn(f64) -> Wish + Copy,
) -> Study {
    let relation = Relation::one(Adjacency::Replace);
    let public = Public { relation, rows: Some(20_000), sample_of: None };
    let epsilon = epsilon.map(|epsilon| Epsilon::new(epsilon).unwrap());
    let budget = Budget { epsilon, delta: Delta::new(1e-6).unwrap() };
    let statistics = (0..count).map(|index| statistic(index, quantiles, wish)).collect();
    Study::new(public, budget, Goal::Relative, statistics).unwrap()
}

/// Milliseconds that this thread has run, as Linux counts them.
fn on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(1e-6 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}

fn line(name: &str, study: &Study) {
    if std::env::args().nth(2).is_some_and(|wanted| !name.contains(&wanted)) {
        return;
    }
    let once = || {
        let (start, clock) = (on_processor(), Instant::now());
        let planned = plan(study, &Options::default());
        let clock = 1e3 * clock.elapsed().as_secs_f64();
        (planned, start.zip(on_processor()).map_or(clock, |(start, end)| end - start))
    };
    let (planned, first) = once();
    let runs = if first < 1000.0 { 6 } else { 1 };
    let least = (0..runs).map(|_| once().1).fold(first, f64::min);
    let planned = planned.unwrap();
    let factor = planned.factor.map_or(0.0, |factor| factor.relative_width());
    let sum = planned.sum.map_or(String::new(), |sum| format!(", sum {}", sum.relative));
    println!(
        "{name:<30} {least:>9.1} ms   epsilon {}, factor's width {factor:.1e}{sum}",
        planned.cost.bracket
    );
}

fn main() {
    let most = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    for count in [1, 5, 20, 100, 1000, 10_000] {
        for quantiles in [false, true] {
            if count > most || (quantiles && !(5..=100).contains(&count)) {
                continue;
            }
            let name =
                if quantiles { format!("{count} with quantiles") } else { count.to_string() };
            let of = (count, quantiles);
            line(&format!("{name}: best fit"), &study(of, Some(1.0), Wish::Error));
            line(&format!("{name}: least cost"), &study(of, None, Wish::Error));
            line(&format!("{name}: best sum"), &study(of, Some(1.0), |_| Wish::Weight(1.0)));
        }
    }
}
