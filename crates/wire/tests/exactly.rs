//! Plans whose numbers count as they are written.

use counterpoint::ask::Bits;
use counterpoint::watch::Watch;
use counterpoint::{Delta, Epsilon};
use counterpoint_numerics::fractions::Ratio;
use counterpoint_wire::{Format, Plan, Question, fraction};

const LISTS: [&str; 8] = [
    "mechanism = 'approx-dp'\nepsilon = 0.5\ncount = 7",
    "mechanism = 'approx-dp'\nepsilon = 0.25\ndelta = 0.125\ncount = 2",
    "mechanism = 'randomized-response'\nepsilon = 1.5",
    "mechanism = 'geometric'\nscale = 4.0\ncount = 3",
    "mechanism = 'name-and-shame'\ndelta = 0.0625",
    "mechanism = 'sparse-vector'\nepsilon_threshold = 0.5\nepsilon_queries = 0.25",
    "mechanism = 'above-threshold'\nepsilon_threshold = 0.75\nepsilon_queries = 0",
    "mechanism = 'staircase'\nepsilon = 600.5",
];

fn bits() -> Bits {
    Bits::new(100).unwrap()
}

/// Wherever doubles say it all the description means the same, whichever way it is read: every kind, and groups.
#[test]
fn what_doubles_can_say_means_the_same_either_way() {
    let mut plans: Vec<String> =
        LISTS.iter().map(|lines| format!("[[release]]\n{lines}\n")).collect();
    plans.push(plans[..7].concat());
    plans.push(format!("group = 3\n{}", plans[0]));
    plans.push(format!("group = 3\n{}", plans[4]));
    for text in plans {
        let plan = Plan::parse_exactly(text.as_bytes(), Format::Toml).unwrap();
        assert!(plan.releases.iter().all(|release| release.exact_numbers.is_empty()), "{text}");
        let (ready, precise) = (plan.prepare().unwrap(), plan.precise_plan().unwrap().unwrap());
        let (epsilon, delta) = (Epsilon::new(0.375).unwrap(), Delta::new(0.5).unwrap());
        let at = fraction("3/8").unwrap();
        let expected = ready.delta_to_bits(epsilon, bits(), Watch::none());
        assert_eq!(precise.delta(&at, bits(), Watch::none()), expected, "{text}");
        let at = fraction("1/2").unwrap();
        let expected = ready.epsilon_to_bits(delta, bits(), Watch::none());
        assert_eq!(precise.epsilon(&at, bits(), Watch::none()), expected, "{text}");
    }
}

#[test]
fn what_is_no_guarantee_has_no_precise_plan() {
    let others = [
        "mechanism = 'laplace'\nscale = 1",
        "mechanism = 'gaussian'\nsigma = 1",
        "mechanism = 'randomized-response'\nepsilon = 1\nbuckets = 3",
        "mechanism = 'geometric'\nscale = 1\nsensitivity = 2",
        "mechanism = 'staircase'\nepsilon = 1",
        "mechanism = 'above-threshold'\nepsilon_threshold = 0.5\nepsilon_queries = 0.25",
        "mechanism = 'approx-dp'\nepsilon = 1\nrate = 0.5",
        "mechanism = 'zcdp'\nrho = 1",
    ];
    for lines in others {
        let text = format!("adjacency = 'add-remove'\n[[release]]\n{lines}\n");
        let plan = Plan::parse_exactly(text.as_bytes(), Format::Toml).unwrap();
        assert_eq!(plan.precise_plan().unwrap(), None, "{lines}");
        assert!(plan.releases.iter().all(|release| release.exact_numbers.is_empty()), "{lines}");
    }
    // Chains of guarantees with deltas are no fractions, and several parts no single composition.
    let group = "group = 2\n[[release]]\nmechanism = 'approx-dp'\nepsilon = 1\ndelta = 0.001\n";
    assert_eq!(Plan::parse(group.as_bytes(), Format::Toml).unwrap().precise_plan().unwrap(), None);
    let part = |label| {
        format!("[[release]]\nmechanism = 'approx-dp'\nepsilon = 1\npartition = '{label}'\n")
    };
    let parts = format!("adjacency = 'add-remove'\n{}{}", part("a"), part("b"));
    assert_eq!(Plan::parse(parts.as_bytes(), Format::Toml).unwrap().precise_plan().unwrap(), None);
    let one = format!("adjacency = 'add-remove'\n{}{}", part("a"), part("a"));
    assert!(Plan::parse(one.as_bytes(), Format::Toml).unwrap().precise_plan().unwrap().is_some());
}

fn written(plan: &Plan) -> Vec<(&str, Ratio)> {
    let all = plan.releases.iter().flat_map(|release| &release.exact_numbers);
    all.map(|(name, number)| (&**name, number.exact.clone())).collect()
}

