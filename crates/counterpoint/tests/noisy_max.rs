//! The names of the largest noisy scores, by their exact probabilities; and Laplace noise within bounds, by its own
//! distribution function.

use crate::common;

use common::Question;
use common::mechanisms::*;
use counterpoint::mechanism::{MaxNoise, ScoreChanges};
use counterpoint::quantity::{GroupSize, NoiseBound, NoiseScale};
use counterpoint::{Adjacency, Bracket, Mechanism, Plan, Release, Sensitivity};
use counterpoint_testing::{Random, size};

fn noisy_max(noise: MaxNoise, scale: f64, sensitivity: f64, scores: ScoreChanges) -> Mechanism {
    let scale = NoiseScale::new(scale).unwrap();
    Mechanism::NoisyMax {
        noise,
        scale,
        sensitivity: Sensitivity::new(sensitivity).unwrap(),
        scores,
    }
}

fn truncated(scale: f64, sensitivity: f64, bound: f64) -> Mechanism {
    Mechanism::TruncatedLaplace {
        scale: NoiseScale::new(scale).unwrap(),
        sensitivity: Sensitivity::new(sensitivity).unwrap(),
        bound: NoiseBound::new(bound).unwrap(),
    }
}

fn asked(releases: &[Release], question: Question) -> Bracket {
    ask_best(&plan(releases), question, 1e-6).unwrap().bracket
}

const NOISES: [MaxNoise; 3] = [MaxNoise::Gumbel, MaxNoise::Laplace, MaxNoise::Exponential];
const CHANGES: [ScoreChanges; 2] = [ScoreChanges::Any, ScoreChanges::Monotone];

/// The probabilities of the names, for noise of scale one.
fn chances(noise: MaxNoise, scores: &[f64]) -> Vec<f64> {
    let others = |i: usize| (0..scores.len()).filter(move |&j| j != i);
    match noise {
        MaxNoise::Gumbel => {
            let sum: f64 = scores.iter().map(|score| score.exp()).sum();
            scores.iter().map(|score| score.exp() / sum).collect()
        }
        // The noise of the name, and the distribution functions of the others.
        MaxNoise::Laplace => {
            let below = |x: f64| if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() };
            let steps = 200_000;
            let width = 80.0 / f64::from(steps);
            let at = |i: usize, x: f64| {
                let all: f64 = others(i).map(|j| below(scores[i] + x - scores[j])).product();
                0.5 * (-x.abs()).exp() * all * width
            };
            let total = |i| (0..steps).map(|k| at(i, -40.0 + (f64::from(k) + 0.5) * width)).sum();
            (0..scores.len()).map(total).collect()
        }
        // Permute and flip: a name is published if those before it are refused.
        MaxNoise::Exponential => {
            let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let kept: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
            let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
            let all = scores.len() as u32;
            let chance = |i: usize| {
                let subsets = 0..1_u32 << scores.len();
                let before = subsets.filter(|set| set & (1 << i) == 0).map(|set| {
                    let order = factorial(set.count_ones()) * factorial(all - 1 - set.count_ones());
                    let refused = others(i).filter(|j| set & (1 << j) != 0);
                    order * refused.map(|j| 1.0 - kept[j]).product::<f64>()
                });
                kept[i] * before.sum::<f64>() / factorial(all)
            };
            (0..scores.len()).map(chance).collect()
        }
    }
}

#[test]
fn the_epsilon_is_the_shift_by_the_scale() {
    for noise in NOISES {
        for (scores, moves) in CHANGES.into_iter().zip([2.0, 1.0]) {
            for (scale, sensitivity) in
                [(4.0, 1.0), (10.0, 3.0), (0.5, 0.25), (100.0, 1.0), (2.0, 5.0)]
            {
                let release = times(1, noisy_max(noise, scale, sensitivity, scores));
                let found = asked(std::slice::from_ref(&release), Question::Epsilon(0.0));
                let truth = moves * sensitivity / scale;
                assert!((found.upper / truth - 1.0).abs() < 1e-12, "{found} {truth}");
                assert!((found.lower / truth - 1.0).abs() < 1e-9, "{found} {truth}");
                let pair = Plan::for_neighbours(
                    [release],
                    Some(Adjacency::AddRemove),
                    GroupSize::new(3).unwrap(),
                );
                let three = ask_best(&pair.unwrap(), Question::Epsilon(0.0), 1e-6).unwrap().bracket;
                assert!((three.upper / truth - 3.0).abs() < 1e-9, "{three} {truth}");
            }
        }
    }
}

