//! Open accounts: what each filter charges, admits and promises, against closed forms.

use counterpoint::mechanism::{FinitePair, RenyiCurve};
use counterpoint::quantity::{
    GroupSize, NoiseScale, Order, Rate, Rho, Sensitivity, WholeSensitivity,
};
use counterpoint::theorem::ParameterChoice;
use counterpoint::{
    Adjacency, Count, Delta, Epsilon, Guarantee, Mechanism, Options, Plan, Release,
};
use counterpoint_budget::{
    Amount, Charge, Concurrency, Currency, Filter, FilterError, Promise, Query, Terms,
    is_within_part,
};

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

fn terms() -> Terms {
    Terms::new(Adjacency::AddRemove)
}

fn pure(epsilon: &str) -> Query {
    Query::approx_dp(amount(epsilon), Amount::ZERO).unwrap()
}

fn count(n: u64) -> Count {
    Count::new(n).unwrap()
}

fn order(a: f64) -> Order {
    Order::new(a).unwrap()
}

fn release(mechanism: Mechanism) -> Query {
    Query::from(Release::from((mechanism, Count::ONE)))
}

/// Amounts as long as can be read: what they cost is no longer, and not less.
#[test]
fn every_charge_can_be_read_back() {
    let long = amount(&format!("0.1{}7", "3".repeat(2498)));
    let mu = Query::gdp(long.clone()).unwrap();
    let square = &long * &long;
    for (filter, times) in [
        (Filter::gdp(amount("1"), amount("1e-6"), terms()).unwrap(), 2),
        (Filter::zcdp(amount("1"), amount("1e-6"), Amount::ZERO, terms()).unwrap(), 1),
    ] {
        let charge = filter.charge(&mu).unwrap().main;
        assert_eq!(charge.to_string().parse(), Ok(charge.clone()));
        // mu^2, and half of it in concentrated privacy.
        let over = charge.times(2).checked_sub(&square.times(times)).unwrap();
        assert!(over < amount("1e-2498"), "{over}");
    }
    let filter = Filter::gdp_budget(long, terms()).unwrap();
    let capacity = &filter.capacity().main;
    assert_eq!(&capacity.to_string().parse::<Amount>().unwrap(), capacity);
    assert!(capacity < &square);
}

/// Returns the number of times that a query is admitted before it is refused.
fn admitted(filter: &Filter, query: &Query) -> u64 {
    let (charge, mut spent, mut n) = (filter.charge(query).unwrap(), Charge::default(), 0);
    while let Ok(total) = filter.admit(&spent, &charge) {
        (spent, n) = (total, n + 1);
        assert!(n < 1_000_000);
    }
    n
}

/// ln((e^(a e) + e^((1-a) e)) / (1 + e^e)) / (a - 1).
fn response(a: f64, e: f64) -> f64 {
    (((a * e).exp() + ((1.0 - a) * e).exp()) / (1.0 + e.exp())).ln() / (a - 1.0)
}

/// tau + ln(1 - 1/a) - ln(delta a)/(a - 1).
fn converted(a: f64, tau: f64, delta: f64) -> f64 {
    tau + (1.0 - 1.0 / a).ln() - (delta * a).ln() / (a - 1.0)
}

fn near(found: &Amount, expected: f64, tolerance: f64) {
    let off = (found.upper() / expected - 1.0).abs();
    assert!(off < tolerance, "{found} is not {expected}");
}

#[test]
fn three_tenths_are_spent_as_one_and_two() {
    let filter = Filter::sums(amount("0.3"), Amount::ZERO, terms()).unwrap();
    let mut spent = Charge::default();
    for part in ["0.1", "0.2"] {
        spent = filter.admit(&spent, &filter.charge(&pure(part)).unwrap()).unwrap();
    }
    assert_eq!(spent.main, filter.capacity().main);
    let refused = filter.admit(&spent, &filter.charge(&pure("1e-90")).unwrap()).unwrap_err();
    assert!(refused.to_string().starts_with("refused: 0.000"), "{refused}");
    // The doubles 0.1 and 0.2 are a little more than 0.3 together.
    let double = |e: f64| release(Mechanism::ApproxDp(Guarantee::pure(e).unwrap()));
    let spent = filter.admit(&Charge::default(), &filter.charge(&double(0.1)).unwrap()).unwrap();
    assert!(filter.admit(&spent, &filter.charge(&double(0.2)).unwrap()).is_err());
    // Laplace noise of scale 10 costs a tenth, exactly.
    let laplace = Query::laplace(amount("10"), amount("1")).unwrap();
    assert_eq!(admitted(&filter, &laplace), 3);
}

