//! The life of a session: questions in turn and by several processes, a close, a restart and a failure.

use super::{ALL, Analyst, IN_THE_NORTH, NORTH, ROWS, gate, guesses, named, place, sequence};
use crate::service::*;
use counterpoint_curator::Role;
use serde_json::{Value, json};

/// The number in a reply.
#[track_caller]
fn assert_near(reply: &Value, kind: &str, truth: f64) {
    let number = reply[kind].as_f64();
    assert!(number.is_some_and(|number| (number - truth).abs() < 3.0), "{reply}, not {truth}");
}

#[track_caller]
fn assert_over(answer: &Answer) {
    assert_problem(answer, 409, "session-over");
}

/// Two analysts have three sessions each, with the same names, and ask them in turn at two processes. Each session
/// answers from its own state. At the end, the budget is spent exactly.
#[test]
fn sessions_of_two_analysts_are_interleaved_and_spend_the_budget_to_the_unit() {
    // For each analyst: 3 epsilon for a sparse vector, 4 for guess and check, and 1.5 for the sequence.
    let place = place("1640");
    let (address, other) = (place.serve(), place.serve());
    let [ann, ben] = ["ann", "ben"].map(|name| Analyst::new(&place, address, name));
    let mut paid = 0.0;
    for (analyst, threshold) in [(&ann, NORTH - 10.0), (&ben, NORTH + 10.0)] {
        paid += analyst.opens("gate", &gate(100.0, 3, threshold));
        paid += analyst.at(other).opens("guess", &guesses(100.0, 2));
        paid += analyst.opens("list", &sequence(80.0));
    }
    let total = place.spent("team");
    let spent: f64 = total.parse().unwrap();
    assert!((spent - paid).abs() < 1e-6 && spent <= 1640.0 && spent > 1640.0 - 1e-9, "{spent}");
    for round in 0..3 {
        let name = format!("q{round}");
        let (here, there) = if round % 2 == 0 { (address, other) } else { (other, address) };
        // The same name and question in two sessions of one key: above for one, below for the other.
        assert_eq!(ann.at(here).hears("gate", &named(&name, IN_THE_NORTH)), json!({"above": null}));
        assert_eq!(ben.at(there).hears("gate", &named(&name, IN_THE_NORTH)), "below");
        // Ann's first guess is right, and the next two are wrong. Ben's guesses are the other way round.
        let guess = |right: bool| {
            let guess = if right { ROWS } else { ROWS + 100.0 };
            json!({"name": name, "sql": ALL, "guess": guess})
        };
        for (analyst, right) in [(&ann, round == 0), (&ben, round == 2)] {
            let answer = analyst.at(there).asks("guess", &guess(right));
            match (right, analyst.token == ben.token) {
                // The session has only two corrections.
                (true, true) => assert_over(&answer),
                (true, false) => assert_eq!(read(&answer)["reply"], "pass"),
                _ => assert_near(&read(&answer)["reply"], "wrong", ROWS),
            }
        }
    }
    // The steps of a sequence may be asked in any order, at the declared costs only.
    let mean = json!({"name": "mean", "sql": "SELECT AVG(age) FROM visits", "epsilon": 80});
    let count = json!({"name": "count", "sql": IN_THE_NORTH, "epsilon": 40});
    let mut more = count.clone();
    more["name"] = json!("more");
    // Ages are from 20 to 69. The mean is 44.5 over all people, and 42.5 over every fifth person, who has two rows.
    assert_near(&ann.hears("list", &mean), "number", (300.0 * 44.5 + 60.0 * 42.5) / 360.0);
    assert_near(&ben.hears("list", &count), "number", NORTH);
    assert_problem(&ben.at(other).asks("list", &more), 422, "not-declared");
    assert_near(&ann.at(other).hears("list", &count), "number", NORTH);
    assert_over(&ann.asks("list", &more));
    // Earlier answers stay available, even if the session is over.
    let again = read(&ann.asks("gate", &named("q1", IN_THE_NORTH)));
    assert_eq!(
        (&again["reply"], &again["repeated"], &again["over"]),
        (&json!({"above": null}), &json!(true), &json!(true))
    );
    assert_over(&ann.asks("gate", &named("q3", IN_THE_NORTH)));
    let told = |key: &str, answered, over| (key.to_owned(), answered, over);
    assert_eq!(
        ann.sessions(),
        [told("gate", 3, true), told("guess", 3, true), told("list", 2, true)]
    );
    assert_eq!(
        ben.sessions(),
        [told("gate", 3, false), told("guess", 2, true), told("list", 1, false)]
    );
    // Nothing was refunded, and the budget does not suffice for the cheapest session or question.
    assert_eq!(place.spent("team"), total);
    let cheapest = 2.0_f64.powi(-20);
    assert_problem(&ann.tries("more", &gate(cheapest, 1, 0.0)), 402, "over-budget");
    assert_problem(&ask(address, &ben.token, "team", ALL, 0.001), 402, "over-budget");
    assert_eq!(place.spent("team"), total);
    assert!(place.verified());
}

