//! The best of a random number of runs: by the formulas of the theorems in arbitrary precision, and beside selections
//! among few outcomes, whose laws are known exactly.

use crate::common;

use common::Question;
use common::mechanisms::*;
use counterpoint::loss::LossError;
use counterpoint::mechanism::{PrivateSelection, RunLaw};
use counterpoint::quantity::{GroupSize, MeanRuns, RunShape};
use counterpoint::{
    Adjacency, AskError, Bracket, Mechanism, Options, Plan, Release, Route, Tolerance,
};
use counterpoint_testing::{Random, size};

const TABLE: &str = include_str!("reference/selections.txt");

/// The bracket by any route, or by one.
fn asked(releases: &[Release], question: Question, route: Option<Route>) -> Bracket {
    let tolerance = Tolerance::new(1e-6).unwrap().as_aim();
    let options = Options { tolerance, route, ..Options::default() };
    ask_with(&plan(releases), question, &options).unwrap().bracket
}

struct Line {
    selection: Release,
    run: Release,
    delta: f64,
    by_renyi: f64,
    by_profile: f64,
}

/// Lines of `reference/selections.py`: the theorems' formulas in arbitrary precision.
fn lines() -> Vec<Line> {
    let line = |text: &str| {
        let columns: Vec<&str> = text.split(" | ").collect();
        let words = |column: usize| columns[column].split(' ').collect::<Vec<_>>();
        let number = |text: &str| text.parse::<f64>().unwrap();
        let (law, noise) = (words(0), words(1));
        let run = match noise[0] {
            "gaussian" => times(1, gdp(number(noise[1]))),
            _ => times(1, laplace(1.0, number(noise[1]))),
        };
        let eta = (law[0] == "binomial").then(|| number(law[2]));
        Line {
            selection: times(1, selection(number(law[1]), eta, std::slice::from_ref(&run))),
            run,
            delta: number(columns[2]),
            by_renyi: number(columns[3]),
            by_profile: number(columns[4]),
        }
    };
    TABLE.lines().filter(|text| !text.starts_with('#')).map(line).collect()
}

#[test]
fn renyi_divergences_are_those_of_the_formula() {
    for line in lines() {
        let found = asked(
            std::slice::from_ref(&line.selection),
            Question::Epsilon(line.delta),
            Some(Route::Renyi),
        );
        let truth = line.by_renyi;
        // The deltas that a Poisson law needs are listed at few orders.
        assert!(found.upper >= truth * (1.0 - 1e-12), "{found} {truth}");
        assert!(found.upper <= truth * 1.01, "{found} {truth}");
    }
}

#[test]
fn the_answer_is_the_better_of_both_theorems() {
    let mut by_profile = 0;
    for line in lines() {
        let best = line.by_renyi.min(line.by_profile);
        let found =
            asked(std::slice::from_ref(&line.selection), Question::Epsilon(line.delta), None);
        // Convexity lowers bounds near a largest loss.
        let is_bounded = !matches!(line.run.mechanism, Mechanism::Gdp { .. });
        let least = if is_bounded { 0.99 * best } else { best * (1.0 - 1e-9) };
        assert!(found.upper >= least, "{found} {best}");
        assert!(found.upper <= best * 1.003, "{found} {best}");
        by_profile += usize::from(found.upper < line.by_renyi * (1.0 - 1e-6));
        // A geometric number of runs is at least one.
        let one = asked(std::slice::from_ref(&line.run), Question::Epsilon(line.delta), None);
        assert!(found.lower <= one.upper * (1.0 + 1e-9) && found.upper >= one.lower.min(best));
    }
    assert!(by_profile >= 30, "{by_profile}");
}

/// With gamma = e^-s, a run of epsilon e costs e + (1 + eta) ln((e^e + gamma)/(1 + gamma e^e)).
#[test]
fn a_pure_run_makes_a_pure_selection() {
    for epsilon in [0.01, 0.1, 0.5, 1.0, 2.0] {
        for gamma in [0.9_f64, 0.5, 0.1, 0.01] {
            for eta in [1.0, 2.0] {
                // The mean of the law: eta (1 - gamma) / (gamma (1 - gamma^eta)).
                let mean: f64 = eta * (1.0 - gamma) / (gamma * (1.0 - gamma.powf(eta)));
                let inner = [times(1, approximate(epsilon, 0.0))];
                let release = times(1, selection(mean, Some(eta), &inner));
                let found = asked(&[release], Question::Epsilon(0.0), None);
                let x = epsilon.exp();
                let truth = epsilon + (1.0 + eta) * ((x + gamma) / (1.0 + gamma * x)).ln();
                assert!(found.upper >= truth * (1.0 - 1e-9), "{epsilon} {gamma}: {found} {truth}");
                assert!(found.upper <= truth * (1.0 + 1e-6), "{epsilon} {gamma}: {found} {truth}");
                assert!(found.upper < (2.0 + eta) * epsilon, "Liu and Talwar 2019");
                assert!((found.lower / epsilon - 1.0).abs() < 1e-9, "one run: {found}");
            }
        }
    }
}

