//! Studies planned: how long a best fit, a least cost and a best sum take, for few statistics and for many, with one person
//! replaced and with one more or fewer. Time of the processor, where the system tells it, and the best of some runs.
//!
//!     bench/planner [the most statistics] [words of the names that are wanted]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::time::Instant;

use counterpoint::{Adjacency, Delta, Epsilon, Options, Relation};
use counterpoint_mechanisms::{Bounds, Contribution, Query};
use counterpoint_planner::{
    AccuracyTarget, Budget, Goal, Population, PublicFacts, QueryRequest, Statistic,
    StatisticContent, Study, plan,
};

const ROWS: u64 = 20_000;

/// Which statistics, no two alike.
#[derive(Clone, Copy, PartialEq)]
enum Set {
    /// Counts, sums, means, proportions and histograms in turn.
    Mixed,
    /// The same with quantiles in place of the last two.
    Quantiles,
    /// Means of the same rows, which may share a count of them.
    Means,
}

fn query(index: usize, set: Set) -> (Query, f64) {
    let candidates = |count: usize| (0..=count).map(|at| at as f64).collect::<Vec<f64>>();
    let size = 1.0 + 0.37 * index as f64;
    let bounds = |high: f64| Bounds::new(0.0, high).unwrap();
    match index % 5 {
        _ if set == Set::Means => (Query::mean(bounds(size)), 0.01 * size),
        0 => (Query::count(), 20.0 + index as f64),
        1 => (Query::sum(bounds(size)), 50.0 * size),
        2 => (Query::mean(bounds(size)), 0.01 * size),
        3 if set == Set::Quantiles => {
            let query = Query::quantile((1, 2), &candidates(100 + index));
            (query.unwrap(), 100.0 + index as f64)
        }
        4 if set == Set::Quantiles => {
            let query = Query::quantiles(&[(1, 4), (1, 2), (3, 4)], &candidates(50 + index));
            (query.unwrap(), 300.0 + index as f64)
        }
        3 => (Query::proportion(bounds(size)), 0.005 + 1e-5 * index as f64),
        _ => (Query::histogram(&[0.0, 1.0, 2.0, 3.0]).unwrap(), 30.0 + index as f64),
    }
}

fn study(
    (count, set): (usize, Set),
    adjacency: Adjacency,
    (epsilon, target): (Option<f64>, impl Fn(f64) -> AccuracyTarget),
) -> Study {
    let relation = Relation::single_record(adjacency);
    let contribution = Contribution::Rows(relation);
    let statistic = |index: usize| {
        let (query, error) = query(index, set);
        let population = (set == Set::Means).then(|| Population {
            contribution,
            rows: Some(ROWS),
            groups: 1,
            count: (adjacency == Adjacency::AddRemove).then(|| "rows".to_owned()),
        });
        let (target, scale) = (target(error), error);
        let wanted =
            QueryRequest { query, noise: None, confidence: 0.95, target, scale, population };
        Statistic { name: format!("statistic {index}"), content: StatisticContent::Query(wanted) }
    };
    let public = PublicFacts { relation, rows: Some(ROWS), sample_of: None };
    let epsilon = epsilon.map(|epsilon| Epsilon::new(epsilon).unwrap());
    let budget = Budget { epsilon, delta: Delta::new(1e-6).unwrap() };
    Study::new(public, budget, Goal::Relative, (0..count).map(statistic).collect()).unwrap()
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
    let runs = if first < 1000.0 { 6 } else { 0 };
    let least = (0..runs).map(|_| once().1).fold(first, f64::min);
    let planned = planned.unwrap();
    let factor = planned.factor.map_or(String::new(), |factor| format!(", factor {factor}"));
    let sum = planned.sum.map_or(String::new(), |sum| format!(", sum {}", sum.relative));
    println!("{name:<40} {least:>9.1} ms   epsilon {}{factor}{sum}", planned.cost.bracket);
}

fn main() {
    let most = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    let sets = [(Set::Mixed, "mixed"), (Set::Quantiles, "with quantiles"), (Set::Means, "means")];
    let relations = [(Adjacency::Replace, "replace"), (Adjacency::AddRemove, "add-remove")];
    for count in [1, 5, 20, 100, 1000, 10_000] {
        for (set, set_name) in sets {
            if count > most || (set == Set::Quantiles && !(5..=100).contains(&count)) {
                continue;
            }
            for (adjacency, relation) in relations {
                let of = (count, set);
                let name = format!("{count} {set_name}, {relation}");
                let fit = study(of, adjacency, (Some(1.0), AccuracyTarget::Error));
                line(&format!("{name}: best fit"), &fit);
                let cost = study(of, adjacency, (None, AccuracyTarget::Error));
                line(&format!("{name}: least cost"), &cost);
                let sum = study(of, adjacency, (Some(1.0), |_| AccuracyTarget::Weight(1.0)));
                line(&format!("{name}: best sum"), &sum);
            }
        }
    }
}
