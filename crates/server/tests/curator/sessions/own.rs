//! Mechanisms that the owner registered: programs that receive a state and a question. An attacker would gain by two
//! answers from one state, by retries until the program does not fail, or by errors and times that depend on the data.

use super::*;
use std::time::{Duration, Instant};

/// Replies with the number of its state and the question. Some questions make it fail in various ways.
const PROGRAM: &str = r#"
import json, sys, time
told = json.load(sys.stdin)
state, question = told["state"], told["question"]
if state is None:
    state = {"number": 0, "secret": "in the state"}
if question == "fail":
    sys.exit("the secret is 42")
if question == "sleep":
    time.sleep(60)
if question == "babble":
    print("no JSON: 42")
    sys.exit()
if question == "long":
    print(json.dumps({"reply": "x" * (1 << 20), "state": state}))
    sys.exit()
state["number"] += 1
print(json.dumps({"reply": [state["number"], question], "state": None if question == "last" else state}))
"#;

const GUARANTEE: &str = "delta = 1e-6\n[[release]]\nmechanism = \"approx-dp\"\nepsilon = 0.5\n";

fn with_program(timing: (f64, f64), budget: &str) -> Place {
    let place = Place::new(&people(PEOPLE), timing, "100000", &[("team", budget)]);
    std::fs::write(place.path("own.py"), PROGRAM).unwrap();
    std::fs::write(place.path("own.toml"), GUARANTEE).unwrap();
    place.configure(
        "[[mechanism]]\nname = \"counts\"\ntable = \"visits\"\nguarantee = \"own.toml\"\n\
         program = [\"python3\", \"own.py\"]\n",
    );
    place
}

fn own() -> Value {
    json!({"own": "counts"})
}

fn asked(name: &str, question: &str) -> Value {
    json!({"name": name, "own": question})
}

#[test]
fn a_registered_mechanism_is_charged_as_declared_and_goes_on_at_any_process() {
    let place = with_program((0.0, 30.0), "1");
    let (one, other) = (place.serve(), place.serve());
    let ann = Analyst::new(&place, one, "ann");
    for _ in 0..2 {
        ann.opens("s", &own());
        assert_eq!(place.spent("team"), "0.5");
    }
    let answer = read(&ann.asks("s", &asked("a", "first")));
    assert_eq!(answer["reply"], json!([1, "first"]));
    assert_eq!(answer["own"], "counts");
    let elsewhere = ann.at(other);
    assert_eq!(elsewhere.hears("s", &asked("b", "second")), json!([2, "second"]));
    assert_eq!(elsewhere.hears("s", &asked("a", "first")), json!([1, "first"]));
    assert_problem(&ann.asks("s", &asked("a", "other")), 409, "key-in-use");
    assert_eq!(ann.hears("s", &asked("c", "last")), json!([3, "last"]));
    assert_problem(&ann.asks("s", &asked("d", "more")), 409, "session-over");
    // The owner sees that the guarantee is a claim. Nobody sees the state.
    let owner = place.token(Role::Owner, "olga", &[]);
    let history = get(one, "/v1/history", &owner).1;
    assert!(
        history.contains("\"own\":\"counts\"") && !history.contains("in the state"),
        "{history}"
    );
    assert_eq!(place.ledger().verify(None).unwrap().problem, None);
}

#[test]
fn a_program_that_fails_ends_its_session_and_says_nothing() {
    let place = with_program((0.0, 30.0), "100");
    let ann = Analyst::new(&place, place.serve(), "ann");
    for question in ["fail", "babble", "long"] {
        ann.opens(question, &own());
        ann.hears(question, &asked("a", "first"));
        assert_fails_for_good(&ann, question);
        assert_eq!(ann.hears(question, &asked("a", "first")), json!([1, "first"]));
    }
}

/// Earlier questions have no short limit, because a busy machine may need this long to start a program.
#[test]
fn a_program_that_exceeds_its_limit_ends_its_session() {
    let place = with_program((0.0, 2.0), "100");
    let ann = Analyst::new(&place, place.serve(), "ann");
    ann.opens("sleep", &own());
    assert_fails_for_good(&ann, "sleep");
}

/// Checks that retries do not succeed after a failure.
fn assert_fails_for_good(ann: &Analyst, question: &str) {
    let failed = ann.asks(question, &asked("b", question));
    assert!(failed.0 >= 400 && !failed.1.contains("42"), "{failed:?}");
    assert_problem(&ann.asks(question, &asked("b", question)), 409, "session-over");
    assert_problem(&ann.asks(question, &asked("c", "first")), 409, "session-over");
}

