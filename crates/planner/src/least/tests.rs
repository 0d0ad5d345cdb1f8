//! Compares the cells of a row with all of its levels.

use super::{CLOSELY, LagrangeBound};
use crate::cost::Composer;
use crate::fit::{Allocation, Problem};
use crate::progress::Progress;
use crate::shadow::Shadow;
use crate::study::{
    AccuracyTarget, Budget, Goal, Noise, PublicFacts, QueryRequest, Statistic, StatisticContent,
    Study,
};
use crate::sum;
use counterpoint::{Adjacency, Delta, Epsilon, Options, Relation};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_testing::{Random, tries};

/// The bound on the least of error plus price over all levels is at most the value at each of many levels, and close to
/// the least of these.
#[test]
fn the_least_of_a_row_is_below_all_its_levels() {
    let mut random = Random::new(76);
    let public = PublicFacts {
        relation: Relation::single_record(Adjacency::Replace),
        rows: Some(2000),
        sample_of: None,
    };
    let bounds = Bounds::new(0.0, 7.3).unwrap();
    for query in [Query::sum(bounds), Query::count_within(bounds)] {
        for noise in [Noise::Laplace, Noise::Gaussian] {
            let wanted = QueryRequest {
                query: query.clone(),
                noise: Some(noise),
                confidence: 0.95,
                target: AccuracyTarget::Weight(1.0),
                scale: 1.0,
                population: None,
            };
            let statistic =
                Statistic { name: String::new(), content: StatisticContent::Query(wanted) };
            let budget = Budget {
                epsilon: Some(Epsilon::new(1.0).unwrap()),
                delta: Delta::new(1e-6).unwrap(),
            };
            let study = Study::new(public, budget, Goal::Relative, vec![statistic]).unwrap();
            let progress = Progress::new(Options::default().watch);
            let composer = Composer::new(&public, budget, Options::default(), &progress);
            let problem = Problem::new(&study, composer).unwrap();
            let terms = sum::terms(&problem, &study);
            let allocation = Allocation { choice: vec![0], levels: vec![0.1] };
            for _ in 0..tries(40, 0.25) {
                let bound =
                    LagrangeBound::new(&problem, &terms, (1.0, &allocation)).unwrap().unwrap();
                let free = &bound.free[0];
                let slope = random.log_uniform(150.0, 3e4);
                let price =
                    |shadows: &[Shadow]| slope * shadows.first().map_or(0.0, |shadow| shadow.level);
                let (least, level) = bound.least(free, CLOSELY, price).unwrap();
                let at = |level: f64| {
                    let shadow = bound.shadow_rule.of(&free.family.releases(level).unwrap()[0]);
                    free.family.error(level).unwrap() + slope * shadow.level
                };
                // Up to where Gaussian noise on counts keeps the budget.
                let levels = (0..4000).map(|i| 2e-3 * 300.0_f64.powf(f64::from(i) / 4000.0));
                let scanned = levels.map(at).fold(f64::INFINITY, f64::min);
                assert!(least <= scanned, "{query:?} {noise:?} {slope}: {least} {scanned}");
                let near = CLOSELY * free.family.error(0.1).unwrap() + 3e-3 * scanned;
                assert!(least >= scanned - near, "{query:?} {noise:?} {slope}: {least} {scanned}");
                assert!(at(level) <= scanned + near, "{query:?} {noise:?} {slope}: {level}");
            }
        }
    }
}
