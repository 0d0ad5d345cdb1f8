//! Answers in arbitrary precision about the numbers that are written: 0.3 is three tenths there, and not the double next to
//! it. Expected digits: sums over all outcomes in 90 digits by mpmath, or fractions by hand.

use counterpoint::ask::PreciseGuarantee;
use counterpoint::ask::{AskError, Bits, PreciseAnswer, PrecisePlan};
use counterpoint::theorem::{Bound, InapplicableError, Theorem};
use counterpoint::watch::Watch;
use counterpoint::{Count, Delta, Epsilon, Guarantee, Plan};
use counterpoint_budget::Amount;
use counterpoint_numerics::fractions::{ExactError, Ratio};

fn ratio(text: &str) -> Ratio {
    text.parse().unwrap()
}

fn decimal(text: &str) -> Ratio {
    Ratio::from(&text.parse::<Amount>().unwrap())
}

fn plan(list: &[(&str, &str, u64)]) -> PrecisePlan {
    let each = |&(epsilon, delta, count): &(&str, &str, u64)| PreciseGuarantee {
        epsilon: ratio(epsilon),
        delta: ratio(delta),
        count,
    };
    PrecisePlan::new(list.iter().map(each)).unwrap()
}

fn bits(q: u64) -> Bits {
    Bits::new(q).unwrap()
}

/// The answer is around a number that is known to within 1e-70, and no wider than it should be.
fn assert_around(answer: &PreciseAnswer, truth: &str) {
    let (lower, upper) = (decimal(&answer.lower), decimal(&answer.upper));
    let (truth, off) = (decimal(truth), decimal("1e-70"));
    assert!(lower <= &truth + &off && &truth - &off <= upper, "{answer:?}");
    assert!(upper - lower <= decimal("1e-60"), "{answer:?}");
}

#[test]
fn three_tenths_are_three_tenths() {
    let one = plan(&[("3/10", "0", 1)]);
    // (e^0.3 - e^0.1)/(1 + e^0.3).
    let truth = "0.104128762422438170261829789186286089127411534102543969689929551271432246018";
    assert_around(&one.delta(&ratio("1/10"), bits(200), Watch::none()).unwrap(), truth);
    // ln(e^0.3 - 1e-6 (1 + e^0.3)).
    let truth = "0.299998259180264092484916496114143962520180426753710203749545197319246624698";
    assert_around(&one.epsilon(&decimal("1e-6"), bits(200), Watch::none()).unwrap(), truth);
    // The double next to 0.3 has another answer, which is told apart.
    let double = Plan::new([(Guarantee::pure(0.3).unwrap(), Count::ONE)]).unwrap();
    let other = double.delta_to_bits(Epsilon::new(0.1).unwrap(), bits(200), Watch::none()).unwrap();
    let truth = "0.104128762422438161937561784865322113442155689445662147488462662736594232586";
    assert_around(&other, truth);
}

#[test]
fn a_third_among_tenths_with_a_leak() {
    let plan = plan(&[("1/3", "1/1000000", 1), ("3/10", "0", 1), ("6/20", "0", 1)]);
    let truth = "0.170474434120890771542595696327734451626209790561946106042915557747512372201";
    assert_around(&plan.delta(&ratio("1/7"), bits(200), Watch::none()).unwrap(), truth);
}

/// At delta 0, and at exactly what leaks, epsilon is the sum: 3 x 3/10 + 2 x 1/3 = 47/30.
#[test]
fn the_largest_loss_is_a_fraction() {
    let losses = [("3/10", "0", 3), ("1/3", "0", 2)];
    let around = |answer: PreciseAnswer| {
        let (lower, upper) = (decimal(&answer.lower), decimal(&answer.upper));
        let truth = ratio("47/30");
        assert!(lower <= truth && truth <= upper, "{answer:?}");
        assert!(upper - lower < decimal("1e-60"), "{answer:?}");
    };
    around(plan(&losses).epsilon(&Ratio::ZERO, bits(200), Watch::none()).unwrap());
    // Two leaks of a third leave 4/9; with a decimal that is no double, and many times, it is the same.
    let leaks = [("0", "1/3", 2), ("3/10", "0", 3), ("1/3", "0", 2)];
    around(plan(&leaks).epsilon(&ratio("5/9"), bits(200), Watch::none()).unwrap());
    let leaks = [("0", "1/10", 20), ("3/10", "0", 3), ("1/3", "0", 2)];
    let all = Ratio::ONE - ratio("9/10").pow(20);
    around(plan(&leaks).epsilon(&all, bits(200), Watch::none()).unwrap());
    let less = &all - decimal("1e-100");
    let below = plan(&leaks).epsilon(&less, bits(200), Watch::none());
    assert!(matches!(below, Err(AskError::BelowLeak { .. })), "{below:?}");
    let more = all + decimal("1e-100");
    let above = plan(&leaks).epsilon(&more, bits(400), Watch::none()).unwrap();
    assert!(decimal(&above.upper) < ratio("47/30"), "{above:?}");
}

