//! Answers, in both forms.

use counterpoint::route::Route;
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
        assert_eq!(run.object()["route"], route);
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
    // The same sum in 80 digits, apart from this project: 4.77456758810798644749305777156396937...
    assert!(lower.starts_with("4.77456758810798644749305777156396937"), "{lower}");
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
