//! What a plan file may say, and what is said of one that may not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use counterpoint::{Adjacency, Count, Delta, Epsilon, Guarantee, Mechanism};
use counterpoint_wire::{Format, Plan, Question};

fn toml(text: &str) -> Result<Plan, String> {
    Plan::parse(text.as_bytes(), Format::Toml).map_err(|error| error.to_string())
}

fn json(text: &str) -> Result<Plan, String> {
    Plan::parse(text.as_bytes(), Format::Json).map_err(|error| error.to_string())
}

/// A TOML plan of one release with these lines.
fn toml_release(lines: &str) -> Result<Plan, String> {
    toml(&format!("[[release]]\n{lines}\n"))
}

const EPSILON: &str = Epsilon::LEGAL;
const DELTA: &str = Delta::LEGAL;
const COUNT: &str = Count::LEGAL;
/// Every mechanism a plan can name.
const KINDS: &str = "approx-dp, laplace, truncated-laplace, geometric, gaussian, discrete-gaussian, \
    randomized-response, exponential, report-noisy-max, staircase, name-and-shame, zcdp, tcdp, rdp, gdp, \
    sparse-vector, above-threshold, finite, gaussian-mixture, cells, gaussian-allocation, gaussian-batch, gaussian-draws, gaussian-subset, shuffled-reports, private-selection";

#[test]
fn both_formats_say_the_same() {
    let from_toml = toml(
        "version = 1\ndelta = 1e-6\nadjacency = \"replace\"\n\
         [[release]]\nname = \"age\"\nmechanism = \"approx-dp\"\nepsilon = 1\ndelta = 1e-9\n\
         [[release]]\nmechanism = \"approx-dp\"\nepsilon = 0.1\ncount = 100\n",
    );
    let from_json = json(
        r#"{"version": 1, "delta": 1e-6, "adjacency": "replace", "release": [
            {"name": "age", "mechanism": "approx-dp", "epsilon": 1, "delta": 1e-9},
            {"mechanism": "approx-dp", "epsilon": 0.1, "count": 100}]}"#,
    );
    let plan = from_toml.unwrap();
    assert_eq!(plan, from_json.unwrap());
    assert_eq!(plan.question, Some(Question::EpsilonAt(Delta::new(1e-6).unwrap())));
    assert_eq!(plan.adjacency, Some(Adjacency::Replace));
    assert_eq!(plan.releases[0].name.as_deref(), Some("age"));
    assert_eq!(plan.releases[0].mechanism, Guarantee::new(1.0, 1e-9).unwrap().into());
    assert_eq!(plan.releases[1].name, None);
    assert_eq!(plan.releases[1].count, Count::new(100).unwrap());
}

#[test]
fn the_question_may_be_epsilon_or_left_out() {
    let release = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = 0.1\n";
    let plan = toml(&format!("epsilon = 2\n{release}")).unwrap();
    assert_eq!(plan.question, Some(Question::DeltaAt(Epsilon::new(2.0).unwrap())));
    assert_eq!(toml(release).unwrap().question, None);
}

