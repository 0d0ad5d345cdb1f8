//! Rules that look right and are not: sequences that they let through and that exceed
//! their promise, and that every rule with the same promise refuses.

use crate::common::game;

use counterpoint::quantity::Order;
use counterpoint::{Count, Epsilon, Guarantee, Options, Plan};
use counterpoint_budget::{Amount, Charge, Currency, Filter, PlanAccount, Query};
use counterpoint_testing::Random;
use game::*;

/// Budget (1, 0.01): RR(1), then on + RR(0.0273592953025063), on - a leak of 0.01. Either
/// branch by itself is within the budget; both together are not.
#[test]
fn composing_what_was_accepted_is_unsound_and_refused() {
    let (first, second) = ("1", "0.0273592953025063");
    let guarantee = |e: &str, d: &str| Guarantee::new(e.parse().unwrap(), d.parse().unwrap());
    let one = Epsilon::new(1.0).unwrap();
    for (e, d) in [(second, "0"), ("0", "0.01")] {
        let accepted =
            [(guarantee(first, "0").unwrap(), Count::ONE), (guarantee(e, d).unwrap(), Count::ONE)];
        let composed = Plan::new(accepted).unwrap();
        let naive = composed.delta(one, &Options::default()).unwrap();
        // The naive rule accepts: delta is 0.01, to all digits of the epsilon given.
        assert!(naive.bracket.upper < 0.01 * (1.0 + 1e-12), "{}", naive.bracket);
        assert!(naive.bracket.lower > 0.01 * (1.0 - 1e-12), "{}", naive.bracket);
    }
    let ends = |after: Pair, p: f64, q: f64| -> Pair {
        after.iter().map(|&(a, b)| (p * a, q * b)).collect()
    };
    let start = response(1.0, 0.0);
    let leaves = [
        ends(response(second.parse().unwrap(), 0.0), start[1].0, start[1].1),
        ends(response(0.0, 0.01), start[2].0, start[2].1),
    ]
    .concat();
    let whole = delta_of(&leaves, 1.0);
    assert!((whole - 0.0126894142137).abs() < 1e-13, "{whole}");

    let [e, d] = ["1", "0.01"].map(amount);
    let zero = Amount::ZERO;
    let plus = approx(&amount(second), &zero).unwrap();
    let minus = approx(&zero, &amount("0.01")).unwrap();
    for filter in promising(&e, &d) {
        assert!(
            !lets_both(&filter, &approx(&amount("1"), &zero).unwrap(), &plus, &minus),
            "{filter:?}"
        );
    }
    // As a plan both branches' slots have to be declared, and cost more than the budget.
    let slots = vec![approx(&amount("1"), &zero).unwrap(), plus, minus];
    let account = PlanAccount::new(slots, terms()).unwrap();
    assert!(!account.satisfies(&e, &d, &Options::default()).unwrap());
}

/// Every filter that promises an (epsilon, delta): orders and shares of all kinds.
fn promising(epsilon: &Amount, delta: &Amount) -> Vec<Filter> {
    let (e, d) = (|| epsilon.clone(), || delta.clone());
    let shares = [Amount::ZERO, delta.half(), delta * &amount("0.999999")];
    let mut list = vec![Filter::sums(e(), d(), terms()).unwrap()];
    list.extend(Filter::gdp(e(), d(), terms()));
    list.extend(Filter::renyi_for(e(), d(), &[], terms()));
    for leaks in shares {
        list.extend(Filter::zcdp(e(), d(), leaks.clone(), terms()));
        for i in 0..60 {
            let order = Order::new(1.0 + (0.2 * f64::from(i) - 3.0).exp()).unwrap();
            list.extend(Filter::renyi(e(), d(), leaks.clone(), order, terms()));
        }
    }
    list
}

/// True if a filter admits the first query and then either of two others.
fn lets_both(filter: &Filter, first: &Query, plus: &Query, minus: &Query) -> bool {
    let rule = rule(filter);
    let Some(spent) = rule(&Charge::default(), first) else { return false };
    rule(&spent, plus).is_some() && rule(&spent, minus).is_some()
}

