//! Clients of every kind send requests while the service is killed again and again.

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_testing::{Random, tries};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// 64 clients share one budget while the service is killed after few or many answers: 100 rounds in a full run. The
/// budget is spent exactly and never exceeded. Every returned answer is stored and repeated, and the history verifies.
#[test]
fn answers_outlive_the_service_and_budgets_hold() {
    let rounds = tries(100, 0.04);
    let place = Place::new(&people(100), (0.0, 30.0), "100", &[("team", "40"), ("lab", "2")]);
    let tokens = ["ann", "ben"].map(|name| place.token(Role::Analyst, name, &["team", "lab"]));
    // The returned answers, by question.
    let shown: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
    let mut random = Random::new(64);
    for round in 0..rounds {
        let (child, address) = place.start();
        let seen = Arc::new(AtomicU64::new(0));
        let clients: Vec<_> = (0..64)
            .map(|client| {
                let (token, shown) = (tokens[client % 2].clone(), Arc::clone(&shown));
                let (mut random, seen) =
                    (Random::new(round * 64 + client as u64), Arc::clone(&seen));
                std::thread::spawn(move || one_client(address, &token, &shown, &mut random, &seen))
            })
            .collect();
        let last = random.between(1, 150);
        wait_for(|| seen.load(Ordering::SeqCst) >= last);
        end(child);
        clients.into_iter().for_each(|client| client.join().unwrap());
    }
    let (mut child, address) = place.start();
    let shown = shown.lock().unwrap();
    for (asked, answers) in shown.iter() {
        let body: Value = serde_json::from_str(asked).unwrap();
        if let (Some(path), Some(token)) = (body["path"].as_str(), body["token"].as_str()) {
            let again = patient(|| post(address, path, token, &body["asked"]));
            assert_eq!((again.0, &read(&again)["reply"]), (200, answers), "{asked}");
            continue;
        }
        let again = patient(|| post(address, "/v1/questions", &tokens[0], &body));
        assert_eq!((again.0, &read(&again)["answers"]), (200, answers), "{asked}");
        assert_eq!(read(&again)["cost"]["amount"], 0.0, "{asked}");
    }
    assert!(!shown.is_empty());
    // The lab's account pays for eight questions that cost 1/4 each. The ninth is refused. Then the budget is spent
    // exactly.
    for age in 0..40 {
        let body = json!({"account": "lab", "sql": format!("SELECT COUNT(*) FROM visits WHERE age > {age}"), "epsilon": 0.25});
        let (status, text) = patient(|| post(address, "/v1/questions", &tokens[1], &body));
        assert!(matches!(status, 200 | 402), "{status} {text}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let lab: f64 = place.spent("lab").parse().unwrap();
    assert!(lab <= 2.0 && lab > 2.0 - 1e-12, "{lab}");
    assert!(place.spent("team").parse::<f64>().unwrap() <= 40.0);
    assert!(place.verified());
}

/// Tries again if the token made too many requests.
fn patient(send: impl Fn() -> Answer) -> Answer {
    loop {
        match send() {
            (429, _) => std::thread::sleep(Duration::from_millis(50)),
            other => return other,
        }
    }
}

/// Opens a session of four answers, or finds it open, and asks it. Returns true if the service is running.
fn one_session(
    address: SocketAddr,
    token: &str,
    shown: &Mutex<BTreeMap<String, Value>>,
    random: &mut Random,
) -> bool {
    let key = format!("s{}", random.below(4));
    let declared = json!({"epsilon": 0.5, "answers": 3, "threshold": 60.0});
    let opening =
        json!({"account": "team", "table": "visits", "key": key, "sparse_vector": declared});
    let opened = post(address, "/v1/sessions", token, &opening);
    let age = random.below(60);
    let asking = json!({"name": format!("q{age}"), "sql": format!("SELECT COUNT(*) FROM visits WHERE age > {age}")});
    let path = format!("/v1/sessions/team/{key}/questions");
    let asked = post(address, &path, token, &asking);
    if opened.0 == 0 || asked.0 == 0 {
        return false;
    }
    for (status, text) in [&opened, &asked] {
        // 402: over budget. 404: not opened. 409: over. 429 and 503: too many requests, or another request came first.
        assert!(matches!(status, 200 | 402 | 404 | 409 | 429 | 503), "{status} {text}");
    }
    if asked.0 == 200 {
        // Each analyst has their own sessions.
        let name = json!({"path": path, "token": token, "asked": asking}).to_string();
        let reply = read(&asked)["reply"].clone();
        let mut shown = shown.lock().unwrap();
        let before = shown.entry(name).or_insert_with(|| reply.clone());
        assert_eq!(*before, reply, "{path} {asking}");
    }
    true
}

/// Asks questions and prices, and retries, until the service stops.
fn one_client(
    address: SocketAddr,
    token: &str,
    shown: &Mutex<BTreeMap<String, Value>>,
    random: &mut Random,
    seen: &AtomicU64,
) {
    loop {
        seen.fetch_add(1, Ordering::SeqCst);
        let age = random.below(60);
        if random.below(6) == 0 {
            match one_session(address, token, shown, random) {
                true => continue,
                false => return,
            }
        }
        let sql = match random.below(3) {
            0 => format!("SELECT COUNT(*) FROM visits WHERE age > {age}"),
            1 => format!("SELECT region, SUM(pay) FROM visits WHERE age < {age} GROUP BY region"),
            _ => format!("SELECT AVG(age), MEDIAN(pay) FROM visits WHERE pay > {age}"),
        };
        let (account, epsilon) = if random.below(8) == 0 { ("lab", 0.25) } else { ("team", 0.5) };
        let sql = if account == "lab" {
            format!("SELECT COUNT(*) FROM visits WHERE age > {age}")
        } else {
            sql
        };
        let body = json!({"account": account, "sql": sql, "epsilon": epsilon});
        let path = if random.below(5) == 0 { "/v1/prices" } else { "/v1/questions" };
        let answer = post(address, path, token, &body);
        match answer.0 {
            0 => return,
            200 if path == "/v1/questions" => {
                let answers = read(&answer)["answers"].clone();
                let mut shown = shown.lock().unwrap();
                let before = shown.entry(body.to_string()).or_insert_with(|| answers.clone());
                assert_eq!(*before, answers, "{body}");
            }
            200 | 402 | 429 | 503 => {}
            other => panic!("{other}: {}", answer.1),
        }
    }
}