/// A program that could not be started has seen nothing, so the session is unchanged. If the mechanism is now
/// registered for another table, it is not asked for a session that was paid for the first table.
#[test]
fn changes_by_the_owner_neither_end_nor_move_sessions() {
    let place = with_program((0.0, 30.0), "100");
    let ann = Analyst::new(&place, place.serve(), "ann");
    ann.opens("s", &own());
    assert_eq!(ann.hears("s", &asked("a", "first")), json!([1, "first"]));
    let config = std::fs::read_to_string(place.path("config.toml")).unwrap();
    let changed = |from: &str, to: &str| {
        std::fs::write(place.path("config.toml"), config.replacen(from, to, 1)).unwrap();
        ann.at(place.serve()).asks("s", &asked("b", "second"))
    };
    assert_problem(&changed("\"python3\"", "\"no-such-program\""), 503, "unavailable");
    // Another table, which belongs to another data set.
    let (before, table) = config.split_once("[[table]]").unwrap();
    let other = table.replacen("visits", "others", 1);
    let relation = place.config().tables[0].public.relation();
    place.ledger().add_dataset("others", relation, &pure("1")).unwrap();
    let source = rusqlite::Connection::open(place.path("data.db")).unwrap();
    source.execute_batch("CREATE TABLE others AS SELECT * FROM visits").unwrap();
    let both = format!("{before}[[table]]{table}[[table]]{other}").replacen(
        "table = \"visits\"",
        "table = \"others\"",
        1,
    );
    std::fs::write(place.path("config.toml"), both).unwrap();
    let moved = ann.at(place.serve()).asks("s", &asked("b", "second"));
    assert_problem(&moved, 422, "illegal");
    assert_eq!(read(&changed("", ""))["reply"], json!([2, "second"]));
}

#[test]
fn answers_of_a_program_leave_in_slots() {
    let place = with_program((2.0, 30.0), "100");
    let ann = Analyst::new(&place, place.serve(), "ann");
    ann.opens("s", &own());
    let start = Instant::now();
    ann.hears("s", &asked("a", "first"));
    assert!(start.elapsed() >= Duration::from_millis(1990));
}

#[test]
fn unregistered_and_undeclared_mechanisms_are_refused() {
    let place = with_program((0.0, 30.0), "0.7");
    let ann = Analyst::new(&place, place.serve(), "ann");
    assert_problem(&ann.tries("s", &json!({"own": "other"})), 404, "not-found");
    let both =
        json!({"own": "counts", "sparse_vector": {"epsilon": 1, "answers": 1, "threshold": 1}});
    assert_problem(&ann.tries("s", &both), 422, "illegal");
    ann.opens("s", &own());
    assert_problem(&ann.tries("t", &own()), 402, "over-budget");
    assert_problem(&ann.asks("s", &named("a", ALL)), 422, "illegal");
    let mixed = json!({"name": "a", "own": 1, "epsilon": 1});
    assert_problem(&ann.asks("s", &mixed), 422, "illegal");
    let ben = Analyst { token: place.token(Role::Analyst, "ben", &["team"]), ..ann.clone() };
    assert_problem(&ben.asks("s", &asked("a", "first")), 404, "not-found");
    // A built-in sparse vector is not a registered program.
    ann.opens("g", &gate(0.05, 1, 0.0));
    assert_problem(&ann.asks("g", &asked("a", "first")), 422, "illegal");
    // Another guarantee makes another mechanism. The session that was charged for the old guarantee does not run it.
    std::fs::write(place.path("own.toml"), GUARANTEE.replace("0.5", "0.6")).unwrap();
    assert_problem(&ann.at(place.serve()).asks("s", &asked("a", "first")), 422, "illegal");
}

#[test]
fn mechanisms_are_checked_when_they_are_registered() {
    let registered = |from: &str, to: &str| {
        let place = with_program((0.0, 30.0), "1");
        let text = std::fs::read_to_string(place.path("config.toml")).unwrap();
        counterpoint_curator::Config::parse(&text.replacen(from, to, 1), place.folder())
            .map(|config| config.mechanisms.len())
            .map_err(|error| error.to_string())
    };
    assert_eq!(registered("", ""), Ok(1));
    for (from, to, problem) in [
        ("table = \"visits\"", "table = \"visit\"", "table is \"visit\""),
        ("[\"python3\", \"own.py\"]", "[]", "program is \"[]\""),
        ("own.toml", "none.toml", "none.toml"),
        ("own.toml", "own.py", "guarantee"),
        ("guarantee =", "promise =", "unknown field"),
    ] {
        let error = registered(from, to).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
}