#[test]
fn deltas_are_a_budget_of_their_own() {
    let filter = Filter::sums(amount("10"), amount("1e-6"), terms()).unwrap();
    let query = Query::approx_dp(amount("0.1"), amount("3e-7")).unwrap();
    assert_eq!(admitted(&filter, &query), 3);
    let refused = filter
        .admit(
            &filter.charge(&query.clone().times(count(3))).unwrap(),
            &filter.charge(&query).unwrap(),
        )
        .unwrap_err();
    assert_eq!(refused.what, "delta");
    assert_eq!((refused.asked, refused.left), (amount("3e-7"), amount("1e-7")));
}

/// Whitehouse and others 2023 certify 5.7565 here, optimal composition of a plan 4.7746.
#[test]
fn a_hundred_tenths_need_5_0731() {
    let hundred = pure("0.1").times(count(100));
    let filter =
        Filter::renyi_least_epsilon(amount("1e-6"), std::slice::from_ref(&hundred), terms())
            .unwrap();
    let Promise::ApproxDp { epsilon, delta } = filter.promise() else { panic!() };
    assert_eq!(delta, &amount("1e-6"));
    assert!(epsilon < &amount("5.0732") && epsilon > &amount("5.0730"), "{epsilon}");
    assert_eq!(admitted(&filter, &pure("0.1")), 100);
    // The least over a fine grid of orders, in plain doubles.
    let scan = (1..40_000).map(|i| 1.0 + f64::from(i) * 0.001);
    let best = scan.map(|a| converted(a, 100.0 * response(a, 0.1), 1e-6)).fold(1e9, f64::min);
    near(epsilon, best, 1e-6);
    // With 5.08 promised there is room for a hundred.
    let roomy = Filter::renyi_for(amount("5.08"), amount("1e-6"), &[hundred], terms()).unwrap();
    assert_eq!(admitted(&roomy, &pure("0.1")), 100);
}

#[test]
fn the_same_as_a_plan_needs_4_7746() {
    let plan = Plan::new([(Guarantee::pure(0.1).unwrap(), count(100))]).unwrap();
    let answer = plan.epsilon(Delta::new(1e-6).unwrap(), &Options::default()).unwrap();
    assert!(answer.bracket.upper <= 4.7746);
}

#[test]
fn renyi_charges_are_those_of_the_formulas() {
    for a in [1.5, 2.0, 7.25, 64.0] {
        let filter =
            Filter::renyi(amount("50"), amount("1e-6"), amount("1e-7"), order(a), terms()).unwrap();
        // B undoes the conversion.
        near(promised_epsilon(&filter), converted(a, filter.capacity().main.upper(), 9e-7), 1e-12);
        let charge = |query: &Query| filter.charge(query).unwrap();
        near(&charge(&pure("0.5")).main, response(a, 0.5), 1e-13);
        let laplace = Query::laplace(amount("4"), amount("1")).unwrap();
        let e: f64 = 0.25;
        let up = a / (2.0 * a - 1.0) * ((a - 1.0) * e).exp();
        let sum = up + (a - 1.0) / (2.0 * a - 1.0) * (-a * e).exp();
        near(&charge(&laplace).main, sum.ln() / (a - 1.0), 1e-12);
        let gaussian = Query::gaussian(amount("2"), amount("0.5")).unwrap();
        near(&charge(&gaussian).main, a / 32.0, 1e-13);
        near(&charge(&Query::gdp(amount("0.25")).unwrap()).main, a / 32.0, 1e-13);
        let zcdp = charge(&Query::zcdp(amount("0.01"), Amount::ZERO).unwrap());
        assert_eq!(zcdp.main, &amount("0.01") * &Amount::from_f64(a).unwrap());
        let exponential = release(Mechanism::Exponential { epsilon: Epsilon::new(0.5).unwrap() });
        assert!(charge(&exponential).main.upper() <= a * 0.25 / 8.0 * (1.0 + 1e-12));
        let discrete = release(Mechanism::DiscreteGaussian {
            sigma: NoiseScale::new(2.0).unwrap(),
            sensitivity: WholeSensitivity::new(1).unwrap(),
        });
        assert_eq!(charge(&discrete).main, (&amount("0.125") * &Amount::from_f64(a).unwrap()));
        assert!(charge(&discrete).delta.is_zero());
        // Both directions of an asymmetric pair: the larger.
        let (p, q): ([f64; 2], [f64; 2]) = ([0.9, 0.1], [0.6, 0.4]);
        let pair = release(Mechanism::Finite(FinitePair::new(&p, &q).unwrap()));
        let divergence = |p: [f64; 2], q: [f64; 2]| {
            let sum = p[0].powf(a) * q[0].powf(1.0 - a) + p[1].powf(a) * q[1].powf(1.0 - a);
            sum.ln() / (a - 1.0)
        };
        near(&charge(&pair).main, divergence(p, q).max(divergence(q, p)), 1e-12);
        // A count costs what the queries do one by one.
        let many = charge(&laplace.clone().times(count(1000)));
        assert_eq!(many, charge(&laplace).times(1000));
    }
}

