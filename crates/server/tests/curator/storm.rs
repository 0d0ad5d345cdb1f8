//! Random requests. No request makes the service fail or use more memory.

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_testing::{Client, Random, tries};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

const PATHS: [&str; 20] = [
    "/v1/health",
    "/v1/metrics",
    "/v1/openapi.json",
    "/v1/me",
    "/v1/tables",
    "/v1/questions",
    "/v1/prices",
    "/v1/rehearsals",
    "/v1/accounts",
    "/v1/accounts/team",
    "/v1/sessions",
    "/v1/sessions/team/s1",
    "/v1/sessions/team/s1/questions",
    "/v1/status",
    "/v1/history",
    "/v1/history?limit=3&after=2",
    "/v1/sessions?limit=1",
    "/v1/questions?after=q&limit=x",
    "/v1/tokens",
    "/v1/verify",
];

/// Parts of SQL questions, legal and illegal.
const WORDS: [&str; 48] = [
    "SELECT",
    "FROM",
    "visits",
    "WHERE",
    "GROUP BY",
    "COUNT(*)",
    "COUNT(DISTINCT nr)",
    "SUM(pay)",
    "AVG(age)",
    "VARIANCE(age)",
    "MEDIAN(pay)",
    "QUANTILE(age, 0.5)",
    "HISTOGRAM(age, 0, 50, 100)",
    ",",
    "(",
    ")",
    "region",
    "age",
    "pay",
    "nr",
    "AND",
    "OR",
    "NOT",
    "BETWEEN",
    "IN",
    "=",
    "<",
    ">=",
    "0",
    "1e308",
    "-1",
    "'north'",
    "NULL",
    "*",
    "HAVING",
    "ORDER BY",
    "LIMIT",
    "UNION",
    "JOIN",
    "CLAMP(pay, 0, 1)",
    "AS n",
    ";",
    "--",
    "/*",
    "\"age\"",
    "é",
    "\u{0}",
    "CAST(age AS INT)",
];

/// A million requests in a full run. No response is a failure, memory does not grow, and the ledger verifies.
#[test]
fn random_requests_make_nothing_fail_or_grow() {
    let requests = tries(1_000_000, 0.004);
    let place = Place::new(&people(50), (0.0, 30.0), "100", &[("team", "20"), ("lab", "2")]);
    let analysts: Vec<String> =
        (0..48).map(|_| place.token(Role::Analyst, "ann", &["team", "lab"])).collect();
    let others = [Role::Owner, Role::Auditor].map(|role| place.token(role, "otto", &[]));
    let tokens: Vec<String> = analysts.into_iter().chain(others).collect();
    let (mut child, address) = place.start();
    let answered = AtomicU64::new(0);
    let wave = |first: u64, count: u64| {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (tokens, answered) = (&tokens, &answered);
                scope.spawn(move || {
                    let mut random = Random::new(first + thread);
                    let mut client = Client::new(address);
                    for _ in 0..count / 4 {
                        let status = one(&mut client, tokens, &mut random);
                        answered.fetch_add(u64::from(status == 200), Ordering::Relaxed);
                    }
                });
            }
        });
    };
    wave(0, requests / 4);
    let before = memory(child.id());
    wave(1 << 32, requests - requests / 4);
    let after = memory(child.id());
    assert!(after < before + 64_000, "memory grew from {before} kB to {after} kB");
    // Although the requests are random, many of them are answered.
    let answered = answered.into_inner();
    assert!(answered > requests / 20, "{answered} of {requests}");
    assert_eq!(get(address, "/v1/health", "").0, 200);
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(place.spent("team").parse::<f64>().unwrap() <= 20.0);
    assert!(place.spent("lab").parse::<f64>().unwrap() <= 2.0);
    assert!(place.verified());
}

