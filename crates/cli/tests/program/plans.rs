//! `plan`: from a study to a plan that other commands take.

use super::*;

const STUDY: &str = r#"
    delta = 1e-6
    epsilon = 0.5
    [data]
    adjacency = "replace"
    people = 5000
    [[statistic]]
    name = "mean income"
    kind = "mean"
    bounds = [0, 200000]
    error = 500
    [[statistic]]
    kind = "histogram"
    categories = ["a", "b", "c"]
    error = 30
    [[statistic]]
    name = "later"
    kind = "held-back"
    epsilon = 0.1
"#;

/// What `plan` writes costs what it said, by `compose`, and an account can be opened with it.
#[test]
fn a_planned_study_is_a_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("study.toml"), STUDY).unwrap();
    let planned = run(&["plan", &path("study.toml"), "--json", "--out", &path("plan.toml")]);
    assert_eq!(planned.status, 0, "{}", planned.stderr);
    let planned: serde_json::Value = serde_json::from_str(&planned.stdout).unwrap();
    let upper = planned["epsilon"]["upper"].as_f64().unwrap();
    assert!(upper <= 0.5 && upper > 0.45, "{upper}");
    let composed = run(&["compose", &path("plan.toml"), "--json"]);
    let composed: serde_json::Value = serde_json::from_str(&composed.stdout).unwrap();
    assert_eq!(composed["epsilon"], planned["epsilon"]);
    let statistics = planned["statistics"].as_array().unwrap();
    assert_eq!(statistics.len(), 3);
    let factor = planned["factor"]["upper"].as_f64().unwrap();
    assert!(planned["factor"]["lower"].as_f64().unwrap() <= factor);
    for statistic in &statistics[..2] {
        let [error, wanted] = ["error", "wanted"].map(|field| statistic[field].as_f64().unwrap());
        assert!(error <= wanted * factor * (1.0 + 1e-9), "{statistic}");
        assert!(statistic["mechanism"]["mechanism"].is_string(), "{statistic}");
        assert!(statistic["epsilon"].as_f64().unwrap() < upper);
    }
    let names: Vec<&str> = planned["others"]
        .as_array()
        .unwrap()
        .iter()
        .map(|other| other["theorem"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["basic", "advanced", "kov-closed-form"]);
    assert_eq!(planned["plan"]["release"].as_array().unwrap().len(), 3);
    let drawn = run(&["plan", &path("study.toml"), "--svg", &path("plan.svg")]);
    assert_eq!(drawn.status, 0, "{}", drawn.stderr);
    let picture = std::fs::read_to_string(path("plan.svg")).unwrap();
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    assert!(picture.contains("mean income") && picture.contains("kov-closed-form"), "{picture}");
    // Without a statistic the others do better, and with it at its wanted error, in between or not.
    let without = statistics[0]["if_dropped"]["factor"].as_f64().unwrap();
    assert!(without < factor, "{without} {factor}");
    let text = run(&["plan", &path("study.toml")]);
    assert!(
        text.stdout.contains("mean income") && text.stdout.contains("held back"),
        "{}",
        text.stdout
    );
    let url = format!("sqlite:{}", path("budget.db"));
    for step in [
        vec!["init"],
        vec!["dataset", "people", "--adjacency", "replace", "--epsilon", "1", "--delta", "1e-5"],
        vec!["open", "study", "--dataset", "people", "--plan", &path("plan.toml")],
    ] {
        let done = run(&[vec!["ledger", "--url", &url], step].concat());
        assert_eq!(done.status, 0, "{}", done.stderr);
    }
}

/// With weights it says below which sum there is nothing, rounded down.
#[test]
fn a_weighted_sum_has_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.toml").to_str().unwrap().to_owned();
    let study = STUDY.replace("error = 500", "weight = 1").replace("error = 30", "weight = 2");
    std::fs::write(&path, study).unwrap();
    let planned = run(&["plan", &path, "--json"]);
    assert!(!planned.stdout.contains("\"least\""), "it is proved on request");
    let planned = run(&["plan", &path, "--prove", "--json"]);
    assert_eq!(planned.status, 0, "{}", planned.stderr);
    let planned: serde_json::Value = serde_json::from_str(&planned.stdout).unwrap();
    let (sum, least) = (planned["sum"].as_f64().unwrap(), &planned["least"]);
    let proved = least["sum"].as_f64().unwrap();
    assert!((0.9 * sum..=sum).contains(&proved) && least["noise"] == "any", "{sum} {least}");
    let text = run(&["plan", &path, "--prove"]).stdout;
    let said = text.split("(proved: with any noise no less than ").nth(1).unwrap();
    let said: f64 = said.split(')').next().unwrap().parse().unwrap();
    assert!(said <= proved && said > 0.9999 * proved, "{said} {proved}");
}

