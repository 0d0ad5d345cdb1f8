//! Small studies against brute force: every kind of noise, every sharing of the budget on a grid, and a composition
//! written here for the purpose.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use counterpoint::{Adjacency, Delta, Epsilon, Guarantee, Mechanism, Options, Relation, Release};
use counterpoint_mechanisms::{Bounds, Measurement, Query};
use counterpoint_planner::{
    AccuracyTarget, Budget, Goal, Noise, PublicFacts, QueryRequest, Statistic, StatisticContent,
    Study, StudyPlan, SumBound, plan,
};
use counterpoint_testing::{Random, tries};

/// A pair of laws with finitely many outcomes: the chances of each. Outcomes of neighbouring losses are taken
/// together, which costs a little of the second order.
type Pair = Vec<(f64, f64)>;

/// Outcomes of a pair whose laws are known by their tails, cut at so many places.
fn cut(places: &[f64], p_above: impl Fn(f64) -> f64, q_above: impl Fn(f64) -> f64) -> Pair {
    let tails: Vec<(f64, f64)> = places.iter().map(|&x| (p_above(x), q_above(x))).collect();
    let mut pair = vec![(1.0 - tails[0].0, 1.0 - tails[0].1)];
    pair.extend(tails.windows(2).map(|two| (two[0].0 - two[1].0, two[0].1 - two[1].1)));
    pair.push(tails[tails.len() - 1]);
    pair
}

/// What a release shows, in about so many outcomes.
fn pair(release: &Release, outcomes: usize) -> Pair {
    let between = |low: f64, high: f64| -> Vec<f64> {
        (0..=outcomes).map(|i| low + (high - low) * i as f64 / outcomes as f64).collect()
    };
    // P is at zero; its neighbour is at one sensitivity. All is in units of the scale.
    let laplace = |e: f64| {
        let above = |x: f64| if x > 0.0 { 0.5 * (-x).exp() } else { 1.0 - 0.5 * x.exp() };
        cut(&between(0.0, e), above, move |x| above(x - e))
    };
    let count = release.count.get();
    match &release.mechanism {
        Mechanism::Laplace { scale, sensitivity } => {
            repeated(laplace(sensitivity.get() / scale.get()), count)
        }
        Mechanism::Geometric { scale, sensitivity } => {
            let (scale, moved) = (scale.get(), sensitivity.get() as i64);
            if moved as usize > outcomes {
                return repeated(laplace(moved as f64 / scale), count);
            }
            // Beyond the two centres the ratio is constant.
            let decay = (-1.0 / scale).exp();
            let mass = (1.0 - decay) / (1.0 + decay);
            let end = 1.0 / (1.0 + decay);
            let far = (-(moved as f64) / scale).exp();
            let mut pair = vec![(end, end * far)];
            for x in 1..moved {
                let at = |x: i64| mass * (-(x as f64) / scale).exp();
                pair.push((at(x), at(moved - x)));
            }
            pair.push((end * far, end));
            repeated(pair, count)
        }
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            let (sigma, moved) = (sigma.get(), sensitivity.get() as i64);
            if 20.0 * sigma > outcomes as f64 {
                return gaussian((count as f64).sqrt() * moved as f64 / sigma, outcomes);
            }
            // Of several the sum is enough.
            let far = (12.0 * sigma).ceil() as i64;
            let one: Vec<f64> =
                (-far..=far).map(|x| (-0.5 * (x as f64 / sigma).powi(2)).exp()).collect();
            let sum = (1..count).fold(one.clone(), |sum, _| convolved(&sum, &one));
            let total: f64 = sum.iter().sum();
            let shift = moved as usize * count as usize;
            let at = |x: Option<usize>| x.and_then(|x| sum.get(x)).map_or(0.0, |mass| mass / total);
            (0..sum.len() + shift).map(|x| (at(Some(x)), at(x.checked_sub(shift)))).collect()
        }
        Mechanism::Gaussian { sigma, sensitivity } => {
            gaussian((count as f64).sqrt() * sensitivity.get() / sigma.get(), outcomes)
        }
        other => panic!("{other:?} has no pair here"),
    }
}

fn convolved(one: &[f64], other: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; one.len() + other.len() - 1];
    for (i, a) in one.iter().enumerate() {
        for (j, b) in other.iter().enumerate() {
            sum[i + j] += a * b;
        }
    }
    sum
}