/// The memory of a process, in kB.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Sends one request and checks the response.
fn one(client: &mut Client, tokens: &[String], random: &mut Random) -> u16 {
    let path = match random.below(20) {
        0 => format!("/v1/{}", text(random)),
        1 => format!("/v1/accounts/{}", text(random)),
        2 => format!("/v1/sessions/{}/{}", text(random), text(random)),
        _ => pick(&PATHS, random).to_owned(),
    };
    let method = match random.below(12) {
        0 => "PUT",
        1 => "DELETE",
        2..=4 => "GET",
        _ => "POST",
    };
    let token = match random.below(20) {
        0 => "cpt_0000".to_owned(),
        1 => text(random),
        _ => tokens[random.below(tokens.len() as u64) as usize].clone(),
    };
    let kind = if random.below(30) == 0 { "text/plain" } else { "application/json" };
    let mut body = body(&path, random).to_string().into_bytes();
    if random.below(6) == 0 && !body.is_empty() {
        let place = random.below(body.len() as u64) as usize;
        match random.below(3) {
            0 => body.truncate(place),
            1 => body[place] = random.below(256) as u8,
            _ => body.splice(place..place, [random.below(256) as u8; 3]).for_each(drop),
        }
    }
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        client.address(),
        body.len()
    );
    let (status, answer) = client.send(&[head.as_bytes(), &body].concat());
    let said = || format!("{status} {answer}\n{head}{}", String::from_utf8_lossy(&body));
    // The only failure of the service itself may be that it is too busy.
    assert!((200..500).contains(&status) || status == 503, "{}", said());
    if status >= 400 {
        let problem: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{}", said()));
        assert_eq!(problem["status"], status, "{}", said());
    }
    status
}

fn pick<'a>(list: &[&'a str], random: &mut Random) -> &'a str {
    list[random.below(list.len() as u64) as usize]
}

/// Characters that are legal in a header.
fn text(random: &mut Random) -> String {
    let letter = |random: &mut Random| char::from(0x30 + random.below(0x4a) as u8);
    (0..random.below(12))
        .map(|_| letter(random))
        .filter(|one| !"?#\\^`<>[]|".contains(*one))
        .collect()
}

fn sql(random: &mut Random) -> String {
    if random.below(2) == 0 {
        let words: Vec<&str> = (0..random.below(14)).map(|_| pick(&WORDS, random)).collect();
        return words.join(" ");
    }
    let list: Vec<&str> = (0..=random.below(3)).map(|_| pick(&WORDS[5..13], random)).collect();
    let limit = random.below(100);
    match random.below(3) {
        0 => format!("SELECT {} FROM visits", list.join(", ")),
        1 => format!("SELECT {} FROM visits WHERE age < {limit}", list.join(", ")),
        _ => format!("SELECT region, {} FROM visits GROUP BY region", list.join(", ")),
    }
}

/// A random JSON value.
fn any(random: &mut Random, depth: u64) -> Value {
    match random.below(if depth == 0 { 8 } else { 10 }) {
        0 => Value::Null,
        1 => json!(random.below(2) == 0),
        2 => json!(random.below(5)),
        3 => json!(-(random.below(1 << 40) as i64)),
        4 => json!(f64::from_bits(random.below(u64::MAX))),
        5 => json!(1e-310),
        6 => json!(pick(&WORDS, random)),
        7 => json!("x".repeat(random.below(300) as usize)),
        8 => (0..random.below(4)).map(|_| any(random, depth - 1)).collect(),
        _ => json!({pick(&WORDS, random): any(random, depth - 1)}),
    }
}

/// A body that the path may accept, sometimes with an odd value in it.
fn body(path: &str, random: &mut Random) -> Value {
    let pay = pick(&["epsilon", "rho", "error", "slot"], random);
    let account = pick(&["team", "lab", "none"], random);
    let amount = [0.25, 0.5, 1e-3, 50.0][random.below(4) as usize];
    let mut body = match path {
        "/v1/sessions" => json!({
            "account": account, "table": "visits", "key": format!("s{}", random.below(4)),
            "sparse_vector": {"epsilon": amount, "threshold": 20.0, "answers": 1 + random.below(3)},
        }),
        "/v1/sessions/team/s1/questions" => {
            json!({"name": format!("q{}", random.below(50)), "sql": sql(random)})
        }
        _ if random.below(4) == 0 => json!({
            "account": account, "epsilon": amount,
            "question": {"table": "visits", "aggregates": [{"of": "count"}], "filter": any(random, 3)},
        }),
        _ => json!({"account": account, "sql": sql(random), pay: amount}),
    };
    if random.below(3) == 0
        && let Some(fields) = body.as_object_mut()
    {
        let names: Vec<String> = fields.keys().cloned().collect();
        let name = names[random.below(names.len() as u64) as usize].clone();
        match random.below(3) {
            0 => drop(fields.remove(&name)),
            1 => drop(fields.insert(name, any(random, 3))),
            _ => drop(fields.insert(pick(&WORDS, random).to_owned(), any(random, 3))),
        }
    }
    match random.below(12) {
        0 => any(random, 4),
        1 if path == "/v1/prices" || path == "/v1/questions" => json!([body.clone(), body]),
        _ => body,
    }
}
