//! Declared plans: what a slot covers, and what it does not, against profiles by brute force.

use crate::common::mechanisms::{mixture, times};
use crate::common::slots;

use counterpoint::quantity::{Buckets, Count, NoiseScale, WholeSensitivity};
use counterpoint::theorem::{ParameterChoice, Theorem};
use counterpoint::{Adjacency, Delta, Epsilon, Mechanism, Options};
use counterpoint_budget::{
    Amount, Basis, Concurrency, CoverError, DeclareError, Filter, FilterError, Odometer, OpenError,
    PlanAccount, Query, Terms, covers,
};
use counterpoint_numerics::normal_tail;
use counterpoint_testing::Random;
use slots::*;

fn games(full: usize) -> usize {
    if crate::common::is_full() { full } else { full / 20 }
}

fn basis(slot: &Query, opened: &Query) -> Option<Basis> {
    covers(std::slice::from_ref(slot), std::slice::from_ref(opened), terms()).ok()
}

/// Each rule covers what it should, and not what is 1 % more.
#[test]
fn every_rule_ends_where_its_slot_does() {
    let discrete = |sigma: f64, steps: u64| {
        other(Mechanism::DiscreteGaussian {
            sigma: NoiseScale::new(sigma).unwrap(),
            sensitivity: WholeSensitivity::new(steps).unwrap(),
        })
    };
    let buckets = |epsilon: f64, buckets: u64| {
        other(Mechanism::RandomizedResponse {
            epsilon: Epsilon::new(epsilon).unwrap(),
            buckets: Buckets::new(buckets).unwrap(),
        })
    };
    let exponential =
        |epsilon: f64| other(Mechanism::Exponential { epsilon: Epsilon::new(epsilon).unwrap() });
    use Basis::*;
    let cases = [
        // (slot, covered, basis, not covered).
        (laplace("10"), laplace("10"), Same, laplace("9.9")),
        (laplace("10"), laplace("10.1"), LessOfTheSame, laplace("9.9999999999999999999999")),
        (gaussian("2"), gdp("0.5"), LessOfTheSame, gdp("0.505")),
        (gdp("0.5"), gaussian("2"), LessOfTheSame, gaussian("1.98")),
        (geometric(2.0, 3), geometric(2.1, 2), LessOfTheSame, geometric(1.98, 3)),
        (discrete(2.0, 3), discrete(2.0, 2), LessOfTheSame, discrete(1.98, 3)),
        (buckets(1.0, 4), buckets(0.9, 4), LessOfTheSame, buckets(1.01, 4)),
        (exponential(0.5), exponential(0.4), LessOfTheSame, exponential(0.505)),
        (sampled(1.0, 0.01), sampled(1.1, 0.01), LessOfTheSame, sampled(0.99, 0.01)),
        (sampled(1.0, 0.01), sampled(1.0, 0.009), LessOfTheSame, sampled(1.0, 0.0101)),
        (gaussian("1"), sampled(1.0, 0.01), LessOfTheSame, sampled(0.99, 0.99)),
        (approx("0.3", "1e-6"), approx("0.3", "1e-7"), Guarantee, approx("0.303", "1e-6")),
        (approx("0.1", "0"), laplace("10"), Guarantee, laplace("9.9")),
        (approx("0.5", "0.3"), approx("1", "0"), Guarantee, approx("1.1", "0")),
        (zcdp("0.125"), gaussian("2"), Divergences, gaussian("1.98")),
        (zcdp("0.5"), approx("1", "0"), Divergences, approx("1.1", "0")),
        (tcdp(0.125, 10.0), gaussian("2"), Divergences, gaussian("1.98")),
        (tcdp(0.125, 10.0), tcdp(0.125, 11.0), Divergences, tcdp(0.125, 9.9)),
        (rdp(&[2.0, 8.0], &[0.25, 1.0]), gaussian("2"), Divergences, gaussian("1.98")),
        // Analytic Gaussian: sigma 3.7306316348 is (1, 1e-5)-private.
        (approx("1", "1e-5"), gaussian("3.7307"), Profile, gaussian("3.7305")),
        // tanh(e/2) = 2 Phi(1/2) - 1 at e = 0.80697.
        (gdp("1"), approx("0.8069", "0"), TotalVariation, approx("0.807", "0")),
        // tanh(e/2) = 1 - exp(-1/2) at e = 0.83180.
        (laplace("1"), approx("0.8317", "0"), TotalVariation, approx("0.8319", "0")),
    ];
    for (slot, covered, shown, too_much) in cases {
        assert_eq!(basis(&slot, &covered), Some(shown), "{slot:?} {covered:?}");
        let error = covers(std::slice::from_ref(&slot), &[too_much], terms()).unwrap_err();
        assert!(matches!(error, CoverError::NotCovered(_)), "{slot:?}: {error}");
        assert!(error.to_string().contains("; legal: "), "{error}");
    }
}

