//! Every number of a plan against its closed form, by the theorems themselves: each assertion fails if the number is one
//! per cent on the unsound side.
#![allow(clippy::unwrap_used, clippy::panic)]

use counterpoint::{Adjacency, Delta, Epsilon, Guarantee, Mechanism, Options, Relation, Release};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::{
    AccuracyTarget, Budget, Goal, Noise, PublicFacts, QueryRequest, Statistic, StatisticContent,
    Study, StudyPlan, plan,
};

/// What the grid of noise may add to a closed form for continuous noise, and a search may leave; far below one per cent.
const NEAR: f64 = 1e-3;

/// At 95 %: deviations of Gaussian noise, scales of Laplace noise.
const NORMAL: f64 = 1.959_963_984_540_054;
const LAPLACE: f64 = 2.995_732_273_553_991;

fn tail(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

/// The number where a rising function reaches a value.
fn reached(value: f64, (mut low, mut high): (f64, f64), rising: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if rising(middle) < value { low = middle } else { high = middle }
    }
    high
}

/// delta(epsilon) of Gaussian noise moved by so many deviations (Balle and Wang 2018, Theorem 8).
fn balle_wang(mu: f64, epsilon: f64) -> f64 {
    tail(epsilon / mu - 0.5 * mu) - epsilon.exp() * tail(epsilon / mu + 0.5 * mu)
}

fn gaussian_epsilon(mu: f64, delta: f64) -> f64 {
    reached(-delta, (0.0, 40.0), |epsilon| -balle_wang(mu, epsilon))
}

fn gaussian_mu(epsilon: f64, delta: f64) -> f64 {
    reached(delta, (1e-3, 30.0), |mu| balle_wang(mu, epsilon))
}

/// Of one Laplace mechanism delta(e) = 1 - exp((e - e0)/2).
fn laplace_epsilon(pure: f64, delta: f64) -> f64 {
    (pure + 2.0 * (-delta).ln_1p()).max(0.0)
}

/// Of geometric noise on a number that moves by one delta(e) = (e^e0 - e^e)/(1 + e^e0).
fn geometric_epsilon(pure: f64, delta: f64) -> f64 {
    (pure.exp() - delta * (1.0 + pure.exp())).ln().max(0.0)
}

/// Secrecy of a sample of a share of the population (Balle, Barthe and Gaboardi 2018, Theorem 9).
fn outside(share: f64, within: f64) -> f64 {
    (share * within.exp_m1()).ln_1p()
}

fn within(share: f64, outside: f64) -> f64 {
    (outside.exp_m1() / share).ln_1p()
}

fn wanted(noise: Noise, query: Query, target: AccuracyTarget) -> QueryRequest {
    QueryRequest {
        query,
        noise: Some(noise),
        confidence: 0.95,
        target,
        scale: 1.0,
        population: None,
    }
}

/// A sum of numbers from 0 to `most`, which one more person moves by that.
fn sum(noise: Noise, most: f64, target: AccuracyTarget) -> Statistic {
    let query = Query::sum(Bounds::new(0.0, most).unwrap());
    Statistic {
        name: String::new(),
        content: StatisticContent::Query(wanted(noise, query, target)),
    }
}

fn planned(
    (public, goal): (PublicFacts, Goal),
    (epsilon, delta): (Option<f64>, f64),
    statistics: Vec<Statistic>,
) -> StudyPlan {
    let epsilon = epsilon.map(|epsilon| Epsilon::new(epsilon).unwrap());
    let budget = Budget { epsilon, delta: Delta::new(delta).unwrap() };
    plan(&Study::new(public, budget, goal, statistics).unwrap(), &Options::default()).unwrap()
}

const ADDED: PublicFacts = PublicFacts {
    relation: Relation::single_record(Adjacency::AddRemove),
    rows: Some(1000),
    sample_of: None,
};

fn shared(budget: (Option<f64>, f64), statistics: Vec<Statistic>) -> StudyPlan {
    planned((ADDED, Goal::Relative), budget, statistics)
}

/// How many deviations a release is moved by.
fn mu(release: &Release) -> f64 {
    match &release.mechanism {
        Mechanism::Gaussian { sigma, sensitivity } => sensitivity.get() / sigma.get(),
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            sensitivity.get() as f64 / sigma.get()
        }
        other => panic!("{other:?}"),
    }
}