fn repeated(pair: Pair, count: u64) -> Pair {
    (1..count).fold(pair.clone(), |all, _| product(&all, &pair))
}

/// Two normal laws that are mu apart.
fn gaussian(mu: f64, outcomes: usize) -> Pair {
    let far = 8.5;
    let places: Vec<f64> =
        (0..=outcomes).map(|i| -far + (2.0 * far + mu) * i as f64 / outcomes as f64).collect();
    // Chances of cells as density times width at Gauss' two nodes: no tails, which would cancel.
    let root = (2.0 * std::f64::consts::PI).sqrt();
    let cell = |a: f64, b: f64, mu: f64| {
        let (middle, half) = (0.5 * (a + b), 0.5 * (b - a) / 3.0_f64.sqrt());
        let density = |x: f64| (-0.5 * (x - mu).powi(2)).exp() / root;
        0.5 * (b - a) * (density(middle - half) + density(middle + half))
    };
    places.windows(2).map(|two| (cell(two[0], two[1], 0.0), cell(two[0], two[1], mu))).collect()
}

fn product(one: &Pair, other: &Pair) -> Pair {
    one.iter().flat_map(|a| other.iter().map(move |b| (a.0 * b.0, a.1 * b.1))).collect()
}

/// The sum of (p - e^epsilon q)_+ over all outcomes of two pairs.
fn delta(one: &Pair, other: &Pair, epsilon: f64) -> f64 {
    let mut other = other.clone();
    let ratio = |(p, q): &(f64, f64)| if *q > 0.0 { p / q } else { f64::INFINITY };
    other.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    let mut sums = vec![(0.0, 0.0)];
    for (p, q) in &other {
        let last = sums[sums.len() - 1];
        sums.push((last.0 + p, last.1 + q));
    }
    let grown = epsilon.exp();
    let of = |(p, q): &(f64, f64)| {
        let above = other.partition_point(|b| p * b.0 > grown * q * b.1);
        p * sums[above].0 - grown * q * sums[above].1
    };
    one.iter().map(of).sum()
}

/// Whether releases keep to an epsilon at a delta, in the worse of both directions.
fn keeps(releases: &[Release], held: f64, epsilon: f64, allowed: f64) -> bool {
    let outcomes = if releases.len() > 2 { 150 } else { 400 };
    let mut pairs: Vec<Pair> = releases.iter().map(|release| pair(release, outcomes)).collect();
    let top = 1.0 / (1.0 + (-held).exp());
    pairs.push(vec![(top, 1.0 - top), (1.0 - top, top)]);
    // The largest stays as it is, by falling ratio; the others are multiplied.
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.len()));
    let others = pairs.split_off(1).into_iter().reduce(|one, other| product(&one, &other)).unwrap();
    delta(&others, &pairs[0], epsilon) <= allowed
}

const ROWS: u64 = 2000;

fn relation() -> Relation {
    Relation::single_record(Adjacency::Replace)
}

fn made(query: &Query, gaussian: bool, level: f64) -> Measurement {
    let recipe = if gaussian {
        query.gaussian((1.0 / level).clamp(0.03, 900.0))
    } else {
        query.laplace(level.clamp(1e-4, 100.0))
    };
    recipe.unwrap().under(relation()).unwrap()
}

fn error(of: &Measurement) -> f64 {
    of.half_width_all(ROWS, 0.95).unwrap()
}

/// A random question, and about how large its error is with noise of level one.
fn query(random: &mut Random) -> (Query, f64) {
    let high = random.log_uniform(1.0, 1000.0);
    match random.below(4) {
        0 => (Query::sum(Bounds::new(0.0, high).unwrap()), high),
        1 => (Query::mean(Bounds::new(0.0, high).unwrap()), high / ROWS as f64),
        2 => (Query::count_within(Bounds::new(0.0, 0.5).unwrap()), 1.0),
        _ => (Query::histogram(&[0.0, 1.0, 2.0, 3.0]).unwrap(), 3.0),
    }
}

fn planned(budget: (f64, f64), held: f64, asked: &[(Query, AccuracyTarget)]) -> StudyPlan {
    planned_of(budget, held, asked, &[])
}