/// Analytic constants of the table above, by another formula.
#[test]
fn a_gaussian_slot_is_above_randomized_response_everywhere() {
    let tail = |x: f64| normal_tail(x).0.estimate();
    for i in -400..=400 {
        let e = 0.01 * f64::from(i);
        let gaussian = tail(e - 0.5) - e.exp() * tail(e + 0.5);
        let (up, down) = (1.0 / (1.0 + (-0.8069_f64).exp()), 1.0 / (1.0 + 0.8069_f64.exp()));
        let response = (up - e.exp() * down).max(0.0) + (down - e.exp() * up).max(0.0);
        assert!(response <= gaussian + 1e-12, "{e}: {response} {gaussian}");
    }
}

/// A pair's profile in one direction.
fn profile(pair: &[(f64, f64)], rate: f64) -> f64 {
    pair.iter().map(|(p, q)| (p - rate * q).max(0.0)).sum()
}

fn some_pair(random: &mut Random, outcomes: usize) -> Vec<(f64, f64)> {
    let mut one = || -> Vec<f64> {
        let mut list = vec![0.0; outcomes];
        for _ in 0..64 {
            list[random.below(outcomes as u64) as usize] += 1.0 / 64.0;
        }
        list
    };
    let (p, q) = (one(), one());
    p.into_iter().zip(q).collect()
}

fn query_of(pair: &[(f64, f64)]) -> Query {
    let [p, q]: [Vec<f64>; 2] =
        [pair.iter().map(|o| o.0).collect(), pair.iter().map(|o| o.1).collect()];
    finite(&p, &q)
}

/// Sixty-fourths are exact in doubles, and so is what a random map of eighths makes of them.
#[test]
fn finite_pairs_are_decided_as_by_brute_force() {
    let mut random = Random::new(11);
    let (mut yes, mut no) = (0, 0);
    for _ in 0..games(4000) {
        let size = random.between(2, 5) as usize;
        let above = some_pair(&mut random, size);
        let below = if random.once_in(2) {
            // Every outcome goes to another with chances in eighths.
            let mut mapped = vec![(0.0, 0.0); 4];
            for &(p, q) in &above {
                for _ in 0..8 {
                    let to = &mut mapped[random.below(4) as usize];
                    *to = (to.0 + p / 8.0, to.1 + q / 8.0);
                }
            }
            mapped
        } else {
            some_pair(&mut random, 3)
        };
        // An outcome that never happens, anywhere in either list.
        let (mut above, mut below) = (above, below);
        for list in [&mut above, &mut below] {
            if random.once_in(3) {
                let at = random.below(list.len() as u64 + 1) as usize;
                list.insert(at, (0.0, 0.0));
            }
        }
        // Both profiles are lines between these.
        let rates = above.iter().chain(&below).filter(|o| o.1 > 0.0).map(|o| o.0 / o.1);
        let is_within = |rate: f64| profile(&below, rate) <= profile(&above, rate) + 1e-13;
        let expected = rates.chain([0.0, 1e9]).all(is_within);
        let found = match basis(&query_of(&above), &query_of(&below)) {
            Some(_) => true,
            None => {
                // Without an outcome in common there is no loss, and no account for it.
                if [&above, &below].iter().any(|pair| pair.iter().all(|o| o.0 * o.1 <= 0.0)) {
                    continue;
                }
                false
            }
        };
        assert_eq!(found, expected, "{above:?} {below:?}");
        if found { yes += 1 } else { no += 1 }
    }
    assert!(yes > 50 && no > 50, "{yes} {no}");
}