/// No change of scores makes a name more than e^epsilon times as likely, and some make one nearly that.
#[test]
fn names_are_as_likely_as_they_may_be() {
    let mut random = Random::new(3);
    for noise in NOISES {
        for (scores, moves) in CHANGES.into_iter().zip([2.0, 1.0]) {
            let mut most: f64 = 0.0;
            for trial in 0..size(60, 8) {
                let shift = [0.1, 0.7][trial as usize % 2];
                let epsilon = moves * shift;
                let list: Vec<f64> =
                    (0..3).map(|i| if i == 0 { -9.0 } else { random.uniform(-1.0, 1.0) }).collect();
                let changed: Vec<f64> = list
                    .iter()
                    .enumerate()
                    .map(|(i, score)| match scores {
                        ScoreChanges::Any if i == 0 => score - shift,
                        ScoreChanges::Any => score + shift,
                        ScoreChanges::Monotone if i == 0 => *score,
                        ScoreChanges::Monotone => score + random.uniform(0.999, 1.0) * shift,
                    })
                    .collect();
                let (p, q) = (chances(noise, &list), chances(noise, &changed));
                let sum: f64 = p.iter().sum();
                assert!((sum - 1.0).abs() < 1e-6, "{noise:?} {sum}");
                let release = times(1, noisy_max(noise, 1.0, shift, scores));
                for at in [0.0, 0.5 * epsilon, 0.9 * epsilon] {
                    let delta = |p: &[f64], q: &[f64]| -> f64 {
                        p.iter().zip(q).map(|(p, q)| (p - at.exp() * q).max(0.0)).sum()
                    };
                    let truth = delta(&p, &q).max(delta(&q, &p));
                    let found = asked(std::slice::from_ref(&release), Question::Delta(at));
                    assert!(found.upper >= truth * (1.0 - 1e-6), "{noise:?} {at}: {found} {truth}");
                }
                let losses = p.iter().zip(&q).map(|(p, q)| (p / q).ln().abs() / epsilon);
                let largest = losses.fold(0.0, f64::max);
                assert!(largest <= 1.0 + 1e-4, "{noise:?} {largest}");
                most = most.max(largest);
            }
            assert!(most > 0.99, "{noise:?} {scores:?} {most}");
        }
    }
}

#[test]
fn with_gumbel_noise_it_is_the_exponential_mechanism() {
    let ours = times(20, noisy_max(MaxNoise::Gumbel, 20.0, 1.0, ScoreChanges::Any));
    let other = times(20, exponential(0.1));
    for question in [Question::Epsilon(1e-6), Question::Delta(0.3)] {
        let (ours, other) = (
            asked(std::slice::from_ref(&ours), question),
            asked(std::slice::from_ref(&other), question),
        );
        assert!((ours.upper / other.upper - 1.0).abs() < 1e-9, "{ours} {other}");
    }
    let (ours, other) = [0.1].map(|rate| {
        let one = noisy_max(MaxNoise::Gumbel, 2.0, 1.0, ScoreChanges::Monotone);
        let pair = [sampled(5, one, rate), sampled(5, exponential(0.5), rate)];
        let [a, b] = pair.map(|release| asked(&[release], Question::Delta(0.1)));
        (a, b)
    })[0];
    assert!((ours.upper / other.upper - 1.0).abs() < 1e-9, "{ours} {other}");
}

#[test]
fn monotone_scores_are_for_people_who_are_added() {
    let one = times(1, noisy_max(MaxNoise::Laplace, 1.0, 1.0, ScoreChanges::Monotone));
    let refused = Plan::for_neighbours([one.clone()], Some(Adjacency::Replace), GroupSize::ONE);
    assert!(refused.unwrap_err().to_string().contains("scores is monotone with adjacency replace"));
    assert!(Plan::new([one]).unwrap_err().to_string().contains("adjacency is missing"));
}