fn promised_epsilon(filter: &Filter) -> &Amount {
    match filter.promise() {
        Promise::ApproxDp { epsilon, .. } => epsilon,
        other => panic!("{other:?}"),
    }
}

#[test]
fn samples_and_leaks_are_charged() {
    let a = 8.0;
    let filter =
        Filter::renyi(amount("8"), amount("1e-5"), amount("1e-6"), order(a), terms()).unwrap();
    let gaussian = Mechanism::Gaussian {
        sigma: NoiseScale::new(1.0).unwrap(),
        sensitivity: Sensitivity::new(1.0).unwrap(),
    };
    let rate = Some(Rate::new(0.01).unwrap());
    let sampled = Query::from(Release { rate, ..Release::from((gaussian, Count::ONE)) });
    // Mironov, Talwar and Zhang 2019: at whole orders a binomial sum, the larger direction.
    let q: f64 = 0.01;
    let term = |j: i32| {
        let choose = (0..j).fold(1.0, |c, i| c * (8.0 - f64::from(i)) / f64::from(i + 1));
        let j = f64::from(j);
        choose * (1.0 - q).powf(a - j) * q.powf(j) * ((j * j - j) / 2.0).exp()
    };
    let expected = (0..=8).map(term).sum::<f64>().ln() / (a - 1.0);
    near(&filter.charge(&sampled).unwrap().main, expected, 1e-9);
    let leaky = Query::approx_dp(amount("0.5"), amount("4e-7")).unwrap();
    assert_eq!(filter.charge(&leaky).unwrap().delta, amount("4e-7"));
    assert_eq!(admitted(&filter, &leaky), 2);
    // All of p's mass on an outcome that q never has, with probability 1e-7.
    let pair = FinitePair::new(&[1e-7, 0.5, 0.4999999], &[0.0, 0.5, 0.5]).unwrap();
    let charge = filter.charge(&release(Mechanism::Finite(pair))).unwrap();
    near(&charge.delta, 1e-7, 1e-9);
}

#[test]
fn concentrated_privacy_adds_up() {
    let filter = Filter::zcdp_budget(amount("1"), amount("1e-6"), terms()).unwrap();
    let charge = |query: &Query| filter.charge(query).unwrap();
    // Bun and Steinke 2016; e tanh(e/2) for pure privacy.
    near(&charge(&pure("0.5")).main, 0.5 * 0.25_f64.tanh(), 1e-14);
    assert_eq!(charge(&Query::gaussian(amount("2"), amount("1")).unwrap()).main, amount("0.125"));
    assert_eq!(charge(&Query::gdp(amount("0.1")).unwrap()).main, amount("0.005"));
    assert_eq!(admitted(&filter, &Query::zcdp(amount("0.1"), Amount::ZERO).unwrap()), 10);
    // zCDP 1 at 1e-6 is epsilon 7.766216625: the same the other way round.
    let filter =
        Filter::zcdp(amount("7.766216625"), amount("1e-6"), Amount::ZERO, terms()).unwrap();
    near(&filter.capacity().main, 1.0, 1e-8);
    let tcdp = Mechanism::Tcdp { rho: Rho::new(0.1).unwrap(), omega: order(10.0) };
    let error = filter.charge(&release(tcdp)).unwrap_err().to_string();
    assert!(error.starts_with("tcdp has no rho of its own; legal in a zcdp account"), "{error}");
}

