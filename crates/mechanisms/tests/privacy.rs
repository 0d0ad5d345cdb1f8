//! Attacks fixed beforehand, run on neighbouring data: what they certify never exceeds what is
//! charged, comes close to it where it should, and exceeds it for every bug planted here.
//! 10^6 runs on each neighbour in a full run, 1 to 10 % of that in a quick one.

use crate::common::attack::{attack, epsilon_at_least, worth};
use crate::common::chance::{at_least, expect, laplace_at_least};
use counterpoint::audit::Attack;
use counterpoint::quantity::GroupSize;
use counterpoint::{Adjacency, Count, Delta, Options, Plan, Relation, Release};
use counterpoint_mechanisms::{
    Bounds, ConcurrentSessions, Data, Exponential, Grid, GuessAndCheck, InteractiveMechanism,
    LeakyAnswer, LeakyResponse, Measurement, Noise, NoisyAnswer, NoisyQuery, Query,
    RandomizedResponse, Reply, Sequence, Session, SessionQuery, SparseVector,
};
use counterpoint_testing::tries;

pub(crate) const ADD_REMOVE: Relation = Relation::single_record(Adjacency::AddRemove);
const REPLACE: Relation = Relation::single_record(Adjacency::Replace);

pub(crate) fn runs() -> u64 {
    tries(1_000_000, 0.03)
}

/// Where the bound need not come close, a third will do in a quick run.
fn fewer() -> u64 {
    tries(1_000_000, 0.01)
}

/// What is charged for releases at a delta: the accountant's upper bound.
pub(crate) fn charged(releases: &[Release], delta: f64) -> f64 {
    let plan =
        Plan::for_neighbours(releases.iter().cloned(), Some(Adjacency::AddRemove), GroupSize::ONE)
            .unwrap();
    let delta = Delta::new(delta).unwrap();
    plan.epsilon(delta, &Options::default()).unwrap().bracket.upper
}

fn one(mechanism: counterpoint::Mechanism) -> Vec<Release> {
    vec![(mechanism, Count::ONE).into()]
}

/// A share of the charge to be reached in a full run, and in a quick one, whose bounds are
/// further off; each is six standard deviations of luck or more from what is expected.
fn in_full(full: f64, quick: f64) -> f64 {
    if counterpoint_testing::is_full() { full } else { quick }
}

/// The bound never exceeds the charge, nor what the attack is worth by the chances of its event
/// on the two neighbours; and it comes as close to that as so many runs allow: six standard
/// deviations are the auditor's, six are for bad luck, and one is to spare.
fn holds(what: &str, seen: Attack, releases: &[Release], delta: f64, chances: (f64, f64)) -> f64 {
    let (bound, charge) = (epsilon_at_least(seen, delta), charged(releases, delta));
    assert!(bound <= charge, "{what}: at least {bound}, charged {charge}");
    let runs = seen.misses.trials();
    let (least, most) = (worth(chances, runs, delta, 13.0), worth(chances, runs, delta, 0.0));
    assert!((least..=most).contains(&bound), "{what}: {bound}, not from {least} to {most}");
    assert!(most <= charge * (1.0 + 1e-9), "{what}: worth {most}, charged {charge}");
    bound / charge
}

/// The chances are exactly e apart: nine tenths of it are certified.
#[test]
fn geometric_laplace_and_randomized_response_reach_their_charge() {
    // 100,000 in a quick run leave about 0.93, give or take.
    let least = in_full(0.9, 0.85);
    let many = tries(1_000_000, 0.1);
    let noise = Noise::geometric(1.0, 1).unwrap();
    let seen = attack(many, || noise.add(0).unwrap() <= 0, || noise.add(1).unwrap() <= 0);
    let chances = (at_least(0, 1.0), at_least(1, 1.0));
    assert!(holds("geometric", seen, &one(noise.mechanism()), 0.0, chances) >= least);

    let noise = Noise::laplace(1.0, 1.0, Grid::new(-30).unwrap()).unwrap();
    let below = |x: f64| noise.release(x).unwrap() <= 0.0;
    let seen = attack(many, || below(0.0), || below(1.0));
    let chances = (laplace_at_least(0.0, 1.0), laplace_at_least(1.0, 1.0));
    assert!(holds("laplace", seen, &one(noise.mechanism()), 0.0, chances) >= least);

    for buckets in [2, 5] {
        let response = RandomizedResponse::new(1.0, buckets).unwrap();
        let truth = |answer: u64| response.release(answer).unwrap() == 0;
        let seen = attack(many, || truth(0), || truth(1));
        let rest = (buckets - 1) as f64;
        let chances = (1.0_f64.exp() / (1.0_f64.exp() + rest), 1.0 / (1.0_f64.exp() + rest));
        let share = holds("randomized response", seen, &one(response.mechanism()), 0.0, chances);
        assert!(share >= least, "{share}");
    }
}

