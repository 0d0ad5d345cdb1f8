//! Attacks that must fail.

mod network;
mod outages;

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_ledger::{FilterKind, Ledger, NewAccount, NewFilter};
use serde_json::json;
use std::collections::BTreeSet;

const COUNT: &str = "SELECT COUNT(*) FROM visits";

#[test]
fn wrong_revoked_and_foreign_tokens_are_refused() {
    let place = Place::new(&people(50), (0.0, 30.0), "10", &[("anns", "1"), ("bens", "1")]);
    let address = place.serve();
    let ann = place.token(Role::Analyst, "ann", &["anns"]);
    let owner = place.token(Role::Owner, "olga", &[]);
    let auditor = place.token(Role::Auditor, "otto", &[]);
    let gone = place.token(Role::Analyst, "gone", &["anns"]);
    assert_eq!(ask(address, &gone, "anns", COUNT, 0.25).0, 200);
    let list = place.tokens().list().unwrap();
    let id = list.iter().find(|bearer| bearer.name == "gone").unwrap().id;
    assert!(place.tokens().revoke(id).unwrap() && !place.tokens().revoke(id).unwrap());
    let spent = place.spent("anns");
    let cut = &ann[..ann.len() - 1];
    let other = format!("{cut}{}", if ann.ends_with('0') { '1' } else { '0' });
    for token in
        ["", "x", cut, &other, &format!("{ann}0"), &ann.to_uppercase(), &gone, "' OR 1=1 --"]
    {
        assert_eq!(ask(address, token, "anns", COUNT, 0.5).0, 401, "{token}");
        assert_eq!(get(address, "/v1/me", token).0, 401, "{token}");
    }
    for token in [&owner, &auditor] {
        assert_eq!(ask(address, token, "anns", COUNT, 0.5).0, 403);
        assert_eq!(get(address, "/v1/history", token).0, 200);
    }
    for path in ["/v1/history", "/v1/status", "/v1/verify", "/v1/metrics"] {
        assert_eq!(get(address, path, &ann).0, 403, "{path}");
    }
    // Another analyst's account looks like an account that does not exist.
    let theirs = ask(address, &ann, "bens", COUNT, 0.5);
    let none = ask(address, &ann, "none", COUNT, 0.5);
    assert_eq!((theirs.0, none.0), (404, 404));
    assert_eq!(theirs.1.replace("bens", "none"), none.1);
    assert_eq!(get(address, "/v1/accounts/bens", &ann).0, 404);
    // The data set is not an account.
    let all = place.token(Role::Analyst, "eve", &["visits", "anns"]);
    assert_ne!(ask(address, &all, "visits", COUNT, 0.5).0, 200);
    assert_eq!((place.spent("anns"), place.spent("bens")), (spent, "0".to_owned()));
    // Two tokens in one header are not a valid token, and neither is another scheme.
    let twice = format!(
        "GET /v1/me HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {ann}\r\n\
         Authorization: Bearer {ann}\r\n\r\n"
    );
    assert_eq!(send(address, twice.as_bytes()).0, 401);
    let basic = twice
        .replacen(&format!("Authorization: Bearer {ann}\r\n"), "", 1)
        .replace("Bearer", "Basic");
    assert_eq!(send(address, basic.as_bytes()).0, 401);
}

