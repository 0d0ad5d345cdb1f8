//! Queues in front of engines. Overload does not spend budget, and requests that need no engine do not wait.

use crate::service::*;
use counterpoint_curator::Role;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};

const COUNT: &str = "SELECT COUNT(*) FROM visits";
/// More steps than an engine can run within any time limit.
const FOR_EVER: u64 = 1 << 60;

fn older(age: usize) -> String {
    format!("SELECT COUNT(*) FROM visits WHERE age > {age}")
}

/// A service with an engine of this slowness, time limit and queue.
fn place(steps: u64, timing: (f64, f64), running: usize, waiting: usize) -> Place {
    let place = Place::new(&people(20), timing, "1000", &[("team", "900")]);
    place.configure(&format!("[queue]\nrunning = {running}\nwaiting = {waiting}"));
    place.slow_down(steps);
    place
}

/// Seventy questions are asked at once, and two of them run at a time. No question exceeds the time limit because of
/// the others. Refused questions are not charged.
#[test]
fn overload_spends_no_budget() {
    // One question takes a small part of the limit; seventy at once would take several times the limit.
    let place = place(400_000, (0.0, 6.0), 2, 40);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let token = &token;
        let ask = |number| scope.spawn(move || ask(address, token, "team", &older(number), 0.5).0);
        let clients: Vec<_> = (0..70).map(ask).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let count = |status: u16| statuses.iter().filter(|each| **each == status).count();
    assert_eq!((count(200) + count(503), count(502)), (70, 0), "{statuses:?}");
    assert!(count(200) >= 42, "{statuses:?}");
    assert_eq!(place.debits("team").len(), count(200));
}

/// While an engine is blocked, requests that need no engine are answered. The other requests are refused without a
/// debit.
#[test]
fn requests_without_an_engine_do_not_wait() {
    let place = place(1, (0.0, 10.0), 1, 0);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let owner = place.token(Role::Owner, "olga", &[]);
    let address = place.serve();
    let stored = read(&ask(address, &token, "team", COUNT, 0.5));
    let gate = json!({"epsilon": 0.1, "answers": 1, "threshold": 1000});
    let opening = json!({"account": "team", "table": "visits", "key": "s", "sparse_vector": gate});
    assert_eq!(post(address, "/v1/sessions", &token, &opening).0, 200);
    let path = "/v1/sessions/team/s/questions";
    let step = json!({"name": "q", "sql": COUNT});
    let told = read(&post(address, path, &token, &step));
    let connection = rusqlite::Connection::open(place.path("data.db")).unwrap();
    connection.execute_batch("DROP VIEW visits; ALTER TABLE kept RENAME TO visits").unwrap();
    drop(connection);
    place.slow_down(FOR_EVER);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let answer = ask(address, &token, "team", &older(1), 0.5);
            is_over.store(true, Ordering::SeqCst);
            answer
        });
        wait_for(|| place.debits("team").len() == 3);
        let debits = place.debits("team").len();
        assert_eq!(get(address, "/v1/me", &token).0, 200);
        assert_eq!(read(&ask(address, &token, "team", COUNT, 0.5))["answers"], stored["answers"]);
        assert_eq!(read(&post(address, path, &token, &step))["reply"], told["reply"]);
        let asking = json!({"account": "team", "sql": COUNT, "epsilon": 0.25});
        assert_eq!(post(address, "/v1/prices", &token, &asking).0, 200);
        assert_eq!(post(address, "/v1/rehearsals", &token, &asking).0, 200);
        let metrics = get(address, "/v1/metrics", &owner).1;
        assert!(metrics.contains("counterpoint_questions_running 1\n"), "{metrics}");
        // The queue has no free place.
        let text = format!(
            "POST /v1/questions HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{asking}",
            asking.to_string().len()
        );
        let (head, refused) = raw(address, text.as_bytes());
        assert!(head.starts_with("HTTP/1.1 503") && head.contains("retry-after: "), "{head}");
        assert!(refused.contains("\"busy\""), "{refused}");
        let other = json!({"name": "r", "sql": COUNT});
        assert_problem(&post(address, path, &token, &other), 503, "busy");
        assert_eq!(place.debits("team").len(), debits);
        // All of this happened while the engine was blocked.
        assert!(!is_over.load(Ordering::SeqCst));
        assert_problem(&slow.join().unwrap(), 502, "charged-and-failed");
    });
    let metrics = get(address, "/v1/metrics", &owner).1;
    assert!(metrics.contains("counterpoint_charged_and_failed_total 1\n"), "{metrics}");
}