/// Eight steps add one level to each x <= 0: the chances are e apart. With the boundary at 4
/// (8/(1 + e^(1/2)) is 3.02, and 3.5 is nearest to it half a step off the grid) the weights of
/// zero, its level and all levels are 1, 7 and 7 + 16 (1/e + 1/e^2 + ...).
#[test]
fn staircase_noise_keeps_to_its_charge() {
    let noise = Noise::staircase(1.0, None, 8.0, Grid::WHOLE).unwrap();
    let seen = attack(fewer(), || noise.add(0).unwrap() <= 0, || noise.add(8).unwrap() <= 0);
    let zero = 1.0 / (7.0 + 16.0 / 1.0_f64.exp_m1());
    let low = 0.5 * (1.0 + zero);
    let chances = (low, low / 1.0_f64.exp());
    holds("staircase", seen, &one(noise.mechanism()), 0.0, chances);
}

/// At delta 0.1 one shift of half a sigma costs 0.29. The best test is where the loss, x/4 -
/// 1/8, is that: from x = 1.66 on. It has the chances 0.37 and 0.20, and ln(0.27/0.20) = 0.29.
#[test]
fn gaussian_noise_keeps_to_its_charge() {
    let noise = Noise::gaussian(2.0, 1.0, Grid::new(-4).unwrap()).unwrap();
    let high = |x: f64| noise.release(x).unwrap() >= 1.6875;
    let seen = attack(runs(), || high(1.0), || high(0.0));
    // 27/16 in units of 1/16, in which sigma is 32.
    let weight = |units: i32| (-0.5 * (f64::from(units) / 32.0).powi(2)).exp();
    let total: f64 = (-1300..=1300).map(weight).sum();
    let from = |units: i32| (units..=1300).map(weight).sum::<f64>() / total;
    let share = holds("gaussian", seen, &one(noise.mechanism()), 0.1, (from(11), from(27)));
    // The attack is the best one: with 10^6 runs nothing but chance is lost.
    assert!(share >= in_full(0.8, 0.2), "{share}");
}

/// A leak counts as delta; without it the chances are e apart.
#[test]
fn leaky_responses_keep_to_their_charge() {
    let (e, delta) = (1.0_f64.exp(), 0.05);
    let response = LeakyResponse::new(1.0, delta).unwrap();
    let told = |bit| match response.release(bit).unwrap() {
        LeakyAnswer::Leaked(bit) | LeakyAnswer::Randomized(bit) => bit,
    };
    let seen = attack(runs(), || told(true), || told(false));
    let chances = (delta + (1.0 - delta) * e / (1.0 + e), (1.0 - delta) / (1.0 + e));
    let share = holds("leaky response", seen, &one(response.mechanism()), delta, chances);
    assert!(share >= in_full(0.9, 0.7), "{share}");
}

/// One score falls and twenty rise: weights a = e^(1/2) to 20 become 1 to 20 a, so that the
/// chances a/(a + 20) and 1/(1 + 20 a) are 2.59 = e^0.95 apart. (Two places alone: e^0.5.)
#[test]
fn exponential_choices_keep_to_their_charge() {
    let choice = Exponential::new(1.0, 1).unwrap();
    let (mut with, mut without) = ([0_i64; 21], [1_i64; 21]);
    (with[0], without[0]) = (1, 0);
    let first = |scores: &[i64]| choice.release(scores).unwrap() == 0;
    let seen = attack(runs(), || first(&with), || first(&without));
    let a = 0.5_f64.exp();
    let chances = (a / (a + 20.0), 1.0 / (1.0 + 20.0 * a));
    let share = holds("exponential", seen, &one(choice.mechanism()), 0.0, chances);
    assert!(share >= in_full(0.8, 0.3), "{share}");
}

