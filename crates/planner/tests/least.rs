//! What is proved of the smallest sum: where the best sharing is known without a search, and in the limit of noise
//! whose composition is a line of arithmetic.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use counterpoint::{Adjacency, Delta, Epsilon, Guarantee, Options, Relation};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::{
    Ask, Budget, Goal, Least, Noise, Planned, Public, Statistic, Study, Wanted, Wish, least, plan,
};

fn study(
    budget: (f64, f64),
    goal: Goal,
    sample_of: Option<u64>,
    asked: &[(Query, Option<Noise>, Wish)],
) -> Study {
    let statistic = |(query, noise, wish): &(Query, Option<Noise>, Wish)| {
        let (query, noise, wish) = (query.clone(), *noise, *wish);
        let wanted = Wanted { query, noise, confidence: 0.95, wish, scale: 1.0 };
        Statistic { name: String::new(), ask: Ask::Query(wanted) }
    };
    let public =
        Public { relation: Relation::one(Adjacency::Replace), rows: Some(2000), sample_of };
    let epsilon = Some(Epsilon::new(budget.0).unwrap());
    let budget = Budget { epsilon, delta: Delta::new(budget.1).unwrap() };
    Study::new(public, budget, goal, asked.iter().map(statistic).collect()).unwrap()
}

fn bounded(study: &Study) -> (Planned, f64, bool) {
    let planned = plan(study, &Options::default()).unwrap();
    let time = std::time::Instant::now();
    let found = least(study, &planned, &Options::default()).unwrap().unwrap();
    println!(
        "{:?} {:?} {:?} {:?}",
        planned.sum,
        found,
        time.elapsed(),
        planned
            .statistics
            .iter()
            .map(|l| l.runs.as_ref().map(|r| (r.noise, r.level)))
            .collect::<Vec<_>>()
    );
    let Least::Proved { sum, any_noise } = found else { panic!("{found:?}") };
    (planned, sum, any_noise)
}

fn sum(high: f64) -> Query {
    Query::sum(Bounds::new(0.0, high).unwrap())
}

#[test]
fn look() {
    for noise in [None, Some(Noise::Gaussian), Some(Noise::Laplace)] {
        for many in [1, 2, 3, 5, 20] {
            let asked = vec![(sum(7.3), noise, Wish::Weight(1.0)); many];
            bounded(&study((1.0, 1e-6), Goal::Relative, None, &asked));
            let count = Query::count_within(Bounds::new(0.0, 0.5).unwrap());
            let asked = vec![(count, noise, Wish::Weight(1.0)); many];
            bounded(&study((0.3, 1e-6), Goal::Relative, None, &asked));
        }
    }
}
