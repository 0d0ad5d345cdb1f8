//! Answers, in both forms.

use counterpoint::Route;
use serde_json::Value;

use crate::{Folder, HUNDRED, example, run, run_with};

fn ends(object: &Value, side: &str) -> (f64, f64) {
    let end = |name: &str| object[side][name].as_f64().unwrap();
    (end("lower"), end("upper"))
}

#[track_caller]
fn assert_hundred(object: &Value, width: f64) {
    let (lower, upper) = ends(object, "epsilon");
    assert!(lower <= HUNDRED + 1e-12 && HUNDRED - 1e-12 <= upper, "{lower} {upper}");
    assert!(upper - lower <= width, "{lower} {upper}");
}

#[test]
fn a_hundred_releases_cost_what_the_literature_says() {
    let plan = example("minimal.toml");
    assert_hundred(&run(&["compose", &plan, "--json"]).object(), 5e-6);
    let narrow = run(&["compose", &plan, "--tolerance", "1e-11", "--json"]).object();
    assert_hundred(&narrow, 1e-10);
}

#[test]
fn the_object_has_its_fields_in_order() {
    let answer = run(&["compose", &example("minimal.toml"), "--json"]);
    let text = answer.answer();
    let keys = ["{\"epsilon\":", "\"delta\":", "\"route\":", "\"theorem\":", "\"setting\":"];
    let at = keys.map(|key| text.find(key).unwrap_or_else(|| panic!("{key} in {text}")));
    assert!(at.is_sorted() && at[0] == 0, "{text}");
    assert!(text.contains(r#""delta":{"lower":1e-6,"upper":1e-6}"#), "{text}");

    let object = answer.object();
    assert_eq!(object.as_object().unwrap().len(), 6);
    assert!(object["theorem"].as_str().is_some_and(|theorem| !theorem.is_empty()));
    assert_eq!(object["setting"]["parameters"], "fixed");
    assert_eq!(object["setting"]["concurrent"], true);
    let others = object["others"].as_array().unwrap();
    let names: Vec<_> = others.iter().map(|other| other["theorem"].as_str().unwrap()).collect();
    assert_eq!(names, ["basic", "advanced", "strong", "kov-closed-form"]);
    for other in others {
        let silent = other["epsilon"].is_null() && other["reason"].is_string();
        assert!(silent || other["epsilon"].as_f64().unwrap() > HUNDRED, "{other}");
    }
    let basic = others[0]["epsilon"].as_f64().unwrap();
    assert!((10.0..10.000_000_1).contains(&basic), "{basic}");
}

#[test]
fn the_asked_side_has_seventeen_digits() {
    let run = run(&["compose", &example("weekly.toml"), "--json"]);
    let text = run.answer();
    let (_, rest) = text.split_once("{\"epsilon\":{\"lower\":").unwrap();
    let (lower, rest) = rest.split_once(",\"upper\":").unwrap();
    let (upper, _) = rest.split_once('}').unwrap();
    for end in [lower, upper] {
        assert_eq!(end.bytes().filter(u8::is_ascii_digit).count(), 17, "{text}");
    }
}

#[test]
fn delta_may_be_asked_instead() {
    let plan = example("minimal.toml");
    let epsilon = HUNDRED.to_string();
    let object = run(&["compose", &plan, "--epsilon", &epsilon, "--json"]).object();
    assert_eq!(ends(&object, "epsilon"), (HUNDRED, HUNDRED));
    let (lower, upper) = ends(&object, "delta");
    assert!((lower / 1e-6 - 1.0).abs() < 3e-6 && (upper / 1e-6 - 1.0).abs() < 3e-6);
    for other in object["others"].as_array().unwrap() {
        assert!(other.get("epsilon").is_none() && other.get("delta").is_some(), "{other}");
    }
}

#[test]
fn the_command_line_replaces_the_question() {
    let folder = Folder::new();
    let release = "release = [{ mechanism = \"approx-dp\", epsilon = 0.1, count = 100 }]\n";
    let plan = folder.file("plan.toml", format!("epsilon = 1\n{release}"));
    assert_hundred(&run(&["compose", &plan, "--delta", "1e-6", "--json"]).object(), 5e-6);
    let plan = folder.file("silent.toml", release);
    assert_hundred(&run(&["compose", &plan, "--delta=1e-6", "--json"]).object(), 5e-6);
}

#[test]
fn toml_json_and_standard_input_give_the_same_answer() {
    let (toml, json) = (example("survey.toml"), example("survey.json"));
    for options in [&["--json"][..], &[], &["--epsilon", "2"]] {
        let with = |path| run(&[&["compose", path], options].concat());
        let from_toml = with(&toml);
        from_toml.answer();
        assert_eq!(from_toml, with(&json));
        for path in [&toml, &json] {
            let text = std::fs::read(path).unwrap();
            assert_eq!(from_toml, run_with(&[&["compose", "-"], options].concat(), &text));
        }
    }
}

#[test]
fn the_table_begins_with_the_certified_bracket() {
    let run = run(&["compose", &example("minimal.toml")]);
    let text = run.answer();
    assert!(text.starts_with("epsilon  4.7745"), "{text}");
    for word in [
        "certified; the exact value is at most",
        "route",
        "theorem",
        "setting",
        "basic",
        "saving",
        " %",
    ] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn every_route_agrees_or_says_why_not() {
    let plan = example("minimal.toml");
    for route in Route::ALL.map(Route::name) {
        let run = run(&["compose", &plan, "--route", route, "--json"]);
        if run.status == 2 {
            assert!(run.error().contains("does not apply"), "{}", run.error());
            continue;
        }
        // Rényi divergences do not say all that there is to say.
        let width = if route == "renyi" { 0.5 } else { 5e-6 };
        assert_hundred(&run.object(), width);
        let reported = run.object()["route"].as_str().and_then(Route::named).unwrap();
        assert!(Route::named(route).unwrap().includes(reported), "{route}: {reported}");
    }
}

#[test]
fn bits_give_longer_decimals() {
    let plan = example("minimal.toml");
    let run = run(&["compose", &plan, "--bits", "128", "--json"]);
    assert_eq!(run.object()["route"], "precise");
    assert_hundred(&run.object(), 1e-12);
    let (_, rest) = run.stdout.split_once("\"lower\":").unwrap();
    let (lower, _) = rest.split_once(',').unwrap();
    // The same sum of tenths in 90 digits, by mpmath. (Of the doubles next to 0.1 and 1e-6 it is ...644749.)
    assert!(lower.starts_with("4.77456758810798615328594816746971255"), "{lower}");
}

/// Two releases of three tenths and one of a third, at a seventh: all outcomes in 90 digits, by mpmath. The doubles next to
/// these numbers have another delta from the 17th digit on.
#[test]
fn bits_are_about_the_numbers_that_are_written() {
    let truth = "0.170473604594495366037961734289468741094950885512831618874";
    let folder = Folder::new();
    let toml = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = 0.3\ncount = 2\n\
                [[release]]\nmechanism = \"randomized-response\"\nepsilon = \"1/3\"\n";
    let json = r#"{"epsilon": "1/7", "release": [
        {"mechanism": "approx-dp", "epsilon": 0.30, "count": 2},
        {"mechanism": "geometric", "scale": 3}]}"#;
    let toml = folder.file("plan.toml", toml);
    let json = folder.file("plan.json", json);
    let asked: [&[&str]; 2] = [
        &["compose", &toml, "--bits", "200", "--epsilon", "1/7"],
        &["compose", &json, "--bits", "200"],
    ];
    for arguments in asked {
        let answer = run(&[arguments, &["--json"]].concat());
        answer.answer();
        let (_, delta) = answer.stdout.split_once("\"delta\":{\"lower\":").unwrap();
        for end in [delta, delta.split_once("\"upper\":").unwrap().1] {
            assert!(end.starts_with(truth), "{end}");
        }
        // Formulas charge for no less: KOV's third term and basic composition say nothing here, others more.
        let for_people = run(arguments).stdout;
        assert!(for_people.contains("1/7 (given)"), "{for_people}");
    }
    let (lower, upper) = ends(&run(&[asked[1], &["--json"]].concat()).object(), "epsilon");
    assert!(lower <= 1.0 / 7.0 && 1.0 / 7.0 <= upper && upper - lower < 1e-15, "{lower} {upper}");
    // Without --bits it is about doubles, and the double next to a third is read.
    let (lower, upper) = ends(&run(&["compose", &json, "--json"]).object(), "delta");
    let near: f64 = truth.parse().unwrap();
    assert!(lower <= near * (1.0 + 1e-15) && near * (1.0 - 1e-15) <= upper, "{lower} {upper}");
}

/// At delta 0 epsilon is the sum: ten times a tenth is one, and not 1.000000000000000055...
#[test]
fn bits_add_tenths_to_one() {
    let folder = Folder::new();
    let plan = "delta = 0\nrelease = [{ mechanism = \"approx-dp\", epsilon = 0.1, count = 10 }]\n";
    let plan = folder.file("plan.toml", plan);
    let run = run(&["compose", &plan, "--bits", "200", "--json"]);
    run.answer();
    let (_, ends) = run.stdout.split_once("\"lower\":").unwrap();
    let (lower, upper) = ends.split_once(",\"upper\":").unwrap();
    assert!(lower.starts_with(&format!("0.{}", "9".repeat(60))), "{lower}");
    assert!(upper.starts_with(&format!("1.{}", "0".repeat(60))), "{upper}");
    // So it is for the formulas.
    let basic = run.object()["others"][0]["epsilon"].as_f64().unwrap();
    assert!((1.0..=1.0 + f64::EPSILON).contains(&basic), "{basic}");
}

/// Three deltas of a tenth are within 0.3, and three epsilons of 0.3 within 0.9; of the doubles next to these numbers neither is so.
#[test]
fn theorems_beside_bits_are_about_the_decimals() {
    let folder = Folder::new();
    let plan = "release = [{ mechanism = \"approx-dp\", epsilon = 0.3, delta = 0.1, count = 3 }]\n";
    let plan = folder.file("plan.toml", plan);
    let basic = |args: &[&str], side: &str| {
        let object = run(&[args, &["--json"]].concat()).object();
        let basic = object["others"].as_array().unwrap().iter().find(|o| o["theorem"] == "basic");
        basic.unwrap()[side].as_f64()
    };
    let numbers = ["compare", "--epsilon", "0.3", "--release-delta", "0.1", "--count", "3"];
    let numbers = [&numbers[..], &["--delta", "0.3"]].concat();
    let by_plan = ["compare", &plan, "--delta", "0.3"];
    for args in [&["compose", &plan, "--delta", "0.3"][..], &by_plan, &numbers] {
        let exactly = [args, &["--bits", "64"]].concat();
        assert!((0.9..0.9 + 2e-16).contains(&basic(&exactly, "epsilon").unwrap()), "{args:?}");
        assert_eq!(basic(args, "epsilon"), None, "{args:?}");
    }
    let simplified = run(&[&numbers[..], &["--bits", "64"]].concat());
    assert!(simplified.answer().contains("kov-simplified"), "{}", simplified.stdout);
    let thirds = "release = [{ mechanism = \"approx-dp\", epsilon = 0.1, count = 3 }]\n";
    let thirds = folder.file("thirds.toml", thirds);
    let at = ["compose", &thirds, "--epsilon", "0.3"];
    assert_eq!(basic(&[&at[..], &["--bits", "64"]].concat(), "delta"), Some(0.0));
    assert_eq!(basic(&at, "delta"), None);
    // Neither the approximation nor the pairs are computed from fractions.
    for other in [&["--eta", "0.1"][..], &["--pairs"]] {
        let error = run(&[&numbers[..], &["--bits", "64"], other].concat());
        assert!(error.error().contains("cannot be used with"), "{error:?}");
    }
    let noise = folder.file("n.toml", "release = [{ mechanism = \"gaussian\", sigma = 1.0 }]\n");
    let error = run(&["compare", &noise, "--delta", "0.1", "--bits", "64"]);
    assert!(
        error.error().contains("other mechanisms than (epsilon, delta) guarantees"),
        "{error:?}"
    );
}

#[test]
fn fractions_are_no_amounts_of_a_ledger() {
    let folder = Folder::new();
    let plan = "delta = 0\nrelease = [{ mechanism = \"approx-dp\", epsilon = \"1/3\" }]\n";
    let plan = folder.file("plan.toml", plan);
    run(&["compose", &plan]).answer();
    let url = format!("sqlite:{}", folder.path("ledger.db").display());
    let ledger = |arguments: &[&str]| run(&[&["ledger", "--url", &url], arguments].concat());
    ledger(&["init"]).answer();
    let dataset = ["dataset", "d", "--adjacency", "replace", "--epsilon", "1", "--delta", "1e-6"];
    ledger(&dataset).answer();
    let opened = ledger(&["open", "a", "--dataset", "d", "--plan", &plan]);
    let error = opened.error();
    assert!(error.contains("1/3; legal: a decimal number"), "{error}");
}

#[test]
fn the_precise_route_is_bits_by_another_name() {
    let plan = example("minimal.toml");
    let precise = run(&["compose", &plan, "--route", "precise", "--json"]);
    precise.answer();
    assert_eq!(precise, run(&["compose", &plan, "--bits", "64", "--json"]));
    let both = ["compose", &plan, "--bits", "64", "--route", "precise", "--json"];
    assert_eq!(precise, run(&both));
}

#[test]
fn nothing_and_almost_everything_can_be_promised() {
    let folder = Folder::new();
    let plan = |epsilon: &str| {
        let release = format!("{{ mechanism = \"approx-dp\", epsilon = {epsilon} }}");
        folder.file("plan.toml", format!("delta = 1e-6\nrelease = [{release}]\n"))
    };
    let (lower, upper) = ends(&run(&["compose", &plan("0"), "--json"]).object(), "epsilon");
    assert!(lower == 0.0 && (0.0..=1e-12).contains(&upper), "{lower} {upper}");
    // delta(e) of one release is (e^800 - e^e)/(1 + e^800).
    let (lower, upper) = ends(&run(&["compose", &plan("800"), "--json"]).object(), "epsilon");
    let exact = 800.0 + (-1e-6_f64).ln_1p();
    assert!(lower <= exact + 1e-9 && exact - 1e-9 <= upper && upper <= 800.001, "{lower} {upper}");
}

#[test]
fn compare_by_plan_or_by_numbers() {
    let by_plan = run(&["compare", &example("minimal.toml"), "--json"]);
    assert_hundred(&by_plan.object(), 5e-6);
    let numbers = ["compare", "--epsilon", "0.1", "--count", "100", "--delta", "1e-6"];
    assert_eq!(by_plan, run(&[&numbers[..], &["--json"]].concat()));
    let basic = &by_plan.object()["others"][0];
    let ratio = basic["ratio"].as_f64().unwrap();
    assert!((ratio - 10.0 / HUNDRED).abs() < 1e-5, "{basic}");

    let table = run(&numbers);
    for word in ["times optimal", "source", "optimal", "2.094", "Dwork"] {
        assert!(table.answer().contains(word), "{word} in {}", table.stdout);
    }
    let leaky = [&numbers[..], &["--release-delta", "1e-9", "--json"]].concat();
    let (lower, _) = ends(&run(&leaky).object(), "epsilon");
    assert!(lower > HUNDRED);
}

#[test]
fn comparing_asks_at_the_delta_of_the_command_line_first() {
    let plan = example("minimal.toml");
    let tighter = run(&["compare", &plan, "--delta", "1e-9", "--json"]).object();
    let (lower, _) = ends(&tighter, "epsilon");
    assert!(lower > HUNDRED + 1.0 && tighter["delta"]["upper"] == 1e-9);
}