fn number(measurement: &Measurement, data: &[f64]) -> f64 {
    measurement.run(&Data::new(measurement.relation(), data)).unwrap().number().unwrap()
}

/// Where the answer itself is where the noise is centred, the chances are e apart.
#[test]
fn counts_and_sums_keep_to_their_charge() {
    let bounds = Bounds::new(-1.0, 3.0).unwrap();
    let (with, without) = ([0.5, 3.0, 7.0], [0.5, 3.0]);
    let queries = [
        (Query::count(), 3.0, (at_least(0, 1.0), at_least(1, 1.0))),
        (
            Query::count_within(Bounds::new(2.0, 9.0).unwrap()),
            2.0,
            (at_least(0, 1.0), at_least(1, 1.0)),
        ),
        // One record adds up to 3, and the seven counts as that.
        (Query::sum(bounds), 6.5, (0.5, 0.5 * (-1.0_f64).exp())),
    ];
    for (query, level, chances) in queries {
        let measurement = query.laplace(1.0).unwrap().under(ADD_REMOVE).unwrap();
        let above = |data: &[f64]| number(&measurement, data) >= level;
        let seen = attack(fewer(), || above(&with), || above(&without));
        holds(&format!("{query:?}"), seen, measurement.releases(), 0.0, chances);
    }
}

/// Someone with two records is replaced by someone with none: the sum falls from 12 to 0, which
/// is all that noise of scale 12 covers. How many records there are must not show otherwise.
#[test]
fn several_records_a_person_keep_to_their_charge() {
    let two = Relation::new(Adjacency::Replace, 2).unwrap();
    let sum = Query::sum(Bounds::new(4.0, 6.0).unwrap());
    let measurement = sum.laplace(1.0).unwrap().under(two).unwrap();
    let above = |data: &[f64]| number(&measurement, data) >= 12.0;
    let seen = attack(fewer(), || above(&[6.0, 6.0]), || above(&[]));
    let chances = (0.5, 0.5 * (-1.0_f64).exp());
    holds("two records", seen, measurement.releases(), 0.0, chances);
}

/// The number of records and the sum of their distances from 1, with noise of scale 2 and 4: a
/// person at -1 adds to the one and takes from the other, and both lower the mean.
#[test]
fn means_keep_to_their_charge() {
    const LEVEL: f64 = 1.5;
    let query = Query::mean(Bounds::new(-1.0, 3.0).unwrap());
    let measurement = query.laplace(1.0).unwrap().under(ADD_REMOVE).unwrap();
    let low = |data: &[f64]| number(&measurement, data) <= LEVEL;
    let seen = attack(fewer(), || low(&[3.0, 3.0, -7.0]), || low(&[3.0, 3.0]));
    let chance = |records: i64, offsets: f64| {
        expect(2.0, |noise| {
            let people = (records + noise).max(1) as f64;
            laplace_at_least(offsets - (LEVEL - 1.0) * people, 4.0)
        })
    };
    let chances = (chance(3, 2.0), chance(2, 4.0));
    holds("mean", seen, measurement.releases(), 0.0, chances);
}

/// Noise of scale 3, 6 and 12 on the number, the sum of distances from 1 and that of their
/// squares. The sum's is integrated in steps of 1/20.
#[test]
fn variances_keep_to_their_charge() {
    let query = Query::variance(Bounds::new(-1.0, 3.0).unwrap());
    let measurement = query.laplace(1.0).unwrap().under(ADD_REMOVE).unwrap();
    let high = |data: &[f64]| number(&measurement, data) >= 1.5;
    let seen = attack(fewer(), || high(&[0.5, 3.0, 7.0]), || high(&[0.5, 3.0]));
    let chance = |records: i64, offsets: f64, squares: f64| {
        expect(3.0, |noise| {
            let people = (records + noise).max(1) as f64;
            let given = |offsets: f64| {
                let mean = (offsets / people).clamp(-2.0, 2.0);
                laplace_at_least((1.5 + mean * mean) * people - squares, 12.0)
            };
            let cell = |i: i32| {
                let x = f64::from(i) / 20.0;
                let mass = laplace_at_least(x - 0.025, 6.0) - laplace_at_least(x + 0.025, 6.0);
                mass * given(offsets + x)
            };
            (-3000..=3000).map(cell).sum()
        })
    };
    let chances = (chance(3, 3.5, 8.25), chance(2, 1.5, 4.25));
    holds("variance", seen, measurement.releases(), 0.0, chances);
}

