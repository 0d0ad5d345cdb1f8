//! What is refused, and what would help.

use super::{Ledger, open_sums};
use crate::run;

#[test]
fn bad_usage_is_one_line_and_writes_nothing() {
    let ledger = Ledger::with_account("0.3");
    let head = ledger.object(&["status"])["head"].clone();
    let release = r#"{"mechanism": "approx-dp", "epsilon": 0.1}"#;
    let dataset = ["dataset", "x", "--adjacency", "replace", "--epsilon"];
    #[rustfmt::skip]
    let cases: [(&[&str], &str); 22] = [
        (&["init"], "the database holds a ledger already"),
        (&["dataset", "x"], "--adjacency <A>"),
        (&["dataset", "x", "--adjacency", "both"], "add-remove, replace"),
        (&[&dataset[..], &["-1", "--delta", "0"]].concat(), "a decimal number from 0"),
        (&[&dataset[..], &["nan", "--delta", "0"]].concat(), "a decimal number from 0"),
        (&[&dataset[..], &["1", "--delta", "1"]].concat(), "delta is 1; legal"),
        (&["dataset", "team", "--adjacency", "replace", "--epsilon", "1", "--delta", "0"],
            "account \"team\" exists already"),
        (&["open", "x", "--dataset", "census"], "--plan <PLAN>"),
        (&["open", "x", "--dataset", "nope", "--filter", "sums", "--epsilon", "1", "--delta", "0"],
            "there is no data set \"nope\""),
        (&["open", "x", "--dataset", "census", "--filter", "sums"],
            "legal: --epsilon and --delta, --rho"),
        (&["reserve", "team", release], "--key <K>"),
        (&["reserve", "nobody", release, "--key", "k"], "there is no account \"nobody\""),
        (&["reserve", "team", "/no/such/file", "--key", "k"], "/no/such/file: cannot be read"),
        (&["commit", "k", "--response", "/dev/null"], "there is no key \"k\""),
        (&["status", "nobody"], "there is no account \"nobody\""),
        (&["close", "nobody"], "there is no account \"nobody\""),
        (&["close", "census"], "\"census\" is a data set"),
        (&["session", "team", "k"], "there is no key \"k\""),
        (&["end", "team", "k"], "there is no session \"k\""),
        (&["pending", "nobody"], "there is no account \"nobody\""),
        (&[&dataset[..], &["1", "--delta", "0", "--records", "0"]].concat(), "records is 0; legal"),
        (&["open", "x", "--dataset", "census", "--filter", "renyi", "--tau", "1"], "--order <A>"),
    ];
    for (args, expected) in cases {
        let run = ledger.run(args);
        assert!(run.error().contains(expected), "{args:?}: {}", run.stderr);
    }
    assert_eq!(ledger.object(&["status"])["head"], head);
    let missing = format!("sqlite:{}", ledger.folder.path("missing").display());
    let line = run(&["ledger", "--url", &missing, "status"]);
    assert!(line.error().contains("missing: No such file"), "{}", line.stderr);
    let line = run(&["ledger", "--url", "file:x", "status"]);
    assert!(line.error().contains("legal: sqlite:PATH, or postgres://"), "{}", line.stderr);
    let line = run(&["ledger"]);
    assert!(line.error().contains("--url <URL>"), "{}", line.stderr);
    let line = run(&["ledger", "--url", "sqlite:x"]);
    assert!(line.error().contains("subcommands: init, dataset, open"), "{}", line.stderr);
    let line = run(&["ledger", "status"]);
    assert!(line.error().contains("--url <URL>"), "{}", line.stderr);
}

#[test]
fn refusals_say_what_would_help_and_samples_what_they_assume() {
    let ledger = Ledger::with_account("0.3");
    let much = r#"{"mechanism": "approx-dp", "epsilon": 0.4}"#;
    let no = ledger.no(&["reserve", "team", much, "--key", "much"]);
    let reason = no["reason"].as_str().unwrap();
    assert!(
        reason.ends_with(
            "; try more noise or fewer releases (price says what they cost), or another account"
        ),
        "{reason}"
    );
    assert!(reason.contains("; legal: at most what is left; "), "{reason}");
    let reason = ledger.no(&open_sums("more"))["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("try an account that promises less"), "{reason}");

    let plan = "delta = 1e-7\nadjacency = 'add-remove'\n[[release]]\nmechanism = 'gaussian'\nsigma = 9\n\
                examples = 60000\nbatch = 600\nepochs = 1\n";
    let plan = ledger.folder.file("plan.toml", plan);
    let open = ledger.run(&["open", "training", "--dataset", "census", "--plan", &plan]);
    assert!(open.warning().contains("are not Poisson samples"), "{}", open.stderr);
    let told = ledger.object(&["open", "again", "--dataset", "census", "--plan", &plan]);
    assert!(told["warnings"][0].as_str().unwrap().contains("are not Poisson samples"), "{told}");
    let open = ["open", "rich", "--dataset", "census", "--filter", "renyi"];
    ledger.object(&[&open[..], &["--epsilon", "0.1", "--delta", "1e-7"]].concat());
    let price = ledger.run(&["price", "rich", &plan]);
    assert!(price.warning().contains("are not Poisson samples"), "{}", price.stderr);
}