#[test]
fn both_formats_keep_what_is_written() {
    let toml =
        "delta = 1e-6\n[[release]]\nmechanism = 'approx-dp'\nepsilon = 0.30\ndelta = '1/3'\n";
    let json = r#"{"delta": 1E-6, "release":
        [{"mechanism": "approx-dp", "epsilon": 0.3, "delta": "1/3"}]}"#;
    let target = r#"{"target": {"epsilon": 1, "delta": 0.000001}, "release":
        [{"mechanism": "approx-dp", "epsilon": 3e-1, "delta": "1/3"}]}"#;
    let read = |text: &str, format| Plan::parse_exactly(text.as_bytes(), format).unwrap();
    let exact = vec![("epsilon", fraction("3/10").unwrap()), ("delta", fraction("1/3").unwrap())];
    for plan in [read(toml, Format::Toml), read(json, Format::Json), read(target, Format::Json)] {
        assert_eq!(written(&plan), exact);
        assert_eq!(plan.exact_question_number().unwrap(), fraction("1/1000000").unwrap());
    }
    // Otherwise numbers are doubles, but for those in quotes.
    let plan = Plan::parse(json.as_bytes(), Format::Json).unwrap();
    assert_eq!(written(&plan), exact[1..]);
    assert_ne!(plan.exact_question_number().unwrap(), fraction("1/1000000").unwrap());
}

#[test]
fn what_is_written_is_written_again() {
    let toml =
        "delta = '1/7'\n[[release]]\nmechanism = 'approx-dp'\nepsilon = 0.3\ndelta = '1/3'\n";
    let plan = Plan::parse_exactly(toml.as_bytes(), Format::Toml).unwrap();
    let (toml, json) = (plan.to_toml().unwrap(), plan.to_json().unwrap());
    assert!(toml.contains("epsilon = \"0.3\"") && toml.contains("delta = \"1/3\""), "{toml}");
    assert_eq!(Plan::parse(toml.as_bytes(), Format::Toml).unwrap(), plan);
    assert_eq!(Plan::parse(json.as_bytes(), Format::Json).unwrap(), plan);
}

/// What is written counts for the double next to it alone.
#[test]
fn a_changed_release_is_not_what_was_written() {
    let toml = "delta = '1/3'\n[[release]]\nmechanism = 'approx-dp'\nepsilon = '1/3'\n";
    let mut plan = Plan::parse(toml.as_bytes(), Format::Toml).unwrap();
    let other = "delta = 0.25\n[[release]]\nmechanism = 'approx-dp'\nepsilon = 0.25\n";
    let other = Plan::parse(other.as_bytes(), Format::Toml).unwrap();
    plan.releases[0].mechanism = other.releases[0].mechanism.clone();
    plan.question = Some(Question::EpsilonAt(Delta::new(0.25).unwrap()));
    assert_eq!(plan.precise_plan().unwrap(), other.precise_plan().unwrap());
    assert_eq!(plan.exact_question_number(), other.exact_question_number());
    assert_eq!(plan.to_toml().unwrap(), other.to_toml().unwrap());
}

#[test]
fn numbers_too_long_to_keep_are_refused() {
    for number in ["1e-2600".to_owned(), format!("0.5{}1", "0".repeat(3000))] {
        let toml = format!("[[release]]\nmechanism = 'approx-dp'\nepsilon = {number}\n");
        let error = Plan::parse_exactly(toml.as_bytes(), Format::Toml).unwrap_err().to_string();
        assert!(error.contains("epsilon is") && error.contains("legal: 0, or a number"), "{error}");
    }
    let toml = "[[release]]\nmechanism = 'approx-dp'\nepsilon = '1/-3'\n";
    let error = Plan::parse(toml.as_bytes(), Format::Toml).unwrap_err().to_string();
    assert!(error.contains("epsilon is \"1/-3\"; legal: 0, or a number"), "{error}");
}

/// At delta 0 epsilon is the sum: nine tenths and two thirds, 47/30. Three times the double next to 0.3 is 3.3e-17 less.
#[test]
fn sums_of_what_is_written_are_exact() {
    let toml = "[[release]]\nmechanism = 'approx-dp'\nepsilon = 0.3\ncount = 3\n\
                [[release]]\nmechanism = 'geometric'\nscale = 3\ncount = 2\n";
    let plan = Plan::parse_exactly(toml.as_bytes(), Format::Toml).unwrap();
    let precise = plan.precise_plan().unwrap().unwrap();
    let answer = precise.epsilon(&Ratio::ZERO, bits(), Watch::none()).unwrap();
    let truth = fraction("47/30").unwrap();
    let (lower, upper) = (fraction(&answer.lower).unwrap(), fraction(&answer.upper).unwrap());
    assert!(lower <= truth && truth <= upper, "{answer:?}");
    assert!(upper - lower < fraction("1e-29").unwrap(), "{answer:?}");
}