/// All atoms of leaky randomized responses.
fn atoms(list: &[(f64, f64)]) -> Vec<(f64, f64)> {
    list.iter().fold(vec![(1.0, 1.0)], |atoms, &(e, d)| {
        let (up, down) = ((1.0 - d) / (1.0 + (-e).exp()), (1.0 - d) / (1.0 + e.exp()));
        let one = [(d, 0.0), (up, down), (down, up), (0.0, d)];
        atoms.iter().flat_map(|&(p, q)| one.map(|(a, b)| (p * a, q * b))).collect()
    })
}

/// Whatever is re-cut is dominated at every epsilon on a fine grid.
#[test]
fn recutting_is_never_to_more() {
    let mut random = Random::new(12);
    let mut kept = 0;
    let all = games(2000);
    for _ in 0..all {
        let mut some = |most: f64| -> Vec<(f64, f64)> {
            let size = random.between(1, 3);
            let hundredths = |random: &mut Random, most: f64| {
                (random.uniform(0.01, most) * 100.0).ceil() / 100.0
            };
            (0..size)
                .map(|_| {
                    let leak = if random.once_in(3) { hundredths(&mut random, 0.05) } else { 0.0 };
                    (hundredths(&mut random, most), leak)
                })
                .collect()
        };
        let (above, below) = (some(1.5), some(0.6));
        let queries = |list: &[(f64, f64)]| -> Vec<Query> {
            list.iter().map(|(e, d)| approx(&e.to_string(), &d.to_string())).collect()
        };
        if covers(&queries(&above), &queries(&below), terms()).is_err() {
            continue;
        }
        kept += 1;
        let (fine, coarse) = (atoms(&above), atoms(&below));
        for i in -300..=300 {
            let rate = (0.02 * f64::from(i)).exp();
            let (most, found) = (profile(&fine, rate), profile(&coarse, rate));
            assert!(found <= most + 1e-12, "{above:?} {below:?} at {rate}");
        }
    }
    assert!(kept * 10 > all && kept < all, "{kept} of {all}");
}

/// Two of epsilon 1 into three equal ones: as large as brute force says, to a thousandth.
#[test]
fn recutting_ends_where_domination_does() {
    let two = atoms(&[(1.0, 0.0), (1.0, 0.0)]);
    let is_within = |e: f64| {
        let three = atoms(&[(e, 0.0), (e, 0.0), (e, 0.0)]);
        // Corners at 2 and 0, and some more.
        (-20..=20)
            .map(|i| (0.1 * f64::from(i)).exp())
            .all(|rate| profile(&three, rate) <= profile(&two, rate) + 1e-13)
    };
    let (mut low, mut high) = (0.1, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if is_within(middle) { low = middle } else { high = middle }
    }
    assert!(low > 0.6 && low < 0.667, "{low}");
    let recut = |e: f64| {
        let into = approx(&format!("{e:.6}"), "0").times(count(3));
        covers(&[approx("1", "0").times(count(2))], &[into], terms())
    };
    assert_eq!(recut(0.999 * low), Ok(Basis::Profile));
    assert!(recut(1.001 * low).is_err());
}

#[test]
fn unused_slots_are_recut_only_where_they_dominate() {
    let declared = vec![approx("0.3", "0").times(count(2)), approx("0.5", "0.001"), gdp("0.5")];
    let mut account = PlanAccount::new(declared.clone(), terms()).unwrap();
    let before = account.epsilon(Delta::new(0.01).unwrap(), &Options::default()).unwrap();
    // Basic composition is one instance: 0.3 into 0.1 and 0.2, exactly.
    let parts = vec![approx("0.1", "0"), approx("0.2", "0")];
    assert_eq!(account.recut(&[(0, 1)], parts), Ok(Basis::Profile));
    assert_eq!((account.slots().len(), account.slots()[0].left()), (5, 1));
    let leaky = vec![approx("0.2", "0.0004"), approx("0.3", "0.0006")];
    assert_eq!(account.recut(&[(1, 1)], leaky), Ok(Basis::Profile));
    // 0.09 + 0.16 = 0.25.
    assert_eq!(account.recut(&[(2, 1)], vec![gdp("0.3"), gdp("0.4")]), Ok(Basis::Gaussians));
    let state = account.clone();
    for (unused, into) in [
        (vec![(0, 1)], vec![approx("0.1", "0"), approx("0.21", "0")]),
        (vec![(0, 1)], vec![approx("0.3", "1e-12")]),
        (vec![(3, 1), (4, 1)], vec![approx("0.3", "0")]),
        (vec![(7, 1), (8, 1)], vec![gdp("0.50001")]),
        (vec![], vec![approx("0.1", "0")]),
    ] {
        assert!(account.recut(&unused, into.clone()).is_err(), "{into:?}");
        assert_eq!(account, state);
    }
    // Used slots are gone, and the guarantee is that of the declaration.
    let gone = account.recut(&[(1, 1)], vec![approx("0.5", "0.001")]);
    assert_eq!(gone, Err(OpenError::NoneLeft { slot: 1, asked: 1, left: 0 }));
    let twice = account.recut(&[(0, 1), (0, 1)], vec![approx("0.1", "0")]);
    assert_eq!(twice, Err(OpenError::NoneLeft { slot: 0, asked: 2, left: 1 }));
    let after = account.epsilon(Delta::new(0.01).unwrap(), &Options::default()).unwrap();
    assert_eq!(before, after);
    let restored = PlanAccount::from_stored(declared, account.slots().to_vec(), terms()).unwrap();
    assert_eq!(restored, account);
}

