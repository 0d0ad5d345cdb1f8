//! Audits: the Clopper-Pearson bounds against exact sums and a published table, and the bound
//! on epsilon against simulated attacks.
//!
//! | family | reference | cases, full | quick |
//! | --- | --- | --- | --- |
//! | rates | binomial sums in arbitrary precision, on both sides of the bound | 600 | 60 |
//! | coverage | simulated attacks on mechanisms of known epsilon | 10,000 | 1,000 |
//! | power | Laplace, 10^6 trials of each kind | 100 | 10 |

use crate::common;
use crate::reference;

use common::is_full;
use counterpoint::audit::{Attack, Tally, audit};
use counterpoint::quantity::{Confidence, NoiseScale};
use counterpoint::{Count, Delta, Guarantee, Mechanism, Options, Plan, Sensitivity};
use counterpoint_testing::Random;
use reference::real::Real;

/// Sums of a thousand terms keep 60 digits.
type Wide = Real<256>;

fn cases(full: usize, quick: usize) -> usize {
    if is_full() { full } else { quick }
}

/// P(Bin(n, p) <= a), term by term: C(n, y) p^y (1-p)^(n-y).
fn binomial_tail(a: u64, n: u64, p: f64) -> Wide {
    let success = Wide::new(p);
    let odds = &success / &(&Wide::new(1.0) - &success);
    let mut term = (&Wide::new(1.0) - &success).powi(n);
    let mut sum = term.clone();
    for y in 0..a {
        let ratio = &Wide::new((n - y) as f64) / &Wide::new((y + 1) as f64);
        term = &(&term * &ratio) * &odds;
        sum = &sum + &term;
    }
    sum
}

#[test]
fn rates_are_the_least_that_exact_sums_allow() {
    let mut random = Random::new(41);
    for _ in 0..cases(600, 60) {
        let trials = random.log_whole(1, 1_000_000);
        let count = random.log_whole(1, trials.min(600)) - 1;
        let risk = random.log_uniform(1e-9, 0.49);
        let bound = Tally::new(count, trials).unwrap().upper_rate(risk);
        let exact = Wide::new(risk);
        assert!(binomial_tail(count, trials, bound) <= exact, "{count}/{trials} at {risk}");
        // Not the least only by the last digits: a little less explains the count too well.
        let less = bound - (1e-11 * bound.min(1.0 - bound)).max(5e-16 * bound);
        assert!(binomial_tail(count, trials, less) > exact, "{count}/{trials} at {risk}");
    }
}

/// Two-sided 95 % limits for x out of n as tables print them (Clopper and Pearson 1934; to four
/// places as in the usual tables), of which the upper ones are one-sided at 0.025.
#[test]
fn rates_are_those_of_the_published_tables() {
    let table = [
        (0, 10, 0.3085),
        (1, 10, 0.4450),
        (2, 10, 0.5561),
        (3, 10, 0.6525),
        (5, 10, 0.8129),
        (0, 20, 0.1684),
        (1, 20, 0.2487),
        (5, 100, 0.1128),
        (10, 100, 0.1762),
        (50, 100, 0.6017),
    ];
    for (count, trials, expected) in table {
        let bound = Tally::new(count, trials).unwrap().upper_rate(0.025);
        assert!((bound - expected).abs() <= 5.1e-5, "{count}/{trials}: {bound}");
    }
}

#[test]
fn large_counts_follow_the_normal_law() {
    // The bound is a quantile of Beta(a + 1, n - a); its Cornish-Fisher expansion to second
    // order has an error of order n^-3/2.
    let z = 1.959_963_984_540_054_f64;
    for (count, trials) in [(500_000_u64, 1_000_000_u64), (300_000_000, 1_000_000_000)] {
        let (n, p) = (trials as f64, count as f64 / trials as f64);
        let spread = (p * (1.0 - p) / n).sqrt();
        let second = ((1.0 - 2.0 * p) * z * z + 2.0 - p) / (3.0 * n);
        let bound = Tally::new(count, trials).unwrap().upper_rate(0.025);
        let expected = p + z * spread + second;
        assert!((bound - expected).abs() < 20.0 * n.powf(-1.5), "{bound} {expected}");
    }
}