/// Half of epsilon for each of two bins, which both have to be right.
#[test]
fn histograms_keep_to_their_charge() {
    let histogram = Query::histogram(&[0.0, 1.0, 2.0]).unwrap();
    let histogram = histogram.laplace(1.0).unwrap().under(REPLACE).unwrap();
    let moved = |data: &[f64]| match histogram.run(&Data::new(REPLACE, data)).unwrap() {
        Reply::Table(bins) => bins[0] >= 1.0 && bins[1] <= 0.0,
        _ => false,
    };
    let seen = attack(runs(), || moved(&[0.5]), || moved(&[1.5]));
    let chances = (at_least(0, 2.0).powi(2), at_least(1, 2.0).powi(2));
    let share = holds("histogram", seen, histogram.releases(), 0.0, chances);
    assert!(share >= in_full(0.9, 0.6), "{share}");
}

/// A quarter of one's epsilon each: of four edges one record is in three nodes, and both the first and the fourth answer,
/// which are nodes, rise by one with it; the second, a node too, as well.
#[test]
fn counts_below_edges_keep_to_their_charge() {
    let query = Query::cumulative(&[1.0, 2.0, 3.0, 4.0]).unwrap();
    let ready = query.laplace(1.0).unwrap().under(ADD_REMOVE).unwrap();
    let moved = |data: &[f64]| match ready.run(&Data::new(ADD_REMOVE, data)).unwrap() {
        Reply::Table(below) => [0, 1, 3].iter().all(|edge| below[*edge] >= 1.0),
        _ => false,
    };
    let seen = attack(runs(), || moved(&[0.5]), || moved(&[]));
    let chances = (at_least(0, 3.0).powi(3), at_least(1, 3.0).powi(3));
    let share = holds("counts below edges", seen, ready.releases(), 0.0, chances);
    assert!(share >= in_full(0.9, 0.6), "{share}");
}

/// Two counts at half of epsilon each: all are within, and one more is.
#[test]
fn proportions_keep_to_their_charge() {
    let query = Query::proportion(Bounds::new(0.0, 1.0).unwrap());
    let ready = query.laplace(1.0).unwrap().under(REPLACE).unwrap();
    // Of two rows: both within, or one of them.
    let high = |data: &[f64]| number(&ready, data) >= 1.0;
    let seen = attack(fewer(), || high(&[0.5, 0.5]), || high(&[0.5, 7.0]));
    let chances = (at_least(0, 1.0), at_least(1, 1.0));
    holds("proportion", seen, ready.releases(), 0.0, chances);
    // Their number private: one half more of the sides, and one more of the ones, which have noise of scales 1 and 2.
    let ready = query.laplace(1.0).unwrap().under(ADD_REMOVE).unwrap();
    let high = |data: &[f64]| number(&ready, data) >= 0.75;
    let seen = attack(fewer(), || high(&[0.5, 0.5]), || high(&[0.5]));
    let chance = |records: i64, sides: f64| {
        expect(2.0, |noise| {
            let people = (records + noise).max(1) as f64;
            laplace_at_least(0.25 * people - sides, 1.0)
        })
    };
    holds("private proportion", seen, ready.releases(), 0.0, (chance(2, 1.0), chance(1, 0.5)));
}