/// Sixteen clients ask at once. Their account pays for three questions.
#[test]
fn a_race_for_the_last_share_has_as_many_winners_as_there_are_shares() {
    let place = Place::new(&people(50), (0.0, 30.0), "10", &[("team", "1")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    let racers = (0..16).map(|racer| {
        let token = token.clone();
        std::thread::spawn(move || {
            let sql = format!("SELECT COUNT(*) FROM visits WHERE age > {racer}");
            ask(address, &token, "team", &sql, 0.3).0
        })
    });
    let racers: Vec<_> = racers.collect();
    let statuses: Vec<u16> = racers.into_iter().map(|racer| racer.join().unwrap()).collect();
    let won = statuses.iter().filter(|status| **status == 200).count();
    let lost = statuses.iter().filter(|status| **status == 402).count();
    assert_eq!((won, lost), (3, 13), "{statuses:?}");
    assert!(place.spent("team").parse::<f64>().unwrap() <= 0.9);
    assert!(place.verified());
}

/// Ten tokens share the budget of one account. No account can be opened beyond the budget of the data set.
#[test]
fn no_coalition_has_more_than_the_data_set() {
    let place = Place::new(&people(50), (0.0, 30.0), "1", &[("one", "0.5"), ("two", "0.5")]);
    let mut ledger = Ledger::open(&place.config().ledger).unwrap();
    let more = NewFilter::new(FilterKind::Sums, "0.001".parse().unwrap(), "0".parse().unwrap());
    assert!(ledger.open_account("three", "visits", &NewAccount::Filter(more)).is_err());
    drop(ledger);
    let address = place.serve();
    let mut answered = 0;
    for name in 0..10 {
        let token = place.token(Role::Analyst, &format!("eve{name}"), &["one", "two"]);
        for account in ["one", "two"] {
            let sql = format!("SELECT COUNT(*) FROM visits WHERE age > {name}");
            answered += u32::from(ask(address, &token, account, &sql, 0.2).0 == 200);
        }
    }
    // A budget of 0.5 pays for two questions of 0.2. There are two such accounts.
    assert_eq!(answered, 4);
    assert!(place.verified());
}

/// Requests are refused in the same way on tables with entirely different content.
#[test]
fn refusals_and_prices_do_not_depend_on_the_data() {
    let big = rusqlite::types::Value::Real(f64::INFINITY);
    let extreme = vec![(7, big.clone(), big, "south"), row(7, i64::MIN, -1e300, "north")];
    let told: Vec<Vec<Answer>> = [people(200), Vec::new(), extreme]
        .iter()
        .map(|rows| {
            let place = Place::new(rows, (0.0, 30.0), "10", &[("team", "1")]);
            let token = place.token(Role::Analyst, "ann", &["team"]);
            let address = place.serve();
            let mut told = Vec::new();
            for sql in [
                COUNT,
                "SELECT AVG(pay) FROM visits WHERE region = 'south' GROUP BY region",
                "SELECT COUNT(*) FROM visits WHERE region = 'mars'",
                "SELECT nr, COUNT(*) FROM visits GROUP BY nr",
                "SELECT MAX(age) FROM visits",
                "SELECT AVG(age) FROM visits WHERE 1/0 > 1",
                "SELECT SUM(age / 0) FROM visits",
            ] {
                told.push(ask(address, &token, "team", sql, 5.0));
                let asking = json!({"account": "team", "sql": sql, "epsilon": 0.5});
                told.push(post(address, "/v1/prices", &token, &asking));
            }
            told
        })
        .collect();
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0], told[2]);
    assert!(told[0].iter().all(|answer| matches!(answer.0, 200 | 402 | 422)), "{:?}", told[0]);
}

/// All failures of an engine look the same from outside. A failure is charged once, and not again when the question is
/// repeated. This engine does not fail on values that would make another engine fail.
#[test]
fn failures_after_the_debit_look_alike_and_stay_charged() {
    let ask_of = |rows: &[Row], limit: f64, break_it: bool| {
        let place = Place::new(rows, (0.0, limit), "10", &[("team", "1")]);
        let token = place.token(Role::Analyst, "ann", &["team"]);
        let address = place.serve();
        if break_it {
            let connection = rusqlite::Connection::open(place.path("data.db")).unwrap();
            connection.execute_batch("ALTER TABLE visits DROP COLUMN pay").unwrap();
        }
        let sql = "SELECT SUM(pay), VARIANCE(age) FROM visits";
        let answer = ask(address, &token, "team", sql, 0.5);
        let charged = place.spent("team");
        if break_it {
            place.write(rows);
            let again = ask(address, &token, "team", sql, 0.5);
            assert_eq!((again.0, read(&again)["cost"]["amount"].as_f64()), (200, Some(0.0)));
            assert_eq!(place.spent("team"), charged);
        }
        (answer, charged)
    };
    let (broken, charged) = ask_of(&people(50), 30.0, true);
    assert_eq!(broken.0, 502);
    assert!(charged.starts_with("0.49999") || charged == "0.5", "{charged}");
    let (late, also) = ask_of(&people(60_000), 0.001, false);
    assert_eq!((late, also), (broken, charged));
    let odd = [i64::MAX, i64::MIN, 0].map(|age| row(1, age, f64::MAX, "north"));
    let text = (2, "12".to_owned().into(), rusqlite::types::Value::Blob(vec![1]), "south");
    assert_eq!(ask_of(&[odd.to_vec(), vec![text]].concat(), 30.0, false).0.0, 200);
}