/// The same with given kinds of noise: whether it is Gaussian.
fn planned_of(
    budget: (f64, f64),
    held: f64,
    asked: &[(Query, AccuracyTarget)],
    gaussian: &[bool],
) -> StudyPlan {
    let statistic = |(index, (query, target)): (usize, &(Query, AccuracyTarget))| {
        let kind = |gaussian: &bool| if *gaussian { Noise::Gaussian } else { Noise::Laplace };
        let (query, noise) = (query.clone(), gaussian.get(index).map(kind));
        let wanted = QueryRequest {
            query,
            noise,
            confidence: 0.95,
            target: *target,
            scale: 1.0,
            population: None,
        };
        Statistic { name: String::new(), content: StatisticContent::Query(wanted) }
    };
    let mut statistics: Vec<Statistic> = asked.iter().enumerate().map(statistic).collect();
    if held > 0.0 {
        let content = StatisticContent::HeldBack(Guarantee::new(held, 0.0).unwrap());
        statistics.push(Statistic { name: "later".into(), content });
    }
    let public = PublicFacts { relation: relation(), rows: Some(ROWS), sample_of: None };
    let (epsilon, delta) = (Epsilon::new(budget.0).unwrap(), Delta::new(budget.1).unwrap());
    let study =
        Study::new(public, Budget { epsilon: Some(epsilon), delta }, Goal::Relative, statistics);
    let study = study.unwrap();
    let mut planned = plan(&study, &Options::default()).unwrap();
    planned.sum_bound =
        counterpoint_planner::bound_sum(&study, &planned, &Options::default()).unwrap();
    planned
}

/// The least level that keeps to an error.
fn level(query: &Query, gaussian: bool, wanted: f64) -> f64 {
    let (mut low, mut high) = (1.2e-3_f64, 30.0_f64);
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        if error(&made(query, gaussian, middle)) <= wanted { high = middle } else { low = middle }
    }
    high
}

fn kinds(count: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1_u32 << count).map(move |bits| (0..count).map(|i| bits >> i & 1 == 1).collect())
}

/// The least factor over all kinds of noise is in the bracket; and what was planned keeps the budget.
#[test]
fn best_fits_are_those_of_brute_force() {
    let mut random = Random::new(31);
    for round in 0..tries(500, 0.012) {
        let count = if random.once_in(4) { 3 } else { random.between(1, 2) } as usize;
        let budget = (random.log_uniform(0.2, 2.0), random.of(&[1e-5, 1e-6, 1e-8]));
        let held = if random.once_in(3) { 0.2 * budget.0 } else { 0.0 };
        let asked: Vec<(Query, f64)> = (0..count)
            .map(|_| {
                let (query, size) = query(&mut random);
                (query, size * random.log_uniform(2.0, 60.0))
            })
            .collect();
        let wishes: Vec<(Query, AccuracyTarget)> = asked
            .iter()
            .map(|(query, error)| (query.clone(), AccuracyTarget::Error(*error)))
            .collect();
        let found = planned(budget, held, &wishes);
        let releases: Vec<Release> = found
            .statistics
            .iter()
            .filter(|line| line.answer.is_some())
            .flat_map(|line| line.releases.clone())
            .collect();
        assert!(keeps(&releases, held, budget.0 * 1.0003, budget.1), "{round}: over the budget");
        let mut least = f64::INFINITY;
        for kinds in kinds(count) {
            let within = |factor: f64| {
                let release = |((query, error), gaussian): (&(Query, f64), &bool)| {
                    made(query, *gaussian, level(query, *gaussian, error * factor))
                        .releases()
                        .to_vec()
                };
                let releases: Vec<Release> = asked.iter().zip(&kinds).flat_map(release).collect();
                keeps(&releases, held, budget.0, budget.1)
            };
            // Only what is better than the best so far is looked into.
            let (mut low, mut high) = (1e-3_f64, least.min(1e3));
            if !within(high * 0.9999) {
                continue;
            }
            while high > low * 1.0001 {
                let middle = (low * high).sqrt();
                if within(middle) { high = middle } else { low = middle }
            }
            least = high;
        }
        let factor = found.factor.unwrap();
        assert!(factor.lower <= least * 1.0005, "{round}: {factor}, by hand {least}: {asked:?}");
        assert!(factor.upper <= least * 1.0005, "{round}: {factor}, by hand {least}: {asked:?}");
        assert!(factor.upper >= least * 0.9995, "{round}: {factor}, by hand {least}: {asked:?}");
    }
}

