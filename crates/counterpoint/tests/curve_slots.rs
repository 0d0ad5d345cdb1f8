//! Slots known by a Rényi curve alone, and other places where a slot might seem to cover more
//! than it promises: what is refused, beside what is covered.

use crate::common::slots;

use counterpoint::Count;
use counterpoint::quantity::Order;
use counterpoint_budget::{
    Amount, Basis, Concurrency, Filter, OpenError, PlanAccount, Query, Terms, covers,
};
use slots::*;

/// A slot of rho 0.5 is no licence to reveal everything with probability 0.38, which a Gaussian
/// with that rho would seem to be: at epsilon 0 it is as far apart.
#[test]
fn a_curve_covers_no_leak() {
    let slots = [zcdp("0.5"), tcdp(0.5, 10.0), rdp(&[2.0, 8.0], &[1.0, 4.0])];
    for slot in slots {
        let account = PlanAccount::new(vec![slot.clone()], terms()).unwrap();
        // A release run in the slot.
        assert!(account.clone().open(0, &leak(0.38)).is_err(), "{slot:?}");
        assert!(account.clone().open(0, &leak(1e-9)).is_err(), "{slot:?}");
        // An account that promises nothing but a leak, and one with both.
        for (epsilon, delta) in [("0", "0.38"), ("0.01", "1e-9")] {
            let inner = Filter::sums(amount(epsilon), amount(delta), terms()).unwrap();
            assert!(account.clone().open_filter(0, &inner).is_err(), "{slot:?}");
        }
        // New slots in its place.
        for into in [approx("0.01", "0.37"), leak(0.01), finite(&[0.99, 0.01], &[1.0, 0.0])] {
            assert!(account.clone().recut(&[(0, 1)], vec![into.clone()]).is_err(), "{into:?}");
        }
    }
    let mut small = PlanAccount::new(vec![zcdp("0.001")], terms()).unwrap();
    assert!(small.open(0, &leak(0.01)).is_err());
    // Together with slots that have a pair, too.
    let both = [zcdp("0.5"), approx("0.1", "0")];
    assert!(covers(&both, &[leak(0.3), approx("0.1", "0")], terms()).is_err());
    assert!(covers(&both, &[approx("0.4", "0.1")], terms()).is_err());
}

/// An outcome that never happens says nothing about the order of the others.
#[test]
fn impossible_outcomes_change_nothing() {
    let nothing = finite(&[0.5, 0.0, 0.5], &[0.5, 0.0, 0.5]);
    let telling = finite(&[0.1, 0.0, 0.9], &[0.9, 0.0, 0.1]);
    assert!(
        covers(std::slice::from_ref(&nothing), std::slice::from_ref(&telling), terms()).is_err()
    );
    assert_eq!(covers(&[telling], &[nothing], terms()), Ok(Basis::Outcomes));
}

/// The same with so many that sorting takes a longer way.
#[test]
fn many_impossible_outcomes_change_nothing() {
    let outcomes = |tilt: f64| -> Vec<f64> {
        let weight =
            |i: u32| if i.is_multiple_of(3) { 0.0 } else { (tilt * f64::from(i * 7 % 64)).exp() };
        let all: f64 = (0..64).map(weight).sum();
        (0..64).map(|i| weight(i) / all).collect()
    };
    let pair = |tilt: f64| finite(&outcomes(tilt), &outcomes(0.0));
    assert_eq!(covers(&[pair(0.02)], &[pair(0.01)], terms()), Ok(Basis::Outcomes));
    assert!(covers(&[pair(0.01)], &[pair(0.02)], terms()).is_err());
}

