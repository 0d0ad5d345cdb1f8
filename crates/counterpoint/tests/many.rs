//! Many questions at once against the same questions one by one, and against closed forms.

use crate::common;

use common::is_full;
use counterpoint::quantity::{NoiseScale, Rho};
use counterpoint::{
    Bracket, Count, Delta, Epsilon, Guarantee, Mechanism, Options, Plan, Release, Sensitivity,
};

fn release(mechanism: impl Into<Mechanism>, count: u64) -> Release {
    (mechanism, Count::new(count).unwrap()).into()
}

fn gaussian(sigma: f64) -> Mechanism {
    let sensitivity = Sensitivity::new(1.0).unwrap();
    Mechanism::Gaussian { sigma: NoiseScale::new(sigma).unwrap(), sensitivity }
}

fn plans() -> Vec<Plan> {
    let laplace = |scale: f64| {
        let sensitivity = Sensitivity::new(1.0).unwrap();
        Mechanism::Laplace { scale: NoiseScale::new(scale).unwrap(), sensitivity }
    };
    let zcdp = Mechanism::Zcdp { rho: Rho::new(0.05).unwrap(), delta: Delta::new(1e-7).unwrap() };
    let pure = |epsilon| Guarantee::pure(epsilon).unwrap();
    vec![
        Plan::new([release(gaussian(2.0), 10)]).unwrap(),
        Plan::new([release(pure(0.1), 100)]).unwrap(),
        Plan::new([release(Guarantee::new(0.2, 1e-9).unwrap(), 30), release(pure(0.3), 3)])
            .unwrap(),
        Plan::new([release(laplace(2.0), 3), release(gaussian(4.0), 2)]).unwrap(),
        Plan::new([release(pure(1e-9), 5)]).unwrap(),
        Plan::new([release(pure(40.0), 5)]).unwrap(),
        Plan::new([release(zcdp, 3)]).unwrap(),
    ]
}

/// Places from 0 to nearly the end, crowded in some and sparse in others, in no order.
fn places(many: usize, most: f64) -> Vec<f64> {
    let place = |i: usize| {
        let share = (i * 7919 % many) as f64 / many as f64;
        if i.is_multiple_of(2) { most * share } else { most * 10_f64.powf(-14.0 * share) }
    };
    (0..many).map(place).collect()
}

/// Every bracket shares a point with the single answer's, and is as narrow as promised where
/// that one is; nothing is promised of plans known by a Rényi curve.
fn agree(plan: &Plan, list: &[Bracket], ask: impl Fn(usize) -> Option<Bracket>, step: usize) {
    for index in (0..list.len()).step_by(step) {
        let many = list[index];
        let Some(one) = ask(index) else {
            assert!(many.lower.is_infinite() && many.upper.is_infinite(), "{plan:?}: {many}");
            continue;
        };
        assert!(one.overlaps(&many), "{plan:?}, {index}: {one} and {many}");
        if plan.losses().is_ok() {
            let narrow = |b: Bracket| b.relative_width() <= 1e-6 || b.width() <= 1e-12;
            assert!(!narrow(one) || narrow(many), "{plan:?}, {index}: {one} and {many}");
        }
        // A bound known to be wide is nearly the same bound.
        assert!((many.upper - one.upper).abs() <= 3e-6 * one.upper + 1e-12, "{one} and {many}");
    }
}

#[test]
fn many_are_as_good_as_one_by_one() {
    let (many, step) = if is_full() { (100_000, 7) } else { (20_000, 211) };
    let options = Options::default();
    for plan in plans() {
        let deltas: Vec<Delta> =
            places(many, 0.9).into_iter().map(|delta| Delta::new(delta).unwrap()).collect();
        let list = plan.epsilons(&deltas, &options).unwrap();
        agree(&plan, &list, |i| plan.epsilon(deltas[i], &options).ok().map(|a| a.bracket), step);
        let epsilons: Vec<Epsilon> = places(many / 4, 6.0)
            .into_iter()
            .map(|epsilon| Epsilon::new(epsilon).unwrap())
            .collect();
        let list = plan.deltas(&epsilons, &options).unwrap();
        agree(&plan, &list, |i| plan.delta(epsilons[i], &options).ok().map(|a| a.bracket), step);
    }
}

/// One randomized response: delta is (e^eps0 - e^eps) / (1 + e^eps0), so that
/// eps = ln(e^eps0 - delta (1 + e^eps0)), which chords follow without error.
#[test]
fn a_straight_line_is_followed() {
    let plan = Plan::new([release(Guarantee::pure(2.0).unwrap(), 1)]).unwrap();
    let deltas: Vec<f64> = (0..10_000).map(|i| f64::from(i) * 7.6e-5).collect();
    let asked: Vec<Delta> = deltas.iter().map(|&delta| Delta::new(delta).unwrap()).collect();
    let list = plan.epsilons(&asked, &Options::default()).unwrap();
    for (delta, bracket) in deltas.iter().zip(list) {
        let top = 2_f64.exp();
        let truth = (top - delta * (1.0 + top)).ln().max(0.0);
        assert!((bracket.lower - 1e-14..=bracket.upper + 1e-14).contains(&truth), "{bracket}");
    }
}

#[test]
fn short_lists_are_single_questions() {
    let plan = Plan::new([release(gaussian(1.5), 7)]).unwrap();
    let deltas = [1e-6, 0.0, 1e-3, 1e-6].map(|delta| Delta::new(delta).unwrap());
    let list = plan.epsilons(&deltas, &Options::default()).unwrap();
    let one = |delta: Delta| plan.epsilon(delta, &Options::default()).unwrap().bracket;
    assert_eq!((list[0], list[2], list[3]), (one(deltas[0]), one(deltas[2]), one(deltas[0])));
    assert!(list[1].lower.is_infinite());
    assert_eq!(plan.epsilons(&[], &Options::default()).unwrap(), []);
}