/// The law of the best of a number of runs whose probability generating function is given; the last outcome is the best.
fn best_of(masses: &[f64], generating: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut below = 0.0;
    let mut list = vec![generating(0.0)];
    for mass in masses {
        list.push(generating(below + mass) - generating(below));
        below += mass;
    }
    list
}

fn delta(p: &[f64], q: &[f64], epsilon: f64) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
}

/// Two probability vectors, mostly by rising ratio.
fn vectors(random: &mut Random, length: usize) -> (Vec<f64>, Vec<f64>) {
    let mut draw = || {
        let power = 1.0 + 6.0 * random.uniform(0.0, 1.0);
        let list: Vec<f64> =
            (0..length).map(|_| random.uniform(0.0, 1.0).powf(power) + 1e-4).collect();
        let sum: f64 = list.iter().sum();
        list.into_iter().map(|mass| mass / sum).collect::<Vec<_>>()
    };
    let (p, q) = (draw(), draw());
    let mut pairs: Vec<(f64, f64)> = p.into_iter().zip(q).collect();
    if random.uniform(0.0, 1.0) < 0.8 {
        pairs.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    }
    pairs.into_iter().unzip()
}

/// No selection among few outcomes costs more than its bound, in either direction; some cost nearly as much.
#[test]
fn selections_among_few_outcomes_are_within_their_bounds() {
    let mut random = Random::new(11);
    let mut nearest: f64 = 0.0;
    for trial in 0..size(400, 20) {
        let (p, q) = vectors(&mut random, 2 + trial as usize % 3);
        let mean = [1.5, 4.0, 30.0][trial as usize % 3];
        let inner = [times(1, finite(&p, &q))];
        let poisson = |x: f64| (mean * (x - 1.0)).exp();
        let geometric = |x: f64| x / (mean - (mean - 1.0) * x);
        let generating: [&dyn Fn(f64) -> f64; 2] = [&poisson, &geometric];
        for (eta, generating) in [None, Some(1.0)].into_iter().zip(generating) {
            let release = times(1, selection(mean, eta, &inner));
            let (best, other) = (best_of(&p, generating), best_of(&q, generating));
            for epsilon in [0.0, 0.4, 1.5] {
                let truth = delta(&best, &other, epsilon).max(delta(&other, &best, epsilon));
                let found = asked(std::slice::from_ref(&release), Question::Delta(epsilon), None);
                assert!(found.upper >= truth - 1e-12, "{p:?} {q:?} {epsilon}: {found} {truth}");
                nearest = nearest.max(truth / found.upper);
            }
        }
    }
    assert!(nearest > 0.6, "{nearest}");
}

/// A selection of one run costs what the run costs, beside other releases too: what replaces its profile by a list of
/// losses is nearly exact.
#[test]
fn one_run_costs_what_it_costs() {
    let others = [times(3, laplace(4.0, 1.0)), times(1, gdp(0.2))];
    let cases = [
        vec![times(1, gdp(0.5))],
        vec![times(1, finite(&[0.2, 0.3, 0.5], &[0.4, 0.35, 0.25]))],
        vec![times(2, laplace(3.0, 1.0)), times(1, approximate(0.2, 1e-8))],
        vec![times(1, discrete_gaussian(3.0, 1))],
        vec![sampled(20, gaussian(1.5, 1.0), 0.1)],
    ];
    for run in cases.into_iter().take(size(5, 2) as usize) {
        let one = times(1, selection(1.0, Some(1.0), &run));
        for question in [Question::Epsilon(1e-6), Question::Epsilon(1e-3), Question::Delta(0.5)] {
            let truth = asked(&[&run[..], &others].concat(), question, None);
            let found = asked(&[std::slice::from_ref(&one), &others[..]].concat(), question, None);
            assert!(found.upper >= truth.lower * (1.0 - 1e-9), "{run:?}: {found} {truth}");
            let slack = if matches!(question, Question::Delta(_)) { 1.03 } else { 1.01 };
            assert!(found.upper <= truth.upper * slack, "{run:?}: {found} {truth}");
            assert!(found.lower <= truth.upper * (1.0 + 1e-9), "{run:?}: {found} {truth}");
        }
    }
}

