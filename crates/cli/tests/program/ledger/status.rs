//! What is spent, left and under what.

use serde_json::json;

use super::{Ledger, open_sums};
use crate::run;

#[test]
fn status_says_which_total_binds() {
    let ledger = Ledger::new();
    let dataset = ["dataset", "census", "--adjacency", "add-remove"];
    ledger.object(&[&dataset[..], &["--epsilon", "5", "--delta", "1e-6"]].concat());
    let open = ["open", "team", "--dataset", "census", "--filter", "sums"];
    ledger.object(&[&open[..], &["--epsilon", "1", "--delta", "1e-6"]].concat());
    ledger.reserve("monday", "0.25");
    let text = ledger.run(&["status"]).answer().to_owned();
    let ends = |name: &str, end: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(words.join(" ").ends_with(end), "{text}");
    };
    ends("census", "0.000001 1 4 epsilon [####################] 100.0 % of delta");
    ends("team", "0.000001 0.25 0.75 epsilon [#####...............] 25.0 % of epsilon");
}

#[test]
fn nested_accounts_stand_under_their_parents() {
    let ledger = Ledger::new();
    let dataset = ["dataset", "census", "--adjacency", "replace", "--records", "3"];
    ledger.object(&[&dataset[..], &["--epsilon", "5", "--delta", "1e-3"]].concat());
    let plan = ledger.folder.file(
        "plan.toml",
        "delta = 1e-6\n[[release]]\nname = \"curve\"\nmechanism = \"zcdp\"\nrho = 0.05\n\
         count = 2\n[[release]]\nname = \"north\"\nmechanism = \"approx-dp\"\nepsilon = 0.5\n\
         count = 2\n",
    );
    ledger.object(&["open", "weekly", "--dataset", "census", "--plan", &plan]);
    ledger.object(&open_sums("later"));
    let within = ["--within", "weekly", "--slot"];
    ledger.object(
        &[&["open", "inner"], &within[..], &["curve", "--filter", "zcdp", "--rho", "0.05"]]
            .concat(),
    );
    let run = ledger.run(
        &[&["open", "x"], &within[..], &["curve", "--filter", "zcdp", "--rho", "0.06"]].concat(),
    );
    assert!(run.error().contains("is not shown to be covered by"), "{}", run.stderr);
    let run = ledger.run(
        &[&["open", "x"], &within[..], &["curve", "--filter", "gdp", "--rho", "0.05"]].concat(),
    );
    assert!(run.error().contains("of kind gdp cannot promise rho"), "{}", run.stderr);
    let text = ledger.run(&["status"]).answer().to_owned();
    let names: Vec<&str> = text.lines().skip(1).map_while(|line| line.get(..9)).collect();
    assert_eq!(names[..4], ["census   ", "  weekly ", "    inner", "  later  "], "{text}");
    assert!(text.contains("rho 0.05"), "{text}");
    let text = ledger.run(&["status", "inner"]).answer().to_owned();
    for part in [
        "under       slot \"curve\" of account weekly",
        "neighbours  replace, 3 records a person",
        "promise     rho 0.05, delta 0",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let text = ledger.run(&["status", "weekly"]).answer().to_owned();
    assert!(text.contains("under       data set census"), "{text}");
    let status = ledger.object(&["status", "inner"])["accounts"][0].clone();
    assert_eq!((&status["parent"], &status["slot"]), (&json!("weekly"), &json!("curve")));
    assert_eq!(status["promise"], json!({"rho": "0.05", "delta": "0"}));
    // For good.
    assert_eq!(ledger.object(&["close", "inner"])["outcome"], "done");
    let release = r#"{"mechanism": "zcdp", "rho": 0.01}"#;
    let run = ledger.run(&["reserve", "inner", release, "--key", "k"]);
    assert!(run.error().contains("\"inner\" is closed"), "{}", run.stderr);
    assert!(ledger.run(&["status"]).answer().contains("zcdp, closed"));
}

/// What was spent is told as an epsilon, too: no less than what the releases cost together, and no more than the sum of their
/// epsilons where they have them.
#[test]
fn status_tells_what_is_spent_as_an_epsilon() {
    let ledger = Ledger::new();
    let dataset = ["dataset", "census", "--adjacency", "add-remove"];
    ledger.object(&[&dataset[..], &["--epsilon", "5", "--delta", "1e-6"]].concat());
    let open = ["open", "team", "--dataset", "census", "--filter", "renyi"];
    ledger.object(&[&open[..], &["--epsilon", "3", "--delta", "1e-6"]].concat());
    let spent = || ledger.object(&["status", "team"])["accounts"][0]["spent_epsilon"].clone();
    assert_eq!((&spent()["epsilon"], &spent()["delta"]), (&json!("0"), &json!("0.000001")));
    let pure = r#"{"mechanism": "laplace", "scale": 40, "count": 2}"#;
    for key in ["a", "b"] {
        let reserved = ledger.object(&["reserve", "team", pure, "--key", key]);
        assert_eq!(reserved["unit"], "Rényi divergence");
    }
    // Four times 1/40, which is less than any level.
    assert_eq!(spent()["epsilon"], "0.1");
    assert_eq!(spent()["setting"], json!({"parameters": "adaptive", "concurrent": true}));
    let noise = r#"{"mechanism": "gaussian", "sigma": 12, "count": 5}"#;
    let text = ledger.run(&["reserve", "team", noise, "--key", "c"]);
    assert!(text.answer().contains(" of Rényi divergence\n"), "{}", text.stdout);
    let bound: f64 = spent()["epsilon"].as_str().unwrap().parse().unwrap();
    let plan = format!(r#"{{"delta": 1e-6, "release": [{pure}, {pure}, {noise}]}}"#);
    let plan = ledger.folder.file("plan.json", plan);
    let cost = run(&["compose", &plan, "--json"]).object()["epsilon"]["lower"].as_f64().unwrap();
    assert!(cost <= bound && bound < 3.0, "{cost} {bound}");
    let status = ledger.run(&["status", "team"]);
    let words = "so far: epsilon at most ";
    assert!(status.answer().contains(words), "{}", status.stdout);
    assert!(status.stdout.contains("chosen from earlier answers"), "{}", status.stdout);
    // The data set is charged with promises; what they cost is an epsilon already.
    assert!(ledger.object(&["status", "census"])["accounts"][0].get("spent_epsilon").is_none());
    let history = ledger.run(&["history"]);
    for unit in ["3 of epsilon", " of Rényi divergence"] {
        assert!(history.answer().contains(unit), "{}", history.stdout);
    }
}

#[test]
fn status_shows_what_is_under_what() {
    let ledger = Ledger::new();
    for (name, adjacency) in [("census", "add-remove"), ("panel", "replace")] {
        let dataset = ["dataset", name, "--adjacency", adjacency, "--epsilon", "5", "--delta", "0"];
        ledger.object(&dataset);
    }
    ledger.object(&open_sums("team"));
    ledger.object(&open_sums("other"));
    ledger.reserve("monday", "0.25");
    let sparse =
        r#"{"mechanism": "sparse-vector", "epsilon_threshold": 0.1, "epsilon_queries": 0.1}"#;
    ledger.object(&["reserve", "other", sparse, "--key", "gate", "--session"]);
    let text = ledger.run(&["status"]).answer().to_owned();
    let line = |start: &str| {
        let found = text.lines().position(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("{start}: {text}"))
    };
    // Keys under their account, accounts under their data set.
    let places = ["census ", "  team ", "    monday", "  other ", "    gate"].map(line);
    assert_eq!(places, [1, 2, 3, 4, 5].map(|place| place + places[0] - 1), "{text}");
    assert!(text.contains("    monday  no response yet"), "{text}");
    assert!(text.contains("    gate    session, not begun"), "{text}");
    let team = text.lines().nth(line("  team ")).unwrap();
    assert!(team.contains("[#####...............]") && team.contains("25.0 %"), "{text}");
    // Of a data set: with what is under it, and nothing else.
    let census = ledger.run(&["status", "census"]).answer().to_owned();
    assert!(
        census.contains("    monday  no response yet") && !census.contains("panel"),
        "{census}"
    );
    let told = ledger.object(&["status", "census"]);
    let names: Vec<_> =
        told["accounts"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["census", "team", "other"]);
    // Of an account: its keys; of many the first.
    assert!(ledger.run(&["status", "other"]).answer().contains("gate  session, not begun"));
    for number in 0..6 {
        ledger.reserve(&format!("more-{number}"), "0.01");
    }
    let text = ledger.run(&["status", "team"]).answer().to_owned();
    assert!(text.contains("and 2 more  see pending") && text.contains("more-3"), "{text}");
    let answer = ledger.folder.file("answer", "1");
    ledger.object(&["commit", "monday", "--response", &answer]);
    assert!(!ledger.run(&["status"]).answer().contains("monday"));
}
