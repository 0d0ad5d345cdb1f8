//! Debits and their responses.

use serde_json::{Value, json};

use super::Ledger;
use crate::run_with;

#[test]
fn a_release_from_budget_to_answer() {
    let ledger = Ledger::with_account("0.3");
    let reserved = ledger.reserve("monday", "0.1");
    assert_eq!(reserved["outcome"], "reserved");
    assert_eq!(reserved["charge"], json!({"main": "0.1", "delta": "0"}));
    assert_eq!(reserved["response_base64"], Value::Null);
    assert_eq!(ledger.reserve("monday", "0.1")["outcome"], "pending");
    let answer = ledger.folder.file("answer", "foobar");
    let committed = ledger.object(&["commit", "monday", "--response", &answer]);
    assert_eq!(
        (&committed["outcome"], &committed["repeated"]),
        (&json!("committed"), &json!(false))
    );
    assert_eq!(committed["response_base64"], "Zm9vYmFy");
    let again = ledger.reserve("monday", "0.1");
    assert_eq!(
        (&again["outcome"], &again["response_base64"]),
        (&json!("committed"), &json!("Zm9vYmFy"))
    );
    assert_eq!(again["head"], committed["head"]);
    assert_eq!(ledger.run(&["response", "monday"]).answer(), "foobar");
    // 0.1 + 0.2 is 0.3.
    assert_eq!(ledger.reserve("tuesday", "0.2")["outcome"], "reserved");
    let release = r#"{"mechanism": "laplace", "scale": 1000000}"#;
    let no = ledger.no(&["reserve", "team", release, "--key", "wednesday"]);
    let expected = json!({"by": "account \"team\"", "what": "epsilon", "asked": "0.000001",
                          "left": "0", "capacity": "0.3",
                          "room": {"pure": null, "gaussian": null, "sampled": null}});
    assert_eq!((&no["outcome"], &no["refusal"]), (&json!("refused"), &expected));
    let run = ledger.run(&["reserve", "team", release, "--key", "wednesday"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.starts_with("refused by account \"team\": 0.000001 of epsilon"));
}

#[test]
fn releases_come_from_files_standard_input_or_the_command_line() {
    let ledger = Ledger::with_account("1");
    let toml = "adjacency = \"add-remove\"\n[[release]]\nmechanism = \"laplace\"\nscale = 1_0.0\n";
    let file = ledger.folder.file("release.toml", toml);
    let charge = |value: &Value| value["charge"]["main"].clone();
    assert_eq!(charge(&ledger.object(&["reserve", "team", &file, "--key", "a"])), "0.1");
    let args = ["ledger", "--url", &ledger.url, "reserve", "team", "-", "--key", "b", "--json"];
    assert_eq!(charge(&run_with(&args, toml.as_bytes()).object()), "0.1");
    // All releases of a file are charged together.
    let another = "[[release]]\nmechanism = \"geometric\"\nscale = 5\n";
    let two = ledger.folder.file("two.toml", format!("{toml}{another}"));
    assert_eq!(charge(&ledger.object(&["reserve", "team", &two, "--key", "two"])), "0.3");
    let other = ledger.folder.file("other.toml", toml.replace("add-remove", "replace"));
    let run = ledger.run(&["reserve", "team", &other, "--key", "c"]);
    assert!(run.error().contains(
        "has adjacency replace, and the data set has add-remove; legal: that of the data set"
    ));
    let run = ledger.run(&["reserve", "team", "{\"mechanism\": \"x\"}", "--key", "c"]);
    assert!(run.error().starts_with("RELEASE: release 1: mechanism is \"x\"; legal: "));
}

#[test]
fn another_response_to_a_committed_key_is_not_the_one_to_show() {
    let ledger = Ledger::with_account("0.3");
    ledger.reserve("k", "0.1");
    let [one, two] = ["1", "2"].map(|text| ledger.folder.file(text, text));
    ledger.object(&["commit", "k", "--response", &one]);
    let run = ledger.run(&["commit", "k", "--response", &two]);
    assert!(run.warning().contains("k was committed before with another response"));
    assert_eq!(ledger.object(&["commit", "k", "--response", &two])["response_base64"], "MQ==");
}

#[test]
fn a_price_is_told_without_a_reservation() {
    let ledger = Ledger::with_account("0.3");
    let head = ledger.object(&["status"])["head"].clone();
    let release = |epsilon: &str| format!(r#"{{"mechanism": "approx-dp", "epsilon": {epsilon}}}"#);
    let fits = ledger.object(&["price", "team", &release("0.3")]);
    assert_eq!((&fits["fits"], &fits["refusal"]), (&json!(true), &Value::Null));
    assert_eq!(fits["charge"], json!({"main": "0.3", "delta": "0"}));
    let short = ledger.object(&["price", "team", &release("0.31")]);
    assert_eq!((&short["fits"], &short["refusal"]["left"]), (&json!(false), &json!("0.3")));
    let text = ledger.run(&["price", "team", &release("0.31")]);
    assert!(text.answer().contains("too much for account \"team\": 0.3 of 0.3 epsilon is left"));
    assert!(ledger.run(&["price", "team", &release("0.1")]).answer().contains("it fits"));
    assert_eq!(ledger.object(&["status"])["head"], head);
}

#[test]
fn a_key_needs_its_account_only_where_two_have_it() {
    let ledger = Ledger::with_account("0.3");
    let open = ["open", "other", "--dataset", "census", "--filter", "sums"];
    ledger.object(&[&open[..], &["--epsilon", "0.3", "--delta", "0"]].concat());
    let release = r#"{"mechanism": "approx-dp", "epsilon": 0.1}"#;
    let answer = ledger.folder.file("answer", "42");
    ledger.reserve("k", "0.1");
    let pending = ledger.object(&["pending"]);
    let one = json!({"account": "team", "key": "k", "analyst": null, "entry": 5,
                     "session": false, "answered": null});
    assert_eq!(pending["pending"], json!([one]));
    assert_eq!(ledger.object(&["commit", "k", "--response", &answer])["account"], "team");
    assert!(ledger.run(&["pending", "team"]).answer().starts_with("nothing is pending"));
    ledger.object(&["reserve", "other", release, "--key", "k", "--analyst", "ann"]);
    let text = ledger.run(&["pending"]);
    assert!(
        text.answer().contains("other    k    ann          7  no response yet"),
        "{}",
        text.stdout
    );
    let run = ledger.run(&["commit", "k", "--response", &answer]);
    let error = "key \"k\" is in other and team; legal: the account's name with it";
    assert!(run.error().ends_with(error), "{}", run.stderr);
    assert!(ledger.run(&["response", "k"]).error().ends_with(error));
    ledger.object(&["commit", "k", "--account", "other", "--response", &answer]);
    assert_eq!(ledger.run(&["response", "k", "--account", "other"]).answer(), "42");
    // One analyst's part.
    let responses = ledger.object(&["responses", "--analyst", "ann"]);
    let own = json!({"account": "other", "key": "k", "analyst": "ann", "response_base64": "NDI="});
    assert_eq!(responses["responses"], json!([own]));
    assert_eq!(ledger.object(&["responses", "team"])["responses"].as_array().unwrap().len(), 1);
    let text = ledger.run(&["responses"]);
    assert!(text.answer().contains("other    k         ann      42"), "{}", text.stdout);
    let events = |args: &[&str]| ledger.object(args)["entries"].as_array().unwrap().len();
    assert_eq!(events(&["history", "--analyst", "ann"]), 2);
    assert_eq!(events(&["history", "team", "--analyst", "ann"]), 0);
}

#[test]
fn a_session_is_debited_once_and_told_about() {
    let ledger = Ledger::with_account("0.3");
    let release =
        r#"{"mechanism": "sparse-vector", "epsilon_threshold": 0.125, "epsilon_queries": 0.125}"#;
    let reserve = ["reserve", "team", release, "--key", "s", "--session"];
    assert_eq!(ledger.object(&reserve)["charge"]["main"], "0.25");
    assert_eq!(ledger.object(&reserve)["outcome"], "pending");
    assert!(ledger.run(&reserve).answer().contains("begin the session or go on"));
    let run = ledger.run(&["reserve", "team", release, "--key", "s"]);
    assert!(run.error().contains("stands for another request"), "{}", run.stderr);
    let answer = ledger.folder.file("answer", "42");
    let run = ledger.run(&["commit", "s", "--response", &answer]);
    assert!(run.error().contains("is a session's; legal: its answers"), "{}", run.stderr);
    let mut library = counterpoint_ledger::Ledger::open(&ledger.url.parse().unwrap()).unwrap();
    library.begin_session("team", "s", b"gate", b"a state that nobody is to see: 12345").unwrap();
    let new = counterpoint_ledger::NewAnswer {
        ask: "q1",
        question: counterpoint_ledger::Hash::of(b"q1"),
        after: 0,
        response: b"below",
        state: b"a state that nobody is to see: 67890",
        last: false,
    };
    library.store_answer("team", "s", &new).unwrap();
    let session = ledger.object(&["session", "team", "s"]);
    assert_eq!((&session["answers"], &session["ended"]), (&json!(["q1"]), &Value::Null));
    assert_eq!(ledger.object(&["pending"])["pending"][0]["answered"], 1);
    assert_eq!(ledger.run(&["response", "s", "--ask", "q1"]).answer(), "below");
    let run = ledger.run(&["response", "s", "--ask", "q2"]);
    assert!(run.error().contains("session \"s\" has no answer to \"q2\""), "{}", run.stderr);
    assert_eq!(ledger.object(&["end", "team", "s"])["outcome"], "done");
    let texts = [
        ledger.run(&["session", "team", "s"]).answer().to_owned(),
        ledger.run(&["history"]).answer().to_owned(),
        ledger.run(&["status"]).answer().to_owned(),
        ledger.run(&["responses"]).answer().to_owned(),
        ledger.run(&["export"]).answer().to_owned(),
    ];
    assert!(texts[0].contains("answers   1: q1"), "{}", texts[0]);
    assert!(texts[1].contains("s: session, sparse-vector"), "{}", texts[1]);
    assert!(texts[1].contains("s: q1, answer 1, 5 bytes"), "{}", texts[1]);
    assert!(texts.iter().all(|text| !text.contains("nobody is to see")));
    assert_eq!(ledger.object(&["verify"])["outcome"], "verified");
}