/// The distribution function of truncated Laplace noise.
fn below(x: f64, scale: f64, bound: f64) -> f64 {
    let all = 1.0 - (-bound / scale).exp();
    let x = x.clamp(-bound, bound);
    let half = 0.5 * (1.0 - (-x.abs() / scale).exp()) / all;
    if x < 0.0 { 0.5 - half } else { 0.5 + half }
}

/// Outcomes below a place are the best test; the place is where the likelihood ratio is e^epsilon.
fn truncated_delta(scale: f64, shift: f64, bound: f64, epsilon: f64) -> f64 {
    let test = |place: f64| {
        below(place, scale, bound) - epsilon.exp() * below(place - shift, scale, bound)
    };
    let places = [shift - bound, 0.5 * (shift - epsilon * scale), 0.0, shift, bound];
    places.into_iter().map(test).fold(0.0, f64::max)
}

#[test]
fn truncated_noise_has_the_profile_of_its_distribution_function() {
    let mut checked = 0;
    for (scale, shift, bound) in [
        (1.0, 1.0, 10.0),
        (2.0, 1.0, 8.0),
        (10.0, 1.0, 100.0),
        (1.0, 0.5, 2.0),
        (1.0, 3.0, 4.0),
        (1.0, 3.0, 2.0),
        (5.0, 1.0, 0.75),
    ] {
        for epsilon in [0.0, 0.05, 0.2, 0.45, 0.9, 2.0] {
            let truth = truncated_delta(scale, shift, bound, epsilon);
            let release = times(1, truncated(scale, shift, bound));
            let found = asked(&[release], Question::Delta(epsilon));
            let near = 1e-12 + 1e-9 * truth;
            assert!(
                found.lower <= truth + near && truth <= found.upper + near,
                "{scale} {shift} {bound} {epsilon}: {found} {truth}"
            );
            assert!(
                found.upper <= truth * (1.0 + 1e-4) + 1e-12,
                "{scale} {shift} {bound} {epsilon}: {found} {truth}"
            );
            checked += 1;
        }
    }
    assert!(checked > 40);
}

/// Two releases, by sums over small steps of the noise.
#[test]
fn two_truncated_releases_are_the_product() {
    let (scale, shift, bound) = (1.0, 0.8, 6.0);
    let width = 0.02;
    let steps = (bound / width) as i32 + 41;
    let cell = |k: i32, moved: f64| {
        let x = f64::from(k) * width - moved;
        below(x + width, scale, bound) - below(x, scale, bound)
    };
    let cells: Vec<(f64, f64)> = (-steps..steps).map(|k| (cell(k, 0.0), cell(k, shift))).collect();
    for epsilon in [0.1, 0.6, 1.2] {
        let product = cells.iter().flat_map(|a| cells.iter().map(move |b| (a.0 * b.0, a.1 * b.1)));
        let truth: f64 = product.map(|(p, q)| (p - f64::exp(epsilon) * q).max(0.0)).sum();
        let found = asked(&[times(2, truncated(scale, shift, bound))], Question::Delta(epsilon));
        assert!(
            (found.upper / truth - 1.0).abs() < 2e-3 && found.upper >= truth * (1.0 - 1e-9),
            "{found} {truth}"
        );
        assert!(found.lower <= found.upper && found.lower >= truth * 0.998, "{found} {truth}");
    }
}

#[test]
fn far_bounds_change_nothing_and_near_ones_are_refused() {
    for question in [Question::Epsilon(1e-6), Question::Delta(0.4)] {
        let far = asked(&[times(3, truncated(2.0, 1.0, 200.0))], question);
        let none = asked(&[times(3, laplace(2.0, 1.0))], question);
        assert!((far.upper / none.upper - 1.0).abs() < 1e-4, "{far} {none}");
        let far = asked(&[sampled(3, truncated(2.0, 1.0, 200.0), 0.2)], question);
        let none = asked(&[sampled(3, laplace(2.0, 1.0), 0.2)], question);
        assert!((far.upper - none.upper).abs() <= 1e-3 * none.upper + 1e-20, "{far} {none}");
    }
    let near = Plan::new([times(1, truncated(1.0, 2.0, 1.0))]).unwrap_err().to_string();
    assert!(near.contains("sensitivity / bound is 2"), "{near}");
}
