//! What is proved of the smallest sum, where that is known in closed form.
#![allow(clippy::unwrap_used, clippy::panic)]

use counterpoint::{Adjacency, Delta, Epsilon, Guarantee, Options, Relation};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::{
    AccuracyTarget, Budget, Goal, Noise, PublicFacts, QueryRequest, Statistic, StatisticContent,
    Study, SumBound, bound_sum, plan,
};

const ROWS: u64 = 2000;
const HIGH: f64 = 7.3;

type Asked = (Query, Option<Noise>, AccuracyTarget);

fn study(budget: (f64, f64), goal: Goal, sample_of: Option<u64>, asked: &[Asked]) -> Study {
    let statistic = |(query, noise, target): &Asked| {
        let (query, noise, target) = (query.clone(), *noise, *target);
        let wanted =
            QueryRequest { query, noise, confidence: 0.95, target, scale: 1.0, population: None };
        Statistic { name: String::new(), content: StatisticContent::Query(wanted) }
    };
    let statistics = asked.iter().map(statistic).collect();
    made(budget, goal, sample_of, statistics)
}

fn made(
    (epsilon, delta): (f64, f64),
    goal: Goal,
    sample_of: Option<u64>,
    statistics: Vec<Statistic>,
) -> Study {
    let relation = Relation::single_record(Adjacency::Replace);
    let public = PublicFacts { relation, rows: Some(ROWS), sample_of };
    let epsilon = Some(Epsilon::new(epsilon).unwrap());
    let budget = Budget { epsilon, delta: Delta::new(delta).unwrap() };
    Study::new(public, budget, goal, statistics).unwrap()
}

/// The plan's sum, and what is proved of it.
fn bounded(study: &Study) -> (f64, SumBound) {
    let planned = plan(study, &Options::default()).unwrap();
    let least = bound_sum(study, &planned, &Options::default()).unwrap().unwrap();
    (planned.sum.unwrap().relative, least)
}

/// The bound is below the smallest sum, and next to it; the plan is above.
fn is_next_to(study: &Study, smallest: f64, near: f64) {
    let (found, least) = bounded(study);
    let SumBound::Proved { sum, any_noise } = least else { panic!("{least:?}") };
    assert!(any_noise);
    // Half-widths are in steps, and errors rounded to them.
    assert!(found > smallest * (1.0 - 1e-4), "{found}, in closed form {smallest}");
    assert!(sum < smallest * (1.0 + 1e-5), "{sum} at least, in closed form {smallest}");
    assert!(sum > smallest * (1.0 - near), "{sum} at least, in closed form {smallest}");
}

fn summed(noise: Noise, weights: &[f64]) -> Vec<Asked> {
    let query = Query::sum(Bounds::new(0.0, HIGH).unwrap());
    weights
        .iter()
        .map(|weight| (query.clone(), Some(noise), AccuracyTarget::Weight(*weight)))
        .collect()
}

/// P(|Z| > 1.959964) is 0.05.
const NORMAL: f64 = 1.959_963_984_540_054;

/// The mu of two normal laws that keep to (epsilon, delta): the normal tails of Balle and Wang 2018, Theorem 8.
fn mu(epsilon: f64, delta: f64) -> f64 {
    let below = |x: f64| 0.5 * libm::erfc(-x / 2.0_f64.sqrt());
    let at =
        |mu: f64| below(0.5 * mu - epsilon / mu) - epsilon.exp() * below(-0.5 * mu - epsilon / mu);
    let (mut low, mut high) = (1e-3, 20.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if at(middle) < delta { low = middle } else { high = middle }
    }
    low
}

/// The least sum of w/x for squares of x that add up to mu^2.
fn by_squares(weights: &[f64], mu: f64) -> f64 {
    weights.iter().map(|weight| weight.powf(2.0 / 3.0)).sum::<f64>().powf(1.5) / mu
}

const WEIGHTS: [&[f64]; 5] =
    [&[1.0], &[1.0; 20], &[1.0, 3.0], &[0.2, 1.0, 5.0], &[1.0, 1.0, 0.3, 2.0, 7.0]];

/// Of Gaussian noise only the sum of squared levels counts: Lagrange's multipliers by hand.
#[test]
fn bounds_for_gaussian_noise_are_next_to_the_closed_form() {
    for weights in WEIGHTS {
        for (epsilon, delta) in [(0.3, 1e-6), (1.0, 1e-8), (4.0, 1e-5)] {
            let (mu, error) = (mu(epsilon, delta), NORMAL * HIGH);
            let asked = summed(Noise::Gaussian, weights);
            let relative = study((epsilon, delta), Goal::Relative, None, &asked);
            is_next_to(&relative, by_squares(weights, mu) * error, 1e-3);
            // The least sum of w/x^2 is the square of that of roots of w, over mu^2.
            let roots: f64 = weights.iter().map(|weight| weight.sqrt()).sum();
            let squared = study((epsilon, delta), Goal::Squared, None, &asked);
            is_next_to(&squared, (roots * error / mu).powi(2), 1e-3);
        }
    }
}