/// At the largest loss itself nothing is left; a hair below, something is.
#[test]
fn the_top_is_found_by_fractions() {
    let three = plan(&[("1/3", "0", 3)]);
    let at = |epsilon: &Ratio| three.delta(epsilon, bits(64), Watch::none()).unwrap();
    assert_eq!(decimal(&at(&Ratio::ONE).upper), Ratio::ZERO);
    let below = at(&(Ratio::ONE - decimal("1e-100")));
    assert!(decimal(&below.lower) > Ratio::ZERO && decimal(&below.upper) < decimal("1e-99"));
}

/// Numbers that are exact in doubles have the same answer as fractions, digit for digit.
#[test]
fn doubles_are_fractions_too() {
    let list = [(0.5, 0.0, 4), (0.25, 0.125, 2), (2.0, 0.0, 1), (0.5, 0.0, 1)];
    let doubles =
        Plan::new(list.map(|(e, d, n)| (Guarantee::new(e, d).unwrap(), Count::new(n).unwrap())))
            .unwrap();
    let fractions = plan(&[("1/2", "0", 4), ("1/4", "1/8", 2), ("2", "0", 1), ("1/2", "0", 1)]);
    let delta = 0.375;
    let one = doubles.epsilon_to_bits(Delta::new(delta).unwrap(), bits(150), Watch::none());
    let other = fractions.epsilon(&ratio("3/8"), bits(150), Watch::none());
    assert_eq!(one, other);
    let one = doubles.delta_to_bits(Epsilon::new(1.5).unwrap(), bits(150), Watch::none());
    assert_eq!(one, fractions.delta(&ratio("3/2"), bits(150), Watch::none()));
    let theorems = [&Theorem::FORMULAS[..], &[Theorem::KovSimplified, Theorem::Renyi]].concat();
    let same = |own: &Bound, double: Result<f64, InapplicableError>| match (&own.value, &double) {
        (Ok(own), Ok(double)) => (own / double - 1.0).abs() < 1e-15,
        (own, double) => own.is_err() && double.is_err(),
    };
    for (at, number) in [(0.375, "3/8"), (0.234375, "15/64"), (0.28125, "9/32"), (0.9375, "15/16")]
    {
        let (delta, number) = (Delta::new(at).unwrap(), ratio(number));
        for own in fractions.compare(&number, &theorems[..5]).unwrap() {
            let double = own.theorem.epsilon(&doubles, delta);
            assert!(same(&own, double.clone()), "{own:?} {double:?}");
        }
    }
    for (at, number) in [(1.5, "3/2"), (4.0, "4"), (4.875, "39/8"), (9.0, "9")] {
        let (epsilon, number) = (Epsilon::new(at).unwrap(), ratio(number));
        for own in fractions.compare_delta(&number, &theorems[..5]).unwrap() {
            let double = own.theorem.delta(&doubles, epsilon);
            assert!(same(&own, double.clone()), "{own:?} {double:?}");
        }
    }
    // Those that are no formulas in these sums say so.
    assert!(fractions.compare(&ratio("3/8"), &theorems[5..]).unwrap()[0].value.is_err());
}