/// No sharing of the budget on a grid, refined around its best place, has a sum that is smaller by a thousandth part.
#[test]
fn best_sums_are_those_of_brute_force() {
    let mut random = Random::new(32);
    let mut widths: Vec<(Vec<bool>, f64)> = Vec::new();
    for round in 0..tries(500, 0.006) {
        let budget = (random.log_uniform(0.2, 2.0), random.of(&[1e-5, 1e-6, 1e-8]));
        let held = if random.once_in(3) { 0.2 * budget.0 } else { 0.0 };
        let asked: Vec<(Query, f64)> = (0..2)
            .map(|_| {
                let (query, size) = query(&mut random);
                (query, random.log_uniform(0.3, 3.0) / size)
            })
            .collect();
        let wishes: Vec<(Query, AccuracyTarget)> = asked
            .iter()
            .map(|(query, weight)| (query.clone(), AccuracyTarget::Weight(*weight)))
            .collect();
        let plan = planned(budget, held, &wishes);
        let found = plan.sum.unwrap().relative;
        let run: Vec<&Measurement> = plan
            .statistics
            .iter()
            .filter_map(|line| Some(&line.answer.as_ref()?.measurement))
            .collect();
        let releases: Vec<Release> = run.iter().flat_map(|made| made.releases().to_vec()).collect();
        assert!(keeps(&releases, held, budget.0 * 1.0003, budget.1), "{round}: over the budget");
        let sum: f64 = run.iter().zip(&asked).map(|(made, (_, weight))| weight * error(made)).sum();
        assert!((sum / found - 1.0).abs() < 1e-9, "{round}: {sum} is called {found}");
        let mut least = f64::INFINITY;
        for kinds in kinds(2) {
            // The ratio of the levels is given; the largest that keeps the budget is found by halving.
            let sum = |ratio: f64| {
                let at = |level: f64| {
                    [level, level * ratio.exp()]
                        .into_iter()
                        .zip(&asked)
                        .zip(&kinds)
                        .map(|((level, (query, _)), gaussian)| made(query, *gaussian, level))
                };
                let (mut low, mut high) = (2e-3_f64, 20.0_f64);
                while high > low * 1.0002 {
                    let level = (low * high).sqrt();
                    let releases: Vec<Release> =
                        at(level).flat_map(|made| made.releases().to_vec()).collect();
                    if keeps(&releases, held, budget.0, budget.1) {
                        low = level
                    } else {
                        high = level
                    }
                }
                at(low).zip(&asked).map(|(made, (_, weight))| weight * error(&made)).sum::<f64>()
            };
            let mut best = (0.0, f64::INFINITY);
            for (from, step) in [(6, 0.5), (2, 0.15), (3, 0.03)] {
                let middle: f64 = best.0;
                for i in -from..=from {
                    let ratio = middle + step * f64::from(i);
                    let value = sum(ratio);
                    if value < best.1 {
                        best = (ratio, value);
                    }
                }
            }
            least = least.min(best.1);
            // No less is proved of these kinds alone than they have by hand.
            let alone = planned_of(budget, held, &wishes, &kinds);
            let Some(SumBound::Proved { sum: proved, any_noise: true }) = alone.sum_bound else {
                panic!("{round}: {kinds:?} {:?}", alone.sum_bound)
            };
            let (by_hand, found) = (best.1, alone.sum.unwrap().relative);
            // By hand outcomes are taken together, which shows a little less than there is.
            assert!(
                proved <= by_hand * 1.0003,
                "{round}: {kinds:?} {proved} at least, by hand {by_hand}: {asked:?}"
            );
            assert!(proved <= found, "{round}: {kinds:?} {proved} at least, {found}: {asked:?}");
            widths.push((kinds, 1.0 - proved / found));
        }
        assert!(found <= least * 1.001, "{round}: {found}, by hand {least}: {asked:?}");
        let Some(SumBound::Proved { sum: proved, any_noise: true }) = plan.sum_bound else {
            panic!("{round}: {:?}", plan.sum_bound)
        };
        assert!(proved <= least * 1.0003, "{round}: {proved} at least, by hand {least}: {asked:?}");
        assert!(proved <= found, "{round}: {proved} at least, {found}: {asked:?}");
    }
    widths.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    for same in widths.chunk_by(|one, other| one.0 == other.0) {
        let (median, most) = (same[same.len() / 2].1, same[same.len() - 1].1);
        let (many, gaussian) = (same.len(), &same[0].0);
        println!("{many}, Gaussian {gaussian:?}: median {median:.5}, most {most:.5}");
    }
}