/// At delta zero epsilons add up, and the least sum of w/x is the square of that of roots of w, over epsilon.
#[test]
fn bounds_at_delta_zero_are_next_to_the_closed_form() {
    for weights in WEIGHTS {
        let roots: f64 = weights.iter().map(|weight| weight.sqrt()).sum();
        let smallest = 20.0_f64.ln() * HIGH * roots * roots / 0.7;
        let asked = summed(Noise::Laplace, weights);
        is_next_to(&study((0.7, 0.0), Goal::Relative, None, &asked), smallest, 1e-3);
    }
}

/// What is pinned and what is held back take their part of the budget; secrecy of a sample gives more of it.
#[test]
fn bounds_allow_for_pins_shares_and_samples() {
    let weights = [1.0, 3.0];
    let gaussians = summed(Noise::Gaussian, &weights);
    let query = || gaussians.first().unwrap().0.clone();
    let pinned = [
        gaussians.clone(),
        vec![(query(), Some(Noise::Gaussian), AccuracyTarget::PinnedLevel(0.1))],
    ];
    let left = (mu(1.0, 1e-6).powi(2) - 0.01).sqrt();
    let pinned = study((1.0, 1e-6), Goal::Relative, None, &pinned.concat());
    is_next_to(&pinned, by_squares(&weights, left) * NORMAL * HIGH, 1e-3);
    // A pinned error, of the Gaussian noise that just has it.
    let target = AccuracyTarget::PinnedError(10.0 * NORMAL * HIGH);
    let kept = [gaussians.clone(), vec![(query(), Some(Noise::Gaussian), target)]].concat();
    let kept = study((1.0, 1e-6), Goal::Relative, None, &kept);
    is_next_to(&kept, by_squares(&weights, left) * NORMAL * HIGH, 2e-3);
    // One in forty of a population.
    let inner = (1.0 + 1.0_f64.exp_m1() * 40.0).ln();
    let inner = mu(inner, 40.0 * 1e-6);
    let sampled = study((1.0, 1e-6), Goal::Relative, Some(40 * ROWS), &gaussians);
    is_next_to(&sampled, by_squares(&weights, inner) * NORMAL * HIGH, 1e-3);
    // A leak of half of delta leaves half of it, nearly: 1 - (1 - d)/(1 - d/2).
    let delta = 1.0 - (1.0 - 1e-6) / (1.0 - 5e-7);
    let of = |(query, noise, target): &Asked| {
        let (query, noise, target) = (query.clone(), *noise, *target);
        let wanted =
            QueryRequest { query, noise, confidence: 0.95, target, scale: 1.0, population: None };
        Statistic { name: String::new(), content: StatisticContent::Query(wanted) }
    };
    let mut statistics: Vec<Statistic> = gaussians.iter().map(of).collect();
    let content = StatisticContent::HeldBack(Guarantee::new(0.0, 5e-7).unwrap());
    statistics.push(Statistic { name: "later".into(), content });
    let leaking = made((1.0, 1e-6), Goal::Relative, None, statistics);
    is_next_to(&leaking, by_squares(&weights, mu(1.0, delta)) * NORMAL * HIGH, 1e-3);
}

/// Two laws of Laplace noise that are x apart, for (epsilon, 0), x above it: delta is 1 - e^((epsilon - x)/2).
#[test]
fn one_laplace_noise_has_what_delta_adds() {
    let (epsilon, delta) = (0.5, 1e-3_f64);
    let smallest = 20.0_f64.ln() * HIGH / (epsilon - 2.0 * (-delta).ln_1p());
    let asked = summed(Noise::Laplace, &[1.0]);
    is_next_to(&study((epsilon, delta), Goal::Relative, None, &asked), smallest, 1e-3);
}

/// Of very many, those that are alike are one; with two kinds for each it is said which.
#[test]
fn many_statistics_have_a_bound_for_their_kinds() {
    let query = Query::sum(Bounds::new(0.0, HIGH).unwrap());
    let asked: Vec<Asked> = (0..1000)
        .map(|index| (query.clone(), None, AccuracyTarget::Weight(f64::from(1 + index % 3))))
        .collect();
    let weights: Vec<f64> = (0..1000).map(|index| f64::from(1 + index % 3)).collect();
    let (found, least) = bounded(&study((1.0, 1e-6), Goal::Relative, None, &asked));
    let smallest = by_squares(&weights, mu(1.0, 1e-6)) * NORMAL * HIGH;
    let SumBound::Proved { sum, any_noise: false } = least else { panic!("{least:?}") };
    assert!(sum < smallest * (1.0 + 1e-5) && sum > 0.997 * smallest, "{sum}, {smallest}");
    assert!(found > smallest * 0.9999, "{found}, {smallest}");
}

/// Where nothing is proved the reason is said.
#[test]
fn where_there_is_no_bound_it_says_why() {
    let weights: Vec<f64> = (0..65).map(|index| 1.0 + 0.1 * f64::from(index)).collect();
    let asked = summed(Noise::Laplace, &weights);
    let (_, least) = bounded(&study((1.0, 1e-6), Goal::Relative, None, &asked));
    let SumBound::Unknown { reason } = least else { panic!("{least:?}") };
    assert!(reason.contains("64"), "{reason}");
    let errors = [(asked.first().unwrap().0.clone(), None, AccuracyTarget::Error(100.0))];
    let study = study((1.0, 1e-6), Goal::Relative, None, &errors);
    let planned = plan(&study, &Options::default()).unwrap();
    assert_eq!(counterpoint_planner::bound_sum(&study, &planned, &Options::default()), Ok(None));
}