#[test]
fn gaussian_privacy_adds_up_in_squares() {
    let filter = Filter::gdp_budget(amount("1"), terms()).unwrap();
    assert_eq!(admitted(&filter, &Query::gdp(amount("0.1")).unwrap()), 100);
    assert_eq!(admitted(&filter, &Query::gaussian(amount("10"), amount("1")).unwrap()), 100);
    // Analytic Gaussian: sigma 4.2246788893 for (1, 1e-6), 3.7306316348 for (1, 1e-5).
    for (delta, sigma) in [("1e-6", 4.2246788893_f64), ("1e-5", 3.7306316348)] {
        let filter = Filter::gdp(amount("1"), amount(delta), terms()).unwrap();
        near(&filter.capacity().main, sigma.powi(-2), 1e-8);
    }
    // tanh(e/2) = 2 Phi(mu/2) - 1: mu is 1 at e = 0.8069653463049624, and e sqrt(pi/2) for a
    // small e.
    near(&filter.charge(&pure("0.8069653463049624")).unwrap().main, 1.0, 1e-14);
    let small = filter.charge(&pure("0.0001")).unwrap().main;
    near(&small, 1e-8 * std::f64::consts::FRAC_PI_2, 1e-8);
    for epsilon in ["1e-12", "3", "40", "500", "1000000"] {
        let mu = filter.charge(&pure(epsilon)).unwrap().main.upper().sqrt();
        let e: f64 = epsilon.parse().unwrap();
        assert!(mu >= 1.25 * e.min(1.0) && mu <= (8.0 * e).sqrt(), "{epsilon}: {mu}");
    }
    assert!(filter.charge(&pure("0")).unwrap().main.is_zero());
    let leaky = Query::approx_dp(amount("0.1"), amount("1e-9")).unwrap();
    let error = filter.charge(&leaky).unwrap_err().to_string();
    assert!(error.starts_with("approx-dp has no mu of its own; legal in a gdp account"), "{error}");
}

/// By curves alone two, three or four would be all; eight Laplace releases of an eighth sum to one.
#[test]
fn a_curve_account_admits_at_least_the_sum_of_pure_epsilons() {
    let [e, d] = ["1", "1e-6"].map(amount);
    let order = order(20.0);
    let laplace = Query::laplace(amount("8"), amount("1")).unwrap();
    let gaussian = Query::gaussian(amount("1000"), amount("1")).unwrap();
    for filter in [
        Filter::gdp(e.clone(), d.clone(), terms()).unwrap(),
        Filter::zcdp(e.clone(), d.clone(), d.half(), terms()).unwrap(),
        Filter::renyi(e.clone(), d.clone(), d.half(), order, terms()).unwrap(),
    ] {
        assert_eq!(filter.capacity().pure, Some(amount("1")));
        assert_eq!(admitted(&filter, &laplace), 8, "{filter:?}");
        // A query that is not pure ends the sum of epsilons for good.
        let price = filter.charge(&laplace).unwrap();
        assert_eq!(price.pure, Some(amount("0.125")));
        let seven = price.times(7);
        let impure = filter.charge(&gaussian).unwrap();
        assert_eq!(impure.pure, None);
        assert!(filter.admit(&seven, &impure).is_err(), "{filter:?}");
        let mixed = filter.admit(&Charge::default(), &impure).unwrap();
        assert_eq!(mixed.pure, None);
        assert!(filter.admit(&mixed.plus(&price.times(6)), &price).is_err(), "{filter:?}");
    }
    // A budget that is itself a curve has no such rule, and sums need none.
    for filter in [
        Filter::gdp_budget(amount("0.2"), terms()).unwrap(),
        Filter::zcdp_budget(amount("0.02"), Amount::ZERO, terms()).unwrap(),
        Filter::renyi_budget(order, amount("0.02"), terms()).unwrap(),
        Filter::sums(e, d, terms()).unwrap(),
    ] {
        assert_eq!(filter.capacity().pure, None);
    }
    // A group's epsilons are what is added up.
    let couple = Terms { group: GroupSize::new(2).unwrap(), ..terms() };
    let filter = Filter::gdp(amount("1"), amount("1e-6"), couple).unwrap();
    assert_eq!(admitted(&filter, &laplace), 4);
}

