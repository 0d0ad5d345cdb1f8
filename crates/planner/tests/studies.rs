//! Studies planned, against closed solutions, brute force and what runs.
#![allow(clippy::unwrap_used, clippy::panic)]

use counterpoint::{
    Adjacency, Bracket, Delta, Epsilon, Guarantee, Options, Plan, Relation, Release,
};
use counterpoint_mechanisms::{Bounds, Contribution, Data, Query};
use counterpoint_planner::{
    AccuracyTarget, Budget, Goal, Noise, Population, PublicFacts, QueryRequest, Statistic,
    StatisticContent, Study, StudyPlan, Warning, plan,
};
use counterpoint_testing::{Random, tries};

fn public(adjacency: Adjacency, rows: u64) -> PublicFacts {
    PublicFacts { relation: Relation::single_record(adjacency), rows: Some(rows), sample_of: None }
}

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget { epsilon: Some(Epsilon::new(epsilon).unwrap()), delta: Delta::new(delta).unwrap() }
}

fn asked(query: Query, target: AccuracyTarget) -> Statistic {
    let wanted =
        QueryRequest { query, noise: None, confidence: 0.95, target, scale: 1.0, population: None };
    Statistic { name: String::new(), content: StatisticContent::Query(wanted) }
}

fn only(noise: Noise, mut statistic: Statistic) -> Statistic {
    if let StatisticContent::Query(wanted) = &mut statistic.content {
        wanted.noise = Some(noise);
    }
    statistic
}

fn planned(public: PublicFacts, budget: Budget, statistics: Vec<Statistic>) -> StudyPlan {
    let study = Study::new(public, budget, Goal::Relative, statistics).unwrap();
    plan(&study, &Options::default()).unwrap()
}

fn bounds(low: f64, high: f64) -> Bounds {
    Bounds::new(low, high).unwrap()
}

/// What the plan's releases cost, asked anew.
fn composed(planned: &StudyPlan, adjacency: Adjacency, delta: f64) -> Bracket {
    let releases: Vec<Release> = planned.releases().cloned().collect();
    let group = counterpoint::quantity::GroupSize::ONE;
    let plan = Plan::for_neighbours(releases, Some(adjacency), group).unwrap();
    plan.epsilon(Delta::new(delta).unwrap(), &Options::default()).unwrap().bracket
}

/// The normal law's upper tail, by its continued fraction or series: no code of ours.
fn tail(x: f64) -> f64 {
    0.5 * libm_erfc(x / std::f64::consts::SQRT_2)
}

/// erfc by a fine integral, to about 1e-12.
fn libm_erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - libm_erfc(-x);
    }
    let (steps, end) = (20_000, x + 8.0);
    let h = (end - x) / f64::from(steps);
    let f = |i: i32| (-(x + h * f64::from(i)).powi(2)).exp();
    let inner: f64 = (1..steps).map(|i| f(i) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (f(0) + inner + f(steps)) * h / 3.0 * 2.0 / std::f64::consts::PI.sqrt()
}

/// mu of the Gaussian that is exactly (epsilon, delta) private (Balle and Wang 2018).
fn balle_wang(epsilon: f64, delta: f64) -> f64 {
    let of =
        |mu: f64| tail(epsilon / mu - mu / 2.0) - epsilon.exp() * tail(epsilon / mu + mu / 2.0);
    let (mut low, mut high) = (1e-3, 10.0);
    for _ in 0..80 {
        let mu = 0.5 * (low + high);
        if of(mu) > delta { high = mu } else { low = mu }
    }
    low
}

/// Equal sums with Gaussian noise: mu is shared out as a square, and the error is that of the noise.
#[test]
fn equal_gaussians_have_the_closed_solution() {
    for (k, epsilon, delta) in [(1_u32, 1.0, 1e-6), (5, 0.5, 1e-6), (40, 2.0, 1e-9)] {
        let query = Query::sum(bounds(0.0, 1.0));
        let statistics = (0..k)
            .map(|_| only(Noise::Gaussian, asked(query.clone(), AccuracyTarget::Error(10.0))))
            .collect();
        let planned =
            planned(public(Adjacency::AddRemove, 1000), budget(epsilon, delta), statistics);
        let sigma = f64::from(k).sqrt() / balle_wang(epsilon, delta);
        // 1.959964 deviations are exceeded one time in twenty.
        let expected = 1.959_963_985 * sigma / 10.0;
        let factor = planned.factor.unwrap();
        assert!(factor.lower <= expected * 1.0001, "{k}: {factor} {expected}");
        assert!(
            factor.upper >= expected * 0.9999 && factor.upper < expected * 1.009,
            "{k}: {factor} {expected}"
        );
        assert!(factor.lower > expected * 0.97, "{k}: {factor} {expected}");
    }
}