#[test]
fn a_slot_may_hold_a_filter() {
    let declared = vec![approx("1", "1e-6"), gdp("0.5"), zcdp("0.1")];
    let mut account = PlanAccount::new(declared, terms()).unwrap();
    let inner = Filter::renyi_for(amount("1"), amount("1e-6"), &[], terms()).unwrap();
    let wider = Filter::sums(amount("1.01"), amount("1e-6"), terms()).unwrap();
    assert!(account.open_filter(0, &wider).is_err());
    assert!(account.open_filter(0, &inner).is_ok());
    assert!(matches!(account.open_filter(0, &inner), Err(OpenError::NoneLeft { .. })));
    let half = Filter::gdp_budget(amount("0.5"), terms()).unwrap();
    assert_eq!(account.open_filter(1, &half), Ok(Basis::Same));
    assert!(account.open_filter(2, &half).is_err());
    let other = Terms::new(Adjacency::Replace);
    let elsewhere = Filter::zcdp_budget(amount("0.1"), Amount::ZERO, other).unwrap();
    assert_eq!(account.open_filter(2, &elsewhere), Err(OpenError::OtherTerms));
    let rho = Filter::zcdp_budget(amount("0.1"), Amount::ZERO, terms()).unwrap();
    assert_eq!(account.open_filter(2, &rho), Ok(Basis::Same));
}

#[test]
fn openings_run_out_and_parts_are_kept_apart() {
    let part = |name: &str| Some(std::sync::Arc::from(name));
    let declared = vec![
        approx("0.1", "0").times(count(3)),
        approx("0.5", "0").about(part("north")),
        approx("0.5", "0").about(part("south")),
    ];
    let mut account = PlanAccount::new(declared, terms()).unwrap();
    assert!(account.open(0, &laplace("10").times(count(2))).is_ok());
    let error = account.open(0, &laplace("10").times(count(2))).unwrap_err();
    assert_eq!(error.to_string(), "slot 1: 2 openings are asked for and 1 are left");
    let error = account.open(7, &laplace("10")).unwrap_err();
    assert_eq!(error.to_string(), "slot 8 is asked for; legal: 1 to 3");
    // A slot for one part covers nothing about another, or about all.
    assert!(account.open(1, &approx("0.5", "0").about(part("south"))).is_err());
    assert!(account.open(1, &approx("0.5", "0")).is_err());
    assert!(account.open(1, &approx("0.5", "0").about(part("north"))).is_ok());
    // A slot for all covers one about a part.
    assert!(account.open(0, &approx("0.1", "0").about(part("south"))).is_ok());
    assert_eq!(account.setting().parameters, ParameterChoice::Fixed);
    assert!(account.setting().concurrent);
}

#[test]
fn interleaved_plans_refuse_what_no_theorem_covers() {
    let leaky = Query::zcdp(amount("0.1"), amount("1e-6")).unwrap();
    let error = PlanAccount::new(vec![zcdp("0.1"), leaky.clone()], terms()).unwrap_err();
    assert!(
        matches!(&error, DeclareError::Slot { slot: 1, error: FilterError::NotConcurrent { .. } }),
        "{error}"
    );
    let sequential = Terms { concurrency: Concurrency::Sequential, ..terms() };
    let account = PlanAccount::new(vec![leaky], sequential).unwrap();
    assert!(!account.setting().concurrent);
}

