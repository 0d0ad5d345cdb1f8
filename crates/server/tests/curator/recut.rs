//! The exchange of unused slots by the analyst of an account.

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_ledger::NewAccount;
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;
use serde_json::{Value, json};
use std::net::SocketAddr;

const COUNT: &str = "SELECT COUNT(*) FROM visits";

/// A plan of guarantees: names, epsilons and counts.
fn plan(slots: &[(&str, f64, u64)]) -> String {
    let slot = |(name, epsilon, count): &(&str, f64, u64)| {
        let kind = "approx-dp";
        json!({"name": name, "mechanism": kind, "epsilon": epsilon, "count": count})
    };
    json!({"delta": 0, "release": slots.iter().map(slot).collect::<Vec<_>>()}).to_string()
}

/// An account of three openings at epsilon 1/2 each, and another account like it.
fn place() -> (Place, SocketAddr, String) {
    let place = Place::new(&people(40), (0.0, 30.0), "100", &[("open", "1")]);
    for name in ["mine", "theirs"] {
        let declared =
            ExactPlan::parse(plan(&[("count", 0.5, 3)]).as_bytes(), Format::Json).unwrap();
        place.ledger().open_account(name, "visits", &NewAccount::Plan(declared, None)).unwrap();
    }
    let token = place.token(Role::Analyst, "ann", &["mine", "open"]);
    let address = place.serve();
    (place, address, token)
}

/// The slots of an account: their names, counts, uses and declarations.
fn slots(answer: &Answer) -> Vec<(String, u64, u64, String)> {
    assert_eq!(answer.0, 200, "{}", answer.1);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let slot = |one: &Value| {
        let number = |name: &str| one[name].as_u64().unwrap();
        (text(&one["name"]), number("count"), number("used"), text(&one["declares"]["epsilon"]))
    };
    read(answer)["slots"].as_array().unwrap().iter().map(slot).collect()
}

fn recut(count: u64, into: &[(&str, f64, u64)]) -> Value {
    json!({"unused": [{"slot": "count", "count": count}], "into": plan(into)})
}

#[test]
fn unused_slots_are_exchanged_and_asked() {
    let (place, address, token) = place();
    let halves = recut(1, &[("fine", 0.25, 2)]);
    let head = place.head();
    let slot =
        |name: &str, count, used, epsilon: &str| (name.to_owned(), count, used, epsilon.to_owned());
    let tried = post(address, "/v1/accounts/mine/recut/rehearsal", &token, &halves);
    assert_eq!(slots(&tried), [slot("count", 3, 0, "0.5")]);
    assert_eq!(place.head(), head, "a rehearsal changes nothing");
    let done = post(address, "/v1/accounts/mine/recut", &token, &halves);
    assert_eq!(slots(&done), [slot("count", 3, 1, "0.5"), slot("fine", 2, 0, "0.25")]);
    let asked = json!({"account": "mine", "sql": COUNT, "slot": "fine"});
    let answer = post(address, "/v1/questions", &token, &asked);
    assert_eq!(answer.0, 200, "{}", answer.1);
    assert!(place.verified());
}

#[test]
fn costly_used_and_foreign_slots_are_refused() {
    let (place, address, token) = place();
    let auditor = place.token(Role::Auditor, "otto", &[]);
    let asked = json!({"account": "mine", "sql": COUNT, "slot": "count"});
    assert_eq!(post(address, "/v1/questions", &token, &asked).0, 200);
    let head = place.head();
    let ours = |body: &Value| {
        ["/v1/accounts/mine/recut", "/v1/accounts/mine/recut/rehearsal"]
            .map(|path| post(address, path, &token, body))
    };
    for (body, status, code) in [
        // Two openings of 1/4 fit 1/2. Openings that are 1 % larger do not.
        (recut(1, &[("fine", 0.2525, 2)]), 422, "illegal"),
        (recut(1, &[("fine", 0.25, 3)]), 422, "illegal"),
        // One of the three openings is used.
        (recut(3, &[("fine", 0.25, 2)]), 402, "over-budget"),
        (recut(1, &[("count", 0.25, 2)]), 422, "illegal"),
        (recut(0, &[("fine", 0.25, 2)]), 422, "illegal"),
        (json!({"unused": [], "into": plan(&[("fine", 0.25, 2)])}), 422, "illegal"),
        (
            json!({"unused": [{"slot": "nobody", "count": 1}], "into": plan(&[("fine", 0.25, 2)])}),
            404,
            "not-found",
        ),
        (
            json!({"unused": [{"slot": "count", "count": 1}, {"slot": "count", "count": 1}], "into": plan(&[("fine", 0.25, 2)])}),
            422,
            "illegal",
        ),
        (json!({"unused": [{"slot": "count", "count": 2}], "into": "no plan"}), 422, "illegal"),
        (json!({"unused": [{"slot": "count", "count": 2}]}), 400, "unreadable"),
    ] {
        for answer in ours(&body) {
            assert_problem(&answer, status, code);
        }
    }
    let fine = recut(1, &[("fine", 0.25, 2)]);
    for path in [
        "/v1/accounts/theirs/recut",
        "/v1/accounts/theirs/recut/rehearsal",
        "/v1/accounts/visits/recut",
    ] {
        assert_problem(&post(address, path, &token, &fine), 404, "not-found");
    }
    assert_problem(&post(address, "/v1/accounts/open/recut", &token, &fine), 422, "illegal");
    for (token, status, code) in
        [(auditor.as_str(), 403, "forbidden"), ("cpt_none", 401, "unauthorized")]
    {
        assert_problem(&post(address, "/v1/accounts/mine/recut", token, &fine), status, code);
    }
    assert_eq!(place.head(), head, "nothing changed");
    assert_eq!(
        post(address, "/v1/accounts/mine/recut", &token, &fine).0,
        200,
        "what was refused was not this"
    );
    // Each slot needs its own name.
    assert_problem(&post(address, "/v1/accounts/mine/recut", &token, &fine), 422, "illegal");
    assert!(place.verified());
}
