//! What a budget allows.

use serde_json::Value;

use crate::{Folder, example, run};

const TARGET: [&str; 4] = ["--epsilon", "2", "--delta", "1e-6"];

fn calibrate(plan: &str, unknown: &str, more: &[&str]) -> crate::Run {
    run(&[&["calibrate", plan, "--for", unknown], more].concat())
}

fn upper(object: &Value) -> f64 {
    object["epsilon"]["upper"].as_f64().unwrap()
}

fn lower(object: &Value) -> f64 {
    object["epsilon"]["lower"].as_f64().unwrap()
}

/// What a plan with a value filled in costs.
fn cost(folder: &Folder, text: &str) -> Value {
    let plan = folder.file("filled.toml", text);
    run(&["compose", &plan, "--delta", "1e-6", "--json"]).object()
}

#[test]
fn the_epsilon_found_meets_the_target_and_the_next_does_not() {
    let folder = Folder::new();
    let text = "[[release]]\nmechanism = \"approx-dp\"\ncount = 100\n";
    let plan = folder.file("plan.toml", text);
    let found = calibrate(&plan, "epsilon", &[&TARGET[..], &["--json"]].concat());
    let object = found.object();
    assert_eq!((object["for"].as_str(), object["delta"].as_f64()), (Some("epsilon"), Some(1e-6)));
    let value = object["value"].as_f64().unwrap();
    let beyond = object["beyond"]["value"].as_f64().unwrap();
    assert_eq!(value.next_up().to_bits(), beyond.to_bits(), "{object}");
    // Neighbouring doubles are too close for the lower end to tell.
    assert!(upper(&object) <= 2.0 && upper(&object["beyond"]) > 2.0, "{object}");
    assert!(object["route"].is_string() && object["theorem"].is_string(), "{object}");
    assert_eq!(object["setting"]["parameters"], "fixed");

    // Seventeen digits, which the plan reads as the same number.
    let (_, rest) = found.stdout.split_once("\"value\":").unwrap();
    let (digits, _) = rest.split_once(',').unwrap();
    assert_eq!(digits.parse::<f64>().unwrap().to_bits(), value.to_bits());
    let significant = digits.trim_start_matches(['0', '.']);
    assert_eq!(significant.bytes().filter(u8::is_ascii_digit).count(), 17, "{digits}");
    assert!(upper(&cost(&folder, &format!("{text}epsilon = {digits}\n"))) <= 2.0);

    let table = calibrate(&plan, "epsilon", &TARGET);
    for words in [digits, "next above", "meet the target: it costs", "certified", "setting"] {
        assert!(table.answer().contains(words), "{words} in {}", table.stdout);
    }
}

#[test]
fn the_count_found_meets_the_target_and_one_more_does_not() {
    let folder = Folder::new();
    let text = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = 0.1\n";
    let plan = folder.file("plan.toml", text);
    let object = calibrate(&plan, "count", &[&TARGET[..], &["--json"]].concat()).object();
    let count = object["value"].as_u64().unwrap();
    assert_eq!(object["beyond"]["value"].as_u64(), Some(count + 1));
    assert!(upper(&object) <= 2.0 && lower(&object["beyond"]) > 2.0, "{object}");
    let cost = |count: u64| cost(&folder, &format!("{text}count = {count}\n"));
    assert!(upper(&cost(count)) <= 2.0 && lower(&cost(count + 1)) > 2.0, "{count}");
}

#[test]
fn releases_that_are_not_meant_stay_as_they_are() {
    let folder = Folder::new();
    let fixed = "[[release]]\nname = \"fixed\"\nmechanism = \"approx-dp\"\nepsilon = 1\n";
    let free = "[[release]]\nname = \"free\"\nmechanism = \"approx-dp\"\ncount = 10\n";
    let plan = folder.file("plan.toml", format!("{fixed}{free}"));
    let json = [&TARGET[..], &["--json"]].concat();
    let blank = calibrate(&plan, "epsilon", &json);
    let named = calibrate(&plan, "epsilon", &[&json[..], &["--release", "free"]].concat());
    assert_eq!(blank, named);
    let value = blank.object()["value"].as_f64().unwrap();
    assert!(upper(&cost(&folder, &format!("{fixed}{free}epsilon = {value:?}\n"))) <= 2.0);

    // What is left out elsewhere is missing.
    let wrong = calibrate(&plan, "epsilon", &[&TARGET[..], &["--release", "fixed"]].concat());
    let start = format!("{plan}: release 2 (\"free\"): epsilon is missing; legal: ");
    assert!(wrong.error().starts_with(&start), "{}", wrong.error());
    let start = format!("{plan}: release 2 (\"free\"): epsilon is missing; legal: ");
    assert!(run(&["compose", &plan, "--delta", "0"]).error().starts_with(&start));
}

#[test]
fn the_plan_may_ask_one_half_of_the_target() {
    let plan = example("minimal.toml");
    let json = ["--epsilon", "2", "--json"];
    let half = calibrate(&plan, "count", &json);
    assert_eq!(half, calibrate(&plan, "count", &[&TARGET[..], &["--json"]].concat()));
    half.object();
}

#[test]
fn a_target_out_of_reach_is_a_definite_no() {
    let folder = Folder::new();
    let release = "[[release]]\nname = \"fixed\"\nmechanism = \"approx-dp\"\nepsilon = 3\n";
    let text = format!("{release}[[release]]\nmechanism = \"approx-dp\"\n");
    let plan = folder.file("plan.toml", text);
    let leaky = "[[release]]\nmechanism = \"name-and-shame\"\ndelta = 0.5\n[[release]]\n\
                 mechanism = \"approx-dp\"\n";
    let leaky = folder.file("leaky.toml", leaky);
    for plan in [plan, leaky] {
        let text = calibrate(&plan, "epsilon", &TARGET);
        assert_eq!((text.status, text.stdout.as_str()), (1, ""), "{}", text.stderr);
        assert_eq!(text.stderr.lines().count(), 1);
        assert!(text.stderr.starts_with(&format!("{plan}: ")), "{}", text.stderr);
        let json = calibrate(&plan, "epsilon", &[&TARGET[..], &["--json"]].concat());
        assert_eq!((json.status, json.stderr.as_str()), (1, ""), "{}", json.stdout);
        let object: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(object["for"], "epsilon");
        assert!(object["value"].is_null() && object["reason"].is_string(), "{object}");
    }
}

#[test]
fn a_plan_without_the_unknown_says_which_mechanisms_have_it() {
    let run = calibrate(&example("minimal.toml"), "sigma", &TARGET);
    assert!(run.error().contains("no release has a sigma; legal: "), "{}", run.error());
}
