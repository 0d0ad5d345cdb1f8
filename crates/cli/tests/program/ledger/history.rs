//! What happened, and whether it is all there.

use serde_json::{Value, json};

use super::Ledger;
use crate::run;

#[test]
fn verification_tells_what_it_cannot_exclude() {
    let ledger = Ledger::with_account("0.3");
    let head = ledger.reserve("k", "0.1")["head"].as_str().unwrap().to_owned();
    let plain = ledger.object(&["verify"]);
    assert_eq!((&plain["outcome"], &plain["expected"]), (&json!("verified"), &Value::Null));
    assert_eq!(plain["not_excluded"].as_array().unwrap().len(), 2);
    let known = ledger.object(&["verify", "--expect-head", &head]);
    assert_eq!((&known["expected"], &known["not_excluded"]), (&json!(head), &json!([])));
    assert!(ledger.run(&["verify"]).answer().contains("not excluded  that the newest entries"));
    let (sequence, hash) = head.split_once(':').unwrap();
    let later = format!("{}:{hash}", sequence.parse::<u64>().unwrap() + 1);
    let broken = ledger.no(&["verify", "--expect-head", &later]);
    assert_eq!(broken["outcome"], "broken");
    let reason = broken["reason"].as_str().unwrap();
    assert!(reason.contains("is expected and missing: the history ends at 4:"), "{reason}");
    let run = ledger.run(&["verify", "--expect-head", "4:beef"]);
    assert!(run.error().contains("legal: SEQUENCE:HASH"), "{}", run.stderr);
}

#[test]
fn history_and_export_are_one_object_each() {
    let ledger = Ledger::with_account("0.3");
    ledger.reserve("k", "0.1");
    let answer = ledger.folder.file("answer", [0, 159, 146, 150]);
    ledger.object(&["commit", "k", "--response", &answer]);
    let history = ledger.object(&["history"]);
    let events: Vec<&str> = history["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["event"].as_str().unwrap())
        .collect();
    assert_eq!(events, ["init", "dataset", "open", "reserve", "commit"]);
    assert_eq!(ledger.object(&["history", "census"])["entries"].as_array().unwrap().len(), 1);
    let table = ledger.run(&["history", "team"]);
    assert_eq!(table.answer().lines().count(), 6, "{}", table.stdout);
    let export = ledger.object(&["export"]);
    let response =
        json!({"account": "team", "key": "k", "analyst": null, "response_base64": "AJ+Slg=="});
    assert_eq!((&export["version"], &export["responses"]), (&json!(2), &json!([response])));
    assert_eq!(export["head"], history["head"]);
    let run = ledger.run(&["response", "k"]);
    assert!(run.error().contains("is not text; legal: --out FILE"), "{}", run.stderr);
    let out = ledger.folder.path("out").display().to_string();
    ledger.object(&["response", "k", "--out", &out]);
    assert_eq!(std::fs::read(out).unwrap(), [0, 159, 146, 150]);
}

#[test]
fn an_old_copy_is_refused_by_the_expected_head() {
    let ledger = Ledger::with_account("0.3");
    ledger.reserve("a", "0.1");
    let copy = ledger.folder.path("copy.db").display().to_string();
    let saved = ledger.object(&["backup", &copy])["head"].clone();
    assert_eq!(saved, ledger.object(&["status"])["head"]);
    assert!(ledger.run(&["backup", &copy]).error().contains("is there already; legal: a new file"));
    let head = ledger.reserve("b", "0.1")["head"].as_str().unwrap().to_owned();
    let old = format!("sqlite:{copy}");
    let release = r#"{"mechanism": "approx-dp", "epsilon": 0.1}"#;
    let reserve = ["reserve", "team", release, "--key", "c", "--expect-head"];
    let on =
        |url: &str, args: &[&str]| run(&[&["ledger", "--url", url], args, &["--json"]].concat());
    for command in [&reserve[..5], &["close", "team"], &["status"]] {
        let refused = on(&old, &[command, &["--expect-head", &head]].concat());
        assert_eq!(refused.status, 1, "{}", refused.stderr);
        assert!(refused.stdout.contains(r#""outcome":"broken""#), "{}", refused.stdout);
    }
    let verified = on(&old, &["verify", "--expect-head", &head]);
    assert_eq!(verified.status, 1);
    assert!(verified.stdout.contains("is expected and missing"), "{}", verified.stdout);
    assert_eq!(on(&old, &["status"]).object()["head"], saved);
    // The ledger itself goes on.
    let later = on(&ledger.url, &[&reserve[..], &[&head]].concat()).object();
    assert_eq!(later["outcome"], "reserved");
    let line = run(&["ledger", "--url", "sqlite:x", "init", "--expect-head", &head]);
    assert!(line.error().contains("is given with init"), "{}", line.stderr);
}

#[test]
fn one_who_only_reads_writes_nothing() {
    let ledger = Ledger::with_account("0.3");
    let head = ledger.object(&["status"])["head"].clone();
    let release = r#"{"mechanism": "approx-dp", "epsilon": 0.1}"#;
    for command in [&["reserve", "team", release, "--key", "k"][..], &["close", "team"]] {
        let run = ledger.run(&[command, &["--read-only"]].concat());
        assert!(run.error().contains("read"), "{}", run.stderr);
    }
    for command in
        [&["status"][..], &["history"], &["pending"], &["verify"], &["price", "team", release]]
    {
        assert_eq!(ledger.object(&[command, &["--read-only"]].concat())["head"], head);
    }
}

/// A ledger that an earlier program made: its statements and rows are kept with the ledger's tests.
#[test]
fn a_ledger_of_an_earlier_format_is_upgraded_after_a_backup() {
    let folder = crate::Folder::new();
    let url = format!("sqlite:{}", folder.path("ledger.db").display());
    let mut database = url.parse::<counterpoint_ledger::Url>().unwrap().open(true).unwrap();
    let sql = include_str!("../../../../ledger/tests/ledger/format2.sqlite.sql");
    for statement in sql.split(";\n").filter(|statement| !statement.trim().is_empty()) {
        database.execute(statement, &[]).unwrap();
    }
    drop(database);
    let ledger = Ledger { folder, url };
    let head = include_str!("../../../../ledger/tests/ledger/format2.head").trim();
    let refused = ledger.run(&["status"]);
    assert!(
        refused.error().contains("counterpoint ledger --url URL upgrade --backup FILE"),
        "{}",
        refused.stderr
    );
    let backup = ledger.folder.path("backup.db").display().to_string();
    let reading = ledger.run(&["upgrade", "--backup", &backup, "--read-only"]);
    assert!(reading.error().contains("open for reading only"), "{}", reading.stderr);
    let done = ledger.object(&["upgrade", "--backup", &backup, "--expect-head", head]);
    assert_eq!(done["outcome"], "done");
    let verified = ledger.object(&["verify", "--expect-head", head]);
    assert_eq!((&verified["outcome"], &verified["head"]), (&json!("verified"), &done["head"]));
    let again = ledger.run(&["upgrade", "--backup", &format!("{backup}-2")]);
    assert!(again.error().contains("there is nothing to upgrade"), "{}", again.stderr);
    assert!(ledger.run(&["history"]).answer().contains("to format 4"));
}