fn tally(random: &mut Random, trials: u64, probability: f64) -> Tally {
    let count = (0..trials).filter(|_| random.unit() < probability).count();
    Tally::new(count as u64, trials).unwrap()
}

fn confidence(value: f64) -> Confidence {
    Confidence::new(value).unwrap()
}

#[test]
fn the_bound_holds_as_often_as_it_says() {
    let mut random = Random::new(42);
    let runs = cases(10_000, 1000);
    // Randomized response of epsilon 1, whose best test has these rates; and one that leaks.
    let wrong = 1.0 / (1.0 + 1f64.exp());
    for (delta, attacks) in [(0.0, 1), (0.05, 1), (0.0, 3)] {
        let rate = wrong * (1.0 - delta);
        let mut held = 0;
        for _ in 0..runs {
            let one = |random: &mut Random| Attack {
                false_alarms: tally(random, 150, rate),
                misses: tally(random, 150, rate),
            };
            let list: Vec<Attack> = (0..attacks).map(|_| one(&mut random)).collect();
            let found = audit(&list, Delta::new(delta).unwrap(), confidence(0.95));
            held += usize::from(found.epsilon <= 1.0);
        }
        let sampling = 3.0 * (0.95 * 0.05 * runs as f64).sqrt();
        assert!(held as f64 >= 0.95 * runs as f64 - sampling, "{held} of {runs}");
    }
}

#[test]
fn each_rate_holds_as_often_as_it_says() {
    // One rate alone is not held more often than need be: the bound on epsilon, which takes
    // two at half the risk each, would hide a bound that is too low.
    let mut random = Random::new(43);
    let runs = cases(10_000, 2000);
    for (trials, probability) in [(300, 0.3), (1000, 0.02)] {
        let held = (0..runs)
            .filter(|_| tally(&mut random, trials, probability).upper_rate(0.05) >= probability)
            .count() as f64;
        let (runs, sampling) = (runs as f64, 3.0 * (0.95 * 0.05 * runs as f64).sqrt());
        assert!(held >= 0.95 * runs - sampling, "{held}");
        assert!(held <= 0.985 * runs, "{held}: far too cautious");
    }
}

/// Laplace noise of scale one.
fn noise(random: &mut Random) -> f64 {
    let u = random.unit() - 0.5;
    -u.signum() * (1.0 - 2.0 * u.abs()).max(f64::MIN_POSITIVE).ln()
}

/// An alarm at answers above 1, the truth being 0 or 1.
fn laplace_attack(random: &mut Random, trials: u64, scale: f64) -> Attack {
    let mut alarms =
        |truth: f64| (0..trials).filter(|_| truth + scale * noise(random) > 1.0).count() as u64;
    let (without, with) = (alarms(0.0), alarms(1.0));
    Attack {
        false_alarms: Tally::new(without, trials).unwrap(),
        misses: Tally::new(trials - with, trials).unwrap(),
    }
}

#[test]
fn a_million_trials_find_nine_tenths_of_epsilon() {
    let mut random = Random::new(44);
    let runs = cases(100, 10);
    let delta = Delta::new(0.0).unwrap();
    let (mut found, mut wrong) = (0, 0);
    for _ in 0..runs {
        let attack = laplace_attack(&mut random, 1_000_000, 1.0);
        let epsilon = audit(&[attack], delta, confidence(0.95)).epsilon;
        found += usize::from(epsilon > 0.9);
        wrong += usize::from(epsilon > 1.0);
    }
    assert!(found * 100 >= runs * 95, "{found} of {runs}");
    assert!(wrong * 100 <= runs * 10, "{wrong} of {runs}");
}