/// Ten releases of three tenths each, by the theorems' formulas; what is a double next to a tenth is not within these bounds.
#[test]
fn theorems_are_about_the_fractions_themselves() {
    let ten = plan(&[("3/10", "0", 10)]);
    let (e, k, d) = (0.3_f64, 10.0, 1e-6_f64);
    let spread = e * (2.0 * k * (1.0 / d).ln()).sqrt();
    let formulas = [k * e, spread + k * e * e.exp_m1(), spread + k * e * (e / 2.0).tanh()];
    for (own, formula) in
        std::iter::zip(ten.compare(&decimal("1e-6"), &Theorem::FORMULAS).unwrap(), formulas)
    {
        let value = own.value.unwrap();
        assert!((value / formula - 1.0).abs() < 1e-14, "{:?} {value} {formula}", own.theorem);
    }
    let basic = |plan: &PrecisePlan, delta: &Ratio| {
        plan.compare(delta, &[Theorem::Basic]).unwrap().remove(0).value
    };
    // The deltas add up to three tenths: to no more, and to no less.
    let leaky = plan(&[("3/10", "1/10", 3)]);
    let (at, below) = (decimal("0.3"), decimal("0.3") - decimal("1e-30"));
    let nine_tenths = basic(&leaky, &at).unwrap();
    assert!((0.9..0.9 + 2e-16).contains(&nine_tenths), "{nine_tenths:e}");
    assert!(basic(&leaky, &below).unwrap_err().reason.starts_with("the deltas add up to 0.3"));
    let doubles = Guarantee::new(0.3, 0.1).unwrap();
    let doubles = Plan::new([(doubles, Count::new(3).unwrap())]).unwrap();
    assert!(Theorem::Basic.epsilon(&doubles, Delta::new(0.3).unwrap()).is_err());
    // The delta that all of them leak together, 1 - 0.9^3, leaves nothing; a slightly smaller delta is too small.
    let closed =
        |delta: &Ratio| leaky.compare(delta, &[Theorem::KovClosedForm]).unwrap().remove(0).value;
    let sum = closed(&decimal("0.271")).unwrap();
    assert!((0.9..0.9 + 2e-16).contains(&sum), "{sum:e}");
    let refused = closed(&(decimal("0.271") - decimal("1e-200"))).unwrap_err();
    assert!(refused.reason.starts_with("the releases leak 0.271"), "{refused}");
    // The epsilons add up to nine tenths.
    let delta = |epsilon: Ratio| {
        leaky.compare_delta(&epsilon, &[Theorem::Basic, Theorem::KovClosedForm]).unwrap()
    };
    let [basic, closed] = [0, 1].map(|at| delta(decimal("0.9"))[at].value.clone().unwrap());
    assert!((basic / 0.3 - 1.0).abs() < 1e-15 && basic >= 0.3, "{basic:e}");
    assert!((closed / 0.271 - 1.0).abs() < 1e-15 && closed >= 0.271, "{closed:e}");
    assert!(delta(decimal("0.9") - decimal("1e-30"))[0].value.is_err());
    assert!(Theorem::Basic.delta(&doubles, Epsilon::new(0.9).unwrap()).is_ok());
    // Leaks too small for doubles, and one asked about.
    let faint = plan(&[("1", "0", 1), ("0", &format!("1/1{}", "0".repeat(400)), 7)]);
    let asked = decimal("7e-400") + decimal("1e-410");
    let bounds = faint.compare(&asked, &Theorem::FORMULAS).unwrap();
    assert!(bounds.iter().all(|bound| bound.value.as_ref().is_ok_and(|e| *e >= 1.0)), "{bounds:?}");
    assert!(faint.compare(&Ratio::ONE, &[]).is_err());
}

#[test]
fn numbers_are_checked() {
    let with = |epsilon: &str, delta: &str, count| {
        let each = PreciseGuarantee { epsilon: ratio(epsilon), delta: ratio(delta), count };
        PrecisePlan::new([each])
    };
    for (epsilon, delta, count) in
        [("-1/3", "0", 1), ("1000001", "0", 1), ("1", "1", 1), ("1", "-1/2", 1), ("1", "0", 0)]
    {
        let error = with(epsilon, delta, count).unwrap_err().to_string();
        assert!(error.contains("legal: "), "{error}");
    }
    assert!(matches!(PrecisePlan::new([]), Err(ExactError::Size { .. })));
    assert!(with("1000000", "0", 1_000_001).is_err());
    let one = plan(&[("1", "0", 1)]);
    let beyond = one.epsilon(&Ratio::ONE, bits(64), Watch::none()).unwrap_err();
    assert!(beyond.to_string().starts_with("delta is 1; legal: "), "{beyond}");
}
