//! `ledger odometer`: against the core's odometer driven by hand, and against the formula of its theorem.

use counterpoint::Adjacency;
use counterpoint::quantity::Count;
use counterpoint_budget::{Amount, Odometer, Query, Terms};
use serde_json::{Value, json};

use super::{Ledger, open_sums};

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

/// An open account of epsilon 8 at delta 1e-6, with a tenth of delta set aside.
fn opened() -> Ledger {
    let ledger = Ledger::new();
    let dataset = ["dataset", "census", "--adjacency", "add-remove"];
    ledger.object(&[&dataset[..], &["--epsilon", "20", "--delta", "1e-5"]].concat());
    let open = ["open", "team", "--dataset", "census", "--filter", "renyi"];
    let promise = ["--epsilon", "8", "--delta", "1e-6", "--leaks", "1e-7"];
    ledger.object(&[&open[..], &promise].concat());
    ledger
}

/// Adds up Gaussians by hand at every level: order / (2 sigma^2) each, and a level holds while that is at most
/// epsilon + ln(share) / (order - 1).
#[test]
fn the_reading_is_the_cores_and_the_formulas() {
    let ledger = opened();
    let by_hand =
        Odometer::new(amount("1e-6"), amount("1e-7"), Terms::new(Adjacency::AddRemove)).unwrap();
    let mut spent = by_hand.start();
    let mut total = 0.0;
    for (key, sigma, count) in [("a", 12_u32, 5_u64), ("b", 7, 3), ("c", 12, 5), ("d", 30, 100)] {
        let noise = format!(r#"{{"mechanism": "gaussian", "sigma": {sigma}, "count": {count}}}"#);
        ledger.object(&["reserve", "team", &noise, "--key", key]);
        let query = Query::gaussian(amount(&sigma.to_string()), amount("1")).unwrap();
        let query = query.times(Count::new(count).unwrap());
        spent = spent.plus(&by_hand.charge(&query).unwrap());
        total += count as f64 / (2.0 * f64::from(sigma * sigma));
        let read = ledger.object(&["odometer", "team"]);
        // The core's, to the last digit.
        let due = by_hand.bound(&spent).unwrap();
        assert_eq!(read["epsilon"], due.to_string().as_str());
        assert_eq!((&read["delta"], &read["leaks"]), (&json!("0.000001"), &json!("0.0000001")));
        assert!(read["sum"].is_null(), "{read}");
        // The theorem's, in doubles: the share of each of 64 levels is (1e-6 - 1e-7)/64.
        let share = 9e-7_f64 / 64.0;
        let levels = read["levels"].as_array().unwrap();
        assert_eq!(levels.len(), 64);
        let mut least = f64::INFINITY;
        for level in levels {
            let [epsilon, order, capacity] =
                ["epsilon", "order", "capacity"].map(|name| number(&level[name]));
            assert!((capacity - (epsilon + share.ln() / (order - 1.0))).abs() < 1e-9, "{level}");
            assert!((number(&level["spent"]) - order * total).abs() < 1e-9, "{level}");
            let holds = order * total <= capacity;
            assert_eq!(level["holds"], holds, "{level}");
            if holds {
                least = least.min(epsilon);
            }
        }
        assert!((number(&read["epsilon"]) - least).abs() < 1e-12, "{read}");
    }
    let read = ledger.object(&["odometer", "team"]);
    assert_eq!(read["charges"], 4);
    assert_eq!(read["setting"], json!({"parameters": "adaptive", "concurrent": true}));
    // What status tells is the same.
    let status = ledger.object(&["status", "team"])["accounts"][0]["spent_epsilon"].clone();
    assert_eq!((&status["epsilon"], &status["delta"]), (&read["epsilon"], &read["delta"]));
    let text = ledger.run(&["odometer", "team"]).answer().to_owned();
    for part in [
        "certified at all times at once",
        "chosen from earlier answers",
        "64 levels",
        "passed",
        "holds",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn leaks_beyond_what_is_set_aside_leave_no_bound() {
    let ledger = opened();
    let leaky = r#"{"mechanism": "approx-dp", "epsilon": 0.1, "delta": 5e-8}"#;
    ledger.object(&["reserve", "team", leaky, "--key", "a"]);
    let read = ledger.object(&["odometer", "team"]);
    assert_eq!((&read["epsilon"], &read["leaked"]), (&json!("0.1"), &json!("0.00000005")));
    // A sums account may leak all of its delta; its odometer sets half of that aside.
    let open = ["open", "other", "--dataset", "census", "--filter", "sums"];
    ledger.object(&[&open[..], &["--epsilon", "2", "--delta", "1e-6"]].concat());
    let leaky = r#"{"mechanism": "approx-dp", "epsilon": 0.1, "delta": 6e-7}"#;
    ledger.object(&["reserve", "other", leaky, "--key", "b"]);
    let read = ledger.object(&["odometer", "other"]);
    assert!(read["epsilon"].is_null(), "{read}");
    assert_eq!((&read["leaks"], &read["sum"]), (&json!("0.0000005"), &json!("0.1")));
    let text = ledger.run(&["odometer", "other"]).answer().to_owned();
    assert!(text.contains("no bound: more has leaked than is set aside"), "{text}");
}

/// A data set is charged with what its accounts promise: 40 of (0.1, 1e-8) are no more than the core's odometer says, which
/// is less than the sum, 4.
#[test]
fn a_data_sets_odometer_adds_up_promises() {
    let ledger = Ledger::new();
    let dataset = ["dataset", "census", "--adjacency", "replace"];
    ledger.object(&[&dataset[..], &["--epsilon", "20", "--delta", "1e-5"]].concat());
    let by_hand =
        Odometer::new(amount("1e-5"), amount("5e-6"), Terms::new(Adjacency::Replace)).unwrap();
    let promise = Query::approx_dp(amount("0.1"), amount("1e-8")).unwrap();
    let (price, mut spent) = (by_hand.charge(&promise).unwrap(), by_hand.start());
    for number in 0..40 {
        let name = format!("team-{number}");
        let open = ["open", &name, "--dataset", "census", "--filter", "sums"];
        ledger.object(&[&open[..], &["--epsilon", "0.1", "--delta", "1e-8"]].concat());
        spent = spent.plus(&price);
    }
    // What is released in an account is covered by what it promises.
    let release = r#"{"mechanism": "laplace", "scale": 20}"#;
    ledger.object(&["reserve", "team-3", release, "--key", "a"]);
    let read = ledger.object(&["odometer", "census"]);
    assert_eq!(read["epsilon"], by_hand.bound(&spent).unwrap().to_string().as_str());
    assert_eq!((&read["charges"], &read["sum"]), (&json!(40), &json!("4")));
    assert!(number(&read["epsilon"]) < 4.0, "{read}");
}

#[test]
fn accounts_without_an_odometer_are_refused() {
    let ledger = Ledger::with_account("1");
    let run = ledger.run(&["odometer", "team"]);
    assert!(run.error().contains("\"team\" promises delta 0; legal: "), "{}", run.stderr);
    let run = ledger.run(&["odometer", "nobody"]);
    assert!(run.error().contains("there is no account \"nobody\""), "{}", run.stderr);
    let ledger = opened();
    let plan = "delta = 1e-6\n[[release]]\nname = \"x\"\nmechanism = \"laplace\"\nscale = 2\n";
    let plan = ledger.folder.file("plan.toml", plan);
    ledger.object(&["open", "weekly", "--dataset", "census", "--plan", &plan]);
    let run = ledger.run(&["odometer", "weekly"]);
    assert!(run.error().contains("is a plan account"), "{}", run.stderr);
    let open = ["open", "mu", "--dataset", "census", "--filter", "gdp", "--mu", "0.1"];
    if ledger.run(&open).status == 0 {
        assert!(ledger.run(&["odometer", "mu"]).error().contains("promises no epsilon"));
    }
    ledger.object(&open_sums("pure"));
    assert!(ledger.run(&["odometer", "pure"]).error().contains("promises delta 0"));
}