#[test]
fn a_broken_mechanism_is_caught_and_a_sound_one_is_not() {
    let laplace = |scale: f64| Mechanism::Laplace {
        scale: NoiseScale::new(scale).unwrap(),
        sensitivity: Sensitivity::new(1.0).unwrap(),
    };
    let claim = Plan::new([(laplace(1.0), Count::ONE)]).unwrap();
    let delta = Delta::new(1e-6).unwrap();
    let mut random = Random::new(45);
    for (scale, refuted) in [(1.0, false), (0.5, true), (2.0, false)] {
        let attack = laplace_attack(&mut random, 20_000, scale);
        let found = audit(&[attack], delta, confidence(0.999));
        let refutation = found.refutes(&claim, &Options::default()).unwrap();
        assert_eq!(refutation.refuted, refuted, "scale {scale}: {found:?}");
        assert!(refutation.epsilon.unwrap().upper <= 1.0);
    }
}

#[test]
fn a_region_refutes_where_epsilon_at_one_delta_does_not() {
    // At delta 0.5 any epsilon will do for (1, 0)-privacy; its region is left all the same.
    let claim = Plan::new([(Guarantee::pure(1.0).unwrap(), Count::ONE)]).unwrap();
    let attack = Attack {
        false_alarms: Tally::new(1000, 10_000).unwrap(),
        misses: Tally::new(5000, 10_000).unwrap(),
    };
    let found = audit(&[attack], Delta::new(0.5).unwrap(), confidence(0.95));
    let refutation = found.refutes(&claim, &Options::default()).unwrap();
    assert!(found.epsilon < 0.5 && refutation.refuted, "{found:?} {refutation:?}");
    // Where the claim has no finite epsilon its region still says what it forbids.
    let leaky = Plan::new([(Guarantee::new(1.0, 0.01).unwrap(), Count::ONE)]).unwrap();
    let found = audit(&[attack], Delta::new(0.0).unwrap(), confidence(0.95));
    let refutation = found.refutes(&leaky, &Options::default()).unwrap();
    assert!(refutation.epsilon.is_none() && refutation.refuted, "{found:?}");
}

#[test]
fn epsilon_is_what_both_inequalities_leave() {
    // KOV (1) at the two-sided 95 % limits of the table above: 0.1762 and 0.6017.
    for (alarms, misses) in [(10, 50), (50, 10)] {
        for delta in [0.0, 0.01] {
            let attack = Attack {
                false_alarms: Tally::new(alarms, 100).unwrap(),
                misses: Tally::new(misses, 100).unwrap(),
            };
            let found = audit(&[attack], Delta::new(delta).unwrap(), confidence(0.95));
            let [few, many] = [10, 50].map(|n| Tally::new(n, 100).unwrap().upper_rate(0.025));
            let rate = |count| if count == 10 { few } else { many };
            assert!((found.rates[0].false_alarm() - rate(alarms)).abs() < 1e-12);
            assert!((found.rates[0].miss() - rate(misses)).abs() < 1e-12);
            let expected = ((1.0 - delta - many) / few).ln();
            assert!((found.epsilon - expected).abs() < 1e-12, "{found:?} {expected}");
            assert!((found.epsilon - ((0.3983 - delta) / 0.1762_f64).ln()).abs() < 1e-3);
        }
    }
}

#[test]
fn more_attacks_cost_confidence() {
    let attack = |alarms| Attack {
        false_alarms: Tally::new(alarms, 1000).unwrap(),
        misses: Tally::new(500, 1000).unwrap(),
    };
    let delta = Delta::new(0.0).unwrap();
    let bound = |list: &[Attack], level| audit(list, delta, confidence(level)).epsilon;
    let alone = bound(&[attack(100)], 0.95);
    let among = bound(&[attack(100), attack(200)], 0.95);
    // Two attacks at 95 % are one at 97.5 %, the better one deciding.
    assert!(among < alone && (among - bound(&[attack(100)], 0.975)).abs() < 1e-9);
}