/// A slot ends at its decimal, not at the double above it.
#[test]
fn slots_are_rounded_down() {
    let tenth = 0.1_f64;
    assert!(Amount::from_f64(tenth).unwrap() > amount("0.1"));
    assert!(covers(&[approx("0", "0.1")], &[leak(tenth)], terms()).is_err());
    assert_eq!(
        covers(&[approx("0", "0.1")], &[leak(tenth.next_down())], terms()),
        Ok(Basis::Guarantee)
    );
    // A Gaussian slot and the same on nearly all of the data: sigma 2 and a little is 2 in doubles.
    let sampled = |sigma: f64| sampled(sigma, 0.999);
    let slot = Query::gaussian(amount("2.00000000000000000001"), amount("1")).unwrap();
    assert!(covers(std::slice::from_ref(&slot), &[sampled(2.0)], terms()).is_err());
    assert_eq!(covers(&[slot], &[sampled(2.0_f64.next_up())], terms()), Ok(Basis::LessOfTheSame));
}

/// Slots of curves are re-cut by the sums of their divergences.
#[test]
fn curves_add_up_where_they_are_curves_of_the_same_orders() {
    let shown = |slots: &[Query], into: &[Query]| covers(slots, into, terms()).ok();
    let alone = |slot: &Query, into: &[Query]| shown(std::slice::from_ref(slot), into);
    let by_sums = Some(Basis::Divergences);
    let half = zcdp("0.5");
    assert_eq!(alone(&half, &[zcdp("0.2"), zcdp("0.3")]), by_sums);
    assert_eq!(alone(&half, &[zcdp("0.2"), zcdp("0.3000000000001")]), None);
    // mu^2/2 is 0.32, and e tanh(e/2) below 0.18 for e = 0.6.
    let gdp = Query::gdp(amount("0.8")).unwrap();
    assert_eq!(alone(&half, &[gdp.clone(), approx("0.6", "0")]), by_sums);
    assert_eq!(alone(&half, &[gdp.clone(), approx("0.62", "0")]), None);
    // Lines as far as the shorter goes.
    let lines = [half.clone(), tcdp(0.5, 4.0)];
    assert_eq!(shown(&lines, &[tcdp(1.0, 4.0)]), by_sums);
    assert_eq!(shown(&lines, &[zcdp("1")]), by_sums);
    assert_eq!(shown(&lines, &[tcdp(1.0, 3.9)]), None);
    assert_eq!(shown(&lines, &[zcdp("1.01")]), None);
    // Tables of the same orders.
    let table = |taus: &[f64]| rdp(&[2.0, 8.0], taus);
    let twice = table(&[0.25, 0.5]).times(Count::new(2).unwrap());
    assert_eq!(alone(&twice, &[table(&[0.5, 1.0])]), by_sums);
    assert_eq!(alone(&twice, &[table(&[0.5, 1.01])]), None);
    assert_eq!(shown(&[table(&[0.25, 0.5]), rdp(&[2.0], &[0.25])], &[table(&[0.5, 0.5])]), None);
    // One that falls from order 2 to 8 says more between them than the sum of both tables.
    let falling = [table(&[1.0, 0.25]), table(&[0.125, 0.75])];
    assert_eq!(shown(&falling, &[table(&[1.0, 1.0])]), None);
    // A Gaussian's slot is a pair: its curve is not for others, in no sum.
    assert_eq!(shown(&[half, gdp], &[zcdp("0.82")]), None);
}

