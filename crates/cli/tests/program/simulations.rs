//! `counterpoint simulate`. Fractions are worked out by hand (crates/wire/tests/simulations.rs says how).

use super::{Folder, example, run, run_with};

#[test]
fn coins_are_made_of_responses() {
    let coins = example("coins.toml");
    let text = run(&["simulate", &coins]);
    let text = text.answer();
    for line in [
        "carries   exactly (each response onto its mechanism)",
        "together  exactly (all responses onto all 4 transcripts)",
        "stage 2 (second), mechanism mild: e^epsilon 2, delta 0.1",
        "alpha 0.1, beta 0.1",
        "transcripts, and 1000 drawn on each data set (seed 1) from responses alone",
    ] {
        assert!(text.lines().any(|own| own.trim_end() == line), "{line}\n{text}");
    }
    let words = |start: &str| -> Vec<String> {
        let line =
            text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}"));
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(words("+ + "), ["+", "+", "0.8", "0.2", "0", "0"]);
    assert_eq!(words("heads tails ")[2], "0.3");
    let object = run(&["simulate", &coins, "--json", "--samples", "0"]).object();
    assert_eq!(object["map"].as_array().unwrap().len(), 16);
    let mild = &object["stages"][1]["mechanisms"][0];
    assert_eq!(mild["map"][1], serde_json::json!(["0.8", "0.2"]));
    assert_eq!(mild["events"]["e"], serde_json::json!(["0.54", "0.36"]));
    assert_eq!((&object["parts_agree"], &object["whole_agrees"]), (&true.into(), &true.into()));
    // The same seed, the same samples; another, others.
    let drawn = |seed: &str| {
        run(&["simulate", &coins, "--json", "--samples", "500", "--seed", seed]).object()["transcripts"].clone()
    };
    assert!(drawn("5") == drawn("5") && drawn("5") != drawn("6"));
}

#[test]
fn systems_are_answered_for_in_any_order() {
    let systems = example("systems.toml");
    let text = run(&["simulate", &systems]);
    let text = text.answer();
    assert!(text.contains("exactly (the same law at all 41 interleaved histories)"), "{text}");
    assert!(text.contains("system a: e^epsilon 2, delta 1/15"), "{text}");
    let object = run(&["simulate", &systems, "--json"]).object();
    assert_eq!(
        (&object["size"], &object["theorem"]),
        (&"41".into(), &"Lyu 2022, Theorem 3".into())
    );
    let answers = object["systems"][1]["answers"].as_array().unwrap();
    assert_eq!((&answers[0]["n0"], &answers[0]["n1"]), (&"1".into(), &"0".into()));
}

#[test]
fn false_claims_are_a_definite_no_and_bad_files_errors() {
    let folder = Folder::new();
    let coins = std::fs::read_to_string(example("coins.toml")).unwrap();
    let wrong = folder.file("wrong.toml", coins.replace("\"1/10\"", "0.099"));
    let refused = run(&["simulate", &wrong]);
    assert_eq!((refused.status, refused.stdout.as_str()), (1, ""));
    let event = "stage 2 (\"strong\"): the claim is refuted by the event {heads}: its probability is 0.7 under p and \
                 0.3 under q; legal: at most 2 times that and 0.099";
    assert!(refused.stderr.trim_end().ends_with(event), "{}", refused.stderr);
    let refused = run(&["simulate", &wrong, "--json"]);
    assert_eq!(refused.status, 1);
    let object: serde_json::Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(object["refuted"]["event"], serde_json::json!([["heads"]]));
    let stdin = run_with(&["simulate", "-"], b"[[stage]]\nratio = 3\np = [0.5]\nq = [1]\n");
    let message =
        "standard input: stage 1: p is wrong: the entries of p sum to 1/2; legal: 1 exactly";
    assert_eq!(stdin.error(), message);
    assert!(run(&["simulate", "nowhere.toml"]).error().starts_with("nowhere.toml: cannot be read"));
    for samples in ["-1", "1000001", "x"] {
        let error = run(&["simulate", "-", "--samples", samples]);
        assert!(error.error().contains("legal: a whole number from 0 to 1000000"), "{error:?}");
    }
}

/// By hand, of order 2. System a: p^2/q is 4/3 for old and 1/6 for young; after old health gives 25/24 and income 1.04, so that the best
/// has 4/3 * 25/24 + 1/6 = 14/9. The other way round income is the better one: 1/6 * 25/24 + 4/3 = 217/144. System b: 7/3, both ways.
#[test]
fn divergences_are_those_of_the_best_adversary_and_add_up() {
    let systems = example("systems.toml");
    let object = run(&["simulate", &systems, "--json", "--samples", "0", "--order", "2"]).object();
    let found = &object["divergences"];
    let between = |ends: &serde_json::Value, exact: f64| {
        let [lower, upper] = ["lower", "upper"].map(|end| ends[end].as_f64().unwrap());
        assert!(lower <= exact * (1.0 + 1e-15) && exact * (1.0 - 1e-15) <= upper, "{ends} {exact}");
        assert!(upper - lower < 1e-12, "{ends}");
    };
    let (a, back, b) = ((14.0_f64 / 9.0).ln(), (217.0_f64 / 144.0).ln(), (7.0_f64 / 3.0).ln());
    between(&found["systems"][0]["largest"][0], a);
    between(&found["systems"][0]["largest"][1], back);
    between(&found["systems"][1]["largest"][0], b);
    for whole in ["sums", "searched"] {
        between(&found[whole][0], a + b);
        between(&found[whole][1], back + b);
    }
    let asks = serde_json::json!([
        {"after": [], "query": "age"},
        {"after": ["age=old"], "query": "health"},
    ]);
    assert_eq!(found["systems"][0]["asks"], asks);
    let left: Vec<[&str; 3]> = found["left"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| ["said", "weight", "moment"].map(|field| row[field].as_str().unwrap()))
        .collect();
    let hand = [
        ["", "1", "98/27"],
        ["a.age=old", "4/3", "175/72"],
        ["a.health=good", "5/6", "7/3"],
        ["b.vote=yes", "1.875", "1"],
    ];
    assert_eq!(left, hand);
    let text = run(&["simulate", &systems, "--order", "2.5"]);
    assert!(
        text.answer().contains("Rényi divergence of order 2.5, the largest over all adversaries")
    );
    assert!(!text.answer().contains("budget monitor"));
    for (order, file, why) in [
        ("1", &systems, "order"),
        ("nan", &systems, "order"),
        ("2", &example("coins.toml"), "legal: a file with [[system]] tables"),
    ] {
        let error = run(&["simulate", file, "--order", order]).error().to_owned();
        assert!(error.contains(why), "{error}");
    }
}