/// As for one, at half of epsilon each: both have to be in the middle.
#[test]
fn several_quantiles_keep_to_their_charge() {
    let candidates: Vec<f64> = (0..=20).map(f64::from).collect();
    let query = Query::quantiles(&[(499, 1000), (501, 1000)], &candidates).unwrap();
    let ready = query.exponential(2.0).unwrap().under(ADD_REMOVE).unwrap();
    let middle = |data: &[f64]| match ready.run(&Data::new(ADD_REMOVE, data)).unwrap() {
        Reply::Table(both) => both.iter().all(|one| (one - 10.0).abs() < 0.5),
        _ => false,
    };
    let seen = attack(fewer(), || middle(&[9.5, 10.5]), || middle(&[9.5]));
    // Scores lack |below - share n| in thousandths, of which 501 are a sensitivity.
    let chance = |share: f64, below: &dyn Fn(usize) -> f64, n: f64| {
        let weight = |place: usize| {
            let miss = (1000.0 * below(place) - share * n).abs();
            (-miss / (2.0 * 501.0)).exp()
        };
        weight(10) / (0..=20).map(weight).sum::<f64>()
    };
    let both = |place: usize| {
        if place < 10 {
            0.0
        } else if place > 10 {
            2.0
        } else {
            1.0
        }
    };
    let one = |place: usize| if place < 10 { 0.0 } else { 1.0 };
    let product = |below: &dyn Fn(usize) -> f64, n: f64| {
        [499.0, 501.0].map(|share| chance(share, below, n)).into_iter().product::<f64>()
    };
    holds("quantiles", seen, ready.releases(), 0.0, (product(&both, 2.0), product(&one, 1.0)));
}

/// Without the second number all 21 scores are -1. With it the middle one is 0 and the others
/// are -2: chances 1/(1 + 20/e) and 1/21, e^0.92 apart.
#[test]
fn quantiles_keep_to_their_charge() {
    let candidates: Vec<f64> = (0..=20).map(f64::from).collect();
    let median = Query::quantile((1, 2), &candidates).unwrap();
    let median = median.exponential(1.0).unwrap().under(ADD_REMOVE).unwrap();
    let middle = |data: &[f64]| (number(&median, data) - 10.0).abs() < 0.5;
    let seen = attack(fewer(), || middle(&[9.5, 10.5]), || middle(&[9.5]));
    let chances = (1.0 / (1.0 + 20.0 / 1.0_f64.exp()), 1.0 / 21.0);
    holds("quantile", seen, median.releases(), 0.0, chances);
}

/// A median and both ends of its interval, each at a third of epsilon: the first in the middle, the others at both sides. Ranks are -1 and
/// 1 with one number, up to the tenth candidate and beyond, and -2, 0 and 2 with two; one row is two points. The ends aim 1 + 7 points
/// away from zero, 7 being the first number above 2 ln(21 / (2 (2^(1/2) - 1))) = 6.46.
#[test]
fn intervals_of_quantiles_keep_to_their_charge() {
    let candidates: Vec<f64> = (0..=20).map(f64::from).collect();
    let median = Query::quantile((1, 2), &candidates).unwrap();
    let ready = median.exponential_interval(3.0, 0.5).unwrap().under(ADD_REMOVE).unwrap();
    let both = |data: &[f64]| {
        let tally = ready.tally(&Data::new(ADD_REMOVE, data)).unwrap();
        match ready.draw(&tally).unwrap() {
            NoisyAnswer::Quantiles { chosen, .. } => chosen == [[10.0, 0.0, 20.0]],
            other => panic!("{other:?}"),
        }
    };
    let seen = attack(fewer(), || both(&[9.5, 10.5]), || both(&[9.5]));
    let e = |points: f64| (-0.5 * points).exp();
    // What lies below a lower end from the second candidate on, and above an upper end up to the last but one.
    let two = [(9.0, 6.0), (1.0, 8.0), (10.0, 10.0)];
    let one = [[(9.0, 7.0), (11.0, 9.0)], [(10.0, 9.0), (10.0, 7.0)]];
    let end = |far: &[(f64, f64)]| {
        1.0 / (1.0 + far.iter().map(|(count, points)| count * e(*points)).sum::<f64>())
    };
    let upper_two = [(10.0, 10.0), (1.0, 8.0), (9.0, 6.0)];
    let chances =
        (end(&two) * end(&upper_two) / (1.0 + 20.0 * e(2.0)), end(&one[0]) * end(&one[1]) / 21.0);
    assert_eq!(ready.releases()[0].count.get(), 3);
    holds("interval", seen, ready.releases(), 0.0, chances);
}

