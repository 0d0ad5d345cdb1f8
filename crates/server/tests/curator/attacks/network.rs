//! Malformed requests, and requests that are sent in unusual ways.

use crate::service::*;
use counterpoint_curator::Role;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

fn place() -> (Place, String, SocketAddr) {
    let place = Place::new(&people(50), (0.0, 30.0), "10", &[("team", "5")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    (place, token, address)
}

/// The header of a question with further lines, and no body.
fn head(address: SocketAddr, token: &str, lines: &str) -> String {
    format!(
        "POST /v1/questions HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\n{lines}\r\n"
    )
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream
}

/// The status of the first answer; 0 if the connection is closed without one.
fn status(stream: &mut TcpStream) -> u16 {
    let mut start = [0; 12];
    let read = stream.read_exact(&mut start).is_ok();
    let text = String::from_utf8_lossy(&start);
    if read { text.split(' ').nth(1).unwrap().parse().unwrap() } else { 0 }
}

fn first(address: SocketAddr, bytes: &[u8]) -> u16 {
    let mut stream = connect(address);
    let _ = stream.write_all(bytes);
    status(&mut stream)
}

const ASKED: &str = r#"{"account": "team", "sql": "SELECT COUNT(*) FROM visits", "epsilon": 0.5}"#;

/// A question with this body.
fn with_body(address: SocketAddr, token: &str, body: &str) -> String {
    head(address, token, &format!("Content-Length: {}\r\n", body.len())) + body
}

/// The token is checked before the body is read. The body may be missing or malformed.
#[test]
fn tokens_are_checked_before_bodies_are_read() {
    let (place, token, address) = place();
    let owner = place.token(Role::Owner, "olga", &[]);
    for (bad, expected) in [("", 401), ("cpt_wrong", 401), (&owner, 403)] {
        for lines in [
            "Content-Length: 1000\r\n",
            "Content-Length: 99999999\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Expect: 100-continue\r\nContent-Length: 1000\r\n",
        ] {
            for path in ["/v1/questions", "/v1/prices", "/v1/rehearsals", "/v1/sessions"] {
                let head = head(address, bad, lines).replace("/v1/questions", path);
                assert_eq!(first(address, head.as_bytes()), expected, "{path} {lines}");
                let text = head.replace("application/json", "text/plain");
                assert_eq!(first(address, text.as_bytes()), expected, "{path} {lines}");
            }
        }
    }
    // A malformed body is reported only to callers with a valid token.
    let lines = "Connection: close\r\nContent-Length: 1\r\n";
    let broken = |token: &str| head(address, token, lines) + "{";
    assert_problem(&send(address, broken("").as_bytes()), 401, "unauthorized");
    assert_problem(&send(address, broken(&token).as_bytes()), 400, "unreadable");
}

/// Headers and bodies that misled other servers. Each is refused or understood, never a failure, and nothing is charged
/// without a question.
#[test]
fn odd_frames_are_refused() {
    let (place, token, address) = place();
    let small = |lines: &str, body: &str| format!("{}{body}", head(address, &token, lines));
    let twice = format!("Content-Length: {0}\r\nContent-Length: {0}\r\n", ASKED.len());
    let long = |size: usize| format!("X-Long: {}\r\nContent-Length: 2\r\n", "x".repeat(size));
    let many: String = (0..200).map(|number| format!("X-{number}: x\r\n")).collect();
    let deep = "[".repeat(100_000);
    let smuggled = format!("0\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let cases: Vec<(&str, String, &[u16])> = vec![
        (
            "two different lengths",
            small("Content-Length: 2\r\nContent-Length: 3\r\n", "{}x"),
            &[400],
        ),
        ("two equal lengths", small(&twice, ASKED), &[200, 400]),
        ("a list of lengths", small("Content-Length: 2, 3\r\n", "{}x"), &[400]),
        ("a negative length", small("Content-Length: -1\r\n", ""), &[400]),
        ("a length with a sign", small("Content-Length: +2\r\n", "{}"), &[400]),
        ("a length in words", small("Content-Length: two\r\n", "{}"), &[400]),
        ("a length beyond numbers", small("Content-Length: 99999999999999999999\r\n", ""), &[400]),
        (
            "both kinds of length",
            small("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", &smuggled),
            &[400],
        ),
        ("an unknown encoding", small("Transfer-Encoding: gzip\r\n", ""), &[400, 501]),
        ("chunked, but not last", small("Transfer-Encoding: chunked, gzip\r\n", ""), &[400, 501]),
        (
            "a chunk of no size",
            small("Transfer-Encoding: chunked\r\n", "xyz\r\n{}\r\n0\r\n\r\n"),
            &[400],
        ),
        (
            "a chunk beyond numbers",
            small("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n{}"),
            &[400],
        ),
        (
            "a chunk without an end",
            small("Transfer-Encoding: chunked\r\n", "2\r\n{}xx\r\n"),
            &[400],
        ),
        (
            "a body that is too long",
            small(&format!("Content-Length: {}\r\n", (1 << 20) + 1), ""),
            &[413],
        ),
        ("a head that is too long", small(&long(70_000), "{}"), &[431]),
        ("too many lines", small(&many, ""), &[431]),
        ("a space before a colon", small("X-Y : z\r\nContent-Length: 2\r\n", "{}"), &[400]),
        ("a folded line", small("X-Y: z\r\n folded\r\nContent-Length: 2\r\n", "{}"), &[400]),
        ("a zero in a line", small("X-Y: \0\r\nContent-Length: 2\r\n", "{}"), &[400]),
        ("another protocol", "GET /v1/health HTTP/3.0\r\n\r\n".to_owned(), &[400, 505]),
        ("no protocol", "GET /v1/health\r\n\r\n".to_owned(), &[400]),
        (
            "the second protocol's words",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
            &[0, 400, 505],
        ),
        (
            "a tunnel",
            format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n\r\n"),
            &[400, 404, 405],
        ),
        ("TLS", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\r\n\r\n".to_owned(), &[400]),
        (
            "a long path",
            format!("GET /{} HTTP/1.1\r\nHost: {address}\r\n\r\n", "x".repeat(70_000)),
            &[414, 431],
        ),
        ("deep lists", with_body(address, &token, &deep), &[400]),
        ("a byte order mark", with_body(address, &token, &format!("\u{feff}{ASKED}")), &[400]),
        ("words after the end", with_body(address, &token, &format!("{ASKED} {ASKED}")), &[400]),
        (
            "a field twice",
            with_body(address, &token, r#"{"account": "team", "account": "team"}"#),
            &[400],
        ),
        (
            "a number beyond numbers",
            with_body(address, &token, &ASKED.replace("0.5", "1e999")),
            &[400],
        ),
    ];
    for (what, bytes, expected) in cases {
        let status = first(address, bytes.as_bytes());
        assert!(expected.contains(&status), "{what}: {status}");
        assert_eq!(get(address, "/v1/health", "").0, 200, "{what}");
    }
    // One question may have been asked: the one with equal lengths.
    assert!(place.debits("team").len() <= 1 && place.verified());
}

/// An error in a body names the field, without names of Rust types.
#[test]
fn errors_name_fields_and_no_types() {
    let (_place, token, address) = place();
    let cases = [
        ("/v1/questions", json!(5), "a question or a list of questions"),
        ("/v1/questions", json!({"account": 5}), "account: "),
        ("/v1/questions", json!({"account": "team", "epsilon": "x"}), "epsilon: "),
        (
            "/v1/questions",
            json!([{"account": "team"}, {"account": "team", "rho": []}]),
            "[1].rho: ",
        ),
        ("/v1/questions", json!([5]), "[0]: "),
        ("/v1/questions", json!({"sql": "SELECT"}), "account"),
        ("/v1/prices", json!({"account": "team", "confidence": {}}), "confidence: "),
        ("/v1/questions", json!({"account": "team", "question": 7}), "question: "),
        (
            "/v1/questions",
            json!({"account": "team", "question": {"table": "visits", "aggregates": [{"of": {"sum": 1}}]}}),
            "question.aggregates",
        ),
        (
            "/v1/questions",
            json!({"account": "team", "question": {"table": "visits", "aggregates": [{"of": "count"}],
            "filter": {"in": {"column": "region", "keys": [{}]}}}}),
            "question.filter",
        ),
        (
            "/v1/sessions",
            json!({"account": "team", "key": "k", "table": "visits", "sequence": [1]}),
            "sequence[0]: ",
        ),
        (
            "/v1/sessions",
            json!({"account": "team", "key": "k", "table": "visits",
            "sparse_vector": {"epsilon": 1, "threshold": 1, "answers": -1}}),
            "sparse_vector.answers: ",
        ),
        ("/v1/sessions", json!([]), "an object"),
    ];
    for (path, body, words) in cases {
        let answer = post(address, path, &token, &body);
        assert_problem(&answer, 400, "unreadable");
        let detail = read(&answer)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(words), "{body}: {detail}");
        for own in ["enum", "struct", "f64", "u64", "i64", "Asking", "Session", "Question", "::"] {
            assert!(!detail.contains(own), "{body}: {detail}");
        }
    }
}

/// Many requests in one write, and requests sent byte by byte. The answers are the same, in order, and are charged
/// once.
#[test]
fn pipelined_and_slow_requests_are_answered_in_order() {
    let (place, token, address) = place();
    let asked = with_body(address, &token, ASKED);
    let me =
        format!("GET /v1/me HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n");
    let last = me.replacen("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1);
    let mut stream = connect(address);
    let all = format!("{}{last}", format!("{asked}{me}").repeat(20));
    stream.write_all(all.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let answers: Vec<&str> = text.split("HTTP/1.1 200").skip(1).collect();
    let is_answer: Vec<bool> = answers.iter().map(|text| text.contains("\"answers\"")).collect();
    assert_eq!(is_answer, [[true, false].repeat(20), vec![false]].concat(), "{text}");
    assert_eq!(place.debits("team").len(), 1);
    let mut stream = connect(address);
    for byte in asked.as_bytes() {
        stream.write_all(std::slice::from_ref(byte)).unwrap();
    }
    assert_eq!(status(&mut stream), 200);
    assert_eq!(place.debits("team").len(), 1);
}

/// The bytes after a body are another request, without the token of the first.
#[test]
fn no_request_is_smuggled_behind_a_body() {
    let (place, token, address) = place();
    let hidden = with_body(address, &token, ASKED);
    let hidden = hidden.replace(&format!("Authorization: Bearer {token}"), "Connection: close");
    let mut stream = connect(address);
    let prices = with_body(address, &token, ASKED).replace("/v1/questions", "/v1/prices");
    stream.write_all(format!("{prices}{hidden}").as_bytes()).unwrap();
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("HTTP/1.1 401"), "{text}");
    assert!(place.debits("team").is_empty());
}

/// Incomplete bodies and headers of anonymous clients, on more connections than the limit. New connections are
/// admitted, and connections that showed a token stay open.
#[test]
fn incomplete_requests_do_not_block_others() {
    let (_place, token, address) = place();
    let keep =
        format!("GET /v1/me HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n");
    let mut known = connect(address);
    known.write_all(keep.as_bytes()).unwrap();
    assert_eq!(status(&mut known), 200);
    for start in [
        head(address, "", "Content-Length: 1000\r\n") + "{",
        "POST /v1/questions HTTP/1.1\r\nHost: ".to_owned(),
        "G".to_owned(),
        String::new(),
    ] {
        let strangers: Vec<TcpStream> = (0..700)
            .map(|_| {
                let mut stream = connect(address);
                let _ = stream.write_all(start.as_bytes());
                stream
            })
            .collect();
        assert_eq!(get(address, "/v1/health", "").0, 200, "{start:?}");
        assert_eq!(get(address, "/v1/me", &token).0, 200, "{start:?}");
        known.write_all(keep.as_bytes()).unwrap();
        let mut text = [0; 2048];
        // The rest of the previous answer, and this answer.
        wait_for(|| {
            let read = known.read(&mut text).unwrap();
            assert!(read > 0, "{start:?}");
            String::from_utf8_lossy(&text[..read]).contains("HTTP/1.1 200")
        });
        drop(strangers);
    }
}

/// A token has a limited number of connections. Other tokens keep theirs.
#[test]
fn one_token_does_not_take_all_connections() {
    let (place, token, address) = place();
    let other = place.token(Role::Analyst, "ben", &["team"]);
    let half = head(address, &token, "Content-Length: 1000\r\n");
    let mut held: Vec<TcpStream> = (0..200).map(|_| connect(address)).collect();
    for stream in &mut held {
        // Further anonymous clients are disconnected before they show a token.
        let _ = stream.write_all(half.as_bytes());
    }
    for _ in 0..20 {
        assert_eq!(get(address, "/v1/me", &other).0, 200);
        assert_eq!(get(address, "/v1/health", "").0, 200);
    }
}

/// A body must arrive within half a minute, even if it comes byte by byte.
#[test]
fn missing_bodies_time_out() {
    let (place, token, address) = place();
    let mut never = connect(address);
    never.write_all(head(address, &token, "Content-Length: 1000\r\n").as_bytes()).unwrap();
    let mut slow = connect(address);
    slow.write_all(head(address, &token, "Transfer-Encoding: chunked\r\n").as_bytes()).unwrap();
    let mut writer = slow.try_clone().unwrap();
    let drip = std::thread::spawn(move || {
        while writer.write_all(b"1\r\n \r\n").is_ok() {
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    assert_eq!((status(&mut never), status(&mut slow)), (408, 408));
    let _ = slow.shutdown(Shutdown::Both);
    drip.join().unwrap();
    assert!(place.debits("team").is_empty());
}

/// Clients that request much and read nothing.
#[test]
fn unread_answers_do_not_block_others() {
    let place = Place::new(&people(50), (0.0, 30.0), "1000", &[("team", "900")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let auditor = place.token(Role::Auditor, "otto", &[]);
    let address = place.serve();
    for number in 0..50 {
        let sql = format!("SELECT COUNT(*) FROM visits WHERE age > {number}");
        assert_eq!(ask(address, &token, "team", &sql, 0.5).0, 200);
    }
    let line = format!(
        "GET /v1/history HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {auditor}\r\n\r\n"
    );
    let deaf: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = connect(address);
            let _ = stream.write_all(line.repeat(40).as_bytes());
            stream
        })
        .collect();
    for _ in 0..5 {
        assert_eq!(get(address, "/v1/me", &token).0, 200);
    }
    assert_eq!(ask(address, &token, "team", "SELECT COUNT(*) FROM visits", 0.5).0, 200);
    drop(deaf);
}

/// A client that disconnects during a question has paid for it, once, and finds the answer later.
#[test]
fn a_disconnected_client_finds_its_answer_later() {
    let place = Place::new(&people(50), (0.3, 30.0), "10", &[("team", "5")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    for number in 0..5 {
        let body = ASKED.replace("visits", &format!("visits WHERE age > {number}"));
        let asked = with_body(address, &token, &body);
        let mut stream = connect(address);
        stream.write_all(asked.as_bytes()).unwrap();
        wait_for(|| place.debits("team").len() == number + 1);
        drop(stream);
        let body: Value = serde_json::from_str(&body).unwrap();
        let answer = read(&post(address, "/v1/questions", &token, &body));
        assert_eq!(answer["cost"]["amount"], 0.0, "{answer}");
    }
    assert_eq!(place.debits("team").len(), 5);
    assert!(place.verified());
}
