//! Attacks fixed beforehand, run on neighbouring data: what they certify never exceeds what is
//! charged, comes close to it where it should, and exceeds it for every bug planted here.
//! 10^6 runs on each neighbour in a full run, 2 to 4 % of that in a quick one.
#![allow(clippy::unwrap_used)]

mod common;
mod planted;

use common::audit::{Seen, attack, epsilon_at_least};
use common::draws;
use counterpoint::quantity::Group;
use counterpoint::{Adjacency, Count, Delta, Options, Plan, Release};
use counterpoint_mechanisms::{
    Bounds, Concurrent, Exponential, Grid, GuessAndCheck, Interactive, Leaky, LeakyResponse,
    Measurement, Noise, Query, Question, RandomizedResponse, Reply, Sequence, Session,
    SparseVector,
};

pub(crate) const ADD_REMOVE: Adjacency = Adjacency::AddRemove;

pub(crate) fn runs() -> u64 {
    draws(1_000_000, 0.03)
}

/// Where the bound need not come close, a third will do in a quick run.
fn fewer() -> u64 {
    draws(1_000_000, 0.01)
}

/// What is charged for releases at a delta: the accountant's upper bound.
pub(crate) fn charged(releases: &[Release], delta: f64) -> f64 {
    let plan = Plan::with(releases.iter().cloned(), Some(ADD_REMOVE), Group::ONE).unwrap();
    let delta = Delta::new(delta).unwrap();
    plan.epsilon(delta, &Options::default()).unwrap().bracket.upper
}

fn one(mechanism: counterpoint::Mechanism) -> Vec<Release> {
    vec![(mechanism, Count::ONE).into()]
}

/// The bound never exceeds the charge, and reaches a share of it.
fn holds(what: &str, seen: Seen, releases: &[Release], delta: f64, share: f64) {
    let (bound, charge) = (epsilon_at_least(seen, delta), charged(releases, delta));
    assert!(bound <= charge, "{what}: at least {bound}, charged {charge}");
    assert!(bound >= share * charge, "{what}: at least {bound}, charged {charge}");
}

#[test]
fn geometric_laplace_and_randomized_response_reach_their_charge() {
    // 100,000 in a quick run leave about 0.93.
    let many = draws(1_000_000, 0.1);
    let noise = Noise::geometric(1.0, 1).unwrap();
    let seen = attack(many, || noise.add(0).unwrap() <= 0, || noise.add(1).unwrap() <= 0);
    holds("geometric", seen, &one(noise.mechanism()), 0.0, 0.9);

    let noise = Noise::laplace(1.0, 1.0, Grid::new(-30).unwrap()).unwrap();
    let below = |x: f64| noise.release(x).unwrap() <= 0.0;
    let seen = attack(many, || below(0.0), || below(1.0));
    holds("laplace", seen, &one(noise.mechanism()), 0.0, 0.9);

    for buckets in [2, 5] {
        let response = RandomizedResponse::new(1.0, buckets).unwrap();
        let truth = |answer: u64| response.release(answer).unwrap() == 0;
        let seen = attack(many, || truth(0), || truth(1));
        holds("randomized response", seen, &one(response.mechanism()), 0.0, 0.9);
    }
}

#[test]
fn other_noise_keeps_to_its_charge() {
    let noise = Noise::staircase(1.0, None, 8.0, Grid::WHOLE).unwrap();
    let seen = attack(fewer(), || noise.add(0).unwrap() <= 0, || noise.add(8).unwrap() <= 0);
    holds("staircase", seen, &one(noise.mechanism()), 0.0, 0.7);

    let noise = Noise::gaussian(2.0, 1.0, Grid::new(-4).unwrap()).unwrap();
    let high = |x: f64| noise.release(x).unwrap() >= 1.0;
    let seen = attack(runs(), || high(1.0), || high(0.0));
    holds("gaussian", seen, &one(noise.mechanism()), 0.1, 0.4);

    let response = LeakyResponse::new(1.0, 0.05).unwrap();
    let told = |bit| match response.release(bit).unwrap() {
        Leaky::Leaked(bit) | Leaky::Randomized(bit) => bit,
    };
    let seen = attack(fewer(), || told(true), || told(false));
    holds("leaky response", seen, &one(response.mechanism()), 0.05, 0.7);

    let choice = Exponential::new(1.0, 1).unwrap();
    let first = |scores: &[i64]| choice.release(scores).unwrap() == 0;
    let seen = attack(fewer(), || first(&[1, 0]), || first(&[0, 1]));
    holds("exponential", seen, &one(choice.mechanism()), 0.0, 0.3);
}

fn number(measurement: &Measurement, data: &[f64]) -> f64 {
    measurement.run(data).unwrap().number().unwrap()
}