/// How many are one: one person's record counts, or does not.
fn ones() -> Query {
    Query::count_within(Bounds::new(1.0, 2.0).unwrap())
}

fn zeros() -> Query {
    Query::count_within(Bounds::new(0.0, 0.5).unwrap())
}

fn open(declared: &InteractiveMechanism, relation: Relation, data: &[f64]) -> Session {
    declared.open(&Data::new(relation, data)).unwrap()
}

/// What the whole of it is charged as.
fn price(declared: &InteractiveMechanism, relation: Relation) -> Vec<Release> {
    declared.under(relation).unwrap().releases().to_vec()
}

/// Below four times, then above, where the first query falls and the second rises with the
/// person's record. Threshold and queries have noise of scale 2; the chances, 0.0425 and
/// 0.0102, are e^1.43 apart.
#[test]
fn sparse_vector_keeps_to_three_epsilon() {
    let declared = InteractiveMechanism::from(SparseVector::new(0.5, 1, 0.0).unwrap());
    let (falling, rising) = (SessionQuery::Above(zeros()), SessionQuery::Above(ones()));
    let pattern = |data: &[f64]| {
        let session = open(&declared, REPLACE, data);
        let ask = |question| session.ask(question).unwrap();
        (0..4).all(|_| ask(&falling) == Reply::Below) && ask(&rising) == Reply::Above(None)
    };
    let price = price(&declared, REPLACE);
    let charge = charged(&price, 0.0);
    assert!((charge - 1.5).abs() < 1e-9, "3 epsilon, not {charge}");
    let seen = attack(fewer(), || pattern(&[1.0]), || pattern(&[0.0]));
    let chance = |falling: i64, rising: i64| {
        expect(2.0, |threshold| {
            let below = 1.0 - at_least(threshold - falling, 2.0);
            below.powi(4) * at_least(threshold - rising, 2.0)
        })
    };
    let chances = (chance(0, 1), chance(1, 0));
    let share = holds("sparse vector", seen, &price, 0.0, chances);
    assert!(share >= in_full(0.8, 0.0), "{share}");
}

/// A guess of 0 is wrong, and the value is at least 1: noise on the threshold, the distance and
/// the value, all of this scale.
fn corrected(truth: i64, scale: f64) -> f64 {
    expect(scale, |noise| at_least(1 + noise - truth, scale)) * at_least(1 - truth, scale)
}

#[test]
fn guess_and_check_keeps_to_four_epsilon() {
    let declared = InteractiveMechanism::from(GuessAndCheck::new(0.5, 1, 1.0).unwrap());
    let question = SessionQuery::Check(ones(), 0.0);
    let wrong = |data: &[f64]| {
        let session = open(&declared, ADD_REMOVE, data);
        matches!(session.ask(&question), Ok(Reply::Wrong(x)) if x >= 1.0)
    };
    let price = price(&declared, ADD_REMOVE);
    let charge = charged(&price, 0.0);
    assert!((charge - 2.0).abs() < 1e-9, "4 epsilon, not {charge}");
    let seen = attack(fewer(), || wrong(&[1.0]), || wrong(&[]));
    let chances = (corrected(1, 2.0), corrected(0, 2.0));
    holds("guess and check", seen, &price, 0.0, chances);
}