#[test]
fn a_renyi_budget_is_spent_at_its_order() {
    let filter = Filter::renyi_budget(order(8.0), amount("0.3"), terms()).unwrap();
    assert_eq!(filter.promise(), &Promise::Renyi { order: order(8.0), tau: amount("0.3") });
    // A Gaussian with mu^2/2 = 0.0125 costs 0.1; three of them, and accounts of a tenth.
    let gaussian = Query::gdp(amount("0.15811388300841896")).unwrap();
    near(&filter.charge(&gaussian).unwrap().main, 0.1, 1e-14);
    assert_eq!(admitted(&filter, &Query::zcdp(amount("0.0125"), Amount::ZERO).unwrap()), 3);
    let inner = Filter::renyi_budget(order(8.0), amount("0.1"), terms()).unwrap();
    let price = filter.charge_account(inner.promise()).unwrap();
    assert_eq!((price.main.clone(), price.pure.clone()), (amount("0.1"), None));
    assert!(filter.admit(&price.times(2), &price).is_ok());
    assert!(filter.admit(&price.times(3), &price).is_err());
    // Higher orders say something about lower ones, not the reverse.
    assert_eq!(admitted(&filter, &Query::renyi(order(9.0), amount("0.1")).unwrap()), 3);
    assert!(filter.charge(&Query::renyi(order(7.0), amount("0.1")).unwrap()).is_err());
    // Nothing that leaks.
    let leaky = filter.charge(&Query::approx_dp(amount("0.1"), amount("1e-9")).unwrap()).unwrap();
    assert!(filter.admit(&Charge::default(), &leaky).is_err());
    let error = Filter::renyi_budget(order(8.0), amount("1e7"), terms()).unwrap_err();
    assert!(error.to_string().starts_with("tau is 10000000; legal: 0, or"), "{error}");
}

#[test]
fn an_account_about_a_part_is_asked_about_that_part() {
    let about = |part: Option<&str>| pure("0.1").about(part.map(std::sync::Arc::from));
    for part in [None, Some("north"), Some("south")] {
        assert!(is_within_part(None, &about(part)).is_ok());
        assert_eq!(is_within_part(Some("north"), &about(part)).is_ok(), part == Some("north"));
    }
    let error = is_within_part(Some("a"), &about(Some("b"))).unwrap_err().to_string();
    let expected = r#"the account is about part "a" of the data and the query about part "b"; legal: partition "a""#;
    assert_eq!(error, expected);
    let error = is_within_part(Some("a"), &about(None)).unwrap_err().to_string();
    assert!(error.contains("the query about all of it; legal"), "{error}");
}

#[test]
fn groups_and_relations_are_part_of_the_terms() {
    let couple = Terms { group: GroupSize::new(2).unwrap(), ..terms() };
    let filter = Filter::sums(amount("1"), amount("1e-6"), couple).unwrap();
    assert_eq!(filter.charge(&pure("0.1")).unwrap().main, amount("0.2"));
    let leaky = filter.charge(&Query::approx_dp(amount("0.1"), amount("1e-7")).unwrap()).unwrap();
    near(&leaky.delta, 1e-7 * (1.0 + 0.1_f64.exp()), 1e-13);
    let filter = Filter::zcdp_budget(amount("1"), Amount::ZERO, couple).unwrap();
    let gaussian = Query::gaussian(amount("1"), amount("0.1")).unwrap();
    assert_eq!(filter.charge(&gaussian).unwrap().main, amount("0.02"));
    let replace = Terms::new(Adjacency::Replace);
    let filter = Filter::sums(amount("1"), Amount::ZERO, replace).unwrap();
    let pair = FinitePair::new(&[0.9, 0.1], &[0.6, 0.4]).unwrap();
    let error = filter.charge(&release(Mechanism::Finite(pair))).unwrap_err();
    assert!(matches!(error, FilterError::Loss(_)), "{error}");
}