#[test]
fn a_number_is_the_f64_nearest_to_its_text() {
    // Halfway cases and long texts, where quick algorithms are one unit off.
    let texts = [
        "0.1",
        "0.30000000000000004",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203126",
        "8.41e-21",
        "9.0071992547409930e5",
        "2.2250738585072011e-100",
        "123456.78901234567890123456789",
    ];
    for text in texts {
        let nearest: f64 = text.parse().unwrap();
        let release = format!(r#"{{"mechanism": "approx-dp", "epsilon": {text}}}"#);
        let from_json = json(&format!(r#"{{"release": [{release}]}}"#)).unwrap();
        let from_toml = toml_release(&format!("mechanism = 'approx-dp'\nepsilon = {text}"));
        for plan in [from_json, from_toml.unwrap()] {
            let Mechanism::ApproxDp(guarantee) = plan.releases[0].mechanism else { panic!() };
            assert_eq!(guarantee.epsilon.get().to_bits(), nearest.to_bits(), "{text}");
        }
    }
}

#[test]
fn every_bad_number_is_named_with_what_would_be_legal() {
    #[rustfmt::skip]
    let bad = [
        ("epsilon", "nan", "nan", EPSILON), ("epsilon", "-nan", "nan", EPSILON),
        ("epsilon", "inf", "inf", EPSILON), ("epsilon", "-inf", "-inf", EPSILON),
        ("epsilon", "-1", "-1", EPSILON), ("epsilon", "-1e-300", "-1e-300", EPSILON),
        ("epsilon", "1e7", "10000000.0", EPSILON), ("epsilon", "1e300", "1e300", EPSILON),
        ("epsilon", "1e400", "1e400", EPSILON), ("epsilon", "'one'", "\"one\"", EPSILON),
        ("epsilon", "true", "true", EPSILON), ("epsilon", "[1]", "a list", EPSILON),
        ("epsilon", "{}", "a table", EPSILON), ("epsilon", "1979-05-27", "a date", EPSILON),
        ("delta", "1", "1", DELTA), ("delta", "1.5", "1.5", DELTA), ("delta", "-1e-9", "-1e-9", DELTA),
        ("delta", "nan", "nan", DELTA), ("delta", "'x'", "\"x\"", DELTA),
        ("count", "0", "0", COUNT), ("count", "-3", "-3", COUNT),
        ("count", "10000000000000", "10000000000000", COUNT),
        ("count", "1000000000000000000000000000000", "1000000000000000000000000000000", COUNT),
        ("count", "3.5", "3.5", COUNT), ("count", "'2^50'", "\"2^50\"", COUNT),
        ("count", "'3^2'", "\"3^2\"", COUNT), ("delta", "'2^3'", "\"2^3\"", DELTA),
        ("count", "1e30", "1e30", COUNT),
        ("count", "'3'", "\"3\"", COUNT),
        ("name", "3", "3", "a string"),
    ];
    for (field, given, shown, legal) in bad {
        let epsilon = if field == "epsilon" { "" } else { "epsilon = 0.1\n" };
        let lines = format!("mechanism = \"approx-dp\"\n{epsilon}{field} = {given}");
        let error = toml_release(&lines).unwrap_err();
        assert_eq!(error, format!("release 1: {field} is {shown}; legal: {legal}"));
    }
}

#[test]
fn an_error_names_the_release_by_number_and_name() {
    let good = r#"{"mechanism": "approx-dp", "epsilon": 1}"#;
    let bad = r#"{"mechanism": "approx-dp", "epsilon": -1, "name": "age\n\u001b[31m"}"#;
    let error = json(&format!(r#"{{"release": [{good}, {good}, {bad}]}}"#)).unwrap_err();
    let expected = format!(r#"release 3 ("age\n\u{{1b}}[31m"): epsilon is -1; legal: {EPSILON}"#);
    assert_eq!(error, expected);
}

#[test]
fn unknown_missing_and_repeated_fields() {
    let no_kind = format!("release 1: mechanism is missing; legal: {KINDS}");
    let cases = [
        (toml_release("epsilon = 1"), no_kind.as_str()),
        (
            toml_release("mechanism = \"laplase\""),
            &format!("release 1: mechanism is \"laplase\"; legal: {KINDS}"),
        ),
        (toml_release("mechanism = 7"), &format!("release 1: mechanism is 7; legal: {KINDS}")),
        (
            toml_release("mechanism = \"approx-dp\""),
            &format!("release 1: epsilon is missing; legal: {EPSILON}"),
        ),
        (
            toml_release("mechanism = \"approx-dp\"\nepsilon = 1\nsigma = 2"),
            "release 1: sigma is not a field of approx-dp; \
             legal: name, mechanism, count, partition, epsilon, delta, rate, examples, batch, epochs, also, recipe",
        ),
        (
            toml("epsilom = 1"),
            "epsilom is not a field of a plan; \
             legal: version, delta, epsilon, adjacency, group, target, release",
        ),
        (toml("version = 2"), "version is 2; legal: 1"),
        (toml("version = 1.0"), "version is 1.0; legal: 1"),
        (toml("adjacency = 'swap'"), "adjacency is \"swap\"; legal: add-remove, replace"),
        (toml("delta = 2"), &format!("delta is 2; legal: {DELTA}")),
        (json(r#"{"delta": 0, "delta": 0}"#), "delta is given twice; legal: once"),
        (json(r#"{"release": [], "release": []}"#), "release is given twice; legal: once"),
        (
            json(r#"{"release": [{"epsilon": 1, "epsilon": 1}]}"#),
            "release 1: \"epsilon\" is given twice; legal: once",
        ),
        (
            toml_release("epsilon = 1\nepsilon = 1"),
            "release 1: cannot be read as TOML: duplicate key near \"epsilon\" at line 3 column 1",
        ),
        (
            toml("delta = 0\nepsilon = 0\n[[release]]\nmechanism = \"approx-dp\"\nepsilon = 1"),
            "delta and epsilon are both given; legal: one of them, the question",
        ),
    ];
    for (outcome, expected) in cases {
        assert_eq!(outcome.unwrap_err(), expected);
    }
}

#[test]
fn plans_without_releases_and_releases_that_are_none() {
    let none = "there are no releases; legal: 1 to 10^7 releases, each a table";
    let empty = "the plan is empty; legal: a plan in TOML or JSON";
    let cases = [
        (toml(""), empty),
        (json(" \n"), empty),
        (toml("\u{feff}"), empty),
        (toml("delta = 0.1"), none),
        (toml("release = []"), none),
        (json("{}"), none),
        (json(r#"{"release": []}"#), none),
        (toml("release = 3"), "release is 3; legal: 1 to 10^7 releases, each a table"),
        (toml("[release]\n"), "release is a table; legal: 1 to 10^7 releases, each a table"),
        (toml("release = [1]"), "release 1: is 1; legal: a table"),
        (
            json(r#"{"release": {}}"#),
            "release cannot be read as JSON: invalid type: map, expected a list of releases \
             at line 1 column 14",
        ),
        (
            json(r#"{"release": [1]}"#),
            "release 1: cannot be read as JSON: invalid type: integer `1`, expected a release: \
             an object with a mechanism and its fields at line 1 column 14",
        ),
    ];
    for (outcome, expected) in cases {
        assert_eq!(outcome.unwrap_err(), expected);
    }
}

#[test]
fn text_that_is_not_json_says_where() {
    let cases = [
        (
            "{\"release\": [{\"mechanism\": \"app",
            "release 1: mechanism cannot be read as JSON: EOF",
        ),
        ("[1]", "cannot be read as JSON: invalid type: sequence, expected a plan"),
        ("{\"delta\": 1e-6} x", "cannot be read as JSON: trailing characters at line 1 column 17"),
        (
            "{\"release\": [{\"name\": \"a\", \"epsilon\": 1e400}]}",
            "release 1 (\"a\"): epsilon is 1e400, too large for a number; legal: less than 1.8e308",
        ),
        ("{\"delta\": NaN}", "delta cannot be read as JSON: expected value at line 1 column 11"),
        ("{\"delta\": nan}", "delta cannot be read as JSON: expected ident at line 1 column 12"),
        ("{\"delta\": null}", "delta is null; legal: "),
    ];
    for (text, expected) in cases {
        let error = json(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    let deep = format!("{{\"delta\": {}", "[".repeat(100_000));
    assert!(json(&deep).unwrap_err().contains("recursion limit"));
}

#[test]
fn text_that_is_not_toml_says_where() {
    let error = toml("delta = 1e-6\n[[release]]\nepsilon = \n[[release]]\n").unwrap_err();
    assert!(error.starts_with("release 1: cannot be read as TOML: "), "{error}");
    assert!(error.ends_with("at line 3 column 11"), "{error}");
    let error = toml("%PDF-1.4 \u{1}\u{2}").unwrap_err();
    assert!(error.starts_with("cannot be read as TOML: "), "{error}");
    let error = Plan::parse(b"delta = \xff\xfe", Format::Toml).unwrap_err().to_string();
    assert_eq!(error, "byte 9 (0xff) is not UTF-8 text; legal: a plan in TOML or JSON");
    assert!(toml(&format!("delta = {}", "[".repeat(100_000))).is_err());
}

#[test]
fn a_header_within_a_string_is_not_a_release() {
    let mut text = String::from("delta = 1e-6\n");
    for _ in 0..2000 {
        text.push_str("[[release]]\nmechanism = \"approx-dp\"\nepsilon = 1\n");
        text.push_str("name = '''\n[[release]]\n'''\n");
    }
    let plan = toml(&text).unwrap();
    assert_eq!(plan.releases.len(), 2000);
    assert_eq!(plan.releases[1999].name.as_deref(), Some("[[release]]\n"));
}

#[test]
fn the_number_of_a_bad_release_is_right_far_into_a_long_file() {
    let mut text = String::new();
    for index in 1..=5000 {
        let epsilon = if index == 4321 { "-1" } else { "1" };
        text.push_str(&format!("[[release]]\nmechanism = \"approx-dp\"\nepsilon = {epsilon}\n"));
    }
    assert_eq!(toml(&text).unwrap_err(), format!("release 4321: epsilon is -1; legal: {EPSILON}"));
    let error = toml(&text.replace("= -1", "=")).unwrap_err();
    assert!(error.starts_with("release 4321: cannot be read as TOML: "), "{error}");
    assert!(error.ends_with("at line 12963 column 10"), "{error}");
}

#[test]
fn the_format_is_told_by_name_or_by_first_character() {
    let detect = |path: &str, text: &str| Format::detect(Some(path.as_ref()), text.as_bytes());
    assert_eq!(detect("a.toml", "{"), Format::Toml);
    assert_eq!(detect("a.JSON", "x"), Format::Json);
    assert_eq!(detect("a.plan", "\u{feff} \n{"), Format::Json);
    assert_eq!(detect("a", "delta = 1"), Format::Toml);
    assert_eq!(Format::detect(None, b"  {}"), Format::Json);
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let text = "\u{feff}[[release]]\r\nmechanism = \"approx-dp\"\r\nepsilon = 1\r\n";
    assert_eq!(toml(text).unwrap().releases.len(), 1);
    let text = "\u{feff}{\"release\": [{\"mechanism\": \"approx-dp\", \"epsilon\": 1}]}";
    assert_eq!(json(text).unwrap().releases.len(), 1);
}

/// Numbers as papers and people write them.
#[test]
fn powers_and_counts_with_an_exponent_are_numbers() {
    let plan = toml(
        "delta = '2^-25'\n[[release]]\nmechanism = 'approx-dp'\nepsilon = '10^-3'\ncount = 1e3\n\
         [[release]]\nmechanism = 'gaussian'\nsigma = '2^4'\ncount = '2^10'\n",
    );
    let plan = plan.unwrap();
    // 1/33554432 is a double.
    let delta = Delta::new(1.0 / 33_554_432.0).unwrap();
    assert_eq!(plan.question, Some(Question::EpsilonAt(delta)));
    assert_eq!(plan.releases[0].mechanism, Guarantee::new(0.001, 0.0).unwrap().into());
    assert_eq!([plan.releases[0].count, plan.releases[1].count].map(Count::get), [1000, 1024]);
    assert_eq!(
        json(r#"{"release": [{"mechanism": "approx-dp", "epsilon": 1, "count": 1E2}]}"#)
            .unwrap()
            .releases[0]
            .count
            .get(),
        100
    );
}

/// What the releases are to be calibrated to is part of a plan; its delta is a question, too.
#[test]
fn a_plan_may_have_a_target() {
    let release = "[[release]]\nmechanism = 'approx-dp'\nepsilon = 0.1\n";
    let plan = toml(&format!("{release}[target]\nepsilon = 2\ndelta = 1e-6\n")).unwrap();
    let target = plan.target.unwrap();
    assert_eq!((target.epsilon.get(), target.delta.unwrap().get()), (2.0, 1e-6));
    assert_eq!(plan.question, Some(Question::EpsilonAt(Delta::new(1e-6).unwrap())));
    let again = [toml(&plan.to_toml().unwrap()), json(&plan.to_json().unwrap())];
    assert_eq!(again, [Ok(plan.clone()), Ok(plan)]);
    let half = toml(&format!("delta = 1e-5\n[target]\nepsilon = 2\n{release}")).unwrap();
    assert_eq!(half.question, Some(Question::EpsilonAt(Delta::new(1e-5).unwrap())));
    assert_eq!(half.target.unwrap().delta, None);
    for (lines, problem) in [
        ("target = 3\n", "target is 3; legal: a table with epsilon"),
        ("[target]\ndelta = 1e-6\n", "target is a table: epsilon is missing; legal: "),
        ("[target]\nepsilon = -1\n", "target is a table: epsilon is -1; legal: "),
        (
            "[target]\nepsilon = 1\nrho = 1\n",
            "target is a table: rho is not a field of target; legal",
        ),
    ] {
        let error = toml(&format!("{lines}{release}")).unwrap_err();
        assert!(error.starts_with(problem), "{error}");
    }
}