/// An undeclared group never appears, even if it has rows; a declared group always appears, even if it has none.
#[test]
fn keys_are_the_declared_ones() {
    let mut rows = people(60);
    rows.push(row(1_000, 40, 1.0, "a rare one"));
    let place = Place::new(&rows, (0.0, 30.0), "1000", &[("team", "900")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    let sql = "SELECT region, COUNT(*) FROM visits GROUP BY region";
    let answer = read(&ask(address, &token, "team", sql, 100.0));
    let keys: BTreeSet<&str> = answer["answers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["group"][0].as_str().unwrap())
        .collect();
    assert_eq!(keys, BTreeSet::from(["north", "nowhere", "south"]));
    assert!(!answer.to_string().contains("rare"));
    let sql = "SELECT COUNT(*) FROM visits WHERE region = 'a rare one'";
    assert_eq!(ask(address, &token, "team", sql, 1.0).0, 422);
}

#[test]
fn sql_in_names_values_tokens_and_heads_is_text() {
    let place = Place::new(&people(60), (0.0, 30.0), "1000", &[("team", "900")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    let evil = "x'; DROP TABLE visits; --";
    let quoted = "\"; DROP TABLE visits; --";
    for sql in [
        format!("SELECT COUNT(*) FROM visits WHERE region = '{}'", evil.replace('\'', "''")),
        "SELECT COUNT(*) FROM visits; DROP TABLE visits".to_owned(),
        "DROP TABLE visits".to_owned(),
        "SELECT COUNT(*) FROM sqlite_master".to_owned(),
        "SELECT COUNT(*) FROM visits, sqlite_master".to_owned(),
        "SELECT COUNT(*) FROM visits UNION SELECT sql FROM sqlite_master".to_owned(),
        "SELECT COUNT(*) FROM (SELECT * FROM visits)".to_owned(),
        "SELECT COUNT(*) FROM visits WHERE age IN (SELECT age FROM visits)".to_owned(),
        "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1)".to_owned(),
        "SELECT SUM(randomblob(1000000000)) FROM visits".to_owned(),
        "SELECT COUNT(*) FROM visits WHERE load_extension('x')".to_owned(),
        "SELECT COUNT(*) FROM visits WHERE nr = 7".to_owned(),
        "SELECT COUNT(*) OVER () FROM visits".to_owned(),
        "SELECT COUNT(*) FILTER (WHERE nr = 7) FROM visits".to_owned(),
        "SELECT COUNT(DISTINCT age) FROM visits".to_owned(),
        "SELECT AVG(age) FROM visits HAVING COUNT(*) > 1".to_owned(),
        "SELECT AVG(age) FROM visits LIMIT 1".to_owned(),
        "SELECT AVG(age) FROM visits AS OF TIMESTAMP 1".to_owned(),
        "SELECT AVG(\"age\"\"; DROP TABLE visits; --\") FROM visits".to_owned(),
        "WITH visits AS (SELECT 1) SELECT COUNT(*) FROM visits".to_owned(),
        "SELECT COUNT(*) FROM visits FOR UPDATE".to_owned(),
        "EXPLAIN SELECT COUNT(*) FROM visits".to_owned(),
        "(".repeat(5_000),
        format!("SELECT COUNT(*) FROM visits WHERE {}age > 1", "NOT ".repeat(5_000)),
        format!("SELECT COUNT(*) FROM visits WHERE {}age > 1", "age > 1 AND ".repeat(5_000)),
        format!(
            "SELECT COUNT(*) FROM visits WHERE {}1{} > age",
            "(".repeat(3_000),
            ")".repeat(3_000)
        ),
        format!("SELECT COUNT(*) FROM visits WHERE age > {}1", "-".repeat(10_000)),
        format!("SELECT {}age{} FROM visits", "SUM(".repeat(2_000), ")".repeat(2_000)),
        "\0".to_owned(),
        String::new(),
    ] {
        let answer = ask(address, &token, "team", &sql, 1.0);
        assert_eq!(answer.0, 422, "{}: {}", sql.chars().take(80).collect::<String>(), answer.1);
    }
    for text in [evil, quoted] {
        for body in [
            json!({"account": text, "sql": COUNT, "epsilon": 1}),
            json!({"account": "team", "sql": COUNT, "slot": text}),
            json!({"account": "team", "epsilon": 1, "question": {"table": text, "aggregates": [{"of": "count"}]}}),
            json!({"account": "team", "epsilon": 1, "question": {"table": "visits", "group": [text], "aggregates": [{"of": "count"}]}}),
            json!({"account": "team", "epsilon": 1, "question": {"table": "visits", "aggregates": [{"of": {"sum": {"column": text}}}]}}),
            json!({"account": "team", "epsilon": 1, "question": {"table": "visits", "aggregates": [{"of": "count"}],
                "filter": {"in": {"column": "region", "keys": [text]}}}}),
        ] {
            let answer = post(address, "/v1/questions", &token, &body);
            assert!(matches!(answer.0, 404 | 422), "{body}: {answer:?}");
        }
        // A name is returned unchanged.
        let named = json!({"account": "team", "epsilon": 1,
            "question": {"table": "visits", "aggregates": [{"name": text, "of": "count"}]}});
        let answer = read(&post(address, "/v1/questions", &token, &named));
        assert_eq!(answer["answers"][0]["name"], text);
    }
    let strange = format!(
        "GET /v1/accounts/%27%3B%20DROP%20TABLE%20token%3B-- HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Authorization: Bearer {token}\r\nX-Analyst: ben\r\n\r\n"
    );
    assert_eq!(send(address, strange.as_bytes()).0, 404);
    assert_eq!(ask(address, &token, "team", COUNT, 50.0).0, 200);
    assert_eq!(get(address, "/v1/me", &token).0, 200);
    assert!(place.verified());
}

/// Values that are not numbers, costs of zero, and bodies of the wrong shape.
#[test]
fn odd_requests_are_refused_and_cost_nothing() {
    let place = Place::new(&people(60), (0.0, 30.0), "10", &[("team", "5")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    for body in [
        json!({}),
        json!([1]),
        json!(7),
        json!({"account": "team", "sql": COUNT}),
        json!({"account": "team", "epsilon": 1}),
        json!({"account": "team", "sql": COUNT, "epsilon": 1, "rho": 1}),
        json!({"account": "team", "sql": COUNT, "epsilon": 0}),
        json!({"account": "team", "sql": COUNT, "epsilon": -1}),
        json!({"account": "team", "sql": COUNT, "epsilon": 1e300}),
        json!({"account": "team", "sql": COUNT, "epsilon": 1e-300}),
        json!({"account": "team", "sql": COUNT, "rho": 0}),
        json!({"account": "team", "sql": COUNT, "error": 0}),
        json!({"account": "team", "sql": COUNT, "error": -5}),
        json!({"account": "team", "sql": COUNT, "epsilon": 1, "confidence": 1}),
        json!({"account": "team", "sql": COUNT, "epsilon": 1, "confidence": 0}),
        json!({"account": "team", "sql": COUNT, "epsilon": "1"}),
        json!({"account": "team", "sql": COUNT, "epsilon": 1, "unknown": 1}),
        json!({"account": "team", "sql": "SELECT SUM(CLAMP(age, 5, 1)) FROM visits", "epsilon": 1}),
        json!({"account": "team", "sql": "SELECT SUM(CLAMP(age, 0, 1e200)) FROM visits", "epsilon": 1}),
        json!({"account": "team", "sql": "SELECT QUANTILE(age, 1.5) FROM visits", "epsilon": 1}),
        json!({"account": "team", "sql": "SELECT HISTOGRAM(age, 5, 1) FROM visits", "epsilon": 1}),
        json!({"account": "team", "sql": "SELECT AVG(age) FROM visits WHERE age > 1e999", "epsilon": 1}),
        json!({"account": "team", "epsilon": 1, "question": {"table": "visits", "aggregates": [], "rows": 1}}),
        json!({"account": "team", "epsilon": 1, "question": {"table": "visits", "aggregates": [{"of": "count"}], "rows": 3}}),
        json!({"account": "team", "epsilon": 1, "question": {"table": "visits", "aggregates": [{"of": "count"}], "rows": 0}}),
    ] {
        let (status, text) = post(address, "/v1/questions", &token, &body);
        assert!(matches!(status, 400 | 422), "{body}: {status} {text}");
        assert!(text.contains("urn:counterpoint:problem:"), "{text}");
    }
    assert_eq!(place.spent("team"), "0");
}