#[test]
fn what_is_wrong_with_a_study() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.toml");
    let said = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let done = run(&["plan", path.to_str().unwrap()]);
        (done.status, done.stderr)
    };
    for (from, to, words) in [
        (
            "kind = \"mean\"",
            "kind = \"median\"",
            "statistic 1 (\"mean income\"): kind is \"median\"; legal: count",
        ),
        (
            "[0, 200000]",
            "[200000, 0]",
            "statistic 1 (\"mean income\"): bounds is [200000, 0]; legal",
        ),
        ("[0, 200000]", "[0, nan]", "statistic 1 (\"mean income\"): bounds is [0, NaN]; legal"),
        ("error = 500", "error = nan", "statistic 1 (\"mean income\"): error is NaN; legal"),
        (
            "error = 500",
            "errror = 500",
            "statistic 1 (\"mean income\"): errror is not a field of mean; legal",
        ),
        ("error = 500", "error = 500\nweight = 2", "weight is given with error"),
        ("people = 5000", "", "people is missing: the error of a mean depends on it"),
        (
            "adjacency = \"replace\"",
            "adjacency = \"both\"",
            "adjacency is \"both\"; legal: add-remove, replace",
        ),
        ("epsilon = 0.5", "epsilon = 0", "epsilon is 0; legal: above 0"),
        ("delta = 1e-6", "", "delta is missing"),
        ("error = 500", "error = inf", "statistic 1 (\"mean income\"): error is inf; legal"),
        ("error = 500", "error = 0", "statistic 1 (\"mean income\"): error is 0; legal"),
        ("error = 500", "error = -1", "statistic 1 (\"mean income\"): error is -1; legal"),
        (
            "people = 5000",
            "people = 5000\nsample_of = 4999",
            "sample_of is 4999; legal: from people, which is 5000",
        ),
        (
            "adjacency = \"replace\"",
            "adjacency = \"add-remove\"\nsample_of = 10000",
            "sample_of is given, and its effect is proved only if one row of one person is replaced; legal: adjacency",
        ),
        (
            "people = 5000",
            "people = 5000\nrows = 2\nsample_of = 10000",
            "sample_of is given, and its effect is proved only",
        ),
        ("version = 1", "version = 2", ""),
        (
            "[[statistic]]",
            "[[statistic]]\nname = \"mean income\"\nkind = \"held-back\"\nepsilon = 0.01\n[[statistic]]",
            "statistic 2 (\"mean income\"): name is \"mean income\", which is the name of statistic 1; legal: another name",
        ),
    ] {
        let text = STUDY.replacen(from, to, 1);
        if text == STUDY {
            continue;
        }
        let (status, error) = said(&text);
        assert!(status == 2 && error.contains(words), "{from} -> {to}: {status} {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    // A budget that cannot be kept is a definite no: what is held back, an error or an epsilon that is pinned.
    for (from, to) in [
        ("epsilon = 0.1", "epsilon = 0.9"),
        ("error = 500", "error = 1\npin = true"),
        ("error = 500", "epsilon = 0.7\npin = true"),
    ] {
        let (status, error) = said(&STUDY.replacen(from, to, 1));
        assert!(status == 1 && error.contains("is too small"), "{to}: {status} {error}");
    }
    let gaussian = STUDY.replacen("error = 500", "error = 500\nnoise = \"gaussian\"", 1);
    assert_eq!(said(&gaussian).0, 0);
    let (status, error) = said(&gaussian.replacen("delta = 1e-6", "delta = 0", 1));
    let words = "statistic 1 (\"mean income\"): noise is \"gaussian\"; legal: laplace";
    assert!(status == 2 && error.contains(words), "{status} {error}");
}

/// 10^5 statistics are read, and one more is refused before any is looked at.
#[test]
fn a_study_has_so_many_statistics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.json");
    let statistics = vec![r#"{"kind":"no such kind"}"#; 100_001].join(",");
    let text = format!(
        r#"{{"delta":1e-6,"epsilon":1,"data":{{"adjacency":"replace","people":50}},"statistic":[{statistics}]}}"#
    );
    std::fs::write(&path, text).unwrap();
    let done = run(&["plan", path.to_str().unwrap()]);
    let words = "statistic has 100001 entries; legal: 1 to 10^5 statistics";
    assert!(done.status == 2 && done.stderr.contains(words), "{}", done.stderr);
}