#[test]
fn queries_keep_to_their_charge() {
    let bounds = Bounds::new(-1.0, 3.0).unwrap();
    let (with, without) = ([0.5, 3.0, 7.0], [0.5, 3.0]);
    let queries = [
        (Query::count(ADD_REMOVE), 2.5),
        (Query::count_within(Bounds::new(2.0, 9.0).unwrap(), ADD_REMOVE), 1.5),
        (Query::sum(bounds, ADD_REMOVE), 5.0),
        (Query::mean(bounds, ADD_REMOVE), 1.9),
        (Query::variance(bounds, ADD_REMOVE), 1.5),
    ];
    for (query, level) in queries {
        let measurement = query.laplace(1.0).unwrap();
        let above = |data: &[f64]| number(&measurement, data) >= level;
        let seen = attack(fewer(), || above(&with), || above(&without));
        holds(&format!("{query:?}"), seen, measurement.releases(), 0.0, 0.0);
    }
    let histogram = Query::histogram(&[0.0, 1.0, 2.0], Adjacency::Replace).unwrap();
    let histogram = histogram.laplace(1.0).unwrap();
    let moved = |data: &[f64]| match histogram.run(data).unwrap() {
        Reply::Table(bins) => bins[0] >= 1.0 && bins[1] <= 0.0,
        _ => false,
    };
    let seen = attack(fewer(), || moved(&[0.5]), || moved(&[1.5]));
    holds("histogram", seen, histogram.releases(), 0.0, 0.6);

    let median = Query::quantile((1, 2), &[0.0, 1.0, 2.0], ADD_REMOVE).unwrap();
    let median = median.exponential(1.0).unwrap();
    let last = |data: &[f64]| number(&median, data) > 1.5;
    let seen = attack(fewer(), || last(&[1.5, 1.5]), || last(&[1.5]));
    holds("quantile", seen, median.releases(), 0.0, 0.0);
}

/// How many are one: one person's record counts, or does not.
fn ones(adjacency: Adjacency) -> Query {
    Query::count_within(Bounds::new(1.0, 2.0).unwrap(), adjacency)
}

fn zeros(adjacency: Adjacency) -> Query {
    Query::count_within(Bounds::new(0.0, 0.5).unwrap(), adjacency)
}

fn open(declared: impl Into<Interactive>, data: &[f64]) -> Session {
    declared.into().open(data).unwrap()
}

/// Below, then above: the first query falls and the second rises with the person's record.
#[test]
fn sparse_vector_keeps_to_three_epsilon_and_guess_and_check_to_four() {
    let replace = Adjacency::Replace;
    let declared = SparseVector::new(0.5, 1, 1.0, replace).unwrap();
    let pattern = |data: &[f64]| {
        let session = open(declared.clone(), data);
        session.ask(Question::Above(&zeros(replace))).unwrap() == Reply::Below
            && session.ask(Question::Above(&ones(replace))).unwrap() == Reply::Above(None)
    };
    let seen = attack(fewer(), || pattern(&[1.0]), || pattern(&[0.0]));
    let charge = charged(&declared.releases(), 0.0);
    assert!((charge - 1.5).abs() < 1e-9, "3 epsilon, not {charge}");
    holds("sparse vector", seen, &declared.releases(), 0.0, 0.2);

    let declared = GuessAndCheck::new(0.5, 1, 1.0, ADD_REMOVE).unwrap();
    let wrong = |data: &[f64]| {
        let session = open(declared.clone(), data);
        matches!(session.ask(Question::Check(&ones(ADD_REMOVE), 0.0)), Ok(Reply::Wrong(x)) if x >= 1.0)
    };
    let seen = attack(fewer(), || wrong(&[1.0]), || wrong(&[]));
    let charge = charged(&declared.releases(), 0.0);
    assert!((charge - 2.0).abs() < 1e-9, "4 epsilon, not {charge}");
    holds("guess and check", seen, &declared.releases(), 0.0, 0.1);
}

/// Two sessions, interleaved: the second is asked what the first one's answer suggests.
#[test]
fn sessions_side_by_side_keep_to_the_total() {
    let count = ones(ADD_REMOVE).laplace(0.5).unwrap();
    let open = |data: &[f64]| {
        let guess = GuessAndCheck::new(0.25, 1, 1.0, ADD_REMOVE).unwrap();
        let sequence = Sequence::new([&count]).unwrap();
        let all = [("guess", guess.into()), ("sequence", sequence.into())];
        Concurrent::open(ADD_REMOVE, data, all).unwrap()
    };
    let found = |data: &[f64]| {
        let all = open(data);
        let reply = all.session("sequence").unwrap().ask(Question::Measure(&count)).unwrap();
        let guess = reply.number().unwrap();
        let check = Question::Check(&ones(ADD_REMOVE), if guess >= 1.0 { 0.0 } else { 1.0 });
        let reply = all.session("guess").unwrap().ask(check).unwrap();
        guess >= 1.0 && matches!(reply, Reply::Wrong(value) if value >= 1.0)
    };
    let all = open(&[1.0]);
    let charge = charged(all.releases(), 0.0);
    assert!((charge - 1.5).abs() < 1e-9, "4 * 0.25 + 0.5, not {charge}");
    let seen = attack(fewer(), || found(&[1.0]), || found(&[]));
    holds("side by side", seen, all.releases(), 0.0, 0.2);
}

/// The halt, as any gate must keep it: so many answers above, then none.
pub(crate) fn answers_above(mut ask: impl FnMut() -> Option<bool>) -> u64 {
    (0..10_000).map_while(|_| ask()).filter(|&above| above).count() as u64
}

#[test]
fn a_session_ends_with_its_last_answer_above() {
    for count in [1, 2, 7] {
        let session = open(SparseVector::new(1.0, count, -100.0, ADD_REMOVE).unwrap(), &[]);
        let above = answers_above(|| match session.ask(Question::Above(&ones(ADD_REMOVE))) {
            Ok(reply) => Some(reply != Reply::Below),
            Err(_) => None,
        });
        assert_eq!(above, count);
        assert!(session.is_exhausted());
    }
}
