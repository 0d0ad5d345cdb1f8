//! What owners do once a ledger is in use, and what still fits.

use super::{Ledger, open_sums};

#[test]
fn owners_move_budget_change_quotas_and_close_data_sets() {
    let ledger = Ledger::new();
    let dataset = ["dataset", "census", "--adjacency", "add-remove"];
    ledger.object(&[&dataset[..], &["--epsilon", "2", "--delta", "0"]].concat());
    ledger.object(&open_sums("team"));
    ledger.object(&open_sums("other"));
    ledger.reserve("monday", "0.25");
    let step = ["move", "team", "other", "--amount", "0.5", "--key", "m"];
    let head = ledger.object(&step)["head"].clone();
    assert_eq!(ledger.object(&step)["head"], head);
    let capacity =
        |name: &str| ledger.object(&["status", name])["accounts"][0]["capacity"]["main"].clone();
    assert_eq!((capacity("team"), capacity("other")), ("0.5".into(), "1.5".into()));
    let no = ledger.no(&["move", "team", "other", "--amount", "0.3", "--key", "n"]);
    assert_eq!(
        (&no["refusal"]["by"], &no["refusal"]["left"]),
        (&"account \"team\"".into(), &"0.25".into())
    );
    ledger.object(&["quota", "other", "ann", "--share", "0.5"]);
    let run = ledger.run(&["quota", "other", "ann", "--share", "1"]);
    assert!(run.error().contains("exists already"), "{}", run.stderr);
    ledger.object(&["quota", "other", "ann", "--share", "1", "--change"]);
    let history = ledger.run(&["history"]).answer().to_owned();
    for part in ["m: 0.5 to other", "ann: 0.75 to spend ", "ann: 1.5 to spend from now on"] {
        assert!(history.contains(part), "{part}: {history}");
    }
    ledger.object(&["close-dataset", "census"]);
    let run = ledger.run(&open_sums("more"));
    assert!(run.error().contains("\"census\" is closed"), "{}", run.stderr);
    let run = ledger.run(&[
        "reserve",
        "team",
        r#"{"mechanism": "approx-dp", "epsilon": 0.01}"#,
        "--key",
        "k",
    ]);
    assert!(run.error().contains("\"team\" is closed"), "{}", run.stderr);
    assert_eq!(ledger.object(&["verify"])["outcome"], "verified");
}

#[test]
fn status_and_refusals_tell_what_still_fits() {
    let ledger = Ledger::new();
    let dataset = ["dataset", "census", "--adjacency", "add-remove"];
    ledger.object(&[&dataset[..], &["--epsilon", "5", "--delta", "1e-5"]].concat());
    let open = ["open", "team", "--dataset", "census", "--filter", "renyi"];
    ledger.object(&[&open[..], &["--epsilon", "1", "--delta", "1e-6"]].concat());
    let room = || ledger.object(&["status", "team"])["accounts"][0]["room"].clone();
    assert_eq!(room()["pure"], "1");
    let sigma = room()["gaussian"]["sigma"].as_str().unwrap().to_owned();
    let text = ledger.run(&["status", "team"]).answer().to_owned();
    let words = format!("or Gaussian noise of sigma {sigma} for sensitivity 1 (epsilon ");
    assert!(
        text.contains("still fits  a pure release of epsilon 1\n") && text.contains(&words),
        "{text}"
    );
    assert!(text.contains(" on Poisson samples of rate 0.01"), "{text}");
    let noise = format!(r#"{{"mechanism": "gaussian", "sigma": {sigma}, "count": 2}}"#);
    let no = ledger.no(&["reserve", "team", &noise, "--key", "a"]);
    assert!(
        no["refusal"]["what"].as_str().unwrap().starts_with("Rényi divergence at order "),
        "{no}"
    );
    // Twice the same noise fits if it is wider by the root of two.
    let factor: f64 = no["refusal"]["noise"].as_str().unwrap().parse().unwrap();
    assert!((factor - 2.0_f64.sqrt()).abs() < 2e-3, "{no}");
    assert_eq!(no["refusal"]["room"]["pure"], "1");
    let price = ledger.object(&["price", "team", &noise]);
    assert_eq!(price["refusal"]["noise"], no["refusal"]["noise"]);
}