/// The epsilon of a pure release.
fn pure(release: &Release) -> f64 {
    match &release.mechanism {
        Mechanism::Laplace { scale, sensitivity } => sensitivity.get() / scale.get(),
        Mechanism::Geometric { scale, sensitivity } => sensitivity.get() as f64 / scale.get(),
        Mechanism::ApproxDp(guarantee) => guarantee.epsilon.get(),
        other => panic!("{other:?}"),
    }
}

fn norm(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// That a bracket holds a number.
#[track_caller]
fn holds(found: counterpoint::Bracket, truth: f64, near: f64) {
    assert!(found.lower <= truth * (1.0 + near), "{found} is above {truth}");
    assert!(found.upper >= truth * (1.0 - near), "{found} is below {truth}");
}

/// The same, and that each of its ends one per cent further in would not.
#[track_caller]
fn brackets(found: counterpoint::Bracket, truth: f64, near: f64) {
    holds(found, truth, near);
    assert!(found.lower * 1.01 > truth * (1.0 + near), "{found} would not be seen: {truth}");
    assert!(found.upper * 0.99 < truth * (1.0 - near), "{found} would not be seen: {truth}");
}

/// The same of a number of which the upper end is reported.
#[track_caller]
fn is_above(found: f64, truth: f64, near: f64) {
    brackets(counterpoint::Bracket { lower: truth, upper: found }, truth, near);
}

/// The cost of Gaussian noise from the releases' own deviations, with a budget and without.
#[test]
fn the_cost_of_gaussians() {
    for (delta, epsilon) in [(1e-6, 0.3), (1e-6, 2.0), (1e-3, 1.0), (1e-12, 8.0)] {
        for budget in [Some(epsilon), None] {
            let target = |error: f64| if budget.is_none() { error / epsilon } else { error };
            let most = [1.0, 7.0, 100.0];
            let statistics: Vec<Statistic> = most
                .map(|most| sum(Noise::Gaussian, most, AccuracyTarget::Error(target(20.0 * most))))
                .to_vec();
            let planned = shared((budget, delta), statistics);
            let truth = gaussian_epsilon(norm(planned.releases().map(mu)), delta);
            match budget {
                Some(_) => brackets(planned.cost.bracket, truth, NEAR),
                // The lower end is of a little more noise, which might have kept to the errors.
                None => {
                    holds(planned.cost.bracket, truth, NEAR);
                    is_above(planned.cost.bracket.upper, truth, 1e-6);
                }
            }
            for line in &planned.statistics {
                let alone = gaussian_epsilon(mu(&line.releases[0]), delta);
                is_above(line.epsilon, alone, 1e-6);
            }
        }
    }
}

/// One Laplace mechanism at deltas at which that matters; and pure epsilons at delta zero, which add up.
#[test]
fn the_cost_of_laplace_noise() {
    for (delta, epsilon) in [(0.1, 0.5), (0.03, 1.0), (1e-9, 2.0)] {
        for (budget, error) in [(Some(epsilon), 30.0), (None, LAPLACE * 3.0 / epsilon)] {
            let statistics = vec![sum(Noise::Laplace, 3.0, AccuracyTarget::Error(error))];
            let planned = shared((budget, delta), statistics);
            let truth = laplace_epsilon(pure(planned.releases().next().unwrap()), delta);
            brackets(planned.cost.bracket, truth, 1e-5);
            is_above(planned.statistics[0].epsilon, truth, 1e-6);
            if budget.is_none() {
                is_above(truth, laplace_epsilon(epsilon, delta), NEAR);
            }
        }
    }
    let held = StatisticContent::HeldBack(Guarantee::new(0.2, 0.0).unwrap());
    let statistics = vec![
        sum(Noise::Laplace, 3.0, AccuracyTarget::Error(30.0)),
        sum(Noise::Laplace, 1.0, AccuracyTarget::Error(90.0)),
        Statistic { name: String::new(), content: held },
    ];
    let planned = shared((Some(1.0), 0.0), statistics);
    brackets(planned.cost.bracket, planned.releases().map(pure).sum(), 1e-6);
    for line in &planned.statistics {
        is_above(line.epsilon, pure(&line.releases[0]), 1e-6);
    }
}

/// A count with geometric noise, which is randomized response.
#[test]
fn the_cost_of_a_count() {
    for (delta, level) in [(0.1, 1.5), (0.01, 0.7), (1e-6, 3.0)] {
        let count = wanted(Noise::Laplace, Query::count(), AccuracyTarget::PinnedLevel(level));
        let statistic = Statistic { name: String::new(), content: StatisticContent::Query(count) };
        let planned = shared((None, delta), vec![statistic]);
        let truth = geometric_epsilon(pure(planned.releases().next().unwrap()), delta);
        brackets(planned.cost.bracket, truth, 1e-6);
        is_above(planned.statistics[0].epsilon, truth, 1e-6);
        // What runs is what was pinned.
        is_above(truth, geometric_epsilon(level, delta), 1e-6);
    }
}

/// Half-widths of what runs by the laws' own quantiles.
#[test]
fn errors_of_sums() {
    let most = [1.0, 7.0, 100.0];
    for (noise, deviations) in [(Noise::Gaussian, NORMAL), (Noise::Laplace, LAPLACE)] {
        let statistics = most.map(|most| sum(noise, most, AccuracyTarget::Error(50.0))).to_vec();
        let planned = shared((Some(1.0), 1e-6), statistics);
        for (line, most) in planned.statistics.iter().zip(most) {
            let release = &line.releases[0];
            let noisy = if noise == Noise::Gaussian { mu(release) } else { pure(release) };
            is_above(line.answer.as_ref().unwrap().error, deviations * most / noisy, NEAR);
        }
    }
}

/// With Gaussian noise squares of deviations are shared out: what is pinned, and what is left.
#[test]
fn factors_of_gaussians() {
    for (epsilon, delta) in [(0.3, 1e-6), (2.0, 1e-9)] {
        let (most, errors) = ([1.0, 7.0, 100.0], [10.0, 200.0, 700.0]);
        for pinned in [None, Some(0.3)] {
            let all = gaussian_mu(epsilon, delta);
            // So many deviations are pinned.
            let pin = pinned.map(|share| share * all);
            let mut statistics: Vec<Statistic> = most
                .iter()
                .zip(errors)
                .map(|(most, error)| sum(Noise::Gaussian, *most, AccuracyTarget::Error(error)))
                .collect();
            statistics.extend(pin.map(|pin| {
                sum(Noise::Gaussian, 5.0, AccuracyTarget::PinnedError(NORMAL * 5.0 / pin))
            }));
            let planned = shared((Some(epsilon), delta), statistics);
            let left = (all * all - pin.map_or(0.0, |pin| pin * pin)).sqrt();
            let wanted = norm(most.iter().zip(errors).map(|(most, error)| NORMAL * most / error));
            let (factor, truth) = (planned.factor.unwrap(), wanted / left);
            // What is pinned leaves the proof from below less room.
            if pin.is_none() {
                brackets(factor, truth, NEAR)
            } else {
                holds(factor, truth, NEAR)
            }
            is_above(factor.upper, truth, NEAR);
            // No error is beyond the factor.
            for (line, error) in planned.statistics.iter().zip(errors) {
                let factor = line.answer.as_ref().unwrap().error / error;
                assert!(factor <= planned.factor.unwrap().upper * (1.0 + 1e-9), "{factor}");
            }
        }
    }
}

/// Pure epsilons are shared out as they are; of one mechanism the delta is used by its formula.
#[test]
fn factors_of_laplace_noise() {
    let (most, errors) = ([1.0, 7.0, 100.0], [10.0, 200.0, 700.0]);
    let statistics: Vec<Statistic> = most
        .iter()
        .zip(errors)
        .map(|(most, error)| sum(Noise::Laplace, *most, AccuracyTarget::Error(error)))
        .collect();
    for epsilon in [0.1, 1.0, 5.0] {
        let planned = shared((Some(epsilon), 0.0), statistics.clone());
        let wanted: f64 = most.iter().zip(errors).map(|(most, error)| LAPLACE * most / error).sum();
        brackets(planned.factor.unwrap(), wanted / epsilon, NEAR);
        for delta in [0.1, 1e-6] {
            let planned = shared((Some(epsilon), delta), statistics[..1].to_vec());
            let pure = epsilon - 2.0 * (-delta).ln_1p();
            brackets(planned.factor.unwrap(), LAPLACE / 10.0 / pure, NEAR);
        }
    }
}

/// A secret sample, by the theorem's formula, with closed forms for what is sampled.
#[test]
fn secret_samples() {
    let (rows, delta) = (2_000_u64, 1e-7);
    for (population, epsilon) in [(4_000_u64, 0.5), (100_000, 0.2), (10_000_000, 1.0)] {
        let share = rows as f64 / population as f64;
        let relation = Relation::single_record(Adjacency::Replace);
        let public = PublicFacts { relation, rows: Some(rows), sample_of: Some(population) };
        let goal = (public, Goal::Relative);
        let inner = (within(share, epsilon), delta / share);
        // Replaced, a number moves its sum by as much as added.
        let most = [1.0, 7.0];
        let gaussians = most
            .map(|most| sum(Noise::Gaussian, most, AccuracyTarget::Error(40.0 * most)))
            .to_vec();
        let planned = self::planned(goal, (Some(epsilon), delta), gaussians);
        assert!(planned.delta_within.get() <= delta / share * (1.0 + 1e-14));
        assert!(planned.delta_within.get() > delta / share * (1.0 - 1e-9));
        let together = gaussian_epsilon(norm(planned.releases().map(mu)), inner.1);
        brackets(planned.cost.bracket, outside(share, together), NEAR);
        for line in &planned.statistics {
            let alone = gaussian_epsilon(mu(&line.releases[0]), inner.1);
            is_above(line.epsilon, outside(share, alone), 1e-6);
        }
        let wanted = NORMAL / 40.0 * 2.0_f64.sqrt();
        brackets(planned.factor.unwrap(), wanted / gaussian_mu(inner.0, inner.1), NEAR);
        let laplace = vec![sum(Noise::Laplace, 3.0, AccuracyTarget::Error(30.0))];
        let planned = self::planned(goal, (Some(epsilon), delta), laplace);
        let alone = laplace_epsilon(pure(planned.releases().next().unwrap()), inner.1);
        brackets(planned.cost.bracket, outside(share, alone), 1e-6);
        let pure = inner.0 - 2.0 * (-inner.1).ln_1p();
        brackets(planned.factor.unwrap(), LAPLACE / 10.0 / pure, NEAR);
    }
}

/// Weighted sums of errors: by the errors' own closed forms, and no less than Lagrange's conditions allow. With c the
/// weighted half-width at one deviation, or at an epsilon of one, sums of c/x are least with x^2 as c^(2/3) where
/// squares are shared out, and with x as c^(1/2) where x is; sums of c/x^2 with x^2 as c^(1/2).
#[test]
fn weighted_sums() {
    let (most, weights) = ([1.0, 7.0, 100.0], [3.0, 0.5, 0.2]);
    let statistics = |noise: Noise| -> Vec<Statistic> {
        let each = most.iter().zip(weights);
        each.map(|(most, weight)| sum(noise, *most, AccuracyTarget::Weight(weight))).collect()
    };
    let (epsilon, delta) = (0.8, 1e-6);
    let mu_all = gaussian_mu(epsilon, delta);
    for (noise, goal, delta) in [
        (Noise::Gaussian, Goal::Relative, delta),
        (Noise::Gaussian, Goal::Squared, delta),
        (Noise::Laplace, Goal::Relative, 0.0),
    ] {
        let planned = planned((ADDED, goal), (Some(epsilon), delta), statistics(noise));
        let power = if goal == Goal::Squared { 2 } else { 1 };
        let deviations = if noise == Noise::Gaussian { NORMAL } else { LAPLACE };
        let once: Vec<f64> = most
            .iter()
            .zip(weights)
            .map(|(most, weight)| weight * (deviations * most).powi(power))
            .collect();
        let sizes = planned.releases().map(if noise == Noise::Gaussian { mu } else { pure });
        let own: f64 = once.iter().zip(sizes).map(|(once, size)| once / size.powi(power)).sum();
        let powers = |power: f64| once.iter().map(|once| once.powf(power)).sum::<f64>();
        let least = match (noise, goal) {
            (Noise::Laplace, _) => powers(0.5).powi(2) / epsilon,
            (_, Goal::Squared) => (powers(0.5) / mu_all).powi(2),
            (_, Goal::Relative) => powers(2.0 / 3.0).powf(1.5) / mu_all,
        };
        let found = planned.sum.unwrap().relative;
        is_above(found, own, 2.0 * NEAR);
        is_above(found, least, 2.0 * NEAR);
    }
}