/// Ten records a person: whatever is asked in a session is scaled for ten, and costs what it
/// would cost for one. Ten in a bin, or none, with noise of scale 10; ten above the median, which
/// leave the middle of 21 candidates alone at the top, with scores that count 1/20 each; a count
/// of ten or none with noise of scale 20 on the threshold, the count and the value.
#[test]
fn sessions_about_ten_records_a_person_keep_to_their_charge() {
    let ten = Relation::new(Adjacency::AddRemove, 10).unwrap();
    let attacked =
        |declared: &InteractiveMechanism, question: &SessionQuery, found: fn(&Reply) -> bool| {
            let seen = |data: &[f64]| found(&open(declared, ten, data).ask(question).unwrap());
            let (with, without) = ([[9.5; 10], [10.5; 10]].concat(), [9.5; 10]);
            attack(fewer(), || seen(&with), || seen(&without))
        };
    let sequence = |noisy_query: &NoisyQuery| {
        InteractiveMechanism::from(Sequence::new([noisy_query.clone()]).unwrap())
    };
    let histogram = Query::histogram(&[10.0, 11.0]).unwrap().laplace(1.0).unwrap();
    let declared = sequence(&histogram);
    let seen = attacked(
        &declared,
        &SessionQuery::Measure(histogram),
        |reply| matches!(reply, Reply::Table(bins) if bins[0] >= 10.0),
    );
    let chances = (at_least(0, 10.0), at_least(10, 10.0));
    holds("histogram", seen, &price(&declared, ten), 0.0, chances);

    let candidates: Vec<f64> = (0..=20).map(f64::from).collect();
    let median = Query::quantile((1, 2), &candidates).unwrap().exponential(1.0).unwrap();
    let declared = sequence(&median);
    let seen = attacked(&declared, &SessionQuery::Measure(median), |reply| {
        reply.number().is_some_and(|x| (x - 10.0).abs() < 0.5)
    });
    let chances = (1.0 / (1.0 + 20.0 / 1.0_f64.exp()), 1.0 / 21.0);
    holds("quantile", seen, &price(&declared, ten), 0.0, chances);

    let declared = SparseVector::new(0.5, 1, 10.0).unwrap().with_values().into();
    let above = SessionQuery::Above(Query::count_within(Bounds::new(10.0, 11.0).unwrap()));
    let seen = attacked(
        &declared,
        &above,
        |reply| matches!(reply, Reply::Above(Some(value)) if *value >= 10.0),
    );
    let chance = |truth: i64| {
        let is_above = expect(20.0, |noise| at_least(10 + noise - truth, 20.0));
        is_above * at_least(10 - truth, 20.0)
    };
    holds("sparse vector", seen, &price(&declared, ten), 0.0, (chance(10), chance(0)));
}

/// Two sessions, interleaved: the second is asked what the first one's answer suggests.
#[test]
fn sessions_side_by_side_keep_to_the_total() {
    let count = ones().laplace(0.5).unwrap();
    let measure = SessionQuery::Measure(count.clone());
    let open = |data: &[f64]| {
        let guess = GuessAndCheck::new(0.25, 1, 1.0).unwrap();
        let sequence = Sequence::new([count.clone()]).unwrap();
        let all = [("guess", guess.into()), ("sequence", sequence.into())];
        ConcurrentSessions::open(&Data::new(ADD_REMOVE, data), all).unwrap()
    };
    let found = |data: &[f64]| {
        let all = open(data);
        let reply = all.session("sequence").unwrap().ask(&measure).unwrap();
        let guess = reply.number().unwrap();
        let check = SessionQuery::Check(ones(), if guess >= 1.0 { 0.0 } else { 1.0 });
        let reply = all.session("guess").unwrap().ask(&check).unwrap();
        guess >= 1.0 && matches!(reply, Reply::Wrong(value) if value >= 1.0)
    };
    let all = open(&[1.0]);
    let charge = charged(all.releases(), 0.0);
    assert!((charge - 1.5).abs() < 1e-9, "4 * 0.25 + 0.5, not {charge}");
    let seen = attack(fewer(), || found(&[1.0]), || found(&[]));
    let chance = |truth: i64| at_least(1 - truth, 2.0) * corrected(truth, 4.0);
    holds("side by side", seen, all.releases(), 0.0, (chance(1), chance(0)));
}

/// The halt, as any gate must keep it: so many answers above, then none.
pub(crate) fn answers_above(mut ask: impl FnMut() -> Option<bool>) -> u64 {
    (0..10_000).map_while(|_| ask()).filter(|&above| above).count() as u64
}

#[test]
fn a_session_ends_with_its_last_answer_above() {
    for count in [1, 2, 7] {
        let declared = SparseVector::new(1.0, count, -100.0).unwrap();
        let session = open(&declared.into(), ADD_REMOVE, &[]);
        let question = SessionQuery::Above(ones());
        let above = answers_above(|| match session.ask(&question) {
            Ok(reply) => Some(reply != Reply::Below),
            Err(_) => None,
        });
        assert_eq!(above, count);
        assert!(session.is_exhausted());
    }
}
