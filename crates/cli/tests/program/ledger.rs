//! `counterpoint ledger`, as scripts and people use it.

use serde_json::{Value, json};

use crate::{Folder, Run, run, run_with};

/// A new ledger in a folder.
struct Ledger {
    folder: Folder,
    url: String,
}

impl Ledger {
    fn new() -> Self {
        let folder = Folder::new();
        let url = format!("sqlite:{}", folder.path("ledger.db").display());
        let ledger = Self { folder, url };
        assert_eq!(ledger.object(&["init"])["outcome"], "done");
        ledger
    }

    fn with_account(epsilon: &str) -> Self {
        let ledger = Self::new();
        let dataset = ["dataset", "census", "--adjacency", "add-remove"];
        ledger.object(&[&dataset[..], &["--epsilon", "1", "--delta", "1e-6"]].concat());
        let open = ["open", "team", "--dataset", "census", "--filter", "sums"];
        ledger.object(&[&open[..], &["--epsilon", epsilon, "--delta", "0"]].concat());
        ledger
    }

    fn run(&self, args: &[&str]) -> Run {
        run(&[&["ledger", "--url", &self.url], args].concat())
    }

    #[track_caller]
    fn object(&self, args: &[&str]) -> Value {
        self.run(&[args, &["--json"]].concat()).object()
    }

    /// The object of a definite no.
    #[track_caller]
    fn no(&self, args: &[&str]) -> Value {
        let run = self.run(&[args, &["--json"]].concat());
        assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{}", run.stdout);
        assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
        serde_json::from_str(&run.stdout).unwrap()
    }

    fn reserve(&self, key: &str, epsilon: &str) -> Value {
        let release = format!(r#"{{"mechanism": "approx-dp", "epsilon": {epsilon}}}"#);
        self.object(&["reserve", "team", &release, "--key", key])
    }
}

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
                          "left": "0", "capacity": "0.3"});
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
    assert!(run.error().contains("adjacency is replace; legal: that of the data set"));
    let run = ledger.run(&["reserve", "team", "{\"mechanism\": \"x\"}", "--key", "c"]);
    assert!(run.error().starts_with("RELEASE: release 1: mechanism is \"x\"; legal: "));
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
fn bad_usage_is_one_line_and_writes_nothing() {
    let ledger = Ledger::with_account("0.3");
    let head = ledger.object(&["status"])["head"].clone();
    let release = r#"{"mechanism": "approx-dp", "epsilon": 0.1}"#;
    let dataset = ["dataset", "x", "--adjacency", "replace", "--epsilon"];
    #[rustfmt::skip]
    let cases: [(&[&str], &str); 22] = [
        (&["init"], "there is a ledger here already"),
        (&["dataset", "x"], "--adjacency <A>"),
        (&["dataset", "x", "--adjacency", "both"], "add-remove, replace"),
        (&[&dataset[..], &["-1", "--delta", "0"]].concat(), "a decimal number from 0"),
        (&[&dataset[..], &["nan", "--delta", "0"]].concat(), "a decimal number from 0"),
        (&[&dataset[..], &["1", "--delta", "1"]].concat(), "delta is 1; legal"),
        (&["dataset", "team", "--adjacency", "replace", "--epsilon", "1", "--delta", "0"],
            "account \"team\" is there already"),
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
    library.begin("team", "s", b"gate", b"a state that nobody is to see: 12345").unwrap();
    let new = counterpoint_ledger::NewAnswer {
        ask: "q1",
        question: counterpoint_ledger::Hash::of(b"q1"),
        after: 0,
        response: b"below",
        state: b"a state that nobody is to see: 67890",
        last: false,
    };
    library.answer("team", "s", &new).unwrap();
    let session = ledger.object(&["session", "team", "s"]);
    assert_eq!((&session["answers"], &session["ended"]), (&json!(["q1"]), &Value::Null));
    assert_eq!(ledger.object(&["pending"])["pending"][0]["answered"], 1);
    assert_eq!(ledger.run(&["response", "s", "--ask", "q1"]).answer(), "below");
    let run = ledger.run(&["response", "s", "--ask", "q2"]);
    assert!(run.error().contains("\"q2\" is not answered in \"s\""), "{}", run.stderr);
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
    assert!(run.error().contains("of kind gdp is to promise rho"), "{}", run.stderr);
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

/// Opens an account of one epsilon.
fn open_sums(name: &str) -> [&str; 10] {
    ["open", name, "--dataset", "census", "--filter", "sums", "--epsilon", "1", "--delta", "0"]
}
