//! Requests that are not legal sessions, or not legal questions to a session.

use super::{ALL, Analyst, gate, guesses, named, place, sequence};
use crate::service::*;
use serde_json::{Value, json};

/// Bodies of the wrong shape, values that are not numbers, and empty declarations are refused without an entry in the
/// ledger.
#[test]
fn odd_sessions_are_refused_and_cost_nothing() {
    let place = place("1000");
    let ann = Analyst::new(&place, place.serve(), "ann");
    let head = place.head();
    let refused = |path: &str, body: &Value| {
        let answer = ann.post(path, body);
        let code = match answer.0 {
            400 => "unreadable",
            _ => "illegal",
        };
        assert!(matches!(answer.0, 400 | 422), "{body}: {answer:?}");
        assert_problem(&answer, answer.0, code);
        assert_eq!(place.head(), head, "{body}");
    };
    let sparse = |field: &str, value: Value| {
        let mut declared = gate(1.0, 1, 0.0);
        declared["sparse_vector"][field] = value;
        declared
    };
    let checked = |field: &str, value: Value| {
        let mut declared = guesses(1.0, 1);
        declared["guess_and_check"][field] = value;
        declared
    };
    let steps = |steps: Value| json!({"sequence": steps});
    let step = |field: &str, value: Value| steps(json!([{"of": "count", field: value}]));
    let both = json!({"sparse_vector": gate(1.0, 1, 0.0)["sparse_vector"], "sequence": sequence(1.0)["sequence"]});
    for declared in [
        json!({}),
        both,
        json!({"sparse_vector": 1}),
        json!({"sparse_vector": {"epsilon": 1, "answers": 1}}),
        sparse("unknown", json!(1)),
        sparse("epsilon", json!(-1)),
        sparse("epsilon", json!(0)),
        sparse("epsilon", json!(101)),
        sparse("epsilon", json!(1e300)),
        sparse("epsilon", json!(1e-300)),
        sparse("epsilon", json!("1")),
        sparse("answers", json!(0)),
        sparse("answers", json!(-1)),
        sparse("answers", json!(1.5)),
        sparse("answers", json!(1_000_001)),
        sparse("answers", json!(1e300)),
        sparse("threshold", json!(1e101)),
        sparse("threshold", Value::Null),
        sparse("values", json!(1)),
        sparse("column", json!("region")),
        sparse("column", json!("nr")),
        sparse("column", json!("nothing")),
        sparse("bounds", json!([1, 0])),
        sparse("bounds", json!([0, 1e300])),
        sparse("bounds", json!([0])),
        checked("unknown", json!(1)),
        checked("epsilon", json!(-1)),
        checked("epsilon", json!(1e300)),
        checked("corrections", json!(0)),
        checked("tolerance", json!(0)),
        checked("tolerance", json!(-1)),
        checked("tolerance", json!(1e101)),
        steps(json!([])),
        steps(json!([{"of": "count"}])),
        steps(json!([{"of": "count", "epsilon": 1, "rho": 1}])),
        steps(json!([{"of": "people", "epsilon": 1}])),
        steps(json!([{"of": {"sum": {"column": "nothing"}}, "epsilon": 1}])),
        step("epsilon", json!(-1)),
        step("epsilon", json!(0)),
        step("epsilon", json!(1e300)),
        step("rho", json!(-1)),
        step("unknown", json!(1)),
        // Gaussian noise needs a delta, and the account has none.
        step("rho", json!(0.1)),
        // More steps than one key may charge.
        steps(json!(vec![json!({"of": "count", "epsilon": 0.001}); 1_001])),
    ] {
        let mut body = declared;
        body["account"] = json!("team");
        body["key"] = json!("s");
        body["table"] = json!("visits");
        refused("/v1/sessions", &body);
    }
    for (field, value) in [
        ("table", json!("nowhere")),
        ("table", json!("visits; DROP TABLE visits")),
        ("table", Value::Null),
        ("key", json!("")),
        ("key", json!("a/b")),
        ("key", json!("k".repeat(200))),
        ("key", json!(1)),
        ("slot", json!("s")),
        ("unknown", json!(1)),
    ] {
        let mut body = gate(1.0, 1, 0.0);
        body["account"] = json!("team");
        body["key"] = json!("s");
        body["table"] = json!("visits");
        body[field] = value;
        refused("/v1/sessions", &body);
    }
    assert_eq!((ann.sessions(), place.spent("team")), (Vec::new(), "0".to_owned()));
    // Numbers that are legal in JSON but do not fit into a double.
    let huge = r#"{"account":"team","key":"s","table":"visits","sparse_vector":{"epsilon":1e999,"answers":1,"threshold":0}}"#;
    let text = format!(
        "POST /v1/sessions HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{huge}",
        ann.address,
        ann.token,
        huge.len()
    );
    assert_problem(&send(ann.address, text.as_bytes()), 400, "unreadable");
    assert_eq!(place.head(), head);
}

