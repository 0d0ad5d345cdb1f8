//! Every path of the interface, requested by every caller who is not authorized.

use crate::service::*;
use counterpoint_curator::Role;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// The roles of each path. A new path must be added here.
const PATHS: [(&str, &[Role]); 23] = [
    ("GET /v1/me", EVERYBODY),
    ("GET /v1/tables", EVERYBODY),
    ("GET /v1/metrics", OVERSEERS),
    ("GET /v1/status", OVERSEERS),
    ("GET /v1/history", OVERSEERS),
    ("GET /v1/verify", OVERSEERS),
    ("GET /v1/questions", OVERSEERS),
    ("POST /v1/questions", ANALYSTS),
    ("POST /v1/rehearsals", ANALYSTS),
    ("POST /v1/prices", ANALYSTS),
    ("GET /v1/accounts", ANALYSTS),
    ("POST /v1/accounts", OWNERS),
    ("GET /v1/accounts/{account}", ANALYSTS),
    ("POST /v1/accounts/{account}/recut", ANALYSTS),
    ("POST /v1/accounts/{account}/recut/rehearsal", ANALYSTS),
    ("GET /v1/tokens", OWNERS),
    ("POST /v1/tokens", OWNERS),
    ("DELETE /v1/tokens/{id}", OWNERS),
    ("GET /v1/sessions", ANALYSTS),
    ("POST /v1/sessions", ANALYSTS),
    ("GET /v1/sessions/{account}/{key}", ANALYSTS),
    ("DELETE /v1/sessions/{account}/{key}", ANALYSTS),
    ("POST /v1/sessions/{account}/{key}/questions", ANALYSTS),
];
const PUBLIC: [&str; 3] = ["GET /v1/health", "GET /v1/ready", "GET /v1/openapi.json"];
const EVERYBODY: &[Role] = &[Role::Owner, Role::Analyst, Role::Auditor];
const OVERSEERS: &[Role] = &[Role::Owner, Role::Auditor];
const ANALYSTS: &[Role] = &[Role::Analyst];
const OWNERS: &[Role] = &[Role::Owner];

/// The paths of the document with their methods, and true if the document requires a token.
fn documented(address: SocketAddr) -> Vec<(String, bool)> {
    let document = read(&get(address, "/v1/openapi.json", ""));
    let mut list = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let needs_token = operation["security"] == serde_json::json!([{"token": []}]);
            list.push((format!("{} {path}", method.to_uppercase()), needs_token));
        }
    }
    list
}

#[test]
fn the_document_has_every_path_and_says_which_need_a_token() {
    let place = Place::new(&people(5), (0.0, 30.0), "10", &[("team", "1")]);
    let address = place.serve();
    let told: BTreeSet<(String, bool)> = documented(address).into_iter().collect();
    let private = PATHS.iter().map(|(line, _)| ((*line).to_owned(), true));
    let public = PUBLIC.iter().map(|line| ((*line).to_owned(), false));
    assert_eq!(told, private.chain(public).collect());
    // Each path exists: the refusal is about the caller, not about the path or the method.
    for (line, needs_token) in &told {
        let answer = request(address, &concrete(line, "team"), "", None);
        assert_eq!(answer.0, if *needs_token { 401 } else { 200 }, "{line}: {}", answer.1);
    }
}

/// A path with values in place of its braces.
fn concrete(line: &str, word: &str) -> String {
    ["account", "key", "id"]
        .iter()
        .fold(line.to_owned(), |line, name| line.replace(&format!("{{{name}}}"), word))
}

/// Requests that are also wrong in other ways: in path, parameters, type and body. The last two announce a body and
/// never send it.
fn wrong_in_everything(address: SocketAddr, line: &str, token: &str) -> [String; 7] {
    let head = |line: &str, lines: &str| {
        let token = if token.is_empty() {
            String::new()
        } else {
            format!("Authorization: Bearer {token}\r\n")
        };
        format!("{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{token}{lines}\r\n")
    };
    let (plain, odd) = (concrete(line, "team"), concrete(line, "%FF"));
    let json = "Content-Type: application/json\r\n";
    [
        head(&plain, ""),
        head(&format!("{plain}?limit=0&after=x&limit=y"), ""),
        head(&odd, &format!("{json}Content-Length: 1\r\n")) + "{",
        head(&plain, &format!("{json}Content-Length: 2\r\n")) + "[]",
        head(&plain, "Content-Type: text/plain\r\nContent-Length: 1\r\n") + "x",
        head(&plain, &format!("{json}Content-Length: 99999999\r\n")),
        head(&plain, &format!("{json}Transfer-Encoding: chunked\r\n")),
    ]
}

#[track_caller]
fn assert_refused(address: SocketAddr, line: &str, token: &str, status: u16, code: &str) {
    for text in wrong_in_everything(address, line, token) {
        assert_problem(&send(address, text.as_bytes()), status, code);
    }
}

/// A request without a token, with a wrong or revoked token, or with a token of an unauthorized role is refused for
/// this reason, whatever else is wrong with it.
#[test]
fn every_path_checks_the_caller_first() {
    let place = Place::new(&people(5), (0.0, 30.0), "10", &[("team", "1")]);
    let token = |role, name: &str| {
        let accounts: &[&str] = if role == Role::Analyst { &["team"] } else { &[] };
        place.token(role, name, accounts)
    };
    let roles =
        [Role::Owner, Role::Analyst, Role::Auditor].map(|role| (role, token(role, role.name())));
    let revoked = [Role::Owner, Role::Analyst, Role::Auditor].map(|role| token(role, "gone"));
    let gone = place.tokens().list().unwrap().into_iter().filter(|bearer| bearer.name == "gone");
    assert_eq!(
        gone.map(|bearer| place.tokens().revoke(bearer.id).unwrap()).collect::<Vec<_>>(),
        [true; 3]
    );
    let address = place.serve();
    let before = (place.head(), place.tokens().list().unwrap());
    let unknown = format!("cpt_{}", "0".repeat(64));
    for (line, allowed) in PATHS {
        for token in
            ["", "cpt_wrong", &unknown].into_iter().chain(revoked.iter().map(String::as_str))
        {
            assert_refused(address, line, token, 401, "unauthorized");
        }
        for (role, token) in &roles {
            if !allowed.contains(role) {
                assert_refused(address, line, token, 403, "forbidden");
                continue;
            }
            // Authorized callers learn what else is wrong.
            for text in &wrong_in_everything(address, line, token)[..5] {
                let (status, body) = send(address, text.as_bytes());
                assert!(!matches!(status, 0 | 401 | 403 | 500..), "{text}\n{status} {body}");
            }
        }
        // A path that supports GET also supports HEAD.
        if let Some(path) = line.strip_prefix("GET ") {
            let text = wrong_in_everything(address, &format!("HEAD {path}"), "")[0].clone();
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 401 "), "{text}\n{answer}");
        }
    }
    assert_eq!((place.head(), place.tokens().list().unwrap()), before, "nothing was done");
}