/// A session belongs to its analyst. For other analysts it does not exist.
#[test]
fn an_analyst_cannot_see_the_session_of_another() {
    let place = place("100");
    let address = place.serve();
    let [ann, ben] = ["ann", "ben"].map(|name| Analyst::new(&place, address, name));
    let eve = Analyst { address, token: place.token(Role::Analyst, "eve", &["elsewhere"]) };
    ann.opens("own", &gate(1.0, 1, 1e6));
    ann.hears("own", &named("q", ALL));
    let head = place.head();
    for other in [&ben, &eve] {
        let all = |key: &str| {
            [other.asks(key, &named("q", ALL)), other.sees(key), other.closes(key)].map(|answer| {
                assert_problem(&answer, 404, "not-found");
                answer.1.replace(key, "KEY")
            })
        };
        assert_eq!(all("own"), all("none"));
    }
    // The ledger's name of the session is not a key.
    for answer in [
        ben.asks("s-ann%2Fown", &named("q", ALL)),
        ben.sees("s-ann%2Fown"),
        ben.closes("s-ann%2Fown"),
    ] {
        assert_problem(&answer, 422, "illegal");
    }
    for token in [place.token(Role::Owner, "olga", &[]), place.token(Role::Auditor, "otto", &[])] {
        let other = Analyst { address, token };
        for answer in [other.asks("own", &named("q", ALL)), other.sees("own"), other.closes("own")]
        {
            assert_problem(&answer, 403, "forbidden");
        }
    }
    assert_eq!((ben.sessions(), place.head()), (Vec::new(), head));
    // The session continues. A session with the same key of another analyst is another session.
    ben.opens("own", &gate(1.0, 1, -1e6));
    assert_eq!(ben.hears("own", &named("q", ALL)), json!({"above": null}));
    assert_eq!(ann.hears("own", &named("r", ALL)), "below");
    assert_eq!(place.spent("team"), "6");
}

/// A closed session repeats its earlier answers and gives no others. It cannot be opened again.
#[test]
fn a_closed_session_is_over_and_not_refunded() {
    let place = place("9");
    let ann = Analyst::new(&place, place.serve(), "ann");
    for (key, declared) in [("gate", gate(1.0, 5, 1e6)), ("list", sequence(4.0))] {
        let cost = ann.opens(key, &declared);
        let question = |name: &str| match key {
            "gate" => named(name, ALL),
            _ => json!({"name": name, "sql": ALL, "epsilon": 2}),
        };
        let first = ann.hears(key, &question("q"));
        for _ in 0..2 {
            let closed = ann.closes(key);
            assert_eq!((closed.0, &read(&closed)["over"]), (200, &json!(true)), "{closed:?}");
        }
        assert_eq!(ann.hears(key, &question("q")), first);
        assert_over(&ann.asks(key, &question("r")));
        let again = ann.tries(key, &declared);
        let told = read(&again);
        assert_eq!((again.0, &told["over"], &told["answered"]), (200, &json!(true), &json!(1)));
        assert!(told["cost"]["amount"].as_f64() == Some(0.0) && cost > 2.9, "{told}");
        assert_over(&ann.asks(key, &question("r")));
    }
    let spent: f64 = place.spent("team").parse().unwrap();
    assert!(spent <= 9.0 && spent > 9.0 - 1e-7, "{spent}");
    assert!(place.verified());
}

/// The noisy threshold of Ann's session, as it is stored.
fn threshold(place: &Place, key: &str) -> String {
    let session = place.ledger().session("team", &format!("s-ann/{key}")).unwrap().unwrap();
    let state: Value = serde_json::from_slice(session.state.unwrap().bytes()).unwrap();
    state["state"]["left"]["gate"]["threshold"].as_str().unwrap().to_owned()
}