/// E = 10, delta = 0.1, orders 2 and 11: RR(0.2), then on + a pair that order 2 lets in, on -
/// one that order 11 does.
#[test]
fn some_order_still_in_budget_is_unsound_and_refused() {
    let [e, d] = ["10", "0.1"].map(amount);
    let at = |order: f64| {
        Filter::renyi(e.clone(), d.clone(), Amount::ZERO, Order::new(order).unwrap(), terms())
            .unwrap()
    };
    let (two, eleven) = (at(2.0), at(11.0));
    assert!((two.capacity().main.upper() - 9.08371).abs() < 5e-6);
    assert!((eleven.capacity().main.upper() - 10.10484).abs() < 5e-6);
    let first = approx(&amount("0.2"), &Amount::ZERO).unwrap();
    let fill = |filter: &Filter, loss: f64| {
        let rule = rule(filter);
        let spent = rule(&Charge::default(), &first).unwrap();
        let fits =
            |p: f64| finite(&two_points(loss, p)).is_some_and(|q| rule(&spent, &q).is_some());
        most((1e-9, 1.0 - 1e-12), fits).unwrap()
    };
    // The adversary chooses the order that admits the surer pair on either branch.
    let (high, low) = (fill(&eleven, 9.963), fill(&two, 10.893));
    assert!((high - 0.9999529).abs() < 1e-6, "{high}");
    assert!((low - 0.157438).abs() < 2e-6, "{low}");
    let start = response(0.2, 0.0);
    let ends = |after: Pair, (p, q): (f64, f64)| -> Pair {
        after.iter().map(|&(a, b)| (p * a, q * b)).collect()
    };
    let leaves =
        [ends(two_points(9.963, high), start[1]), ends(two_points(10.893, low), start[2])].concat();
    let whole = delta_of(&leaves, 10.0);
    assert!((whole - 0.1181).abs() < 5e-5 && whole > 0.1 * 1.18, "{whole}");
    let plus = finite(&two_points(9.963, high)).unwrap();
    let minus = finite(&two_points(10.893, low)).unwrap();
    for filter in promising(&e, &d) {
        assert!(!lets_both(&filter, &first, &plus, &minus), "{filter:?}");
    }
    // Played at random, choosing the order afterwards is caught too, and a fixed one never.
    let some_order = |spent: &Charge, query: &Query| -> Option<Charge> {
        // The totals at both orders, kept in the two halves of a charge.
        let [a, b] = [&two, &eleven].map(|filter| filter.charge(query).map(|c| c.main).ok());
        let total = Charge { main: &spent.main + &a?, delta: &spent.delta + &b?, pure: None };
        let within = total.main <= two.capacity().main || total.delta <= eleven.capacity().main;
        within.then_some(total)
    };
    let mut caught = 0;
    for seed in 0..200 {
        let mut choose = |random: &mut Random,
                          rule: &Rule<'_>,
                          spent: &Charge,
                          loss: f64,
                          at: u32| {
            if at == 0 {
                let epsilon = short(random.uniform(0.05, 0.5));
                return Some((approx(&epsilon, &Amount::ZERO)?, response(epsilon.lower(), 0.0)));
            }
            if loss < 0.0 {
                return last_pair(random, rule, spent, (2.0, 10.0, loss));
            }
            // Nearly surely, with as large a loss as order 11 lets in.
            let pair = |aim: f64| two_points(aim, 0.9999);
            let fits = |aim: f64| finite(&pair(aim)).is_some_and(|q| rule(spent, &q).is_some());
            let aim = most((5.0, 15.0), fits)?;
            Some((finite(&pair(aim))?, pair(aim)))
        };
        let leaves = play(&mut Random::new(seed), &some_order, &mut choose, 2);
        caught += usize::from(delta_of(&leaves, 10.0) > 0.1);
        for filter in [&two, &eleven] {
            let leaves = play(&mut Random::new(seed), &rule(filter), &mut choose, 2);
            assert!(!is_exceeded(filter, &leaves), "seed {seed}");
        }
    }
    assert!(caught > 20, "only {caught} of 200 were noticed");
    assert!(matches!(two.currency(), Currency::Renyi { .. }));
}

/// Two rules at once are sound if one of them is pure. Not with deltas: budget (5, 0.01), order
/// 33 and, beside it, sums of epsilons and of deltas. RR(0.2), then on + the pair that fills the
/// order's budget, on - a leak of 0.01: each rule alone would allow one branch.
#[test]
fn a_curve_beside_sums_with_deltas_is_unsound_and_refused() {
    let [e, d] = ["5", "0.01"].map(amount);
    let order = Order::new(33.0).unwrap();
    let curve = Filter::renyi(e.clone(), d.clone(), Amount::ZERO, order, terms()).unwrap();
    let sums = Filter::sums(e.clone(), d.clone(), terms()).unwrap();
    let first = approx(&amount("0.2"), &Amount::ZERO).unwrap();
    let leak = approx(&Amount::ZERO, &d).unwrap();
    // Just past epsilon, by ln(a/(a-1)), as surely as the order's budget allows.
    let (rule, aim) = (rule(&curve), 5.0 - 0.2 + (33.0_f64 / 32.0).ln());
    let spent = rule(&Charge::default(), &first).unwrap();
    let fits = |p: f64| finite(&two_points(aim, p)).is_some_and(|q| rule(&spent, &q).is_some());
    let p = most((1e-9, 1.0 - 1e-12), fits).unwrap();
    let filling = finite(&two_points(aim, p)).unwrap();
    // The other branch is within the sums.
    let spent = sums.charge(&first).unwrap();
    assert!(sums.admit(&spent, &sums.charge(&leak).unwrap()).is_ok());
    let start = response(0.2, 0.0);
    let ends = |after: Pair, (p, q): (f64, f64)| -> Pair {
        after.iter().map(|&(a, b)| (p * a, q * b)).collect()
    };
    let leaves = [ends(two_points(aim, p), start[1]), ends(response(0.0, 0.01), start[2])].concat();
    let whole = delta_of(&leaves, 5.0);
    assert!(whole > 0.01 * 1.4, "{whole}");
    for filter in promising(&e, &d) {
        assert!(!lets_both(&filter, &first, &filling, &leak), "{filter:?}");
    }
}