/// An account fits by what it promises, not by what it adds up.
#[test]
fn accounts_fit_in_curves_by_their_orders() {
    let order = |a: f64| Order::new(a).unwrap();
    let renyi = |a: f64, tau: &str| Filter::renyi_budget(order(a), amount(tau), terms()).unwrap();
    let opens = |slot: &Query, filter: &Filter| {
        let mut account = PlanAccount::new(vec![slot.clone()], terms()).unwrap();
        account.open_filter(0, filter).ok()
    };
    let at_eight = rdp(&[8.0], &[0.5]);
    assert_eq!(opens(&at_eight, &renyi(8.0, "0.5")), Some(Basis::Same));
    assert_eq!(opens(&at_eight, &renyi(9.0, "0.5")), Some(Basis::Divergences));
    assert_eq!(opens(&at_eight, &renyi(7.0, "0.01")), None);
    assert_eq!(opens(&at_eight, &renyi(8.0, "0.505")), None);
    let two_orders = rdp(&[2.0, 8.0], &[0.125, 0.5]);
    assert_eq!(opens(&two_orders, &renyi(8.0, "0.125")), Some(Basis::Divergences));
    assert_eq!(opens(&two_orders, &renyi(8.0, "0.2")), None);
    assert_eq!(opens(&two_orders, &renyi(2.0, "0.01")), None);
    // One that promises (E, D) by order 8 may pass its budget there, by pure epsilons.
    let inner = Filter::renyi(amount("2"), amount("0.01"), Amount::ZERO, order(8.0), terms());
    let inner = inner.unwrap();
    let wide = rdp(&[8.0], &[inner.capacity().main.upper()]);
    assert_eq!(opens(&wide, &inner), None);
    assert!(opens(&approx("2", "0.01"), &inner).is_some());
    // Slots of rho.
    let half = zcdp("0.5");
    let budget = |rho: &str| Filter::zcdp_budget(amount(rho), Amount::ZERO, terms()).unwrap();
    assert_eq!(opens(&half, &budget("0.5")), Some(Basis::Same));
    assert_eq!(opens(&half, &budget("0.505")), None);
    let mu = |mu: &str| Filter::gdp_budget(amount(mu), terms()).unwrap();
    assert_eq!(
        (opens(&half, &mu("1")), opens(&half, &mu("1.01"))),
        (Some(Basis::Divergences), None)
    );
    // e tanh(e/2) is 0.5 near e = 1.0434.
    let sums = |e: &str, d: &str| Filter::sums(amount(e), amount(d), terms()).unwrap();
    assert_eq!(opens(&half, &sums("1.04", "0")), Some(Basis::Divergences));
    assert_eq!(opens(&half, &sums("1.05", "0")), None);
    assert_eq!(opens(&half, &sums("0.01", "1e-300")), None);
    assert_eq!(opens(&half, &renyi(500.0, "0.001")), None);
    assert_eq!(opens(&tcdp(0.5, 4.0), &budget("0.5")), Some(Basis::Divergences));
    assert_eq!(opens(&tcdp(0.5, 4.0), &renyi(4.0, "0.001")), None);
}

/// A curve with a leak beside it, one query after the other: no more of either.
#[test]
fn a_leak_beside_a_curve_is_all_that_may_leak() {
    let sequential = Terms { concurrency: Concurrency::Sequential, ..terms() };
    let leaky = |rho: &str, delta: &str| Query::zcdp(amount(rho), amount(delta)).unwrap();
    let slot = [leaky("0.5", "0.01")];
    let shown = |into: &[Query]| covers(&slot, into, sequential).ok();
    let within = Some(Basis::Divergences);
    assert_eq!(shown(&[leaky("0.5", "0.001")]), within);
    assert_eq!(shown(&[approx("1", "0.01")]), within);
    assert_eq!(shown(&[leak(0.0099)]), within);
    assert_eq!(shown(&[leaky("0.2", "0.004"), approx("0.5", "0.006")]), within);
    for beyond in [leaky("0.5", "0.0101"), leaky("0.505", "0.01"), approx("1.1", "0"), leak(0.0101)]
    {
        assert_eq!(shown(std::slice::from_ref(&beyond)), None, "{beyond:?}");
    }
    // The leaks of two slots are not one leak.
    let two = covers(&[slot[0].clone(), zcdp("0.1")], &[leaky("0.6", "0.01")], sequential);
    assert!(two.is_err());
}

/// Slots that are not needed are given up: a rule only considers the slots that it can use.
#[test]
fn slots_without_use_are_given_up() {
    let slots = [zcdp("0.5"), approx("0.3", "0"), Query::gdp(amount("0.5")).unwrap()];
    let parts = [approx("0.1", "0"), approx("0.2", "0")];
    assert_eq!(covers(&slots, &parts, terms()), Ok(Basis::OneByOne));
    let parts = [approx("0.12", "0"), approx("0.13", "0"), approx("0.05", "0")];
    assert_eq!(covers(&slots[1..], &parts, terms()), Ok(Basis::Profile));
    let gaussians = ["0.3", "0.4"].map(|mu| Query::gdp(amount(mu)).unwrap());
    assert_eq!(covers(&slots[1..], &gaussians, terms()), Ok(Basis::Gaussians));
    let rhos = [zcdp("0.25"), zcdp("0.25"), zcdp("0.01")];
    assert!(covers(&slots, &rhos, terms()).is_err());
}