/// Composition is tighter than adding up epsilons and deltas.
#[test]
fn selections_compose_with_each_other() {
    for (run, most) in [(times(1, gdp(0.1)), 7.0), (times(1, approximate(0.05, 1e-9)), 10.0)] {
        let one = |count| times(count, selection(10.0, Some(0.0), std::slice::from_ref(&run)));
        let alone = asked(&[one(1)], Question::Epsilon(1e-7), None).upper;
        let ten = asked(&[one(10)], Question::Epsilon(1e-6), None).upper;
        assert!(ten > alone && ten < most * alone, "{ten} {alone}");
        let split = asked(&[one(4), one(6)], Question::Epsilon(1e-6), None).upper;
        assert!((split / ten - 1.0).abs() < 1e-6, "{split} {ten}");
    }
}

#[test]
fn a_leak_of_one_run_leaks_as_often_as_runs_are_expected() {
    let release = times(1, selection(8.0, Some(0.0), &[times(1, approximate(0.1, 1e-6))]));
    let refused = ask_best(&plan(std::slice::from_ref(&release)), Question::Epsilon(7.9e-6), 1e-6);
    assert!(matches!(refused, Err(AskError::BelowLeak { .. })), "{refused:?}");
    let found = asked(&[release], Question::Epsilon(8.1e-6), None);
    // One run has at most 0.1 + 3 ln r.
    assert!(found.upper > 0.1 && found.upper < 0.3, "{found}");
}

#[test]
fn groups_and_both_relations_have_bounds() {
    let release = times(1, selection(5.0, Some(1.0), &[times(1, laplace(5.0, 1.0))]));
    for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
        let upper = [1, 2].map(|people| {
            let group = GroupSize::new(people).unwrap();
            let plan = Plan::for_neighbours([release.clone()], Some(adjacency), group).unwrap();
            ask_best(&plan, Question::Epsilon(0.0), 1e-6).unwrap().bracket.upper
        });
        let pair = asked(
            &[times(1, selection(5.0, Some(1.0), &[times(1, laplace(5.0, 2.0))]))],
            Question::Epsilon(0.0),
            None,
        );
        assert!((upper[1] / pair.upper - 1.0).abs() < 1e-9, "{upper:?} {pair}");
    }
    let inner = [times(1, finite(&[0.2, 0.8], &[0.5, 0.5]))];
    let asymmetric = times(1, selection(5.0, Some(1.0), &inner));
    let plan = Plan::for_neighbours([asymmetric], Some(Adjacency::Replace), GroupSize::ONE);
    assert!(plan.unwrap_err().to_string().contains("symmetric pair"));
}

#[test]
fn what_is_no_selection_is_refused() {
    let one = times(1, laplace(1.0, 1.0));
    let eta = RunLaw::NegativeBinomial(RunShape::new(1.0).unwrap());
    let made = |runs, mean: f64, inner: Vec<Release>| {
        PrivateSelection::new(runs, MeanRuns::new(mean).unwrap(), inner).map_err(|e| e.to_string())
    };
    let nested = times(1, selection(2.0, None, std::slice::from_ref(&one)));
    for (runs, mean, inner, problem) in [
        (eta, 0.5, vec![one.clone()], "mean is 0.5; legal: a number from 1"),
        (eta, 2.0, vec![], "inner is empty"),
        (eta, 2.0, vec![one.clone(); 1001], "inner has too many releases"),
        (RunLaw::Poisson, 2.0, vec![on("north", one.clone())], "inner has a partition"),
        (RunLaw::Poisson, 2.0, vec![nested], "inner has a private-selection"),
    ] {
        let text = made(runs, mean, inner).unwrap_err();
        assert!(text.starts_with(problem), "{text}");
    }
    assert!(made(RunLaw::Poisson, 0.5, vec![one.clone()]).is_ok());
    assert!(RunShape::new(-1.0).is_err() && RunShape::new(f64::NAN).is_err());
    assert!(MeanRuns::new(0.0).is_err() && MeanRuns::new(f64::INFINITY).is_err());
    let release = sampled(1, selection(2.0, None, std::slice::from_ref(&one)), 0.5);
    let plan = Plan::for_neighbours([release], Some(Adjacency::AddRemove), GroupSize::ONE);
    assert!(plan.unwrap_err().to_string().contains("rate is given for private-selection"));
    let far = times(1, selection(1e9, Some(-0.99), &[one]));
    let error = Plan::new([far]).unwrap_err();
    let error =
        matches!(error, counterpoint::PlanError::Release { error: LossError::Range { .. }, .. });
    assert!(error);
}
