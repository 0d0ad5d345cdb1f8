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
    let shown = format!(
        "epsilon     {value:?}\nchanged     release 1: epsilon {value:?} (was left out), 100 times\n"
    );
    for words in [&shown, "next above", "meet the target: it costs", "certified", "setting"] {
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

/// The ledger's answer to a plan, in a data set with exactly this budget.
fn opens(
    folder: &Folder,
    plan: &str,
    (epsilon, delta): (&str, &str),
    adjacency: &str,
) -> crate::Run {
    let url = format!("sqlite:{}", folder.path("ledger.db").display());
    let _ = std::fs::remove_file(folder.path("ledger.db"));
    let ledger = |args: &[&str]| run(&[&["ledger", "--url", &url], args].concat());
    ledger(&["init"]).answer();
    let budget = ["--adjacency", adjacency, "--epsilon", epsilon, "--delta", delta];
    ledger(&[&["dataset", "data"], &budget[..]].concat()).answer();
    ledger(&["open", "team", "--dataset", "data", "--plan", plan])
}

/// What calibrate certifies compose says too, digit by digit, and the ledger accepts.
#[test]
fn one_certificate_everywhere() {
    let folder = Folder::new();
    let cases = [
        (
            "[[release]]\nmechanism = 'gaussian'\nexamples = 60000\nbatch = 256\nepochs = 20\n",
            "sigma",
            ("3", "1e-5"),
        ),
        ("[[release]]\nmechanism = 'gaussian'\nsensitivity = 0.3\n", "sigma", ("0.1", "1e-5")),
        ("[[release]]\nmechanism = 'laplace'\nsensitivity = 0.7\n", "scale", ("0.1", "0")),
        (
            "[[release]]\nmechanism = 'laplace'\n[[release]]\nmechanism = 'laplace'\nsensitivity = 200\n\
             [[release]]\nmechanism = 'gaussian'\nepsilon = 0.1\ndelta = '2^-25'\n",
            "scale",
            ("0.7", "1e-6"),
        ),
        (
            "[[release]]\nmechanism = 'zcdp'\nrho = 0.003\n[[release]]\nmechanism = 'gaussian'\ncount = 9\n",
            "sigma",
            ("1.1", "1e-6"),
        ),
        (
            "[[release]]\nmechanism = 'approx-dp'\ndelta = 1e-9\ncount = 70\n",
            "epsilon",
            ("1.3", "1e-6"),
        ),
    ];
    for (releases, unknown, (epsilon, delta)) in cases {
        let text = format!(
            "adjacency = 'add-remove'\n[target]\nepsilon = {epsilon}\ndelta = {delta}\n{releases}"
        );
        let plan = folder.file("plan.toml", &text);
        let out = folder.path("finished.toml").to_str().unwrap().to_owned();
        let found = calibrate(&plan, unknown, &["--json", "--out", &out]);
        assert_eq!(found.status, 0, "{}", found.stderr);
        assert!(
            found.stderr.ends_with(&format!("the plan was written to {out}\n")),
            "{}",
            found.stderr
        );
        let found: Value = serde_json::from_str(&found.stdout).unwrap();
        let composed = run(&["compose", &out, "--json"]);
        assert_eq!(composed.status, 0, "{}", composed.stderr);
        let composed: Value = serde_json::from_str(&composed.stdout).unwrap();
        assert_eq!(found["epsilon"], composed["epsilon"], "{releases}");
        assert!(upper(&found) <= epsilon.parse().unwrap(), "{found}");
        let opened = opens(&folder, &out, (epsilon, delta), "add-remove");
        assert_eq!(opened.status, 0, "{releases}: {}", opened.stderr);
        // By hand, in the digits that are shown.
        let value = found["changed"][0]["value"].to_string();
        assert!(std::fs::read_to_string(&out).unwrap().contains(&value), "{value}");
    }
}

/// Each release of a plan that leaves scales out is hidden equally well, ratios that are written are kept, and what was
/// changed is said.
#[test]
fn several_releases_keep_their_ratios_and_what_changed_is_said() {
    let folder = Folder::new();
    let histogram = "[[release]]\nname = \"histogram\"\nmechanism = \"laplace\"\n";
    let mean = "[[release]]\nname = \"mean\"\nmechanism = \"laplace\"\nsensitivity = 200\n";
    let fixed = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = 0.5\n";
    let target = ["--epsilon", "1.5", "--delta", "0"];
    let plan = folder.file("plan.toml", format!("{histogram}{mean}{fixed}"));
    let table = calibrate(&plan, "scale", &target);
    let table = table.answer();
    // An epsilon of 1 is shared by two: scales of 2 and 400, but for the last digits.
    assert!(table.contains("changed     release 1 \"histogram\": scale 2.00000000000"), "{table}");
    assert!(table.contains("            release 2 \"mean\": scale 400.00000000"), "{table}");
    assert!(
        table.contains("(was left out)") && table.contains("(their ratios are kept)"),
        "{table}"
    );
    assert!(table.contains("            the other release is as written\n"), "{table}");
    let written = format!("{histogram}scale = 1\n{mean}scale = 50\n{fixed}");
    let plan = folder.file("plan.toml", written);
    let object = calibrate(&plan, "scale", &[&target[..], &["--json"]].concat()).object();
    // 1/s + 200/(50 s) = 1 at s = 5.
    let changed = object["changed"].as_array().unwrap();
    let values: Vec<f64> = changed.iter().map(|change| change["value"].as_f64().unwrap()).collect();
    assert!((values[0] - 5.0).abs() < 1e-12 && (values[1] - 250.0).abs() < 1e-10, "{object}");
    assert_eq!((&changed[1]["was"], &changed[1]["name"]), (&50.0.into(), &"mean".into()));
    assert_eq!(object["value"], changed[0]["value"]);
}

#[test]
fn numbers_in_words_on_the_command_line() {
    let object =
        run(&["compare", "--epsilon", "10^-2", "--count", "1e3", "--delta", "2^-20", "--json"])
            .object();
    let same = [
        "compare",
        "--epsilon",
        "0.01",
        "--count",
        "1000",
        "--delta",
        "9.5367431640625e-7",
        "--json",
    ];
    assert_eq!(object, run(&same).object());
}