#[test]
fn a_plan_keeps_its_budget_or_not() {
    let plan = vec![approx("0.1", "0").times(count(100))];
    let account = PlanAccount::new(plan, terms()).unwrap();
    let keeps =
        |e: &str| account.satisfies(&amount(e), &amount("1e-6"), &Options::default()).unwrap();
    assert!(keeps("4.7746") && !keeps("4.7745"));
}

#[test]
fn odometers_read_the_sum_at_first_and_less_later() {
    let odometer = Odometer::new(amount("1e-6"), amount("1e-7"), terms()).unwrap();
    assert_eq!(odometer.bound(&odometer.start()), Some(Amount::ZERO));
    let price = odometer.charge(&approx("0.1", "1e-10")).unwrap();
    let (mut spent, mut last) = (odometer.start(), Amount::ZERO);
    for n in 1..=1000_u64 {
        spent = spent.plus(&price);
        let bound = odometer.bound(&spent).unwrap();
        assert!(bound >= last && bound <= amount("0.1").times(n));
        if n == 1 {
            assert_eq!(bound, amount("0.1"));
        }
        if n == 100 {
            // One filter at this delta would need 5.0731 by its own order.
            assert!(bound > amount("5.0731") && bound < amount("7"), "{bound}");
        }
        last = bound;
    }
    // 1000 x 1e-10 is all that was set aside.
    assert_eq!(odometer.bound(&spent.plus(&price)), None);
    assert_eq!(odometer.theorem(), Theorem::RenyiOdometer);
    assert_eq!(odometer.setting().parameters, ParameterChoice::Adaptive);
    // A query without an epsilon of its own is read off the levels; a query without a divergence at these orders is
    // read off the sum.
    let gauss = odometer.charge(&gaussian("10")).unwrap();
    assert!(gauss.epsilon.is_none());
    assert!(odometer.bound(&gauss).is_some());
    let error = Odometer::new(amount("1e-6"), amount("1e-6"), terms()).unwrap_err();
    assert!(error.to_string().starts_with("leaks is 0.000001; legal: "), "{error}");
    let shape = |ratio: &str, n| {
        Odometer::with_levels(
            amount("1e-6"),
            Amount::ZERO,
            (&amount("1"), &amount(ratio), n),
            terms(),
        )
    };
    assert!(shape("1", 4).unwrap_err().to_string().starts_with("the ratio of levels is 1; legal"));
    assert!(shape("2", 0).unwrap_err().to_string().starts_with("the number of levels is 0"));
}

/// A comparison that would take minutes is left undecided after a fixed number of steps, on any machine.
#[test]
fn a_slot_is_compared_for_so_long_and_no_longer() {
    use crate::common::mechanisms::finite;
    let terms = Terms::new(Adjacency::AddRemove);
    let shifts = [(0.0, 0.5), (1.0, 0.25), (2.0, 0.25)];
    let pure = Query::from(times(1, finite(&[0.7, 0.2, 0.1], &[0.1, 0.2, 0.7])));
    let leaky = Query::from(times(1, finite(&[0.7, 0.1, 0.2, 0.0], &[0.1, 0.7, 0.0, 0.2])));
    for sigma in [13_562.0, 1e6] {
        let opened = Query::from(times(1, mixture(sigma, &shifts)));
        assert!(covers(std::slice::from_ref(&pure), &[opened], terms).is_err());
    }
    // Slots with many corners, and many mixtures.
    let many = [leaky.clone(), pure].map(|slot| slot.times(Count::new(5).unwrap()));
    let opened = Query::from(times(40, mixture(13_562.0, &shifts)));
    let _ = covers(&many, &[opened], terms);
    // Simple comparisons are still decided.
    let opened = |sigma| [Query::from(times(1, mixture(sigma, &shifts)))];
    assert!(covers(std::slice::from_ref(&leaky), &opened(0.3), terms).is_err());
    assert!(covers(std::slice::from_ref(&leaky), &opened(20.0), terms).is_ok());
}