/// Parts of the data are kept apart in slots, in what is cut from them and in accounts.
#[test]
fn slots_keep_their_part_of_the_data() {
    let about = |query: Query, part: &str| query.about(Some(part.into()));
    let declared = vec![about(zcdp("0.5"), "a"), about(approx("1", "0"), "b"), approx("1", "0")];
    let account = PlanAccount::new(declared, terms()).unwrap();
    let cut = |slot: usize, into: Query| account.clone().recut(&[(slot, 1)], vec![into]).is_ok();
    assert!(cut(0, about(zcdp("0.25"), "a")) && cut(1, about(approx("0.5", "0"), "b")));
    assert!(!cut(0, about(zcdp("0.25"), "b")) && !cut(0, zcdp("0.25")));
    assert!(!cut(1, about(approx("0.5", "0"), "a")) && !cut(1, approx("0.5", "0")));
    assert!(cut(2, about(approx("0.5", "0"), "a")) && cut(2, approx("0.5", "0")));
    // Several slots, several parts: nothing is known of them together.
    let both = |into: Vec<Query>| account.clone().recut(&[(1, 1), (2, 1)], into);
    assert!(both(vec![about(approx("0.5", "0"), "b"), approx("0.5", "0")]).is_err());
    let mut account = account;
    let inner = Filter::zcdp_budget(amount("0.5"), Amount::ZERO, terms()).unwrap();
    assert_eq!(account.open_filter(0, &inner), Ok(Basis::Same));
    assert_eq!(
        account.slots().iter().map(|slot| slot.part()).collect::<Vec<_>>(),
        [Some("a"), Some("b"), None]
    );
    let error = account.open(1, &about(approx("0.5", "0"), "a")).unwrap_err();
    assert!(matches!(error, OpenError::Cover(_)));
    assert!(error.to_string().starts_with(r#"approx-dp about part "a" is not shown"#), "{error}");
}

/// A pair that says nothing, ever so often, is not looked at one by one.
#[test]
fn many_uses_of_nothing_are_no_work() {
    let often = Count::new(1_000_000_000_000).unwrap();
    let nothing = finite(&[1.0], &[1.0]).times(often);
    let three = approx("0.1", "0").times(Count::new(3).unwrap());
    let slots = [nothing.clone(), approx("0.3", "0")];
    assert!(covers(&slots, std::slice::from_ref(&three), terms()).is_err());
    assert_eq!(covers(&slots[1..], &[three], terms()), Ok(Basis::Profile));
    let both = [nothing, zcdp("1")];
    assert_eq!(covers(&both, &both, terms()), Ok(Basis::OneByOne));
}

/// The same quotient of sensitivity and scale in other steps: two steps have losses -1, 0 and 1,
/// three also a third of it. By F(c) - F(c-D) the profiles at their own losses are those of
/// Laplace noise, 1 - exp((e-1)/2), and chords between; the chord of three is above at 0.
#[test]
fn noise_in_other_steps_is_no_less_of_the_same() {
    let laplace = |e: f64| -(0.5 * (e - 1.0)).exp_m1();
    let (low, high) = ((-1.0_f64 / 3.0).exp(), (1.0_f64 / 3.0).exp());
    let chord = laplace(-1.0 / 3.0) * (high - 1.0) + laplace(1.0 / 3.0) * (1.0 - low);
    assert!(chord / (high - low) > 1.02 * laplace(0.0));
    assert!(covers(&[geometric(2.0, 2)], &[geometric(3.0, 3)], terms()).is_err());
    assert_eq!(
        covers(&[geometric(2.0, 2)], &[geometric(2.0, 1)], terms()),
        Ok(Basis::LessOfTheSame)
    );
}