/// Odd questions to open sessions. The session answers none of them.
#[test]
fn odd_questions_to_a_session_are_refused_and_leave_it_as_it_was() {
    let place = place("1000");
    let ann = Analyst::new(&place, place.serve(), "ann");
    ann.opens("gate", &gate(1.0, 1, 0.0));
    ann.opens("guess", &guesses(1.0, 1));
    ann.opens("list", &sequence(1.0));
    let (head, standing) = (place.head(), ann.sessions());
    let question = |filter: Value| {
        let aggregates = json!([{"of": "count"}]);
        json!({"name": "q", "question": {"table": "visits", "filter": filter, "aggregates": aggregates}})
    };
    for (key, body) in [
        ("gate", json!({})),
        ("gate", json!([])),
        ("gate", json!({"name": "q"})),
        ("gate", json!({"sql": ALL})),
        ("gate", json!({"name": "q", "sql": ALL, "unknown": 1})),
        ("gate", json!({"name": "q", "sql": ALL, "guess": 1})),
        ("gate", json!({"name": "q", "sql": ALL, "epsilon": 1})),
        ("gate", json!({"name": "q", "sql": ALL, "epsilon": 1, "rho": 1})),
        ("gate", json!({"name": 7, "sql": ALL})),
        ("gate", named("", ALL)),
        ("gate", named("two words", ALL)),
        ("gate", named(&"q".repeat(129), ALL)),
        ("gate", named("q", "SELECT COUNT(*) FROM nowhere")),
        ("gate", named("q", "SELECT COUNT(DISTINCT nr) FROM visits")),
        ("gate", named("q", "SELECT COUNT(*), SUM(age) FROM visits")),
        ("gate", named("q", "SELECT region, COUNT(*) FROM visits GROUP BY region")),
        ("gate", named("q", "SELECT AVG(age) FROM visits")),
        ("gate", named("q", "SELECT COUNT(*) FROM visits; DROP TABLE visits")),
        ("gate", question(json!({"above": {"column": "nr", "than": 1}}))),
        ("gate", question(json!({"above": {"column": "age", "than": "1"}}))),
        ("gate", question(json!({"unknown": []}))),
        ("guess", named("q", ALL)),
        ("guess", json!({"name": "q", "sql": ALL, "guess": 1e101})),
        ("guess", json!({"name": "q", "sql": ALL, "guess": -1e300})),
        ("guess", json!({"name": "q", "sql": ALL, "guess": "1"})),
        ("guess", json!({"name": "q", "sql": ALL, "guess": 1, "epsilon": 1})),
        ("list", named("q", ALL)),
        ("list", json!({"name": "q", "sql": ALL, "epsilon": -0.5})),
        ("list", json!({"name": "q", "sql": ALL, "epsilon": 0})),
        ("list", json!({"name": "q", "sql": ALL, "epsilon": 1e300})),
        ("list", json!({"name": "q", "sql": ALL, "epsilon": 0.5, "guess": 1})),
    ] {
        let answer = ann.asks(key, &body);
        assert!(matches!(answer.0, 400 | 422), "{body}: {answer:?}");
        assert_problem(&answer, answer.0, if answer.0 == 400 { "unreadable" } else { "illegal" });
        assert_eq!(place.head(), head, "{body}");
    }
    // Questions that were not declared: a sum that one person changes more than a count, and a cost that differs by one
    // per cent.
    for (key, body) in [
        ("gate", named("q", "SELECT SUM(age) FROM visits")),
        (
            "guess",
            json!({"name": "q", "sql": "SELECT SUM(CLAMP(age, 0, 1.01)) FROM visits", "guess": 1}),
        ),
        ("list", json!({"name": "q", "sql": ALL, "epsilon": 0.505})),
        ("list", json!({"name": "q", "sql": ALL, "rho": 0.5})),
    ] {
        assert_problem(&ann.asks(key, &body), 422, "not-declared");
    }
    assert_eq!((place.head(), ann.sessions()), (head, standing));
    // The names are still free, and the sessions are unchanged.
    ann.hears("gate", &named("q", ALL));
    ann.hears("guess", &json!({"name": "q", "sql": ALL, "guess": 1}));
    ann.hears("list", &json!({"name": "q", "sql": ALL, "epsilon": 0.5}));
    assert!(place.verified());
}
