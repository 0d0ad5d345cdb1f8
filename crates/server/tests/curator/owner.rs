//! The owner's paths: accounts, tokens, and the questions in the history.

use crate::service::*;
use counterpoint_curator::Role;
use serde_json::json;

const COUNT: &str = "SELECT COUNT(*) FROM visits";

fn place() -> Place {
    Place::new(&people(40), (0.0, 30.0), "10", &[("team", "3")])
}

#[test]
fn an_owner_opens_an_account_and_makes_a_token_that_asks() {
    let place = place();
    let (owner, address) = (place.token(Role::Owner, "olga", &[]), place.serve());
    let account = json!({"name": "new", "dataset": "visits", "epsilon": 2.5, "delta": 0});
    let opened = post(address, "/v1/accounts", &owner, &account);
    assert_eq!((opened.0, read(&opened)["left"]["of"].as_f64()), (200, Some(2.5)), "{}", opened.1);
    assert_eq!(place.spent("visits"), "5.5", "the data set pays for all of it");
    let made = post(
        address,
        "/v1/tokens",
        &owner,
        &json!({"name": "ada", "role": "analyst", "accounts": ["new"]}),
    );
    assert_eq!(made.0, 200, "{}", made.1);
    let token = read(&made)["token"].as_str().unwrap().to_owned();
    assert_eq!(ask(address, &token, "new", COUNT, 1.0).0, 200);
    assert_problem(&ask(address, &token, "team", COUNT, 1.0), 404, "not-found");
    // The list does not contain the secret texts of tokens.
    let list = get(address, "/v1/tokens", &owner);
    assert!(list.0 == 200 && !list.1.contains("cpt_"), "{}", list.1);
    let tokens = read(&list)["tokens"].as_array().unwrap().clone();
    let ada = tokens.iter().find(|one| one["name"] == "ada").unwrap();
    assert_eq!(
        (&ada["role"], &ada["accounts"], &ada["revoked"]),
        (&json!("analyst"), &json!(["new"]), &json!(null))
    );
    let revoked = request(address, &format!("DELETE /v1/tokens/{}", ada["id"]), &owner, None);
    assert_eq!(revoked.0, 200, "{}", revoked.1);
    assert_problem(&ask(address, &token, "new", COUNT, 1.0), 401, "unauthorized");
    assert_problem(
        &request(address, &format!("DELETE /v1/tokens/{}", ada["id"]), &owner, None),
        404,
        "not-found",
    );
    // The slots of a plan, each used once.
    let plan = json!({"delta": 0, "release": [{"name": "once", "mechanism": "laplace", "scale": 4, "sensitivity": 2}]}).to_string();
    let opened = post(
        address,
        "/v1/accounts",
        &owner,
        &json!({"name": "slots", "dataset": "visits", "plan": plan}),
    );
    assert_eq!(
        (opened.0, &read(&opened)["slots"]),
        (200, &json!([{"name": "once", "count": 1, "used": 0}])),
        "{}",
        opened.1
    );
    assert!(place.verified());
}

