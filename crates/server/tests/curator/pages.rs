//! Long lists, read page by page.

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_ledger::{NewAccount, Request};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{ExactPlan, ReleaseRequest};
use serde_json::{Value, json};
use std::net::SocketAddr;

const COUNT: &str = "SELECT COUNT(*) FROM visits";

/// Reads a list in pages of a given length. Checks that each page but the last is full.
fn in_pages(address: SocketAddr, token: &str, path: &str, name: &str, limit: usize) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page = read(&get(address, &format!("/v1/{path}?limit={limit}{after}"), token));
        let items: Vec<Value> = match &page[name] {
            Value::Array(list) => list.clone(),
            Value::Object(map) => map.iter().map(|(key, text)| json!([key, text])).collect(),
            other => panic!("{other}"),
        };
        let place = page["next"].as_str().map(str::to_owned);
        let Some(next) = place.or_else(|| page["next"].as_u64().map(|next| next.to_string()))
        else {
            assert!(page["next"].is_null() && (1..=limit).contains(&items.len()), "{page}");
            return [all, items].concat();
        };
        assert_eq!(items.len(), limit, "{page}");
        all.extend(items);
        after = format!("&after={next}");
    }
}

/// The pages of a list, of any length, make up the whole list, even if others write meanwhile.
#[test]
fn pages_make_up_the_list() {
    let place = Place::new(&people(40), (0.0, 30.0), "100", &[("team", "30"), ("lab", "3")]);
    let owner = place.token(Role::Owner, "olga", &[]);
    let ann = place.token(Role::Analyst, "ann", &["team", "lab"]);
    let ben = place.token(Role::Analyst, "ben", &["team"]);
    let address = place.serve();
    for number in 0..5 {
        place.token(Role::Auditor, &format!("otto{number}"), &[]);
        let sql = format!("{COUNT} WHERE age > {number}");
        assert_eq!(ask(address, &ann, "team", &sql, 0.25).0, 200);
        // Questions of two accounts in turn, with those of another analyst between them.
        let (mine, account) = (if number == 2 { &ben } else { &ann }, ["team", "lab"][number % 2]);
        let gate = json!({"epsilon": 0.01, "answers": 1, "threshold": 10});
        let opening = json!({"account": account, "key": format!("s{number}"), "table": "visits", "sparse_vector": gate});
        assert_eq!(post(address, "/v1/sessions", mine, &opening).0, 200);
        another_programs_session(&place, &format!("other{number}"));
    }
    for (path, name, token, count) in [
        ("history", "entries", &owner, None),
        ("status", "accounts", &owner, Some(3)),
        ("tokens", "tokens", &owner, Some(8)),
        ("questions", "questions", &owner, Some(5)),
        ("sessions", "sessions", &ann, Some(4)),
    ] {
        let whole = in_pages(address, token, path, name, 10_000);
        assert_eq!(whole.len(), count.unwrap_or(whole.len()), "{path}");
        for limit in [1, 2, 3, whole.len() - 1, whole.len(), whole.len() + 1] {
            assert_eq!(in_pages(address, token, path, name, limit), whole, "{path} {limit}");
        }
        // Without parameters: the first page.
        let first = read(&get(address, &format!("/v1/{path}"), token));
        assert!(
            first["next"].is_null() && (first[name].is_object() || first[name] == json!(whole)),
            "{first}"
        );
    }
    let keys = |list: &[Value]| {
        list.iter().map(|one| one["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let sessions = in_pages(address, &ann, "sessions", "sessions", 2);
    assert_eq!(keys(&sessions), ["s0", "s1", "s3", "s4"], "in the order they began");
}

/// Opens a session in Ann's name by another program. The service neither answers nor lists it.
fn another_programs_session(place: &Place, key: &str) {
    let plan = br#"{"release": [{"mechanism": "approx-dp", "epsilon": 0.01}]}"#;
    let asked = ReleaseRequest::Described(ExactPlan::parse(plan, Format::Json).unwrap().releases);
    let request = Request::new("team", key, &asked);
    let mut ledger = place.ledger();
    ledger.reserve(&Request { session: true, analyst: Some("ann"), ..request }).unwrap();
    ledger.begin_session("team", key, b"toy", &[1; 32]).unwrap();
}

/// The history is that of the ledger. Entries that are written between two pages are on a later page.
#[test]
fn the_history_goes_on_where_it_was_left() {
    let place = Place::new(&people(5), (0.0, 30.0), "2000", &[("team", "1")]);
    let auditor = place.token(Role::Auditor, "otto", &[]);
    let address = place.serve();
    let open = |from: u64, to: u64| {
        let mut ledger = place.ledger();
        for number in from..to {
            let account = NewAccount::Filter(pure("0.5"));
            ledger.open_account(&format!("a{number}"), "visits", &account).unwrap();
        }
    };
    let page = |query: &str| read(&get(address, &format!("/v1/history{query}"), &auditor));
    let numbers = |page: &Value| -> Vec<u64> {
        page["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["sequence"].as_u64().unwrap())
            .collect()
    };
    let first = page("?limit=2");
    assert_eq!((numbers(&first), &first["next"]), (vec![1, 2], &json!(2)));
    open(0, 3);
    let second = page("?limit=10&after=2");
    assert_eq!((numbers(&second), &second["next"]), (vec![3, 4, 5, 6], &Value::Null));
    assert_eq!(second["head"], place.head());
    let empty = page("?after=6");
    assert_eq!(
        (numbers(&empty), &empty["next"], &empty["head"]),
        (vec![], &Value::Null, &json!(place.head()))
    );
    assert_eq!(numbers(&page("?after=9223372036854775807")), Vec::<u64>::new());
    // The pages have the entries of the ledger's own history.
    let mut own = Vec::new();
    place
        .ledger()
        .history(None, None, |entry| own.push(serde_json::to_value(&entry).unwrap()))
        .unwrap();
    assert_eq!(in_pages(address, &auditor, "history", "entries", 4), own);
    // Without a limit, a page has at most a thousand entries.
    open(3, 1003);
    let (usual, more) = (page(""), page("?limit=10000"));
    assert_eq!((numbers(&usual), &usual["next"]), ((1..=1000).collect(), &json!(1000)));
    assert_eq!((numbers(&more), &more["next"]), ((1..=1006).collect(), &Value::Null));
}

#[test]
fn illegal_parameters_are_refused_by_name_and_range() {
    let place = Place::new(&people(5), (0.0, 30.0), "10", &[("team", "1")]);
    let owner = place.token(Role::Owner, "olga", &[]);
    let ann = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    let range = "limit is \"0\"; legal: a whole number from 1 to 10000";
    for (path, token) in [
        ("history", &owner),
        ("status", &owner),
        ("tokens", &owner),
        ("questions", &owner),
        ("sessions", &ann),
    ] {
        for (query, told) in [
            ("limit=0", range),
            ("limit=10001", "limit is \"10001\"; legal: a whole number from 1 to 10000"),
            ("limit=1&limit=2", "\"limit\" is unknown or repeated"),
            ("before=7", "\"before\" is unknown or repeated; legal: after and limit"),
            ("after=%20", "after is \"%20\"; legal: "),
            ("after=", "after is \"\"; legal: "),
        ] {
            let answer = get(address, &format!("/v1/{path}?{query}"), token);
            assert_problem(&answer, 400, "unreadable");
            assert!(answer.1.replace("\\\"", "\"").contains(told), "{path} {query}: {}", answer.1);
        }
        if path != "questions" {
            let answer = get(address, &format!("/v1/{path}?after=-1"), token);
            assert_problem(&answer, 400, "unreadable");
            assert!(
                answer.1.contains("a whole number from 0 to 9223372036854775807"),
                "{}",
                answer.1
            );
        }
    }
}