/// What is planned is within the budget, by another question; no error is beyond the factor; a little less noise
/// breaks the budget.
#[test]
fn plans_keep_their_budget_and_their_factor() {
    let mut random = Random::new(3);
    for round in 0..tries(200, 0.03) {
        let adjacency = [Adjacency::AddRemove, Adjacency::Replace][random.below(2) as usize];
        let rows = random.log_whole(100, 100_000);
        let statistics: Vec<Statistic> = (0..random.between(1, 8))
            .map(|_| {
                let query = match random.below(5) {
                    0 => Query::count(),
                    1 => Query::sum(bounds(-1.0, random.log_uniform(0.1, 100.0))),
                    2 => Query::mean(bounds(0.0, random.log_uniform(1.0, 1e6))),
                    3 => Query::histogram(&[0.0, 1.0, 2.0, 3.0, 4.0]).unwrap(),
                    _ => Query::quantile((1, 2), &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap(),
                };
                let unit = match random.below(2) {
                    0 => 1.0,
                    _ => random.log_uniform(0.5, 50.0),
                };
                asked(query, AccuracyTarget::Error(10.0 * unit))
            })
            .collect();
        let (epsilon, delta) = (random.log_uniform(0.05, 3.0), 1e-6);
        let planned = planned(public(adjacency, rows), budget(epsilon, delta), statistics);
        let cost = composed(&planned, adjacency, delta);
        assert!(cost.upper <= epsilon, "{round}: {cost} above {epsilon}");
        let factor = planned.factor.unwrap();
        for line in &planned.statistics {
            let runs = line.answer.as_ref().unwrap();
            let again = runs.measurement.half_width_all(rows, 0.95).unwrap();
            assert!(
                again <= runs.wanted.unwrap() * factor.upper * (1.0 + 1e-12),
                "{round}: {line:?}"
            );
            assert!(line.epsilon <= cost.upper * (1.0 + 1e-6), "{round}");
        }
        assert!(factor.lower <= factor.upper, "{round}: {factor}");
    }
}

/// A share held back is in the cost, and what is pinned stays.
#[test]
fn pins_and_shares_held_back() {
    let income = || Query::mean(bounds(0.0, 200_000.0));
    let pinned = asked(income(), AccuracyTarget::PinnedError(3_000.0));
    let free = |error| asked(income(), AccuracyTarget::Error(error));
    let held = Statistic {
        name: "later".into(),
        content: StatisticContent::HeldBack(Guarantee::new(0.2, 0.0).unwrap()),
    };
    let public = public(Adjacency::Replace, 5000);
    let without = planned(public, budget(1.0, 1e-6), vec![pinned.clone(), free(500.0)]);
    let with = planned(public, budget(1.0, 1e-6), vec![pinned, free(500.0), held]);
    for plan in [&without, &with] {
        let runs = plan.statistics[0].answer.as_ref().unwrap();
        assert!(runs.pinned && runs.error <= 3_000.0 && runs.error > 2_970.0, "{}", runs.error);
        assert!(composed(plan, Adjacency::Replace, 1e-6).upper <= 1.0);
    }
    assert!(with.factor.unwrap().lower > without.factor.unwrap().upper);
    assert_eq!(
        with.statistics[2].releases,
        vec![Release::from((Guarantee::new(0.2, 0.0).unwrap(), counterpoint::Count::ONE))]
    );
}

/// Secrecy of the sample, by the formula: the releases themselves may cost more.
#[test]
fn a_secret_sample_goes_further() {
    let statistics = || vec![asked(Query::mean(bounds(0.0, 100.0)), AccuracyTarget::Error(1.0))];
    let known = public(Adjacency::Replace, 5000);
    let secret = PublicFacts { sample_of: Some(4_000_000), ..known };
    let (plain, amplified) = (
        planned(known, budget(0.1, 1e-6), statistics()),
        planned(secret, budget(0.1, 1e-6), statistics()),
    );
    assert!(amplified.factor.unwrap().upper < 0.1 * plain.factor.unwrap().lower);
    let share: f64 = 5000.0 / 4e6;
    let within = composed(&amplified, Adjacency::Replace, 1e-6 / share);
    let outside = (share * within.upper.exp_m1()).ln_1p();
    assert!(outside <= 0.1 * (1.0 + 1e-9) && outside > 0.0999, "{outside}");
    assert!((amplified.cost.bracket.upper / outside - 1.0).abs() < 1e-6);
}

/// Simulated: errors are within the half-widths as often as was said, and not with a twentieth less.
#[test]
fn what_runs_keeps_the_promise() {
    let rows = 500_u64;
    let values: Vec<f64> = (0..rows).map(|i| (i * 37 % 100) as f64).collect();
    let statistics = vec![
        asked(Query::sum(bounds(0.0, 100.0)), AccuracyTarget::Error(2_000.0)),
        asked(Query::mean(bounds(0.0, 100.0)), AccuracyTarget::Error(4.0)),
        only(Noise::Laplace, asked(Query::sum(bounds(0.0, 50.0)), AccuracyTarget::Error(1_000.0))),
        only(Noise::Gaussian, asked(Query::sum(bounds(0.0, 50.0)), AccuracyTarget::Error(1_000.0))),
    ];
    let planned = planned(public(Adjacency::Replace, rows), budget(1.0, 1e-6), statistics);
    let data = Data::new(Relation::single_record(Adjacency::Replace), values.clone());
    let clamped = |high: f64| values.iter().map(|x| x.min(high)).sum::<f64>();
    let truths = [clamped(100.0), clamped(100.0) / rows as f64, clamped(50.0), clamped(50.0)];
    let runs = tries(100_000, 0.4);
    for (line, truth) in planned.statistics.iter().zip(truths) {
        let line = line.answer.as_ref().unwrap();
        let within = |share: f64| {
            let near = (0..runs).filter(|_| {
                let reply = line.measurement.run(&data).unwrap().number().unwrap();
                (reply - truth).abs() <= share * line.error
            });
            near.count() as f64 / runs as f64
        };
        let deviation = (0.05 * 0.95 / runs as f64).sqrt();
        let kept = within(1.0);
        assert!(kept > 0.95 - 4.5 * deviation && kept < 0.95 + 4.5 * deviation, "{kept}");
        assert!(within(0.95) < 0.95 - 3.0 * deviation, "a twentieth less is not seen");
    }
}

/// Two statistics, all ways to share the budget out on a fine grid: none is better than what was planned, but for the grid.
#[test]
fn no_other_sharing_is_better() {
    let mut random = Random::new(5);
    for round in 0..tries(60, 0.1) {
        let high = random.log_uniform(1.0, 100.0);
        let (one, other) = (Query::sum(bounds(0.0, 1.0)), Query::sum(bounds(0.0, high)));
        let errors = [random.log_uniform(5.0, 50.0), high * random.log_uniform(5.0, 50.0)];
        let (epsilon, delta) = (random.log_uniform(0.2, 2.0), 1e-6);
        let fit = planned(
            public(Adjacency::AddRemove, 1000),
            budget(epsilon, delta),
            vec![
                asked(one.clone(), AccuracyTarget::Error(errors[0])),
                asked(other.clone(), AccuracyTarget::Error(errors[1])),
            ],
        );
        let weights = [random.log_uniform(0.3, 3.0), random.log_uniform(0.3, 3.0) / high];
        let sum = planned(
            public(Adjacency::AddRemove, 1000),
            budget(epsilon, delta),
            vec![
                asked(one.clone(), AccuracyTarget::Weight(weights[0])),
                asked(other.clone(), AccuracyTarget::Weight(weights[1])),
            ],
        );
        let relation = Relation::single_record(Adjacency::AddRemove);
        let cost = |first: (bool, f64), second: (bool, f64)| {
            let made = |query: &Query, (gaussian, level): (bool, f64)| {
                let recipe =
                    if gaussian { query.gaussian(1.0 / level) } else { query.laplace(level) };
                recipe.unwrap().under(relation).unwrap()
            };
            let (first, second) = (made(&one, first), made(&other, second));
            let releases = [first.releases(), second.releases()].concat();
            let plan = Plan::new(releases).unwrap();
            let epsilon = plan.epsilon(Delta::new(delta).unwrap(), &Options::default()).unwrap();
            let error =
                |of: counterpoint_mechanisms::Measurement| of.half_width(1000, 0.95).unwrap();
            (epsilon.bracket.upper, error(first), error(second))
        };
        let (mut factor, mut least) = (f64::INFINITY, f64::INFINITY);
        for kinds in [(false, false), (false, true), (true, false), (true, true)] {
            for step in 1..30 {
                // The ratio of the levels is given; the largest that keeps the budget is found by halving.
                let ratio = (0.15 * f64::from(step - 15)).exp();
                let (mut low, mut high) = (1e-3_f64, 20.0_f64);
                for _ in 0..26 {
                    let level = (low * high).sqrt();
                    let levels = ((kinds.0, level), (kinds.1, (level * ratio).clamp(1.1e-3, 39.0)));
                    if cost(levels.0, levels.1).0 <= epsilon { low = level } else { high = level }
                }
                let (_, first, second) =
                    cost((kinds.0, low), (kinds.1, (low * ratio).clamp(1.1e-3, 39.0)));
                factor = factor.min((first / errors[0]).max(second / errors[1]));
                least = least.min(weights[0] * first + weights[1] * second);
            }
        }
        let (found, reached) = (fit.factor.unwrap(), sum.sum.unwrap().relative);
        assert!(found.upper <= factor * 1.0001, "{round}: {found}, by hand {factor}");
        assert!(found.lower <= factor, "{round}: {found}, by hand {factor}");
        assert!(reached <= least * 1.001, "{round}: {reached}, by hand {least}");
    }
}

/// Quantiles level off where they are told nothing; the best sum is not there, nor is it refused because what is pinned
/// is dearer with Gaussian noise.
#[test]
fn quantiles_and_pins_have_a_share() {
    let quartiles =
        Query::quantiles(&[(1, 4), (1, 2), (3, 4)], &[0.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
    let region = Query::histogram(&[0.0, 1.0, 2.0, 3.0]).unwrap();
    let known = public(Adjacency::Replace, 5000);
    let found = planned(
        known,
        budget(0.4, 1e-6),
        vec![
            asked(Query::mean(bounds(0.0, 200_000.0)), AccuracyTarget::PinnedError(500.0)),
            asked(quartiles.clone(), AccuracyTarget::Weight(1.0)),
            asked(region.clone(), AccuracyTarget::Weight(1.0)),
        ],
    );
    // The pin costs less than 0.25 with Laplace noise; by adding up, 0.1 and 0.05 are left for the others.
    let error = |recipe: counterpoint_mechanisms::NoisyQuery| {
        recipe.under(known.relation).unwrap().half_width_all(5000, 0.95).unwrap()
    };
    let quartiles = quartiles.exponential_interval(0.1, 0.95).unwrap();
    let by_hand = error(quartiles) + error(region.laplace(0.05).unwrap());
    assert!(found.sum.unwrap().relative <= by_hand, "{:?}, by hand {by_hand}", found.sum);
}

/// Of Gaussian noise there is a least: a pin that only Laplace noise keeps to is kept, whatever is shared out.
#[test]
fn pins_have_the_noise_that_keeps_them() {
    let mean = || Query::mean(bounds(0.0, 1.0));
    let pinned = asked(mean(), AccuracyTarget::PinnedError(2e-5));
    for other in [AccuracyTarget::Weight(1.0), AccuracyTarget::Error(1e-3)] {
        let statistics = vec![pinned.clone(), asked(mean(), other), asked(mean(), other)];
        let found = planned(public(Adjacency::Replace, 1000), budget(400.0, 1e-6), statistics);
        let runs = found.statistics[0].answer.as_ref().unwrap();
        assert!(runs.error <= 2e-5, "{other:?}: {}", runs.error);
        assert_eq!(runs.noise, Noise::Laplace, "{other:?}");
        assert!(composed(&found, Adjacency::Replace, 1e-6).upper <= 400.0 * (1.0 + 1e-9));
    }
}

/// What dropping or pinning would buy is what a plan without it, or with the pin, comes to.
#[test]
fn what_is_spared_is_what_another_plan_says() {
    let queries = [
        (Query::mean(bounds(0.0, 100.0)), 1.0),
        (Query::sum(bounds(0.0, 10.0)), 500.0),
        (Query::sum(bounds(0.0, 1.0)), 20.0),
        (Query::mean(bounds(0.0, 1.0)), 0.02),
    ];
    let known = public(Adjacency::Replace, 2000);
    let wished = |target: fn(f64) -> AccuracyTarget| {
        queries.clone().map(|(query, error)| asked(query, target(error))).to_vec()
    };
    let near = |said: f64, truth: f64| assert!((said / truth - 1.0).abs() < 0.04, "{said} {truth}");
    let all = wished(AccuracyTarget::Error);
    let least = Budget { epsilon: None, delta: Delta::new(1e-6).unwrap() };
    let (fit, cost) =
        (planned(known, budget(1.0, 1e-6), all.clone()), planned(known, least, all.clone()));
    for index in 0..all.len() {
        let (mut without, mut pinned) = (all.clone(), all.clone());
        without.remove(index);
        pinned[index] = wished(AccuracyTarget::PinnedError).swap_remove(index);
        let factor =
            |statistics| planned(known, budget(1.0, 1e-6), statistics).factor.unwrap().upper;
        let spare = fit.statistics[index].savings;
        near(spare.dropped.unwrap(), factor(without.clone()));
        near(spare.pinned.unwrap(), factor(pinned));
        let cheaper = planned(known, least, without).cost.bracket.upper;
        near(cost.statistics[index].savings.dropped.unwrap(), cheaper);
    }
    // Without the only one nothing is published, and nothing costs anything.
    let alone = planned(known, least, all[..1].to_vec());
    assert!(alone.statistics[0].savings.dropped.is_some_and(|epsilon| epsilon.abs() < 1e-300));
}

/// Adding up has a closed form: the errors' epsilons, and the factor that makes them the budget.
#[test]
fn adding_up_needs_what_it_needs() {
    let sums = [(1.0, 20.0), (7.0, 100.0), (100.0, 900.0)];
    let statistics = sums
        .map(|(most, error)| asked(Query::sum(bounds(0.0, most)), AccuracyTarget::Error(error)))
        .to_vec();
    let found = planned(public(Adjacency::AddRemove, 1000), budget(0.5, 1e-6), statistics);
    // Laplace noise exceeds -ln(0.05) scales one time in twenty.
    let epsilon: f64 = sums.iter().map(|(most, error)| -0.05_f64.ln() * most / error).sum();
    let basic = found.other_theorems.iter().find(|other| other.theorem == "basic").unwrap();
    let near = |said: f64, truth: f64| assert!((said / truth - 1.0).abs() < 2e-3, "{said} {truth}");
    near(basic.epsilon.unwrap(), epsilon);
    near(basic.factor.unwrap(), epsilon / 0.5);
}

/// Adding up pays for regressions and pins of Gaussian noise, too, with Laplace noise of the same variance, and has its own secrecy of the
/// sample.
#[test]
fn adding_up_is_compared_fairly() {
    let regression = || Query::regression(&[bounds(0.0, 1.0)], bounds(0.0, 1.0)).unwrap();
    let sum = || asked(Query::sum(bounds(0.0, 1.0)), AccuracyTarget::Error(20.0));
    let epsilon_of_sum = -0.05_f64.ln() / 20.0;
    let others = |public: PublicFacts, statistics: Vec<Statistic>| {
        let found = planned(public, budget(1.0, 1e-6), statistics);
        let basic = found.other_theorems.iter().find(|other| other.theorem == "basic").unwrap();
        basic.epsilon.unwrap()
    };
    let near = |said: f64, truth: f64| assert!((said / truth - 1.0).abs() < 2e-3, "{said} {truth}");
    let known = public(Adjacency::Replace, 1000);
    let laplace = only(Noise::Laplace, asked(regression(), AccuracyTarget::PinnedLevel(0.3)));
    near(others(known, vec![laplace, sum()]), 0.3 + epsilon_of_sum);
    // Of publicly many rows five sums less one have noise: of x, y, xx, xy; of all but the number of rows.
    let gaussian = only(Noise::Gaussian, asked(regression(), AccuracyTarget::PinnedLevel(0.1)));
    let study = planned(known, budget(1.0, 1e-6), vec![gaussian.clone(), sum()]);
    let sums = study.statistics[0].releases.len() as f64;
    near(others(known, vec![gaussian, sum()]), 0.1 * (2.0 * sums).sqrt() + epsilon_of_sum);
    let secret = PublicFacts { sample_of: Some(100_000), ..known };
    near(others(secret, vec![sum()]), (0.01 * epsilon_of_sum.exp_m1()).ln_1p());
}

/// A sample's own error is told where all of its rows are used, and only there.
#[test]
fn samples_say_how_far_they_are_off() {
    let secret = PublicFacts { sample_of: Some(10_000), ..public(Adjacency::Replace, 100) };
    let mean = || asked(Query::mean(bounds(-50.0, 150.0)), AccuracyTarget::Error(1.0));
    let off = |of: PublicFacts, statistic: Statistic| {
        let found = planned(of, budget(1.0, 1e-6), vec![statistic]);
        found.statistics[0].answer.as_ref().unwrap().sampling_error
    };
    let said = off(secret, mean()).unwrap();
    assert!((said / (200.0 * 0.13513621919230623) - 1.0).abs() < 1e-12, "{said}");
    assert_eq!(off(public(Adjacency::Replace, 100), mean()), None, "these are all people");
    let mut filtered = mean();
    if let StatisticContent::Query(wanted) = &mut filtered.content {
        let contribution = Contribution::Rows(Relation::single_record(Adjacency::AddRemove));
        wanted.population =
            Some(Population { contribution, rows: Some(50), groups: 1, count: None });
    }
    assert_eq!(off(secret, filtered), None, "who is in the filter is not known");
}

/// A forced kind of noise is told beside what a free choice comes to: epsilon, the factor, or the sum.
#[test]
fn forced_noise_is_compared_with_a_free_choice() {
    let asking = Budget { epsilon: None, delta: Delta::new(1e-6).unwrap() };
    let count = |error: f64| asked(Query::count(), AccuracyTarget::Error(error));
    let known = public(Adjacency::AddRemove, 5000);
    let free = planned(known, asking, vec![count(20.0)]);
    assert_eq!(free.free_choice, None, "nothing is prescribed");
    let forced = planned(known, asking, vec![only(Noise::Gaussian, count(20.0))]);
    let said = forced.free_choice.unwrap();
    assert!((said / free.cost.bracket.upper - 1.0).abs() < 1e-9, "{said}");
    assert!(forced.cost.bracket.upper > 1.5 * said, "one count is better off with Laplace noise");
    let fits = planned(known, budget(0.1, 1e-6), vec![only(Noise::Gaussian, count(20.0))]);
    let best = planned(known, budget(0.1, 1e-6), vec![count(20.0)]);
    assert!((fits.free_choice.unwrap() / best.factor.unwrap().upper - 1.0).abs() < 1e-9);
}

/// The weighted sum in the statistics' own units is theirs; statistics that say little are named.
#[test]
fn sums_are_told_in_units_and_coarse_statistics_are_named() {
    let scaled = |query: Query, weight: f64, scale: f64| {
        let mut statistic = asked(query, AccuracyTarget::Weight(weight));
        if let StatisticContent::Query(wanted) = &mut statistic.content {
            wanted.scale = scale;
        }
        statistic
    };
    for (goal, power) in [(Goal::Relative, 1), (Goal::Squared, 2)] {
        let statistics = vec![
            scaled(Query::mean(bounds(0.0, 100.0)), 2.0, 100.0),
            scaled(Query::count(), 3.0, 50.0),
        ];
        let of = public(Adjacency::AddRemove, 50);
        let study = Study::new(of, budget(0.2, 1e-6), goal, statistics).unwrap();
        let found = plan(&study, &Options::default()).unwrap();
        let error = |at: usize| found.statistics[at].answer.as_ref().unwrap().error;
        let (mean, count, sum) = (error(0), error(1), found.sum.unwrap());
        let near = |said: f64, truth: f64| assert!((said / truth - 1.0).abs() < 1e-12, "{said}");
        near(sum.in_units, 2.0 * mean.powi(power) + 3.0 * count.powi(power));
        near(sum.relative, 2.0 * (mean / 100.0).powi(power) + 3.0 * (count / 50.0).powi(power));
        for (line, part) in found.statistics.iter().zip([mean / 100.0, count / 50.0]) {
            let warning = (part >= 1.0 / 3.0).then_some(Warning::Coarse(part));
            assert_eq!(found.warning(line), warning, "{part}");
        }
        assert!(found.statistics.iter().any(|line| found.warning(line).is_some()));
    }
    let statistics =
        vec![scaled(Query::count(), 1e-9, 1e6), scaled(Query::sum(bounds(0.0, 1.0)), 1.0, 1e6)];
    let found = planned(public(Adjacency::AddRemove, 1_000_000), budget(1.0, 1e-6), statistics);
    let warnings: Vec<_> = found.statistics.iter().map(|line| found.warning(line)).collect();
    assert!(matches!(warnings[..], [Some(_), None]), "{warnings:?}");
}

/// Without a budget: the least epsilon that meets all errors, and no smaller one does.
#[test]
fn the_cost_of_wanted_errors() {
    let asking = Budget { epsilon: None, delta: Delta::new(1e-6).unwrap() };
    let statistics = || {
        vec![
            asked(Query::count(), AccuracyTarget::Error(40.0)),
            asked(Query::mean(bounds(0.0, 100.0)), AccuracyTarget::Error(1.0)),
        ]
    };
    let least = planned(public(Adjacency::Replace, 5000), asking, statistics());
    for line in &least.statistics {
        let runs = line.answer.as_ref().unwrap();
        assert!(runs.error <= runs.wanted.unwrap() && runs.error > 0.97 * runs.wanted.unwrap());
    }
    // With that budget the factor is one.
    let upper = least.cost.bracket.upper;
    let again = planned(public(Adjacency::Replace, 5000), budget(upper, 1e-6), statistics());
    let factor = again.factor.unwrap();
    assert!(factor.lower <= 1.0 && (factor.upper - 1.0).abs() < 1e-4, "{factor}");
}

#[test]
fn what_cannot_be_is_said() {
    let fails = |public: PublicFacts, budget: Budget, statistics: Vec<Statistic>| match Study::new(
        public,
        budget,
        Goal::Relative,
        statistics,
    ) {
        Ok(study) => plan(&study, &Options::default()).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    let known = public(Adjacency::Replace, 5000);
    let count = |target| vec![asked(Query::count(), target)];
    for (budget, statistics, said) in [
        (budget(1.0, 1e-6), vec![], "statistic has 0 entries"),
        (budget(1.0, 1e-6), count(AccuracyTarget::Error(f64::NAN)), "statistic 1: error is NaN"),
        (budget(1.0, 1e-6), count(AccuracyTarget::Error(0.0)), "statistic 1: error is 0"),
        (budget(0.0, 1e-6), count(AccuracyTarget::Error(5.0)), "epsilon is 0"),
        (budget(1e-7, 1e-12), count(AccuracyTarget::PinnedError(3.0)), "is too small"),
        (
            budget(1.0, 1e-6),
            count(AccuracyTarget::PinnedLevel(1e9)),
            "statistic 1: epsilon cannot be reached",
        ),
        (
            budget(1.0, 1e-6),
            vec![
                asked(Query::count(), AccuracyTarget::Error(5.0)),
                asked(Query::count(), AccuracyTarget::Weight(1.0)),
            ],
            "statistic 2: weight",
        ),
        (
            Budget { epsilon: None, ..budget(1.0, 1e-6) },
            count(AccuracyTarget::Weight(1.0)),
            "statistic 1: error is missing",
        ),
        (
            Budget { epsilon: None, ..budget(1.0, 1e-6) },
            vec![asked(Query::mean(bounds(0.0, 1.0)), AccuracyTarget::Error(1e-30))],
            "statistic 1: error cannot be reached",
        ),
    ] {
        let error = fails(known, budget, statistics);
        assert!(!error.contains(['\n', '\\']), "{error}");
        assert!(error.contains(said), "{error}, not {said}");
    }
    let secret = PublicFacts { sample_of: Some(10), ..known };
    assert!(
        fails(secret, budget(1.0, 1e-6), count(AccuracyTarget::Error(5.0)))
            .starts_with("sample_of is 10")
    );
    let added = PublicFacts { sample_of: Some(10_000), ..public(Adjacency::AddRemove, 5000) };
    assert!(
        fails(added, budget(1.0, 1e-6), count(AccuracyTarget::Error(5.0)))
            .starts_with("sample_of is given, and its effect")
    );
}