/// Only an owner may open accounts and create tokens. An owner's own token is created on the machine of the service.
#[test]
fn only_owners_open_accounts_and_create_tokens() {
    let place = place();
    let owner = place.token(Role::Owner, "olga", &[]);
    let analyst = place.token(Role::Analyst, "ann", &["team"]);
    let auditor = place.token(Role::Auditor, "otto", &[]);
    let address = place.serve();
    let head = place.head();
    let account = json!({"name": "new", "dataset": "visits", "epsilon": 1, "delta": 0});
    let token = json!({"name": "eve", "role": "analyst", "accounts": ["team"]});
    let count = || place.tokens().list().unwrap().len();
    for other in [&analyst, &auditor] {
        assert_problem(&post(address, "/v1/accounts", other, &account), 403, "forbidden");
        assert_problem(&post(address, "/v1/tokens", other, &token), 403, "forbidden");
        assert_problem(&get(address, "/v1/tokens", other), 403, "forbidden");
        assert_problem(&request(address, "DELETE /v1/tokens/2", other, None), 403, "forbidden");
    }
    assert_problem(&post(address, "/v1/accounts", "cpt_none", &account), 401, "unauthorized");
    assert_problem(&post(address, "/v1/tokens", "", &token), 401, "unauthorized");
    for (body, status, code) in [
        (json!({"name": "eve", "role": "owner"}), 403, "forbidden"),
        (json!({"name": "eve", "role": "king"}), 422, "illegal"),
        (json!({"name": "eve", "role": "analyst", "accounts": ["nobody"]}), 404, "not-found"),
        (json!({"name": "eve", "role": "analyst", "accounts": ["visits"]}), 404, "not-found"),
        (json!({"name": "eve", "role": "auditor", "accounts": ["team"]}), 422, "illegal"),
        (json!({"name": "e v e", "role": "auditor"}), 422, "illegal"),
    ] {
        assert_problem(&post(address, "/v1/tokens", &owner, &body), status, code);
    }
    assert_problem(&request(address, "DELETE /v1/tokens/1", &owner, None), 403, "forbidden");
    assert_problem(&request(address, "DELETE /v1/tokens/99", &owner, None), 404, "not-found");
    for (body, status, code) in [
        (
            json!({"name": "new", "dataset": "visits", "epsilon": 7.0000001, "delta": 0}),
            402,
            "over-budget",
        ),
        (json!({"name": "team", "dataset": "visits", "epsilon": 1, "delta": 0}), 422, "illegal"),
        (json!({"name": "new", "dataset": "nobody", "epsilon": 1, "delta": 0}), 404, "not-found"),
        (json!({"name": "new", "dataset": "visits", "epsilon": -1, "delta": 0}), 422, "illegal"),
        (json!({"name": "new", "dataset": "visits", "epsilon": "x", "delta": 0}), 422, "illegal"),
        (json!({"name": "new", "dataset": "visits"}), 422, "illegal"),
        (json!({"name": "new", "dataset": "visits", "epsilon": 1, "plan": "{}"}), 422, "illegal"),
        (json!({"name": "new", "dataset": "visits", "plan": "no plan"}), 422, "illegal"),
        (json!({"name": "new", "dataset": "visits", "epsilon": 1, "kind": "x"}), 422, "illegal"),
    ] {
        assert_problem(&post(address, "/v1/accounts", &owner, &body), status, code);
    }
    assert_eq!((count(), place.head()), (3, head), "nothing was made or charged");
}

/// The history has hashes of questions, and the owner can read the questions. Only answered questions are stored, and
/// analysts see none of them.
#[test]
fn the_owner_reads_answered_questions() {
    let place = place();
    let owner = place.token(Role::Owner, "olga", &[]);
    let analyst = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    assert_eq!(ask(address, &analyst, "team", COUNT, 1.0).0, 200);
    let algebra = json!({"account": "team", "epsilon": 0.5,
        "question": {"table": "visits", "aggregates": [{"of": {"sum": {"column": "age"}}}]}});
    assert_eq!(post(address, "/v1/questions", &analyst, &algebra).0, 200);
    assert_problem(
        &ask(address, &analyst, "team", "SELECT AVG(age) FROM visits", 2.0),
        402,
        "over-budget",
    );
    let told = read(&get(address, "/v1/questions", &owner));
    let questions = told["questions"].as_object().unwrap();
    let keys: Vec<String> = place.debits("team");
    assert_eq!((keys.len(), questions.len()), (2, 2), "{told}");
    assert_eq!(questions[&keys[0]], COUNT);
    assert!(questions[&keys[1]].as_str().unwrap().contains("\"age\""), "{told}");
    assert_problem(&get(address, "/v1/questions", &analyst), 403, "forbidden");
}