/// Other processes continue with the drawn noise. The noisy threshold is the same, although a new draw would equal it
/// only with a probability of about epsilon/8, and so is every answer. A key belongs to one session: opening it again
/// costs nothing, and declaring another session under it is refused.
#[test]
fn a_restart_neither_draws_nor_charges_again() {
    let place = place("1");
    let mut ann = Analyst::new(&place, place.serve(), "ann");
    let (noisy, checks, list) =
        (gate(0.00001, 1_000, NORTH), guesses(0.00001, 1_000), sequence(0.5));
    let declared = [("gate", &noisy), ("guess", &checks), ("list", &list)];
    for (key, declared) in declared {
        assert!(ann.opens(key, declared) > 0.0);
    }
    let spent = place.spent("team");
    let drawn = ["gate", "guess"].map(|key| threshold(&place, key));
    let questions = |name: &str| {
        let guess = json!({"name": name, "sql": IN_THE_NORTH, "guess": 7});
        let count = json!({"name": "q", "sql": IN_THE_NORTH, "epsilon": 0.25});
        [("gate", named(name, IN_THE_NORTH)), ("guess", guess), ("list", count)]
    };
    let mut shown: Vec<(&str, Value, Value)> = Vec::new();
    for round in 0..4 {
        for (key, body) in questions(&format!("q{round}")) {
            let answer = read(&ann.asks(key, &body));
            shown.push((key, body, json!([answer["reply"], answer["entry"]])));
        }
        ann = ann.at(place.serve());
        for (key, declared) in declared {
            let again = read(&ann.tries(key, declared));
            assert_eq!(again["cost"]["amount"], 0.0, "{again}");
        }
        assert_eq!(["gate", "guess"].map(|key| threshold(&place, key)), drawn);
        for (key, body, answer) in &shown {
            let again = read(&ann.asks(key, body));
            assert_eq!(json!([again["reply"], again["entry"]]), *answer, "{key} {body}");
            assert_eq!(again["repeated"], true);
        }
    }
    let told = |key: &str, answered| (key.to_owned(), answered, false);
    assert_eq!(ann.sessions(), [told("gate", 4), told("guess", 4), told("list", 1)]);
    // Another declaration under the same key, of any price, and another question under the same name.
    let head = place.head();
    for other in [gate(0.00001, 1_000, NORTH + 1.0), gate(0.000001, 1_000, NORTH), list.clone()] {
        assert_problem(&ann.tries("gate", &other), 409, "key-in-use");
    }
    assert_problem(&ann.asks("gate", &named("q0", ALL)), 409, "key-in-use");
    let guess = json!({"name": "q0", "sql": IN_THE_NORTH, "guess": 8});
    assert_problem(&ann.asks("guess", &guess), 409, "key-in-use");
    assert_eq!((place.head(), place.spent("team")), (head, spent));
    assert!(place.verified());
}

/// If the engine fails, the session stays charged and draws nothing. Afterwards it continues from the same state.
#[test]
fn a_session_whose_engine_fails_stays_charged_and_goes_on() {
    let place = place("4");
    let ann = Analyst::new(&place, place.serve(), "ann");
    let table = |sql: &str| {
        rusqlite::Connection::open(place.path("data.db")).unwrap().execute_batch(sql).unwrap();
    };
    ann.opens("gate", &gate(0.5, 2, NORTH));
    table("ALTER TABLE visits RENAME TO gone");
    // Opening a session reads no data.
    ann.opens("list", &sequence(1.0));
    let questions = [
        ("gate", named("q", IN_THE_NORTH)),
        ("list", json!({"name": "q", "sql": ALL, "epsilon": 0.5})),
    ];
    let (head, spent, drawn) = (place.head(), place.spent("team"), threshold(&place, "gate"));
    let mut failed: Vec<Answer> = Vec::new();
    for _ in 0..3 {
        failed.extend(questions.iter().map(|(key, body)| ann.asks(key, body)));
    }
    assert_problem(&failed[0], 502, "charged-and-failed");
    assert!(failed.iter().all(|answer| *answer == failed[0]), "{failed:?}");
    assert_eq!((place.head(), place.spent("team")), (head, spent.clone()));
    assert_eq!(threshold(&place, "gate"), drawn);
    // Neither opening the session again nor closing it refunds anything.
    assert_eq!(read(&ann.tries("list", &sequence(1.0)))["cost"]["amount"], 0.0);
    table("ALTER TABLE gone RENAME TO visits");
    for (key, body) in &questions {
        assert_eq!(read(&ann.asks(key, body))["answered"], 1, "{key}");
        assert_eq!(ann.closes(key).0, 200);
    }
    assert_eq!(place.spent("team"), spent);
    let spent: f64 = spent.parse().unwrap();
    assert!(spent <= 3.0 && spent > 3.0 - 1e-7, "{spent}");
    assert!(place.verified());
}
