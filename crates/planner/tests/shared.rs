//! Counts of rows that several statistics share.
#![allow(clippy::unwrap_used, clippy::panic)]

use counterpoint::{Adjacency, Delta, Epsilon, Options, Plan, Relation, Release};
use counterpoint_mechanisms::{Bounds, Contribution, GroupLimits, Query};
use counterpoint_planner::{
    AccuracyTarget, Budget, Goal, Population, PublicFacts, QueryRequest, Statistic,
    StatisticContent, Study, StudyPlan, plan,
};
use counterpoint_testing::tries;

const ROWS: u64 = 10_000;

fn statistic(
    query: Query,
    target: AccuracyTarget,
    count: Option<&str>,
    groups: usize,
) -> Statistic {
    let relation = Relation::single_record(Adjacency::AddRemove);
    let contribution = match groups {
        1 => Contribution::Rows(relation),
        _ => Contribution::Groups(relation, GroupLimits::new(1, 1, 1).unwrap()),
    };
    let count = count.map(str::to_owned);
    let population = Population { contribution, rows: Some(ROWS), groups, count };
    let wanted = QueryRequest {
        query,
        noise: None,
        confidence: 0.95,
        target,
        scale: 1.0,
        population: Some(population),
    };
    Statistic { name: String::new(), content: StatisticContent::Query(wanted) }
}

fn study(epsilon: f64, statistics: Vec<Statistic>) -> Study {
    let relation = Relation::single_record(Adjacency::AddRemove);
    let public = PublicFacts { relation, rows: Some(ROWS), sample_of: None };
    let epsilon = Some(Epsilon::new(epsilon).unwrap());
    let budget = Budget { epsilon, delta: Delta::new(1e-6).unwrap() };
    Study::new(public, budget, Goal::Relative, statistics).unwrap()
}

fn means(many: usize, target: AccuracyTarget, count: Option<&str>) -> Vec<Statistic> {
    let mean = |i: usize| Query::mean(Bounds::new(0.0, 10.0 + i as f64).unwrap());
    let target = |i: usize| match target {
        AccuracyTarget::Error(error) => AccuracyTarget::Error(error * (10.0 + i as f64)),
        other => other,
    };
    (0..many).map(|i| statistic(mean(i), target(i), count, 1)).collect()
}

fn planned(study: &Study) -> StudyPlan {
    let planned = plan(study, &Options::default()).unwrap();
    // The counts are charged with the rest, once.
    let releases: Vec<Release> = planned.releases().cloned().collect();
    let group = counterpoint::quantity::GroupSize::ONE;
    let whole = Plan::for_neighbours(releases, Some(Adjacency::AddRemove), group).unwrap();
    let cost = whole.epsilon(planned.delta, &Options::default()).unwrap().bracket;
    assert!(cost.upper <= study.budget().epsilon.unwrap().get() * (1.0 + 1e-9), "{cost:?}");
    planned
}

/// With Gaussian noise of variance s^2 on each of k sums of numbers from -1 to 1 and z^2 on a count, a mean's worst data are off
/// with variance s^2 + z^2, and the cost is k/s^2 + 1/z^2: least (sqrt k + 1)^2 over the variance. Separate counts cost 4k over it.
#[test]
fn one_count_for_many_means_makes_errors_as_much_smaller_as_it_should() {
    let sizes = [(5, 1.382), (20, 1.634), (100, 1.818)];
    for (many, expected) in &sizes[..tries(3, 0.67) as usize] {
        let (many, least) = (*many, 0.99 * expected);
        let [with, without] = [Some("rows"), None].map(|count| {
            let planned = planned(&study(1.0, means(many, AccuracyTarget::Error(0.001), count)));
            let factor = planned.factor.unwrap();
            assert!(
                factor.lower <= factor.upper && factor.lower > 0.9 * factor.upper,
                "{factor:?}"
            );
            assert_eq!(planned.statistics.len(), many + usize::from(count.is_some()));
            factor.upper
        });
        println!("{many} means: {}", without / with);
        assert!(without / with > least, "{many}: {}", without / with);
    }
}

/// The same for means by group, and for weighted sums of errors.
#[test]
fn counts_of_groups_are_shared_and_weighted_errors_fall() {
    let grouped = |count: Option<&str>| {
        let mean = |i: u32| Query::mean(Bounds::new(0.0, f64::from(i)).unwrap());
        let list = (1..=8)
            .map(|i| statistic(mean(i), AccuracyTarget::Error(0.01 * f64::from(i)), count, 4));
        planned(&study(1.0, list.collect())).factor.unwrap().upper
    };
    let gain = grouped(None) / grouped(Some("rows"));
    assert!(gain > 1.4, "{gain}");
    let weighted = |count| {
        planned(&study(1.0, means(8, AccuracyTarget::Weight(1.0), count))).sum.unwrap().relative
    };
    let gain = weighted(None) / weighted(Some("rows"));
    assert!(gain > 1.4, "{gain}");
}

/// Statistics of several kinds share a count, one that nobody else names is not shared, and each line says which it is.
#[test]
fn each_line_says_which_count_it_shares() {
    let bounds = Bounds::new(-1.0, 1.0).unwrap();
    let list = vec![
        statistic(Query::mean(bounds), AccuracyTarget::Error(0.01), Some("rows"), 1),
        statistic(Query::proportion(bounds), AccuracyTarget::Error(0.01), Some("rows"), 1),
        statistic(Query::variance(bounds), AccuracyTarget::Error(0.02), Some("rows"), 1),
        statistic(Query::deviation(bounds), AccuracyTarget::Error(0.2), Some("rows"), 1),
        statistic(Query::covariance(bounds, bounds), AccuracyTarget::Error(0.05), Some("rows"), 1),
        statistic(Query::mean(bounds), AccuracyTarget::Error(0.01), Some("others"), 1),
        statistic(Query::sum(bounds), AccuracyTarget::Error(100.0), Some("rows"), 1),
    ];
    let planned = planned(&study(1.0, list));
    let counts: Vec<Option<&str>> = planned
        .statistics
        .iter()
        .map(|line| line.answer.as_ref().unwrap().count.as_deref())
        .collect();
    let rows = Some("rows");
    assert_eq!(counts, [rows, rows, rows, rows, rows, None, None, None]);
    let count = planned.statistics.last().unwrap();
    assert_eq!(count.name, "rows");
    let noise = count.answer.as_ref().unwrap().measurement.clone();
    assert_eq!(noise.noisy_query().query(), &Query::count());
    for line in &planned.statistics[..5] {
        let runs = line.answer.as_ref().unwrap();
        assert!(runs.measurement.has_outside_count());
        let wanted = runs.wanted.unwrap() * planned.factor.unwrap().upper;
        assert!(runs.error <= wanted * (1.0 + 1e-9), "{}: {} of {wanted}", line.name, runs.error);
    }
}

/// Where nothing is gained, nothing is shared: a study whose epsilon is pinned, and one mean alone.
#[test]
fn a_count_is_shared_only_where_errors_fall() {
    let one = planned(&study(1.0, means(1, AccuracyTarget::Error(0.01), Some("rows"))));
    assert_eq!(one.statistics.len(), 1);
    let pinned = planned(&study(1.0, means(3, AccuracyTarget::PinnedLevel(0.1), Some("rows"))));
    assert_eq!(pinned.statistics.len(), 3);
}
