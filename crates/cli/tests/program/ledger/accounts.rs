//! Accounts: their slots, and what is set aside.

use serde_json::{Value, json};

use super::Ledger;

fn number(value: &Value) -> f64 {
    value.as_str().map_or_else(|| value.as_f64().unwrap(), |text| text.parse().unwrap())
}

#[test]
fn a_plan_account_is_opened_slot_by_slot() {
    let ledger = Ledger::new();
    let dataset = ["dataset", "census", "--adjacency", "add-remove"];
    ledger.object(&[&dataset[..], &["--epsilon", "5", "--delta", "1e-6"]].concat());
    let plan = ledger.folder.file(
        "plan.toml",
        "delta = 1e-6\n[[release]]\nname = \"weekly count\"\nmechanism = \"approx-dp\"\n\
         epsilon = 0.1\ncount = 100\n",
    );
    ledger.object(&["open", "weekly", "--dataset", "census", "--plan", &plan]);
    ledger.object(&["quota", "weekly", "ann", "--releases", "60"]);
    let open = |count: &str, key: &str| {
        let args = ["reserve", "weekly", "weekly count", "--key", key, "--count", count];
        ledger.run(&[&args[..], &["--analyst", "ann", "--json"]].concat())
    };
    assert_eq!(open("50", "a").object()["charge"]["main"], "50");
    let no = open("11", "b");
    assert_eq!(no.status, 1);
    assert!(no.stdout.contains("the quota of \\\"ann\\\""), "{}", no.stdout);
    let status = ledger.object(&["status", "weekly"]);
    let account = &status["accounts"][0];
    // Optimal composition: KOV Theorem III.3.
    let epsilon: f64 = account["promise"]["epsilon"].as_str().unwrap().parse().unwrap();
    assert!(epsilon > 4.774_567_588 && epsilon < 4.774_573, "{epsilon}");
    assert_eq!(account["slots"], json!([{"name": "weekly count", "count": 100, "used": 50}]));
    assert_eq!(account["quotas"][0]["spent"]["main"], "50");
    let run = ledger.run(&["status", "weekly"]);
    assert!(run.answer().contains("[##########..........] 50 of 100 releases, 50 left"));
    let all = ledger.run(&["status"]);
    assert!(all.answer().contains("  weekly  plan"), "{}", all.stdout);
}

#[test]
fn slots_run_hold_and_become_what_they_dominate() {
    let ledger = Ledger::new();
    let dataset = ["dataset", "census", "--adjacency", "add-remove"];
    ledger.object(&[&dataset[..], &["--epsilon", "5", "--delta", "1e-6"]].concat());
    let file = |name: &str, epsilon: &str, count: u64| {
        let text = format!(
            "delta = 0\n[[release]]\nname = \"{name}\"\nmechanism = \"approx-dp\"\n\
             epsilon = {epsilon}\ncount = {count}\n"
        );
        ledger.folder.file(&format!("{name}.toml"), text)
    };
    let plan = file("week", "0.5", 6);
    ledger.object(&["open", "weekly", "--dataset", "census", "--plan", &plan]);
    let run = |scale: &str| {
        let release = format!(r#"{{"mechanism": "laplace", "scale": {scale}}}"#);
        ledger.run(&["reserve", "weekly", "week", "--key", "a", "--run", &release, "--json"])
    };
    let error = run("1.99");
    let error = error.error();
    assert!(error.contains("laplace is not shown to be covered by approx-dp"), "{error}");
    assert_eq!(run("2").object()["charge"]["main"], "1");
    let open = ["open", "inner", "--within", "weekly", "--slot", "week", "--filter", "sums"];
    let error = ledger.run(&[&open[..], &["--epsilon", "0.51", "--delta", "0"]].concat());
    assert!(error.error().contains("is not shown to be covered by"), "{}", error.stderr);
    ledger.object(&[&open[..], &["--epsilon", "0.5", "--delta", "0"]].concat());
    let (fits, wide) = (file("half", "0.25", 2), file("most", "0.26", 2));
    let recut = |unused: &str, into: &str| {
        ledger.run(&["recut", "weekly", "--unused", unused, "--into", into, "--json"])
    };
    assert!(recut("1:week", &wide).error().contains("is not shown to be covered by"));
    assert_eq!(recut("1:week", &fits).object()["outcome"], "done");
    for bad in ["week", "0:week", "x:week"] {
        assert!(recut(bad, &fits).error().contains("legal: a count from 1"), "{bad}");
    }
    let status = ledger.object(&["status", "weekly"]);
    let expected = json!([{"name": "half", "count": 2, "used": 0},
                          {"name": "week", "count": 6, "used": 3}]);
    assert_eq!(status["accounts"][0]["slots"], expected);
    let history = ledger.run(&["history"]).answer().to_owned();
    for part in [
        "a: slot \"week\", for laplace",
        "sums under slot \"week\" of weekly",
        "1 of slot \"week\" into \"half\", 2 times",
    ] {
        assert!(history.contains(part), "{history}");
    }
    assert_eq!(ledger.object(&["verify"])["outcome"], "verified");
}

#[test]
fn accounts_without_leaks_have_all_of_delta_and_refuse_what_leaks() {
    let ledger = Ledger::new();
    let dataset = ["dataset", "census", "--adjacency", "add-remove"];
    ledger.object(&[&dataset[..], &["--epsilon", "5", "--delta", "1e-5"]].concat());
    let open = |name: &'static str, more: &[&'static str]| {
        let open = [
            "open",
            name,
            "--dataset",
            "census",
            "--filter",
            "renyi",
            "--epsilon",
            "1",
            "--delta",
            "1e-6",
        ];
        [&open[..], more].concat()
    };
    ledger.object(&open("half", &[]));
    ledger.object(&open("team", &["--no-leaks"]));
    ledger.object(&open("zero", &["--leaks", "0"]));
    let capacity = |name: &str| {
        let account = ledger.object(&["status", name])["accounts"][0].clone();
        (account["capacity"].clone(), account["order"].clone())
    };
    assert_eq!(capacity("team"), capacity("zero"));
    assert_ne!(capacity("team"), capacity("half"));
    assert_eq!(capacity("team").0["delta"], "0");
    let text = ledger.run(&["status", "team"]).answer().to_owned();
    assert!(
        text.contains("(no delta is set aside: a release with one of its own is refused)"),
        "{text}"
    );
    let noise = r#"{"mechanism": "gaussian", "sigma": 30}"#;
    ledger.object(&["reserve", "team", noise, "--key", "a"]);
    let leak = r#"{"mechanism": "approx-dp", "epsilon": 0.01, "delta": 1e-12}"#;
    let reason =
        ledger.no(&["reserve", "team", leak, "--key", "b"])["reason"].as_str().unwrap().to_owned();
    assert!(
        reason
            .contains("; try releases without a delta of their own, or an account that sets some"),
        "{reason}"
    );
    ledger.object(&["reserve", "half", leak, "--key", "b"]);
    assert_eq!(ledger.object(&["verify"])["outcome"], "verified");
    let both = ledger.run(&open("x", &["--no-leaks", "--leaks", "0"]));
    assert_eq!(both.status, 2, "{}", both.stderr);
}

