//! Studies planned: how long a best fit, a least cost and a best sum take, for few statistics and for many.
//!
//!     bench/planner
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Instant;

use counterpoint::{Adjacency, Delta, Epsilon, Options, Relation};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::{Ask, Budget, Goal, Public, Statistic, Study, Wanted, Wish, plan};

/// Counts, sums, means, proportions and histograms in turn, no two alike.
fn statistic(index: usize, wish: impl Fn(f64) -> Wish) -> Statistic {
    let size = 1.0 + 0.37 * index as f64;
    let bounds = |high: f64| Bounds::new(0.0, high).unwrap();
    let (query, error) = match index % 5 {
        0 => (Query::count(), 20.0 + index as f64),
        1 => (Query::sum(bounds(size)), 50.0 * size),
        2 => (Query::mean(bounds(size)), 0.01 * size),
        3 => (Query::proportion(bounds(size)), 0.005 + 1e-5 * index as f64),
        _ => (Query::histogram(&[0.0, 1.0, 2.0, 3.0]).unwrap(), 30.0 + index as f64),
    };
    let wanted = Wanted { query, noise: None, confidence: 0.95, wish: wish(error), scale: error };
    Statistic { name: format!("statistic {index}"), ask: Ask::Query(wanted) }
}

fn study(count: usize, epsilon: Option<f64>, wish: impl Fn(f64) -> Wish + Copy) -> Study {
    let relation = Relation::one(Adjacency::Replace);
    let public = Public { relation, rows: Some(20_000), sample_of: None };
    let epsilon = epsilon.map(|epsilon| Epsilon::new(epsilon).unwrap());
    let budget = Budget { epsilon, delta: Delta::new(1e-6).unwrap() };
    let statistics = (0..count).map(|index| statistic(index, wish)).collect();
    Study::new(public, budget, Goal::Relative, statistics).unwrap()
}

fn line(name: &str, study: &Study) {
    let once = || {
        let start = Instant::now();
        (plan(study, &Options::default()), 1e3 * start.elapsed().as_secs_f64())
    };
    let (first, second) = (once(), once());
    let planned = second.0.unwrap();
    let factor = planned.factor.map_or(0.0, |factor| factor.relative_width());
    println!(
        "{name:<28} {:>9.1} ms   epsilon {}, factor's width {factor:.1e}",
        first.1.min(second.1),
        planned.cost.bracket
    );
}

fn main() {
    let most = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    for count in [1, 5, 20, 100, 1000, 10_000] {
        if count > most {
            break;
        }
        line(&format!("{count}: best fit"), &study(count, Some(1.0), Wish::Error));
        line(&format!("{count}: least cost"), &study(count, None, Wish::Error));
        line(&format!("{count}: best sum"), &study(count, Some(1.0), |_| Wish::Weight(1.0)));
    }
}