#[test]
fn what_no_theorem_covers_is_refused() {
    let leaky = Query::zcdp(amount("0.01"), amount("1e-8")).unwrap();
    let concurrent = terms();
    let sequential = Terms { concurrency: Concurrency::Sequential, ..concurrent };
    let make = |terms| Filter::zcdp_budget(amount("1"), amount("1e-6"), terms).unwrap();
    assert!(make(sequential).charge(&leaky).is_ok() && !make(sequential).setting().concurrent);
    let error = make(concurrent).charge(&leaky).unwrap_err();
    assert!(matches!(error, FilterError::NotConcurrent { .. }), "{error}");
    assert!(error.to_string().contains("0.00000001"), "{error}");
    let setting = make(concurrent).setting();
    assert!(setting.concurrent && setting.parameters == ParameterChoice::Adaptive);
    assert_eq!(make(concurrent).theorem().setting().parameters, ParameterChoice::Adaptive);
    // Guarantees with a delta are covered: they are a leak, and randomized response.
    assert!(
        make(concurrent).charge(&Query::approx_dp(amount("0.1"), amount("1e-8")).unwrap()).is_ok()
    );
}

#[test]
fn bad_input_names_the_value_and_the_legal_range() {
    let cases: Vec<(Result<Filter, FilterError>, &str)> = vec![
        (Filter::sums(amount("2e6"), Amount::ZERO, terms()), "epsilon is 2000000; legal: 0, or"),
        (Filter::sums(amount("1"), amount("1"), terms()), "delta is 1; legal: a number from 0"),
        (
            Filter::renyi(amount("1"), amount("1e-6"), amount("1e-6"), order(2.0), terms()),
            "leaks is 0.000001; legal: from 0 up to but not including delta, 0.000001",
        ),
        (
            Filter::renyi(amount("1"), amount("1e-6"), Amount::ZERO, order(1.5), terms()),
            "epsilon 1 at delta 0.000001 leaves no budget at order 1.5; legal: a larger",
        ),
        (Filter::zcdp(amount("1"), Amount::ZERO, Amount::ZERO, terms()), "leaks is 0; legal"),
        (Filter::zcdp_budget(amount("1e13"), Amount::ZERO, terms()), "rho is 10000000000000"),
        (Filter::gdp_budget(amount("1e7"), terms()), "mu is 10000000; legal"),
        (Filter::gdp(amount("1"), Amount::ZERO, terms()), "epsilon 1 at delta 0 leaves no"),
        (
            Filter::renyi_for(amount("1"), amount("1e-6"), &[pure("0")], terms()),
            "the expected queries cost nothing",
        ),
    ];
    for (result, text) in cases {
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with(text), "{error}");
    }
    assert!(Query::approx_dp(amount("1e7"), Amount::ZERO).is_err());
    assert!(Query::approx_dp(amount("1"), amount("1")).is_err());
    assert!(Query::laplace(Amount::ZERO, amount("1")).is_err());
    assert!(Query::gaussian(amount("1"), Amount::ZERO).is_err());
    let table = RenyiCurve::new(&[2.0, 4.0], &[0.1, 0.2]).unwrap();
    let filter =
        Filter::renyi(amount("10"), amount("1e-6"), Amount::ZERO, order(8.0), terms()).unwrap();
    let error = filter.charge(&release(Mechanism::Rdp(table))).unwrap_err().to_string();
    assert!(error.starts_with("rdp has no known Rényi divergence of order 8"), "{error}");
    assert_eq!(filter.currency(), Currency::Renyi { order: order(8.0) });
}

/// Totals added one by one over a long history are what recomputing them gives.
#[test]
fn a_long_history_leaves_no_drift() {
    let filter = Filter::sums(amount("100000"), amount("0.5"), terms()).unwrap();
    let query = Query::approx_dp(amount("0.1"), amount("1e-9")).unwrap();
    let charge = filter.charge(&query).unwrap();
    let mut spent = Charge::default();
    for _ in 0..100_000 {
        spent = filter.admit(&spent, &charge).unwrap();
    }
    assert_eq!((spent.main, spent.delta), (amount("10000"), amount("0.0001")));
}