/// What is stored as `sparse-vector` stands for randomized response of the sum, for ever; by its own pair it is
/// `above-threshold`. Both against the moments of their outcomes, at the account's order.
#[test]
fn sparse_vectors_are_charged_as_they_always_were_and_above_threshold_less() {
    let ledger = Ledger::new();
    let dataset = ["dataset", "census", "--adjacency", "add-remove"];
    ledger.object(&[&dataset[..], &["--epsilon", "5", "--delta", "1e-6"]].concat());
    let open = ["open", "team", "--dataset", "census", "--filter", "renyi"];
    ledger.object(&[&open[..], &["--epsilon", "3", "--delta", "1e-6"]].concat());
    let order: f64 = number(&ledger.object(&["status", "team"])["accounts"][0]["order"]);
    let spent = |kind: &str| {
        let release =
            format!(r#"{{"mechanism":"{kind}","epsilon_threshold":0.1,"epsilon_queries":0.2}}"#);
        let reserved = ledger.object(&["reserve", "team", &release, "--key", kind]);
        assert_eq!(reserved["unit"], "Rényi divergence");
        number(&reserved["charge"]["main"])
    };
    let divergence = |ratios: &[f64], masses: &[f64]| {
        let terms = ratios.iter().zip(masses).map(|(x, q)| q * x.powf(order));
        terms.sum::<f64>().ln() / (order - 1.0)
    };
    let (a, b) = (0.2_f64.exp(), 0.1_f64.exp());
    let sum = divergence(&[a * b, 1.0 / (a * b)], &[1.0 / (1.0 + a * b), a * b / (1.0 + a * b)]);
    let slopes = [1.0, 1.0 / (1.0 + b), 1.0 / (a + b), 1.0 / (a * (1.0 + b)), 0.0];
    let masses: Vec<f64> = slopes.windows(2).map(|two| two[0] - two[1]).collect();
    let own = divergence(&[1.0 / (a * b), b / a, a / b, a * b], &masses);
    // The first is what it was before there was the second.
    for (kind, known, formula) in
        [("sparse-vector", 0.234_249_0, sum), ("above-threshold", 0.225_708_6, own)]
    {
        let cost = spent(kind);
        assert!((cost - known).abs() < 1e-6, "{kind}: {cost}");
        assert!(
            cost >= formula * (1.0 - 1e-12) && cost <= formula * (1.0 + 1e-9),
            "{kind}: {cost}"
        );
    }
    assert_eq!(ledger.object(&["verify"])["outcome"], "verified");
}
